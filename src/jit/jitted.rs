//! [`Jitted`]: a closure that is traced once per signature, compiled, and called.

use crate::api::config::{Config, Lint};
use crate::jit::arguments::CallArgs;
use crate::jit::caller;
use crate::jit::erased::Core;
use crate::jit::function::{JitFn, Operands};
use crate::jit::input::{Destinations, Inputs, Sinks};
use crate::jit::output::{Collected, Outputs, Parts, collected, flat};
use crate::jit::spec::Spec;
use crate::jit::staged::{self, Traced};
use crate::jit::structure::structure;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike};
use ndjit_codegen::target::VectorWidth;
use ndjit_eval::plan::compiled::Lengths;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::{CastingModes, Device, Restriction};
use ndjit_ir::{Result, SourceLoc};
use ndjit_runtime::Fallback;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A compiled function of arrays, created by [`jit`].
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit(|x, y| x + y * 2);
/// let x = Array::from([1.0f32, 2.0]);
/// let y = vec![10.0f32, 20.0];
///
/// // As a function of arrays. Panics with the error if there is one. Rust gives the panic a place in ndjit, as a closure does not know
/// // who calls it; the message has yours.
/// let z: Array = f(&x, &Array::from(&y));
///
/// // With errors as values, and inputs of any kind: slices are read in place, numbers are weak.
/// let z = f.call((&x, &y))?;
/// let w = f.call((&x, 0.5))?;
/// assert_eq!((z.to_vec::<f32>()?, w.to_vec::<f32>()?), (vec![21.0, 42.0], vec![2.0, 3.0]));
///
/// // Into memory of your own.
/// let mut out = vec![0.0f32; 2];
/// f.call_into((&x, &y), &mut out)?;
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Inside another traced function, [`inline`](Jitted::inline) calls it on expressions.
///
/// The function is traced once per signature: the types, shapes and memory layouts of the arguments, and the promotion
/// policy. The plans of the last 64 signatures are kept. Plans with the same loops share machine code, regardless of
/// extents and numbers. `Jitted` is `Send + Sync`: any number of threads may call it at once. Clones share the function
/// and its plans.
pub struct Jitted<M, const N: usize, F: JitFn<M, N>> {
    pub(crate) core: Arc<Core>,
    call: Box<F::Call>,
    marker: PhantomData<fn() -> (M, F)>,
}

/// Creates a compiled function from a closure or `fn` of one to twelve [`Expr`]s. Compilation happens at the first
/// call.
///
/// Operators and free functions need no annotation of the closure's parameters. To call methods on them
/// write `|x: Expr|`, or use [`jit!`](crate::jit!).
///
/// Captured arrays become closed-over constants. The closure runs once per signature, so it reads other captured state
/// once. Threads that call with the same new signature may run it concurrently. It may call other functions, start
/// threads and wait for them: no lock is held. A closure that calls itself, directly or not, is an error.
///
/// ```
/// use ndjit::{Array, jit};
///
/// let w = Array::from([10.0f32, 20.0]);
/// let f = jit(move |x| {
///     let d = x * 2;
///     (d * d + &w, d / 3.0)
/// });
/// let (a, b) = f(&Array::from([1.0f32, 2.0]));
/// assert_eq!(a.to_vec::<f32>()?, [14.0, 36.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn jit<M, const N: usize, F: JitFn<M, N>>(function: F) -> Jitted<M, N, F> {
    let named = (std::any::type_name::<F>(), SourceLoc::caller());
    let erased = move |leaves: &Collected| match F::parameters(leaves) {
        Ok(parameters) => collected(function.apply(&parameters)),
        Err(error) => collected(Expr::failed(error)),
    };
    Jitted::with_core(Core::new(F::leaves(), Config::default(), named, Arc::new(erased)))
}

/// [`jit`](fn@crate::jit) with annotated closure parameters, so that methods can be called on them.
///
/// ```
/// use ndjit::{Array, jit};
///
/// let f = jit!(|x, y| x.sin().maximum(y));
/// let z = f(&Array::from([0.0f32]), &Array::from([0.5f32]));
/// assert_eq!(z.item::<f32>()?, 0.5);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[macro_export]
macro_rules! jit {
    (move |$($x:ident),* $(,)?| $body:expr) => {
        $crate::jit(move |$($x: $crate::Expr),*| $body)
    };
    (|$($x:ident),* $(,)?| $body:expr) => {
        $crate::jit(|$($x: $crate::Expr),*| $body)
    };
}

