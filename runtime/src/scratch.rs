//! What lies where during a run: the memory of each location, and the pointers and literals of kernels. The lists are those of the
//! thread's last run, so that a run allocates none.

use crate::buffer::{Buffer, Writable};
use crate::executable::Argument;
use ndjit_codegen::clif::Cell as Register;
use ndjit_ir::{Error, ErrorCode, Result};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// What lies at a location during a run.
#[derive(Debug)]
pub enum Place<'a> {
    /// Nothing yet, or nothing any more.
    Empty,
    /// Memory that may be read.
    Readable(&'a [u8]),
    /// A buffer given away, or one that took such a buffer's memory.
    Owned(Arc<Buffer>),
    /// What a kernel wrote into memory from the pool.
    Written(Writable),
    /// What a kernel wrote into the caller's memory.
    External(*mut u8),
}

impl<'a> Place<'a> {
    /// Where an argument lies.
    ///
    /// # Errors
    /// `Device` if that is not in the host's memory.
    pub fn of(argument: Argument<'a>) -> Result<Place<'a>> {
        match argument {
            Argument::Borrowed(bytes) => Ok(Place::Readable(bytes)),
            Argument::Shared(buffer) => Ok(Place::Readable(buffer.as_bytes())),
            Argument::Donated(buffer) => Ok(Place::Owned(buffer)),
            Argument::Gpu(_) => Err(on_gpu()),
        }
    }

    /// The bytes of an argument.
    pub fn len(&self) -> usize {
        match self {
            Place::Readable(bytes) => bytes.len(),
            Place::Owned(buffer) => buffer.len(),
            Place::Written(memory) => memory.len(),
            Place::Empty | Place::External(_) => 0,
        }
    }

    /// The first byte.
    pub fn ptr(&mut self) -> *mut u8 {
        match self {
            // Never read: the plan orders kernels after what they read.
            Place::Empty => std::ptr::null_mut(),
            Place::Readable(bytes) => bytes.as_ptr().cast_mut(),
            Place::Owned(buffer) => buffer.ptr(),
            Place::Written(memory) => memory.ptr(),
            Place::External(pointer) => *pointer,
        }
    }
}

/// The error of memory of a GPU given to a program on the processor.
pub fn on_gpu() -> Error {
    Error::new(ErrorCode::Device, "run: arrays of a program on the processor are in the host's memory")
}

/// The lists of a run.
#[derive(Debug, Default)]
pub struct Scratch<'a> {
    /// By location.
    pub places: Vec<Place<'a>>,
    /// The operands of the kernels of a launch, one kernel's after the other's.
    pub pointers: Vec<*mut u8>,
    /// Registers of literals that this call passes, as `pointers`.
    pub registers: Vec<Register>,
    /// The kernels of a launch that runs tile by tile.
    pub ready: Vec<Ready>,
}

/// Which operands of a [`Scratch`] are a kernel's.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Its pointers.
    pub pointers: Range<usize>,
    /// The registers of its literals; `None` where all are known before calls.
    pub registers: Option<Range<usize>>,
}

thread_local! {
    static KEPT: Cell<Scratch<'static>> = const { Cell::new(Scratch::new()) };
}

impl<'a> Scratch<'a> {
    const fn new() -> Scratch<'a> {
        Scratch { places: Vec::new(), pointers: Vec::new(), registers: Vec::new(), ready: Vec::new() }
    }

    /// The thread's lists, empty. A run within a run has others.
    pub fn take() -> Scratch<'a> {
        // Where a thread ends, nothing is kept any more.
        KEPT.try_with(Cell::take).unwrap_or_default()
    }

    /// Keeps the lists for the thread's next run.
    pub fn keep(mut self) {
        self.clear_launch();
        self.places.clear();
        // Collected in place: the list is as it was, but for the lifetime of what it could hold.
        let places = self.places.into_iter().map(|_| Place::Empty).collect();
        let kept = Scratch { places, pointers: self.pointers, registers: self.registers, ready: self.ready };
        let _ = KEPT.try_with(|own| own.set(kept));
    }

    /// Forgets the operands of the last launch.
    pub fn clear_launch(&mut self) {
        self.pointers.clear();
        self.registers.clear();
        self.ready.clear();
    }
}
