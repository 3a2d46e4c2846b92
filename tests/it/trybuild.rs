//! Wrong spellings are compile errors, and the compiler suggests a fix.

use std::process::Command;

/// The compiler of the messages in `tests/wrong/*.stderr`: the minimum version of this crate. Other versions differ
/// in wording and order.
const COMPILER: &str = concat!("rustc ", env!("CARGO_PKG_RUST_VERSION"), ".");

#[test]
fn wrong_spellings() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap().stdout;
    if String::from_utf8_lossy(&version).starts_with(COMPILER) {
        trybuild::TestCases::new().compile_fail("wrong/*.rs");
    } else {
        println!("skipped: the messages are those of {COMPILER}x");
    }
}
