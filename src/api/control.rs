//! Control flow in traced functions: branches and loops that depend on values. Rust's `if` and `for` are evaluated during
//! tracing. These functions are evaluated at run time, and their bodies are compiled once.
//!
//! State is any structure of traced values: one [`Expr`], tuples, arrays, `Vec`s and structs with
//! [`outputs!`](crate::outputs). Closures may capture values, arrays and scalars.
//!
//! A loop keeps the types of its state: dtype, shape and weakness. A weak initial value, such as `Expr::from(0.0)`, takes
//! the dtype of the body's result and must fit it. Any other change is an error that names the leaf. Leaves are counted from
//! 0 in the order of the structure.

use super::loop_state::{Written, settled, types};
use crate::jit::output::{Collected, Outputs, built, collected};
use crate::trace::cast;
use crate::trace::expr::Expr;
use crate::trace::inner::{RecordedGraph, control, params, record_inner, value};
use crate::trace::int_ranges::IntRange;
use crate::trace::known;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand};
use crate::trace::ranges;
use crate::trace::recorder;
use crate::trace::recording::Param;
use ndjit_ir::graph::{ControlKind, ForArity, ScanArity};
use ndjit_ir::{CastAdvice, Code, DType, Error, ErrorCode, Help, Result, Shape, SourceLoc, ValueType};
use ndjit_runtime::stderr;
use smallvec::smallvec;
use std::cell::Cell;

/// The results of `then` if `condition` is true, of `otherwise` if not. Only one of them is computed. Both take `operands`.
///
/// ```
/// use ndjit::{Array, Expr, cond, exp, jit};
///
/// let f = jit(|x: Expr| cond(ndjit::sum(x, ..).gt(0), |x| exp(x), |x| x * 2, x));
/// assert_eq!(f(&Array::from([-1.0f32, -2.0])).to_vec::<f32>()?, [-2.0, -4.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// As in JAX, a number is a condition too, true if nonzero. A [`while_loop`] takes only a bool: a loop that runs until a
/// number is exactly 0 may never end. `where_(mask, x, y)` selects elements of both.
///
/// Source: [`jax.lax.cond`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html).
///
/// # Errors
/// Poisoned with `Shape` if the condition is not one value; with `Arity`, `DType` or `Shape` if the branches give different structures, dtypes or
/// shapes; with the first error of a branch.
#[doc(alias = "if")]
#[track_caller]
pub fn cond<A: Outputs, R: Outputs>(
    condition: impl Operand,
    then: impl FnOnce(A) -> R,
    otherwise: impl FnOnce(A) -> R,
    operands: A,
) -> R {
    let place = SourceLoc::caller();
    let given = collected(operands);
    let mut results: Vec<Collected> = Vec::new();
    let made = (|| {
        let condition = match condition.operand() {
            // As in JAX, a number is a condition.
            number if number.describe("cond")?.1 != DType::Bool => Expr::convert(&number, DType::Bool, place).operand(),
            truth => truth,
        };
        let condition = truth("cond", condition, place)?;
        let types = params(&given.exprs, "cond")?;
        let (noted, mut known) = known::begin(place);
        let mut branch = |n: usize, function: Box<dyn FnOnce(A) -> R + '_>| {
            record_inner(&types, place, known.graph(n), |own| {
                let collected = collected(function(built(own, &given)));
                let exprs = collected.exprs.clone();
                results.push(collected);
                exprs
            })
        };
        let mut first = branch(0, Box::new(then))?;
        let mut second = branch(1, Box::new(otherwise))?;
        known::end(noted, Vec::new(), vec![first.learned(), second.learned()]);
        let [first, second] = alike([first, second], place)?;
        if results.windows(2).any(|two| two[0].lengths != two[1].lengths) {
            let headline = "cond: the branches give lists of other lengths";
            return Err(Error::new(ErrorCode::Arity, headline).help("branches give the same structure"));
        }
        let own: Vec<Expr> = [condition].into_iter().chain(given.exprs.iter().copied()).collect();
        Ok(control(ControlKind::Cond, &own, vec![first, second], place))
    })();
    finished(made, results.pop().unwrap_or_default(), place)
}

