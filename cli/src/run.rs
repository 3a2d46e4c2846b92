//! `ndjit run`: runs a program written as a graph, or saved.

use crate::arguments::RunArguments;
use crate::eval::{COMPUTED, READ, configured, device, limit};
use crate::explain::stages_of;
use crate::inputs::{self, ProgramInput};
use crate::memory::{budget, grow};
use crate::outcome::{CommandFailure, Streams};
use crate::output;
use crate::saved;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Array, Error, ErrorCode, Kind, Program, Scalar, Spec, ValueType, Weak, weak, with_device, with_policy};
use ndjit_expressions::{Budget, Reservation, counted};
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub fn run(arguments: &RunArguments, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    let path = arguments.file.display();
    let of_file = |error: Error| error.fact(format_args!("file: {path}"));
    let budget = budget(limit(&arguments.how));
    // Freed memory is returned to the system, so that memory in use matches the reservations.
    ndjit::set_pool_limit(0);
    inputs::present(&arguments.file)?;
    let how = &arguments.how;
    let device = device(how)?;
    let (loaded, (text, _text)) = match saved::is_program(&arguments.file) {
        true => {
            saved::check_how(how)?;
            let (program, reserved) = saved::load(&arguments.file, &budget)?;
            let text = program.to_string();
            (Some(program), (text, reserved))
        }
        false => (None, read(&arguments.file, &budget).map_err(of_file)?),
    };
    let operations = {
        let _graph = budget.reserve(OPERATIONS, text.len().saturating_mul(GRAPH)).map_err(of_file)?;
        Program::count_operations(&text).map_err(of_file)?
    };
    let _operations = budget.reserve(OPERATIONS, operations.saturating_mul(OPERATION)).map_err(of_file)?;
    let program = match loaded {
        Some(program) => program,
        None => with_policy(how.policy, || with_device(device, || Program::parse(&text))).map_err(of_file)?,
    };
    let program = configured(program, how, device);
    if let Some(stages) = &arguments.stage {
        stages_of(&program, stages, streams)?;
        if arguments.inputs.is_empty() && !arguments.ones && arguments.random.is_none() {
            return Ok(());
        }
    }
    let specs = program.inputs();
    let (takes, given) = (specs.len(), arguments.inputs.len());
    let fills = arguments.ones || arguments.random.is_some();
    if given > takes || (given < takes && !fills) {
        let mut error = Error::new(
            ErrorCode::Arity,
            format!("run: the program takes {}, {given} given", counted(takes, "argument")),
        );
        for (n, spec) in specs.iter().enumerate() {
            let name = program.argument_names().get(n).map_or_else(|| format!("argument {n}"), String::clone);
            error = error.fact(format_args!("{name}: {}{spec}", if spec.is_number() { "a number " } else { "" }));
        }
        return Err(CommandFailure::Usage(
            error.help("give them in order; `--ones` or `--random SEED` fills in the others"),
        ));
    }
    let texts = saved::in_order(&arguments.inputs, program.argument_names(), takes).map_err(CommandFailure::Usage)?;
    let missing = specs.iter().zip(&texts).filter(|(_, text)| text.is_none());
    let filled = missing.map(|(spec, _)| bytes(spec)).fold(0usize, usize::saturating_add);
    let _filled = budget.reserve(FILLED, filled)?;
    let _computed = budget.reserve(COMPUTED, program.memory()?)?;
    let mut numbers = SplitMix64(arguments.random.unwrap_or(0));
    let mut operands: Vec<AnyOperand> = Vec::with_capacity(takes);
    let (mut opened, mut read_inputs) = (Vec::new(), Vec::new());
    for (n, spec) in specs.iter().enumerate() {
        operands.push(match texts[n] {
            Some(text) => {
                let source = text.split_once('=').map_or(text, |(_, source)| source);
                let of_argument = |failure: CommandFailure| failure.map(|error| error.of(format!("argument {n}")));
                let input = ProgramInput::open(source, &budget).map_err(of_argument)?;
                check(n, text, &input, spec)?;
                read_inputs.push(budget.reserve(READ, input.read_bytes(None))?);
                let operand = fitting(&input, spec, &budget, &mut read_inputs)?;
                opened.push(input);
                operand
            }
            None if arguments.ones => fill(spec, &budget, || 1.0)?,
            None => fill(spec, &budget, || numbers.next(spec.value_type().kind()))?,
        });
    }
    let results = program.call(&operands)?;
    opened.iter().try_for_each(ProgramInput::unchanged)?;
    for (n, result) in results.iter().enumerate() {
        write!(streams.out, "{}result {n}: ", if n > 0 { "\n" } else { "" })?;
        output::print(result, result.shape(), &budget, streams.out)?;
    }
    Ok(())
}

/// The label of the program's own memory.
const OPERATIONS: &str = "the operations of the program";
/// Upper bound on bytes per operation: stages, kernel and plan. Sums, scans and sorts, each a separate kernel, take 3
/// KB (`tests/cli/memory.rs` has examples).
const OPERATION: usize = 4096;
/// Upper bound on bytes of a graph per byte of its text.
const GRAPH: usize = 10;

/// The label of memory for generated arguments.
const FILLED: &str = "arguments that are filled in";

fn bytes(spec: &Spec) -> usize {
    spec.shape().bytes(spec.dtype().bytes()).unwrap_or(usize::MAX)
}

