//! How arrays print: elements as NumPy prints them, summarised beyond 1000, weak types marked.

use super::Array;
use half::{bf16, f16};
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Result};
use ndjit_runtime::pod::read;
use num_complex::Complex;
use std::fmt;

/// Arrays of more elements show only the ends of long axes.
const THRESHOLD: usize = 1000;
/// The elements shown at either end of a shortened axis.
const EDGE: usize = 3;
/// Digits after the point unless the format says otherwise.
const PRECISION: usize = 8;

impl fmt::Display for Array {
    /// Elements in nested brackets, columns aligned, as NumPy prints them; `{:.3}` sets the digits after the point. Arrays of
    /// more than 1000 elements are summarised. A weak type is marked: `[1 2] i*`. A failed computation prints its error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match Text::of(self, f.precision()) {
            Ok(text) => text,
            Err(error) => return write!(f, "{error}"),
        };
        text.write(f)?;
        if self.is_weak() { write!(f, " {}", self.value_type()) } else { Ok(()) }
    }
}

impl fmt::Debug for Array {
    /// Type, shape and state in one line, without computing anything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.0.state.get() {
            Some(Ok(_)) => "",
            Some(Err(error)) => return write!(f, "Array(error[{}]: {})", error.code(), error.headline()),
            None => ", not yet computed",
        };
        write!(f, "Array({}{}", self.value_type(), self.shape())?;
        if self.is_weak() {
            write!(f, " stored as {}", self.dtype())?;
        }
        if self.device() != Device::CPU {
            write!(f, " on {}", self.device())?;
        }
        write!(f, "{state})")
    }
}

/// The cells that are shown, as text, in row-major order.
struct Text {
    cells: Vec<String>,
    /// For each axis the indices shown; `None` is the gap.
    axes: Vec<Vec<Option<usize>>>,
}

impl Text {
    fn of(array: &Array, precision: Option<usize>) -> Result<Text> {
        let buffer = array.buffer()?;
        let bytes = buffer.as_bytes();
        let extents = array.shape().extents();
        let summarise = array.len() > THRESHOLD;
        let axes: Vec<Vec<Option<usize>>> = extents
            .iter()
            .map(|&extent| match summarise && extent > 2 * EDGE {
                true => (0..EDGE).map(Some).chain([None]).chain((extent - EDGE..extent).map(Some)).collect(),
                false => (0..extent).map(Some).collect(),
            })
            .collect();
        let strides = array.shape().contiguous_strides();
        let size = array.dtype().bytes();
        let mut picked = Vec::new();
        if !array.is_empty() {
            let shown: Vec<Vec<usize>> = axes.iter().map(|axis| axis.iter().copied().flatten().collect()).collect();
            let count: usize = shown.iter().map(Vec::len).product();
            for flat in 0..count {
                let (mut rest, mut offset) = (flat, 0);
                for (axis, stride) in shown.iter().zip(&strides).rev() {
                    offset += axis[rest % axis.len()] * stride.unsigned_abs();
                    rest /= axis.len();
                }
                picked.extend_from_slice(&bytes[offset * size..(offset + 1) * size]);
            }
        }
        Ok(Text { cells: cells(array.dtype(), &picked, precision)?, axes })
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.axes.len();
        if rank == 0 {
            return f.write_str(self.cells.first().map_or("", |c| c.trim()));
        }
        if self.axes.iter().any(Vec::is_empty) {
            return f.write_str("[]");
        }
        // One position per axis; the innermost moves fastest, like an odometer.
        let mut at = vec![0; rank];
        let mut next = self.cells.iter();
        let mut open = rank;
        loop {
            for _ in 0..open {
                f.write_str("[")?;
            }
            // The innermost axis is written in one go.
            for (i, index) in self.axes[rank - 1].iter().enumerate() {
                let space = if i == 0 { "" } else { " " };
                match index {
                    Some(_) => write!(f, "{space}{}", next.next().map_or("", String::as_str))?,
                    None => write!(f, "{space}...")?,
                }
            }
            f.write_str("]")?;
            let mut axis = rank - 1;
            loop {
                if axis == 0 {
                    return Ok(());
                }
                axis -= 1;
                at[axis] += 1;
                if self.axes[axis].get(at[axis]) == Some(&None) {
                    at[axis] += 1;
                    newlines(f, rank - 1 - axis)?;
                    write!(f, "{:1$}...", "", axis + 1)?;
                }
                if at[axis] < self.axes[axis].len() {
                    break;
                }
                at[axis] = 0;
                f.write_str("]")?;
            }
            open = rank - 1 - axis;
            newlines(f, open)?;
            write!(f, "{:1$}", "", axis + 1)?;
        }
    }
}

