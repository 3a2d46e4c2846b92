//! One use of a reduction where not every dtype is supported: the cast that the casting modes insert, or the error.
//!
//! As for [ops](super::adapt): the operand, what is computed in and the result must be supported. A reduction computes where
//! the op does that it is made of.

use super::adapt::{Lack, OperandCast, Refused, Role, Support, choose};
use super::modes::{CastingModes, Mode};
use super::query::supported_dtypes;
use crate::dtype::{DType, DTypeSet};
use crate::error::Result;
use crate::op::Op;
use crate::promotion::{Policy, ReductionTypes};
use crate::reduction::Reduction;
use crate::value_type::ValueType;

/// How a reduction is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptedReduction {
    /// Its types after the cast.
    pub types: ReductionTypes,
    /// The cast before it.
    pub cast: OperandCast,
}

/// The op that a reduction is made of.
pub(super) fn main_op(reduction: Reduction) -> Op {
    match reduction {
        Reduction::ArgMax => Op::Maximum,
        Reduction::ArgMin => Op::Minimum,
        Reduction::CountNonzero => Op::LogicalOr,
        _ => reduction.combine().unwrap_or(Op::Add),
    }
}

impl Support {
    /// The dtypes of `reduction` on an operand of type `operand` under a policy, where `dtype` is asked for or none is, and the
    /// cast that makes it supported.
    ///
    /// # Errors
    /// Those of [`Policy::resolve_reduction`]; `DType` where a dtype is not supported and no mode finds another.
    pub fn resolve_reduction(
        self,
        policy: Policy,
        reduction: Reduction,
        dtype: Option<DType>,
        operand: ValueType,
    ) -> Result<AdaptedReduction> {
        let types = policy.resolve_reduction(reduction, dtype, operand)?;
        if self.is_unlimited() {
            return Ok(AdaptedReduction { types, cast: None });
        }
        match self.adapt_reduction(policy, reduction, dtype, operand, self.casting) {
            Ok(adapted) => Ok(adapted),
            Err(Refused::Policy(error)) => Err(error),
            Err(Refused::Dtype(role, refused)) => {
                let error = self.lack(main_op(reduction), role, refused).error(reduction, refused);
                let error = error.fact(format_args!("{reduction} {} {refused} here", role.verb()));
                let supported = self.computes_reduction(reduction);
                let error = error.fact(format_args!("supported: {supported}"));
                let helps = |mode: Mode| {
                    let adapted = self.adapt_reduction(policy, reduction, dtype, operand, mode.into()).ok()?;
                    adapted.cast.map(|(to, _)| (mode, to))
                };
                Err(match Mode::ALL.into_iter().find_map(helps) {
                    Some((mode, to)) => error.help(format!(
                        "cast explicitly: `x.cast(DType::{to:?})`; or {}",
                        super::adapt::scope(mode, to)
                    )),
                    None => error.help("cast to a dtype that is supported"),
                })
            }
        }
    }

    fn computes_reduction(self, reduction: Reduction) -> DTypeSet {
        supported_dtypes(main_op(reduction), self.device).intersection(self.restrictions.dtypes())
    }

    /// The types of a reduction and the cast that `modes` make it supported by.
    pub(super) fn adapt_reduction(
        self,
        policy: Policy,
        reduction: Reduction,
        dtype: Option<DType>,
        operand: ValueType,
        modes: CastingModes,
    ) -> Result<AdaptedReduction, Refused> {
        let computes = self.computes_reduction(reduction);
        let check = |operand: ValueType| {
            let types = policy.resolve_reduction(reduction, dtype, operand).map_err(Refused::Policy)?;
            match operand {
                ValueType::Strong(own) if !self.values().contains(own) => Err(Refused::Dtype(Role::Operand, own)),
                // Truth values are taken whatever is declared.
                _ if types.compute != DType::Bool && !computes.contains(types.compute) => {
                    Err(Refused::Dtype(Role::Compute, types.compute))
                }
                _ if !self.results().contains(types.result) => Err(Refused::Dtype(Role::Result, types.result)),
                _ => Ok(types),
            }
        };
        let refused = match check(operand) {
            Ok(types) => return Ok(AdaptedReduction { types, cast: None }),
            Err(refused @ Refused::Policy(_)) => return Err(refused),
            Err(refused) => refused,
        };
        let cast = choose(modes, policy, policy.commit(operand), computes);
        match cast.map(|(to, _)| check(to.into())) {
            Some(Ok(types)) => Ok(AdaptedReduction { types, cast }),
            _ => Err(refused),
        }
    }

    /// Why a reduction is not done on an operand, in words; the place is that of a declaration.
    pub(super) fn reduction_refused(
        self,
        reduction: Reduction,
        role: Role,
        dtype: DType,
    ) -> (String, Option<crate::place::Place>) {
        let meets = format!("{reduction} {} {dtype}", role.verb());
        match self.lack(main_op(reduction), role, dtype) {
            Lack::Declared(restriction) => {
                (format!("{meets}, which is declared unsupported"), Some(restriction.place()))
            }
            Lack::Unsupported(why) => (format!("{meets}; {why}"), None),
        }
    }
}
