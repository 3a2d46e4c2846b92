//! The types of one use of a reduction with unsupported dtypes: the cast that the casting modes insert, or the error.
//!
//! Like [ops](super::adapt): the dtypes of operand, computation and result must be supported. A reduction supports the dtypes of the ops
//! that it consists of. Sums of halves in `f32` and indices in `i64` are internal.

use super::adapt::{Adapted, DTypeRole, OpRefusal, Support, choose, scope};
use super::modes::{CastingModes, Mode};
use super::query::supported_dtypes;
use crate::axes::AxisSet;
use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, Result};
use crate::help::{Code, Help};
use crate::infer::Operation;
use crate::op::Op;
use crate::promotion::Policy;
use crate::promotion::advice::{Casts, EXPLICITLY};
use crate::reduction::{AxisFunction, Reduction, Scan, TypeRequest};
use crate::source_loc::SourceLoc;
use crate::value_type::ValueType;
use smallvec::SmallVec;

/// The ops that a reduction consists of, in its computing dtype.
const fn ops(function: AxisFunction) -> &'static [Op] {
    let reduction = match function {
        AxisFunction::Reduction(reduction) => reduction,
        AxisFunction::Scan(Scan::CumulativeSum) => return &[Op::Add],
        AxisFunction::Scan(Scan::CumulativeProd) => return &[Op::Multiply],
        AxisFunction::Scan(Scan::CumMax) => return &[Op::Maximum],
        AxisFunction::Scan(Scan::CumMin) => return &[Op::Minimum],
        // Sorts compare elements as a minimum does.
        AxisFunction::Sort(_) => return &[Op::Minimum],
    };
    match reduction {
        Reduction::Sum => &[Op::Add],
        Reduction::Prod => &[Op::Multiply],
        Reduction::Mean => &[Op::Add, Op::Divide],
        Reduction::Var => &[Op::Add, Op::Divide, Op::Subtract, Op::Square],
        Reduction::Std => &[Op::Add, Op::Divide, Op::Subtract, Op::Square, Op::Sqrt],
        Reduction::Max => &[Op::Maximum],
        Reduction::Min => &[Op::Minimum],
        Reduction::Ptp => &[Op::Maximum, Op::Minimum],
        Reduction::LogSumExp => &[Op::Add, Op::Subtract, Op::Exp, Op::Log],
        Reduction::Norm => &[Op::Add, Op::Square],
        Reduction::Any | Reduction::CountNonzero => &[Op::LogicalOr],
        Reduction::All => &[Op::LogicalAnd],
        Reduction::ArgMax => &[Op::Maximum, Op::Equal],
        Reduction::ArgMin => &[Op::Minimum, Op::Equal],
    }
}

/// A function along an axis, for its types: they are the same along all axes.
fn typed(function: AxisFunction, request: TypeRequest) -> Operation<'static> {
    Operation::along(function, AxisSet::one(0), request)
}

impl Support {
    /// The types of a reduction, a scan or a sort on an operand of type `operand`, and the cast that makes it supported.
    pub(super) fn supported_function(
        self,
        reduction: AxisFunction,
        request: TypeRequest,
        operand: ValueType,
    ) -> Result<Adapted> {
        let types = typed(reduction, request).resolve(&[operand])?;
        if self.is_unlimited() {
            return Ok(Adapted { types, casts: SmallVec::new() });
        }
        match self.adapt_reduction(reduction, request, operand, self.casting) {
            Ok(adapted) => Ok(adapted),
            Err(OpRefusal::Policy(error)) => Err(error),
            Err(OpRefusal::Dtype(role, refused)) => {
                let error = self.lack(self.lacking(reduction, refused), role, refused).error(reduction, refused);
                let error = error.fact(format_args!("{reduction} {} {refused} here", role.verb()));
                let error = match self.computes_reduction(reduction) {
                    none if none.is_empty() => {
                        error.fact(format_args!("supported: nothing that {reduction} computes in"))
                    }
                    supported => error.fact(format_args!("supported: {supported}")),
                };
                Err(self.way_out(error, request.policy, reduction, operand, refused))
            }
        }
    }

