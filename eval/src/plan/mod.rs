//! Plans ([`compiled`]), those of one function ([`cache`]), differences of a call from them ([`differences`]), and printing of stages at
//! compilation ([`dump`]).

pub mod cache;
pub mod compiled;
pub mod differences;
pub mod dump;
