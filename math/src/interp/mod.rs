//! The interpreter: the definition of programs, slow and simple. Every other engine is tested against it, bit for bit.
//!
//! [`eval_graph`] walks a typed graph node by node and element by element, [`eval_control`] its branches and loops;
//! [`eval_nest`] walks a loop nest index by index. Both evaluate the scalar [bodies](ndjit_ir::body) that code
//! generators inline.

mod elementwise;
mod graph;
mod movement;
mod nest;
mod reduce;
mod tensor;

pub use graph::{eval_control, eval_graph};
pub use nest::{NestMemory, Tensors, eval_nest};
pub use tensor::Tensor;
