//! Legalize: rewrites primitives that a target lacks into ones it has.
//!
//! There is one rewrite: high multiplication by pieces of half the width. Other unsupported primitives are errors with
//! the target's reason.

use super::expand::hoist;
use crate::target::{PrimSupport, Target};
use ndjit_ir::body::{Body, BodyBuilder, Inst, InstKind, Prim, Reg};
use ndjit_ir::loops::{LoopBody, LoopNest};
use ndjit_ir::{DType, Error, ErrorCode, Op, PrimType, Result};
use ndjit_math::shared_body;
use std::sync::Arc;

/// Rewrites the primitives that `target` lacks. A nest without any is returned unchanged.
///
/// # Errors
/// `Backend` if an unsupported primitive remains.
pub fn legalize(nest: LoopNest, target: &Target) -> Result<LoopNest> {
    let LoopBody::Prims { body, .. } = &nest.body else { return Ok(nest) };
    let Err(_) = verify(body, target) else { return Ok(nest) };
    let body = rewrite(body, target);
    verify(&body, target)?;
    let (body, hoisted) = hoist(body, &nest);
    Ok(LoopNest { body: LoopBody::Prims { body, hoisted }, ..nest })
}

/// Returns `true` if `target` supports an op that computes in `dtype`; no target does outside its domain.
pub fn does(op: Op, dtype: DType, target: &Target) -> bool {
    op.row().domain.contains(dtype) && verify(&rewrite(shared_body(op, dtype), target), target).is_ok()
}

/// Returns the types of a primitive instruction: operand type (for a select: of the chosen values) and result type.
fn types(body: &Body, inst: &Inst) -> (PrimType, PrimType) {
    (body.ty(inst.args[inst.args.len() - 1]), body.ty(inst.first))
}

fn verify(body: &Body, target: &Target) -> Result<()> {
    for inst in &body.insts {
        match &inst.kind {
            InstKind::Prim(prim) => {
                let (from, to) = types(body, inst);
                if let Some(unsupported) =
                    target.unsupported(*prim, from, to).filter(|unsupported| unsupported.support == PrimSupport::None)
                {
                    let headline = format!("legalize: {} has no {prim} from {from} to {to}", target.name);
                    return Err(Error::new(ErrorCode::Backend, headline)
                        .fact(format_args!("reason: {}", unsupported.reason))
                        .fact(format_args!("see: {}", unsupported.link)));
                }
            }
            InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => verify(inner, target)?,
            InstKind::Const(_) | InstKind::Table(_) | InstKind::Gather { .. } => {}
        }
    }
    Ok(())
}

fn rewrite(body: &Body, target: &Target) -> Body {
    let mut builder = BodyBuilder::new(body.input_types());
    let mut map = builder.inputs();
    for inst in &body.insts {
        builder.at(inst.origin);
        let args: Vec<Reg> = inst.args.iter().map(|a| map[a.index()]).collect();
        let results = match &inst.kind {
            InstKind::Prim(prim @ (Prim::Smulhi | Prim::Umulhi)) => {
                let (from, to) = types(body, inst);
                if target.support(*prim, from, to) == PrimSupport::None {
                    vec![high_product(&mut builder, *prim, args[0], args[1])]
                } else {
                    vec![builder.prim(*prim, &args, None)]
                }
            }
            InstKind::If(inner) => {
                builder.inline(&single(body, inst, InstKind::If(Arc::new(rewrite(inner, target)))), &args)
            }
            InstKind::Repeat { max, state, body: inner } => {
                let kind = InstKind::Repeat { max: *max, state: *state, body: Arc::new(rewrite(inner, target)) };
                builder.inline(&single(body, inst, kind), &args)
            }
            kind @ (InstKind::Prim(_) | InstKind::Const(_) | InstKind::Table(_) | InstKind::Gather { .. }) => {
                builder.inline(&single(body, inst, kind.clone()), &args)
            }
        };
        map.extend(results);
    }
    let outputs: Vec<Reg> = body.outputs.iter().map(|o| map[o.index()]).collect();
    builder.finish(&outputs)
}

/// Creates a body of one instruction: `inst` with its operands as inputs, and `kind`.
fn single(body: &Body, inst: &Inst, kind: InstKind) -> Body {
    let inputs = inst.args.len();
    let mut types: Vec<PrimType> = inst.args.iter().map(|&a| body.ty(a)).collect();
    types.extend(inst.result_regs().map(|r| body.ty(r)));
    let args = (0..inputs).map(Reg::from_index).collect();
    let first = Reg::from_index(inputs);
    let outputs = (inputs..types.len()).map(Reg::from_index).collect();
    Body { inputs, types, insts: vec![Inst { kind, args, first, ..*inst }], outputs }
}

/// Computes the high half of a product from four products of halves (Knuth, TAOCP 4.3.1, algorithm M with two digits).
fn high_product(b: &mut BodyBuilder, prim: Prim, x: Reg, y: Reg) -> Reg {
    let ty = b.ty(x);
    let half = b.int(ty, i64::from(ty.bits() / 2));
    let mask = b.bits(ty, ty.mask() >> (ty.bits() / 2));
    let (x0, x1) = (b.and(x, mask), b.ushr(x, half));
    let (y0, y1) = (b.and(y, mask), b.ushr(y, half));
    let low = b.imul(x0, y0);
    let carry = b.ushr(low, half);
    let cross = b.imul(x1, y0);
    let cross = b.iadd(cross, carry);
    let (cross_low, cross_high) = (b.and(cross, mask), b.ushr(cross, half));
    let other = b.imul(x0, y1);
    let other = b.iadd(other, cross_low);
    let carry = b.ushr(other, half);
    let high = b.imul(x1, y1);
    let high = b.iadd(high, cross_high);
    let high = b.iadd(high, carry);
    if prim == Prim::Umulhi {
        return high;
    }
    // For a negative operand the product is 2^width too large.
    let last = b.int(ty, i64::from(ty.bits() - 1));
    let (sign_x, sign_y) = (b.sshr(x, last), b.sshr(y, last));
    let (less_y, less_x) = (b.and(sign_x, y), b.and(sign_y, x));
    let high = b.isub(high, less_y);
    b.isub(high, less_x)
}