/// Applies `body` to the state repeatedly, while `condition` of it is true.
///
/// ```
/// use ndjit::{Array, Expr, jit, while_loop, zeros_like};
///
/// // Newton's method until it stands still.
/// let root = jit(|a: Expr| {
///     let (x, _) = while_loop((a, zeros_like(a)), |(x, before)| x.ne(before), |(x, _)| ((x + a / x) / 2, x));
///     x
/// });
/// assert!((root(&Array::from(2.0f64)).item::<f64>()? - 2f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// The condition is one bool. Unlike [`cond`], numbers are not accepted, as in JAX: write `x.ne(0)`.
///
/// Source: [`jax.lax.while_loop`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html).
///
/// # Errors
/// Poisoned with `Shape` or `DType` if the condition is not one bool; with `Arity`, `DType` or `Shape`, and the leaf, if the
/// body changes the structure or the types of the state; with `Literal` if an initial literal does not fit the dtype of the
/// body's result; with the first error of the body.
#[track_caller]
pub fn while_loop<C: Outputs>(init: C, condition: impl Fn(C) -> Expr, body: impl Fn(C) -> C) -> C {
    let place = SourceLoc::caller();
    let init = collected(init);
    let condition = |own: &[Expr]| condition(built(own, &init));
    let body = |own: &[Expr]| next("while_loop", body(built(own, &init)), &init, place);
    let made = repeated(Written { what: "while_loop", place }, &init.exprs, &condition, &body);
    finished(made, init, place)
}

/// Applies `body` to an index and the state, for each index from `start` to `end`, exclusive. The bounds may be traced
/// values. The index has their common dtype, `i32` (the default integer) if both are literals. It is strong: beside `f64`
/// data `k * i` with a literal `k` is computed in `f32`, `x * i` is not.
///
/// ```
/// use ndjit::{Array, Expr, fori_loop, jit, ones_like};
///
/// let power = jit(|x: Expr, n: Expr| fori_loop(0, n, ones_like(x), |_, product| product * x));
/// assert_eq!(power(&Array::from([2, 3]), &Array::from(5)).to_vec::<i32>()?, [32, 243]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: [`jax.lax.fori_loop`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html).
///
/// # Errors
/// As [`while_loop`]; poisoned with `DType` if a bound is not an integer, with `Promotion` or `DType` if no integer dtype
/// contains both, with `Literal` if a literal does not fit the index, with `Shape` if a bound is not one value.
#[track_caller]
pub fn fori_loop<C: Outputs>(start: impl Operand, end: impl Operand, init: C, body: impl Fn(Expr, C) -> C) -> C {
    let place = SourceLoc::caller();
    let init = collected(init);
    let made = (|| {
        let bounds = bounds(start.operand(), end.operand(), place)?;
        counted(Written { what: "fori_loop", place }, bounds, &init.exprs, &|i, own| {
            next("fori_loop", body(i, built(own, &init)), &init, place)
        })
    })();
    finished(made, init, place)
}

/// Applies `body` to the state and each slice of `xs` along the first axis, in order. It returns the next state, and a value
/// that is stacked along the first axis of the second result.
///
/// ```
/// use ndjit::{Array, Expr, jit, scan};
///
/// let sums = jit(|x: Expr| scan(|sum: Expr, x: Expr| (sum + x, sum + x), Expr::from(0.0), x));
/// let (last, all) = sums(&Array::from([1.0f32, 2.0, 3.0]));
/// assert_eq!((last.item::<f32>()?, all.to_vec::<f32>()?), (6.0, vec![1.0, 3.0, 6.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// [`cumulative_sum`](fn@crate::cumulative_sum) and the other scans of one array are faster.
///
/// Source: [`jax.lax.scan`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html).
///
/// # Errors
/// As [`while_loop`]; poisoned with `Shape` if `xs` has no leaves, a leaf without axes, or leaves of different lengths.
#[track_caller]
pub fn scan<C: Outputs, X: Outputs, Y: Outputs>(body: impl Fn(C, X) -> (C, Y), init: C, xs: X) -> (C, Y) {
    scan_in(Written { what: "scan", place: SourceLoc::caller() }, false, body, init, xs)
}

/// Like [`scan`], from the last slice to the first: the result of a step is stored at the index of its slice.
///
/// ```
/// use ndjit::{Array, Expr, jit, scan_reversed};
///
/// let sums = jit(|x: Expr| scan_reversed(|sum: Expr, x: Expr| (sum + x, sum + x), Expr::from(0.0), x).1);
/// assert_eq!(sums(&Array::from([1.0f32, 2.0, 3.0])).to_vec::<f32>()?, [6.0, 5.0, 3.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// It equals a scan of [flipped](fn@crate::flip) slices with a flipped second result, without copies.
///
/// Source: `reverse=True` of [`jax.lax.scan`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html).
///
/// # Errors
/// As [`scan`].
#[track_caller]
pub fn scan_reversed<C: Outputs, X: Outputs, Y: Outputs>(body: impl Fn(C, X) -> (C, Y), init: C, xs: X) -> (C, Y) {
    scan_in(Written { what: "scan_reversed", place: SourceLoc::caller() }, true, body, init, xs)
}

