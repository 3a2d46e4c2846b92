//! Scans: at each index one value of all elements up to it along an axis. Free functions and methods infer the dtype of the result;
//! `dtype(d)` has those that take one as methods and asks for it. With them what is made of neighbours along an axis: [`diff`] and
//! [`trapezoid`].
//!
//! Elements are combined in an order that depends on the shape alone ([`ndjit_ir::reduction::scan`]), so results are the same for
//! any number of threads, any vector width and any fusion.

use crate::array::Array;
use crate::creation::Typed;
use crate::expr::Expr;
use crate::manipulation::{joined, part, seen};
use crate::operand::{AnyOperand, Computed, Math, Number, Operand, Scalar};
use crate::reductions::{IntoAxes, Request, types};
use ndjit_ir::axes::position;
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::Reduction;
use ndjit_ir::view::broadcast_to;
use ndjit_ir::{DType, Error, Op, Place, Shape};

/// Along which axis a scan goes, and whether the result begins with the value of no elements. Made from a number, negative from
/// the last axis, which is -1, or by [`include_initial`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    axis: isize,
    initial: bool,
}

/// The same axis, with a result that is longer by one there: it begins with the value of no elements, 0 of a sum and 1 of a product.
///
/// ```
/// use ndjit::{Array, cumulative_sum, include_initial};
/// let lengths = Array::from([2, 3, 1]);
/// assert_eq!(cumulative_sum(&lengths, include_initial(0)).to_vec::<i32>()?, [0, 2, 5, 6]);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn include_initial(axis: isize) -> Along {
    Along { axis, initial: true }
}

/// What says along which axis a scan goes: a number, or [`include_initial`] of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no axis",
    label = "not a number",
    note = "write `0`, `-1` for the last axis, or `include_initial(-1)`",
    note = "a dtype goes before, as in `dtype(DType::F64).cumulative_sum(x, 0)`"
)]
pub trait IntoAlong {
    /// The axis.
    fn along(self) -> Along;
}

impl IntoAlong for Along {
    fn along(self) -> Along {
        self
    }
}

impl IntoAlong for isize {
    fn along(self) -> Along {
        Along { axis: self, initial: false }
    }
}

fn scan<R: Computed>(reduction: Reduction, dtype: Option<DType>, x: AnyOperand, along: Along, place: Place) -> R {
    let scanned = R::reduce(&Request::scan(reduction, dtype, along.axis), &[x], place);
    let (true, Some(nothing)) = (along.initial, reduction.of_nothing()) else { return scanned };
    let scanned = scanned.operand();
    let what = reduction.name();
    let first = scanned.describe(what).and_then(|(_, dtype, shape)| {
        let mut extents = shape.extents().to_vec();
        extents[position(along.axis, shape.rank())?] = 1;
        Ok((Literal::strong(nothing.value(), dtype)?, Shape::from(extents)))
    });
    let (first, shape) = match first {
        Ok(first) => first,
        Err(error) => return R::failed(error.at(place)),
    };
    let first: R = seen(what, AnyOperand::Scalar(Scalar(first, Some(place))), place, |own| broadcast_to(own, &shape));
    joined(what, vec![first.operand(), scanned], along.axis, place)
}

