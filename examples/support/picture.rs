//! Where the examples' pictures go.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// `target/NAME` of the checkout; the folder is made.
pub fn path(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    fs::create_dir_all(&folder)?;
    Ok(folder.join(name))
}
