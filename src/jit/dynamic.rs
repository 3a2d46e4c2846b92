//! [`DynamicJitted`]: a jitted function without Rust types, for front ends.

use crate::api::config::Config;
use crate::array::node::Array;
use crate::diagnostics::inspect;
use crate::diagnostics::misses::Miss;
use crate::diagnostics::stats::FunctionStats;
use crate::jit::compiled::unexpected;
use crate::jit::erased::Core;
use crate::jit::input::{Arg, Input, known};
use crate::jit::output::{Arrays, Collected};
use crate::jit::run::run_fresh;
use crate::jit::stage::Stage;
use crate::trace::expr::Expr;
use ndjit_eval::argument::ArgumentType;
use ndjit_eval::plan::compiled::{Lengths, Plan};
use ndjit_ir::{Result, SourceLoc};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A [`Jitted`](crate::Jitted) function of any number of arrays and numbers, for front ends, whose functions have structures
/// of their own: it is traced once per signature and *structure*, a list of numbers that says what the front end needs to
/// know to call its function.
///
/// ```
/// use ndjit::dynamic::DynamicJitted;
/// use ndjit::operand::Operand;
/// use ndjit::{Array, Expr, SourceLoc};
///
/// // The structure is a power; that of the results is their number.
/// let powers = |x: &[Expr], power: &[usize]| {
///     let powers: Vec<Expr> = x.iter().map(|&x| (1..power[0]).fold(x, |made, _| made * x)).collect();
///     (powers, vec![x.len()])
/// };
/// let f = DynamicJitted::new("powers", SourceLoc::caller(), powers);
/// let results = f.call(&[Array::from([2, 3]).operand(), 4.operand()], &[2])?;
/// assert_eq!(results.structure(), [2]);
/// let results: Vec<Array> = results.into_iter().collect();
/// assert_eq!((results[0].to_vec::<i32>()?, results[1].item::<i32>()?), (vec![4, 9], 16));
/// f.call(&[Array::from([2, 3]).operand(), 5.operand()], &[2])?;
/// assert_eq!(f.trace_count(), 1);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// It is `Send + Sync`. Clones share the function and its plans.
#[derive(Clone)]
pub struct DynamicJitted {
    core: Arc<Core>,
}

/// The results of a call of a [`DynamicJitted`] function: arrays, and their structure.
///
/// ```
/// use ndjit::dynamic::{DynamicJitted, DynamicResults};
/// use ndjit::operand::Operand;
/// use ndjit::{Array, SourceLoc};
///
/// let f = DynamicJitted::new("pair", SourceLoc::caller(), |x, _| (vec![x[0] + 1, x[0] * 2], vec![2, 7]));
/// let results: DynamicResults = f.call(&[Array::from([3, 4]).operand()], &[])?;
/// assert_eq!(results.structure(), [2, 7]);
/// assert_eq!(results.into_iter().count(), 2);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub struct DynamicResults {
    arrays: Arrays,
    structure: Lengths,
}

