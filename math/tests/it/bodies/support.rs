//! Shared parts of the tests of bodies: running a body, rounding an exact value to a half once, sets of special values.

use ndjit_ir::DType;
use ndjit_ir::body::Body;

/// Runs bodies without allocating per call.
#[derive(Default)]
pub struct Runner {
    regs: Vec<u64>,
}

impl Runner {
    pub fn one(&mut self, body: &Body, inputs: &[u64]) -> u64 {
        body.eval_in(inputs, &mut self.regs);
        self.regs[body.outputs[0].index()]
    }

    pub fn two(&mut self, body: &Body, inputs: &[u64]) -> (u64, u64) {
        body.eval_in(inputs, &mut self.regs);
        (self.regs[body.outputs[0].index()], self.regs[body.outputs[1].index()])
    }
}

/// The value of a half's bits, by the definition of the format.
pub fn half_value(dtype: DType, bits: u16) -> f64 {
    let (mantissa, bias) = if dtype == DType::F16 { (10, 15) } else { (7, 127) };
    let field = i32::from(bits & 0x7fff) >> mantissa;
    let fraction = f64::from(bits & ((1 << mantissa) - 1)) / f64::from(1 << mantissa);
    let magnitude = if field == 2 * bias + 1 {
        if fraction == 0.0 { f64::INFINITY } else { f64::NAN }
    } else if field == 0 {
        fraction * 2f64.powi(1 - bias)
    } else {
        (1.0 + fraction) * 2f64.powi(field - bias)
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The half nearest to `x`, ties to even, as a value: scaled so that halves are integers, then rounded to an integer.
pub fn nearest_half(dtype: DType, x: f64) -> f64 {
    let (mantissa, bias) = if dtype == DType::F16 { (10, 15) } else { (7, 127) };
    if !x.is_finite() || x == 0.0 {
        return x;
    }
    let exponent = (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(1 - bias);
    if exponent > bias {
        return f64::INFINITY.copysign(x);
    }
    let unit = 2f64.powi(exponent - mantissa);
    let rounded = (x / unit).round_ties_even() * unit;
    if rounded.abs() >= 2f64.powi(bias + 1) { f64::INFINITY.copysign(x) } else { rounded }
}

/// `x` and `y` have the same bits, or both are NaN.
pub fn same32(x: f32, y: f32) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

/// `x` and `y` have the same bits, or both are NaN.
pub fn same64(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

/// Register bits of a half whose value is `x`.
pub fn register(x: f64) -> u64 {
    u64::from((x as f32).to_bits())
}

/// The float in a register.
pub fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// A deterministic stream of 64-bit values (SplitMix64).
pub struct Stream(pub u64);

impl Stream {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2f64.powi(53)
    }
}

/// `f32` values: zeros, infinities, NaN, the ends of the ranges, small integers, and powers of two with adjacent floats.
pub fn edges32() -> Vec<f32> {
    let mut values =
        vec![0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 10.0, 0.1, 1e10, 1e-10, 1e30, 1e-30, f32::INFINITY, f32::NAN];
    values.extend([f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::from_bits(0x7f_ffff), f32::from_bits(0x1234)]);
    for exponent in [-126, -64, -24, -1, 10, 23, 24, 31, 32, 63, 100, 127] {
        let bits = 2f32.powi(exponent).to_bits();
        values.extend([bits - 1, bits, bits + 1].map(f32::from_bits));
    }
    values.iter().flat_map(|&v| [v, -v]).collect()
}

/// The same for `f64`.
pub fn edges64() -> Vec<f64> {
    let mut values =
        vec![0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 10.0, 0.1, 1e10, 1e-10, 1e300, 1e-300, f64::INFINITY, f64::NAN];
    values.extend([
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::from_bits((1 << 52) - 1),
        f64::from_bits(0x1234),
    ]);
    for exponent in [-1022, -500, -53, -1, 10, 24, 31, 52, 53, 63, 64, 127, 128, 700, 1023] {
        let bits = 2f64.powi(exponent).to_bits();
        values.extend([bits - 1, bits, bits + 1].map(f64::from_bits));
    }
    values.iter().flat_map(|&v| [v, -v]).collect()
}

/// All exponents of `f32` with their adjacent floats, the edges, and a stride through all bit patterns.
pub fn singles(stride: usize) -> Vec<f32> {
    let boundaries = (0..512u32).flat_map(|e| [-2, -1, 0, 1, 2].map(|d| (e << 23).wrapping_add_signed(d)));
    boundaries.chain((0..=u32::MAX).step_by(stride)).map(f32::from_bits).chain(edges32()).collect()
}

/// All exponents of `f64` with their adjacent floats and `per_exponent` random values, the edges, and `evenly` values
/// between minus and plus each of the `scales`.
pub fn doubles(per_exponent: usize, scales: &[f64], evenly: usize) -> Vec<f64> {
    let mut stream = Stream(29);
    let mut values = edges64();
    for exponent in 0..2047u64 {
        let bits = exponent << 52;
        values.extend([bits.wrapping_sub(1), bits, bits + 1].map(f64::from_bits));
        values.extend((0..per_exponent).map(|_| f64::from_bits(bits | stream.bits() >> 12 | stream.bits() << 63)));
    }
    for scale in scales {
        values.extend((0..evenly).map(|_| scale * (2.0 * stream.unit() - 1.0)));
    }
    values
}
