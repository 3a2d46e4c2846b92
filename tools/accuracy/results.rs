//! Measurements by name, stored in a file.

use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Values by name; in memory only if there is no path.
#[derive(Default)]
pub struct Results {
    path: Option<PathBuf>,
    values: Map<String, Value>,
}

impl Results {
    pub fn read(path: &Path) -> Results {
        let text = fs::read_to_string(path).unwrap_or_default();
        let values = serde_json::from_str(&text).unwrap_or_default();
        Results { path: Some(path.to_owned()), values }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// # Errors
    /// Those of the file system.
    pub fn set(&mut self, name: String, value: Value) -> io::Result<()> {
        self.values.insert(name, value);
        self.write()
    }

    /// # Errors
    /// Those of the file system.
    pub fn remove(&mut self, name: &str) -> io::Result<()> {
        self.values.remove(name);
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_string_pretty(&self.values).map_err(io::Error::other)?;
        fs::write(path, text + "\n")
    }
}
