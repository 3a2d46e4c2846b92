//! Kinds of nodes, and what passes ask of a kind as the columns of its [row](NodeKind::row). A new kind is a variant and its row here, its text beside the
//! others', its type in inference, its meaning in the interpreter, and what commit and fusion make of it.

use super::{SlotId, Type, ViewId};
use crate::axes::AxisSet;
use crate::dtype::DType;
use crate::graph::Scatter;
use crate::op::Op;
use crate::promotion::Policy;
use crate::reduction::{AxisFunction, Reduce, Scan, Sort, TypeRequest};
use crate::support::CastReason;
use crate::value_type::ValueType;

/// What a node is, in a graph of this stage: before commit it notes under which policies types meet, why casts are there, which dtypes were
/// asked for; after commit none of these is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind<T: Type = ValueType> {
    /// The `n`th array parameter, whose elements are stored as this dtype: a strong one's own, for a weak one a dtype of its
    /// kind. Parameters are the first nodes.
    Param(u32, DType),
    /// The value of a literal slot, a scalar. Two literals of equal value have two slots: what a program compiles to
    /// never depends on values.
    Literal(SlotId),
    /// An elementwise op on broadcast operands, resolved under a policy.
    Op(Op, T::Traced<Policy>),
    /// Conversion to the result's dtype, and why it is there.
    Cast(T::Traced<CastReason>),
    /// One value of all elements along some axes. Its operands are those of the reduction's row; after commit the array alone.
    Reduce(Reduce<T>),
    /// At each index one value of all elements up to it along an axis.
    Scan(Scan, u32, T::Traced<TypeRequest>),
    /// Its operand, which transformations see as something of its own.
    Identity(Identity),
    /// The elements along an axis in order, or the indices that order them.
    Sort(Sort, u32, T::Traced<TypeRequest>),
    /// At each index the position along some axes, counted in row-major order if they are several. An `i64`, without operands.
    Iota(AxisSet),
    /// Each element is one of the operand's, found by an affine map of indices.
    View(ViewId),
    /// The operand's elements, in row-major order, in another shape.
    Reshape,
    /// The operands one after the other along an axis, in their common type under a policy.
    Concat(u32, T::Traced<Policy>),
    /// At each index a row of the first operand: the elements at a position along its first axis that the second one, an `i64`, has
    /// there. A position before the first is the first, one after the last the last. The second operand and what remains of the
    /// first one's shape broadcast.
    Gather,
    /// The first operand, and into rows of it, at the indices of the second one, elements of the third: one after the other in row-major
    /// order of the shape that [`Gather`](NodeKind::Gather) has of the first two. What has a position that the first axis does not have
    /// is left out. The third operand broadcasts to that shape.
    Scatter(Scatter),
    /// The first operand, and in place of the elements that the view names of it those of the second one. The view names each once.
    Insert(ViewId),
    /// One result of control flow: of which, and which of its results.
    Control(u32, u32),
    /// A jitted function called on traced values: child graph `n`. As many results as the child has outputs.
    Call(u32),
}

