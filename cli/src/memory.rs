//! Memory: parsing and printing of amounts, the machine's memory, and the [`Budget`] for memory whose size depends on
//! data or an expression.

use crate::expression::counted;
use ndjit::{Error, ErrorCode};
use std::cell::RefCell;
use std::rc::Rc;

/// The limit if the machine's memory is unknown.
const OTHERWISE: usize = 4 << 30;

const UNITS: [(&str, usize); 8] = [
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];

/// Parses an amount: `2GB`, `1.5 GiB`, `4096`.
///
/// ```
/// use ndjit_cli::memory::parse;
/// assert_eq!(parse("1.5GB"), Ok(1_500_000_000));
/// assert_eq!(parse("2GiB"), Ok(2 << 30));
/// assert!(parse("much").is_err() && parse("0B").is_err() && parse("1e30GB").is_err());
/// ```
///
/// # Errors
/// A message for invalid text.
pub fn parse(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (text[..end].parse::<f64>(), text[end..].trim().to_lowercase());
    let unit = if unit.is_empty() { "b".to_owned() } else { unit };
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let (Ok(number), Some(factor)) = (number, factor) else {
        return Err("write a number and a unit: 500MB, 2GB, 1GiB".to_owned());
    };
    let bytes = number * factor as f64;
    match bytes {
        1.0.. if bytes < usize::MAX as f64 => Ok(bytes as usize),
        1.0.. => Err("no machine has so much; write as in 500MB, 2GB, 1GiB".to_owned()),
        _ => Err("nothing can be computed in no memory; write as in 500MB, 2GB, 1GiB".to_owned()),
    }
}

/// Formats an amount: `1.5 GB`.
pub fn amount(bytes: usize) -> String {
    let (unit, factor) = match bytes {
        0..1_000 => return counted(bytes, "byte"),
        1_000..1_000_000 => ("kB", 1e3),
        1_000_000..1_000_000_000 => ("MB", 1e6),
        1_000_000_000..1_000_000_000_000 => ("GB", 1e9),
        _ => ("TB", 1e12),
    };
    format!("{:.1} {unit}", bytes as f64 / factor)
}

/// The limit without `--memory`: half of the machine's memory.
pub fn default_limit() -> usize {
    total().map_or(OTHERWISE, |total| total / 2)
}

/// The memory of the machine or of its container, if known.
pub fn total() -> Option<usize> {
    ndjit::host().ok()?.memory
}

/// Reserves room in a list for more items.
///
/// # Errors
/// `Allocation` if the system refuses it.
pub(crate) fn grow<T>(items: &mut Vec<T>, more: usize) -> Result<(), Error> {
    items.try_reserve_exact(more).map_err(|_| {
        let bytes = (items.len().saturating_add(more)).saturating_mul(size_of::<T>());
        Error::new(ErrorCode::Allocation, "the system refused memory")
            .fact(format_args!("{bytes} bytes were requested"))
            .help("close other programs, or let this one take less: `--memory`")
    })
}

/// The memory limit of a command: `--memory`. Code reserves memory whose size depends on data or an expression first,
/// and returns it by dropping the [`Reservation`]. The program's own memory, including kernels, is not counted.
///
/// ```
/// use ndjit_cli::memory::Budget;
///
/// let budget = Budget::new(1000);
/// let column = budget.reserve("a column", 800).unwrap();
/// assert_eq!(budget.reserve("a line", 300).unwrap_err().headline(), "more memory than the limit: 1.1 kB");
/// drop(column);
/// assert!(budget.reserve("a line", 300).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Budget(Rc<Accounts>);

#[derive(Debug)]
struct Accounts {
    limit: usize,
    /// The reserved bytes by purpose, in order of the first reservation.
    taken: RefCell<Vec<(&'static str, usize)>>,
}

/// A part of a [`Budget`], reserved until dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    what: &'static str,
    bytes: usize,
}

impl Budget {
    /// Creates a budget of this number of bytes.
    pub fn new(limit: usize) -> Budget {
        Budget(Rc::new(Accounts { limit, taken: RefCell::default() }))
    }

    /// The number of bytes left.
    pub fn left(&self) -> usize {
        let taken = self.0.taken.borrow();
        taken.iter().fold(self.0.limit, |left, (_, bytes)| left.saturating_sub(*bytes))
    }

    /// Reserves bytes for a purpose.
    ///
    /// # Errors
    /// `Allocation` if fewer are left, with all reservations.
    pub fn reserve(&self, what: &'static str, bytes: usize) -> Result<Reservation, Error> {
        let mut reservation = Reservation { budget: self.clone(), what, bytes: 0 };
        reservation.resize(bytes)?;
        Ok(reservation)
    }

    fn account(&self, what: &'static str, change: impl FnOnce(usize) -> usize) {
        let mut taken = self.0.taken.borrow_mut();
        match taken.iter_mut().find(|(known, _)| *known == what) {
            Some((_, bytes)) => *bytes = change(*bytes),
            None => taken.push((what, change(0))),
        }
    }

    /// The error of a request for `more` bytes.
    fn exceeded(&self, what: &'static str, more: usize) -> Error {
        let mut taken = self.0.taken.borrow().clone();
        match taken.iter_mut().find(|(known, _)| *known == what) {
            Some((_, bytes)) => *bytes = bytes.saturating_add(more),
            None => taken.push((what, more)),
        }
        let needed = taken.iter().fold(0usize, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let headline = format!("more memory than the limit: {}", amount(needed));
        let parts = taken.iter().filter(|(_, bytes)| *bytes > 0);
        let facts = parts.map(|(what, bytes)| format!("{what}: {}", amount(*bytes)));
        let error = facts.fold(Error::new(ErrorCode::Allocation, headline), |error, fact| error.fact(fact));
        error.fact(format_args!("the limit: {}", amount(self.0.limit))).help(match total() {
            Some(total) if needed > total => format!("the machine has {}; compute less at once", amount(total)),
            _ => format!("raise the limit with `--memory {}MB`, or compute less at once", needed.div_ceil(1_000_000)),
        })
    }
}

impl Reservation {
    /// Grows or shrinks the reservation to this number of bytes.
    ///
    /// # Errors
    /// Those of [`Budget::reserve`]; the reservation is unchanged then.
    pub fn resize(&mut self, bytes: usize) -> Result<(), Error> {
        let more = bytes.saturating_sub(self.bytes);
        if more > self.budget.left() {
            return Err(self.budget.exceeded(self.what, more));
        }
        let before = std::mem::replace(&mut self.bytes, bytes);
        self.budget.account(self.what, |taken| taken - before + bytes);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.account(self.what, |taken| taken.saturating_sub(self.bytes));
    }
}
