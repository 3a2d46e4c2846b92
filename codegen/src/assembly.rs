//! Machine code as people read it: instructions in groups, above each the line of the loops that it does.
//!
//! Code for x86-64, Cranelift's and [wider](crate::x64), is disassembled from its bytes, by iced-x86. For other machines Cranelift's own listing is shown, which does not say
//! what instructions are for.

use crate::clif::{ClifOptions, Form, Located, emit};
use crate::listing::{Line, Registers};
use crate::target::VectorWidth;
use crate::x64;
use cranelift_codegen::Context;
use cranelift_codegen::isa::TargetIsa;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter, OpKind, SymbolResolver, SymbolResult};
use ndjit_ir::kernel::OpBody;
use ndjit_ir::loops::{LoopBody, LoopNest};
use ndjit_ir::{Error, ErrorCode, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The machine code that this machine runs a nest over primitives by, which was expanded from these ops.
///
/// # Errors
/// Those of [`emit`] and of [`x64::emit`]; `Backend` if Cranelift cannot compile what it emits.
pub fn assembly(
    nest: &LoopNest,
    ops: &OpBody,
    isa: &dyn TargetIsa,
    form: Form,
    width: VectorWidth,
) -> Result<Vec<Line>> {
    if let Some(code) = x64::emit_here(nest, form, width)? {
        return Ok(assembly_of(&code, nest, ops, isa));
    }
    let kernel = emit(nest, isa, ClifOptions { vector: width.is_vector(), form, located: true })?;
    let mut context = Context::for_function(kernel.function);
    context.set_disasm(true);
    let code = context.compile(isa, &mut Default::default()).map_err(|e| {
        Error::new(ErrorCode::Backend, "compile: code generation failed").fact(format_args!("{:?}", e.inner))
    })?;
    let heading = Line::plain(format!("; {} bytes for {}", code.code_buffer().len(), isa.triple()));
    if isa.triple().architecture.to_string() != "x86_64" {
        let listing = code.vcode.as_deref().unwrap_or_default();
        return Ok(std::iter::once(heading).chain(listing.lines().map(Line::plain)).collect());
    }
    let places: Vec<(u32, u32, Located)> =
        code.buffer.get_srclocs_sorted().iter().map(|s| (s.start, s.end, Located::of(s.loc))).collect();
    Ok(disassembly(nest, ops, heading, code.code_buffer(), &places))
}

/// The same of [`x64`]'s code for a nest.
pub fn assembly_of(code: &x64::Code, nest: &LoopNest, ops: &OpBody, isa: &dyn TargetIsa) -> Vec<Line> {
    let heading = format!("; {} bytes for {} with {}", code.bytes.len(), isa.triple(), code.set.name());
    disassembly(nest, ops, Line::plain(heading), &code.bytes, &code.places)
}

/// Machine code for x86-64, of which bytes from one offset to another are for something.
fn disassembly(nest: &LoopNest, ops: &OpBody, heading: Line, code: &[u8], places: &[(u32, u32, Located)]) -> Vec<Line> {
    let LoopBody::Prims { body, .. } = &nest.body else { return vec![heading] };
    let registers = Registers::new(body, ops, &nest.inputs);
    let doing = Doing::new(nest);
    let place = |at: u32| {
        let next = places.partition_point(|&(start, ..)| start <= at);
        let known = next.checked_sub(1).and_then(|n| places.get(n));
        known.filter(|&&(_, end, _)| at < end).map_or(Located::Nowhere, |&(.., located)| located)
    };
    let labels = labels(code);
    let mut formatter = IntelFormatter::with_options(Some(Box::new(Labels(labels.clone()))), None);
    formatter.options_mut().set_rip_relative_addresses(true);
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_show_branch_size(false);
    let mut lines = vec![heading];
    let mut current = Located::Nowhere;
    for instruction in Decoder::new(64, code, DecoderOptions::NONE).iter() {
        let located = place(instruction.ip() as u32);
        let origin = registers.of(located);
        if let Some(label) = labels.get(&instruction.ip()) {
            lines.push(Line::plain(format!("{label}:")));
        }
        if located != current {
            lines.push(Line { text: format!("  ; {}", doing.text(located)), origin });
            current = located;
        }
        let mut text = String::from("    ");
        formatter.format(&instruction, &mut text);
        lines.push(Line { text, origin });
    }
    lines
}

/// The lines of a nest that instructions do.
struct Doing {
    registers: BTreeMap<u32, String>,
    stores: Vec<String>,
}

impl Doing {
    fn new(nest: &LoopNest) -> Doing {
        let (mut registers, mut stores) = (BTreeMap::new(), Vec::new());
        let text = nest.to_string();
        // Registers of bodies inside have numbers of their own.
        let mut inside = 0;
        for line in text.lines().map(str::trim_start) {
            if inside > 0 {
                inside = inside + usize::from(line.ends_with('{')) - usize::from(line.starts_with('}'));
                continue;
            }
            inside = usize::from(line.starts_with('r') && line.ends_with('{'));
            let digits = line.strip_prefix('r').map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
            if let Some(Ok(register)) = digits.flatten().map(str::parse) {
                registers.insert(register, line.trim_end_matches(" {").to_owned());
            } else if line.starts_with("store ") {
                stores.push(line.to_owned());
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

/// A name for each address that is jumped to.
fn labels(code: &[u8]) -> BTreeMap<u64, String> {
    // Kernels call nothing: what has a near target jumps.
    let jumps =
        Decoder::new(64, code, DecoderOptions::NONE).into_iter().filter(|i| i.op0_kind() == OpKind::NearBranch64);
    let targets: BTreeSet<u64> = jumps.map(|jump| jump.near_branch_target()).collect();
    targets.into_iter().enumerate().map(|(n, address)| (address, format!("block{n}"))).collect()
}

struct Labels(BTreeMap<u64, String>);

impl SymbolResolver for Labels {
    fn symbol(
        &mut self,
        _: &iced_x86::Instruction,
        _: u32,
        _: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        self.0.get(&address).map(|name| SymbolResult::with_str(address, name))
    }
}
