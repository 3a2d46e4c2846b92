//! Selection of the contractions computed as matrix products: those of large matrices. It depends only on shapes,
//! dtypes, and other uses of the products.

use ndjit_ir::graph::{Graph, NodeId, NodeKind, Value};
use ndjit_ir::reduction::Reduce;
use ndjit_ir::{DType, Op};
use rustc_hash::FxHashMap;

/// The minimum number of rows, and of columns.
const MIN_SIDE: usize = 4;
/// The minimum number of products in a sum.
const MIN_SUMMED: usize = 8;
/// The minimum number of multiplications of one matrix. Below it a fused kernel is as fast, and has the order of all
/// sums.
const MIN_WORK: usize = 1 << 15;

/// Returns the products of large matrices in contractions, for supported dtypes.
pub(super) fn products(graph: &Graph<DType>) -> FxHashMap<Value, NodeId> {
    let contractions = graph.node_ids().filter_map(|id| match graph.node(id).kind {
        NodeKind::Reduce(reduce) if reduce.contracts => product(graph, id, reduce).map(|product| (product, id)),
        _ => None,
    });
    contractions.collect()
}

fn product(graph: &Graph<DType>, id: NodeId, reduce: Reduce<DType>) -> Option<Value> {
    let product = graph.operands(id)[0];
    let producer = graph.producer(product);
    let multiplied = matches!(graph.ty(product), DType::F32 | DType::F64 | DType::C64 | DType::C128);
    let (NodeKind::Op(Op::Multiply, _), true, &[left, right]) =
        (graph.node(producer).kind, multiplied, graph.operands(producer))
    else {
        return None;
    };
    let space = graph.shape(product);
    let (mut rows, mut columns, mut summed) = (1usize, 1usize, 1usize);
    for (axis, &extent) in space.extents().iter().enumerate().filter(|(_, extent)| **extent != 1) {
        let has = |operand: Value| {
            let shape = graph.shape(operand);
            axis.checked_sub(space.rank() - shape.rank()).is_some_and(|own| shape.extents()[own] == extent)
        };
        let of = match (reduce.axes.contains(axis), has(left), has(right)) {
            (true, true, true) => &mut summed,
            (true, ..) => return None,
            (false, true, false) => &mut rows,
            (false, false, true) => &mut columns,
            (false, ..) => continue,
        };
        *of = of.saturating_mul(extent);
    }
    let work = rows.saturating_mul(columns).saturating_mul(summed);
    let pays = rows.min(columns) >= MIN_SIDE && summed >= MIN_SUMMED && work >= MIN_WORK;
    (left != right && pays && !space.extents().contains(&0)).then_some(product)
}
