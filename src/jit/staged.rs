//! Compilation step by step, from types only: trace, lower, compile.

use crate::api::config::Settings;
use crate::diagnostics::explain::{InsertedCast, PolicyDiff, casts};
use crate::diagnostics::inspect::diff::StageDiff;
use crate::jit::compiled::Compiled;
use crate::jit::erased::{self, CallInterface, Core, TracedFunction};
use crate::jit::function::JitFn;
use crate::jit::lowering::lower;
use crate::jit::spec::{Spec, spec};
use crate::jit::stage::Stage;
use crate::trace::failure::Failure;
use crate::trace::recording::Recording;
use ndjit_eval::argument::{self, ArgumentLayout, ArgumentType};
use ndjit_inspect::clock::Clock;
use ndjit_inspect::explain::{self, Explanation, ParamSource, Widening};
use ndjit_inspect::forms::{self, PictureFormat};
use ndjit_inspect::listing::{Inspection, Listing};
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::Inferred;
use ndjit_ir::support::walk::infer;
use ndjit_ir::{DTypeSet, Error, ErrorCode, Result, SourceLoc};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A function traced for one signature.
///
/// ```
/// use ndjit::{DType, jit, spec};
///
/// let traced = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?;
/// assert_eq!(traced.results()[0].to_string(), "f32[3]");
/// # Ok::<(), ndjit::Error>(())
/// ```
pub struct Traced<M, const N: usize, F: JitFn<M, N>> {
    core: Arc<Core>,
    settings: Settings,
    arguments: Vec<ArgumentType>,
    traced: TracedFunction,
    times: Vec<(&'static str, Duration)>,
    marker: PhantomData<fn() -> (M, F)>,
}

/// A function lowered to loop nests for one signature; no machine code yet.
///
/// ```
/// use ndjit::{DType, jit, spec};
///
/// let lowered = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?;
/// assert_eq!(lowered.kernel_count(), 1);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub struct Lowered<M, const N: usize, F: JitFn<M, N>> {
    core: Arc<Core>,
    settings: Settings,
    arguments: Vec<ArgumentType>,
    pub(crate) lowered: Arc<ndjit_codegen::Lowered>,
    frame: CallInterface,
    times: Vec<(&'static str, Duration)>,
    marker: PhantomData<fn() -> (M, F)>,
}

/// Returns the arguments described by specs.
fn arguments(core: &Core, specs: &[Spec], place: SourceLoc) -> Result<Vec<ArgumentType>> {
    if specs.len() != core.arity {
        return Err(Error::new(ErrorCode::Arity, "trace: not as many specs as parameters")
            .at(place)
            .fact(format_args!("parameters: {}, specs: {}", core.arity, specs.len()))
            .help("pass one for each parameter: `f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [])])`"));
    }
    specs.iter().map(|spec| spec.argument().map_err(|e| e.at(place))).collect()
}

/// Returns the type and shape of each result of a function traced under `policy`.
pub(crate) fn results(recording: &Recording, policy: Policy) -> Vec<Spec> {
    let Recording { graph, printed, .. } = recording;
    let result = |&o| {
        let dtype = graph.storage_dtype(o, policy);
        Spec { dtype, ..spec(graph.ty(o), graph.shape(o).clone()) }
    };
    let own = graph.outputs().len().saturating_sub(printed.len());
    graph.outputs().iter().take(own).map(result).collect()
}

pub(crate) fn trace<M, const N: usize, F: JitFn<M, N>>(
    core: &Arc<Core>,
    specs: &[Spec],
    place: SourceLoc,
) -> Result<Traced<M, N, F>> {
    let arguments = arguments(core, specs, place)?;
    let settings = core.config.settings().on(core.config.device.unwrap_or_default())?;
    let params: Vec<_> = arguments.iter().map(erased::param).collect();
    let begun = Instant::now();
    let traced =
        core.trace(settings, &params, &core.structure, Some(place)).map_err(|failure| failure.error.at(place))?;
    let times = Clock::traced(begun.elapsed()).times();
    Ok(Traced { core: Arc::clone(core), settings, arguments, traced, times, marker: PhantomData })
}

/// Compares a stage for two signatures.
pub(crate) fn diff<M, const N: usize, F: JitFn<M, N>>(
    core: &Arc<Core>,
    specs: [&[Spec]; 2],
    stage: Stage,
    place: SourceLoc,
) -> Result<StageDiff> {
    let side = |specs: &[Spec]| -> Result<(String, Listing)> {
        let lowered = trace::<M, N, F>(core, specs, place)?.lower()?;
        let names: Vec<String> = specs.iter().map(Spec::to_string).collect();
        Ok((format!("{} ({})", stage.name(), names.join(", ")), lowered.listing(stage)))
    };
    let [(old_name, old), (new_name, new)] = [side(specs[0])?, side(specs[1])?];
    Ok(StageDiff::new((old_name, new_name), &old, &new))
}

pub(crate) fn policy_diff(core: &Core, specs: &[Spec], policies: &[Policy], place: SourceLoc) -> Result<PolicyDiff> {
    let params: Vec<_> = arguments(core, specs, place)?.iter().map(erased::param).collect();
    let settings = core.config.settings();
    let mut traced = Vec::new();
    for &policy in policies {
        match core.trace(Settings { policy, ..settings }, &params, &core.structure, Some(place)) {
            Err(Failure { error, before: None }) => return Err(error.at(place)),
            made => traced.push((policy, made.map(|made| made.recording))),
        }
    }
    Ok(PolicyDiff::new(traced))
}

impl<M, const N: usize, F: JitFn<M, N>> Traced<M, N, F> {
    /// Returns the type and shape of each result.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let traced = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?;
    /// assert_eq!(traced.results()[0].to_string(), "f32[3]");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn results(&self) -> Vec<Spec> {
        results(&self.traced.recording, self.settings.policy)
    }

