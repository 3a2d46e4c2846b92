//! The [`Budget`] for memory whose size depends on data or an expression.

use crate::amount;
use ndjit::{Error, ErrorCode};
use std::cell::RefCell;
use std::rc::Rc;

/// A limit on memory. Code reserves memory whose size depends on data or an expression first, and returns it by dropping
/// the [`Reservation`]. Clones share the limit.
///
/// ```
/// use ndjit_expressions::Budget;
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
    /// The option that sets the limit.
    option: Option<&'static str>,
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
        Budget(Rc::new(Accounts { limit, option: None, taken: RefCell::default() }))
    }

    /// A budget with the same limit and nothing reserved, whose errors name the option of a command that sets the limit.
    ///
    /// ```
    /// let budget = ndjit_expressions::Budget::new(1000).raised_by("--memory");
    /// let error = budget.reserve("a column", 5_000_000).unwrap_err();
    /// assert_eq!(error.help_text().as_deref(), Some("raise the limit with `--memory 5MB`, or compute less at once"));
    /// ```
    pub fn raised_by(self, option: &'static str) -> Budget {
        Budget(Rc::new(Accounts { limit: self.0.limit, option: Some(option), taken: RefCell::default() }))
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
        let machine = ndjit::host().ok().and_then(|host| host.memory);
        let megabytes = needed.div_ceil(1_000_000);
        error.fact(format_args!("the limit: {}", amount(self.0.limit))).help(match (machine, self.0.option) {
            (Some(machine), _) if needed > machine => {
                format!("the machine has {}; compute less at once", amount(machine))
            }
            (_, Some(option)) => format!("raise the limit with `{option} {megabytes}MB`, or compute less at once"),
            (_, None) => format!("raise the limit to {megabytes} MB, or compute less at once"),
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