impl<T: Type> NodeKind<T> {
    /// Its row.
    pub const fn row(self) -> &'static KindRow {
        match self {
            NodeKind::Param(..) => &KindRow { name: "argument", ty: TypeOf::Given, fusion: Fusion::Leaf, ..ROW },
            NodeKind::Literal(_) => &KindRow { name: "literal", ty: TypeOf::Given, fusion: Fusion::Leaf, ..ROW },
            NodeKind::Iota(_) => &KindRow { name: "iota", ty: TypeOf::Given, fusion: Fusion::Leaf, ..ROW },
            NodeKind::Op(..) => &KindRow { name: "op", fusion: Fusion::Elementwise, ..ROW },
            NodeKind::Cast(_) => {
                &KindRow { name: "cast", operands: &["x"], ty: TypeOf::Asked, fusion: Fusion::Elementwise, ..ROW }
            }
            NodeKind::Identity(Identity::Ruled(_)) => {
                &KindRow { name: "rule", ty: TypeOf::Operand, fusion: Fusion::Elementwise, ..ROW }
            }
            NodeKind::Identity(_) => {
                &KindRow { name: "identity", operands: &["x"], ty: TypeOf::Operand, fusion: Fusion::Elementwise, ..ROW }
            }
            NodeKind::Reduce(_) => &KindRow { name: "reduction", ..ROW },
            NodeKind::Scan(..) => &KindRow { name: "scan", ..ROW },
            NodeKind::Sort(..) => &KindRow { name: "sort", ..ROW },
            NodeKind::Concat(..) => &KindRow { name: "concat", moves_elements: true, ..ROW },
            NodeKind::View(_) => &KindRow { name: "view", is_view: true, ..MOVED },
            NodeKind::Reshape => &KindRow { name: "reshape", is_view: true, ..MOVED },
            NodeKind::Gather => {
                &KindRow { name: "gather", operands: &["x", "index"], fusion: Fusion::Elementwise, ..MOVED }
            }
            NodeKind::Scatter(_) => &KindRow { name: "scatter", operands: &["x", "index", "updates"], ..MOVED },
            NodeKind::Insert(_) => &KindRow { name: "insert", operands: &["x", "updates"], ..MOVED },
            NodeKind::Control(..) => &KindRow { name: "control flow", ty: TypeOf::Graph, ..ROW },
            NodeKind::Call(_) => &KindRow { name: "call", ty: TypeOf::Graph, ..ROW },
        }
    }

    /// What it is called in messages: as its op or its reduction, if it has one.
    pub const fn name(self) -> &'static str {
        match self {
            NodeKind::Op(op, _) => op.name(),
            NodeKind::Identity(identity) => identity.name(),
            _ => match self.axis_function() {
                Some(function) => function.name(),
                None => self.row().name,
            },
        }
    }

    /// Its op, if it has one.
    pub const fn op(self) -> Option<Op> {
        if let NodeKind::Op(op, _) = self { Some(op) } else { None }
    }

    /// The policy under which operands meet that may be weak.
    pub const fn policy(self) -> Option<T::Traced<Policy>> {
        if let NodeKind::Op(_, policy) | NodeKind::Concat(_, policy) = self { Some(policy) } else { None }
    }

    /// What it does along axes, if it does.
    pub const fn axis_function(self) -> Option<AxisFunction> {
        match self {
            NodeKind::Reduce(Reduce { reduction, .. }) => Some(AxisFunction::Reduction(reduction)),
            NodeKind::Scan(scan, ..) => Some(AxisFunction::Scan(scan)),
            NodeKind::Sort(sort, ..) => Some(AxisFunction::Sort(sort)),
            _ => None,
        }
    }

    /// What it does along axes and how the type of that is asked for, if it does.
    pub const fn type_request(self) -> Option<(AxisFunction, T::Traced<TypeRequest>)> {
        match (self.axis_function(), self) {
            (
                Some(function),
                NodeKind::Reduce(Reduce { request, .. })
                | NodeKind::Scan(_, _, request)
                | NodeKind::Sort(_, _, request),
            ) => Some((function, request)),
            _ => None,
        }
    }
}

/// What transformations see in an identity. Commit puts the operand in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// A variable of a transformation, with a number that no other of the graph has: what depends on it is what was computed of it, not of
    /// its operand.
    Variable(u32),
    /// What derivatives take as constant.
    StopGradient,
    /// A value whose derivative is said by other nodes.
    Ruled(DerivativeRule),
}

impl Identity {
    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Identity::Variable(_) => "variable",
            Identity::StopGradient => "stop_gradient",
            Identity::Ruled(rule) => rule.kind.name(),
        }
    }
}

