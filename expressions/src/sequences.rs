//! Arrays created from numbers: sequences and identity matrices.

use crate::arguments::BoundArguments;
use crate::error::Problem;
use crate::making::{extent, one};
use crate::node::ExprNumber;
use crate::notation::ExpressionNotation;
use crate::value::{NodeValue, PlacedArgument};
use crate::{Budget, Reservation};
use ndjit::creation::Interval;
use ndjit::{Array, DType, Error, Expr, Scalar, dtype, linspace, logspace};
use std::cell::RefCell;

/// The memory of sequences while a program is traced.
pub(crate) struct Sequences {
    budget: Budget,
    held: RefCell<Vec<Reservation>>,
}

impl Sequences {
    pub fn new(budget: &Budget) -> Sequences {
        Sequences { budget: budget.clone(), held: RefCell::default() }
    }

    /// Reserves memory for at most this number of elements of a call.
    fn reserve(&self, given: &BoundArguments<'_>, count: f64) -> Result<(), Problem> {
        let element = given.dtype()?.map_or(8, DType::bytes);
        // An amount beyond the address space saturates.
        let bytes = (count * element as f64) as usize;
        let problem = |error: Error| {
            let problem =
                Problem { code: error.code(), facts: error.facts().to_vec(), ..given.problem(error.headline()) };
            error.help_text().map_or(problem.clone(), |help| problem.help(help))
        };
        let reservation = self.budget.reserve("sequences", bytes).map_err(problem)?;
        self.held.borrow_mut().push(reservation);
        Ok(())
    }
}

/// A number argument, and its approximate value.
fn number(given: &BoundArguments<'_>, parameter: &str) -> Result<Option<(Scalar, f64)>, Problem> {
    let value = match given.get(parameter) {
        None => return Ok(None),
        Some(PlacedArgument { value: NodeValue::Number(number @ ExprNumber::Int(n)), column }) => {
            (number.scalar(*column)?, *n as f64)
        }
        Some(PlacedArgument { value: NodeValue::Number(number @ ExprNumber::Float(x)), column }) => {
            (number.scalar(*column)?, *x)
        }
        Some(other) => {
            return Err(given
                .problem_of(parameter, format_args!("`{parameter}`: takes a real number, given {}", other.value.kind()))
                .help("how many elements there are must be known before they are computed"));
        }
    };
    Ok(Some(value))
}

/// Evaluates `arange(stop)` and `arange(start, stop, step)`.
pub(crate) fn arange(given: &BoundArguments<'_>, sequences: &Sequences) -> Result<Expr, Problem> {
    let zero = (ExprNumber::Int(0).scalar(given.column)?, 0.0);
    let unit = (ExprNumber::Int(1).scalar(given.column)?, 1.0);
    let (first, second) = (number(given, "start")?.unwrap_or(zero), number(given, "stop")?);
    let (start, stop) = second.map_or((zero, first), |stop| (first, stop));
    let step = number(given, "step")?.unwrap_or(unit);
    // The library reports a step of 0.
    if step.1 != 0.0 {
        sequences.reserve(given, (stop.1 - start.1) / step.1)?;
    }
    let steps = (start.0, stop.0, step.0);
    let made = match given.dtype()? {
        Some(d) => dtype(d).arange(steps),
        None => ndjit::arange(steps),
    };
    let blamed = match given.get("stop") {
        _ if step.1 == 0.0 => "step",
        Some(_) => "stop",
        None => "start",
    };
    array(given, made, blamed)
}

/// Evaluates `linspace(start, stop, num)`; for `logspace`, exponents of 10.
pub(crate) fn spaced(given: &BoundArguments<'_>, sequences: &Sequences, powers: bool) -> Result<Expr, Problem> {
    let (start, _) = given.given("start", number(given, "start")?)?;
    let (stop, _) = given.given("stop", number(given, "stop")?)?;
    let count = extent(given, "num", given.int("num")?.unwrap_or(50))?;
    sequences.reserve(given, count as f64)?;
    let of = given.dtype()?;
    let made = match given.truth("endpoint")?.unwrap_or(true) {
        true => between(start..=stop, count, of, powers),
        false => between(start..stop, count, of, powers),
    };
    array(given, made, "dtype")
}

fn between(interval: impl Interval, count: usize, of: Option<DType>, powers: bool) -> Array {
    match (powers, of) {
        (false, Some(d)) => dtype(d).linspace(interval, count),
        (false, None) => linspace(interval, count),
        (true, Some(d)) => dtype(d).logspace(interval, count),
        (true, None) => logspace(interval, count),
    }
}

/// Evaluates `eye(rows)` and `eye(rows, columns, k=1)`.
pub(crate) fn eye(given: &BoundArguments<'_>, sequences: &Sequences) -> Result<Expr, Problem> {
    let rows = one(given, "n_rows")?;
    let columns = given.int("n_cols")?.unwrap_or(rows);
    let sizes = [extent(given, "n_rows", rows)?, extent(given, "n_cols", columns)?];
    sequences.reserve(given, sizes[0] as f64 * sizes[1] as f64)?;
    let parts = (sizes[0], sizes[1], given.int("k")?.unwrap_or(0));
    let made = match given.dtype()? {
        Some(d) => dtype(d).eye(parts),
        None => ndjit::eye(parts),
    };
    array(given, made, "dtype")
}

/// A created array as a value of the program, or its error at the argument at fault.
fn array(given: &BoundArguments<'_>, array: Array, blamed: &str) -> Result<Expr, Problem> {
    match array.error() {
        None => Ok(Expr::from(array)),
        Some(error) => {
            let named = error.name() == Some(given.name);
            let error = if named { error.clone().unnamed() } else { error.clone() };
            let problem = Problem {
                code: error.code(),
                facts: error.facts().to_vec(),
                ..given.problem_of(blamed, error.headline())
            };
            Err(error.way_out().map_or(problem.clone(), |help| problem.help(help.in_notation(&ExpressionNotation))))
        }
    }
}
