//! [`Spec`]: type and shape of an argument, without data.

use crate::api::config;
use crate::api::creation::IntoShape;
use crate::array::node::Array;
use ndjit_eval::argument::{ArgumentLayout, ArgumentType};
use ndjit_ir::{DType, Error, Result, Shape, ValueType, Weak};
use std::fmt;

/// Type and shape of an argument, without data. The layout is row-major.
///
/// ```
/// use ndjit::{DType, jit, spec};
///
/// let specs = [spec(DType::F32, [3]), spec(DType::I8, [])];
/// assert_eq!(jit(|x, y| x + y).trace(&specs)?.results(), [spec(DType::F32, [3])]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub(crate) ty: ValueType,
    pub(super) dtype: DType,
    pub(crate) shape: Shape,
    pub(super) scalar: bool,
    /// The error of a poisoned array.
    pub(super) failed: Option<Error>,
}

/// Creates the spec of an array argument from a type (a [`DType`](crate::DType), or weak) and a shape:
/// `spec(DType::F32, [2, 3])`.
///
/// ```
/// use ndjit::{DType, Weak, spec};
///
/// assert_eq!(spec(DType::F32, [2, 3]).to_string(), "f32[2, 3]");
/// assert_eq!(spec(Weak::Int, []).to_string(), "i*[]");
/// ```
pub fn spec(ty: impl Into<ValueType>, shape: impl IntoShape) -> Spec {
    let ty = ty.into();
    Spec { ty, dtype: config::policy().commit(ty), shape: shape.shape(), scalar: false, failed: None }
}

impl Spec {
    /// Creates the spec of a bare number of this kind, passed at each call.
    ///
    /// ```
    /// use ndjit::{DType, Spec, Weak, jit, spec};
    ///
    /// let traced = jit(|x, k| x * k).trace(&[spec(DType::F32, [3]), Spec::number(Weak::Float)])?;
    /// let f = traced.lower()?.compile()?;
    /// assert_eq!(f.call((&[1.0f32, 2.0, 3.0], 0.5))?.to_vec::<f32>()?, [0.5, 1.0, 1.5]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn number(kind: Weak) -> Spec {
        Spec { scalar: true, ..spec(kind, Shape::scalar()) }
    }

    /// Creates the spec of an array. The spec of a poisoned array gives the array's error when used.
    ///
    /// ```
    /// use ndjit::{Array, DType, Spec, spec};
    ///
    /// assert_eq!(Spec::of(&Array::from([1u8, 2])), spec(DType::U8, [2]));
    /// ```
    pub fn of(array: &Array) -> Spec {
        let of = spec(array.value_type(), array.shape().clone());
        Spec { dtype: array.dtype(), failed: array.error().cloned(), ..of }
    }

    /// Returns the type: a dtype, or weak.
    ///
    /// ```
    /// use ndjit::{DType, ValueType, spec};
    ///
    /// assert_eq!(spec(DType::F32, [3]).value_type(), ValueType::Strong(DType::F32));
    /// ```
    pub fn value_type(&self) -> ValueType {
        self.ty
    }

    /// Returns the dtype of the elements; for a weak array, the default of its kind.
    ///
    /// ```
    /// use ndjit::{DType, Spec, Weak};
    ///
    /// assert_eq!(Spec::number(Weak::Float).dtype(), DType::F32);
    /// ```
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the extents of the axes, outermost first.
    ///
    /// ```
    /// use ndjit::{DType, spec};
    ///
    /// assert_eq!(spec(DType::F32, [3, 2]).shape().extents(), [3, 2]);
    /// ```
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Checks whether it is a bare number, passed at each call.
    ///
    /// ```
    /// use ndjit::{DType, Spec, Weak, spec};
    ///
    /// assert!(Spec::number(Weak::Int).is_number() && !spec(DType::F32, []).is_number());
    /// ```
    pub fn is_number(&self) -> bool {
        self.scalar
    }

    pub(crate) fn of_argument(argument: &ArgumentType) -> Spec {
        let ArgumentType { ty, dtype, shape, layout } = argument;
        Spec { ty: *ty, dtype: *dtype, shape: shape.clone(), scalar: *layout == ArgumentLayout::Scalar, failed: None }
    }

    /// Returns the argument that the spec describes.
    ///
    /// # Errors
    /// `Size` if no array can have the shape; the error of a poisoned array.
    pub(crate) fn argument(&self) -> Result<ArgumentType> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.shape.bytes(self.dtype.bytes())?;
        let layout = if self.scalar { ArgumentLayout::Scalar } else { ArgumentLayout::Contiguous };
        Ok(ArgumentType { ty: self.ty, dtype: self.dtype, shape: self.shape.clone(), layout })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failed {
            Some(error) => write!(f, "error[{}]", error.code()),
            None => write!(f, "{}{}", self.ty, self.shape),
        }
    }
}
