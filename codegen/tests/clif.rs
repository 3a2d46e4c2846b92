//! Compiled kernels against the reference evaluation of their bodies, bit for bit.

mod support;

use ndjit_codegen::target::combinations;
use ndjit_ir::body::{Body, BodyBuilder, Prim, Reg, Signature};
use ndjit_ir::loops::Stride::{Broadcast, Contiguous, Strided};
use ndjit_ir::loops::{LoopBody, LoopNest};
use ndjit_ir::{DType, PrimType};
use support::{check, compile, nest};

/// A dtype stored as one word of this type.
fn dtype(ty: PrimType) -> DType {
    match ty {
        PrimType::Bool => DType::Bool,
        PrimType::I8 => DType::I8,
        PrimType::I16 => DType::I16,
        PrimType::I32 => DType::I32,
        PrimType::I64 => DType::I64,
        PrimType::F32 => DType::F32,
        PrimType::F64 => DType::F64,
    }
}

/// The value of a stored word.
fn read(b: &mut BodyBuilder, ty: PrimType, word: Reg) -> Reg {
    if ty != PrimType::Bool {
        return word;
    }
    let one = b.int(PrimType::I8, 1);
    let low = b.and(word, one);
    let zero = b.int(PrimType::I8, 0);
    b.ine(low, zero)
}

/// The word a value is stored as.
fn written(b: &mut BodyBuilder, value: Reg) -> Reg {
    if b.ty(value) == PrimType::Bool { b.mask(value, PrimType::I8) } else { value }
}

/// A body with inputs of these types: `f` maps their values to the results.
fn body(types: &[PrimType], f: impl FnOnce(&mut BodyBuilder, &[Reg]) -> Vec<Reg>) -> Body {
    let words: Vec<PrimType> = types.iter().map(|&ty| dtype(ty).storage()[0]).collect();
    let mut b = BodyBuilder::new(&words);
    let inputs = b.inputs();
    let values: Vec<Reg> = inputs.iter().zip(types).map(|(&r, &ty)| read(&mut b, ty, r)).collect();
    let results = f(&mut b, &values);
    let words: Vec<Reg> = results.iter().map(|&r| written(&mut b, r)).collect();
    b.finish(&words)
}

/// A nest over arrays of these types, all contiguous, rank 1.
fn flat(types: &[PrimType], results: &[PrimType], f: impl FnOnce(&mut BodyBuilder, &[Reg]) -> Vec<Reg>) -> LoopNest {
    let arrays = |types: &[PrimType]| types.iter().map(|&ty| (dtype(ty), Contiguous)).collect::<Vec<_>>();
    nest(1, &arrays(types), &[], &arrays(results), body(types, f))
}

/// Checks a nest of rank 1 without literals at many lengths, in vector and scalar code.
fn check_lengths(nest: &LoopNest) {
    for vector in [false, true] {
        let compiled = compile(nest, vector);
        for length in (0..=67).chain([127, 1000]) {
            check(&compiled, nest, &[length], &[], length as u64, false);
        }
    }
}

fn operand_types(prim: Prim, from: PrimType) -> Vec<PrimType> {
    match prim.signature() {
        Signature::Select => vec![PrimType::Bool, from, from],
        Signature::Same(_) | Signature::Compare | Signature::Convert => vec![from; prim.arity()],
    }
}

#[test]
fn every_primitive_on_every_type() {
    for (prim, from, to) in combinations() {
        let types = operand_types(prim, from);
        check_lengths(&flat(&types, &[to], |b, args| vec![b.prim(prim, args, Some(to))]));
    }
}

#[test]
fn shifts_by_constants() {
    for prim in [Prim::Shl, Prim::Ushr, Prim::Sshr] {
        for ty in [PrimType::I8, PrimType::I16, PrimType::I32, PrimType::I64] {
            for count in [0, 1, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, -1] {
                check_lengths(&flat(&[ty], &[ty], |b, x| {
                    let count = b.int(ty, count);
                    vec![b.prim(prim, &[x[0], count], None)]
                }));
            }
        }
    }
}
