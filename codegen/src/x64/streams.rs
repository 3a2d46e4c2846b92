//! Elements of inputs and outputs, read and written a block of lanes at a time.

use super::inst::{Base, ElementAddress, InvariantAddress, MachineInst, MachineInstKind, PartialUnit, RegClass, V};
use super::moves;
use super::select::{Select, SelectedValue, Stream, Tail};
use super::set::Set;
use ndjit_ir::PrimType;
use ndjit_ir::body::Prim;
use ndjit_ir::loops::Stride;
use smallvec::{SmallVec, smallvec};

/// The mask of every other lane.
pub(super) const ALTERNATE: u64 = 0x5555_5555;

impl Stream {
    /// Bytes from element to element.
    fn step(&self) -> usize {
        self.access.dtype.bytes() << u32::from(self.alternate)
    }
}

impl Select<'_> {
    /// The words of a block's elements, or of the one element of a stream that does not move.
    pub(super) fn load(&mut self, stream: &Stream) -> Vec<SelectedValue> {
        if let Some(lanes) = stream.indices {
            return self.indices(stream, lanes).into_iter().collect();
        }
        let storage = stream.access.dtype.storage();
        let (ty, words) = (storage[0], if stream.alternate { 2 } else { storage.len() });
        let element = |step: usize, offset: u32| ElementAddress {
            operand: stream.operand,
            step: step as u8,
            offset: offset as i32,
        };
        if stream.access.inner == Stride::Broadcast {
            let words = (0..words as u32).map(|word| {
                let element = element(0, word * ty.bytes() as u32);
                let kind = MachineInstKind::Load(moves::broadcast(self.set, ty.bits()), element, None);
                SelectedValue::Same(self.make(RegClass::Vector, kind, &[]))
            });
            return words.collect();
        }
        let bytes = self.lanes * ty.bits() / 8;
        let step = stream.step();
        let mut all: Vec<SmallVec<[V; 4]>> = vec![smallvec![]; words];
        for unit in 0..self.units as u32 {
            if words == 1 {
                let (mask, part) = self.there(stream, None, bytes);
                let form = moves::load(self.set, bytes, ty.bits(), mask.is_some());
                let kind = MachineInstKind::Load(form, element(step, unit * bytes), part);
                all[0].push(self.make_under(RegClass::Vector, kind, &[], mask, None));
                continue;
            }
            // Words alternate: they fill one or two registers.
            let registers = (2 * bytes).div_ceil(self.set.bytes());
            let each = 2 * bytes / registers;
            let parts: SmallVec<[V; 2]> = (0..registers)
                .map(|register| {
                    let (mask, part) = self.there(stream, Some(register), each);
                    let form = moves::load(self.set, each, ty.bits(), mask.is_some());
                    let kind = MachineInstKind::Load(form, element(step, unit * 2 * bytes + register * each), part);
                    self.make_under(RegClass::Vector, kind, &[], mask, None)
                })
                .collect();
            let split = match self.set {
                Set::Avx512 => {
                    (0..storage.len() as u64).map(|word| self.picked(ty, &parts, |lane| 2 * lane + word)).collect()
                }
                Set::Avx2 => self.split_pairs(ty, &parts),
            };
            all.iter_mut().zip(split).for_each(|(all, word)| all.push(word));
        }
        all.truncate(storage.len());
        all.into_iter().map(SelectedValue::Units).collect()
    }

    /// The indices of a block's lanes: only the start of the block is read.
    fn indices(&mut self, stream: &Stream, lanes: i32) -> Option<SelectedValue> {
        let element = ElementAddress { operand: stream.operand, step: 0, offset: 0 };
        let kind = MachineInstKind::Load(moves::broadcast(self.set, PrimType::I64.bits()), element, None);
        let first = self.make(RegClass::Vector, kind, &[]);
        if stream.access.inner == Stride::Broadcast {
            return Some(SelectedValue::Same(first));
        }
        let mut units: SmallVec<[V; 4]> = smallvec![];
        for unit in 0..self.units as i32 {
            let offset = lanes + unit * self.set.bytes() as i32;
            let place = InvariantAddress { base: Base::Frame, offset, broadcast: None };
            let from_first = self.known.at(self.values, place);
            units.push(self.both(Prim::Iadd, PrimType::I64, first, from_first)?);
        }
        Some(SelectedValue::Units(units))
    }

    /// Stores the words of a block's elements.
    pub(super) fn store(&mut self, stream: &Stream, words: &[SelectedValue]) {
        let ty = stream.access.dtype.storage()[0];
        let bytes = self.lanes * ty.bits() / 8;
        let step = stream.step();
        for unit in 0..self.units as u32 {
            let values: SmallVec<[V; 2]> = words.iter().map(|word| self.unit(word, ty, unit as usize)).collect();
            if let ([value], false) = (&values[..], stream.alternate) {
                self.write(stream, step, unit * bytes, (bytes, ty), *value, None);
                continue;
            }
            let registers = (2 * bytes).div_ceil(self.set.bytes());
            let each = 2 * bytes / registers;
            let values = if self.set == Set::Avx2 { self.unpacked(ty, &values) } else { values };
            for register in 0..registers {
                let value = match self.set {
                    Set::Avx512 => self.joined(ty, &values, each, register),
                    Set::Avx2 => self.halves(&values, register),
                };
                self.write(stream, step, unit * 2 * bytes + register * each, (each, ty), value, Some(register));
            }
        }
    }

    /// Lanes of the first value and of the second, interleaved: those of a register of pairs.
    fn joined(&mut self, ty: PrimType, values: &[V], each: u32, register: u32) -> V {
        let lanes = u64::from(each * 8 / ty.bits());
        // Of alternate elements the second ones are masked out.
        let second = if values.len() > 1 { 64 / ty.bytes() as u64 } else { 0 };
        self.picked(ty, values, |lane| {
            let index = u64::from(register) * lanes / 2 + lane / 2;
            if lane % 2 == 0 { index } else { second + index }
        })
    }

    /// The mask or the part of existing lanes of `bytes` bytes: of elements, or of the register of pairs of this number.
    fn there(&mut self, stream: &Stream, register: Option<u32>, bytes: u32) -> (Option<V>, Option<PartialUnit>) {
        let elements = bytes / stream.step() as u32;
        match self.tail {
            None if stream.alternate => {
                let offset = self.known.constants.splat(PrimType::I64, ALTERNATE);
                let place = InvariantAddress { base: Base::Constants, offset, broadcast: None };
                (Some(self.values.make_known(RegClass::Mask, place)), None)
            }
            None => (None, None),
            Some(Tail::Masked { lanes, pairs }) => {
                (Some(register.map_or(lanes, |register| pairs[register as usize])), None)
            }
            Some(Tail::Counted) => (None, Some(PartialUnit { first: register.unwrap_or(0) * elements, elements })),
        }
    }

    fn write(
        &mut self,
        stream: &Stream,
        step: usize,
        offset: u32,
        (bytes, ty): (u32, PrimType),
        value: V,
        register: Option<u32>,
    ) {
        let (mask, part) = self.there(stream, register, bytes);
        let form = moves::store(self.set, bytes, ty.bits(), mask.is_some());
        let element = ElementAddress { operand: stream.operand, step: step as u8, offset: offset as i32 };
        self.insts.push(MachineInst {
            kind: MachineInstKind::Store(form, element, part),
            result: None,
            args: smallvec![value],
            mask,
            zeroing: false,
            immediate: None,
            located: self.located,
        });
    }

    /// Lanes of one or two registers; lane numbers wrap around. AVX-512's.
    fn picked(&mut self, ty: PrimType, from: &[V], lane: impl Fn(u64) -> u64) -> V {
        let size = ty.bytes();
        let mut bytes = [0; 64];
        for (i, chunk) in bytes.chunks_mut(size).enumerate() {
            let index = lane(i as u64) % (2 * 64 / size as u64);
            chunk.copy_from_slice(&index.to_le_bytes()[..size]);
        }
        let offset = self.known.constants.vector(&bytes);
        let picked = self.known.at(self.values, InvariantAddress { base: Base::Constants, offset, broadcast: None });
        match *from {
            [one] => self.make(
                RegClass::Vector,
                MachineInstKind::Plain(moves::pick_one(self.set, ty.bits())),
                &[picked, one],
            ),
            [first, second, ..] => {
                self.make(RegClass::Vector, MachineInstKind::Tied(moves::pick(ty.bits())), &[picked, first, second])
            }
            [] => picked,
        }
    }
}
