//! The lists of a run: contents of locations, buffers of results, and kernels' pointers and literals. A thread reuses them from its last
//! run, so a run allocates none.

use crate::programs::storage::{Assigned, BufferRef};
use ndjit_codegen::clif::Cell as Register;
use std::cell::Cell;
use std::ops::Range;

/// The lists of a run.
#[derive(Debug, Default)]
pub struct Scratch<'a> {
    /// By location.
    pub places: Vec<BufferRef<'a>>,
    /// The other lists, boxed: moving them by value took 60 ns of a call.
    pub lists: Box<Lists>,
}

/// The lists of a run that borrow nothing.
#[derive(Debug, Default)]
pub struct Lists {
    /// The buffers of results.
    pub results: Vec<Assigned>,
    /// The operands of a launch's kernels, one kernel's after the other's.
    pub pointers: Vec<*mut u8>,
    /// Registers of literals passed at this call, as `pointers`.
    pub registers: Vec<Register>,
    /// The kernels of a tiled launch.
    pub ready: Vec<OperandRanges>,
}

/// The ranges of a kernel's operands in [`Lists`].
#[derive(Clone, Debug)]
pub struct OperandRanges {
    /// Its pointers.
    pub pointers: Range<usize>,
    /// The registers of its literals; `None` where all are known before calls.
    pub registers: Option<Range<usize>>,
}

thread_local! {
    static PLACES: Cell<Vec<BufferRef<'static>>> = const { Cell::new(Vec::new()) };
    static LISTS: Cell<Option<Box<Lists>>> = const { Cell::new(None) };
}

impl<'a> Scratch<'a> {
    /// The thread's lists, empty. A run within a run has others.
    pub fn take() -> Scratch<'a> {
        // A thread that ends keeps nothing.
        let lists = LISTS.try_with(Cell::take).ok().flatten().unwrap_or_default();
        Scratch { places: PLACES.try_with(Cell::take).unwrap_or_default(), lists }
    }

    /// Keeps the lists for the thread's next run.
    pub fn keep(mut self) {
        self.lists.clear_launch();
        self.lists.results.clear();
        self.places.clear();
        // Collected in place: the same allocation, with another lifetime.
        let places = self.places.into_iter().map(|_| BufferRef::Empty).collect();
        let _ = PLACES.try_with(|own| own.set(places));
        let _ = LISTS.try_with(|own| own.set(Some(self.lists)));
    }
}

impl Lists {
    /// Forgets the operands of the last launch.
    pub fn clear_launch(&mut self) {
        self.pointers.clear();
        self.registers.clear();
        self.ready.clear();
    }
}
