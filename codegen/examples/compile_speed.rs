//! Prints how long kernels take from loop nest to machine code, and what one element costs them.
//!
//! `cargo run --release -p ndjit-codegen --example compile_speed`

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use ndjit_codegen::clif::{Cell, ClifOptions, emit, host_isa, literal_cells};
use ndjit_codegen::passes::expand::expand;
use ndjit_ir::body::BodyBuilder;
use ndjit_ir::kernel::{OpBody, Scalar, StmtKind};
use ndjit_ir::loops::{Access, LoopBody, LoopNest, Stride};
use ndjit_ir::{DType, Op, PrimType};
use std::time::{Duration, Instant};

fn main() {
    println!(
        "{:24} {:>8} {:>8} {:>8} {:>8} {:>7}   ns/element, scalar",
        "", "expand", "emit", "compile", "total", "bytes"
    );
    for dtype in [DType::F32, DType::F64, DType::F16, DType::U8, DType::C64] {
        report(&format!("x + y * 2 {dtype}"), &axpy(dtype));
    }
    for dtype in [DType::F32, DType::F64, DType::I32, DType::F16] {
        report(&format!("20 ops {dtype}"), &chain(dtype, 20));
    }
    for (op, dtype) in [
        (Op::Divide, DType::F32),
        (Op::Maximum, DType::F32),
        (Op::Multiply, DType::U8),
        (Op::FloorDivide, DType::I32),
        (Op::FloorDivide, DType::U8),
        (Op::BitwiseLeftShift, DType::I32),
        (Op::Remainder, DType::F32),
        (Op::Divide, DType::C64),
        (Op::Equal, DType::F64),
        (Op::Where, DType::F64),
    ] {
        report(&format!("{op} {dtype}"), &one(op, dtype));
    }
    for op in [Op::Exp, Op::Sin, Op::Tanh] {
        report(&format!("{op} f32"), &one(op, DType::F32));
        report(&format!("{op} f64"), &one(op, DType::F64));
    }
    report("u8 -> f64", &cast(DType::U8, DType::F64));
    report("f32 -> u8", &cast(DType::F32, DType::U8));
    report("f16 -> f32", &cast(DType::F16, DType::F32));
    report("table f32", &table());
}

fn nest(ops: OpBody) -> LoopNest {
    let access = |dtype| Access { dtype, inner: Stride::Contiguous };
    LoopNest {
        rank: 1,
        inputs: ops.inputs.iter().map(|&d| access(d)).collect(),
        literals: ops.literals.clone(),
        outputs: ops.outputs.iter().map(|&o| access(ops.dtype(o))).collect(),
        body: LoopBody::Ops(ops),
    }
}

fn axpy(dtype: DType) -> LoopNest {
    let mut ops = OpBody { inputs: vec![dtype, dtype], literals: vec![dtype], ..OpBody::default() };
    let x = ops.push(StmtKind::Load(0), &[], dtype);
    let y = ops.push(StmtKind::Load(1), &[], dtype);
    let two = ops.push(StmtKind::Literal(0), &[], dtype);
    let product = ops.push(StmtKind::Op(Op::Multiply), &[y, two], dtype);
    let sum = ops.push(StmtKind::Op(Op::Add), &[x, product], dtype);
    ops.outputs = vec![sum];
    nest(ops)
}

fn chain(dtype: DType, length: usize) -> LoopNest {
    let mut ops = OpBody { inputs: vec![dtype, dtype], literals: vec![dtype; length / 2], ..OpBody::default() };
    let mut value = ops.push(StmtKind::Load(0), &[], dtype);
    let y = ops.push(StmtKind::Load(1), &[], dtype);
    for i in 0..length / 2 {
        let literal = ops.push(StmtKind::Literal(i as u32), &[], dtype);
        value = ops.push(StmtKind::Op(Op::Multiply), &[value, y], dtype);
        value = ops.push(StmtKind::Op(Op::Add), &[value, literal], dtype);
    }
    ops.outputs = vec![value];
    nest(ops)
}

fn one(op: Op, dtype: DType) -> LoopNest {
    let mut ops = OpBody::default();
    let args: Vec<Scalar> = (0..op.arity())
        .map(|i| {
            let dtype = op.operand_dtype(i, dtype);
            ops.inputs.push(dtype);
            ops.push(StmtKind::Load(i as u32), &[], dtype)
        })
        .collect();
    let result = ops.push(StmtKind::Op(op), &args, op.result_dtype(dtype));
    ops.outputs = vec![result];
    nest(ops)
}

