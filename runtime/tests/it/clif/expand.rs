//! Nests of ops, expanded and compiled, against the ops' bodies evaluated in sequence.

use super::support::{Random, check, compile};
use ndjit_codegen::clif::AccumulatorLayout;
use ndjit_codegen::pipeline;
use ndjit_codegen::target::Target;
use ndjit_codegen::x64::{Set, emit};
use ndjit_ir::body::Body;
use ndjit_ir::kernel::{OpBody, ScalarId, StmtKind};
use ndjit_ir::loops::{Access, LoopBody, LoopNest, NestKind, Stride};
use ndjit_ir::{DType, Op};
use ndjit_math::{body, cast_body, load_body, store_body};

/// A nest of rank 1 of an op body, with all outputs contiguous.
pub fn nest(body: OpBody, inputs: &[Stride]) -> LoopNest {
    let access = |(&dtype, &inner): (&DType, &Stride)| Access::memory(dtype, inner);
    LoopNest {
        rank: 1,
        inputs: body.inputs.iter().zip(inputs).map(access).collect(),
        literals: body.literals.clone(),
        outputs: body.outputs.iter().map(|&o| Access::memory(body.dtype(o), Stride::Contiguous)).collect(),
        body: LoopBody::Ops(body.into()),
        kind: NestKind::Map,
    }
}

/// `op` on loaded operands, computing in `dtype`.
pub fn one_op(op: Op, dtype: DType) -> OpBody {
    let mut ops = OpBody::default();
    let args: Vec<ScalarId> = (0..op.arity())
        .map(|i| {
            let dtype = op.operand_dtype(i, dtype);
            ops.inputs.push(dtype);
            ops.push(StmtKind::Load(i as u32), &[], dtype)
        })
        .collect();
    let result = ops.push(StmtKind::Op(op), &args, op.result_dtype(dtype));
    ops.outputs = vec![result];
    ops
}

fn prims(nest: &LoopNest) -> (&Body, usize) {
    match &nest.body {
        LoopBody::Prims { body, hoisted } => (body, *hoisted),
        LoopBody::Ops(_) => panic!("expanded"),
    }
}

/// Checks that the expanded body agrees with the bodies of its single ops evaluated in sequence.
fn check_expansion(expanded: &LoopNest, stages: &[Body], random: &mut Random) {
    let (body, _) = prims(expanded);
    for _ in 0..200 {
        let words: Vec<u64> = body.input_types().iter().map(|&ty| random.value(ty)).collect();
        let mut rest = &words[..];
        let mut values = Vec::new();
        for access in &expanded.inputs {
            let (now, later) = rest.split_at(access.dtype.storage().len());
            values.extend(load_body(access.dtype).eval(now));
            rest = later;
        }
        for stage in stages {
            values = stage.eval(&values);
        }
        assert_eq!(body.eval(&words), values, "{:?} on {words:x?}", expanded.inputs);
    }
}

#[test]
fn every_op_on_every_dtype() {
    let mut random = Random(7);
    for op in Op::ALL {
        for dtype in op.row().domain.iter() {
            let expanded =
                pipeline::expanded(&nest(one_op(op, dtype), &[Stride::Contiguous; 4]), &Target::interpreter()).unwrap();
            check_expansion(&expanded, &[body(op, dtype), store_body(op.result_dtype(dtype))], &mut random);
            for compiled in compile(&expanded) {
                for length in [1, 67, 300] {
                    check(&compiled, &expanded, &[length], &[], length as u64, false);
                }
            }
        }
    }
}

/// Operands invariant along the innermost loop: the op is hoisted.
#[test]
fn every_op_on_every_dtype_outside_the_innermost_loop() {
    for op in Op::ALL {
        for dtype in op.row().domain.iter() {
            let mut ops = one_op(op, dtype);
            let count = ops.inputs.len();
            ops.inputs.push(DType::I16);
            let moving = ops.push(StmtKind::Load(count as u32), &[], DType::I16);
            ops.outputs.push(moving);
            let mut strides = vec![Stride::Broadcast; count];
            strides.push(Stride::Contiguous);
            let mut once = nest(ops, &strides);
            once.rank = 2;
            let expanded = pipeline::expanded(&once, &Target::interpreter()).unwrap();
            assert!(prims(&expanded).1 > 0 || prims(&expanded).0.insts.len() < 2, "{op} {dtype}");
            for compiled in compile(&expanded) {
                for (seed, length) in [3, 70].into_iter().enumerate() {
                    check(&compiled, &expanded, &[40, length], &[], seed as u64, false);
                }
            }
        }
    }
}

