//! The command line: what its pages show, its language, programs run some rows at a time.

mod language;
mod pages;
mod rows;
mod shell;
