//! Calls of functions that make, move or convert, and indices.

use super::arguments::Arguments;
use super::error::Problem;
use super::names::Other;
use super::node::{Id, Number, Part};
use super::value::Value;
use ndjit::manipulation::Slice;
use ndjit::{Array, DType, Expr, Scalar, arange, concat, dtype, eye, iinfo, linspace, roll, stack, tile, tril, triu};

/// The result of a call.
pub(super) fn call(other: Other, given: &Arguments<'_>, most_bytes: usize) -> Result<Expr, Problem> {
    let x = || given.expr("x");
    let axis = |otherwise: isize| Ok::<isize, Problem>(given.int("axis")?.unwrap_or(otherwise));
    Ok(match other {
        Other::Astype => {
            let dtype = given.dtype()?.ok_or_else(|| given.problem("`dtype` is missing"))?;
            x()?.cast(dtype)
        }
        Other::BroadcastTo => x()?.broadcast_to(extents(given)?),
        Other::Concat => concat(given.exprs("arrays")?, axis(0)?),
        Other::Stack => stack(given.exprs("arrays")?, axis(0)?),
        Other::ExpandDims => x()?.expand_dims(given.some_ints("axis")?),
        Other::Squeeze => x()?.squeeze(given.some_ints("axis")?),
        Other::Flip => match given.ints("axis")? {
            Some(axes) => x()?.flip(axes),
            None => x()?.flip((0..x()?.shape().rank() as isize).collect::<Vec<isize>>()),
        },
        Other::MatrixTranspose => x()?.matrix_transpose(),
        Other::Moveaxis => x()?.moveaxis(given.some_ints("source")?, given.some_ints("destination")?),
        Other::PermuteDims => match given.ints("axes")? {
            Some(axes) => x()?.permute_dims(axes),
            None => x()?.permute_dims((0..x()?.shape().rank() as isize).rev().collect::<Vec<isize>>()),
        },
        Other::Swapaxes => x()?.swapaxes(one(given, "axis1")?, one(given, "axis2")?),
        Other::Repeat => x()?.repeat(given.some_ints("repeats")?, axis(0)?),
        Other::Reshape => x()?.reshape(given.some_ints("shape")?),
        Other::Roll => {
            let shifts = given.some_ints("shift")?;
            match given.ints("axis")? {
                Some(axes) => roll(x()?, shifts, axes),
                None => return Err(given.problem("`axis` is missing").help("write `roll(x, 1, axis=0)`")),
            }
        }
        Other::Tile => tile(x()?, given.some_ints("repetitions")?),
        Other::Tril => tril(x()?, given.int("k")?.unwrap_or(0)),
        Other::Triu => triu(x()?, given.int("k")?.unwrap_or(0)),
        Other::Zeros => filled(given, Number::Int(0))?,
        Other::Ones => filled(given, Number::Int(1))?,
        Other::Full => match given.get("fill_value") {
            Some(Value::Number(number)) => filled(given, *number)?,
            _ => given.expr("fill_value")?.broadcast_to(extents(given)?),
        },
        Other::Arange => sequence(given, most_bytes)?,
        Other::Linspace => spaced(given, most_bytes)?,
        Other::Eye => {
            let rows = one(given, "n_rows")?;
            let columns = given.int("n_cols")?.unwrap_or(rows);
            let sizes = [extent(given, rows)?, extent(given, columns)?];
            fits(given, sizes[0] as f64 * sizes[1] as f64, most_bytes)?;
            let k = given.int("k")?.unwrap_or(0);
            let parts = (sizes[0], sizes[1], k);
            Expr::from(match given.dtype()? {
                Some(d) => dtype(d).eye(parts),
                None => eye(parts),
            })
        }
    })
}

/// One integer that must be there.
fn one(given: &Arguments<'_>, parameter: &str) -> Result<isize, Problem> {
    given.int(parameter)?.ok_or_else(|| given.problem(format_args!("`{parameter}` is missing")))
}

fn extent(given: &Arguments<'_>, number: isize) -> Result<usize, Problem> {
    usize::try_from(number).map_err(|_| given.problem(format_args!("{number} is no extent")))
}

/// The shape that was given.
fn extents(given: &Arguments<'_>) -> Result<Vec<usize>, Problem> {
    given.some_ints("shape")?.into_iter().map(|number| extent(given, number)).collect()
}

/// The same number everywhere: one, broadcast.
fn filled(given: &Arguments<'_>, fill: Number) -> Result<Expr, Problem> {
    let shape = extents(given)?;
    let number = Expr::from(fill.scalar(given.column)?);
    let dtype = match given.dtype()? {
        Some(dtype) => dtype,
        // As NumPy's, zeros and ones are floats.
        None if given.get("fill_value").is_none() => ndjit::default_dtype(),
        None => number.dtype(),
    };
    if let (Number::Int(n), Ok(limits)) = (fill, iinfo(dtype))
        && !(limits.min..=limits.max).contains(&n)
    {
        let problem = given.problem(format!("{n} is no {dtype}, which goes from {} to {}", limits.min, limits.max));
        return Err(problem.help("give a dtype that holds it: `dtype=i64`, `dtype=f64`"));
    }
    Ok(number.cast(dtype).broadcast_to(shape))
}

/// Refuses sequences that the memory limit has no room for.
fn fits(given: &Arguments<'_>, count: f64, most_bytes: usize) -> Result<(), Problem> {
    let element = given.dtype()?.map_or(8, DType::bytes);
    if count * element as f64 <= most_bytes as f64 {
        return Ok(());
    }
    Err(given.problem("more elements than the memory limit has room for").help("raise the limit with `--memory`"))
}

