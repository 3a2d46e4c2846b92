//! The program `ndjit`.

use std::io::{IsTerminal, stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(error) = ndjit_cli::remove_on_signals() {
        eprintln!("note: signals leave files behind that are not whole: {error}");
    }
    let mut streams =
        ndjit_cli::Streams { out: &mut stdout().lock(), err: &mut stderr(), watched: stderr().is_terminal() };
    ExitCode::from(ndjit_cli::run(std::env::args_os(), &mut streams))
}
