//! Cranelift functions from expanded loop nests.
