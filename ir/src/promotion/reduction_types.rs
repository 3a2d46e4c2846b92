//! A reduction's types: the computing dtype and the result's, or the error with help.
//!
//! Results are never weak: a sum of weak numbers has their default dtype, as in JAX. Errors have no place: callers add
//! it.

use super::advice::{Casts, EXPLICITLY};
use super::op_types::Types;
use super::policy::{Clash, Policy, Refusal};
use super::system::{Accumulate, Defaults};
use crate::dtype::{DType, DTypeSet, Kind};
use crate::error::{Error, ErrorCode, Result};
use crate::help::{CastAdvice, Code, Help};
use crate::reduction::{AxisFunction, Reduction, ReductionRule};
use crate::value_type::{ValueType, Weak};

/// The dtypes of one use of a reduction: the operand is cast to `compute`, and the value to `result`.
pub type ReductionTypes = Types<DType>;

/// The reason why a reduction has no types for an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionMismatch {
    /// The requested dtype is not one of the reduction's.
    Asked(DType),
    /// The policy refuses the operand.
    Clash(Clash),
}

impl ReductionMismatch {
    /// Returns the message, after the reduction's name.
    pub fn headline(self) -> String {
        match self {
            ReductionMismatch::Asked(dtype) => format!("a result of dtype {dtype} is not supported"),
            ReductionMismatch::Clash(clash) => clash.to_string(),
        }
    }
}

impl Policy {
    /// Resolves the dtypes of a reduction, a scan or a sort on an operand of type `operand`, with or without a
    /// requested `dtype`.
    ///
    /// The operand is cast to a requested dtype first, as in NumPy; then only invalid dtypes are refused. For indices
    /// and counts it is only the result's dtype.
    ///
    /// ```
    /// use ndjit_ir::{DType, Policy, Reduction};
    /// let types = Policy::NumPy2.resolve_reduction(Reduction::Sum, None, DType::U8.into())?;
    /// assert_eq!(types.result, DType::U64);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Promotion`](ErrorCode::Promotion) if the policy refuses the operand, [`DType`](ErrorCode::DType) if the
    /// reduction does not support the requested dtype.
    pub fn resolve_reduction(
        self,
        function: impl Into<AxisFunction>,
        dtype: Option<DType>,
        operand: ValueType,
    ) -> Result<ReductionTypes> {
        let reduction = function.into();
        self.reduction_types(reduction, dtype, operand)
            .map_err(|mismatch| self.reduction_error(reduction, operand, mismatch))
    }

    /// A mismatch as an error, with the operand, the reason, and a dtype that would help.
    pub(crate) fn reduction_error(
        self,
        reduction: AxisFunction,
        operand: ValueType,
        mismatch: ReductionMismatch,
    ) -> Error {
        match mismatch {
            ReductionMismatch::Asked(refused) => self.refused_dtype(reduction, refused),
            ReductionMismatch::Clash(clash) => self.no_type(reduction, operand, clash),
        }
    }

    /// Resolves dtypes like [`resolve_reduction`](Policy::resolve_reduction), with a mismatch instead of an error.
    ///
    /// # Errors
    /// Those of [`resolve_reduction`](Policy::resolve_reduction).
    pub fn reduction_types(
        self,
        reduction: AxisFunction,
        dtype: Option<DType>,
        operand: ValueType,
    ) -> Result<ReductionTypes, ReductionMismatch> {
        let asked = dtype.map(|dtype| self.width(dtype));
        match asked.filter(|&dtype| !(reduction.takes_dtype() && gives(reduction).contains(dtype))) {
            Some(refused) => Err(ReductionMismatch::Asked(refused)),
            None => self.reduction(reduction, asked, operand).map_err(ReductionMismatch::Clash),
        }
    }

