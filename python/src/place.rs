//! Places in the user's Python source. Outside of traces they are looked for only where an error is raised: a frame costs 0.3 µs, as
//! much as an operation.

use ndjit::SourceLoc;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The place of operations until an error names the user's: no file has this name, so none is searched for operands.
pub const BINDING: SourceLoc = SourceLoc { file: "<python>", line: 1, column: 1 };

/// The names of files in places. `SourceLoc` holds a static name, and a program has few files, so they are never freed.
static FILES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);

/// A name that is never freed: programs have few.
pub fn interned(file: &str) -> &'static str {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = files.get(file) {
        return known;
    }
    let leaked: &'static str = Box::leak(file.into());
    files.insert(leaked);
    leaked
}

/// The folder of this package.
fn package(py: Python<'_>) -> PyResult<&str> {
    static FOLDER: PyOnceLock<String> = PyOnceLock::new();
    let find = || -> PyResult<String> {
        let file: String = py.import("ndjit")?.getattr("__file__")?.extract()?;
        Ok(file.trim_end_matches("__init__.py").to_owned())
    };
    FOLDER.get_or_try_init(py, find).map(String::as_str)
}

/// What places need to know of a code object.
struct KnownCode {
    /// Holds the object, whose address is the key.
    _code: Py<PyAny>,
    /// Whether it is of this package.
    own: bool,
    file: &'static str,
    /// The line and the column, from 1, of each instruction. Python 3.10 does not know them.
    positions: Vec<(u32, u32)>,
}

/// The most code objects that a thread remembers.
const MOST_CODES: usize = 512;

thread_local! {
    static CODES: RefCell<HashMap<usize, KnownCode>> = RefCell::default();
}

/// Calls `body` with what is known of a code object: reading the positions of one takes as long as tracing many operations.
fn known<R>(code: &Bound<'_, PyAny>, body: impl FnOnce(&KnownCode) -> R) -> PyResult<R> {
    let py = code.py();
    let address = code.as_ptr().addr();
    let is_known = CODES.with_borrow(|codes| codes.contains_key(&address));
    if !is_known {
        let file: String = code.getattr(intern!(py, "co_filename"))?.extract()?;
        let own = file.starts_with(package(py)?);
        let positions = if own { Vec::new() } else { positions(code).unwrap_or_default() };
        let new = KnownCode { _code: code.clone().unbind(), own, file: interned(&file), positions };
        let full = CODES.with_borrow_mut(|codes| {
            let full = (codes.len() >= MOST_CODES).then(|| std::mem::take(codes));
            codes.insert(address, new);
            full
        });
        drop(full);
    }
    CODES.with_borrow(|codes| match codes.get(&address) {
        Some(known) => Ok(body(known)),
        None => Err(crate::error::wrong("a code object is gone")),
    })
}

fn positions(code: &Bound<'_, PyAny>) -> PyResult<Vec<(u32, u32)>> {
    let mut positions = Vec::new();
    for position in code.call_method0("co_positions")?.try_iter()? {
        let (line, _, column, _): (Option<u32>, Option<u32>, Option<u32>, Option<u32>) = position?.extract()?;
        positions.push((line.unwrap_or(0), column.map_or(1, |column| column + 1)));
    }
    Ok(positions)
}

/// Whether a code object is of this package.
pub fn is_own(code: &Bound<'_, PyAny>) -> PyResult<bool> {
    known(code, |known| known.own)
}

/// The line that called this package: the first frame outside of it.
pub fn of_user(py: Python<'_>) -> Option<SourceLoc> {
    static FRAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = || -> PyResult<Option<SourceLoc>> {
        let mut frame = FRAME.import(py, "sys", "_getframe")?.call1((0,))?;
        while !frame.is_none() {
            let code = frame.getattr(intern!(py, "f_code"))?;
            let instruction: usize = frame.getattr(intern!(py, "f_lasti"))?.extract().unwrap_or(0);
            let found = known(&code, |known| {
                (!known.own).then(|| (known.file, known.positions.get(instruction / 2).copied()))
            })?;
            match found {
                Some((file, Some((line, column)))) if line > 0 => return Ok(Some(SourceLoc { file, line, column })),
                Some((file, _)) => {
                    let line = frame.getattr(intern!(py, "f_lineno"))?.extract()?;
                    return Ok(Some(SourceLoc { file, line, column: 1 }));
                }
                None => frame = frame.getattr(intern!(py, "f_back"))?,
            }
        }
        Ok(None)
    };
    find().ok().flatten()
}
