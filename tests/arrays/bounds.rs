//! Error bounds of inexact results.

use crate::call::Case;
use crate::data::parts;
use crate::expect::numbers;
use ndjit::DType;
use ndjit_math::interp::Tensor;

/// Whether an inexact element is within its bound of the expected one.
pub fn near(case: &Case, got: &Tensor, at: usize, text: &str, scale: Option<f64>) -> bool {
    if !(got.dtype.is_float() || got.dtype.is_complex()) {
        return false;
    }
    let (own, expected) = (parts(got, at), numbers(text));
    let [real, imaginary] = expected.map(|part| if part.is_finite() { part } else { 0.0 });
    let modulus = real.hypot(imaginary);
    let within = bound(case, got.dtype, modulus, scale);
    // Values that round to infinity, and non-finite parts, have no distance.
    let close = |(own, expected): (f64, f64)| {
        own == expected
            || own.is_nan() && expected.is_nan()
            || own == rounded(got.dtype.real(), expected)
            || (own - expected).abs() <= within
    };
    own.into_iter().zip(expected).all(close)
}

/// A value rounded to a dtype.
fn rounded(dtype: DType, number: f64) -> f64 {
    match dtype {
        DType::F16 => half::f16::from_f64(number).to_f64(),
        DType::Bf16 => half::bf16::from_f64(number).to_f64(),
        DType::F32 => f64::from(number as f32),
        _ => number,
    }
}

/// Half an ULP of 1.
fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::Bf16 => 2f64.powi(-8),
        DType::F16 => 2f64.powi(-11),
        DType::F64 => 2f64.powi(-53),
        _ => 2f64.powi(-24),
    }
}

/// The error bound of a result with this modulus, from the modules `reductions`, `scans` and `contractions` of the public API.
fn bound(case: &Case, dtype: DType, modulus: f64, scale: Option<f64>) -> f64 {
    let (n, scale) = (case.count() as f64, scale.unwrap_or(0.0));
    let (real, complex) = (dtype.real(), dtype.is_complex());
    let own_unit = unit(real);
    let u = unit(if real.is_half() { DType::F32 } else { real });
    // For integers the cast rounds as well.
    let converted = if case.dtypes[0].is_int() { 1.0 } else { 0.0 };
    let blocks = (n.max(1.0) / 1024.0).log2() + converted;
    // A complex product may be off by more than a real one.
    let product = if complex { 5f64.sqrt() } else { 1.0 };
    let own = match case.function.as_str() {
        "sum" => (68.0 + blocks) * u * scale,
        "trace" => (68.0 + blocks) * u * scale,
        // A complex product rounds three times.
        "matmul" | "vecdot" | "tensordot" | "outer" | "kron" | "einsum" => {
            let steps = (case.shapes.len() as f64 - 1.0).max(1.0);
            steps * (if complex { 71.0 } else { 69.0 } + blocks) * u * scale
        }
        "mean" => (68.0 + blocks) * u * scale / n + u * modulus,
        "prod" => product * (n - 1.0).max(0.0) * u * modulus,
        "var" => variance(74.0 + blocks, u, modulus, scale),
        "std" => {
            let square = modulus * modulus;
            let off = variance(74.0 + blocks, u, square, scale);
            ((square + off).sqrt() - modulus).max(modulus - (square - off).max(0.0).sqrt()) + u * modulus
        }
        "logsumexp" => (71.0 + blocks) * u * scale + (1.0 + 3.0 * converted) * u * modulus,
        "norm" => (36.0 + (blocks + converted) / 2.0) * u * modulus,
        "vector_norm" => norm(case, dtype, modulus, 68.0 + blocks, u),
        "cumulative_sum" => (n.min(1024.0) - 1.0 + n / 1024.0 + converted) * u * scale,
        "cumulative_prod" => product * (n - 1.0 + n * converted) * u * modulus,
        // The means of adjacent elements round in the operand's dtype, as do their distance and the product.
        "trapezoid" if case.has_positions() => {
            let distances = if case.dtypes[0].is_half() { unit(case.dtypes[0]) } else { own_unit };
            (68.0 + 2.0 * blocks) * u * scale + (2.0 * own_unit + distances) * scale
        }
        // Both elements may round before.
        "median" | "quantile" => (3.0 + converted) * u * scale,
        "trapezoid" => (69.0 + blocks) * u * scale + own_unit * (scale + modulus),
        _ => return 0.0,
    };
    // A half is rounded once more; the smallest values of `f16` are 2^-24 apart. Bounds are to first order.
    let rounding = if real.is_half() { own_unit * modulus + 2f64.powi(-25) } else { 0.0 };
    own * 1.01 + rounding
}

/// The bound of a variance; `squares` is the sum of squares over the divisor.
fn variance(c: f64, u: f64, variance: f64, squares: f64) -> f64 {
    c * u * variance + (c * u).powi(2) * squares
}

/// The bound of a norm whose sum has a relative error of `c u`.
fn norm(case: &Case, dtype: DType, modulus: f64, c: f64, u: f64) -> f64 {
    // The modulus of a complex element rounds.
    let moduli = if dtype == case.dtypes[0].real() && case.dtypes[0].is_complex() { 2.0 } else { 0.0 };
    match case.order {
        0.0 => 0.0,
        1.0 => (c + moduli) * u * modulus,
        2.0 => (c / 2.0 + 2.0) * u * modulus,
        p if p.is_infinite() => moduli * u * modulus,
        p => {
            // A power may be off by an ULP; sum and powers round in the operand's dtype, as does 1 / p, whose relative error is
            // multiplied by the root's logarithm.
            let own = unit(dtype);
            let sum = c * u + (3.0 + moduli * p.abs()) * own;
            (sum / p.abs() + (modulus.ln().abs() + 2.0) * own) * modulus
        }
    }
}
