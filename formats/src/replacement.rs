//! Files that take their place when they are whole: what reads the one that is there, mapped, goes on reading it. Until then they stand beside it,
//! and are removed where they are dropped.

use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt::Display;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The files of this process that are not whole. Held while one is made or put to its place, so that a signal meets neither half done.
static PARTIAL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file being written, in place of one that may be there.
#[derive(Debug)]
pub struct Replacement {
    /// The place, behind all links.
    target: PathBuf,
    /// Where the file is until it is whole; none where it is written to directly: to a device or a pipe.
    partial: Option<PathBuf>,
    /// What is there now.
    replaced: Option<Metadata>,
}

/// The way out where a file cannot be made.
const ELSEWHERE: &str = "the file is made in its folder: name one in which you may write";

impl Replacement {
    /// Makes an empty file beside a place. A link is followed: it stays, and what it leads to is replaced.
    ///
    /// # Errors
    /// `Io` if it cannot be made, or what is there cannot be replaced.
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
                    // Its folder may be written to, and it not.
                    OpenOptions::new().write(true).open(&target).map_err(|e| failed(&e).help("name another file"))?;
                }
                let partial = Some(beside(&target, there.is_some())?);
                Ok(Replacement { target, partial, replaced })
            }
        }
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.target)
    }

    /// Puts the file to its place, with mode and, where that is allowed, owner of the one that was there.
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
            // One that is gone already is as good.
            let _ = fs::remove_file(partial);
            all.retain(|known| known != partial);
        }
    }
}

/// Removes all files that are not whole, and lets no other begin while what is returned lives: for a program that a signal ends.
#[must_use]
pub fn remove_partial() -> impl Sized {
    let all = PARTIAL.lock();
    for file in &*all {
        // One that cannot be removed is left, as all else would be.
        let _ = fs::remove_file(file);
    }
    all
}

/// The file that a path leads to, whether it is there or not; of a device or a pipe the path, since what `/dev/stdout` leads to has no name.
fn behind_links(path: &Path) -> Result<PathBuf> {
    /// As many as Linux follows.
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

/// Makes a file beside another, whose name ends in `.partial`. Others may not look into it where it takes the place of one that they may not.
fn beside(target: &Path, is_replaced: bool) -> Result<PathBuf> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_replaced { 0o600 } else { 0o666 });
    let _ = is_replaced;
    let mut all = PARTIAL.lock();
    let mut number = 0;
    loop {
        // Names have 255 bytes at most.
        let mut name = target.file_name().filter(|name| name.len() <= 200).unwrap_or("ndjit".as_ref()).to_owned();
        name.push(format!(".{}-{number}.partial", std::process::id()));
        let path = target.with_file_name(name);
        match options.open(&path).map(|_: File| ()) {
            Ok(()) => {
                // Signals are told where it is, wherever the program is then.
                all.push(std::path::absolute(&path).unwrap_or(path.clone()));
                return Ok(all.last().cloned().unwrap_or(path));
            }
            // Left over from a process of the same number that was killed.
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
        // Who may not give files away keeps the group if that is allowed, or nothing.
        let _ = chown(file, Some(of.uid()), Some(of.gid())).or_else(|_| chown(file, None, Some(of.gid())));
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &Path, _of: &Metadata) {}

fn failed(what: &dyn Display) -> Error {
    Error::new(ErrorCode::Io, what.to_string()).of("write")
}
