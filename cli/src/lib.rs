//! The command line of ndjit, as a library for tests and for the Python package: one module per command. Expressions are
//! those of `ndjit_expressions`.
//!
//! Commands write to given streams. Exit codes are 0; 2 for a usage error (`CommandFailure::Usage`, or from clap); 1 for an
//! invalid expression, graph or file, and for other failures.
//!
//! Memory whose size depends on data is reserved from one budget ([`memory::budget`]). Output files replace others once
//! complete; signals remove incomplete ones (`replacement`). The commands' output is in `docs/cli.md` and
//! `cli/tests/cli/commands.txt`, which tests write and check.

#![forbid(unsafe_code)]

pub mod arguments;
mod doctor;
mod eval;
mod explain;
mod inputs;
pub mod memory;
mod outcome;
mod output;
mod promote;
mod replacement;
mod report;
mod run;
mod saved;
mod specs;
pub mod table;

use arguments::{Command, CommandLine};
use clap::Parser;
pub use outcome::Streams;
use replacement::remove_on_signals;
use std::ffi::OsString;
use std::io::{IsTerminal, stderr, stdout};

/// Runs a command line as the program `ndjit`, with the streams of the process; returns the exit code.
pub fn program<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> u8 {
    if let Err(error) = remove_on_signals() {
        eprintln!("note: signals leave files behind that are not whole: {error}");
    }
    let mut streams = Streams { out: &mut stdout().lock(), err: &mut stderr(), watched: stderr().is_terminal() };
    run(arguments, &mut streams)
}

/// Runs a command line, which begins with the name of the program; returns the exit code.
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>, streams: &mut Streams<'_>) -> u8 {
    let arguments = match CommandLine::try_parse_from(arguments).and_then(CommandLine::checked) {
        Ok(arguments) => arguments,
        Err(error) => {
            let text = error.render();
            // Help is printed as a result, errors of clap as errors.
            let written =
                if error.use_stderr() { write!(streams.err, "{text}") } else { write!(streams.out, "{text}") };
            let _ = written;
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let done = match arguments.command {
        Command::Promote(arguments) => promote::run(&arguments, streams),
        Command::Explain(arguments) => explain::run(&arguments, streams),
        Command::Eval(arguments) => eval::run(&arguments, streams),
        Command::Run(arguments) => run::run(&arguments, streams),
        Command::Doctor => return doctor::run(streams).unwrap_or(1),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => {
            if let Some(text) = report::text(&failure) {
                // A closed error stream is ignored.
                let _ = writeln!(streams.err, "{text}");
            }
            failure.exit_code()
        }
    }
}
