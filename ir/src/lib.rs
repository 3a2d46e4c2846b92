//! The programs of ndjit: dtypes, promotion, ops, bodies, shapes, graphs, kernels and loops, each with a verifier and a text form.
//!
//! This crate does no IO, starts no threads, reads no environment or clock, and has no `unsafe`.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod axes;
pub mod body;
pub mod dtype;
pub mod error;
pub mod graph;
pub mod help;
mod id;
pub mod infer;
pub mod kernel;
mod layout;
pub mod lines;
pub mod literal;
pub mod lock;
pub mod loops;
mod nearest;
mod nested;
pub mod op;
pub mod opset;
pub mod origin;
mod problems;
pub mod promotion;
pub mod reduction;
pub mod reserve;
#[cfg(feature = "serde")]
mod serde;
pub mod shape;
pub mod source_loc;
pub mod spaces;
pub mod support;
pub mod template;
mod text;
pub mod value_type;
pub mod view;
pub mod watch;

pub use dtype::{DType, DTypeSet, Kind, PrimType};
pub use error::{Error, ErrorCode, Result};
pub use help::{CastAdvice, Code, Help, HelpPart};
pub use literal::{Literal, LiteralValue};
pub use nearest::nearest;
pub use op::Op;
pub use origin::StatementOrigin;
pub use promotion::Policy;
pub use reduction::{Reduction, Scan, Sort};
pub use shape::Shape;
pub use source_loc::SourceLoc;
pub use value_type::{ValueType, Weak};
