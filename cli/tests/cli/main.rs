//! The command line: its pages, and programs run in parts.

mod files;
mod memory;
mod npy;
mod pages;
mod rows;
mod shell;
