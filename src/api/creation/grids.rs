//! Arrays built from sequences: functions of the index, grids, powers.

use super::argument::{Interval, Steps};
use super::typed::{Typed, dtype};
use crate::api::config::{policy, with_parts};
use crate::api::manipulation::{refused, reshaped, seen};
use crate::array::node::Array;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use crate::trace::scalar::Scalar;
use ndjit_ir::literal::Literal;
use ndjit_ir::op::TypeRule;
use ndjit_ir::view;
use ndjit_ir::{Code, DType, Error, ErrorCode, Help, Shape, SourceLoc, Weak};

/// An array of the values of a function at each index. Its arguments are the indices along each axis, as arrays of the
/// [default integer](crate::defaults) that broadcast against each other.
///
/// The result is lazy. In a traced function, kernels compute its elements where they use them. If the trace reads it, or it
/// depends on other arrays, it is computed during tracing, and kernels read it. A result from outside of the function is
/// read like any captured array.
///
/// ```
/// use ndjit::{Array, from_fn, jit};
/// let table = from_fn([3, 4], |[row, column]| (row + 1) * (column + 1));
/// assert_eq!(table.to_string(), "[[ 1  2  3  4]\n [ 2  4  6  8]\n [ 3  6  9 12]]");
/// let f = jit(|x| x + from_fn([2, 2], |[row, column]| row * 10 + column));
/// assert_eq!(f(&Array::from([1, 2])).to_string(), "[[ 1  3]\n [11 13]]");
/// ```
///
/// # Errors
/// Poisoned with `Shape` if the function's result does not broadcast to the shape, with `Size` or `Allocation` if it does
/// not fit in memory.
#[track_caller]
#[doc(alias = "fromfunction")]
#[doc(alias = "indices")]
#[doc(alias = "mgrid")]
pub fn from_fn<const N: usize, R: UnaryOperand<Out = R> + ArrayLike>(
    shape: [usize; N],
    function: impl FnOnce([Array; N]) -> R,
) -> R {
    let place = SourceLoc::caller();
    let shape = Shape::from(shape);
    if let Err(error) = shape.size() {
        return R::failed(error.of("from_fn").at(place));
    }
    // The indices of an axis are integers of the default dtype.
    let dtype = policy().commit(Weak::Int.into());
    let most = dtype.int_range().map_or(i128::MAX, |(_, most)| most);
    if let Some(axis) = shape.extents().iter().position(|&extent| extent as i128 - 1 > most) {
        let extent = shape.extents()[axis];
        let error = Error::new(ErrorCode::DType, format!("{dtype} cannot count the {extent} indices of axis {axis}"))
            .of("from_fn")
            .fact(format_args!("axis {axis} of shape {shape}"))
            .help("have integers be wider, as in `with_defaults(Defaults::BITS_64, || …)`");
        return R::failed(error.at(place));
    }
    let indices = std::array::from_fn(|axis| {
        let mut extents = [1isize; N];
        extents[axis] = shape.extents()[axis] as isize;
        let along = super::typed::INFERRED.counted("from_fn", shape.extents()[axis].steps(), place);
        reshaped("from_fn", along.operand(), &extents, place)
    });
    seen("from_fn", function(indices).operand(), place, |own| {
        view::broadcast_to(own, &shape).map_err(|_| {
            Error::new(ErrorCode::Shape, format!("the function gave shape {own}, which does not broadcast to {shape}"))
                .help("compute the elements from the function's indices, which have the shape's axes")
        })
    })
}

/// The order of the axes of [`meshgrid`].
///
/// ```
/// use ndjit::{Indexing, arange, meshgrid};
///
/// let [xy, ij] = [Indexing::Xy, Indexing::Ij].map(|indexing| meshgrid([arange(3), arange(2)], indexing));
/// assert_eq!((xy[0].shape().extents(), ij[0].shape().extents()), (&[2, 3][..], &[3, 2][..]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// The first array varies along the second axis, the second along the first: x and y of a picture.
    #[default]
    Xy,
    /// Array `n` varies along axis `n`.
    Ij,
}

/// The coordinates of a grid: for each vector an array of the grid's shape that varies only along its axis. Nothing is copied.
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
/// All are poisoned with `Shape` if an array has more than one axis.
#[track_caller]
pub fn meshgrid<X: UnaryOperand>(vectors: impl IntoIterator<Item = X>, indexing: Indexing) -> Vec<X::Out>
where
    X::Out: UnaryOperand<Out = X::Out>,
{
    let place = SourceLoc::caller();
    let vectors: Vec<X> = vectors.into_iter().collect();
    let rank = vectors.len();
    let axis_of = |n: usize| match (indexing, n) {
        (Indexing::Xy, 0 | 1) if rank > 1 => 1 - n,
        (Indexing::Xy | Indexing::Ij, n) => n,
    };
    let operands: Vec<AnyOperand> = vectors.into_iter().map(Operand::operand).collect();
    let mut extents = vec![1usize; rank];
    for (n, operand) in operands.iter().enumerate() {
        // An operand without a shape reports its error in its own result.
        let Ok((_, _, shape)) = operand.describe("meshgrid") else { continue };
        match *shape.extents() {
            [] => {}
            [length] => extents[axis_of(n)] = length,
            _ => {
                let error = Error::new(ErrorCode::Shape, format!("x{n} has {} axes, not one", shape.rank())).help(
                    Help::from("a grid is made of vectors; ").code(Code::Reshape(&[-1])).text(" makes one axis of all"),
                );
                return operands.iter().map(|_| refused("meshgrid", &operands, place, &error)).collect();
            }
        }
    }
    let extents = Shape::from(extents);
    let grid = |(n, operand): (usize, AnyOperand)| {
        let mut own = vec![1isize; rank];
        own[axis_of(n)] = -1;
        let apart: X::Out = reshaped("meshgrid", operand, &own, place);
        seen("meshgrid", apart.operand(), place, |own| view::broadcast_to(own, &extents))
    };
    operands.into_iter().enumerate().map(grid).collect()
}

/// Powers of ten evenly spaced on a logarithmic scale: `10^x` for `x` of [`linspace`](crate::linspace), computed in `f64`
/// and rounded once more to the dtype, the [default float](crate::default_dtype).
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
    super::typed::INFERRED.logspace(interval, count)
}

impl Typed {
    /// [`logspace`] of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// assert_eq!(dtype(DType::F64).logspace(0..=2, 3).to_vec::<f64>()?, [1.0, 10.0, 100.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn logspace(self, interval: impl Interval, count: usize) -> Array {
        let place = SourceLoc::caller();
        let (ends, endpoint) = interval.ends();
        let ty = self.of_numbers("logspace", TypeRule::TrueDivide, &ends.map(|number| number.ty()));
        let inexact = ty.and_then(|ty| super::make::inexact("logspace", ty));
        match inexact {
            Ok(ty) => {
                let wide = if ty.dtype.is_complex() { DType::C128 } else { DType::F64 };
                let powers = with_parts(|| {
                    let exponents = dtype(wide).between((ends, endpoint), count, place);
                    Array::compute(
                        ndjit_ir::Op::Pow,
                        &[Scalar(Literal::weak(10.0), None).operand(), exponents.operand()],
                        place,
                    )
                });
                crate::array::lazy::cast(&powers, ty.dtype, place).part_of("logspace", &[], place)
            }
            Err(error) => Array::poisoned(error.at(place)),
        }
    }
}
