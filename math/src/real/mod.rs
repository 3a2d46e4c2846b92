//! Functions on `f32` and `f64`.

pub(crate) mod asin;
pub(crate) mod atan;
pub(crate) mod degrees;
pub(crate) mod erf;
pub(crate) mod erf_table;
pub(crate) mod erfinv;
pub(crate) mod exp;
pub(crate) mod expm1;
pub(crate) mod finite;
pub(crate) mod float_parts;
pub(crate) mod gamma;
pub(crate) mod gelu;
pub(crate) mod hyperbolic;
pub(crate) mod inverse_hyperbolic;
pub(crate) mod log;
pub(crate) mod log1p;
pub(crate) mod log_sum;
pub(crate) mod logistic;
pub(crate) mod pow;
pub(crate) mod remainder;
pub(crate) mod root;
pub(crate) mod scale;
pub(crate) mod sinc;
pub(crate) mod softplus;
pub(crate) mod trig;
