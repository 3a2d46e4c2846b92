//! Random programs are what they promise, and what is true of all programs is true of them: a module for each subject.

mod explanations;
mod inference;
mod passes;
mod programs;
