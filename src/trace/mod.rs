//! Tracing: a closure on expressions becomes a graph. Expressions ([`expr`]) and other operands ([`operand`]) are data;
//! the recorder ([`recorder`]) has the traces of this thread, and records operations ([`compute`], [`cast`],
//! [`inner`]).

pub(crate) mod arity;
mod arrange;
pub(crate) mod call;
mod capture;
pub(crate) mod captures;
pub(crate) mod cast;
mod compute;
pub(crate) mod derive;
pub(crate) mod escape;
pub mod expr;
pub(crate) mod failure;
pub(crate) mod inner;
pub(crate) mod int_ranges;
pub(crate) mod known;
pub mod operand;
pub(crate) mod print;
pub(crate) mod ranges;
pub(crate) mod recorder;
pub(crate) mod recording;
pub(crate) mod replay;
pub(crate) mod scalar;
mod value;
mod within;
pub mod written;
