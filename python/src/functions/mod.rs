//! Functions that are no rows of a table, by theme. Each takes arguments as the Array API writes them, and calls the library.

pub mod creation;
pub mod dtypes;
pub mod manipulation;
pub mod products;
pub mod searching;
