//! Environment variables of this project: each is read by [`read`], and invalid values are reported.
//!
//! An invalid value counts as unset and is not an error.

use crate::stderr;

/// The value of a variable, parsed by `parse`; `None` if it is unset, empty or invalid. An error of `parse` is printed on standard error
/// after the variable's name. Callers cache the result, so it is printed once.
pub fn read<T>(name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
    let value = std::env::var_os(name)?;
    let text = value.to_string_lossy();
    if text.trim().is_empty() {
        return None;
    }
    parse(text.trim()).map_err(|wrong| tell(name, &wrong)).ok()
}

/// Reports an invalid value of a variable.
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

/// Parses a number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number of threads; there is one per processor"))
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
            assert_eq!(
                threads(wrong),
                Err(format!("`{wrong}` is not a number of threads; there is one per processor"))
            );
        }
    }
}
