//! Sorting: elements in ascending or descending order along an axis, their indices, and the largest elements. Free functions
//! and methods; `dtype(d)` sets the dtype of the indices of `argsort`.
//!
//! Sorts are stable: equal elements keep their order, in descending sorts too ([`descending`]). Results therefore do not
//! depend on threads. `false` sorts before `true`, and -0 equals +0. NaN counts as larger than all other values: it is last,
//! or first in descending order. Complex numbers are ordered by real, then imaginary part, those with a NaN last, as in
//! NumPy.

use crate::api::config::with_parts;
use crate::api::creation::Typed;
use crate::api::indexing::each_found;
use crate::api::manipulation::{part, refused, seen};
use crate::api::reductions::types;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use crate::trace::scalar::Scalar;
use ndjit_eval::request::Request;
use ndjit_ir::axes::position;
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::Sort;
use ndjit_ir::view::flip;
use ndjit_ir::{DType, Error, ErrorCode, Op, Result, Shape, SourceLoc};

/// The axis and the order of a sort. Made from an integer (negative ones count from the last axis, -1), or by [`descending`].
///
/// ```
/// use ndjit::{Array, descending};
///
/// let x = Array::from([2, 3, 1]);
/// assert_eq!(x.sort(descending(0)).to_string(), "[3 2 1]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorting {
    axis: isize,
    descending: bool,
}

/// The same axis, sorted in descending order; equal elements keep their order. NaN counts as the largest.
///
/// ```
/// use ndjit::{Array, argsort, descending, sort};
/// let x = Array::from([1.0f32, f32::NAN, 3.0, 1.0]);
/// assert_eq!(sort(&x, descending(0)).to_string(), "[nan  3.  1.  1.]");
/// assert_eq!(argsort(&x, descending(0)).to_vec::<i32>()?, [1, 2, 0, 3]);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn descending(axis: isize) -> Sorting {
    Sorting { axis, descending: true }
}

/// The `axis` argument of sorts: an integer, or [`descending`] of one.
///
/// ```
/// use ndjit::{Array, descending};
///
/// let x = Array::from([2, 3, 1]);
/// assert_eq!(x.argsort(-1).to_string(), "[2 0 1]");
/// assert_eq!(x.argsort(descending(-1)).to_string(), "[1 0 2]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an axis",
    label = "not a number",
    note = "write `0`, `-1` for the last axis, or `descending(-1)`",
    note = "a dtype of indices goes before, as in `dtype(DType::I64).argsort(x, 0)`"
)]
pub trait IntoSorting {
    /// Returns the axis and the order.
    fn sorting(self) -> Sorting;
}

impl IntoSorting for Sorting {
    fn sorting(self) -> Sorting {
        self
    }
}

impl IntoSorting for isize {
    fn sorting(self) -> Sorting {
        Sorting { axis: self, descending: false }
    }
}

/// A sort in either order. Descending flips the operand, sorts, and flips the result: equal elements keep their order.
pub(crate) fn sorted<R: ArrayLike>(
    sort: Sort,
    dtype: Option<DType>,
    x: AnyOperand,
    Sorting { axis, descending }: Sorting,
    place: SourceLoc,
) -> R {
    let what = sort.name();
    ordered::<R>(sort, dtype, x.clone(), Sorting { axis, descending }, place).part_of(what, &[x], place)
}

fn ordered<R: ArrayLike>(
    sort: Sort,
    dtype: Option<DType>,
    x: AnyOperand,
    Sorting { axis, descending }: Sorting,
    place: SourceLoc,
) -> R {
    let what = sort.name();
    let ascending = |x: AnyOperand| -> R { R::reduce(&Request::along(sort, dtype, axis), &[x], place) };
    // The sort reports an axis out of range.
    let known = x.describe(what).is_ok_and(|(.., shape)| position(axis, shape.rank()).is_ok());
    if !descending || !known {
        return ascending(x);
    }
    let turned = |x: AnyOperand| -> R { seen(what, x, place, |shape| flip(shape, &[axis])) };
    let back = turned(ascending(turned(x).operand()).operand());
    if sort != Sort::ArgSort {
        return back;
    }
    let back = back.operand();
    let last = back.describe(what).and_then(|(_, dtype, shape)| {
        let extent = shape.extents()[position(axis, shape.rank())?];
        Literal::strong(extent.saturating_sub(1) as u64, dtype)
    });
    match last {
        Ok(last) => with_parts(|| {
            let last = AnyOperand::Scalar(Scalar(last, None));
            R::compute(Op::Subtract, &[last, back], place)
        }),
        Err(error) => R::failed(error.at(place)),
    }
}

