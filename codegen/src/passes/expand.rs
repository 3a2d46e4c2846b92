//! Expand: a loop body of ops on dtypes becomes one body of primitives on machine types.
//!
//! Load, op, cast and store bodies are inlined one after the other; the builder shares common subexpressions and folds
//! constants; unused instructions are removed; invariants of the innermost loop move to the front, for code generators
//! to compute once. The pass depends on the target only in the method of [divisions](Divisions).

use ndjit_ir::body::{Body, BodyBuilder, Inst, InstKind, Prim, Reg};
use ndjit_ir::kernel::{OpBody, Stmt, StmtKind};
use ndjit_ir::loops::{Access, LoopBody, LoopNest, NestKind, Stride};
use ndjit_ir::{Error, ErrorCode, PrimType, Result, StatementOrigin};
use ndjit_math::{
    DivisionMethod, shared_body, shared_cast_body, shared_division_body, shared_load_body, shared_store_body,
};
use smallvec::SmallVec;

/// The methods of integer divisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divisions {
    /// Their primitives.
    Primitives,
    /// Those of vectors: by reciprocals of invariants, else by floats.
    Vectors,
    /// Those of one lane at a time: by reciprocals of invariants.
    Lanes,
}

impl Divisions {
    /// The method for an invariant or varying divisor; `None` for primitives.
    fn method(self, invariant: bool) -> Option<DivisionMethod> {
        match (self, invariant) {
            (Divisions::Primitives, _) | (Divisions::Lanes, false) => None,
            (Divisions::Vectors, true) => Some(DivisionMethod::Reciprocal),
            (Divisions::Vectors, false) => Some(DivisionMethod::Floats),
            (Divisions::Lanes, true) => Some(DivisionMethod::WideReciprocal),
        }
    }
}

/// Expands the ops of `nest` into primitives. An expanded nest is returned unchanged, and so is one that sorts: a
/// [part](super::split) of it computes its elements.
///
/// # Errors
/// `Verify` if the nest's accesses and literals differ from its body's.
pub fn expand(nest: &LoopNest, divisions: Divisions) -> Result<LoopNest> {
    let ops = match &nest.body {
        // The updates of a scatter are expanded separately.
        _ if matches!(nest.kind, NestKind::Scatter(_) | NestKind::Sort(_)) => return Ok(nest.clone()),
        LoopBody::Prims { .. } => return Ok(nest.clone()),
        LoopBody::Ops(ops) => ops,
    };
    check(nest, ops)?;
    let (body, hoisted) = hoist(inline(nest, ops, divisions), nest);
    Ok(LoopNest { body: LoopBody::Prims { body, hoisted }, ..nest.clone() })
}

fn check(nest: &LoopNest, ops: &OpBody) -> Result<()> {
    let inputs = nest.inputs.iter().map(|a| a.dtype).eq(ops.inputs.iter().copied());
    let outputs = nest.outputs.iter().map(|a| a.dtype).eq(ops.outputs.iter().map(|&o| ops.dtype(o)));
    if inputs && outputs && nest.literals == ops.literals {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Verify, "expand: the nest's operands are not those of its body"))
}

/// Inlines all ops. The inputs are the storage words of each input, then the registers of each literal.
fn inline(nest: &LoopNest, ops: &OpBody, divisions: Divisions) -> Body {
    let words = nest.inputs.iter().flat_map(|access| access.words());
    let literals = ops.literals.iter().flat_map(|d| d.repr());
    let types: Vec<PrimType> = words.chain(literals).copied().collect();
    let mut builder = BodyBuilder::new(&types);
    let mut free = builder.inputs().into_iter();
    let mut take = |n: usize| -> Vec<Reg> { free.by_ref().take(n).collect() };
    let loads: Vec<Vec<Reg>> = nest.inputs.iter().map(|access| take(access.words().len())).collect();
    let literals: Vec<Vec<Reg>> = ops.literals.iter().map(|d| take(d.repr().len())).collect();

    let mut scalars: Vec<Vec<Reg>> = Vec::with_capacity(ops.stmts.len());
    let invariant = invariant_stmts(nest, ops);
    for (n, stmt) in ops.stmts.iter().enumerate() {
        builder.at(origin(stmt, n));
        let args: SmallVec<[Reg; 6]> = stmt.args.iter().flat_map(|a| &scalars[a.index()]).copied().collect();
        let regs = match stmt.kind {
            StmtKind::Load(n) => builder.inline(shared_load_body(ops.inputs[n as usize]), &loads[n as usize]),
            StmtKind::Gather(n) => {
                let told = [loads[n as usize][0], args[0], loads[n as usize + 1][0], loads[n as usize + 2][0]];
                let words = ops.inputs[n as usize].storage().iter().enumerate();
                let words: Vec<Reg> = words.map(|(word, &ty)| builder.gather(ty, (n, word as u32), told)).collect();
                builder.inline(shared_load_body(ops.inputs[n as usize]), &words)
            }
            StmtKind::Address(n) => {
                let (base, row) = (loads[n as usize][0], args[0]);
                let (last, step) = (loads[n as usize + 1][0], loads[n as usize + 2][0]);
                vec![address(&mut builder, base, row, (last, step))]
            }
            StmtKind::Literal(n) => literals[n as usize].clone(),
            StmtKind::Op(op) => {
                let dtype = ops.compute_dtype(stmt, op);
                // A division of two invariants is computed once.
                let division = match stmt.args[..] {
                    [x, y] if !invariant[x.index()] => divisions.method(invariant[y.index()]),
                    _ => None,
                };
                let division = division.and_then(|method| shared_division_body(op, dtype, method));
                builder.inline(division.unwrap_or_else(|| shared_body(op, dtype)), &args)
            }
            StmtKind::Cast => {
                let from = ops.dtype(stmt.args[0]);
                if from == stmt.dtype {
                    args.to_vec()
                } else {
                    builder.inline(shared_cast_body(from, stmt.dtype), &args)
                }
            }
        };
        scalars.push(regs);
    }
    let mut outputs = Vec::new();
    for &output in &ops.outputs {
        builder.at(origin(&ops.stmts[output.index()], output.index()));
        outputs.extend(builder.inline(shared_store_body(ops.dtype(output)), &scalars[output.index()]));
    }
    builder.finish(&outputs)
}

