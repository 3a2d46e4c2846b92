//! Files that commands replace once the output is complete. Incomplete output is removed at an error or a signal,
//! except for `SIGKILL` and fault signals.

use ndjit::Error;
use ndjit::npy::replacement::Replacement;
#[cfg(unix)]
use ndjit::npy::replacement::remove_partial;
use std::path::Path;

/// Replaces a file after `write` has written the new one to the given path.
///
/// # Errors
/// Those of [`Replacement`] and of `write`.
pub fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let write = || {
        let place = Replacement::create(path)?;
        write(place.path())?;
        place.finish()
    };
    // The requested path, not that of the incomplete file.
    write().map_err(|error: Error| error.in_file(path))
}

/// Removes incomplete files at a signal, which then ends the program with its usual exit status: in a shell 129 for
/// `SIGHUP`, 130 for `SIGINT`, 131 for `SIGQUIT` and 143 for `SIGTERM`. Signals ignored at the start, as with `nohup`,
/// remain ignored. A file beyond the file size limit of the process is a write error.
///
/// # Errors
/// The system's error if it accepts no handlers.
#[cfg(unix)]
pub fn remove_on_signals() -> std::io::Result<()> {
    use signal_hook::consts::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
    const ENDING: [i32; 11] =
        [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2];
    let ignored = ignored();
    let handled = ENDING.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = signal_hook::iterator::Signals::new(handled)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
            // Held until exit, so that no new file starts.
            let _all = remove_partial();
            if signal_hook::low_level::emulate_default_handler(signal).is_err() {
                std::process::exit(128 + signal);
            }
        }
    })?;
    Ok(())
}

/// No effect on systems without these signals.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn remove_on_signals() -> std::io::Result<()> {
    Ok(())
}

/// A bit mask of the signals that this process ignores, from the lowest bit; empty if unknown.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
