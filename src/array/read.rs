//! Reading arrays, which runs pending operations.

use crate::array::node::Array;
use ndjit_eval::array::{ArrayRef, Elements};
use ndjit_eval::lazy::evaluate;
use ndjit_inspect::explain::Explanation;
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result};
use ndjit_runtime::{Buffer, Element, Memory};
use std::sync::Arc;

impl Array {
    /// Returns the elements, computed first if pending.
    pub(crate) fn elements(&self) -> Result<&Elements> {
        self.0.elements()
    }

    /// Returns the elements in row-major order on the array's device. Strided elements are copied once.
    pub(crate) fn memory(&self) -> Result<&Memory> {
        self.0.memory()
    }

    /// Returns the elements in row-major order in host memory.
    pub(crate) fn buffer(&self) -> Result<Arc<Buffer>> {
        self.0.buffer()
    }

    /// Copies the array to a device. Returns the array itself if it is there. Pending operations run on the current
    /// device first, and the copy starts at once. An error gives a poisoned array. Operations run on the device of
    /// their arrays and leave their results there. Reading copies elements to the host.
    ///
    /// ```
    /// use ndjit::{Array, Device};
    ///
    /// let x = Array::from([1.0f32, 2.0]).on(Device::gpu());
    /// match (&x * 2).to_vec::<f32>() {
    ///     Ok(elements) => assert_eq!(elements, [2.0, 4.0]),
    ///     // There is no GPU, or this was built without the feature `gpu`.
    ///     Err(error) => assert_eq!(error.code(), ndjit::ErrorCode::Device),
    /// }
    /// ```
    #[track_caller]
    pub fn on(&self, device: Device) -> Array {
        if self.device() == device || self.error().is_some() {
            return self.clone();
        }
        let place = ndjit_ir::SourceLoc::caller();
        match self.memory().and_then(|memory| memory.on(device)) {
            Ok(memory) => Array(ArrayRef::in_memory(self.value_type(), self.dtype(), self.shape().clone(), memory)),
            Err(error) => Array::poisoned(if error.place().is_some() { error } else { error.at(place) }),
        }
    }

    /// Runs pending operations, and waits until the elements are computed. A GPU computes asynchronously. Reading waits
    /// anyway, so this method serves to measure time. The method of this name in JAX does the same.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from([1.0f32, 2.0]);
    /// assert_eq!((&x * 2).block_until_ready()?.to_vec::<f32>()?, [2.0, 4.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Array::eval); `Device` if the device is lost or does not respond.
    pub fn block_until_ready(&self) -> Result<&Array> {
        self.memory()?.wait()?;
        Ok(self)
    }

