//! Kinds of nodes, with a [row](NodeKind::row) of properties for passes and the [parts](NodeKind::parts) of their text, which printers
//! and parsers share. A new kind needs these here, its type inference, its interpretation, and its cases in commit, fusion,
//! derivatives and batching.

use super::{ControlKind, SlotId, Type, ViewId};
use crate::axes::AxisSet;
use crate::dtype::DType;
use crate::graph::Scatter;
use crate::op::Op;
use crate::promotion::Policy;
use crate::reduction::{AxisFunction, Reduce, Scan, Sort, TypeRequest};
use crate::support::CastReason;
use crate::value_type::ValueType;
use smallvec::{SmallVec, smallvec};

/// The kind of a node, in a graph of this stage. Before commit nodes have promotion policies, reasons of casts and requested
/// dtypes; after commit they have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind<T: Type = ValueType, V = ViewId> {
    /// The `n`th array parameter, whose elements are stored as this dtype: a strong type's own, or one of a weak type's kind.
    /// Parameters are the first nodes.
    Param(u32, DType),
    /// The value of a literal slot, a scalar. Literals of equal values have different slots: compilation never depends on values.
    Literal(SlotId),
    /// An elementwise op on broadcast operands, resolved under a policy.
    Op(Op, T::Traced<Policy>),
    /// A cast to the result's dtype, and its reason.
    Cast(T::Traced<CastReason>),
    /// A reduction along axes. Before commit the operands are those of the reduction's row; after commit only the array.
    Reduce(Reduce<T>),
    /// A scan along an axis: at each index one value of all elements up to it.
    Scan(Scan, u32, T::Traced<TypeRequest>),
    /// The operand, which transformations treat as a separate value.
    Identity(Identity),
    /// The elements sorted along an axis, or the indices that sort them.
    Sort(Sort, u32, T::Traced<TypeRequest>),
    /// The index along an axis, or the row-major index over several axes. An `i64`, without operands.
    Iota(AxisSet),
    /// Elements of the operand, selected by an affine map of indices.
    View(V),
    /// The operand's elements in row-major order, in another shape.
    Reshape,
    /// The operands joined along an axis, in their common type under a policy.
    Concat(u32, T::Traced<Policy>),
    /// Rows of the first operand, at the indices along its first axis that the second operand, an `i64`, has. Indices are clamped to
    /// the axis. The shape is the broadcast of the second operand's and the first one's without its first axis.
    Gather,
    /// Elements of the first operand, selected by an affine map of indices from [starts](crate::view::ViewStart): the further operands, `i64`
    /// scalars, are the indices along the first axes of the view, each clamped. The other axes are those of the result. Each element is
    /// selected once. Kernels have views and gathers in its place.
    Slice(V),
    /// The first operand, with elements of the third scattered into its rows at the indices of the second, one after the other in
    /// row-major order of [`Gather`](NodeKind::Gather)'s shape. Elements at out-of-bounds indices are dropped. The third operand
    /// broadcasts to that shape.
    Scatter(Scatter),
    /// The first operand, with the second one's elements in place of the elements that the view selects. The view selects each once.
    /// Further operands, `i64` scalars, are [starts](crate::view::ViewStart): the indices along the first axes of the view, whose other axes
    /// are those of the second operand. If one is out of bounds, nothing is inserted.
    Insert(V),
    /// Control flow of this number. It has as many results as its last graph has outputs.
    Control(u32),
    /// A call of a jitted function on traced values: child graph `n`. It has as many results as the child has outputs.
    Call(u32),
}

