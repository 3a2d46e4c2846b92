//! Origins of instructions, for display only: values that differ only in origins are equal.

use std::hash::{Hash, Hasher};

/// The statement of a kernel's body that an instruction, or a statement of a part of the kernel, comes from.
#[derive(Clone, Copy, Debug, Default)]
pub enum StatementOrigin {
    /// Unknown, or itself.
    #[default]
    Own,
    /// The statement of this number.
    Statement(u32),
    /// The epilogue of the kernel's result of this number: a reduction or a scan.
    Result(u32),
    /// The epilogue of all results.
    Results,
}

impl PartialEq for StatementOrigin {
    fn eq(&self, _: &StatementOrigin) -> bool {
        true
    }
}

impl Eq for StatementOrigin {}

impl Hash for StatementOrigin {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
