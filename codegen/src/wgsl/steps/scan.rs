//! The steps of a scan, in the order of [`scan`](ndjit_ir::reduction::scan).

use super::Module;
use crate::wgsl::Binding;
use crate::wgsl::index::position;
use ndjit_ir::reduction::BLOCK;

impl Module<'_> {
    /// Writes the local step: it scans the elements of a block, one after the other.
    pub(super) fn local(&mut self, last: bool) {
        let nest = self.nest;
        let (parallel_rank, inputs) = (nest.parallel_rank(), nest.inputs.len());
        self.each(|this| {
            // Adjacent invocations take adjacent rows.
            this.code.line("let row = id % params[0].z;");
            this.code.line("let block = params[1].y + id / params[0].z;");
            let mut loops = this.split(0..parallel_rank, "row", "k");
            loops.push("at".to_owned());
            this.code.line(format!("let start = block * {BLOCK}u;"));
            this.code.line(format!("let end = min(start + {BLOCK}u, params[1].x);"));
            this.total();
            let mut stores = Vec::new();
            for n in 0..nest.outputs.len() {
                stores.push(format!("let to_{n} = {};", position(nest, inputs + n, &loops)));
                stores.extend(this.store(Binding::Output(n), &format!("to_{n}"), &this.fields("total", n)));
            }
            this.code.block("for (var at = start; at < end; at++)", |code| {
                code.line(format!("let value = element({});", loops.join(", ")));
                code.line("if (at == start) { total = value; } else { total = combine(total, value); }");
                code.lines(&stores);
            });
            if !last {
                this.code.line("let slot = block * params[0].z + row;");
                for n in 0..nest.outputs.len() {
                    let store = this.store(Binding::PartialOut(n), "slot", &this.fields("total", n));
                    this.code.lines(&store);
                }
            }
        });
    }

    /// Writes the step of carries: it scans the totals of a row's blocks, one after the other. A block's number is the
    /// index of its carry.
    pub(super) fn carries(&mut self) {
        let nest = self.nest;
        self.each(|this| {
            this.total();
            let value = this.loaded(Binding::PartialIn, |_| "before".to_owned());
            let mut stores = vec!["let to = block * params[0].z + id;".to_owned()];
            for n in 0..nest.outputs.len() {
                stores.extend(this.store(Binding::PartialOut(n), "to", &this.fields("total", n)));
            }
            this.code.block("for (var block = 1u; block < params[0].w; block++)", |code| {
                code.line("let before = (block - 1u) * params[0].z + id;");
                code.line(format!("let value = {value};"));
                code.line("if (block == 1u) { total = value; } else { total = combine(total, value); }");
                code.lines(&stores);
            });
        });
    }

    /// Writes the last step, which combines results with the carry of their block.
    pub(super) fn carried(&mut self) {
        let nest = self.nest;
        let (parallel_rank, inputs) = (nest.parallel_rank(), nest.inputs.len());
        self.each(|this| {
            this.code.line("let row = id % params[0].z;");
            this.code.line(format!("let at = params[1].y * {BLOCK}u + id / params[0].z;"));
            this.code.line(format!("let carry = (at / {BLOCK}u) * params[0].z + row;"));
            let mut loops = this.split(0..parallel_rank, "row", "k");
            loops.push("at".to_owned());
            let carry = this.loaded(Binding::PartialIn, |_| "carry".to_owned());
            let result = this.loaded(Binding::Output, |n| format!("({})", position(nest, inputs + n, &loops)));
            this.code.line(format!("let total = combine({carry}, {result});"));
            this.store_all("total", |n| (Binding::Output(n), position(nest, inputs + n, &loops)));
        });
    }
}
