//! Fused kernels, loop nests and geometries: their text and their verifiers.

use insta::assert_snapshot;
use ndjit_ir::body::BodyBuilder;
use ndjit_ir::graph::{Graph, SlotId, Value};
use ndjit_ir::kernel::{
    FusedKernel, FusedStep, KernelInput, KernelKind, OpBody, Reads, ScalarId, StmtKind, verify_steps,
};
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, Stride};
use ndjit_ir::{DType, ErrorCode, Op, PrimType, Result, Shape};
use std::sync::Arc;

/// `x + cast(y) * l` with `y` i8.
fn body() -> OpBody {
    let mut body = OpBody { inputs: vec![DType::F32, DType::I8], literals: vec![DType::F32], ..OpBody::default() };
    let x = body.push(StmtKind::Load(0), &[], DType::F32);
    let y = body.push(StmtKind::Load(1), &[], DType::I8);
    let l = body.push(StmtKind::Literal(0), &[], DType::F32);
    let y = body.push(StmtKind::Cast, &[y], DType::F32);
    let product = body.push(StmtKind::Op(Op::Multiply), &[y, l], DType::F32);
    let sum = body.push(StmtKind::Op(Op::Add), &[x, product], DType::F32);
    body.outputs = vec![sum];
    body
}

fn graph() -> Graph<DType> {
    "graph (%0: f32[8, 3], %1: i8[3]) {
  %2 = literal #0 2.5 : f32[]
  %3 = cast %1 : f32[3]
  %4 = multiply %3, %2 : f32[3]
  %5 = add %0, %4 : f32[8, 3]
  return %5
}"
    .parse()
    .unwrap()
}

fn kernel() -> FusedKernel {
    FusedKernel {
        shape: Shape::from([8, 3]),
        inputs: vec![
            KernelInput { value: Value(0), shape: Shape::from([8, 3]), reads: Reads::Elements },
            KernelInput { value: Value(1), shape: Shape::from([3]), reads: Reads::Elements },
        ],
        literals: vec![SlotId(0)],
        body: body().into(),
        outputs: vec![Value(5)],
        kind: KernelKind::Map,
        statements: Default::default(),
    }
}

fn nest() -> LoopNest {
    LoopNest {
        rank: 2,
        inputs: vec![Access::memory(DType::F32, Stride::Contiguous), Access::memory(DType::I8, Stride::Broadcast)],
        literals: vec![DType::F32],
        outputs: vec![Access::memory(DType::F32, Stride::Contiguous)],
        body: LoopBody::Ops(body().into()),
        kind: NestKind::Map,
    }
}

/// The same after expansion, with the product hoisted.
fn expanded() -> LoopNest {
    let mut b = BodyBuilder::new(&[PrimType::F32, PrimType::I8, PrimType::F32]);
    let regs = b.inputs();
    let wide = b.sext(regs[1], PrimType::I32);
    let y = b.fromsint(wide, PrimType::F32);
    let product = b.fmul(y, regs[2]);
    let sum = b.fadd(regs[0], product);
    let body = b.finish(&[sum]);
    LoopNest { body: LoopBody::Prims { body, hoisted: 3 }, ..nest() }
}

fn facts(result: Result<()>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Verify);
    error.facts().join("\n")
}

