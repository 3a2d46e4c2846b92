//! Cranelift functions from expanded loop nests.
//!
//! A kernel is one function ([`abi`]) with all loops of a nest. The innermost loop works on blocks of lanes in groups of 128-bit
//! registers; each primitive is emitted for a whole group before the next one, because Cranelift keeps the order and has no
//! scheduler. Constants are loaded from a table at each use, which costs less than registers. This module does not make code
//! executable.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod abi;
mod affine;
mod body;
mod cold;
pub(crate) mod constants;
mod lanes;
mod memory;
mod nest;
mod rows;
mod scalar;
mod steps;
mod text;
mod vector;

pub use abi::{Cell, literal_cells};
pub(crate) use cold::is_long;
pub(crate) use lanes::Located;
pub(crate) use nest::most_alive;

use crate::target::Target;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Function, UserFuncName};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::verify_function;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use ndjit_ir::body::Reg;
use ndjit_ir::loops::{Access, LoopBody, LoopNest, NestKind, Role, Stride};
use ndjit_ir::reduction::LANES;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use std::fmt;

/// Options of code generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClifOptions {
    /// Emit the loop over blocks of lanes; without it one lane at a time.
    pub vector: bool,
    /// The layout of the nest's accumulators.
    pub form: AccumulatorLayout,
    /// Record the body's register of each instruction, for [listings](crate::listing).
    pub located: bool,
}

/// The layout of a nest's accumulators along its last loops. [`split`](crate::passes::split) makes nests with accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccumulatorLayout {
    /// None, or one for each index.
    Plain,
    /// Along rows: the last but one loop takes steps of [`LANES`] elements, the innermost has at most that many trips, and the first
    /// inputs are the outputs, which do not move from step to step.
    Rows,
    /// Along columns: the first inputs are the outputs, one for each index of the innermost loop.
    Columns,
    /// The innermost loop often has 1, 2, 4 or 8 trips: no blocks of many lanes.
    Pairs,
    /// The innermost loop takes steps, one lane at a time; the first inputs are the first outputs, one per accumulator, which do not
    /// move from step to step.
    Steps {
        /// The number of accumulators.
        accumulators: usize,
    },
    /// Like [`Steps`](AccumulatorLayout::Steps), in a loop that ends by its condition, too: while the last output, a bool, is true the
    /// body maps the accumulators to the next ones. That output is the last condition: true if the steps were as many as the extent.
    While {
        /// The number of accumulators.
        accumulators: usize,
    },
}

impl Default for ClifOptions {
    fn default() -> ClifOptions {
        ClifOptions { vector: true, form: AccumulatorLayout::Plain, located: false }
    }
}

/// A kernel before it becomes machine code. Displays as CLIF text.
#[derive(Clone, Debug)]
pub struct ClifKernel {
    /// The function, with the signature of [`abi`].
    pub function: Function,
    /// The constants table, the last argument.
    pub constants: Vec<Cell>,
    /// Lanes per block of the innermost loop; 1 in scalar code.
    pub lanes: usize,
}

impl ClifKernel {
    /// The machine code, which is position-independent and begins with the function, and its constants.
    ///
    /// # Errors
    /// `Backend` if Cranelift cannot compile the function, or the code would call other functions.
    pub fn into_code(self, isa: &dyn TargetIsa) -> Result<(Vec<u8>, Vec<Cell>)> {
        let failed = |why: &dyn fmt::Display| {
            Error::new(ErrorCode::Backend, "compile: code generation failed")
                .fact(why)
                .help("this is a bug in ndjit; please report it with the dump of NDJIT_DUMP=expanded")
        };
        let mut context = Context::for_function(self.function);
        let compiled = context.compile(isa, &mut ControlPlane::default()).map_err(|e| failed(&e.inner))?;
        match compiled.buffer.relocs() {
            [] => Ok((compiled.code_buffer().to_vec(), self.constants)),
            [call, ..] => Err(failed(&format_args!("a kernel calls nothing, but {:?}", call.target))),
        }
    }
}

