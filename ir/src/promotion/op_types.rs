//! An op's types: the computing type and the result type, or the error with suggested casts.
//!
//! The policy determines the computing type; the op's table row adds arity, domain and result. Errors have no place:
//! callers add it.

use super::advice::{self, Casts, EXPLICITLY};
use super::lattice;
use super::policy::{Clash, Policy};
use crate::dtype::{DType, Kind};
use crate::error::{Error, ErrorCode, Result};
use crate::help::{CastAdvice, Code, Help};
use crate::op::{Op, ResultRule, TypeRule};
use crate::support::Unsupported;
use crate::value_type::{ValueType, Weak};

/// The types of one use of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types<T> {
    /// The type that operands are cast to.
    pub compute: T,
    /// The type of its result.
    pub result: T,
}

/// The types of one use of an op. [`Op::operand_dtype`] derives each operand's dtype from `compute`. The result is weak
/// if `compute` is, but bool is always strong.
pub type OpTypes = Types<ValueType>;

/// The reason why an op has no types for its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpMismatch {
    /// The number of operands is wrong.
    Arity(usize),
    /// The second operand, an exponent or a count, has this type instead of an integer.
    NoInteger(ValueType),
    /// The operands have no common type in the policy.
    Clash(Clash),
    /// The common type is outside the op's domain.
    Domain(ValueType),
}

impl OpMismatch {
    /// Returns the message, after the op's name.
    pub fn headline(self, op: Op) -> String {
        match self {
            OpMismatch::Arity(given) => {
                let plural = if op.arity() == 1 { "" } else { "s" };
                format!("takes {} operand{plural}, {given} given", op.arity())
            }
            OpMismatch::NoInteger(ty) => format!("{} is {ty}, not an integer", op.row().operands[1]),
            OpMismatch::Clash(clash) => clash.to_string(),
            OpMismatch::Domain(compute) => format!("{compute} is not supported"),
        }
    }
}

impl Policy {
    /// Resolves the types of `op` on operands of the given types, in order.
    ///
    /// ```
    /// use ndjit_ir::{DType, Op, Policy, Weak};
    /// let types = Policy::Standard.resolve_op(Op::Divide, &[DType::U8.into(), Weak::Int.into()])?;
    /// assert_eq!(types.result, DType::F32.into());
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// [`Arity`](ErrorCode::Arity) for a wrong number of operands, [`Promotion`](ErrorCode::Promotion) if the policy
    /// defines no common type, [`Dtype`](ErrorCode::DType) if the op does not support the common type (a weak one
    /// counts as its default dtype).
    pub fn resolve_op(self, op: Op, operands: &[ValueType]) -> Result<OpTypes> {
        self.op_types(op, operands).map_err(|mismatch| self.op_error(op, operands, mismatch))
    }

    /// A mismatch as an error, with the operands, the reason, and casts that would help.
    pub(crate) fn op_error(self, op: Op, operands: &[ValueType], mismatch: OpMismatch) -> Error {
        match mismatch {
            OpMismatch::Arity(_) => Error::new(ErrorCode::Arity, mismatch.headline(op))
                .of(op)
                .fact(format_args!("operands: {op}({})", op.row().operands.join(", "))),
            OpMismatch::NoInteger(_) => self.no_integer(op, operands),
            OpMismatch::Clash(clash) => self.no_common_type(op, operands, clash),
            OpMismatch::Domain(compute) => self.not_supported(op, operands, compute),
        }
    }

    /// Resolves types like [`resolve_op`](Policy::resolve_op), with a mismatch instead of an error.
    ///
    /// # Errors
    /// Those of [`resolve_op`](Policy::resolve_op).
    #[inline]
    pub fn op_types(self, op: Op, operands: &[ValueType]) -> Result<OpTypes, OpMismatch> {
        if operands.len() != op.arity() {
            return Err(OpMismatch::Arity(operands.len()));
        }
        if matches!(op.row().rule, TypeRule::Ldexp | TypeRule::Shift)
            && !matches!(operands[1].kind(), Kind::Bool | Kind::UInt | Kind::Int)
        {
            return Err(OpMismatch::NoInteger(operands[1]));
        }
        let compute = self.resolve_for(op, op.row().rule, operands).map_err(OpMismatch::Clash)?.compute;
        if !op.row().domain.contains(self.commit(compute)) {
            return Err(OpMismatch::Domain(compute));
        }
        Ok(OpTypes { compute, result: self.weak_result(self.result_of(op, compute)) })
    }

