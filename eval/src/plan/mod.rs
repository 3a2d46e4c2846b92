//! Plans ([`compiled`]), those of one function ([`kept`]), in what a call differs from them ([`differences`]), and stages that are printed as they
//! are made ([`dump`]).

pub mod compiled;
pub mod differences;
pub mod dump;
pub mod kept;
