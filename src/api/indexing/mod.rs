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
mod indices;
mod positions;
mod search;
mod take;

pub use at::At;
pub use indices::{ArrayIndex, ArrayIndices, Indices, IntoIndex};
pub(crate) use positions::{counting, index_dtype};
pub use search::{Side, searchsorted};
pub(crate) use take::{each_found, taken};
pub use take::{take, take_along_axis};

use crate::api::manipulation::Movement;
use crate::trace::operand::{AnyOperand, Computed};
use ndjit_ir::infer::Operation;
use ndjit_ir::{Error, ErrorCode, Place, Shape};

/// Of each row of `x` the element at an index: rows lie along its first axis.
pub(crate) fn rows<R: Computed>(what: &'static str, x: AnyOperand, index: AnyOperand, place: Place) -> R {
    R::movement(&Movement { what, of: &|_| Ok(Operation::Gather) }, &[x, index], place)
}

/// Of an array without indices none can be taken, also where the nearest would be.
fn no_positions(shape: &Shape) -> Error {
    Error::new(ErrorCode::Shape, format!("an array of shape {shape} has no element to take"))
        .help("give the array elements along the axis, or no indices; `x.at(i).get_or(number)` takes the number")
}
