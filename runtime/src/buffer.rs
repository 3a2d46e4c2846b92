//! Memory for array elements.

/// A block of memory for array elements, shared by `Arc`.
#[derive(Debug)]
pub struct Buffer {}
