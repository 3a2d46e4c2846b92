//! Creation functions. Free functions infer the dtype; `dtype(d)` sets it and has the same functions as methods.
//!
//! The dtype is the first available of: the requested dtype, that of the array argument (`zeros_like`), that of the values
//! (the fill value of [`full`], the ends and step of [`arange`]), the [default dtype](crate::default_dtype). Extents and
//! counts do not affect it. A dtype is never a positional argument, so it cannot be confused with a value.
//!
//! The arrays are evaluated at once. In a traced function they are constants of the trace, created again only when it is
//! retraced. Kernels compute their elements instead of reading them, except for complex sequences and arrays built from
//! others.
//!
//! These functions do not panic: on failure they return a poisoned [`Array`] with the error of the call.

mod argument;
mod grids;
mod make;
mod typed;

pub use argument::{AsArray, Eye, Interval, IntoEye, IntoShape, Source, Steps};
pub use grids::{Indexing, from_fn, logspace, meshgrid};

use crate::api::config;
pub use typed::{Typed, dtype};

use crate::array::node::Array;
use crate::trace::operand::{ArrayLike, UnaryOperand};
use crate::trace::scalar::Number;
use make::ArrayType;
use ndjit_ir::literal::Literal;
use ndjit_ir::op::TypeRule;
use ndjit_ir::{Code, DType, Help, Result, Shape, SourceLoc, ValueType, Weak};
use ndjit_math::progression::Progression;
use smallvec::SmallVec;
use typed::INFERRED;

/// Zeros, of the [default dtype](crate::default_dtype): [`dtype(d).zeros(shape)`](Typed::zeros) for another.
///
/// ```
/// use ndjit::{DType, zeros};
/// let x = zeros([2, 3]);
/// assert_eq!((x.dtype(), x.shape().extents()), (DType::F32, &[2, 3][..]));
/// ```
///
/// # Errors
/// Poisoned with `Size` or `Allocation` if it does not fit in memory, as all creation functions are.
#[track_caller]
pub fn zeros(shape: impl IntoShape) -> Array {
    INFERRED.zeros(shape)
}

/// Ones (`true` for bool), of the [default dtype](crate::default_dtype).
///
/// ```
/// use ndjit::ones;
///
/// assert_eq!(ones([2, 2]).to_string(), "[[1. 1.]\n [1. 1.]]");
/// ```
#[track_caller]
pub fn ones(shape: impl IntoShape) -> Array {
    INFERRED.ones(shape)
}

/// The Array API's name for [`zeros`]: memory is always initialized.
///
/// ```
/// use ndjit::empty;
///
/// assert_eq!(empty(2).to_vec::<f32>()?, [0.0, 0.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[doc(alias = "uninit")]
#[track_caller]
pub fn empty(shape: impl IntoShape) -> Array {
    INFERRED.zeros(shape)
}

/// An array filled with one value, of the value's type: weak for a literal, as in [`asarray`].
///
/// ```
/// use ndjit::{DType, dtype, full, strong};
/// let x = full([3], 7);
/// assert_eq!((x.dtype(), x.is_weak()), (DType::I32, true));
/// assert_eq!(full([3], strong(7u8)).dtype(), DType::U8);
/// assert_eq!(dtype(DType::F64).full([3], 7).to_vec::<f64>()?, [7.0, 7.0, 7.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned with `Literal` if the dtype does not contain the value: an integer out of range, a float for integers, any
/// number for bool. Bools become 0 or 1.
#[doc(alias = "fill")]
#[track_caller]
pub fn full(shape: impl IntoShape, fill: impl Number) -> Array {
    INFERRED.full(shape, fill)
}

/// Ones on a diagonal and zeros elsewhere, of the [default dtype](crate::default_dtype): `eye(3)`, `eye((2, 3))` for rows
/// and columns, `eye((2, 3, 1))` for the diagonal above the main one.
///
/// ```
/// use ndjit::eye;
/// assert_eq!(eye((2, 3, 1)).to_string(), "[[0. 1. 0.]\n [0. 0. 1.]]");
/// ```
#[doc(alias = "identity")]
#[track_caller]
pub fn eye(eye: impl IntoEye) -> Array {
    INFERRED.eye(eye)
}

