//! Where the examples' data is, and where their pictures go.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of the checkout.
pub fn of_checkout(name: &str) -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join(name)).find(|path| path.exists()).unwrap_or_else(|| name.into())
}

/// `target/NAME` of the checkout; the folder is made.
pub fn path(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = of_checkout("ARCHITECTURE.md").with_file_name("target");
    fs::create_dir_all(&folder)?;
    Ok(folder.join(name))
}
