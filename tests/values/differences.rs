//! Where ndjit means to give other values than NumPy and JAX, or refuses what they take.

use crate::file::Case;

/// An element that is not as measured, or a whole case that is refused or has another dtype.
pub struct Element<'a> {
    pub case: &'a Case,
    pub whole_case: bool,
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
        functions: &["log", "sin", "tan", "asin", "atan", "tanh", "log1p", "log2", "sinh", "asinh", "acosh"],
        elements: |e| e.whole_case && e.case.dtype.is_complex(),
        reason: "these take real dtypes only so far",
    },
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
];
