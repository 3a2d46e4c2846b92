//! Every op as a function of terms, for formulas.

#![allow(dead_code, reason = "one for each row of the op table; formulas need some")]

use super::SlopeTerm;
use ndjit_ir::Op;

macro_rules! functions {
    ($($variant:ident $name:ident($($operand:ident)*) $rule:ident $($domain:ident)|+ $result:ident
        $accuracy:ident $(($ulp:literal))? [$($law:ident)*] $doc:literal ($($example:literal),*) $shown:literal;)*) => {
        $(pub(crate) fn $name<'a>($($operand: SlopeTerm<'a>),*) -> SlopeTerm<'a> {
            SlopeTerm::op(Op::$variant, &[$($operand),*])
        })*
    };
}

ndjit_ir::op_table!(functions);