/// Evenly spaced values, without the end: `arange(5)`, `arange(2..5)`, `arange((5, 0, -2))` for start, stop and step. The
/// dtype is the common type of the arguments, always strong.
///
/// There are `ceil((stop - start) / step)` values, or none; value `i` is `start + i * step`. Both are exact for integers.
/// With a float among the arguments, each operation is done in `f64`, and the result is rounded to the dtype. A rounded step
/// may reach `stop` itself: use [`linspace`] instead. A step beyond `stop`, or an infinite one, gives only `start`. If
/// `stop - start` overflows, the values are those of a wider format.
///
/// ```
/// use ndjit::{DType, arange, dtype};
/// assert_eq!(arange(2..5).to_vec::<i32>()?, [2, 3, 4]);
/// assert_eq!(arange((0, 1, 0.25)).to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
/// assert_eq!((2 * dtype(DType::I8).arange(5)).to_vec::<i8>()?, [0, 2, 4, 6, 8]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.arange.html).
///
/// # Errors
/// Poisoned with `Size` if the step is 0 or the length is not finite, `Literal` if the dtype does not contain the elements,
/// `DType` for complex numbers, `Promotion` if the policy refuses the types together.
#[doc(alias = "range")]
#[doc(alias = "iota")]
#[track_caller]
pub fn arange(steps: impl Steps) -> Array {
    INFERRED.arange(steps)
}

/// `count` evenly spaced values of an interval: `linspace(0.0..=1.0, 5)` includes the end, `linspace(0.0..1.0, 4)` does not
/// (the Array API's `endpoint`). The dtype is that of the ends under true division, so literals give the default float or
/// complex dtype; always strong.
///
/// Value `i` is `start + i * ((stop - start) / spaces)`, each operation in `f64`, rounded to the dtype at the end. The first
/// is exactly `start`; with the end included, the last is exactly `stop`. The values are monotonic. If `stop - start`
/// overflows, steps are counted from the middle in both directions. If a step is subnormal, all values are scaled to keep
/// its digits.
///
/// ```
/// use ndjit::linspace;
/// assert_eq!(linspace(0..=1, 5).to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
/// assert_eq!(linspace(0.0..1.0, 4).to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.linspace.html).
///
/// # Errors
/// Poisoned with `DType` for an integer dtype or bool, `Literal` for complex ends in a real dtype, `Promotion` if the policy
/// refuses the ends.
#[track_caller]
pub fn linspace(interval: impl Interval, count: usize) -> Array {
    INFERRED.linspace(interval, count)
}

/// Zeros of the shape and type of `x`, weak if `x` is. An [`Expr`](crate::Expr) gives an `Expr`.
///
/// ```
/// use ndjit::{Array, DType, ones_like, zeros_like};
/// let x = Array::from([1i8, 2]);
/// assert_eq!((zeros_like(&x).dtype(), ones_like(&x).to_vec::<i8>()?), (DType::I8, vec![1, 1]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned if `x` is.
#[track_caller]
pub fn zeros_like<X: UnaryOperand>(x: X) -> X::Out {
    INFERRED.zeros_like(x)
}

/// The Array API's name for [`zeros_like`]: memory is always initialized.
///
/// ```
/// use ndjit::{Array, empty_like};
///
/// assert_eq!(empty_like(Array::from([1i8, 2])).to_vec::<i8>()?, [0, 0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn empty_like<X: UnaryOperand>(x: X) -> X::Out {
    INFERRED.like("empty_like", x, Literal::weak(false), SourceLoc::caller())
}

/// Ones of the shape and type of `x`: see [`zeros_like`].
///
/// ```
/// use ndjit::{Array, ones_like};
///
/// assert_eq!(ones_like(&Array::from([7u8, 8])).to_vec::<u8>()?, [1, 1]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn ones_like<X: UnaryOperand>(x: X) -> X::Out {
    INFERRED.ones_like(x)
}

/// An array filled with one value, of the shape and type of `x`: see [`zeros_like`] and [`full`].
///
/// ```
/// use ndjit::{Array, full_like};
///
/// assert_eq!(full_like(&Array::from([7u8, 8]), 3).to_vec::<u8>()?, [3, 3]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned if `x` is; with `Literal` if the dtype of `x` does not contain the value, as in [`full`].
#[track_caller]
pub fn full_like<X: UnaryOperand>(x: X, fill: impl Number) -> X::Out {
    INFERRED.full_like(x, fill)
}

/// An array from a scalar, a `Vec`, a slice, or an array. Literals are weak, as everywhere; elements of a `Vec` or slice
/// have their Rust type, strong.
///
/// ```
/// use ndjit::{DType, asarray, dtype};
/// assert_eq!(asarray(2).to_string(), "2 i*");
/// assert!(!asarray([2, 3]).is_weak());
/// assert_eq!(dtype(DType::F64).asarray([2, 3]).to_vec::<f64>()?, [2.0, 3.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned with `Literal` if the dtype does not contain a value. Elements are cast as by [`cast`](crate::cast).
#[doc(alias = "array")]
#[doc(alias = "tensor")]
#[doc(alias = "as_tensor")]
#[track_caller]
pub fn asarray(x: impl AsArray) -> Array {
    INFERRED.asarray(x)
}