/// The `k` largest elements along an axis in descending order, and their indices. Among equal elements the first come first.
/// NaN counts as the largest. The axis of the result has the extent `k`.
///
/// ```
/// use ndjit::{Array, topk};
/// let x = Array::from([3.0f32, 1.0, 4.0, 1.0, 5.0]);
/// let (values, indices) = topk(&x, 2, 0);
/// assert_eq!(values.to_vec::<f32>()?, [5.0, 4.0]);
/// assert_eq!(indices.to_vec::<i32>()?, [4, 2]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Dtypes: those of [`sort`](fn@crate::sort) and [`argsort`](fn@crate::argsort). The first elements of these are the smallest.
///
/// Source: PyTorch's [`topk`](https://docs.pytorch.org/docs/stable/generated/torch.topk.html); JAX's `lax.top_k` takes the
/// last axis.
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range, and for fewer than `k` elements.
#[doc(alias = "top_k")]
#[track_caller]
pub fn topk<X: UnaryOperand>(x: X, k: usize, axis: isize) -> (X::Out, X::Out) {
    let (what, place, x) = ("topk", SourceLoc::caller(), x.operand());
    let enough = |shape: &Shape| -> Result<usize> {
        let at = position(axis, shape.rank())?;
        match shape.extents()[at] {
            extent if extent >= k => Ok(at),
            extent => Err(Error::new(ErrorCode::Shape, format!("{k} elements of an axis that has {extent}"))
                .about_axis()
                .fact(format_args!("axis {at} of shape {shape}"))
                .help("ask for as many as there are, or fewer")),
        }
    };
    let at = match x.describe(what).and_then(|(.., shape)| enough(&shape)) {
        Ok(at) => at,
        Err(error) => {
            let both = || refused(what, std::slice::from_ref(&x), place, &error);
            return (both(), both());
        }
    };
    let all: X::Out = sorted(Sort::ArgSort, None, x.clone(), descending(axis), place);
    let all = all.operand();
    let first = |x: AnyOperand| -> X::Out { seen(what, x, place, |shape| part(shape, at, 0, k, 1)) };
    let indices = first(all.clone());
    // An empty axis has no largest elements.
    let values: X::Out = match k {
        0 => first(x.clone()),
        _ => {
            each_found(what, x.clone(), X::Out::convert(&first(all).operand(), DType::I64, place).operand(), at, place)
        }
    };
    let x = [x];
    (values.part_of(what, &x, place), indices.part_of(what, &x, place))
}

impl Expr {
    /// The `k` largest elements along an axis in descending order, and their indices: [`topk`](fn@crate::topk).
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    /// let f = jit(|x: Expr| x.topk(2, 0));
    /// assert_eq!(f(&Array::from([5, 9, 7])).0.to_vec::<i32>()?, [9, 7]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn topk(self, k: usize, axis: isize) -> (Expr, Expr) {
        topk(self, k, axis)
    }
}

impl Array {
    /// The `k` largest elements along an axis in descending order, and their indices: [`topk`](fn@crate::topk).
    ///
    /// ```
    /// use ndjit::Array;
    /// assert_eq!(Array::from([5, 9, 7]).topk(2, 0).1.to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn topk(&self, k: usize, axis: isize) -> (Array, Array) {
        topk(self, k, axis)
    }
}

macro_rules! example {
    (sort) => {
        "let x = Array::from_rows(&[[3, 1, 2], [0, 5, 4]]);\nassert_eq!(sort(&x, 1).to_string(), \"[[1 2 3]\\n [0 4 5]]\");\nassert_eq!(sort(&x, 0).to_string(), \"[[0 1 2]\\n [3 5 4]]\");"
    };
    (argsort) => {
        "let x = Array::from([30, 10, 20, 10]);\nassert_eq!(argsort(&x, 0).to_vec::<i32>()?, [1, 3, 2, 0]);"
    };
}

macro_rules! errors {
    (Same) => {
        "."
    };
    (Index) => {
        ", with `DType` if the requested dtype cannot count the elements."
    };
}

macro_rules! rows {
    (reductions { $($reduction:tt)* } scans { $($scan:tt)* }
     sorts { $($variant:ident $name:ident($($operand:ident)*) $rule:ident $doc:literal;)* }) => {
        $(
            #[doc = concat!($doc, "\n\n```\nuse ndjit::{Array, ", stringify!($name), "};\n", example!($name),
                "\n# Ok::<(), ndjit::Error>(())\n```\n\n- Result: ", types!($rule),
                " Never weak.\n- The axis and the order: [`Sorting`].\n\n",
                "Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.", stringify!($name),
                ".html), whose `stable` it always is.\n\n# Errors\nPoisoned with `Shape` for an axis that is not there, with `Promotion` where the policy",
                " refuses the operand", errors!($rule))]
            #[track_caller]
            pub fn $name<X: UnaryOperand>(x: X, axis: impl IntoSorting) -> X::Out {
                sorted(Sort::$variant, None, x.operand(), axis.sorting(), SourceLoc::caller())
            }
        )*

        /// Sorts as methods: see the free functions.
        impl Expr {
            $(
                #[doc = concat!($doc, " Types and errors: [`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(self, axis: impl IntoSorting) -> Expr {
                    $name(self, axis)
                }
            )*
        }

        /// Sorts as methods: see the free functions.
        impl Array {
            $(
                #[doc = concat!($doc, " Types and errors: [`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(&self, axis: impl IntoSorting) -> Array {
                    $name(self, axis)
                }
            )*
        }

        /// Sorts with this dtype.
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
        pub fn $name<X: UnaryOperand>(self, x: X, axis: impl IntoSorting) -> X::Out {
            sorted(Sort::$variant, self.asked(), x.operand(), axis.sorting(), SourceLoc::caller())
        }
    };
}

ndjit_ir::reduction_table!(rows);
