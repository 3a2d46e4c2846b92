//! Wrong spellings do not compile, and the compiler says what to write instead.

use std::process::Command;

/// The compiler whose messages `tests/wrong/*.stderr` hold: the oldest this crate takes. Others word and place them
/// differently.
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
