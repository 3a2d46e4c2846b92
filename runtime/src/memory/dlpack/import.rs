//! Tensors of other libraries as buffers: shared if their elements are aligned and without gaps, otherwise copied.

use super::{DLTensor, ManagedTensor};
use crate::memory::buffer::{Buffer, Writable};
use crate::memory::element::Element;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use smallvec::SmallVec;
use std::ptr::NonNull;
use std::sync::Arc;

/// The maximum rank of a tensor. NumPy and PyTorch allow 64; a greater number is a corrupt structure.
const MAX_RANK: i32 = 64;

/// The elements of a tensor.
#[derive(Debug)]
pub struct Imported {
    /// Their dtype.
    pub dtype: DType,
    /// The extents of the axes.
    pub shape: Shape,
    /// Their memory: shared with the tensor's library, or a copy.
    pub buffer: Arc<Buffer>,
    /// Their layout in the buffer; `None` for all of it in row-major order.
    pub layout: Option<Layout>,
}

impl ManagedTensor {
    /// The elements: copied always, never, or if they have gaps or are unaligned, as `copy` says.
    ///
    /// # Errors
    /// `DType` for elements without a dtype; `Device` for memory that the processor cannot read; `Shape` and `Size` for invalid extents and
    /// strides; `Argument` for null data, for invalid bools, and if a copy is needed but not allowed; `Allocation` if memory for it is
    /// refused.
    #[doc(hidden)]
    pub fn import(self, copy: Option<bool>) -> Result<Imported> {
        let placed = ImportedTensor::of(self.dl_tensor())?;
        let ImportedTensor { dtype, ref shape, ref strides, first, span } = placed;
        if shape.extents().contains(&0) {
            return Ok(Imported { dtype, shape: shape.clone(), buffer: Arc::new(Buffer::zeroed(0)?), layout: None });
        }
        let obstacle = placed.obstacle();
        let buffer = match (copy, obstacle) {
            (Some(false), Some(obstacle)) => {
                return Err(Error::new(ErrorCode::Argument, format!("{obstacle}, so that they must be copied"))
                    .of("dlpack")
                    .fact(format_args!("the tensor: {dtype}{shape}, strides of {strides:?} bytes"))
                    .help("ask for a copy where one is needed, with `None`"));
            }
            (None | Some(false), None) => {
                // SAFETY: the data is not null. The tensor's library promises that its elements are initialised and not written during its
                // lifetime. Without gaps, the bytes from the lowest on are elements only.
                unsafe { Buffer::foreign(NonNull::new_unchecked(first.wrapping_sub(span.before)), span.bytes, self) }
            }
            (Some(true), _) | (None, Some(_)) => placed.copied()?,
        };
        if dtype == DType::Bool && !bool::valid(buffer.as_bytes()) {
            return Err(Error::new(ErrorCode::Argument, "bools that are neither 0 nor 1").of("dlpack"));
        }
        let shared = buffer.is_foreign();
        let row_major = row_major(shape, dtype);
        let layout = Layout { offset: span.before, strides: strides.clone() };
        let in_order = buffer.len() == shape.bytes(dtype.bytes())? && row_major.same_elements(&layout, shape);
        let layout = (shared && !in_order).then_some(layout);
        Ok(Imported { dtype, shape: shape.clone(), buffer: Arc::new(buffer), layout })
    }
}

/// The bytes from the lowest element of a tensor to the end of the highest.
#[derive(Clone, Copy, Default)]
struct ByteSpan {
    /// Bytes before the first element.
    before: usize,
    bytes: usize,
}

/// Layout of a tensor's elements.
struct ImportedTensor {
    dtype: DType,
    shape: Shape,
    /// In bytes; for axes of extent 1 those of row-major order.
    strides: SmallVec<[isize; 4]>,
    /// The element at index 0.
    first: *mut u8,
    span: ByteSpan,
}

