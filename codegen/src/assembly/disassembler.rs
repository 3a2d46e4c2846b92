//! Disassembly of x86-64 machine code, by iced-x86.

use crate::clif::Located;
use crate::listing::{CodeLine, Registers};
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter, OpKind, SymbolResolver, SymbolResult};
use ndjit_ir::kernel::OpBody;
use ndjit_ir::lines::TextLine;
use ndjit_ir::loops::{LoopBody, LoopLine, LoopNest};
use std::collections::{BTreeMap, BTreeSet};

/// Disassembles x86-64 machine code, whose byte ranges have origins.
pub(super) fn disassembly(
    nest: &LoopNest,
    ops: &OpBody,
    heading: CodeLine,
    code: &[u8],
    places: &[(u32, u32, Located)],
) -> Vec<CodeLine> {
    let LoopBody::Prims { body, .. } = &nest.body else { return vec![heading] };
    let registers = Registers::new(body, ops, &nest.inputs);
    let doing = Doing::new(nest);
    let place = |at: u32| {
        let next = places.partition_point(|&(start, ..)| start <= at);
        let known = next.checked_sub(1).and_then(|n| places.get(n));
        known.filter(|&&(_, end, _)| at < end).map_or(Located::Nowhere, |&(.., located)| located)
    };
    let labels = labels(code);
    let mut formatter = IntelFormatter::with_options(Some(Box::new(CodeLabels(labels.clone()))), None);
    formatter.options_mut().set_rip_relative_addresses(true);
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_show_branch_size(false);
    let mut lines = vec![heading];
    let mut current = Located::Nowhere;
    for instruction in Decoder::new(64, code, DecoderOptions::NONE).iter() {
        let located = place(instruction.ip() as u32);
        let origin = registers.of(located);
        if let Some(label) = labels.get(&instruction.ip()) {
            lines.push(CodeLine::plain(format!("{label}:")));
        }
        if located != current {
            lines.push(CodeLine::made(format!("  ; {}", doing.text(located)), origin));
            current = located;
        }
        let mut text = String::from("    ");
        formatter.format(&instruction, &mut text);
        lines.push(CodeLine::made(text, origin));
    }
    lines
}

/// The nest's lines of instructions.
struct Doing {
    registers: BTreeMap<u32, String>,
    stores: Vec<String>,
}

impl Doing {
    fn new(nest: &LoopNest) -> Doing {
        let (mut registers, mut stores) = (BTreeMap::new(), Vec::new());
        for TextLine { text, part, .. } in nest.lines() {
            match part {
                // The first line of an instruction with an inner body.
                Some(LoopLine::Register(reg)) => {
                    registers.entry(reg.0).or_insert_with(|| text.trim_start().trim_end_matches(" {").to_owned());
                }
                Some(LoopLine::Output(_)) => stores.push(text.trim_start().to_owned()),
                Some(LoopLine::Statement(_)) | None => {}
            }
        }
        Doing { registers, stores }
    }

    fn text(&self, located: Located) -> &str {
        let known = match located {
            Located::Nowhere => return "loops",
            Located::Register(reg) => self.registers.get(&reg.0),
            Located::Store(output) => self.stores.get(output),
        };
        known.map_or("?", String::as_str)
    }
}

/// A name for each jump target.
fn labels(code: &[u8]) -> BTreeMap<u64, String> {
    // Kernels call nothing: near targets are jumps.
    let jumps =
        Decoder::new(64, code, DecoderOptions::NONE).into_iter().filter(|i| i.op0_kind() == OpKind::NearBranch64);
    let targets: BTreeSet<u64> = jumps.map(|jump| jump.near_branch_target()).collect();
    targets.into_iter().enumerate().map(|(n, address)| (address, format!("block{n}"))).collect()
}

struct CodeLabels(BTreeMap<u64, String>);

impl SymbolResolver for CodeLabels {
    /// Only jump targets have names: displacements and immediates may be the same number.
    fn symbol(
        &mut self,
        instruction: &iced_x86::Instruction,
        _: u32,
        operand: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        let name = self.0.get(&address)?;
        let jumps = instruction.op_kind(operand?) == OpKind::NearBranch64;
        jumps.then(|| SymbolResult::with_str(address, name))
    }
}
