//! The `bins` argument of a histogram, and its edges.

use crate::api::creation::dtype as typed;
use crate::api::parts::{FunctionParts, held, meeting, only_axis};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Error, ErrorCode, LiteralValue, Op, Reduction, Result};
use std::ops::RangeInclusive;

/// The bins of a histogram.
#[doc(hidden)]
#[derive(Clone)]
pub enum Bins {
    /// A number of bins of equal width, between two values, or between the smallest and the largest element.
    Equal(usize, Option<[Literal; 2]>),
    /// Bins between adjacent elements of an array.
    Between(AnyOperand),
}

/// The bins of a [`histogram`](crate::histogram): a number of bins of equal width between the smallest and the largest
/// element; `(10, 0.0..=1.0)` for a number of them between two values; or an array of edges, where each two adjacent ones
/// bound a bin.
///
/// ```
/// use ndjit::{Array, IntoBins, histogram};
///
/// fn counts<B: IntoBins<Edges: ndjit::operand::ArrayOperand>>(x: &Array, bins: B) -> String {
///     histogram(x, bins).0.to_string()
/// }
/// let x = Array::from([0.0f32, 1.0, 2.0, 8.0]);
/// assert_eq!(counts(&x, 4), "[2 1 0 1]");
/// assert_eq!(counts(&x, (4, 0.0..=4.0)), "[1 1 1 0]");
/// assert_eq!(counts(&x, &Array::from([0.0f32, 1.0, 9.0])), "[1 3]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of bins or their edges",
    label = "not a number, a number and a range, nor an array of edges",
    note = "the number is a `usize`: write `n as usize` for other integers",
    note = "write `10` for bins of one width, `(10, 0.0..=1.0)` for those between two numbers, `&Array::from([0.0f32, 1.0, 10.0])` for edges",
    note = "of a traced function shapes are fixed when it is traced: the number is a plain integer; edges may be an `Expr`"
)]
pub trait IntoBins {
    /// The edges as an operand: an array, or a scalar.
    type Edges: Operand;

    #[doc(hidden)]
    fn bins(self) -> Bins;
}

// One integer type, so that a literal has it.
impl IntoBins for usize {
    type Edges = Scalar;

    fn bins(self) -> Bins {
        Bins::Equal(self, None)
    }
}

impl<N: Number> IntoBins for (usize, RangeInclusive<N>) {
    type Edges = Scalar;

    fn bins(self) -> Bins {
        Bins::Equal(self.0, Some([self.1.start().literal(), self.1.end().literal()]))
    }
}

macro_rules! edges {
    ($([$($life:lifetime)?] $t:ty;)*) => {$(
        impl$(<$life>)? IntoBins for $t {
            type Edges = $t;

            fn bins(self) -> Bins {
                Bins::Between(self.operand())
            }
        }
    )*};
}

