//! Passes and code generators: a module for each subject.

mod fuse;
mod passes;
mod reductions;
mod wgsl;
