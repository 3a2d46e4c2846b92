//! One op on one dtype: combinations of special values, and every length from 0 to 67, bit-equal to the interpreter.

use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, NodeKind, SourceLocs, Value};
use ndjit_ir::loops::Layout;
use ndjit_ir::op::TypeRule;
use ndjit_ir::{DType, Op, Policy, Shape, ValueType};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_random::special_words;
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use ndjit_transform::access::contiguous;

/// The maximum number of compared pairs of special values.
const PAIRS: usize = 2_000;
/// The maximum tested length, from no elements on.
pub const LENGTHS: usize = 67;

/// The dtype of an operand: an integer for an exponent, which is cast to the op's dtype.
fn operand_dtype(op: Op, i: usize, dtype: DType) -> DType {
    if op.row().rule == TypeRule::Ldexp && i == 1 { DType::I32 } else { op.operand_dtype(i, dtype) }
}

/// The program of one op on arrays of `n` elements.
fn program(op: Op, dtype: DType, n: usize) -> Lowered {
    let shape = Shape::from([n]);
    let mut graph: Graph<ValueType> = Graph::new();
    let types: Vec<ValueType> = (0..op.arity()).map(|i| operand_dtype(op, i, dtype).into()).collect();
    let params: Vec<Value> = types.iter().map(|&ty| graph.param(ty, &shape)).collect();
    let result = Policy::default().resolve_op(op, &types).unwrap_or_else(|e| panic!("{op} {dtype}: {e}")).result;
    let id = graph.intern(&shape);
    let value = graph.add(NodeKind::Op(op, Policy::default()), &params, &[(result, id)]);
    graph.set_outputs(vec![value]);
    let layouts: Vec<Layout> =
        (0..op.arity()).map(|i| contiguous(&shape, operand_dtype(op, i, dtype)).expect("a small array")).collect();
    lower(&graph, &SourceLocs::default(), &layouts, &Options { verify: false, ..Options::default() })
        .unwrap_or_else(|e| panic!("{op} {dtype}: {e}"))
}

/// Special values of operand `i`: the operands together run through their combinations.
fn operand(op: Op, dtype: DType, i: usize, n: usize) -> Tensor {
    let dtype = operand_dtype(op, i, dtype);
    let specials = special_words(dtype.real());
    let words = dtype.storage().len();
    Tensor::from_words(dtype, Shape::from([n]), |at| {
        let pick = |word: usize| {
            let step = specials.len().pow(((i * words + word) % 2) as u32);
            specials[(at / step + at * (i + word) / 7) % specials.len()]
        };
        (0..words).map(pick).collect::<Vec<u64>>()
    })
    .expect("a small array")
}

fn run(lowered: &Lowered, operands: &[&[u8]], options: &RunOptions) -> Vec<u8> {
    let executable = Executable::new(lowered, options).unwrap_or_else(|e| panic!("{e}"));
    let mut outputs = [Output::Fresh(None)];
    executable.run(operands.iter().map(|b| Argument::Borrowed(b)), &[], &mut outputs).unwrap_or_else(|e| panic!("{e}"));
    match outputs {
        [Output::Fresh(Some(buffer))] => buffer.as_bytes().to_vec(),
        _ => panic!("no result"),
    }
}

/// Compares the first elements of a result.
fn compare(what: &str, expected: &Tensor, bytes: &[u8], n: usize) {
    let mut got = Tensor::zeros(expected.dtype, Shape::from([n])).expect("a small array");
    let size = got.bytes.len();
    got.bytes.copy_from_slice(&bytes[..size]);
    let mut prefix = Tensor::zeros(expected.dtype, Shape::from([n])).expect("a small array");
    prefix.bytes.copy_from_slice(&expected.bytes[..size]);
    if let Some(i) = prefix.first_difference(&got) {
        panic!("{what}, {n} elements, element {i}: expected {:x?}, got {:x?}", prefix.get(i), got.get(i));
    }
}

/// Checks every op and dtype with these options; returns their number.
pub fn check(options: &[RunOptions]) -> usize {
    let mut combinations = 0;
    for op in Op::ALL {
        for dtype in op.row().domain.iter() {
            let operands: Vec<Tensor> = (0..op.arity()).map(|i| operand(op, dtype, i, PAIRS)).collect();
            let whole = program(op, dtype, PAIRS);
            let expected = eval_graph(&whole.typed, &operands, &[]).unwrap_or_else(|e| panic!("{e}")).remove(0);
            let bytes: Vec<&[u8]> = operands.iter().map(|t| &t.bytes[..]).collect();
            for options in options {
                let what = format!("{op} {dtype}, {options:?}");
                compare(&what, &expected, &run(&whole, &bytes, options), PAIRS);
                for n in 0..=LENGTHS {
                    let parts: Vec<&[u8]> = operands.iter().map(|t| &t.bytes[..n * t.dtype.bytes()]).collect();
                    compare(&what, &expected, &run(&program(op, dtype, n), &parts, options), n);
                }
            }
            combinations += 1;
        }
    }
    combinations
}
