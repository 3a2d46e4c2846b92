//! What is asked of operands: an op, a reduction along axes, a movement of elements. Types and shapes of results are not known here.

use ndjit_ir::axes::position;
use ndjit_ir::infer::Operation;
use ndjit_ir::reduction::{self, AxisFunction, Reduce, Reduction, TypeRequest};
use ndjit_ir::{DType, Op, Policy, Result, Shape};
use smallvec::SmallVec;

/// A use of a function that makes one operation.
#[derive(Clone, Copy)]
pub enum OperationRequest<'a> {
    /// An op, element by element.
    Op(Op),
    /// A reduction, a scan or a sort.
    Reduction(&'a Request),
    /// A movement of elements.
    Movement(&'a Movement<'a>),
}

/// Which axes a reduction goes along.
#[derive(Clone, Debug)]
pub struct RequestAxes {
    /// As they are numbered, negative ones from the last; `None` is all.
    pub axes: Option<SmallVec<[isize; 4]>>,
    /// Whether they stay, with extent 1.
    pub keepdims: bool,
}

/// One use of a reduction, a scan or a sort.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which it is.
    pub function: AxisFunction,
    /// The dtype asked for.
    dtype: Option<DType>,
    axes: RequestAxes,
    /// Whether it is the sum of a contraction.
    contracts: bool,
}

impl Request {
    /// Of a reduction.
    pub fn new(function: impl Into<AxisFunction>, dtype: Option<DType>, axes: RequestAxes) -> Request {
        Request { function: function.into(), dtype, axes, contracts: false }
    }

    /// The sum of products that a contraction makes.
    pub fn contracting(dtype: DType, axes: RequestAxes) -> Request {
        Request { contracts: true, ..Request::new(Reduction::Sum, Some(dtype), axes) }
    }

    /// Of a scan or a sort.
    pub fn along(function: impl Into<AxisFunction>, dtype: Option<DType>, axis: isize) -> Request {
        let axes = RequestAxes { axes: Some(SmallVec::from_slice(&[axis])), keepdims: false };
        Request::new(function, dtype, axes)
    }

    /// What is done to an operand of this shape.
    ///
    /// # Errors
    /// As [`on`](Request::on).
    pub fn operation(&self, shape: &Shape, policy: Policy) -> Result<Operation<'static>> {
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
    pub fn on(&self, shape: &Shape) -> Result<(reduction::AxisSet, bool)> {
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
pub struct Movement<'a> {
    /// The function's name.
    pub what: &'static str,
    /// What is done.
    pub of: &'a Moving<'a>,
}

/// What is done to arrays of these shapes.
pub type Moving<'a> = dyn Fn(&[&Shape]) -> Result<Operation<'static>> + 'a;
