//! Random operands as a function of their index: every exponent equally often, and the ranges where functions change. Each
//! operand's dtype adds its edge values.

use crate::format::{Format, power_of_two};
use ndjit::DType;
use std::f64::consts::{FRAC_PI_2, PI};

/// The random numbers of one operand or pair: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Draw(u64);

impl Draw {
    pub fn new(index: u64) -> Draw {
        let mut draw = Draw(index);
        Draw(draw.bits())
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Less than `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// Between -1 and 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2f64.powi(52) - 1.0
    }

    /// A power of two between `2^-n` and `2^n`.
    fn scale(&mut self, n: u64) -> f64 {
        power_of_two(self.below(2 * n + 1) as i32 - n as i32)
    }

    /// Any bits: every exponent and sign, seldom infinite or NaN.
    pub fn any(&mut self, format: Format) -> f64 {
        format.decode(self.bits() >> (64 - format.width()))
    }

    /// Finite, of any exponent, also of subnormals.
    fn finite(&mut self, format: Format) -> f64 {
        let x = self.any(format);
        if x.is_finite() { x } else { self.unit() }
    }

    /// In nontrivial ranges of functions, in turn.
    pub fn ranged(&mut self, format: Format, index: u64) -> f64 {
        let unit = self.unit();
        let x = match index % 6 {
            0 => unit,
            1 => 2.0 * unit,
            2 => 30.0 * unit,
            3 => 750.0 * unit,
            4 => 1.0 + unit * power_of_two(-((index / 6 % 40) as i32)),
            _ => unit * power_of_two(-((index / 6 % 60) as i32)),
        };
        format.nearest(x)
    }

    /// An operand of a unary function.
    pub fn one(index: u64, format: Format) -> f64 {
        let mut draw = Draw::new(index);
        if index.is_multiple_of(2) { draw.any(format) } else { draw.ranged(format, index / 2) }
    }

    /// An integer about as large as exponents, seldom much larger.
    pub fn exponent(index: u64, format: Format) -> i32 {
        let mut draw = Draw::new(index);
        let range = f64::from(2 * (format.greatest + format.digits));
        (draw.unit() * if index.is_multiple_of(16) { 1e9 } else { range }) as i32
    }

    /// An order, a mostly small integer, and an operand: in ranges, of any exponent, or near the order.
    pub fn order(index: u64, format: Format) -> [f64; 2] {
        let (mut draw, turn) = (Draw::new(index), index / 8);
        let order = match index % 8 {
            0..=3 => draw.below(4),
            4 | 5 => draw.below(12),
            6 => draw.below(200),
            _ => {
                let bits = draw.below(16);
                draw.below(1 << bits)
            }
        };
        let order = format.nearest(order as f64);
        let x = match turn % 4 {
            0 => draw.ranged(format, turn / 4),
            1 => draw.any(format).abs(),
            2 => (order + 20.0) * (1.0 + draw.unit()) / 2.0,
            // Where large orders give values within the format.
            _ => (order + 1.0) / std::f64::consts::E * (1.0 + draw.unit() * 200.0 / (order + 200.0)),
        };
        [order, format.nearest(x)]
    }

    /// Operands of a binary function: of any exponents; of nearby ones; in ranges; powers within the format; small integers.
    pub fn two(index: u64, format: Format) -> [f64; 2] {
        let (mut draw, turn) = (Draw::new(index), index / 8);
        let pair = match index % 8 {
            0 => [draw.any(format), draw.any(format)],
            1 | 2 => {
                let x = draw.any(format);
                [x, x * draw.scale(format.digits as u64 + 5) * (1.5 + draw.unit() / 2.0)]
            }
            3 => [draw.ranged(format, turn), draw.ranged(format, turn / 6)],
            4 => {
                let x = draw.ranged(format, turn);
                [x, x + x * draw.unit() * power_of_two(-(draw.below(format.digits as u64) as i32))]
            }
            5 | 6 => {
                let x = if index % 8 == 5 { draw.any(format).abs() } else { draw.ranged(format, turn).abs() };
                [x, draw.unit() * 1.05 * f64::from(format.greatest + format.digits) / x.log2()]
            }
            _ => [(20.0 * draw.unit()).round(), (20.0 * draw.unit()).round()],
        };
        pair.map(|x| format.nearest(x))
    }

    /// Operands of a ternary function: products of the size of the addend, which show roundings; otherwise any.
    pub fn three(index: u64, format: Format) -> [f64; 3] {
        let [x, y] = Draw::two(index, format);
        let mut draw = Draw::new(!index);
        let z = match index / 8 % 3 {
            0 => draw.any(format),
            1 => -x * y * (1.0 + draw.unit() * power_of_two(-(draw.below(2 * format.digits as u64) as i32))),
            _ => x * y * draw.scale(2 * format.digits as u64),
        };
        [x, y, format.nearest(z)]
    }

    /// A complex operand: parts of any exponents; of nearby ones; in ranges; near the unit circle, the branch points, the axes
    /// with the branch cuts on them, and the zeros and poles of trigonometric functions. Finite and not zero.
    pub fn complex(index: u64, format: Format) -> [f64; 2] {
        let (mut draw, turn) = (Draw::new(index), index / 8);
        let small = power_of_two(-(draw.below(3 * format.digits as u64) as i32));
        let point = match index % 8 {
            0 => [draw.finite(format), draw.finite(format)],
            1 => {
                let x = draw.finite(format);
                [x, x * draw.scale(12) * draw.unit()]
            }
            2 | 3 => [draw.ranged(format, turn), draw.ranged(format, turn / 6)],
            4 => {
                let (sine, cosine) = (PI * draw.unit()).sin_cos();
                let radius = 1.0 + small * draw.unit();
                [radius * cosine, radius * sine]
            }
            5 => {
                let (x, y) = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)][turn as usize % 4];
                [x + small * draw.unit(), y + small * draw.unit()]
            }
            6 => {
                let (along, off) =
                    (draw.ranged(format, turn), [0.0, small, format.tiny(), small * small][draw.below(4) as usize]);
                let off = off.copysign(draw.unit());
                if turn.is_multiple_of(2) { [along, off] } else { [off, along] }
            }
            _ => {
                let quarter = FRAC_PI_2 * (40.0 * draw.unit()).round();
                let near = [quarter + small * draw.unit(), small * draw.unit()];
                if turn.is_multiple_of(2) { near } else { [near[1], near[0]] }
            }
        };
        let [re, im] = point.map(|x| format.nearest(x).clamp(-format.max(), format.max()));
        if re == 0.0 && im == 0.0 { [1.0, im] } else { [re, im] }
    }

    /// Two complex operands: any two, or of nearby sizes.
    pub fn complex_pair(index: u64, format: Format) -> [f64; 4] {
        let [a, b] = Draw::complex(index, format);
        let mut draw = Draw::new(!index);
        let [c, d] = match index / 8 % 3 {
            0 => Draw::complex(draw.bits(), format),
            1 => [draw.ranged(format, index / 24), draw.ranged(format, index / 24 + 1)],
            _ => [a * (1.0 + draw.unit()), b * (1.0 + draw.unit())],
        };
        let finite = |x: f64| if format.nearest(x).is_finite() { format.nearest(x) } else { 1.0 };
        if c == 0.0 && d == 0.0 { [a, b, 1.0, finite(d)] } else { [a, b, finite(c), finite(d)] }
    }

    /// An integer of any length, often with trailing zeros or ones, where casts tie.
    pub fn integer(index: u64, dtype: DType) -> u64 {
        let mut draw = Draw::new(index);
        let width = 8 * dtype.bytes() as u64;
        let random = draw.bits() >> (64 - width) >> draw.below(width);
        let cut = draw.below(width);
        let tie = random >> cut << cut;
        let near = [random, tie, tie.wrapping_add(1), tie.wrapping_sub(1)][(index % 4) as usize];
        let mask = u64::MAX >> (64 - width);
        if index & 4 == 0 { near & mask } else { near.wrapping_neg() & mask }
    }

    /// A float at the edges of casts: any, in the range of some narrower dtype near a tie, or near a limit.
    pub fn converted(index: u64, format: Format) -> f64 {
        let mut draw = Draw::new(index);
        let x = match index % 4 {
            0 => draw.any(format),
            1 => draw.ranged(format, index / 4),
            2 => draw.unit() * draw.scale(150),
            _ => draw.unit() * draw.scale(66),
        };
        let bits = format.encode(x);
        let cut = draw.below(format.digits as u64 + 1);
        let tie = bits >> cut << cut;
        format.decode([bits, tie | 1 << cut >> 1, tie.wrapping_add(1), tie.wrapping_sub(1)][(index / 4 % 4) as usize])
    }
}

/// Zeros, infinities, NaN, ends of ranges, small values, and powers of two, with the adjacent values.
pub fn edges(format: Format) -> Vec<f64> {
    let mut values = vec![0.0, 1.5, 2.5, 3.0, 7.0, 10.0, 0.1, 1.0 / 3.0, FRAC_PI_2, PI, f64::INFINITY, f64::NAN];
    values.extend([format.max(), format.tiny(), power_of_two(format.least) - format.tiny()]);
    let middle = [format.least / 2, -format.digits, -1, 0, 1, 3, format.digits, format.digits + 1, format.greatest / 2];
    for exponent in middle.into_iter().chain([format.least, 31, 32, 63, 64, format.greatest]) {
        let power = format.nearest(power_of_two(exponent));
        values.extend([format.next(power, false), power, format.next(power, true)]);
    }
    values.iter().flat_map(|&x| [x, -x]).map(|x| format.nearest(x)).collect()
}
