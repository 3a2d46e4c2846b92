//! Shared parts of the tests of complex bodies: running a body on complex numbers, the error of a part, exact values from files.
//!
//! A line of a file is `op dtype operands = parts`, every part of an operand as the bits of its float in hexadecimal. A part of
//! the exact result is the bits of the nearest `f64`; for c128 then a sign and how many hundredths of a unit in the last place
//! of it the exact value lies beyond it. `vectors/complex_vectors.py` writes the files in multi-precision arithmetic.

use super::support::Runner;
use ndjit_ir::DType;
use ndjit_ir::body::Body;
use ndjit_ir::op::Op;
use ndjit_math::body;
use num_complex::Complex64;

/// The register bits of a part.
pub fn bits(dtype: DType, x: f64) -> u64 {
    if dtype == DType::C64 { u64::from((x as f32).to_bits()) } else { x.to_bits() }
}

/// The part in a register.
pub fn value(dtype: DType, bits: u64) -> f64 {
    if dtype == DType::C64 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) }
}

/// Runs a complex op on complex operands; a real result has imaginary part 0.
pub fn run(runner: &mut Runner, op: Op, dtype: DType, operands: &[Complex64]) -> Complex64 {
    let made = body(op, dtype);
    evaluate(runner, &made, dtype, operands)
}

/// Like [`run`], with a given body.
pub fn evaluate(runner: &mut Runner, made: &Body, dtype: DType, operands: &[Complex64]) -> Complex64 {
    let inputs: Vec<u64> = operands.iter().flat_map(|z| [bits(dtype, z.re), bits(dtype, z.im)]).collect();
    if made.outputs.len() == 1 {
        return Complex64::new(value(dtype, runner.one(made, &inputs)), 0.0);
    }
    let (re, im) = runner.two(made, &inputs);
    Complex64::new(value(dtype, re), value(dtype, im))
}

/// A part of an exact result: the nearest `f64` and the rest, in units in the last place of it.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    pub nearest: f64,
    pub rest: f64,
}

/// The unit in the last place of a part's dtype at `x`.
pub fn unit(dtype: DType, x: f64) -> f64 {
    let (mantissa, least) = if dtype == DType::C64 { (23, -126) } else { (52, -1022) };
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).clamp(least, 1023);
    // The smallest is a subnormal number.
    2f64.powi(exponent) * 2f64.powi(-mantissa)
}

impl Exact {
    /// The distance of `got` in units in the last place; infinite for a wrong NaN or infinity.
    pub fn error(self, dtype: DType, got: f64) -> f64 {
        let overflow = dtype == DType::C64 && self.nearest.abs() >= f64::from(f32::MAX) * (1.0 + 2f64.powi(-25));
        let expected = if overflow { f64::INFINITY.copysign(self.nearest) } else { self.nearest };
        if got == expected || got.is_nan() && expected.is_nan() {
            return if expected.is_finite() { self.rest.abs() } else { 0.0 };
        }
        if !got.is_finite() || !expected.is_finite() {
            return f64::INFINITY;
        }
        // Both halves are finite even if the difference is not.
        let off = (got / 2.0 - expected / 2.0) / unit(dtype, expected) * 2.0;
        (off - self.rest).abs()
    }
}

/// One line of a file.
#[derive(Clone, Debug)]
pub struct Vector {
    pub op: Op,
    pub dtype: DType,
    pub operands: Vec<Complex64>,
    pub parts: [Exact; 2],
}

/// All lines of a file, without comments, which start with `#`.
pub fn vectors(text: &str) -> impl Iterator<Item = Vector> {
    text.lines().filter(|line| !line.starts_with('#')).map(vector)
}

fn vector(line: &str) -> Vector {
    let (left, right) = line.split_once(" = ").expect("operands = parts");
    let mut words = left.split(' ');
    let op = words.next().and_then(|name| name.parse().ok()).expect("an op");
    let dtype = words.next().and_then(|name| name.parse().ok()).expect("a dtype");
    let hex = |word: &str| u64::from_str_radix(word, 16).expect("hexadecimal");
    let numbers: Vec<f64> = words.map(|word| value(dtype, hex(word))).collect();
    let operands = numbers.chunks(2).map(|z| Complex64::new(z[0], z[1])).collect();
    let exact = |word: &str| Exact {
        nearest: f64::from_bits(hex(&word[..16])),
        rest: word[16..].parse().map_or(0.0, |hundredths: f64| hundredths / 100.0),
    };
    let (re, im) = right.split_once(' ').expect("two parts");
    Vector { op, dtype, operands, parts: [exact(re), exact(im)] }
}

/// The largest error among vectors, and its place.
#[derive(Clone, Debug)]
pub struct Worst {
    pub error: f64,
    pub at: String,
    pub count: usize,
}

/// Runs all vectors of an op; `error` is the distance of a result from the exact one.
pub fn worst(text: &str, op: Op, dtype: DType, error: fn(&Vector, Complex64) -> f64) -> Worst {
    let mut runner = Runner::default();
    let made = body(op, dtype);
    let mut worst = Worst { error: 0.0, at: String::new(), count: 0 };
    for vector in vectors(text).filter(|v| v.op == op && v.dtype == dtype) {
        let got = evaluate(&mut runner, &made, dtype, &vector.operands);
        let off = error(&vector, got);
        worst.count += 1;
        if off > worst.error {
            worst.error = off;
            worst.at = format!("{:?} gives {got:e}, not {:?}", vector.operands, vector.parts);
        }
    }
    worst
}

/// The larger error of the two parts.
pub fn of_parts(vector: &Vector, got: Complex64) -> f64 {
    let [re, im] = vector.parts;
    re.error(vector.dtype, got.re).max(im.error(vector.dtype, got.im))
}

/// Like [`of_parts`], in units in the last place of the larger part of the result.
pub fn of_the_larger_part(vector: &Vector, got: Complex64) -> f64 {
    let [re, im] = vector.parts;
    let large = re.nearest.abs().max(im.nearest.abs());
    let relative = |exact: Exact, got: f64| {
        let off = exact.error(vector.dtype, got);
        if off.is_finite() { off * (unit(vector.dtype, exact.nearest) / unit(vector.dtype, large)) } else { off }
    };
    relative(re, got.re).max(relative(im, got.im))
}