    /// Returns the result's type for a computing type.
    #[inline]
    fn result_of(self, op: Op, compute: ValueType) -> ValueType {
        let real = self.default_dtype(Weak::Complex).real();
        match (op.row().result, compute) {
            (ResultRule::Bool, _) => ValueType::Strong(DType::Bool),
            // The op computes in the default complex dtype, so a weak float may have another width (TensorFlow's f32
            // beside c128).
            (ResultRule::Real, ValueType::Weak(Weak::Complex)) if real == self.default_dtype(Weak::Float) => {
                ValueType::Weak(Weak::Float)
            }
            (ResultRule::Real, ValueType::Weak(Weak::Complex)) => ValueType::Strong(real),
            (ResultRule::Real, ValueType::Strong(dtype)) => ValueType::Strong(dtype.real()),
            (ResultRule::Complex, ty) => ValueType::Strong(self.commit(ty).complex()),
            (ResultRule::Int32, _) => ValueType::Strong(DType::I32),
            (ResultRule::Real, ValueType::Weak(Weak::Int | Weak::Float)) | (ResultRule::Same, _) => compute,
        }
    }

    /// Returns the error of a second operand, an exponent or a count, that is not an integer.
    fn no_integer(self, op: Op, operands: &[ValueType]) -> Error {
        let error = Error::new(ErrorCode::DType, OpMismatch::NoInteger(operands[1]).headline(op)).of(op);
        let because = match op.row().rule {
            TypeRule::Shift => "it counts places (https://doc.rust-lang.org/std/primitive.u64.html#method.rotate_left)",
            _ => "it is the exponent of two (https://numpy.org/doc/stable/reference/generated/numpy.ldexp.html)",
        };
        let error = operand_facts(error, op, operands).fact(format_args!("because: {because}"));
        let integers = [operands[0], DType::I32.into()];
        let others = self.op_types(op, &integers).is_err().then(|| self.casts_to_write(op, operands)).flatten();
        let mut casts = others.unwrap_or_default();
        casts.casts.push(CastAdvice::NamedOperand(op.row().operands[1], DType::I32));
        error.help(casts.after(EXPLICITLY))
    }

    fn not_supported(self, op: Op, operands: &[ValueType], compute: ValueType) -> Error {
        let error = Error::new(ErrorCode::DType, OpMismatch::Domain(compute).headline(op)).of(op);
        let error = operand_facts(error, op, operands)
            .fact(Unsupported::Domain(op, self.commit(compute)).because())
            .fact(format_args!("accepted: {}", op.row().domain));
        let Some(casts) = self.casts_to_write(op, operands) else { return error.help(ELSEWHERE) };
        let joined = &operands[op.joined()];
        let all_integer = joined.iter().all(|ty| matches!(ty.kind(), Kind::UInt | Kind::Int));
        let why: &str = match compute.kind() {
            Kind::Complex if op.row().result == ResultRule::Complex => {
                "the parts are real numbers; a cast drops the imaginary part: "
            }
            Kind::Complex => "abs gives the modulus; a cast drops the imaginary part: ",
            Kind::Float if all_integer => "no integer type holds both operands; cast explicitly: ",
            Kind::Float if op == Op::BitwiseXor => {
                let powers =
                    Help::from("powers are ").code(Code::Power).text(", `^` is about bits; a cast truncates: ");
                return error.help(casts.after(powers));
            }
            Kind::Float if !op.row().domain.contains(DType::F64) => "a cast truncates: ",
            Kind::Float | Kind::Bool | Kind::UInt | Kind::Int => EXPLICITLY,
        };
        error.help(casts.after(why))
    }

