//! Floating-point contraction: a float product with a single use, in a sum, becomes one `mul_add` with the sum. It
//! rounds once instead of twice.
//!
//! The pass runs only on request, since it changes results. Results are equal on all devices, because the pass precedes
//! every decision about execution. It corresponds to `-ffp-contract=fast` of C compilers (ISO C23, 7.12.3: contracted
//! expressions are evaluated as though to infinite range and precision).

use crate::bodies::{RewrittenGraphs, rewritten_control};
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Rewriter, SourceLocs, Type, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::{Op, ValueType};

/// Contracts the sums of a graph without calls, and those of the graphs of its control flow.
pub fn fp_contract(graph: &Graph<ValueType>, places: &SourceLocs) -> (Graph<ValueType>, SourceLocs) {
    contracted(graph, places, &mut RewrittenGraphs::default())
}

fn contracted(
    graph: &Graph<ValueType>,
    places: &SourceLocs,
    bodies: &mut RewrittenGraphs,
) -> (Graph<ValueType>, SourceLocs) {
    let sums = sums(graph);
    let mut absorbed = vec![false; graph.value_count()];
    sums.iter().flatten().for_each(|sum| absorbed[sum.product.index()] = true);
    let mut out = Graph::with_slots(graph);
    let mut out_places = SourceLocs::default();
    let mut controls: Vec<Option<u32>> = vec![None; graph.controls().len()];
    let mut rewriter = Rewriter::new((graph, places), (&mut out, &mut out_places));
    for id in graph.node_ids() {
        let node = graph.node(id);
        if absorbed[node.first().index()] {
            continue;
        }
        match (&sums[id.index()], node.kind) {
            (Some(sum), NodeKind::Op(_, policy)) => {
                let operands = sum.operands(graph).into_iter().map(|operand| rewriter.value(operand));
                let value = rewriter.add(id, NodeKind::Op(Op::MulAdd, policy), &operands.collect::<Vec<Value>>());
                rewriter.follow(graph.producer(sum.product), value);
            }
            (_, NodeKind::Control(n)) => {
                let number = match controls[n as usize] {
                    Some(number) => number,
                    None => {
                        let into = (&mut *rewriter.new, &mut *rewriter.notes);
                        *controls[n as usize].insert(rewritten_control((graph, places), n, into, bodies, contracted))
                    }
                };
                rewriter.add(id, NodeKind::Control(number), &rewriter.operands(id));
            }
            _ => {
                rewriter.copy(id);
            }
        }
    }
    rewriter.finish();
    (out, out_places)
}

/// A sum of a product and an addend.
struct Sum {
    product: Value,
    addend: Value,
}

impl Sum {
    fn operands<T: Type>(&self, graph: &Graph<T>) -> Vec<Value> {
        let factors = graph.operands(graph.producer(self.product));
        [factors, &[self.addend]].concat()
    }
}

/// Returns the terms of each node's sum; `None` for nodes that stay. If both terms are products, the first one is
/// contracted.
fn sums(graph: &Graph<ValueType>) -> Vec<Option<Sum>> {
    let mut uses = vec![0u32; graph.value_count()];
    for id in graph.node_ids() {
        graph.operands(id).iter().for_each(|operand| uses[operand.index()] += 1);
    }
    graph.outputs().iter().for_each(|output| uses[output.index()] += 1);
    let sum = |id: NodeId| {
        let (NodeKind::Op(Op::Add, policy), &[left, right]) = (graph.node(id).kind, graph.operands(id)) else {
            return None;
        };
        let ty = graph.ty(graph.node(id).first());
        [(left, right), (right, left)].into_iter().map(|(product, addend)| Sum { product, addend }).find(|sum| {
            let product = sum.product;
            let of = graph.node(graph.producer(product)).kind;
            let types = || sum.operands(graph).iter().map(|&operand| graph.ty(operand)).collect::<Vec<ValueType>>();
            // Products of another type than the sum's are rounded to it first.
            of == NodeKind::Op(Op::Multiply, policy)
                && uses[product.index()] == 1
                && matches!(ty, ValueType::Strong(dtype) if dtype.is_float())
                && graph.ty(product) == ty
                && Operation::op(Op::MulAdd, policy).types(&types()).is_ok_and(|types| types.result == ty)
        })
    };
    graph.node_ids().map(sum).collect()
}
