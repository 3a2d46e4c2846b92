//! Every primitive between all its types, on a device and by definition.

use super::compared::{Compared, hex};
use ndjit_codegen::target::{PrimSupport, combinations};
use ndjit_ir::body::{BodyBuilder, Prim, Reg, eval_prim};
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, Stride};
use ndjit_ir::{DType, PrimType, Result};
use ndjit_random::{Rng, special_words};
use ndjit_runtime::Backend;
use ndjit_runtime::gpu::Gpu;
use std::sync::Arc;

/// The maximum number of primitives per kernel.
const TOGETHER: usize = 12;
/// The shared input arrays: three operands, and the condition of selections.
const INPUTS: usize = 4;

type Combination = (Prim, PrimType, PrimType);

/// Compares all primitives of the device, on `count` operands each.
///
/// # Errors
/// Those of the device.
pub fn compare(gpu: &Arc<Gpu>, count: usize) -> Result<Vec<Compared>> {
    let target = gpu.features().target();
    let lacks = |(prim, from, to): Combination| {
        let doubles = from == PrimType::F64 || to == PrimType::F64;
        doubles && target.support(prim, from, to) == PrimSupport::None
    };
    let mut all = combinations();
    all.retain(|&combination| !lacks(combination));
    // Results of one size are stored alike.
    all.sort_by_key(|&(_, from, to)| (from, to));
    let together = TOGETHER.min(gpu.max_arrays().saturating_sub(INPUTS)).max(1);
    let mut compared = Vec::new();
    for of_type in all.chunk_by(|a, b| a.1 == b.1) {
        for batch in of_type.chunks(together) {
            compared.extend(run(gpu, batch, count)?);
        }
    }
    Ok(compared)
}

/// The dtype of arrays of this type.
fn stored(ty: PrimType) -> DType {
    match ty {
        PrimType::Bool => DType::Bool,
        PrimType::I8 => DType::U8,
        PrimType::I16 => DType::U16,
        PrimType::I32 => DType::U32,
        PrimType::I64 => DType::U64,
        PrimType::F32 => DType::F32,
        PrimType::F64 => DType::F64,
    }
}

/// Primitives of one operand type in one kernel.
fn run(gpu: &Arc<Gpu>, batch: &[Combination], count: usize) -> Result<Vec<Compared>> {
    let from = batch[0].1;
    let inputs = [stored(from), stored(from), stored(from), DType::Bool];
    let mut builder = BodyBuilder::new(&inputs.map(|dtype| dtype.storage()[0]));
    let loaded = builder.inputs();
    let zero = builder.int(PrimType::I8, 0);
    let mut truth = |reg: Reg| builder.prim(Prim::Ine, &[reg, zero], None);
    let condition = truth(loaded[3]);
    let operands: Vec<Reg> = match from {
        PrimType::Bool => loaded[..3].iter().map(|&reg| truth(reg)).collect(),
        _ => loaded[..3].to_vec(),
    };
    let mut results = Vec::new();
    for &(prim, from, to) in batch {
        let args = match prim {
            Prim::Select => vec![condition, operands[0], operands[1]],
            _ => operands[..prim.arity()].to_vec(),
        };
        let result = builder.prim(prim, &args, Some(to).filter(|_| prim.converts(from, to)));
        results.push(if to == PrimType::Bool {
            builder.prim(Prim::Mask, &[result], Some(PrimType::I8))
        } else {
            result
        });
    }
    let access = |dtype| Access::memory(dtype, Stride::Contiguous);
    let layout = |dtype: DType| Layout { offset: 0, strides: [dtype.bytes() as isize].into_iter().collect() };
    let outputs: Vec<DType> = batch.iter().map(|&(.., to)| stored(to)).collect();
    let nest = LoopNest {
        rank: 1,
        inputs: inputs.map(access).to_vec(),
        literals: Vec::new(),
        outputs: outputs.iter().copied().map(access).collect(),
        body: LoopBody::Prims { body: builder.finish(&results), hoisted: 0 },
        kind: NestKind::Map,
    };
    let domain = IterationDomain {
        extents: [count].into_iter().collect(),
        inputs: inputs.map(layout).to_vec(),
        outputs: outputs.iter().copied().map(layout).collect(),
    };
    let values = values(from, count);
    let bytes = |n: usize| pack(inputs[n], values.iter().map(|value| value[n]));
    let sizes: Vec<usize> = outputs.iter().map(|dtype| count * dtype.bytes()).collect();
    let given = Arc::clone(gpu).run_nest(&nest, &domain, &[], &[0, 1, 2, 3].map(bytes), &sizes)?;
    let results = batch.iter().zip(&outputs).zip(&given);
    Ok(results.map(|((&combination, &dtype), given)| check(combination, dtype, &values, given)).collect())
}

