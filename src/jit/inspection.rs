//! Inspection of a jitted function: the stages of the last call's program, and explanations of its dtypes.

use crate::diagnostics::explain::{InsertedCast, PolicyDiff, casts};
use crate::diagnostics::inspect::{self, StageDiff};
use crate::diagnostics::misses;
use crate::jit::function::JitFn;
use crate::jit::jitted::Jitted;
use crate::jit::spec::Spec;
use crate::jit::stage::Stage;
use crate::jit::staged;
use ndjit_eval::plan::compiled::Plan;
use ndjit_inspect::explain::{Explanation, Widening};
use ndjit_inspect::forms::{self, PictureFormat};
use ndjit_ir::promotion::Policy;
use ndjit_ir::{Result, SourceLoc};
use std::path::Path;
use std::sync::Arc;

impl<M, const N: usize, F: JitFn<M, N>> Jitted<M, N, F> {
    /// Returns the text of a stage, for the signature of the last call. Before the first call, the text is the error
    /// message of the other methods, such as [`svg`](Jitted::svg).
    ///
    /// ```
    /// use ndjit::{Array, Stage, jit};
    ///
    /// let f = jit(|x| x + 1);
    /// assert!(f.explain(Stage::Simplified).contains("the function was not called yet"));
    /// f.call((&Array::from([1.0f32]),))?;
    /// assert!(f.explain(Stage::Simplified).contains("add %0"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain(&self, stage: Stage) -> String {
        self.last().map_or_else(|error| error.to_string(), |plan| plan.explain(stage.of_program()))
    }

    /// Writes a page of all stages of the last call's program side by side, for a browser: source lines, graphs, loops,
    /// and processor and GPU code. Hovering over an item highlights it in all stages. Each kernel has a colour, and
    /// each operation explains its dtype; a chart shows the arrays in memory over time. The page is one file and needs
    /// no network.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x, y| x + y * 2);
    /// f.call((&Array::from([1.0f32]), &Array::from([2i8])))?;
    /// # let folder = std::env::temp_dir().join(format!("ndjit-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("out.html");
    /// f.explain_html(&path)?;
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` before the first call; `Io` if the file cannot be written.
    pub fn explain_html(&self, path: impl AsRef<Path>) -> Result<()> {
        self.last()?.inspection().write_page(path.as_ref(), None)
    }

    /// Returns a stage of the last call's program in the DOT language of Graphviz: graphs, kernels and loops as
    /// clusters of statements.
    ///
    /// ```
    /// use ndjit::{Array, Stage, jit};
    ///
    /// let f = jit(|x, y| x + y * 2);
    /// f.call((&Array::from([1.0f32, 2.0]), 3))?;
    /// assert!(f.dot(Stage::Simplified)?.starts_with("digraph \"simplified\" {"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` before the first call and for a stage without a drawing; `Size` for one of more than 10000 nodes.
    pub fn dot(&self, stage: Stage) -> Result<String> {
        forms::stage(&self.last()?.lowered, stage.of_program(), PictureFormat::Dot)
    }

    /// Draws a stage of the last call's program as an SVG document: graphs, kernels and loops.
    ///
    /// ```no_run
    /// use ndjit::{Array, Stage, jit};
    ///
    /// let f = jit!(|x| x / x.sum(-1));
    /// f.call((&Array::from([1.0f32, 2.0]),))?;
    /// std::fs::write("kernels.svg", f.svg(Stage::Kernels)?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` before the first call and for a stage without a drawing; `Size` for one of more than 10000 nodes.
    pub fn svg(&self, stage: Stage) -> Result<String> {
        forms::stage(&self.last()?.lowered, stage.of_program(), PictureFormat::Svg)
    }

    /// Returns a stage of the last call's program as JSON (feature `json`).
    ///
    /// ```
    /// use ndjit::{Array, Stage, jit};
    ///
    /// let f = jit(|x| x * 2);
    /// f.call((&Array::from([1.0f32]),))?;
    /// assert!(f.json(Stage::Typed)?.contains("multiply"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` before the first call.
    #[cfg(feature = "json")]
    pub fn json(&self, stage: Stage) -> Result<String> {
        Ok(forms::stage_json(&self.last()?.lowered, stage.of_program(), || self.explain(stage)))
    }

    /// Compares a stage for two signatures, line by line.
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let f = jit(|x, y| x + y * 2);
    /// let (one, other) = ([spec(DType::F32, [3]), spec(DType::I8, [3])], [spec(DType::F32, [3]), spec(DType::F32, [3])]);
    /// println!("{}", f.diff(&one, &other, Stage::Typed)?);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`trace`](Jitted::trace) and [`Traced::lower`](crate::jit::Traced::lower).
    #[track_caller]
    pub fn diff(&self, from: &[Spec], to: &[Spec], stage: Stage) -> Result<StageDiff> {
        staged::diff::<M, N, F>(&self.core, [from, to], stage, SourceLoc::caller())
    }

    fn last(&self) -> Result<Arc<Plan>> {
        self.core.plans.last().ok_or_else(inspect::not_called)
    }

    /// Explains the dtype of a result of the last call. `None` before the first call and for an index out of range.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x, y| x + y);
    /// f.call((&Array::from([1u32]), &Array::from([1i32])))?;
    /// let why = f.explain_dtype(0).unwrap();
    /// assert_eq!(why.cause().unwrap().rules[0].to_string(), "join u32 ∨ i32 = i64");
    /// println!("{why}");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain_dtype(&self, result: usize) -> Option<Explanation> {
        self.core.plans.last()?.explain_dtype(result)
    }

    /// Returns the first operation of the last call that [widened](Widening) a dtype: its result has more bytes than
    /// each of its array operands. For arrays of two dtypes that join to one of them, see [`casts`](Jitted::casts).
    ///
    /// ```
    /// use ndjit::{Array, jit, strong};
    ///
    /// let f = jit(|x| x * strong(2.5));
    /// f.call((&Array::from([1.0f32]),))?;
    /// assert!(f.first_widening().unwrap().to_string().starts_with("f32 in, f64 out"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn first_widening(&self) -> Option<Widening> {
        self.core.plans.last()?.first_widening()
    }

    /// Returns the casts of the last call's program, each with its cause. Before the first call there are none.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x, y| x + y);
    /// f.call((&Array::from([1.0f32]), &Array::from([1i8])))?;
    /// assert!(f.casts()[0].to_string().starts_with("i8 to f32: operand y of add"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn casts(&self) -> Vec<InsertedCast> {
        self.core.plans.last().map_or_else(Vec::new, |plan| casts(&plan.lowered))
    }

    /// Traces the function for arguments of these types under each policy, ignoring its own, and compares the dtypes:
    /// one row per operation, one column per policy. Functions inlined here keep policies of their own.
    ///
    /// ```
    /// use ndjit::{DType, Policy, jit, spec};
    ///
    /// let f = jit(|x, y| x * 2 + y);
    /// let diff = f.policy_diff(&[spec(DType::U32, [3]), spec(DType::I32, [3])], &[Policy::Standard, Policy::Strict])?;
    /// assert_eq!(diff.rows().len(), 2);
    /// assert_eq!(diff.first_difference(), Some(1));
    /// println!("{diff}");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Arity` if the number of specs differs from that of parameters. Operations that a policy refuses are part of the
    /// table.
    #[track_caller]
    pub fn policy_diff(&self, specs: &[Spec], policies: &[Policy]) -> Result<PolicyDiff> {
        staged::policy_diff(&self.core, specs, policies, SourceLoc::caller())
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Jitted<M, N, F> {
    /// Returns the cache misses: calls that traced the function and made a plan. Each miss has the nearest known
    /// signature and its differences from the call's. The last 64 are kept, the latest last. The environment variable
    /// `NDJIT_EXPLAIN_MISSES=1` prints misses to standard error as they happen.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x, y| x + y * 2);
    /// f.call((&[1.0f32; 3], &[1i8; 3]))?;
    /// f.call((&[1.0f32; 4], 1))?;
    /// let misses = f.explain_cache_misses();
    /// assert_eq!(misses[1].nearest.as_deref(), Some("(f32[3], i8[3])"));
    /// assert_eq!(misses[1].differences, ["argument 0: f32[4], known f32[3]", "argument 1: a number i*, known i8[3]"]);
    /// println!("{}", misses[1]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain_cache_misses(&self) -> Vec<misses::Miss> {
        self.core.misses.0.lock().iter().cloned().collect()
    }

    /// Returns the cache misses, like [`Jitted::explain_cache_misses`], under its former name.
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// let f = ndjit::jit(|x| x * 2);
    /// assert_eq!(f.misses().len(), f.explain_cache_misses().len());
    /// ```
    #[deprecated(since = "0.1.0", note = "renamed to `explain_cache_misses`")]
    pub fn misses(&self) -> Vec<misses::Miss> {
        self.explain_cache_misses()
    }
}
