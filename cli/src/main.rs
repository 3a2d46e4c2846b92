//! `ndjit`.

fn main() {}