fn scan_in<C: Outputs, X: Outputs, Y: Outputs>(
    written: Written,
    reverse: bool,
    body: impl Fn(C, X) -> (C, Y),
    init: C,
    xs: X,
) -> (C, Y) {
    let place = written.place;
    let (init, xs) = (collected(init), collected(xs));
    let lengths = std::cell::RefCell::new(Collected::default());
    let step = |carry: &[Expr], x: &[Expr]| {
        let (carry, y) = body(built(carry, &init), built(x, &xs));
        let (carry, y) = (next(written.what, carry, &init, place), collected(y));
        let made = y.exprs.clone();
        *lengths.borrow_mut() = y;
        (carry, made)
    };
    let made = scanned(written, reverse, (&init.exprs, &xs.exprs), &step);
    let (carry, stacked) = match made {
        Ok(made) => (Ok(made.0), Ok(made.1)),
        Err(error) => (Err(error.clone()), Err(error)),
    };
    let carry = finished(carry, init, place);
    (carry, finished(stacked, lengths.into_inner(), place))
}

/// Returns the leaves of the body's state: the same number as its input, in lists of the same lengths.
fn next<C: Outputs>(what: &str, state: C, like: &Collected, place: SourceLoc) -> Vec<Expr> {
    let next = collected(state);
    if next.exprs.len() == like.exprs.len() && next.lengths != like.lengths {
        let headline = format!("{what}: the body gives lists of other lengths than the state has");
        let error = Error::new(ErrorCode::Arity, headline).help("the body gives the structure that it gets");
        return vec![Expr::failed(error.at(place)); like.exprs.len()];
    }
    next.exprs
}

thread_local!(static REPORTED: Cell<Option<SourceLoc>> = const { Cell::new(None) });

/// Returns the results in their structure, or the error in each leaf of it.
pub(super) fn finished<C: Outputs>(made: Result<Vec<Expr>>, like: Collected, place: SourceLoc) -> C {
    let leaves = made.unwrap_or_else(|error| {
        // Without a trace no value can carry an error. A call has several results, and is reported once.
        if !ndjit_eval::traces::are_open() && REPORTED.replace(Some(place)) != Some(place) {
            stderr::line(crate::diagnostics::report::report(&outside(place)));
        }
        let failed = Expr::failed(error.at(place));
        vec![failed; like.exprs.len().max(1)]
    });
    // A list of unknown length has the error.
    let unknown = like.exprs.is_empty() && like.lengths.is_empty();
    let like = if unknown { Collected { lengths: smallvec![leaves.len()], ..like } } else { like };
    built(&leaves, &like)
}

/// The error of control flow outside of a traced function.
fn outside(place: SourceLoc) -> Error {
    Error::new(ErrorCode::Traced, "control flow outside of a traced function").at(place).help(
        "call it in a closure that is traced, as in `jit(|x: Expr| fori_loop(0, 3, x, |_, x| x * 2)).call((&x,))`; elsewhere use Rust's `for` and `if`",
    )
}

/// Returns a condition as one bool. Numbers are not accepted: a loop that runs until one is exactly 0 may never end.
fn truth(what: &'static str, condition: AnyOperand, place: SourceLoc) -> Result<Expr> {
    let (ty, dtype, shape) = condition.describe(what)?;
    if shape.rank() > 0 {
        return Err(Error::new(ErrorCode::Shape, format!("{what}: a condition of shape {shape}")).help(
            Help::from("it is one value: reduce it with `all` or `any`; ")
                .code(Code::Select("mask, x, y"))
                .text(" decides for each element"),
        ));
    }
    if dtype != DType::Bool {
        return Err(Error::new(ErrorCode::DType, format!("{what}: a condition of type {ty}")).help(
            Help::from("compare it, as in ")
                .code(Code::IsPositive)
                .text("; what is to stop at zero says ")
                .code(Code::IsNonzero),
        ));
    }
    Ok(value(&condition, what, place))
}

