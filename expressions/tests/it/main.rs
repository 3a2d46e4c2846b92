//! Tests of expressions.

mod language;
