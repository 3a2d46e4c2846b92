//! Literals: the exact value passed in Rust, rounded once to the dtype of its use.
//!
//! A literal keeps its value exactly (`i128` holds every Rust integer up to 64 bits, `f64` every `f32` and half), so it can be
//! resolved to any dtype without rounding twice. NaNs are kept as the one canonical NaN, so equal text means equal literal.
//! Promotion resolves the types of literals, not this file.

use crate::dtype::{DType, Kind};
use crate::error::{Error, ErrorCode, Result};
use crate::help::{Code, Help};
use crate::value_type::{ValueType, Weak};
use half::{bf16, f16};
use num_complex::Complex;
use smallvec::{SmallVec, smallvec};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// An exact value. Floats compare and hash by their bits: `-0.0` is not `0.0`, and a NaN equals itself.
#[derive(Clone, Copy, Debug)]
pub enum LiteralValue {
    /// A bool.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A real number.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

/// A value and the type it was given with: weak for bare numbers, strong where a dtype was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    value: LiteralValue,
    ty: ValueType,
}

impl Literal {
    /// A bare number: of the weak type of its kind, or strong bool.
    pub fn weak(value: impl Into<LiteralValue>) -> Literal {
        let value = value.into().canonical();
        Literal { value, ty: value.weak_type() }
    }

    /// A number of a named dtype, rounded to it once: equal bits make equal literals.
    ///
    /// # Errors
    /// [`Literal`](ErrorCode::Literal) if the dtype cannot hold it, as for [`to_repr`](Literal::to_repr).
    pub fn strong(value: impl Into<LiteralValue>, dtype: DType) -> Result<Literal> {
        let exact = Literal { value: value.into(), ty: ValueType::Strong(dtype) };
        Ok(Literal::from_repr(dtype, &exact.to_repr(dtype)?))
    }

    /// The strong literal of these register bits: the inverse of [`to_repr`](Literal::to_repr), for constant folding. Bits above a
    /// register's width are ignored; missing words are zero.
    pub fn from_repr(dtype: DType, repr: &[u64]) -> Literal {
        let word = |i: usize| repr.get(i).copied().unwrap_or(0);
        let float = |i: usize| match dtype.real() {
            DType::F64 => f64::from_bits(word(i)),
            _ => f64::from(f32::from_bits(word(i) as u32)),
        };
        let unused_bits = 64 - 8 * dtype.real().bytes() as u32;
        let value = match dtype.kind() {
            Kind::Bool => LiteralValue::Bool(word(0) & 1 == 1),
            Kind::UInt => LiteralValue::Int(i128::from(word(0) << unused_bits >> unused_bits)),
            Kind::Int => LiteralValue::Int(i128::from((word(0) << unused_bits) as i64 >> unused_bits)),
            Kind::Float => LiteralValue::Float(float(0)),
            Kind::Complex => LiteralValue::Complex(float(0), float(1)),
        };
        Literal { value: value.canonical(), ty: ValueType::Strong(dtype) }
    }

    /// The value: as passed if weak, rounded to its dtype if strong.
    pub fn value(&self) -> LiteralValue {
        self.value
    }

    /// The literal's type.
    pub fn ty(&self) -> ValueType {
        self.ty
    }