impl<M, const N: usize, F: JitFn<M, N>> Jitted<M, N, F> {
    fn with_core(core: Core) -> Jitted<M, N, F> {
        let core = Arc::new(core);
        Jitted { call: F::callable(Arc::clone(&core)), core, marker: PhantomData }
    }

    pub(crate) fn configured(self, change: impl FnOnce(&mut Config)) -> Jitted<M, N, F> {
        let mut config = self.core.config;
        change(&mut config);
        Jitted::with_core(self.core.with(config))
    }

    /// Sets the promotion policy of the function. The function then has no plans, as after every change of
    /// configuration.
    ///
    /// ```
    /// use ndjit::{Array, DType, Policy, jit};
    ///
    /// let f = jit(|x, n| x + n).with_policy(Policy::NumPy2);
    /// assert_eq!(f(&Array::from([1.0f32]), &Array::from([1i32])).dtype(), DType::F64);
    /// ```
    pub fn with_policy(self, policy: Policy) -> Jitted<M, N, F> {
        self.configured(|c| c.policy = Some(policy))
    }

    /// Runs the function on a device. Each call copies host arrays and slices to it, and leaves the results there.
    /// Errors are an array of another GPU, a GPU array if the function runs on the processor, and a device that is only
    /// described. By default a function runs on the device of its arguments.
    ///
    /// ```
    /// use ndjit::{Array, Device, ErrorCode, jit};
    ///
    /// let f = jit(|x, y| x + y * 2).on(Device::gpu());
    /// let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([10.0f32, 20.0]));
    /// match f.call((&x, &y)) {
    ///     Ok(z) => assert_eq!((z.device(), z.to_vec::<f32>()?), (Device::gpu(), vec![21.0, 42.0])),
    ///     // There is no GPU, or this was built without the feature `gpu`.
    ///     Err(error) => assert_eq!(error.code(), ErrorCode::Device),
    /// }
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn on(self, device: Device) -> Jitted<M, N, F> {
        self.configured(|c| c.device = Some(device))
    }

    /// Sets the fallback for dtypes that a GPU lacks: see [`with_fallback`](crate::with_fallback).
    ///
    /// ```
    /// use ndjit::{Fallback, jit};
    ///
    /// let f = jit(|x| x + 1).fallback(Fallback::Cpu);
    /// assert_eq!(f.config().fallback, Some(Fallback::Cpu));
    /// ```
    pub fn fallback(self, fallback: Fallback) -> Jitted<M, N, F> {
        self.configured(|c| c.fallback = Some(fallback))
    }

    /// Sets the casting modes of the function: see [`with_casting`](crate::with_casting).
    ///
    /// ```
    /// use ndjit::{Array, CastingModes, DType, f16, jit};
    ///
    /// let f = jit(|x| x ^ 1).with_casting(CastingModes::CROSS);
    /// assert_eq!(f(&Array::from([f16::ONE])).dtype(), DType::I32);
    /// ```
    pub fn with_casting(self, modes: CastingModes) -> Jitted<M, N, F> {
        self.configured(|c| c.casting = Some(modes))
    }

