//! Loads and stores of a block of lanes.
//!
//! No access is outside the block's elements; an index has no memory: its value is its address. Complex elements are
//! split into, and joined from, one group of registers per part.

use super::lanes::{EVEN, Emitter, HIGH, LOW, LaneValue, ODD, Regs, ZIP_HIGH, ZIP_LOW, data, scalar_type, vector_type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use ndjit_ir::PrimType;
use ndjit_ir::body::Reg;
use ndjit_ir::loops::{Access, Role, Stride};
use smallvec::SmallVec;

/// An operand in the innermost loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperandStream {
    /// The operand.
    pub(super) access: Access,
    /// The element of lane 0.
    pub(super) pointer: Value,
    /// The distance of lanes in bytes, if `Strided`.
    pub(super) stride: Option<Value>,
    /// The body's register of its first word.
    pub(super) first: usize,
}

impl OperandStream {
    fn word(&self) -> PrimType {
        self.access.words()[0]
    }

    fn words(&self) -> usize {
        self.access.words().len()
    }
}

impl Emitter<'_, '_> {
    /// Loads the words of the block's elements.
    pub(super) fn load(&mut self, stream: &OperandStream) -> Vec<LaneValue> {
        let (ty, words) = (stream.word(), stream.words());
        let bits = ty.bits();
        let groups: Vec<Regs> = if stream.access.role != Role::Memory {
            // The address is the element.
            vec![if self.lanes == 1 { Regs::from_slice(&[stream.pointer]) } else { self.indices(stream, ty) }]
        } else if self.lanes == 1 {
            (0..words).map(|w| Regs::from_slice(&[self.load_word(ty, stream.pointer, w)])).collect()
        } else if stream.access.inner == Stride::Contiguous {
            let reg = vector_type(ty, bits);
            let count = (self.count(bits) * words) as i32;
            let all: Regs = (0..count).map(|i| self.b.ins().load(reg, data(), stream.pointer, 16 * i)).collect();
            if words == 1 { vec![all] } else { self.split(&all, bits) }
        } else {
            let addresses = self.addresses(stream);
            (0..words).map(|word| self.gather(ty, |e, lane| e.load_word(ty, addresses[lane], word))).collect()
        };
        groups.into_iter().map(|regs| LaneValue::Lanes { regs, bits }).collect()
    }

    /// Stores the words of the block's elements.
    pub(super) fn store(&mut self, stream: &OperandStream, words: &[LaneValue]) {
        let ty = stream.word();
        let bits = ty.bits();
        let words: Vec<Regs> = words.iter().map(|w| self.regs(w, ty, bits)).collect();
        if self.lanes == 1 {
            for (w, regs) in words.iter().enumerate() {
                self.store_word(ty, stream.pointer, w, regs[0]);
            }
        } else if stream.access.inner == Stride::Contiguous {
            let all = if words.len() == 1 { words[0].clone() } else { self.join(&words[0], &words[1], bits) };
            for (i, &reg) in all.iter().enumerate() {
                self.b.ins().store(data(), reg, stream.pointer, 16 * i as i32);
            }
        } else {
            let addresses = self.addresses(stream);
            for (lane, &address) in addresses.iter().enumerate() {
                for (w, regs) in words.iter().enumerate() {
                    let value = self.lane(regs, bits, lane as u32);
                    self.store_word(ty, address, w, value);
                }
            }
        }
    }

    /// Gathers a word in a step. The next step waits for it: branches, which are foreseen, take less time than selections. Of a recurrence's
    /// 3.7 ns a clamp by selections took 0.7, and waiting for the element that the step before stored 1.7.
    pub(super) fn gather_in_step(
        &mut self,
        (input, word): (u32, u32),
        ty: PrimType,
        rows: &[OperandStream],
        (register, index): (Reg, &LaneValue),
    ) -> LaneValue {
        let position = self.regs(index, PrimType::I64, 64)[0];
        let affine = self.step.as_ref().and_then(|step| step.rows.find(input as usize, register));
        let nearest = if affine.is_some() { position } else { self.nearest(position, rows[1].pointer) };
        // What the step before stored: whether it is this element, and the word. The last store counts. A row out of bounds is nobody's.
        let step = self.step.take().unwrap_or_default();
        let mut known: SmallVec<[(Value, Value); 2]> = SmallVec::new();
        let stores = step.elements.iter().enumerate().rev();
        for (n, stored) in
            stores.filter(|(_, stored)| stored.input == input as usize && !step.unforeseen[register.index()])
        {
            let same = match (stored.row, affine) {
                (Some(row), _) => Some(self.b.ins().icmp(IntCC::Equal, nearest, row)),
                (None, Some(access)) => step.rows.flag(self.b, access, n),
                (None, None) => None,
            };
            // A store that may be of this element in some steps hides those before it.
            let Some(same) = same else { break };
            known.extend(stored.words.get(word as usize).map(|&value| (same, value)));
        }
        self.step = Some(step);
        let found = self.b.create_block();
        let element = self.b.append_block_param(found, scalar_type(ty));
        for &(same, value) in &known {
            let other = self.b.create_block();
            self.b.ins().brif(same, found, &[BlockArg::Value(value)], other, &[]);
            self.b.switch_to_block(other);
        }
        let address = match affine {
            Some(access) => self.affine_address(access),
            None => {
                let bytes = self.b.ins().imul(nearest, rows[2].pointer);
                self.b.ins().iadd(rows[0].pointer, bytes)
            }
        };
        let loaded = self.load_word(ty, address, word as usize);
        self.b.ins().jump(found, &[BlockArg::Value(loaded)]);
        self.b.switch_to_block(found);
        LaneValue::Lanes { regs: Regs::from_slice(&[element]), bits: ty.bits() }
    }

