//! Blocks of a reduction: the rest of a last step, and the combination of accumulators in registers.

use super::context::{Combine, LoopBlock, NestContext, Pairs, Selected};
use super::forms::{InstForm, MemoryOperand, Size, form, vector};
use super::inst::{Base, InvariantAddress, MachineInst, MachineInstKind, RegClass, V};
use super::moves;
use super::select::{Select, SelectedValue, Stream, Tail};
use super::set::Set;
use iced_x86::Code::{EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8, EVEX_Vpsrldq_zmm_zmmm512_imm8};
use ndjit_ir::PrimType;
use ndjit_ir::body::Body;
use smallvec::{SmallVec, smallvec};

/// The maximum number of registers for accumulators: elements need some, too.
const MOST: usize = 24;

impl NestContext<'_> {
    /// Returns `true` if blocks are supported: all lanes are loaded contiguously or computed from indices, and masks
    /// exclude missing ones.
    pub(super) fn has_blocks(&self) -> bool {
        let words = self.nest.outputs.iter().flat_map(|access| access.dtype.storage());
        self.set == Set::Avx512
            && self.body.output_types().all(|ty| ty != PrimType::Bool)
            && words.count() * self.units_of_rows() <= MOST
    }

    /// The rest of the last step, unit by unit, and the final combination of accumulators.
    pub(super) fn select_rest_of_blocks(
        &self,
        mut select: Select<'_>,
        (once, whole): (Vec<MachineInst>, LoopBlock),
        env: &[SelectedValue],
        inputs: &[Stream],
        combine: Combine<'_>,
    ) -> Option<Selected> {
        let units = std::mem::replace(&mut select.units, 1);
        select.tail = Some(self.masked(select.values));
        let rest: Option<Vec<LoopBlock>> = (0..units)
            .map(|unit| self.rest_of_block(&mut select, env.to_vec(), inputs, (&whole, unit, units)))
            .collect();
        select.tail = None;
        let mut held = whole.carried.iter().map(|&(_, held, _)| held);
        let mut results: Vec<SelectedValue> = Vec::new();
        let together = combine.body.outputs.len();
        for _ in 0..self.body.outputs.len() / together.max(1) {
            let own: Vec<SmallVec<[V; 4]>> = (0..together).map(|_| held.by_ref().take(units).collect()).collect();
            results.extend(select.combine_all(combine, own)?.into_iter().map(|v| SelectedValue::Units(smallvec![v])));
        }
        select.store_first(self, &results);
        let finish = std::mem::take(&mut select.insts);
        Some(Selected { once, whole, unit: None, rest: rest?, finish })
    }

    /// One unit of the last step: missing lanes keep their values.
    fn rest_of_block(
        &self,
        select: &mut Select<'_>,
        mut env: Vec<SelectedValue>,
        inputs: &[Stream],
        (whole, unit, units): (&LoopBlock, usize, usize),
    ) -> Option<LoopBlock> {
        let held: Vec<V> = whole.carried.iter().skip(unit).step_by(units).map(|&(_, held, _)| held).collect();
        for (operand, &held) in env.iter_mut().zip(&held) {
            *operand = SelectedValue::Units(smallvec![held]);
        }
        select.insts(self.body, &self.body.insts[self.hoisted..], &mut env, inputs, true)?;
        let Some(Tail::Masked { lanes, .. }) = select.tail else { return None };
        let mut block = LoopBlock { lanes: select.lanes, ..LoopBlock::default() };
        for (&output, held) in self.body.outputs.iter().zip(held) {
            let ty = self.body.ty(output);
            let met = select.unit(&env[output.index()], ty, 0);
            let kept = select.values.make(RegClass::Vector);
            select.insts.push(MachineInst {
                kind: MachineInstKind::Tied(moves::move_lanes(ty.bits())),
                result: Some(kept),
                args: smallvec![held, met],
                mask: Some(lanes),
                zeroing: false,
                immediate: None,
                located: select.located,
            });
            block.carried.push((held, held, kept));
        }
        block.insts = std::mem::take(&mut select.insts);
        Some(block)
    }
}

