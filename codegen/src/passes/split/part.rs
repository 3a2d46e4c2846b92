//! Nests for code generation, and the bodies that splits compose.

use crate::clif::AccumulatorLayout;
use crate::x64::Pairs;
use ndjit_ir::kernel::{OpBody, ScalarId, Stmt, StmtKind};
use ndjit_ir::loops::LoopNest;
use ndjit_ir::{DType, Op, StatementOrigin};
use std::sync::Arc;

/// A nest for code generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestPart {
    /// Its name in a nest that reduces, scans, sorts or scatters.
    pub name: Option<&'static str>,
    /// Its loops over ops: the key of its code.
    pub ops: Arc<LoopNest>,
    /// Its loops over primitives of the target.
    pub nest: Arc<LoopNest>,
    /// The layout of its accumulators, the first inputs and outputs, along its last loops.
    pub form: AccumulatorLayout,
    /// True if it is only for registers of more than 128 bits.
    pub wide: bool,
    /// The pairs in which a block's accumulators are combined, if code handles [whole blocks](crate::x64::emit_blocks).
    pub pairs: Option<Pairs>,
}

impl NestPart {
    pub(super) fn new(name: &'static str, ops: impl Into<Arc<LoopNest>>, form: AccumulatorLayout) -> NestPart {
        let ops = ops.into();
        NestPart { name: Some(name), nest: Arc::clone(&ops), ops, form, wide: false, pairs: None }
    }
}

/// Appends a body with its own inputs and the same literals. Returns its stored scalars.
pub(super) fn append(out: &mut OpBody, body: &OpBody) -> Vec<ScalarId> {
    let (shift, inputs) = (out.stmts.len(), out.inputs.len());
    out.inputs.extend(&body.inputs);
    out.literals.clone_from(&body.literals);
    let moved = |scalar: &ScalarId| ScalarId::from_index(scalar.index() + shift);
    for (n, Stmt { kind, args, dtype, .. }) in body.stmts.iter().enumerate() {
        let kind = match *kind {
            StmtKind::Load(n) => StmtKind::Load(n + inputs as u32),
            StmtKind::Gather(n) => StmtKind::Gather(n + inputs as u32),
            StmtKind::Address(n) => StmtKind::Address(n + inputs as u32),
            kind @ (StmtKind::Literal(_) | StmtKind::Op(_) | StmtKind::Cast) => kind,
        };
        let args: Vec<ScalarId> = args.iter().map(moved).collect();
        out.push_from(StatementOrigin::Statement(n as u32), kind, &args, *dtype);
    }
    body.outputs.iter().map(moved).collect()
}

pub(super) fn combining(dtypes: &[DType], ops: &[Op]) -> OpBody {
    let mut out = loading(&dtypes.repeat(2));
    for (n, (&op, &dtype)) in ops.iter().zip(dtypes).enumerate() {
        let args = [n, n + dtypes.len()].map(ScalarId::from_index);
        let combined = out.push_from(StatementOrigin::Result(n as u32), StmtKind::Op(op), &args, dtype);
        out.outputs.push(combined);
    }
    out
}

/// Creates a body that loads inputs of these dtypes.
pub(super) fn loading(dtypes: &[DType]) -> OpBody {
    let mut out = OpBody { inputs: dtypes.to_vec(), ..OpBody::default() };
    for (n, &dtype) in dtypes.iter().enumerate() {
        out.push_from(StatementOrigin::Results, StmtKind::Load(n as u32), &[], dtype);
    }
    out
}
