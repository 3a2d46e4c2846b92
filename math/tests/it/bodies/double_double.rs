//! Unrounded sums of two `f64`, accurate to about 2^-98: references for functions without a correctly rounded library. The
//! methods are those of textbooks (Dekker, Knuth; Taylor series, Halley's iteration), not the bodies'.

/// The sum of a float and a correction of at most half its last place.
#[derive(Clone, Copy, Debug)]
pub struct Dd(pub f64, pub f64);

pub const LN_2: Dd = Dd(std::f64::consts::LN_2, 2.3190468138462996e-17);
pub const PI: Dd = Dd(std::f64::consts::PI, 1.2246467991473532e-16);

fn sum(x: f64, y: f64) -> Dd {
    let s = x + y;
    let part = s - x;
    Dd(s, (x - (s - part)) + (y - part))
}

impl From<f64> for Dd {
    fn from(x: f64) -> Dd {
        Dd(x, 0.0)
    }
}

impl std::ops::Add for Dd {
    type Output = Dd;
    fn add(self, other: Dd) -> Dd {
        let (high, low) = (sum(self.0, other.0), sum(self.1, other.1));
        let high = sum(high.0, high.1 + low.0);
        sum(high.0, high.1 + low.1)
    }
}

impl std::ops::Neg for Dd {
    type Output = Dd;
    fn neg(self) -> Dd {
        Dd(-self.0, -self.1)
    }
}

impl std::ops::Sub for Dd {
    type Output = Dd;
    fn sub(self, other: Dd) -> Dd {
        self + -other
    }
}

impl std::ops::Mul for Dd {
    type Output = Dd;
    fn mul(self, other: Dd) -> Dd {
        let high = self.0 * other.0;
        let error = self.0.mul_add(other.0, -high);
        sum(high, error + (self.0 * other.1 + self.1 * other.0))
    }
}

impl std::ops::Div for Dd {
    type Output = Dd;
    fn div(self, other: Dd) -> Dd {
        let first = self.0 / other.0;
        let rest = self - Dd(first, 0.0) * other;
        let second = rest.0 / other.0;
        let rest = rest - Dd(second, 0.0) * other;
        sum(first, second) + Dd(rest.0 / other.0, 0.0)
    }
}

impl Dd {
    /// Times a power of two in the range of the format.
    pub fn scaled(self, exponent: i32) -> Dd {
        let factor = 2f64.powi(exponent);
        Dd(self.0 * factor, self.1 * factor)
    }

    /// The nearest `f64` to `self 2^exponent`, also where it is subnormal.
    pub fn rounded(self, exponent: i32) -> f64 {
        // In units of the smallest subnormal, where that is a last place.
        let units = exponent + 1074;
        if units > 900 || (self.0.abs() * 2f64.powi(units.max(-1000))).abs() >= 2f64.powi(53) {
            return self.0 * 2f64.powi(exponent.max(-1000)) * 2f64.powi(exponent.min(-1000) + 1000);
        }
        let Dd(high, low) = self.scaled(units.max(-1000));
        let whole = high.round_ties_even();
        let tie = (high - high.floor()) == 0.5 && low != 0.0;
        let whole = if tie && low > 0.0 {
            high.floor() + 1.0
        } else if tie {
            high.floor()
        } else {
            whole
        };
        whole * f64::from_bits(1)
    }

    /// `e` to this power as a number near 1 and an exponent of two.
    pub fn exp(self) -> (Dd, i32) {
        let k = (self.0 / LN_2.0).round();
        let r = (self - Dd(k, 0.0) * LN_2).scaled(-4);
        let one = Dd(1.0, 0.0);
        let series = (1..22).rev().fold(one, |sum, n| one + r * sum / Dd(f64::from(n), 0.0));
        ((0..4).fold(series, |power, _| power * power), k as i32)
    }

    /// `log(1 + self)` for values from 0 to 1.
    pub fn log1p(self) -> Dd {
        if self.0 < 1e-4 {
            let series = (1..9).rev().fold(Dd(0.0, 0.0), |sum, n| Dd(1.0, 0.0) / Dd(f64::from(n), 0.0) - self * sum);
            return self * series;
        }
        let about = Dd(self.0.ln_1p(), 0.0);
        let (power, exponent) = about.exp();
        let (power, value) = (power.scaled(exponent), self + Dd(1.0, 0.0));
        about + (value - power).scaled(1) / (value + power)
    }

    /// Newton's iteration from the root of the first part.
    pub fn sqrt(self) -> Dd {
        let root = Dd(self.0.sqrt(), 0.0);
        (root + self / root).scaled(-1)
    }

    /// The upper tail of the normal distribution at this value, not negative, as a number and an exponent of two: near 0 a series
    /// of positive terms is taken from 1/2, beyond there is a continued fraction (Abramowitz and Stegun 26.2.11 and 26.2.14).
    pub fn normal_tail(self) -> (Dd, i32) {
        let square = self * self;
        let (power, exponent) = (-square.scaled(-1)).exp();
        let density = power / PI.scaled(1).sqrt();
        if self.0 < 4.0 {
            let one = Dd(1.0, 0.0);
            let series = (1..100).rev().fold(one, |sum, n| one + square * sum / Dd(f64::from(2 * n + 1), 0.0));
            return (Dd(0.5, 0.0) - density.scaled(exponent) * self * series, 0);
        }
        (density / (1..150).rev().fold(self, |rest, n| self + Dd(f64::from(n), 0.0) / rest), exponent)
    }

    /// `sin(pi self)` for values from 0 to 1/2.
    pub fn sin_pi(self) -> Dd {
        let x = self * PI;
        let square = x * x;
        let one = Dd(1.0, 0.0);
        x * (1..16).rev().fold(one, |sum, n| one - square * sum / Dd(f64::from(2 * n * (2 * n + 1)), 0.0))
    }
}