fn cast(from: DType, to: DType) -> LoopNest {
    let mut ops = OpBody { inputs: vec![from], ..OpBody::default() };
    let x = ops.push(StmtKind::Load(0), &[], from);
    let y = ops.push(StmtKind::Cast, &[x], to);
    ops.outputs = vec![y];
    nest(ops)
}

fn table() -> LoopNest {
    let mut b = BodyBuilder::new(&[PrimType::I32]);
    let x = b.inputs()[0];
    let low = b.int(PrimType::I32, 63);
    let index = b.and(x, low);
    let values: Vec<u64> = (0..64).map(|i| u64::from((i as f32).to_bits())).collect();
    let entry = b.table(PrimType::F32, &values, index);
    let body = b.finish(&[entry]);
    let access = |dtype| Access { dtype, inner: Stride::Contiguous };
    LoopNest {
        rank: 1,
        inputs: vec![access(DType::I32)],
        literals: vec![],
        outputs: vec![access(DType::F32)],
        body: LoopBody::Prims { body, hoisted: 0 },
    }
}

fn report(name: &str, nest: &LoopNest) {
    let isa = host_isa().unwrap();
    let mut context = Context::new();
    let mut best = [Duration::MAX; 4];
    let mut size = 0;
    for _ in 0..30 {
        let start = Instant::now();
        let expanded = expand(nest).unwrap();
        let at_expanded = start.elapsed();
        let kernel = emit(&expanded, &*isa, ClifOptions::default()).unwrap();
        let at_emitted = start.elapsed();
        context.clear();
        context.func = kernel.function;
        size = context.compile(&*isa, &mut ControlPlane::default()).unwrap().code_buffer().len();
        let total = start.elapsed();
        let steps = [at_expanded, at_emitted - at_expanded, total - at_emitted, total];
        best = std::array::from_fn(|i| best[i].min(steps[i]));
    }
    let us = |d: Duration| d.as_secs_f64() * 1e6;
    let (vector, lanes) = speed(nest, true);
    let (scalar, _) = speed(nest, false);
    println!(
        "{name:24} {:8.1} {:8.1} {:8.1} {:8.1} {size:7}   {vector:6.3} {scalar:6.3}  ({lanes} lanes)",
        us(best[0]),
        us(best[1]),
        us(best[2]),
        us(best[3]),
    );
}

fn one_of(ty: PrimType) -> u64 {
    match ty {
        PrimType::F32 => u64::from(1f32.to_bits()),
        PrimType::F64 => 1f64.to_bits(),
        PrimType::Bool | PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => 1,
    }
}

/// Nanoseconds per element on arrays that stay in the first-level cache, and the lanes of a block.
fn speed(nest: &LoopNest, vector: bool) -> (f64, usize) {
    const N: usize = 1024;
    let isa = host_isa().unwrap();
    let expanded = expand(nest).unwrap();
    let kernel = emit(&expanded, &*isa, ClifOptions { vector }).unwrap();
    let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let id = module.declare_function("kernel", Linkage::Export, &kernel.function.signature).unwrap();
    module.define_function(id, &mut Context::for_function(kernel.function)).unwrap();
    module.finalize_definitions().unwrap();
    let code = module.get_finalized_function(id);
    let operands: Vec<DType> = expanded.inputs.iter().chain(&expanded.outputs).map(|a| a.dtype).collect();
    let mut memory: Vec<Vec<u8>> = operands.iter().map(|d| vec![0x3f; N * d.bytes()]).collect();
    let pointers: Vec<*mut u8> = memory.iter_mut().map(|m| m.as_mut_ptr()).collect();
    let strides: Vec<isize> = operands.iter().map(|d| d.bytes() as isize).collect();
    let literals: Vec<Cell> = expanded
        .literals
        .iter()
        .flat_map(|&d| literal_cells(d, &d.repr().iter().map(|&ty| one_of(ty)).collect::<Vec<_>>()))
        .collect();
    let extents = [N];
    type Entry = unsafe extern "C" fn(*const *mut u8, *const usize, *const isize, *const Cell, *const Cell);
    let mut best = Duration::MAX;
    for _ in 0..50 {
        let start = Instant::now();
        for _ in 0..10 {
            // SAFETY: `code` is a finished function of this signature; every operand has `N` contiguous elements.
            unsafe {
                let entry: Entry = std::mem::transmute::<*const u8, Entry>(code);
                entry(
                    pointers.as_ptr(),
                    extents.as_ptr(),
                    strides.as_ptr(),
                    literals.as_ptr(),
                    kernel.constants.as_ptr(),
                );
            }
        }
        best = best.min(start.elapsed());
    }
    // SAFETY: nothing calls the code any more.
    unsafe { module.free_memory() };
    (best.as_secs_f64() * 1e9 / (10 * N) as f64, kernel.lanes)
}
