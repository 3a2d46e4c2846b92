//! The stack frame, and the addresses of the nest's operands.
//!
//! ```text
//! rsp + 0      the stack pointer of the caller's frame
//!     + 8      extents, strides, the extent of the innermost loop, the last index a whole block may begin at
//!     + 40     masks of lanes that are there: of elements, of pairs in the first and in the second register; without mask registers
//!              how many lanes are there, and two registers' contents while others are in them
//!     + 64     elements of a partial unit
//!     + 72     trips left of each outer loop and of steps; for each outer loop of them, and for the innermost, a pointer for each operand
//!     then     slots as large as registers, aligned: of operands that are indices first where a block begins, then how far its lanes
//!              are from there
//! ```

use super::assembler::{Address, AsmOperand, Assembler};
use super::inst::{Base, ElementAddress, InvariantAddress};
use super::set::Set;
use iced_x86::{Code, Register};

/// The registers of the function's arguments.
pub(super) struct ArgumentRegisters {
    pub literals: Register,
    pub constants: Register,
    /// The index of the innermost loop, in elements.
    pub index: Register,
    /// For addresses; clobbered by each.
    pub scratch: Register,
    /// For counts.
    pub count: Register,
}

/// In the System V calling convention.
pub(super) const POINTERS: ArgumentRegisters = ArgumentRegisters {
    literals: Register::RCX,
    constants: Register::R8,
    index: Register::RAX,
    scratch: Register::R10,
    count: Register::R11,
};