impl<T: Type, V> NodeKind<T, V> {
    /// The row of its properties.
    pub const fn row(&self) -> &'static KindRow {
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
            NodeKind::Slice(_) => &KindRow { name: "slice", operands: &["x", "start"], ..MOVED },
            NodeKind::Scatter(_) => &KindRow { name: "scatter", operands: &["x", "index", "updates"], ..MOVED },
            NodeKind::Insert(_) => &KindRow { name: "insert", operands: &["x", "updates", "start"], ..MOVED },
            NodeKind::Control(..) => &KindRow { name: "control flow", ty: TypeOf::Graph, ..ROW },
            NodeKind::Call(_) => &KindRow { name: "call", ty: TypeOf::Graph, ..ROW },
        }
    }

    /// The same kind with another reference to its view, if it has one.
    ///
    /// # Errors
    /// Those of `view`.
    pub fn with_view<W, E>(&self, view: impl FnOnce(&V) -> Result<W, E>) -> Result<NodeKind<T, W>, E> {
        Ok(match self {
            NodeKind::View(own) => NodeKind::View(view(own)?),
            NodeKind::Slice(own) => NodeKind::Slice(view(own)?),
            NodeKind::Insert(own) => NodeKind::Insert(view(own)?),
            &NodeKind::Param(n, dtype) => NodeKind::Param(n, dtype),
            &NodeKind::Literal(slot) => NodeKind::Literal(slot),
            &NodeKind::Op(op, policy) => NodeKind::Op(op, policy),
            &NodeKind::Cast(reason) => NodeKind::Cast(reason),
            &NodeKind::Reduce(reduce) => NodeKind::Reduce(reduce),
            &NodeKind::Scan(scan, axis, request) => NodeKind::Scan(scan, axis, request),
            &NodeKind::Identity(identity) => NodeKind::Identity(identity),
            &NodeKind::Sort(sort, axis, request) => NodeKind::Sort(sort, axis, request),
            &NodeKind::Iota(axes) => NodeKind::Iota(axes),
            NodeKind::Reshape => NodeKind::Reshape,
            &NodeKind::Concat(axis, policy) => NodeKind::Concat(axis, policy),
            NodeKind::Gather => NodeKind::Gather,
            &NodeKind::Scatter(scatter) => NodeKind::Scatter(scatter),
            &NodeKind::Control(n) => NodeKind::Control(n),
            &NodeKind::Call(n) => NodeKind::Call(n),
        })
    }

    /// The name in messages: the op's or the reduction's, if there is one.
    pub const fn name(&self) -> &'static str {
        match self {
            NodeKind::Op(op, _) => op.name(),
            NodeKind::Identity(identity) => identity.name(),
            _ => match self.axis_function() {
                Some(function) => function.name(),
                None => self.row().name,
            },
        }
    }

    /// The [opset](crate::opset) that introduced it: the op's or the function's, if there is one. Control flow has its own.
    pub const fn since(&self) -> u16 {
        match (self.op(), self.axis_function()) {
            (Some(op), _) => op.row().since,
            (None, Some(function)) => function.row().since,
            (None, None) => self.row().since,
        }
    }

    /// The elements of operands on which an element of the result depends.
    pub fn dependence(&self) -> Dependence {
        match *self {
            NodeKind::Param(..) | NodeKind::Literal(_) | NodeKind::Iota(_) => Dependence::None,
            NodeKind::Op(..) | NodeKind::Cast(_) | NodeKind::Identity(_) => Dependence::Element,
            NodeKind::Reduce(Reduce { axes, .. }) => Dependence::Axes(axes),
            NodeKind::Scan(_, axis, _) | NodeKind::Sort(_, axis, _) | NodeKind::Concat(axis, _) => {
                Dependence::Axes(AxisSet::one(axis as usize))
            }
            NodeKind::View(_)
            | NodeKind::Reshape
            | NodeKind::Gather
            | NodeKind::Scatter(_)
            | NodeKind::Slice(_)
            | NodeKind::Insert(_)
            | NodeKind::Control(..)
            | NodeKind::Call(_) => Dependence::Other,
        }
    }

    /// The op, if there is one.
    pub const fn op(&self) -> Option<Op> {
        if let NodeKind::Op(op, _) = *self { Some(op) } else { None }
    }

    /// The promotion policy of operands that may be weak.
    pub const fn policy(&self) -> Option<T::Traced<Policy>> {
        if let NodeKind::Op(_, policy) | NodeKind::Concat(_, policy) = *self { Some(policy) } else { None }
    }

    /// The function along axes, if there is one.
    pub const fn axis_function(&self) -> Option<AxisFunction> {
        match *self {
            NodeKind::Reduce(Reduce { reduction, .. }) => Some(AxisFunction::Reduction(reduction)),
            NodeKind::Scan(scan, ..) => Some(AxisFunction::Scan(scan)),
            NodeKind::Sort(sort, ..) => Some(AxisFunction::Sort(sort)),
            _ => None,
        }
    }

    /// The function along axes and its type request, if there is one.
    pub const fn type_request(&self) -> Option<(AxisFunction, T::Traced<TypeRequest>)> {
        match self {
            NodeKind::Reduce(Reduce { request, .. })
            | NodeKind::Scan(_, _, request)
            | NodeKind::Sort(_, _, request) => match self.axis_function() {
                Some(function) => Some((function, *request)),
                None => None,
            },
            _ => None,
        }
    }
}

impl<T: Type> NodeKind<T> {
    /// The kinds named by words of their own, with default attributes. Ops, functions along axes and control flow have tables.
    fn plain() -> [NodeKind<T>; 16] {
        let ruled = |kind| NodeKind::Identity(Identity::Ruled(DerivativeRule { kind, output: 0, outputs: 0 }));
        let [jvp, vjp, checkpoint] = RuleKind::ALL.map(ruled);
        [
            NodeKind::Literal(SlotId(0)),
            NodeKind::Cast(T::Traced::default()),
            NodeKind::View(ViewId(u32::MAX)),
            NodeKind::Reshape,
            NodeKind::Gather,
            NodeKind::Scatter(Scatter::Set),
            NodeKind::Slice(ViewId(u32::MAX)),
            NodeKind::Insert(ViewId(u32::MAX)),
            NodeKind::Concat(0, T::Traced::default()),
            NodeKind::Iota(AxisSet::NONE),
            NodeKind::Call(0),
            NodeKind::Identity(Identity::Variable(0)),
            NodeKind::Identity(Identity::StopGradient),
            jvp,
            vjp,
            checkpoint,
        ]
    }

