//! Explanations of graphs.

mod explain;
