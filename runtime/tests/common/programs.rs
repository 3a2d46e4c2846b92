//! Programs from text, and arguments for them: shared by the runtime's tests.

use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Shape, ValueType};
use ndjit_math::interp::Tensor;
use ndjit_transform::access::contiguous;

/// Lowers a program in text whose parameters are C-contiguous.
pub fn lowered(text: &str) -> Lowered {
    lowered_graph(&text.parse().unwrap_or_else(|e| panic!("{e}")))
}

/// Lowers a program whose parameters are C-contiguous.
pub fn lowered_graph(graph: &Graph<ValueType>) -> Lowered {
    let layouts: Vec<Layout> = graph
        .params()
        .iter()
        .map(|&p| match graph.ty(p) {
            ValueType::Strong(dtype) => contiguous(graph.shape(p), dtype).unwrap(),
            ValueType::Weak(weak) => panic!("parameter of type {weak}"),
        })
        .collect();
    lower(graph, &SourceLocs::default(), &layouts, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// `x + y * 2` on two arrays of one dtype and shape.
pub fn axpy(dtype: DType, shape: &[usize]) -> String {
    let ty = format!("{dtype}{}", Shape::new(shape));
    format!(
        "graph (%0: {ty}, %1: {ty}) {{
  %2 = literal #0 2 : i*[]
  %3 = multiply %1, %2 : {ty}
  %4 = add %0, %3 : {ty}
  return %4
}}"
    )
}

/// Elements of every dtype: small values whose period divides no vector length.
pub fn tensor(dtype: DType, shape: &[usize], seed: usize) -> Tensor {
    Tensor::from_repr(dtype, Shape::new(shape), |i| {
        let n = (i * 7 + seed * 3) % 61;
        let literal = if dtype == DType::Bool { Literal::weak(n.is_multiple_of(2)) } else { Literal::weak(n as i64) };
        literal.to_repr(dtype).unwrap()
    })
    .unwrap()
}
