//! Tests of promotion, one subject per module. The policies against the libraries' tables are in `promotion_goldens`.

mod errors;
mod laws;
mod reductions;
mod rules;
