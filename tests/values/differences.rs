//! Where ndjit means to give other values than NumPy and JAX, or refuses what they take.

use crate::file::Case;
use ndjit_ir::DType;

/// An element that is not as measured, or a whole case that is refused or has another dtype.
pub struct Element<'a> {
    pub case: &'a Case,
    pub whole_case: bool,
    /// The operands' parts, as numbers; empty for a whole case.
    pub parts: Vec<f64>,
}

/// Elements that differ on purpose.
pub struct Difference {
    /// Function names.
    pub functions: &'static [&'static str],
    /// Which elements.
    pub elements: fn(&Element) -> bool,
    pub reason: &'static str,
}

impl Difference {
    pub fn explains(&self, element: &Element<'_>) -> bool {
        self.functions.contains(&element.case.function.as_str()) && (self.elements)(element)
    }
}

/// All deliberate differences. Each is needed by an element.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        functions: &["multiply"],
        elements: |e| !e.whole_case && e.case.dtype.is_complex(),
        reason: "NumPy and JAX fuse the products of complex numbers where the machine can; here each is rounded, on every machine",
    },
    Difference {
        functions: &["sign"],
        elements: |e| !e.whole_case && e.case.dtype.is_complex(),
        reason: "NumPy and JAX divide by a modulus that overflows, or by one of few bits",
    },
    Difference {
        functions: &["bitwise_count"],
        elements: |e| e.whole_case,
        reason: "counts keep the operand's dtype, as jax.lax.population_count; NumPy's bitwise_count gives u8 and takes magnitudes",
    },
    Difference {
        functions: &["gcd", "lcm"],
        elements: |e| e.whole_case && e.case.dtype == DType::Bool,
        reason: "divisors are of integers, and bool is none, as in JAX",
    },
    Difference {
        functions: &["pow"],
        elements: |e| !e.whole_case && e.case.dtype.is_int() && e.case.dtype.is_signed(),
        reason: "a negative exponent gives the exact result truncated; NumPy refuses it, JAX counts its bits as unsigned",
    },
    Difference {
        functions: &["rsqrt"],
        elements: |e| !e.whole_case && e.case.dtype == DType::F32,
        reason: "JAX takes subnormal numbers for zeros",
    },
    Difference {
        functions: &["fmin", "fmax"],
        elements: |e| !e.whole_case && e.case.dtype.is_float(),
        reason: "-0 is less than +0 here, as in minimum and maximum; NumPy and JAX take either",
    },
    Difference {
        functions: &["tanh"],
        elements: |e| !e.whole_case && e.case.dtype.is_int(),
        reason: "JAX's tanh is 1 from 7.9 on, 4 ULP from the exact result",
    },
    Difference {
        functions: &["sin", "sinh"],
        elements: |e| !e.whole_case && e.case.dtype.is_complex() && e.parts.iter().all(|part| !part.is_finite()),
        reason: "an infinite part beside NaN has no specified sign: here that of the operand's infinite part",
    },
    Difference {
        functions: &["pow"],
        elements: |e| !e.whole_case && e.case.dtype == DType::C64,
        reason: "NumPy and JAX round each step: parts that cancel and huge angles are off, products of infinities NaN",
    },
    Difference {
        functions: &["lgamma"],
        elements: |e| {
            !e.whole_case && e.case.dtype.is_float() && (e.parts[0] == f64::NEG_INFINITY || e.parts[0] > 1e100)
        },
        reason: "lgamma(-inf) is +inf as in C, SciPy's is -inf; for three huge arguments SciPy's is one unit off (1200 bits decide)",
    },
];
