//! Exponentials, logarithms, hyperbolic functions and their inverses against correctly rounded references, special cases
//! sentence by sentence of the Array API.

use super::math::{assert_doubles, assert_singles, assert_special, wrong_halves};
use super::support::{Runner, Stream, edges32, edges64, single};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

type Reference32 = fn(f32) -> f32;
type Reference64 = fn(f64) -> f64;

const FUNCTIONS: &[(Op, Reference32, Reference64)] = &[
    (Op::Log1p, core_math::log1pf, core_math::log1p),
    (Op::Expm1, core_math::expm1f, core_math::expm1),
    (Op::Log2, core_math::log2f, core_math::log2),
    (Op::Log10, core_math::log10f, core_math::log10),
    (Op::Exp2, core_math::exp2f, core_math::exp2),
    (Op::Exp10, core_math::exp10f, core_math::exp10),
    (Op::Cosh, core_math::coshf, core_math::cosh),
    (Op::Sinh, core_math::sinhf, core_math::sinh),
    (Op::Asinh, core_math::asinhf, core_math::asinh),
    (Op::Acosh, core_math::acoshf, core_math::acosh),
    (Op::Atanh, core_math::atanhf, core_math::atanh),
];

/// Where results change kind or methods change: ends of the ranges, multiples of `ln 2` and of `log10 2` and odd multiples of their
/// halves, powers of the bases.
fn thresholds() -> impl Iterator<Item = f64> {
    let ends =
        [88.72284, 89.41599, 709.782712893384, 710.4758600739439, 745.1332191019412, 103.97208, 17.32868, 36.7, 1024.0];
    let ends = ends
        .into_iter()
        .chain([
            1075.0,
            1074.5,
            38.5318394,
            308.25471555991674,
            44.8534695,
            45.15449935,
            323.3062153431158,
            323.6072453,
            149.5,
            150.0,
            128.0,
            127.5,
        ])
        .chain([0.5, 1.0, 2f64.powi(30), 2f64.powi(60)]);
    let halves = (1..300).map(|k| f64::from(k) * std::f64::consts::LN_2 / 2.0);
    let halves = halves.chain((1..300).map(|k| f64::from(k) * std::f64::consts::LOG10_2 / 2.0));
    let roots = (1..120).map(|k| 2f64.powf(f64::from(k) / 2.0));
    let powers = (-30..30).map(|k| 10f64.powi(k));
    ends.chain(halves).chain(roots).chain(powers).flat_map(|x| [x, x - 1.0, 1.0 - x, -x])
}

#[test]
fn singles_stay_within_their_bounds() {
    // All exponents with their adjacent floats, thresholds, then a stride through all bit patterns.
    let inputs: Vec<f32> = (0..512u32)
        .flat_map(|e| [-2, -1, 0, 1, 2].map(|d| f32::from_bits((e << 23).wrapping_add_signed(d))))
        .chain((0..=u32::MAX).step_by(4093).map(f32::from_bits))
        .chain(edges32())
        .chain(thresholds().map(|x| x as f32).flat_map(|x| [x, x.next_up(), x.next_down()]))
        .collect();
    for &(op, reference, _) in FUNCTIONS {
        assert_singles(op, &inputs, reference);
    }
}

#[test]
fn doubles_stay_within_their_bounds() {
    let mut stream = Stream(23);
    let mut inputs = edges64();
    inputs.extend(thresholds().flat_map(|x| [x, x.next_up(), x.next_down()]));
    for exponent in 0..2047u64 {
        let bits = exponent << 52;
        inputs.extend([bits.wrapping_sub(1), bits, bits + 1].map(f64::from_bits));
        inputs.extend((0..20).map(|_| f64::from_bits(bits | stream.bits() >> 12 | stream.bits() << 63)));
    }
    for _ in 0..30_000 {
        let unit = 2.0 * stream.unit() - 1.0;
        inputs.extend([
            unit,
            unit / 32.0,
            1.0 + unit / 64.0,
            1.0 + unit.abs(),
            20.0 * unit,
            750.0 * unit,
            1100.0 * unit,
        ]);
    }
    for &(op, _, reference) in FUNCTIONS {
        assert_doubles(op, &inputs, reference);
    }
}

