//! `docs/accuracy.json`, what was measured, and `docs/accuracy.md`, the page made of it.

use crate::measure::Figures;
use ndjit::DType;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The libraries' largest errors, beside which ours stand.
const OTHERS: &str = include_str!("../../tests/goldens/values/ulp_summary.json");

/// What was measured, by function and dtype.
pub struct Results {
    path: PathBuf,
    values: Map<String, Value>,
}

impl Results {
    pub fn read(path: &Path) -> Results {
        let text = fs::read_to_string(path).unwrap_or_default();
        let values = serde_json::from_str(&text).unwrap_or_default();
        Results { path: path.to_owned(), values }
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// # Errors
    /// Of the file system.
    pub fn set(&mut self, key: String, value: Value) -> io::Result<()> {
        self.values.insert(key, value);
        self.write()
    }

    /// # Errors
    /// Of the file system.
    pub fn remove(&mut self, key: &str) -> io::Result<()> {
        self.values.remove(key);
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let text = serde_json::to_string_pretty(&self.values).map_err(io::Error::other)?;
        fs::write(&self.path, text + "\n")
    }

    /// The page.
    pub fn page(&self) -> String {
        let mut page = String::from(HEAD);
        let mut keys: Vec<(&str, DType)> = self.values.keys().filter_map(|key| split(key)).collect();
        keys.sort_by_key(|(function, dtype)| (*function, *dtype as u8));
        for (function, dtype) in keys {
            let Some(figures) = Figures::from_json(&self.values[&key(function, dtype)]) else { continue };
            let Figures { inputs, error, at, not_nearest, wrong } = figures;
            let share = 100.0 * not_nearest as f64 / inputs.max(1) as f64;
            let [numpy, jax] = others(function, dtype);
            let tried = if dtype.bytes() <= 4 && inputs > 1 << 31 || dtype.is_half() { "all" } else { &count(inputs) };
            // Writing to a String cannot fail.
            let _ = writeln!(
                page,
                "| `{function}` | {dtype} | {error:.3} | `{at:e}` | {tried} | {share:.2} % | {wrong} | {numpy} | {jax} |"
            );
        }
        page
    }
}

const HEAD: &str = "# Accuracy
The largest errors that were found, in units in the last place (ULP) of the result; 0.5 is correctly rounded. *All* inputs of the
16-bit floats are tried, and where it says so of `f32`; of `f64` random ones of every exponent and in the ranges where functions change.
*Wrong* counts results that are NaN, infinite or of another sign where the exact one is not. The reference is
[CORE-MATH](https://core-math.gitlabpages.inria.fr/), correctly rounded in `f64`; of `f64` itself it is known to half an ULP, which is added. NumPy's and
JAX's errors were measured on about 500 inputs each, counted in floats from the correctly rounded result.

Made by `cargo run --release --example accuracy`; `-- --full` takes hours, and goes on where it was stopped.

| function | dtype | max ULP | at | inputs | not nearest | wrong | NumPy | JAX |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

pub fn key(function: &str, dtype: DType) -> String {
    format!("{function} {dtype}")
}

fn split(key: &str) -> Option<(&str, DType)> {
    let (function, dtype) = key.split_once(' ')?;
    Some((function, dtype.parse().ok()?))
}

/// NumPy's and JAX's largest errors, if they were measured.
fn others(function: &str, dtype: DType) -> [String; 2] {
    let summary: Value = serde_json::from_str(OTHERS).unwrap_or_default();
    let rows = summary["rows"].as_array().cloned().unwrap_or_default();
    let row = rows.iter().find(|row| row[0] == function && row[1] == dtype.name());
    [0, 1].map(|library| match row.and_then(|row| row[2][library].as_u64()) {
        Some(floats) => floats.to_string(),
        None => "–".to_owned(),
    })
}

/// A number in powers of ten where it is large.
fn count(inputs: u64) -> String {
    match inputs {
        0..100_000 => inputs.to_string(),
        _ => format!("{:.1e}", inputs as f64),
    }
}