    /// Declares the dtypes of array arguments. Others are an error, or are cast by a [casting
    /// mode](crate::with_casting) before the function receives them. Bare numbers, weak arrays and intermediate dtypes
    /// are not restricted; for those see the scope [`restrict_dtypes`](crate::restrict_dtypes). Repeated declarations
    /// are combined.
    ///
    /// ```
    /// use ndjit::{Array, CastingModes, DType, Restriction, f16, jit};
    ///
    /// let f = jit(|x| x + 1).restrict_dtypes(Restriction::unsupported([DType::F16, DType::Bf16]));
    /// let x = Array::from([f16::from_f32(1.0)]);
    /// assert!(f.call((&x,)).is_err());
    /// assert_eq!(f.with_casting(CastingModes::UP).call((&x,))?.dtype(), DType::F32);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn restrict_dtypes(self, restriction: Restriction) -> Jitted<M, N, F> {
        self.configured(|c| c.restrictions = c.restrictions.with(restriction))
    }

    /// Sets the maximum number of threads, the calling thread included; 0 and 1 are the calling thread only. More than
    /// 64 means the number of processors, or 64. Threads are shared with other functions. Those beyond one per
    /// processor end when no function uses that many.
    ///
    /// ```
    /// use ndjit::{arange, jit};
    ///
    /// let sum = jit!(|x| x.sum(..)).threads(1);
    /// assert_eq!(sum(&arange(1000)).item::<i32>()?, 499_500);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn threads(self, threads: usize) -> Jitted<M, N, F> {
        self.configured(|c| c.threads = Some(threads.max(1)))
    }

    /// Enables or disables fusion of elementwise operations. Results are the same, bit for bit.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2 + 1).fuse(false);
    /// assert_eq!(f(&Array::from([1.0f32])).item::<f32>()?, 3.0);
    /// assert_eq!(f.kernels().len(), 2);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn fuse(self, fuse: bool) -> Jitted<M, N, F> {
        self.configured(|c| c.fuse = fuse)
    }

    /// Enables or disables floating-point contraction, as `-ffp-contract=fast` does in compilers. A product of real
    /// floats with one use, in a sum of the same dtype and policy, becomes one [`mul_add`](crate::mul_add) with the
    /// sum, also in inlined functions, branches and loops. It rounds once instead of twice, and is one instruction
    /// instead of two. A result changes by at most the omitted rounding of the product. Results remain the same on
    /// every engine, in vectors, threads and the interpreter, since the pass changes the graph itself. By default, only
    /// an explicit `mul_add` rounds once.
    ///
    /// ```
    /// use ndjit::{Array, Stage, jit};
    ///
    /// let f = jit(|x, y| x * y + 1).fp_contract(true);
    /// let x = Array::from([0.1f64]);
    /// assert_eq!(f.call((&x, &Array::from([10.0])))?.item::<f64>()?, 0.1f64.mul_add(10.0, 1.0));
    /// assert!(f.explain(Stage::Graph).contains("mul_add"));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn fp_contract(self, fp_contract: bool) -> Jitted<M, N, F> {
        self.configured(|c| c.fp_contract = fp_contract)
    }

    /// Enables or disables vector instructions, or sets [one width](VectorWidth). Results are the same, bit for bit.
    ///
    /// ```
    /// use ndjit::{Array, VectorWidth, jit};
    ///
    /// let f = jit!(|x| x.exp());
    /// let x = Array::from([0.1f32, 0.2, 0.3, 0.4, 0.5]);
    /// let y = f(&x).to_vec::<f32>()?;
    /// let narrow = f.vector(VectorWidth::Bits128);
    /// assert_eq!(narrow(&x).to_vec::<f32>()?, y);
    /// assert_eq!(narrow.vector(false)(&x).to_vec::<f32>()?, y);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn vector(self, width: impl Into<VectorWidth>) -> Jitted<M, N, F> {
        let width = width.into();
        self.configured(|c| c.vector = width)
    }

    /// Sets the lint for operations with results [wider](crate::Widening) than all their array operands, such as `f64`
    /// from an `f32` array and a strong `f64` number. An operation of an `f32` and an `f64` array is not one;
    /// [`casts`](Jitted::casts) lists its cast. The check runs when a signature is compiled or inlined, and includes
    /// inlined functions.
    ///
    /// ```
    /// use ndjit::{Array, Lint, jit, strong};
    ///
    /// let f = jit(|x| x * strong(2.5)).on_widening(Lint::Deny);
    /// let error = f.call((&Array::from([1.0f32]),)).unwrap_err();
    /// assert_eq!(error.headline(), "multiply: f32 in, f64 out");
    /// ```
    pub fn on_widening(self, lint: Lint) -> Jitted<M, N, F> {
        self.configured(|c| c.on_widening = lint)
    }

    /// Runs the function in the [interpreter](crate::debug::with_jit_disabled), or as compiled code. Results are the
    /// same, bit for bit. An inlined function runs as the calling function does.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2).interpreted(true);
    /// assert_eq!(f(&Array::from([1i32, 2])).to_vec::<i32>()?, [2, 4]);
    /// assert_eq!(f.compile_count(), 0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn interpreted(self, interpreted: bool) -> Jitted<M, N, F> {
        self.configured(|c| c.interpreted = interpreted)
    }

    /// Enables or disables the [check](crate::debug::with_nan_check) for NaN in results. A NaN makes the call an error
    /// that names the first operation with one.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode, jit, log};
    ///
    /// let f = jit(|x| log(x) * 2).check_nans(true);
    /// assert!(f.call((&Array::from([1.0f32, 2.0]),)).is_ok());
    /// assert_eq!(f.call((&Array::from([1.0f32, -2.0]),)).unwrap_err().code(), ErrorCode::Nan);
    /// ```
    pub fn check_nans(self, check: bool) -> Jitted<M, N, F> {
        self.configured(|c| c.check_nans = check)
    }

    /// Returns the configuration.
    ///
    /// ```
    /// use ndjit::{Policy, jit};
    ///
    /// assert_eq!(jit(|x| x + 1).with_policy(Policy::Torch).config().policy, Some(Policy::Torch));
    /// ```
    pub fn config(&self) -> Config {
        self.core.config
    }

    /// Calls the function on [inputs](crate::jit::Input) of any kind, and compiles it if their signature is new.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode, jit};
    ///
    /// let f = jit(|x, y| x + y);
    /// let x = Array::from([1.0f32, 2.0]);
    /// assert_eq!(f.call((&x, &[3.0f32, 4.0]))?.to_vec::<f32>()?, [4.0, 6.0]);
    /// assert_eq!(f.call((&x, &[1.0f32, 2.0, 3.0])).unwrap_err().code(), ErrorCode::Shape);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the traced function; `Panic` if it panicked (its place is only printed by the panic hook, to
    /// standard error by default); `Literal` for a number out of range for its dtype; `Allocation` if an allocation
    /// fails.
    #[track_caller]
    pub fn call<'a>(&self, inputs: impl Inputs<'a, N>) -> Result<<F::Outputs as Outputs>::Arrays> {
        let place = SourceLoc::caller();
        let parts = CallArgs::of::<M, F>(inputs).and_then(|mut args| {
            let (args, structure) = args.parts();
            self.core.call(args, structure, Some(place))
        });
        Ok(F::Outputs::arrays(&mut parts.map_err(|e| caller::called(e, Some(place)))?))
    }

    /// Writes the results of a [`call`](Jitted::call) to memory of the caller, in row-major order: `&mut [T]`, or a
    /// tuple of these for several results.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| (x + 1, x * 2));
    /// let (mut sums, mut products) = ([0i32; 2], vec![0i32; 2]);
    /// f.call_into((&Array::from([5, 6]),), (&mut sums, &mut products))?;
    /// assert_eq!((sums, products), ([6, 7], vec![10, 12]));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`call`](Jitted::call); `Arity` if the number of destinations differs from that of results; `Argument`
    /// for a destination with another dtype or size than its result.
    #[track_caller]
    pub fn call_into<'a, 'b>(&self, inputs: impl Inputs<'a, N>, into: impl Destinations<'b>) -> Result<()> {
        let place = SourceLoc::caller();
        let mut args = CallArgs::of::<M, F>(inputs).map_err(|e| caller::called(e, Some(place)))?;
        let mut destinations = Sinks::new();
        into.destinations(&mut destinations);
        self.core.call_into(args.parts(), &mut destinations, place).map_err(|e| caller::called(e, Some(place)))
    }

    /// Calls the function inside a traced function, whose graph then includes its operations.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let square = jit(|x| x * x);
    /// let f = jit(move |x, y| square.inline((x + y,)) + 1);
    /// assert_eq!(f(&Array::from([1i32]), &Array::from([2i32])).to_vec::<i32>()?, [10]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn inline(&self, operands: impl Operands<N>) -> F::Outputs {
        let structure = structure::<M, N, F>((0..N).map(|_| (1, &[][..])));
        let (exprs, lengths) = self.core.inline(&operands.operands(), &structure, SourceLoc::caller());
        F::Outputs::exprs(&mut Parts::new(exprs, lengths))
    }

    /// Traces the function on expressions.
    pub(crate) fn applied(&self, parameters: &[Collected; N]) -> F::Outputs {
        let structure = structure::<M, N, F>(parameters.iter().map(|own| (own.exprs.len(), &own.lengths[..])));
        let leaves: Vec<AnyOperand> = flat(parameters).into_iter().map(AnyOperand::Expr).collect();
        let (exprs, lengths) = self.core.inline(&leaves, &structure, self.core.named.1);
        F::Outputs::exprs(&mut Parts::new(exprs, lengths))
    }

    /// Traces the function for arguments of these types, without data. The first of three steps to machine code: see
    /// [`Traced::lower`], [`Lowered::compile`](crate::jit::Lowered::compile),
    /// [`Compiled::call`](crate::jit::Compiled::call).
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let f = jit(|x, y| x + y * 2);
    /// let traced = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [])])?;
    /// assert_eq!(traced.results(), [spec(DType::F32, [3])]);
    /// let lowered = traced.lower()?;
    /// println!("{}", lowered.explain(Stage::Typed));
    /// let compiled = lowered.compile()?;
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first error of the traced function; `Arity` if the number of specs differs from that of parameters.
    #[track_caller]
    pub fn trace(&self, specs: &[Spec]) -> Result<Traced<M, N, F>> {
        staged::trace(&self.core, specs, SourceLoc::caller())
    }

    /// Returns the number of traces in use. Threads that call a function at once with a new signature may each run the
    /// closure, without waiting for each other. One of these traces counts; the others are dropped.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x + 1);
    /// f.call((&Array::from([1, 2]),))?;
    /// f.call((&Array::from([3, 4]),))?;
    /// assert_eq!(f.trace_count(), 1);
    /// f.call((&Array::from([1, 2, 3]),))?;
    /// assert_eq!(f.trace_count(), 2);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn trace_count(&self) -> u64 {
        self.core.traces.load(Relaxed)
    }

    /// Returns the number of distinct kernels of this function, compiled for it or found in the process's cache. New
    /// sizes and numbers add no kernels. The kernels of loops and branches are included.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x + 1);
    /// f.call((&Array::from([1, 2]),))?;
    /// f.call((&Array::from([1, 2, 3]),))?;
    /// assert_eq!(f.compile_count(), 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn compile_count(&self) -> u64 {
        self.core.compiles.load(Relaxed)
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Clone for Jitted<M, N, F> {
    /// Clones the function. Clones share the closure, the plans and the counters.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x + 1);
    /// let g = f.clone();
    /// f.call((&Array::from([1, 2]),))?;
    /// g.call((&Array::from([3, 4]),))?;
    /// assert_eq!((f.trace_count(), g.trace_count()), (1, 1));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    fn clone(&self) -> Jitted<M, N, F> {
        Jitted { core: Arc::clone(&self.core), call: F::callable(Arc::clone(&self.core)), marker: PhantomData }
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Deref for Jitted<M, N, F> {
    type Target = F::Call;

    #[track_caller]
    fn deref(&self) -> &F::Call {
        caller::note(&self.core, SourceLoc::caller());
        &self.call
    }
}

impl<M, const N: usize, F: JitFn<M, N>> fmt::Debug for Jitted<M, N, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jitted({N} parameters, traced {} times)", self.trace_count())
    }
}

