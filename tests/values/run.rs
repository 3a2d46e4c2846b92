//! Functions by their golden names, run on the interpreter and as machine code, which must agree bit for bit.

use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{Graph, NodeKind, SourceLocs, Value};
use ndjit_ir::promotion::{Defaults, Policy};
use ndjit_ir::support::CastReason;
use ndjit_ir::{DType, Op, ValueType};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use ndjit_transform::access::contiguous;

/// A function of the golden files.
#[derive(Clone, Copy)]
pub enum Function {
    Op(Op),
    Cast(DType),
}

/// The function of this name; `None` if ndjit has none.
pub fn function(name: &str) -> Option<Function> {
    if let Some(dtype) = name.strip_prefix("astype:") {
        return dtype.parse().ok().map(Function::Cast);
    }
    let own = match name {
        "deg2rad" => "radians",
        "rad2deg" => "degrees",
        "bitwise_count" => "popcount",
        name => name,
    };
    own.parse().ok().map(Function::Op)
}

/// NumPy's and JAX's rules with 64-bit types on, under which the files were measured.
pub fn policy() -> Policy {
    Policy::Standard.with_defaults(Defaults::BITS_64).unwrap_or_default()
}

/// The result, or the error of the operands.
pub fn run(function: Function, operands: &[Tensor]) -> Result<Tensor, String> {
    let mut graph: Graph<ValueType> = Graph::new();
    let params: Vec<Value> = operands.iter().map(|x| graph.param(x.dtype.into(), &x.shape)).collect();
    let (kind, result): (NodeKind, ValueType) = match function {
        Function::Cast(dtype) => (NodeKind::Cast(CastReason::Explicit), dtype.into()),
        Function::Op(op) => {
            let types: Vec<ValueType> = operands.iter().map(|x| x.dtype.into()).collect();
            let types = policy().resolve_op(op, &types).map_err(|e| e.headline().to_owned())?;
            (NodeKind::Op(op, policy()), types.result)
        }
    };
    let shape = graph.intern(&operands[0].shape);
    let value = graph.add(kind, &params, &[(result, shape)]);
    graph.set_outputs(vec![value]);
    let layouts: Vec<_> = operands.iter().map(|x| contiguous(&x.shape, x.dtype).expect("a small array")).collect();
    let options = Options { policy: policy(), ..Options::default() };
    let lowered = lower(&graph, &SourceLocs::default(), &layouts, &options).map_err(|e| e.to_string())?;
    let expected = eval_graph(&lowered.typed, operands, &[]).map_err(|e| e.to_string())?.remove(0);
    for vector in VectorWidth::ALL {
        let options = RunOptions { vector, threads: Some(1), ..RunOptions::default() };
        let executable = Executable::new(&lowered, &options).map_err(|e| e.to_string())?;
        let mut outputs = [Output::Fresh(None)];
        let arguments = operands.iter().map(|x| Argument::Borrowed(&x.bytes));
        executable.run(arguments, &[], &mut outputs).map_err(|e| e.to_string())?;
        let [Output::Fresh(Some(buffer))] = outputs else { return Err("no result".to_owned()) };
        let mut got = expected.clone();
        let len = got.bytes.len();
        got.bytes.copy_from_slice(&buffer.as_bytes()[..len]);
        if !got.same_bits(&expected) {
            return Err(format!("machine code differs at element {:?}", expected.first_difference(&got)));
        }
    }
    Ok(expected)
}