impl ImportedTensor {
    /// Reads a tensor's fields. Overflow is an error.
    fn of(tensor: &DLTensor) -> Result<ImportedTensor> {
        let dtype = tensor.dtype.dtype().ok_or_else(|| {
            Error::new(ErrorCode::DType, format!("elements are {}", tensor.dtype))
                .of("dlpack")
                .fact(format_args!("dtypes: {}", DType::ALL.map(DType::name).join(" ")))
                .help("convert them to one of these where they come from")
        })?;
        if !tensor.device.is_host() {
            return Err(Error::new(ErrorCode::Device, format!("the memory is on {}", tensor.device))
                .of("dlpack")
                .help("copy it to the host's memory where it comes from, as `x.cpu()` of PyTorch does"));
        }
        let shape = extents(tensor)?;
        let row_major = row_major(&shape, dtype);
        shape.bytes(dtype.bytes()).map_err(|error| error.of("dlpack"))?;
        let strides = match numbers(tensor.strides, shape.rank()) {
            None => row_major.strides,
            Some(numbers) => {
                let stride = |n: usize| match shape.extents()[n] {
                    0 | 1 => Some(row_major.strides[n]),
                    _ => isize::try_from(numbers[n]).ok()?.checked_mul(dtype.bytes() as isize),
                };
                let strides: Option<_> = (0..shape.rank()).map(stride).collect();
                strides.ok_or_else(|| too_large("strides", tensor, &shape))?
            }
        };
        let mut placed = ImportedTensor { dtype, shape, strides, first: tensor.data.cast(), span: ByteSpan::default() };
        if placed.shape.extents().contains(&0) {
            return Ok(placed);
        }
        if tensor.data.is_null() {
            return Err(Error::new(ErrorCode::Argument, "elements without memory: its pointer is null")
                .of("dlpack")
                .fact(format_args!("the tensor: {dtype}{}", placed.shape)));
        }
        let (first, span) = placed.reach(tensor).ok_or_else(|| too_large("elements", tensor, &placed.shape))?;
        (placed.first, placed.span) = (first, span);
        Ok(placed)
    }

    /// The first element, and the bytes of all; `None` if some are outside the address space.
    fn reach(&self, tensor: &DLTensor) -> Option<(*mut u8, ByteSpan)> {
        let (mut before, mut behind) = (0isize, 0isize);
        for (&extent, &stride) in self.shape.extents().iter().zip(&self.strides) {
            let reach = isize::try_from(extent).ok()?.checked_sub(1)?.checked_mul(stride)?;
            (before, behind) = match reach < 0 {
                true => (before.checked_sub(reach)?, behind),
                false => (before, behind.checked_add(reach)?),
            };
        }
        let bytes = before.checked_add(behind)?.checked_add(self.dtype.bytes() as isize)?;
        let offset = usize::try_from(tensor.byte_offset).ok()?;
        let first = tensor.data.addr().checked_add(offset)?;
        let low = first.checked_sub(before.unsigned_abs())?;
        low.checked_add(bytes.unsigned_abs())?;
        // No element is at null.
        (low > 0).then_some(())?;
        let span = ByteSpan { before: before.unsigned_abs(), bytes: bytes.unsigned_abs() };
        Some((tensor.data.cast::<u8>().wrapping_add(offset), span))
    }

    /// The reason why the elements cannot be shared.
    fn obstacle(&self) -> Option<&'static str> {
        let word = self.dtype.storage().first().map_or(1, |word| word.bytes());
        if !self.first.addr().is_multiple_of(word) {
            return Some("elements are not aligned");
        }
        // Axes by ascending stride: there are no gaps if no stride exceeds the span of the previous axes.
        let mut axes: SmallVec<[(usize, usize); 4]> =
            self.shape.extents().iter().zip(&self.strides).map(|(&n, &stride)| (stride.unsigned_abs(), n)).collect();
        axes.sort_unstable();
        let mut covered = self.dtype.bytes();
        for (stride, extent) in axes {
            if extent > 1 && stride > covered {
                return Some("there are gaps between the elements");
            }
            // At most the span, which fits.
            covered += stride * (extent - 1);
        }
        None
    }

    /// A copy of the elements in row-major order.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    fn copied(&self) -> Result<Buffer> {
        let mut memory = Writable::new(self.shape.bytes(self.dtype.bytes())?)?;
        let copy = match self.dtype.bytes() {
            1 => copy::<1>,
            2 => copy::<2>,
            4 => copy::<4>,
            8 => copy::<8>,
            _ => copy::<16>,
        };
        // SAFETY: elements of these strides are initialised and within the tensor's memory, by its library's promise; the fresh memory has
        // room for all of them and is written completely.
        unsafe {
            copy(self.first, self.shape.extents(), &self.strides, memory.ptr());
            Ok(memory.assume_written())
        }
    }
}