    /// Starts a copy of the elements to host memory, without waiting; the next read of the array uses it. Runs pending
    /// operations. It has no effect on an array in host memory. The method of this name in JAX does the same.
    ///
    /// ```
    /// use ndjit::{Array, Device};
    ///
    /// let x = Array::from([1.0f32, 2.0]).on(Device::gpu());
    /// let (y, z) = (&x * 2, &x + 1);
    /// if y.copy_to_host_async().is_ok() && z.copy_to_host_async().is_ok() {
    ///     // Both copies are under way.
    ///     assert_eq!((y.to_vec::<f32>()?, z.to_vec::<f32>()?), (vec![2.0, 4.0], vec![2.0, 3.0]));
    /// }
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Array::eval); `Device` if the device is lost.
    pub fn copy_to_host_async(&self) -> Result<()> {
        let reading = self.memory()?.reading()?;
        *self.elements()?.coming.lock() = reading;
        Ok(())
    }

    /// Explains the dtype of the array: the pending operations, back to the arrays and numbers that decided it.
    /// Operations that have run are not recorded, so an evaluated array is only described as data.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from([1u8, 2]);
    /// assert!((&x / 2).explain_dtype()?.to_string().ends_with("join u8 ∨ i* = u8; u8 becomes the float f32"));
    /// assert_eq!(x.explain_dtype()?.to_string(), "u8 held as data");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error, if the operation that made this array failed.
    pub fn explain_dtype(&self) -> Result<Explanation> {
        evaluate::explain(&self.0)
    }

    /// Runs pending operations, as reading does. A GPU may still be computing on return.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode};
    ///
    /// let x = Array::from([1.0f32, 2.0]);
    /// let sum = &x + 1;
    /// assert_eq!(sum.eval()?.to_string(), "[2. 3.]");
    /// assert_eq!((&x + Array::from([1, 2, 3])).eval().unwrap_err().code(), ErrorCode::Shape);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the recorded operations; `Allocation` if an allocation fails.
    pub fn eval(&self) -> Result<&Array> {
        self.memory().map(|_| self)
    }

    /// Copies the elements in row-major order.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode};
    ///
    /// let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.mt().to_vec::<f32>()?, [1.0, 3.0, 2.0, 4.0]);
    /// assert_eq!(x.to_vec::<f64>().unwrap_err().code(), ErrorCode::DType);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `DType` if the dtype is not `T`'s; those of [`eval`](Array::eval).
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("to_vec")?;
        ndjit_runtime::pod::read(self.buffer()?.as_bytes())
    }

    /// Copies the bytes of the elements in row-major order, in the byte order of the machine.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// assert_eq!(Array::from([1u8, 2]).to_bytes()?, [1, 2]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`eval`](Array::eval).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        ndjit_runtime::pod::read(self.buffer()?.as_bytes())
    }

    /// Returns the elements in row-major order. The vector reuses the array's memory if it came from a `Vec<T>` and has
    /// no other users; otherwise the elements are copied.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from(vec![1.0f32, 2.0]);
    /// assert_eq!(x.into_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`to_vec`](Array::to_vec).
    #[track_caller]
    pub fn into_vec<T: Element>(self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("into_vec")?;
        self.into_buffer()?.into_vec()
    }

    /// Returns the buffer. It has one owner if the array had one.
    pub(crate) fn into_buffer(self) -> Result<Arc<Buffer>> {
        let buffer = self.buffer()?;
        drop(self);
        Ok(buffer)
    }

    /// Returns the element of an array with one element.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// assert_eq!(Array::from([1, 2, 3]).sum(..).item::<i32>()?, 6);
    /// assert!(Array::from([1, 2]).item::<i32>().is_err());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Shape` for another number of elements; those of [`to_vec`](Array::to_vec).
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        self.expect_dtype::<T>("item")?;
        let place = ndjit_ir::SourceLoc::caller();
        if self.len() != 1 {
            return Err(Error::new(ErrorCode::Shape, format!("the array has {} elements, not one", self.len()))
                .of("item")
                .at(place)
                .fact(format_args!("the array: {}{}", self.value_type(), self.shape()))
                .help("`to_vec` reads all elements"));
        }
        let misfit =
            || Error::new(ErrorCode::Argument, format!("its bytes are not an element of {}", T::DTYPE)).of("item");
        ndjit_runtime::pod::element(self.buffer()?.as_bytes(), 0).ok_or_else(|| misfit().at(place))
    }

    #[track_caller]
    fn expect_dtype<T: Element>(&self, what: &str) -> Result<()> {
        let dtype = self.dtype();
        if let Some(error) = self.error() {
            return Err(error.clone());
        }
        if dtype == T::DTYPE {
            return Ok(());
        }
        Err(Error::new(ErrorCode::DType, format!("the elements are {dtype}, not {}", T::DTYPE))
            .of(what)
            .at(ndjit_ir::SourceLoc::caller())
            .fact(format_args!("the array: {}{}", self.value_type(), self.shape()))
            .help(format!("read `{}`, or convert with `.cast(DType::{:?})`", dtype.row().rust, T::DTYPE)))
    }
}
