//! Cost model: rough time of a kernel per element, which decides whether threads pay.

use ndjit_codegen::target::VectorWidth;
use ndjit_ir::body::{Body, InstKind};
use ndjit_ir::loops::{LoopBody, LoopNest};
use std::collections::VecDeque;

/// Time of a primitive on four bytes, ns, in vector code.
const PRIMITIVE: f64 = 0.03;
/// Time of a byte read or written, ns, in a cache. Memory takes several times as long, but such kernels are large enough for all threads.
const BYTE: f64 = 0.0125;
/// Speedup of vector code over scalar code.
const LANES: f64 = 4.0;
/// Speedup of 256-bit code over 128-bit code: measured 1.4 to 2.1 on the same kernels as [`WIDER`].
const WIDE: f64 = 1.7;
/// Speedup of the widest registers over 128 bits: measured 2.5 to 4.7 on the compute-bound kernels of `ndjit-bench`.
const WIDER: f64 = 3.0;
/// Slowdown of the interpreter relative to vector code.
pub const INTERPRETED: f64 = 300.0;
/// Time of scattering an element to a row: loads, a branch, a store.
pub const SCATTERED: f64 = 2.0;
/// The maximum trip count assumed for a bounded loop.
const TRIPS: u32 = 8;

/// Estimated time per element of an expanded nest, ns.
pub fn per_element(nest: &LoopNest, width: VectorWidth) -> f64 {
    let operands = nest.inputs.iter().chain(&nest.outputs);
    let bytes: usize = operands.map(|access| access.dtype.bytes()).sum();
    let work = match &nest.body {
        LoopBody::Ops(body) => body.stmts.len() as f64,
        LoopBody::Prims { body, .. } => words(body),
    };
    let factor = match width {
        VectorWidth::Scalar => LANES,
        VectorWidth::Bits128 => 1.0,
        VectorWidth::Bits256 => 1.0 / WIDE,
        VectorWidth::Widest => 1.0 / WIDER,
    };
    of_bytes(bytes) + work * PRIMITIVE * factor
}

/// Time of reading or writing bytes, ns.
pub fn of_bytes(bytes: usize) -> f64 {
    bytes as f64 * BYTE
}

/// Four-byte words computed by a body.
fn words(body: &Body) -> f64 {
    let mut total = 0.0;
    let mut queue = VecDeque::from([(body, 1.0)]);
    while let Some((body, times)) = queue.pop_front() {
        for inst in &body.insts {
            let words = body.ty(inst.first).bits().max(8) as f64 / 32.0;
            match &inst.kind {
                InstKind::Const(_) => {}
                InstKind::Prim(_) => total += times * words,
                InstKind::Table(_) | InstKind::Gather { .. } => total += times * words * LANES,
                // A cold path: usually not taken.
                InstKind::If(_) => total += times,
                InstKind::Repeat { max, body, .. } => queue.push_back((body, times * f64::from((*max).min(TRIPS)))),
            }
        }
    }
    total
}
