//! Tensors for other libraries: of buffers, and of any other memory with a Rust owner.

use super::holder::hold;
use super::{DLDataType, DLDevice, DLManagedTensorVersioned, DLTensor, IS_COPIED, ManagedTensor, READ_ONLY, Raw};
use crate::memory::buffer::Buffer;
use crate::memory::element::Element;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc};
use std::ptr::NonNull;
use std::sync::Arc;

/// A tensor of `owner`'s elements from `data` on, with strides in elements.
fn tensor<O: Send + Sync + 'static>(
    data: *mut u8,
    dtype: DType,
    shape: &Shape,
    strides: Vec<i64>,
    flags: u64,
    owner: O,
) -> ManagedTensor {
    // Extents of existing arrays fit: those of empty arrays are checked too.
    let mut extents: Vec<i64> = shape.extents().iter().map(|&extent| extent as i64).collect();
    let mut strides = strides;
    let tensor = DLTensor {
        data: if shape.extents().contains(&0) { std::ptr::null_mut() } else { data.cast() },
        device: DLDevice { device_type: DLDevice::CPU, device_id: 0 },
        ndim: shape.rank() as i32,
        dtype: DLDataType::from(dtype),
        shape: extents.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let managed: *mut DLManagedTensorVersioned = hold(tensor, flags, (extents, strides, owner));
    // SAFETY: a result of `hold` is never null.
    ManagedTensor(Raw::Versioned(unsafe { NonNull::new_unchecked(managed) }))
}

/// Strides in elements of row-major order.
fn row_major(shape: &Shape) -> Vec<i64> {
    shape.contiguous_strides().iter().map(|&stride| stride as i64).collect()
}

/// The first element, if the layout stays within the buffer, and strides in elements.
fn placed(bytes: usize, dtype: DType, shape: &Shape, layout: &Layout) -> Option<(usize, Vec<i64>)> {
    let size = dtype.bytes() as isize;
    let (mut low, mut high) = (layout.offset as i128, layout.offset as i128);
    for (&extent, &stride) in shape.extents().iter().zip(&layout.strides) {
        let reach = stride as i128 * (extent as i128 - 1).max(0);
        (low, high) = if reach < 0 { (low + reach, high) } else { (low, high + reach) };
    }
    let inside = low >= 0 && high + size as i128 <= bytes as i128 || shape.extents().contains(&0);
    let whole = layout.strides.len() == shape.rank() && layout.strides.iter().all(|stride| stride % size == 0);
    let strides = layout.strides.iter().map(|stride| (stride / size) as i64).collect();
    (inside && whole && shape.bytes(dtype.bytes()).is_ok()).then_some((layout.offset, strides))
}

impl ManagedTensor {
    /// A read-only tensor of memory that any value owns, such as a `Vec<f32>` or an `Arc<[f32]>`. `owner` is dropped after the last reader,
    /// on any thread.
    ///
    /// ```
    /// use ndjit_runtime::dlpack::ManagedTensor;
    /// use std::sync::Arc;
    ///
    /// let elements: Arc<[f32]> = Arc::from([1.0, 2.0, 3.0, 4.0]);
    /// let tensor = ManagedTensor::from_owner(Arc::clone(&elements), [2, 2])?;
    /// assert_eq!(tensor.dl_tensor().data.addr(), elements.as_ptr().addr());
    /// drop(tensor);
    /// assert_eq!(Arc::strong_count(&elements), 1);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Shape` if the number of elements differs from the shape's; `Size` if no array can have the shape.
    #[track_caller]
    pub fn from_owner<T, O>(owner: O, shape: impl Into<Shape>) -> Result<ManagedTensor>
    where
        T: Element,
        O: AsRef<[T]> + Send + Sync + 'static,
    {
        let (shape, place) = (shape.into(), SourceLoc::caller());
        // The value does not move from here on: elements may be in it. An `Arc`, unlike a box, does not claim unique access.
        let owner = Arc::new(owner);
        let elements: &[T] = (*owner).as_ref();
        let size = shape.size().map_err(|error| error.of("dlpack").at(place))?;
        if size != elements.len() {
            return Err(Error::new(ErrorCode::Shape, format!("shape {shape} does not hold the data"))
                .of("dlpack")
                .at(place)
                .fact(format_args!("the shape has {size} elements, the data {}", elements.len()))
                .help("give as many elements as the shape has"));
        }
        let data = elements.as_ptr().cast_mut().cast();
        Ok(tensor(data, T::DTYPE, &shape, row_major(&shape), READ_ONLY, owner))
    }

    /// A read-only tensor of a buffer, which may have other readers.
    ///
    /// # Errors
    /// `Argument` if the layout does not fit the buffer.
    #[doc(hidden)]
    pub fn shared(buffer: Arc<Buffer>, dtype: DType, shape: &Shape, layout: &Layout) -> Result<ManagedTensor> {
        let (offset, strides) = placed(buffer.len(), dtype, shape, layout).ok_or_else(|| misplaced(dtype, shape))?;
        let data = buffer.ptr().wrapping_add(offset);
        Ok(tensor(data, dtype, shape, strides, READ_ONLY, buffer))
    }

    /// A tensor of an unshared buffer in row-major order.
    ///
    /// # Errors
    /// `Argument` if the buffer's size differs.
    #[doc(hidden)]
    pub fn owned(mut buffer: Buffer, dtype: DType, shape: &Shape) -> Result<ManagedTensor> {
        if shape.bytes(dtype.bytes())? != buffer.len() {
            return Err(misplaced(dtype, shape));
        }
        let data = buffer.as_bytes_mut()?.as_mut_ptr();
        Ok(tensor(data, dtype, shape, row_major(shape), IS_COPIED, buffer))
    }
}

fn misplaced(dtype: DType, shape: &Shape) -> Error {
    Error::new(ErrorCode::Argument, format!("the elements of {dtype}{shape} are not in the buffer")).of("dlpack")
}
