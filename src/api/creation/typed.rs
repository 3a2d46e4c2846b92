//! [`dtype`]: functions with a requested dtype.

use ndjit_ir::DType;

/// Creation functions and [reductions](crate::reductions) with a requested dtype: made by [`dtype`].
///
/// ```
/// use ndjit::{DType, dtype};
///
/// let doubles = dtype(DType::F64);
/// assert_eq!(doubles.ones(2).sum(..).dtype(), DType::F64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Typed(pub(crate) Option<DType>);

/// Creation functions and reductions with this dtype. With 64-bit types off (see [`Policy::width`](crate::Policy::width))
/// 64-bit dtypes become 32-bit ones.
///
/// ```
/// use ndjit::{DType, dtype};
///
/// let bytes = dtype(DType::U8);
/// let (x, y) = (bytes.zeros([2, 3]), bytes.arange(5));
/// assert_eq!((x.dtype(), y.to_vec::<u8>()?), (DType::U8, vec![0, 1, 2, 3, 4]));
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn dtype(dtype: DType) -> Typed {
    Typed(Some(dtype))
}

/// The receiver behind the free functions.
pub(crate) const INFERRED: Typed = Typed(None);