    /// Explains the dtype of a result. `None` for an index out of range.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let traced = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?;
    /// println!("{}", traced.explain_dtype(0).expect("a result"));
    /// assert!(traced.explain_dtype(1).is_none());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain_dtype(&self, result: usize) -> Option<Explanation> {
        let Recording { graph, places, .. } = &self.traced.recording;
        let value = *graph.outputs().get(result)?;
        explain::value(graph, places, &self.inputs(), self.settings.policy, value).ok()
    }

    /// Returns the first operation that [widened](Widening) a dtype.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec, strong};
    ///
    /// let traced = jit(|x| x * strong(2.5)).trace(&[spec(DType::F32, [3])])?;
    /// assert!(traced.first_widening().is_some());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn first_widening(&self) -> Option<Widening> {
        let Recording { graph, places, .. } = &self.traced.recording;
        explain::first_widening(graph, places, &self.inputs(), self.settings.policy)
    }

    /// Returns the traced graph in the DOT language of Graphviz; called functions are nodes.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let traced = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?;
    /// assert!(traced.dot()?.starts_with("digraph"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Size` for a graph of more than 10000 nodes.
    pub fn dot(&self) -> Result<String> {
        let Recording { graph, places, .. } = &self.traced.recording;
        forms::traced(graph, places, PictureFormat::Dot)
    }

    /// Draws the traced graph as an SVG document; called functions are nodes.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let traced = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?;
    /// assert!(traced.svg()?.contains("<svg"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Size` for a graph of more than 10000 nodes.
    pub fn svg(&self) -> Result<String> {
        let Recording { graph, places, .. } = &self.traced.recording;
        forms::traced(graph, places, PictureFormat::Svg)
    }

    /// Returns the traced graph as JSON (feature `json`); see [`graph_from_json`](crate::inspect::graph_from_json) for
    /// the format.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let traced = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?;
    /// assert!(traced.json().contains("multiply"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[cfg(feature = "json")]
    pub fn json(&self) -> String {
        let Recording { graph, places, .. } = &self.traced.recording;
        forms::traced_json(graph, places)
    }

    fn inputs(&self) -> Vec<ParamSource> {
        argument::inputs(&self.arguments, self.traced.recording.closed_over.len())
    }

    /// Returns the dtypes that all operations of the function accept for its array arguments, on the
    /// [device](crate::with_device) and under the restrictions of the function and of functions inlined in it. The
    /// policies are those of the trace. Casting modes and the range of literals are ignored. Types after an explicit
    /// cast do not depend on the arguments.
    ///
    /// ```
    /// use ndjit::{DType, DTypeSet, cbrt, floor, jit, spec};
    ///
    /// let f = jit(|x| floor(cbrt(x)));
    /// let inferred = f.trace(&[spec(DType::F32, [3])])?.inferred_dtypes()?;
    /// assert_eq!(inferred.supported, DTypeSet::BOOL | DTypeSet::REAL);
    /// assert!(inferred.unsupported[0].to_string().starts_with("c64: cbrt: c64 is not supported, at "));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Verify` if the trace is not well-formed: a bug in ndjit.
    pub fn inferred_dtypes(&self) -> Result<Inferred> {
        let recording = &self.traced.recording;
        let arrays = self.arguments.iter().filter(|a| a.layout != ArgumentLayout::Scalar).count();
        infer(&recording.graph, &recording.places, &recording.supports, arrays, self.settings.support)
    }

    /// Returns the supported dtypes of the array arguments: [`inferred_dtypes`](Traced::inferred_dtypes) without
    /// reasons.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let traced = jit(|x| x & 1).trace(&[spec(DType::U8, [3])])?;
    /// assert!(!traced.supported_dtypes()?.contains(DType::F32));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Verify` if the trace is not well-formed: a bug in ndjit.
    pub fn supported_dtypes(&self) -> Result<DTypeSet> {
        Ok(self.inferred_dtypes()?.supported)
    }

    /// Runs the machine-independent passes.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let lowered = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?;
    /// assert_eq!(lowered.kernel_count(), 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Literal` if a number is out of range for its dtype; `Size` if an array would be too large.
    pub fn lower(self) -> Result<Lowered<M, N, F>> {
        let Recording { graph, places, closed_over, printed, .. } = self.traced.recording;
        let (config, settings, mut clock) = (&self.core.config, self.settings, Clock::after(self.times));
        let lowered = lower((&graph, &places), &self.arguments, &closed_over, config, settings, &mut clock)?;
        Ok(Lowered {
            core: self.core,
            settings: self.settings,
            arguments: self.arguments,
            lowered: Arc::new(lowered),
            frame: CallInterface {
                closed_over,
                structure: self.traced.structure,
                lengths: self.traced.lengths,
                printed,
            },
            times: clock.times(),
            marker: PhantomData,
        })
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Lowered<M, N, F> {
    /// Returns the text of a stage.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec, Stage};
    ///
    /// let lowered = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?;
    /// assert!(lowered.explain(Stage::Loops).starts_with("nest rank 1"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn explain(&self, stage: Stage) -> String {
        self.listing(stage).to_string()
    }

    fn listing(&self, stage: Stage) -> Listing {
        self.inspection().listing(stage.of_program())
    }

    fn inspection(&self) -> Inspection<'_> {
        let inputs = argument::inputs(&self.arguments, self.frame.closed_over.len());
        self.core.config.plan_options().inspection(&self.lowered, self.settings, inputs)
    }

    /// Writes a page of all stages side by side: see [`Jitted::explain_html`](crate::Jitted::explain_html).
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let lowered = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?;
    /// # let folder = std::env::temp_dir().join(format!("ndjit-lowered-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("out.html");
    /// lowered.explain_html(&path)?;
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Io` if the file cannot be written.
    pub fn explain_html(&self, path: impl AsRef<Path>) -> Result<()> {
        self.inspection().write_page(path.as_ref(), None)
    }

    /// Returns a stage in the DOT language of Graphviz: graphs, kernels and loops as clusters of statements.
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let lowered = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?;
    /// assert!(lowered.dot(Stage::Kernels)?.starts_with("digraph"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` for a stage without a drawing; `Size` for one of more than 10000 nodes.
    pub fn dot(&self, stage: Stage) -> Result<String> {
        forms::stage(&self.lowered, stage.of_program(), PictureFormat::Dot)
    }

    /// Draws a stage as an SVG document: graphs, kernels and loops.
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let lowered = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?;
    /// assert!(lowered.svg(Stage::Kernels)?.contains("<svg"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` for a stage without a drawing; `Size` for one of more than 10000 nodes.
    pub fn svg(&self, stage: Stage) -> Result<String> {
        forms::stage(&self.lowered, stage.of_program(), PictureFormat::Svg)
    }

    /// Returns a stage as JSON (feature `json`).
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let lowered = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?;
    /// assert!(lowered.json(Stage::Typed)?.contains("multiply"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// None at present.
    #[cfg(feature = "json")]
    pub fn json(&self, stage: Stage) -> Result<String> {
        Ok(forms::stage_json(&self.lowered, stage.of_program(), || self.explain(stage)))
    }

    /// Compares two stages, line by line.
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let lowered = jit(|x| x * 2).trace(&[spec(DType::F32, [3])])?.lower()?;
    /// println!("{}", lowered.diff(Stage::Typed, Stage::Simplified));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn diff(&self, from: Stage, to: Stage) -> StageDiff {
        let names = (from.name().to_owned(), to.name().to_owned());
        StageDiff::new(names, &self.listing(from), &self.listing(to))
    }

    /// Returns the casts of the typed program, each with its cause.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let lowered = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?;
    /// assert!(lowered.casts().iter().any(|cast| cast.to == DType::F32));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn casts(&self) -> Vec<InsertedCast> {
        casts(&self.lowered)
    }

    /// Returns the number of kernels. Loop nests that run together tile by tile count once. A loop or a branch counts
    /// as one; the kernels of its graphs count separately.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let lowered = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?;
    /// assert_eq!(lowered.kernel_count(), 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn kernel_count(&self) -> usize {
        self.lowered.kernel_count()
    }

    /// Generates machine code.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let f = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?.compile()?;
    /// assert_eq!(f.call((&[1u8, 2, 3],))?.to_vec::<f32>()?, [0.5, 1.0, 1.5]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Backend` if code generation fails.
    pub fn compile(self) -> Result<Compiled<M, N, F>> {
        let plan =
            self.core.compiled(self.settings, self.arguments, self.lowered, self.frame, Clock::after(self.times))?;
        Ok(Compiled { plan: Arc::new(plan), marker: PhantomData })
    }
}
