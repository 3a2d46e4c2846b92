//! WGSL modules from loop nests: one invocation per element, lane, row or block, one `let` per primitive.
//!
//! A nest takes one [`DispatchKind`] or several, each a module and a dispatch: elementwise nests have one, reductions
//! and scans as many as their [order](ndjit_ir::reduction) requires. Registers are `f32`, `u32` (integers of up to 32
//! bits, narrow ones zero-extended; the primitive is signed or unsigned), `bool`, `nd_u64` (integers of 64 bits: `u64`,
//! or two words) and `f64` (its bits in an `nd_u64` on devices without it). Functions from the repository's `shaders/`
//! implement operations that WGSL leaves undefined or that devices compute unlike IEEE-754. A module contains the
//! functions that it calls. The capabilities of a device are its [`Features`].

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
/// Partial results that one invocation of [`DispatchKind::Tree`] combines: four levels of the tree of blocks.
pub const LEAVES: usize = 16;

/// The features of a device, and its conformance to IEEE-754. Part of the key of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Features {
    /// True if there are integers of 64 bits; without them they are pairs of words.
    pub int64: bool,
    /// True if there is `f64`, which needs `int64`. Without it such numbers are integers of 64 bits, which are moved,
    /// cast and compared.
    pub float64: bool,
    /// True if float operations compile as written: neither contracted nor reordered, with infinities, NaN and the sign
    /// of zero preserved. Otherwise each result is hidden from the compiler.
    pub as_written: bool,
    /// True if `fma` rounds once.
    pub fma: bool,
    /// True if division of `f32` rounds to nearest.
    pub division: bool,
    /// True if the square root of `f32` rounds to nearest.
    pub sqrt: bool,
    /// True if subnormal numbers of `f32` are neither read nor written as zeros.
    pub subnormals: bool,
}

impl Features {
    /// A device that conforms to IEEE-754 in all features.
    pub const ALL: Features = Features {
        int64: true,
        float64: true,
        as_written: true,
        fma: true,
        division: true,
        sqrt: true,
        subnormals: true,
    };

    /// A device with nothing beyond WGSL, and with WGSL's weakest guarantees.
    pub const LEAST: Features = Features {
        int64: false,
        float64: false,
        as_written: false,
        fma: false,
        division: false,
        sqrt: false,
        subnormals: false,
    };

    /// Returns the WGSL type of a register: the type itself, or the one of its bits.
    pub(crate) fn held(&self, ty: PrimType) -> PrimType {
        if ty == PrimType::F64 && !self.float64 { PrimType::I64 } else { ty }
    }

    /// Returns the target of modules for the device.
    pub fn target(&self) -> Target {
        Target::wgsl(self.float64)
    }
}

/// A dispatch of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DispatchKind {
    /// An elementwise nest: one invocation per element.
    Elements {
        /// True if one invocation computes enough elements of one or two bytes to fill words, which only it writes.
        /// Results are contiguous from a word's first byte on. Otherwise words are shared, and written atomically.
        packed: bool,
    },
    /// A reduction: sixteen invocations per block of elements, one per lane.
    Lanes {
        /// True if it writes results, since each has one block. Otherwise it writes partial results.
        last: bool,
    },
    /// A reduction: one invocation per [`LEAVES`] partial results.
    Tree {
        /// True if it writes results.
        last: bool,
    },
    /// A scan: one invocation per block of elements; its results lack the carries of earlier blocks.
    Local {
        /// True if its results are final, since each row has one block. Otherwise the blocks' totals are partial
        /// results.
        last: bool,
    },
    /// A scan: one invocation per row computes each block's carry from the blocks' totals.
    Carries,
    /// A scan: one invocation per element after the first block combines its result with the carry.
    Carried,
}

impl DispatchKind {
    /// Returns the first step of a nest whose rows have one block.
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

/// Inputs that exceed the device's binding size: each is bound in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pieces {
    /// The size of a piece in bytes: a multiple of every element's size.
    pub bytes: u64,
    /// The number of pieces of each input; 1 beyond the end.
    pub counts: Vec<u32>,
}

impl Pieces {
    fn of(&self, input: usize) -> u32 {
        self.counts.get(input).copied().unwrap_or(1).max(1)
    }
}

/// A binding of a module in group 0; the parameters are binding 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// The nest's input of this number, read-only, or its first piece.
    Input(usize),
    /// A further piece of an input.
    Piece(usize, u32),
    /// The nest's output of this number; scans also read it.
    Output(usize),
    /// Partial results of this output from another dispatch.
    PartialIn(usize),
    /// Partial results of this output.
    PartialOut(usize),
}

impl Binding {
    /// Returns `true` if the module writes the binding.
    pub fn writes(self) -> bool {
        matches!(self, Binding::Output(_) | Binding::PartialOut(_))
    }
}

/// A module's text and its bindings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgslModule {
    /// The text; its entry point is `main`.
    pub text: String,
    /// The origin of each line.
    pub origins: Vec<Option<StatementOrigin>>,
    /// The bindings 1, 2, …; binding 0 is the parameters, [`params`].
    pub bindings: Vec<Binding>,
    /// Elements per invocation: more than one for packed results of less than a word.
    pub elements: u32,
}

impl fmt::Display for WgslModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