    fn reduction(
        self,
        reduction: AxisFunction,
        asked: Option<DType>,
        operand: ValueType,
    ) -> Result<ReductionTypes, Clash> {
        let rule = reduction.row().rule;
        let (mut own, mut operand) = (self.width(self.commit(operand)), operand);
        if asked.is_none() || rule == ReductionRule::Index {
            // This refuses types that the system lacks, unless a cast comes first.
            let joined = self.fold(std::iter::once(ValueType::Strong(own)))?;
            if joined != ValueType::Strong(own) {
                (own, operand) = (self.commit(joined), joined);
            }
        }
        let inexact = |dtype: DType| if is_inexact(dtype) { dtype } else { self.width(DType::F64) };
        let same = |dtype| ReductionTypes { compute: dtype, result: dtype };
        let or = |policys: fn(Policy, ValueType) -> Result<ValueType, Clash>| match asked {
            Some(dtype) => Ok(dtype),
            None => policys(self, operand).map(|ty| self.commit(ty)),
        };
        Ok(match rule {
            ReductionRule::Sum => same(or(Policy::sum)?),
            ReductionRule::Product => same(or(Policy::product)?),
            ReductionRule::Mean | ReductionRule::Exponential => {
                let result = or(if rule == ReductionRule::Mean { Policy::mean } else { Policy::exponential })?;
                ReductionTypes { compute: inexact(result), result }
            }
            ReductionRule::Variance | ReductionRule::Norm => {
                let of = match asked {
                    Some(real) if own.is_complex() => real.complex(),
                    Some(dtype) => dtype,
                    None => inexact(self.width(self.commit(self.inexact(self.rules().variance, operand)?))),
                };
                ReductionTypes { compute: of, result: asked.unwrap_or(of.real()) }
            }
            ReductionRule::Same => same(own),
            ReductionRule::Bool => same(DType::Bool),
            ReductionRule::Index => {
                let compute = if reduction == Reduction::CountNonzero.into() { DType::Bool } else { own };
                ReductionTypes { compute, result: asked.unwrap_or(self.index_dtype()) }
            }
        })
    }

    fn refused_dtype(self, reduction: AxisFunction, asked: DType) -> Error {
        let rule = reduction.row().rule;
        let example = match rule {
            ReductionRule::Same | ReductionRule::Bool => None,
            ReductionRule::Variance | ReductionRule::Norm => Some(self.default_dtype(Weak::Float)),
            ReductionRule::Sum
            | ReductionRule::Product
            | ReductionRule::Mean
            | ReductionRule::Exponential
            | ReductionRule::Index => Some(self.default_dtype(Weak::Int)),
        };
        let ask = |dtype| {
            let ask = Help::from("ask for one of these, as in ").code(Code::WithDType(reduction.name().into(), dtype));
            ask.text(", or ")
        };
        let cast = CastAdvice::SourceText(format!("{reduction}(…)"), asked);
        let gives =
            if rule == ReductionRule::Same { "the operand's dtype".to_owned() } else { gives(reduction).to_string() };
        Error::new(ErrorCode::DType, ReductionMismatch::Asked(asked).headline())
            .of(reduction)
            .fact(format_args!("{reduction} gives: {gives}"))
            .help(example.map_or_else(Help::default, ask).text("cast the result: ").casts([cast]))
    }

    fn no_type(self, reduction: AxisFunction, operand: ValueType, clash: Clash) -> Error {
        let name = reduction.row().operands[0];
        let error = Error::new(ErrorCode::Promotion, ReductionMismatch::Clash(clash).headline())
            .of(reduction)
            .operand(format_args!("{name}: {operand}"));
        let error = match clash.reason() {
            Some(reason) => error.fact(reason),
            None => error,
        };
        let resolves = |asked, operand: ValueType| self.reduction(reduction, asked, operand).is_ok();
        let Some(to) = self.instead(reduction, operand).find(|&to| resolves(None, to.into())) else { return error };
        let may_ask = reduction.takes_dtype() && gives(reduction).contains(to) && resolves(Some(to), operand);
        let cast = Casts::new(&[(name, operand)], to);
        error.help(match may_ask {
            true => {
                let ask = Help::from("ask for a dtype, as in ").code(Code::WithDType(reduction.name().into(), to));
                cast.after(ask.text(", or cast: "))
            }
            false => cast.after(EXPLICITLY),
        })
    }