edges! { [] Array; ['a] &'a Array; [] Expr; ['a] &'a Expr; }

/// The edges of bins.
pub(super) struct BinEdges {
    pub edges: AnyOperand,
    /// The number of bins.
    pub bins: usize,
    /// The dtype of edges that are not the user's operand. Elements are compared in it.
    pub compare: Option<DType>,
}

impl BinEdges {
    /// Returns the edges of the bins of `x`.
    pub(super) fn new<R: ArrayLike>(parts: &FunctionParts<R>, x: &AnyOperand, bins: Bins) -> Result<BinEdges> {
        let (count, range) = match bins {
            Bins::Between(edges) => {
                let count = only_axis(parts.what, "an array of edges", &edges)?;
                let none = || Error::new(ErrorCode::Shape, "there are no edges").help("a bin has two");
                let bins = count.checked_sub(1).ok_or_else(none)?;
                return Ok(BinEdges { edges, bins, compare: None });
            }
            Bins::Equal(count, range) => (count, range),
        };
        if count == 0 {
            return Err(Error::new(ErrorCode::Argument, "0 bins").help("give a number of bins of 1 and more"));
        }
        let (ty, ..) = x.describe(parts.what)?;
        let ends: Option<[f64; 2]> = match range {
            Some([low, high]) => Some([real(low)?, real(high)?]),
            None => None,
        };
        let types = range.map_or(vec![ty, ty], |[low, high]| vec![ty, low.ty(), high.ty()]);
        let dtype = meeting(Op::Divide, &types)?;
        let edges = match ends {
            Some([low, high]) => between(parts, x, [low, high], count, dtype)?,
            None => around(parts, x, count, dtype)?,
        };
        Ok(BinEdges { edges, bins: count, compare: Some(dtype) })
    }
}

fn real(end: Literal) -> Result<f64> {
    let number = match end.value() {
        LiteralValue::Int(n) => Some(n as f64),
        LiteralValue::Float(x) => Some(x),
        LiteralValue::Bool(_) | LiteralValue::Complex(..) => None,
    };
    number.filter(|end| end.is_finite()).ok_or_else(|| {
        Error::new(ErrorCode::Argument, format!("bins do not end at {}", end.value())).help("give two finite numbers")
    })
}

/// Returns edges between two values.
fn between<R: ArrayLike>(
    parts: &FunctionParts<R>,
    x: &AnyOperand,
    [low, high]: [f64; 2],
    count: usize,
    dtype: DType,
) -> Result<AnyOperand> {
    if low > high {
        return Err(Error::new(ErrorCode::Argument, format!("bins from {low:?} to {high:?}"))
            .help("the smaller number stands first"));
    }
    let [low, high] = if low == high { [low - 0.5, high + 0.5] } else { [low, high] };
    let edges = typed(dtype).between(([low, high].map(Literal::weak), true), count.saturating_add(1), parts.place);
    if let Some(error) = edges.error() {
        return Err(error.clone().unnamed());
    }
    let edges = held(x).map_or_else(|| edges.clone(), |x| edges.on(x.device()));
    Ok(R::constant(edges, parts.place).operand())
}

/// Returns edges between the smallest and the largest element.
fn around<R: ArrayLike>(parts: &FunctionParts<R>, x: &AnyOperand, count: usize, dtype: DType) -> Result<AnyOperand> {
    let (.., shape) = x.describe(parts.what)?;
    if shape.size() == Ok(0) {
        return between(parts, x, [0.0, 1.0], count, dtype);
    }
    let compute = if dtype.is_half() { DType::F32 } else { dtype };
    let end = |reduction| parts.cast(&parts.reduced(reduction, None, x, ..), compute);
    let (low, high) = (end(Reduction::Min), end(Reduction::Max));
    let same = parts.op(Op::Equal, &[&low, &high]);
    let half = parts.float(0.5, compute);
    let moved = |op, end: &AnyOperand| parts.op(Op::Where, &[&same, &parts.op(op, &[end, &half]), end]);
    let (low, high) = (moved(Op::Subtract, &low), moved(Op::Add, &high));
    let divided = |x: &AnyOperand| parts.op(Op::Divide, &[x, &parts.float(count as f64, compute)]);
    let index = parts.iota(x, count.checked_add(1).ok_or_else(|| too_many(count))?);
    let steps = parts.cast(&index, compute);
    let width = parts.op(Op::Subtract, &[&high, &low]);
    let near = parts.op(Op::Add, &[&parts.op(Op::Multiply, &[&steps, &divided(&width)]), &low]);
    // If the difference of the ends overflows, add parts of both.
    let share = divided(&steps);
    let rest = parts.op(Op::Subtract, &[&parts.float(1.0, compute), &share]);
    let shares = [(&low, &rest), (&high, &share)].map(|(end, share)| parts.op(Op::Multiply, &[end, share]));
    let far = parts.op(Op::Add, &[&shares[0], &shares[1]]);
    let inner = parts.op(Op::Where, &[&parts.op(Op::IsFinite, &[&width]), &near, &far]);
    let is_last = parts.op(Op::Equal, &[&index, &parts.number(count as i64)]);
    Ok(parts.cast(&parts.op(Op::Where, &[&is_last, &high, &inner]), dtype))
}

fn too_many(count: usize) -> Error {
    Error::new(ErrorCode::Size, format!("{count} bins")).help("ask for fewer")
}
