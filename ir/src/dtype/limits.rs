//! The limits of floating-point and integer dtypes, computed from a row's size and precision.
//!
//! Every limit of every float dtype is an `f64` exactly.

use super::set::DTypeSet;
use super::table::{DType, Kind};
use crate::error::{Error, ErrorCode, Result};

/// The limits of a binary floating-point format; see [`finfo`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatInfo {
    /// The real dtype of the limits: `f32` for `c64`.
    pub dtype: DType,
    /// Bits of one number.
    pub bits: u32,
    /// Binary digits of the significand, the leading one included.
    pub mantissa_digits: u32,
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// The distance from 1 to the next larger number: 2^(1 - mantissa_digits).
    pub eps: f64,
    /// The largest finite number.
    pub max: f64,
    /// The smallest finite number: `-max`.
    pub min: f64,
    /// The smallest positive number of full precision.
    pub smallest_normal: f64,
    /// The smallest positive number.
    pub smallest_subnormal: f64,
}

/// The limits of an integer dtype; see [`iinfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntInfo {
    /// The dtype of the limits.
    pub dtype: DType,
    /// Bits of one number, its sign included.
    pub bits: u32,
    /// The largest number.
    pub max: i128,
    /// The smallest number.
    pub min: i128,
}

/// The limits of a floating-point dtype; of a complex one, those of its parts. This is the Array API's
/// [`finfo`](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.finfo.html).
///
/// ```
/// use ndjit_ir::DType;
/// use ndjit_ir::dtype::finfo;
///
/// assert_eq!(finfo(DType::F16)?.max, 65504.0);
/// assert_eq!(finfo(DType::C64)?.eps, f64::from(f32::EPSILON));
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
///
/// # Errors
/// `DType` for bool and integers.
pub fn finfo(dtype: DType) -> Result<FloatInfo> {
    let Some(exponent_bits) = dtype.exponent_bits() else {
        return Err(refused("finfo", dtype, "a floating-point", DTypeSet::FLOAT.union(DTypeSet::COMPLEX)));
    };
    let (real, digits) = (dtype.real(), dtype.digits());
    let largest_exponent = (1 << (exponent_bits - 1)) - 1;
    let smallest_exponent = 1 - largest_exponent;
    let below_leading = digits as i32 - 1;
    let eps = power_of_two(-below_leading);
    let max = (2.0 - eps) * power_of_two(largest_exponent);
    Ok(FloatInfo {
        dtype: real,
        bits: real.bits(),
        mantissa_digits: digits,
        exponent_bits,
        eps,
        max,
        min: -max,
        smallest_normal: power_of_two(smallest_exponent),
        smallest_subnormal: power_of_two(smallest_exponent - below_leading),
    })
}

/// The limits of an integer dtype: the Array API's
/// [`iinfo`](https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.iinfo.html).
///
/// ```
/// use ndjit_ir::DType;
/// use ndjit_ir::dtype::iinfo;
///
/// assert_eq!(iinfo(DType::I8)?.min, -128);
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
///
/// # Errors
/// `DType` for bool, floats and complex numbers.
pub fn iinfo(dtype: DType) -> Result<IntInfo> {
    match dtype.int_range() {
        Some((min, max)) if dtype.is_int() => Ok(IntInfo { dtype, bits: dtype.bits(), max, min }),
        _ => Err(refused("iinfo", dtype, "an integer", DTypeSet::INT)),
    }
}

/// `2^exponent`, exact, in the range of `f64` with its subnormals. (`powi` may round.)
fn power_of_two(exponent: i32) -> f64 {
    let biased = exponent + 1023;
    f64::from_bits(if biased > 0 { (biased as u64) << 52 } else { 1 << (51 + biased) })
}

fn refused(query: &str, dtype: DType, wanted: &str, accepted: DTypeSet) -> Error {
    let help = match dtype.kind() {
        Kind::Bool => "a bool is `false` or `true`; its limits as a number are 0 and 1",
        Kind::UInt | Kind::Int => "limits of integers are `iinfo`'s",
        Kind::Float | Kind::Complex => "limits of floats are `finfo`'s",
    };
    Error::new(ErrorCode::DType, format!("{query}: {dtype} is not {wanted} dtype"))
        .fact(format_args!("accepted: {accepted}"))
        .help(help)
}