    /// The register bits of the value in `dtype` (see [`DType::repr`]), each in the low bits of a word: integers in two's
    /// complement, halves as the `f32` of the same value, complex numbers as real and imaginary part. The exact value is rounded
    /// once, to nearest even; values too large for a float dtype become infinite.
    ///
    /// # Errors
    /// [`Literal`](ErrorCode::Literal) for an integer outside an integer dtype's range, and for a kind of number that only an
    /// explicit cast takes to `dtype`: a complex number to a real dtype, a float to an integer dtype, a number to bool.
    pub fn to_repr(&self, dtype: DType) -> Result<SmallVec<[u64; 2]>> {
        let (re, im) = match (self.value, dtype.kind()) {
            (LiteralValue::Bool(b), Kind::Bool) => return Ok(smallvec![u64::from(b)]),
            (LiteralValue::Bool(b), Kind::UInt | Kind::Int) => return Ok(smallvec![u64::from(b)]),
            (LiteralValue::Int(n), Kind::UInt | Kind::Int) => {
                return int_bits(n, dtype).ok_or_else(|| self.out_of_range(dtype));
            }
            (LiteralValue::Bool(b), Kind::Float | Kind::Complex) => (Real::Int(i128::from(b)), 0.0),
            (LiteralValue::Int(n), Kind::Float | Kind::Complex) => (Real::Int(n), 0.0),
            (LiteralValue::Float(x), Kind::Float | Kind::Complex) => (Real::Float(x), 0.0),
            (LiteralValue::Complex(re, im), Kind::Complex) => (Real::Float(re), im),
            (LiteralValue::Complex(..), Kind::Bool | Kind::UInt | Kind::Int | Kind::Float)
            | (LiteralValue::Float(_), Kind::Bool | Kind::UInt | Kind::Int)
            | (LiteralValue::Int(_), Kind::Bool) => return Err(self.wrong_kind(dtype)),
        };
        let part = dtype.real();
        let mut bits = smallvec![re.float_bits(part)];
        if dtype.is_complex() {
            bits.push(Real::Float(im).float_bits(part));
        }
        Ok(bits)
    }

    /// The smallest integer dtype that holds the number and all values of `dtype`, signed if possible.
    pub fn wider(&self, dtype: DType) -> Option<DType> {
        let LiteralValue::Int(n) = self.value else { return None };
        let (min, max) = dtype.int_range()?;
        let holds_both = |other: &DType| {
            other.int_range().is_some_and(|(low, high)| low <= min && max <= high) && int_bits(n, *other).is_some()
        };
        let signed = DType::ALL.into_iter().filter(|other| other.is_signed());
        signed.chain(DType::ALL).find(holds_both)
    }

    fn out_of_range(&self, dtype: DType) -> Error {
        let mut error = Error::new(ErrorCode::Literal, format!("literal {} does not fit {dtype}", self.value));
        if let Some((min, max)) = dtype.int_range() {
            error = error.fact(format_args!("{dtype} holds {min} to {max}"));
        }
        // Signed first: a wider unsigned dtype is rarely intended.
        let signed = DType::ALL.into_iter().filter(|other| other.is_signed());
        let integers = DType::ALL.into_iter().filter(|other| other.is_int());
        let holds_it = |other: &DType| matches!(self.value, LiteralValue::Int(n) if int_bits(n, *other).is_some());
        let mut fitting = signed.chain(integers).filter(holds_it);
        if let Some(wider) = self.wider(dtype) {
            return error.help(
                Help::from("cast the other operand to a wider dtype, for example ").code(Code::CastAfter(wider)),
            );
        }
        match fitting.find(|other| other.bytes() >= dtype.bytes()) {
            Some(other) => error.help(
                Help::from(format!(
                    "no integer dtype holds it and all of {dtype}; if the other operand's elements are small, cast it: "
                ))
                .code(Code::CastAfter(other)),
            ),
            None => error.help("no integer dtype holds it; write it as a float"),
        }
    }

    fn wrong_kind(&self, dtype: DType) -> Error {
        Error::new(ErrorCode::Literal, format!("literal {} does not fit {dtype}", self.value))
            .fact(format_args!("{} literal becomes {dtype} by an explicit cast only", self.value.kind_name()))
            .help(Help::from(format!("write the literal as {dtype}, or add ")).code(Code::CastAfter(dtype)))
    }
}

/// A real number before rounding.
enum Real {
    Int(i128),
    Float(f64),
}

impl Real {
    /// The register bits of the number in the float dtype `dtype`, rounded once.
    fn float_bits(&self, dtype: DType) -> u64 {
        let is_nan = matches!(self, Real::Float(x) if x.is_nan());
        if dtype == DType::F64 {
            let rounded = match *self {
                Real::Int(n) => n as f64,
                Real::Float(x) => x,
            };
            return if is_nan { f64::NAN.to_bits() } else { rounded.to_bits() };
        }
        let rounded = match (dtype, self) {
            (DType::F16, _) => f16::from_f32(self.to_f32_odd()).to_f32(),
            (DType::Bf16, _) => bf16::from_f32(self.to_f32_odd()).to_f32(),
            (_, Real::Int(n)) => *n as f32,
            (_, Real::Float(x)) => *x as f32,
        };
        u64::from(if is_nan { f32::NAN.to_bits() } else { rounded.to_bits() })
    }

