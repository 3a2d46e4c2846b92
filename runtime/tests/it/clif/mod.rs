//! Tests of expansion, legalization and Cranelift emission: kernels run in this process and are compared with the reference
//! evaluation of their bodies.

mod division;
mod expand;
mod kernels;
mod legalize;
mod split;
mod support;