/// Copies elements of `N` bytes, of any alignment, into row-major order.
///
/// # Safety
/// The elements from `from` on with these strides in bytes are readable, and as many from `to` on writable, without overlap.
unsafe fn copy<const N: usize>(from: *const u8, extents: &[usize], strides: &[isize], to: *mut u8) {
    let (Some((&row, outer)), Some((&step, outer_strides))) = (extents.split_last(), strides.split_last()) else {
        // SAFETY: one element, by the caller's promise.
        return unsafe { to.copy_from_nonoverlapping(from, N) };
    };
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
    let (mut from, mut to) = (from, to.cast::<[u8; N]>());
    loop {
        let mut element = from;
        for _ in 0..row {
            // SAFETY: an element of the row, and its destination, by the caller's promise; byte arrays have no alignment.
            unsafe {
                to.write(element.cast::<[u8; N]>().read());
                to = to.add(1);
            }
            element = element.wrapping_offset(step);
        }
        let mut axis = outer.len();
        loop {
            let Some(next) = axis.checked_sub(1) else { return };
            axis = next;
            index[axis] += 1;
            if index[axis] < outer[axis] {
                from = from.wrapping_offset(outer_strides[axis]);
                break;
            }
            index[axis] = 0;
            from = from.wrapping_offset(-(outer_strides[axis] * (outer[axis] as isize - 1)));
        }
    }
}

/// The extents of a tensor's axes.
fn extents(tensor: &DLTensor) -> Result<Shape> {
    let wrong = |what: String| Error::new(ErrorCode::Shape, what).of("dlpack");
    let rank = tensor.ndim;
    let count = usize::try_from(rank).ok().filter(|_| rank <= MAX_RANK);
    let count = count.ok_or_else(|| wrong(format!("a tensor of {rank} axes")).fact("there are 0 to 64"))?;
    let numbers = match (count, numbers(tensor.shape, count)) {
        (0, _) => SmallVec::new(),
        (_, Some(numbers)) => numbers,
        (_, None) => return Err(wrong(format!("a tensor of {rank} axes without extents"))),
    };
    let extent = |(axis, &number): (usize, &i64)| {
        usize::try_from(number).map_err(|_| wrong(format!("axis {axis} has the extent {number}")))
    };
    numbers.iter().enumerate().map(extent).collect::<Result<Vec<usize>>>().map(Shape::from)
}

/// The integers at a tensor's pointer; `None` for null.
fn numbers(pointer: *const i64, count: usize) -> Option<SmallVec<[i64; 4]>> {
    // SAFETY: the tensor's library promises `ndim` integers at its pointers that are not null; `count` is that number.
    (!pointer.is_null()).then(|| (0..count).map(|n| unsafe { pointer.add(n).read() }).collect())
}

fn row_major(shape: &Shape, dtype: DType) -> Layout {
    let strides = shape.contiguous_strides().into_iter().map(|stride| stride.saturating_mul(dtype.bytes() as isize));
    Layout { offset: 0, strides: strides.collect() }
}

fn too_large(what: &str, tensor: &DLTensor, shape: &Shape) -> Error {
    Error::new(ErrorCode::Size, format!("{what} beyond what memory can address"))
        .of("dlpack")
        .fact(format_args!("the tensor: {}{shape}", tensor.dtype))
}
