//! The types that values of graphs can have.

use crate::dtype::DType;
use crate::infer::InferenceRules;
use crate::promotion::Policy;
use crate::value_type::ValueType;
use std::fmt::{Debug, Display};
use std::hash::Hash;

/// The types a graph's values can have: [`ValueType`] before commit, [`DType`] after.
pub trait Type: InferenceRules + From<DType> + Copy + Eq + Hash + Display + Debug + 'static {
    /// The dtype a value of this type is stored in, unless something else is said: of a weak one the default policy's.
    fn storage_dtype(self) -> DType;
}

impl Type for ValueType {
    fn storage_dtype(self) -> DType {
        Policy::default().commit(self)
    }
}

impl Type for DType {
    fn storage_dtype(self) -> DType {
        self
    }
}
