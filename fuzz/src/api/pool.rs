//! The values of a case, with their permitted use: arrays of few elements are computed; broadcasts of few elements are read through views;
//! others are described and never computed.

use crate::api::value::Value;
use crate::choices::Choices;
use ndjit::{Result, Shape};

/// The maximum number of computed elements: `isin` compares all pairs, which the interpreter stores.
const MAX_ELEMENTS: usize = 1 << 10;

/// The permitted use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// It is computed and read.
    Small,
    /// A broadcast of few elements: views of it may be small.
    Wide,
    /// It is described: computation takes too long.
    Large,
}

/// A value of a case.
#[derive(Clone)]
pub struct Entry<R> {
    /// The value.
    pub value: R,
    /// Its permitted use.
    pub size: Size,
}

/// The values so far.
pub struct Pool<R> {
    /// In the order of creation.
    pub entries: Vec<Entry<R>>,
    /// The largest use of the current call's operands.
    taken: Size,
}

impl<R: Value> Pool<R> {
    /// The initial values.
    pub fn new(values: Vec<R>) -> Pool<R> {
        let entries = values.into_iter().map(|value| Entry { value, size: Size::Small });
        Pool { entries: entries.collect(), taken: Size::Small }
    }

    /// Any value: half of the time the last one.
    pub fn any(&mut self, c: &mut Choices) -> R {
        let last = self.entries.len() - 1;
        let at = if c.one_in(2) { c.below(last + 1) } else { last };
        self.taken = self.taken.max(self.entries[at].size);
        self.entries[at].value.clone()
    }

    /// A computable value.
    pub fn small(&mut self, c: &mut Choices) -> R {
        let small: Vec<&Entry<R>> = self.entries.iter().filter(|entry| entry.size == Size::Small).collect();
        small[c.below(small.len())].value.clone()
    }

    /// Whether an array has extent 0 along one axis and large extents along others: intermediate values of a call may have many elements
    /// there, which are not computed if calls are compiled as a whole.
    pub fn has_hollow(&self) -> bool {
        let hollow = |extents: &[usize]| {
            extents.contains(&0)
                && extents.iter().fold(1usize, |n, &extent| n.saturating_mul(extent.max(1))) > MAX_ELEMENTS
        };
        self.entries.iter().any(|entry| hollow(entry.value.facts().2.extents()))
    }

    /// Runs a call and adds its results.
    ///
    /// # Errors
    /// Those of the call.
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
    match (of, shape.size().is_ok_and(|size| size <= MAX_ELEMENTS)) {
        (Size::Large, _) => Size::Large,
        (Size::Small, true) => Size::Small,
        (Size::Wide, true) if is_view => Size::Small,
        _ if is_view => Size::Wide,
        _ => Size::Large,
    }
}

/// The function of a call on the existing values.
pub type Run<R> = Box<dyn Fn(&mut Choices, &mut Pool<R>) -> Result<Vec<R>> + Send + Sync>;

/// A public function, called with choices.
pub struct Call<R> {
    /// Its name, with a variant after `/`.
    pub name: &'static str,
    /// Whether its results are views of its operands.
    pub is_view: bool,
    /// Calls it.
    pub run: Run<R>,
}
