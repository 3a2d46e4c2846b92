//! `ndjit eval`: evaluates an expression over files and numbers. Independent rows are computed in parts, so that files
//! may be larger than memory.

use crate::arguments::{EvalArguments, How};
use crate::inputs::{self, ProgramInput};
use crate::memory;
use crate::outcome::{CommandFailure, Streams};
use crate::output::{self, OutputFile};
use crate::saved;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ndjit::operand::AnyOperand;
use ndjit::{Array, Device, Error, ErrorCode, Program, Shape, Spec, ValueType, with_device, with_policy};
use ndjit_expressions::{Budget, Reservation, amount, parse, trace};

/// Approximate memory of a part: large enough to amortize the overhead of a call.
const PART_BYTES: usize = 64 << 20;

/// Number of rows computed for printing.
const SHOWN: usize = 10;

pub fn run(arguments: &EvalArguments, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    let limit = limit(&arguments.how);
    if let Some(total) = memory::total().filter(|total| limit > *total) {
        let (limit, total) = (amount(limit), amount(total));
        writeln!(streams.err, "note: --memory allows {limit}, this machine has {total}")?;
    }
    let budget = memory::budget(limit);
    // Freed memory is returned to the system, so that memory in use matches the reservations.
    ndjit::set_pool_limit(0);
    if let Some(path) = arguments.output.as_deref().filter(|path| saved::is_program(path)) {
        return saved::save(arguments, path, &budget, streams);
    }
    let device = device(&arguments.how)?;
    let inputs = inputs::named(&arguments.inputs, &budget)?;
    let named: Vec<(&str, Spec)> = inputs.iter().map(|(name, input)| (name.as_str(), input.spec())).collect();
    let names = || inputs.iter().map(|(name, _)| name.clone()).collect();
    let failed = |error: Error| CommandFailure::Expression(error, arguments.expression.clone(), names());
    let expression = parse(&arguments.expression).map_err(|problem| failed(problem.into()))?;
    for (name, _) in &inputs {
        if !expression.names().contains(&name.as_str()) {
            writeln!(streams.err, "note: the input {name} is not used")?;
        }
    }
    let program = with_policy(arguments.how.policy, || with_device(device, || trace(&expression, &named, &budget)));
    let program = configured(program.map_err(failed)?, &arguments.how, device);
    let whole = Whole { program: &program, inputs: &inputs, budget: &budget };
    let computed = whole.run(arguments, streams);
    computed.map_err(|failure| match failure {
        CommandFailure::Other(error) => failed(error),
        other => other,
    })?;
    if let Some(note) = narrowed(&program) {
        writeln!(streams.err, "note: {note}")?;
    }
    Ok(())
}

/// A note on integer inputs cast to floats that cannot represent all of them: 32 bits, where NumPy has 64.
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

/// The requested device; `None` for the processor.
///
/// # Errors
/// `Device` if built without GPUs.
pub fn device(how: &How) -> Result<Option<Device>, CommandFailure> {
    match how.device.as_str() {
        "gpu" if cfg!(feature = "gpu") => Ok(Some(Device::gpu())),
        "gpu" => Err(CommandFailure::Usage(
            Error::new(ErrorCode::Device, "this is built without the feature `gpu`")
                .help("build it with `cargo install --locked --path cli --features gpu`"),
        )),
        _ => Ok(None),
    }
}

/// Applies threads and device to a program.
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
    inputs: &'a [(String, ProgramInput)],
    budget: &'a Budget,
}

/// The division of a run into parts.
struct RunParts {
    rows: usize,
    /// Number of rows of a part.
    each: usize,
    /// Marks the inputs that have rows.
    with_rows: Vec<bool>,
    /// Target memory of a part.
    bytes: usize,
}

