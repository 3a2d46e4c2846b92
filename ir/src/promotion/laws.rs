//! The laws of a policy's joins, with the pairs and triples that violate them.
//!
//! Weak results are compared before they take a default dtype, as in joins of many operands.

use super::lattice::{Audit, Lattice};
use super::policy::Policy;
use super::registry;
use crate::value_type::ValueType;

impl Policy {
    /// Returns `true` if the joins of the 18 types are those of a lattice: defined for every pair, idempotent,
    /// commutative and associative. Then the order and grouping of operands do not matter.
    ///
    /// ```
    /// use ndjit_ir::{DType::*, Policy};
    /// assert!(Policy::Standard.is_lattice() && !Policy::NumPy2.is_lattice());
    /// assert!(Policy::NumPy2.non_associative().contains(&[I8, U8, F16].map(Into::into)));
    /// ```
    pub fn is_lattice(self) -> bool {
        self.undefined().is_empty() && self.is_partial_lattice()
    }

    /// Returns `true` if the defined joins are those of a partial lattice: idempotent, commutative and associative,
    /// where an undefined join makes the whole undefined. A type without a join with itself violates no law. The result
    /// is computed once per system.
    pub fn is_partial_lattice(self) -> bool {
        *registry::partial_lattice(self.system).get_or_init(|| {
            self.non_idempotent().is_empty() && self.asymmetric().is_empty() && self.non_associative().is_empty()
        })
    }

    /// Returns the lattice of the policy's joins: a type is below another if the other is their join. Types without
    /// joins are no nodes. It is `None` if [the joins are not a partial lattice's](Policy::is_partial_lattice).
    ///
    /// ```
    /// use ndjit_ir::Policy;
    /// assert_eq!(Policy::Standard.lattice().unwrap().join("i64", "f16"), Some("f16"));
    /// assert!(Policy::NumPy2.lattice().is_none());
    /// ```
    pub fn lattice(self) -> Option<Lattice> {
        if !self.is_partial_lattice() {
            return None;
        }
        let types = || ValueType::ALL.into_iter().filter(|&ty| self.pair(ty, ty) == Some(ty));
        let nodes: Vec<&str> = types().map(ValueType::name).collect();
        let above = |a: ValueType| {
            types().filter(move |&b| a != b && self.pair(a, b) == Some(b)).map(move |b| (a.name(), b.name()))
        };
        let edges: Vec<(&str, &str)> = types().flat_map(above).collect();
        Lattice::with_nodes(self.name(), &nodes, &edges).ok()
    }

    /// Returns the types whose join with themselves is another type: with 64-bit types off, those of 64 bits.
    pub fn non_idempotent(self) -> Vec<ValueType> {
        ValueType::ALL.into_iter().filter(|&ty| self.pair(ty, ty).is_some_and(|join| join != ty)).collect()
    }

    /// Returns the ordered pairs without a common type.
    pub fn undefined(self) -> Vec<[ValueType; 2]> {
        undefined(&ValueType::ALL, &|a, b| self.pair(a, b)).collect()
    }

    /// Returns the pairs whose common type depends on their order, each once, in the order of [`ValueType::ALL`].
    pub fn asymmetric(self) -> Vec<[ValueType; 2]> {
        asymmetric(&ValueType::ALL, &|a, b| self.pair(a, b)).collect()
    }

    /// Returns the triples whose common type depends on the grouping: `(a ∨ b) ∨ c` is not `a ∨ (b ∨ c)`. One of the
    /// two may be undefined.
    pub fn non_associative(self) -> Vec<[ValueType; 3]> {
        non_associative(&ValueType::ALL, &|a, b| self.pair(a, b)).collect()
    }

    /// Audits the policy's joins.
    ///
    /// ```
    /// use ndjit_ir::Policy;
    /// let audit = Policy::NumPy2.audit();
    /// assert_eq!((audit.types.len(), audit.non_associative_dtypes().count()), (17, 28));
    /// ```
    pub fn audit(self) -> Audit {
        Audit::of(&self.to_string(), &|a, b| self.pair(a, b))
    }
}

/// A function from two operands to their result; `None` if undefined.
type JoinFn<'a> = &'a dyn Fn(ValueType, ValueType) -> Option<ValueType>;

/// Returns the ordered pairs without a result.
pub(super) fn undefined(types: &[ValueType], join: JoinFn) -> impl Iterator<Item = [ValueType; 2]> {
    pairs(types).filter(move |&[a, b]| join(a, b).is_none())
}

/// Returns the pairs whose result depends on their order, each once.
pub(super) fn asymmetric(types: &[ValueType], join: JoinFn) -> impl Iterator<Item = [ValueType; 2]> {
    pairs(types).filter(move |&[a, b]| a.index() < b.index() && join(a, b) != join(b, a))
}

/// Returns the triples whose result depends on the grouping.
pub(super) fn non_associative(types: &[ValueType], join: JoinFn) -> impl Iterator<Item = [ValueType; 3]> {
    let left = move |[a, b, c]: [ValueType; 3]| join(join(a, b)?, c);
    let right = move |[a, b, c]: [ValueType; 3]| join(a, join(b, c)?);
    let triples = pairs(types).flat_map(move |[a, b]| types.iter().map(move |&c| [a, b, c]));
    triples.filter(move |&triple| left(triple) != right(triple))
}

/// Returns all ordered pairs.
pub(super) fn pairs(types: &[ValueType]) -> impl Iterator<Item = [ValueType; 2]> {
    types.iter().flat_map(move |&a| types.iter().map(move |&b| [a, b]))
}
