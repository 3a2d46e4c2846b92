//! Calls of functions that create, move or cast.

use crate::arguments::BoundArguments;
use crate::error::Problem;
use crate::names::Other;
use crate::node::ExprNumber;
use crate::reducing::axes;
use crate::sequences::{self, Sequences};
use crate::value::{NodeValue, PlacedArgument};
use ndjit::{
    Expr, Pad, Scalar, Shape, concat, diagonal, diff, dtype, full_like, log_softmax, median, ones_like, pad, positions,
    quantile, roll, sliding_window, softmax, stack, tile, trapezoid, tril, triu, zeros_like,
};

/// The result of a call.
pub(crate) fn call(other: Other, given: &BoundArguments<'_>, sequences: &Sequences) -> Result<Expr, Problem> {
    let x = || given.expr("x");
    let axis = |otherwise: isize| Ok::<isize, Problem>(given.int("axis")?.unwrap_or(otherwise));
    Ok(match other {
        // Takes nodes, not values.
        Other::Grad => return Err(given.problem("stands elsewhere")),
        Other::Astype => converted(given)?,
        Other::BroadcastTo => x()?.broadcast_to(extents(given)?),
        Other::Concat => concat(given.exprs("arrays")?, axis(0)?),
        Other::Stack => stack(given.exprs("arrays")?, axis(0)?),
        Other::Diagonal => {
            let axes = [given.int("axis1")?.unwrap_or(0), given.int("axis2")?.unwrap_or(1)];
            diagonal(x()?, given.int("offset")?.unwrap_or(0), axes)
        }
        Other::Diff => diff(x()?, times(given)?, axis(-1)?),
        Other::Trapezoid => trapezoidal(given, axis(-1)?)?,
        Other::SlidingWindow => {
            let extents = given.some_ints("window_shape")?;
            let axes = given.ints("axis")?.map_or_else(|| x().map(|x| along(x, |_| true)), Ok)?;
            sliding_window(x()?, extents, axes)
        }
        Other::Pad => padded(given)?,
        Other::ExpandDims => x()?.expand_dims(given.some_ints("axis")?),
        Other::Squeeze => {
            let of_one = |x: Expr| along(x, |extent| extent == 1);
            x()?.squeeze(given.ints("axis")?.map_or_else(|| x().map(of_one), Ok)?)
        }
        Other::Flip => x()?.flip(given.ints("axis")?.map_or_else(|| x().map(|x| along(x, |_| true)), Ok)?),
        Other::MatrixTranspose => x()?.matrix_transpose(),
        Other::Softmax => softmax(x()?, axes(given)?),
        Other::LogSoftmax => log_softmax(x()?, axes(given)?),
        Other::Median => median(x()?, axes(given)?),
        Other::Quantile => quantile(x()?, fraction(given)?, axes(given)?),
        Other::Moveaxis => x()?.moveaxis(given.some_ints("source")?, given.some_ints("destination")?),
        Other::PermuteDims => match given.ints("axes")? {
            Some(axes) => x()?.permute_dims(axes),
            None => x()?.permute_dims(along(x()?, |_| true).into_iter().rev().collect::<Vec<isize>>()),
        },
        Other::Swapaxes => x()?.swapaxes(one(given, "axis1")?, one(given, "axis2")?),
        Other::Repeat => x()?.repeat(given.some_ints("repeats")?, axis(0)?),
        Other::Reshape => x()?.reshape(given.some_ints("shape")?),
        Other::Roll => {
            let shifts = given.some_ints("shift")?;
            match given.ints("axis")? {
                Some(axes) => roll(x()?, shifts, axes),
                // Without an axis, all elements in order, as in NumPy.
                None => roll(x()?.reshape(-1), shifts, 0).reshape(signed(&x()?.shape())),
            }
        }
        Other::Tile => tile(x()?, given.some_ints("repetitions")?),
        Other::Tril => tril(x()?, given.int("k")?.unwrap_or(0)),
        Other::Triu => triu(x()?, given.int("k")?.unwrap_or(0)),
        Other::Zeros => filled(given, ExprNumber::Int(0))?,
        Other::Ones => filled(given, ExprNumber::Int(1))?,
        Other::Full => match fill(given) {
            Some(number) => filled(given, number)?,
            None => given.expr("fill_value")?.broadcast_to(extents(given)?),
        },
        Other::ZerosLike => match given.dtype()? {
            Some(d) => dtype(d).zeros_like(x()?),
            None => zeros_like(x()?),
        },
        Other::OnesLike => match given.dtype()? {
            Some(d) => dtype(d).ones_like(x()?),
            None => ones_like(x()?),
        },
        Other::FullLike => filled_like(given)?,
        Other::Arange => sequences::arange(given, sequences)?,
        Other::Linspace => sequences::spaced(given, sequences, false)?,
        Other::Logspace => sequences::spaced(given, sequences, true)?,
        Other::Eye => sequences::eye(given, sequences)?,
    })
}

