//! Values pinned to a register in all loops: constants and invariants, by number of uses, as many as the body leaves.

use super::context::Selected;
use super::inst::{RegClass, V, Values};
use super::liveness::{count, pressure, results};
use super::set::Set;
use std::iter;

/// The number of vector registers reserved for a body, beyond its own maximum.
const SPARE: usize = 2;
/// Mask registers for invariant masks.
const PINNED_MASKS: usize = 2;

/// Pins invariants of the innermost loop to registers, by number of uses, and gives the others memory. Returns the
/// registers.
pub(super) fn pin(set: Set, values: &mut Values, selected: &Selected) -> u64 {
    let mut free = (0..set.registers()).rev();
    let mut free_masks = (33..40u8).rev();
    let mut reserved = 0u64;
    let mut most = (usize::from(set.registers()) - SPARE).saturating_sub(pressure(&selected.whole.insts, values));
    for block in iter::once(&selected.whole).chain(&selected.unit).chain(&selected.rest) {
        let mut free = free.clone();
        for &(_, held, _) in &block.carried {
            if values.get(held).pinned.is_some() {
                continue;
            }
            let Some(register) = free.next() else { continue };
            values.pin(held, register);
            reserved |= 1 << register;
        }
    }
    let accumulators = selected.whole.carried.len();
    most = most.saturating_sub(accumulators);
    (0..accumulators).for_each(|_| _ = free.next());

    let mut uses = vec![0usize; values.len()];
    count(&selected.whole.insts, &mut uses);
    let mut rest = vec![0usize; values.len()];
    selected.unit.iter().chain(&selected.rest).for_each(|block| count(&block.insts, &mut rest));
    count(&selected.finish, &mut rest);
    let mut made = vec![false; values.len()];
    results(&selected.once, &mut |v| made[v.0 as usize] = true);
    let mut fixed: Vec<V> = (0..values.len() as u32)
        .map(V)
        .filter(|&v| {
            let n = v.0 as usize;
            let constant = values.get(v).class == RegClass::Vector && values.get(v).known.is_some();
            (uses[n] > 0 || (made[n] && rest[n] > 0)) && (made[n] || constant)
        })
        .collect();
    fixed.sort_by_key(|v| std::cmp::Reverse(uses[v.0 as usize]));
    let mut masks = PINNED_MASKS;
    for v in fixed {
        let register = match values.get(v).class {
            RegClass::Vector if most > 0 && uses[v.0 as usize] > 0 => {
                most -= 1;
                free.next()
            }
            RegClass::Mask if masks > 0 => {
                masks -= 1;
                free_masks.next()
            }
            RegClass::Vector | RegClass::Mask => None,
        };
        if let Some(register) = register {
            values.pin(v, register);
            reserved |= 1 << register;
        }
    }
    reserved
}
