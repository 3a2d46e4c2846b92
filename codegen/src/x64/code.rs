//! Kernels as machine code.

use super::set::Set;
use crate::clif::{Cell, Located};

/// A kernel as machine code.
#[derive(Clone, Debug)]
pub struct VectorCode {
    /// The function, which is position-independent.
    pub bytes: Vec<u8>,
    /// The constants table, the last argument.
    pub constants: Vec<Cell>,
    /// The instruction set.
    pub set: Set,
    /// Lanes per block of the innermost loop.
    pub lanes: usize,
    /// The origins of byte ranges.
    pub(crate) places: Vec<(u32, u32, Located)>,
}