/// Emits the function of an expanded nest.
///
/// # Errors
/// `Verify` if the nest is not expanded or does not match its body, `Backend` if the machine's pointers are not 64 bits
/// wide or, in debug builds, if Cranelift's verifier finds an error.
pub fn emit(nest: &LoopNest, isa: &dyn TargetIsa, options: ClifOptions) -> Result<ClifKernel> {
    let LoopBody::Prims { body, hoisted } = &nest.body else {
        return Err(Error::new(ErrorCode::Verify, "clif: the nest is not expanded into primitives"));
    };
    check(nest, *hoisted, options.form)?;
    if isa.pointer_bits() != 64 || isa.endianness() != cranelift_codegen::ir::Endianness::Little {
        return Err(Error::new(ErrorCode::Backend, format!("clif: no code generation for {}", isa.triple())));
    }
    let target = Target::host_clif(isa);
    let lanes = match options {
        ClifOptions { vector: false, .. }
        | ClifOptions { form: AccumulatorLayout::Steps { .. } | AccumulatorLayout::While { .. }, .. } => 1,
        ClifOptions {
            form: AccumulatorLayout::Plain | AccumulatorLayout::Columns | AccumulatorLayout::Pairs, ..
        } => nest::block_lanes(body, options.form),
        ClifOptions { form: AccumulatorLayout::Rows, .. } => nest::block_lanes(body, options.form).min(LANES as u32),
    };
    let signature = abi::signature(CallConv::triple_default(isa.triple()));
    let mut function = Function::with_name_signature(UserFuncName::default(), signature);
    if options.located {
        // Cranelift counts locations from the first one set, and loses the one before.
        function.params.ensure_base_srcloc(Located::Register(Reg::from_index(0)).location());
    }
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut function, &mut context);
    let emitted = nest::NestEmitter {
        nest,
        body,
        hoisted: *hoisted,
        target: &target,
        lanes,
        form: options.form,
        located: options.located,
    }
    .emit(&mut builder);
    builder.seal_all_blocks();
    builder.finalize(isa.frontend_config());
    if cfg!(debug_assertions) {
        verify_function(&function, isa)
            .map_err(|e| Error::new(ErrorCode::Backend, format!("clif: {e}")).fact(function.display()))?;
    }
    Ok(ClifKernel { function, constants: emitted.cells, lanes: lanes as usize })
}

/// Checks that code can be generated for a nest.
pub(crate) fn check(nest: &LoopNest, hoisted: usize, form: AccumulatorLayout) -> Result<()> {
    check_operands(nest, hoisted)?;
    let addressed = nest.outputs.iter().any(|access| access.role != Role::Memory);
    match form {
        AccumulatorLayout::Plain | AccumulatorLayout::Columns | AccumulatorLayout::Pairs | AccumulatorLayout::Rows
            if addressed =>
        {
            Err(Error::new(ErrorCode::Verify, "clif: only steps store at addresses"))
        }
        AccumulatorLayout::Plain | AccumulatorLayout::Columns | AccumulatorLayout::Pairs => Ok(()),
        AccumulatorLayout::Rows => check_rows(nest),
        AccumulatorLayout::Steps { accumulators } => check_steps(nest, accumulators),
        AccumulatorLayout::While { accumulators } => match nest.outputs.last() {
            Some(Access { dtype: DType::Bool, .. }) if nest.outputs.len() > accumulators => {
                check_steps(nest, accumulators)
            }
            _ => Err(Error::new(ErrorCode::Verify, "clif: a loop leaves where a bool says so")),
        },
    }
}

fn check_operands(nest: &LoopNest, hoisted: usize) -> Result<()> {
    let LoopBody::Prims { body, .. } = &nest.body else { return Ok(()) };
    let inputs = nest.inputs.iter().flat_map(|a| a.words()).chain(nest.literals.iter().flat_map(|d| d.repr()));
    let outputs = nest.outputs.iter().flat_map(|a| a.dtype.storage());
    if nest.rank == 0 || hoisted > body.insts.len() {
        return Err(Error::new(ErrorCode::Verify, "clif: a nest has at least one loop, and hoists what it has"));
    }
    if nest.kind != NestKind::Map {
        return Err(Error::new(ErrorCode::Verify, "clif: code is generated for the parts of a nest that reduces"));
    }
    if nest.inputs.iter().any(|access| access.is_index() && access.inner == Stride::Contiguous) {
        return Err(Error::new(ErrorCode::Verify, "clif: an index is strided or broadcast"));
    }
    if !inputs.eq(body.input_types()) || !outputs.copied().eq(body.output_types()) {
        return Err(Error::new(ErrorCode::Verify, "clif: the nest's operands are not those of its body"));
    }
    Ok(())
}

