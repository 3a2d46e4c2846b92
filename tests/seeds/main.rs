//! Every example of the pages that ndjit's promotion follows, as a test with a matching name.
//!
//! Above each test stand its number in the page's order (`J06`), the original code or sentence, and, where page and living
//! library disagree, or ndjit with both, a note. A page's modules open with its address and version. [`count`] checks that no
//! example is missing.
//!
//! | numbers | page | modules |
//! |---|---|---|
//! | J | JAX, "Type promotion semantics" | [`jax`], [`jax_scalars`], [`jax_strict`] |
//! | K | the same page in December 2019 | [`jax_2019`] |
//! | P | JEP 9407, "Design of Type Promotion Semantics for JAX" | [`jep`], [`jep_mixed`], [`jep_options`], [`jep_adopted`] |
//! | I | Ivy, "Data Types" | [`ivy_types`], [`ivy_promotion`], [`ivy_defaults`], [`ivy_support`], [`ivy_casting`] |
//! | R | pages and docstrings around Ivy's page | [`ivy_docs`], [`ivy_support`] |
//!
//! The tables of the pages are in `tables/`, as printed there. Examples of process-wide settings are in
//! `tests/seeds_global.rs`.

mod count;
mod support;

mod ivy_casting;
mod ivy_defaults;
mod ivy_docs;
mod ivy_promotion;
mod ivy_support;
mod ivy_types;
mod jax;
mod jax_2019;
mod jax_scalars;
mod jax_strict;
mod jep;
mod jep_adopted;
mod jep_mixed;
mod jep_options;