/// The differences of neighbours along an axis, each element less the one before, taken `n` times over. Of truth values whether
/// they differ.
///
/// ```
/// use ndjit::{Array, diff};
/// let x = Array::from([1, 4, 9, 16]);
/// assert_eq!(diff(&x, 1, 0).to_vec::<i32>()?, [3, 5, 7]);
/// assert_eq!(diff(&x, 2, 0).to_vec::<i32>()?, [2, 2]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.diff.html).
///
/// # Errors
/// Poisoned with `Shape` for an axis that is not there, with the errors of [`subtract`](fn@crate::subtract).
#[track_caller]
pub fn diff<X: Math>(x: X, n: usize, axis: isize) -> X::Out {
    let place = Place::caller();
    let x = x.operand();
    let found = x.describe("diff").and_then(|(_, dtype, shape)| {
        let at = position(axis, shape.rank()).map_err(|error: Error| error.of("diff"))?;
        Ok((dtype, at, shape.extents()[at]))
    });
    let (dtype, at, extent) = match found {
        Ok(found) => found,
        Err(error) => return X::Out::failed(error.at(place)),
    };
    let op = if dtype == DType::Bool { Op::NotEqual } else { Op::Subtract };
    let mut result: X::Out = seen("diff", x, place, |shape| part(shape, at, 0, extent, 1));
    // More often there is nothing left to subtract.
    for taken in 0..n.min(extent) {
        let [low, high]: [X::Out; 2] = neighbours("diff", result.operand(), at, extent - taken, place);
        result = X::Out::compute(op, &[high.operand(), low.operand()], place);
    }
    result
}

/// All elements but the last along an axis, and all but the first.
fn neighbours<R: Computed>(what: &'static str, x: AnyOperand, at: usize, extent: usize, place: Place) -> [R; 2] {
    let ends = extent.saturating_sub(1);
    [(0, ends), (extent - ends, extent)]
        .map(|(start, end)| seen(what, x.clone(), place, |shape| part(shape, at, start, end, 1)))
}

/// The integral along an axis by the trapezoidal rule, of values `dx` apart from each other: `dx` times the sum of the means of
/// neighbours.
///
/// ```
/// use ndjit::{Array, trapezoid};
/// let y = Array::from([0.0f32, 1.0, 4.0, 9.0]);
/// assert_eq!(trapezoid(&y, 0.5, 0).item::<f32>()?, 4.75);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: the dtype of `y * 0.5`, summed as by [`sum`](fn@crate::sum) and multiplied by `dx`. 0 of less than two values.
/// - Accuracy: that of the sum, with two roundings more of each value.
///
/// Source: NumPy's [`trapezoid`](https://numpy.org/doc/stable/reference/generated/numpy.trapezoid.html).
///
/// # Errors
/// Poisoned with `Shape` for an axis that is not there, with `Promotion` where the policy refuses to multiply by a float.
#[track_caller]
pub fn trapezoid<X: Math>(y: X, dx: impl Number, axis: isize) -> X::Out {
    let place = Place::caller();
    let (y, dx) = (y.operand(), AnyOperand::Scalar(Scalar(dx.literal(), Some(place))));
    let found = y.describe("trapezoid").and_then(|(_, _, shape)| {
        let at = position(axis, shape.rank()).map_err(|error: Error| error.of("trapezoid"))?;
        Ok((at, shape.extents()[at]))
    });
    let (at, extent) = match found {
        Ok(found) => found,
        Err(error) => return X::Out::failed(error.at(place)),
    };
    let half = AnyOperand::Scalar(Scalar(Literal::weak(0.5), None));
    let halves = X::Out::compute(Op::Multiply, &[y, half], place);
    let parts: [X::Out; 2] = neighbours("trapezoid", halves.operand(), at, extent, place);
    let means = X::Out::compute(Op::Add, &parts.map(|part| part.operand()), place);
    let sum = X::Out::reduce(&Request::new(Reduction::Sum, None, axis.axes()), &[means.operand()], place);
    X::Out::compute(Op::Multiply, &[sum.operand(), dx], place)
}

/// What says along which axis: what begins with the value of no elements may be asked to.
macro_rules! along {
    (Same) => { isize };
    ($rule:ident) => { impl IntoAlong };
}

/// How far a result of floats may be from the exact one, in words; `u` is half an ULP of 1, `n` the number of elements.
macro_rules! accuracy {
    (Sum) => {
        "Accuracy: an error of at most `(1023 + n / 1024) u` times the sum of magnitudes, to first order; halves are summed in `f32` and each result rounded once."
    };
    (Product) => {
        "Accuracy: a relative error of at most `(n - 1) u`, to first order, of complex numbers `5^(1/2) (n - 1) u` of the modulus; halves are multiplied in `f32` and each result rounded once."
    };
    (Same) => {
        "Accuracy: exact."
    };
}

