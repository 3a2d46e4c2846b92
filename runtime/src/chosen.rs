//! Indices that depend on values: where a mask is true, and which group of equal elements each is of. How many there are is known only
//! when it is done, so no kernel does it.

use crate::memory::pool::reserve;
use ndjit_ir::{Error, ErrorCode, Result};

/// The indices at which a mask is true, in order.
///
/// # Errors
/// `Allocation` if memory is refused.
pub fn indices(truths: &[bool]) -> Result<Vec<i64>> {
    let mut found = reserve("positions", truths.iter().filter(|truth| **truth).count())?;
    found.extend((0i64..).zip(truths).filter(|(_, truth)| **truth).map(|(position, _)| position));
    Ok(found)
}

/// Which group each element is of, where groups lie beside each other once elements are in `order`: `begins` says which of those begins
/// one.
///
/// # Errors
/// `Argument` for an order that is none; `Allocation` if memory is refused.
pub fn groups(begins: &[bool], order: &[i64]) -> Result<Vec<i64>> {
    let mut groups = reserve("positions", order.len())?;
    groups.resize(order.len(), 0);
    let mut group = -1;
    for (&begins, &position) in begins.iter().zip(order) {
        group += i64::from(begins);
        let missing = || Error::new(ErrorCode::Argument, format!("groups: there is no element {position}"));
        *usize::try_from(position).ok().and_then(|at| groups.get_mut(at)).ok_or_else(missing)? = group;
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_and_grouped() {
        assert_eq!(indices(&[true, false, true]).unwrap(), [0, 2]);
        assert_eq!(indices(&[]).unwrap(), [] as [i64; 0]);
        assert_eq!(groups(&[true, false, true], &[2, 0, 1]).unwrap(), [0, 1, 0]);
        for wrong in [-1, 3, i64::MAX, i64::MIN] {
            assert_eq!(groups(&[true], &[wrong]).unwrap_err().code(), ErrorCode::Argument);
        }
    }
}
