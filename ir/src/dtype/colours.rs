//! The colours of dtypes in pictures, by kind.

use super::table::Kind;

/// Fill and border for a dtype of this kind, or for none.
pub fn colours(kind: Option<Kind>) -> (&'static str, &'static str) {
    match kind {
        None => ("#f6f6f6", "#666"),
        Some(Kind::Bool) => ("#e3e3e3", "#555"),
        Some(Kind::UInt) => ("#d7e8fb", "#2c6cb0"),
        Some(Kind::Int) => ("#d3efe9", "#1d7f6e"),
        Some(Kind::Float) => ("#fdeacb", "#b8720b"),
        Some(Kind::Complex) => ("#f5d9ec", "#a23a83"),
    }
}
