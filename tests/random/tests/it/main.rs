//! Properties of random programs, and of all programs, tested on them: a module for each subject.

mod explanations;
mod inference;
mod passes;
mod programs;
