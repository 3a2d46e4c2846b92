//! Elements as text.

use half::{bf16, f16};
use ndjit_runtime::Element;
use num_complex::Complex;

/// Digits after the point unless the format says otherwise.
const PRECISION: usize = 8;

/// Digits after the point of a number with an exponent, at most.
const MOST_DIGITS: usize = u16::MAX as usize - 1;

/// How the elements of an array are written, which depends on all that are shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Style {
    /// Digits after the point, if the format says.
    precision: Option<usize>,
    /// Whether floats have exponents.
    exponent: bool,
    /// Digits after the point, at most: points stand below each other.
    after: usize,
}

impl Style {
    pub(super) fn of<T: Cell, I: Iterator<Item = T>>(precision: Option<usize>, values: impl Fn() -> I) -> Style {
        let (mut largest, mut smallest) = (0.0, f64::INFINITY);
        for size in values().filter_map(T::magnitude).filter(|size| *size > 0.0) {
            (largest, smallest) = (f64::max(largest, size), f64::min(smallest, size));
        }
        let exponent = largest >= 1e8 || (largest > 0.0 && (smallest < 1e-4 || largest / smallest > 1e8));
        let style = Style { precision, exponent, after: 0 };
        Style { after: values().filter_map(|value| after_point(&value.text(style))).max().unwrap_or(0), ..style }
    }
}

/// Digits after the point, if there is one.
fn after_point(text: &str) -> Option<usize> {
    text.find('.').map(|point| text.len() - point - 1)
}

/// An element that is written.
pub(super) trait Cell: Element {
    /// The size by which it is decided whether there are exponents, of one finite float.
    fn magnitude(self) -> Option<f64> {
        None
    }

    fn text(self, style: Style) -> String;
}

macro_rules! plain {
    ($($t:ty)*) => {$(
        impl Cell for $t {
            fn text(self, _style: Style) -> String {
                self.to_string()
            }
        }
    )*};
}

plain! { bool u8 u16 u32 u64 i8 i16 i32 i64 }

/// A float that prints with the fewest digits that read back as the same.
trait Float: Copy {
    fn to_f64(self) -> f64;
    /// Shortest digits, or those a precision asks for.
    fn digits(self, precision: Option<usize>, exponent: bool) -> String;
}

macro_rules! float {
    ($($t:ty: $via:ty;)*) => {$(
        impl Cell for $t {
            fn magnitude(self) -> Option<f64> {
                Some(f64::from(self).abs()).filter(|size| size.is_finite())
            }

            fn text(self, style: Style) -> String {
                let mut text = one_float(self, style.precision, style.exponent);
                if let (false, Some(after)) = (style.exponent, after_point(&text)) {
                    text.extend(std::iter::repeat_n(' ', style.after.saturating_sub(after)));
                }
                text
            }
        }

        impl Float for $t {
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn digits(self, precision: Option<usize>, exponent: bool) -> String {
                let x = <$via>::from(self);
                match (precision, exponent) {
                    // One digit more is one too many for the formatter.
                    (Some(p), true) => format!("{x:.*e}", p.min(MOST_DIGITS)),
                    (Some(p), false) => format!("{x:.p$}"),
                    (None, true) => format!("{x:e}"),
                    (None, false) => format!("{x}"),
                }
            }
        }
    )*};
}

float! { bf16: f32; f16: f32; f32: f32; f64: f64; }

fn one_float<T: Float>(x: T, precision: Option<usize>, exponent: bool) -> String {
    let value = x.to_f64();
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let shortest = x.digits(precision, exponent);
    if exponent {
        return with_exponent(&shortest);
    }
    match shortest.split_once('.') {
        None => format!("{shortest}."),
        Some((_, digits)) if precision.is_none() && digits.len() > PRECISION => {
            x.digits(Some(PRECISION), false).trim_end_matches('0').to_owned()
        }
        Some(_) => shortest,
    }
}

/// `1.5e7` as `1.5e+07`.
fn with_exponent(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else { return text.to_owned() };
    let point = if digits.contains('.') { "" } else { "." };
    let (sign, size) = exponent.strip_prefix('-').map_or(('+', exponent), |size| ('-', size));
    format!("{digits}{point}e{sign}{size:0>2}")
}

macro_rules! complex {
    ($($t:ty)*) => {$(
        impl Cell for Complex<$t> {
            /// Both parts, each with an exponent where it is large or small.
            fn text(self, style: Style) -> String {
                let part = |x: $t| {
                    let size = f64::from(x).abs();
                    let exponent = size.is_finite() && (size >= 1e8 || (size != 0.0 && size < 1e-4));
                    one_float(x, style.precision, exponent)
                };
                let (re, im) = (part(self.re), part(self.im));
                let plus = if im.starts_with('-') { "" } else { "+" };
                format!("{re}{plus}{im}j")
            }
        }
    )*};
}

complex! { f32 f64 }
