//! Fallible allocation for lists whose length the user's values decide. A refusal is an error; an ordinary `Vec` aborts the
//! process.

use crate::error::{Error, ErrorCode, Result};

/// The largest number of results or operations of one call: `unstack` makes an array per index, `diff` an operation per
/// difference. Each takes some hundred bytes, which the array's size does not bound: a broadcast axis has no bytes.
pub const MOST_VALUES: usize = 1 << 20;

/// An empty list with capacity for `count` elements.
///
/// # Errors
/// `Allocation` if memory is refused.
pub fn reserve<T>(what: &str, count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(|_| refused(what, count.saturating_mul(size_of::<T>())))?;
    Ok(list)
}

/// A list of all items, of unknown number.
///
/// # Errors
/// `Allocation` if memory is refused.
pub fn collect<T>(what: &str, items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut list = reserve(what, items.size_hint().0)?;
    for item in items {
        if list.len() == list.capacity() {
            list.try_reserve(1).map_err(|_| refused(what, (list.len() + 1).saturating_mul(size_of::<T>())))?;
        }
        list.push(item);
    }
    Ok(list)
}

/// A list of `count` clones of an element.
///
/// # Errors
/// `Allocation` if memory is refused.
pub fn filled<T: Clone>(what: &str, element: T, count: usize) -> Result<Vec<T>> {
    let mut list = reserve(what, count)?;
    list.resize(count, element);
    Ok(list)
}

/// A copy of a list.
///
/// # Errors
/// `Allocation` if memory is refused.
pub fn copy<T: Clone>(what: &str, items: &[T]) -> Result<Vec<T>> {
    let mut list = reserve(what, items.len())?;
    list.extend_from_slice(items);
    Ok(list)
}

/// The error of a failed allocation.
pub fn refused(what: &str, bytes: usize) -> Error {
    Error::new(ErrorCode::Allocation, "the system refused memory")
        .of(what)
        .fact(format_args!("{bytes} bytes were requested"))
        .help("evaluate in parts, or let go of arrays that are no longer needed")
}

/// Checks that one call makes at most [`MOST_VALUES`] values.
///
/// # Errors
/// `Size` if there are more.
pub fn check_values(what: &str, count: usize) -> Result<()> {
    if count <= MOST_VALUES {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Size, format!("{count} values of one call"))
        .of(what)
        .fact(format_args!("limit: {MOST_VALUES}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_memory_has_no_room_for_is_an_error() {
        assert_eq!(reserve::<u64>("f", usize::MAX).unwrap_err().code(), ErrorCode::Allocation);
        assert_eq!(reserve::<u8>("f", isize::MAX as usize).unwrap_err().headline(), "f: the system refused memory");
        assert_eq!(collect("f", 0..u64::MAX).unwrap_err().code(), ErrorCode::Allocation);
        assert_eq!(collect("f", (0..9).filter(|n| n % 2 == 1)).unwrap(), [1, 3, 5, 7]);
        assert!(reserve::<()>("f", usize::MAX).is_ok());
        assert_eq!(copy("f", &[1, 2]).unwrap(), [1, 2]);
        assert_eq!(filled("f", 7u8, 2).unwrap(), [7, 7]);
        assert_eq!(filled("f", 7u8, usize::MAX).unwrap_err().code(), ErrorCode::Allocation);
    }

    #[test]
    fn one_call_makes_so_many_values() {
        assert!(check_values("f", MOST_VALUES).is_ok());
        assert_eq!(check_values("f", MOST_VALUES + 1).unwrap_err().code(), ErrorCode::Size);
    }
}
