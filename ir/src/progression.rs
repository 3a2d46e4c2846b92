//! The elements of `arange` and `linspace`: how many there are and what each one is, before rounding to a dtype.
//!
//! The rules are the Array API's ([arange], [linspace]); where it leaves the arithmetic open, the formulas here are the
//! definition. Integers are exact. Nothing here chooses a dtype, or allocates.
//!
//! [arange]: https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.arange.html
//! [linspace]: https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.linspace.html

use crate::error::{Error, ErrorCode, Result};
use crate::literal::LiteralValue;

/// A sequence of evenly spaced numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progression {
    len: usize,
    terms: Terms,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Terms {
    Int { start: i128, step: i128 },
    Float { start: f64, step: f64 },
    Between { first: LiteralValue, last: Option<LiteralValue>, re: Line, im: Option<Line> },
}

impl Progression {
    /// The numbers `start + i * step` from `start` on, up to but not including `stop`: `ceil((stop - start) / step)` of them,
    /// or none if that is negative.
    ///
    /// Integers and bool are counted and computed exactly. If one number is a float, all are taken as `f64`, and each operation of
    /// both formulas rounds to `f64`; so the last number may be `stop` where `step` is rounded, as it is in NumPy.
    ///
    /// ```
    /// use ndjit_ir::LiteralValue;
    /// use ndjit_ir::progression::Progression;
    /// let down = Progression::arange(5.into(), 0.into(), (-2).into())?;
    /// let numbers: Vec<LiteralValue> = (0..down.len()).map(|i| down.at(i)).collect();
    /// assert_eq!(numbers, [5.into(), 3.into(), 1.into()]);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `DType` for complex numbers; `Size` if the step is 0, or if the count is not a number or larger than memory.
    pub fn arange(start: LiteralValue, stop: LiteralValue, step: LiteralValue) -> Result<Progression> {
        let terms = match (int(start), int(stop), int(step)) {
            (Some(start), Some(_), Some(step)) => Terms::Int { start, step },
            _ => match (real(start), real(step)) {
                (Some(start), Some(step)) => Terms::Float { start, step },
                _ => return Err(unordered(start, stop, step)),
            },
        };
        if real(step) == Some(0.0) {
            return Err(Error::new(ErrorCode::Size, format!("arange: the step from {start} to {stop} is 0"))
                .help("give the step a value other than 0, negative to count down"));
        }
        let len = match terms {
            Terms::Int { start, step } => int(stop).and_then(|stop| count_ints(start, stop, step)),
            _ => match (real(start), real(stop), real(step)) {
                (Some(start), Some(stop), Some(step)) => count_floats(start, stop, step),
                _ => return Err(unordered(start, stop, step)),
            },
        };
        let numbers = [start, stop, step].map(real);
        if numbers.iter().flatten().any(|number| number.is_nan()) {
            return Err(Error::new(ErrorCode::Size, "arange: NaN is no number to count from, to or by")
                .fact(format_args!("start {start}, stop {stop}, step {step}"))
                .help("give numbers; `x.len()` and `x.shape()` say how many elements an array has"));
        }
        let len = len.ok_or_else(|| {
            let help = "the length is ceil((stop - start) / step), which must be a number that memory can hold";
            Error::new(ErrorCode::Size, format!("arange: no array can hold the numbers from {start} to {stop}"))
                .fact(format_args!("step: {step}"))
                .help(help)
        })?;
        Ok(Progression { len, terms })
    }

