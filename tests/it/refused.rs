//! Errors for snapshots, with `here` as their place.

/// The text of an error of an operation in a file.
pub fn text(error: &ndjit::Error, file: &str) -> String {
    let place = error.place().expect("errors know their place");
    assert_eq!(place.file, file);
    error.to_string().replace(&format!("{}:{}:{}", place.file, place.line, place.column), "here")
}

/// The error of an array, which must have this line.
macro_rules! refused {
    ($x:expr) => {{
        let (x, line) = ($x, line!());
        let error = x.error().expect("an error");
        assert_eq!(error.place().map(|place| place.line), Some(line));
        $crate::refused::text(error, file!())
    }};
}
