//! The types that values of graphs can have.

use crate::dtype::DType;
use crate::infer::Rules;
use crate::promotion::Policy;
use crate::value_type::ValueType;
use std::fmt::{Debug, Display};
use std::hash::Hash;

/// The types a graph's values can have: [`ValueType`] before commit, [`DType`] after.
pub trait Type: Rules + From<DType> + Copy + Eq + Hash + Display + Debug + 'static {
    /// The dtype a value of this type is stored in, unless something else is said: of a weak one the default policy's.
    fn stored(self) -> DType;
}

impl Type for ValueType {
    fn stored(self) -> DType {
        Policy::default().commit(self)
    }
}

impl Type for DType {
    fn stored(self) -> DType {
        self
    }
}
