//! The steps of a reduction: lanes of blocks, then the tree of blocks, in the order of
//! [`fold`](ndjit_ir::reduction::fold).

use super::Module;
use crate::wgsl::body::ModuleWriter;
use crate::wgsl::index::{indices, position};
use crate::wgsl::prim::register;
use crate::wgsl::{Binding, Features, LEAVES, WORKGROUP};
use ndjit_ir::PrimType;
use ndjit_ir::loops::VectorLoop;
use ndjit_ir::reduction::{BLOCK, LANES};
use std::fmt::Write;

impl Module<'_> {
    /// Writes the step of lanes: sixteen lanes take every sixteenth element of a block, and are combined by halving.
    pub(super) fn lanes(&mut self, last: bool) {
        let nest = self.nest;
        let parallel_rank = nest.parallel_rank();
        let along_kept = nest.kind.along() == VectorLoop::Parallel;
        let per = WORKGROUP / LANES as u32;
        let words = self.words();
        for (n, &ty) in words.iter().enumerate() {
            let _ = writeln!(self.shared, "var<workgroup> shared{n}: array<{}, {WORKGROUP}>;", shareable(ty));
        }
        self.main(|this| {
            let code = &mut this.code;
            // Adjacent invocations read adjacent elements: lanes of a row, or columns.
            let (lane, pair) = match along_kept {
                true => (format!("local / {per}u"), format!("local % {per}u")),
                false => (format!("local % {LANES}u"), format!("local / {LANES}u")),
            };
            code.line(format!("let lane = {lane};"));
            code.line(format!("let slot = {pair};"));
            code.line(format!("let id = workgroup * {per}u + slot;"));
            code.line("let busy = id < params[0].y;");
            let (row, block) = match along_kept {
                true => ("id % params[0].z", "id / params[0].z"),
                false => ("id / params[0].w", "id % params[0].w"),
            };
            code.line(format!("let row = {row};"));
            code.line(format!("let block = {block};"));
            code.line(format!("let start = (params[1].y + block) * {BLOCK}u;"));
            code.line("let length = params[1].x;");
            code.line(format!("let present = select(0u, min(length - min(start, length), {LANES}u), busy);"));
            let outer = this.split(0..parallel_rank, "row", "k");
            this.total();
            let mut code = std::mem::replace(&mut this.code, ModuleWriter::new(Features::LEAST));
            code.block("if (lane < present)", |code| {
                code.line(format!("let end = min(start + {BLOCK}u, length);"));
                code.block(format!("for (var flat = start + lane; flat < end; flat += {LANES}u)"), |code| {
                    let (statements, inner) = indices(parallel_rank..nest.rank, "flat", "k");
                    code.lines(&statements);
                    let loops: Vec<String> = outer.iter().chain(&inner).cloned().collect();
                    code.line(format!("let value = element({});", loops.join(", ")));
                    code.line("if (flat == start + lane) { total = value; } else { total = combine(total, value); }");
                });
            });
            let me = if along_kept { format!("lane * {per}u + slot") } else { format!("slot * {LANES}u + lane") };
            let other = |half: usize| match along_kept {
                true => format!("(lane + {half}u) * {per}u + slot"),
                false => format!("slot * {LANES}u + lane + {half}u"),
            };
            code.line(format!("let me = {me};"));
            let mut half = LANES / 2;
            while half > 0 {
                for (n, &ty) in words.iter().enumerate() {
                    code.line(format!("shared{n}[me] = {};", shared(ty, &format!("total.w{n}"))));
                }
                code.line("workgroupBarrier();");
                code.block(format!("if (lane < {half}u && lane + {half}u < present)"), |code| {
                    code.line(format!("let other = {};", other(half)));
                    let parts = words.iter().enumerate().map(|(n, &ty)| unshared(ty, &format!("shared{n}[other]")));
                    let parts: Vec<String> = parts.collect();
                    code.line(format!("total = combine(total, Words({}));", parts.join(", ")));
                });
                code.line("workgroupBarrier();");
                half /= 2;
            }
            this.code = code;
            this.code.line("if (lane != 0u || !busy) { return; }");
            let inputs = nest.inputs.len();
            this.store_all("total", |n| match last {
                true => (Binding::Output(n), position(nest, inputs + n, &outer)),
                // The blocks of a row are contiguous, including those of other dispatches.
                false => (Binding::PartialOut(n), "row * params[1].z + params[1].y + block".to_owned()),
            });
        });
    }

    /// Writes a step of the tree: up to [`LEAVES`] adjacent partial results of a row are combined in a balanced tree.
    pub(super) fn tree(&mut self, last: bool) {
        let nest = self.nest;
        let value = self.loaded(Binding::PartialIn, |_| "at".to_owned());
        self.each(|this| {
            this.code.line(format!("let groups_of_row = (params[0].w + {}u) / {LEAVES}u;", LEAVES - 1));
            this.code.line("let row = id / groups_of_row;");
            this.code.line("let part = id % groups_of_row;");
            this.code.line(format!("let first = part * {LEAVES}u;"));
            this.code.line(format!("var count = min(params[0].w - first, {LEAVES}u);"));
            this.code.line(format!("var values: array<Words, {LEAVES}>;"));
            this.code.block("for (var i = 0u; i < count; i++)", |code| {
                code.line("let at = row * params[0].w + first + i;");
                code.line(format!("values[i] = {value};"));
            });
            this.code.block("while (count > 1u)", |code| {
                code.block("for (var i = 0u; i < count / 2u; i++)", |code| {
                    code.line("values[i] = combine(values[2u * i], values[2u * i + 1u]);");
                });
                code.line("if ((count & 1u) == 1u) { values[count / 2u] = values[count - 1u]; }");
                code.line("count = (count + 1u) / 2u;");
            });
            this.code.line("let total = values[0];");
            let rows = if last { this.split(0..nest.parallel_rank(), "row", "k") } else { Vec::new() };
            let inputs = nest.inputs.len();
            this.store_all("total", |n| match last {
                true => (Binding::Output(n), position(nest, inputs + n, &rows)),
                false => (Binding::PartialOut(n), "row * groups_of_row + part".to_owned()),
            });
        });
    }
}

/// Returns the type of a word in workgroup memory. Floats are integers, so that no bit changes.
fn shareable(ty: PrimType) -> &'static str {
    match ty {
        PrimType::F32 => "u32",
        PrimType::F64 => "u64",
        PrimType::Bool | PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => register(ty),
    }
}

fn shared(ty: PrimType, word: &str) -> String {
    if ty == PrimType::F32 || ty == PrimType::F64 {
        format!("bitcast<{}>({word})", shareable(ty))
    } else {
        word.to_owned()
    }
}

fn unshared(ty: PrimType, word: &str) -> String {
    if ty == PrimType::F32 || ty == PrimType::F64 {
        format!("bitcast<{}>({word})", register(ty))
    } else {
        word.to_owned()
    }
}
