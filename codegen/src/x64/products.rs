//! Products wider than a lane, by products of halves.

use super::forms;
use super::inst::{MachineInstKind, RegClass, V};
use super::moves;
use super::select::Select;
use super::set::Set;
use ndjit_ir::PrimType;
use ndjit_ir::body::Prim;

impl Select<'_> {
    /// Low halves of products of 64 bits, without an instruction for them.
    pub(super) fn low_product(&mut self, x: V, y: V) -> Option<V> {
        let i64 = PrimType::I64;
        let product = forms::wide_product(self.set, false);
        let (x1, y1) = (self.shifted(Prim::Ushr, i64, x, 32)?, self.shifted(Prim::Ushr, i64, y, 32)?);
        let crossed = [self.vector(product, &[x, y1]), self.vector(product, &[x1, y])];
        let cross = self.both(Prim::Iadd, i64, crossed[0], crossed[1])?;
        let cross = self.shifted(Prim::Shl, i64, cross, 32)?;
        let low = self.vector(product, &[x, y]);
        self.both(Prim::Iadd, i64, low, cross)
    }

    /// High halves of products of 32 bits, by products of even and of odd lanes.
    pub(super) fn high_product(&mut self, prim: Prim, x: V, y: V) -> Option<V> {
        let product = forms::wide_product(self.set, prim == Prim::Smulhi);
        let down = forms::shift_by(self.set, Prim::Ushr, PrimType::I64)?;
        let half =
            |s: &mut Self, v: V| s.make_under(RegClass::Vector, MachineInstKind::Plain(down), &[v], None, Some(32));
        let even = self.vector(product, &[x, y]);
        let even = half(self, even);
        let (x, y) = (half(self, x), half(self, y));
        let odd = self.vector(product, &[x, y]);
        if self.set == Set::Avx2 {
            return Some(self.vector_by(moves::blend_by(), &[even, odd], 0xaa));
        }
        let high = self.constant(PrimType::I64, 0xffff_ffff_0000_0000);
        let chosen = self.make_under(
            RegClass::Vector,
            MachineInstKind::Tied(forms::ternary_logic()),
            &[high, odd, even],
            None,
            Some(0xca),
        );
        Some(chosen)
    }

    /// High halves of products of 64 bits, by products of halves (Knuth, TAOCP 4.3.1, algorithm M with two digits).
    pub(super) fn wide_high_product(&mut self, prim: Prim, x: V, y: V) -> Option<V> {
        let i64 = PrimType::I64;
        let (add, _) = forms::of(self.set, Prim::Iadd, i64, i64)?;
        let (and, _) = forms::of(self.set, Prim::And, i64, i64)?;
        let (subtract, _) = forms::of(self.set, Prim::Isub, i64, i64)?;
        let down = forms::shift_by(self.set, Prim::Ushr, i64)?;
        let half =
            |s: &mut Self, v: V| s.make_under(RegClass::Vector, MachineInstKind::Plain(down), &[v], None, Some(32));
        let product = forms::wide_product(self.set, false);
        let (x1, y1) = (half(self, x), half(self, y));
        // Products read the lower halves of their operands.
        let low = self.vector(product, &[x, y]);
        let carry = half(self, low);
        let cross = self.vector(product, &[x1, y]);
        let cross = self.vector(add, &[cross, carry]);
        let mask = self.constant(i64, 0xffff_ffff);
        let cross_low = self.vector(and, &[cross, mask]);
        let other = self.vector(product, &[x, y1]);
        let other = self.vector(add, &[other, cross_low]);
        let high = self.vector(product, &[x1, y1]);
        let (cross, other) = (half(self, cross), half(self, other));
        let high = self.vector(add, &[high, cross]);
        let mut high = self.vector(add, &[high, other]);
        if prim == Prim::Smulhi {
            // A negative operand adds 2^64 too much.
            for (one, another) in [(x, y), (y, x)] {
                let negative = self.shifted(Prim::Sshr, i64, one, 63)?;
                let excess = self.vector(and, &[negative, another]);
                high = self.vector(subtract, &[high, excess]);
            }
        }
        Some(high)
    }
}