    /// The error with help: another requested dtype, or a cast of the operand.
    fn way_out(
        self,
        error: Error,
        policy: Policy,
        reduction: AxisFunction,
        operand: ValueType,
        refused: DType,
    ) -> Error {
        let request = |dtype| TypeRequest { dtype, policy };
        let done =
            |asked, operand| self.adapt_reduction(reduction, request(asked), operand, CastingModes::ERROR).is_ok();
        let nearest = |dtypes: DTypeSet| {
            let chosen = choose(CastingModes::ALL, policy, refused, dtypes).map(|(to, _)| to);
            chosen.into_iter().chain(dtypes.iter().filter(|to| to.kind() == refused.kind())).chain(dtypes.iter())
        };
        let all: DTypeSet = DType::ALL.into_iter().collect();
        let may_ask: DTypeSet = all.iter().filter(|&to| reduction.takes_dtype() && done(Some(to), operand)).collect();
        let may_cast: DTypeSet = all.iter().filter(|&to| done(None, to.into())).collect();
        if let Some(to) = nearest(may_ask).next() {
            return error
                .help(Help::from("ask for a dtype, as in ").code(Code::WithDType(reduction.name().into(), to)));
        }
        let helps = |mode: Mode| {
            let adapted = self.adapt_reduction(reduction, request(None), operand, mode.into()).ok()?;
            adapted.casts.first().copied().flatten().map(|(to, _)| scope(mode, to))
        };
        match (nearest(may_cast).next(), Mode::ALL.into_iter().find_map(helps)) {
            (Some(to), mode) => {
                let error = error.help(Casts::new(&[("x", operand)], to).after(EXPLICITLY));
                mode.into_iter().fold(error, Error::or_rust_help)
            }
            (None, _) => error.help("support a dtype that it computes in, or reduce otherwise"),
        }
    }

    /// The dtypes in which all ops of a reduction are supported.
    fn computes_reduction(self, reduction: AxisFunction) -> DTypeSet {
        let supported = |op: &Op| supported_dtypes(*op, self.device);
        ops(reduction).iter().map(supported).fold(self.restrictions.dtypes(), DTypeSet::intersection)
    }

    /// The first op of a reduction that does not compute in a dtype.
    fn lacking(self, reduction: AxisFunction, dtype: DType) -> Op {
        let (all, first) = (ops(reduction), ops(reduction)[0]);
        all.iter().copied().find(|&op| !supported_dtypes(op, self.device).contains(dtype)).unwrap_or(first)
    }

    /// The types of a reduction and the cast of `modes` that makes it supported.
    pub(super) fn adapt_reduction(
        self,
        reduction: AxisFunction,
        request: TypeRequest,
        operand: ValueType,
        modes: CastingModes,
    ) -> Result<Adapted, OpRefusal> {
        let (policy, computes) = (request.policy, self.computes_reduction(reduction));
        let check = |operand: ValueType| {
            let types = typed(reduction, request).resolve(&[operand]).map_err(OpRefusal::Policy)?;
            let [compute, result] = [types.compute, types.result].map(|ty| policy.commit(ty));
            match operand {
                ValueType::Strong(own) if !self.values().contains(own) => {
                    Err(OpRefusal::Dtype(DTypeRole::Operand, own))
                }
                // Declarations do not exclude bool.
                _ if compute != DType::Bool && !computes.contains(compute) => {
                    Err(OpRefusal::Dtype(DTypeRole::Compute, compute))
                }
                _ if !self.results().contains(result) => Err(OpRefusal::Dtype(DTypeRole::Result, result)),
                _ => Ok(types),
            }
        };
        let (role, refused) = match check(operand) {
            Ok(types) => return Ok(Adapted { types, casts: SmallVec::new() }),
            Err(refused @ OpRefusal::Policy(_)) => return Err(refused),
            Err(OpRefusal::Dtype(role, refused)) => (role, refused),
        };
        // Instead of the refused dtype: the operand's, or the one the reduction chose.
        let cast = choose(modes, policy, refused, computes);
        match cast.map(|(to, _)| check(to.into())) {
            Some(Ok(types)) => Ok(Adapted { types, casts: [cast].into_iter().collect() }),
            _ => Err(OpRefusal::Dtype(role, refused)),
        }
    }

    /// The message of a refused reduction, and the place of the declaration.
    pub(super) fn reduction_refused(self, reduction: AxisFunction, refused: OpRefusal) -> (String, Option<SourceLoc>) {
        match refused {
            OpRefusal::Policy(error) => (error.headline().to_owned(), None),
            OpRefusal::Dtype(role, dtype) => {
                let meets = format!("{reduction} {} {dtype}", role.verb());
                self.lack(self.lacking(reduction, dtype), role, dtype).in_words(&meets)
            }
        }
    }
}