    /// `len` numbers from `start` to `stop`, evenly spaced; without `stop` itself unless `endpoint` is set, so that the spaces
    /// between them are `len - 1` or `len`.
    ///
    /// With `spaces` of them, number `i` is `start + i * ((stop - start) / spaces)`, each operation rounded to `f64`; but the
    /// first is exactly `start`, and with `endpoint` the last exactly `stop`. Where `stop - start` overflows, all numbers are halved
    /// for the computation. Real and imaginary parts are computed apart. The parts of finite numbers are monotone (for fewer than 2^50 of them), and
    /// stay so when rounded to a narrower dtype.
    pub fn linspace(start: LiteralValue, stop: LiteralValue, len: usize, endpoint: bool) -> Progression {
        let spaces = if endpoint { len.saturating_sub(1) } else { len };
        let ((start_re, start_im), (stop_re, stop_im)) = (parts(start), parts(stop));
        let complex = matches!(start, LiteralValue::Complex(..)) || matches!(stop, LiteralValue::Complex(..));
        let terms = Terms::Between {
            first: start,
            last: (endpoint && spaces > 0).then_some(stop),
            re: Line::new(start_re, stop_re, spaces),
            im: complex.then(|| Line::new(start_im, stop_im, spaces)),
        };
        Progression { len, terms }
    }

    /// How many numbers there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How the numbers are computed; `None` of complex ones.
    pub fn rule(&self) -> Option<Rule> {
        match self.terms {
            Terms::Int { start, step } => Some(Rule::Int { start, step }),
            Terms::Float { start, step } => {
                Some(Rule::Float { first: LiteralValue::Float(start), last: None, start, step, scale: 1.0 })
            }
            Terms::Between { first, last, re: Line { start, step, scale }, im: None } => {
                Some(Rule::Float { first, last, start, step, scale })
            }
            Terms::Between { im: Some(_), .. } => None,
        }
    }

    /// Number `i`, counted from 0, for `i` below the length.
    pub fn at(&self, i: usize) -> LiteralValue {
        match self.terms {
            // In range for every index below the length, as start and stop are.
            Terms::Int { start, step } => {
                LiteralValue::Int(start.saturating_add(step.saturating_mul(i128::try_from(i).unwrap_or(i128::MAX))))
            }
            Terms::Float { start, .. } if i == 0 => LiteralValue::Float(start),
            Terms::Float { start, step } => LiteralValue::Float(start + i as f64 * step),
            Terms::Between { first, .. } if i == 0 => first,
            Terms::Between { last: Some(last), .. } if i + 1 == self.len => last,
            Terms::Between { re, im: None, .. } => LiteralValue::Float(re.at(i)),
            Terms::Between { re, im: Some(im), .. } => LiteralValue::Complex(re.at(i), im.at(i)),
        }
    }
}

/// How the numbers of a progression are computed from their position `i`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// `start + i * step`, exactly.
    Int {
        /// The first number.
        start: i128,
        /// The distance of numbers.
        step: i128,
    },
    /// `(start + i * step) * scale`, each operation rounded to `f64`, but for the first number and, where there is one, the last.
    Float {
        /// Number 0.
        first: LiteralValue,
        /// The last number, where it is given.
        last: Option<LiteralValue>,
        /// See the formula.
        start: f64,
        /// See the formula.
        step: f64,
        /// See the formula.
        scale: f64,
    },
}

/// Numbers on the way from one to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    start: f64,
    step: f64,
    /// What start and step were divided by.
    scale: f64,
}

impl Line {
    fn new(start: f64, stop: f64, spaces: usize) -> Line {
        let overflows = start.is_finite() && stop.is_finite() && !(stop - start).is_finite();
        // Halving is exact here: both numbers are large.
        let scale = if overflows { 2.0 } else { 1.0 };
        let (start, stop) = (start / scale, stop / scale);
        Line { start, step: (stop - start) / spaces.max(1) as f64, scale }
    }

    fn at(self, i: usize) -> f64 {
        (self.start + i as f64 * self.step) * self.scale
    }
}

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
    let count = ((stop - start) / step).ceil();
    match count {
        _ if count.is_nan() || count >= isize::MAX as f64 => None,
        _ => Some(count.max(0.0) as usize),
    }
}

fn int(value: LiteralValue) -> Option<i128> {
    match value {
        LiteralValue::Bool(b) => Some(i128::from(b)),
        LiteralValue::Int(n) => Some(n),
        LiteralValue::Float(_) | LiteralValue::Complex(..) => None,
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
    Error::new(ErrorCode::DType, "arange: complex numbers have no order to count in")
        .fact(format_args!("start {start}, stop {stop}, step {step}"))
        .help("`linspace` goes from one complex number to another")
}
