//! The values of a case, and what may be done with each: arrays of few elements are computed, those that only look large (a view of few
//! elements) are looked at by views, others are described and never computed.

use crate::api::value::Value;
use crate::choices::Choices;
use ndjit::{Result, Shape};

/// More elements are not computed: `isin` compares each with each, which the interpreter stores.
const FEW: usize = 1 << 10;

/// What may be done with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// It is computed and read.
    Small,
    /// A view of few elements as many: views of it may be small.
    Wide,
    /// It is described: computing it takes too long.
    Large,
}

/// A value of a case.
#[derive(Clone)]
pub struct Entry<R> {
    /// The value.
    pub value: R,
    /// What may be done with it.
    pub size: Size,
}

/// The values made so far.
pub struct Pool<R> {
    /// In the order in which they were made.
    pub entries: Vec<Entry<R>>,
    /// The largest of the values that the present call has taken.
    taken: Size,
}

impl<R: Value> Pool<R> {
    /// The values to begin with.
    pub fn new(values: Vec<R>) -> Pool<R> {
        let entries = values.into_iter().map(|value| Entry { value, size: Size::Small });
        Pool { entries: entries.collect(), taken: Size::Small }
    }

    /// Any value: half the time the last one.
    pub fn any(&mut self, c: &mut Choices) -> R {
        let last = self.entries.len() - 1;
        let at = if c.one_in(2) { c.below(last + 1) } else { last };
        self.taken = self.taken.max(self.entries[at].size);
        self.entries[at].value.clone()
    }

    /// A value that is computed.
    pub fn small(&mut self, c: &mut Choices) -> R {
        let small: Vec<&Entry<R>> = self.entries.iter().filter(|entry| entry.size == Size::Small).collect();
        small[c.below(small.len())].value.clone()
    }

    /// Whether an array has no elements along one axis and many positions along others: parts of a call may have elements there, which are not
    /// computed where calls are compiled as a whole.
    pub fn has_hollow(&self) -> bool {
        let hollow = |extents: &[usize]| {
            extents.contains(&0) && extents.iter().fold(1usize, |n, &extent| n.saturating_mul(extent.max(1))) > FEW
        };
        self.entries.iter().any(|entry| hollow(entry.value.facts().2.extents()))
    }

    /// Runs a call and adds what it gives.
    ///
    /// # Errors
    /// That of the call.
    pub fn step(&mut self, call: &Call<R>, c: &mut Choices) -> Result<Vec<Entry<R>>> {
        self.taken = Size::Small;
        let values = (call.run)(c, self)?;
        let entries: Vec<Entry<R>> = values
            .into_iter()
            .map(|value| Entry { size: size(&value.facts().2, self.taken, call.is_view), value })
            .collect();
        self.entries.extend(entries.iter().cloned());
        Ok(entries)
    }
}

fn size(shape: &Shape, of: Size, is_view: bool) -> Size {
    match (of, shape.size().is_ok_and(|size| size <= FEW)) {
        (Size::Large, _) => Size::Large,
        (Size::Small, true) => Size::Small,
        (Size::Wide, true) if is_view => Size::Small,
        _ if is_view => Size::Wide,
        _ => Size::Large,
    }
}

/// What a call makes of the values there are.
pub type Run<R> = Box<dyn Fn(&mut Choices, &mut Pool<R>) -> Result<Vec<R>> + Send + Sync>;

/// A public function, called with what choices say.
pub struct Call<R> {
    /// Its name, and after `/` what of it.
    pub name: &'static str,
    /// Whether its results are views of its operands.
    pub is_view: bool,
    /// Calls it.
    pub run: Run<R>,
}
