//! The command line: what its pages show, its language, programs run some rows at a time.

mod files;
mod language;
mod memory;
mod npy;
mod pages;
mod rows;
mod shell;