    /// The kind of a word of the text, with default attributes.
    pub fn named(word: &str) -> Option<NodeKind<T>> {
        let request = T::Traced::default;
        let along = |function| match function {
            AxisFunction::Reduction(reduction) => NodeKind::Reduce(Reduce::new(reduction, AxisSet::NONE, false)),
            AxisFunction::Scan(scan) => NodeKind::Scan(scan, 0, request()),
            AxisFunction::Sort(sort) => NodeKind::Sort(sort, 0, request()),
        };
        let plain = NodeKind::plain().into_iter().find(|kind| kind.name() == word);
        plain
            .or_else(|| ControlKind::named(word).map(|_| NodeKind::Control(0)))
            .or_else(|| word.parse().ok().map(along))
            .or_else(|| word.parse().ok().map(|op| NodeKind::Op(op, T::Traced::default())))
    }

    /// The operation's word that equals a text, if there is one.
    pub fn word(text: &str) -> Option<&'static str> {
        match NodeKind::<T>::named(text)? {
            NodeKind::Control(_) => ControlKind::named(text).map(ControlKind::name),
            kind => Some(kind.name()),
        }
    }

    /// The words of the text, except those of ops, functions along axes, and identities, which only transformations make.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let plain = NodeKind::<T>::plain().into_iter().filter(|kind| !matches!(kind, NodeKind::Identity(_)));
        plain.map(|kind| kind.name()).chain(ControlKind::ALL.iter().map(|kind| kind.name()))
    }

    /// The parts of its text after the word, in order. The printer reads the attributes, the parser writes them.
    pub fn parts(&mut self) -> SmallVec<[TextPart<'_, T>; 6]> {
        match self {
            // The header of the graph has them.
            NodeKind::Param(..) => smallvec![],
            NodeKind::Literal(slot) => smallvec![TextPart::Slot(slot)],
            NodeKind::Op(_, policy) => smallvec![TextPart::Policy(policy), TextPart::Operands],
            NodeKind::Cast(reason) => smallvec![TextPart::Reason(reason), TextPart::Operands],
            NodeKind::Reduce(Reduce { reduction: _, axes, keepdims, contracts, request }) => smallvec![
                TextPart::Request(request),
                TextPart::Operands,
                TextPart::Axes(axes),
                TextPart::Keepdims(keepdims),
                TextPart::Contracts(contracts),
                TextPart::Dtype,
            ],
            NodeKind::Scan(_, axis, request) | NodeKind::Sort(_, axis, request) => {
                smallvec![TextPart::Request(request), TextPart::Operands, TextPart::Axis(axis), TextPart::Dtype]
            }
            NodeKind::Iota(axes) => smallvec![TextPart::Axes(axes)],
            NodeKind::View(view) | NodeKind::Slice(view) | NodeKind::Insert(view) => {
                smallvec![TextPart::Operands, TextPart::View(view)]
            }
            NodeKind::Identity(Identity::Variable(n)) => smallvec![TextPart::Variable(n), TextPart::Operands],
            NodeKind::Identity(Identity::Ruled(rule)) => smallvec![TextPart::Output(rule), TextPart::Operands],
            NodeKind::Identity(Identity::StopGradient) | NodeKind::Reshape | NodeKind::Gather => {
                smallvec![TextPart::Operands]
            }
            NodeKind::Scatter(scatter) => smallvec![TextPart::Scatter(scatter), TextPart::Operands],
            NodeKind::Concat(axis, policy) => {
                smallvec![TextPart::Policy(policy), TextPart::Operands, TextPart::Axis(axis)]
            }
            NodeKind::Control(n) => smallvec![TextPart::Control(n), TextPart::Operands],
            NodeKind::Call(child) => smallvec![TextPart::Call(child)],
        }
    }
}

