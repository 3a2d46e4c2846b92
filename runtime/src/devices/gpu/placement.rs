//! Placement of loop nests: on the device, or on the processor if the device lacks a dtype, or if the nest sorts.

use super::device::Gpu;
use crate::devices::backend::Fallback;
use crate::devices::on_gpu::{CONTROL, SCATTERS, SORTS};
use crate::execution::lowering;
use ndjit_codegen::wgsl::Features;
use ndjit_ir::body::{Body, InstKind};
use ndjit_ir::loops::{LoopBody, LoopNest, NestKind};
use ndjit_ir::{Code, DType, Error, ErrorCode, Help, PrimType, Result};
use smallvec::SmallVec;
use std::fmt;

/// Placement of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// On the device.
    Device,
    /// On the device, which lacks this 64-bit dtype: integers are pairs of words, floats are moved and cast as bits.
    Emulated(DType),
    /// On the processor: the device lacks this dtype.
    Cpu(DType),
    /// On the processor: it sorts.
    Sorts,
    /// On the processor: it scatters.
    Scatters,
    /// On the processor: it is control flow.
    Control,
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Device => f.write_str("on the device"),
            Placement::Emulated(dtype) if dtype.is_int() => {
                f.write_str("on the device, which has no integers of 64 bits: they are pairs of words")
            }
            Placement::Emulated(dtype) => {
                write!(f, "on the device, which has no {dtype}: its bits are held as integers")
            }
            Placement::Cpu(dtype) => write!(f, "on the processor: the device has no {dtype}"),
            Placement::Sorts => f.write_str(SORTS),
            Placement::Scatters => f.write_str(SCATTERS),
            Placement::Control => f.write_str(CONTROL),
        }
    }
}

/// The placement of a nest.
pub(super) fn placement(gpu: &Gpu, nest: &LoopNest, fallback: Fallback) -> Result<Placement> {
    match nest.kind {
        NestKind::Sort(_) => return Ok(Placement::Sorts),
        NestKind::Scatter(_) => return Ok(Placement::Scatters),
        NestKind::Map | NestKind::Reduce(_) | NestKind::Contract(_) | NestKind::Scan(_) => {}
    }
    let features = gpu.features();
    let everything = lowering::kernel(nest, &Features::ALL.target())?;
    let bodies = everything.parts().into_iter().filter_map(|part| match &part.nest.body {
        LoopBody::Prims { body, .. } => Some(body),
        LoopBody::Ops(_) => None,
    });
    let bodies: SmallVec<[&Body; 2]> = bodies.collect();
    let has = |ty: PrimType| bodies.iter().any(|body| uses(body, ty));
    let doubles = !features.float64 && has(PrimType::F64);
    if doubles && let Err(error) = lowering::kernel(nest, &features.target()) {
        if fallback == Fallback::Cpu {
            return Ok(Placement::Cpu(DType::F64));
        }
        // The trace has rejected such user code; this is for programs traced for another device.
        let headline = format!("gpu: {} has no f64, and a kernel computes in it", gpu.info().name);
        return Err(Error::new(ErrorCode::Backend, headline).fact(error.headline()).help(
            Help::from("run such kernels on the processor, `.fallback(Fallback::Cpu)`, or cast to `f32` before: ")
                .code(Code::CastAfter(DType::F32)),
        ));
    }
    let integers = !features.int64 && has(PrimType::I64);
    let mut dtypes = dtypes(nest);
    if integers && fallback == Fallback::Cpu && dtypes.any(|dtype| dtype.bytes() == 8 && dtype.is_int()) {
        return Ok(Placement::Cpu(DType::I64));
    }
    Ok(match (doubles, integers) {
        (true, _) => Placement::Emulated(DType::F64),
        // Under the error fallback the trace has rejected user code; the rest are indices.
        (false, true) => Placement::Emulated(DType::I64),
        (false, false) => Placement::Device,
    })
}

/// The dtypes of a nest's arrays and intermediate values.
fn dtypes(nest: &LoopNest) -> impl Iterator<Item = DType> + '_ {
    let memory = nest.inputs.iter().filter(|access| !access.is_index()).chain(&nest.outputs).map(|access| access.dtype);
    let stmts = match &nest.body {
        LoopBody::Ops(body) => &body.stmts[..],
        LoopBody::Prims { .. } => &[],
    };
    let has_indices = nest.inputs.iter().any(|access| access.is_index());
    memory.chain(stmts.iter().filter(move |_| !has_indices).map(|stmt| stmt.dtype)).chain(nest.literals.iter().copied())
}

/// Whether a body has a register of a type, including nested bodies.
fn uses(body: &Body, ty: PrimType) -> bool {
    body.types.contains(&ty)
        || body.insts.iter().any(|inst| match &inst.kind {
            InstKind::If(inner) | InstKind::Repeat { body: inner, .. } => uses(inner, ty),
            InstKind::Const(_) | InstKind::Prim(_) | InstKind::Table(_) | InstKind::Gather { .. } => false,
        })
}