fn number(given: &Arguments<'_>, parameter: &str) -> Result<Option<(Scalar, f64)>, Problem> {
    match given.get(parameter) {
        None => Ok(None),
        Some(Value::Number(number @ (Number::Int(_) | Number::Float(_)))) => {
            let value = match number {
                Number::Int(n) => *n as f64,
                Number::Float(x) => *x,
                Number::Bool(_) | Number::Imaginary(_) | Number::Complex(..) => f64::NAN,
            };
            Ok(Some((number.scalar(given.column)?, value)))
        }
        Some(other) => Err(given
            .problem(format_args!("`{parameter}`: takes a number, given {}", other.kind()))
            .help("a shape must be known before the elements are")),
    }
}

/// `arange(stop)`, `arange(start, stop, step)`.
fn sequence(given: &Arguments<'_>, most_bytes: usize) -> Result<Expr, Problem> {
    let zero = (Number::Int(0).scalar(given.column)?, 0.0);
    let unit = (Number::Int(1).scalar(given.column)?, 1.0);
    let (first, second) = (number(given, "start")?.unwrap_or(zero), number(given, "stop")?);
    let (start, stop) = second.map_or((zero, first), |stop| (first, stop));
    let step = number(given, "step")?.unwrap_or(unit);
    fits(given, (stop.1 - start.1) / step.1, most_bytes)?;
    let steps = (start.0, stop.0, step.0);
    array(
        given,
        match given.dtype()? {
            Some(d) => dtype(d).arange(steps),
            None => arange(steps),
        },
    )
}

/// `linspace(start, stop, num)`.
fn spaced(given: &Arguments<'_>, most_bytes: usize) -> Result<Expr, Problem> {
    let (Some(start), Some(stop)) = (number(given, "start")?, number(given, "stop")?) else {
        return Err(given.problem("takes a start and a stop"));
    };
    let count = extent(given, given.int("num")?.unwrap_or(50))?;
    fits(given, count as f64, most_bytes)?;
    let of = given.dtype()?;
    array(
        given,
        match (given.truth("endpoint")?.unwrap_or(true), of) {
            (true, Some(d)) => dtype(d).linspace(start.0..=stop.0, count),
            (true, None) => linspace(start.0..=stop.0, count),
            (false, Some(d)) => dtype(d).linspace(start.0..stop.0, count),
            (false, None) => linspace(start.0..stop.0, count),
        },
    )
}

/// A made array in the program, or why it was not made.
fn array(given: &Arguments<'_>, array: Array) -> Result<Expr, Problem> {
    match array.error() {
        None => Ok(Expr::from(array)),
        Some(error) => {
            let problem = Problem::new(given.column, error.headline());
            Err(error.help_text().map_or(problem.clone(), |help| problem.help(help)))
        }
    }
}

/// `x[1:, ::-1, None]`. Ranges are clipped to their axis, as in Python.
pub(super) fn index<'v>(
    x: &Value,
    parts: &[Part],
    value: impl Fn(Id) -> &'v Value,
    column: u32,
) -> Result<Value, Problem> {
    let int = |id: Id| match value(id) {
        Value::Expr(_) => Err(Problem::new(column, "an index that is an array")
            .help("elements are chosen by `where(condition, x, y)`; indexing by arrays is not in ndjit yet")),
        other => other.int("an index", column),
    };
    if let Value::List(items) = x {
        let [Part::Index(id)] = parts else {
            return Err(Problem::new(column, "a list has one index").help("as in `x.shape[0]`"));
        };
        let at = int(*id)?;
        let at = if at < 0 { at.saturating_add(items.len() as isize) } else { at };
        let item = usize::try_from(at).ok().and_then(|at| items.get(at));
        return item
            .cloned()
            .ok_or_else(|| Problem::new(column, format!("a list of {} has no such item", items.len())));
    }
    let of = x.expr("an index", column)?;
    let shape = of.shape();
    let takes = |part: &&Part| matches!(part, Part::Index(_) | Part::Range { .. });
    let whole = shape.rank().saturating_sub(parts.iter().filter(takes).count());
    let mut axis = 0;
    let mut slices = Vec::with_capacity(parts.len());
    for part in parts {
        slices.push(match part {
            Part::NewAxis => Slice::NewAxis,
            Part::Ellipsis => {
                axis += whole;
                Slice::Ellipsis
            }
            Part::Index(id) => {
                axis += 1;
                Slice::Index(int(*id)?)
            }
            Part::Range { start, end, step } => {
                let extent = shape.extents().get(axis).copied().unwrap_or(0);
                axis += 1;
                let [start, end, step] = [*start, *end, *step].map(|id| match id {
                    Some(id) if matches!(value(id), Value::None) => Ok(None),
                    Some(id) => int(id).map(Some),
                    None => Ok(None),
                });
                range(start?, end?, step?.unwrap_or(1), extent)
            }
        });
    }
    Ok(Value::Expr(of.slice(slices)))
}

/// Python's `start:end:step` of an axis.
fn range(start: Option<isize>, end: Option<isize>, step: isize, extent: usize) -> Slice {
    let extent = isize::try_from(extent).unwrap_or(isize::MAX);
    let from_first = |bound: isize| if bound < 0 { bound.saturating_add(extent) } else { bound };
    let (start, end) = if step < 0 {
        // Backwards, from the start down to, but without, the end: as a range of the axis the end comes first.
        let clip = |bound: isize| from_first(bound).clamp(-1, extent - 1);
        (end.map_or(0, |end| clip(end) + 1), start.map_or(extent, |start| clip(start) + 1))
    } else {
        let clip = |bound: isize| from_first(bound).clamp(0, extent);
        (start.map_or(0, clip), end.map_or(extent, clip))
    };
    Slice::Range { start: Some(start), end: Some(end.max(start)), step }
}
