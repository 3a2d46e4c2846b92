//! Deliberate differences from NumPy and JAX in values and errors: a rule for each class of operands, with the result there.
//! [docs/numpy.md](../../docs/numpy.md) shows them.

use crate::formulas::{
    Bounded, lgamma, lgamma_at_its_zeros, log_of_sum, power, quotient, reciprocal_root, small_log1p,
};
use ndjit_ir::DType;

/// Operands of a function: those of an element, or of a whole case with an error or a dtype unlike both libraries'.
pub struct Element<'a> {
    pub function: &'a str,
    pub dtype: DType,
    pub whole_case: bool,
    /// Each operand's parts, as `f64`; empty for a whole case.
    pub operands: Vec<[f64; 2]>,
    /// Each operand's first word, for integers.
    pub integers: Vec<i128>,
}

/// ndjit's result in a rule's class, computed by an independent method.
pub enum Answer {
    /// An error.
    Refused,
    /// Integers of the operand's dtype, unlike both libraries'.
    OwnDType(fn(&Element<'_>) -> i128),
    /// These parts, rounded to the dtype: the same bits, with any NaN.
    Exactly(fn(&Element<'_>) -> [f64; 2]),
    /// Parts within the op's bound of these.
    Near(fn(&Element<'_>) -> [f64; 2]),
    /// Parts within the given bound of these; `None` if C leaves it open.
    Within(fn(&Element<'_>) -> Option<Bounded>),
    Integer(fn(&Element<'_>) -> i128),
}

pub struct Rule {
    /// Function names.
    pub functions: &'static [&'static str],
    pub class: fn(&Element<'_>) -> bool,
    pub answer: Answer,
    /// The class, ndjit's result, the libraries' results, and the reason: cells of the table of docs/numpy.md.
    pub says: [&'static str; 4],
}

impl Rule {
    pub fn holds(&self, element: &Element<'_>) -> bool {
        self.functions.contains(&element.function)
            && element.whole_case == matches!(self.answer, Answer::Refused | Answer::OwnDType(_))
            && (self.class)(element)
    }

    /// The row of the page.
    pub fn row(&self) -> String {
        let names: Vec<String> = self.functions.iter().map(|name| format!("`{name}`")).collect();
        format!("| {} | {} |\n", names.join(", "), self.says.join(" | "))
    }
}

/// The largest finite value and the smallest normal one of a dtype's parts.
fn range(dtype: DType) -> (f64, f64) {
    match dtype.real() {
        DType::F16 => (65504.0, 2f64.powi(-14)),
        DType::Bf16 => (f32::from_bits(0x7f7f_0000).into(), f32::MIN_POSITIVE.into()),
        DType::F32 => (f32::MAX.into(), f32::MIN_POSITIVE.into()),
        _ => (f64::MAX, f64::MIN_POSITIVE),
    }
}

/// A value of the dtype's parts, after each operation.
pub fn rounded(x: f64, dtype: DType) -> f64 {
    if dtype.real() == DType::F32 { f64::from(x as f32) } else { x }
}

/// `a * b` and `a * b + c`, rounded once each.
fn product(a: f64, b: f64, dtype: DType) -> f64 {
    rounded(a * b, dtype)
}

fn fused(a: f64, b: f64, c: f64, dtype: DType) -> f64 {
    if dtype.real() == DType::F32 { (a as f32).mul_add(b as f32, c as f32).into() } else { a.mul_add(b, c) }
}

fn factors(e: &Element<'_>) -> ([f64; 2], [f64; 2]) {
    (e.operands[0], *e.operands.last().expect("an operand"))
}

/// `(ac - bd, ad + bc)`, each product and sum rounded.
fn rounded_product(e: &Element<'_>) -> [f64; 2] {
    let ([a, b], [c, d]) = factors(e);
    let of = |x, y| product(x, y, e.dtype);
    [rounded(of(a, c) - of(b, d), e.dtype), rounded(of(a, d) + of(b, c), e.dtype)]
}

/// Whether fusing one of the products, or exact ones, gives other parts.
fn fusion_matters(e: &Element<'_>) -> bool {
    let ([a, b], [c, d]) = factors(e);
    let of = |x, y| product(x, y, e.dtype);
    let differs = |x: f64, y: f64| x.to_bits() != y.to_bits() && !(x.is_nan() && y.is_nan());
    let [re, im] = rounded_product(e);
    let fused = |x, y, z| fused(x, y, z, e.dtype);
    differs(re, fused(a, c, -of(b, d)))
        || differs(re, fused(-b, d, of(a, c)))
        || differs(im, fused(a, d, of(b, c)))
        || differs(im, fused(b, c, of(a, d)))
}

/// Dividend and divisor.
fn quotient_of(e: &Element<'_>) -> ([f64; 2], [f64; 2]) {
    if e.function == "reciprocal" { ([1.0, 0.0], e.operands[0]) } else { factors(e) }
}

/// The unit in the last place of a part.
fn unit(dtype: DType) -> f64 {
    if dtype.real() == DType::F32 { f32::EPSILON.into() } else { f64::EPSILON }
}

pub fn finite(z: [f64; 2]) -> bool {
    z.iter().all(|part| part.is_finite())
}

fn infinite(z: [f64; 2]) -> bool {
    z.iter().any(|part| part.is_infinite())
}

/// Whether the larger part is near the largest or the smallest normal value, or less.
fn extreme(z: [f64; 2], dtype: DType) -> bool {
    let ((largest, least), size) = (range(dtype), z[0].abs().max(z[1].abs()));
    size > largest / 4.0 || size != 0.0 && size < least * 4.0
}

/// `z / |z|`, of `z` scaled by a power of two.
fn direction(e: &Element<'_>) -> [f64; 2] {
    let [re, im] = e.operands[0];
    let scale = if re.abs().max(im.abs()) < 1.0 { 2f64.powi(600) } else { 2f64.powi(-600) };
    let (re, im) = (re * scale, im * scale);
    [re / re.hypot(im), im / re.hypot(im)]
}

/// The value of an integer or a float operand.
fn number(e: &Element<'_>) -> f64 {
    e.operands[0][0]
}

/// Whether JAX flushes this operand to zero.
fn flushed(e: &Element<'_>) -> bool {
    let x = number(e);
    e.dtype.is_float() && e.dtype != DType::F16 && x != 0.0 && x.abs() < range(e.dtype).1
}

/// Whether a function of this operand is computed in single precision.
fn small_integer(e: &Element<'_>) -> bool {
    e.dtype.is_int() && e.dtype.bytes() <= 4
}

/// Whether neither a function's operands nor integers computed in single precision are halves.
fn single_or_double(e: &Element<'_>) -> bool {
    small_integer(e) || matches!(e.dtype, DType::F32 | DType::F64)
}

/// The unit in the last place of a function's real result.
fn result_unit(e: &Element<'_>) -> f64 {
    if e.dtype == DType::F64 { f64::EPSILON } else { f32::EPSILON.into() }
}

/// All deliberate differences. Each is needed by an element.
pub const RULES: &[Rule] = &[
    Rule {
        functions: &["multiply", "square"],
        class: |e| e.dtype.is_complex() && fusion_matters(e),
        answer: Answer::Exactly(rounded_product),
        says: [
            "complex numbers of which a fused product gives other parts",
            "`(ac - bd) + (ad + bc)i`, each product and sum rounded",
            "products fused where the machine can",
            "the same bits on every machine; IEEE 754 rounds each operation",
        ],
    },
    Rule {
        functions: &["divide", "reciprocal"],
        class: |e| {
            let (x, y) = quotient_of(e);
            let special =
                e.function == "divide" && (infinite(x) && finite(y) || finite(x) && infinite(y) || y == [0.0; 2]);
            let plain = finite(x) && finite(y) && y != [0.0; 2];
            e.dtype.is_complex() && (special || plain && (extreme(x, e.dtype) || extreme(y, e.dtype)))
        },
        answer: Answer::Within(|e| {
            let (x, y) = quotient_of(e);
            Some(Bounded::share(quotient(x, y, range(e.dtype).0), 4.0 * unit(e.dtype)))
        }),
        says: [
            "complex numbers of which one has an infinite part and the other is finite, or one is near the largest or the least number; divisors that are 0",
            "an infinity, a zero or the quotient as C99 G.5.1 has them; beside a part that overflows a finite one may be 0",
            "NaN and infinities where steps overflow, 0 for divisors whose reciprocal underflows: Smith's method",
            "an infinity divided by a number is an infinity",
        ],
    },
    Rule {
        functions: &["sign"],
        class: |e| {
            let z = e.operands[..].first().copied().unwrap_or_default();
            let (largest, least) = range(e.dtype);
            e.dtype.is_complex()
                && finite(z)
                && z != [0.0; 2]
                && (z[0].hypot(z[1]) > largest || z[0].hypot(z[1]) < least * 4.0)
        },
        answer: Answer::Near(direction),
        says: [
            "complex numbers whose modulus overflows, or is next to the subnormal ones",
            "`x / \\|x\\|`, at most 4 ULP off",
            "0, or what a modulus of few bits gives",
            "the Array API defines `sign` by the quotient",
        ],
    },
    Rule {
        functions: &["pow"],
        class: |e| e.dtype.is_complex(),
        answer: Answer::Within(|e| power(e.operands[0], e.operands[1], e.dtype == DType::C64)),
        says: [
            "complex numbers",
            "`exp(y log(x))`, rounded once; powers to small integers exact",
            "each step rounded: parts that cancel and huge angles are off, products of infinities NaN",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["exp2"],
        class: |e| e.dtype.is_complex(),
        answer: Answer::Within(|e| power([2.0, 0.0], e.operands[0], e.dtype == DType::C64)),
        says: [
            "complex numbers",
            "`2^z`, its angle from the imaginary part itself",
            "`exp(z log(2))` of a rounded product: large angles are off",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["expm1"],
        class: |e| e.dtype.is_complex() && finite(e.operands[0]),
        answer: Answer::Within(|e| {
            let [x, y] = e.operands[0];
            let (half, size) = ((y / 2.0).sin(), x.exp());
            let re = x.exp_m1() * y.cos() - 2.0 * half * half;
            (x < range(e.dtype).0.ln() - 1.0).then(|| Bounded::share([re, size * y.sin()], 8.0 * unit(e.dtype)))
        }),
        says: [
            "complex numbers",
            "`exp(z) - 1` in each part",
            "parts that cancel are off",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["expm1"],
        class: |e| e.dtype.is_complex() && e.operands[0][0].is_infinite() && !e.operands[0][1].is_finite(),
        answer: Answer::Exactly(|e| match e.operands[0] {
            [f64::INFINITY, _] => [f64::INFINITY, f64::NAN],
            [_, y] if y.is_nan() => [-1.0, 0.0],
            [_, y] => [-1.0, 0f64.copysign(y)],
        }),
        says: [
            "complex `±inf + y i` for infinite `y` and NaN",
            "`inf + NaN i` and `-1 ± 0 i`, `exp` less 1",
            "`NaN + NaN i`",
            "C99 G.6.3.1 for `exp`",
        ],
    },
    Rule {
        functions: &["acos"],
        class: |e| e.dtype.is_complex() && e.operands[0][0].is_infinite() && e.operands[0][1].is_nan(),
        answer: Answer::Exactly(|_| [f64::NAN, f64::INFINITY]),
        says: ["complex `±inf + NaN i`", "`NaN + inf i`", "`NaN - inf i`", "C99 G.6.1.1 leaves the sign open"],
    },
    Rule {
        functions: &["sin"],
        class: |e| e.dtype.is_complex() && e.operands[0][1] == f64::NEG_INFINITY && !e.operands[0][0].is_finite(),
        answer: Answer::Exactly(|_| [f64::NAN, f64::NEG_INFINITY]),
        says: [
            "complex `x - inf i` for infinite `x` and NaN",
            "`NaN - inf i`",
            "`NaN + inf i`",
            "C99 G.6.2.5 leaves the sign open: here it is that of the infinite part",
        ],
    },
    Rule {
        functions: &["sinh"],
        class: |e| e.dtype.is_complex() && e.operands[0][0] == f64::NEG_INFINITY && !e.operands[0][1].is_finite(),
        answer: Answer::Exactly(|_| [f64::NEG_INFINITY, f64::NAN]),
        says: [
            "complex `-inf + y i` for infinite `y` and NaN",
            "`-inf + NaN i`",
            "`inf + NaN i`",
            "C99 G.6.2.5 leaves the sign open: here it is that of the infinite part",
        ],
    },
    Rule {
        functions: &["bitwise_count", "gcd", "lcm", "round"],
        class: |e| e.dtype == DType::Bool,
        answer: Answer::Refused,
        says: ["bool", "an error", "u8, bool or f16 in NumPy", "bool is no integer, as in JAX"],
    },
    Rule {
        functions: &["bitwise_count"],
        class: |e| e.dtype.is_int(),
        answer: Answer::OwnDType(|e| {
            let stored = e.integers[0] as u64 & (u64::MAX >> (64 - 8 * e.dtype.bytes()));
            stored.count_ones().into()
        }),
        says: [
            "integers",
            "the operand's dtype, and the bits as stored",
            "u8 and the bits of magnitudes in NumPy",
            "as `jax.lax.population_count`",
        ],
    },
    Rule {
        functions: &["pow"],
        class: |e| e.dtype.is_int() && e.dtype.is_signed() && e.integers[1] < 0,
        answer: Answer::Integer(|e| match e.integers[0] {
            1 => 1,
            -1 if e.integers[1] % 2 != 0 => -1,
            -1 => 1,
            _ => 0,
        }),
        says: [
            "signed integers, negative exponents",
            "the real result, truncated: 0, 1 or -1",
            "an error in NumPy; JAX takes six bits of the exponent as unsigned",
            "nothing that data holds can trap",
        ],
    },
    Rule {
        functions: &["rsqrt"],
        class: flushed,
        answer: Answer::Near(|e| [number(e).sqrt().recip(), 0.0]),
        says: [
            "subnormal `f32`, `f64` and `bf16`",
            "`1 / sqrt(x)`, NaN for negative numbers",
            "infinities in JAX, which takes them for zeros",
            "IEEE 754 has subnormal numbers",
        ],
    },
    Rule {
        functions: &["fmin", "fmax"],
        class: |e| {
            e.dtype.is_float()
                && e.operands.iter().all(|x| x[0] == 0.0)
                && e.operands[0][0].is_sign_negative() != e.operands[1][0].is_sign_negative()
        },
        answer: Answer::Exactly(|e| [if e.function == "fmin" { -0.0 } else { 0.0 }, 0.0]),
        says: [
            "zeros of both signs",
            "-0 is less than +0, as in `minimum` and `maximum`",
            "either",
            "operands may be swapped without a change; IEEE 754-2019 `minimumNumber`",
        ],
    },
    Rule {
        functions: &["exp", "exp2", "sinh", "cosh", "tanh"],
        class: small_integer,
        answer: Answer::Near(|e| {
            let function = match e.function {
                "exp" => f64::exp,
                "exp2" => f64::exp2,
                "sinh" => f64::sinh,
                "cosh" => f64::cosh,
                _ => f64::tanh,
            };
            [function(number(e)), 0.0]
        }),
        says: [
            "integers of at most 32 bits",
            "an `f32` next to the exact result, subnormal ones too",
            "JAX's `f32` is many ULP off for large operands, 0 for subnormal results; NumPy's dtype depends on the width",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["logaddexp", "logaddexp2"],
        class: |e| single_or_double(e) && e.operands.iter().all(|x| x[0].is_finite()),
        answer: Answer::Within(|e| {
            let base = if e.function == "logaddexp" { std::f64::consts::E } else { 2.0 };
            Some(log_of_sum(e.operands[0][0], e.operands[1][0], base, result_unit(e)))
        }),
        says: [
            "finite numbers",
            "at most 2 ULP off, where the sum cancels one of the larger operand's",
            "`max + log1p(exp(-difference))` rounded in each step: of results near 0 few digits are left",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["sigmoid"],
        class: |e| e.dtype.is_float() && number(e).is_finite() && number(e) < range(e.dtype).1.ln(),
        answer: Answer::Near(|e| [number(e).exp(), 0.0]),
        says: [
            "floats whose result is subnormal or 0",
            "`e^x`",
            "0 for subnormal results: `exp(-x)` overflows",
            "IEEE 754 has subnormal numbers",
        ],
    },
    Rule {
        functions: &["sign"],
        class: |e| e.dtype.is_float() && number(e) == 0.0,
        answer: Answer::Exactly(|_| [0.0, 0.0]),
        says: ["-0", "+0", "-0 in JAX and ml_dtypes, +0 in NumPy", "the Array API has one result for both zeros"],
    },
    Rule {
        functions: &["floor_divide", "fmod"],
        class: |e| e.dtype == DType::Bool && e.integers[1] == 0,
        answer: Answer::Integer(|_| 0),
        says: [
            "bool, divisors `false`",
            "0, as for all integers",
            "0 in NumPy, -1, -2 and the dividend in JAX",
            "nothing that data holds can trap",
        ],
    },
    Rule {
        functions: &["rsqrt"],
        class: |e| e.dtype.is_complex() && finite(e.operands[0]) && e.operands[0] != [0.0; 2],
        answer: Answer::Within(|e| Some(reciprocal_root(e.operands[0], unit(e.dtype)))),
        says: [
            "complex numbers",
            "`1 / sqrt(z)`",
            "`exp(-log(z) / 2)` in JAX: parts that cancel are off, subnormal numbers are zeros",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["log1p"],
        class: |e| e.dtype.is_complex() && e.operands[0].iter().all(|part| part.abs() < 2f64.powi(-10)),
        answer: Answer::Within(|e| Some(small_log1p(e.operands[0], unit(e.dtype)))),
        says: [
            "complex numbers next to 0",
            "`log(1 + z)` with the square of the imaginary part, of which half may be subnormal",
            "0 in NumPy, the square gone in JAX",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["lgamma"],
        class: |e| e.dtype.is_float() && number(e) == f64::NEG_INFINITY,
        answer: Answer::Exactly(|_| [f64::INFINITY, 0.0]),
        says: ["-inf", "+inf", "-inf in SciPy", "C99 F.9.5.3"],
    },
    Rule {
        functions: &["lgamma"],
        class: flushed,
        answer: Answer::Near(|e| [-number(e).abs().ln(), 0.0]),
        says: [
            "subnormal `f32`, `f64` and `bf16`",
            "`-log(\\|x\\|)`",
            "infinities in JAX and SciPy, which take some of them for zeros",
            "IEEE 754 has subnormal numbers",
        ],
    },
    Rule {
        functions: &["lgamma"],
        class: |e| single_or_double(e) && [1.0, 2.0].iter().any(|zero| (number(e) - zero).abs() <= 1e-4),
        answer: Answer::Near(|e| [lgamma_at_its_zeros(number(e)), 0.0]),
        says: [
            "numbers next to 1 and 2",
            "at most the bound of the documentation off",
            "digits lost beside the zeros of the function in SciPy and JAX",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["lgamma"],
        class: |e| single_or_double(e) && number(e).is_finite(),
        answer: Answer::Within(|e| Some(lgamma(number(e), result_unit(e)))),
        says: [
            "other finite numbers",
            "at most the bound of the documentation off",
            "a unit more in SciPy for huge numbers; in JAX up to hundreds between the zeros of negative ones",
            "the bound that the documentation states",
        ],
    },
    Rule {
        functions: &["logaddexp", "logaddexp2", "sigmoid", "softplus", "silu", "gelu", "sinc", "erf"],
        class: |e| e.dtype.is_complex(),
        answer: Answer::Refused,
        says: [
            "complex numbers",
            "an error",
            "a complex number, of those that JAX has",
            "these functions are of real numbers",
        ],
    },
];
