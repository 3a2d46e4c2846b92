//! Primitives of a body that are folded into one instruction. The bits are those of separate ones, except for the sign of a NaN.

use super::set::Set;
use ndjit_ir::PrimType;
use ndjit_ir::body::{Body, Inst, InstKind, Prim, Reg};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// A folded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folded {
    /// Rotates to the left by this many bits: two shifts by constants and their "or".
    Rotate(u8),
    /// The first float if it is less than the second, the machine's minimum: a comparison that selects one of its operands.
    Less,
    /// The first float if it is greater than the second.
    Greater,
    /// `c - a * b` of floats, rounded once: a product and sum of a negated factor.
    NegatedFma,
    /// `a | (b & c)`.
    OrAnd,
}

/// The folded instructions of a body.
#[derive(Default)]
pub(super) struct Folds {
    /// By the register of the last primitive: the instruction and its operands.
    folded: FxHashMap<Reg, (Folded, SmallVec<[Reg; 3]>)>,
    /// Primitives whose results are otherwise unused.
    spared: FxHashSet<Reg>,
}

impl Folds {
    /// The folds that the set has instructions for.
    pub fn of(set: Set, body: &Body) -> Folds {
        let mut folds = Folds::default();
        let mut left: Vec<u32> = vec![0; body.types.len()];
        let read = body.insts.iter().flat_map(|inst| &inst.args).chain(&body.outputs);
        read.for_each(|reg| left[reg.index()] += 1);
        for inst in &body.insts {
            let Some((folded, args)) = fold(set, body, inst) else { continue };
            for arg in &inst.args {
                left[arg.index()] -= 1;
            }
            // Operands of operands that replace them.
            for arg in &args {
                left[arg.index()] += 1;
            }
            let unused = |reg: &&Reg| left[reg.index()] == 0 && body.definition(**reg).is_some();
            folds.spared.extend(inst.args.iter().filter(unused));
            folds.folded.insert(inst.first, (folded, args));
        }
        folds
    }

    /// The fold of an instruction with earlier ones, and its operands.
    pub fn folded(&self, inst: &Inst) -> Option<(Folded, &[Reg])> {
        self.folded.get(&inst.first).map(|(folded, args)| (*folded, &args[..]))
    }

    /// Returns `true` if an instruction is folded into a later one.
    pub fn spares(&self, inst: &Inst) -> bool {
        self.spared.contains(&inst.first)
    }
}

fn fold(set: Set, body: &Body, inst: &Inst) -> Option<(Folded, SmallVec<[Reg; 3]>)> {
    let InstKind::Prim(prim) = inst.kind else { return None };
    match prim {
        Prim::Or if set == Set::Avx512 => rotation(body, inst).or_else(|| or_and(body, inst)),
        Prim::Select => choice(body, inst),
        Prim::Fma => negated(body, inst),
        _ => None,
    }
}

/// An "or" as a rotation: of a value shifted up, and down by the rest of its width.
fn rotation(body: &Body, or: &Inst) -> Option<(Folded, SmallVec<[Reg; 3]>)> {
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
    fits.then(|| (Folded::Rotate(up.2 as u8), smallvec![up.1]))
}

/// A shift by a constant: primitive, operand, count.
fn shift(body: &Body, reg: Reg) -> Option<(Prim, Reg, u64)> {
    let (prim @ (Prim::Shl | Prim::Ushr), &[value, count]) = prim(body, reg)? else { return None };
    match body.definition(count)?.kind {
        InstKind::Const(count) => Some((prim, value, count)),
        _ => None,
    }
}

/// An "or" with an "and".
fn or_and(body: &Body, or: &Inst) -> Option<(Folded, SmallVec<[Reg; 3]>)> {
    let &[first, second] = &or.args[..] else { return None };
    if body.ty(or.first) == PrimType::Bool {
        return None;
    }
    [(first, second), (second, first)].into_iter().find_map(|(other, and)| match prim(body, and)? {
        (Prim::And, &[x, y]) => Some((Folded::OrAnd, smallvec![other, x, y])),
        _ => None,
    })
}

/// `if a < b { a } else { b }`, and `if a < b { b } else { a }`.
fn choice(body: &Body, select: &Inst) -> Option<(Folded, SmallVec<[Reg; 3]>)> {
    let &[mask, yes, no] = &select.args[..] else { return None };
    let (Prim::Flt, &[less, greater]) = prim(body, mask)? else { return None };
    if (yes, no) == (less, greater) {
        Some((Folded::Less, smallvec![less, greater]))
    } else if (yes, no) == (greater, less) {
        Some((Folded::Greater, smallvec![greater, less]))
    } else {
        None
    }
}

/// A product with a negated factor.
fn negated(body: &Body, fma: &Inst) -> Option<(Folded, SmallVec<[Reg; 3]>)> {
    let &[a, b, c] = &fma.args[..] else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(factor, other)| match prim(body, factor)? {
        (Prim::Fneg, &[factor]) => Some((Folded::NegatedFma, smallvec![factor, other, c])),
        _ => None,
    })
}

/// The primitive of a register, and its operands.
fn prim(body: &Body, reg: Reg) -> Option<(Prim, &[Reg])> {
    let inst = body.definition(reg)?;
    match inst.kind {
        InstKind::Prim(prim) => Some((prim, &inst.args)),
        _ => None,
    }
}