fn check((prim, from, to): Combination, dtype: DType, values: &[[u64; INPUTS]], given: &[u8]) -> Compared {
    let arguments = |value: &[u64; INPUTS]| match prim {
        Prim::Select => [value[3], value[0], value[1]],
        _ => [value[0], value[1], value[2]],
    };
    let types = match prim {
        Prim::Select => [PrimType::Bool, from, from],
        _ => [from; 3],
    };
    let arity = prim.arity();
    let results = values.iter().map(|value| eval_prim(prim, &types[..arity], to, &arguments(value)[..arity]));
    let expected = pack(dtype, results);
    let name = if prim.converts(from, to) { format!("{prim} {from} {to}") } else { format!("{prim} {from}") };
    let mut compared = Compared::new(name);
    compared.elements(dtype, &expected, given, |n| {
        let words = arguments(&values[n]);
        let words: Vec<String> = words[..arity].iter().map(|word| hex(DType::U64, &word.to_le_bytes())).collect();
        words.join(", ")
    });
    compared
}

fn pack(dtype: DType, words: impl Iterator<Item = u64>) -> Vec<u8> {
    words.flat_map(|word| word.to_le_bytes().into_iter().take(dtype.bytes())).collect()
}

/// Operands: special values; any bits; nearby values, with the product of the others as the third; values of the size of integers,
/// near ties. The last is a condition.
fn values(ty: PrimType, count: usize) -> Vec<[u64; INPUTS]> {
    let mut rng = Rng::new(ty.bits().into());
    let specials = special_words(stored(ty));
    let mut one = |n: usize| {
        let special = |rng: &mut Rng| rng.pick(&specials);
        let any = |rng: &mut Rng| rng.bits() & ty.mask();
        let condition = rng.bits() & 1;
        let [a, b, c] = match n % 4 {
            0 => [specials[n / 4 % specials.len()], special(&mut rng), special(&mut rng)],
            1 => [any(&mut rng), any(&mut rng), any(&mut rng)],
            2 => near(ty, &mut rng),
            _ => [sized(ty, &mut rng), sized(ty, &mut rng), special(&mut rng)],
        };
        [a, b, c, condition]
    };
    (0..count).map(&mut one).collect()
}

/// Number of a float's fraction bits.
fn fraction(ty: PrimType) -> u32 {
    if ty == PrimType::F32 { 23 } else { 52 }
}

fn near(ty: PrimType, rng: &mut Rng) -> [u64; 3] {
    let a = rng.bits() & ty.mask();
    let off = |rng: &mut Rng| (rng.below(5) as u64).wrapping_sub(2);
    if !ty.is_float() {
        return [a, a.wrapping_add(off(rng)) & ty.mask(), rng.bits() & ty.mask()];
    }
    let low = rng.bits() & ((1 << fraction(ty)) - 1);
    let apart = (rng.below(64) as u64).wrapping_sub(32) << fraction(ty);
    let b = (a ^ low).wrapping_add(apart) & ty.mask();
    let product = eval_prim(Prim::Fmul, &[ty; 2], ty, &[a, b]);
    let c = eval_prim(Prim::Fneg, &[ty], ty, &[product]).wrapping_add(off(rng)) & ty.mask();
    // The sum of nearly opposite values.
    [a, if rng.one_in(2) { b } else { (a ^ (1 << (ty.bits() - 1))).wrapping_add(off(rng)) & ty.mask() }, c]
}

fn sized(ty: PrimType, rng: &mut Rng) -> u64 {
    if !ty.is_float() {
        let bits = (rng.bits() & ty.mask()) >> rng.below(ty.bits() as usize);
        let cut = rng.below(ty.bits() as usize);
        let tie = (bits >> cut << cut).wrapping_add(rng.below(3) as u64).wrapping_sub(1);
        return if rng.one_in(2) { tie } else { tie.wrapping_neg() } & ty.mask();
    }
    let bias = (1u64 << (ty.bits() - 2 - fraction(ty))) - 1;
    let exponent = bias - 3 + rng.below(70) as u64;
    let cut = rng.below(fraction(ty) as usize + 1);
    let low = rng.bits() & ((1 << fraction(ty)) - 1);
    (rng.bits() & 1) << (ty.bits() - 1) | exponent << fraction(ty) | low >> cut << cut
}