/// The number of a quantile.
fn fraction(given: &BoundArguments<'_>) -> Result<Scalar, Problem> {
    match given.get("q") {
        Some(PlacedArgument { value: NodeValue::Number(number), column }) => number.scalar(*column),
        Some(other) => Err(given
            .problem_of("q", format_args!("`q`: takes a number, given {}", other.value.kind()))
            .help("as in `quantile(x, 0.9)`")),
        None => Err(given.problem("`q` is missing").help("as in `quantile(x, 0.9)`")),
    }
}

/// The axes whose extents satisfy `such`.
fn along(x: Expr, such: impl Fn(usize) -> bool) -> Vec<isize> {
    let shape = x.shape();
    (0..).zip(shape.extents()).filter(|(_, extent)| such(**extent)).map(|(axis, _)| axis).collect()
}

fn signed(shape: &Shape) -> Vec<isize> {
    // Extents always fit `isize`.
    shape.extents().iter().map(|&extent| extent as isize).collect()
}

/// A required integer.
pub(crate) fn one(given: &BoundArguments<'_>, parameter: &str) -> Result<isize, Problem> {
    given.given(parameter, given.int(parameter)?)
}

/// An integer as an extent or a count.
pub(crate) fn extent(given: &BoundArguments<'_>, parameter: &str, number: isize) -> Result<usize, Problem> {
    usize::try_from(number).map_err(|_| {
        given.problem_of(parameter, format_args!("`{parameter}`: {number} is negative")).help("give 0 or more")
    })
}

/// Limit on repeated differences; each is an operation of the program.
const MOST_DIFFERENCES: usize = 100;

fn times(given: &BoundArguments<'_>) -> Result<usize, Problem> {
    let n = extent(given, "n", given.int("n")?.unwrap_or(1))?;
    match n <= MOST_DIFFERENCES {
        true => Ok(n),
        false => {
            Err(given.problem_of("n", format_args!("`n`: {n} is more than {MOST_DIFFERENCES}")).help("write several"))
        }
    }
}

/// The shape argument.
fn extents(given: &BoundArguments<'_>) -> Result<Vec<usize>, Problem> {
    given.some_ints("shape")?.into_iter().map(|number| extent(given, "shape", number)).collect()
}

/// Evaluates `astype(x, dtype)`. A number takes the dtype directly; as a weak one it would be rounded to a narrower
/// dtype first.
fn converted(given: &BoundArguments<'_>) -> Result<Expr, Problem> {
    let dtype = given.given("dtype", given.dtype()?)?;
    let x = given.expr("x")?;
    match given.get("x") {
        Some(PlacedArgument { value: NodeValue::Number(number), column }) => {
            number.fits(dtype, given.name, *column, "give it a dtype that holds it")?;
            Ok(number.of(dtype).unwrap_or(x.cast(dtype)))
        }
        _ => Ok(x.cast(dtype)),
    }
}

/// The number that fills an array.
fn fill(given: &BoundArguments<'_>) -> Option<ExprNumber> {
    given.get("fill_value").and_then(|fill| fill.value.number())
}

/// An array filled with one number, by broadcasting.
fn filled(given: &BoundArguments<'_>, fill: ExprNumber) -> Result<Expr, Problem> {
    let shape = extents(given)?;
    let column = given.get("fill_value").map_or(given.column, |fill| fill.column);
    let number = Expr::from(fill.scalar(column)?);
    let dtype = match given.dtype()? {
        Some(dtype) => dtype,
        // As in NumPy, zeros and ones are floats.
        None if given.get("fill_value").is_none() => ndjit::default_dtype(),
        None => number.dtype(),
    };
    fill.fits(dtype, given.name, column, "give a dtype that holds it: `dtype=i64`, `dtype=f64`")?;
    Ok(fill.of(dtype).unwrap_or(number.cast(dtype)).broadcast_to(shape))
}

