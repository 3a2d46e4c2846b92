//! The types of one use of an op with unsupported dtypes: the casts that the casting modes insert, or the error.
//!
//! Operands are promoted first; the computing dtype must be supported. (Ivy checks each argument before promotion.) Each operand must
//! also be valid and allowed. Bare numbers and weak arrays are cast only if nothing else makes the op compute in the chosen dtype;
//! conditions never are.

use super::device::Device;
use super::modes::{CastingModes, Mode};
use super::query::{Unsupported, supported_dtypes, unsupported, valid_dtypes};
use super::restriction::{Restriction, Restrictions};
use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, ErrorCode, Result};
use crate::graph::NodeKind;
use crate::help::CastAdvice;
use crate::infer::Operation;
use crate::op::Op;
use crate::promotion::Policy;
use crate::promotion::advice::{self, Casts, EXPLICITLY};
use crate::promotion::op_types::OpTypes;
use crate::source_loc::SourceLoc;
use crate::value_type::ValueType;
use smallvec::SmallVec;
use std::fmt::Display;

/// The supported dtypes, and the handling of others. By default ops support their whole domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Support {
    /// The device; without one every dtype is valid.
    pub device: Option<Device>,
    /// The user's declarations.
    pub restrictions: Restrictions,
    /// The handling of unsupported dtypes.
    pub casting: CastingModes,
}

/// The dtype an operand is cast to and the mode that chose it.
pub type OperandCast = Option<(DType, Mode)>;

/// An operation with its casts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapted {
    /// The operation's types after the casts.
    pub types: OpTypes,
    /// The cast of each operand; empty if there are none.
    pub casts: SmallVec<[OperandCast; 3]>,
}

/// The reason why an op is refused.
pub(super) enum OpRefusal {
    /// The policy's error.
    Policy(Error),
    /// An unsupported dtype.
    Dtype(DTypeRole, DType),
}

/// The role of a dtype in an op.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DTypeRole {
    Operand,
    Compute,
    Result,
}

impl DTypeRole {
    /// `op` … a dtype.
    pub(super) const fn verb(self) -> &'static str {
        match self {
            DTypeRole::Operand => "takes",
            DTypeRole::Compute => "computes in",
            DTypeRole::Result => "gives",
        }
    }
}

impl Support {
    /// The allowed dtypes of values.
    pub fn values(self) -> DTypeSet {
        valid_dtypes(self.device, self.restrictions.dtypes())
    }

    /// The allowed dtypes of results: those of values, and bool if the device has it. Declarations do not exclude bool results:
    /// conditions are always allowed.
    pub fn results(self) -> DTypeSet {
        self.values() | valid_dtypes(self.device, DType::Bool)
    }

    /// The allowed computing dtypes of an op: supported ones whose result dtype is supported too.
    pub fn computes(self, op: Op) -> DTypeSet {
        let results = self.results();
        self.computes_at_all(op).iter().filter(|&dtype| results.contains(op.result_dtype(dtype))).collect()
    }

    /// The same, for any result.
    fn computes_at_all(self, op: Op) -> DTypeSet {
        supported_dtypes(op, self.device).intersection(self.restrictions.dtypes())
    }

    /// Returns `true` if nothing is excluded beyond the domains of ops.
    pub fn is_unlimited(self) -> bool {
        self.device.is_none() && self.restrictions == Restrictions::NONE
    }

    /// The [types](Operation::types) of an operation on operands of the given types, and the casts that make it supported. Only ops
    /// and functions along axes need casts; all other operations support every dtype.
    ///
    /// ```
    /// use ndjit_ir::infer::Operation;
    /// use ndjit_ir::support::{CastingModes, Mode, Support};
    /// use ndjit_ir::{DType, Op, Policy};
    ///
    /// let halves = [DType::F16.into(), DType::F16.into()];
    /// let support = Support { casting: CastingModes::CROSS, ..Support::default() };
    /// let adapted = support.resolve(&Operation::op(Op::BitwiseXor, Policy::Standard), &halves)?;
    /// assert_eq!(adapted.casts[0], Some((DType::I32, Mode::Cross)));
    /// assert_eq!(adapted.types.result, DType::I32.into());
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// The mismatch; `DType` for an unsupported dtype for which no mode finds another.
    pub fn resolve(self, operation: &Operation<'_>, operands: &[ValueType]) -> Result<Adapted> {
        match (&operation.kind, operation.kind.type_request(), operands) {
            (&NodeKind::Op(op, policy), ..) => self.supported_op(policy, op, operands),
            (_, Some((function, request)), &[operand, ..]) => self.supported_function(function, request, operand),
            _ => Ok(Adapted { types: operation.resolve(operands)?, casts: SmallVec::new() }),
        }
    }

