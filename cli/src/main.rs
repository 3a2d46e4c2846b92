//! The program `ndjit`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ndjit_cli::program(std::env::args_os()))
}
