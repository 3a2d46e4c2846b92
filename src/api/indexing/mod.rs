//! Indexing by arrays of indices: what is taken from an array, and where in it something is put. Free functions, and methods of the same
//! names on [`Expr`](crate::Expr) and [`Array`](crate::Array). In `x.at(..)` ranges may stand beside indices.
//!
//! # Indices
//! Indices are integers of any dtype; negative ones count from the end, as in NumPy. What happens with an index that the axis does
//! not have is one rule for all functions:
//!
//! - Of an [`Array`](crate::Array) it is an error with code [`Index`](crate::ErrorCode::Index), which names the index. For that, indices
//!   that wait to be computed are computed at once.
//! - In a traced function, where values are not known, what is *taken* is taken from the nearest index there is; what is *put* at such a
//!   index is dropped. [`At::get_or`] takes a given number there instead.
//!
//! # How it runs
//! A gather is a statement of a fused kernel: indices are computed and what is taken is used where it is taken, nothing is stored
//! between. The array that is taken from is stored, if it is not an argument.

mod at;
mod checked;
mod dynamic_slices;
mod indices;
mod masks;
mod prefixes;
mod rows;
mod search;
mod take;

pub use at::At;
pub(crate) use checked::{counting, index_dtype};
pub use dynamic_slices::slice_dynamic;
pub use indices::{ArrayIndex, ArrayIndices, DynamicRange, Indices, IntoIndex, dynamic_range};
pub use prefixes::prefix;
pub(crate) use rows::rows;
pub(crate) use search::searched;
pub use search::{Side, searchsorted};
pub(crate) use take::{each_found, taken};
pub use take::{take, take_along_axis};
