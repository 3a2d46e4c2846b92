//! What things were made from, for those who look: no part of what they are, so that things that differ in it alone are equal.

use std::hash::{Hash, Hasher};

/// The statement of a kernel's body that an instruction, or a statement of a part of the kernel, was made from.
#[derive(Clone, Copy, Debug, Default)]
pub enum StatementOrigin {
    /// None, or itself.
    #[default]
    Own,
    /// The statement of this number.
    Statement(u32),
    /// What becomes of the kernel's result of this number: a reduction or a scan.
    Result(u32),
    /// What becomes of the kernel's results, all of them.
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