    /// The number as an `f32` rounded to odd: exact where possible, else the adjacent float whose last bit is 1. A second
    /// rounding to a format at least two bits shorter then equals one rounding of the number. (`half`'s cast from `f64` drops low
    /// bits.)
    fn to_f32_odd(&self) -> f32 {
        let (nearest, too_large, exact) = match *self {
            Real::Int(n) => {
                let magnitude = n.unsigned_abs();
                let nearest = magnitude as f32;
                // At most 2^127, so exact in a u128.
                let back = nearest as u128;
                (if n < 0 { -nearest } else { nearest }, back > magnitude, back == magnitude)
            }
            Real::Float(x) => {
                let nearest = x as f32;
                let back = f64::from(nearest);
                (nearest, back.abs() > x.abs(), back == x || x.is_nan())
            }
        };
        if exact {
            return nearest;
        }
        // The bits of a float, sign aside, count its magnitudes upwards.
        let towards_zero = nearest.to_bits() - u32::from(too_large);
        f32::from_bits(towards_zero | 1)
    }
}

fn int_bits(n: i128, dtype: DType) -> Option<SmallVec<[u64; 2]>> {
    let (min, max) = dtype.int_range()?;
    let register = dtype.repr().first()?;
    (min..=max).contains(&n).then(|| smallvec![n as u64 & register.mask()])
}

impl LiteralValue {
    /// The type of the value as a bare number.
    pub fn weak_type(self) -> ValueType {
        match self {
            LiteralValue::Bool(_) => ValueType::Strong(DType::Bool),
            LiteralValue::Int(_) => ValueType::Weak(Weak::Int),
            LiteralValue::Float(_) => ValueType::Weak(Weak::Float),
            LiteralValue::Complex(..) => ValueType::Weak(Weak::Complex),
        }
    }

    fn kind_name(self) -> &'static str {
        match self {
            LiteralValue::Bool(_) => "a bool",
            LiteralValue::Int(_) => "an integer",
            LiteralValue::Float(_) => "a float",
            LiteralValue::Complex(..) => "a complex",
        }
    }

    fn canonical(self) -> LiteralValue {
        let nan = |x: f64| if x.is_nan() { f64::NAN } else { x };
        match self {
            LiteralValue::Float(x) => LiteralValue::Float(nan(x)),
            LiteralValue::Complex(re, im) => LiteralValue::Complex(nan(re), nan(im)),
            LiteralValue::Bool(_) | LiteralValue::Int(_) => self,
        }
    }

    /// The key of equality and hashing: the kind and the bits.
    fn key(self) -> (u8, u128) {
        match self {
            LiteralValue::Bool(b) => (0, u128::from(b)),
            LiteralValue::Int(n) => (1, n as u128),
            LiteralValue::Float(x) => (2, u128::from(x.to_bits())),
            LiteralValue::Complex(re, im) => (3, u128::from(re.to_bits()) << 64 | u128::from(im.to_bits())),
        }
    }
}

impl PartialEq for LiteralValue {
    fn eq(&self, other: &LiteralValue) -> bool {
        self.key() == other.key()
    }
}

impl Eq for LiteralValue {}

impl Hash for LiteralValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

macro_rules! literal_from {
    ($($t:ty => $value:expr;)*) => {$(
        impl From<$t> for LiteralValue {
            fn from(x: $t) -> LiteralValue {
                let value: fn($t) -> LiteralValue = $value;
                value(x)
            }
        }

        impl From<$t> for Literal {
            /// A bare number.
            fn from(x: $t) -> Literal {
                Literal::weak(x)
            }
        }
    )*};
}

