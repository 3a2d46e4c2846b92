//! Expressions over arrays: Python's operators and precedence, NumPy's and the Array API's names. [`parse`] reads one, [`Expression`]
//! prints it with all parentheses, [`trace`] makes a program of it.
//!
//! Nothing here recurses: what is read is a list of [`Node`]s, operands before what uses them, and neither its length nor its depth can
//! exhaust the stack. What an expression names is a closed set of operations, so it can do no more than compute.

mod arguments;
mod compute;
mod dtypes;
mod error;
mod index;
mod lexer;
mod making;
mod names;
mod node;
mod numbers;
mod numpy;
mod parser;
mod reducing;
mod sequences;
mod text;
mod value;

pub(crate) use arguments::counted;
pub use compute::trace;
pub use error::{FILE, Problem};
pub use names::{Function, Other, functions};
pub use node::{Expression, Id, Node, NodeKind, Number, Part};
pub use parser::{LONGEST, MOST_NODES, parse};
