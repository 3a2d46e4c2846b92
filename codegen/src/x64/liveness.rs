//! Definitions and uses of values.

use super::inst::{MachineInst, MachineInstKind, RegClass, V, Values};
use smallvec::SmallVec;

/// Records the uses of values by the number of their instruction; cold ones count in their place.
pub(super) fn note_uses(insts: &[MachineInst], uses: &mut [Vec<u32>], position: &mut u32) {
    for inst in insts {
        let at = *position;
        *position += 1;
        inst.args.iter().chain(&inst.mask).for_each(|v| uses[v.0 as usize].push(at));
        if let MachineInstKind::If(inner) = &inst.kind {
            inner.results.iter().for_each(|(_, default)| uses[default.0 as usize].push(at));
            note_uses(&inner.cold, uses, position);
        }
    }
}

/// The maximum number of live vector values that cannot be reloaded.
pub(super) fn pressure(insts: &[MachineInst], values: &Values) -> usize {
    let mut uses = vec![Vec::new(); values.len()];
    let mut position = 0;
    note_uses(insts, &mut uses, &mut position);
    let mut ends = vec![0usize; position as usize + 1];
    let (mut alive, mut most) = (0usize, 0);
    let mut at = 0u32;
    for inst in insts {
        let here = at;
        at += 1;
        if let MachineInstKind::If(inner) = &inst.kind {
            let mut skipped = 0;
            note_uses(&inner.cold, &mut vec![Vec::new(); values.len()], &mut skipped);
            at += skipped;
        }
        let results = match &inst.kind {
            MachineInstKind::If(inner) => inner.results.iter().map(|&(result, _)| result).collect(),
            _ => inst.result.into_iter().collect::<SmallVec<[V; 2]>>(),
        };
        for result in results {
            let counted = values.get(result).class == RegClass::Vector && values.get(result).known.is_none();
            if let (true, Some(&last)) = (counted, uses[result.0 as usize].last()) {
                alive += 1;
                ends[last as usize] += 1;
            }
        }
        most = most.max(alive);
        for end in &mut ends[here as usize..at as usize] {
            alive -= std::mem::take(end);
        }
    }
    most
}

/// Counts the instructions that use each value, except cold ones.
pub(super) fn count(insts: &[MachineInst], uses: &mut [usize]) {
    for inst in insts {
        inst.args.iter().chain(&inst.mask).for_each(|v| uses[v.0 as usize] += 1);
        if let MachineInstKind::If(inner) = &inst.kind {
            inner.results.iter().for_each(|(_, default)| uses[default.0 as usize] += 1);
            count(&inner.cold, uses);
        }
    }
}

/// Results of instructions, except cold ones.
pub(super) fn results(insts: &[MachineInst], f: &mut dyn FnMut(V)) {
    for inst in insts {
        inst.result.into_iter().for_each(&mut *f);
        if let MachineInstKind::If(inner) = &inst.kind {
            inner.results.iter().for_each(|&(result, _)| f(result));
        }
    }
}
