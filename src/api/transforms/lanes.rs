//! Vectorization: a function of one lane becomes a function of all lanes.

use crate::api::control::finished;
use crate::api::manipulation::moveaxis;
use crate::jit::function::JitFn;
use crate::jit::output::{Collected, Outputs, built, collected, with_leaves};
use crate::trace::arity::for_each_tuple;
use crate::trace::derive::Lanes;
use crate::trace::expr::Expr;
use crate::trace::recorder::describe;
use crate::trace::written::with_place;
use ndjit_ir::axes::position;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};

/// Marks an argument that is the same for all lanes, instead of an axis.
///
/// ```
/// use ndjit::{Array, Same, jit, vmap};
///
/// let f = jit(vmap(|x, k| x * k, (0, Same)));
/// assert_eq!(f(&Array::from([1, 2]), &Array::from(3)).to_vec::<i32>()?, [3, 6]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Same;

/// The lane axis of an argument, or [`Same`].
///
/// ```
/// use ndjit::{Same, transforms::IntoLane};
///
/// assert_eq!(((-1).lane(), Same.lane()), (Some(-1), None));
/// ```
pub trait IntoLane: Copy + Send + Sync + 'static {
    /// Returns the axis, negative ones from the last; `None` for [`Same`].
    fn lane(self) -> Option<isize>;
}

impl IntoLane for i32 {
    fn lane(self) -> Option<isize> {
        Some(self as isize)
    }
}

impl IntoLane for isize {
    fn lane(self) -> Option<isize> {
        Some(self)
    }
}

impl IntoLane for Same {
    fn lane(self) -> Option<isize> {
        None
    }
}

impl<A: IntoLane> IntoLane for Option<A> {
    fn lane(self) -> Option<isize> {
        self.and_then(A::lane)
    }
}

/// The lane axes of `N` arguments: one axis for all of them, or a tuple with one for each.
///
/// ```
/// use ndjit::{Same, transforms::IntoLanes};
///
/// assert_eq!(IntoLanes::<2>::lanes(&0), [Some(0), Some(0)]);
/// assert_eq!((1, Same).lanes(), [Some(1), None]);
/// ```
pub trait IntoLanes<const N: usize>: Send + Sync + 'static {
    /// Returns the axes.
    fn lanes(&self) -> [Option<isize>; N];

    /// Returns the lane axis of results.
    fn out(&self) -> isize {
        0
    }

    /// Returns the number of lanes, if set.
    fn size(&self) -> Option<usize> {
        None
    }
}

/// Lane axes of arguments and results. Made by [`in_axes`].
///
/// ```
/// use ndjit::{Array, in_axes, jit, vmap};
///
/// let f = jit(vmap(|x| x * 2, in_axes(0).out_axis(1)));
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// assert_eq!(f(&x).to_vec::<i32>()?, [2, 6, 4, 8]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct VmapAxes<A> {
    axes: A,
    out: isize,
    size: Option<usize>,
}

/// Lane axes of the arguments of [`vmap`], with options: the lane axis of results, and the number of lanes.
///
/// ```
/// use ndjit::{Array, Same, in_axes, jit, vmap};
///
/// let thrice = jit(vmap(|x| x + 1, in_axes(Same).axis_size(3)));
/// assert_eq!(thrice(&Array::from(1)).to_vec::<i32>()?, [2, 2, 2]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: `in_axes`, `out_axes` and `axis_size` of [`jax.vmap`](https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html).
pub fn in_axes<A>(axes: A) -> VmapAxes<A> {
    VmapAxes { axes, out: 0, size: None }
}

impl<A> VmapAxes<A> {
    /// Sets the lane axis of all results, negative ones from the last; the default is the first.
    ///
    /// ```
    /// use ndjit::{Array, in_axes, jit, vmap};
    ///
    /// let turned = jit(vmap(|x| x, in_axes(0).out_axis(-1)));
    /// assert_eq!(turned(&Array::from_rows(&[[1, 2, 3]])).shape().extents(), [3, 1]);
    /// ```
    pub fn out_axis(self, axis: isize) -> VmapAxes<A> {
        VmapAxes { out: axis, ..self }
    }

