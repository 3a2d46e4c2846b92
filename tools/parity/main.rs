//! Compares a GPU's results with those of the CPU, bit for bit: primitives, ops, casts, reductions and scans.
//!
//! `cargo run --release -p ndjit-tools --features gpu --bin parity [-- [NAME …] [--quick] [--write]]`. A name is that of a subject (`primitives`,
//! `ops`, `casts`, `reductions`, `graphs`; of 64 bits `wide ops`, `wide reductions`), of an op or reduction, or of one in a dtype (`"exp f32"`); without one
//! everything is compared, which takes an hour, most of it to compile 64-bit functions. `--quick` takes minutes and leaves these out.
//! `--write` writes docs/gpu-parity.md. It fails where anything differs. Without a device nothing is compared.

#[path = "../accuracy/operands.rs"]
mod accuracy_operands;
mod compared;
#[path = "../accuracy/draw.rs"]
mod draw;
mod elementwise;
#[path = "../accuracy/format.rs"]
mod format;
mod graphs;
mod operands;
mod primitives;
mod programs;
mod reductions;
mod report;
mod scale;

use elementwise::{Case, is_wide};
use ndjit::DType;
use ndjit_codegen::wgsl::Features;
use ndjit_ir::ErrorCode;
use ndjit_runtime::gpu::{Gpu, GpuOptions};
use report::Group;
use scale::Scale;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Software devices take minutes to compile some functions.
const PATIENCE: Duration = Duration::from_secs(3600);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let names = arguments.iter().filter(|argument| !argument.starts_with("--")).cloned().collect();
    let quick = flag("--quick");
    let gpu = match open(Features::ALL) {
        Err(error) if error.code() == ErrorCode::Device => {
            println!("SKIPPED, no device: {error}");
            return Ok(());
        }
        gpu => gpu?,
    };
    let words = open(Features { subnormals: true, ..Features::LEAST })?;
    let least = open(Features::LEAST)?;
    let devices = [("as it is", &gpu), ("without 64 bits", &words), ("least", &least)];
    let describe = |(name, gpu): &(&str, &Arc<Gpu>)| format!("*{name}*: {}, {:?}", gpu.info(), gpu.features());
    let lines: Vec<String> = devices.iter().map(describe).collect();
    lines.iter().for_each(|line| println!("{line}"));
    let mut run = Run { scale: if quick { scale::QUICK } else { scale::FULL }, names, groups: Vec::new() };
    for device in devices {
        run.primitives(device)?;
    }
    let own = devices[0];
    run.elementwise(own, "ops", elementwise::ops(|dtype| !is_wide(dtype)), run.scale)?;
    run.elementwise(own, "casts", elementwise::casts(), run.scale.of_casts())?;
    run.reductions(own, "reductions", |dtype| !is_wide(dtype))?;
    run.graphs(own, "graphs", |dtype| !is_wide(dtype))?;
    if !quick {
        run.elementwise(devices[1], "ops", elementwise::ops(|dtype| dtype == DType::F32), run.scale.of_words())?;
        run.reductions(own, "wide reductions", is_wide)?;
        run.elementwise(own, "wide ops", elementwise::ops(is_wide), run.scale)?;
    }
    run.finish(&lines, flag("--write"))
}

fn open(at_most: Features) -> ndjit::Result<Arc<Gpu>> {
    Gpu::open(GpuOptions { at_most, patience: PATIENCE, ..GpuOptions::default() })
}

/// The requested comparisons, and their results.
struct Run {
    scale: Scale,
    names: Vec<String>,
    groups: Vec<Group>,
}

type Device<'a> = (&'static str, &'a Arc<Gpu>);

impl Run {
    /// Whether a comparison was requested.
    fn wanted(&self, subject: &str, name: &str) -> bool {
        let is = |given: &String| given == subject || given == name || name.split(' ').next() == Some(given.as_str());
        self.names.is_empty() || self.names.iter().any(is)
    }

    fn primitives(&mut self, (name, gpu): Device<'_>) -> Result<(), Box<dyn Error>> {
        let mut group = Group::new(name, "primitives");
        if self.wanted("primitives", "") {
            primitives::compare(gpu, self.scale.primitives)?.into_iter().for_each(|row| group.add(row));
        }
        self.groups.push(group);
        Ok(())
    }

    fn elementwise(
        &mut self,
        (name, gpu): Device<'_>,
        subject: &'static str,
        mut cases: Vec<Case>,
        scale: Scale,
    ) -> Result<(), Box<dyn Error>> {
        let mut group = Group::new(name, subject);
        cases.retain(|case| self.wanted(subject, &case.name));
        elementwise::compare(gpu, &cases, &scale, |row| group.add(row))?;
        self.groups.push(group);
        Ok(())
    }

    fn reductions(
        &mut self,
        (name, gpu): Device<'_>,
        subject: &'static str,
        in_dtype: impl Fn(DType) -> bool,
    ) -> Result<(), Box<dyn Error>> {
        let mut group = Group::new(name, subject);
        let wanted = |name: &str, dtype| in_dtype(dtype) && self.wanted(subject, name);
        reductions::compare(gpu, &self.scale, wanted, |row| group.add(row))?;
        self.groups.push(group);
        Ok(())
    }

    fn graphs(
        &mut self,
        (name, gpu): Device<'_>,
        subject: &'static str,
        in_dtype: impl Fn(DType) -> bool,
    ) -> Result<(), Box<dyn Error>> {
        let mut group = Group::new(name, subject);
        if self.wanted(subject, "") {
            graphs::compare(gpu, &self.scale, in_dtype, |row| group.add(row))?;
        }
        self.groups.push(group);
        Ok(())
    }

    /// The summary; an error if anything differs.
    fn finish(self, devices: &[String], write: bool) -> Result<(), Box<dyn Error>> {
        if write {
            let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("docs/gpu-parity.md");
            let before = std::fs::read_to_string(&path).unwrap_or_default();
            std::fs::write(path, report::page(devices, &self.groups, &before))?;
        }
        let comparisons: usize = self.groups.iter().map(Group::comparisons).sum();
        let elements: u64 = self.groups.iter().map(Group::elements).sum();
        let differences: u64 = self.groups.iter().map(Group::differences).sum();
        let summary = format!("{comparisons} comparisons, {elements} elements, {differences} differences");
        println!("{summary}");
        if differences > 0 { Err(summary.into()) } else { Ok(()) }
    }
}
