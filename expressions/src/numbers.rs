//! Arithmetic on numbers only, as in Python: exact integers, otherwise 64-bit floats and complex numbers of these. The
//! result is a weak number in operations with arrays.

use crate::dialect;
use crate::error::Problem;
use crate::node::ExprNumber;
use ndjit::debug::with_jit_disabled;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{
    Array, Complex, DType, Defaults, Device, Expr, Kind, Op, Policy, Scalar, dynamic, finfo, iinfo, strong, weak,
    with_defaults, with_device, with_policy,
};

/// Ops on the bits of a dtype, which a bare number lacks.
const OF_A_WIDTH: [Op; 7] =
    [Op::RotateLeft, Op::RotateRight, Op::SaturatingAdd, Op::SaturatingSubtract, Op::Popcount, Op::Clz, Op::Ctz];

/// The result of an op on numbers; `None` if the library computes it or reports its error.
pub(crate) fn computed(op: Op, name: &str, numbers: &[ExprNumber], column: u32) -> Result<Option<ExprNumber>, Problem> {
    if OF_A_WIDTH.contains(&op) {
        return Ok(None);
    }
    let integers: Option<Vec<i128>> = numbers.iter().map(|number| number.int()).collect();
    match integers.and_then(|integers| exact(op, &integers)) {
        Some(Some(integer)) => Ok(Some(ExprNumber::Int(integer))),
        Some(None) => Err(Problem::new(column, format!("{name}: the integer has more than 64 bits"))
            .help("compute with floats: `2.0 ** 200`")),
        None => Ok(in_64_bits(op, numbers)),
    }
}

/// The exact result of an op on integers, if it has one. The inner `None` is an overflow.
fn exact(op: Op, integers: &[i128]) -> Option<Option<i128>> {
    Some(match (op, integers) {
        (Op::Negative, &[x]) => x.checked_neg(),
        (Op::Abs, &[x]) => x.checked_abs(),
        (Op::Square, &[x]) => x.checked_mul(x),
        (Op::BitwiseInvert, &[x]) => Some(!x),
        (Op::Add, &[x, y]) => x.checked_add(y),
        (Op::Subtract, &[x, y]) => x.checked_sub(y),
        (Op::Multiply, &[x, y]) => x.checked_mul(y),
        (Op::MulAdd, &[x, y, z]) => x.checked_mul(y).and_then(|product| product.checked_add(z)),
        (Op::FloorDivide, &[x, y]) if y != 0 => {
            remainder(x, y).and_then(|rest| x.checked_sub(rest)).and_then(|whole| whole.checked_div(y))
        }
        (Op::Remainder, &[x, y]) if y != 0 => remainder(x, y),
        (Op::Pow, &[x @ -1..=1, y]) if y > 0 => Some(if y % 2 == 0 { x * x } else { x }),
        (Op::Pow, &[x, y]) if y >= 0 => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)),
        (Op::Gcd, &[x, y]) => divisor(x, y),
        (Op::Lcm, &[x, y]) => match divisor(x, y) {
            Some(0) => Some(0),
            common => common.and_then(|common| (x / common).checked_mul(y)).and_then(i128::checked_abs),
        },
        (Op::BitwiseAnd, &[x, y]) => Some(x & y),
        (Op::BitwiseOr, &[x, y]) => Some(x | y),
        (Op::BitwiseXor, &[x, y]) => Some(x ^ y),
        (Op::BitwiseLeftShift, &[0, y]) if y >= 0 => Some(0),
        (Op::BitwiseLeftShift, &[x, y]) if y >= 0 => (y < 127).then(|| x.checked_mul(1 << y)).flatten(),
        (Op::BitwiseRightShift, &[x, y]) if y >= 0 => Some(x >> y.min(127)),
        _ => return None,
    })
}

/// The remainder of floored division, which has the sign of the divisor.
fn remainder(x: i128, y: i128) -> Option<i128> {
    let rest = x.checked_rem(y)?;
    if rest != 0 && (rest < 0) != (y < 0) { rest.checked_add(y) } else { Some(rest) }
}

/// The greatest common divisor.
fn divisor(x: i128, y: i128) -> Option<i128> {
    let (mut x, mut y) = (x, y);
    while y != 0 {
        (x, y) = (y, x.checked_rem(y)?);
    }
    x.checked_abs()
}

