//! [`Jitted`]: a closure that is traced once per signature, compiled, and called.

use crate::api::config::{Config, Lint};
use crate::jit::arguments::{CallArgs, structure};
use crate::jit::caller;
use crate::jit::erased::Core;
use crate::jit::function::{JitFn, Operands};
use crate::jit::input::{Destinations, Inputs, Sinks};
use crate::jit::output::{Collected, Outputs, Parts, collected, flat};
use crate::jit::spec::Spec;
use crate::jit::staged::{self, Traced};
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, Computed};
use ndjit_codegen::target::VectorWidth;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::{CastingModes, Device, Restriction};
use ndjit_ir::{Place, Result};
use ndjit_runtime::Fallback;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A compiled function of arrays, made by [`jit`].
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
/// policy. The plans of the last 64 signatures are kept. Machine code is shared by all plans whose loops are alike, whatever
/// their sizes and numbers. `Send + Sync`: any number of threads may call it at once. A clone is the same function, with the same plans.
pub struct Jitted<M, const N: usize, F: JitFn<M, N>> {
    pub(crate) core: Arc<Core>,
    call: Box<F::Call>,
    marker: PhantomData<fn() -> (M, F)>,
}

/// Makes a compiled function of a closure (or `fn`) of one to twelve [`Expr`]s. Nothing happens until it is called.
///
/// Operators and free functions need no annotation of the closure's parameters; to call methods on them write `|x: Expr|`,
/// or use [`jit!`](crate::jit!).
///
/// The closure may use arrays from outside: they become closed-over constants. It runs once per signature, so whatever else it
/// looks at is looked at once. It may run at once on several threads that call with the same new signature, and may call other
/// functions, start threads and wait for them: nobody waits for it. One that calls itself, by whatever way, is an error.
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
    let named = (std::any::type_name::<F>(), Place::caller());
    let erased = move |leaves: &Collected| match F::parameters(leaves) {
        Ok(parameters) => collected(function.apply(&parameters)),
        Err(error) => collected(Expr::failed(error)),
    };
    Jitted::with_core(Core::new(F::leaves(), Config::default(), named, Arc::new(erased)))
}

