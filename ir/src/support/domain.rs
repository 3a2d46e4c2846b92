//! Reasons why ops do not compute in the dtypes outside their domains, with links. The [op table](crate::op_table) has the domains;
//! this table covers exactly the other dtypes.

use crate::dtype::{DType, DTypeSet};
use crate::op::Op;

/// Dtypes outside an op's domain.
#[derive(Debug)]
pub(super) struct DomainGap {
    op: Op,
    dtypes: DTypeSet,
    pub(super) reason: &'static str,
    pub(super) link: &'static str,
}

/// The page of a function in the Array API standard.
macro_rules! page {
    ($name:literal) => {
        concat!("https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.", $name, ".html")
    };
}

/// The page of a function of `jax.nn`.
macro_rules! nn {
    ($name:literal) => {
        concat!("https://docs.jax.dev/en/latest/_autosummary/jax.nn.", $name, ".html")
    };
}

macro_rules! gaps {
    ($($dtypes:expr, $reason:literal: $($op:ident $link:expr),*;)*) => {
        &[$($(DomainGap { op: Op::$op, dtypes: $dtypes, reason: $reason, link: $link }),*),*]
    };
}

// Functions outside the standard.
const GLIBC_EXP10: &str = "https://sourceware.org/glibc/manual/latest/html_node/Exponents-and-Logarithms.html";
const JAX_CLZ: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.clz.html";
const JAX_DIGAMMA: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.digamma.html";
const JAX_ERF: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.erf.html";
const JAX_ERFC: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.erfc.html";
const JAX_ERF_INV: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.erf_inv.html";
const JAX_EXP2: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.exp2.html";
const JAX_GAMMA: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.scipy.special.gamma.html";
const JAX_LGAMMA: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.lgamma.html";
const JAX_POLYGAMMA: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.polygamma.html";
const JAX_POPCOUNT: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.population_count.html";
const JAX_RSQRT: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.rsqrt.html";
const NUMPY_CBRT: &str = "https://numpy.org/doc/stable/reference/generated/numpy.cbrt.html";
const NUMPY_DEGREES: &str = "https://numpy.org/doc/stable/reference/generated/numpy.degrees.html";
const NUMPY_RADIANS: &str = "https://numpy.org/doc/stable/reference/generated/numpy.radians.html";
const NUMPY_FLOAT_POWER: &str = "https://numpy.org/doc/stable/reference/generated/numpy.float_power.html";
const NUMPY_HEAVISIDE: &str = "https://numpy.org/doc/stable/reference/generated/numpy.heaviside.html";
const NUMPY_LOGADDEXP2: &str = "https://numpy.org/doc/stable/reference/generated/numpy.logaddexp2.html";
const NUMPY_SINC: &str = "https://numpy.org/doc/stable/reference/generated/numpy.sinc.html";
const NUMPY_FMOD: &str = "https://numpy.org/doc/stable/reference/generated/numpy.fmod.html";
const NUMPY_GCD: &str = "https://numpy.org/doc/stable/reference/generated/numpy.gcd.html";
const NUMPY_LCM: &str = "https://numpy.org/doc/stable/reference/generated/numpy.lcm.html";
const NUMPY_ANGLE: &str = "https://numpy.org/doc/stable/reference/generated/numpy.angle.html";
const NUMPY_FREXP: &str = "https://numpy.org/doc/stable/reference/generated/numpy.frexp.html";
const NUMPY_ISCLOSE: &str = "https://numpy.org/doc/stable/reference/generated/numpy.isclose.html";
const NUMPY_LDEXP: &str = "https://numpy.org/doc/stable/reference/generated/numpy.ldexp.html";
const NUMPY_MODF: &str = "https://numpy.org/doc/stable/reference/generated/numpy.modf.html";
const NUMPY_RINT: &str = "https://numpy.org/doc/stable/reference/generated/numpy.rint.html";
const JAX_COMPLEX: &str = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.complex.html";
const TORCH_POLAR: &str = "https://docs.pytorch.org/docs/stable/generated/torch.polar.html";
const TF_MULTIPLY_NO_NAN: &str = "https://www.tensorflow.org/api_docs/python/tf/math/multiply_no_nan";
const RANDOM123: &str = "https://www.thesalmons.org/john/random123/papers/random123sc11.pdf";
const RUST_ROTATE: &str = "https://doc.rust-lang.org/std/primitive.u64.html#method.rotate_left";
const RUST_SATURATING: &str = "https://doc.rust-lang.org/std/primitive.u64.html#method.saturating_add";
const RUST_CTZ: &str = "https://doc.rust-lang.org/std/primitive.u64.html#method.trailing_zeros";

