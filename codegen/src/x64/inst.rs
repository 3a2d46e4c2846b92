//! Instructions on virtual registers: what selection makes and allocation gives registers to.
//!
//! A value is a vector of up to 64 bytes, lane after lane, or a mask of up to 64 bits, lane after lane; what lies beyond the lanes of a
//! block is arbitrary. Without mask registers a bool is a vector, too: of ones or zeros in lanes of such a width that those of a
//! unit fill a register. A value is made once, except that an [`If`] changes its results out of the way.

use super::forms::InstForm;
use super::set::Set;
use crate::clif::Located;
use ndjit_ir::PrimType;
use smallvec::SmallVec;

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct V(pub u32);

/// What kind of register holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegClass {
    /// Those of vectors.
    Vector,
    /// `k1` to `k7`: `k0` means that there is no mask.
    Mask,
}

impl RegClass {
    /// The class of a type's values.
    pub(super) fn of(set: Set, ty: PrimType) -> RegClass {
        if set == Set::Avx512 && ty == PrimType::Bool { RegClass::Mask } else { RegClass::Vector }
    }
}

/// Memory that keeps its value while the loops run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct InvariantAddress {
    pub base: Base,
    pub offset: i32,
    /// Bits of the one element that all lanes are loaded from; `None` if each lane has its own.
    pub broadcast: Option<u32>,
}

/// What a [`InvariantAddress`] is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Base {
    Constants,
    Literals,
    /// The function's own memory on the stack.
    Frame,
}

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub class: RegClass,
    /// Where it can be loaded from, always.
    pub known: Option<InvariantAddress>,
    /// The register it keeps in all loops.
    pub pinned: Option<u8>,
}

/// All values of a function.
#[derive(Debug, Default)]
pub(super) struct Values(Vec<Value>);

impl Values {
    /// A new value.
    pub(super) fn make(&mut self, class: RegClass) -> V {
        self.0.push(Value { class, known: None, pinned: None });
        V(self.0.len() as u32 - 1)
    }

    /// A new value that can be loaded from this place.
    pub(super) fn make_known(&mut self, class: RegClass, place: InvariantAddress) -> V {
        let v = self.make(class);
        self.0[v.0 as usize].known = Some(place);
        v
    }

    pub(super) fn get(&self, v: V) -> Value {
        self.0[v.0 as usize]
    }

    pub(super) fn set_known(&mut self, v: V, place: InvariantAddress) {
        self.0[v.0 as usize].known = Some(place);
    }

    pub(super) fn pin(&mut self, v: V, register: u8) {
        self.0[v.0 as usize].pinned = Some(register);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Memory of an operand of the nest: at the index of the innermost loop, and so many bytes beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementAddress {
    pub operand: usize,
    /// Bytes from one index to the next: 0, or a power of two up to 16.
    pub step: u8,
    pub offset: i32,
}

/// Elements of a unit that not all need be there, where no mask leaves out lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartialUnit {
    /// The first one's number in the unit.
    pub first: u32,
    /// How many they are if all are there.
    pub elements: u32,
}

/// Plus or minus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub(super) enum MachineInstKind {
    /// The form on the arguments; its last one may be in memory.
    Plain(InstForm),
    /// The form, in which the result takes the register of the first argument.
    Tied(InstForm),
    /// `args[0] * args[1] + args[2]` in lanes of `f32` or `f64`, the product with this sign.
    Fma(PrimType, Sign),
    /// A copy of the first argument; a second one is what the result has been.
    Copy,
    /// Reads memory: all of it, or the elements that are there.
    Load(InstForm, ElementAddress, Option<PartialUnit>),
    /// Writes the last argument to memory: all of it, or the elements that are there.
    Store(InstForm, ElementAddress, Option<PartialUnit>),
    /// Entries of a table in the constants at this offset, of this type, at the lanes of an index of 32 bits.
    Gather(PrimType, i32),
    /// See there.
    If(Box<If>),
}

/// Instructions that are done out of the way, and only if one of the lowest bits of the mask, the only argument, is set.
#[derive(Clone, Debug)]
pub(super) struct If {
    /// How many bits.
    pub lanes: u32,
    /// Results and what they are before.
    pub results: Vec<(V, V)>,
    /// What is done; it may change results.
    pub cold: Vec<MachineInst>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct MachineInst {
    pub kind: MachineInstKind,
    pub result: Option<V>,
    pub args: SmallVec<[V; 3]>,
    /// The lanes that are written.
    pub mask: Option<V>,
    /// True if the others become 0; otherwise they keep what the result's register held.
    pub zeroing: bool,
    pub immediate: Option<u8>,
    /// What it is for.
    pub located: Located,
}
