//! The sign of a NaN is not specified, so no result may depend on it: every op on special values, with each NaN once plus and
//! once minus.

use super::support::{Runner, same32, same64};
use ndjit_ir::PrimType;
use ndjit_ir::op::Op;
use ndjit_math::body;

/// Values of a float register: zeros, ordinary and infinite numbers, and a NaN last.
fn specials(ty: PrimType) -> Vec<u64> {
    let values = [0.0, -0.0, 0.5, -1.0, 2.0, -3.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    match ty {
        PrimType::F32 => values.iter().map(|&x| u64::from((x as f32).to_bits())).collect(),
        _ => values.iter().map(|x| x.to_bits()).collect(),
    }
}

fn is_nan(ty: PrimType, bits: u64) -> bool {
    match ty {
        PrimType::F32 => f32::from_bits(bits as u32).is_nan(),
        PrimType::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

fn same(ty: PrimType, a: u64, b: u64) -> bool {
    match ty {
        PrimType::F32 => same32(f32::from_bits(a as u32), f32::from_bits(b as u32)),
        PrimType::F64 => same64(f64::from_bits(a), f64::from_bits(b)),
        _ => a == b,
    }
}

#[test]
fn the_sign_of_a_nan_decides_nothing() {
    let mut runner = Runner::default();
    let mut compared = 0;
    for op in Op::ALL {
        for dtype in op.row().domain.iter().filter(|dtype| dtype.is_float() || dtype.is_complex()) {
            let body = body(op, dtype);
            let types: Vec<PrimType> =
                (0..op.arity()).flat_map(|i| op.operand_dtype(i, dtype).repr().to_vec()).collect();
            let choices: Vec<Vec<u64>> =
                types.iter().map(|&ty| if ty.is_float() { specials(ty) } else { vec![1] }).collect();
            let count: usize = choices.iter().map(Vec::len).product();
            // Six parts of a complex mul_add have too many combinations: take every 17th.
            for n in (0..count).step_by(if count > 100_000 { 17 } else { 1 }) {
                let mut rest = n;
                let pick = |values: &Vec<u64>| {
                    let value = values[rest % values.len()];
                    rest /= values.len();
                    value
                };
                let inputs: Vec<u64> = choices.iter().map(pick).collect();
                let nans: Vec<usize> = (0..inputs.len()).filter(|&i| is_nan(types[i], inputs[i])).collect();
                let results: Vec<(PrimType, u64)> = outputs(&mut runner, &body, &inputs);
                for &nan in &nans {
                    let mut negated = inputs.clone();
                    negated[nan] ^= 1 << (types[nan].bits() - 1);
                    for (i, (&(ty, a), (_, b))) in results.iter().zip(outputs(&mut runner, &body, &negated)).enumerate()
                    {
                        assert!(same(ty, a, b), "{op} {dtype} of {inputs:x?}: output {i} is {a:x}, with -NaN {b:x}");
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100_000, "{compared}");
}

fn outputs(runner: &mut Runner, body: &ndjit_ir::body::Body, inputs: &[u64]) -> Vec<(PrimType, u64)> {
    let types: Vec<PrimType> = body.output_types().collect();
    match types[..] {
        [ty] => vec![(ty, runner.one(body, inputs))],
        [re, im] => {
            let (a, b) = runner.two(body, inputs);
            vec![(re, a), (im, b)]
        }
        _ => panic!("a body with {} outputs", types.len()),
    }
}
