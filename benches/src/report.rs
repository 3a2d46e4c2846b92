//! The page of results: each row beside the fastest peer's, and the targets.
//!
//! Peers' rows are JSON lines in the format of [`main`](crate), measured on the same machine in the same hour. Rows meet by kernel, dtype,
//! number of elements and threads. A library's memory is *reused* where a call writes into an array of the caller's (`out`, `donate`);
//! one that cannot is represented there by its calls with a *fresh* result.

use plotters::prelude::{
    BLACK, ChartBuilder, Color, Histogram, IntoDrawingArea, IntoFont, IntoSegmentedCoord, RGBColor, SVGBackend,
    SegmentValue, WHITE,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What there is to say of the page.
#[derive(clap::Args)]
pub struct Report {
    /// Lines of this program.
    ours: PathBuf,
    /// Lines of other libraries.
    peers: PathBuf,
    /// The page that is written; a picture goes beside it.
    #[arg(long)]
    page: PathBuf,
    /// The machine, in words.
    #[arg(long)]
    machine: String,
    /// The day, in words.
    #[arg(long)]
    date: String,
    /// The versions of the other libraries, in words.
    #[arg(long)]
    versions: String,
}

/// What rows meet by: kernel, dtype, elements, threads, whether memory is reused.
type Key = (String, String, u64, u64, bool);
/// The median of a call in seconds, and whose it is.
type Best = (f64, String);

/// Kernels that memory limits, wherever their operands are.
const MEMORY_BOUND: [&str; 4] = ["axpy", "hypot3", "mixed", "sumsq"];
/// Elements from which memory limits every kernel.
const BEYOND_CACHES: u64 = 10_000_000;

struct Row {
    key: Key,
    ours: f64,
    peer: Best,
    /// The part of the machine's bandwidth.
    bandwidth: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.peer.0 / self.ours
    }

    fn is_memory_bound(&self) -> bool {
        MEMORY_BOUND.contains(&self.key.0.as_str()) || self.key.2 >= BEYOND_CACHES
    }
}

impl Report {
    /// Writes the page and its picture.
    pub fn write(&self) -> Result<(), Box<dyn Error>> {
        let (ours, peers) = (read(&self.ours)?, read(&self.peers)?);
        let rows = pair(&ours, &peers);
        let mut page = String::new();
        writeln!(page, "# Performance\n")?;
        writeln!(
            page,
            "Written by `ndjit-bench report`, on {}, on {}.\nBeside {}, each in its best mode, measured within the same half hour.\n\
             A ratio is the fastest peer's median time over ndjit's: above 1 ndjit is faster. Memory is *reused* where a call writes\n\
             into an array of the caller's, *fresh* where each call makes its result. Products and sums are contracted (`fp_contract`), as\n\
             JAX's always and numba's with `fastmath` are. Results are compared with the same computed in `f64` before anything is timed.\n",
            self.date, self.machine, self.versions
        )?;
        writeln!(page, "![Times of JAX, numba, numexpr and NumPy over those of ndjit](performance.svg)\n")?;
        self.figures(&mut page, &rows, &ours)?;
        page.push_str(include_str!("reasons.md"));
        table(&mut page, &rows)?;
        std::fs::write(&self.page, page)?;
        plot(&rows, &self.page.with_extension("svg"))
    }

