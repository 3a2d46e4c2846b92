//! Functions on complex numbers: pairs of `f32` or `f64`.

pub(crate) mod arg;
pub(crate) mod divide;
pub(crate) mod exp;
pub(crate) mod hyperbolic;
pub(crate) mod inverse;
pub(crate) mod log;
pub(crate) mod polar;
pub(crate) mod pow;
pub(crate) mod root;
