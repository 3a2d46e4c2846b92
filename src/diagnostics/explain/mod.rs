//! Explanations of dtypes: [`Explanation`]s, the [first widening](Widening) and its lint, the inserted casts, and a
//! function under several policies.
//!
//! | question | method |
//! |---|---|
//! | why this dtype? | [`Jitted::explain_dtype`](crate::Jitted::explain_dtype), [`Traced::explain_dtype`](crate::jit::Traced::explain_dtype), [`Expr::explain_dtype`](crate::Expr::explain_dtype), [`Array::explain_dtype`](crate::Array::explain_dtype) |
//! | where did a dtype first widen? | [`Jitted::first_widening`](crate::Jitted::first_widening); [`Jitted::on_widening`](crate::Jitted::on_widening) warns of it |
//! | which casts were inserted, and why? | [`Jitted::casts`](crate::Jitted::casts), and the text of [`Stage::Typed`](crate::Stage::Typed) |
//! | what would another policy do? | [`Jitted::policy_diff`](crate::Jitted::policy_diff) |

mod policy_diff;

pub use crate::api::config::Lint;
pub use ndjit_inspect::explain::{Explanation, Origin, Rule, Step, Term, Widening, joining};
pub use policy_diff::{DiffRow, PolicyDiff};

use crate::diagnostics::report::report;
use ndjit_codegen::Lowered;
use ndjit_inspect::explain::{self, ParamSource};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::promotion::Policy;
use ndjit_ir::{DType, Result, ValueType};
use ndjit_runtime::stderr;
use std::fmt;

/// A cast of a compiled program, with its causes.
///
/// ```
/// use ndjit::{Array, DType, jit};
///
/// let f = jit(|x, y| x + y);
/// f.call((&Array::from([1.0f32]), &Array::from([1i8])))?;
/// let casts = f.casts();
/// assert_eq!((casts[0].from, casts[0].to), (DType::I8, DType::F32));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertedCast {
    /// The dtype before the cast.
    pub from: DType,
    /// The dtype after the cast.
    pub to: DType,
    /// The uses that require the cast, each with its rule; several if they share it.
    pub reasons: Vec<String>,
}

impl fmt::Display for InsertedCast {
    /// Writes a line such as `i8 to f32: operand y of add at src/main.rs:10:24: join f32 ∨ i8 = f32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}: {}", self.from, self.to, self.reasons.join(" | "))
    }
}

/// Returns all casts of a program, followed by those of its control flow.
pub(crate) fn casts(lowered: &Lowered) -> Vec<InsertedCast> {
    let all = explain::casts(lowered).into_iter();
    all.map(|(from, to, reasons)| InsertedCast { from, to, reasons }).collect()
}

/// Applies the lint to the first widening: warns, or returns an error.
pub(crate) fn check(
    graph: &Graph<ValueType>,
    places: &SourceLocs,
    inputs: &[ParamSource],
    policy: Policy,
    lint: Lint,
) -> Result<()> {
    if lint == Lint::Allow {
        return Ok(());
    }
    let Some(widening) = explain::first_widening(graph, places, inputs, policy) else { return Ok(()) };
    let error = explain::widened(&widening);
    match lint {
        Lint::Deny => Err(error),
        Lint::Allow | Lint::Warn => {
            let report = report(&error);
            stderr::line(report.replacen("error[promotion]", "warning[widening]", 1));
            Ok(())
        }
    }
}
