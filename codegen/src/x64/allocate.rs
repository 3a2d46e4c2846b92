//! Registers for values: one pass over the instructions, which evicts the value whose next use is farthest (Belady
//! 1966; on straight lines, Poletto and Sarkar 1999 call such passes linear scan).
//!
//! Values with a known location are reloaded from it, and never stored. Cold code may use all registers, and restores
//! those it changed.
//!
//! Registers have numbers: vector registers from 0 on, mask registers from 32 on.

mod branches;
mod divide;

use super::assembler::{Address, AsmOperand, Assembler};
use super::forms::{self, InstForm, MemoryOperand, Size};
use super::frame::{Frame, POINTERS};
use super::inst::{Base, ElementAddress, InvariantAddress, MachineInst, MachineInstKind, RegClass, V, Values};
use super::liveness::note_uses;
use super::moves;
use super::partial;
use super::set::Set;
use iced_x86::{Code, Register};
use ndjit_ir::PrimType;
use smallvec::{SmallVec, smallvec};

/// Vector registers, then mask registers.
pub(super) const VECTORS: u8 = 32;
const ALL: usize = 40;
const NONE: u8 = u8::MAX;

/// The state of registers and memory between two instructions.
#[derive(Clone)]
struct RegisterState {
    holds: [Option<V>; ALL],
    /// The register of each value.
    register: Vec<u8>,
    /// The slot of each evicted value.
    slot: Vec<Option<i32>>,
    /// Slots without a value.
    free: Vec<i32>,
    /// Slots freed by the current instruction, which may read them after another eviction.
    freed: Vec<i32>,
    /// Registers that must keep their values: those of pinned values, and of results of cold code.
    fixed: u64,
}

/// The allocation of one stretch of instructions.
pub(super) struct Allocator<'a> {
    values: &'a Values,
    frame: &'a mut Frame,
    code: &'a mut Assembler,
    /// The uses of each value, the next one last.
    uses: Vec<Vec<u32>>,
    state: RegisterState,
    /// Registers of the current instruction.
    busy: u64,
    position: u32,
    /// True if there were too few registers for an instruction.
    pub(super) failed: bool,
}

