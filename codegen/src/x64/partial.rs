//! Partial loads and stores without masks: whole registers if all elements exist, else through the frame, element by element, in cold
//! code. No byte beyond the elements is accessed.
//!
//! Missing lanes get the first element, so they take no separate paths.

use super::allocate::name;
use super::assembler::{Address, AsmOperand as Op, Assembler, CodeLabel, When};
use super::forms::{InstForm, Size};
use super::frame::{Frame, KEPT, POINTERS, TAIL};
use super::inst::{ElementAddress, PartialUnit};
use super::moves;
use iced_x86::{Code as X, Register};

const FROM: Register = POINTERS.scratch;
/// These registers contain pointers, which are restored.
const LEFT: Register = POINTERS.literals;
const WORD: Register = POINTERS.constants;

/// Loads the existing elements at an address into a register.
pub(super) fn load(
    code: &mut Assembler,
    frame: &Frame,
    form: InstForm,
    (address, element): (Address, ElementAddress),
    part: PartialUnit,
    to: u8,
) {
    let to_part = Op::Register(name(to, form.operands[0]));
    let (cold, merge) = begin(code, part);
    code.add(form.code, &[to_part, Op::Memory(address)]);
    code.bind(merge);

    let none = count(code, cold, address, part);
    let step = element.step;
    let whole = Op::Register(name(to, Size::whole(frame.set)));
    let [load, store, _] = moves::whole(frame.set);
    let memory = Op::Memory(Address::at(Register::RSP, frame.part()));
    let first = moves::broadcast(frame.set, 8 * u32::from(step)).code;
    code.add(first, &[whole, Op::Memory(Address::at(FROM, 0))]);
    code.add(store, &[memory, whole]);
    copy(code, step, (FROM, 0), (Register::RSP, frame.part()));
    code.bind(none);
    code.add(load, &[whole, memory]);
    end(code, merge);
}

/// Stores the existing elements of a register at an address.
pub(super) fn store(
    code: &mut Assembler,
    frame: &Frame,
    form: InstForm,
    (address, element): (Address, ElementAddress),
    part: PartialUnit,
    value: u8,
) {
    let value_part = Op::Register(name(value, form.operands[0]));
    let (cold, merge) = begin(code, part);
    code.add(form.code, &[Op::Memory(address), value_part]);
    code.bind(merge);

    let none = count(code, cold, address, part);
    let [_, store, _] = moves::whole(frame.set);
    let whole = Op::Register(name(value, Size::whole(frame.set)));
    code.add(store, &[Op::Memory(Address::at(Register::RSP, frame.part())), whole]);
    copy(code, element.step, (Register::RSP, frame.part()), (FROM, 0));
    code.bind(none);
    end(code, merge);
}

/// Jumps to cold code if elements of the part are missing. Returns its label and that of its end.
fn begin(code: &mut Assembler, part: PartialUnit) -> (CodeLabel, CodeLabel) {
    let (cold, merge) = (code.label(), code.label());
    let all = (part.first + part.elements) as i32;
    code.add(X::Cmp_rm64_imm32, &[Op::Memory(Address::at(Register::RSP, TAIL)), Op::Immediate32(all)]);
    code.jump(When::Below, cold);
    (cold, merge)
}

/// In cold code: stores the address and the number of existing elements. Returns the label for none.
fn count(code: &mut Assembler, cold: CodeLabel, address: Address, part: PartialUnit) -> CodeLabel {
    let none = code.label();
    code.begin_cold();
    code.bind(cold);
    code.add(X::Lea_r64_m, &[Op::Register(FROM), Op::Memory(address)]);
    for (register, kept) in [LEFT, WORD].into_iter().zip(KEPT) {
        code.add(X::Mov_rm64_r64, &[Op::Memory(Address::at(Register::RSP, kept)), Op::Register(register)]);
    }
    code.add(X::Mov_r64_rm64, &[Op::Register(LEFT), Op::Memory(Address::at(Register::RSP, TAIL))]);
    if part.first > 0 {
        code.add(X::Sub_rm64_imm32, &[Op::Register(LEFT), Op::Immediate32(part.first as i32)]);
        code.jump(When::LessOrEqual, none);
    }
    none
}

/// Copies the elements left, at least one, the last one first.
fn copy(code: &mut Assembler, step: u8, from: (Register, i32), to: (Register, i32)) {
    let (load, store, word, bytes) = match step {
        1 => (X::Mov_r8_rm8, X::Mov_rm8_r8, Register::R8L, 1),
        2 => (X::Mov_r16_rm16, X::Mov_rm16_r16, Register::R8W, 2),
        4 => (X::Mov_r32_rm32, X::Mov_rm32_r32, Register::R8D, 4),
        _ => (X::Mov_r64_rm64, X::Mov_rm64_r64, WORD, 8),
    };
    if step == 16 {
        code.add(X::Add_rm64_r64, &[Op::Register(LEFT), Op::Register(LEFT)]);
    }
    let at = |(base, offset): (Register, i32)| {
        Op::Memory(Address { index: LEFT, scale: bytes, ..Address::at(base, offset - bytes as i32) })
    };
    let next = code.label();
    code.bind(next);
    code.add(load, &[Op::Register(word), at(from)]);
    code.add(store, &[at(to), Op::Register(word)]);
    code.add(X::Sub_rm64_imm32, &[Op::Register(LEFT), Op::Immediate32(1)]);
    code.jump(When::NotEqual, next);
}

/// Restores the registers, and jumps back.
fn end(code: &mut Assembler, merge: CodeLabel) {
    for (register, kept) in [LEFT, WORD].into_iter().zip(KEPT) {
        code.add(X::Mov_r64_rm64, &[Op::Register(register), Op::Memory(Address::at(Register::RSP, kept))]);
    }
    code.jump(When::Always, merge);
    code.end_cold();
}