const NO_WORD: DTypeSet = DTypeSet::ALL.difference(DTypeSet::U64);
const EXACT: DTypeSet = DTypeSet::BOOL.union(DTypeSet::INT);
const HALF: DTypeSet = DTypeSet::FLOAT.difference(DTypeSet::PARTS);
const INEXACT: DTypeSet = DTypeSet::FLOAT.union(DTypeSet::COMPLEX);

const GAPS: &[DomainGap] = gaps! {
    EXACT, "it is computed in floating point; policies that allow it convert integers first":
        Exp page!("exp"), Exp2 JAX_EXP2, Expm1 page!("expm1"), Log page!("log"), Log2 page!("log2"), Log10 page!("log10"),
        Log1p page!("log1p"), Sin page!("sin"), Cos page!("cos"), Tan page!("tan"), Asin page!("asin"), Acos page!("acos"),
        Atan page!("atan"), Sinh page!("sinh"), Cosh page!("cosh"), Tanh page!("tanh"), Asinh page!("asinh"),
        Acosh page!("acosh"), Atanh page!("atanh"), Atan2 page!("atan2"),
        Logaddexp page!("logaddexp"), Sqrt page!("sqrt"), Rsqrt JAX_RSQRT, Cbrt NUMPY_CBRT, Hypot page!("hypot"),
        Reciprocal page!("reciprocal"), Divide page!("divide"), MultiplyNoNan TF_MULTIPLY_NO_NAN, Copysign page!("copysign"), Nextafter page!("nextafter"),
        Logaddexp2 NUMPY_LOGADDEXP2, Exp10 GLIBC_EXP10, FloatPower NUMPY_FLOAT_POWER, Sigmoid nn!("sigmoid"),
        LogSigmoid nn!("log_sigmoid"), Softplus nn!("softplus"), Silu nn!("silu"), Gelu nn!("gelu"), GeluTanh nn!("gelu"),
        Heaviside NUMPY_HEAVISIDE, Sinc NUMPY_SINC,
        Degrees NUMPY_DEGREES, Radians NUMPY_RADIANS, Rint NUMPY_RINT, IsClose NUMPY_ISCLOSE, Angle NUMPY_ANGLE,
        Complex JAX_COMPLEX, Polar TORCH_POLAR, FrexpMantissa NUMPY_FREXP, FrexpExponent NUMPY_FREXP,
        ModfFraction NUMPY_MODF, ModfInteger NUMPY_MODF, Ldexp NUMPY_LDEXP,
        Erf JAX_ERF, Erfc JAX_ERFC, Erfinv JAX_ERF_INV, Lgamma JAX_LGAMMA, Tgamma JAX_GAMMA,
        Digamma JAX_DIGAMMA, Polygamma JAX_POLYGAMMA;
    HALF.union(DTypeSet::COMPLEX), "its result is complex, with parts in f32 or f64":
        Complex JAX_COMPLEX, Polar TORCH_POLAR;
    DTypeSet::COMPLEX, "it is defined for real numbers":
        Floor page!("floor"), Ceil page!("ceil"), Trunc page!("trunc"), Clip page!("clip"), Atan2 page!("atan2"),
        FloorDivide page!("floor_divide"), Remainder page!("remainder"), Fmod NUMPY_FMOD, Logaddexp page!("logaddexp"),
        Signbit page!("signbit"), Copysign page!("copysign"), Nextafter page!("nextafter"), Hypot page!("hypot"),
        Logaddexp2 NUMPY_LOGADDEXP2, Exp10 GLIBC_EXP10, Relu nn!("relu"), Heaviside NUMPY_HEAVISIDE,
        Cbrt NUMPY_CBRT, Degrees NUMPY_DEGREES, Radians NUMPY_RADIANS, Ldexp NUMPY_LDEXP,
        FrexpMantissa NUMPY_FREXP, FrexpExponent NUMPY_FREXP, ModfFraction NUMPY_MODF, ModfInteger NUMPY_MODF,
        Erf JAX_ERF, Erfc JAX_ERFC, Erfinv JAX_ERF_INV, Lgamma JAX_LGAMMA, Tgamma JAX_GAMMA, Gelu nn!("gelu"),
        Digamma JAX_DIGAMMA, Polygamma JAX_POLYGAMMA;
    DTypeSet::COMPLEX, "JAX's takes complex numbers; here this is not written yet":
        Sigmoid nn!("sigmoid"), LogSigmoid nn!("log_sigmoid"), Softplus nn!("softplus"), Silu nn!("silu"), GeluTanh nn!("gelu"),
        Sinc NUMPY_SINC;
    DTypeSet::BOOL, "it is defined for numbers, and bool is none":
        Subtract page!("subtract"), Negative page!("negative"), Sign page!("sign"), Square page!("square"),
        Round page!("round"), FloorDivide page!("floor_divide"), Remainder page!("remainder"), Fmod NUMPY_FMOD, Relu nn!("relu"),
        BitwiseLeftShift page!("bitwise_left_shift"), BitwiseRightShift page!("bitwise_right_shift"),
        Pow page!("pow"), Gcd NUMPY_GCD, Lcm NUMPY_LCM, Popcount JAX_POPCOUNT, Clz JAX_CLZ, Ctz RUST_CTZ,
        RotateLeft RUST_ROTATE, RotateRight RUST_ROTATE,
        SaturatingAdd RUST_SATURATING, SaturatingSubtract RUST_SATURATING,
        MulAdd "https://doc.rust-lang.org/std/primitive.f64.html#method.mul_add";
    INEXACT, "it is about the bits of integers":
        BitwiseAnd page!("bitwise_and"), BitwiseOr page!("bitwise_or"), BitwiseXor page!("bitwise_xor"),
        BitwiseInvert page!("bitwise_invert"), BitwiseLeftShift page!("bitwise_left_shift"),
        BitwiseRightShift page!("bitwise_right_shift"), Popcount JAX_POPCOUNT, Clz JAX_CLZ, Ctz RUST_CTZ,
        RotateLeft RUST_ROTATE, RotateRight RUST_ROTATE;
    NO_WORD, "keys and counters are words of 64 bits":
        Threefry2x32 RANDOM123;
    INEXACT, "floats have no limits to stop at but infinities":
        SaturatingAdd RUST_SATURATING, SaturatingSubtract RUST_SATURATING;
    INEXACT, "it is about divisors of integers":
        Gcd NUMPY_GCD, Lcm NUMPY_LCM;
    DTypeSet::NUMERIC, "it is computed in bool; policies that allow it compare numbers with zero first":
        LogicalAnd page!("logical_and"), LogicalOr page!("logical_or"), LogicalXor page!("logical_xor"),
        LogicalNot page!("logical_not");
};

/// The reason why `op` does not compute in `dtype` on any device; `None` if it does on some.
pub(super) fn domain_gap(op: Op, dtype: DType) -> Option<&'static DomainGap> {
    GAPS.iter().find(|gap| gap.op == op && gap.dtypes.contains(dtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_covers_what_domains_leave_out() {
        for (op, dtype) in Op::ALL.into_iter().flat_map(|op| DType::ALL.map(|dtype| (op, dtype))) {
            let rows = GAPS.iter().filter(|gap| gap.op == op && gap.dtypes.contains(dtype)).count();
            assert_eq!(rows, usize::from(!op.row().domain.contains(dtype)), "{op} {dtype}");
        }
        for gap in GAPS.iter().filter(|gap| gap.link.starts_with("https://data-apis.org/")) {
            assert!(gap.link.ends_with(&format!("/array_api.{}.html", gap.op)), "{gap:?}");
        }
    }
}
