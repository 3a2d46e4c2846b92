//! Rotations: two shifts of one value by constant counts and their "or", which AVX-512 does in one instruction.

use super::set::Set;
use ndjit_ir::PrimType;
use ndjit_ir::body::{Body, Inst, InstKind, Prim, Reg};
use rustc_hash::{FxHashMap, FxHashSet};

/// The rotations of a body.
#[derive(Default)]
pub(super) struct Rotations {
    /// What is rotated to the left, and by how much, by the register of the "or".
    turned: FxHashMap<Reg, (Reg, u8)>,
    /// Shifts that nothing else uses.
    spared: FxHashSet<Reg>,
}

impl Rotations {
    /// Those that the set has an instruction for.
    pub fn of(set: Set, body: &Body) -> Rotations {
        let mut rotations = Rotations::default();
        if set != Set::Avx512 {
            return rotations;
        }
        let ors = body.insts.iter().filter(|inst| inst.kind == InstKind::Prim(Prim::Or));
        let found: Vec<(&Inst, Turn)> = ors.filter_map(|inst| Some((inst, turn(body, inst)?))).collect();
        if found.is_empty() {
            return rotations;
        }
        let mut uses: FxHashMap<Reg, u32> = FxHashMap::default();
        let read = body.insts.iter().flat_map(|inst| &inst.args).chain(&body.outputs);
        read.for_each(|&reg| *uses.entry(reg).or_default() += 1);
        for (inst, Turn { value, count, shifts }) in found {
            rotations.turned.insert(inst.first, (value, count));
            rotations.spared.extend(shifts.into_iter().filter(|shift| uses.get(shift) == Some(&1)));
        }
        rotations
    }

    /// What an instruction rotates to the left, and by how much, if it is a rotation.
    pub fn turned(&self, inst: &Inst) -> Option<(Reg, u8)> {
        self.turned.get(&inst.first).copied()
    }

    /// Whether an instruction need not be made.
    pub fn spares(&self, inst: &Inst) -> bool {
        self.spared.contains(&inst.first)
    }
}

struct Turn {
    value: Reg,
    count: u8,
    shifts: [Reg; 2],
}

/// An "or" as a rotation: of a value shifted up, and down by what is left of its width.
fn turn(body: &Body, or: &Inst) -> Option<Turn> {
    let &[first, second] = &or.args[..] else { return None };
    let (bits, shift) = (body.ty(or.first).bits(), |reg| shift(body, reg));
    if !matches!(body.ty(or.first), PrimType::I32 | PrimType::I64) {
        return None;
    }
    let (up, down) = match (shift(first)?, shift(second)?) {
        (up @ (Prim::Shl, ..), down @ (Prim::Ushr, ..)) | (down @ (Prim::Ushr, ..), up @ (Prim::Shl, ..)) => (up, down),
        _ => return None,
    };
    let fits = up.1 == down.1 && up.2 > 0 && down.2 > 0 && up.2.checked_add(down.2)? == u64::from(bits);
    fits.then_some(Turn { value: up.1, count: up.2 as u8, shifts: [first, second] })
}

/// A shift by a constant: which, of what, by how much.
fn shift(body: &Body, reg: Reg) -> Option<(Prim, Reg, u64)> {
    let inst = body.definition(reg)?;
    let (InstKind::Prim(prim @ (Prim::Shl | Prim::Ushr)), &[value, count]) = (&inst.kind, &inst.args[..]) else {
        return None;
    };
    match body.definition(count)?.kind {
        InstKind::Const(count) => Some((*prim, value, count)),
        _ => None,
    }
}
