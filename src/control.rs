//! Control flow in traced functions: branches and loops that depend on values. Rust's own `if` and `for` decide while a function is traced; these
//! decide while it runs, and are compiled once however often they run.
//!
//! State is any structure of traced values: one [`Expr`], tuples, arrays, `Vec`s and structs with [`outputs!`](crate::outputs). Closures may
//! use values, arrays and numbers from around them.
//!
//! A loop keeps the types of its state: dtype, shape, and whether it is weak. A weak number that a loop begins with, such as `Expr::from(0.0)`, takes
//! the dtype that the body gives it; everything else that changes is an error, which names the leaf: leaves are counted from 0 in the order of the
//! structure.

use crate::config::with_parts;
use crate::expr::Expr;
use crate::indexing;
use crate::jit::{Collected, Outputs, Parts};
use crate::manipulation::{Move, Movement};
use crate::operand::{AnyOperand, Computed, Operand};
use crate::trace::Param;
use crate::trace::inner::{Recorded, control, params, record_inner, value};
use ndjit_ir::graph::{ControlKind, Scatter};
use ndjit_ir::{DType, Error, ErrorCode, Kind, Op, Place, Result, Shape, ValueType};

/// The results of `then` where `condition` is true, of `otherwise` where it is not: only one of them is computed. Both get `operands`.
///
/// ```
/// use ndjit::{Array, Expr, cond, exp, jit};
///
/// let f = jit(|x: Expr| cond(ndjit::sum(x, ..).gt(0), |x| exp(x), |x| x * 2, x));
/// assert_eq!(f(&Array::from([-1.0f32, -2.0])).to_vec::<f32>()?, [-2.0, -4.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// A number is a condition too, true where it is not 0. `where_(mask, x, y)` takes elements of both.
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
    let place = Place::caller();
    let given = collected(operands);
    let mut results = Collected::default();
    let made = (|| {
        let condition = match condition.operand() {
            // As in JAX, a number is a condition.
            number if number.describe("cond")?.1 != DType::Bool => Expr::convert(&number, DType::Bool, place).operand(),
            truth => truth,
        };
        let condition = truth("cond", condition, place)?;
        let types = params(&given.exprs, "cond")?;
        let mut branch = |function: Box<dyn FnOnce(A) -> R + '_>| {
            record_inner(&types, place, |own| {
                let collected = collected(function(built(own, &given)));
                let exprs = collected.exprs.clone();
                results = collected;
                exprs
            })
        };
        let first = branch(Box::new(then))?;
        let second = branch(Box::new(otherwise))?;
        let [first, second] = alike([first, second], place)?;
        let own: Vec<Expr> = [condition].into_iter().chain(given.exprs.iter().copied()).collect();
        Ok(control(ControlKind::Cond, &own, [first, second], place))
    })();
    finished(made, results, place)
}

/// `body` of the state again and again, while `condition` of it is true.
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
/// Source: [`jax.lax.while_loop`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html).
///
/// # Errors
/// Poisoned with `Shape` or `DType` if the condition is not one truth value; with `Arity`, `DType` or `Shape`, and the leaf, if the body changes
/// the structure or the types of the state; with the first error of the body.
#[track_caller]
pub fn while_loop<C: Outputs>(init: C, condition: impl Fn(C) -> Expr, body: impl Fn(C) -> C) -> C {
    let place = Place::caller();
    let init = collected(init);
    let condition = |own: &[Expr]| condition(built(own, &init));
    let body = |own: &[Expr]| collected(body(built(own, &init))).exprs;
    let made = repeated("while_loop", &init.exprs, &condition, &body, place);
    finished(made, init, place)
}

/// `body` of an index and the state, for each index from `start` to before `end`, which may be values that are not known before. The index is an `i32`
/// (the default integer) where `start` is a number, else of the dtype of `start`.
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
/// As [`while_loop`]; poisoned with `DType` if a bound is no integer, with `Shape` if it is not one value.
#[track_caller]
pub fn fori_loop<C: Outputs>(start: impl Operand, end: impl Operand, init: C, body: impl Fn(Expr, C) -> C) -> C {
    let place = Place::caller();
    let init = collected(init);
    let made = (|| {
        let [start, end] = [bound(start.operand(), place)?, bound(end.operand(), place)?];
        let start = index(start, place)?;
        counted("fori_loop", start, end, &init.exprs, &|i, own| collected(body(i, built(own, &init))).exprs, place)
    })();
    finished(made, init, place)
}

