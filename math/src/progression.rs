//! The elements of `arange` and `linspace`: their number and values, before rounding to a dtype.
//!
//! The rules are the Array API's ([arange], [linspace]); where it does not specify the arithmetic, the formulas here are the
//! definition. Integers are exact.
//!
//! [arange]: https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.arange.html
//! [linspace]: https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.linspace.html

use ndjit_ir::DType;
use ndjit_ir::error::{Error, ErrorCode, Result};
use ndjit_ir::literal::LiteralValue;

/// A sequence of evenly spaced numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progression {
    len: usize,
    terms: Terms,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Terms {
    Int { start: i128, step: i128 },
    Inexact { first: LiteralValue, last: Option<LiteralValue>, re: LinearFormula, im: Option<LinearFormula> },
}

impl Progression {
    /// The numbers `start + i * step` from `start` on, up to but not including `stop`: `ceil((stop - start) / step)` of them,
    /// or none if that is negative.
    ///
    /// Integers and bool are counted and computed exactly. If one number is a float, all are taken as `f64`, and each operation of
    /// both formulas rounds to `f64`, so the last number may be `stop` if `step` is rounded, like in NumPy. If `stop - start` or
    /// `i * step` overflows, all numbers are halved for the computation. A quotient that underflows counts `start`, like in NumPy, also for
    /// an infinite step in the direction of `stop`.
    ///
    /// ```
    /// use ndjit_ir::LiteralValue;
    /// use ndjit_math::progression::Progression;
    /// let down = Progression::arange(5.into(), 0.into(), (-2).into())?;
    /// let numbers: Vec<LiteralValue> = (0..down.len()).map(|i| down.at(i)).collect();
    /// assert_eq!(numbers, [5.into(), 3.into(), 1.into()]);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `DType` for complex numbers; `Size` if the step is 0, or if the count is not a number or larger than memory.
    pub fn arange(start: LiteralValue, stop: LiteralValue, step: LiteralValue) -> Result<Progression> {
        let (len, terms) = match (int(start), int(stop), int(step)) {
            (Some(start), Some(stop), Some(step)) => (count_ints(start, stop, step), Terms::Int { start, step }),
            _ => match (real(start), real(stop), real(step)) {
                (Some(start), Some(stop), Some(step)) => {
                    let len = count_floats(start, stop, step);
                    let line = LinearFormula::by_steps(start, step, len.unwrap_or(0));
                    let first = LiteralValue::Float(start);
                    (len, Terms::Inexact { first, last: None, re: line, im: None })
                }
                _ => return Err(unordered(start, stop, step)),
            },
        };
        if real(step) == Some(0.0) {
            return Err(Error::new(ErrorCode::Size, format!("the step from {start} to {stop} is 0"))
                .of("arange")
                .help("give the step a value other than 0, negative to count down"));
        }
        let numbers = [start, stop, step].map(real);
        if numbers.iter().flatten().any(|number| number.is_nan()) {
            return Err(Error::new(ErrorCode::Size, "NaN is not a number to count from, to or by")
                .of("arange")
                .fact(format_args!("start {start}, stop {stop}, step {step}"))
                .help("give numbers; `x.len()` and `x.shape()` say how many elements an array has"));
        }
        let len = len.ok_or_else(|| {
            let help = "the length is ceil((stop - start) / step), which must be a number that memory can hold";
            Error::new(ErrorCode::Size, format!("no array can hold the numbers from {start} to {stop}"))
                .of("arange")
                .fact(format_args!("step: {step}"))
                .help(help)
        })?;
        Ok(Progression { len, terms })
    }

