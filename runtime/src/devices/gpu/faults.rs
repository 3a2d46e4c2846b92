//! Fault injection for tests: chosen events of one kind fail.
//!
//! Most failures are real: the device gets an invalid request, or is destroyed, and wgpu reports it. The three
//! [claimed](Fault::claimed) ones replace a result of wgpu, to test the handling. A device opened [without faults](super::Gpu::open)
//! checks only an `Option` that is `None`.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

macro_rules! faults {
    ($($variant:ident $doc:literal;)*) => {
        /// Kinds of injected failures.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Fault { $(#[doc = $doc] $variant,)* }

        impl Fault {
            /// All kinds.
            pub const ALL: &'static [Fault] = &[$(Fault::$variant),*];
        }
    };
}

faults! {
    Limits "A device is opened with limits that it does not have.";
    ShortLimits "A device is opened with less of a limit than it is taken to have. Each limit is an event: the size of buffers, that of \
        bindings, their number, the number of workgroups.";
    Budget "More memory is counted than the budget has.";
    Size "A buffer is asked for that is larger than the device allows.";
    Memory "A call has no memory left. Claimed.";
    Write "A copy to the device begins past the end of its buffer.";
    Compile "The text of a kernel is not WGSL.";
    Translate "naga panics on the module of a kernel.";
    Pipeline "A pipeline binds more than the device takes.";
    Bind "A binding begins where none may.";
    Dispatch "A dispatch has more workgroups than the device takes.";
    Submit "A submission uses a buffer that is destroyed.";
    Read "A copy from the device begins past the end of its buffer.";
    Map "A buffer is destroyed before it is mapped.";
    Unmap "A buffer is not mapped when it is read.";
    Silence "The device does not answer. Claimed.";
    Fatal "wgpu panics while it waits, as it does if the driver loses the device then. Claimed.";
    Destroy "The device is destroyed before a call.";
    DestroyLate "The device is destroyed after a call, before its errors are asked for.";
}

impl Fault {
    /// Whether the failure is only claimed, not caused.
    pub fn claimed(self) -> bool {
        matches!(self, Fault::Memory | Fault::Silence | Fault::Fatal)
    }
}

/// The failing events, and counters. Events are counted over all threads.
#[derive(Debug, Default)]
pub struct Faults {
    on: AtomicBool,
    armed: Mutex<Option<(Fault, Range<u64>)>>,
    seen: AtomicU64,
    fired: AtomicU64,
}

impl Faults {
    /// No faults, until armed.
    pub fn new() -> Faults {
        Faults::default()
    }

    /// Makes the events of a kind with these numbers, from 1 on, fail. Resets the counters.
    pub fn arm(&self, fault: Fault, events: Range<u64>) {
        let mut armed = self.lock();
        *armed = Some((fault, events));
        self.seen.store(0, Relaxed);
        self.fired.store(0, Relaxed);
        self.on.store(true, Relaxed);
    }

    /// Disables faults. Counters stay.
    pub fn disarm(&self) {
        *self.lock() = None;
        self.on.store(false, Relaxed);
    }

    /// Events of the kind since it was armed.
    pub fn seen(&self) -> u64 {
        self.seen.load(Relaxed)
    }

    /// The number of injected failures.
    pub fn fired(&self) -> u64 {
        self.fired.load(Relaxed)
    }

    /// Whether this event fails.
    pub(super) fn fires(&self, fault: Fault) -> bool {
        if !self.on.load(Relaxed) {
            return false;
        }
        let armed = self.lock();
        let Some((kind, events)) = &*armed else { return false };
        if *kind != fault {
            return false;
        }
        let event = self.seen.fetch_add(1, Relaxed) + 1;
        let fires = events.contains(&event);
        self.fired.fetch_add(u64::from(fires), Relaxed);
        fires
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Fault, Range<u64>)>> {
        self.armed.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
