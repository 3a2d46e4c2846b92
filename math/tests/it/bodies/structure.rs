//! Every body builds, verifies, has its op's types, uses only 32-bit primitives where required, and prints.

use ndjit_ir::body::{Body, BodyBuilder, Inst, InstKind, Reg};
use ndjit_ir::op::Op;
use ndjit_ir::{DType, ErrorCode, PrimType};
use ndjit_math::{body, cast_body, load_body, store_body};
use std::collections::HashSet;

/// All types in a body, inner bodies and tables included.
fn types_of(body: &Body, into: &mut HashSet<PrimType>) {
    into.extend(&body.types);
    for inst in &body.insts {
        match &inst.kind {
            InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => types_of(inner, into),
            InstKind::Gather { .. } => panic!("bodies of ops gather nothing"),
            InstKind::Table(table) => {
                into.insert(table.ty);
            }
            InstKind::Const(_) | InstKind::Prim(_) => {}
        }
    }
}

fn check(name: &str, body: &Body, inputs: &[PrimType], outputs: &[PrimType]) {
    if let Err(error) = body.verify() {
        panic!("{name}: {error}\n{body}");
    }
    assert_eq!(body.input_types(), inputs, "inputs of {name}");
    assert_eq!(body.output_types().collect::<Vec<_>>(), outputs, "outputs of {name}");
    assert!(body.to_string().ends_with('}'));
}

#[test]
fn op_bodies_have_the_types_of_their_rows() {
    let mut count = 0;
    for op in Op::ALL {
        for dtype in op.row().domain.iter() {
            let made = body(op, dtype);
            let inputs: Vec<PrimType> =
                (0..op.arity()).flat_map(|i| op.operand_dtype(i, dtype).repr().to_vec()).collect();
            check(&format!("{op} on {dtype}"), &made, &inputs, op.result_dtype(dtype).repr());
            if !matches!(dtype, DType::U64 | DType::I64 | DType::F64 | DType::C128) {
                let mut types = HashSet::new();
                types_of(&made, &mut types);
                assert!(!types.contains(&PrimType::F64) && !types.contains(&PrimType::I64), "{op} on {dtype}:\n{made}");
            }
            count += 1;
        }
    }
    assert!(count > 300, "only {count} bodies");
}

#[test]
fn cast_load_and_store_bodies_have_their_types() {
    for from in DType::ALL {
        check(&format!("load {from}"), &load_body(from), from.storage(), from.repr());
        check(&format!("store {from}"), &store_body(from), from.repr(), from.storage());
        for to in DType::ALL {
            check(&format!("cast {from} to {to}"), &cast_body(from, to), from.repr(), to.repr());
        }
    }
}

#[test]
fn a_body_prints_one_line_per_instruction() {
    let mut b = BodyBuilder::new(&[PrimType::F32, PrimType::I32]);
    let regs = b.inputs();
    let (x, i) = (regs[0], regs[1]);
    let c = b.float(PrimType::F32, 1.5);
    let y = b.fmul(x, c);
    let nan = b.float(PrimType::F32, f64::NAN);
    let entry = b.table(PrimType::F32, &[0x3f80_0000, 0x7f80_0000], i);
    let less = b.flt(y, entry);
    let z = b.select(less, nan, y);
    let cold = b.if_any(less, &[z], &[x, y], |b, args| vec![b.fadd(args[0], args[1])])[0];
    let looped = b.repeat(3, &[cold], &[x], |b, state, invariants| {
        let next = b.fmul(state[0], invariants[0]);
        let zero = b.float(PrimType::F32, 0.0);
        (b.flt(zero, next), vec![next])
    })[0];
    let whole = b.tosint(looped, PrimType::I32);
    let body = b.finish(&[whole]);
    body.verify().unwrap();
    let text = "\
body(r0: f32, r1: i32) {
  r2 = const.f32 1.5
  r3 = fmul.f32 r0, r2
  r4 = const.f32 nan:0x7fc00000
  r5 = table r1 of f32 [1.0, inf]
  r6 = flt.f32 r3, r5
  r7 = select.f32 r6, r4, r3
  r8 = if r6, r7, r0, r3 then(r0: f32, r1: f32) {
    r2 = fadd.f32 r0, r1
    return r2
  }
  r9 = repeat 3 state 1 r8, r0 step(r0: f32, r1: f32) {
    r2 = fmul.f32 r0, r1
    r3 = const.f32 0.0
    r4 = flt.f32 r3, r2
    return r4, r2
  }
  r10 = tosint.f32.i32 r9
  return r10
}";
    assert_eq!(body.to_string(), text);
}

#[test]
fn the_verifier_collects_violations() {
    let good = body(Op::Remainder, DType::F32);
    let problems = |change: &dyn Fn(&mut Body)| {
        let mut bad = good.clone();
        change(&mut bad);
        let error = bad.verify().expect_err("a broken body");
        assert_eq!(error.code(), ErrorCode::Verify);
        error.facts().len()
    };
    good.verify().unwrap();
    let if_at = good.insts.iter().position(|i| matches!(i.kind, InstKind::If(_))).unwrap();
    assert_eq!(problems(&|b| b.insts[3].args[0] = Reg(9999)), 1);
    assert_eq!(problems(&|b| b.outputs[0] = Reg(9999)), 1);
    assert_eq!(problems(&|b| b.inputs = 1), 1);
    assert_eq!(problems(&|b| b.types[0] = PrimType::F64), 2);
    assert_eq!(problems(&|b| b.types.push(PrimType::F32)), 1);
    assert_eq!(problems(&|b| b.insts[if_at].args.truncate(2)), 1);
    assert_eq!(problems(&|b| b.insts[if_at].kind = InstKind::Const(0)), 1);
    assert_eq!(
        problems(&|b| {
            b.insts[3].args[0] = Reg(9999);
            b.outputs[0] = Reg(9999);
        }),
        2
    );
}

#[test]
fn nesting_is_bounded() {
    let mut inner = Body { inputs: 1, types: vec![PrimType::Bool], insts: vec![], outputs: vec![Reg(0)] };
    for depth in 0..10 {
        assert_eq!(inner.verify().is_ok(), depth <= ndjit_ir::body::MAX_DEPTH, "{depth} levels");
        let inst = Inst {
            kind: InstKind::If(inner.into()),
            args: [Reg(0), Reg(0), Reg(0)].into_iter().collect(),
            first: Reg(1),
            results: 1,
            origin: ndjit_ir::StatementOrigin::Own,
        };
        inner = Body { inputs: 1, types: vec![PrimType::Bool; 2], insts: vec![inst], outputs: vec![Reg(1)] };
    }
}

/// After expansion, equal steps are shared: the reduction of the argument, its cold path included, and the polynomials.
#[test]
fn sine_and_cosine_of_one_argument_share_their_reduction() {
    for (dtype, ty) in [(DType::F32, PrimType::F32), (DType::F64, PrimType::F64)] {
        let bodies = [Op::Sin, Op::Cos].map(|op| body(op, dtype));
        let mut builder = BodyBuilder::new(&[ty]);
        let x = builder.inputs();
        let outputs: Vec<Reg> = bodies.iter().flat_map(|body| builder.inline(body, &x)).collect();
        let both = builder.finish(&outputs);
        let branches = |body: &Body| body.insts.iter().filter(|inst| matches!(inst.kind, InstKind::If(_))).count();
        assert_eq!((branches(&bodies[0]), branches(&both)), (1, 1), "{dtype}:\n{both}");
        assert!(both.insts.len() < bodies[0].insts.len() + 20, "{dtype}: {} instructions", both.insts.len());
    }
}
