//! Policies: the rules by which the types of an op's operands give the type it computes in.
//!
//! A policy sees the types of all operands at once and in order, because not every system in the field can be folded pair by
//! pair. It is a small value that a node captures when it is made. It looks at types alone: no value ever changes a dtype.

use super::lattice;
use crate::dtype::{DType, Kind};
use crate::op::Operands;
use crate::value_type::{ValueType, Weak};
use std::fmt;
use std::str::FromStr;

/// A promotion system. `Copy` and one byte, so that every node can hold the one it was made under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Policy {
    /// JAX's lattice: every pair of types has a join.
    #[default]
    Standard,
    /// JAX's strict mode: operands have one dtype, and weak ones adapt within their kind or upwards. Everything else is an
    /// error that names the cast to write.
    Strict,
}

const _: () = assert!(size_of::<Policy>() == 1, "every node holds a policy");

/// What a policy made of an op's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The type the op computes in. Weak if only weak types met (or if the join is weak, as of `u64` and `i64`).
    pub compute: ValueType,
}

/// Operands that a policy defines no common type for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The policy that refused.
    pub policy: Policy,
    /// The common type of the operands before `operand`.
    pub joined: ValueType,
    /// The index of the first operand that does not go with those before it.
    pub operand: usize,
    /// That operand's type.
    pub with: ValueType,
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} policy does not promote {} and {}", self.policy, self.joined, self.with)
    }
}

impl std::error::Error for Clash {}

impl Policy {
    /// All policies.
    pub const ALL: [Policy; 2] = [Policy::Standard, Policy::Strict];

    /// The name, as printed and parsed.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Standard => "standard",
            Policy::Strict => "strict",
        }
    }

    /// The type an op with the operand rule `rule` computes in.
    ///
    /// `operands` are the types of all operands in order, the condition of a [`Choose`](Operands::Choose) included. No
    /// operands have no constraint: the result is then bool, the least type.
    pub fn resolve(self, rule: Operands, operands: &[ValueType]) -> Result<Resolution, Clash> {
        let compute = match rule {
            Operands::Join => self.join_from(operands, 0)?,
            Operands::Number => self.number(self.join_from(operands, 0)?),
            Operands::Inexact => self.inexact(self.join_from(operands, 0)?),
            Operands::Logical => ValueType::Strong(DType::Bool),
            Operands::Choose => self.join_from(operands, 1)?,
        };
        Ok(Resolution { compute })
    }

    /// The join of two types; `None` where the policy defines none.
    pub const fn join(self, a: ValueType, b: ValueType) -> Option<ValueType> {
        match self {
            Policy::Standard => Some(lattice::join(a, b)),
            Policy::Strict => lattice::strict_join(a, b),
        }
    }

    /// The dtype that a weak type has where one must be chosen: in storage, or where nothing stronger was met.
    pub const fn default_dtype(self, weak: Weak) -> DType {
        match (self, weak) {
            (Policy::Standard | Policy::Strict, Weak::Int) => DType::I32,
            (Policy::Standard | Policy::Strict, Weak::Float) => DType::F32,
            (Policy::Standard | Policy::Strict, Weak::Complex) => DType::C64,
        }
    }

    /// The dtype a value of this type is stored in and computed with.
    pub const fn commit(self, ty: ValueType) -> DType {
        match ty {
            ValueType::Strong(dtype) => dtype,
            ValueType::Weak(weak) => self.default_dtype(weak),
        }
    }

    /// Bool becomes the default integer, strong as bool is.
    const fn number(self, ty: ValueType) -> ValueType {
        match ty {
            ValueType::Strong(DType::Bool) => ValueType::Strong(self.default_dtype(Weak::Int)),
            other => other,
        }
    }

    /// Bool and integers become floats: 64-bit integers `f64`, others `f32`; weak integers weak floats.
    const fn inexact(self, ty: ValueType) -> ValueType {
        match ty {
            ValueType::Weak(Weak::Int) => ValueType::Weak(Weak::Float),
            ValueType::Weak(Weak::Float | Weak::Complex) => ty,
            ValueType::Strong(dtype) => match dtype.kind() {
                Kind::Bool | Kind::UInt | Kind::Int if dtype.bytes() == 8 => ValueType::Strong(DType::F64),
                Kind::Bool | Kind::UInt | Kind::Int => ValueType::Strong(DType::F32),
                Kind::Float | Kind::Complex => ty,
            },
        }
    }

    fn join_from(self, operands: &[ValueType], first: usize) -> Result<ValueType, Clash> {
        let Some(&start) = operands.get(first) else { return Ok(ValueType::Strong(DType::Bool)) };
        let mut joined = start;
        for (operand, &with) in operands.iter().enumerate().skip(first + 1) {
            joined = self.join(joined, with).ok_or(Clash { policy: self, joined, operand, with })?;
        }
        Ok(joined)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A policy name that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy(pub String);

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown promotion policy `{}`; known are", self.0)?;
        for policy in Policy::ALL {
            write!(f, " {policy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPolicy {}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Policy, UnknownPolicy> {
        Policy::ALL.into_iter().find(|policy| policy.name() == text).ok_or_else(|| UnknownPolicy(text.to_owned()))
    }
}
