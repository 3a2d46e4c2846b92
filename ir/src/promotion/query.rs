//! Questions about types alone: what several would meet in, and whether one goes into another.
//!
//! No op is involved, so operands have positions instead of names. Errors carry no place: who calls knows it and adds it.

use super::advice;
use super::policy::{Clash, Policy};
use crate::dtype::DType;
use crate::error::{Error, ErrorCode, Result};
use crate::op::TypeRule;
use crate::value_type::ValueType;

impl Policy {
    /// The type that values of both types meet in: [`join`](Policy::join), with an error that says more.
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
    /// `Promotion` where the policy defines none.
    pub fn promote_types(self, left: impl Into<ValueType>, right: impl Into<ValueType>) -> Result<ValueType> {
        self.common_type("promote_types", TypeRule::Join, &[left.into(), right.into()])
    }

    /// The type that operands of all these types meet in, in this order where order matters to the policy.
    ///
    /// # Errors
    /// `Promotion` where the policy defines none; `Arity` for no operands.
    pub fn result_type(self, operands: &[ValueType]) -> Result<ValueType> {
        if operands.is_empty() {
            return Err(Error::new(ErrorCode::Arity, "no operands, so no type")
                .of("result_type")
                .help("give at least one operand"));
        }
        self.common_type("result_type", TypeRule::Join, operands)
    }

    /// Returns `true` if promotion takes values of type `from` to `to`: whether both meet in `to`. This is the Array API's
    /// [`can_cast`](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.can_cast.html). What NumPy calls so
    /// is [`Casting::allows`](crate::dtype::Casting::allows).
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

    /// The type in which `what` computes on operands that meet by `rule`.
    ///
    /// # Errors
    /// `Promotion` where the policy defines none.
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
            Some(dtype) => error.help(format!(
                "cast to one dtype first, for example `.cast(DType::{dtype:?})`{}",
                advice::loss(operands.iter().copied(), dtype)
            )),
            None => error,
        }
    }
}