    /// `len` numbers from `start` to `stop`, evenly spaced; without `stop` itself unless `endpoint` is set. The number of spaces
    /// between them is `len - 1` or `len`.
    ///
    /// With `spaces` of them, number `i` is `start + i * ((stop - start) / spaces)`, each operation rounded to `f64`; but the
    /// first is exactly `start`, and with `endpoint` the last exactly `stop`. If `stop - start` overflows, steps are counted from
    /// the middle: `(start + stop) / 2 + (i - spaces / 2) * step`. If the step is subnormal, all numbers are scaled by 2^200 for the
    /// computation. Real and imaginary parts are computed separately. The parts of finite numbers are monotone (for fewer than 2^50 of
    /// them), also when rounded to a narrower dtype.
    pub fn linspace(start: LiteralValue, stop: LiteralValue, len: usize, endpoint: bool) -> Progression {
        let spaces = if endpoint { len.saturating_sub(1) } else { len };
        let ((start_re, start_im), (stop_re, stop_im)) = (parts(start), parts(stop));
        let complex = matches!(start, LiteralValue::Complex(..)) || matches!(stop, LiteralValue::Complex(..));
        let terms = Terms::Inexact {
            first: start,
            last: (endpoint && spaces > 0).then_some(stop),
            re: LinearFormula::between(start_re, stop_re, spaces),
            im: complex.then(|| LinearFormula::between(start_im, stop_im, spaces)),
        };
        Progression { len, terms }
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The formula of the elements; `None` for complex ones.
    pub fn rule(&self) -> Option<ProgressionRule> {
        match self.terms {
            Terms::Int { start, step } => Some(ProgressionRule::Int { start, step }),
            Terms::Inexact { first, last, re: LinearFormula { start, shift, step, scale }, im: None } => {
                Some(ProgressionRule::Float { first, last, start, shift, step, scale })
            }
            Terms::Inexact { im: Some(_), .. } => None,
        }
    }

    /// Writes the numbers from number `first` on into memory, as elements of `dtype` on this host: those which [`at`](Self::at) gives,
    /// rounded, which all fit the dtype. Returns `false` without writing for dtypes and numbers that take a conversion each. (One
    /// conversion after another takes 50 ns an element, this half a nanosecond.)
    ///
    /// ```
    /// use ndjit_ir::DType;
    /// use ndjit_math::progression::Progression;
    /// let halves = Progression::arange(0.into(), 2.into(), 0.5.into())?;
    /// let mut bytes = [0; 8];
    /// assert!(halves.write(DType::F32, 2, &mut bytes));
    /// assert_eq!(bytes, [1.0f32.to_ne_bytes(), 1.5f32.to_ne_bytes()].concat()[..]);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    pub fn write(&self, dtype: DType, first: usize, bytes: &mut [u8]) -> bool {
        match (self.terms, dtype) {
            (Terms::Int { start, step }, _) if dtype.is_int() => {
                // Modulo 2^64, of which an integer has the last bits.
                let (start, step) = (start as u64, step as u64);
                let number = |i: usize| start.wrapping_add(step.wrapping_mul(i as u64));
                match dtype.bytes() {
                    1 => each(bytes, first, |i| (number(i) as u8).to_ne_bytes()),
                    2 => each(bytes, first, |i| (number(i) as u16).to_ne_bytes()),
                    4 => each(bytes, first, |i| (number(i) as u32).to_ne_bytes()),
                    _ => each(bytes, first, |i| number(i).to_ne_bytes()),
                }
            }
            (Terms::Int { start, step }, DType::F32 | DType::F64) => {
                let way = step.saturating_mul(self.len as i128);
                let (Ok(start), Ok(step), Ok(_), Ok(_)) = (
                    i64::try_from(start),
                    i64::try_from(step),
                    i64::try_from(way),
                    i64::try_from(start.saturating_add(way)),
                ) else {
                    return false;
                };
                let number = |i: usize| start.wrapping_add(step.wrapping_mul(i as i64));
                match dtype {
                    DType::F32 => each(bytes, first, |i| (number(i) as f32).to_ne_bytes()),
                    _ => each(bytes, first, |i| (number(i) as f64).to_ne_bytes()),
                }
            }
            // The ends are not of the formula.
            (Terms::Inexact { first: start, last, re, im: None }, DType::F32 | DType::F64) => {
                let (Some(start), Some(stop)) = (exact(start), exact(last.unwrap_or(start))) else { return false };
                let last = last.and_then(|_| Some((self.len.checked_sub(1)?, stop)));
                let number = |i: usize| match last {
                    _ if i == 0 => start,
                    Some((end, stop)) if i == end => stop,
                    _ => re.at(i),
                };
                match dtype {
                    DType::F32 => each(bytes, first, |i| (number(i) as f32).to_ne_bytes()),
                    _ => each(bytes, first, |i| number(i).to_ne_bytes()),
                }
            }
            _ => return false,
        }
        true
    }

    /// Number `i`, counted from 0, for `i` below the length.
    pub fn at(&self, i: usize) -> LiteralValue {
        match self.terms {
            // In range for every index below the length, like start and stop.
            Terms::Int { start, step } => {
                LiteralValue::Int(start.saturating_add(step.saturating_mul(i128::try_from(i).unwrap_or(i128::MAX))))
            }
            Terms::Inexact { first, .. } if i == 0 => first,
            Terms::Inexact { last: Some(last), .. } if i + 1 == self.len => last,
            Terms::Inexact { re, im: None, .. } => LiteralValue::Float(re.at(i)),
            Terms::Inexact { re, im: Some(im), .. } => LiteralValue::Complex(re.at(i), im.at(i)),
        }
    }
}

/// Writes the element of each index from `first` on.
fn each<const N: usize>(bytes: &mut [u8], first: usize, element: impl Fn(usize) -> [u8; N]) {
    for (n, cell) in bytes.chunks_exact_mut(N).enumerate() {
        cell.copy_from_slice(&element(first + n));
    }
}

