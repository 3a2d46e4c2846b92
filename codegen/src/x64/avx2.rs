//! Primitives of several AVX2 instructions.
//!
//! Lanes of bools are at most as wide as a unit's lanes, so that they fill a register: comparisons of narrower lanes are
//! widened, and narrowed again to select such lanes.
//!
//! [`several_of_avx2`](Select::several_of_avx2) determines all unsupported primitives.

use super::forms;
use super::inst::{Base, InvariantAddress, V};
use super::moves;
use super::select::Select;
use super::set::Set;
use ndjit_ir::PrimType;
use ndjit_ir::PrimType::{Bool, F32, I8, I16, I32, I64};
use ndjit_ir::body::{Prim, PrimSignature};
use smallvec::SmallVec;

const SET: Set = Set::Avx2;

impl Select<'_> {
    /// A primitive on one unit; `None` for other code generators.
    pub(super) fn several_of_avx2(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[V]) -> Option<V> {
        if prim.signature() == PrimSignature::Compare {
            return self.compare_integers(prim, from, args[0], args[1]);
        }
        match prim {
            Prim::Select => {
                let bits = if to == Bool { self.truth_type().bits() } else { to.bits() };
                let mask = self.narrowed(args[0], bits)?;
                Some(self.vector(moves::blend(SET, bits), &[args[2], args[1], mask]))
            }
            Prim::Mask => {
                let mask = self.narrowed(args[0], to.bits())?;
                let one = self.constant(to, 1);
                self.both(Prim::And, to, mask, one)
            }
            Prim::Fmin | Prim::Fmax => self.extreme_of_floats(prim, from, args[0], args[1]),
            Prim::Smin | Prim::Smax | Prim::Umin | Prim::Umax => self.extreme_of_longs(prim, args[0], args[1]),
            Prim::Imul if from == I64 => self.low_product(args[0], args[1]),
            Prim::Itrunc => self.truncated(from, to, args[0]),
            Prim::FromSint | Prim::FromUint => self.float_of(prim == Prim::FromSint, from, to, args[0]),
            Prim::ToSint => self.signed_of(from, to, args[0]),
            Prim::ToUint => self.unsigned_of(from, to, args[0]),
            // Division.
            _ => None,
        }
    }

    /// Arithmetic shifts of 64 bits: as unsigned ones, of a negative number's complement.
    pub(super) fn signed_shift(&mut self, args: &[V], count: Option<u64>) -> Option<V> {
        let zero = self.constant(I64, 0);
        let sign = self.vector(forms::greater(I64), &[zero, args[0]]);
        let positive = self.both(Prim::Xor, I64, args[0], sign)?;
        let shifted = self.one(Prim::Ushr, I64, I64, &[positive, args[1]], count)?;
        self.both(Prim::Xor, I64, shifted, sign)
    }

    /// The integer type as wide as lanes of bools.
    fn truth_type(&self) -> PrimType {
        match SET.bits() / self.lanes {
            0..=8 => I8,
            9..=16 => I16,
            17..=32 => I32,
            _ => I64,
        }
    }

    /// A bool from one in lanes of this type.
    pub(super) fn compared(&mut self, ty: PrimType, result: V) -> Option<V> {
        let (from, to) = (ty.as_int(), self.truth_type());
        if self.set == Set::Avx512 || from == to {
            return Some(result);
        }
        self.one(Prim::Sext, from, to, &[result], None)
    }

    /// A bool in lanes of this width.
    fn narrowed(&mut self, mask: V, bits: u32) -> Option<V> {
        let (from, to) = (self.truth_type(), [I8, I16, I32, I64].into_iter().find(|ty| ty.bits() == bits)?);
        if from == to { Some(mask) } else { self.one(Prim::Itrunc, from, to, &[mask], None) }
    }

    fn compare_integers(&mut self, prim: Prim, ty: PrimType, x: V, y: V) -> Option<V> {
        let (equal, greater) = (forms::equal(ty), forms::greater(ty));
        // The comparison, and whether it is negated.
        let (form, x, y, not) = match prim {
            Prim::Ieq => (equal, x, y, false),
            Prim::Ine => (equal, x, y, true),
            Prim::Slt => (greater, y, x, false),
            Prim::Sle => (greater, x, y, true),
            // Unsigned ones: x <= y if their minimum is x, or as signed ones with flipped signs.
            Prim::Ult | Prim::Ule if ty == I64 => {
                let (x, y) = (self.other_sign(x)?, self.other_sign(y)?);
                if prim == Prim::Ult { (greater, y, x, false) } else { (greater, x, y, true) }
            }
            Prim::Ule => (equal, self.both(Prim::Umin, ty, x, y)?, x, false),
            Prim::Ult => (equal, self.both(Prim::Umin, ty, x, y)?, y, true),
            _ => return None,
        };
        let known = |s: &Self, v: V| s.values.get(v).known.is_some();
        let (x, y) = if form == equal && known(self, x) { (y, x) } else { (x, y) };
        let mut result = self.vector(form, &[x, y]);
        if not {
            result = self.one(Prim::Not, ty, ty, &[result], None)?;
        }
        self.compared(ty, result)
    }

    fn other_sign(&mut self, x: V) -> Option<V> {
        let sign = self.constant(I64, 1 << 63);
        self.both(Prim::Xor, I64, x, sign)
    }

    fn extreme_of_longs(&mut self, prim: Prim, x: V, y: V) -> Option<V> {
        let compare = if matches!(prim, Prim::Smin | Prim::Smax) { Prim::Slt } else { Prim::Ult };
        let less = self.one(compare, I64, Bool, &[x, y], None)?;
        let (yes, no) = if matches!(prim, Prim::Smin | Prim::Umin) { (x, y) } else { (y, x) };
        self.one(Prim::Select, I64, I64, &[less, yes, no], None)
    }

    /// The minimum or maximum: NaN if either is, and -0 less than 0.
    fn extreme_of_floats(&mut self, prim: Prim, ty: PrimType, x: V, y: V) -> Option<V> {
        let (min, bits) = (prim == Prim::Fmin, ty.as_int());
        let form = if min { forms::lesser(SET, ty) } else { forms::larger(SET, ty) };
        // They differ where both are 0, or either is NaN.
        let (one, other) = (self.vector(form, &[x, y]), self.vector(form, &[y, x]));
        if min {
            // A sign, or a NaN's bits, of either.
            return self.both(Prim::Or, bits, one, other);
        }
        let both = self.both(Prim::And, bits, one, other)?;
        let nan = self.vector_by(forms::compare_floats(SET, ty), &[x, y], forms::UNORDERED);
        self.both(Prim::Or, bits, both, nan)
    }

    /// The low bits of lanes: those of each half side by side, then the halves.
    fn truncated(&mut self, from: PrimType, to: PrimType, x: V) -> Option<V> {
        if (from, to) == (I64, I8) {
            let half = self.truncated(I64, I16, x)?;
            return self.truncated(I16, I8, half);
        }
        let halves = self.lanes * from.bits() > SET.bits() / 2;
        if (from, to) == (I64, I32) {
            let even = self.pattern(4, |lane| 2 * lane % 8);
            return Some(self.vector(moves::pick_one(SET, 32), &[even, x]));
        }
        let (wide, narrow) = (from.bytes() as u64, to.bytes() as u64);
        let low = self.pattern(1, |byte| {
            let (at, lane) = (byte % 16, byte % 16 / narrow);
            if lane < 16 / wide { lane * wide + at % narrow } else { 0xff }
        });
        let picked = self.vector(moves::pick_bytes(), &[x, low]);
        if !halves {
            return Some(picked);
        }
        if wide == 2 * narrow {
            return Some(self.vector_by(moves::pick_quarters(), &[picked], 0b1000));
        }
        let first = self.pattern(4, |lane| 4 * lane % 8);
        Some(self.vector(moves::pick_one(SET, 32), &[first, picked]))
    }

    /// A vector with a number for every `bytes` bytes.
    fn pattern(&mut self, bytes: usize, number: impl Fn(u64) -> u64) -> V {
        let mut all = [0; SET.bytes() as usize];
        for (n, chunk) in (0..).zip(all.chunks_mut(bytes)) {
            chunk.copy_from_slice(&number(n).to_le_bytes()[..bytes]);
        }
        let offset = self.known.constants.vector(&all);
        self.known.at(self.values, InvariantAddress { base: Base::Constants, offset, broadcast: None })
    }

    /// The words of pairs in one or two registers.
    pub(super) fn split_pairs(&mut self, ty: PrimType, parts: &[V]) -> Vec<V> {
        let word = |s: &mut Self, word: u8| match *parts {
            [one] => {
                let picked = s.pattern(4, |lane| (2 * lane + u64::from(word)) % 8);
                s.vector(moves::pick_one(SET, 32), &[picked, one])
            }
            [first, second, ..] => {
                // The halves are then in turn: of the first, of the second.
                let mixed = if ty == F32 {
                    s.vector_by(moves::shuffle(), &[first, second], [0x88, 0xdd][usize::from(word)])
                } else {
                    s.vector(moves::unpack(64, word == 1), &[first, second])
                };
                s.vector_by(moves::pick_quarters(), &[mixed], 0b1101_1000)
            }
            [] => s.constant(ty, 0),
        };
        vec![word(self, 0), word(self, 1)]
    }

    /// Pairs of the lanes of two registers: those of lower and of upper quarters, in each half.
    pub(super) fn unpacked(&mut self, ty: PrimType, words: &[V]) -> SmallVec<[V; 2]> {
        [false, true].into_iter().map(|upper| self.vector(moves::unpack(ty.bits(), upper), words)).collect()
    }

    /// The first or second register of [unpacked](Select::unpacked) pairs.
    pub(super) fn halves(&mut self, unpacked: &[V], register: u32) -> V {
        self.vector_by(moves::pick_halves(), unpacked, if register == 0 { 0x20 } else { 0x31 })
    }
}