    fn no_common_type(self, op: Op, operands: &[ValueType], clash: Clash) -> Error {
        let error = Error::new(ErrorCode::Promotion, OpMismatch::Clash(clash).headline(op)).of(op);
        let mut error = operand_facts(error, op, operands);
        if let Some(reason) = clash.reason() {
            error = error.fact(reason);
        }
        match self.casts_to_write(op, operands) {
            Some(casts) => error.help(casts.after(EXPLICITLY)),
            None => error.help(ELSEWHERE),
        }
    }

    /// Returns casts that make the op accept its operands, the most natural dtype first. Operands of the dtype itself
    /// are not cast if that suffices. Each suggestion is resolved first.
    fn casts_to_write(self, op: Op, operands: &[ValueType]) -> Option<Casts> {
        let met = op.joined();
        let accepted = |operands: &[ValueType]| {
            let resolved = self.resolve_for(op, op.row().rule, operands);
            resolved.is_ok_and(|resolution| op.row().domain.contains(self.commit(resolution.compute)))
        };
        for target in self.targets(op, operands) {
            let strong = ValueType::Strong(target);
            let agrees = |ty: ValueType| self.join(ty, strong) == Some(strong);
            let is_target = |ty: ValueType| ty == strong;
            for fine in [&agrees as &dyn Fn(ValueType) -> bool, &is_target] {
                let mut mended = operands.to_vec();
                for ty in mended[met.clone()].iter_mut().filter(|ty| !fine(**ty)) {
                    *ty = strong;
                }
                if accepted(&mended) {
                    let named = op.row().operands.iter().zip(operands).take(met.end).skip(met.start);
                    let named = named.filter(|(_, ty)| !fine(**ty)).map(|(&name, &ty)| (name, ty));
                    return Some(Casts::new(&named.collect::<Vec<_>>(), target));
                }
            }
        }
        None
    }

    /// Returns the dtypes to suggest for a cast, best first: [the join](advice::meeting), the real part's dtype, the
    /// promoted dtype of those operands that the op supports, the default float for floats that the policy refuses,
    /// integers for bools, integers of the same width for floats, the default float, any dtype of the op.
    fn targets(self, op: Op, operands: &[ValueType]) -> impl Iterator<Item = DType> {
        let domain = op.row().domain;
        let join_of = |takes: &dyn Fn(ValueType) -> bool| {
            let operands = operands[op.joined()].iter().copied().filter(|ty| takes(*ty));
            operands.reduce(lattice::join).map(|ty| self.commit(ty))
        };
        let all = advice::meeting(self, &operands[op.joined()]);
        let taken = join_of(&|ty| domain.contains(self.commit(ty)));
        let integer = all.map(|dtype| match dtype {
            DType::Bool => self.default_dtype(Weak::Int),
            // The join of integers is a float for u64 and a signed integer.
            _ if taken.is_some_and(DType::is_float) => DType::I64,
            DType::F16 | DType::Bf16 => DType::I16,
            DType::F64 | DType::C128 => DType::I64,
            _ => DType::I32,
        });
        let float = Some(self.default_dtype(Weak::Float));
        // Not every policy supports every float.
        let kept = float.filter(|_| all.is_some_and(|dtype| dtype.is_float() || dtype.is_complex()));
        let best = [all, all.filter(|dtype| dtype.is_complex()).map(DType::real), taken, kept, integer, float];
        best.into_iter().flatten().chain(domain.iter())
    }
}

/// The help for a policy without any dtype that the op supports.
const ELSEWHERE: &str = "this policy computes in no dtype that is accepted: compute under another, as in `with_policy(Policy::Standard, || …)`";

/// Adds one fact per operand: its name, aligned, and its type.
fn operand_facts(error: Error, op: Op, operands: &[ValueType]) -> Error {
    let names = op.row().operands;
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0) + 1;
    names.iter().zip(operands).fold(error, |error, (name, ty)| {
        let label = format!("{name}:");
        error.operand(format_args!("{label:width$} {ty}"))
    })
}
