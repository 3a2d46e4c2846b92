//! Mutable element slices as bytes, and bytes as elements: the safe part of [`Element`], without buffers.

use crate::memory::element::Element;
use crate::memory::pool::reserve;
use ndjit_ir::{DType, Error, ErrorCode, Result};

/// Mutable elements.
#[derive(Debug)]
pub enum ElementsMut<'a> {
    /// As bytes, for dtypes whose bytes are all values.
    Bytes(&'a mut [u8]),
    /// Bools, whose bytes are restricted.
    Truths(&'a mut [bool]),
}

/// A mutable slice as its bytes, or as bools.
pub fn elements_mut<T: Element>(elements: &mut [T]) -> ElementsMut<'_> {
    let (pointer, len) = (elements.as_mut_ptr(), elements.len());
    if T::DTYPE == DType::Bool {
        // SAFETY: a dtype has one Rust type, so these are `bool`s; the borrow is exclusive and passes on to the result.
        return ElementsMut::Truths(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), len) });
    }
    // SAFETY: every dtype but bool has one Rust type, without padding, for which every bit pattern is a value; a slice's
    // size fits `isize`; the borrow is exclusive and passes on to the result.
    ElementsMut::Bytes(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), len * size_of::<T>()) })
}

/// The elements in `bytes`, of any alignment.
///
/// # Errors
/// `Argument` if the bytes are not a whole number of elements or not values of `T` (a byte above 1 for `bool`); `Allocation`
/// if memory is refused.
pub fn read<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
    let count = bytes.len() / size_of::<T>();
    if !bytes.len().is_multiple_of(size_of::<T>()) || !T::valid(bytes) {
        return Err(Error::new(ErrorCode::Argument, format!("its bytes are not elements of {}", T::DTYPE))
            .of("array")
            .fact(format_args!("{} bytes; an element takes {}", bytes.len(), size_of::<T>())));
    }
    let mut elements: Vec<T> = reserve("array", count)?;
    // SAFETY: the new memory has room for at least `count` elements, cannot overlap `bytes`, and the bytes are values of
    // `T`.
    unsafe {
        elements.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        elements.set_len(count);
    }
    Ok(elements)
}

/// The element with this index in `bytes`, of any alignment; `None` if out of bounds or not a value of `T`.
pub fn element<T: Element>(bytes: &[u8], index: usize) -> Option<T> {
    element_at(bytes, index.checked_mul(size_of::<T>())?)
}

/// The element at byte offset `start`, likewise.
pub fn element_at<T: Element>(bytes: &[u8], start: usize) -> Option<T> {
    let own = bytes.get(start..)?.get(..size_of::<T>())?;
    // SAFETY: the bytes of one element, which are a value of `T`.
    T::valid(own).then(|| unsafe { own.as_ptr().cast::<T>().read_unaligned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::element::bytes_of;

    #[test]
    fn bytes_go_out_and_in() {
        let mut x = [1.5f32, -0.0];
        let ElementsMut::Bytes(bytes) = elements_mut(&mut x) else { panic!("no bytes") };
        bytes[3] = 0xBF;
        assert_eq!(x[0], -1.5);
        assert_eq!(read::<f32>(bytes_of(&x)).unwrap(), x);
        assert_eq!(read::<u16>(&[1, 0, 2, 0]).unwrap(), [1, 2]);
        assert!(read::<u16>(&[1, 0, 2]).is_err());
    }

    #[test]
    fn a_bool_is_0_or_1() {
        let mut truths = [true, true];
        let ElementsMut::Truths(elements) = elements_mut(&mut truths) else { panic!("bytes") };
        elements[1] = false;
        assert_eq!(truths, [true, false]);
        assert_eq!(read::<bool>(&[0, 1]).unwrap(), [false, true]);
        assert_eq!(read::<bool>(&[2]).unwrap_err().code(), ErrorCode::Argument);
    }
}
