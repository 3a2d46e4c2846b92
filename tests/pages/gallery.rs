//! The programs of examples/ in docs/examples.md, with their output and pictures.

#![allow(clippy::duplicate_mod, reason = "each program is one of its own, and some share a file")]

use super::{Examples, examples};
use ndjit::Result;

/// Runs a program's `main`.
macro_rules! programs {
    ($($name:ident $path:literal;)*) => {
        $(
            #[path = $path]
            mod $name;
        )*

        /// The programs, under their names in the page.
        mod run {
            use super::*;

            $(pub fn $name() -> Result<()> {
                super::$name::main().unwrap_or_else(|error| panic!("{}: {error}", stringify!($name)));
                Ok(())
            })*
        }
        use run::*;

        examples!($($name)*);
    };
}

programs! {
    softmax "../../examples/softmax.rs";
    black_scholes "../../examples/black_scholes.rs";
    option_price "../../examples/option_price.rs";
    kmeans "../../examples/kmeans.rs";
    mandelbrot "../../examples/pictures/mandelbrot.rs";
    heat "../../examples/pictures/heat.rs";
    filters "../../examples/pictures/filters.rs";
    nbody "../../examples/nbody.rs";
    neural "../../examples/pictures/neural.rs";
    seasons "../../examples/pictures/seasons.rs";
    regression "../../examples/regression.rs";
    lotka_volterra "../../examples/lotka_volterra.rs";
    per_example "../../examples/per_example.rs";
    implied_volatility "../../examples/implied_volatility.rs";
    hazards "../../examples/hazards.rs";
    lattice "../../examples/lattice.rs";
    threads "../../examples/threads.rs";
}
