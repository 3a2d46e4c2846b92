//! Tests of expressions.

mod language;
mod numexpr;
