//! Tests of a device's IEEE-754 conformance.
//!
//! Each probe runs a small body, compiled for a conforming device, on operands of common failures, and compares with the
//! interpreter's [definition](ndjit_ir::body::eval_prim) of its primitives.

use super::device::Gpu;
use crate::devices::backend::Backend;
use ndjit_codegen::wgsl::Features;
use ndjit_ir::body::{BodyBuilder, Prim, eval_prim};
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, Stride};
use ndjit_ir::{DType, ErrorCode, PrimType, Result};
use smallvec::smallvec;
use std::sync::Arc;

/// Operands per probe: each first operand with each of the others.
const OPERANDS: usize = 4096;

/// The features of a device: its claims, as far as probes confirm them.
///
/// # Errors
/// `Device` if it fails.
pub fn features(gpu: &Arc<Gpu>) -> Result<Features> {
    let mut features = gpu.features();
    let single = |prims: &[Prim], subnormals: bool| agrees(gpu, DType::F32, prims, subnormals);
    features.division = single(&[Prim::Fdiv], false)?;
    features.sqrt = single(&[Prim::Fsqrt], false)?;
    features.fma = single(&[Prim::Fma], false)?;
    features.subnormals = true;
    for prims in
        [&[Prim::Fadd][..], &[Prim::Fmul], &[Prim::Fdiv], &[Prim::Ffloor], &[Prim::Flt], &[Prim::Fsub, Prim::Fmul]]
    {
        // Division of subnormals is probed only if other divisions are right.
        let counts = features.division || prims != [Prim::Fdiv];
        features.subnormals &= !counts || single(prims, true)?;
    }
    features.as_written &= single(&[Prim::Fadd, Prim::Fsub], false)? && single(&[Prim::Fmul, Prim::Fadd], false)?;
    if features.float64 {
        let double = |prims: &[Prim]| match agrees(gpu, DType::F64, prims, true) {
            // Code that its compiler refuses is unsupported.
            Err(error) if error.code() == ErrorCode::Backend => Ok(false),
            answer => answer,
        };
        for prims in [&[Prim::Fadd][..], &[Prim::Fmul], &[Prim::Fdiv], &[Prim::Fsqrt], &[Prim::Fadd, Prim::Fsub]] {
            features.float64 &= double(prims)?;
        }
        features.fma &= double(&[Prim::Fma])?;
    }
    Ok(features)
}

/// Whether a device agrees with the interpreter on a chain of primitives: the first on the operands `a`, `b`, `c`, each other
/// on the previous result, `a` and constants.
fn agrees(gpu: &Arc<Gpu>, dtype: DType, prims: &[Prim], subnormals: bool) -> Result<bool> {
    let ty = dtype.storage()[0];
    let truths = prims.last() == Some(&Prim::Flt);
    let mut builder = BodyBuilder::new(&[ty; 3]);
    let inputs = builder.inputs();
    let mut value = builder.prim(prims[0], &inputs[..prims[0].arity()], None);
    for &prim in &prims[1..] {
        value = builder.prim(prim, &[value, inputs[0]], None);
    }
    if truths {
        value = builder.prim(Prim::Mask, &[value], Some(PrimType::I32));
    }
    let body = builder.finish(&[value]);
    let to = if truths { DType::U32 } else { dtype };
    let access = |dtype| Access::memory(dtype, Stride::Contiguous);
    let nest = LoopNest {
        rank: 1,
        inputs: vec![access(dtype); 3],
        literals: Vec::new(),
        outputs: vec![access(to)],
        body: LoopBody::Prims { body, hoisted: 0 },
        kind: NestKind::Map,
    };
    let layout = |dtype: DType| Layout { offset: 0, strides: smallvec![dtype.bytes() as isize] };
    let domain =
        IterationDomain { extents: smallvec![OPERANDS], inputs: vec![layout(dtype); 3], outputs: vec![layout(to)] };
    let operands: Vec<[u64; 3]> = operands(ty, subnormals);
    let bytes = |n: usize| -> Vec<u8> {
        operands.iter().flat_map(|o| o[n].to_le_bytes().into_iter().take(dtype.bytes())).collect()
    };
    let inputs = [0, 1, 2].map(bytes);
    let results = Arc::clone(gpu).run_nest(&nest, &domain, &[], &inputs, &[OPERANDS * to.bytes()])?;
    let results = results.into_iter().next().unwrap_or_default();
    Ok(operands.iter().zip(results.chunks(to.bytes())).all(|(operands, result)| {
        let count = prims[0].arity();
        let mut expected = eval_prim(prims[0], &[ty; 3][..count], ty, &operands[..count]);
        for &prim in &prims[1..] {
            expected = eval_prim(prim, &[ty; 2], ty, &[expected, operands[0]]);
        }
        let mut bits = [0; 8];
        bits[..to.bytes()].copy_from_slice(result);
        let given = u64::from_le_bytes(bits);
        expected == given || (is_nan(to, expected) && is_nan(to, given))
    }))
}

fn is_nan(dtype: DType, bits: u64) -> bool {
    match dtype {
        DType::F32 => f32::from_bits(bits as u32).is_nan(),
        DType::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// Bits of operands: random ones of nearby exponents, special values, and on request subnormal results.
fn operands(ty: PrimType, subnormals: bool) -> Vec<[u64; 3]> {
    // Knuth's linear congruential generator (TAOCP 3.3.4, MMIX).
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 11
    };
    let wide = ty == PrimType::F64;
    let (fraction, bias) = if wide { (52, 1023u64) } else { (23, 127) };
    let special = [0, 1 << (fraction + if wide { 11 } else { 8 }), bias << fraction, (2 * bias + 1) << fraction];
    let mut one = |n: usize, which: usize| {
        let bits = next();
        let sign = (bits & 1) << (fraction + if wide { 11 } else { 8 });
        let exponent = match subnormals {
            // The quotient, the product, or the sum and the difference of the first two are subnormal, as are some operands.
            true if which == 0 || n.is_multiple_of(2) => bits >> 1 & if n.is_multiple_of(4) { 1 } else { 31 },
            true => bias + (bits >> 1 & 15),
            false => bias - 20 + (bits >> 1 & 31),
        };
        match n % 64 {
            // Subnormals only would not test normal operands.
            k if k < special.len() && which == n / 64 % 3 => special[k],
            _ => sign | exponent << fraction | next() & ((1 << fraction) - 1),
        }
    };
    (0..OPERANDS).map(|n| [one(n, 0), one(n, 1), one(n, 2)]).collect()
}