    /// Writes the targets and the results.
    fn figures(&self, page: &mut String, rows: &[Row], ours: &[Value]) -> Result<(), Box<dyn Error>> {
        writeln!(page, "## Targets\n\n| measurement | target | result |\n|---|---|---|")?;
        let select = |f: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| f(row)).map(Row::ratio).collect::<Vec<f64>>();
        let computing = select(&|r| r.key.4 && r.key.1 == "float32" && !r.is_memory_bound() && r.key.2 >= 100_000);
        writeln!(
            page,
            "| bound by arithmetic, `f32`, 1e5 elements and more, reused | each 1, mean 2 | {} |",
            said(&computing)
        )?;
        let memory: Vec<&Row> = rows.iter().filter(|r| r.key.4 && r.is_memory_bound()).collect();
        let good = memory.iter().filter(|r| r.ratio() >= 1.0 || r.bandwidth >= 0.9).count();
        writeln!(page, "| bound by memory, reused | each 1, or 0.9 of the bandwidth | {good} of {} |", memory.len())?;
        writeln!(page, "| fresh results | mean 2 | {} |", said(&select(&|r| !r.key.4)))?;
        writeln!(page, "| 1000 elements | each 1, mean 3 | {} |", said(&select(&|r| r.key.2 == 1000)))?;
        let calls: Vec<String> = ours
            .iter()
            .filter(|row| row["kernel"] == "dispatch")
            .map(|row| format!("{}: {:.0} ns", text(row, "mode"), 1e9 * number(row, "min_s")))
            .collect();
        writeln!(page, "| a call on 8 elements | 300 ns | {} |", calls.join(", "))?;
        let mut compile: Vec<f64> =
            ours.iter().filter(|row| row["mode"] == "compile").map(|row| 1e3 * number(row, "total_s")).collect();
        compile.sort_by(f64::total_cmp);
        if let (Some(&worst), Some(&median)) = (compile.last(), compile.get(compile.len() / 2)) {
            writeln!(page, "| compiling a kernel | median 0.7 ms, worst 5 ms | {median:.2} ms, {worst:.2} ms |")?;
        }
        let llvm: Vec<(&str, f64)> = ours
            .iter()
            .filter(|row| row["mode"] == "llvm")
            .map(|row| (text(row, "kernel"), number(row, "llvm_s") / number(row, "ndjit_s")))
            .collect();
        if llvm.is_empty() {
            return Ok(());
        }
        let ratios: Vec<f64> = llvm.iter().map(|(_, ratio)| *ratio).collect();
        writeln!(page, "| code of LLVM for the same primitives, in a cache | each 0.85 | {} |", said(&ratios))?;
        writeln!(
            page,
            "\n## Beside LLVM\nLLVM's time divided by ndjit's, for 8192 elements on one thread; the same primitives, with the same bits as results, compiled ahead of \
             time by rustc for AVX-512 (`ndjit-bench llvm`). ndjit's time includes the call, about 0.3 µs, and its code the cold paths of `sin` and `cos`, which LLVM's lacks.\n\n\
             | kernel | ratio |\n|---|---:|"
        )?;
        for (kernel, ratio) in llvm {
            writeln!(page, "| {} | {ratio:.2} |", kernel.replace('_', " "))?;
        }
        Ok(())
    }
}

fn said(ratios: &[f64]) -> String {
    let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let behind = ratios.iter().filter(|&&r| r < 1.0).count();
    format!("mean {mean:.2}, least {least:.2}; {behind} of {} below 1", ratios.len())
}

fn read(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().filter(|line| line.starts_with('{')).map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or(f64::NAN)
}

/// The best row of each key.
fn best(rows: &[Value]) -> BTreeMap<Key, (Best, f64)> {
    let mut best: BTreeMap<Key, (Best, f64)> = BTreeMap::new();
    for row in rows {
        let (Some(n), Some(threads), Some(median)) =
            (row["n"].as_u64(), row["threads"].as_u64(), row["med_s"].as_f64())
        else {
            continue;
        };
        let key =
            (text(row, "kernel").to_owned(), text(row, "dtype").to_owned(), n, threads, text(row, "mode") != "fresh");
        let found = ((median, text(row, "backend").to_owned()), row["of_bandwidth"].as_f64().unwrap_or(0.0));
        let known = best.entry(key).or_insert_with(|| found.clone());
        if median < known.0.0 {
            *known = found;
        }
    }
    best
}

