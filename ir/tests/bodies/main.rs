//! Tests of bodies, one subject per module: the interpreter's answers against independent references.

mod cast;
mod complex;
mod float;
mod float_parts;
mod half_floats;
mod int;
mod math;
mod nan;
mod powers;
mod reduce;
mod roots;
mod structure;
mod support;
mod trig;