macro_rules! example {
    (CumulativeSum) => { "use ndjit::{Array, cumulative_sum};\nlet x = Array::from([1, 2, 3]);\nassert_eq!(cumulative_sum(&x, 0).to_vec::<i32>()?, [1, 3, 6]);" };
    (CumulativeProd) => { "use ndjit::{Array, cumulative_prod};\nlet x = Array::from([1, 2, 3, 4]);\nassert_eq!(cumulative_prod(&x, 0).to_vec::<i32>()?, [1, 2, 6, 24]);" };
    (CumMax) => { "use ndjit::{Array, cummax};\nlet x = Array::from([2, 1, 3]);\nassert_eq!(cummax(&x, 0).to_vec::<i32>()?, [2, 2, 3]);" };
    (CumMin) => { "use ndjit::{Array, cummin};\nlet x = Array::from([2, 1, 3]);\nassert_eq!(cummin(&x, 0).to_vec::<i32>()?, [2, 1, 1]);" };
}

/// Where the function comes from.
macro_rules! source {
    (Sum) => { "the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.cumulative_sum.html)" };
    (Product) => { "the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.cumulative_prod.html)" };
    (Same) => { "JAX's [`lax.cummax` and `lax.cummin`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.cummax.html)" };
}

macro_rules! rows {
    (reductions { $($other:tt)* } scans { $($variant:ident $name:ident($($operand:ident)*) $rule:ident $doc:literal;)* }) => {
        $(
            #[doc = concat!($doc, "\n\n```\n", example!($variant), "\n# Ok::<(), ndjit::Error>(())\n```\n\n- Result: ", types!($rule),
                " Never weak.\n- ", accuracy!($rule), "\n- Along which axis: [`Along`].\n\nSource: ", source!($rule),
                ".\n\n# Errors\nPoisoned with `Shape` for an axis that is not there, with `Promotion` where the policy refuses the operand.")]
            #[track_caller]
            pub fn $name<X: Math>(x: X, axis: along!($rule)) -> X::Out {
                scan(Reduction::$variant, None, x.operand(), axis.along(), Place::caller())
            }
        )*

        /// Scans: each is documented where it stands alone.
        impl Expr {
            $(
                #[doc = concat!($doc, " Types and errors: [`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(self, axis: along!($rule)) -> Expr {
                    $name(self, axis)
                }
            )*
        }

        /// Scans: each is documented where it stands alone.
        impl Array {
            $(
                #[doc = concat!($doc, " Types and errors: [`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(&self, axis: along!($rule)) -> Array {
                    $name(self, axis)
                }
            )*
        }

        /// Scans of this dtype, for those that take one; each is documented where it stands alone. The operand is cast to it before
        /// elements are combined.
        impl Typed {
            $( typed! { $rule $variant $name } )*
        }
    };
}

/// The method that asks for a dtype.
macro_rules! typed {
    (Same $variant:ident $name:ident) => {};
    ($rule:ident $variant:ident $name:ident) => {
        #[doc = concat!("[`", stringify!($name), "`](fn@crate::", stringify!($name), ") of this dtype.")]
        #[track_caller]
        pub fn $name<X: Math>(self, x: X, axis: along!($rule)) -> X::Out {
            scan(Reduction::$variant, self.asked(), x.operand(), axis.along(), Place::caller())
        }
    };
}

ndjit_ir::reduction_table!(rows);

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Neighbours along an axis: each is documented where it stands alone.
        impl $of {
            /// [`diff`](fn@crate::diff) as a method.
            #[track_caller]
            pub fn diff($self: $receiver, n: usize, axis: isize) -> $of {
                diff($self, n, axis)
            }

            /// [`trapezoid`](fn@crate::trapezoid) as a method.
            #[track_caller]
            pub fn trapezoid($self: $receiver, dx: impl Number, axis: isize) -> $of {
                trapezoid($self, dx, axis)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