/// Returns the bounds of an index in its dtype: their common dtype, the default integer if both are literals.
fn bounds(start: AnyOperand, end: AnyOperand, place: SourceLoc) -> Result<([Expr; 2], DType)> {
    const WHAT: &str = "fori_loop";
    let bound = |name: &str, bound: AnyOperand| {
        let (ty, dtype, shape) = bound.describe(WHAT)?;
        if shape.rank() > 0 {
            return Err(
                Error::new(ErrorCode::Shape, format!("{WHAT}: `{name}` has shape {shape}")).help("it is one integer")
            );
        }
        if !dtype.is_int() {
            return Err(Error::new(ErrorCode::DType, format!("{WHAT}: `{name}` is of type {ty}"))
                .help(Help::from("cast it, as in ").casts([CastAdvice::NamedOperand("n", DType::I32)])));
        }
        Ok((ty, value(&bound, WHAT, place)))
    };
    let ((first, start), (last, end)) = (bound("start", start)?, bound("end", end)?);
    let policy = crate::api::config::policy();
    let dtype = policy.commit(policy.promote_types(first, last).map_err(|error| {
        let error = error.unnamed().of(WHAT);
        match (first, last) {
            (ValueType::Weak(_), ValueType::Weak(_)) => error.help("give the bounds a dtype, as in `strong(0)`"),
            _ => error,
        }
    })?);
    if !dtype.is_int() {
        return Err(Error::new(ErrorCode::DType, format!("{WHAT}: no integer dtype counts from {first} to {last}"))
            .help("cast one of the bounds to the dtype of the other"));
    }
    for (name, bound) in [("start", start), ("end", end)] {
        cast::check_number(bound, dtype).map_err(|error| {
            error
                .of(WHAT)
                .fact(format_args!("it is `{name}`; the index is {dtype}, as `start` is {first} and `end` {last}"))
                .help("give the other bound, or this one, a wider dtype, as in `strong(0i64)`")
        })?;
    }
    let start = match first {
        ValueType::Weak(_) => cast::promote(start, dtype, WHAT, place),
        ValueType::Strong(own) if own == dtype => start,
        ValueType::Strong(_) => Expr::convert(&start.operand(), dtype, place),
    };
    let end = match last {
        ValueType::Strong(own) if own != dtype => Expr::convert(&end.operand(), dtype, place),
        ValueType::Weak(_) => cast::promote(end, dtype, WHAT, place),
        ValueType::Strong(_) => end,
    };
    Ok(([start, end], dtype))
}

/// A loop over leaves.
fn repeated(
    written: Written,
    init: &[Expr],
    condition: &dyn Fn(&[Expr]) -> Expr,
    body: &dyn Fn(&[Expr]) -> Vec<Expr>,
) -> Result<Vec<Expr>> {
    let Written { what, place } = written;
    let (noted, mut known) = known::begin(place);
    let (state, mut made) = settled(written, init, &[], &mut known, &|own| (body(own), Vec::new()))?;
    let mut decided = record_inner(&params(&state, what)?, place, known.graph(1), |own| {
        match truth(what, condition(own).operand(), place) {
            Ok(condition) => vec![condition],
            Err(error) => vec![Expr::failed(error.at(place))],
        }
    })?;
    known::end(noted, types(&state), vec![made.learned(), decided.learned()]);
    Ok(control(ControlKind::While, &state, vec![decided, made], place))
}

/// A loop over an index and leaves.
fn counted(
    written: Written,
    ([start, end], index): ([Expr; 2], DType),
    init: &[Expr],
    body: &dyn Fn(Expr, &[Expr]) -> Vec<Expr>,
) -> Result<Vec<Expr>> {
    let (param, count) = (Param::Array(index.into(), index, Shape::scalar()), init.len());
    let range = index_range(start, end, index);
    let step = |own: &[Expr]| {
        range.into_iter().for_each(|range| ranges::give(own[count], range));
        (body(own[count], &own[..count]), Vec::new())
    };
    let (noted, mut known) = known::begin(written.place);
    let (state, mut made) = settled(written, init, &[param], &mut known, &step)?;
    known::end(noted, types(&state), vec![made.learned()]);
    let own: Vec<Expr> = state.into_iter().chain([start, end]).collect();
    let kind = ControlKind::For(ForArity { carried: count as u32, index });
    Ok(control(kind, &own, vec![made], written.place))
}

