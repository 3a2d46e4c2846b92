//! Tests across crates that need no process of their own: a module for each subject. `cargo test --workspace --all-features --test it
//! SUBJECT` runs one.

#[macro_use]
mod refused;

mod array_api;
mod batching;
mod book;
mod casting;
mod composed;
mod contractions;
mod control;
#[cfg(feature = "json")]
mod control_tools;
mod crates;
mod creation;
mod derivative_rules;
mod derivatives;
#[cfg(feature = "gpu")]
mod devices;
mod differences;
mod display;
mod dlpack;
mod explain;
mod face_errors;
mod face_runs;
mod formulas;
mod fp_contract;
mod fusion;
mod house;
mod indexing;
mod indexing_laws;
mod indexing_ranges;
#[cfg(feature = "json")]
mod inspect;
#[cfg(feature = "ndarray")]
mod interop;
mod jax;
mod joining_errors;
mod joins;
mod loop_calls;
mod loop_elements;
mod loops;
mod movement_errors;
#[cfg(feature = "npy")]
mod npy_files;
mod numpy_functions;
mod ops;
mod page;
mod policies;
mod positions;
mod program;
mod queries;
mod random;
mod random_numbers;
mod random_transforms;
mod reductions;
mod rows;
#[cfg(feature = "saved")]
mod saved;
mod scan_rows;
mod scans;
mod scatters;
mod slices_dynamic;
mod slopes_explained;
mod softmax;
mod sorting;
mod spellings;
mod starts;
mod stores;
mod texts;
mod trees;
mod trybuild;
mod value_independence;
