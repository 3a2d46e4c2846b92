//! Stand-in until promotion lands.
use crate::value_type::ValueType;
/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    ty: ValueType,
}
impl Literal {
    /// Its type.
    pub fn ty(&self) -> ValueType {
        self.ty
    }
}
