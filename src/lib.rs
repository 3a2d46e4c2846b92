//! ndjit
