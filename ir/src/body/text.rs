//! Printing bodies.