fn pair(ours: &[Value], peers: &[Value]) -> Vec<Row> {
    let (ours, peers) = (best(ours), best(peers));
    let keys: BTreeSet<&Key> = ours.keys().filter(|key| key.0 != "dispatch").collect();
    let with_reuse: BTreeSet<Key> =
        keys.iter().flat_map(|&(k, d, n, t, _)| [true, false].map(|r| (k.clone(), d.clone(), *n, *t, r))).collect();
    let rows = with_reuse.into_iter().filter_map(|key| {
        let fresh = (key.0.clone(), key.1.clone(), key.2, key.3, false);
        let (ours, bandwidth) = ours.get(&key).or_else(|| ours.get(&fresh))?;
        let candidates = [peers.get(&key), peers.get(&fresh)];
        let peer = candidates.into_iter().flatten().map(|(best, _)| best).min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Row { ours: ours.0, peer: peer.clone(), bandwidth: *bandwidth, key })
    });
    rows.collect()
}

fn table(page: &mut String, rows: &[Row]) -> Result<(), std::fmt::Error> {
    writeln!(
        page,
        "\n## Rows\n\n| kernel | dtype | elements | threads | memory | ndjit µs | of bandwidth | fastest peer µs | | ratio |"
    )?;
    writeln!(page, "|---|---|---:|---:|---|---:|---:|---:|---|---:|")?;
    for row in rows {
        let (kernel, dtype, n, threads, reused) = &row.key;
        writeln!(
            page,
            "| {kernel} | {dtype} | {n} | {threads} | {} | {:.1} | {:.2} | {:.1} | {} | {:.2} |",
            if *reused { "reused" } else { "fresh" },
            1e6 * row.ours,
            row.bandwidth,
            1e6 * row.peer.0,
            row.peer.1,
            row.ratio()
        )?;
    }
    Ok(())
}

const BAR: RGBColor = RGBColor(44, 123, 182);
const BEHIND: RGBColor = RGBColor(215, 25, 28);

/// The ratios of one thread with memory reused, kernel by kernel, of the largest arrays that stay in a cache.
fn plot(rows: &[Row], path: &Path) -> Result<(), Box<dyn Error>> {
    let mut bars: Vec<(String, f64)> = Vec::new();
    for row in rows.iter().filter(|r| r.key.4 && r.key.3 == 1 && r.key.1 == "float32" && r.key.2 < BEYOND_CACHES) {
        match bars.iter_mut().find(|(kernel, _)| *kernel == row.key.0) {
            Some(bar) => bar.1 = row.ratio(),
            None => bars.push((row.key.0.clone(), row.ratio())),
        }
    }
    let names: Vec<&str> = bars.iter().map(|(name, _)| name.as_str()).collect();
    let most = bars.iter().map(|bar| bar.1).fold(1.0, f64::max);
    let area = SVGBackend::new(path, (900, 360)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("fastest peer's time / ndjit's, f32, one thread, memory reused", ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(40)
        .build_cartesian_2d(names.as_slice().into_segmented(), 0.0..most * 1.05)?;
    let name = |value: &SegmentValue<&&str>| match value {
        SegmentValue::CenterOf(name) | SegmentValue::Exact(name) => (**name).to_owned(),
        SegmentValue::Last => String::new(),
    };
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .x_labels(names.len())
        .x_label_formatter(&name)
        .light_line_style(WHITE)
        .label_style(("sans-serif", 14).into_font().color(&BLACK));
    mesh.draw()?;
    for behind in [false, true] {
        let style = if behind { BEHIND.filled() } else { BAR.filled() };
        let data = names.iter().zip(&bars).filter(|(_, bar)| (bar.1 < 1.0) == behind);
        let data = data.map(|(name, (_, ratio))| (name, *ratio));
        chart.draw_series(Histogram::vertical(&chart).style(style).margin(12).data(data))?;
    }
    area.present()?;
    Ok(())
}
