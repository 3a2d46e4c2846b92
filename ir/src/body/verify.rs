//! Verifying bodies.
