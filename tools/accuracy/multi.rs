//! 256-bit floats with an exponent range beyond all dtypes, and their functions: for references beyond `f64`. Their results are
//! far more exact than the measured ones, but not correctly rounded.
//!
//! A zero operand is represented by `2^-5000` with its sign: it lies on the right side of every branch cut, and results that
//! should be zero are far below the smallest value of any format, with the right sign. An infinite operand is `2^5000`.

use crate::format::{F64, Format, power_of_two};
use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

const BITS: usize = 256;
const ROUND: RoundingMode = RoundingMode::None;
/// The exponent that represents zero.
const ZERO: i32 = -5000;
/// The exponent that represents infinity.
const INFINITE: i32 = 5000;
/// Larger arguments of exponentials and hyperbolic functions exceed all formats; the library's own range ends a little further.
const LIMIT: f64 = 1e5;

thread_local! {
    /// Cached constants of the library.
    static CONSTANTS: RefCell<Option<Consts>> = RefCell::new(Consts::new().ok());
}

/// A number.
#[derive(Clone, Debug)]
pub struct Real(BigFloat);

/// A complex number.
pub type Complex = [Real; 2];

fn with(f: impl FnOnce(&mut Consts) -> BigFloat) -> Real {
    CONSTANTS.with_borrow_mut(|constants| Real(constants.as_mut().map_or(BigFloat::nan(None), f)))
}

impl From<f64> for Real {
    fn from(x: f64) -> Real {
        if x == 0.0 {
            let mut zero = BigFloat::from_f64(1f64.copysign(x), BITS);
            zero.set_exponent(ZERO + 1);
            return Real(zero);
        }
        if x.is_infinite() {
            let mut large = BigFloat::from_f64(1f64.copysign(x), BITS);
            large.set_exponent(INFINITE + 1);
            return Real(large);
        }
        if x.abs() >= f64::MIN_POSITIVE {
            return Real(BigFloat::from_f64(x, BITS));
        }
        // The library halves subnormal values.
        let mut scaled = BigFloat::from_f64(x * power_of_two(60), BITS);
        scaled.set_exponent(scaled.exponent().unwrap_or_default() - 60);
        Real(scaled)
    }
}

macro_rules! operators {
    ($($trait:ident $name:ident;)*) => {$(
        impl $trait<&Real> for &Real {
            type Output = Real;
            fn $name(self, other: &Real) -> Real {
                Real(self.0.$name(&other.0, BITS, ROUND))
            }
        }
        impl $trait<Real> for &Real {
            type Output = Real;
            fn $name(self, other: Real) -> Real {
                $trait::$name(self, &other)
            }
        }
        impl $trait<&Real> for Real {
            type Output = Real;
            fn $name(self, other: &Real) -> Real {
                $trait::$name(&self, other)
            }
        }
        impl $trait<Real> for Real {
            type Output = Real;
            fn $name(self, other: Real) -> Real {
                $trait::$name(&self, &other)
            }
        }
        impl $trait<f64> for &Real {
            type Output = Real;
            fn $name(self, other: f64) -> Real {
                $trait::$name(self, &Real::from(other))
            }
        }
        impl $trait<f64> for Real {
            type Output = Real;
            fn $name(self, other: f64) -> Real {
                $trait::$name(&self, &Real::from(other))
            }
        }
    )*};
}

operators! { Add add; Sub sub; Mul mul; Div div; }

impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real(BigFloat::neg(&self.0))
    }
}

impl Neg for Real {
    type Output = Real;
    fn neg(self) -> Real {
        -&self
    }
}

macro_rules! functions {
    ($($name:ident)*) => {$(
        pub fn $name(&self) -> Real {
            with(|constants| self.0.$name(BITS, ROUND, constants))
        }
    )*};
}

impl Real {
    functions! { sin cos tan asin acos atan tanh asinh acosh atanh ln log2 log10 }

    pub fn pi() -> Real {
        with(|constants| constants.pi(BITS, ROUND))
    }

    pub fn ln_2() -> Real {
        with(|constants| constants.ln_2(BITS, ROUND))
    }

    pub fn ln_10() -> Real {
        with(|constants| constants.ln_10(BITS, ROUND))
    }

    pub fn sqrt(&self) -> Real {
        Real(self.0.sqrt(BITS, ROUND))
    }

    pub fn cbrt(&self) -> Real {
        Real(self.0.cbrt(BITS, ROUND))
    }

    pub fn rsqrt(&self) -> Real {
        Real::from(1.0) / self.sqrt()
    }

    pub fn abs(&self) -> Real {
        Real(self.0.abs())
    }