/// `body` of the state and each slice of `xs` along the first axis, in order: it gives the next state, and what is put side by side along the first axis
/// of the second result.
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
    let place = Place::caller();
    let (init, xs) = (collected(init), collected(xs));
    let lengths = std::cell::RefCell::new(Collected::default());
    let step = |carry: &[Expr], x: &[Expr]| {
        let (carry, y) = body(built(carry, &init), built(x, &xs));
        let (carry, y) = (collected(carry).exprs, collected(y));
        let made = y.exprs.clone();
        *lengths.borrow_mut() = y;
        (carry, made)
    };
    let made = scanned(&init.exprs, &xs.exprs, &step, place);
    let (carry, stacked) = match made {
        Ok(made) => (Ok(made.0), Ok(made.1)),
        Err(error) => (Err(error.clone()), Err(error)),
    };
    let carry = finished(carry, init, place);
    (carry, finished(stacked, lengths.into_inner(), place))
}

fn collected<C: Outputs>(structure: C) -> Collected {
    let mut collected = Collected::default();
    structure.collect(&mut collected);
    collected
}

fn built<C: Outputs>(leaves: &[Expr], like: &Collected) -> C {
    C::exprs(&mut Parts::new(leaves.to_vec(), like.lengths.clone()))
}

/// The results in their structure, or the error in each leaf of it.
fn finished<C: Outputs>(made: Result<Vec<Expr>>, like: Collected, place: Place) -> C {
    let leaves = made.unwrap_or_else(|error| {
        let failed = Expr::failed(error.at(place));
        vec![failed; like.exprs.len().max(1)]
    });
    built(&leaves, &like)
}

/// A condition as one truth value. A number is none: a loop that runs until one is exactly 0 may never end.
fn truth(what: &'static str, condition: AnyOperand, place: Place) -> Result<Expr> {
    let (ty, dtype, shape) = condition.describe(what)?;
    if shape.rank() > 0 {
        return Err(Error::new(ErrorCode::Shape, format!("{what}: a condition of shape {shape}"))
            .help("it is one value: reduce it with `all` or `any`; `where_(mask, x, y)` decides for each element"));
    }
    if dtype != DType::Bool {
        return Err(Error::new(ErrorCode::DType, format!("{what}: a condition of type {ty}"))
            .help("compare it, as in `x.gt(0)`; what is to stop at zero says `x.ne(0)`"));
    }
    Ok(value(&condition, what, place))
}

/// A bound of a loop: one integer.
fn bound(bound: AnyOperand, place: Place) -> Result<Expr> {
    let (ty, dtype, shape) = bound.describe("fori_loop")?;
    if shape.rank() > 0 {
        return Err(
            Error::new(ErrorCode::Shape, format!("fori_loop: a bound of shape {shape}")).help("it is one integer")
        );
    }
    if !dtype.is_int() {
        return Err(Error::new(ErrorCode::DType, format!("fori_loop: a bound of type {ty}"))
            .help("cast it, as in `cast(n, DType::I32)`"));
    }
    Ok(value(&bound, "fori_loop", place))
}

/// Where an index begins: a number in its default dtype. The end stays a number, which the index meets.
fn index(start: Expr, place: Place) -> Result<Expr> {
    let (ty, dtype, _) = crate::trace::describe(start, "fori_loop")?;
    Ok(if ty.is_weak() { Expr::convert(&start.operand(), dtype, place) } else { start })
}

/// One graph, its outputs cast where that is said.
fn graph(types: &[Param], casts: &[Option<DType>], f: &dyn Fn(&[Expr]) -> Vec<Expr>, place: Place) -> Result<Recorded> {
    record_inner(types, place, |own| {
        let mut made = f(own);
        for (made, cast) in made.iter_mut().zip(casts) {
            if let Some(dtype) = cast {
                *made = Expr::convert(&made.operand(), *dtype, place);
            }
        }
        made
    })
}