    fn supported_op(self, policy: Policy, op: Op, operands: &[ValueType]) -> Result<Adapted> {
        let plain = Operation::op(op, policy).resolve(operands);
        match plain {
            Ok(types) if self.is_unlimited() => return Ok(Adapted { types, casts: SmallVec::new() }),
            Err(error) if operands.len() != op.arity() => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let refused = match self.adapt(policy, op, operands, self.casting) {
            Ok(adapted) => return Ok(adapted),
            Err(refused) => refused,
        };
        let error = match refused {
            OpRefusal::Policy(error) => error,
            OpRefusal::Dtype(role, dtype) => match (self.lack(op, role, dtype), plain) {
                (ExclusionCause::Unsupported(Unsupported::Domain(..)), Err(error)) => error,
                (lack, _) => {
                    let error = match role {
                        DTypeRole::Result => {
                            lack.error(op, dtype).fact(format_args!("{op} {} {dtype} here", role.verb()))
                        }
                        DTypeRole::Operand | DTypeRole::Compute => lack.error(op, dtype),
                    };
                    match self.computes(op) {
                        none if none.is_empty() => error
                            .fact(format_args!("supported: nothing that {op} computes in"))
                            .help("use another operation, or support a dtype that this one computes in"),
                        supported => error.fact(format_args!("supported: {supported}")),
                    }
                }
            },
        };
        Err(self.ways_out(error, policy, op, operands))
    }

    /// Checks that an argument of this dtype may be passed to a function with these declarations, and returns the cast that it needs.
    ///
    /// # Errors
    /// `DType` if it is not supported and no mode finds another.
    pub fn argument(self, policy: Policy, declared: Restrictions, index: usize, dtype: DType) -> Result<OperandCast> {
        let supported = declared.dtypes().intersection(self.values());
        let Some(restriction) = declared.excluding(dtype) else { return Ok(None) };
        let candidate = |modes| choose(modes, policy, dtype, supported);
        if let Some(cast) = candidate(self.casting) {
            return Ok(Some(cast));
        }
        let error = ExclusionCause::Declared(restriction)
            .error(format_args!("call: argument {index}"), dtype)
            .fact(format_args!("supported: {supported}"));
        Err(match Mode::ALL.into_iter().find_map(|mode| candidate(CastingModes::from(mode))) {
            Some((to, mode)) => {
                let cast = Casts::new(&[("x", dtype.into())], to).after("pass the argument cast: ");
                error.help(cast).or_rust_help(scope(mode, to))
            }
            None => error.help("pass an argument of a supported dtype"),
        })
    }

    /// Checks that values of this dtype may be made, by a cast or a creation function. Casting modes do not apply: the dtype is explicit.
    ///
    /// # Errors
    /// `DType` if it is not supported.
    pub fn check_value(self, what: &str, dtype: DType) -> Result<()> {
        let lack = match (self.restrictions.excluding(dtype), self.device) {
            (Some(restriction), _) => ExclusionCause::Declared(restriction),
            (None, Some(device)) if device.invalid(dtype).is_some() => {
                ExclusionCause::Unsupported(Unsupported::Invalid(device, dtype))
            }
            (None, _) => return Ok(()),
        };
        let supported = self.values();
        Err(lack.error(what, dtype).fact(format_args!("supported: {supported}")).help("ask for one that is supported"))
    }

    /// The types of `op` and the casts of `modes` that make it supported.
    pub(super) fn adapt(
        self,
        policy: Policy,
        op: Op,
        operands: &[ValueType],
        modes: CastingModes,
    ) -> Result<Adapted, OpRefusal> {
        let (joined, operation) = (op.joined(), Operation::op(op, policy));
        let mut types: SmallVec<[ValueType; 3]> = operands.into();
        let mut casts: SmallVec<[OperandCast; 3]> = SmallVec::from_elem(None, operands.len());
        let values = self.values();
        for (ty, cast) in types[joined.clone()].iter_mut().zip(&mut casts[joined.clone()]) {
            if let ValueType::Strong(dtype) = *ty
                && !values.contains(dtype)
            {
                let chosen = choose(modes, policy, dtype, values).ok_or(OpRefusal::Dtype(DTypeRole::Operand, dtype))?;
                (*ty, *cast) = (chosen.0.into(), Some(chosen));
            }
        }
        // Whether or not the op supports it.
        let computing =
            |types: &[ValueType]| operation.promotion(&types[joined.clone()]).map(|steps| policy.commit(steps.compute));
        let compute = computing(&types).map_err(|clash| OpRefusal::Policy(operation.error(clash, &types)))?;
        let computes = self.computes(op);
        if !computes.contains(compute) {
            let refused = || match self.computes_at_all(op).contains(compute) {
                true => OpRefusal::Dtype(DTypeRole::Result, op.result_dtype(compute)),
                false => OpRefusal::Dtype(DTypeRole::Compute, compute),
            };
            let (to, mode) = choose(modes, policy, compute, computes).ok_or_else(refused)?;
            for weak_too in [false, true] {
                for (ty, cast) in types[joined.clone()].iter_mut().zip(&mut casts[joined.clone()]) {
                    if (weak_too || !ty.is_weak()) && *ty != ValueType::Strong(to) {
                        (*ty, *cast) = (to.into(), Some((to, mode)));
                    }
                }
                if computing(&types) == Ok(to) {
                    break;
                }
            }
            if computing(&types) != Ok(to) {
                return Err(refused());
            }
        }
        if casts.iter().all(Option::is_none) {
            casts.clear();
        }
        Ok(Adapted { types: operation.resolve(&types).map_err(OpRefusal::Policy)?, casts })
    }

    /// The message of a refused op, and the place of the declaration.
    pub(super) fn op_refused(self, op: Op, refused: OpRefusal) -> (String, Option<SourceLoc>) {
        let (role, dtype) = match refused {
            OpRefusal::Policy(error) => return (error.headline().to_owned(), None),
            OpRefusal::Dtype(role, dtype) => (role, dtype),
        };
        match self.lack(op, role, dtype) {
            ExclusionCause::Unsupported(why) if role == DTypeRole::Compute => (why.to_string(), None),
            lack => lack.in_words(&format!("{op} {} {dtype}", role.verb())),
        }
    }

    /// The reason why a dtype is excluded in this role. Declarations do not exclude bool results.
    pub(super) fn lack(self, op: Op, role: DTypeRole, dtype: DType) -> ExclusionCause {
        let allowed = role == DTypeRole::Result && dtype == DType::Bool;
        match self.restrictions.excluding(dtype) {
            Some(restriction) if !allowed => ExclusionCause::Declared(restriction),
            _ => ExclusionCause::Unsupported(
                unsupported(op, dtype, self.device).unwrap_or(Unsupported::Domain(op, dtype)),
            ),
        }
    }

    /// The error with the casts that would help, and the mode that would insert them.
    fn ways_out(self, error: Error, policy: Policy, op: Op, operands: &[ValueType]) -> Error {
        let helps = |mode: Mode| Some((mode, self.adapt(policy, op, operands, mode.into()).ok()?));
        let Some((mode, adapted)) = Mode::ALL.into_iter().find_map(helps) else {
            return match error.way_out() {
                Some(_) => error,
                None => error.help("cast to a dtype that is supported"),
            };
        };
        let or = scope(mode, policy.commit(adapted.types.compute));
        let error = match error.way_out() {
            Some(_) => error,
            None => {
                let named = op.row().operands.iter().zip(operands).zip(&adapted.casts);
                let cast = named.filter_map(|((name, ty), cast)| cast.map(|(to, _)| (*name, *ty, to)));
                let casts = cast.clone().map(|(name, _, to)| CastAdvice::NamedOperand(name, to)).collect();
                let loss = cast.map(|(_, ty, to)| advice::loss([ty], to)).find(|loss| !loss.is_empty());
                error.help(Casts { casts, loss: loss.unwrap_or_default() }.after(EXPLICITLY))
            }
        };
        error.or_rust_help(or)
    }
}

/// The dtype that the modes substitute for one outside `supported`; never one that the policy lacks.
pub(super) fn choose(modes: CastingModes, policy: Policy, dtype: DType, supported: DTypeSet) -> OperandCast {
    let kept = supported.iter().filter(|&dtype| policy.width(dtype) == dtype).collect();
    modes.candidate(dtype, kept, policy.defaults())
}

/// The cause of an exclusion.
pub(super) enum ExclusionCause {
    Declared(Restriction),
    Unsupported(Unsupported),
}

impl ExclusionCause {
    /// The message why the policy's result, `meets`, is refused, and the place of the declaration.
    pub(super) fn in_words(self, meets: &str) -> (String, Option<SourceLoc>) {
        match self {
            ExclusionCause::Declared(restriction) => {
                (format!("{meets}, which is declared unsupported"), Some(restriction.place()))
            }
            ExclusionCause::Unsupported(why) => (format!("{meets}; {why}"), None),
        }
    }

    pub(super) fn error(self, what: impl Display, dtype: DType) -> Error {
        let new = |headline: String| Error::new(ErrorCode::DType, headline).of(what);
        match self {
            ExclusionCause::Declared(restriction) => {
                new(format!("{dtype} is not supported here")).fact(format_args!("declared: {restriction}"))
            }
            ExclusionCause::Unsupported(why) => {
                let headline = match why {
                    Unsupported::Domain(..) => format!("{dtype} is not supported"),
                    Unsupported::Invalid(device, _) => format!("the device {device} has no {dtype}"),
                    Unsupported::Gap(device, ..) => format!("{dtype} is not supported on the device {device}"),
                };
                new(headline).fact(why.because())
            }
        }
    }
}

pub(super) fn scope(mode: Mode, to: DType) -> String {
    let name = match mode {
        Mode::Cross => "CROSS",
        Mode::Up => "UP",
        Mode::Down => "DOWN",
    };
    format!("`with_casting(CastingModes::{name}, || …)` casts to {to}")
}