/// The formula of a progression's elements by their index `i`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProgressionRule {
    /// `start + i * step`, exactly.
    Int {
        /// The first number.
        start: i128,
        /// The step.
        step: i128,
    },
    /// `(start + (i - shift) * step) * scale`, each operation rounded to `f64`, except for the first number and, if set, the last.
    Float {
        /// Number 0.
        first: LiteralValue,
        /// The last number, if set.
        last: Option<LiteralValue>,
        /// See the formula.
        start: f64,
        /// A multiple of 1/2; mostly 0.
        shift: f64,
        /// See the formula.
        step: f64,
        /// A power of two; mostly 1.
        scale: f64,
    },
}

/// `(start + (i - shift) * step) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LinearFormula {
    start: f64,
    shift: f64,
    step: f64,
    scale: f64,
}

impl LinearFormula {
    fn by_steps(start: f64, step: f64, len: usize) -> LinearFormula {
        let way = len.saturating_sub(1) as f64 * step;
        // Halving is exact where it matters: what overflows, overflows by a large step.
        let scale = if step.is_finite() && way.is_infinite() { 2.0 } else { 1.0 };
        LinearFormula { start: start / scale, shift: 0.0, step: step / scale, scale }
    }

    fn between(start: f64, stop: f64, spaces: usize) -> LinearFormula {
        let spaces = spaces.max(1) as f64;
        let (way, finite) = (stop - start, start.is_finite() && stop.is_finite());
        if finite && way.is_infinite() {
            // Halving is exact: both numbers are large. From the middle no product is beyond the ends.
            let (start, stop) = (start / 2.0, stop / 2.0);
            return LinearFormula {
                start: start + stop,
                shift: spaces / 2.0,
                // With one space the ends are all numbers.
                step: if spaces > 1.0 { (stop - start) / spaces * 2.0 } else { 0.0 },
                scale: 1.0,
            };
        }
        // A step without all digits is so small beside 2^53 spaces that start and stop are small, too.
        let short = finite && way != 0.0 && (way / spaces).abs() < f64::MIN_POSITIVE;
        let scale = if short { SMALL } else { 1.0 };
        let (start, stop) = (start / scale, stop / scale);
        LinearFormula { start, shift: 0.0, step: (stop - start) / spaces, scale }
    }

    fn at(self, i: usize) -> f64 {
        (self.start + (i as f64 - self.shift) * self.step) * self.scale
    }
}

/// 2^-200, by which numbers are scaled whose differences are not normal.
const SMALL: f64 = f64::from_bits((1023 - 200) << 52);

/// `ceil((stop - start) / step)`, not below 0; `None` if no memory holds as many.
fn count_ints(start: i128, stop: i128, step: i128) -> Option<usize> {
    let span = stop.checked_sub(start)?;
    if span == 0 || (span > 0) != (step > 0) {
        return Some(0);
    }
    let whole = span.checked_div(step)?;
    let rest = span.checked_rem(step)?;
    usize::try_from(whole.checked_add(i128::from(rest != 0))?).ok()
}

fn count_floats(start: f64, stop: f64, step: f64) -> Option<usize> {
    let overflows = start.is_finite() && stop.is_finite() && (stop - start).is_infinite();
    // Halving is exact where it matters: of numbers that large, and of a step that counts fewer of them than memory holds.
    let scale = if overflows { 2.0 } else { 1.0 };
    let way = stop / scale - start / scale;
    let count = way / (step / scale);
    match count.ceil() {
        // It underflowed: the step is longer than the way.
        _ if count == 0.0 && way != 0.0 => Some(usize::from(count.is_sign_positive())),
        count if count.is_nan() || count >= isize::MAX as f64 => None,
        count => Some(count.max(0.0) as usize),
    }
}

fn int(value: LiteralValue) -> Option<i128> {
    match value {
        LiteralValue::Bool(b) => Some(i128::from(b)),
        LiteralValue::Int(n) => Some(n),
        LiteralValue::Float(_) | LiteralValue::Complex(..) => None,
    }
}

/// The number as `f64`, if that does not round it.
fn exact(value: LiteralValue) -> Option<f64> {
    match value {
        LiteralValue::Int(n) if i128::from(n as i64) != n || (n as i64).unsigned_abs() > 1 << 53 => None,
        _ => real(value),
    }
}

fn real(value: LiteralValue) -> Option<f64> {
    match value {
        LiteralValue::Complex(..) => None,
        _ => Some(parts(value).0),
    }
}

fn parts(value: LiteralValue) -> (f64, f64) {
    match value {
        LiteralValue::Bool(b) => (f64::from(u8::from(b)), 0.0),
        LiteralValue::Int(n) => (n as f64, 0.0),
        LiteralValue::Float(x) => (x, 0.0),
        LiteralValue::Complex(re, im) => (re, im),
    }
}

fn unordered(start: LiteralValue, stop: LiteralValue, step: LiteralValue) -> Error {
    Error::new(ErrorCode::DType, "complex numbers have no order to count in")
        .of("arange")
        .fact(format_args!("start {start}, stop {stop}, step {step}"))
        .help("`linspace` goes from one complex number to another")
}