#[test]
fn kernels_print_what_is_read_computed_and_stored() {
    assert_snapshot!(kernel(), @r#"
    kernel [8, 3] {
      in0 = %0 : f32[8, 3]
      in1 = %1 : i8[3]
      l0 = #0 : f32
      t0 = load in0 : f32
      t1 = load in1 : i8
      t2 = literal l0 : f32
      t3 = cast t1 : f32
      t4 = multiply t3, t2 : f32
      t5 = add t0, t4 : f32
      out0 = t5 -> %5
    }
    "#);
    kernel().verify().unwrap();
    verify_steps(&[FusedStep::Kernel(kernel())], &graph()).unwrap();
}

#[test]
fn nests_print_as_loops() {
    nest().verify().unwrap();
    assert_snapshot!(nest(), @r#"
    nest rank 2 {
      in0: f32 contiguous, in1: i8 broadcast
      literals: l0 f32
      out0: f32 contiguous
      for i0, i1 {
        t0 = load in0 : f32
        t1 = load in1 : i8
        t2 = literal l0 : f32
        t3 = cast t1 : f32
        t4 = multiply t3, t2 : f32
        t5 = add t0, t4 : f32
        store out0, t5
      }
    }
    "#);
    expanded().verify().unwrap();
    assert_snapshot!(expanded(), @r#"
    nest rank 2 {
      in0: f32 contiguous, in1: i8 broadcast
      literals: l0 f32
      out0: f32 contiguous
      for i0 {
        preheader:
          r1 = load in1 : i8
          r2 = literal l0 : f32
          r3 = sext.i8.i32 r1
          r4 = fromsint.i32.f32 r3
          r5 = fmul.f32 r4, r2
        loop: for i1 {
          r0 = load in0 : f32
          r6 = fadd.f32 r0, r5
          store out0, r6
        }
      }
    }
    "#);
}

#[test]
fn nests_of_rank_one_and_complex_operands_print() {
    let mut b = BodyBuilder::new(&[PrimType::F32; 4]);
    let regs = b.inputs();
    let (re, im) = (b.fadd(regs[0], regs[2]), b.fadd(regs[1], regs[3]));
    let body = b.finish(&[re, im]);
    let access = Access::memory(DType::C64, Stride::Strided);
    let nest = LoopNest {
        rank: 1,
        inputs: vec![access],
        literals: vec![DType::C64],
        outputs: vec![access],
        body: LoopBody::Prims { body, hoisted: 0 },
        kind: NestKind::Map,
    };
    nest.verify().unwrap();
    assert_snapshot!(nest, @r#"
    nest rank 1 {
      in0: c64 strided
      literals: l0 c64
      out0: c64 strided
      preheader:
        r2 = literal l0.0 : f32
        r3 = literal l0.1 : f32
      loop: for i0 {
        r0 = load in0.0 : f32
        r1 = load in0.1 : f32
        r4 = fadd.f32 r0, r2
        r5 = fadd.f32 r1, r3
        store out0.0, r4
        store out0.1, r5
      }
    }
    "#);
}

#[test]
fn the_kernel_verifier_names_each_broken_invariant() {
    let broken = |change: fn(&mut FusedKernel)| {
        let mut kernel = kernel();
        change(&mut kernel);
        // Broken kernels print.
        assert!(!kernel.to_string().is_empty());
        facts(kernel.verify())
    };
    let found = [
        broken(|k| k.inputs.truncate(1)),
        broken(|k| k.literals.clear()),
        broken(|k| k.outputs.push(Value(5))),
        broken(|k| Arc::make_mut(&mut k.body).outputs.clear()),
        broken(|k| Arc::make_mut(&mut k.body).outputs[0] = ScalarId(99)),
        broken(|k| k.inputs[1].shape = Shape::from([8])),
        broken(|k| k.inputs[1].shape = Shape::from([1, 8, 3])),
        broken(|k| Arc::make_mut(&mut k.body).stmts[5].args[1] = ScalarId(5)),
        broken(|k| Arc::make_mut(&mut k.body).stmts[5].args[1] = ScalarId(1)),
        broken(|k| Arc::make_mut(&mut k.body).stmts[5].args.truncate(1)),
        broken(|k| Arc::make_mut(&mut k.body).stmts[0].kind = StmtKind::Load(7)),
        broken(|k| Arc::make_mut(&mut k.body).stmts[0].dtype = DType::F64),
        broken(|k| Arc::make_mut(&mut k.body).stmts[2].kind = StmtKind::Literal(1)),
        broken(|k| Arc::make_mut(&mut k.body).stmts[5].dtype = DType::F64),
        broken(|k| Arc::make_mut(&mut k.body).stmts[5].kind = StmtKind::Op(Op::BitwiseAnd)),
    ];
    assert_snapshot!(found.join("\n"), @r"
    the kernel has 1 inputs, its body 2
    the kernel has 0 literals, its body 1
    the kernel has 2 outputs, its body 1
    %5 is stored twice
    nothing is stored
    the kernel has 1 outputs, its body 0
    out0 = t99 does not exist
    in1 = %1 : [8] does not broadcast to [8, 3]
    in1 = %1 : [1, 8, 3] does not broadcast to [8, 3]
    t5 = add t0, t5 : f32  ; t5 does not come before the statement
    t5 = add t0, t1 : f32  ; t1 is i8, add in f32 takes f32
    t5 = add t0 : f32  ; takes 2 operands, has 1
    t0 = load in7 : f32  ; is not declared
    t0 = load in0 : f64  ; is declared as f32
    t5 = add t0, t4 : f32  ; t4 is f32, add in f64 takes f64
    t2 = literal l1 : f32  ; is not declared
    t5 = add t0, t4 : f64  ; the result's type is f32, not f64
    t5 = bitwise_and t0, t4 : f32  ; bitwise_and does not compute in f32
    ");
}

#[test]
fn the_verifier_of_all_kernels_names_each_broken_invariant() {
    let broken = |change: fn(&mut Vec<FusedKernel>)| {
        let mut kernels = vec![kernel()];
        change(&mut kernels);
        facts(verify_steps(&kernels.into_iter().map(FusedStep::Kernel).collect::<Vec<_>>(), &graph()))
    };
    let found = [
        broken(Vec::clear),
        broken(|k| k.push(kernel())),
        broken(|k| k[0].inputs[0].value = Value(5)),
        broken(|k| k[0].inputs[0].value = Value(99)),
        broken(|k| k[0].inputs[1].shape = Shape::from([1])),
        broken(|k| k[0].literals[0] = SlotId(1)),
        broken(|k| k[0].outputs[0] = Value(99)),
        broken(|k| k[0].outputs[0] = Value(4)),
        broken(|k| Arc::make_mut(&mut k[0].body).stmts[0].dtype = DType::F64),
    ];
    assert_snapshot!(found.join("\n"), @r"
    the graph's output %5 is stored by no kernel
    kernel 1: out0 = t5 -> %5 : f32[8, 3]  ; is stored by an earlier kernel
    kernel 0: in0 = %5 : f32[8, 3]  ; is no parameter and no earlier kernel stores it
    kernel 0: in0 = %99 : f32[8, 3]  ; does not exist
    kernel 0: in1 = %1 : i8[1]  ; is i8[3] in the graph
    kernel 0: literal slot #1 does not exist
    kernel 0: out0 = t5 -> %99 : f32[8, 3]  ; does not exist
    the graph's output %5 is stored by no kernel
    kernel 0: out0 = t5 -> %4 : f32[8, 3]  ; is f32[3] in the graph
    the graph's output %5 is stored by no kernel
    kernel 0  ; t0 = load in0 : f64  ; is declared as f32; t5 = add t0, t4 : f32  ; t4 is f32, add in f64 takes f64
    the graph's output %5 is stored by no kernel
    ");
}

#[test]
fn the_nest_verifier_names_each_broken_invariant() {
    let broken = |mut nest: LoopNest, change: fn(&mut LoopNest)| {
        change(&mut nest);
        assert!(!nest.to_string().is_empty());
        facts(nest.verify())
    };
    let prims = |change: fn(&mut LoopNest)| broken(expanded(), change);
    let found = [
        broken(nest(), |n| n.rank = 0),
        broken(nest(), |n| n.outputs.clear()),
        broken(nest(), |n| n.outputs[0].inner = Stride::Broadcast),
        broken(nest(), |n| n.outputs[0].dtype = DType::F64),
        broken(nest(), |n| n.inputs[0].dtype = DType::F64),
        broken(nest(), |n| n.literals.clear()),
        prims(|n| n.inputs[0].dtype = DType::F16),
        prims(|n| n.inputs[0].dtype = DType::C64),
        prims(|n| n.outputs[0].dtype = DType::C64),
        prims(|n| n.inputs[1].inner = Stride::Strided),
        prims(|n| match &mut n.body {
            LoopBody::Prims { hoisted, .. } => *hoisted = 4,
            LoopBody::Ops(_) => unreachable!("the nest is expanded"),
        }),
        prims(|n| match &mut n.body {
            LoopBody::Prims { hoisted, .. } => *hoisted = 5,
            LoopBody::Ops(_) => unreachable!("the nest is expanded"),
        }),
    ];
    assert_snapshot!(found.join("\n"), @r#"
    a nest has at least one loop
    a nest has at least one output
    the nest's outputs are [], the body's [Some(F32)]
    out0 does not move along the innermost loop
    the nest's outputs are [Some(F64)], the body's [Some(F32)]
    the nest's inputs are [F64, I8], the body's [F32, I8]
    the nest's literals are [], the body's [F32]
    the nest's input registers are [I16, I8, F32], the body's [F32, I8, F32]
    the nest's input registers are [F32, F32, I8, F32], the body's [F32, I8, F32]
    the nest's output registers are [F32, F32], the body's [F32]
    r3 is hoisted, but r1 changes in the innermost loop
    r6 is hoisted, but r0 changes in the innermost loop
    5 instructions are hoisted, the body has 4
    "#);
}

fn layout(offset: usize, strides: &[isize]) -> Layout {
    Layout { offset, strides: strides.iter().copied().collect() }
}

/// `nest` on C-contiguous [8, 3] with the second input broadcast along the rows.
fn domain() -> IterationDomain {
    IterationDomain {
        extents: [8, 3].into_iter().collect(),
        inputs: vec![layout(0, &[12, 4]), layout(0, &[1, 0])],
        outputs: vec![layout(0, &[12, 4])],
    }
}

#[test]
fn geometry_prints_and_fits_exactly() {
    assert_snapshot!(domain(), @r#"
    domain [8, 3] {
      in0: offset 0, strides [12, 4]
      in1: offset 0, strides [1, 0]
      out0: offset 0, strides [12, 4]
    }
    "#);
    domain().verify(&nest(), &[96, 8], &[96]).unwrap();
    let short = [([95, 8], [96]), ([96, 7], [96]), ([96, 8], [95])];
    let found: Vec<String> = short.iter().map(|(ins, outs)| facts(domain().verify(&nest(), ins, outs))).collect();
    assert_snapshot!(found.join("\n"), @r#"
    in0: f32 contiguous, offset 0, strides [12, 4]  ; bytes 0..96 of a buffer of 95
    in1: i8 broadcast, offset 0, strides [1, 0]  ; bytes 0..8 of a buffer of 7
    out0: f32 contiguous, offset 0, strides [12, 4]  ; bytes 0..96 of a buffer of 95
    "#);
}

#[test]
fn geometry_bounds() {
    let broken = |change: fn(&mut IterationDomain)| {
        let mut domain = domain();
        change(&mut domain);
        facts(domain.verify(&nest(), &[96, 8], &[96]))
    };
    let found = [
        broken(|g| g.extents = [8].into_iter().collect()),
        broken(|g| g.extents = [usize::MAX, 3].into_iter().collect()),
        broken(|g| g.extents = [usize::MAX, 0].into_iter().collect()),
        broken(|g| drop(g.inputs.pop())),
        broken(|g| g.inputs[0] = layout(0, &[4])),
        broken(|g| g.inputs[0] = layout(4, &[12, 4])),
        broken(|g| g.inputs[0] = layout(0, &[-12, 4])),
        broken(|g| g.inputs[0] = layout(83, &[-12, 4])),
        broken(|g| g.inputs[0] = layout(0, &[isize::MAX, 4])),
        broken(|g| g.inputs[0] = layout(0, &[isize::MIN, 4])),
        broken(|g| g.inputs[0] = layout(usize::MAX, &[12, 4])),
        broken(|g| g.inputs[0] = layout(0, &[12, -4])),
        broken(|g| g.inputs[1] = layout(0, &[1, 1])),
        broken(|g| g.outputs[0] = layout(0, &[0, 4])),
        broken(|g| g.outputs[0] = layout(0, &[8, 4])),
        broken(|g| g.outputs[0] = layout(92, &[-3, 4])),
    ];
    assert_snapshot!(found.join("\n"), @r#"
    1 extents for 2 loops
    in0: f32 contiguous, offset 0, strides [12, 4]  ; 2 strides for 1 loops
    in1: i8 broadcast, offset 0, strides [1, 0]  ; 2 strides for 1 loops
    out0: f32 contiguous, offset 0, strides [12, 4]  ; 2 strides for 1 loops
    extents [18446744073709551615, 3] have more indices than memory can address
    in0: f32 contiguous, offset 0, strides [12, 4]  ; bytes 0..221360928884514619380 of a buffer of 96
    in1: i8 broadcast, offset 0, strides [1, 0]  ; bytes 0..18446744073709551615 of a buffer of 8
    out0: f32 contiguous, offset 0, strides [12, 4]  ; bytes 0..221360928884514619380 of a buffer of 96
    extents [18446744073709551615, 0] have more indices than memory can address
    2 inputs have 1 layouts and 2 buffers
    in0: f32 contiguous, offset 0, strides [4]  ; 1 strides for 2 loops
    in0: f32 contiguous, offset 4, strides [12, 4]  ; bytes 4..100 of a buffer of 96
    in0: f32 contiguous, offset 0, strides [-12, 4]  ; bytes -84..12 of a buffer of 96
    in0: f32 contiguous, offset 83, strides [-12, 4]  ; bytes -1..95 of a buffer of 96
    in0: f32 contiguous, offset 0, strides [9223372036854775807, 4]  ; bytes 0..64563604257983430661 of a buffer of 96
    in0: f32 contiguous, offset 0, strides [-9223372036854775808, 4]  ; bytes -64563604257983430656..12 of a buffer of 96
    in0: f32 contiguous, offset 18446744073709551615, strides [12, 4]  ; bytes 18446744073709551615..18446744073709551711 of a buffer of 96
    in0: f32 contiguous, offset 0, strides [12, -4]  ; the innermost stride is -4, not 4
    in1: i8 broadcast, offset 0, strides [1, 1]  ; the innermost stride is 1, not 0
    out0: f32 contiguous, offset 0, strides [0, 4]  ; indices along loop i0 write the same bytes: stride 0, span 4
    out0: f32 contiguous, offset 0, strides [8, 4]  ; indices along loop i0 write the same bytes: stride 8, span 12
    out0: f32 contiguous, offset 92, strides [-3, 4]  ; bytes 71..104 of a buffer of 96
    "#);
    // Backwards rows; a stride that is never taken; nothing at all.
    let fits = |change: fn(&mut IterationDomain)| {
        let mut domain = domain();
        change(&mut domain);
        domain.verify(&nest(), &[96, 8], &[96]).unwrap();
    };
    fits(|g| g.outputs[0] = layout(84, &[-12, 4]));
    fits(|g| {
        g.extents = [8, 1].into_iter().collect();
        g.inputs[1] = layout(0, &[1, 999]);
        g.outputs[0] = layout(0, &[4, 0]);
    });
    fits(|g| {
        g.extents = [0, 3].into_iter().collect();
        g.outputs[0] = layout(1000, &[0, 4]);
    });
}