/// The address of a row, or -1: see [`StmtKind::Address`]. The number of rows, one more than the last, is not negative.
fn address(builder: &mut BodyBuilder, base: Reg, row: Reg, (last, step): (Reg, Reg)) -> Reg {
    let one = builder.bits(PrimType::I64, 1);
    let rows = builder.prim(Prim::Iadd, &[last, one], None);
    let inside = builder.prim(Prim::Ult, &[row, rows], None);
    let bytes = builder.prim(Prim::Imul, &[row, step], None);
    let address = builder.prim(Prim::Iadd, &[base, bytes], None);
    let none = builder.bits(PrimType::I64, u64::MAX);
    builder.prim(Prim::Select, &[inside, address, none], None)
}

/// Returns the origin of a statement's instructions.
pub(crate) fn origin(stmt: &Stmt, number: usize) -> StatementOrigin {
    match stmt.origin {
        StatementOrigin::Own => StatementOrigin::Statement(number as u32),
        known @ (StatementOrigin::Statement(_) | StatementOrigin::Result(_) | StatementOrigin::Results) => known,
    }
}

/// Returns for each statement whether it is invariant in the innermost loop.
fn invariant_stmts(nest: &LoopNest, ops: &OpBody) -> Vec<bool> {
    let mut invariant = Vec::with_capacity(ops.stmts.len());
    for stmt in &ops.stmts {
        invariant.push(match stmt.kind {
            StmtKind::Load(n) => is_invariant(nest, &nest.inputs[n as usize]),
            StmtKind::Literal(_) => true,
            StmtKind::Gather(_) | StmtKind::Address(_) => false,
            StmtKind::Op(_) | StmtKind::Cast => stmt.args.iter().all(|arg| invariant[arg.index()]),
        });
    }
    invariant
}

/// Returns `true` if the elements of an input are the same in the innermost loop.
fn is_invariant(nest: &LoopNest, access: &Access) -> bool {
    nest.vector_loop() + 1 == nest.rank && access.inner == Stride::Broadcast
}

/// Returns for each input register of the expanded body whether it is invariant in the innermost loop.
fn invariant_inputs(nest: &LoopNest) -> Vec<bool> {
    let mut invariant = Vec::new();
    for access in &nest.inputs {
        invariant.extend(std::iter::repeat_n(is_invariant(nest, access), access.words().len()));
    }
    for literal in &nest.literals {
        invariant.extend(std::iter::repeat_n(true, literal.repr().len()));
    }
    invariant
}

/// Moves the instructions that depend only on invariant inputs to the front, in order. Returns their number.
pub(super) fn hoist(body: Body, nest: &LoopNest) -> (Body, usize) {
    let mut invariant = vec![false; body.types.len()];
    invariant[..body.inputs].copy_from_slice(&invariant_inputs(nest));
    for inst in &body.insts {
        let rows_change = nest.stores_at_addresses() && matches!(inst.kind, InstKind::Gather { .. });
        let stays = !rows_change && inst.args.iter().all(|a| invariant[a.index()]);
        inst.result_regs().for_each(|r| invariant[r.index()] = stays);
    }
    let stays = |inst: &Inst| invariant[inst.first.index()];
    let hoisted = body.insts.iter().filter(|i| stays(i)).count();
    let ordered = body.insts.iter().filter(|i| stays(i)).chain(body.insts.iter().filter(|i| !stays(i)));

    let mut map: Vec<Reg> = (0..body.types.len()).map(Reg::from_index).collect();
    let mut out = Body {
        inputs: body.inputs,
        types: body.input_types().to_vec(),
        insts: Vec::with_capacity(body.insts.len()),
        outputs: Vec::new(),
    };
    for inst in ordered {
        let first = Reg::from_index(out.types.len());
        for reg in inst.result_regs() {
            map[reg.index()] = Reg::from_index(out.types.len());
            out.types.push(body.ty(reg));
        }
        let args = inst.args.iter().map(|a| map[a.index()]).collect();
        out.insts.push(Inst { kind: inst.kind.clone(), args, first, ..*inst });
    }
    out.outputs = body.outputs.iter().map(|o| map[o.index()]).collect();
    (out, hoisted)
}
