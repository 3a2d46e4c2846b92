//! The lists of a run: what lies at each location, the buffers of results, and the pointers and literals of kernels. They are those of the
//! thread's last run, so that a run allocates none.

use crate::programs::storage::{Assigned, BufferRef};
use ndjit_codegen::clif::Cell as Register;
use std::cell::Cell;
use std::ops::Range;

/// The lists of a run.
#[derive(Debug, Default)]
pub struct Scratch<'a> {
    /// By location.
    pub places: Vec<BufferRef<'a>>,
    /// The others. In a box, which moves as one pointer: lists by value, moved in and out, were 60 ns of a call.
    pub lists: Box<Lists>,
}

/// The lists of a run that borrow nothing.
#[derive(Debug, Default)]
pub struct Lists {
    /// The buffers of results.
    pub results: Vec<Assigned>,
    /// The operands of the kernels of a launch, one kernel's after the other's.
    pub pointers: Vec<*mut u8>,
    /// Registers of literals that this call passes, as `pointers`.
    pub registers: Vec<Register>,
    /// The kernels of a launch that runs tile by tile.
    pub ready: Vec<OperandRanges>,
}

/// Which operands of [`Lists`] are a kernel's.
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
        // Where a thread ends, nothing is kept any more.
        let lists = LISTS.try_with(Cell::take).ok().flatten().unwrap_or_default();
        Scratch { places: PLACES.try_with(Cell::take).unwrap_or_default(), lists }
    }

    /// Keeps the lists for the thread's next run.
    pub fn keep(mut self) {
        self.lists.clear_launch();
        self.lists.results.clear();
        self.places.clear();
        // Collected in place: the list is as it was, but for the lifetime of what it could hold.
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
