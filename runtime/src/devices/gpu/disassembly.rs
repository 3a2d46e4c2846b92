//! The SPIR-V of a module, as text.

use super::registry::opened;
use super::spirv::{as_written, compile};
use ndjit_ir::graph::Value;
use ndjit_ir::lines::{LineSpan, SpanKind, TextLine};
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result};
use rspirv::binary::Disassemble;
use rspirv::dr::{Instruction, Operand};

/// A module as SPIR-V assembly, in the specification's syntax; with the changes for a device, if given.
///
/// # Errors
/// Those of compiling a module; `Device` if the device cannot be opened.
pub fn disassembled(text: &str, device: Option<Device>) -> Result<Vec<TextLine<()>>> {
    let mut words = compile(text)?;
    if let Some(number) = device.and_then(Device::gpu_number)
        && let Some(controls) = opened(number)?.controls
    {
        words = as_written(&words, controls)?;
    }
    let mut loader = rspirv::dr::Loader::new();
    rspirv::binary::parse_words(&words, &mut loader)
        .map_err(|e| Error::new(ErrorCode::Backend, "gpu: not a SPIR-V module").fact(e))?;
    let module = loader.module();
    // One line each, after the comments of the header.
    let mut instructions = module.all_inst_iter();
    let line = |text: &str| {
        let instruction = if text.starts_with(';') { None } else { instructions.next() };
        let spans = instruction.map_or(Vec::new(), |instruction| ids(text, instruction));
        TextLine { text: text.to_owned(), part: None, spans }
    };
    Ok(module.disassemble().lines().map(line).collect())
}

/// The ids in an instruction's text: its result, its type, its operands.
fn ids(text: &str, instruction: &Instruction) -> Vec<LineSpan> {
    let used = instruction.operands.iter().filter_map(Operand::id_ref_any);
    let used = instruction.result_type.into_iter().chain(used).map(|id| SpanKind::Use(Value(id)));
    let defined = instruction.result_id.into_iter().map(|id| SpanKind::Definition(Value(id)));
    let mut end = 0;
    let span = |kind: SpanKind| {
        let (SpanKind::Definition(value) | SpanKind::Use(value)) = kind else { return None };
        let name = value.to_string();
        let start = end + text[end..].find(&name)?;
        end = start + name.len();
        Some(LineSpan { range: start..end, kind })
    };
    defined.chain(used).filter_map(span).collect()
}
