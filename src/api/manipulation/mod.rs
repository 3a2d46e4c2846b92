//! Manipulation functions: views and joins of arrays. Free functions, and methods of the same names on [`Expr`](crate::Expr)
//! and [`Array`](crate::Array).
//!
//! A view is never a copy. For an evaluated [`Array`](crate::Array) it is the same memory with other strides. Lazy arrays
//! and values of a traced function are computed in the order of use. Only a [`reshape`] may need a copy, if no strides can
//! express the new shape: the kernels then list one that copies.
//!
//! Types: views keep the type of their operand, weak or not. Joined arrays are cast to their common dtype.

mod joins;
mod pad;
mod repeats;
mod slices;
mod views;

pub use joins::{concat, roll, stack, tril, triu};
pub use pad::{Pad, Widths, pad};
pub use repeats::{repeat, tile};
pub use slices::{Ellipsis, IntoRange, IntoSlice, IntoSlices, NewAxis, Slice, Step, step, step_by};
pub(crate) use views::reshaped;
pub use views::{
    broadcast_arrays, broadcast_shapes, broadcast_to, diagonal, expand_dims, flip, matrix_transpose, moveaxis,
    permute_dims, reshape, slice, sliding_window, squeeze, swapaxes, unstack,
};

pub(crate) use joins::{joined, part};
pub(crate) use views::{refused, seen};