/// How nodes say the derivative of a function, and of which of its outputs. The first operand is that output; the others, the same for all of them, are
/// variables and what was computed of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DerivativeRule {
    /// What the operands are.
    pub kind: RuleKind,
    /// The number of the output.
    pub output: u16,
    /// How many outputs the function has.
    pub outputs: u16,
}

/// What says the derivative of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// The tangents of its outputs, written of those of its inputs. Operands: variables that stand for the outputs, variables that stand for tangents
    /// of the inputs, whose operands are the inputs; the tangents of the outputs.
    Jvp,
    /// The cotangents of its inputs, written of those of its outputs. Operands: variables that stand for cotangents of the outputs,
    /// the inputs as variables; the cotangents of the inputs.
    Vjp,
    /// Itself, computed once more. Operands: the outputs, the inputs as variables.
    Checkpoint,
}

impl RuleKind {
    /// Each, in the order of their names in text.
    pub const ALL: [RuleKind; 3] = [RuleKind::Jvp, RuleKind::Vjp, RuleKind::Checkpoint];

    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            RuleKind::Jvp => "custom_jvp",
            RuleKind::Vjp => "custom_vjp",
            RuleKind::Checkpoint => "checkpoint",
        }
    }
}

impl DerivativeRule {
    /// Returns `true` if it takes so many operands.
    pub fn takes(self, operands: usize) -> bool {
        let Some(rest) = operands.checked_sub(1 + self.outputs as usize) else { return false };
        let fits = match self.kind {
            RuleKind::Jvp => rest >= self.outputs as usize,
            RuleKind::Vjp => rest.is_multiple_of(2),
            RuleKind::Checkpoint => true,
        };
        fits && self.output < self.outputs
    }

    /// Its operands after the first, in parts: `None` if they are not so many.
    pub fn parts<T>(self, operands: &[T]) -> Option<RuleParts<'_, T>> {
        if !self.takes(operands.len()) {
            return None;
        }
        let (outputs, rest) = operands[1..].split_at(self.outputs as usize);
        let inputs = match self.kind {
            RuleKind::Jvp => rest.len() - outputs.len(),
            RuleKind::Vjp => rest.len() / 2,
            RuleKind::Checkpoint => rest.len(),
        };
        let (inputs, mapped) = rest.split_at(inputs);
        Some(RuleParts { outputs, inputs, mapped })
    }
}

/// The operands of a [`DerivativeRule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleParts<'a, T> {
    /// What stands for the outputs, or for their cotangents.
    pub outputs: &'a [T],
    /// What stands for the inputs, or for their tangents: derivatives flow through these alone.
    pub inputs: &'a [T],
    /// What the rule makes of tangents or cotangents.
    pub mapped: &'a [T],
}

/// The facts about a kind of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRow {
    /// Its name; ops and reductions have their own.
    pub name: &'static str,
    /// Names of its operands, where they are always the same; ops and reductions have their own.
    pub operands: &'static [&'static str],
    /// Where the result's type comes from.
    pub ty: TypeOf,
    /// True if the result may be read in the memory of the operand.
    pub is_view: bool,
    /// True if the result's elements are elements of operands, unchanged.
    pub moves_elements: bool,
    /// What kernels make of it.
    pub fusion: Fusion,
}

/// Where the type of a result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeOf {
    /// It is given, whatever stands around.
    Given,
    /// It is asked for.
    Asked,
    /// From the operands', by a policy.
    Policy,
    /// It is the first operand's.
    Operand,
    /// From a graph's outputs.
    Graph,
}

/// What kernels make of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// It is read where it is used.
    Leaf,
    /// It is computed where it is used, or with others of its shape.
    Elementwise,
    /// It has a kernel or a step of its own, which may compute its operands.
    Root,
}

const ROW: KindRow = KindRow {
    name: "",
    operands: &[],
    ty: TypeOf::Policy,
    is_view: false,
    moves_elements: false,
    fusion: Fusion::Root,
};
const MOVED: KindRow = KindRow { operands: &["x"], ty: TypeOf::Operand, moves_elements: true, ..ROW };
