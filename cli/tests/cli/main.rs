//! The command line: its pages, the expression language, and programs run in parts.

mod files;
mod language;
mod memory;
mod npy;
mod pages;
mod rows;
mod shell;