impl<'a> Allocator<'a> {
    /// Prepares for `insts`, after which values in `last` are used. Registers in `reserved` are used only for the
    /// values pinned to them.
    pub(super) fn new(
        values: &'a Values,
        frame: &'a mut Frame,
        code: &'a mut Assembler,
        insts: &[MachineInst],
        last: &[V],
        reserved: u64,
    ) -> Allocator<'a> {
        let mut uses = vec![Vec::new(); values.len()];
        let mut position = 0;
        note_uses(insts, &mut uses, &mut position);
        last.iter().for_each(|v| uses[v.0 as usize].push(position));
        uses.iter_mut().for_each(|uses| uses.reverse());
        let mut register = vec![NONE; values.len()];
        let mut holds = [None; ALL];
        for n in 0..values.len() as u32 {
            if let Some(pinned) = values.get(V(n)).pinned {
                register[n as usize] = pinned;
                holds[pinned as usize] = Some(V(n));
            }
        }
        let state = RegisterState {
            holds,
            register,
            slot: vec![None; values.len()],
            free: Vec::new(),
            freed: Vec::new(),
            fixed: reserved,
        };
        Allocator { values, frame, code, uses, state, busy: 0, position: 0, failed: false }
    }

    /// Allocates registers for all instructions and writes them.
    pub(super) fn run(&mut self, insts: &[MachineInst]) {
        for inst in insts {
            self.code.located = inst.located;
            self.busy = 0;
            let freed = std::mem::take(&mut self.state.freed);
            self.state.free.extend(freed);
            let at = self.position;
            self.position += 1;
            match &inst.kind {
                MachineInstKind::If(inner) => self.branch(inst, inner, at),
                _ => self.instruction(inst, at),
            }
        }
    }

    /// Moves the accumulators of a step into the pinned registers of others, all at once.
    pub(super) fn carry(&mut self, moves: &[(V, V)]) {
        self.busy = 0;
        let mut pending: Vec<(u8, V)> = Vec::new();
        for &(to, value) in moves {
            let Some(to) = self.values.get(to).pinned else { continue };
            if self.state.register[value.0 as usize] != to {
                pending.push((to, value));
            }
        }
        // A move waits while another pending move reads its target. A cycle is broken through memory.
        while !pending.is_empty() {
            let reads = |register: u8, pending: &[(u8, V)], state: &RegisterState| {
                pending.iter().any(|&(to, value)| to != register && state.register[value.0 as usize] == register)
            };
            if let Some(n) = pending.iter().position(|&(to, _)| !reads(to, &pending, &self.state)) {
                let (to, value) = pending.swap_remove(n);
                self.move_to(to, value);
            } else {
                let (_, value) = pending[0];
                self.spill(value);
                self.state.register[value.0 as usize] = NONE;
            }
        }
    }

    /// Moves a value into a register, regardless of the register's contents.
    fn move_to(&mut self, to: u8, value: V) {
        let from = self.state.register[value.0 as usize];
        if from == NONE {
            self.load(value, to);
        } else {
            self.copy(to, from);
        }
    }

    fn instruction(&mut self, inst: &MachineInst, at: u32) {
        let mask = match inst.mask {
            Some(mask) => self.in_register(mask, at),
            None => NONE,
        };
        match &inst.kind {
            MachineInstKind::Plain(form) => {
                let mut operands: SmallVec<[AsmOperand; 4]> = smallvec![];
                for (n, &arg) in inst.args.iter().enumerate() {
                    let size = form.operands[(n + 1).min(2)];
                    let memory = if n + 1 == inst.args.len() { form.memory } else { MemoryOperand::No };
                    operands.push(self.operand(arg, size, memory, at));
                }
                // Forms without operands set a mask: `k0` is in all places.
                while inst.args.is_empty() && operands.len() < 2 {
                    operands.push(AsmOperand::Register(Register::K0));
                }
                self.release(inst, at);
                // The result may replace an operand.
                self.busy = 0;
                if let Some(result) = inst.result {
                    let to = self.define(result, at, None);
                    operands.insert(0, AsmOperand::Register(name(to, form.operands[0])));
                    operands.extend(inst.immediate.map(AsmOperand::Immediate8));
                    self.write(*form, &operands, mask, inst.zeroing);
                    self.defined(result);
                }
            }
            MachineInstKind::Tied(form) => {
                let mut operands: SmallVec<[AsmOperand; 4]> = smallvec![];
                for (n, &arg) in inst.args.iter().enumerate().skip(1) {
                    let memory = if n + 1 == inst.args.len() { form.memory } else { MemoryOperand::No };
                    operands.push(self.operand(arg, form.operands[2], memory, at));
                }
                if let Some(result) = inst.result {
                    let to = self.tie(inst, result, inst.args[0], at);
                    operands.insert(0, AsmOperand::Register(name(to, form.operands[0])));
                    operands.extend(inst.immediate.map(AsmOperand::Immediate8));
                    self.write(*form, &operands, mask, inst.zeroing);
                    self.defined(result);
                }
            }
            MachineInstKind::Fma(ty, sign) => self.fma(inst, forms::fma(self.set(), *ty, *sign), at),
            MachineInstKind::Copy => {
                let from = self.in_register(inst.args[0], at);
                let held = inst.result.map_or(NONE, |result| self.state.register[result.0 as usize]);
                self.release(inst, at);
                if let Some(result) = inst.result {
                    let to = if held == NONE { self.define(result, at, Some(from)) } else { held };
                    if to != from {
                        self.copy(to, from);
                    }
                    self.defined(result);
                }
            }
            MachineInstKind::Load(form, element, part) => {
                let address = self.element(*element);
                self.release(inst, at);
                if let Some(result) = inst.result {
                    let to = self.define(result, at, None);
                    match part {
                        Some(part) => partial::load(self.code, self.frame, *form, (address, *element), *part, to),
                        None => {
                            let to = AsmOperand::Register(name(to, form.operands[0]));
                            self.write(*form, &[to, AsmOperand::Memory(address)], mask, inst.zeroing);
                        }
                    }
                    self.defined(result);
                }
            }
            MachineInstKind::Store(form, element, part) => {
                let value = self.in_register(inst.args[0], at);
                let address = self.element(*element);
                match part {
                    Some(part) => partial::store(self.code, self.frame, *form, (address, *element), *part, value),
                    None => {
                        let value = AsmOperand::Register(name(value, form.operands[0]));
                        self.write(*form, &[AsmOperand::Memory(address), value], mask, false);
                    }
                }
                self.release(inst, at);
            }
            MachineInstKind::Gather(ty, offset) => self.gather(inst, *ty, *offset, at),
            MachineInstKind::Divide(ty) => self.divide(inst, *ty, at),
            MachineInstKind::If(_) => {}
        }
    }

    /// Allocates a product and sum. The result takes the register of a dead operand, if there is one.
    fn fma(&mut self, inst: &MachineInst, [first_second, first_third, sum]: [InstForm; 3], at: u32) {
        let (Some(result), &[a, b, c]) = (inst.result, &inst.args[..]) else { return };
        let whole = Size::whole(self.set());
        let dies = |s: &Self, v: V| {
            s.state.register[v.0 as usize] != NONE && s.values.get(v).pinned.is_none() && !s.is_used_after(v, at)
        };
        // The form, the replaced operand, the second operand, and the third, which may be in memory.
        let (form, tied, second, third) = if dies(self, c) {
            let swap = self.state.register[a.0 as usize] == NONE;
            if swap { (sum, c, b, a) } else { (sum, c, a, b) }
        } else if dies(self, a) {
            if self.state.register[b.0 as usize] == NONE { (first_third, a, c, b) } else { (first_second, a, b, c) }
        } else if dies(self, b) {
            if self.state.register[a.0 as usize] == NONE { (first_third, b, c, a) } else { (first_second, b, a, c) }
        } else {
            (sum, c, a, b)
        };
        let second = self.operand(second, whole, MemoryOperand::No, at);
        let third = self.operand(third, whole, form.memory, at);
        let to = self.tie(inst, result, tied, at);
        self.write(form, &[AsmOperand::Register(name(to, whole)), second, third], NONE, false);
        self.defined(result);
    }

    fn gather(&mut self, inst: &MachineInst, ty: PrimType, offset: i32, at: u32) {
        let Some(result) = inst.result else { return };
        let index = self.in_register(inst.args[0], at);
        // The result must not be the index, so it is allocated before the index is released.
        let to = self.define(result, at, None);
        let class = RegClass::of(self.set(), PrimType::Bool);
        let mask = self.take(class, at);
        self.busy |= 1 << mask;
        self.release(inst, at);
        let address = |size: Size| Address {
            base: POINTERS.constants,
            index: name(index, size),
            scale: ty.bytes() as u32,
            offset,
            broadcast: false,
        };
        let whole = AsmOperand::Register(name(to, Size::whole(self.set())));
        match self.set() {
            Set::Avx512 => {
                let k = AsmOperand::Register(name(mask, Size::Mask));
                self.write(forms::equal_masks(), &[k, k, k], NONE, false);
                let (code, size) = match ty.bits() {
                    32 => (Code::EVEX_Vgatherdps_zmm_k1_vm32z, Size::Zmm),
                    _ => (Code::EVEX_Vgatherdpd_zmm_k1_vm32y, Size::Ymm),
                };
                // This breaks the dependency on the old contents.
                self.code.add(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, &[whole; 3]);
                self.code.masked(code, &[whole, AsmOperand::Memory(address(size))], name(mask, Size::Mask), false);
            }
            Set::Avx2 => {
                let ones = AsmOperand::Register(name(mask, Size::Ymm));
                self.code.add(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, &[ones; 3]);
                let (code, size) = match ty.bits() {
                    32 => (Code::VEX_Vgatherdps_ymm_vm32y_ymm, Size::Ymm),
                    _ => (Code::VEX_Vgatherdpd_ymm_vm32x_ymm, Size::Xmm),
                };
                self.code.add(Code::VEX_Vpxor_ymm_ymm_ymmm256, &[whole; 3]);
                self.code.add(code, &[whole, AsmOperand::Memory(address(size)), ones]);
            }
        }
        self.defined(result);
    }

    /// Returns an argument as an operand. It is in memory if the form allows that and no register is free.
    fn operand(&mut self, v: V, size: Size, memory: MemoryOperand, at: u32) -> AsmOperand {
        let held = self.state.register[v.0 as usize];
        if held == NONE && memory != MemoryOperand::No {
            let place = self.place(v);
            let fits = match (place.broadcast, memory) {
                (Some(bits), MemoryOperand::Broadcast(taken)) => bits == taken,
                (None, MemoryOperand::Whole | MemoryOperand::Broadcast(_)) => true,
                _ => false,
            };
            let again = self.is_used_after(v, at);
            if fits && !(again && self.has_free(RegClass::Vector)) {
                let mut address = self.address(place);
                address.broadcast = place.broadcast.is_some();
                self.consume(v, at);
                return AsmOperand::Memory(address);
            }
        }
        let register = self.in_register(v, at);
        AsmOperand::Register(name(register, size))
    }

    /// Returns the register of a value, and loads the value if it has none.
    fn in_register(&mut self, v: V, at: u32) -> u8 {
        let mut held = self.state.register[v.0 as usize];
        if held == NONE {
            held = self.take(self.values.get(v).class, at);
            self.load(v, held);
            self.hold(v, held);
        }
        self.busy |= 1 << held;
        held
    }

    /// Takes a register for a new value; `wanted` if it is free.
    fn define(&mut self, v: V, at: u32, wanted: Option<u8>) -> u8 {
        if let Some(pinned) = self.pinned(v) {
            return pinned;
        }
        let wanted = wanted.filter(|&r| self.is_free(r));
        let register = wanted.unwrap_or_else(|| self.take(self.values.get(v).class, at));
        self.hold(v, register);
        self.busy |= 1 << register;
        register
    }

    /// Takes a register for a result that replaces `first`, and copies `first` to it.
    fn tie(&mut self, inst: &MachineInst, result: V, first: V, at: u32) -> u8 {
        if result == first {
            // In cold code the register changes in place.
            let held = self.in_register(first, at);
            self.release(inst, at);
            return held;
        }
        let held = self.state.register[first.0 as usize];
        if held == NONE {
            let to = self.define(result, at, None);
            self.load(first, to);
            self.release(inst, at);
            return to;
        }
        self.busy |= 1 << held;
        let pinned = self.pinned(result);
        if !self.is_used_after(first, at) && !self.is_pinned(first) && pinned.is_none() {
            self.release(inst, at);
            self.hold(result, held);
            self.busy |= 1 << held;
            return held;
        }
        // The result is allocated before other arguments are released: their registers are read after it is written.
        let to = self.define(result, at, None);
        self.copy(to, held);
        self.release(inst, at);
        to
    }

    /// Records the uses of arguments, and frees the registers of dead ones.
    fn release(&mut self, inst: &MachineInst, at: u32) {
        for &arg in inst.args.iter().chain(&inst.mask) {
            self.consume(arg, at);
            let v = arg.0 as usize;
            if self.uses[v].is_empty() && !self.is_pinned(arg) {
                self.forget(arg);
            }
        }
    }

    fn consume(&mut self, v: V, at: u32) {
        let uses = &mut self.uses[v.0 as usize];
        while uses.last().is_some_and(|&next| next <= at) {
            uses.pop();
        }
    }

    fn is_used_after(&self, v: V, at: u32) -> bool {
        self.uses[v.0 as usize].first().is_some_and(|&last| last > at)
    }

    /// Removes a value from registers and memory.
    fn forget(&mut self, v: V) {
        let n = v.0 as usize;
        let register = self.state.register[n];
        if register != NONE && self.state.holds[register as usize] == Some(v) {
            self.state.holds[register as usize] = None;
        }
        self.state.register[n] = NONE;
        if let Some(slot) = self.state.slot[n].take() {
            self.state.freed.push(slot);
        }
    }

    fn hold(&mut self, v: V, register: u8) {
        self.state.holds[register as usize] = Some(v);
        self.state.register[v.0 as usize] = register;
    }

    /// Records the value of a result. An unused one is released; one with a location in memory is stored there.
    fn defined(&mut self, v: V) {
        let register = self.state.register[v.0 as usize];
        if let Some(InvariantAddress { base: Base::Frame, .. }) = self.values.get(v).known
            && register != NONE
        {
            self.store(register, self.place(v));
        }
        if self.uses[v.0 as usize].is_empty() && !self.is_pinned(v) {
            self.forget(v);
        }
    }

    fn pinned(&self, v: V) -> Option<u8> {
        self.values.get(v).pinned
    }

    fn is_pinned(&self, v: V) -> bool {
        self.pinned(v).is_some()
    }

    fn is_free(&self, register: u8) -> bool {
        self.state.holds[register as usize].is_none() && (self.state.fixed | self.busy) & (1 << register) == 0
    }

    fn has_free(&self, class: RegClass) -> bool {
        registers(self.set(), class).any(|r| self.is_free(r))
    }

    /// Takes a free register, or that of the value whose next use is farthest.
    fn take(&mut self, class: RegClass, at: u32) -> u8 {
        if let Some(free) = registers(self.set(), class).find(|&r| self.is_free(r)) {
            return free;
        }
        let next = |s: &Self, v: V| s.uses[v.0 as usize].iter().rev().find(|&&next| next > at).copied();
        let evictable = registers(self.set(), class).filter(|&r| (self.state.fixed | self.busy) & (1 << r) == 0);
        let farthest = evictable.max_by_key(|&r| {
            let v = self.state.holds[r as usize];
            v.and_then(|v| next(self, v)).unwrap_or(u32::MAX)
        });
        let register = farthest.unwrap_or_else(|| {
            self.failed = true;
            registers(self.set(), class).start
        });
        if let Some(v) = self.state.holds[register as usize].take() {
            self.spill(v);
            self.state.register[v.0 as usize] = NONE;
        }
        register
    }

    /// Writes a value to memory, unless it is there.
    fn spill(&mut self, v: V) {
        let n = v.0 as usize;
        if self.values.get(v).known.is_some() || self.state.slot[n].is_some() {
            return;
        }
        let slot = self.state.free.pop().unwrap_or_else(|| self.frame.slot());
        self.state.slot[n] = Some(slot);
        let place = self.place(v);
        self.store(self.state.register[n], place);
    }

    /// Returns the location of a value that is in no register.
    fn place(&self, v: V) -> InvariantAddress {
        let spilled = self.state.slot[v.0 as usize];
        let known = self.values.get(v).known;
        known.unwrap_or(InvariantAddress { base: Base::Frame, offset: spilled.unwrap_or(0), broadcast: None })
    }

    fn store(&mut self, register: u8, place: InvariantAddress) {
        let memory = AsmOperand::Memory(self.address(place));
        if register >= VECTORS {
            self.code.add(Code::VEX_Kmovq_m64_kr, &[memory, AsmOperand::Register(name(register, Size::Mask))]);
        } else {
            let [_, store, _] = moves::whole(self.set());
            let register = AsmOperand::Register(name(register, Size::whole(self.set())));
            self.code.add(store, &[memory, register]);
        }
    }

    /// Loads a value from its location.
    fn load(&mut self, v: V, register: u8) {
        let place = self.place(v);
        load(self.code, self.frame, place, register);
    }

    fn copy(&mut self, to: u8, from: u8) {
        let (code, size) = match to >= VECTORS {
            true => (Code::VEX_Kmovq_kr_km64, Size::Mask),
            false => (moves::whole(self.set())[2], Size::whole(self.set())),
        };
        self.code.add(code, &[AsmOperand::Register(name(to, size)), AsmOperand::Register(name(from, size))]);
    }

    fn set(&self) -> Set {
        self.frame.set
    }

    fn address(&self, place: InvariantAddress) -> Address {
        self.frame.address(place)
    }

    fn element(&mut self, element: ElementAddress) -> Address {
        self.frame.element(self.code, element)
    }

    fn write(&mut self, form: InstForm, operands: &[AsmOperand], mask: u8, zeroing: bool) {
        let mask = if mask == NONE { Register::None } else { name(mask, Size::Mask) };
        self.code.masked(form.code, operands, mask, zeroing);
    }
}

