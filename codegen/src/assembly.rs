//! Machine code as text: groups of instructions, each under its line of the loops.
//!
//! Code for x86-64, Cranelift's and [wider](crate::x64), is disassembled from its bytes, with the feature `disassembler`. For other
//! machines the text is Cranelift's listing, without origins of instructions.

#[cfg(feature = "disassembler")]
mod disassembler;

use crate::clif::{AccumulatorLayout, ClifOptions, Located, emit};
use crate::listing::CodeLine;
use crate::target::VectorWidth;
use crate::x64;
use cranelift_codegen::Context;
use cranelift_codegen::isa::TargetIsa;
use ndjit_ir::kernel::OpBody;
use ndjit_ir::loops::LoopNest;
use ndjit_ir::{Error, ErrorCode, Result};

/// The machine code of a nest over primitives, expanded from these ops, for this machine.
///
/// # Errors
/// Those of [`emit`] and of [`x64::emit`]; `Backend` if Cranelift cannot compile what it emits.
pub fn assembly(
    nest: &LoopNest,
    ops: &OpBody,
    isa: &dyn TargetIsa,
    form: AccumulatorLayout,
    width: VectorWidth,
) -> Result<Vec<CodeLine>> {
    if let Some(code) = x64::emit_here(nest, form, width)? {
        return Ok(assembly_of(&code, nest, ops, isa));
    }
    let kernel = emit(nest, isa, ClifOptions { vector: width.is_vector(), form, located: true })?;
    let mut context = Context::for_function(kernel.function);
    context.set_disasm(true);
    let code = context.compile(isa, &mut Default::default()).map_err(|e| {
        Error::new(ErrorCode::Backend, "compile: code generation failed").fact(format_args!("{:?}", e.inner))
    })?;
    let heading = CodeLine::plain(format!("; {} bytes for {}", code.code_buffer().len(), isa.triple()));
    if isa.triple().architecture.to_string() != "x86_64" {
        let listing = code.vcode.as_deref().unwrap_or_default();
        return Ok(std::iter::once(heading).chain(listing.lines().map(CodeLine::plain)).collect());
    }
    let places: Vec<(u32, u32, Located)> =
        code.buffer.get_srclocs_sorted().iter().map(|s| (s.start, s.end, Located::of(s.loc))).collect();
    Ok(disassembly(nest, ops, heading, code.code_buffer(), &places))
}

/// The same for [`x64`]'s code of a nest.
pub fn assembly_of(code: &x64::VectorCode, nest: &LoopNest, ops: &OpBody, isa: &dyn TargetIsa) -> Vec<CodeLine> {
    let heading = format!("; {} bytes for {} with {}", code.bytes.len(), isa.triple(), code.set.name());
    disassembly(nest, ops, CodeLine::plain(heading), &code.bytes, &code.places)
}

#[cfg(feature = "disassembler")]
use disassembler::disassembly;

/// A placeholder without the feature.
#[cfg(not(feature = "disassembler"))]
fn disassembly(_: &LoopNest, _: &OpBody, heading: CodeLine, _: &[u8], _: &[(u32, u32, Located)]) -> Vec<CodeLine> {
    vec![heading, CodeLine::plain("; its instructions are shown with the feature `disassembler` of ndjit")]
}
