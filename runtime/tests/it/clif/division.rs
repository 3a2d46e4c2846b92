//! Integer divisions as processors compute them, by reciprocals of invariant divisors and by floats, against the ops' own bodies: all pairs
//! of 8-bit integers, and edges and random numbers of the wider types.

use super::expand::{nest, one_op};
use super::support::{Compiled, Layout, Random, check, compile};
use ndjit_codegen::clif::{AccumulatorLayout, Cell, host_isa, literal_cells};
use ndjit_codegen::passes::expand::{Divisions, expand};
use ndjit_codegen::pipeline;
use ndjit_codegen::target::Target;
use ndjit_codegen::x64::{Set, emit};
use ndjit_ir::body::{InstKind, Prim};
use ndjit_ir::kernel::{OpBody, StmtKind};
use ndjit_ir::loops::{LoopBody, LoopNest, Stride};
use ndjit_ir::{DType, Op};
use ndjit_math::body;

const DIVISIONS: [Op; 3] = [Op::FloorDivide, Op::Remainder, Op::Fmod];
const INTEGERS: [DType; 8] =
    [DType::U8, DType::U16, DType::U32, DType::U64, DType::I8, DType::I16, DType::I32, DType::I64];

/// `op` on an array and a literal.
fn by_literal(op: Op, dtype: DType) -> LoopNest {
    let mut ops = OpBody { inputs: vec![dtype], literals: vec![dtype], ..OpBody::default() };
    let x = ops.push(StmtKind::Load(0), &[], dtype);
    let y = ops.push(StmtKind::Literal(0), &[], dtype);
    ops.outputs = vec![ops.push(StmtKind::Op(op), &[x, y], dtype)];
    nest(ops, &[Stride::Contiguous])
}

/// Numbers of all magnitudes, more of them near the ends.
fn numbers(dtype: DType) -> Vec<u64> {
    let ty = dtype.repr()[0];
    let bits = ty.bits();
    let edges = (0..bits).flat_map(|n| [(1u64 << n) - 1, 1 << n, (1 << n) + 1]);
    let common = [0, 3, 5, 7, 10, 100, 255, 641, 1000, 65_521, 1_000_000_007];
    let mut random = Random(5);
    let random = std::iter::repeat_with(|| random.next() >> (random.next() % 64)).take(60);
    let all = edges.chain(common).chain(random).flat_map(|n| [n & ty.mask(), n.wrapping_neg() & ty.mask()]);
    let mut all: Vec<u64> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn bytes(dtype: DType, numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    numbers.into_iter().flat_map(|n| n.to_le_bytes()[..dtype.bytes()].to_vec()).collect()
}

/// Calls a kernel on contiguous numbers and divisors, one of each result if there is a literal.
fn call(compiled: &Compiled, dtype: DType, operands: &[&[u64]], literals: &[Cell]) -> Vec<u8> {
    let length = operands[0].len();
    let mut memory: Vec<Vec<u8>> = operands.iter().map(|numbers| bytes(dtype, numbers.iter().copied())).collect();
    memory.push(vec![0; length * dtype.bytes()]);
    let layout = Layout { offset: 0, strides: vec![dtype.bytes() as isize] };
    compiled.call(&mut memory, &vec![layout; operands.len() + 1], &[length], literals);
    memory.pop().unwrap()
}

#[test]
fn all_pairs() {
    let target = Target::host_clif(&*host_isa().unwrap());
    for dtype in INTEGERS {
        let numbers = if dtype.bytes() == 1 { (0..256).collect() } else { numbers(dtype) };
        for op in DIVISIONS {
            let law = body(op, dtype);
            let varying =
                compile(&pipeline::expanded(&nest(one_op(op, dtype), &[Stride::Contiguous; 2]), &target).unwrap());
            let lanes = expand(&by_literal(op, dtype), Divisions::Lanes).unwrap();
            let invariant = compile(&pipeline::expanded(&by_literal(op, dtype), &target).unwrap());
            let invariant: Vec<Compiled> = invariant.into_iter().chain(compile(&lanes)).collect();
            for &y in &numbers {
                let want = bytes(dtype, numbers.iter().map(|&x| law.eval(&[x, y])[0]));
                for compiled in &varying {
                    let got = call(compiled, dtype, &[&numbers, &vec![y; numbers.len()]], &[]);
                    assert_eq!(got, want, "{op} of {dtype} by {y:#x}, {} lanes", compiled.lanes);
                }
                let literal: Vec<Cell> = literal_cells(dtype, &[y]).into_iter().collect();
                for compiled in &invariant {
                    let got = call(compiled, dtype, &[&numbers], &literal);
                    assert_eq!(got, want, "{op} of {dtype} by an invariant {y:#x}, {} lanes", compiled.lanes);
                }
            }
        }
    }
}

/// Divisors along outer loops and broadcast ones, with every layout.
#[test]
fn divisors_of_rows() {
    let target = Target::host_clif(&*host_isa().unwrap());
    for dtype in INTEGERS {
        for op in DIVISIONS {
            for strides in [Stride::Broadcast, Stride::Strided, Stride::Contiguous] {
                let mut rows = nest(one_op(op, dtype), &[Stride::Contiguous, strides]);
                rows.rank = 2;
                let law = pipeline::expanded(&rows, &Target::interpreter()).unwrap();
                for compiled in compile(&pipeline::expanded(&rows, &target).unwrap()) {
                    for (seed, extents) in [[17, 1], [5, 70], [3, 300]].into_iter().enumerate() {
                        check(&compiled, &law, &extents, &[], seed as u64, seed == 1);
                    }
                }
            }
        }
    }
}

/// Vectors of the widest registers divide, except varying divisors of 64 bits; no division of a varying dividend by an invariant is left.
#[test]
fn divisions_have_wide_code() {
    let target = Target::host_clif(&*host_isa().unwrap());
    for dtype in INTEGERS {
        for op in DIVISIONS {
            let invariant = pipeline::expanded(&by_literal(op, dtype), &target).unwrap();
            let varying = pipeline::expanded(&nest(one_op(op, dtype), &[Stride::Contiguous; 2]), &target).unwrap();
            let LoopBody::Prims { body, hoisted } = &invariant.body else { panic!("expanded") };
            let divides =
                |kind: &InstKind| matches!(kind, InstKind::Prim(Prim::Udiv | Prim::Sdiv | Prim::Urem | Prim::Srem));
            assert!(!body.insts[*hoisted..].iter().any(|inst| divides(&inst.kind)), "{op} of {dtype}: {invariant}");
            for set in Set::ALL {
                let wide = |nest| emit(nest, AccumulatorLayout::Plain, set).unwrap().is_some();
                assert!(wide(&invariant), "{op} of {dtype} by an invariant, {}", set.name());
                assert_eq!(wide(&varying), dtype.bytes() < 8, "{op} of {dtype}, {}", set.name());
            }
        }
    }
}
