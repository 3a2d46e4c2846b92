//! Cold code: a test, a jump to it, and a jump back with all registers restored except results.

use super::super::assembler::{AsmOperand, When};
use super::super::forms::Size;
use super::super::inst::{If, MachineInst, V};
use super::super::set::Set;
use super::{ALL, Allocator, NONE, RegisterState, name};
use iced_x86::Code;

impl Allocator<'_> {
    /// Sets results to their defaults. The cold code runs if any bit of the mask is set.
    pub(super) fn branch(&mut self, inst: &MachineInst, inner: &If, at: u32) {
        let mask = self.in_register(inst.args[0], at);
        let fixed = self.state.fixed;
        for &(result, default) in &inner.results {
            let to = if self.state.register[default.0 as usize] == NONE {
                let to = self.define(result, at, None);
                self.load(default, to);
                to
            } else {
                let from = self.state.register[default.0 as usize];
                self.busy |= 1 << from;
                let once = inner.results.iter().filter(|&&(_, other)| other == default).count() == 1;
                let dies = once && !self.is_used_after(default, at) && !self.is_pinned(default);
                if dies && self.pinned(result).is_none() {
                    self.forget(default);
                    self.hold(result, from);
                    from
                } else {
                    let to = self.define(result, at, None);
                    self.copy(to, from);
                    to
                }
            };
            self.state.fixed |= 1 << to;
        }
        self.test(mask, inner.lanes);
        let (cold, merge) = (self.code.label(), self.code.label());
        self.code.jump(When::NotEqual, cold);
        self.code.bind(merge);
        let located = self.code.located;
        self.busy = 0;
        self.release(inst, at);

        let before = self.state.clone();
        self.code.begin_cold();
        self.code.bind(cold);
        self.run(&inner.cold);
        self.put_back(&before);
        self.code.jump(When::Always, merge);
        self.code.end_cold();
        self.state = before;
        self.state.fixed = fixed;
        self.busy = 0;
        self.code.located = located;
        for &(result, _) in &inner.results {
            self.defined(result);
        }
        // Values with their last use here or in the cold code.
        inner.results.iter().for_each(|&(_, default)| self.consume(default, at));
        let held: Vec<V> = self.state.holds.iter().flatten().copied().collect();
        for v in held {
            if !self.is_pinned(v) && self.uses[v.0 as usize].is_empty() {
                self.forget(v);
            }
        }
    }

    /// Tests whether any of the lowest lanes of a mask is set.
    fn test(&mut self, mask: u8, lanes: u32) {
        let (code, size) = match (self.set(), lanes) {
            // Lanes of bools fill a register.
            (Set::Avx2, _) => (Code::VEX_Vptest_ymm_ymmm256, Size::Ymm),
            (Set::Avx512, 0..=8) => (Code::VEX_Kortestb_kr_kr, Size::Mask),
            (Set::Avx512, 9..=16) => (Code::VEX_Kortestw_kr_kr, Size::Mask),
            (Set::Avx512, 17..=32) => (Code::VEX_Kortestd_kr_kr, Size::Mask),
            (Set::Avx512, _) => (Code::VEX_Kortestq_kr_kr, Size::Mask),
        };
        let tested = AsmOperand::Register(name(mask, size));
        self.code.add(code, &[tested, tested]);
    }

    /// Restores the contents of registers.
    fn put_back(&mut self, before: &RegisterState) {
        for register in 0..ALL {
            let Some(v) = before.holds[register] else { continue };
            if self.state.holds[register] == Some(v) || (!self.is_pinned(v) && self.uses[v.0 as usize].is_empty()) {
                continue;
            }
            // Evicted values are in memory, or have a known location.
            self.load(v, register as u8);
        }
    }
}