/// [`jit`](fn@crate::jit) of a closure whose parameters are annotated for you, so that methods can be called on them.
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

    /// The same function under a promotion policy of its own. Begins without plans, as all changes of configuration do.
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

    /// The same function, run on a device: arrays of the host and slices are copied there at each call, and results stay there. An array of
    /// another GPU, or of a GPU where the function runs on the processor, is an error, as is a device that is only described. Without this a
    /// function runs where its arguments are.
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

    /// The same function with a way of its own to do without dtypes that a GPU lacks: see [`with_fallback`](crate::with_fallback).
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

    /// The same function with casting modes of its own: see [`with_casting`](crate::with_casting).
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

    /// The same function with a declaration of the dtypes that its array arguments may have. Others are an error, or are cast
    /// by a [casting mode](crate::with_casting) before the function sees them. Bare numbers and weak arrays are taken as ever,
    /// and what the function computes in is its own affair; for that see the scope
    /// [`restrict_dtypes`](crate::restrict_dtypes). Several declarations all hold.
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

    /// The same function on at most this many threads, of which the one that calls is one: 0 and 1 are that thread alone. More than 64 are as many as there are processors, or 64. Threads are shared with
    /// other functions; those beyond one per processor end when no function asks for so many.
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

    /// The same function with or without fusion of elementwise ops. Results are the same, bit for bit.
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

    /// The same function with floating-point contraction, as compilers have it by `-ffp-contract=fast`: a product of real floats that only one sum
    /// reads, of the same dtype and under the same policy, becomes one [`mul_add`](crate::mul_add) with it, in functions inlined and in
    /// branches and loops, too. That rounds once instead of twice, takes half as many instructions, and changes results: at most by the
    /// rounding of the product that is left out. They are still the same on every engine, in vectors, threads and the interpreter, since
    /// the graph itself is another. Without it nothing is contracted but what is written so.
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

    /// The same function with or without vector instructions, or with those of [one width](VectorWidth). Results are the same, bit for
    /// bit.
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

    /// What becomes of an operation whose result is [wider](crate::Widening) than each of the arrays it is computed from, as `f64` from
    /// an `f32` array and a strong `f64` number; of an `f32` and an `f64` array it is not, and [`casts`](Jitted::casts) has that one. Looked for when a signature is compiled or inlined; functions inlined here are looked into.
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

    /// The same function, run by the [reference interpreter](crate::debug::with_jit_disabled) or by compiled code. Results are the same, bit for bit.
    /// Where it is inlined, the calling function says what runs it.
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

    /// The same function with or without a [check](crate::debug::with_nan_check) of its results: one that is NaN makes the call an error,
    /// which names the operation that gave the first.
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

    /// The configuration.
    ///
    /// ```
    /// use ndjit::{Policy, jit};
    ///
    /// assert_eq!(jit(|x| x + 1).with_policy(Policy::Torch).config().policy, Some(Policy::Torch));
    /// ```
    pub fn config(&self) -> Config {
        self.core.config
    }

    /// Calls the function on [inputs](crate::jit::Input) of any kind, compiling it if their signature is new.
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
    /// The first error of the traced function; `Panic` if it panicked: where, Rust tells the panic hook alone, which prints it on standard error
    /// unless the program set another; `Literal` for a number that does not fit the dtype it is used in; `Allocation` if memory is refused.
    #[track_caller]
    pub fn call<'a>(&self, inputs: impl Inputs<'a, N>) -> Result<<F::Outputs as Outputs>::Arrays> {
        let place = Place::caller();
        let parts = CallArgs::of::<M, F>(inputs).and_then(|mut args| {
            let (args, structure) = args.parts();
            self.core.call(args, structure, Some(place))
        });
        Ok(F::Outputs::arrays(&mut parts.map_err(|e| caller::called(e, Some(place)))?))
    }

    /// As [`call`](Jitted::call), with results written into memory of the caller, in row-major order: `&mut [T]`, or a tuple
    /// of such for several results.
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
    /// Those of [`call`](Jitted::call); `Arity` for another number of destinations than results, `Argument` for one of
    /// another dtype or size than its result's.
    #[track_caller]
    pub fn call_into<'a, 'b>(&self, inputs: impl Inputs<'a, N>, into: impl Destinations<'b>) -> Result<()> {
        let place = Place::caller();
        let mut args = CallArgs::of::<M, F>(inputs).map_err(|e| caller::called(e, Some(place)))?;
        let mut destinations = Sinks::new();
        into.destinations(&mut destinations);
        self.core.call_into(args.parts(), &mut destinations, place).map_err(|e| caller::called(e, Some(place)))
    }

    /// Calls the function inside a function that is being traced; the other function's ops become part of that one.
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
        let (exprs, lengths) = self.core.inline(&operands.operands(), &structure, Place::caller());
        F::Outputs::exprs(&mut Parts::new(exprs, lengths))
    }

    /// The function's results of expressions.
    pub(crate) fn applied(&self, parameters: &[Collected; N]) -> F::Outputs {
        let structure = structure::<M, N, F>(parameters.iter().map(|own| (own.exprs.len(), &own.lengths[..])));
        let leaves: Vec<AnyOperand> = flat(parameters).into_iter().map(AnyOperand::Expr).collect();
        let (exprs, lengths) = self.core.inline(&leaves, &structure, self.core.named.1);
        F::Outputs::exprs(&mut Parts::new(exprs, lengths))
    }

    /// Traces the function for arguments of these types, without data. The first of the three steps to machine code: see
    /// [`Traced::lower`], [`Lowered::compile`](crate::jit::Lowered::compile), [`Compiled::call`](crate::jit::Compiled::call).
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
    /// The first error of the traced function; `Arity` for another number of specs than parameters.
    #[track_caller]
    pub fn trace(&self, specs: &[Spec]) -> Result<Traced<M, N, F>> {
        staged::trace(&self.core, specs, Place::caller())
    }

    /// How often the function was traced: signatures whose traces were of use. Threads that call a function at once with a signature that is new
    /// to it may each run the closure, as nobody waits for a closure of somebody else; one of these traces counts, and the others are dropped.
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

    /// How many different kernels this function has needed, compiled for it or found in the process's cache. No more come when
    /// only sizes or numbers change. Those of the graphs of loops and branches are among them.
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
    /// The same function: clones share the closure, the plans and what is counted.
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
        caller::note(&self.core, Place::caller());
        &self.call
    }
}

impl<M, const N: usize, F: JitFn<M, N>> fmt::Debug for Jitted<M, N, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jitted({N} parameters, traced {} times)", self.trace_count())
    }
}
