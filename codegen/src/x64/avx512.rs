//! Primitives of several AVX-512 instructions, many of them masked.

use super::forms::{self, InstForm};
use super::inst::{MachineInstKind, RegClass, V};
use super::moves;
use super::select::Select;
use super::set::Set;
use ndjit_ir::PrimType;
use ndjit_ir::body::Prim;

const SET: Set = Set::Avx512;

impl Select<'_> {
    /// A primitive on one unit; `None` for other code generators.
    pub(super) fn several_of_avx512(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[V]) -> Option<V> {
        let class = RegClass::of(SET, to);
        Some(match prim {
            Prim::Fmin | Prim::Fmax => self.extreme(prim, from, args[0], args[1]),
            Prim::Select if to == PrimType::Bool => self.choose_masks(args[0], args[1], args[2])?,
            Prim::Select => {
                let blend = MachineInstKind::Plain(moves::blend(SET, from.bits()));
                let chosen = self.make(class, blend, &[args[2], args[1]]);
                if let Some(last) = self.insts.last_mut() {
                    last.mask = Some(args[0]);
                }
                chosen
            }
            Prim::Mask => {
                let one = self.constant(to, 1);
                self.make_under(
                    class,
                    MachineInstKind::Plain(moves::move_lanes(to.bits())),
                    &[one],
                    Some(args[0]),
                    None,
                )
            }
            Prim::ToSint | Prim::ToUint => self.converted(prim, from, to, args[0])?,
            _ => return None,
        })
    }

    /// `form` in the lanes of the mask, in others the first argument.
    fn merge(&mut self, form: InstForm, args: &[V], mask: V) -> V {
        let result = self.vector_tied(form, args);
        if let Some(last) = self.insts.last_mut() {
            last.mask = Some(mask);
        }
        result
    }

    fn vector_tied(&mut self, form: InstForm, args: &[V]) -> V {
        self.make(RegClass::Vector, MachineInstKind::Tied(form), args)
    }

    /// The minimum or maximum: NaN if either is.
    fn extreme(&mut self, prim: Prim, ty: PrimType, x: V, y: V) -> V {
        let immediate = Some(if prim == Prim::Fmin { 4 } else { 5 });
        let number =
            self.make_under(RegClass::Vector, MachineInstKind::Plain(forms::range(ty)), &[x, y], None, immediate);
        let unordered = Some(forms::UNORDERED);
        let nan = self.make_under(
            RegClass::Mask,
            MachineInstKind::Plain(forms::compare_floats(SET, ty)),
            &[x, y],
            None,
            unordered,
        );
        let Some((add, _)) = forms::of(SET, Prim::Fadd, ty, ty) else { return number };
        self.merge(add, &[number, x, y], nan)
    }

    fn choose_masks(&mut self, mask: V, yes: V, no: V) -> Option<V> {
        let yes = self.make(
            RegClass::Mask,
            MachineInstKind::Plain(forms::of(SET, Prim::And, PrimType::Bool, PrimType::Bool)?.0),
            &[mask, yes],
        );
        let no = self.make(RegClass::Mask, MachineInstKind::Plain(forms::and_not_masks()), &[mask, no]);
        Some(self.make(
            RegClass::Mask,
            MachineInstKind::Plain(forms::of(SET, Prim::Or, PrimType::Bool, PrimType::Bool)?.0),
            &[yes, no],
        ))
    }

    /// Truncates and saturates; NaN gives 0.
    fn converted(&mut self, prim: Prim, from: PrimType, to: PrimType, x: V) -> Option<V> {
        let form = forms::to_int(SET, prim, from, to)?;
        let compare = forms::compare_floats(SET, from);
        let compared = |s: &mut Self, y: V, predicate: u8| {
            s.make_under(RegClass::Mask, MachineInstKind::Plain(compare), &[x, y], None, Some(predicate))
        };
        if prim == Prim::ToUint {
            // Too large gives the largest. Below 0 and NaN must give 0, but do not.
            let zero = self.constant(from, 0);
            let positive = compared(self, zero, forms::GREATER_EQUAL);
            return Some(self.make_under(RegClass::Vector, MachineInstKind::Plain(form), &[x], Some(positive), None));
        }
        // Too small gives the smallest. Too large must give the largest, NaN 0, but do not.
        let ordered = compared(self, x, forms::ORDERED);
        let number = self.make_under(RegClass::Vector, MachineInstKind::Plain(form), &[x], Some(ordered), None);
        let limit = (1u64 << (to.bits() - 1)) as f64;
        let limit = if from == PrimType::F32 { u64::from((limit as f32).to_bits()) } else { limit.to_bits() };
        let limit = self.constant(from, limit);
        let large = compared(self, limit, forms::GREATER_EQUAL);
        let largest = self.constant(to, to.mask() >> 1);
        Some(self.merge(moves::move_lanes(to.bits()), &[number, largest], large))
    }
}
