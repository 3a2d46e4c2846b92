//! Advice in errors: suggested casts, and their losses.

use super::lattice;
use super::policy::Policy;
use crate::dtype::DType;
use crate::help::{CastAdvice, Help};
use crate::value_type::ValueType;

/// The usual prefix of casts.
pub(crate) const EXPLICITLY: &str = "cast explicitly: ";

/// Suggested casts, and their losses.
#[derive(Default)]
pub(crate) struct Casts {
    pub casts: Vec<CastAdvice>,
    pub loss: String,
}

impl Casts {
    /// Creates casts of the operands of these names and types to one dtype.
    pub(crate) fn new(operands: &[(&'static str, ValueType)], to: DType) -> Casts {
        let casts = operands.iter().map(|&(name, _)| CastAdvice::NamedOperand(name, to)).collect();
        Casts { casts, loss: loss(operands.iter().map(|&(_, ty)| ty), to) }
    }

    /// Returns the help with these casts, after a prefix.
    pub(crate) fn after(self, words: impl Into<Help>) -> Help {
        words.into().casts(self.casts).text(self.loss)
    }
}

/// Returns the dtype to suggest for operands that a policy does not promote: their join in the standard lattice. For
/// integers that no integer dtype holds the join is a weak float, and `f64` keeps most of their digits.
pub(crate) fn meeting(policy: Policy, types: &[ValueType]) -> Option<DType> {
    let joined = types.iter().copied().reduce(lattice::join)?;
    let strong = types.iter().copied().filter(|ty| !ty.is_weak()).reduce(lattice::join);
    let widest = policy.width(DType::F64);
    Some(if joined.is_weak() && strong.is_some_and(ValueType::is_weak) { widest } else { policy.commit(joined) })
}

/// Describes the losses of casts of these types to `to`. The text is empty if `to` has as many digits.
pub(crate) fn loss(types: impl IntoIterator<Item = ValueType>, to: DType) -> String {
    let dtypes = types.into_iter().filter_map(|ty| match ty {
        ValueType::Strong(dtype) => Some(dtype),
        ValueType::Weak(_) => None,
    });
    match dtypes.reduce(|most, dtype| if dtype.digits() > most.digits() { dtype } else { most }) {
        Some(from) if from.digits() > to.digits() => {
            format!("; {to} keeps {} binary digits, {from} has {}", to.digits(), from.digits())
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{DType, loss};

    #[test]
    fn fewer_digits_are_said() {
        let of = |types: &[DType], to| loss(types.iter().map(|&dtype| dtype.into()), to);
        assert_eq!(of(&[DType::I64, DType::U64], DType::F64), "; f64 keeps 53 binary digits, u64 has 64");
        assert_eq!(of(&[DType::I32], DType::F32), "; f32 keeps 24 binary digits, i32 has 31");
        assert_eq!(of(&[DType::I8, DType::F16], DType::F32), "");
        assert_eq!(of(&[], DType::Bool), "");
    }
}