#[test]
fn every_cast() {
    let mut random = Random(8);
    for from in DType::ALL {
        for to in DType::ALL {
            let mut ops = OpBody { inputs: vec![from], ..OpBody::default() };
            let x = ops.push(StmtKind::Load(0), &[], from);
            let y = ops.push(StmtKind::Cast, &[x], to);
            ops.outputs = vec![y];
            let expanded = pipeline::expanded(&nest(ops, &[Stride::Contiguous]), &Target::interpreter()).unwrap();
            check_expansion(&expanded, &[cast_body(from, to), store_body(to)], &mut random);
            for compiled in compile(&expanded) {
                for length in [5, 300] {
                    check(&compiled, &expanded, &[length], &[], length as u64, false);
                }
            }
        }
    }
}

/// `x * (row + c) + sqrt(c) * row` with a `row` invariant along the innermost loop and a literal `c`.
#[test]
fn what_stays_is_hoisted() {
    for dtype in [DType::F32, DType::F16, DType::C128] {
        let mut ops = OpBody { inputs: vec![dtype, dtype], literals: vec![dtype, DType::Bool], ..OpBody::default() };
        let x = ops.push(StmtKind::Load(0), &[], dtype);
        let row = ops.push(StmtKind::Load(1), &[], dtype);
        let c = ops.push(StmtKind::Literal(0), &[], dtype);
        let flag = ops.push(StmtKind::Literal(1), &[], DType::Bool);
        let sum = ops.push(StmtKind::Op(Op::Add), &[row, c], dtype);
        let product = ops.push(StmtKind::Op(Op::Multiply), &[x, sum], dtype);
        let root = ops.push(StmtKind::Op(Op::Sqrt), &[c], dtype);
        let scaled = ops.push(StmtKind::Op(Op::Multiply), &[root, row], dtype);
        let big = ops.push(StmtKind::Op(Op::NotEqual), &[row, c], DType::Bool);
        let either = ops.push(StmtKind::Op(Op::LogicalAnd), &[big, flag], DType::Bool);
        let total = ops.push(StmtKind::Op(Op::Add), &[product, scaled], dtype);
        let chosen = ops.push(StmtKind::Op(Op::Where), &[either, total, x], dtype);
        ops.outputs = vec![chosen, either, scaled];
        let expanded =
            pipeline::expanded(&nest(ops, &[Stride::Contiguous, Stride::Broadcast]), &Target::interpreter()).unwrap();
        let (body, hoisted) = prims(&expanded);
        assert!(hoisted > 3 && hoisted < body.insts.len(), "{hoisted} of {}", body.insts.len());
        let mut stays = vec![false; body.types.len()];
        let words = dtype.storage().len();
        stays[words..body.inputs].fill(true);
        for (i, inst) in body.insts.iter().enumerate() {
            let fixed = inst.args.iter().all(|a| stays[a.index()]);
            assert_eq!(fixed, i < hoisted, "instruction {i}: {inst:?}");
            inst.result_regs().for_each(|r| stays[r.index()] = fixed);
        }
        for compiled in compile(&expanded) {
            for flag in [0, 1] {
                for value in [0.0f32, 2.25, -3.0, f32::NAN] {
                    let bits = |ty| match ty {
                        ndjit_ir::PrimType::F64 => f64::from(value).to_bits(),
                        _ => u64::from(value.to_bits()),
                    };
                    let literals = [dtype.repr().iter().map(|&ty| bits(ty)).collect(), vec![flag]];
                    for length in [0, 1, 15, 16, 67] {
                        check(&compiled, &expanded, &[length], &literals, length as u64, false);
                    }
                }
            }
        }
    }
}

/// Ops without code of more than 128 bits: bounded loops, division of integers, and tables of narrow types.
#[test]
fn ops_without_wide_code() {
    insta::assert_snapshot!(without_code(Set::Avx512), @r"
    floor_divide: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64
    remainder: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64
    fmod: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64
    pow: u8 u16 u32 u64 i8 i16 i32 i64 c64 c128
    gcd: u8 u16 u32 u64 i8 i16 i32 i64
    lcm: u8 u16 u32 u64 i8 i16 i32 i64
    float_power: c64 c128
    lgamma: bf16 f16 f32 f64
    tgamma: bf16 f16 f32 f64
    digamma: bf16 f16 f32 f64
    polygamma: bf16 f16 f32 f64
    ");
    assert_eq!(without_code(Set::Avx2), without_code(Set::Avx512));
}

fn without_code(set: Set) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for op in Op::ALL {
        let narrow: Vec<&str> = op
            .row()
            .domain
            .iter()
            .filter(|&dtype| {
                let expanded =
                    pipeline::expanded(&nest(one_op(op, dtype), &[Stride::Contiguous; 4]), &Target::interpreter())
                        .unwrap();
                emit(&expanded, AccumulatorLayout::Plain, set).unwrap().is_none()
            })
            .map(DType::name)
            .collect();
        if !narrow.is_empty() {
            writeln!(text, "{op}: {}", narrow.join(" ")).unwrap();
        }
    }
    text
}