/// Returns the range of the index of a loop with a known start.
fn index_range(start: Expr, end: Expr, index: DType) -> Option<IntRange> {
    let (from, _) = ranges::of(start)?;
    let most = match ranges::of(end) {
        Some((_, end)) => end,
        None => i64::try_from(index.int_range()?.1).unwrap_or(i64::MAX),
    };
    Some((from, most.saturating_sub(1).max(from)))
}

/// A step of a scan: the state and a slice to the next state and the stacked results.
type Stepping<'a> = dyn Fn(&[Expr], &[Expr]) -> (Vec<Expr>, Vec<Expr>) + 'a;

fn scanned(
    written: Written,
    reverse: bool,
    (init, xs): (&[Expr], &[Expr]),
    step: &Stepping<'_>,
) -> Result<(Vec<Expr>, Vec<Expr>)> {
    let Written { what, place } = written;
    let length = steps(what, xs)?;
    let slice = |param: Param| match param {
        Param::Array(ty, stored, shape) => Param::Array(ty, stored, Shape::from(&shape.extents()[1..])),
        param @ Param::Scalar(_) => param,
    };
    let slices: Vec<Param> = params(xs, what)?.into_iter().map(slice).collect();
    let count = init.len();
    let (noted, mut known) = known::begin(place);
    let body = |own: &[Expr]| step(&own[..count], &own[count..]);
    let (state, mut made) = settled(written, init, &slices, &mut known, &body)?;
    known::end(noted, types(&state), vec![made.learned()]);
    let own: Vec<Expr> = state.into_iter().chain(xs.iter().copied()).collect();
    let kind = ControlKind::Scan(ScanArity { length, carried: count as u32, sliced: xs.len() as u32, reverse });
    let mut results = control(kind, &own, vec![made], place);
    let stacked = results.split_off(count.min(results.len()));
    Ok((results, stacked))
}

/// Returns the number of slices, equal in all leaves.
fn steps(what: &str, xs: &[Expr]) -> Result<usize> {
    let mut len = None;
    for (n, x) in xs.iter().enumerate() {
        let shape = recorder::describe(*x, what)?.2;
        match (shape.extents().first(), len) {
            (None, _) => {
                return Err(Error::new(ErrorCode::Shape, format!("{what}: leaf {n} of what is scanned is a scalar"))
                    .help("it is scanned along its first axis; what is the same in each step is used from around the closure"));
            }
            (Some(&own), Some(other)) if own != other => {
                let headline = format!("{what}: leaf {n} of what is scanned has {own} slices, leaf 0 has {other}");
                return Err(Error::new(ErrorCode::Shape, headline).help("all have the same first extent"));
            }
            (Some(&own), _) => len = Some(own),
        }
    }
    len.ok_or_else(|| {
        Error::new(ErrorCode::Shape, format!("{what}: there is nothing to scan"))
            .help("`fori_loop` repeats without slices")
    })
}

/// Returns the common dtype of two types, if any.
fn common(one: ValueType, other: ValueType) -> Option<DType> {
    let policy = crate::api::config::policy();
    policy.promote_types(one, other).ok().map(|ty| policy.commit(ty))
}

/// Checks that two branches have results of the same types.
fn alike(graphs: [RecordedGraph; 2], place: SourceLoc) -> Result<[RecordedGraph; 2]> {
    let [first, second] = &graphs;
    if first.outputs.len() != second.outputs.len() {
        let (a, b) = (first.outputs.len(), second.outputs.len());
        return Err(Error::new(ErrorCode::Arity, format!("cond: one branch gives {a} leaves, the other {b}")).at(place));
    }
    for (n, ((ty, dtype, shape), (other, _, of))) in first.outputs.iter().zip(&second.outputs).enumerate() {
        if shape != of {
            return Err(Error::new(
                ErrorCode::Shape,
                format!("cond: leaf {n} has shape {shape} if true, {of} if false"),
            )
            .help("branches give the same shapes; `broadcast_to` gives one to a number"));
        }
        if ty != other {
            return Err(Error::new(ErrorCode::DType, format!("cond: leaf {n} is {ty} if true, {other} if false"))
                .help(match common(*ty, *other) {
                    Some(common) => {
                        Help::from(format!("branches give the same dtypes; cast what is not {common} yet: "))
                            .casts([CastAdvice::NamedOperand("x", common)])
                    }
                    None => Help::from("branches give the same dtypes; cast one of them, as in ")
                        .casts([CastAdvice::NamedOperand("x", *dtype)]),
                }));
        }
    }
    Ok(graphs)
}
