//! Metadata of arrays, available without computation: types, shapes, devices, errors.

use crate::array::node::Array;
use ndjit_eval::array::ArrayRef;
use ndjit_eval::array::node::NODE_LIMIT;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, Shape, ValueType};
use ndjit_runtime::Buffer;
use std::sync::Arc;

impl Array {
    /// The largest number of pending operations. One more runs them.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let mut x = Array::from([0]);
    /// for _ in 0..2 * Array::NODE_LIMIT {
    ///     x = x + 1;
    /// }
    /// assert_eq!(x.item::<i32>()?, 2048);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub const NODE_LIMIT: usize = NODE_LIMIT;

    /// Creates an array from a buffer of exactly `shape` elements of `dtype`.
    pub(crate) fn concrete(ty: impl Into<ValueType>, dtype: DType, shape: Shape, buffer: Arc<Buffer>) -> Array {
        Array(ArrayRef::concrete(ty, dtype, shape, buffer))
    }

    /// Creates a poisoned array.
    pub(crate) fn poisoned(error: Error) -> Array {
        Array(ArrayRef::poisoned(error))
    }

    /// Returns the address that identifies this array.
    pub(crate) fn identity(&self) -> usize {
        self.0.identity()
    }

    /// Returns the error, if the operation of this array failed. This computes nothing, so errors that occur only when
    /// the array [runs](Array::eval) are not included.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode};
    ///
    /// let sum = Array::from([1, 2]) + Array::from([1, 2, 3]);
    /// assert_eq!(sum.error().map(|error| error.code()), Some(ErrorCode::Shape));
    /// assert_eq!(format!("{sum:?}"), "Array(error[shape]: add: shapes [2] and [3] do not broadcast)");
    /// assert!(Array::from([1]).error().is_none());
    /// ```
    pub fn error(&self) -> Option<&Error> {
        self.0.error()
    }

    /// Returns the extents of the axes, outermost first. A poisoned array has those of a scalar.
    ///
    /// ```
    /// use ndjit::zeros;
    ///
    /// assert_eq!(zeros([2, 3]).shape().extents(), [2, 3]);
    /// ```
    pub fn shape(&self) -> &Shape {
        self.0.shape()
    }

    /// Returns the dtype of the elements. A weak array has the default of its kind under the policy at its creation. A
    /// poisoned array has the dtype bool.
    ///
    /// ```
    /// use ndjit::{Array, DType, weak};
    ///
    /// assert_eq!(Array::from([1u8]).dtype(), DType::U8);
    /// assert_eq!(Array::scalar(weak(1)).dtype(), DType::I32);
    /// ```
    pub fn dtype(&self) -> DType {
        self.0.dtype()
    }

    /// Returns the type: a dtype, or weak. A poisoned array has the type bool.
    ///
    /// ```
    /// use ndjit::{Array, DType, ValueType, Weak, asarray};
    ///
    /// assert_eq!(Array::from([1u8]).value_type(), ValueType::Strong(DType::U8));
    /// assert_eq!(asarray(1).value_type(), ValueType::Weak(Weak::Int));
    /// ```
    pub fn value_type(&self) -> ValueType {
        self.0.value_type()
    }

    /// Checks whether the type is weak. As a bare number does, a weak array adopts the dtype of the other operand.
    ///
    /// ```
    /// use ndjit::{Array, asarray};
    ///
    /// assert!(asarray(1).is_weak() && !Array::from([1]).is_weak());
    /// ```
    pub fn is_weak(&self) -> bool {
        self.0.value_type().is_weak()
    }

    /// Returns the device of the elements, computed or not.
    ///
    /// ```
    /// use ndjit::{Array, Device};
    ///
    /// assert_eq!(Array::from([1]).device(), Device::CPU);
    /// ```
    pub fn device(&self) -> Device {
        self.0.device()
    }

    /// Returns the number of elements. A poisoned array has one.
    ///
    /// ```
    /// use ndjit::zeros;
    ///
    /// assert_eq!(zeros([2, 3]).len(), 6);
    /// ```
    pub fn len(&self) -> usize {
        self.0.shape().size().unwrap_or(0)
    }

    /// Checks whether the array has no elements.
    ///
    /// ```
    /// use ndjit::zeros;
    ///
    /// assert!(zeros([2, 0]).is_empty() && !zeros([]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

const _: () = {
    const fn is_shareable<T: Send + Sync>() {}
    is_shareable::<Array>();
};
