//! `ndjit run`: a program written as a graph.

use crate::arguments::Run;
use crate::eval::{configured, device, limit};
use crate::explain::stages_of;
use crate::expression::counted;
use crate::inputs::{self, Input};
use crate::output;
use crate::{Failure, Streams, memory};
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Array, Error, ErrorCode, Kind, Program, Scalar, Spec, ValueType, Weak, weak, with_device, with_policy};
use std::fs;

pub fn run(arguments: &Run, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let path = arguments.file.display();
    let of_file = |error: Error| error.fact(format_args!("file: {path}"));
    inputs::present(&arguments.file)?;
    let text =
        fs::read_to_string(&arguments.file).map_err(|e| of_file(Error::new(ErrorCode::Io, format!("run: {e}"))))?;
    let (how, limit) = (&arguments.how, limit(&arguments.how));
    let device = device(how)?;
    let program = with_policy(how.policy, || with_device(device, || Program::parse(&text))).map_err(of_file)?;
    let program = configured(program, how, device);
    if let Some(stages) = &arguments.stage {
        stages_of(&program, stages, &[], streams)?;
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
            error = error.fact(format_args!("argument {n}: {}{spec}", if spec.is_number() { "a number " } else { "" }));
        }
        return Err(Failure::Usage(error.help("give them in order; `--ones` or `--random SEED` fills in the others")));
    }
    let taken = specs.iter().skip(given).map(|spec| spec.shape().bytes(spec.dtype().bytes()).unwrap_or(usize::MAX));
    let filled = taken.fold(0usize, usize::saturating_add);
    let needed = program.memory()?;
    memory::check(
        limit,
        &[("results and what is computed on the way", needed), ("arguments that are filled in", filled)],
    )?;
    let mut numbers = Random(arguments.random.unwrap_or(0));
    let mut operands: Vec<AnyOperand> = Vec::with_capacity(takes);
    for (n, spec) in specs.iter().enumerate() {
        operands.push(match arguments.inputs.get(n) {
            Some(text) => {
                let source = text.split_once('=').map_or(text.as_str(), |(_, source)| source);
                let of_argument = |failure: Failure| failure.map(|error| error.of(format!("argument {n}")));
                let input = Input::open(source, limit).map_err(of_argument)?;
                check(n, text, &input, spec)?;
                fitting(&input, spec)?
            }
            None if arguments.ones => fill(spec, || 1.0)?,
            None => fill(spec, || numbers.next(spec.value_type().kind()))?,
        });
    }
    for (n, result) in program.call(&operands)?.iter().enumerate() {
        write!(streams.out, "{}result {n}: ", if n > 0 { "\n" } else { "" })?;
        output::print(result, result.shape(), streams.out)?;
    }
    Ok(())
}

/// Refuses an input that is not what the graph takes. A number goes for a number and for an array of no axes, a table for any dtype.
fn check(n: usize, text: &str, input: &Input, wanted: &Spec) -> Result<(), Failure> {
    let given = input.spec();
    let shapes = given.shape() == wanted.shape();
    let (fits, what) = match input {
        Input::Number(_) => (shapes, "the number".to_owned()),
        Input::Table(_) => (shapes && !wanted.is_number(), format!("a table {}", given.shape())),
        Input::Npy(_) => (shapes && given.value_type() == wanted.value_type(), given.to_string()),
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
        (Input::Number(_), false) => Failure::Usage(error.help(format!("give a .npy or .csv file; {ones}"))),
        (Input::Table(_) | Input::Npy(_), false) => {
            error.help(format!("the graph is of these shapes and dtypes alone: give such a file; {ones}")).into()
        }
    })
}

/// An input as an argument: numbers and tables, which have no dtype of their own, take the argument's.
fn fitting(input: &Input, spec: &Spec) -> Result<AnyOperand, Error> {
    Ok(match (input, spec.value_type()) {
        (Input::Number(number), _) if spec.is_number() => match (inputs::kind(*number), spec.value_type()) {
            // An integer goes for a float.
            (Some(Weak::Int), ValueType::Weak(Weak::Float)) => float(*number).operand(),
            _ => number.operand(),
        },
        (Input::Number(number), ValueType::Strong(dtype)) => Array::scalar(*number).cast(dtype).operand(),
        (Input::Table(array), ValueType::Strong(dtype)) => array.cast(dtype).operand(),
        _ => input.argument(None)?,
    })
}

fn float(number: Scalar) -> Scalar {
    number.to_string().split_whitespace().next().and_then(|text| text.parse::<f64>().ok()).map_or(number, weak)
}

/// An argument of made-up numbers.
fn fill(spec: &Spec, mut next: impl FnMut() -> f64) -> Result<AnyOperand, Error> {
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
    let elements: Vec<f64> = (0..spec.shape().size()?).map(|_| next()).collect();
    let array = Array::from_shape_vec(spec.shape().clone(), elements)?.cast(dtype);
    array.eval()?;
    Ok(array.operand())
}

/// Numbers that look random, the same for the same seed: SplitMix64.
struct Random(u64);

impl Random {
    /// From 0 to 1, or of integers from 0 to 99.
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
