//! Bodies: scalar SSA programs over primitives, for one op on one dtype, or for the inside of an expanded loop. The interpreter
//! evaluates them with Rust scalars, code generators inline them.
//!
//! A body is a list of instructions over numbered registers: inputs first, then each instruction's results in order. Beyond
//! straight-line code it has table look-ups, `If` (a cold path, taken for the lanes whose mask is set) and `Repeat` (a bounded
//! loop). Inner bodies are closed: they use only their own inputs.

mod build;
mod eval;
mod parse;
mod prim;
mod text;
mod verify;

pub use build::BodyBuilder;
pub use eval::eval_prim;
pub(crate) use parse::{read_inst, read_reg};
pub use prim::{Class, Prim, PrimSignature};
pub(crate) use text::write_inst;
pub use verify::MAX_DEPTH;

use crate::dtype::PrimType;
use crate::id::entity;
use crate::origin::StatementOrigin;
use smallvec::SmallVec;
use std::sync::Arc;

entity! {
    /// A register of a body.
    Reg "r"
}

/// A constant table for [`InstKind::Table`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LookupTable {
    /// Type of each entry.
    pub ty: PrimType,
    /// Entries as bits in the low end of a `u64`.
    pub values: Vec<u64>,
}

/// The kind of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InstKind {
    /// A constant, as bits in the low end of a `u64`.
    Const(u64),
    /// A primitive.
    Prim(Prim),
    /// `table[min(index, len - 1)]` with an unsigned `I32` index. The table is not empty.
    Table(Arc<LookupTable>),
    /// A word of an element of an array, in the row nearest to an index. Operands, all `I64`: the address of the element in the first row,
    /// the index, the last index, and the row stride in bytes. It reads at the address, plus the index clamped to `0..=last` times the
    /// stride, plus the bytes of the preceding words. Allowed only in loop nests, outside inner bodies.
    Gather {
        /// The nest's input.
        input: u32,
        /// The index of the word in the element.
        word: u32,
    },
    /// Operands: a `Bool`, then `n` defaults, then the inner body's inputs. Results: the inner body's `n` outputs if the `Bool`
    /// is true, else the defaults. Vector code runs the inner body if any lane's `Bool` is true.
    If(Arc<Body>),
    /// Operands: the initial state, then invariants. The inner body maps state and invariants to a `Bool` and the next
    /// state. At most `max` times: if the `Bool` is true the next state becomes the state, else the loop ends.
    Repeat {
        /// The largest number of trips.
        max: u32,
        /// Number of state registers.
        state: usize,
        /// Maps state and invariants to a `Bool` and the next state.
        body: Arc<Body>,
    },
}

/// One instruction. Its results are consecutive registers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The kind.
    pub kind: InstKind,
    /// Operands.
    pub args: SmallVec<[Reg; 3]>,
    /// First result register.
    pub first: Reg,
    /// Number of results.
    pub results: u32,
    /// The origin.
    pub origin: StatementOrigin,
}

impl Inst {
    /// The result registers.
    pub fn result_regs(&self) -> impl Iterator<Item = Reg> + use<> {
        (self.first.0..self.first.0 + self.results).map(Reg)
    }

    /// The only result of a primitive, constant or table look-up.
    pub fn result(&self) -> Reg {
        self.first
    }
}

/// A scalar SSA program over primitives.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Body {
    /// Number of input registers: registers `0..inputs`.
    pub inputs: usize,
    /// The type of every register.
    pub types: Vec<PrimType>,
    /// Instructions in order; operands come before their uses.
    pub insts: Vec<Inst>,
    /// Result registers.
    pub outputs: Vec<Reg>,
}

impl Body {
    /// The type of a register.
    pub fn ty(&self, reg: Reg) -> PrimType {
        self.types[reg.index()]
    }

    /// The instruction that makes a register; `None` for inputs.
    pub fn definition(&self, reg: Reg) -> Option<&Inst> {
        let at = self.insts.partition_point(|inst| inst.first <= reg).checked_sub(1)?;
        self.insts.get(at)
    }

    /// The types of the inputs.
    pub fn input_types(&self) -> &[PrimType] {
        &self.types[..self.inputs]
    }

    /// The types of the outputs.
    pub fn output_types(&self) -> impl Iterator<Item = PrimType> + '_ {
        self.outputs.iter().map(|&r| self.ty(r))
    }
}