impl Whole<'_> {
    fn run(&self, arguments: &EvalArguments, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
        let results = self.program.results();
        let result = results.first().ok_or_else(no_result)?;
        let _captured = self.budget.reserve("sequences", self.program.captured_bytes())?;
        let (parts, shown) = (self.parts()?, result.shape());
        match (&arguments.output, parts) {
            (None, None) => {
                let (result, _reserved) = self.computed()?;
                self.print(&result, shown, streams)
            }
            (None, Some(parts)) => {
                let parts = RunParts { each: parts.each.min(SHOWN), ..parts };
                let mut first = None;
                self.each(&parts, |part, _| {
                    first = Some(part);
                    Ok(false)
                })?;
                self.print(&first.ok_or_else(no_result)?, shown, streams)
            }
            (Some(path), parts) => {
                let mut output = OutputFile::create(path, result, self.budget)?;
                match parts {
                    None => output.write(&self.computed()?.0)?,
                    Some(parts) => {
                        let bar = progress(parts.rows, arguments.how.quiet || !streams.watched);
                        self.each(&parts, |part, end| {
                            output.write(&part)?;
                            bar.set_position(end as u64);
                            Ok(true)
                        })?;
                        bar.finish_and_clear();
                    }
                }
                output.finish()?;
                Ok(writeln!(streams.err, "{}{shown} is in {}", result.dtype(), path.display())?)
            }
        }
    }

    fn print(&self, array: &Array, shape: &Shape, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
        output::print(array, shape, self.budget, streams.out)
    }

    /// The division into parts, if the rows are independent and the whole takes too much memory.
    fn parts(&self) -> Result<Option<RunParts>, Error> {
        let Some(rows) = self.program.rows().filter(|&rows| rows > 1) else { return Ok(None) };
        let (all, one) = (self.program.inputs(), self.of_rows(1)?.inputs());
        let with_rows: Vec<bool> = all.iter().zip(&one).map(|(all, one)| all != one).collect();
        // Half of the remaining memory for a part, and half for the freed memory of the previous one.
        let whole = RunParts { rows, each: rows, with_rows, bytes: PART_BYTES.min(self.budget.left() / 2) };
        let bytes = self.needed(&whole)?;
        if bytes <= whole.bytes {
            return Ok(None);
        }
        let each = (whole.bytes as f64 / bytes as f64 * rows as f64) as usize;
        let mut parts = RunParts { each: each.clamp(1, rows), ..whole };
        // Not all memory of a program is proportional to its rows.
        while parts.each > 1 && self.needed(&parts)? > parts.bytes {
            parts.each = parts.each.div_ceil(2);
        }
        Ok(Some(parts))
    }

    /// The memory of a part: its inputs, and the computation.
    fn needed(&self, parts: &RunParts) -> Result<usize, Error> {
        let read = self.inputs.iter().zip(&parts.with_rows).filter(|(_, rows)| **rows);
        let read = read.map(|((_, input), _)| input.read_bytes(Some(parts.each)));
        Ok(read.fold(self.of_rows(parts.each)?.memory()?, usize::saturating_add))
    }

    fn of_rows(&self, rows: usize) -> Result<Program, Error> {
        let missing = || Error::new(ErrorCode::Verify, "eval: a program with rows has none");
        self.program.with_rows(rows).ok_or_else(missing)
    }

    /// Computes the whole result, and reserves its memory.
    fn computed(&self) -> Result<(Array, Reservation), Error> {
        let read = self.inputs.iter().fold(0usize, |sum, (_, input)| sum.saturating_add(input.read_bytes(None)));
        let _read = self.budget.reserve(READ, read)?;
        let computed = self.budget.reserve(COMPUTED, self.program.memory()?)?;
        let arguments = self.inputs.iter().map(|(_, input)| input.argument(None));
        let result = one(self.program.call(&arguments.collect::<Result<Vec<AnyOperand>, Error>>()?)?)?;
        self.unchanged()?;
        Ok((result, computed))
    }

    /// Computes parts in order until `then`, called with each part and the row after its last, returns false.
    fn each(&self, parts: &RunParts, mut then: impl FnMut(Array, usize) -> Result<bool, Error>) -> Result<(), Error> {
        let full = self.of_rows(parts.each)?;
        let read = |rows: bool| {
            let inputs = self.inputs.iter().zip(&parts.with_rows).filter(move |(_, with_rows)| **with_rows == rows);
            inputs.fold(0usize, |sum, ((_, input), _)| sum.saturating_add(input.read_bytes(rows.then_some(parts.each))))
        };
        let _read = self.budget.reserve(READ, read(false).saturating_add(read(true)))?;
        let _computed = self.budget.reserve(COMPUTED, full.memory()?)?;
        let freed = parts.bytes.min(self.budget.left());
        let _freed = self.budget.reserve("freed memory that is used again", freed)?;
        ndjit::set_pool_limit(freed);
        let with_rows = self.inputs.iter().zip(&parts.with_rows);
        let whole = with_rows.map(|((_, input), rows)| if *rows { Ok(None) } else { input.argument(None).map(Some) });
        let whole = whole.collect::<Result<Vec<Option<AnyOperand>>, Error>>()?;
        for start in (0..parts.rows).step_by(parts.each) {
            let end = start.saturating_add(parts.each).min(parts.rows);
            let arguments = self.inputs.iter().zip(&whole).map(|((_, input), whole)| match whole {
                Some(whole) => Ok(whole.clone()),
                None => input.argument(Some(start..end)),
            });
            let arguments = arguments.collect::<Result<Vec<AnyOperand>, Error>>()?;
            let part = match end - start == parts.each {
                true => full.call(&arguments)?,
                false => self.of_rows(end - start)?.call(&arguments)?,
            };
            drop(arguments);
            if !then(one(part)?, end)? {
                break;
            }
        }
        self.unchanged()
    }

    /// Rejects files that changed since they were opened.
    fn unchanged(&self) -> Result<(), Error> {
        self.inputs.iter().try_for_each(|(_, input)| input.unchanged())
    }
}

/// The label of memory for inputs at run time.
pub const READ: &str = "inputs that are read";
pub const COMPUTED: &str = "results and what is computed on the way";

fn one(mut results: Vec<Array>) -> Result<Array, Error> {
    results.pop().ok_or_else(no_result)
}

fn no_result() -> Error {
    Error::new(ErrorCode::Arity, "eval: the expression has no result")
}

/// A progress bar on standard error.
fn progress(rows: usize, quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(rows as u64), target);
    match ProgressStyle::with_template("{bar:40} {percent}% of {len} rows, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
