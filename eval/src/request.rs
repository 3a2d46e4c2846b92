//! Requested operations: an op, a reduction along axes, a movement of elements. Types and shapes of results are not inferred here.

use ndjit_inspect::words::NUMBERED;
use ndjit_ir::axes::position;
use ndjit_ir::graph::NodeKind;
use ndjit_ir::infer::Operation;
use ndjit_ir::reduction::{self, AxisFunction, Reduce, Reduction, TypeRequest};
use ndjit_ir::{Code, DType, Help, Op, Policy, Result, Shape};
use smallvec::SmallVec;

/// A use of a function with one operation.
#[derive(Clone, Copy)]
pub enum OperationRequest<'a> {
    /// An elementwise op.
    Op(Op),
    /// A reduction, a scan or a sort.
    Reduction(&'a Request),
    /// A movement of elements.
    Movement(&'a Movement<'a>),
}

/// The axes of a reduction.
#[derive(Clone, Debug)]
pub struct RequestAxes {
    /// Axis numbers, negative ones from the last; `None` is all.
    pub axes: Option<SmallVec<[isize; 4]>>,
    /// Whether reduced axes stay, with extent 1.
    pub keepdims: bool,
}

/// One use of a reduction, a scan or a sort.
#[derive(Clone, Debug)]
pub struct Request {
    /// The function.
    pub function: AxisFunction,
    /// The requested dtype.
    dtype: Option<DType>,
    axes: RequestAxes,
    /// Whether it is the sum of a contraction.
    contracts: bool,
}

impl Request {
    /// A reduction.
    pub fn new(function: impl Into<AxisFunction>, dtype: Option<DType>, axes: RequestAxes) -> Request {
        Request { function: function.into(), dtype, axes, contracts: false }
    }

    /// The sum of products in a contraction.
    pub fn contracting(dtype: DType, axes: RequestAxes) -> Request {
        Request { contracts: true, ..Request::new(Reduction::Sum, Some(dtype), axes) }
    }

    /// A scan or a sort.
    pub fn along(function: impl Into<AxisFunction>, dtype: Option<DType>, axis: isize) -> Request {
        let axes = RequestAxes { axes: Some(SmallVec::from_slice(&[axis])), keepdims: false };
        Request::new(function, dtype, axes)
    }

    /// The operation on an operand of this shape.
    ///
    /// # Errors
    /// As [`on`](Request::on).
    pub fn operation(&self, shape: &Shape, policy: Policy) -> Result<Operation<'static>> {
        let ((axes, keepdims), &Request { function, dtype, contracts, .. }) = (self.on(shape)?, self);
        let mut operation = Operation::along(function, axes, TypeRequest { dtype, policy });
        if let NodeKind::Reduce(reduce) = &mut operation.kind {
            *reduce = Reduce { keepdims, contracts, ..*reduce };
        }
        Ok(operation)
    }

    /// The axes of an operand of this shape, and whether they stay.
    ///
    /// # Errors
    /// `Shape` for missing or repeated axes.
    pub fn on(&self, shape: &Shape) -> Result<(reduction::AxisSet, bool)> {
        let rank = shape.rank();
        let axes = match &self.axes.axes {
            None => reduction::AxisSet::all(rank),
            Some(axes) => reduction::AxisSet::new(axes, rank).map_err(|error| {
                // The error of a set of axes differs from that of a single axis.
                let missing = axes.iter().any(|&axis| position(axis, rank).is_err());
                match (missing, !matches!(self.function, AxisFunction::Reduction(_))) {
                    (true, false) if rank == 0 => error.help(Help::default().code(Code::NoAxes)),
                    (true, false) => error.help(Help::from("name one of these axes, or ").code(Code::AllAxes)),
                    (true, true) if rank == 0 => error.help(Help::default().code(Code::Reshape(&[1])).text(" has one")),
                    _ => error,
                }
            }),
        };
        Ok((axes.map_err(|error| error.of(self.function))?, self.axes.keepdims))
    }
}

/// A function, by its name and those of its operands.
#[derive(Clone, Copy)]
pub struct NamedFunction<'a> {
    /// Its name.
    pub what: &'static str,
    /// The operands' names; `None` if they have none of their own.
    names: Option<&'a [&'static str]>,
}

impl<'a> NamedFunction<'a> {
    /// A function with names for its operands.
    pub fn new(what: &'static str, names: &'a [&'static str]) -> NamedFunction<'a> {
        NamedFunction { what, names: Some(names) }
    }

    /// The names of so many operands: a single one without a name is `x`, several are numbered.
    pub fn names(self, operands: usize) -> &'a [&'static str] {
        self.names.unwrap_or(if operands == 1 { &["x"] } else { NUMBERED })
    }
}

impl From<&'static str> for NamedFunction<'_> {
    fn from(what: &'static str) -> Self {
        NamedFunction { what, names: None }
    }
}

/// A use of a function that moves elements: its names, and its operation on arrays of given shapes.
pub struct Movement<'a> {
    /// The function.
    pub function: NamedFunction<'a>,
    /// The operation.
    pub of: &'a Moving<'a>,
}

/// The operation on arrays of these shapes.
pub type Moving<'a> = dyn Fn(&[&Shape]) -> Result<Operation<'static>> + 'a;
