//! SPIR-V with exact arithmetic.
//!
//! naga's SPIR-V does not restrict contraction, infinities, NaN and the sign of zero, so drivers may fuse, reorder and fold. This module
//! changes its words: every float operation is `NoContraction` (which also forbids reordering), and the entry point has the mode
//! `SignedZeroInfNanPreserve`, and `DenormPreserve` if supported. Comparisons for inequality, which naga writes as ordered, become
//! unordered. Opcodes and modes are those of the specification: <https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html>.

use ndjit_ir::{Error, ErrorCode, Result};

const OP_EXTENSION: u16 = 10;
const OP_EXT_INST: u16 = 12;
const OP_MEMORY_MODEL: u16 = 14;
const OP_ENTRY_POINT: u16 = 15;
const OP_EXECUTION_MODE: u16 = 16;
const OP_CAPABILITY: u16 = 17;
const OP_TYPE_FLOAT: u16 = 22;
const OP_DECORATE: u16 = 71;
const OP_F_ORD_NOT_EQUAL: u16 = 182;
const OP_F_UNORD_NOT_EQUAL: u16 = 183;
/// `OpFNegate`, `OpFAdd`, `OpFSub`, `OpFMul`, `OpFDiv`, `OpFRem`, `OpFMod`.
const ARITHMETIC: [u16; 7] = [127, 129, 131, 133, 136, 140, 141];

const NO_CONTRACTION: u32 = 42;
const CAPABILITY_DENORM_PRESERVE: u32 = 4464;
const CAPABILITY_PRESERVE: u32 = 4466;
const MODE_DENORM_PRESERVE: u32 = 4459;
const MODE_PRESERVE: u32 = 4461;
const HEADER: usize = 5;

/// Supported float controls, for 32-bit and 64-bit floats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls {
    /// `SignedZeroInfNanPreserve`.
    pub preserve: [bool; 2],
    /// `DenormPreserve`.
    pub subnormals: [bool; 2],
}

/// The SPIR-V of a module, as naga writes it. Accesses to buffers stay within them.
///
/// # Errors
/// `Backend` if the text is not valid WGSL: a bug in the emitter.
pub fn compile(text: &str) -> Result<Vec<u32>> {
    let refused = |what: String| Error::new(ErrorCode::Backend, format!("gpu: a kernel is not valid WGSL: {what}"));
    let module = naga::front::wgsl::parse_str(text).map_err(|e| refused(e.emit_to_string(text)))?;
    let capabilities = naga::valid::Capabilities::FLOAT64 | naga::valid::Capabilities::SHADER_INT64;
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities);
    let info = validator.validate(&module).map_err(|e| refused(e.emit_to_string(text)))?;
    let policies = naga::proc::BoundsCheckPolicies {
        buffer: naga::proc::BoundsCheckPolicy::Restrict,
        index: naga::proc::BoundsCheckPolicy::Restrict,
        ..naga::proc::BoundsCheckPolicies::default()
    };
    let options = naga::back::spv::Options {
        lang_version: (1, 3),
        flags: naga::back::spv::WriterFlags::empty(),
        bounds_check_policies: policies,
        zero_initialize_workgroup_memory: naga::back::spv::ZeroInitializeWorkgroupMemoryMode::None,
        // All loops of kernels are bounded.
        force_loop_bounding: false,
        ..naga::back::spv::Options::default()
    };
    naga::back::spv::write_vec(&module, &info, &options, None).map_err(|e| refused(e.to_string()))
}

/// Changes a module to exact arithmetic.
///
/// # Errors
/// `Backend` if the words are not a module.
pub fn as_written(words: &[u32], controls: FloatControls) -> Result<Vec<u32>> {
    let broken = || Error::new(ErrorCode::Backend, "gpu: not a SPIR-V module");
    let header = words.get(..HEADER).ok_or_else(broken)?;
    let mut instructions: Vec<(u16, &[u32])> = Vec::new();
    let mut rest = &words[HEADER..];
    while let Some(&first) = rest.first() {
        let length = (first >> 16) as usize;
        if length == 0 || length > rest.len() {
            return Err(broken());
        }
        let (instruction, after) = rest.split_at(length);
        instructions.push((first as u16, instruction));
        rest = after;
    }
    let floats: Vec<u32> = instructions.iter().filter(|(op, _)| *op == OP_TYPE_FLOAT).map(|(_, i)| i[2]).collect();
    let entry = instructions.iter().find(|(op, _)| *op == OP_ENTRY_POINT).map(|(_, i)| i[2]).ok_or_else(broken)?;
    let mut modes: Vec<[u32; 2]> = Vec::new();
    for (n, width) in [32, 64].into_iter().enumerate().filter(|(_, width)| floats.contains(width)) {
        modes.extend(controls.preserve[n].then_some([MODE_PRESERVE, width]));
        modes.extend(controls.subnormals[n].then_some([MODE_DENORM_PRESERVE, width]));
    }
    let has = |mode: u32| modes.iter().any(|m| m[0] == mode);

    let mut out = header.to_vec();
    let mut stage = 0;
    for (at, &(op, instruction)) in instructions.iter().enumerate() {
        // The order of a module: capabilities, extensions, imports, memory model, entry points, modes, debug, decorations.
        if stage == 0 && op != OP_CAPABILITY {
            stage = 1;
            if has(MODE_PRESERVE) {
                push(&mut out, OP_CAPABILITY, &[CAPABILITY_PRESERVE]);
            }
            if has(MODE_DENORM_PRESERVE) {
                push(&mut out, OP_CAPABILITY, &[CAPABILITY_DENORM_PRESERVE]);
            }
            if !modes.is_empty() {
                push(&mut out, OP_EXTENSION, &literal("SPV_KHR_float_controls"));
            }
        }
        if op == OP_F_ORD_NOT_EQUAL {
            out.push((instruction[0] & 0xffff_0000) | u32::from(OP_F_UNORD_NOT_EQUAL));
            out.extend_from_slice(&instruction[1..]);
        } else {
            out.extend_from_slice(instruction);
        }
        let next = instructions.get(at + 1).map(|(op, _)| *op);
        if op == OP_EXECUTION_MODE && next != Some(OP_EXECUTION_MODE) {
            modes.iter().for_each(|&[mode, width]| push(&mut out, OP_EXECUTION_MODE, &[entry, mode, width]));
        }
        // Decorations come before types, in any order; there is always one, of a binding.
        if op == OP_DECORATE && stage == 1 {
            stage = 2;
            for (op, instruction) in &instructions {
                if ARITHMETIC.contains(op) || *op == OP_EXT_INST {
                    push(&mut out, OP_DECORATE, &[instruction[2], NO_CONTRACTION]);
                }
            }
        }
    }
    debug_assert!(instructions.iter().any(|(op, _)| *op == OP_MEMORY_MODEL));
    if stage == 2 { Ok(out) } else { Err(broken()) }
}

fn push(out: &mut Vec<u32>, op: u16, operands: &[u32]) {
    out.push(((operands.len() as u32 + 1) << 16) | u32::from(op));
    out.extend_from_slice(operands);
}

/// A string as words, with its final zero.
fn literal(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}
