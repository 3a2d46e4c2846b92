//! Plans ([`compiled`]), those of one function ([`kept`]), differences of a call from them ([`differences`]), and printing of stages at
//! compilation ([`dump`]).

pub mod compiled;
pub mod differences;
pub mod dump;
pub mod kept;
