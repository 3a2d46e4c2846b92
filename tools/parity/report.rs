//! The report: lines during the run, and a page at the end.

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

    /// Prints a row and stores it.
    pub fn add(&mut self, row: Compared) {
        if self.rows.is_empty() {
            println!("\n{}, {}", self.subject, self.device);
        }
        let seconds = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        let Compared { name, elements, differences, first } = &row;
        match (elements, first) {
            (0, None) => println!("{name:<28} {:>12} nothing to compare on this device", "-"),
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

/// A line of the page's table: device and subject, then comparisons, elements and differences.
#[derive(Clone)]
struct Line {
    subject: [String; 2],
    figures: [u64; 3],
    /// The differing comparisons, each with its first difference.
    differing: Vec<String>,
}

impl Line {
    fn of(group: &Group) -> Line {
        let [device, subject] = [group.device, group.subject];
        let differing = group.rows.iter().filter_map(|row| {
            let first = row.first.as_ref()?;
            Some(format!(
                "- {device}, {subject}: `{}`: {} of {}, first at {first}",
                row.name, row.differences, row.elements
            ))
        });
        Line {
            subject: [device, subject].map(str::to_owned),
            figures: [group.comparisons() as u64, group.elements(), group.differences()],
            differing: differing.collect(),
        }
    }

    /// The table lines of a page.
    fn read(page: &str) -> Vec<Line> {
        let lines = page.lines().filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let &[_, device, subject, comparisons, elements, differences, _] = cells.as_slice() else { return None };
            let figures = [comparisons.parse().ok()?, elements.parse().ok()?, differences.parse().ok()?];
            let start = format!("- {device}, {subject}: ");
            let differing = page.lines().filter(|line| line.starts_with(&start)).map(str::to_owned).collect();
            Some(Line { subject: [device, subject].map(str::to_owned), figures, differing })
        });
        lines.collect()
    }
}

/// The page `before` with the new comparisons. A comparison on fewer elements does not replace one on more.
pub fn page(devices: &[String], groups: &[Group], before: &str) -> String {
    let mut lines: Vec<Line> = Line::read(before);
    for line in groups.iter().map(Line::of).filter(|line| line.figures[0] > 0) {
        match lines.iter_mut().find(|known| known.subject == line.subject) {
            Some(known) if known.figures[1] <= line.figures[1] => *known = line,
            Some(_) => {}
            None => lines.push(line),
        }
    }
    let mut page = String::from(
        "# GPU parity\n\
         Results on a GPU have the same bits as compiled code on the processor and the reference interpreter, except the sign and payload of NaN.\n\
         The table counts the compared elements and the differences.\n\n\
         Made by `cargo run --release -p ndjit-tools --features gpu --bin parity -- --write`. Inputs: all values of one 16-bit\n\
         operand and of several 8-bit operands, one in 256 of `f32`, and otherwise special values and random values with many edge cases.\n\n\
         The devices are one GPU, as it is and with features disabled:\n",
    );
    for device in devices {
        let _ = writeln!(page, "- {device}");
    }
    page += "\n| device | subject | comparisons | elements | differences |\n| --- | --- | --- | --- | --- |\n";
    for Line { subject: [device, subject], figures: [comparisons, elements, differences], .. } in &lines {
        let _ = writeln!(page, "| {device} | {subject} | {comparisons} | {elements} | {differences} |");
    }
    page += "\n## Differences\n";
    let differing: Vec<&String> = lines.iter().flat_map(|line| &line.differing).collect();
    match differing.is_empty() {
        true => page += "Nothing.\n",
        false => differing.iter().for_each(|line| page += &format!("{line}\n")),
    }
    page
}
