//! Atomic replacement of files: a mapping of the old file stays valid. Until a file is complete it is beside its target, and is removed
//! on drop.

use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt::Display;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The incomplete files of this process. Locked while one is created or moved, so a signal sees neither half done.
static PARTIAL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file in writing, which replaces an existing one.
#[derive(Debug)]
pub struct Replacement {
    /// The target, with links resolved.
    target: PathBuf,
    /// The path of the incomplete file; `None` if the target is written directly: a device or a pipe.
    partial: Option<PathBuf>,
    /// The metadata of the existing file.
    replaced: Option<Metadata>,
}

/// The advice if a file cannot be created.
const ELSEWHERE: &str = "the file is made in its folder: name one in which you may write";

impl Replacement {
    /// Creates an empty file beside a target. A link is followed: it stays, and its target is replaced.
    ///
    /// # Errors
    /// `Io` if it cannot be created, or the existing file cannot be replaced.
    pub fn create(path: &Path) -> Result<Replacement> {
        let target = behind_links(path)?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let what = format!("there is no folder {}", folder.display());
            return Err(failed(&what).help("make it, or write to another"));
        }
        let replaced = match fs::metadata(&target) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(&error).help(ELSEWHERE)),
        };
        match &replaced {
            Some(there) if there.is_dir() => Err(failed(&"that is a folder").help("name a file in it")),
            Some(there) if !there.is_file() => Ok(Replacement { target, partial: None, replaced }),
            there => {
                if there.is_some() {
                    // The folder may be writable, and the file not.
                    OpenOptions::new().write(true).open(&target).map_err(|e| failed(&e).help("name another file"))?;
                }
                let partial = Some(beside(&target, there.is_some())?);
                Ok(Replacement { target, partial, replaced })
            }
        }
    }

    /// The path to write to.
    pub fn path(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.target)
    }

    /// Moves the file to its target, with the mode and, if allowed, the owner of the existing file.
    ///
    /// # Errors
    /// `Io` if the system refuses.
    pub fn finish(mut self) -> Result<()> {
        let Some(partial) = &self.partial else { return Ok(()) };
        if let Some(replaced) = &self.replaced {
            keep_owner(partial, replaced);
            fs::set_permissions(partial, replaced.permissions()).map_err(|e| failed(&e))?;
        }
        let mut all = PARTIAL.lock();
        fs::rename(partial, &self.target).map_err(|e| failed(&e))?;
        all.retain(|known| known != partial);
        self.partial = None;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let mut all = PARTIAL.lock();
            // A missing file is fine.
            let _ = fs::remove_file(partial);
            all.retain(|known| known != partial);
        }
    }
}

/// Removes all incomplete files, and prevents new ones during the result's lifetime: for a program ended by a signal.
#[must_use]
pub fn remove_partial() -> impl Sized {
    let all = PARTIAL.lock();
    for file in &*all {
        // A file that cannot be removed is skipped.
        let _ = fs::remove_file(file);
    }
    all
}

/// The file at a path, existing or not; for a device or a pipe the path itself, since the target of `/dev/stdout` has no name.
fn behind_links(path: &Path) -> Result<PathBuf> {
    /// Linux's limit.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    let is_unnamed = fs::metadata(&path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if is_unnamed {
        return Ok(path);
    }
    for _ in 0..MOST {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(failed(&format_args!("more than {MOST} links lead to it")))
}

/// Creates a file beside another, with a name that ends in `.partial`. If it replaces a private file, it is private too.
fn beside(target: &Path, is_replaced: bool) -> Result<PathBuf> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_replaced { 0o600 } else { 0o666 });
    let _ = is_replaced;
    let mut all = PARTIAL.lock();
    let mut number = 0;
    loop {
        // File names have at most 255 bytes.
        let mut name = target.file_name().filter(|name| name.len() <= 200).unwrap_or("ndjit".as_ref()).to_owned();
        name.push(format!(".{}-{number}.partial", std::process::id()));
        let path = target.with_file_name(name);
        match options.open(&path).map(|_: File| ()) {
            Ok(()) => {
                // An absolute path, for signals after a change of directory.
                all.push(std::path::absolute(&path).unwrap_or(path.clone()));
                return Ok(all.last().cloned().unwrap_or(path));
            }
            // Left over from a killed process with the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 100 => number += 1,
            Err(error) => return Err(failed(&error).help(ELSEWHERE)),
        }
    }
}

#[cfg(unix)]
fn keep_owner(file: &Path, of: &Metadata) {
    use std::os::unix::fs::{MetadataExt, chown};
    let owner = |metadata: &Metadata| (metadata.uid(), metadata.gid());
    if fs::metadata(file).is_ok_and(|own| owner(&own) != owner(of)) {
        // Without the right to change the owner, the group is kept if allowed.
        let _ = chown(file, Some(of.uid()), Some(of.gid())).or_else(|_| chown(file, None, Some(of.gid())));
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &Path, _of: &Metadata) {}

fn failed(what: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, what.to_string()).of("write")
}
