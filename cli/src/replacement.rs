//! Files that commands replace when what they write is whole. What is written is removed where an error or a signal ends
//! the program before, but for `SIGKILL` and the signals of faults.

use ndjit::Error;
use ndjit::npy::replacement::Replacement;
#[cfg(unix)]
use ndjit::npy::replacement::remove_partial;
use std::path::Path;

/// Writes a file that takes its place when `write` has written it to the path that it gets.
///
/// # Errors
/// Those of [`Replacement`] and of `write`.
pub fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let write = || {
        let place = Replacement::create(path)?;
        write(place.path())?;
        place.finish()
    };
    write().map_err(|error| named(&error, path))
}

/// The error with the file that was asked for, in place of that which is not whole yet.
pub fn named(error: &Error, path: &Path) -> Error {
    let facts = error.facts().iter().filter(|fact| !fact.starts_with("file: "));
    let named = facts.fold(Error::new(error.code(), error.headline()), Error::fact);
    let named = named.fact(format_args!("file: {}", path.display()));
    match error.help_text() {
        Some(help) => named.help(help),
        None => named,
    }
}

/// Removes files that are not whole when a signal ends the program, which then ends as that signal ends programs: a shell tells 129 for `SIGHUP`,
/// 130 for `SIGINT`, 131 for `SIGQUIT` and 143 for `SIGTERM`. Signals that the program was started to ignore, as by `nohup`, stay ignored. A file that
/// grows beyond the limit of the process is an error of writing then.
///
/// # Errors
/// What the system says where it takes no handlers.
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
            // Held to the end: no other file begins.
            let _all = remove_partial();
            if signal_hook::low_level::emulate_default_handler(signal).is_err() {
                std::process::exit(128 + signal);
            }
        }
    })?;
    Ok(())
}

/// As on Unix, where there are such signals.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn remove_on_signals() -> std::io::Result<()> {
    Ok(())
}

/// The signals that this process ignores, a bit each from the lowest on; none where the system does not say.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
