//! Elements of inputs and outputs, read and written a block of lanes at a time.

use super::forms;
use super::inst::{Base, Class, Element, Inst, Kind, Place, V};
use super::select::{Operand, Select, Stream};
use ndjit_ir::PrimType;
use ndjit_ir::loops::Stride;
use smallvec::{SmallVec, smallvec};

impl Select<'_> {
    /// The words of a block's elements, or of the one element that does not move.
    pub(super) fn load(&mut self, stream: &Stream) -> Vec<Operand> {
        let storage = stream.access.dtype.storage();
        let (ty, words) = (storage[0], storage.len());
        let element =
            |step: usize, offset: u32| Element { operand: stream.operand, step: step as u8, offset: offset as i32 };
        if stream.access.inner == Stride::Broadcast {
            let words = (0..words as u32).map(|word| {
                let element = element(0, word * ty.bytes() as u32);
                let kind = Kind::Load(forms::broadcast(ty.bits()), element);
                Operand::Same(self.make(Class::Vector, kind, &[]))
            });
            return words.collect();
        }
        let bytes = self.lanes * ty.bits() / 8;
        let step = stream.access.dtype.bytes();
        let mut all: Vec<SmallVec<[V; 4]>> = vec![smallvec![]; words];
        for unit in 0..self.units as u32 {
            if words == 1 {
                let form = forms::load(bytes, ty.bits(), self.tail.is_some());
                let mask = self.tail.map(|tail| tail.lanes);
                let kind = Kind::Load(form, element(step, unit * bytes));
                all[0].push(self.make_under(Class::Vector, kind, &[], mask, None));
                continue;
            }
            // Words alternate: as many bytes as registers hold, in one or two of them.
            let registers = (2 * bytes).div_ceil(64);
            let each = 2 * bytes / registers;
            let parts: SmallVec<[V; 2]> = (0..registers)
                .map(|part| {
                    let form = forms::load(each, ty.bits(), self.tail.is_some());
                    let mask = self.tail.map(|tail| tail.pairs[part as usize]);
                    let kind = Kind::Load(form, element(step, unit * 2 * bytes + part * each));
                    self.make_under(Class::Vector, kind, &[], mask, None)
                })
                .collect();
            for (word, all) in all.iter_mut().enumerate() {
                let picked = self.picks(ty, |lane| 2 * lane + word as u64);
                all.push(self.pick(ty, picked, &parts));
            }
        }
        all.into_iter().map(Operand::Units).collect()
    }

    /// Stores the words of a block's elements.
    pub(super) fn store(&mut self, stream: &Stream, words: &[Operand]) {
        let ty = stream.access.dtype.storage()[0];
        let bytes = self.lanes * ty.bits() / 8;
        let step = stream.access.dtype.bytes();
        for unit in 0..self.units as u32 {
            let values: SmallVec<[V; 2]> = words.iter().map(|word| self.unit(word, ty, unit as usize)).collect();
            if let [value] = values[..] {
                self.write(stream, step, unit * bytes, (bytes, ty), value, self.tail.map(|tail| tail.lanes));
                continue;
            }
            let registers = (2 * bytes).div_ceil(64);
            let each = 2 * bytes / registers;
            let lanes = u64::from(each * 8 / ty.bits());
            let second = 64 / ty.bytes() as u64;
            for part in 0..registers {
                // Lanes of the first value, then those of the second, in turn.
                let picked = self.picks(ty, |lane| {
                    let index = u64::from(part) * lanes / 2 + lane / 2;
                    if lane % 2 == 0 { index } else { second + index }
                });
                let joined = self.pick(ty, picked, &values);
                let mask = self.tail.map(|tail| tail.pairs[part as usize]);
                self.write(stream, step, unit * 2 * bytes + part * each, (each, ty), joined, mask);
            }
        }
    }

    fn write(
        &mut self,
        stream: &Stream,
        step: usize,
        offset: u32,
        (bytes, ty): (u32, PrimType),
        value: V,
        mask: Option<V>,
    ) {
        let form = forms::store(bytes, ty.bits(), mask.is_some());
        let element = Element { operand: stream.operand, step: step as u8, offset: offset as i32 };
        self.insts.push(Inst {
            kind: Kind::Store(form, element),
            result: None,
            args: smallvec![value],
            mask,
            zeroing: false,
            immediate: None,
            located: self.located,
        });
    }

    /// A vector of the lanes that a [`pick`](Select::pick) takes; beyond those of two registers they start again.
    fn picks(&mut self, ty: PrimType, lane: impl Fn(u64) -> u64) -> V {
        let size = ty.bytes();
        let mut bytes = [0; 64];
        for (i, chunk) in bytes.chunks_mut(size).enumerate() {
            let index = lane(i as u64) % (2 * 64 / size as u64);
            chunk.copy_from_slice(&index.to_le_bytes()[..size]);
        }
        let offset = self.known.constants.vector(bytes);
        self.known.at(self.values, Place { base: Base::Constants, offset, broadcast: None })
    }

    fn pick(&mut self, ty: PrimType, picked: V, from: &[V]) -> V {
        match *from {
            [one] => self.make(Class::Vector, Kind::Plain(forms::pick_one(ty.bits())), &[picked, one]),
            [first, second, ..] => {
                self.make(Class::Vector, Kind::Tied(forms::pick(ty.bits())), &[picked, first, second])
            }
            [] => picked,
        }
    }
}
