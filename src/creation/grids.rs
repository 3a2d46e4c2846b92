//! Arrays made of sequences: functions of the index, grids, powers.

use super::argument::Interval;
use super::{Typed, dtype};
use crate::array::Array;
use crate::manipulation::broadcast_to;
use crate::operand::{Computed, Math, Operand, weak};
use ndjit_ir::op::Operands;
use ndjit_ir::{DType, Error, ErrorCode, Place, Shape};

/// An array of the values of a function at each index: it gets, for each axis, the positions along that axis as an array of the
/// [default integer](crate::defaults) that broadcasts against the others. Nothing is stored but the result.
///
/// ```
/// use ndjit::from_fn;
/// let table = from_fn([3, 4], |[row, column]| (row + 1) * (column + 1));
/// assert_eq!(table.to_string(), "[[ 1  2  3  4]\n [ 2  4  6  8]\n [ 3  6  9 12]]");
/// ```
///
/// # Errors
/// Poisoned with `Shape` if the function's result does not broadcast to the shape.
#[track_caller]
pub fn from_fn<const N: usize, R: Math<Out = R> + Computed>(
    shape: [usize; N],
    function: impl FnOnce([Array; N]) -> R,
) -> R {
    let mut axis = 0;
    let positions = shape.map(|extent| {
        let mut extents = vec![1isize; N];
        extents[axis] = extent as isize;
        axis += 1;
        super::INFERRED.arange(extent).reshape(extents)
    });
    broadcast_to(function(positions), Shape::from(shape))
}

/// How [`meshgrid`] numbers axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// The first array along the second axis, the second along the first: as x and y in a picture.
    #[default]
    Xy,
    /// Each array along the axis of its number.
    Ij,
}

/// The coordinates of a grid: for each vector an array of all their lengths that changes along its axis alone. Nothing is copied.
///
/// ```
/// use ndjit::{Indexing, arange, meshgrid};
/// let grid = meshgrid([arange(3), arange(2)], Indexing::Xy);
/// assert_eq!(grid[0].to_string(), "[[0 1 2]\n [0 1 2]]");
/// assert_eq!(grid[1].to_string(), "[[0 0 0]\n [1 1 1]]");
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.meshgrid.html).
///
/// # Errors
/// Arrays of more than one axis give arrays poisoned with `Shape`.
#[track_caller]
pub fn meshgrid<X: Math>(vectors: impl IntoIterator<Item = X>, indexing: Indexing) -> Vec<X::Out>
where
    X::Out: Math<Out = X::Out>,
{
    let place = Place::caller();
    let vectors: Vec<X> = vectors.into_iter().collect();
    let rank = vectors.len();
    let axis_of = |n: usize| match (indexing, n) {
        (Indexing::Xy, 0 | 1) if rank > 1 => 1 - n,
        (Indexing::Xy | Indexing::Ij, n) => n,
    };
    let mut extents = vec![1usize; rank];
    let mut operands = Vec::with_capacity(rank);
    for (n, vector) in vectors.into_iter().enumerate() {
        let operand = vector.operand();
        let length = operand.describe("meshgrid").and_then(|(_, _, shape)| match *shape.extents() {
            [] => Ok(1),
            [length] => Ok(length),
            _ => Err(Error::new(ErrorCode::Shape, format!("meshgrid: an array of {} axes, not one", shape.rank()))
                .fact(format_args!("the shape: {shape}"))
                .help("`x.reshape([-1])` makes one axis of all")),
        });
        if let Ok(length) = length {
            extents[axis_of(n)] = length;
        }
        operands.push((operand, length));
    }
    let grid = |(n, (operand, length)): (usize, (crate::operand::AnyOperand, Result<usize, Error>))| match length {
        Ok(length) => {
            let mut own = vec![1isize; rank];
            own[axis_of(n)] = length as isize;
            let apart: X::Out = crate::manipulation::reshaped("meshgrid", operand, &own, place);
            broadcast_to(apart, Shape::new(&extents))
        }
        Err(error) => X::Out::failed(error.at(place)),
    };
    operands.into_iter().enumerate().map(grid).collect()
}

/// Powers of ten evenly spaced on a logarithmic scale: `10^x` for `x` of [`linspace`](crate::linspace), computed in `f64` and rounded
/// once more to the dtype, the [default float](crate::default_dtype).
///
/// ```
/// use ndjit::logspace;
/// assert_eq!(logspace(0..=3, 4).to_vec::<f32>()?, [1.0, 10.0, 100.0, 1000.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`linspace`](crate::linspace).
#[track_caller]
pub fn logspace(interval: impl Interval, count: usize) -> Array {
    super::INFERRED.logspace(interval, count)
}

impl Typed {
    /// [`logspace`] of this dtype.
    #[track_caller]
    pub fn logspace(self, interval: impl Interval, count: usize) -> Array {
        let place = Place::caller();
        let (ends, endpoint) = interval.ends();
        let ty = self.of_numbers("logspace", Operands::Quotient, &ends.map(|number| number.ty()));
        let inexact = ty.and_then(|ty| super::make::inexact("logspace", ty));
        match inexact {
            Ok(ty) => {
                let wide = if ty.dtype.is_complex() { DType::C128 } else { DType::F64 };
                let exponents = dtype(wide).between((ends, endpoint), count, place);
                let powers = Array::compute(ndjit_ir::Op::Pow, &[weak(10.0).operand(), exponents.operand()], place);
                crate::lazy::cast(&powers, ty.dtype, place)
            }
            Err(error) => Array::poisoned(error.at(place)),
        }
    }
}
