//! Indexing by arrays of indices: gather and scatter. Free functions, and methods of the same names on [`Expr`](crate::Expr)
//! and [`Array`](crate::Array). `x.at(..)` also takes ranges beside indices.
//!
//! # Indices
//! Indices are integers of any dtype; negative ones count from the end, as in NumPy. All functions handle an index out of
//! range by the same rule:
//!
//! - For an [`Array`](crate::Array) it is an error with code [`Index`](crate::ErrorCode::Index), which names the index. Lazy
//!   indices are therefore computed at once.
//! - In a traced function, where values are unknown, a *gather* clamps it to the nearest index; a *scatter* drops the
//!   update. [`At::get_or`] takes a fill value instead.
//!
//! # How it runs
//! A gather is a statement of a fused kernel: indices are computed and elements used in place, without temporaries. The
//! source array is stored, unless it is an argument.

mod at;
mod checked;
mod dynamic_slices;
mod indices;
mod masks;
mod prefixes;
mod rows;
mod search;
mod starts;
mod take;

pub use at::At;
pub(crate) use checked::{counting, index_dtype};
pub use dynamic_slices::slice_dynamic;
pub use indices::{ArrayIndex, ArrayIndices, DynamicRange, Index, Indices, IntoIndex, dynamic_range};
pub use prefixes::prefix;
pub(crate) use rows::{INDEXED_UPDATES, rows};
pub(crate) use search::searched;
pub use search::{Side, searchsorted};
pub(crate) use take::{each_found, taken};
pub use take::{take, take_along_axis};
