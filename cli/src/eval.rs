//! `ndjit eval`: an expression over files and numbers. Where its rows can be computed one after the other, that is done some at a time,
//! so that files may be larger than memory.

use crate::arguments::{Eval, How};
use crate::expression::{parse, trace};
use crate::inputs::{self, Input};
use crate::memory;
use crate::output::{self, Output};
use crate::{Failure, Streams};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ndjit::operand::AnyOperand;
use ndjit::{Array, Device, Error, ErrorCode, Program, Shape, Spec, ValueType, with_device, with_policy};

/// How much memory the rows that are computed at once take, about: enough that what each part costs does not count.
const PART_BYTES: usize = 64 << 20;

/// Rows that are computed to be printed.
const SHOWN: usize = 10;

pub fn run(arguments: &Eval, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let limit = limit(&arguments.how);
    if let Some(total) = memory::total().filter(|total| limit > *total) {
        let (limit, total) = (memory::amount(limit), memory::amount(total));
        writeln!(streams.err, "note: --memory allows {limit}, this machine has {total}")?;
    }
    let device = device(&arguments.how)?;
    let inputs = inputs::named(&arguments.inputs, limit)?;
    let named: Vec<(&str, Spec)> = inputs.iter().map(|(name, input)| (name.as_str(), input.spec())).collect();
    let names = || inputs.iter().map(|(name, _)| name.clone()).collect();
    let failed = |error: Error| Failure::Expression(error, arguments.expression.clone(), names());
    let expression = parse(&arguments.expression).map_err(|problem| failed(problem.into()))?;
    for (name, _) in &inputs {
        if !expression.names().contains(&name.as_str()) {
            writeln!(streams.err, "note: the input {name} is not used")?;
        }
    }
    let program = with_policy(arguments.how.policy, || with_device(device, || trace(&expression, &named, limit)));
    let program = configured(program.map_err(failed)?, &arguments.how, device);
    let whole = Whole { program: &program, inputs: &inputs };
    let computed = whole.run(arguments, limit, streams);
    computed.map_err(|failure| match failure {
        Failure::Other(error) => failed(error),
        other => other,
    })?;
    if let Some(note) = narrowed(&program) {
        writeln!(streams.err, "note: {note}")?;
    }
    Ok(())
}

/// That integers of an input have become floats which do not hold them all: they have 32 bits where NumPy's have 64.
fn narrowed(program: &Program) -> Option<String> {
    let why = program.explain_dtype(0)?;
    let digits = why.stored.digits();
    let inputs: Vec<ValueType> = program.inputs().iter().map(Spec::value_type).collect();
    let wide = |ty: ValueType| match ty {
        ValueType::Strong(dtype) => dtype.is_int() && dtype.digits() > digits && inputs.contains(&ty),
        ValueType::Weak(_) => false,
    };
    let narrow = (why.stored.is_float() || why.stored.is_complex()) && why.stored.real().bits() <= 32;
    let terms = || why.steps.iter().filter(|step| step.what != "cast").flat_map(|step| &step.operands);
    let from = terms().find(|term| narrow && wide(term.ty))?;
    Some(format!(
        "{} became {}, which holds integers up to {}; `--policy numpy2` or `astype(…, f64)` computes in f64",
        from.ty,
        why.stored,
        1u64 << digits
    ))
}

/// The memory limit.
pub fn limit(how: &How) -> usize {
    how.memory.unwrap_or_else(memory::default_limit)
}

/// The device that was asked for; none for the processor.
///
/// # Errors
/// `Device` where this is built without GPUs.
pub fn device(how: &How) -> Result<Option<Device>, Failure> {
    match how.device.as_str() {
        "gpu" if cfg!(feature = "gpu") => Ok(Some(Device::gpu())),
        "gpu" => Err(Failure::Usage(
            Error::new(ErrorCode::Device, "this is built without the feature `gpu`")
                .help("build it with `cargo install --locked --path cli --features gpu`"),
        )),
        _ => Ok(None),
    }
}

/// The program with threads and device.
pub fn configured(program: Program, how: &How, device: Option<Device>) -> Program {
    let program = match how.threads {
        Some(threads) => program.threads(threads),
        None => program,
    };
    match device {
        Some(device) => program.on(device),
        None => program,
    }
}

/// A program with its inputs.
struct Whole<'a> {
    program: &'a Program,
    inputs: &'a [(String, Input)],
}

/// How a program is run in parts.
struct Parts {
    rows: usize,
    /// Rows of a part.
    each: usize,
    /// Which inputs have rows.
    with_rows: Vec<bool>,
}