fn filled_like(given: &BoundArguments<'_>) -> Result<Expr, Problem> {
    let (x, asked) = (given.expr("x")?, given.dtype()?);
    let to = asked.unwrap_or(x.dtype());
    let Some(PlacedArgument { value: NodeValue::Number(number), column }) = given.get("fill_value") else {
        return Ok(given.expr("fill_value")?.cast(to).broadcast_to(x.shape().extents().to_vec()));
    };
    number.fits(to, given.name, *column, "give a dtype that holds it: `dtype=i64`, `dtype=f64`")?;
    let fill = number.scalar(*column)?;
    Ok(match asked {
        Some(asked) => dtype(asked).full_like(x, fill),
        None => full_like(x, fill),
    })
}

/// Evaluates `trapezoid(y, dx=1)` and `trapezoid(y, x)`.
fn trapezoidal(given: &BoundArguments<'_>, axis: isize) -> Result<Expr, Problem> {
    let y = given.expr("y")?;
    if given.get("x").is_some() {
        return Ok(positions(given.expr("x")?).trapezoid(y, axis));
    }
    let dx = match given.get("dx") {
        None => ExprNumber::Int(1).scalar(given.column)?,
        Some(PlacedArgument { value: NodeValue::Number(number), column }) => number.scalar(*column)?,
        Some(_) => return Err(given.problem_of("dx", "`dx`: takes a number").help("positions are `x`")),
    };
    Ok(trapezoid(y, dx, axis))
}

/// Evaluates `pad(x, 1)`, `pad(x, (1, 2), mode='edge')`, `pad(x, [(1, 2), (0, 0)], constant_values=9)`.
fn padded(given: &BoundArguments<'_>) -> Result<Expr, Problem> {
    let x = given.expr("x")?;
    let width = |number: isize| extent(given, "pad_width", number);
    let what = "pad: `pad_width`";
    let pair = |value: &NodeValue, column: u32| match value.ints(what, column)?[..] {
        [both] => Ok((width(both)?, width(both)?)),
        [before, after] => Ok((width(before)?, width(after)?)),
        _ => Err(given
            .problem_of("pad_width", "more than two widths of an axis")
            .help("write `pad(x, [(1, 2), (0, 0)])`")),
    };
    let rank = x.shape().rank();
    let widths: Vec<(usize, usize)> = match given.get("pad_width") {
        Some(PlacedArgument { value: NodeValue::List(items), column })
            if items.iter().any(|item| matches!(item, NodeValue::List(_))) =>
        {
            let pairs = items.iter().map(|item| pair(item, *column)).collect::<Result<Vec<_>, Problem>>()?;
            if pairs.len() == 1 { pairs.repeat(rank) } else { pairs }
        }
        Some(PlacedArgument { value, column }) => vec![pair(value, *column)?; rank],
        None => return Err(given.problem("`pad_width` is missing")),
    };
    let mode = match given.get("mode").map(|mode| &mode.value) {
        None => "constant",
        Some(NodeValue::Text(mode)) => mode,
        Some(other) => return Err(modes(given, format!("`mode`: takes a text, given {}", other.kind()))),
    };
    let with = match mode {
        "constant" => match given.get("constant_values") {
            None => Pad::from(ExprNumber::Int(0).scalar(given.column)?),
            Some(PlacedArgument { value: NodeValue::Number(number), column }) => Pad::from(number.scalar(*column)?),
            Some(_) => return Err(given.problem_of("constant_values", "`constant_values`: takes one number")),
        },
        "edge" => Pad::Edge,
        "reflect" => Pad::Reflect,
        "symmetric" => Pad::Symmetric,
        "wrap" => Pad::Wrap,
        other => return Err(modes(given, format!("there is no mode '{other}'"))),
    };
    Ok(pad(x, widths, with))
}

fn modes(given: &BoundArguments<'_>, what: String) -> Problem {
    given.problem_of("mode", what).help("the modes are 'constant', 'edge', 'reflect', 'symmetric' and 'wrap'")
}
