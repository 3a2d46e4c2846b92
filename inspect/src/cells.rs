//! Elements as text, in the style of NumPy's `array2string`: all elements share a format.

use half::{bf16, f16};
use ndjit_ir::DType;
use ndjit_ir::spaces::Spaces;
use ndjit_runtime::Element;
use num_complex::Complex;

/// The default maximum number of digits after the point.
const PRECISION: usize = 8;

/// The maximum number of digits after the point in exponential notation: the formatter panics on more.
const MOST_DIGITS: usize = u16::MAX as usize - 1;

/// Options of formatting elements.
#[derive(Clone, Copy, Debug)]
pub struct FormatOptions {
    /// The requested number of digits after the point.
    pub precision: Option<usize>,
    /// Whether it is the element of a 0-d array, which NumPy formats as a scalar.
    pub scalar: bool,
}

/// A printable element.
pub trait DisplayElement: Element {
    /// The format of one array's elements.
    type Format;

    /// The format of these elements.
    fn format(values: &[Self], asked: FormatOptions) -> Self::Format;

    fn text(self, format: &Self::Format) -> String;
}

macro_rules! plain {
    ($($t:ty)*) => {$(
        impl DisplayElement for $t {
            type Format = ();

            fn format(_values: &[Self], _asked: FormatOptions) {}

            fn text(self, (): &()) -> String {
                self.to_string()
            }
        }
    )*};
}

plain! { bool u8 u16 u32 u64 i8 i16 i32 i64 }

/// A float, with its shortest round-trip digits.
pub trait Float: Element {
    fn to_f64(self) -> f64;

    /// The nearest value of this dtype.
    fn rounded(x: f64) -> f64;

    fn shortest(self, exponent: bool) -> String;
}

macro_rules! float {
    ($($t:ty, $x:ident => $rounded:expr, $shortest:expr;)*) => {$(
        impl Float for $t {
            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            fn rounded($x: f64) -> f64 {
                f64::from($rounded)
            }

            fn shortest(self, exponent: bool) -> String {
                let $x = self;
                let shortest = $shortest;
                if exponent { format!("{shortest:e}") } else { shortest.to_string() }
            }
        }

        impl DisplayElement for $t {
            type Format = FloatFormat;

            fn format(values: &[Self], asked: FormatOptions) -> FloatFormat {
                FloatFormat::of(values.iter().copied(), asked, false)
            }

            fn text(self, format: &FloatFormat) -> String {
                format.text(self)
            }
        }
    )*};
}

float! {
    bf16, x => bf16::from_f64(x), fewest_digits(x);
    f16, x => f16::from_f64(x), fewest_digits(x);
    f32, x => x as f32, x;
    f64, x => x, x;
}

/// The shortest decimal that rounds to `x` in the dtype: the formatter supports only 32-bit and 64-bit dtypes.
fn fewest_digits<T: Float>(x: T) -> f64 {
    let x = x.to_f64();
    let of = |digits: usize| format!("{x:.digits$e}").parse::<f64>().ok();
    (0..PRECISION).filter_map(of).find(|&near| T::rounded(near) == x).unwrap_or(x)
}

/// The format of floats: NumPy's `FloatingFormat`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloatFormat {
    exponent: bool,
    /// Number of digits of exponents.
    exponent_digits: usize,
    /// A common number of digits after the point; otherwise each has its own.
    precision: Option<usize>,
    /// The maximum number of digits after the point: points are aligned.
    after: usize,
    /// The common width.
    width: usize,
    /// Whether positive values have a sign.
    plus: bool,
}