impl Whole<'_> {
    fn run(&self, arguments: &Eval, limit: usize, streams: &mut Streams<'_>) -> Result<(), Failure> {
        let results = self.program.results();
        let Some(result) = results.first() else {
            return Err(Error::new(ErrorCode::Arity, "eval: the expression has no result").into());
        };
        let parts = self.parts(limit)?;
        let needed = match &parts {
            Some(parts) => self.of_rows(parts.each)?.memory()?,
            None => self.program.memory()?,
        };
        let tables = self.inputs.iter().fold(0usize, |sum, (_, input)| sum.saturating_add(input.bytes()));
        memory::check(
            limit,
            &[("results and what is computed on the way", needed), ("inputs that are read whole", tables)],
        )?;
        match (&arguments.output, parts) {
            (None, None) => self.print(&self.computed(self.program, |_| None)?, result.shape(), streams),
            (None, Some(parts)) => {
                let shown = parts.rows.min(SHOWN);
                let first = self.of_rows(shown)?;
                let array = self.computed(&first, |input| parts.with_rows[input].then_some(0..shown))?;
                self.print(&array, result.shape(), streams)
            }
            (Some(path), parts) => {
                let mut output = Output::create(path, result)?;
                match parts {
                    None => output.write(&self.computed(self.program, |_| None)?)?,
                    Some(parts) => self.write(&parts, &mut output, arguments.how.quiet || !streams.watched)?,
                }
                output.finish()?;
                Ok(writeln!(streams.err, "{}{} is in {}", result.dtype(), result.shape(), path.display())?)
            }
        }
    }

    fn print(&self, array: &Array, shape: &Shape, streams: &mut Streams<'_>) -> Result<(), Failure> {
        output::print(array, shape, streams.out)
    }

    /// Whether the program is run in parts: if it can be, and takes more memory than is good for it.
    fn parts(&self, limit: usize) -> Result<Option<Parts>, Error> {
        let Some(rows) = self.program.rows().filter(|&rows| rows > 1) else { return Ok(None) };
        let (all, one) = (self.program.inputs(), self.of_rows(1)?.inputs());
        let with_rows: Vec<bool> = all.iter().zip(&one).map(|(all, one)| all != one).collect();
        let mut bytes = self.program.memory()?;
        for (spec, _) in all.iter().zip(&with_rows).filter(|(_, rows)| **rows) {
            bytes = bytes.saturating_add(spec.shape().bytes(spec.dtype().bytes())?);
        }
        let part = PART_BYTES.min(limit / 2).max(1);
        if bytes <= part {
            return Ok(None);
        }
        let each = (part as f64 / bytes as f64 * rows as f64) as usize;
        Ok(Some(Parts { rows, each: each.clamp(1, rows), with_rows }))
    }

    fn of_rows(&self, rows: usize) -> Result<Program, Error> {
        let missing = || Error::new(ErrorCode::Verify, "eval: a program with rows has none");
        self.program.with_rows(rows).ok_or_else(missing)
    }

    /// The result of a program on inputs, or on rows of some.
    fn computed(
        &self,
        program: &Program,
        rows: impl Fn(usize) -> Option<std::ops::Range<usize>>,
    ) -> Result<Array, Error> {
        let arguments = self.inputs.iter().enumerate().map(|(n, (_, input))| input.argument(rows(n)));
        let arguments = arguments.collect::<Result<Vec<AnyOperand>, Error>>()?;
        let mut results = program.call(&arguments)?;
        results.pop().ok_or_else(|| Error::new(ErrorCode::Arity, "eval: the expression has no result"))
    }

    fn write(&self, parts: &Parts, output: &mut Output, quiet: bool) -> Result<(), Failure> {
        let bar = progress(parts.rows, quiet);
        let full = self.of_rows(parts.each)?;
        let mut start = 0;
        while start < parts.rows {
            let end = start.saturating_add(parts.each).min(parts.rows);
            let rows = |input: usize| parts.with_rows[input].then_some(start..end);
            let part = match end - start == parts.each {
                true => self.computed(&full, rows)?,
                false => self.computed(&self.of_rows(end - start)?, rows)?,
            };
            output.write(&part)?;
            bar.set_position(end as u64);
            start = end;
        }
        bar.finish_and_clear();
        Ok(())
    }
}

/// A bar on standard error.
fn progress(rows: usize, quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(rows as u64), target);
    match ProgressStyle::with_template("{bar:40} {percent}% of {len} rows, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
