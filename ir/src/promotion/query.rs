//! Queries about types: the common type of several, and whether one promotes to another.
//!
//! No op is involved, so operands have indices instead of names. Errors have no place: callers add it.

use super::advice;
use super::policy::{Clash, Policy};
use crate::dtype::DType;
use crate::error::{Error, ErrorCode, Result};
use crate::help::{Code, Help};
use crate::op::TypeRule;
use crate::value_type::ValueType;

impl Policy {
    /// Returns the common type of both, like [`join`](Policy::join), with a more detailed error.
    ///
    /// ```
    /// use ndjit_ir::{DType, Policy, Weak};
    /// assert_eq!(Policy::Standard.promote_types(DType::U8, DType::I8)?, DType::I16.into());
    /// assert_eq!(Policy::Standard.promote_types(DType::U8, Weak::Int)?, DType::U8.into());
    /// assert!(Policy::Strict.promote_types(DType::U8, DType::I8).is_err());
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Promotion` if the policy defines none.
    pub fn promote_types(self, left: impl Into<ValueType>, right: impl Into<ValueType>) -> Result<ValueType> {
        self.common_type("promote_types", TypeRule::Join, &[left.into(), right.into()])
    }

    /// Returns the common type of all these types, in this order if order matters to the policy.
    ///
    /// # Errors
    /// `Promotion` if the policy defines none; `Arity` for no operands.
    pub fn result_type(self, operands: &[ValueType]) -> Result<ValueType> {
        if operands.is_empty() {
            return Err(Error::new(ErrorCode::Arity, "no operands, so no type")
                .of("result_type")
                .help("give at least one operand"));
        }
        self.common_type("result_type", TypeRule::Join, operands)
    }

    /// Returns `true` if values of type `from` promote to `to`: `to` is their common type. This is the Array API's
    /// [`can_cast`](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.can_cast.html).
    /// NumPy's function of that name is [`Casting::allows`](crate::dtype::Casting::allows).
    ///
    /// ```
    /// use ndjit_ir::{DType, Policy, Weak};
    /// assert!(Policy::Standard.can_cast(DType::I64, DType::F16));
    /// assert!(!Policy::Standard.can_cast(Weak::Float, DType::I64));
    /// assert!(!Policy::Strict.can_cast(DType::I8, DType::I64));
    /// ```
    pub fn can_cast(self, from: impl Into<ValueType>, to: DType) -> bool {
        let to = ValueType::from(self.width(to));
        self.join(from.into(), to) == Some(to)
    }

    /// Returns the type in which `what` computes on operands with the rule `rule`.
    ///
    /// # Errors
    /// `Promotion` if the policy defines none.
    pub fn common_type(self, what: &str, rule: TypeRule, operands: &[ValueType]) -> Result<ValueType> {
        self.resolve(rule, operands).map(|r| r.compute).map_err(|clash| self.undefined_type(what, operands, clash))
    }

    fn undefined_type(self, what: &str, operands: &[ValueType], clash: Clash) -> Error {
        let types: Vec<&str> = operands.iter().map(|ty| ty.name()).collect();
        let mut error = Error::new(ErrorCode::Promotion, clash.to_string())
            .of(what)
            .fact(format_args!("the types: {}", types.join(", ")));
        if let Some(reason) = clash.reason() {
            error = error.fact(reason);
        }
        match advice::meeting(self, operands) {
            Some(dtype) => error.help(
                Help::from("cast to one dtype first, for example ")
                    .code(Code::CastAfter(dtype))
                    .text(advice::loss(operands.iter().copied(), dtype)),
            ),
            None => error,
        }
    }
}