impl DynamicJitted {
    /// Creates a function from one that takes traced values and their structure, and returns its results and theirs. The name
    /// and the place are for messages.
    ///
    /// ```
    /// use ndjit::{SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("none", SourceLoc::caller(), |_, _| (vec![], vec![]));
    /// assert_eq!(f.call([0; 0], &[])?.into_iter().count(), 0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn new(
        name: &'static str,
        place: SourceLoc,
        function: impl Fn(&[Expr], &[usize]) -> (Vec<Expr>, Vec<usize>) + Send + Sync + 'static,
    ) -> DynamicJitted {
        let traced = move |own: &Collected| {
            let (exprs, structure) = function(&own.exprs, &own.lengths);
            Collected { exprs, lengths: Lengths::from_vec(structure) }
        };
        let core = Core::new((0, Lengths::new()), Config::default(), (name, place), Arc::new(traced));
        DynamicJitted { core: Arc::new(core) }
    }

    /// Returns the function with another configuration, without plans.
    ///
    /// ```
    /// use ndjit::{Policy, SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("f", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// let f = f.configured(|config| config.policy = Some(Policy::NumPy2));
    /// assert_eq!(f.config().policy, Some(Policy::NumPy2));
    /// ```
    pub fn configured(&self, change: impl FnOnce(&mut Config)) -> DynamicJitted {
        let mut config = self.core.config;
        change(&mut config);
        DynamicJitted { core: Arc::new(self.core.with(config)) }
    }

    /// Returns the configuration.
    ///
    /// ```
    /// use ndjit::{SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("f", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// assert_eq!(f.config().threads, None);
    /// ```
    pub fn config(&self) -> Config {
        self.core.config
    }

    /// Calls the function on arrays and numbers in a structure.
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// let mut results = f.call([&Array::from([1, 2])], &[])?.into_iter();
    /// assert_eq!(results.next().unwrap().to_vec::<i32>()?, [2, 3]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Jitted::call`](crate::Jitted::call); `Traced` for traced arguments.
    pub fn call<'a, I: Input<'a>>(
        &self,
        args: impl IntoIterator<Item = I>,
        structure: &[usize],
    ) -> Result<DynamicResults> {
        let mut own = own(args)?;
        let plan = self.core.plan(&own, structure, None)?;
        let arrays = run_fresh(&plan, &mut own)?;
        Ok(DynamicResults { arrays, structure: plan.lengths.clone() })
    }

    /// Returns the text of a stage, for these arguments. The function is traced for them, not run.
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, Stage, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// assert!(f.explain([&Array::from([1, 2])], &[], Stage::Typed)?.contains("add"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of tracing and compiling.
    pub fn explain<'a, I: Input<'a>>(
        &self,
        args: impl IntoIterator<Item = I>,
        structure: &[usize],
        stage: Stage,
    ) -> Result<String> {
        Ok(self.compile(args, structure)?.explain(stage))
    }

    /// Returns the [page](crate::Jitted::explain_html) of all stages, for these arguments. The function is traced for them,
    /// not run.
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// assert!(f.page([&Array::from([1, 2])], &[])?.starts_with("<!doctype html>"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of tracing and compiling; `Size` for a program too large for a page.
    pub fn page<'a, I: Input<'a>>(&self, args: impl IntoIterator<Item = I>, structure: &[usize]) -> Result<String> {
        self.compile(args, structure)?.page()
    }

    /// Returns the [page](Self::page) of the last call.
    ///
    /// ```
    /// use ndjit::{SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// assert!(f.last_page().is_err());
    /// f.call([1], &[])?;
    /// assert!(f.last_page()?.starts_with("<!doctype html>"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` before the first call; `Size` for a program too large for a page.
    pub fn last_page(&self) -> Result<String> {
        self.core.plans.last().ok_or_else(inspect::not_called)?.inspection().page(None)
    }

    /// Returns the function compiled for arguments like these, whose plan it keeps. The function is traced for them, not run.
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// let next = f.compile([&Array::from([1, 2])], &[])?;
    /// let result = next.call([&Array::from([5, 6])])?.into_iter().next().unwrap();
    /// assert_eq!(result.to_vec::<i32>()?, [6, 7]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of tracing and compiling.
    pub fn compile<'a, I: Input<'a>>(
        &self,
        args: impl IntoIterator<Item = I>,
        structure: &[usize],
    ) -> Result<DynamicCompiled> {
        let plan = self.core.plan(&own(args)?, structure, None)?;
        Ok(DynamicCompiled { plan: Arc::clone(&plan) })
    }

    /// Returns the statistics for the last call's signature: see [`Jitted::stats`](crate::Jitted::stats).
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1.0], vec![]));
    /// f.call([&Array::from([1.0f32, 2.0])], &[])?;
    /// assert_eq!(f.stats().flops(), 2);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn stats(&self) -> FunctionStats {
        self.core.plans.last().map_or_else(FunctionStats::default, |plan| FunctionStats::of(&plan))
    }

    /// Returns the number of traces: see [`Jitted::trace_count`](crate::Jitted::trace_count).
    ///
    /// ```
    /// use ndjit::{SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("none", SourceLoc::caller(), |_, _| (vec![], vec![]));
    /// f.call([0; 0], &[])?;
    /// f.call([0; 0], &[1])?;
    /// assert_eq!(f.trace_count(), 2);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn trace_count(&self) -> u64 {
        self.core.traces.load(Relaxed)
    }

    /// Returns the number of distinct kernels: see [`Jitted::compile_count`](crate::Jitted::compile_count).
    ///
    /// ```
    /// use ndjit::{SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("none", SourceLoc::caller(), |_, _| (vec![], vec![]));
    /// assert_eq!(f.compile_count(), 0);
    /// ```
    pub fn compile_count(&self) -> u64 {
        self.core.compiles.load(Relaxed)
    }

    /// Returns the cache misses: see [`Jitted::explain_cache_misses`](crate::Jitted::explain_cache_misses).
    ///
    /// ```
    /// use ndjit::{SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("none", SourceLoc::caller(), |_, _| (vec![], vec![]));
    /// f.call([0; 0], &[])?;
    /// assert_eq!(f.explain_cache_misses().len(), 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain_cache_misses(&self) -> Vec<Miss> {
        self.core.misses.0.lock().iter().cloned().collect()
    }
}