    /// Sets the number of lanes: required if no argument has lanes.
    ///
    /// ```
    /// use ndjit::{Array, Same, in_axes, jit, vmap};
    ///
    /// let twice = jit(vmap(|x| x, in_axes(Same).axis_size(2)));
    /// assert_eq!(twice(&Array::from([1, 2, 3])).shape().extents(), [2, 3]);
    /// ```
    pub fn axis_size(self, lanes: usize) -> VmapAxes<A> {
        VmapAxes { size: Some(lanes), ..self }
    }
}

impl<const N: usize, A: IntoLanes<N>> IntoLanes<N> for VmapAxes<A> {
    fn lanes(&self) -> [Option<isize>; N] {
        self.axes.lanes()
    }

    fn out(&self) -> isize {
        self.out
    }

    fn size(&self) -> Option<usize> {
        self.size
    }
}

impl<const N: usize> IntoLanes<N> for Same {
    fn lanes(&self) -> [Option<isize>; N] {
        [None; N]
    }
}

impl<const N: usize> IntoLanes<N> for i32 {
    fn lanes(&self) -> [Option<isize>; N] {
        [self.lane(); N]
    }
}

impl<const N: usize> IntoLanes<N> for isize {
    fn lanes(&self) -> [Option<isize>; N] {
        [self.lane(); N]
    }
}

macro_rules! tuples {
    ($($n:literal $($t:ident)*;)*) => {$(
        impl<$($t: IntoLane),*> IntoLanes<$n> for ($($t,)*) {
            #[allow(non_snake_case)]
            fn lanes(&self) -> [Option<isize>; $n] {
                let ($($t,)*) = self;
                [$($t.lane()),*]
            }
        }
    )*};
}

for_each_tuple!(tuples);

/// Vectorizes a function of one lane over arrays of lanes. `axes` gives the lane axis of each argument: one for all, or a
/// tuple with one for each, [`Same`] for an argument without lanes. Results have the lanes along their first axis, or that
/// of [`in_axes`]. All leaves of a [structure](fn@crate::trees) share its axis.
///
/// ```
/// use ndjit::{Array, Same, grad, jit, sum, vmap};
///
/// let dot = |x, y| sum(x * y, ..);
/// let rows = jit(vmap(dot, (0, Same)));
/// let (x, y) = (Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]), Array::from([10.0f32, 1.0]));
/// assert_eq!(rows(&x, &y).to_vec::<f32>()?, [12.0, 34.0]);
///
/// // The gradient of each example.
/// let slopes = jit(vmap(grad(move |w, x| dot(w, x) * dot(w, x)), (Same, 0)));
/// assert_eq!(slopes(&y, &x).shape().extents(), [2, 2]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// The results are those of a loop over the lanes, bit for bit; matrix products are within their bound. A loop whose lanes
/// stop at different steps runs while any lane does, if its state has at most 64 elements per lane. Otherwise it runs lane
/// by lane, as does a branch on a condition per lane.
///
/// Source: [`jax.vmap`](https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html).
///
/// # Errors
/// Poisoned with `Shape` if an argument or a result lacks its axis, if the axes have different extents, or if no argument
/// has lanes and their number is not set; with the first error of the function.
#[track_caller]
pub fn vmap<M, const N: usize, F: JitFn<M, N>>(function: F, axes: impl IntoLanes<N>) -> F::With<F::Outputs>
where
    F::Outputs: 'static,
{
    let place = SourceLoc::caller();
    F::with(move |parameters| {
        // All leaves of a parameter share its axis.
        let leaves = |(own, axis): (&Collected, Option<isize>)| own.exprs.iter().map(|&leaf| (leaf, axis)).collect();
        let given: Vec<Vec<(Expr, Option<isize>)>> = parameters.iter().zip(axes.lanes()).map(leaves).collect();
        let own = |lanes: &[Expr]| function.apply(&with_leaves(parameters, lanes));
        let all = mapped(("vmap", place), &given.concat(), axes.size(), own);
        if axes.out() == 0 { all } else { moved(("vmap", place), all, axes.out()) }
    })
}