    pub fn is_negative(&self) -> bool {
        self.0.is_negative()
    }

    /// Whether the magnitude is larger.
    pub fn exceeds(&self, other: &Real) -> bool {
        // The library's `abs_cmp` does not ignore signs.
        self.0.abs().cmp(&other.0.abs()).is_some_and(|order| order > 0)
    }

    /// Limited to the range of exponentials.
    fn limited(&self) -> Real {
        Real(self.0.clamp(&Real::from(-LIMIT).0, &Real::from(LIMIT).0))
    }

    pub fn exp(&self) -> Real {
        with(|constants| self.limited().0.exp(BITS, ROUND, constants))
    }

    pub fn sinh(&self) -> Real {
        with(|constants| self.limited().0.sinh(BITS, ROUND, constants))
    }

    pub fn cosh(&self) -> Real {
        with(|constants| self.limited().0.cosh(BITS, ROUND, constants))
    }

    pub fn exp_m1(&self) -> Real {
        let half = self / 2.0;
        half.sinh() * half.exp() * 2.0
    }

    /// `ln(1 + x)`.
    pub fn ln_1p(&self) -> Real {
        if self.exceeds(&Real::from(power_of_two(-100))) {
            return (self + 1.0).ln();
        }
        // The next term is below 2^-300 of the result.
        self - self * self / 2.0 + self * self * self / 3.0
    }

    pub fn exp2(&self) -> Real {
        (self * Real::ln_2()).exp()
    }

    pub fn powf(&self, y: &Real) -> Real {
        let power = (self.abs().ln() * y).exp();
        let odd = y.0.is_int() && !(y / 2.0).0.is_int();
        if self.is_negative() && odd { -power } else { power }
    }

    /// `self * 2^n` for an integer `n`.
    pub fn scaled(&self, n: &Real) -> Real {
        let mut scaled = self.0.clone();
        scaled.set_exponent(self.exponent() + 1 + n.nearest(F64).clamp(-9e3, 9e3) as i32);
        Real(scaled)
    }

    /// The angle of the point `(x, self)`.
    pub fn atan2(&self, x: &Real) -> Real {
        let (y, steep) = (self, self.exceeds(x));
        let base = if steep { -(x / y).atan() } else { (y / x).atan() };
        let turn = match (steep, x.is_negative()) {
            (true, _) => Real::pi() / 2.0,
            (false, true) => Real::pi(),
            (false, false) => return base,
        };
        if y.is_negative() { base - turn } else { base + turn }
    }

    /// The nearest value of a format.
    pub fn nearest(&self, format: Format) -> f64 {
        let Some((words, _, sign, exponent, _)) = self.0.as_raw_parts() else { return f64::NAN };
        let sign = if sign == Sign::Neg { -1.0 } else { 1.0 };
        // The value is 0.1… times 2^exponent.
        let kept = (i64::from(exponent) - i64::from(format.least) + i64::from(format.digits))
            .min(i64::from(format.digits) + 1);
        let top = words.last().copied().unwrap_or_default();
        let more = words.iter().rev().skip(1).any(|&word| word != 0);
        if kept < 0 || top == 0 {
            return 0f64.copysign(sign);
        }
        if i64::from(exponent) > i64::from(F64.greatest) + 1 {
            return f64::INFINITY.copysign(sign);
        }
        // The kept bits, the one after them, and whether there are more.
        let kept = kept as u32;
        let (head, rest) = if kept == 0 { (0, top) } else { (top >> (64 - kept), top << kept) };
        let half = 1 << 63;
        let up = rest > half || rest == half && (more || head & 1 == 1);
        let last = exponent - kept as i32;
        let value = (head + u64::from(up)) as f64;
        // Both factors are exact; if the product is not finite, neither is the value.
        let value =
            if last > 900 { value * power_of_two(900) * power_of_two(last - 900) } else { value * power_of_two(last) };
        if value > format.max() { f64::INFINITY.copysign(sign) } else { value.copysign(sign) }
    }

    /// The exponent of the first bit; `ZERO` for a zero.
    pub fn exponent(&self) -> i32 {
        self.0.exponent().map_or(ZERO, |exponent| exponent - 1)
    }

    /// The value in units of `2^unit`.
    pub fn in_units(&self, unit: i32) -> f64 {
        let mut scaled = self.0.clone();
        if scaled.is_zero() {
            return 0.0;
        }
        scaled.set_exponent(self.exponent() + 1 - unit);
        Real(scaled).nearest(F64)
    }
}

#[cfg(test)]
mod tests;