fn newlines(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    (0..count).try_for_each(|_| f.write_str("\n"))
}

/// The cells' texts, all of one width.
fn cells(dtype: DType, bytes: &[u8], precision: Option<usize>) -> Result<Vec<String>> {
    fn plain<T: ToString>(values: Vec<T>) -> Vec<String> {
        values.iter().map(T::to_string).collect()
    }
    let mut cells = match dtype {
        DType::Bool => plain(read::<bool>(bytes)?),
        DType::U8 => plain(read::<u8>(bytes)?),
        DType::U16 => plain(read::<u16>(bytes)?),
        DType::U32 => plain(read::<u32>(bytes)?),
        DType::U64 => plain(read::<u64>(bytes)?),
        DType::I8 => plain(read::<i8>(bytes)?),
        DType::I16 => plain(read::<i16>(bytes)?),
        DType::I32 => plain(read::<i32>(bytes)?),
        DType::I64 => plain(read::<i64>(bytes)?),
        DType::Bf16 => floats(&read::<bf16>(bytes)?, precision),
        DType::F16 => floats(&read::<f16>(bytes)?, precision),
        DType::F32 => floats(&read::<f32>(bytes)?, precision),
        DType::F64 => floats(&read::<f64>(bytes)?, precision),
        DType::C64 => complex(&read::<Complex<f32>>(bytes)?, precision),
        DType::C128 => complex(&read::<Complex<f64>>(bytes)?, precision),
    };
    let width = cells.iter().map(String::len).max().unwrap_or(0);
    for cell in &mut cells {
        *cell = format!("{cell:>width$}");
    }
    Ok(cells)
}

/// A float that prints with the fewest digits that read back as the same.
trait Float: Copy {
    fn to_f64(self) -> f64;
    /// Shortest digits, or those a precision asks for.
    fn digits(self, precision: Option<usize>, exponent: bool) -> String;
}

macro_rules! float {
    ($($t:ty: $via:ty;)*) => {$(
        impl Float for $t {
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn digits(self, precision: Option<usize>, exponent: bool) -> String {
                let x = <$via>::from(self);
                match (precision, exponent) {
                    (Some(p), true) => format!("{x:.p$e}"),
                    (Some(p), false) => format!("{x:.p$}"),
                    (None, true) => format!("{x:e}"),
                    (None, false) => format!("{x}"),
                }
            }
        }
    )*};
}

float! { bf16: f32; f16: f32; f32: f32; f64: f64; }

fn floats<T: Float>(values: &[T], precision: Option<usize>) -> Vec<String> {
    let finite = || values.iter().map(|x| x.to_f64().abs()).filter(|x| x.is_finite() && *x > 0.0);
    let (largest, smallest) = (finite().fold(0.0, f64::max), finite().fold(f64::INFINITY, f64::min));
    let exponent = largest >= 1e8 || (largest > 0.0 && (smallest < 1e-4 || largest / smallest > 1e8));
    let texts: Vec<String> = values.iter().map(|&x| one_float(x, precision, exponent)).collect();
    if exponent {
        return texts;
    }
    // Points stand below each other.
    let after = |text: &str| text.len() - text.find('.').map_or(text.len(), |p| p + 1);
    let pointed = |text: &str| text.contains('.');
    let widest = texts.iter().map(|t| after(t)).max().unwrap_or(0);
    let fill = |t: String| {
        let missing = if pointed(&t) { widest - after(&t) } else { 0 };
        format!("{t}{:missing$}", "")
    };
    texts.into_iter().map(fill).collect()
}

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

fn complex<T: Float>(values: &[Complex<T>], precision: Option<usize>) -> Vec<String> {
    let one = |z: &Complex<T>| {
        let exponent = |x: T| {
            x.to_f64().is_finite() && (x.to_f64().abs() >= 1e8 || (x.to_f64() != 0.0 && x.to_f64().abs() < 1e-4))
        };
        let (re, im) = (one_float(z.re, precision, exponent(z.re)), one_float(z.im, precision, exponent(z.im)));
        let plus = if im.starts_with('-') { "" } else { "+" };
        format!("{re}{plus}{im}j")
    };
    values.iter().map(one).collect()
}