/// The creation functions with a dtype: see the free functions.
impl Typed {
    /// [`zeros`] of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// let x = dtype(DType::U8).zeros(2);
    /// assert_eq!(x.to_vec::<u8>()?, [0, 0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn zeros(self, shape: impl IntoShape) -> Array {
        make::filled("zeros", self.or_default(), shape.shape(), Literal::weak(false), SourceLoc::caller())
    }

    /// [`ones`] of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// let x = dtype(DType::I64).ones(2);
    /// assert_eq!(x.to_vec::<i64>()?, [1, 1]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn ones(self, shape: impl IntoShape) -> Array {
        make::filled("ones", self.or_default(), shape.shape(), Literal::weak(true), SourceLoc::caller())
    }

    /// [`zeros`](Typed::zeros), as [`empty`].
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// let x = dtype(DType::F64).empty(2);
    /// assert_eq!(x.to_vec::<f64>()?, [0.0, 0.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[doc(alias = "uninit")]
    #[track_caller]
    pub fn empty(self, shape: impl IntoShape) -> Array {
        self.zeros(shape)
    }

    /// [`full`] of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// let x = dtype(DType::U8).full(2, 7);
    /// assert_eq!(x.to_vec::<u8>()?, [7, 7]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[doc(alias = "fill")]
    #[track_caller]
    pub fn full(self, shape: impl IntoShape, fill: impl Number) -> Array {
        let fill = fill.literal();
        make::filled("full", self.or(fill.ty()), shape.shape(), fill, SourceLoc::caller())
    }

    /// [`eye`] of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// let x = dtype(DType::I8).eye(2);
    /// assert_eq!(x.to_vec::<i8>()?, [1, 0, 0, 1]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[doc(alias = "identity")]
    #[track_caller]
    pub fn eye(self, eye: impl IntoEye) -> Array {
        make::diagonal(self.or_default(), eye.eye(), SourceLoc::caller())
    }

    /// [`arange`] of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// let x = dtype(DType::U16).arange(3);
    /// assert_eq!(x.to_vec::<u16>()?, [0, 1, 2]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[doc(alias = "range")]
    #[doc(alias = "iota")]
    #[track_caller]
    pub fn arange(self, steps: impl Steps) -> Array {
        self.counted("arange", steps.steps(), SourceLoc::caller())
    }

    fn counted(self, what: &str, steps: [(Literal, bool); 3], place: SourceLoc) -> Array {
        let given: SmallVec<[Literal; 3]> =
            steps.iter().filter(|(_, given)| *given).map(|(number, _)| *number).collect();
        let types: SmallVec<[ValueType; 3]> = given.iter().map(Literal::ty).collect();
        let [start, stop, step] = steps.map(|(number, _)| number.value());
        let made = Progression::arange(start, stop, step).and_then(|terms| {
            let ty = self.of_numbers(what, TypeRule::Join, &types)?;
            make::kinds(what, ty, given)?;
            make::progression(what, ty, &terms)
        });
        made.unwrap_or_else(|e| Array::poisoned(e.at(place)))
    }

    /// [`linspace`] of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// let x = dtype(DType::F64).linspace(0..=1, 3);
    /// assert_eq!(x.to_vec::<f64>()?, [0.0, 0.5, 1.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn linspace(self, interval: impl Interval, count: usize) -> Array {
        self.between(interval.ends(), count, SourceLoc::caller())
    }

    pub(crate) fn between(self, (ends, endpoint): ([Literal; 2], bool), count: usize, place: SourceLoc) -> Array {
        let [start, stop] = ends.map(|number| number.value());
        let terms = Progression::linspace(start, stop, count, endpoint);
        let made = self
            .of_numbers("linspace", TypeRule::TrueDivide, &ends.map(|number| number.ty()))
            .and_then(|ty| make::inexact("linspace", ty))
            .and_then(|ty| make::progression("linspace", ty, &terms));
        made.unwrap_or_else(|e| Array::poisoned(e.at(place)))
    }

    /// [`zeros_like`] of this dtype.
    ///
    /// ```
    /// use ndjit::{Array, DType, dtype};
    ///
    /// let x = dtype(DType::F64).zeros_like(Array::from([1, 2]));
    /// assert_eq!(x.to_vec::<f64>()?, [0.0, 0.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn zeros_like<X: UnaryOperand>(self, x: X) -> X::Out {
        self.like("zeros_like", x, Literal::weak(false), SourceLoc::caller())
    }

    /// [`empty_like`] of this dtype.
    ///
    /// ```
    /// use ndjit::{Array, DType, dtype};
    ///
    /// assert_eq!(dtype(DType::F64).empty_like(Array::from([1, 2])).dtype(), DType::F64);
    /// ```
    #[track_caller]
    pub fn empty_like<X: UnaryOperand>(self, x: X) -> X::Out {
        self.like("empty_like", x, Literal::weak(false), SourceLoc::caller())
    }

    /// [`ones_like`] of this dtype.
    ///
    /// ```
    /// use ndjit::{Array, DType, dtype};
    ///
    /// let x = dtype(DType::F64).ones_like(Array::from([1, 2]));
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 1.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn ones_like<X: UnaryOperand>(self, x: X) -> X::Out {
        self.like("ones_like", x, Literal::weak(true), SourceLoc::caller())
    }

    /// [`full_like`] of this dtype.
    ///
    /// ```
    /// use ndjit::{Array, DType, dtype};
    ///
    /// let x = dtype(DType::F64).full_like(Array::from([1, 2]), 3);
    /// assert_eq!(x.to_vec::<f64>()?, [3.0, 3.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn full_like<X: UnaryOperand>(self, x: X, fill: impl Number) -> X::Out {
        self.like("full_like", x, fill.literal(), SourceLoc::caller())
    }

    /// [`asarray`] of this dtype.
    ///
    /// ```
    /// use ndjit::{DType, dtype};
    ///
    /// let x = dtype(DType::F64).asarray([1, 2]);
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[doc(alias = "array")]
    #[doc(alias = "tensor")]
    #[doc(alias = "as_tensor")]
    #[track_caller]
    pub fn asarray(self, x: impl AsArray) -> Array {
        let place = SourceLoc::caller();
        match x.source() {
            Source::Number(number) => make::filled("asarray", self.or(number.ty()), Shape::scalar(), number, place),
            Source::Array(array) => {
                let ty = self.or_type(array.value_type(), array.dtype());
                let same = array.error().is_some() || array.value_type() == ty.ty;
                if same { array } else { crate::array::lazy::cast(&array, ty.dtype, place) }
            }
        }
    }

    fn like<X: UnaryOperand>(self, what: &str, x: X, fill: Literal, place: SourceLoc) -> X::Out {
        let made = match x.operand().describe(what) {
            Ok((ty, dtype, shape)) => make::filled(what, self.or_type(ty, dtype), shape, fill, place),
            Err(error) => Array::poisoned(error.at(place)),
        };
        X::Out::constant(made, place)
    }

    /// Returns the requested dtype.
    pub(crate) fn asked(self) -> Option<DType> {
        self.0
    }

    /// Returns the requested dtype, narrowed to the width of the policy.
    pub(crate) fn asked_width(self) -> Option<DType> {
        self.0.map(|dtype| config::policy().width(dtype))
    }

    /// Returns the requested dtype, or the default.
    fn or_default(self) -> ArrayType {
        let asked = self.0.is_some();
        let dtype = config::policy().width(self.0.unwrap_or_else(config::default_dtype));
        ArrayType { ty: dtype.into(), dtype, asked }
    }

    /// Returns the requested dtype, or a value's type.
    fn or(self, number: ValueType) -> ArrayType {
        let policy = config::policy();
        self.or_type(policy.weak_result(number), policy.commit(number))
    }

    /// Returns the requested dtype, or this type, stored as `dtype`.
    fn or_type(self, ty: ValueType, dtype: DType) -> ArrayType {
        let policy = config::policy();
        match (self.0, ty) {
            (Some(dtype), _) => ArrayType::asked(policy.width(dtype)),
            (None, ValueType::Strong(dtype)) => {
                let dtype = policy.width(dtype);
                ArrayType { ty: dtype.into(), dtype, asked: false }
            }
            (None, ValueType::Weak(_)) => ArrayType { ty, dtype, asked: false },
        }
    }

    /// Returns the requested dtype, or the computing dtype of `what` on values of these types. Literals are typed only by
    /// kind, under every policy.
    fn of_numbers(self, what: &str, rule: TypeRule, types: &[ValueType]) -> Result<ArrayType> {
        if self.0.is_some() {
            return Ok(self.or_default());
        }
        let policy = config::policy();
        let bare = |ty: &ValueType| match (ty, rule) {
            (ValueType::Weak(weak), TypeRule::TrueDivide) => Some(Weak::Float.max(*weak)),
            (ValueType::Weak(weak), _) => Some(*weak),
            (ValueType::Strong(_), _) => None,
        };
        let kinds: Option<SmallVec<[Weak; 3]>> = types.iter().map(bare).collect();
        let ty = match kinds.and_then(|kinds| kinds.into_iter().max()) {
            Some(highest) => highest.into(),
            None => policy.common_type(what, rule, types).map_err(|e| {
                let ask = Code::WithDType(what.to_owned().into(), DType::F64);
                e.help(Help::from("give numbers of one dtype, or ask for one, as in ").code(ask))
            })?,
        };
        let dtype = policy.width(policy.commit(ty));
        Ok(ArrayType { ty: dtype.into(), dtype, asked: false })
    }
}
