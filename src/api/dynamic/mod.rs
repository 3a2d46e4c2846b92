//! Operations by their rows in the tables, for front ends that choose an operation at run time. In Rust the functions of the
//! same names are simpler ([`sin`](crate::sin()), [`sum`](crate::sum())).
//!
//! ```
//! use ndjit::operand::Operand;
//! use ndjit::{Array, DType, Op, Program, dynamic, spec};
//!
//! let op: Op = "maximum".parse().unwrap();
//! let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![dynamic::apply(op, &[p[0].operand(), 0.operand()])])?;
//! assert_eq!(program.call([&Array::from([-1.5f32, 2.0])])?[0].to_vec::<f32>()?, [0.0, 2.0]);
//! # Ok::<(), ndjit::Error>(())
//! ```

mod derivatives;
mod tracing;

pub use crate::api::indexing::Index;
pub use crate::jit::dynamic::{DynamicArrays, DynamicCompiled, DynamicJitted, DynamicResults};
pub use derivatives::{cotangents, depend, gradients, tangents, variables, vmap};
pub use tracing::{TracedRef, is_tracing};

use crate::api::indexing::At;
use crate::api::reductions::{Axes, IntoAxes};
use crate::api::scans::{self, IntoAlong};
use crate::api::sorting::{IntoSorting, sorted};
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::scalar::Scalar;
use ndjit_eval::request::Request;
use ndjit_ir::reduction::AxisFunction;
use ndjit_ir::{DType, Error, ErrorCode, Op, Reduction, Scan, Sort, SourceLoc};

/// Applies an elementwise op to operands in the order of its row. The result is an [`Expr`](crate::Expr) in the function being traced on
/// this thread, or an [`Array`](crate::Array) of arrays and scalars. Poisoned with `Arity` for a wrong number of operands,
/// and with the errors of the op's function.
///
/// ```
/// use ndjit::operand::AnyOperand;
/// use ndjit::{Array, DType, Expr, Op, Program, dynamic, spec};
///
/// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![dynamic::apply(Op::Square, &[AnyOperand::Expr(p[0])])])?;
/// assert_eq!(program.call([&Array::from([2.0f32, 3.0])])?[0].to_vec::<f32>()?, [4.0, 9.0]);
///
/// let root: Array = dynamic::apply(Op::Sqrt, &[AnyOperand::Array(Array::from(2.25f64))]);
/// assert_eq!(root.item::<f64>()?, 1.5);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn apply<R: ArrayLike>(op: Op, operands: &[AnyOperand]) -> R {
    let place = SourceLoc::caller();
    if operands.len() == op.arity() {
        return R::compute(op, operands, place);
    }
    let (takes, given) = (op.arity(), operands.len());
    let plural = if takes == 1 { "" } else { "s" };
    R::failed(
        Error::new(ErrorCode::Arity, format!("{op}: takes {takes} operand{plural}, {given} given"))
            .at(place)
            .help(format!("its operands are {}", op.row().operands.join(", "))),
    )
}

/// Options of a reduction, a scan or a sort besides its axes.
///
/// ```
/// use ndjit::dynamic::Asked;
/// use ndjit::{DType, Reduction};
///
/// let asked = Asked { dtype: Some(DType::F64), ..Asked::default() };
/// assert_eq!((asked.dtype, Reduction::Sum.to_string()), (Some(DType::F64), "sum".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Asked {
    /// The dtype of the result; inferred if `None`.
    pub dtype: Option<DType>,
    /// The correction of a variance: its divisor is the number of elements less this.
    pub correction: Option<Scalar>,
    /// Begin the scan of a sum or a product with its initial value.
    pub include_initial: bool,
}

/// A reduction over some axes, or all: `..` of an array, or in the function being traced on this thread. Poisoned with `Argument` for
/// options that this reduction does not support.
///
/// ```
/// use ndjit::dynamic::{self, Asked};
/// use ndjit::operand::AnyOperand;
/// use ndjit::{Array, DType, Program, Reduction, spec};
///
/// let sum = |p: &[ndjit::Expr]| vec![dynamic::reduce(Reduction::Sum, AnyOperand::Expr(p[0]), 0, Asked::default())];
/// let program = Program::trace(&[spec(DType::F32, [2])], sum)?;
/// assert_eq!(program.call([&Array::from([2.0f32, 3.0])])?[0].item::<f32>()?, 5.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn reduce<R: ArrayLike>(reduction: Reduction, x: AnyOperand, axes: impl IntoAxes, asked: Asked) -> R {
    let place = SourceLoc::caller();
    if let Err(error) = possible(reduction, asked, false) {
        return R::failed(error.at(place));
    }
    let mut operands = vec![x];
    operands.extend(asked.correction.map(AnyOperand::Scalar));
    let axes: Axes = axes.axes();
    R::reduce(&Request::new(reduction, asked.dtype, axes.requested()), &operands, place)
}

