//! The command line of ndjit, as a library, so that it can be tested: [`expression`]s, and one module for each command.
//!
//! Commands write to what they are given. They end in 0; in 2 if the command line is wrong (`Failure::Usage`, or clap found it); in 1
//! if an expression, a graph or a file is, or something failed.
//!
//! All memory whose size data decides is reserved from one budget ([`memory`]). Files that are written take the place of others when they are whole;
//! signals remove those that are not (`replacement`). What the commands print is in `docs/cli.md` and `cli/tests/cli/commands.txt`, which tests write
//! and check.

#![forbid(unsafe_code)]

pub mod arguments;
mod doctor;
mod eval;
mod explain;
pub mod expression;
mod inputs;
pub mod memory;
mod output;
mod promote;
mod replacement;
mod report;
mod run;
mod specs;
pub mod table;

use arguments::{Arguments, Command};
use clap::Parser;
use ndjit::Error;
pub use replacement::remove_on_signals;
use std::ffi::OsString;
use std::io::Write;

/// Where a command writes.
pub struct Streams<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Errors and notes.
    pub err: &'a mut dyn Write,
    /// Whether somebody watches, so that progress is shown.
    pub watched: bool,
}

/// Why a command failed.
pub(crate) enum Failure {
    /// Something in an expression, whose text and inputs these are.
    Expression(Error, String, Vec<String>),
    /// Something in the command line: how an input is written, what this is built without.
    Usage(Error),
    /// Anything else.
    Other(Error),
    /// The output was closed, or cannot be written.
    Output(std::io::Error),
}

impl Failure {
    /// The same failure with an error that says more.
    fn map(self, more: impl FnOnce(Error) -> Error) -> Failure {
        match self {
            Failure::Usage(error) => Failure::Usage(more(error)),
            Failure::Other(error) => Failure::Other(more(error)),
            Failure::Expression(..) | Failure::Output(_) => self,
        }
    }

    fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Expression(..) | Failure::Other(_) | Failure::Output(_) => 1,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Other(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// Runs a command line, the name of the program first; gives the exit code.
pub fn run<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>, streams: &mut Streams<'_>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments).and_then(Arguments::checked) {
        Ok(arguments) => arguments,
        Err(error) => {
            let text = error.render();
            // Help was asked for; all else is wrong.
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
                // Who does not read errors is not told of them.
                let _ = writeln!(streams.err, "{text}");
            }
            failure.exit_code()
        }
    }
}