    /// The row nearest to a position.
    fn nearest(&mut self, position: Value, last: Value) -> Value {
        let (outside, inside) = (self.b.create_block(), self.b.create_block());
        let nearest = self.b.append_block_param(inside, types::I64);
        self.b.set_cold_block(outside);
        let rows = self.b.ins().iadd_imm_s(last, 1);
        let is_inside = self.b.ins().icmp(IntCC::UnsignedLessThan, position, rows);
        self.b.ins().brif(is_inside, inside, &[BlockArg::Value(position)], outside, &[]);
        self.b.switch_to_block(outside);
        let zero = self.b.ins().iconst(types::I64, 0);
        let clamped = self.b.ins().smin(position, last);
        let clamped = self.b.ins().smax(clamped, zero);
        self.b.ins().jump(inside, &[BlockArg::Value(clamped)]);
        self.b.switch_to_block(inside);
        nearest
    }

    fn affine_address(&mut self, access: usize) -> Value {
        // Only steps have affine rows.
        let rows = self.step.as_ref().map(|step| step.rows.clone()).unwrap_or_default();
        rows.address(self.b, access)
    }

    /// Stores the words of one element at an affine row, if a condition holds.
    pub(super) fn store_affine(
        &mut self,
        (condition, access): (Option<&LaneValue>, usize),
        stream: &OperandStream,
        words: &[LaneValue],
    ) {
        let address = self.affine_address(access);
        match condition {
            Some(_) => self.store_if(condition, address, stream, words),
            None => self.store_words(address, stream, words),
        }
    }

    /// Stores the words of one element at an address, if a condition holds, or unless the address is -1.
    pub(super) fn store_at(
        &mut self,
        (condition, address): (Option<&LaneValue>, &LaneValue),
        stream: &OperandStream,
        words: &[LaneValue],
    ) {
        let address = self.regs(address, PrimType::I64, 64)[0];
        self.store_if(condition, address, stream, words);
    }