/// The library's result for numbers as `i64`, `f64` and `c128`.
fn in_64_bits(op: Op, numbers: &[ExprNumber]) -> Option<ExprNumber> {
    // Integers have no negative powers.
    let floats = op == Op::Pow && numbers.iter().all(|number| number.int().is_some());
    let operands: Vec<AnyOperand> =
        numbers.iter().map(|number| Array::scalar(number.strong(floats)).operand()).collect();
    let result = || number(&dynamic::apply::<Array>(op, &operands)).ok();
    let result = || with_defaults(Defaults::BITS_64, || with_jit_disabled(result)).ok().flatten();
    with_policy(Policy::Standard, || with_device(Device::CPU, result))
}

fn number(array: &Array) -> ndjit::Result<ExprNumber> {
    Ok(match array.dtype().kind() {
        Kind::Bool => ExprNumber::Bool(array.item()?),
        Kind::UInt => ExprNumber::Int(array.cast(DType::U64).item::<u64>()?.into()),
        Kind::Int => ExprNumber::Int(array.cast(DType::I64).item::<i64>()?.into()),
        Kind::Float => ExprNumber::Float(array.cast(DType::F64).item()?),
        Kind::Complex => {
            let number: Complex<f64> = array.cast(DType::C128).item()?;
            ExprNumber::Complex(number.re, number.im)
        }
    })
}

impl ExprNumber {
    /// The number as an integer.
    fn int(self) -> Option<i128> {
        match self {
            ExprNumber::Int(n) => Some(n),
            ExprNumber::Float(_) | ExprNumber::Imaginary(_) | ExprNumber::Complex(..) | ExprNumber::Bool(_) => None,
        }
    }

    /// As the widest dtype of its kind. An integer of more than 64 bits is a float, as on request.
    fn strong(self, as_float: bool) -> Scalar {
        match self {
            ExprNumber::Bool(truth) => strong(truth),
            ExprNumber::Float(x) => strong(x),
            ExprNumber::Imaginary(y) => strong(Complex::new(0.0, y)),
            ExprNumber::Complex(x, y) => strong(Complex::new(x, y)),
            ExprNumber::Int(n) => match (i64::try_from(n), u64::try_from(n)) {
                (Ok(n), _) if !as_float => strong(n),
                (_, Ok(n)) if !as_float => strong(n),
                _ => strong(n as f64),
            },
        }
    }

    /// As a weak number; in some [dialects](dialect) a wide integer has a dtype.
    pub(crate) fn scalar(self, column: u32) -> Result<Scalar, Problem> {
        Ok(match self {
            ExprNumber::Int(n) if let Some(wide) = dialect::wide(n) => strong(wide),
            ExprNumber::Bool(truth) => weak(truth),
            ExprNumber::Float(x) => weak(x),
            ExprNumber::Imaginary(y) => weak(Complex::new(0.0, y)),
            ExprNumber::Complex(x, y) => weak(Complex::new(x, y)),
            ExprNumber::Int(n) => match (i64::try_from(n), u64::try_from(n)) {
                (Ok(n), _) => weak(n),
                (_, Ok(n)) => weak(n),
                _ => {
                    return Err(
                        Problem::new(column, format!("{n} has more than 64 bits")).help("write it as a float: `1e30`")
                    );
                }
            },
        })
    }

    /// As a scalar array of a dtype; `None` if the library casts it.
    pub(crate) fn of(self, dtype: DType) -> Option<Expr> {
        // Floats round once from 64 bits; integers are exact.
        let wide = matches!(self, ExprNumber::Int(_) | ExprNumber::Float(_)) && !matches!(dtype.kind(), Kind::Bool);
        wide.then(|| Expr::from(self.strong(false)).cast(dtype))
    }

    /// Rejects a dtype that cannot represent the number; `help` suggests a way out.
    pub(crate) fn fits(self, dtype: DType, what: &str, column: u32, help: &str) -> Result<(), Problem> {
        let ends = match self {
            ExprNumber::Int(n) => iinfo(dtype)
                .ok()
                .filter(|limits| !(limits.min..=limits.max).contains(&n))
                .map(|limits| format!("{} to {}", limits.min, limits.max)),
            ExprNumber::Float(x) if x.is_finite() => finfo(dtype)
                .ok()
                .filter(|limits| x.abs() > limits.max)
                .map(|limits| format!("{0:e} to {1:e}", -limits.max as f32, limits.max as f32)),
            _ => None,
        };
        match ends {
            None => Ok(()),
            Some(ends) => {
                Err(Problem::new(column, format!("{what}: {self} does not fit {dtype}, which goes from {ends}"))
                    .help(help))
            }
        }
    }
}