/// Registers for the pointers of the first operands in the innermost loop. The function's other arguments precede them.
const BASES: [Register; 10] = [
    Register::RDI,
    Register::RSI,
    Register::RDX,
    Register::R9,
    Register::RBX,
    Register::RBP,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// The callee-saved registers.
pub(super) const SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

const SAVED_STACK: i32 = 0;
pub(super) const EXTENTS: i32 = 8;
pub(super) const STRIDES: i32 = 16;
pub(super) const TOTAL: i32 = 24;
pub(super) const LIMIT: i32 = 32;
pub(super) const TAIL: i32 = 40;
pub(super) const PAIRS: [i32; 2] = [48, 56];
pub(super) const KEPT: [i32; 2] = PAIRS;
/// Elements of a partial unit, by which the index moves.
pub(super) const TAKEN: i32 = 64;
const LOOPS: i32 = 72;

/// The maximum size of the frame in bytes: less than a page, so that a guard page is not stepped over.
const MOST: i32 = 3840;

/// The layout of the frame.
pub(super) struct Frame {
    pub set: Set,
    operands: usize,
    outer: usize,
    slots: i32,
    size: i32,
    /// For operands that are indices: the start of a block, the distances of its lanes, and their number.
    indices: Vec<Option<[i32; 3]>>,
    /// The constants 0, 1, 2 … as 64-bit integers, one for each lane of the largest block.
    pub numbers: Option<i32>,
}

impl Frame {
    /// The frame of a nest with these numbers of operands and outer loops.
    pub(super) fn new(set: Set, operands: usize, outer: usize) -> Frame {
        let pointers = (outer + 1) * operands;
        let slots = (LOOPS as usize + 8 * (outer + 1 + pointers)).next_multiple_of(64) as i32;
        let size = match set {
            Set::Avx512 => slots,
            Set::Avx2 => slots + set.bytes() as i32,
        };
        Frame { set, operands, outer, slots, size, indices: vec![None; operands], numbers: None }
    }

    /// Reserves memory for an operand that is indices, of this many units.
    pub(super) fn take_indices(&mut self, operand: usize, units: usize) {
        let first = self.slot();
        let lanes = self.size;
        (0..units).for_each(|_| _ = self.slot());
        if let Some(indices) = self.indices.get_mut(operand) {
            *indices = Some([first, lanes, (units as u32 * self.set.bytes() / 8) as i32]);
        }
    }

    /// For an operand that is indices, the memory of a block's start and of its lanes' distances.
    pub(super) fn indices(&self, operand: usize) -> Option<[i32; 2]> {
        self.indices.get(operand).copied().flatten().map(|[first, lanes, _]| [first, lanes])
    }

    /// The number of a block's lanes, for an operand that is indices.
    pub(super) fn lanes_of_indices(&self, operand: usize) -> i32 {
        self.indices.get(operand).copied().flatten().map_or(0, |[.., lanes]| lanes)
    }

    /// Memory for partial registers, if there are no masks: the first slot.
    pub(super) fn part(&self) -> i32 {
        self.slots
    }

    /// A new slot.
    pub(super) fn slot(&mut self) -> i32 {
        let at = self.size;
        self.size += self.set.bytes() as i32;
        at
    }

    /// Returns `true` if the frame is too large.
    pub(super) fn is_too_large(&self) -> bool {
        self.size > MOST || self.slots > MOST / 2
    }

    /// Trips left of an outer loop; after the last one, steps left.
    pub(super) fn counter(&self, axis: usize) -> i32 {
        LOOPS + 8 * axis as i32
    }

    /// The pointer of an operand at the start of a trip of the loop around loop `axis`.
    pub(super) fn pointer(&self, axis: usize, operand: usize) -> i32 {
        LOOPS + 8 * (self.outer + 1 + axis * self.operands + operand) as i32
    }

    /// The pointer of an operand in the innermost loop: in a register, or in memory.
    pub(super) fn base(&self, operand: usize) -> Result<Register, i32> {
        BASES.get(operand).copied().ok_or_else(|| self.pointer(self.outer, operand))
    }

    pub(super) fn address(&self, place: InvariantAddress) -> Address {
        let base = match place.base {
            Base::Constants => POINTERS.constants,
            Base::Literals => POINTERS.literals,
            Base::Frame => Register::RSP,
        };
        Address::at(base, place.offset)
    }

    /// The address of an element at the index of the innermost loop.
    pub(super) fn element(&self, code: &mut Assembler, element: ElementAddress) -> Address {
        if let Some([first, _]) = self.indices(element.operand) {
            return Address::at(Register::RSP, first);
        }
        let base = match self.base(element.operand) {
            Ok(register) => register,
            Err(offset) => {
                let scratch = AsmOperand::Register(POINTERS.scratch);
                code.add(Code::Mov_r64_rm64, &[scratch, AsmOperand::Memory(Address::at(Register::RSP, offset))]);
                POINTERS.scratch
            }
        };
        if element.step == 0 {
            return Address::at(base, element.offset);
        }
        let (index, scale) = match element.step {
            16 => {
                // Addresses scale by 8 at most.
                let twice = Address { index: POINTERS.index, ..Address::at(POINTERS.index, 0) };
                code.add(Code::Lea_r64_m, &[AsmOperand::Register(POINTERS.count), AsmOperand::Memory(twice)]);
                (POINTERS.count, 8)
            }
            step => (POINTERS.index, u32::from(step)),
        };
        Address { index, scale, ..Address::at(base, element.offset) }
    }

    /// The prologue: saves registers, reserves and aligns memory.
    pub(super) fn enter(&self, code: &mut Assembler) {
        for register in SAVED {
            code.add(Code::Push_r64, &[AsmOperand::Register(register)]);
        }
        let (stack, old) = (AsmOperand::Register(Register::RSP), AsmOperand::Register(POINTERS.count));
        code.add(Code::Mov_r64_rm64, &[old, stack]);
        code.add(Code::Sub_rm64_imm32, &[stack, AsmOperand::Immediate32(self.size)]);
        code.add(Code::And_rm64_imm32, &[stack, AsmOperand::Immediate32(-64)]);
        code.add(Code::Mov_rm64_r64, &[AsmOperand::Memory(Address::at(Register::RSP, SAVED_STACK)), old]);
        for (offset, register) in [(EXTENTS, Register::RSI), (STRIDES, Register::RDX)] {
            let memory = AsmOperand::Memory(Address::at(Register::RSP, offset));
            code.add(Code::Mov_rm64_r64, &[memory, AsmOperand::Register(register)]);
        }
    }

    /// The epilogue.
    pub(super) fn leave(&self, code: &mut Assembler) {
        code.add(Code::VEX_Vzeroupper, &[]);
        let saved = AsmOperand::Memory(Address::at(Register::RSP, SAVED_STACK));
        code.add(Code::Mov_r64_rm64, &[AsmOperand::Register(Register::RSP), saved]);
        for register in SAVED.into_iter().rev() {
            code.add(Code::Pop_r64, &[AsmOperand::Register(register)]);
        }
        code.add(Code::Retnq, &[]);
    }
}
