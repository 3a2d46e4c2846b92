//! Every example of the pages that ndjit's promotion follows, as a test named after it.
//!
//! Each test stands under its number in the page's order (`J06`), the original code or sentence, and a note where page and
//! living library disagree. A page's module opens with its address and version. [`count`] checks that no example is missing.
//!
//! | numbers | page | modules |
//! |---|---|---|
//! | J | "Type promotion semantics" of JAX | [`jax`] [`jax_scalars`] [`jax_strict`] |
//! | K | the same page in December 2019 | [`jax_2019`] |
//! | P | JEP 9407, "Design of Type Promotion Semantics for JAX" | [`jep`] … |

mod count;
mod support;

mod ivy_defaults;
mod ivy_docs;
mod ivy_promotion;
mod ivy_types;
mod jax;
mod jax_2019;
mod jax_scalars;
mod jax_strict;
mod jep;
mod jep_adopted;
mod jep_mixed;
mod jep_options;
