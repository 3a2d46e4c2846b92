//! What is asked of operands: an op, a reduction along axes, a movement of elements. Types and shapes of results are not known here.

use crate::api::axes::{Axes, IntoAxes};
use ndjit_ir::axes::position;
use ndjit_ir::infer::Operation;
use ndjit_ir::reduction::{self, AxisFunction, Reduce, Reduction, TypeRequest};
use ndjit_ir::{DType, Op, Policy, Result, Shape};

/// A use of a function that makes one operation.
#[derive(Clone, Copy)]
pub(crate) enum OperationRequest<'a> {
    Op(Op),
    /// A reduction, a scan or a sort.
    Reduction(&'a Request),
    Movement(&'a Movement<'a>),
}

/// One use of a reduction, a scan or a sort.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) function: AxisFunction,
    /// The dtype asked for.
    dtype: Option<DType>,
    axes: Axes,
    /// Whether it is the sum of a contraction.
    contracts: bool,
}

impl Request {
    /// Of a reduction.
    pub(crate) fn new(function: impl Into<AxisFunction>, dtype: Option<DType>, axes: Axes) -> Request {
        Request { function: function.into(), dtype, axes, contracts: false }
    }

    /// The sum of products that a contraction makes.
    pub(crate) fn contracting(dtype: DType, axes: Axes) -> Request {
        Request { contracts: true, ..Request::new(Reduction::Sum, Some(dtype), axes) }
    }

    /// Of a scan or a sort.
    pub(crate) fn along(function: impl Into<AxisFunction>, dtype: Option<DType>, axis: isize) -> Request {
        Request::new(function, dtype, axis.axes())
    }

    /// What is done to an operand of this shape.
    ///
    /// # Errors
    /// As [`on`](Request::on).
    pub(crate) fn operation(&self, shape: &Shape, policy: Policy) -> Result<Operation<'static>> {
        let ((axes, keepdims), &Request { function, dtype, contracts, .. }) = (self.on(shape)?, self);
        let (axis, request) = (axes.iter().next().unwrap_or(0) as u32, TypeRequest { dtype, policy });
        Ok(match function {
            AxisFunction::Scan(scan) => Operation::Scan(scan, axis, request),
            AxisFunction::Sort(sort) => Operation::Sort(sort, axis, request, None),
            AxisFunction::Reduction(reduction) => {
                Operation::Reduce(Reduce { reduction, axes, keepdims, contracts, request })
            }
        })
    }

    /// The axes of an operand of this shape, and whether they stay.
    ///
    /// # Errors
    /// `Shape` for axes that it does not have, or that are named twice.
    pub(crate) fn on(&self, shape: &Shape) -> Result<(reduction::AxisSet, bool)> {
        let rank = shape.rank();
        let axes = match &self.axes.axes {
            None => reduction::AxisSet::all(rank),
            Some(axes) => reduction::AxisSet::new(axes, rank).map_err(|error| {
                // A set of axes has a way to be named that a single axis has not.
                let missing = axes.iter().any(|&axis| position(axis, rank).is_err());
                match (missing, !matches!(self.function, AxisFunction::Reduction(_))) {
                    (true, false) if rank == 0 => error.help("leave the axes out: `..` are all there are"),
                    (true, false) => error.help("name one of these axes, or `..` for all"),
                    (true, true) if rank == 0 => error.help("`x.reshape(1)` has one"),
                    _ => error,
                }
            }),
        };
        Ok((axes.map_err(|error| error.of(self.function))?, self.axes.keepdims))
    }
}

/// A use of a function that moves elements: what it is called, and what it does to arrays of given shapes.
#[doc(hidden)]
pub struct Movement<'a> {
    pub(crate) what: &'static str,
    pub(crate) of: &'a Moving<'a>,
}

/// What is done to arrays of these shapes.
pub(crate) type Moving<'a> = dyn Fn(&[&Shape]) -> Result<Operation<'static>> + 'a;
