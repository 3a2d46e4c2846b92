//! What a policy's joins obey: whether they are a lattice, and the pairs and triples that say why not.
//!
//! Weak results are looked at before they take a default dtype, as joins of many operands meet them.

use super::policy::Policy;
use super::registry;
use crate::value_type::ValueType;

impl Policy {
    /// Whether the joins of the 18 types are those of a lattice: defined for every pair, idempotent, commutative and
    /// associative. Then operands promote alike in every order and grouping.
    ///
    /// ```
    /// use ndjit_ir::{DType::*, Policy};
    /// assert!(Policy::Standard.is_lattice() && !Policy::NumPy2.is_lattice());
    /// assert!(Policy::NumPy2.non_associative().contains(&[I8, U8, F16].map(Into::into)));
    /// ```
    pub fn is_lattice(self) -> bool {
        self.undefined().is_empty() && self.is_partial_lattice()
    }

    /// Whether the joins that are defined are those of a partial lattice: idempotent, commutative and associative, an
    /// undefined join making the whole undefined. A type that does not even go with itself breaks no law. Worked out once per
    /// system.
    pub fn is_partial_lattice(self) -> bool {
        *registry::partial_lattice(self.system).get_or_init(|| {
            self.non_idempotent().is_empty() && self.asymmetric().is_empty() && self.non_associative().is_empty()
        })
    }

    /// The types that do not give themselves with themselves, but another: with 64-bit types off, those of 64 bits.
    pub fn non_idempotent(self) -> Vec<ValueType> {
        ValueType::ALL.into_iter().filter(|&ty| self.raw(ty, ty).is_some_and(|join| join != ty)).collect()
    }

    /// The pairs, in order, without a common type.
    pub fn undefined(self) -> Vec<[ValueType; 2]> {
        pairs().filter(|&[a, b]| self.raw(a, b).is_none()).collect()
    }

    /// The pairs whose common type depends on their order. Each is listed once, in the order of [`ValueType::ALL`].
    pub fn asymmetric(self) -> Vec<[ValueType; 2]> {
        pairs().filter(|&[a, b]| a.index() < b.index() && self.raw(a, b) != self.raw(b, a)).collect()
    }

    /// The triples whose common type depends on the brackets: `(a ∨ b) ∨ c` is not `a ∨ (b ∨ c)`. One may be undefined.
    pub fn non_associative(self) -> Vec<[ValueType; 3]> {
        let left = |[a, b, c]: [ValueType; 3]| self.raw(self.raw(a, b)?, c);
        let right = |[a, b, c]: [ValueType; 3]| self.raw(a, self.raw(b, c)?);
        let triples = pairs().flat_map(|[a, b]| ValueType::ALL.map(|c| [a, b, c]));
        triples.filter(|&triple| left(triple) != right(triple)).collect()
    }

    fn raw(self, left: ValueType, right: ValueType) -> Option<ValueType> {
        self.system().joins.get(left, right)
    }
}

fn pairs() -> impl Iterator<Item = [ValueType; 2]> {
    ValueType::ALL.into_iter().flat_map(|a| ValueType::ALL.map(|b| [a, b]))
}
