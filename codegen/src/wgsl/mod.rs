//! WGSL modules from expanded loop nests: one thread an element, one `let` a primitive.
//!
//! Registers are `f32`, `u32` (all integers are unsigned words; the primitive carries the sign) and `bool`. What WGSL leaves
//! open is done by functions from the repository's `shaders/`, which are added to a module when it calls them. This emitter
//! covers 32-bit types and no memory narrower than a word; the rest is an error that names the gap.

#![warn(clippy::wildcard_enum_match_arm)]

mod prim;

use ndjit_ir::body::{Body, InstKind, Reg};
use ndjit_ir::loops::{LoopBody, LoopNest};
use ndjit_ir::{DType, Error, ErrorCode, PrimType, Result};
use std::fmt::{self, Write};

/// Threads in a workgroup, along x.
pub const WORKGROUP: u32 = 64;

const PRELUDE: &str = include_str!("../../../shaders/prelude.wgsl");

/// Hand-written functions by file: what a call's name begins with, and the file's text.
const LIBRARY: &[(&str, &str)] = &[
    ("nd_f", include_str!("../../../shaders/float.wgsl")),
    ("nd_is", include_str!("../../../shaders/float.wgsl")),
    ("nd_u", include_str!("../../../shaders/integer.wgsl")),
    ("nd_s", include_str!("../../../shaders/integer.wgsl")),
];

/// A module's text. Bindings of group 0: 0 the geometry, 1 the literals (one `u32` a register), then inputs, then outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgslModule {
    /// The text; its entry point is `main`.
    pub text: String,
}

impl fmt::Display for WgslModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Emits a module for an expanded nest.
///
/// # Errors
/// `Backend` where the nest uses a type or primitive that this emitter does not cover; `Verify` if it is not expanded.
pub fn emit(nest: &LoopNest) -> Result<WgslModule> {
    if nest.reduce.is_some() {
        return Err(gap("reductions"));
    }
    if nest.inputs.iter().any(|input| input.index) {
        return Err(gap("indices, which argmax and argmin read,"));
    }
    let LoopBody::Prims { body, .. } = &nest.body else {
        return Err(Error::new(ErrorCode::Verify, "wgsl: the nest is not expanded"));
    };
    let mut text = String::from(PRELUDE);
    let mut main = String::new();
    bindings(&mut text, nest)?;
    let names = inputs(&mut main, nest, body);
    for inst in &body.insts {
        let reg = inst.result();
        let value = match &inst.kind {
            InstKind::Const(bits) => constant(body.ty(reg), *bits)?,
            InstKind::Prim(prim) => {
                let args: Vec<&str> = inst.args.iter().map(|a| names[a.index()].as_str()).collect();
                prim::expression(*prim, body.ty(inst.args[0]), body.ty(reg), &args)?
            }
            InstKind::Table(_) | InstKind::If(_) | InstKind::Repeat { .. } => {
                return Err(gap("table look-ups, cold paths and loops inside a body"));
            }
        };
        line(&mut main, &format!("let r{} = {value};", reg.0));
    }
    for (n, (output, &reg)) in nest.outputs.iter().zip(&body.outputs).enumerate() {
        let operand = nest.inputs.len() + n;
        let value = stored(output.dtype, &names[reg.index()]);
        line(&mut main, &format!("out{n}[position(flat, {operand}u)] = {value};"));
    }
    for (i, (_, file)) in LIBRARY.iter().enumerate() {
        let used = LIBRARY.iter().any(|(prefix, f)| f == file && main.contains(prefix));
        let first = LIBRARY.iter().position(|(_, f)| f == file) == Some(i);
        if used && first {
            text.push('\n');
            text.push_str(file);
        }
    }
    let _ = write!(
        text,
        "\n@compute @workgroup_size({WORKGROUP})\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{\n\
         \x20   for (var flat = id.x; flat < geometry[0]; flat = flat + groups.x * {WORKGROUP}u) {{\n{main}    }}\n}}\n"
    );
    Ok(WgslModule { text })
}

fn line(out: &mut String, statement: &str) {
    let _ = writeln!(out, "        {statement}");
}

fn gap(what: &str) -> Error {
    Error::new(ErrorCode::Backend, format!("wgsl: {what} cannot be emitted yet"))
        .help("this emitter covers arithmetic, comparisons and selection on f32, i32 and u32")
}

/// The element type of a storage buffer.
fn element(dtype: DType) -> Result<&'static str> {
    match dtype {
        DType::F32 => Ok("f32"),
        DType::I32 => Ok("i32"),
        DType::U32 => Ok("u32"),
        DType::Bool
        | DType::U8
        | DType::U16
        | DType::U64
        | DType::I8
        | DType::I16
        | DType::I64
        | DType::Bf16
        | DType::F16
        | DType::F64
        | DType::C64
        | DType::C128 => Err(gap(&format!("arrays of {dtype}"))),
    }
}

/// A loaded element as a register.
fn loaded(dtype: DType, element: &str) -> String {
    if dtype == DType::I32 { format!("bitcast<u32>({element})") } else { element.to_owned() }
}

/// A register as an element to store.
fn stored(dtype: DType, register: &str) -> String {
    if dtype == DType::I32 { format!("bitcast<i32>({register})") } else { register.to_owned() }
}

fn bindings(text: &mut String, nest: &LoopNest) -> Result<()> {
    let _ = writeln!(text, "\n@group(0) @binding(1) var<storage, read> literals: array<u32>;");
    let mut binding = 2;
    for (n, input) in nest.inputs.iter().enumerate() {
        let ty = element(input.dtype)?;
        let _ = writeln!(text, "@group(0) @binding({binding}) var<storage, read> in{n}: array<{ty}>;");
        binding += 1;
    }
    for (n, output) in nest.outputs.iter().enumerate() {
        let ty = element(output.dtype)?;
        let _ = writeln!(text, "@group(0) @binding({binding}) var<storage, read_write> out{n}: array<{ty}>;");
        binding += 1;
    }
    Ok(())
}

/// Emits the loads; returns the name of every register.
fn inputs(main: &mut String, nest: &LoopNest, body: &Body) -> Vec<String> {
    let names: Vec<String> = (0..body.types.len()).map(|i| format!("{}", Reg::from_index(i))).collect();
    let mut reg = 0;
    for (n, input) in nest.inputs.iter().enumerate() {
        let value = loaded(input.dtype, &format!("in{n}[position(flat, {n}u)]"));
        line(main, &format!("let r{reg} = {value};"));
        reg += 1;
    }
    let mut cell = 0;
    for dtype in &nest.literals {
        for &ty in dtype.repr() {
            let word = format!("literals[{cell}u]");
            let value = match ty {
                PrimType::F32 => format!("bitcast<f32>({word})"),
                PrimType::Bool => format!("({word} != 0u)"),
                PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 | PrimType::F64 => word,
            };
            line(main, &format!("let r{reg} = {value};"));
            (reg, cell) = (reg + 1, cell + 1);
        }
    }
    names
}

fn constant(ty: PrimType, bits: u64) -> Result<String> {
    match ty {
        PrimType::Bool => Ok(format!("{}", bits & 1 == 1)),
        PrimType::I32 => Ok(format!("{bits}u")),
        // By bits: decimal text would leave rounding, infinities and NaN to the implementation's parser.
        PrimType::F32 => Ok(format!("bitcast<f32>({bits:#x}u)")),
        PrimType::I8 | PrimType::I16 | PrimType::I64 | PrimType::F64 => Err(gap(&format!("constants of {ty}"))),
    }
}
