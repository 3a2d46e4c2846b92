//! Padding of text columns.

use std::fmt;

/// A run of spaces. The formatter panics for widths above 65,535 in `{:width$}`; this has no limit.
#[derive(Clone, Copy, Debug)]
pub struct Spaces(pub usize);

impl fmt::Display for Spaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LINE: &str = "                                                                ";
        (0..self.0 / LINE.len()).try_for_each(|_| f.write_str(LINE))?;
        f.write_str(&LINE[..self.0 % LINE.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many() {
        for count in [0, 1, 63, 64, 65, 1_000_000] {
            assert_eq!(Spaces(count).to_string(), " ".repeat(count));
        }
    }
}