/// Vectorizes a function of values over all lanes along their first axes, within a traced function. Values that the closure
/// captures are the same for all lanes.
///
/// ```
/// use ndjit::{Array, Expr, jit, sum, vmap_at};
///
/// let f = jit(|x: Expr, y: Expr| vmap_at(|(a, b): (Expr, Expr)| sum(a * b, ..), (x, y)));
/// let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(f(&x, &x).to_vec::<f32>()?, [5.0, 25.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`vmap`].
#[track_caller]
pub fn vmap_at<P: Outputs, R: Outputs>(function: impl FnOnce(P) -> R, over: P) -> R {
    let over = collected(over);
    let given: Vec<(Expr, Option<isize>)> = over.exprs.iter().map(|&x| (x, Some(0))).collect();
    mapped(("vmap_at", SourceLoc::caller()), &given, None, |lanes| function(built(lanes, &over)))
}

/// Vectorizes a function over lanes of each value along its axis.
pub(crate) fn mapped<R: Outputs>(
    (what, place): (&'static str, SourceLoc),
    given: &[(Expr, Option<isize>)],
    size: Option<usize>,
    function: impl FnOnce(&[Expr]) -> R,
) -> R {
    let mut like = Collected::default();
    let made = (|| {
        let (lanes, given) = checked(what, given, size)?;
        let lanes = Lanes::new(&given, lanes, what, place)?;
        let outputs = collected(function(&lanes.values));
        let exprs = outputs.exprs.clone();
        like = outputs;
        lanes.all(&exprs)
    })();
    finished(made, like, place)
}

/// Moves the lanes of results to another axis than the first.
fn moved<R: Outputs>((what, place): (&str, SourceLoc), all: R, to: isize) -> R {
    let own = collected(all);
    let one = |&x: &Expr| {
        let (_, _, shape) = describe(x, what)?;
        position(to, shape.rank()).map_err(|error| error.of(what).fact(format_args!("a result has shape {shape}")))?;
        Ok(with_place(place, || moveaxis(x, [0], [to])))
    };
    let made = own.exprs.iter().map(one).collect::<Result<Vec<Expr>>>();
    finished(made, own, place)
}

/// A value and its lane axis.
type OfLane = (Expr, Option<usize>);

/// Returns the number of lanes, and the axis of each value.
fn checked(what: &str, given: &[(Expr, Option<isize>)], size: Option<usize>) -> Result<(usize, Vec<OfLane>)> {
    let mut lanes = size.map(|size| ("axis_size".to_owned(), size));
    let mut axes = Vec::with_capacity(given.len());
    for (n, &(x, axis)) in given.iter().enumerate() {
        let (_, _, shape) = describe(x, what)?;
        let Some(axis) = axis else {
            axes.push((x, None));
            continue;
        };
        let axis = position(axis, shape.rank())
            .map_err(|error| error.of(what).fact(format_args!("argument {n} has shape {shape}")))?;
        let extent = shape.extents()[axis];
        match &lanes {
            Some((first, before)) if *before != extent => {
                return Err(Error::new(ErrorCode::Shape, format!("{what}: {before} lanes and {extent}"))
                    .fact(format_args!("{first}: {before}"))
                    .fact(format_args!("argument {n}: {extent} along axis {axis} of {shape}"))
                    .help("name axes of one extent, or `Same` for what is the same in all lanes"));
            }
            Some(_) => {}
            None => lanes = Some((format!("argument {n}"), extent)),
        }
        axes.push((x, Some(axis)));
    }
    let (_, lanes) = lanes.ok_or_else(|| {
        Error::new(ErrorCode::Shape, format!("{what}: no argument has lanes")).help(
            "name an axis of one of them, as in `vmap(f, (0, Same))`, or their number: `in_axes(Same).axis_size(8)`",
        )
    })?;
    Ok((lanes, axes))
}
