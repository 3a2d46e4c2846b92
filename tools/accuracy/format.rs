//! The four float formats by definition: decoding, encoding, and correct rounding. It is independent of the measured code;
//! every value of a format is an `f64`.

use ndjit::DType;

/// A float format. A finite value is a multiple of `2^(exponent - digits)`, its exponent between `least` and `greatest`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    pub dtype: DType,
    pub digits: i32,
    pub least: i32,
    pub greatest: i32,
}

const fn format(dtype: DType, digits: i32, greatest: i32) -> Format {
    Format { dtype, digits, least: 1 - greatest, greatest }
}

pub const F64: Format = format(DType::F64, 52, 1023);
pub const FORMATS: [Format; 4] =
    [format(DType::F16, 10, 15), format(DType::Bf16, 7, 127), format(DType::F32, 23, 127), F64];

/// The exponent of a value; below that of `f64`'s smallest normal value for subnormals and zero, 1024 for non-finite
/// values.
fn exponent(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// `2^exponent`, exact also for subnormals, unlike `powi`.
pub fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        ..-1022 => f64::from_bits(1 << (exponent + 1074)),
        _ => f64::from_bits(((exponent + 1023) as u64) << 52),
    }
}

impl Format {
    /// The format of a float dtype, or of the parts of a complex one.
    pub fn of(dtype: DType) -> Option<Format> {
        FORMATS.into_iter().find(|format| format.dtype == dtype.real())
    }

    /// The width of the format in bits.
    pub fn width(self) -> u32 {
        8 * self.dtype.bytes() as u32
    }

    /// The value of some bits; all NaNs are equal.
    pub fn decode(self, bits: u64) -> f64 {
        let sign = bits >> (self.width() - 1) & 1;
        let magnitude = bits & ((1 << (self.width() - 1)) - 1);
        let infinity = ((self.greatest - self.least + 2) as u64) << self.digits;
        let value = match magnitude {
            m if m > infinity => return f64::NAN,
            m if m == infinity => f64::INFINITY,
            // The bits at their place in an f64, whose exponent field has another bias.
            m => f64::from_bits(m << (52 - self.digits)) * power_of_two(F64.greatest - self.greatest),
        };
        f64::from_bits(value.to_bits() | sign << 63)
    }

    /// The bits of the nearest value.
    pub fn encode(self, x: f64) -> u64 {
        let (x, sign) = (self.nearest(x), u64::from(x.is_sign_negative()) << (self.width() - 1));
        let infinity = ((self.greatest - self.least + 2) as u64) << self.digits;
        let magnitude = match x.abs() {
            m if m.is_nan() => return infinity | 1 << (self.digits - 1),
            f64::INFINITY => infinity,
            m => (m * power_of_two(self.greatest - F64.greatest)).to_bits() >> (52 - self.digits),
        };
        magnitude | sign
    }

    /// The nearest value, ties to even.
    pub fn nearest(self, x: f64) -> f64 {
        if self == F64 || !x.is_finite() {
            return x;
        }
        let exponent = exponent(x).max(self.least);
        if exponent > self.greatest {
            return f64::INFINITY.copysign(x);
        }
        // Adding a value whose last digit is the format's rounds there.
        let large = power_of_two(exponent - self.digits + F64.digits);
        let rounded = (x.abs() + large) - large;
        if rounded > self.max() { f64::INFINITY.copysign(x) } else { rounded.copysign(x) }
    }

    /// The largest finite number.
    pub fn max(self) -> f64 {
        power_of_two(self.greatest) * (2.0 - power_of_two(-self.digits))
    }

    /// The smallest positive value.
    pub fn tiny(self) -> f64 {
        power_of_two(self.least - self.digits)
    }

    /// The distance of adjacent values around a value.
    pub fn ulp(self, x: f64) -> f64 {
        power_of_two(self.last_place(x))
    }

    /// The exponent of that distance.
    pub fn last_place(self, x: f64) -> i32 {
        exponent(x).clamp(self.least, self.greatest) - self.digits
    }

    /// The value after a finite one, towards greater magnitude or zero.
    pub fn next(self, x: f64, outwards: bool) -> f64 {
        match (x.abs() == 0.0, outwards) {
            (true, _) => self.tiny().copysign(x),
            (_, true) => self.nearest(x + self.ulp(x).copysign(x)),
            // Below a power of two values are twice as dense.
            (_, false) => {
                let normal = x.abs() > power_of_two(self.least);
                let power = x.to_bits().trailing_zeros() >= 52;
                let step = if normal && power { self.ulp(x) / 2.0 } else { self.ulp(x) };
                // The smallest value is followed by the zero of its sign.
                (x - step.copysign(x)).copysign(x)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_itself() {
        for bits in 0..=u16::MAX {
            for format in &FORMATS[..2] {
                let x = format.decode(bits.into());
                let crates = if format.digits == 10 {
                    half::f16::from_bits(bits).to_f64()
                } else {
                    half::bf16::from_bits(bits).to_f64()
                };
                assert!(
                    x.to_bits() == crates.to_bits() || x.is_nan() && crates.is_nan(),
                    "{bits:#x}: {x:e} {crates:e}"
                );
                assert!(x.is_nan() || format.encode(x) == u64::from(bits), "{bits:#x}");
                // Just below and above the midpoint to the next value.
                let next = format.next(x, true);
                if next.is_finite() && x.is_finite() {
                    let middle = x + (next - x) / 2.0;
                    let even = if bits % 2 == 0 { x } else { next };
                    let nearest = [x, middle, middle.next_down(), middle.next_up()].map(|x| format.nearest(x));
                    let sides = if x.is_sign_negative() { [next, x] } else { [x, next] };
                    assert_eq!(nearest, [x, even, sides[0], sides[1]], "{x:e} {next:e}");
                    assert_eq!(format.next(next, false).to_bits(), x.to_bits(), "{next:e}");
                }
            }
        }
    }

    #[test]
    fn singles_are_rounded_as_the_language_does() {
        let single = FORMATS[2];
        for i in 0..2_000_000u64 {
            let bits = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let x = f64::from_bits(bits % (1 << 62) / 7 + 0x3680_0000_0000_0000);
            assert_eq!(single.nearest(x), f64::from(x as f32), "{x:e}");
            let bits = bits as u32;
            let value = f64::from(f32::from_bits(bits));
            assert!(value.is_nan() || single.decode(bits.into()).to_bits() == value.to_bits(), "{bits:#x}");
            assert!(value.is_nan() || single.encode(value) == u64::from(bits), "{bits:#x}");
        }
    }

    #[test]
    fn ends_of_the_ranges() {
        for format in FORMATS {
            assert_eq!(format.next(format.max(), true), f64::INFINITY);
            assert_eq!(format.decode(1), format.tiny());
            assert_eq!(format.next(format.tiny(), false), 0.0);
            assert_eq!(format.next(-0.0, true), -format.tiny());
        }
        let half = FORMATS[0];
        assert_eq!([65519.99, 65520.0].map(|x| half.nearest(x)), [65504.0, f64::INFINITY]);
        assert_eq!(half.nearest(-1e-30).to_bits(), (-0.0f64).to_bits());
    }
}
