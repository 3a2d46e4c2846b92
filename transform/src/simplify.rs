//! Simplify: named rewrite rules, constant folding, sharing of common subexpressions, and removal of dead nodes and of
//! nodes that only empty results use, in one forward walk. No rule changes a result bit (NaN sign and payload excepted)
//! or depends on a literal's value.
//!
//! Sharing comes from the graph's hash-consing, as nodes are rebuilt in canonical form.

use ndjit_ir::graph::{Graph, NodeKind, Rewriter, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::Reduce;
use ndjit_ir::view::{broadcast_to, expand_dims};
use ndjit_ir::{DType, Kind, Op, Result, Shape};
use ndjit_math::{shared_body, shared_cast_body};

/// A rewrite rule: given an op and its operands in the new graph, returns an equal value, or `None` if it does not
/// apply.
pub struct RewriteRule {
    /// The name.
    pub name: &'static str,
    /// The rule, in algebra.
    pub doc: &'static str,
    apply: fn(&mut Graph<DType>, Op, &[Value]) -> Option<Value>,
}

/// The rules, in the order they are tried.
pub const RULES: &[RewriteRule] = &[
    RewriteRule { name: "involution", doc: "f(f(x)) = x for negative, logical_not, bitwise_invert", apply: involution },
    RewriteRule {
        name: "idempotent-unary",
        doc: "f(f(x)) = f(x) for abs, floor, ceil, trunc, round",
        apply: idempotent_unary,
    },
    RewriteRule {
        name: "idempotent-binary",
        doc: "f(x, x) = x for minimum, maximum, and, or",
        apply: idempotent_binary,
    },
    RewriteRule { name: "abs-negative", doc: "abs(-x) = abs(x), unsigned integers excepted", apply: abs_negative },
    RewriteRule { name: "add-negative", doc: "x + (-y) = x - y", apply: add_negative },
    RewriteRule { name: "subtract-negative", doc: "x - (-y) = x + y", apply: subtract_negative },
    RewriteRule { name: "where-same", doc: "where(c, x, x) = x if the shapes agree", apply: where_same },
];

/// Rewrites a typed graph.
///
/// # Errors
/// `Literal` if folding meets a literal that does not fit its dtype (commit refuses those before).
pub fn simplify(graph: &Graph<DType>) -> Result<Graph<DType>> {
    let live = live_values(graph);
    let (mut out, mut notes) = (Graph::like(graph), ());
    let mut rewriter = Rewriter::new((graph, &()), (&mut out, &mut notes));
    for id in graph.node_ids() {
        let node = graph.node(id);
        let first = node.first();
        let param = matches!(node.kind, NodeKind::Param(..));
        if !param && !node.results().any(|v| live[v.index()]) {
            continue;
        }
        rewriter.begin(id);
        let dtype = graph.ty(first);
        let mut operands = rewriter.operands(id);
        let out = &mut *rewriter.new;
        let computes = !node.kind.row().is_view && !matches!(node.kind, NodeKind::Control(..));
        let is_empty = graph.shape(first).extents().contains(&0);
        if computes && is_empty && graph.operands(id).iter().any(|&operand| is_large(graph, operand)) {
            let nothing = nothing(out, dtype, graph.shape(first))?;
            rewriter.set(id, nothing);
            continue;
        }
        let value = match node.kind {
            NodeKind::Cast(_) => match fold_cast(out, operands[0], dtype)? {
                Some(value) => value,
                None => cast(out, operands[0], dtype),
            },
            NodeKind::Op(op, _) => {
                if op.has_law("commutative") {
                    operands[..2].sort_unstable();
                }
                match fold(out, op, &operands)? {
                    Some(value) => value,
                    None => rewrite(out, op, &operands, dtype, graph.shape(first)),
                }
            }
            NodeKind::View(view) => out.view(operands[0], graph.view_of(view).clone(), graph.shape(first)),
            NodeKind::Reshape => out.reshape(operands[0], graph.shape(first)),
            NodeKind::Concat(..) if operands.len() == 1 => operands[0],
            NodeKind::Reduce(reduce) if reduce.keepdims => without_dims(out, reduce, operands[0])?,
            _ => {
                rewriter.copy(id);
                continue;
            }
        };
        rewriter.set(id, value);
    }
    rewriter.finish();
    Ok(if out.node_count() < graph.node_count() || live_values(&out).contains(&false) { sweep(&out) } else { out })
}

/// The number of elements of an operand above which an empty result is not computed from it. The program is a separate
/// one then, whose compilation takes as long as computing these elements; other programs also serve empty arrays.
const LARGE: usize = 1 << 16;

/// Returns `true` if a value is computed, and large.
fn is_large(graph: &Graph<DType>, mut value: Value) -> bool {
    loop {
        let id = graph.producer(value);
        match graph.node(id).kind {
            NodeKind::Param(..) | NodeKind::Literal(_) => return false,
            kind if kind.row().is_view => value = graph.operands(id)[0],
            _ => return graph.shape(value).size().is_ok_and(|size| size > LARGE),
        }
    }
}

/// Adds a value without elements.
fn nothing(out: &mut Graph<DType>, dtype: DType, shape: &Shape) -> Result<Value> {
    let zero = Literal::from_repr(dtype, &vec![0; dtype.storage().len()]);
    let zero = out.literal(Slot::Value(zero), dtype);
    let (view, shape) = broadcast_to(out.shape(zero), shape)?;
    Ok(out.view(zero, view, &shape))
}

/// Replaces a reduction that keeps its axes by a view of the one without them: programs with both compute one.
fn without_dims(out: &mut Graph<DType>, reduce: Reduce<DType>, operand: Value) -> Result<Value> {
    let (dtype, shape) = (out.ty(operand), out.shape(operand).clone());
    let reduced = out.intern(&reduce.axes.reduced(&shape, false));
    let kind = NodeKind::Reduce(Reduce { keepdims: false, ..reduce });
    let value = out.add(kind, &[operand], &[(dtype, reduced)]);
    let axes: Vec<isize> = reduce.axes.iter().map(|axis| axis as isize).collect();
    let (view, kept) = expand_dims(out.shape(value), &axes)?;
    Ok(out.view(value, view, &kept))
}

/// Returns the values on which an output depends.
fn live_values(graph: &Graph<DType>) -> Vec<bool> {
    let mut live = vec![false; graph.value_count()];
    for output in graph.outputs() {
        live[output.index()] = true;
    }
    for id in graph.node_ids().rev() {
        if graph.node(id).results().any(|v| live[v.index()]) {
            for operand in graph.operands(id) {
                live[operand.index()] = true;
            }
        }
    }
    live
}

/// Copies the live part of a graph.
fn sweep(graph: &Graph<DType>) -> Graph<DType> {
    let live = live_values(graph);
    let (mut out, mut notes) = (Graph::with_slots(graph), ());
    let mut rewriter = Rewriter::new((graph, &()), (&mut out, &mut notes));
    for id in graph.node_ids() {
        let node = graph.node(id);
        if matches!(node.kind, NodeKind::Param(..)) || node.results().any(|v| live[v.index()]) {
            rewriter.begin(id);
            rewriter.copy(id);
        }
    }
    rewriter.finish();
    out
}

/// Adds an op node, or an equal value by the first rule that applies.
fn rewrite(out: &mut Graph<DType>, op: Op, operands: &[Value], dtype: DType, shape: &Shape) -> Value {
    for rule in RULES {
        if let Some(value) = (rule.apply)(out, op, operands) {
            // A rule may remove an operand whose shape the result needs.
            if out.shape(value) == shape {
                return value;
            }
        }
    }
    make(out, op, operands, dtype, shape)
}

fn make(out: &mut Graph<DType>, op: Op, operands: &[Value], dtype: DType, shape: &Shape) -> Value {
    let shape = out.intern(shape);
    out.add(NodeKind::Op(op, ()), operands, &[(dtype, shape)])
}

/// Returns the operand of `value` if it is the result of the unary op `op`.
fn unary(graph: &Graph<DType>, value: Value, op: Op) -> Option<Value> {
    let id = graph.producer(value);
    match graph.node(id).kind {
        NodeKind::Op(inner, _) if inner == op && op.arity() == 1 => Some(graph.operands(id)[0]),
        _ => None,
    }
}

fn involution(out: &mut Graph<DType>, op: Op, operands: &[Value]) -> Option<Value> {
    if op.has_law("involution") { unary(out, operands[0], op) } else { None }
}

fn idempotent_unary(out: &mut Graph<DType>, op: Op, operands: &[Value]) -> Option<Value> {
    let inner = (op.arity() == 1 && op.has_law("idempotent")).then(|| unary(out, operands[0], op))??;
    // abs of a complex number is a float: another op.
    (out.ty(inner) == out.ty(operands[0])).then_some(operands[0])
}

fn idempotent_binary(_: &mut Graph<DType>, op: Op, operands: &[Value]) -> Option<Value> {
    (op.arity() == 2 && op.has_law("idempotent") && operands[0] == operands[1]).then_some(operands[0])
}

fn abs_negative(out: &mut Graph<DType>, op: Op, operands: &[Value]) -> Option<Value> {
    let inner = (op == Op::Abs).then(|| unary(out, operands[0], Op::Negative))??;
    if out.ty(inner).kind() == Kind::UInt {
        return None; // -x wraps, and the absolute value keeps that
    }
    let (dtype, shape) = (op.result_dtype(out.ty(inner)), out.shape(inner).clone());
    Some(make(out, op, &[inner], dtype, &shape))
}

fn broadcast_pair(out: &mut Graph<DType>, op: Op, x: Value, y: Value) -> Option<Value> {
    let (dtype, shape) = (out.ty(x), out.shape(x).broadcast(out.shape(y))?);
    Some(make(out, op, &[x, y], dtype, &shape))
}

fn add_negative(out: &mut Graph<DType>, op: Op, operands: &[Value]) -> Option<Value> {
    if op != Op::Add {
        return None;
    }
    match (unary(out, operands[0], Op::Negative), unary(out, operands[1], Op::Negative)) {
        (_, Some(y)) => broadcast_pair(out, Op::Subtract, operands[0], y),
        (Some(x), None) => broadcast_pair(out, Op::Subtract, operands[1], x),
        (None, None) => None,
    }
}

fn subtract_negative(out: &mut Graph<DType>, op: Op, operands: &[Value]) -> Option<Value> {
    let y = (op == Op::Subtract).then(|| unary(out, operands[1], Op::Negative))??;
    let (x, y) = (operands[0].min(y), operands[0].max(y));
    broadcast_pair(out, Op::Add, x, y)
}

fn where_same(_: &mut Graph<DType>, op: Op, operands: &[Value]) -> Option<Value> {
    (op == Op::Where && operands[1] == operands[2]).then(|| operands[1])
}

/// Adds a cast. It skips an earlier lossless cast: `cast(cast(x: a, b), c) = cast(x: a, c)`.
fn cast(out: &mut Graph<DType>, operand: Value, dtype: DType) -> Value {
    let mut source = operand;
    let id = out.producer(operand);
    if matches!(out.node(id).kind, NodeKind::Cast(_)) {
        let inner = out.operands(id)[0];
        let (a, b) = (out.ty(inner), out.ty(operand));
        if b.holds(a) && same_after(a, b, dtype) {
            source = inner;
        }
    }
    if out.ty(source) == dtype {
        return source;
    }
    let shape = out.shape_id(source);
    out.add(NodeKind::Cast(()), &[source], &[(dtype, shape)])
}

/// Returns `true` if casting values of `a` to `c` gives the same directly and through `b`, which holds them all.
/// Integers wrap when cast to integers but saturate when cast from floats.
fn same_after(a: DType, b: DType, c: DType) -> bool {
    let through_float = a.is_int() && !(b.is_int() || b == DType::Bool);
    !(through_float && c.is_int() && !c.holds(a))
}

/// Returns the value of a literal operand, if it is known at trace time.
fn known(out: &Graph<DType>, value: Value) -> Option<(Literal, DType)> {
    match out.node(out.producer(value)).kind {
        NodeKind::Literal(slot) => match &out.slots()[slot.index()] {
            Slot::Value(literal) => Some((*literal, out.ty(value))),
            Slot::Argument { .. } => None,
        },
        _ => None,
    }
}

/// Folds an op on known literals to a literal. The interpreter's definition computes its value here, once.
fn fold(out: &mut Graph<DType>, op: Op, operands: &[Value]) -> Result<Option<Value>> {
    let mut inputs: Vec<u64> = Vec::new();
    for &operand in operands {
        let Some((literal, dtype)) = known(out, operand) else { return Ok(None) };
        inputs.extend(literal.to_repr(dtype)?);
    }
    let compute = out.ty(operands[op.joined().start]);
    let result = op.result_dtype(compute);
    let bits = shared_body(op, compute).eval(&inputs);
    Ok(Some(out.literal(Slot::Value(Literal::from_repr(result, &bits)), result)))
}

fn fold_cast(out: &mut Graph<DType>, operand: Value, dtype: DType) -> Result<Option<Value>> {
    let Some((literal, from)) = known(out, operand) else { return Ok(None) };
    let bits = shared_cast_body(from, dtype).eval(&literal.to_repr(from)?);
    Ok(Some(out.literal(Slot::Value(Literal::from_repr(dtype, &bits)), dtype)))
}
