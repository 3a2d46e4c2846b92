//! Exact results, and errors relative to them.

use crate::format::{F64, Format};
use crate::multi::Real;

/// An exact result, to the precision of the reference.
pub trait Exact {
    /// The nearest value of a format.
    fn nearest(&self, format: Format) -> f64;

    /// The distance of `got` in units in the last place of `at`. Both are finite.
    fn error(&self, got: f64, format: Format, at: f64) -> f64;
}

/// Rounded to `f64`: for `f64` results the error is known to half a unit, which is added.
impl Exact for f64 {
    fn nearest(&self, format: Format) -> f64 {
        format.nearest(*self)
    }

    fn error(&self, got: f64, format: Format, at: f64) -> f64 {
        let distance = ((got - self) / format.ulp(at)).abs();
        if format == F64 { distance + 0.5 } else { distance }
    }
}

impl Exact for Real {
    fn nearest(&self, format: Format) -> f64 {
        Real::nearest(self, format)
    }

    fn error(&self, got: f64, format: Format, at: f64) -> f64 {
        (self - &Real::from(got)).in_units(format.last_place(at)).abs()
    }
}
