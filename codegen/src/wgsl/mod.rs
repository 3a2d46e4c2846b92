//! WGSL modules from loop nests: one invocation an element, a lane, a row or a block, one `let` a primitive.
//!
//! A nest takes one [`DispatchKind`] or several, each a module and a dispatch: elementwise nests one, reductions and scans as many as
//! their [order](ndjit_ir::reduction) has. Registers are `f32`, `u32` (integers of up to 32 bits, narrow ones extended by zeros;
//! the primitive carries the sign), `bool`, `nd_u64` (integers of 64 bits: `u64`, or two words) and `f64` (its bits in
//! an `nd_u64`, where the device has none). What WGSL leaves open, or a device does not do as IEEE-754 says, is done by functions from the repository's `shaders/`; a module holds those it
//! calls. Nothing here knows a device: what one can do comes as [`Features`].

#![warn(clippy::wildcard_enum_match_arm)]

mod body;
mod index;
mod library;
mod memory;
mod params;
mod prim;
mod steps;

pub use library::{FILES, text as library_text};
pub use params::{DispatchHeader, HEADER, params};
pub use steps::{bindings, emit};

use crate::target::Target;
use ndjit_ir::loops::{LoopNest, NestKind};
use ndjit_ir::{PrimType, StatementOrigin};
use std::fmt;

/// Invocations of a workgroup, along x.
pub const WORKGROUP: u32 = 256;
/// Lanes' results that one invocation of [`DispatchKind::Tree`] combines: four levels of the tree of blocks.
pub const LEAVES: usize = 16;

/// What a device can do, and how far it does it as IEEE-754 says. Part of the key of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Features {
    /// Integers of 64 bits; without them they are pairs of words.
    pub int64: bool,
    /// `f64`. Needs `int64`. Without it such numbers are held as integers of 64 bits, which are moved, converted and compared.
    pub float64: bool,
    /// True if float operations may be compiled as written: neither contracted nor reordered, infinities, NaN and the sign of zero
    /// kept. Otherwise each result is hidden from the compiler.
    pub as_written: bool,
    /// `fma` rounds once.
    pub fma: bool,
    /// Division of `f32` rounds to nearest.
    pub division: bool,
    /// The square root of `f32` rounds to nearest.
    pub sqrt: bool,
    /// Subnormal numbers of `f32` are neither read nor written as zeros.
    pub subnormals: bool,
}

impl Features {
    /// A device that does everything as IEEE-754 says.
    pub const ALL: Features = Features {
        int64: true,
        float64: true,
        as_written: true,
        fma: true,
        division: true,
        sqrt: true,
        subnormals: true,
    };

    /// A device that has nothing beyond WGSL, and does it as loosely as WGSL allows.
    pub const LEAST: Features = Features {
        int64: false,
        float64: false,
        as_written: false,
        fma: false,
        division: false,
        sqrt: false,
        subnormals: false,
    };

    /// What a register of a type is in WGSL: the type itself, or the one that holds its bits.
    pub(crate) fn held(&self, ty: PrimType) -> PrimType {
        if ty == PrimType::F64 && !self.float64 { PrimType::I64 } else { ty }
    }

    /// The primitives that modules for the device have.
    pub fn target(&self) -> Target {
        Target::wgsl(self.float64)
    }
}

/// What one dispatch does for a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DispatchKind {
    /// An elementwise nest: one invocation an element.
    Elements {
        /// One invocation does so many elements that results of one or two bytes fill words, which it alone writes. Results lie
        /// without gaps from a word's first byte on. Otherwise words are shared, and written atomically.
        packed: bool,
    },
    /// A reduction: sixteen invocations a block of elements, one a lane.
    Lanes {
        /// Writes results, since there is one block for each; otherwise partial results.
        last: bool,
    },
    /// A reduction: one invocation for up to [`LEAVES`] partial results.
    Tree {
        /// Writes results.
        last: bool,
    },
    /// A scan: one invocation a block of elements; its results lack what the blocks before give.
    Local {
        /// Nothing follows, since there is one block a row. Otherwise the blocks' totals are partial results.
        last: bool,
    },
    /// A scan: one invocation a row; from the blocks' totals, what the blocks before each block give.
    Carries,
    /// A scan: one invocation an element that is not of the first block: its result with what the blocks before give.
    Carried,
}

impl DispatchKind {
    /// The first step of a nest whose rows have one block.
    pub fn first(nest: &LoopNest) -> DispatchKind {
        match &nest.kind {
            NestKind::Scan(_) => DispatchKind::Local { last: true },
            NestKind::Reduce(_) | NestKind::Contract(_) => DispatchKind::Lanes { last: true },
            NestKind::Map | NestKind::Sort(_) | NestKind::Scatter(_) => {
                DispatchKind::Elements { packed: nest.outputs.iter().any(|access| access.dtype.bytes() < 4) }
            }
        }
    }
}

impl fmt::Display for DispatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DispatchKind::Elements { .. } => "elements",
            DispatchKind::Lanes { .. } => "lanes",
            DispatchKind::Tree { .. } => "tree",
            DispatchKind::Local { .. } => "local",
            DispatchKind::Carries => "carries",
            DispatchKind::Carried => "carried",
        })
    }
}

/// Inputs that are larger than what can be bound at once: each is bound in pieces, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pieces {
    /// Bytes of a piece: a multiple of every element's size.
    pub bytes: u64,
    /// How many pieces each input has; 1 beyond the end.
    pub counts: Vec<u32>,
}

impl Pieces {
    fn of(&self, input: usize) -> u32 {
        self.counts.get(input).copied().unwrap_or(1).max(1)
    }
}

/// What a module binds at a number of group 0, after the parameters at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// The nest's input of this number, to be read, or its first piece.
    Input(usize),
    /// A further piece of an input.
    Piece(usize, u32),
    /// The nest's output of this number, to be written, of scans also to be read.
    Output(usize),
    /// Partial results of this output that another dispatch left.
    PartialIn(usize),
    /// Partial results of this output.
    PartialOut(usize),
}

impl Binding {
    /// Returns `true` if it is written.
    pub fn writes(self) -> bool {
        matches!(self, Binding::Output(_) | Binding::PartialOut(_))
    }
}

/// A module's text and what it binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgslModule {
    /// The text; its entry point is `main`.
    pub text: String,
    /// What each line of the text was made from.
    pub origins: Vec<Option<StatementOrigin>>,
    /// What is bound at 1, 2, …; the parameters, [`params`], at 0.
    pub bindings: Vec<Binding>,
    /// Elements that one invocation computes: more than one where results of less than a word are packed.
    pub elements: u32,
}

impl fmt::Display for WgslModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