literal_from! {
    bool => LiteralValue::Bool;
    u8 => |x| LiteralValue::Int(x.into());
    u16 => |x| LiteralValue::Int(x.into());
    u32 => |x| LiteralValue::Int(x.into());
    u64 => |x| LiteralValue::Int(x.into());
    usize => |x| LiteralValue::Int(x as i128);
    i8 => |x| LiteralValue::Int(x.into());
    i16 => |x| LiteralValue::Int(x.into());
    i32 => |x| LiteralValue::Int(x.into());
    i64 => |x| LiteralValue::Int(x.into());
    isize => |x| LiteralValue::Int(x as i128);
    i128 => LiteralValue::Int;
    bf16 => |x| LiteralValue::Float(x.into());
    f16 => |x| LiteralValue::Float(x.into());
    f32 => |x| LiteralValue::Float(x.into());
    f64 => LiteralValue::Float;
    Complex<f32> => |x| LiteralValue::Complex(x.re.into(), x.im.into());
    Complex<f64> => |x| LiteralValue::Complex(x.re, x.im);
}

impl fmt::Display for LiteralValue {
    /// Text that parses as the same value: `true`, `2`, `2.0`, `1e300`, `nan`, `-inf`, `(1.0+2.0i)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            LiteralValue::Bool(b) => write!(f, "{b}"),
            LiteralValue::Int(n) => write!(f, "{n}"),
            LiteralValue::Float(x) => write_float(f, x),
            LiteralValue::Complex(re, im) => {
                f.write_str("(")?;
                write_float(f, re)?;
                if im.is_nan() || im.is_sign_positive() {
                    f.write_str("+")?;
                }
                write_float(f, im)?;
                f.write_str("i)")
            }
        }
    }
}

fn write_float(f: &mut fmt::Formatter<'_>, x: f64) -> fmt::Result {
    if x.is_nan() { f.write_str("nan") } else { write!(f, "{x:?}") }
}

impl fmt::Display for Literal {
    /// The value, followed by `_` and the dtype where it is strong and not bool: `2`, `2.0_f32`, `true`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)?;
        if self.ty != self.value.weak_type() {
            write!(f, "_{}", self.ty)?;
        }
        Ok(())
    }
}

fn unreadable(text: &str) -> Error {
    Error::new(ErrorCode::Parse, format!("`{}` is no literal", text.escape_debug()))
        .help("literals are written true, 2, 2.0, 1e300, nan, -inf, (1.0+2.0i), and with a dtype 2.0_f32")
}

impl FromStr for LiteralValue {
    type Err = Error;

    fn from_str(text: &str) -> Result<LiteralValue> {
        let value = match text {
            "true" => Some(LiteralValue::Bool(true)),
            "false" => Some(LiteralValue::Bool(false)),
            _ => match text.strip_prefix('(').and_then(|inner| inner.strip_suffix("i)")) {
                Some(inner) => read_complex(inner),
                None => match text.parse() {
                    Ok(n) => Some(LiteralValue::Int(n)),
                    Err(_) => read_float(text).map(LiteralValue::Float),
                },
            },
        };
        value.ok_or_else(|| unreadable(text))
    }
}

/// Parses `1.0+2.0`: the sign between the parts is the last one outside an exponent.
fn read_complex(inner: &str) -> Option<LiteralValue> {
    let bytes = inner.as_bytes();
    let split =
        (1..bytes.len()).rev().find(|&i| matches!(bytes[i], b'+' | b'-') && !matches!(bytes[i - 1], b'e' | b'E'))?;
    let (re, im) = inner.split_at_checked(split)?;
    Some(LiteralValue::Complex(read_float(re)?, read_float(im.strip_prefix('+').unwrap_or(im))?))
}

/// Parses a float with a decimal point or an exponent, `nan` or an infinity, in Rust's notation without its other
/// spellings. `None` for a number too large to be finite.
fn read_float(text: &str) -> Option<f64> {
    match text {
        "nan" => return Some(f64::NAN),
        "inf" => return Some(f64::INFINITY),
        "-inf" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let plain = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let is_float = text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
    if !plain || !is_float {
        return None;
    }
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

impl FromStr for Literal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Literal> {
        match text.rsplit_once('_') {
            None => Ok(Literal::weak(text.parse::<LiteralValue>()?)),
            Some((value, dtype)) => {
                let dtype = dtype.parse::<DType>().map_err(|unknown| unreadable(text).fact(unknown))?;
                Literal::strong(value.parse::<LiteralValue>()?, dtype)
            }
        }
    }
}
