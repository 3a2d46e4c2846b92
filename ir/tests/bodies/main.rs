//! Tests of bodies, one subject per module: the interpreter's answers against independent references.

mod atan2;
mod cast;
mod complex;
mod complex_exp_log;
mod complex_inverse;
mod complex_support;
mod complex_trig;
mod degrees;
mod exp_log;
mod float;
mod float_parts;
mod float_scale;
mod half_floats;
mod int;
mod log_sum;
mod math;
mod nan;
mod powers;
mod reduce;
mod roots;
mod structure;
mod support;
mod trig;
