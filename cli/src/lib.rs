//! The command line of ndjit, as a library, so that it can be tested: [`expression`]s.

#![forbid(unsafe_code)]

pub mod expression;