/// A loop over leaves.
fn repeated(
    what: &'static str,
    init: &[Expr],
    condition: &dyn Fn(&[Expr]) -> Expr,
    body: &dyn Fn(&[Expr]) -> Vec<Expr>,
    place: Place,
) -> Result<Vec<Expr>> {
    let mut carry = init.to_vec();
    // Weak numbers become what the body makes of them; that may make others strong.
    for _ in 0..=carry.len() {
        let types = params(&carry, what)?;
        let made = graph(&types, &[], body, place)?;
        let mut changed = false;
        let mut casts = vec![None; carry.len()];
        if made.outputs.len() != carry.len() {
            let headline =
                format!("{what}: the state has {} leaves, the body gives {}", carry.len(), made.outputs.len());
            return Err(Error::new(ErrorCode::Arity, headline).help("the body gives the structure that it gets"));
        }
        for (n, (param, (ty, dtype, shape))) in types.iter().zip(&made.outputs).enumerate() {
            let Param::Array(own, stored, of) = param else { continue };
            if shape != of {
                return Err(differs(
                    what,
                    ErrorCode::Shape,
                    n,
                    format_args!("shape {of}"),
                    format_args!("shape {shape}"),
                )
                .help("a loop keeps the shapes of its state; give it the shape before, as with `broadcast_to`"));
            }
            match (own, ty) {
                _ if own == ty => {}
                // A number, which takes the dtype that it meets.
                (ValueType::Weak(weak), ValueType::Strong(to)) if kind(*to) >= weak.kind() => {
                    carry[n] = Expr::convert(&carry[n].operand(), *to, place);
                    changed = true;
                }
                (ValueType::Strong(to), ValueType::Weak(_)) if dtype == stored => casts[n] = Some(*to),
                _ => {
                    return Err(differs(what, ErrorCode::DType, n, format_args!("{own}"), format_args!("{ty}"))
                        .help("a loop keeps the dtypes of its state; cast it, as in `cast(x, DType::F32)`, before the loop or in the body"));
                }
            }
        }
        if changed {
            continue;
        }
        let made = if casts.contains(&None) && casts.iter().all(Option::is_none) {
            made
        } else {
            graph(&types, &casts, body, place)?
        };
        let decides = |own: &[Expr]| match truth(what, condition(own).operand(), place) {
            Ok(condition) => vec![condition],
            Err(error) => vec![Expr::failed(error.at(place))],
        };
        let decided = graph(&types, &[], &decides, place)?;
        return Ok(control(ControlKind::While, &carry, [decided, made], place));
    }
    Err(Error::new(ErrorCode::DType, format!("{what}: the types of the state do not come to rest"))
        .help("cast what the loop begins with, as in `cast(x, DType::F32)`"))
}

/// The kinds in the order in which they meet: an integer is a float where it meets one.
fn kind(dtype: DType) -> Kind {
    match dtype.kind() {
        Kind::UInt => Kind::Int,
        kind => kind,
    }
}

fn differs(
    what: &str,
    code: ErrorCode,
    leaf: usize,
    before: std::fmt::Arguments<'_>,
    after: std::fmt::Arguments<'_>,
) -> Error {
    Error::new(code, format!("{what}: leaf {leaf} of the state is {before}, the body gives {after}"))
}

/// A loop over an index and leaves.
fn counted(
    what: &'static str,
    start: Expr,
    end: Expr,
    init: &[Expr],
    body: &dyn Fn(Expr, &[Expr]) -> Vec<Expr>,
    place: Place,
) -> Result<Vec<Expr>> {
    let carry: Vec<Expr> = [start].into_iter().chain(init.iter().copied()).collect();
    let compute = |op: Op, x: Expr, y: AnyOperand| with_parts(|| Expr::compute(op, &[x.operand(), y], place));
    let condition = |own: &[Expr]| compute(Op::Less, own[0], end.operand());
    let next = |own: &[Expr]| {
        let mut made = vec![compute(Op::Add, own[0], 1.operand())];
        made.extend(body(own[0], &own[1..]));
        made
    };
    let mut made = repeated(what, &carry, &condition, &next, place).map_err(|error| without_index(what, error))?;
    if made.len() == carry.len() {
        made.remove(0);
    }
    Ok(made)
}

/// The index is no leaf of the user's.
fn without_index(what: &str, error: Error) -> Error {
    let Some((before, rest)) = error.headline().split_once(": leaf ") else { return error };
    let Some((leaf, rest)) = rest.split_once(' ') else { return error };
    let Ok(leaf) = leaf.parse::<usize>() else { return error };
    if before != what || leaf == 0 {
        return error;
    }
    let mut moved = Error::new(error.code(), format!("{what}: leaf {} {rest}", leaf - 1)).at(error.place());
    if let Some(help) = error.help_text() {
        moved = moved.help(help);
    }
    moved
}

/// What a step of a scan makes of the state and a slice: the next state, and what is stacked.
type Stepping<'a> = dyn Fn(&[Expr], &[Expr]) -> (Vec<Expr>, Vec<Expr>) + 'a;