/// Returns the arguments of a call. They are large, and pushed in place.
#[inline]
fn own<'a, I: Input<'a>>(args: impl IntoIterator<Item = I>) -> Result<SmallVec<[Arg<'a>; 4]>> {
    let mut own = SmallVec::new();
    for arg in args {
        own.push(arg.arg()?);
    }
    Ok(own)
}

/// A [`DynamicJitted`] function compiled for one signature.
///
/// ```
/// use ndjit::dynamic::{DynamicCompiled, DynamicJitted};
/// use ndjit::{Array, SourceLoc, Stage};
///
/// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
/// let next: DynamicCompiled = f.compile([&Array::from([1, 2])], &[])?;
/// assert!(next.explain(Stage::Typed).contains("add"));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone)]
pub struct DynamicCompiled {
    plan: Arc<Plan>,
}

impl DynamicCompiled {
    /// Calls the function without compiling.
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// let next = f.compile([&Array::from([1, 2])], &[])?;
    /// assert_eq!(next.call([&Array::from([5, 6])])?.into_iter().count(), 1);
    /// assert!(next.call([&Array::from([5, 6, 7])]).is_err());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` for an argument of another type, shape or layout; `Allocation` if an allocation fails.
    pub fn call<'a, I: Input<'a>>(&self, args: impl IntoIterator<Item = I>) -> Result<DynamicResults> {
        let (plan, mut own) = (&self.plan, own(args)?);
        if !plan.accepts(&plan.settings, &plan.structure, known(&own)) {
            return Err(unexpected("compiled", &plan.arguments, &own, ArgumentType::accepts));
        }
        Ok(DynamicResults { arrays: run_fresh(plan, &mut own)?, structure: plan.lengths.clone() })
    }

    /// Returns the text of a stage.
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, Stage, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// assert!(f.compile([&Array::from([1, 2])], &[])?.explain(Stage::Typed).contains("add"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain(&self, stage: Stage) -> String {
        self.plan.explain(stage.of_program())
    }

    /// Returns the [page](crate::Jitted::explain_html) of all stages.
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// assert!(f.compile([&Array::from([1, 2])], &[])?.page()?.starts_with("<!doctype html>"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Size` for a program too large for a page.
    pub fn page(&self) -> Result<String> {
        self.plan.inspection().page(None)
    }

    /// Returns the statistics: see [`Jitted::stats`](crate::Jitted::stats).
    ///
    /// ```
    /// use ndjit::{Array, SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("next", SourceLoc::caller(), |x, _| (vec![x[0] + 1], vec![]));
    /// assert_eq!(f.compile([&Array::from([1, 2])], &[])?.stats().kernels.len(), 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn stats(&self) -> FunctionStats {
        FunctionStats::of(&self.plan)
    }
}

impl fmt::Debug for DynamicCompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.plan.arguments.iter().map(ToString::to_string).collect();
        write!(f, "DynamicCompiled({})", types.join(", "))
    }
}

impl DynamicResults {
    /// Returns the structure that the function gave.
    ///
    /// ```
    /// use ndjit::{SourceLoc, dynamic::DynamicJitted};
    ///
    /// let f = DynamicJitted::new("none", SourceLoc::caller(), |_, own| (vec![], own.to_vec()));
    /// assert_eq!(f.call([0; 0], &[7])?.structure(), [7]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn structure(&self) -> &[usize] {
        &self.structure
    }
}

impl IntoIterator for DynamicResults {
    type Item = Array;
    type IntoIter = DynamicArrays;

    fn into_iter(self) -> DynamicArrays {
        DynamicArrays(self.arrays.into_iter())
    }
}

/// The arrays of [`DynamicResults`], in order.
///
/// ```
/// use ndjit::dynamic::{DynamicArrays, DynamicJitted};
/// use ndjit::operand::Operand;
/// use ndjit::{Array, SourceLoc};
///
/// let f = DynamicJitted::new("double", SourceLoc::caller(), |x, _| (vec![x[0] * 2], vec![]));
/// let mut arrays: DynamicArrays = f.call(&[Array::from([3, 4]).operand()], &[])?.into_iter();
/// assert_eq!(arrays.next().map(|x| x.to_string()), Some("[6 8]".to_owned()));
/// # Ok::<(), ndjit::Error>(())
/// ```
pub struct DynamicArrays(smallvec::IntoIter<[Array; ndjit_eval::plan::compiled::RESULTS]>);

impl Iterator for DynamicArrays {
    type Item = Array;

    fn next(&mut self) -> Option<Array> {
        self.0.next()
    }
}

impl fmt::Debug for DynamicJitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynamicJitted({}, traced {} times)", self.core.named.0, self.trace_count())
    }
}