/// A part of an operation's text, after its word.
#[derive(Debug, PartialEq, Eq)]
pub enum TextPart<'a, T: Type = ValueType> {
    /// `%1, %2`: the operands.
    Operands,
    /// `[strict]`: the policy, unless it is the default one.
    Policy(&'a mut T::Traced<Policy>),
    /// `[up]`: the reason of a cast, if it has a name.
    Reason(&'a mut T::Traced<CastReason>),
    /// `[numpy2]`: the policy of the type request. [`Dtype`](TextPart::Dtype) is the other part of the request.
    Request(&'a mut T::Traced<TypeRequest>),
    /// `dtype f64`: the requested dtype, if any.
    Dtype,
    /// `#0 2`: a slot and its content.
    Slot(&'a mut SlotId),
    /// `(d0, d1) -> (d1, d0)`: an affine map.
    View(&'a mut ViewId),
    /// `axes [0, 1]`.
    Axes(&'a mut AxisSet),
    /// `axis 0`.
    Axis(&'a mut u32),
    /// `keepdims`, if true.
    Keepdims(&'a mut bool),
    /// `contracts`, if true.
    Contracts(&'a mut bool),
    /// `add`: the function of a scatter.
    Scatter(&'a mut Scatter),
    /// `0 of`: the number of a variable.
    Variable(&'a mut u32),
    /// `output 0 of 1 of`: the output of a derivative rule.
    Output(&'a mut DerivativeRule),
    /// `$0`: control flow.
    Control(&'a mut u32),
    /// `@0(%1, %2)`: a child and its operands.
    Call(&'a mut u32),
}

/// The meaning of an identity for transformations. Commit replaces the node by its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// A variable of a transformation, with a number unique in the graph. Its users depend on the variable, not on its operand.
    Variable(u32),
    /// A constant for derivatives.
    StopGradient,
    /// A value whose derivative other nodes define.
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

/// The derivative rule of a function, at one of its outputs. The first operand is that output. The others, the same for all
/// outputs, are variables and values computed from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DerivativeRule {
    /// The meaning of the operands.
    pub kind: RuleKind,
    /// The index of the output.
    pub output: u16,
    /// The number of the function's outputs.
    pub outputs: u16,
}

/// The form of a derivative rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// The tangents of the outputs in terms of the inputs'. Operands: variables for the outputs; variables for the inputs' tangents,
    /// whose operands are the inputs; the tangents of the outputs.
    Jvp,
    /// The cotangents of the inputs in terms of the outputs'. Operands: variables for the outputs' cotangents; the inputs as
    /// variables; the cotangents of the inputs.
    Vjp,
    /// The function itself, recomputed. Operands: the outputs; the inputs as variables.
    Checkpoint,
}

impl RuleKind {
    /// All kinds, in the order of their names in text.
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
    /// Returns `true` if the rule can have this number of operands.
    pub fn takes(self, operands: usize) -> bool {
        let Some(rest) = operands.checked_sub(1 + self.outputs as usize) else { return false };
        let fits = match self.kind {
            RuleKind::Jvp => rest >= self.outputs as usize,
            RuleKind::Vjp => rest.is_multiple_of(2),
            RuleKind::Checkpoint => true,
        };
        fits && self.output < self.outputs
    }

    /// The operands after the first, in parts; `None` if their number is wrong.
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
    /// Variables for the outputs, or for their cotangents.
    pub outputs: &'a [T],
    /// Variables for the inputs, or for their tangents: derivatives flow only through these.
    pub inputs: &'a [T],
    /// The tangents or cotangents that the rule computes.
    pub mapped: &'a [T],
}

/// The properties of a kind of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRow {
    /// The name; ops and reductions have their own.
    pub name: &'static str,
    /// Names of the operands, if they are fixed; ops and reductions have their own.
    pub operands: &'static [&'static str],
    /// The source of the result's type.
    pub ty: TypeOf,
    /// True if the result may be read in the memory of the operand.
    pub is_view: bool,
    /// True if the result's elements are elements of operands, unchanged.
    pub moves_elements: bool,
    /// Its role in fusion.
    pub fusion: Fusion,
    /// The [opset](crate::opset) that introduced it.
    pub since: u16,
}

/// The source of a result's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeOf {
    /// Stored in the node.
    Given,
    /// Requested.
    Asked,
    /// The operands' types, by a policy.
    Policy,
    /// The first operand's type.
    Operand,
    /// The outputs of a graph.
    Graph,
}

/// The elements of operands on which an element of the result depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// There are no operands.
    None,
    /// The same element of each.
    Element,
    /// Those along these axes, at the same indices along the others.
    Axes(AxisSet),
    /// Others: by a map of indices, by indices, or by a graph.
    Other,
}

/// The role of a node in fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// Kernels read it.
    Leaf,
    /// Computed in its users' kernels, or with others of its shape.
    Elementwise,
    /// The root of a kernel or step, which may compute its operands.
    Root,
}

const ROW: KindRow = KindRow {
    name: "",
    operands: &[],
    ty: TypeOf::Policy,
    is_view: false,
    moves_elements: false,
    fusion: Fusion::Root,
    since: 1,
};
const MOVED: KindRow = KindRow { operands: &["x"], ty: TypeOf::Operand, moves_elements: true, ..ROW };