fn scanned(init: &[Expr], xs: &[Expr], step: &Stepping<'_>, place: Place) -> Result<(Vec<Expr>, Vec<Expr>)> {
    const WHAT: &str = "scan";
    let mut len = None;
    for (n, x) in xs.iter().enumerate() {
        let shape = crate::trace::describe(*x, WHAT)?.2;
        match (shape.extents().first(), len) {
            (None, _) => {
                return Err(Error::new(ErrorCode::Shape, format!("{WHAT}: leaf {n} of what is scanned is a scalar"))
                    .help("it is scanned along its first axis; what is the same in each step is used from around the closure"));
            }
            (Some(&own), Some(other)) if own != other => {
                let headline = format!("{WHAT}: leaf {n} of what is scanned has {own} slices, leaf 0 has {other}");
                return Err(Error::new(ErrorCode::Shape, headline).help("all have the same first extent"));
            }
            (Some(&own), _) => len = Some(own),
        }
    }
    let Some(len) = len else {
        return Err(Error::new(ErrorCode::Shape, format!("{WHAT}: there is nothing to scan"))
            .help("`fori_loop` repeats without slices"));
    };
    let slices = |i: Expr, rows: &[Param]| -> Vec<Expr> {
        if len == 0 {
            // The body never runs; only its types are wanted.
            let zero = |row: &Param| match row {
                Param::Array(_, dtype, shape) => filled(*dtype, shape, place),
                Param::Scalar(_) => i,
            };
            return rows.iter().map(zero).collect();
        }
        let index = Expr::convert(&i.operand(), DType::I64, place).operand();
        xs.iter().map(|x| indexing::rows(WHAT, x.operand(), index.clone(), place)).collect()
    };
    let number = |n: i64| value(&crate::operand::strong(n).operand(), WHAT, place);
    let row = |param: Param| match param {
        Param::Array(ty, stored, shape) => Param::Array(ty, stored, Shape::from(&shape.extents()[1..])),
        param @ Param::Scalar(_) => param,
    };
    let rows: Vec<Param> = params(xs, WHAT)?.into_iter().map(row).collect();
    let stacked = {
        // Only the types of what is stacked are wanted of this.
        let types: Vec<Param> = params(init, WHAT)?.into_iter().chain(rows.iter().cloned()).collect();
        graph(&types, &[], &|own| step(&own[..init.len()], &own[init.len()..]).1, place)?.outputs
    };
    let mut carry = init.to_vec();
    for (_, dtype, shape) in &stacked {
        let extents: Vec<usize> = [len].into_iter().chain(shape.extents().iter().copied()).collect();
        carry.push(filled(*dtype, &Shape::from(&extents[..]), place));
    }
    let count = init.len();
    let body = |i: Expr, own: &[Expr]| {
        let (mut next, made) = step(&own[..count], &slices(i, &rows));
        let index = Expr::convert(&i.operand(), DType::I64, place);
        for ((made, (_, dtype, _)), all) in made.into_iter().zip(&stacked).zip(&own[count..]) {
            let made = Expr::convert(&made.operand(), *dtype, place);
            let of = |shapes: &[&Shape]| Ok((Move::Scatter(Scatter::Set), shapes[0].clone()));
            let operands = [all.operand(), index.operand(), made.operand()];
            next.push(Expr::movement(&Movement { what: WHAT, of: &of }, &operands, place));
        }
        next
    };
    let mut made = counted(WHAT, number(0), number(len as i64), &carry, &body, place)?;
    let all = made.split_off(count.min(made.len()));
    Ok((made, all))
}

/// Zeros.
fn filled(dtype: DType, shape: &Shape, place: Place) -> Expr {
    let zero = Expr::convert(&0.operand(), dtype, place);
    let of = |own: &[&Shape]| {
        let (view, shape) = ndjit_ir::view::broadcast_to(own[0], shape)?;
        Ok((Move::View(view), shape))
    };
    Expr::movement(&Movement { what: "scan", of: &of }, &[zero.operand()], place)
}

/// Two branches, if their results have the same types.
fn alike(graphs: [Recorded; 2], place: Place) -> Result<[Recorded; 2]> {
    let [first, second] = &graphs;
    if first.outputs.len() != second.outputs.len() {
        let (a, b) = (first.outputs.len(), second.outputs.len());
        return Err(Error::new(ErrorCode::Arity, format!("cond: one branch gives {a} leaves, the other {b}")).at(place));
    }
    for (n, ((ty, _, shape), (other, _, of))) in first.outputs.iter().zip(&second.outputs).enumerate() {
        if shape != of {
            return Err(Error::new(
                ErrorCode::Shape,
                format!("cond: leaf {n} has shape {shape} if true, {of} if false"),
            )
            .help("branches give the same shapes; `broadcast_to` gives one to a number"));
        }
        if ty != other {
            return Err(Error::new(ErrorCode::DType, format!("cond: leaf {n} is {ty} if true, {other} if false"))
                .help("branches give the same dtypes; cast one of them, as in `cast(x, DType::F32)`"));
        }
    }
    Ok(graphs)
}