/// Loads a register from a location.
pub(super) fn load(code: &mut Assembler, frame: &Frame, place: InvariantAddress, register: u8) {
    let memory = AsmOperand::Memory(frame.address(place));
    if register >= VECTORS {
        return code.add(Code::VEX_Kmovq_kr_km64, &[AsmOperand::Register(name(register, Size::Mask)), memory]);
    }
    let form = match place.broadcast {
        Some(bits) => moves::broadcast(frame.set, bits).code,
        None => moves::whole(frame.set)[0],
    };
    code.add(form, &[AsmOperand::Register(name(register, Size::whole(frame.set))), memory]);
}

/// Returns the numbers of a class's registers.
fn registers(set: Set, class: RegClass) -> std::ops::Range<u8> {
    match class {
        RegClass::Vector => 0..set.registers(),
        RegClass::Mask => VECTORS + 1..ALL as u8,
    }
}

/// Returns the name of a register by its number.
pub(super) fn name(register: u8, size: Size) -> Register {
    let (first, number) = match size {
        Size::Xmm => (Register::XMM0, register),
        Size::Ymm => (Register::YMM0, register),
        Size::Zmm => (Register::ZMM0, register),
        Size::Mask => (Register::K0, register.saturating_sub(VECTORS)),
    };
    first + u32::from(number)
}
