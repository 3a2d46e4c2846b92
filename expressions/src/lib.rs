//! Array expressions with Python's operators and precedence, and the names of NumPy and the Array API. [`parse`] parses
//! a text, [`Expression`] prints it with all parentheses, [`trace`] compiles it to a program, [`report`] prints an
//! error below the text.
//!
//! ```
//! use ndjit::{Array, DType, spec};
//! use ndjit_expressions::{Budget, parse, report, trace};
//!
//! let compute = |text: &str| {
//!     let inputs = [("x", spec(DType::F32, [3]))];
//!     let program = trace(&parse(text)?, &inputs, &Budget::new(1 << 30))?;
//!     program.call([&Array::from([1.0f32, 2.0, 3.0])])?[0].to_vec::<f32>()
//! };
//! assert_eq!(compute("where(x > 1, x, 0) / 2")?, [0.0, 1.0, 1.5]);
//! let error = compute("x + x[:2]").unwrap_err();
//! assert!(report(&error, "x + x[:2]", &["x".into()]).contains(" 1 | x + x[:2]\n   |   ^\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No code here recurses: an expression is a list of [`ExprNode`]s, operands before their users, so that neither length nor
//! depth can exhaust the stack. The set of operations is closed, so an expression can only compute. What it may allocate
//! while it is traced is limited by a [`Budget`].

#![forbid(unsafe_code)]

mod amounts;
mod arguments;
mod budget;
mod compute;
mod dialect;
mod dtypes;
mod error;
mod index;
mod lexer;
mod making;
mod names;
mod node;
mod notation;
mod numbers;
mod numpy;
mod parser;
mod reducing;
mod report;
mod sequences;
mod text;
mod value;

pub use amounts::{amount, counted};
pub use budget::{Budget, Reservation};
pub use compute::trace;
pub use error::Problem;
pub use names::{ExprFunction, Other, functions};
pub use node::{ExprNode, ExprNodeKind, ExprNumber, Expression, Id, IndexPart};
pub use notation::{ExpressionNotation, explanation, in_notation};
pub use parser::{LONGEST, MOST_NODES, parse};
pub use report::report;
