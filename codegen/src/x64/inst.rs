//! Instructions on virtual registers, from selection to allocation.
//!
//! A value is a vector of up to 64 bytes, lane after lane, or a mask of up to 64 bits, lane after lane; beyond the lanes of a
//! block it is arbitrary. Without mask registers a bool is a vector, too: of ones or zeros in lanes of such a width that a unit's
//! lanes fill a register. Values are in SSA form, except that an [`If`] changes its results in cold code.

use super::forms::InstForm;
use super::set::Set;
use crate::clif::Located;
use ndjit_ir::PrimType;
use smallvec::SmallVec;

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct V(pub u32);

/// The class of a value's register.
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

/// Memory that is invariant in the loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct InvariantAddress {
    pub base: Base,
    pub offset: i32,
    /// Bits of the element to broadcast; `None` if each lane has its own.
    pub broadcast: Option<u32>,
}

/// The base of an [`InvariantAddress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Base {
    Constants,
    Literals,
    /// The stack frame.
    Frame,
}

/// The properties of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueProperties {
    pub class: RegClass,
    /// A location from which it can always be loaded.
    pub known: Option<InvariantAddress>,
    /// The register it is pinned to.
    pub pinned: Option<u8>,
}

/// All values of a function.
#[derive(Debug, Default)]
pub(super) struct Values(Vec<ValueProperties>);

impl Values {
    /// A new value.
    pub(super) fn make(&mut self, class: RegClass) -> V {
        self.0.push(ValueProperties { class, known: None, pinned: None });
        V(self.0.len() as u32 - 1)
    }

    /// A new value with a known location.
    pub(super) fn make_known(&mut self, class: RegClass, place: InvariantAddress) -> V {
        let v = self.make(class);
        self.0[v.0 as usize].known = Some(place);
        v
    }

    pub(super) fn get(&self, v: V) -> ValueProperties {
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

/// Memory of an operand: at the index of the innermost loop, plus an offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementAddress {
    pub operand: usize,
    /// Bytes from one index to the next: 0, or a power of two up to 16.
    pub step: u8,
    pub offset: i32,
}

/// Elements of a partial unit, without masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartialUnit {
    /// The index of the first one in the unit.
    pub first: u32,
    /// The number of elements if all are there.
    pub elements: u32,
}

/// Plus or minus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

/// The kind of an instruction.
#[derive(Clone, Debug)]
pub(super) enum MachineInstKind {
    /// The form on the arguments; its last one may be in memory.
    Plain(InstForm),
    /// The form, with the result in the register of the first argument.
    Tied(InstForm),
    /// `args[0] * args[1] + args[2]` in lanes of `f32` or `f64`, the product with this sign.
    Fma(PrimType, Sign),
    /// A copy of the first argument; a second one is the old result.
    Copy,
    /// Reads memory: all of it, or only existing elements.
    Load(InstForm, ElementAddress, Option<PartialUnit>),
    /// Writes the last argument to memory: all of it, or only existing elements.
    Store(InstForm, ElementAddress, Option<PartialUnit>),
    /// Entries of a table in the constants at this offset, of this type, at the lanes of an index of 32 bits.
    Gather(PrimType, i32),
    /// The quotient of two unsigned integers of this type, each the same in all lanes; 0 for the divisor 0.
    Divide(PrimType),
    /// A conditional cold path.
    If(Box<If>),
}

/// Cold instructions, run only if any of the lowest bits of the mask, the only argument, is set.
#[derive(Clone, Debug)]
pub(super) struct If {
    /// The number of bits.
    pub lanes: u32,
    /// Results and their defaults.
    pub results: Vec<(V, V)>,
    /// The cold instructions, which may change results.
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
    /// True if the others become 0; otherwise they keep the contents of the result's register.
    pub zeroing: bool,
    pub immediate: Option<u8>,
    /// The origin.
    pub located: Located,
}
