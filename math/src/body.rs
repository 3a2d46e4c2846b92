//! The body of every op on every dtype of its domain, and of casts, loads and stores: the definition of each op, for all engines.
//!
//! Invariants: a body's inputs are the `repr` registers of its operands in order, its outputs those of the result. Halves
//! are an `f32` that the half can represent; an op computes in `f32` and rounds once, to the nearest half of the exact
//! result. Bodies of ops on dtypes with parts of at most 32 bits use no `F64` and no `I64`. Bodies do not depend on a machine's
//! costs or primitives.

use crate::complex::polar;
use crate::integer::threefry;
use crate::kinds::{bools, complex, float, half, int};
use ndjit_ir::body::{Body, BodyBuilder, Reg};
use ndjit_ir::dtype::{DType, Kind, PrimType};
use ndjit_ir::op::Op;

/// The body of `op` computing in `dtype`: its inputs are the concatenated `repr` registers of the operands (of dtype
/// [`Op::operand_dtype`]), its outputs the `repr` registers of [`Op::result_dtype`].
///
/// # Panics
/// If `dtype` is not in the op's domain.
pub fn body(op: Op, dtype: DType) -> Body {
    assert!(op.row().domain.contains(dtype), "{op} does not compute in {dtype}");
    let types: Vec<PrimType> =
        (0..op.arity()).flat_map(|i| op.operand_dtype(i, dtype).repr().iter().copied()).collect();
    let mut b = BodyBuilder::new(&types);
    let regs = b.inputs();
    let outputs = build(&mut b, op, dtype, &regs);
    b.finish(&outputs)
}

/// Emits `op` on operand registers; returns the result's.
fn build(b: &mut BodyBuilder, op: Op, dtype: DType, args: &[Reg]) -> Vec<Reg> {
    if op == Op::Where {
        let n = dtype.repr().len();
        return (1..=n).map(|i| b.select(args[0], args[i], args[i + n])).collect();
    }
    if op == Op::Threefry2x32 {
        return vec![threefry::hash(b, args[0], args[1])];
    }
    if let Some(parts) = polar::op(op) {
        let (re, im) = parts(b, args[0], args[1]);
        return vec![re, im];
    }
    let built = match dtype.kind() {
        Kind::Bool => bools::op(op).map(|body| vec![body.emit(b, args)]),
        Kind::UInt | Kind::Int => int::op(op, dtype.is_signed()).map(|body| vec![body.emit(b, args)]),
        Kind::Float if dtype.is_half() => half::emit(b, op, dtype, args).map(|result| vec![result]),
        Kind::Float => float::op(op).map(|body| vec![body.emit(b, args)]),
        Kind::Complex => complex::op(op).map(|body| body.emit(b, args)),
    };
    let Some(results) = built else { unreachable!("{op} has a body on {dtype}, as the compiler has checked") };
    results
}

/// Returns `true` if `op` has a body on `dtype`.
const fn is_written(op: Op, dtype: DType) -> bool {
    matches!(op, Op::Where)
        || matches!((op, dtype), (Op::Threefry2x32, DType::U64))
        || polar::op(op).is_some() && matches!(dtype, DType::F32 | DType::F64)
        || match dtype.kind() {
            Kind::Bool => bools::op(op).is_some(),
            Kind::UInt | Kind::Int => int::op(op, dtype.is_signed()).is_some(),
            Kind::Float if dtype.is_half() => half::has(op),
            Kind::Float => float::op(op).is_some(),
            Kind::Complex => complex::op(op).is_some(),
        }
}

// A row whose domain differs from its bodies stops the build, with the name of the op.
const _: () = {
    let mut i = 0;
    while i < Op::ALL.len() * DType::ALL.len() {
        let (op, dtype) = (Op::ALL[i / DType::ALL.len()], DType::ALL[i % DType::ALL.len()]);
        assert!(is_written(op, dtype) == op.row().domain.contains(dtype), "{}", op.name());
        i += 1;
    }
};
