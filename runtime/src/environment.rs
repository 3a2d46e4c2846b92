//! What the environment variables of this project say: each is read by [`read`], and what cannot be read is told.
//!
//! A value that cannot be read counts as none, and is no error: a process does not fail for how it was started.

use crate::stderr;

/// What a variable says, as `parse` reads its text; `None` if it is not there or empty. What `parse` says is wrong is told on standard error, behind the
/// variable's name, and counts as `None`. Who asks keeps the answer, so that it is told once.
pub fn read<T>(name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
    let value = std::env::var_os(name)?;
    let text = value.to_string_lossy();
    if text.trim().is_empty() {
        return None;
    }
    parse(text.trim()).map_err(|wrong| tell(name, &wrong)).ok()
}

/// Tells what is wrong with a variable's value.
pub fn tell(name: &str, wrong: &str) {
    stderr::line(format_args!("{name}: {wrong}"));
}

/// Whether a switch is on: `1`, `true`, `yes` or `on`.
pub fn is_on(name: &str) -> bool {
    read(name, switch).unwrap_or(false)
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("`{text}` is neither 1 nor 0; it counts as 0")),
    }
}

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no number of threads; there is one per processor"))
}

#[cfg(test)]
mod tests {
    use super::{switch, threads};

    #[test]
    fn switches_and_numbers() {
        assert!(["1", "true", "Yes", "ON"].iter().all(|text| switch(text) == Ok(true)));
        assert!(["0", "false", "No", "OFF"].iter().all(|text| switch(text) == Ok(false)));
        assert_eq!(switch("2"), Err("`2` is neither 1 nor 0; it counts as 0".to_owned()));
        assert_eq!((threads("0"), threads("12")), (Ok(0), Ok(12)));
        for wrong in ["abc", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(threads(wrong), Err(format!("`{wrong}` is no number of threads; there is one per processor")));
        }
    }
}