    fn store_if(&mut self, condition: Option<&LaneValue>, address: Value, stream: &OperandStream, words: &[LaneValue]) {
        let condition = match condition {
            Some(condition) => self.regs(condition, PrimType::Bool, 64)[0],
            None => self.b.ins().icmp_imm_s(IntCC::NotEqual, address, -1),
        };
        let (inside, after) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, inside, &[], after, &[]);
        self.b.switch_to_block(inside);
        self.store_words(address, stream, words);
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
    }

    fn store_words(&mut self, address: Value, stream: &OperandStream, words: &[LaneValue]) {
        for (word, (&ty, value)) in stream.access.dtype.storage().iter().zip(words).enumerate() {
            let value = self.regs(value, ty, ty.bits())[0];
            self.store_word(ty, address, word, value);
        }
    }

    pub(super) fn load_word(&mut self, ty: PrimType, address: Value, word: usize) -> Value {
        self.b.ins().load(scalar_type(ty), data(), address, (word * ty.bytes()) as i32)
    }

    fn store_word(&mut self, ty: PrimType, address: Value, word: usize, value: Value) {
        self.b.ins().store(data(), value, address, (word * ty.bytes()) as i32);
    }

    fn addresses(&mut self, stream: &OperandStream) -> Vec<Value> {
        let mut address = stream.pointer;
        let mut all = vec![address];
        if let Some(stride) = stream.stride {
            for _ in 1..self.lanes {
                address = self.b.ins().iadd(address, stride);
                all.push(address);
            }
        } else {
            all.resize(self.lanes as usize, address);
        }
        all
    }

    /// Computes the indices of a block of lanes. Separate insertion of each lane makes `argmax` of rows 1.2 times as
    /// slow.
    fn indices(&mut self, stream: &OperandStream, ty: PrimType) -> Regs {
        let reg = vector_type(ty, ty.bits());
        let first = self.b.ins().splat(reg, stream.pointer);
        let count = self.count(ty.bits());
        let Some(stride) = self.step(stream) else { return Regs::from_elem(first, count) };
        let second = self.b.ins().iadd(stream.pointer, stride);
        let mut position = self.b.ins().insertlane(first, second, 1);
        let twice = self.b.ins().iadd(stride, stride);
        let step = self.b.ins().splat(reg, twice);
        let mut indices = Regs::from_slice(&[position]);
        for _ in 1..count {
            position = self.b.ins().iadd(position, step);
            indices.push(position);
        }
        indices
    }

    /// Returns the distance of lanes in bytes; `None` for zero.
    fn step(&mut self, stream: &OperandStream) -> Option<Value> {
        match stream.access.inner {
            Stride::Contiguous => Some(self.b.ins().iconst(types::I64, stream.access.dtype.bytes() as i64)),
            Stride::Strided => stream.stride,
            Stride::Broadcast => None,
        }
    }

    /// Gathers a word of type `ty` of the elements from the rows nearest to the indices; `rows` are the operand with
    /// rows and the two with their bound and stride.
    pub(super) fn gather_rows(
        &mut self,
        rows: &[OperandStream],
        ty: PrimType,
        word: u32,
        indices: &LaneValue,
    ) -> LaneValue {
        let [of, last, step] = [0, 1, 2].map(|n| rows[n].pointer);
        let before = (word as usize * ty.bytes()) as i32;
        let row = |e: &mut Self, position: Value| {
            let zero = e.b.ins().iconst(types::I64, 0);
            // In this order, an array without rows gives a negative index, and nothing is read.
            let position = e.b.ins().smin(position, last);
            let position = e.b.ins().smax(position, zero);
            let bytes = e.b.ins().imul(position, step);
            e.b.ins().iadd(of, bytes)
        };
        let load = |e: &mut Self, address: Value| e.b.ins().load(scalar_type(ty), data(), address, before);
        let bits = ty.bits();
        if self.lanes == 1 {
            let position = self.regs(indices, PrimType::I64, 64)[0];
            let address = row(self, position);
            return LaneValue::Lanes { regs: Regs::from_slice(&[load(self, address)]), bits };
        }
        let same = matches!(indices, LaneValue::Splat(_) | LaneValue::Const(_));
        let regs = self.regs(indices, PrimType::I64, 64);
        let first = self.lane(&regs, 64, 0);
        let first = row(self, first);
        if same
            && rows[0].access.inner == Stride::Contiguous
            && rows[0].words() == 1
            && before == 0
            && rows[0].access.dtype.bytes() == ty.bytes()
        {
            let reg = vector_type(ty, bits);
            let count = self.count(bits) as i32;
            return LaneValue::Lanes {
                regs: (0..count).map(|i| self.b.ins().load(reg, data(), first, 16 * i)).collect(),
                bits,
            };
        }
        let along = self.step(&rows[0]);
        let mut addresses = vec![first];
        let mut moved: Option<Value> = None;
        for lane in 1..self.lanes {
            moved = along.map(|along| moved.map_or(along, |moved| self.b.ins().iadd(moved, along)));
            let position = self.lane(&regs, 64, lane);
            let address = if same { first } else { row(self, position) };
            addresses.push(moved.map_or(address, |moved| self.b.ins().iadd(address, moved)));
        }
        LaneValue::Lanes { regs: self.gather(ty, |e, lane| load(e, addresses[lane])), bits }
    }

    /// Deinterleaves words.
    fn split(&mut self, regs: &Regs, bits: u32) -> Vec<Regs> {
        let wide = bits == 64;
        let first = self.pairs(regs, |e, a, b| e.shuffle(a, b, if wide { LOW } else { EVEN }));
        let second = self.pairs(regs, |e, a, b| e.shuffle(a, b, if wide { HIGH } else { ODD }));
        vec![first, second]
    }

    /// Interleaves words.
    fn join(&mut self, first: &Regs, second: &Regs, bits: u32) -> Regs {
        let (low, high) = if bits == 64 { (LOW, HIGH) } else { (ZIP_LOW, ZIP_HIGH) };
        let pairs = first.iter().zip(second);
        pairs.flat_map(|(&a, &b)| [self.shuffle(a, b, low), self.shuffle(a, b, high)]).collect()
    }
}
