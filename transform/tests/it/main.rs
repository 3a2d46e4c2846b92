//! Passes from graph to graph: a module for each subject.

mod hoist;
mod passes;
mod sink;
