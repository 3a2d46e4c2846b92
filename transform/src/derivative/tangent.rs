//! Tangents and cotangents, with symbolic zeros, ones and signs.

use crate::append::{Appender, SlopeTerm, TangentSpace};
use ndjit_ir::DType;
use ndjit_ir::graph::Value;

/// A tangent or a cotangent, of a space known from the context. Zeros are not added, and ones not multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tangent {
    /// Zeros.
    Zero,
    /// Ones, or -1 everywhere.
    Unit {
        /// True if it is -1.
        negative: bool,
    },
    /// A value or its negative. It broadcasts to the space.
    Of {
        /// The value.
        value: Value,
        /// True for the negative.
        negative: bool,
    },
}

impl Tangent {
    /// Ones.
    pub const ONE: Tangent = Tangent::Unit { negative: false };

    pub fn of(term: SlopeTerm<'_>) -> Tangent {
        Tangent::Of { value: term.value, negative: false }
    }

    pub fn is_zero(self) -> bool {
        self == Tangent::Zero
    }

    /// Returns the negative.
    pub fn negated(self) -> Tangent {
        match self {
            Tangent::Zero => Tangent::Zero,
            Tangent::Unit { negative } => Tangent::Unit { negative: !negative },
            Tangent::Of { value, negative } => Tangent::Of { value, negative: !negative },
        }
    }

    /// Returns the negative if `negative` is true.
    pub fn signed(self, negative: bool) -> Tangent {
        if negative { self.negated() } else { self }
    }

    /// Returns the absolute part as a term, and its sign; `None` for zeros.
    pub fn parts<'a>(self, to: &'a Appender, space: &TangentSpace) -> Option<(SlopeTerm<'a>, bool)> {
        match self {
            Tangent::Zero => None,
            Tangent::Unit { negative } => Some((to.full(1.0, space), negative)),
            Tangent::Of { value, negative } => Some((to.term(value), negative)),
        }
    }

    /// Applies a function to the absolute part.
    pub fn map<'a>(
        self,
        to: &'a Appender,
        space: &TangentSpace,
        map: impl FnOnce(SlopeTerm<'a>) -> SlopeTerm<'a>,
    ) -> Tangent {
        match self.parts(to, space) {
            None => Tangent::Zero,
            Some((term, negative)) => Tangent::of(map(term)).signed(negative),
        }
    }

    /// Returns the tangent as an array of its space.
    pub fn term<'a>(self, to: &'a Appender, space: &TangentSpace) -> SlopeTerm<'a> {
        match self {
            Tangent::Zero => to.full(0.0, space),
            Tangent::Unit { negative } => to.full(if negative { -1.0 } else { 1.0 }, space),
            Tangent::Of { value, negative } => {
                let term = to.term(value);
                let term = if negative { -term } else { term };
                if term.shape() == space.shape { term } else { term.broadcast(&space.shape) }
            }
        }
    }

    /// Adds two tangents.
    pub fn plus(self, to: &Appender, other: Tangent, space: &TangentSpace) -> Tangent {
        let Some((own, own_sign)) = self.parts(to, space) else { return other };
        let Some((new, sign)) = other.parts(to, space) else { return self };
        match (own_sign, sign) {
            (true, true) => Tangent::of(own + new).negated(),
            (false, false) => Tangent::of(own + new),
            (false, true) => Tangent::of(own - new),
            (true, false) => Tangent::of(new - own),
        }
    }
}

/// Returns a tangent in the value's dtype; zeros for integers and bools.
pub(super) fn written(to: &Appender, of: Value, tangent: Tangent) -> Value {
    match to.space(of) {
        Some(space) => tangent.term(to, &space).cast(to.dtype(of)).value,
        None => to.number(0.0, DType::I32).cast(to.dtype(of)).broadcast(&to.shape(of)).value,
    }
}