impl Select<'_> {
    /// Accumulators of a result, each in some units of lanes, combined to one.
    fn combine_all(&mut self, combine: Combine<'_>, mut all: Vec<SmallVec<[V; 4]>>) -> Option<Vec<V>> {
        let units = all.first().map_or(1, SmallVec::len);
        let distances = |count: usize| std::iter::successors(Some(1), |d| Some(2 * d)).take_while(move |&d| d < count);
        let (lanes, mut between): (Vec<usize>, Vec<usize>) =
            (distances(self.lanes as usize).collect(), distances(units).collect());
        if combine.pairs == Pairs::Halves {
            between.reverse();
            self.combine_units(combine, &mut all, &between)?;
        }
        let distances: Vec<usize> = match combine.pairs {
            Pairs::Halves => lanes.into_iter().rev().collect(),
            Pairs::Neighbours | Pairs::Prefixes => lanes,
        };
        let left = if combine.pairs == Pairs::Halves { 1 } else { units };
        for unit in 0..left {
            for &distance in &distances {
                let lower: Vec<V> = all.iter().map(|of| of[unit]).collect();
                let words = lower.iter().zip(combine.body.output_types());
                let upper: Vec<V> =
                    words.map(|(&v, ty)| self.moved_down(v, distance as u32 * ty.bytes() as u32)).collect();
                let met = self.combined(combine.body, &lower, &upper)?;
                all.iter_mut().zip(met).for_each(|(of, met)| of[unit] = met);
            }
        }
        if combine.pairs == Pairs::Neighbours {
            self.combine_units(combine, &mut all, &between)?;
        }
        Some(all.iter().map(|of| of[0]).collect())
    }

    /// Combines units with those at these distances, one distance after the other; the first has the result.
    fn combine_units(&mut self, combine: Combine<'_>, all: &mut [SmallVec<[V; 4]>], distances: &[usize]) -> Option<()> {
        let units = all.first().map_or(1, SmallVec::len);
        for &distance in distances {
            let lower = (0..units).filter(|unit| match combine.pairs {
                Pairs::Halves => *unit < distance,
                Pairs::Neighbours | Pairs::Prefixes => unit.is_multiple_of(2 * distance),
            });
            for unit in lower {
                let [lower, upper] =
                    [unit, unit + distance].map(|unit| all.iter().map(|of| of[unit]).collect::<Vec<V>>());
                let met = self.combined(combine.body, &lower, &upper)?;
                all.iter_mut().zip(met).for_each(|(of, met)| of[unit] = met);
            }
        }
        Some(())
    }

    pub(super) fn combined(&mut self, combine: &Body, lower: &[V], upper: &[V]) -> Option<Vec<V>> {
        let mut env: Vec<SelectedValue> =
            lower.iter().chain(upper).map(|&v| SelectedValue::Units(smallvec![v])).collect();
        self.insts(combine, &combine.insts, &mut env, &[], false)?;
        let outputs = combine.outputs.iter();
        Some(outputs.map(|&output| self.unit(&env[output.index()], combine.ty(output), 0)).collect())
    }

    /// A register's lanes moved down by this many bytes; the last ones are arbitrary.
    fn moved_down(&mut self, v: V, bytes: u32) -> V {
        if bytes.is_multiple_of(4) {
            let form = vector(Set::Avx512, EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8, 32);
            return self.vector_by(form, &[v, v], (bytes / 4) as u8);
        }
        self.vector_by(within_quarters(), &[v], bytes as u8)
    }

    /// Stores the first lane of each value.
    fn store_first(&mut self, nest: &NestContext<'_>, results: &[SelectedValue]) {
        let mut mask = |bits: u64| {
            let offset = self.known.constants.splat(PrimType::I64, bits);
            self.values.make_known(RegClass::Mask, InvariantAddress { base: Base::Constants, offset, broadcast: None })
        };
        self.tail = Some(Tail::Masked { lanes: mask(1), pairs: [mask(3), mask(0)] });
        self.lanes = 1;
        nest.stores(self, &mut results.iter().cloned());
    }
}

/// Moves the bytes of each quarter of a register down by the immediate.
fn within_quarters() -> InstForm {
    form(EVEX_Vpsrldq_zmm_zmmm512_imm8, [Size::Zmm; 3], MemoryOperand::No)
}