/// Reads the text of a file, which may be an endless pipe, and reserves its memory.
fn read(path: &Path, budget: &Budget) -> Result<(String, Reservation), Error> {
    const STEP: usize = 1 << 16;
    let failed = |e: std::io::Error| Error::new(ErrorCode::Io, format!("run: {e}"));
    let mut file = File::open(path).map_err(failed)?;
    let (mut text, mut reservation) = (Vec::new(), budget.reserve("the graph", 0)?);
    loop {
        // Twice, since growth may move the text.
        reservation.resize(2 * (text.len() + STEP))?;
        let before = text.len();
        file.by_ref().take(STEP as u64).read_to_end(&mut text).map_err(failed)?;
        if text[before..].contains(&0) {
            return Err(Error::new(ErrorCode::Parse, "run: a NUL byte, which no graph has")
                .help("`ndjit explain EXPRESSION INPUTS --stage graph` writes one"));
        }
        if text.len() == before {
            break;
        }
    }
    let text = String::from_utf8(text).map_err(|error| {
        Error::new(ErrorCode::Parse, format!("run: byte {} is not UTF-8", error.utf8_error().valid_up_to()))
            .help("`ndjit explain EXPRESSION INPUTS --stage graph` writes a graph")
    })?;
    Ok((text, reservation))
}

/// Rejects an input of another type or shape than the graph's. A number may be a number or a scalar array, a table any
/// dtype.
fn check(n: usize, text: &str, input: &ProgramInput, wanted: &Spec) -> Result<(), CommandFailure> {
    let given = input.spec();
    let shapes = given.shape() == wanted.shape();
    let (fits, what) = match input {
        ProgramInput::Number(_) => (shapes, "the number".to_owned()),
        ProgramInput::Table { .. } => (shapes && !wanted.is_number(), format!("a table {}", given.shape())),
        ProgramInput::Npy(..) => (shapes && given.value_type() == wanted.value_type(), given.to_string()),
    };
    if fits {
        return Ok(());
    }
    let number = if wanted.is_number() { "a number " } else { "" };
    let error =
        Error::new(ErrorCode::Argument, format!("run: argument {n} is {number}{wanted}, given is {what} `{text}`"));
    let ones = "`--ones` or `--random SEED` fills in arguments that are not given";
    Err(match (input, wanted.is_number()) {
        (_, true) => error.help("write a number").into(),
        (ProgramInput::Number(_), false) => {
            CommandFailure::Usage(error.help(format!("give a .npy or .csv file; {ones}")))
        }
        (ProgramInput::Table { .. } | ProgramInput::Npy(..), false) => {
            error.help(format!("the graph is of these shapes and dtypes alone: give such a file; {ones}")).into()
        }
    })
}

/// An input as an argument. Numbers and tables have no dtype of their own and take the argument's.
fn fitting(
    input: &ProgramInput,
    spec: &Spec,
    budget: &Budget,
    held: &mut Vec<Reservation>,
) -> Result<AnyOperand, Error> {
    Ok(match (input, spec.value_type()) {
        (ProgramInput::Number(number), _) if spec.is_number() => match (inputs::kind(*number), spec.value_type()) {
            // An integer is accepted as a float.
            (Some(Weak::Int), ValueType::Weak(Weak::Float)) => float(*number).operand(),
            _ => number.operand(),
        },
        (ProgramInput::Number(number), ValueType::Strong(dtype)) => Array::scalar(*number).cast(dtype).operand(),
        (ProgramInput::Table { array, .. }, ValueType::Strong(dtype)) => {
            held.push(budget.reserve(READ, bytes(spec))?);
            array.cast(dtype).operand()
        }
        _ => input.argument(None)?,
    })
}

fn float(number: Scalar) -> Scalar {
    number.to_string().split_whitespace().next().and_then(|text| text.parse::<f64>().ok()).map_or(number, weak)
}

/// Generates an argument from numbers.
fn fill(spec: &Spec, budget: &Budget, mut next: impl FnMut() -> f64) -> Result<AnyOperand, Error> {
    if spec.is_number() {
        return Ok(match spec.value_type().kind() {
            Kind::Int | Kind::UInt | Kind::Bool => weak(next() as i64).operand(),
            Kind::Float => weak(next()).operand(),
            Kind::Complex => weak(ndjit::Complex::new(next(), 0.0)).operand(),
        });
    }
    let ValueType::Strong(dtype) = spec.value_type() else {
        return Err(Error::new(ErrorCode::Argument, format!("run: a weak array, {spec}, is not filled in"))
            .help("arrays in files have a dtype; write one in the graph"));
    };
    let count = spec.shape().size()?;
    let _floats = budget.reserve(FILLED, count.saturating_mul(size_of::<f64>()))?;
    let mut elements: Vec<f64> = Vec::new();
    grow(&mut elements, count)?;
    elements.extend((0..count).map(|_| next()));
    let array = Array::from_shape_vec(spec.shape().clone(), elements)?.cast(dtype);
    array.eval()?;
    Ok(array.operand())
}

/// Pseudorandom numbers from a seed: SplitMix64.
struct SplitMix64(u64);

impl SplitMix64 {
    /// A number from 0 to 1, or an integer from 0 to 99.
    fn next(&mut self, kind: Kind) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        match kind {
            Kind::Float | Kind::Complex => unit,
            Kind::Int | Kind::UInt => (unit * 100.0).floor(),
            Kind::Bool => (unit * 2.0).floor(),
        }
    }
}