/// A scan along an axis of an array, or in the function being traced on this thread. Poisoned with `Argument` for options that this scan
/// does not support.
///
/// ```
/// use ndjit::dynamic::{self, Asked};
/// use ndjit::operand::AnyOperand;
/// use ndjit::{Array, DType, Program, Scan, spec};
///
/// let sums = |p: &[ndjit::Expr]| vec![dynamic::scan(Scan::CumulativeSum, AnyOperand::Expr(p[0]), 0, Asked::default())];
/// let program = Program::trace(&[spec(DType::F32, [2])], sums)?;
/// assert_eq!(program.call([&Array::from([2.0f32, 3.0])])?[0].to_vec::<f32>()?, [2.0, 5.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn scan<R: ArrayLike>(scan: Scan, x: AnyOperand, axis: isize, asked: Asked) -> R {
    let place = SourceLoc::caller();
    if let Err(error) = possible(scan, asked, scan.takes_dtype()) {
        return R::failed(error.at(place));
    }
    let along = if asked.include_initial { scans::include_initial(axis) } else { axis.along() };
    scans::scan(scan, asked.dtype, x, along, place)
}

/// A sort along an axis of an array, or in the function being traced on this thread. Poisoned with `Argument` for options that this sort
/// does not support.
///
/// ```
/// use ndjit::dynamic::{self, Asked};
/// use ndjit::operand::AnyOperand;
/// use ndjit::{Array, DType, Program, Sort, spec};
///
/// let order = |p: &[ndjit::Expr]| vec![dynamic::sort(Sort::ArgSort, AnyOperand::Expr(p[0]), 0, Asked::default())];
/// let program = Program::trace(&[spec(DType::F32, [2])], order)?;
/// assert_eq!(program.call([&Array::from([3.0f32, 2.0])])?[0].to_vec::<i32>()?, [1, 0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn sort<R: ArrayLike>(sort: Sort, x: AnyOperand, axis: impl IntoSorting, asked: Asked) -> R {
    let place = SourceLoc::caller();
    if let Err(error) = possible(sort, asked, false) {
        return R::failed(error.at(place));
    }
    sorted(sort, asked.dtype, x, axis.sorting(), place)
}

/// The elements at these indices along the first axes, as `x.at((i, j))` with indices of any kind: of an
/// [`Array`](crate::Array), or in the function being traced on this thread.
///
/// ```
/// use ndjit::dynamic::{self, Index};
/// use ndjit::manipulation::Slice;
/// use ndjit::operand::Operand;
/// use ndjit::{Array, arange, reshape};
///
/// let x = reshape(arange(6), [2, 3]);
/// let indices = vec![Index::Slice(Slice::ALL), Index::Elements(Array::from([2, 0]).operand())];
/// let taken: Array = dynamic::at(x.operand(), indices).get();
/// assert_eq!(taken.to_string(), "[[2 0]\n [5 3]]");
/// ```
#[track_caller]
pub fn at<R: ArrayLike>(x: AnyOperand, indices: Vec<Index>) -> At<R> {
    At::new(x, indices.into(), SourceLoc::caller())
}

/// Checks that a function along axes supports these options. Some scans have an `initial` value.
fn possible(function: impl Into<AxisFunction>, asked: Asked, initial: bool) -> Result<(), Error> {
    let function = function.into();
    let wrong = |what: &str| Err(Error::new(ErrorCode::Argument, format!("{function}: {what}")));
    let Asked { dtype, correction, include_initial } = asked;
    match () {
        () if dtype.is_some() && !function.takes_dtype() => wrong("takes no dtype: its result has that of its operand"),
        () if correction.is_some() && function.row().operands.len() < 2 => wrong("takes no correction"),
        () if include_initial && !initial => wrong("has no initial value"),
        () => Ok(()),
    }
}
