//! Array expressions with Python's operators and precedence, and the names of NumPy and the Array API. [`parse`] parses
//! a text, [`Expression`] prints it with all parentheses, [`trace`] compiles it to a program.
//!
//! No code here recurses: an expression is a list of [`ExprNode`]s, operands before their users, so that neither length nor
//! depth can exhaust the stack. The set of operations is closed, so an expression can only compute.

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
pub use error::Problem;
pub use names::{ExprFunction, Other, functions};
pub use node::{ExprNode, ExprNodeKind, ExprNumber, Expression, Id, IndexPart};
pub use parser::{LONGEST, MOST_NODES, parse};
