//! The types of values in graphs.

use crate::dtype::DType;
use crate::infer::InferenceRules;
use crate::promotion::Policy;
use crate::value_type::ValueType;
use std::fmt::{Debug, Display};
use std::hash::Hash;

/// A type of values: [`ValueType`] before commit, [`DType`] after.
pub trait Type: InferenceRules + From<DType> + Copy + Eq + Hash + Display + Debug + 'static {
    /// The default storage dtype of a value of this type: for weak types the default policy's.
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