/// The halves at which a function computed in `f32` is so close to a tie that it rounds to the wrong
/// side: 1 ULP off. All others are correctly rounded.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] = &[
    (Op::Log1p, DType::F16, 0.005870819091796875),
    (Op::Log1p, DType::F16, -0.005847930908203125),
    (Op::Expm1, DType::F16, 0.000690460205078125),
    (Op::Log10, DType::F16, 0.2362060546875),
    (Op::Log10, DType::F16, 0.2490234375),
    (Op::Log10, DType::F16, 126.0625),
    (Op::Log10, DType::F16, 2976.0),
    (Op::Log10, DType::F16, 11496.0),
    (Op::Exp2, DType::F16, 0.0007042884826660156),
    (Op::Exp10, DType::Bf16, -0.0181884765625),
    (Op::Cosh, DType::F16, 0.03125),
    (Op::Cosh, DType::F16, -0.03125),
    (Op::Sinh, DType::F16, 2.47265625),
    (Op::Sinh, DType::F16, -2.47265625),
    (Op::Asinh, DType::F16, 0.2105712890625),
    (Op::Asinh, DType::F16, 14.2421875),
    (Op::Asinh, DType::F16, 258.5),
    (Op::Asinh, DType::F16, -0.2105712890625),
    (Op::Asinh, DType::F16, -14.2421875),
    (Op::Asinh, DType::F16, -258.5),
    (Op::Acosh, DType::F16, 1.22265625),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    let wrong: Vec<_> = FUNCTIONS.iter().flat_map(|&(op, _, reference)| wrong_halves(op, reference)).collect();
    assert_eq!(wrong, NOT_CORRECTLY_ROUNDED);
}

#[test]
fn powers_of_the_base_are_exact() {
    let mut run = Runner::default();
    let [exp2, exp10, log2, log10] = [Op::Exp2, Op::Exp10, Op::Log2, Op::Log10].map(|op| body(op, DType::F64));
    let mut double = |made: &ndjit_ir::body::Body, x: f64| f64::from_bits(run.one(made, &[x.to_bits()]));
    for k in -1074..1024 {
        let power = if k < -1022 { f64::from_bits(1 << (k + 1074)) } else { 2f64.powi(k) };
        assert_eq!(double(&exp2, k.into()), power);
        assert_eq!(double(&log2, power), f64::from(k));
    }
    for k in 0..23 {
        assert_eq!(double(&log10, 10f64.powi(k)), f64::from(k));
        assert_eq!(double(&exp10, k.into()), 10f64.powi(k));
    }
    let [exp2, exp10, log2, log10] = [Op::Exp2, Op::Exp10, Op::Log2, Op::Log10].map(|op| body(op, DType::F32));
    let mut single = |made: &ndjit_ir::body::Body, x: f32| single(run.one(made, &[x.to_bits().into()]));
    for k in -149i16..128 {
        let power = 2f64.powi(k.into()) as f32;
        assert_eq!(single(&exp2, k.into()), power);
        assert_eq!(single(&log2, power), f32::from(k));
    }
    for k in 0..11i16 {
        assert_eq!(single(&log10, 10f32.powi(k.into())), f32::from(k));
        assert_eq!(single(&exp10, k.into()), 10f32.powi(k.into()));
    }
}

