//! Places in the user's Python source. They are looked for only where an error is raised: a frame costs 0.3 µs, as much as an
//! operation.

use ndjit::SourceLoc;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::collections::HashSet;
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

/// The line that called this package: the first frame outside of it.
pub fn of_user(py: Python<'_>) -> Option<SourceLoc> {
    let find = || -> PyResult<Option<SourceLoc>> {
        let folder = package(py)?;
        let mut frame = py.import("sys")?.call_method1("_getframe", (0,))?;
        while !frame.is_none() {
            let code = frame.getattr("f_code")?;
            let file: String = code.getattr("co_filename")?.extract()?;
            if !file.starts_with(folder) {
                let line = frame.getattr("f_lineno")?.extract()?;
                let column = column(&frame, &code).unwrap_or(1);
                return Ok(Some(SourceLoc { file: interned(&file), line, column }));
            }
            frame = frame.getattr("f_back")?;
        }
        Ok(None)
    };
    find().ok().flatten()
}

/// The column, from 1, where the running instruction begins. Python 3.10 does not know it.
fn column(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Option<u32> {
    let instruction: usize = frame.getattr("f_lasti").ok()?.extract().ok()?;
    let mut positions = code.call_method0("co_positions").ok()?.try_iter().ok()?;
    let (_, _, column, _): (Option<u32>, Option<u32>, Option<u32>, Option<u32>) =
        positions.nth(instruction / 2)?.ok()?.extract().ok()?;
    Some(column? + 1)
}