/// Checks that the accumulators of rows are the first inputs and the outputs.
fn check_rows(nest: &LoopNest) -> Result<()> {
    let accumulators = nest.inputs.get(..nest.outputs.len());
    let contiguous = |access: &Access| access.inner == Stride::Contiguous && access.role == Role::Memory;
    if nest.rank >= 2 && accumulators == Some(&nest.outputs) && nest.outputs.iter().all(contiguous) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Verify, "clif: rows accumulate in the first inputs, which are the outputs"))
}

/// Checks that the accumulators of steps are the first inputs and the first outputs.
fn check_steps(nest: &LoopNest, accumulators: usize) -> Result<()> {
    let strided = |access: &Access| access.inner == Stride::Strided && access.role == Role::Memory;
    match (nest.inputs.get(..accumulators), nest.outputs.get(..accumulators)) {
        (Some(inputs), Some(outputs)) if inputs == outputs && outputs.iter().all(strided) => Ok(()),
        _ => Err(Error::new(
            ErrorCode::Verify,
            "clif: steps accumulate in the first inputs, which are the first outputs",
        )),
    }
}

/// The settings of compilation, for kernels with the form's accumulators. Code of [one lane](AccumulatorLayout::Steps) is optimised: steps
/// of Runge and Kutta took 15.4 ns without it, 13.4 with it. Kernels of many lanes would lose the order of their instructions, and take up to
/// 1.4 times as long; with one accumulator a running maximum took 1.2 times as long.
///
/// # Errors
/// `Backend` if Cranelift does not have a setting.
pub fn isa_flags(form: AccumulatorLayout) -> Result<settings::Flags> {
    let optimized = matches!(form, AccumulatorLayout::Steps { accumulators: 2.. } | AccumulatorLayout::While { .. });
    let mut builder = settings::builder();
    let settings = [
        // Otherwise the emitted order is final, and common subexpressions are shared before.
        ("opt_level", if optimized { "speed" } else { "none" }),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
        // No cost except in functions whose frame exceeds a page, which must not step over a guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ];
    for (name, value) in settings {
        builder.set(name, value).map_err(|e| backend(format!("clif: setting {name}: {e}")))?;
    }
    Ok(settings::Flags::new(builder))
}

/// Code generation for this machine, for kernels without accumulators.
///
/// # Errors
/// `Backend` if Cranelift does not support it.
pub fn host_isa() -> Result<OwnedTargetIsa> {
    host_isa_for(AccumulatorLayout::Plain)
}

/// Code generation for this machine.
///
/// # Errors
/// `Backend` if Cranelift does not support it.
pub fn host_isa_for(form: AccumulatorLayout) -> Result<OwnedTargetIsa> {
    let builder = cranelift_native::builder().map_err(|e| backend(format!("clif: this machine: {e}")))?;
    builder.finish(isa_flags(form)?).map_err(|e| backend(format!("clif: this machine: {e}")))
}

/// Code generation for aarch64 with the features common to all processors.
///
/// # Errors
/// `Backend` if Cranelift does not support it.
#[cfg(feature = "aarch64")]
pub fn aarch64_isa(form: AccumulatorLayout) -> Result<OwnedTargetIsa> {
    let builder = cranelift_codegen::isa::lookup_by_name("aarch64-unknown-linux-gnu");
    let builder = builder.map_err(|e| backend(format!("clif: aarch64: {e}")))?;
    builder.finish(isa_flags(form)?).map_err(|e| backend(format!("clif: aarch64: {e}")))
}

fn backend(headline: String) -> Error {
    Error::new(ErrorCode::Backend, headline)
}