    /// Returns the dtypes to suggest instead of an operand's, best first.
    fn instead(self, reduction: AxisFunction, operand: ValueType) -> impl Iterator<Item = DType> {
        let Defaults { int, float, complex } = self.defaults();
        let best = match (operand.kind(), reduction.row().rule) {
            (Kind::Complex, _) => complex,
            (Kind::Float, _)
            | (_, ReductionRule::Mean | ReductionRule::Exponential | ReductionRule::Variance | ReductionRule::Norm) => {
                float
            }
            (Kind::Bool | Kind::UInt | Kind::Int, _) => int,
        };
        // Dtypes of the operand's kind or a higher one come first: a cast to a lower kind loses more than the policy
        // requires.
        let kind = move |dtype: &DType| dtype.kind() >= operand.kind();
        let all = DType::ALL.into_iter();
        [best].into_iter().chain(all.clone().filter(kind)).chain([float, int]).chain(all.rev())
    }

    /// Returns the type of a sum of elements of type `ty`.
    ///
    /// # Errors
    /// The refusal.
    pub fn sum(self, ty: ValueType) -> Result<ValueType, Clash> {
        self.accumulate(self.rules().sum, ty)
    }

    /// Returns the type of a product of elements of type `ty`.
    ///
    /// # Errors
    /// The refusal.
    pub fn product(self, ty: ValueType) -> Result<ValueType, Clash> {
        self.accumulate(self.rules().product, ty)
    }

    fn accumulate(self, rule: Accumulate, ty: ValueType) -> Result<ValueType, Clash> {
        let Defaults { int, float, complex } = self.defaults();
        let dtype = self.commit(ty);
        let at_least = |default: DType| if dtype.bytes() >= default.bytes() { dtype } else { default };
        let widened = match (rule, dtype.kind()) {
            (Accumulate::Same | Accumulate::WidenIntegers, Kind::Bool) => {
                return Err(Clash { policy: self, refusal: Refusal::Number });
            }
            (Accumulate::Widen | Accumulate::DefaultInt, Kind::Bool) => int,
            (Accumulate::SameBoolTo(number), Kind::Bool) => number,
            (Accumulate::WidenAll, Kind::Bool) | (Accumulate::Same | Accumulate::SameBoolTo(_), _) => dtype,
            (Accumulate::WidenAll, Kind::Float) => at_least(float),
            (Accumulate::WidenAll, Kind::Complex) => at_least(complex),
            (_, Kind::Float | Kind::Complex) => dtype,
            (Accumulate::DefaultInt, _) if dtype.bytes() <= int.bytes() => int,
            (_, Kind::UInt) => at_least(int.unsigned()),
            (_, Kind::Int) => at_least(int),
        };
        Ok(ValueType::Strong(self.width(widened)))
    }

    /// Returns the type of a mean of elements of type `ty`, strong like that of a sum.
    ///
    /// # Errors
    /// The refusal.
    pub fn mean(self, ty: ValueType) -> Result<ValueType, Clash> {
        let dtype = self.commit(self.inexact(self.rules().mean, ty)?);
        if dtype == DType::Bool {
            // It stays bool only if bool is a number.
            self.number(ty)?;
        }
        Ok(ValueType::Strong(self.width(dtype)))
    }
}

impl Policy {
    /// Returns the type of a sum of exponentials of elements of type `ty`.
    ///
    /// # Errors
    /// The refusal.
    fn exponential(self, ty: ValueType) -> Result<ValueType, Clash> {
        let dtype = self.width(self.commit(self.inexact(self.rules().inexact, ty)?));
        match is_inexact(dtype) {
            true => Ok(ValueType::Strong(dtype)),
            false => Err(Clash { policy: self, refusal: Refusal::Inexact(ty) }),
        }
    }
}

fn is_inexact(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

/// Returns the possible result dtypes of a reduction.
pub fn gives(reduction: AxisFunction) -> DTypeSet {
    match reduction.row().rule {
        ReductionRule::Sum
        | ReductionRule::Product
        | ReductionRule::Mean
        | ReductionRule::Exponential
        | ReductionRule::Same => DTypeSet::ALL,
        ReductionRule::Variance | ReductionRule::Norm => DTypeSet::FLOAT,
        ReductionRule::Bool => DTypeSet::BOOL,
        ReductionRule::Index => DTypeSet::INT,
    }
}
