//! Machine code: instructions in order, jumps to labels, and cold sections.

use crate::clif::Located;
use iced_x86::{Code, Encoder, Instruction, OpKind, Register};
use ndjit_ir::{Error, ErrorCode, Result};

/// A jump target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeLabel(usize);

/// The condition of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    Equal,
    NotEqual,
    /// Unsigned.
    Below,
    /// Signed.
    LessOrEqual,
    /// Signed.
    Less,
}

impl When {
    /// The opcode of a jump by a 32-bit displacement (Intel SDM, Jcc and JMP).
    fn opcode(self) -> &'static [u8] {
        match self {
            When::Always => &[0xe9],
            When::Equal => &[0x0f, 0x84],
            When::NotEqual => &[0x0f, 0x85],
            When::Below => &[0x0f, 0x82],
            When::LessOrEqual => &[0x0f, 0x8e],
            When::Less => &[0x0f, 0x8c],
        }
    }
}

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AsmOperand {
    Register(Register),
    Memory(Address),
    Immediate8(u8),
    Immediate32(i32),
}

/// `base + index * scale + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Address {
    pub base: Register,
    pub index: Register,
    pub scale: u32,
    pub offset: i32,
    /// The instruction broadcasts one element to all lanes.
    pub broadcast: bool,
}

impl Address {
    /// Memory at `base + offset`.
    pub(super) fn at(base: Register, offset: i32) -> Address {
        Address { base, index: Register::None, scale: 1, offset, broadcast: false }
    }
}

enum AsmItem {
    Instruction(Instruction, Located),
    Label(CodeLabel),
    Jump(When, CodeLabel),
    /// Aligns the next address to 32.
    Align,
}

/// Code under construction.
#[derive(Default)]
pub(super) struct Assembler {
    items: Vec<AsmItem>,
    /// Open sections, outermost first.
    outer: Vec<Vec<AsmItem>>,
    /// Sections at the end of the code.
    cold: Vec<AsmItem>,
    labels: usize,
    pub located: Located,
}

/// Finished code, and the origins of its instructions.
pub(super) struct Assembled {
    pub bytes: Vec<u8>,
    pub places: Vec<(u32, u32, Located)>,
}

impl Assembler {
    pub(super) fn label(&mut self) -> CodeLabel {
        self.labels += 1;
        CodeLabel(self.labels - 1)
    }

    /// Binds the label here.
    pub(super) fn bind(&mut self, label: CodeLabel) {
        self.items.push(AsmItem::Label(label));
    }

    pub(super) fn jump(&mut self, when: When, label: CodeLabel) {
        self.items.push(AsmItem::Jump(when, label));
    }

    pub(super) fn align(&mut self) {
        self.items.push(AsmItem::Align);
    }

    /// Starts a cold section, until [`Assembler::end_cold`].
    pub(super) fn begin_cold(&mut self) {
        self.outer.push(std::mem::take(&mut self.items));
    }

    pub(super) fn end_cold(&mut self) {
        let section = std::mem::replace(&mut self.items, self.outer.pop().unwrap_or_default());
        self.cold.extend(section);
    }

    /// This code, without labels, followed by `rest`, with its own labels.
    pub(super) fn followed_by(self, mut rest: Assembler) -> Assembler {
        let body = std::mem::replace(&mut rest.items, self.items);
        rest.items.extend(body);
        rest
    }

    /// An instruction with a mask, `Register::None` for none.
    pub(super) fn masked(&mut self, code: Code, operands: &[AsmOperand], mask: Register, zeroing: bool) {
        let mut instruction = Instruction::default();
        instruction.set_code(code);
        for (n, operand) in (0u32..).zip(operands) {
            match *operand {
                AsmOperand::Register(register) => {
                    instruction.set_op_kind(n, OpKind::Register);
                    instruction.set_op_register(n, register);
                }
                AsmOperand::Memory(address) => {
                    instruction.set_op_kind(n, OpKind::Memory);
                    instruction.set_memory_base(address.base);
                    instruction.set_memory_index(address.index);
                    instruction.set_memory_index_scale(address.scale);
                    instruction.set_memory_displacement64(i64::from(address.offset) as u64);
                    instruction.set_memory_displ_size(if address.offset == 0 { 0 } else { 1 });
                    instruction.set_is_broadcast(address.broadcast);
                }
                AsmOperand::Immediate8(value) => {
                    instruction.set_op_kind(n, OpKind::Immediate8);
                    instruction.set_immediate8(value);
                }
                AsmOperand::Immediate32(value) => {
                    instruction.set_op_kind(n, OpKind::Immediate32to64);
                    instruction.set_immediate32to64(i64::from(value));
                }
            }
        }
        instruction.set_op_mask(mask);
        instruction.set_zeroing_masking(zeroing && mask != Register::None);
        self.items.push(AsmItem::Instruction(instruction, self.located));
    }

    pub(super) fn add(&mut self, code: Code, operands: &[AsmOperand]) {
        self.masked(code, operands, Register::None, false);
    }

    /// The machine code.
    ///
    /// # Errors
    /// `Backend` if an instruction does not exist: a bug.
    pub(super) fn finish(mut self) -> Result<Assembled> {
        self.items.append(&mut self.cold);
        let mut encoder = Encoder::try_with_capacity(64, 16 * self.items.len())
            .map_err(|e| Error::new(ErrorCode::Backend, format!("x64: {e}")))?;
        let mut at = 0usize;
        let mut labels = vec![0usize; self.labels];
        let mut jumps: Vec<(usize, CodeLabel)> = Vec::new();
        let mut places: Vec<(u32, u32, Located)> = Vec::new();
        for item in &self.items {
            match item {
                AsmItem::Label(label) => labels[label.0] = at,
                AsmItem::Jump(when, label) => {
                    let opcode = when.opcode();
                    opcode.iter().chain(&[0; 4]).for_each(|&byte| encoder.write_u8(byte));
                    at += opcode.len() + 4;
                    jumps.push((at, *label));
                }
                AsmItem::Align => {
                    let padding = at.next_multiple_of(32) - at;
                    for start in (0..padding).step_by(NOP.len()) {
                        let bytes = NOPS[(padding - start).min(NOP.len()) - 1];
                        bytes.iter().for_each(|&byte| encoder.write_u8(byte));
                    }
                    at += padding;
                }
                AsmItem::Instruction(instruction, located) => {
                    let length = encoder.encode(instruction, at as u64).map_err(|e| {
                        Error::new(ErrorCode::Backend, format!("x64: {e}"))
                            // Its number: names are 0.3 MB of every program.
                            .fact(format_args!("iced-x86's code {}", instruction.code() as usize))
                    })?;
                    match places.last_mut() {
                        Some((_, end, same)) if *same == *located && *end == at as u32 => *end += length as u32,
                        _ => places.push((at as u32, (at + length) as u32, *located)),
                    }
                    at += length;
                }
            }
        }
        let mut bytes = encoder.take_buffer();
        for (end, label) in jumps {
            let displacement = labels[label.0] as i64 - end as i64;
            bytes[end - 4..end].copy_from_slice(&(displacement as i32).to_le_bytes());
        }
        Ok(Assembled { bytes, places })
    }
}

/// The longest no-op instruction; all of them (Intel SDM, NOP).
const NOP: &[u8] = NOPS[8];
const NOPS: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];