/// Distinguishes a jitted function from a closure. A jitted function can be transformed, and jitted with other options.
///
/// ```
/// use ndjit::{Array, grad, jit};
///
/// let square = jit(|x| x * x);
/// assert_eq!(jit(grad(square))(&Array::from(3.0f32)).item::<f32>()?, 6.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Debug)]
pub struct Ready<M>(std::marker::PhantomData<fn() -> M>);

#[diagnostic::do_not_recommend]
impl<M: 'static, const N: usize, F: JitFn<M, N>> JitFn<Ready<M>, N> for Jitted<M, N, F> {
    type Outputs = F::Outputs;
    type First = F::First;
    const TREES: bool = F::TREES;
    type Call = F::Call;
    type With<Q: Outputs + 'static> = F::With<Q>;

    fn apply(&self, parameters: &[Collected; N]) -> Self::Outputs {
        self.applied(parameters)
    }

    fn with<Q: Outputs + 'static>(function: impl Fn(&[Collected; N]) -> Q + Send + Sync + 'static) -> Self::With<Q> {
        F::with(function)
    }

    fn parameters(leaves: &Collected) -> Result<[Collected; N]> {
        F::parameters(leaves)
    }

    fn leaves() -> (usize, Lengths) {
        F::leaves()
    }

    fn callable(core: Arc<Core>) -> Box<Self::Call> {
        F::callable(core)
    }
}
