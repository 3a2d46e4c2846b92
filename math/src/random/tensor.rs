//! Random arrays: a third special values, a third small round ones, a third any bits.

use super::Rng;
use crate::interp::Tensor;
use half::{bf16, f16};
use ndjit_ir::dtype::{DType, Kind};
use ndjit_ir::error::Result;
use ndjit_ir::shape::Shape;

/// An array of random elements.
///
/// # Errors
/// As [`Tensor::zeros`].
pub fn tensor(rng: &mut Rng, dtype: DType, shape: Shape) -> Result<Tensor> {
    let part = dtype.real();
    let specials = special_words(part);
    let words = dtype.storage().len();
    Tensor::from_words(dtype, shape, |_| (0..words).map(|_| word(rng, part, &specials)).collect::<Vec<u64>>())
}

fn word(rng: &mut Rng, dtype: DType, specials: &[u64]) -> u64 {
    match rng.below(3) {
        0 => rng.pick(specials),
        1 => small(dtype, rng.below(33) as i8 - 16),
        // Bool has two bit patterns, both of them special.
        _ if dtype == DType::Bool => rng.pick(specials),
        _ => rng.bits() & mask(dtype),
    }
}

/// Special storage words of a real dtype: zeros of both signs, the least and greatest values and
/// their adjacent ones, subnormals, infinities, NaNs, ties of rounding, powers of two and their adjacent ones, limits of other
/// dtypes, multiples of π/4.
pub fn special_words(dtype: DType) -> Vec<u64> {
    let mut words = match dtype.kind() {
        Kind::Bool => vec![0, 1],
        Kind::UInt | Kind::Int => int_words(dtype),
        Kind::Float | Kind::Complex => float_words(dtype.real()),
    };
    words.sort_unstable();
    words.dedup();
    words
}

fn int_words(dtype: DType) -> Vec<u64> {
    let mut words = Vec::new();
    for bit in 0..8 * dtype.bytes() as u32 {
        let power = 1u64 << bit;
        for value in [power, power - 1, power + 1, power.wrapping_neg(), !power, power.wrapping_neg().wrapping_add(1)] {
            words.push(value & mask(dtype));
        }
    }
    words.extend([3, 5, 7, 10, 100].iter().map(|&n: &u64| n & mask(dtype)));
    words.extend([3, 5, 7, 10, 100].iter().map(|&n: &u64| n.wrapping_neg() & mask(dtype)));
    words
}

fn float_words(dtype: DType) -> Vec<u64> {
    let sign = 1u64 << (8 * dtype.bytes() - 1);
    let infinity: u64 = match dtype {
        DType::Bf16 => 0x7f80,
        DType::F16 => 0x7c00,
        DType::F32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    };
    // The lowest exponent bit: the least normal number.
    let normal = infinity & infinity.wrapping_neg();
    let quiet = normal >> 1;
    let mut words = vec![
        0,
        1,
        2,
        quiet,
        normal - 1,
        normal,
        normal + 1,
        2 * normal,
        infinity - 1,
        infinity - 2,
        infinity,
        infinity + 1,
        infinity | quiet,
        sign - 1,
    ];
    let pi = std::f64::consts::PI;
    let mut values = vec![
        0.1,
        0.25,
        1.0 / 3.0,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        3.5,
        4.5,
        5.0,
        7.0,
        10.0,
        88.0,
        89.0,
        104.0,
        127.0,
        127.5,
        128.0,
        255.0,
        255.5,
        256.0,
        709.0,
        710.0,
        745.0,
        2047.0,
        2049.0,
        32767.5,
        65504.0,
        65519.0,
        65520.0,
        1e10,
        1e-10,
        1e30,
        1e-30,
        1e300,
        1e-300,
    ];
    values.extend((1..=8).map(|n| f64::from(n) * pi / 4.0));
    for exponent in [-24, -15, -14, -1, 7, 8, 15, 16, 23, 24, 25, 31, 32, 52, 53, 63, 64, 127] {
        values.extend([1.0, 1.0 - f64::EPSILON / 2.0, 1.0 + f64::EPSILON].map(|m| m * 2f64.powi(exponent)));
    }
    words.extend(values.into_iter().map(|value| float_word(dtype, value)));
    // The values adjacent to 1 and 2 in the format itself.
    for value in [1.0, 2.0] {
        let word = float_word(dtype, value);
        words.extend([word - 1, word + 1]);
    }
    let negative: Vec<u64> = words.iter().map(|word| word | sign).collect();
    words.extend(negative);
    words
}

/// The value as a storage word of a float dtype.
fn float_word(dtype: DType, value: f64) -> u64 {
    match dtype {
        DType::Bf16 => bf16::from_f64(value).to_bits().into(),
        DType::F16 => f16::from_f64(value).to_bits().into(),
        DType::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// A small number, a half of it for floats.
fn small(dtype: DType, value: i8) -> u64 {
    match dtype.kind() {
        Kind::Bool => u64::from(value & 1 == 1),
        Kind::UInt | Kind::Int => i64::from(value) as u64 & mask(dtype),
        Kind::Float | Kind::Complex => float_word(dtype, f64::from(value) / 2.0),
    }
}

/// The bits of one storage word.
fn mask(dtype: DType) -> u64 {
    dtype.storage().first().map_or(u64::MAX, |word| word.mask())
}
