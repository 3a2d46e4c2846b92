//! Scans: cumulative reductions along an axis. Free functions and methods infer the dtype of the result; `dtype(d)` sets it
//! and has the same functions as methods.
//!
//! The order of combination depends only on the shape ([`ndjit_ir::reduction::scan`]). Results are therefore the same for
//! any number of threads, any vector width and any fusion.

use crate::api::creation::Typed;
use crate::api::manipulation::{joined, seen};
use crate::api::reductions::types;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, UnaryOperand};
use crate::trace::scalar::Scalar;
use ndjit_eval::request::Request;
use ndjit_ir::axes::position;
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::Scan;
use ndjit_ir::view::broadcast_to;
use ndjit_ir::{DType, Shape, SourceLoc};

/// The axis of a scan, with or without the initial value. Made from an integer (negative ones count from the last axis, -1),
/// or by [`include_initial`].
///
/// ```
/// use ndjit::{Array, include_initial};
///
/// let x = Array::from([2, 3]);
/// assert_eq!(x.cumulative_prod(include_initial(0)).to_string(), "[1 2 6]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    axis: isize,
    initial: bool,
}

/// The same axis, with the initial value first in the result, 0 for a sum and 1 for a product: one element more.
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

/// The `axis` argument of scans: an integer, or [`include_initial`] of one.
///
/// ```
/// use ndjit::{Array, include_initial};
///
/// let x = Array::from([2, 3]);
/// assert_eq!(x.cumulative_sum(0).to_string(), "[2 5]");
/// assert_eq!(x.cumulative_sum(include_initial(-1)).to_string(), "[0 2 5]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an axis",
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

pub(crate) fn scan<R: ArrayLike>(scan: Scan, dtype: Option<DType>, x: AnyOperand, along: Along, place: SourceLoc) -> R {
    let scanned = R::reduce(&Request::along(scan, dtype, along.axis), &[x], place);
    let (true, Some(nothing)) = (along.initial, scan.empty_result()) else { return scanned };
    let scanned = scanned.operand();
    let what = scan.name();
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

/// The axis types of a scan; those with an initial value support `include_initial`.
macro_rules! along {
    (Same) => { isize };
    ($rule:ident) => { impl IntoAlong };
}

/// The error bound of a float result, as text; `u` is half an ULP of 1, `n` the number of elements.
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

/// The source of the function.
macro_rules! source {
    (Sum) => { "the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.cumulative_sum.html); NumPy and PyTorch call it `cumsum`" };
    (Product) => { "the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.cumulative_prod.html); NumPy and PyTorch call it `cumprod`" };
    (Same) => { "JAX's [`lax.cummax` and `lax.cummin`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.cummax.html)" };
}

macro_rules! rows {
    (reductions { $($other:tt)* } scans { $($variant:ident $name:ident($($operand:ident)*) $rule:ident $doc:literal;)* } sorts { $($sort:tt)* }) => {
        $(
            #[doc = concat!($doc, "\n\n```\n", example!($variant), "\n# Ok::<(), ndjit::Error>(())\n```\n\n- Result: ", types!($rule),
                " Never weak.\n- ", accuracy!($rule), "\n- The axis: [`Along`].\n\nSource: ", source!($rule),
                ".\n\n# Errors\nPoisoned with `Shape` for an axis that is not there, with `Promotion` where the policy refuses the operand.")]
            #[track_caller]
            pub fn $name<X: UnaryOperand>(x: X, axis: along!($rule)) -> X::Out {
                scan(Scan::$variant, None, x.operand(), axis.along(), SourceLoc::caller())
            }
        )*

        /// Scans as methods: see the free functions.
        impl Expr {
            $(
                #[doc = concat!($doc, " Types and errors: [`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(self, axis: along!($rule)) -> Expr {
                    $name(self, axis)
                }
            )*
        }

        /// Scans as methods: see the free functions.
        impl Array {
            $(
                #[doc = concat!($doc, " Types and errors: [`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(&self, axis: along!($rule)) -> Array {
                    $name(self, axis)
                }
            )*
        }

        /// Scans with this dtype: see the free functions. The operand is cast to it before elements are combined.
        impl Typed {
            $( typed! { $rule $variant $name } )*
        }
    };
}

/// The method with a given dtype.
macro_rules! typed {
    (Same $variant:ident $name:ident) => {};
    ($rule:ident $variant:ident $name:ident) => {
        #[doc = concat!("[`", stringify!($name), "`](fn@crate::", stringify!($name), ") of this dtype.")]
        #[track_caller]
        pub fn $name<X: UnaryOperand>(self, x: X, axis: along!($rule)) -> X::Out {
            scan(Scan::$variant, self.asked(), x.operand(), axis.along(), SourceLoc::caller())
        }
    };
}

ndjit_ir::reduction_table!(rows);
