//! Element slices as bytes to write to, and bytes as elements: the safe side of [`Element`] that needs no buffer.

use crate::element::Element;
use ndjit_ir::{DType, Error, ErrorCode, Result};

/// The bytes of elements, to write to. `None` for `bool`, of which not all bytes are values: write to bytes of your own and
/// [`read`] them.
pub fn bytes_of_mut<T: Element>(elements: &mut [T]) -> Option<&mut [u8]> {
    if T::DTYPE == DType::Bool {
        return None;
    }
    // SAFETY: every dtype but bool has one Rust type, without padding, of which every bit pattern is a value; a slice's size
    // fits `isize`; the borrow is exclusive and passes on to the result.
    Some(unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) })
}

/// The elements in `bytes`, of any alignment.
///
/// # Errors
/// `Argument` if the bytes are no whole number of elements or not values of `T` (a byte above 1 for `bool`); `Allocation`
/// if memory is refused.
pub fn read<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
    let count = bytes.len() / size_of::<T>();
    if !bytes.len().is_multiple_of(size_of::<T>()) || !T::valid(bytes) {
        return Err(Error::new(ErrorCode::Argument, format!("array: its bytes are not elements of {}", T::DTYPE))
            .fact(format_args!("{} bytes; an element takes {}", bytes.len(), size_of::<T>())));
    }
    let mut elements: Vec<T> = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| {
        Error::new(ErrorCode::Allocation, "array: the system refused memory for a copy")
            .fact(format_args!("{} bytes were asked for", bytes.len()))
    })?;
    // SAFETY: the new memory holds at least `count` elements, cannot overlap `bytes`, and the bytes are values of `T`.
    unsafe {
        elements.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        elements.set_len(count);
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::bytes_of;

    #[test]
    fn bytes_go_out_and_in() {
        let mut x = [1.5f32, -0.0];
        bytes_of_mut(&mut x).unwrap()[3] = 0xBF;
        assert_eq!(x[0], -1.5);
        assert_eq!(read::<f32>(bytes_of(&x)).unwrap(), x);
        assert_eq!(read::<u16>(&[1, 0, 2, 0]).unwrap(), [1, 2]);
        assert!(read::<u16>(&[1, 0, 2]).is_err());
    }

    #[test]
    fn a_bool_is_0_or_1() {
        assert!(bytes_of_mut(&mut [true]).is_none());
        assert_eq!(read::<bool>(&[0, 1]).unwrap(), [false, true]);
        assert_eq!(read::<bool>(&[2]).unwrap_err().code(), ErrorCode::Argument);
    }
}