impl FloatFormat {
    fn of<T: Float>(values: impl Iterator<Item = T> + Clone, asked: FormatOptions, plus: bool) -> FloatFormat {
        let finite = values.clone().filter(|x| x.to_f64().is_finite());
        let (mut largest, mut smallest) = (0.0, f64::INFINITY);
        for size in finite.clone().map(|x| x.to_f64().abs()).filter(|size| *size > 0.0) {
            (largest, smallest) = (f64::max(largest, size), f64::min(smallest, size));
        }
        // Compared in the dtype, as in NumPy: there 700 is 1000 times 0.7.
        let exponent = largest > 0.0
            && (largest >= cutoff(T::DTYPE, asked.scalar)
                || smallest < T::rounded(1e-4)
                || T::rounded(largest / smallest) > T::rounded(1000.0));
        let mut format = FloatFormat { exponent, precision: asked.precision, plus, ..FloatFormat::default() };
        for x in finite {
            let text = format.digits(x);
            let (number, power) = text.split_once('e').unwrap_or((&text, ""));
            format.after = format.after.max(number.split_once('.').map_or(0, |(_, after)| after.len()));
            format.exponent_digits = format.exponent_digits.max(power.len().saturating_sub(1));
        }
        // In exponential notation all have the digits of the longest.
        format.precision = if exponent { Some(format.after) } else { asked.precision };
        FloatFormat { width: values.map(|x| format.text(x).len()).max().unwrap_or(0), ..format }
    }

    /// The digits of a finite value: with a point, and an exponent of at least two digits in exponential notation.
    fn digits<T: Float>(&self, x: T) -> String {
        let exact = |digits: usize| match self.exponent {
            true => format!("{:.*e}", digits.min(MOST_DIGITS), x.to_f64()),
            false => format!("{:.*}", digits.min(u16::MAX as usize), x.to_f64()),
        };
        let split = |text: &str| {
            let (number, power) = text.split_once('e').map_or((text, None), |(number, power)| (number, Some(power)));
            let (whole, after) = number.split_once('.').unwrap_or((number, ""));
            (whole.to_owned(), after.to_owned(), power.map(str::to_owned))
        };
        let (whole, after, power) = match self.precision {
            Some(digits) => split(&exact(digits)),
            None => match split(&x.shortest(self.exponent)) {
                (_, after, _) if after.len() > PRECISION => {
                    let (whole, after, power) = split(&exact(PRECISION));
                    (whole, after.trim_end_matches('0').to_owned(), power)
                }
                shortest => shortest,
            },
        };
        let sign = if self.plus && !whole.starts_with('-') { "+" } else { "" };
        let power = power.map(|power| {
            let (sign, size) = power.strip_prefix('-').map_or(('+', &*power), |size| ('-', size));
            format!("e{sign}{size:0>digits$}", digits = self.exponent_digits.max(2))
        });
        format!("{sign}{whole}.{after}{}", power.unwrap_or_default())
    }

    fn text<T: Float>(&self, x: T) -> String {
        let value = x.to_f64();
        let text = match (value.is_finite(), value.is_sign_negative() && !value.is_nan()) {
            (false, negative) => {
                let sign = if negative {
                    "-"
                } else if self.plus {
                    "+"
                } else {
                    ""
                };
                format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" })
            }
            (true, _) => {
                let digits = self.digits(x);
                let after = digits.split_once('.').map_or(0, |(_, after)| after.len());
                format!("{digits}{}", Spaces(if self.exponent { 0 } else { self.after.saturating_sub(after) }))
            }
        };
        format!("{}{text}", Spaces(self.width.saturating_sub(text.len())))
    }
}

/// The magnitude from which arrays use exponential notation: values with more digits than the dtype, at most 9; for a scalar 16.
fn cutoff(dtype: DType, scalar: bool) -> f64 {
    let digits = f64::from(dtype.digits().saturating_sub(1)) * std::f64::consts::LOG10_2;
    match scalar {
        true if dtype == DType::F64 => 1e16,
        true => 10f64.powi(digits as i32),
        false => 10f64.powi((digits as i32).min(8)),
    }
}

macro_rules! complex {
    ($($t:ty)*) => {$(
        impl DisplayElement for Complex<$t> {
            /// The formats of real and imaginary parts.
            type Format = [FloatFormat; 2];

            fn format(values: &[Self], asked: FormatOptions) -> [FloatFormat; 2] {
                [
                    FloatFormat::of(values.iter().map(|z| z.re), asked, false),
                    FloatFormat::of(values.iter().map(|z| z.im), asked, true),
                ]
            }

            fn text(self, [re, im]: &[FloatFormat; 2]) -> String {
                let im = im.text(self.im);
                let digits = im.trim_end_matches(' ');
                format!("{}{digits}j{}", re.text(self.re), Spaces(im.len() - digits.len()))
            }
        }
    )*};
}

complex! { f32 f64 }
