//! The command line in the package: `python -m ndjit`, and what `ndjit.doctor()` says.

use pyo3::prelude::*;

/// Runs a command line, which begins with the name of the program; returns the exit code.
#[pyfunction]
pub fn _command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| ndjit_cli::program(arguments))
}

/// What `ndjit doctor` prints, and whether the machine passed.
#[pyfunction]
pub fn _doctor(py: Python<'_>) -> (String, bool) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = py.detach(|| {
        let mut streams = ndjit_cli::Streams { out: &mut out, err: &mut err, watched: false };
        ndjit_cli::run(["ndjit", "doctor"], &mut streams)
    });
    out.append(&mut err);
    (String::from_utf8_lossy(&out).into_owned(), code == 0)
}
