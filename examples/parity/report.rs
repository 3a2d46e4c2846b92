//! What was found, as lines on the way and as a page at the end.

use crate::compared::Compared;
use std::fmt::Write;
use std::time::Instant;

/// All comparisons of one subject on one device.
pub struct Group {
    pub device: &'static str,
    pub subject: &'static str,
    rows: Vec<Compared>,
    last: Instant,
}

impl Group {
    pub fn new(device: &'static str, subject: &'static str) -> Group {
        Group { device, subject, rows: Vec::new(), last: Instant::now() }
    }

    /// Prints a row and keeps it.
    pub fn add(&mut self, row: Compared) {
        if self.rows.is_empty() {
            println!("\n{}, {}", self.subject, self.device);
        }
        let seconds = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        let Compared { name, elements, differences, first } = &row;
        match (elements, first) {
            (0, None) => println!("{name:<28} {:>12} not on this device", "-"),
            (_, None) => println!("{name:<28} {elements:>12} {differences:>10} {seconds:>8.2} s"),
            (_, Some(first)) => println!("{name:<28} {elements:>12} {differences:>10} {seconds:>8.2} s  {first}"),
        }
        self.rows.push(row);
    }

    pub fn comparisons(&self) -> usize {
        self.rows.iter().filter(|row| row.elements > 0 || row.first.is_some()).count()
    }

    pub fn elements(&self) -> u64 {
        self.rows.iter().map(|row| row.elements).sum()
    }

    pub fn differences(&self) -> u64 {
        self.rows.iter().map(|row| row.differences).sum()
    }
}

/// The page of all groups.
pub fn page(devices: &[String], groups: &[Group]) -> String {
    let mut page = String::from(
        "# GPU parity\n\
         What a GPU computes has the bits that the CPU computes, which are the reference interpreter's; the sign and payload of NaN\n\
         excepted. So many elements were compared, and so many differed.\n\n\
         Made by `cargo run --release --features gpu --example parity -- --write`; with `--quick` it takes minutes.\n\n",
    );
    for device in devices {
        let _ = writeln!(page, "- {device}");
    }
    page += "\n| device | subject | comparisons | elements | differences |\n| --- | --- | --- | --- | --- |\n";
    for group in groups.iter().filter(|group| group.comparisons() > 0) {
        let (comparisons, elements, differences) = (group.comparisons(), group.elements(), group.differences());
        let _ = writeln!(page, "| {} | {} | {comparisons} | {elements} | {differences} |", group.device, group.subject);
    }
    page += "\n## What differs\n";
    let before = page.len();
    for group in groups {
        for row in &group.rows {
            if let Some(first) = &row.first {
                let _ = writeln!(
                    page,
                    "- {}, {}: {} of {}, first at {first}",
                    group.device, row.name, row.differences, row.elements
                );
            }
        }
    }
    if page.len() == before {
        page += "Nothing.\n";
    }
    page
}