#[test]
fn special_cases_of_the_array_api() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let any_nan = FUNCTIONS.iter().map(|&(op, ..)| (op, nan, nan, "If x_i is NaN, the result is NaN."));
    let cases = [
        (Op::Log1p, -1.5, nan, "If x_i is less than -1, the result is NaN."),
        (Op::Log1p, -inf, nan, "If x_i is less than -1, the result is NaN."),
        (Op::Log1p, -1.0, -inf, "If x_i is -1, the result is -infinity."),
        (Op::Log1p, -0.0, -0.0, "If x_i is -0, the result is -0."),
        (Op::Log1p, 0.0, 0.0, "If x_i is +0, the result is +0."),
        (Op::Log1p, inf, inf, "If x_i is +infinity, the result is +infinity."),
        (Op::Expm1, 0.0, 0.0, "If x_i is +0, the result is +0."),
        (Op::Expm1, -0.0, -0.0, "If x_i is -0, the result is -0."),
        (Op::Expm1, inf, inf, "If x_i is +infinity, the result is +infinity."),
        (Op::Expm1, -inf, -1.0, "If x_i is -infinity, the result is -1."),
        (Op::Log2, -1.0, nan, "If x_i is less than 0, the result is NaN."),
        (Op::Log2, -inf, nan, "If x_i is less than 0, the result is NaN."),
        (Op::Log2, 0.0, -inf, "If x_i is either +0 or -0, the result is -infinity."),
        (Op::Log2, -0.0, -inf, "If x_i is either +0 or -0, the result is -infinity."),
        (Op::Log2, 1.0, 0.0, "If x_i is 1, the result is +0."),
        (Op::Log2, inf, inf, "If x_i is +infinity, the result is +infinity."),
        (Op::Log10, -1.0, nan, "If x_i is less than 0, the result is NaN."),
        (Op::Log10, -inf, nan, "If x_i is less than 0, the result is NaN."),
        (Op::Log10, 0.0, -inf, "If x_i is either +0 or -0, the result is -infinity."),
        (Op::Log10, -0.0, -inf, "If x_i is either +0 or -0, the result is -infinity."),
        (Op::Log10, 1.0, 0.0, "If x_i is 1, the result is +0."),
        (Op::Log10, inf, inf, "If x_i is +infinity, the result is +infinity."),
        // Not in the standard: like C's exp2 (annex F.10.3.2).
        (Op::Exp2, 0.0, 1.0, "exp2(+-0) returns 1."),
        (Op::Exp2, -0.0, 1.0, "exp2(+-0) returns 1."),
        (Op::Exp2, -inf, 0.0, "exp2(-infinity) returns +0."),
        (Op::Exp2, inf, inf, "exp2(+infinity) returns +infinity."),
        (Op::Exp2, 1e30, inf, "It overflows."),
        (Op::Exp2, -1e30, 0.0, "It underflows."),
        // Not in the standard: like exp2.
        (Op::Exp10, 0.0, 1.0, "10^0."),
        (Op::Exp10, -0.0, 1.0, "10^0."),
        (Op::Exp10, -inf, 0.0, "The limit."),
        (Op::Exp10, inf, inf, "The limit."),
        (Op::Exp10, 1e30, inf, "It overflows."),
        (Op::Exp10, -1e30, 0.0, "It underflows."),
        (Op::Cosh, 0.0, 1.0, "If x_i is +0, the result is 1."),
        (Op::Cosh, -0.0, 1.0, "If x_i is -0, the result is 1."),
        (Op::Cosh, inf, inf, "If x_i is +infinity, the result is +infinity."),
        (Op::Cosh, -inf, inf, "If x_i is -infinity, the result is +infinity."),
        (Op::Sinh, 0.0, 0.0, "If x_i is +0, the result is +0."),
        (Op::Sinh, -0.0, -0.0, "If x_i is -0, the result is -0."),
        (Op::Sinh, inf, inf, "If x_i is +infinity, the result is +infinity."),
        (Op::Sinh, -inf, -inf, "If x_i is -infinity, the result is -infinity."),
        (Op::Asinh, 0.0, 0.0, "If x_i is +0, the result is +0."),
        (Op::Asinh, -0.0, -0.0, "If x_i is -0, the result is -0."),
        (Op::Asinh, inf, inf, "If x_i is +infinity, the result is +infinity."),
        (Op::Asinh, -inf, -inf, "If x_i is -infinity, the result is -infinity."),
        (Op::Acosh, 0.5, nan, "If x_i is less than 1, the result is NaN."),
        (Op::Acosh, -3.0, nan, "If x_i is less than 1, the result is NaN."),
        (Op::Acosh, -inf, nan, "If x_i is less than 1, the result is NaN."),
        (Op::Acosh, 1.0, 0.0, "If x_i is 1, the result is +0."),
        (Op::Acosh, inf, inf, "If x_i is +infinity, the result is +infinity."),
        (Op::Atanh, -2.0, nan, "If x_i is less than -1, the result is NaN."),
        (Op::Atanh, -inf, nan, "If x_i is less than -1, the result is NaN."),
        (Op::Atanh, 2.0, nan, "If x_i is greater than 1, the result is NaN."),
        (Op::Atanh, inf, nan, "If x_i is greater than 1, the result is NaN."),
        (Op::Atanh, -1.0, -inf, "If x_i is -1, the result is -infinity."),
        (Op::Atanh, 1.0, inf, "If x_i is +1, the result is +infinity."),
        (Op::Atanh, 0.0, 0.0, "If x_i is +0, the result is +0."),
        (Op::Atanh, -0.0, -0.0, "If x_i is -0, the result is -0."),
    ];
    for (op, x, expected, sentence) in cases.into_iter().chain(any_nan) {
        assert_special(op, &[x], expected, sentence);
    }
}
