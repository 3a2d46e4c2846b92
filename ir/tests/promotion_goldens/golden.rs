//! Parsing of golden files, which `tests/goldens/README.md` describes.

use ndjit_ir::ValueType;
use serde_json::Value;

/// The folder of the golden files.
pub fn folder() -> String {
    format!("{}/../tests/goldens", env!("CARGO_MANIFEST_DIR"))
}

/// A golden file whose tables number the types like [`ValueType::ALL`].
pub fn read(path: &str) -> Value {
    let path = format!("{}/{path}", folder());
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    let names: Vec<&str> = file["types"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names, ValueType::ALL.map(ValueType::name), "{path}");
    file
}

/// All ordered pairs of types with their indices in a table.
pub fn pairs() -> impl Iterator<Item = ([usize; 2], [ValueType; 2])> {
    ValueType::ALL
        .into_iter()
        .enumerate()
        .flat_map(|(i, a)| ValueType::ALL.into_iter().enumerate().map(move |(j, b)| ([i, j], [a, b])))
}
