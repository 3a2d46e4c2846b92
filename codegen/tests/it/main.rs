//! Passes and code generators: a module for each subject.

mod fuse;
mod reductions;
mod wgsl;
