//! Control flow on the CPU: the programs of its graphs, and who calls them.
//!
//! The carry of a loop is in buffers of its own. Each time the body is given them away, so that what it makes of an array takes the memory of
//! that where the program allows it: an element put into a large array costs an element, not the array.

use crate::buffer::Buffer;
use crate::code::{CodeOptions, Composed, Kernel, Operands};
use crate::executable::{Argument, Executable, Output, RunOptions};
use crate::planned::Memory;
use crate::threads::Threads;
use ndjit_codegen::Options;
use ndjit_codegen::lower::lower_inner;
use ndjit_ir::graph::{Control, ControlKind};
use ndjit_ir::loops::LoopNest;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// Control flow with its graphs compiled.
#[derive(Debug)]
pub struct Controller {
    control: Arc<Control<DType>>,
    /// Which of its results each output is.
    results: SmallVec<[u32; 2]>,
    options: CodeOptions,
    /// The programs of its graphs, compiled with the program that it is a kernel of.
    programs: [OnceLock<Result<Executable>>; 2],
    /// Bytes of each operand, and of each result.
    operands: Vec<usize>,
    made: Vec<usize>,
}

impl Controller {
    /// Finds the sizes of what `nest` takes and gives.
    ///
    /// # Errors
    /// `Verify` if its graphs do not fit it; `Size` if an array cannot exist.
    pub fn new(nest: &LoopNest, options: CodeOptions) -> Result<Controller> {
        let wrong = || Error::new(ErrorCode::Verify, "control flow: its graphs do not fit it");
        let Some((control, results)) = &nest.control else { return Err(wrong()) };
        let (operands, made) = control.0.sizes(nest.inputs.len())?;
        if results.len() != nest.outputs.len() || results.iter().any(|&n| n as usize >= made.len()) {
            return Err(wrong());
        }
        Ok(Controller {
            control: Arc::clone(&control.0),
            results: results.clone(),
            options,
            programs: Default::default(),
            operands,
            made,
        })
    }

    fn program(&self, n: usize, threads: &Threads) -> Result<&Executable> {
        let compiled = self.programs[n].get_or_init(|| {
            let lowered = lower_inner(&self.control.graphs[n].graph, &Options::default())?;
            let CodeOptions { vector, execution } = self.options;
            let options = RunOptions { threads: None, vector, execution, tile: None };
            Executable::with_threads(&lowered, &options, threads.clone())
        });
        compiled.as_ref().map_err(Clone::clone)
    }

    /// Runs a graph of which some operands are the carry, which it may be given.
    fn run_inner(
        &self,
        n: usize,
        operands: &[&[u8]],
        carry: &mut [Option<Arc<Buffer>>],
        give: bool,
        threads: &Threads,
    ) -> Result<Vec<Arc<Buffer>>> {
        let program = self.program(n, threads)?;
        let inner = &self.control.graphs[n].operands;
        // What is read twice is given at its last use, so that nobody else has it then.
        let given: Vec<Option<Arc<Buffer>>> = inner
            .iter()
            .enumerate()
            .map(|(at, &operand)| {
                let place = carry.get_mut(operand as usize)?;
                let last = !inner[at + 1..].contains(&operand);
                if give && last { place.take() } else { place.clone() }
            })
            .collect();
        if give {
            carry.fill(None);
        }
        let borrowed = |operand: u32| Argument::Borrowed(operands[operand as usize]);
        let count = self.control.graphs[n].graph.outputs().len();
        let mut outputs: Vec<Output<'_>> = (0..count).map(|_| Output::Fresh(None)).collect();
        if give {
            let arguments = given.into_iter().zip(inner);
            let arguments = arguments.map(|(buffer, &n)| buffer.map_or_else(|| borrowed(n), Argument::Donated));
            program.run(arguments.collect::<Vec<_>>(), &[], &mut outputs)?;
        } else {
            let arguments = given.iter().zip(inner);
            let arguments = arguments.map(|(buffer, &n)| buffer.as_ref().map_or_else(|| borrowed(n), Argument::Shared));
            program.run(arguments.collect::<Vec<_>>(), &[], &mut outputs)?;
        }
        let missing = || Error::new(ErrorCode::Verify, "control flow: a graph gave no result");
        let buffer = |output| match output {
            Output::Fresh(Some(buffer)) => Ok(buffer),
            _ => Err(missing()),
        };
        outputs.into_iter().map(buffer).collect()
    }

    fn results(&self, operands: &[&[u8]], threads: &Threads) -> Result<Vec<Arc<Buffer>>> {
        match self.control.kind {
            ControlKind::Cond => {
                let otherwise = operands.first().and_then(|condition| condition.first()) != Some(&1);
                self.run_inner(usize::from(otherwise), operands, &mut [], false, threads)
            }
            ControlKind::While => {
                let count = self.made.len();
                let begin = |bytes: &&[u8]| Ok(Some(Arc::new(Buffer::from_bytes(bytes)?)));
                let mut carry: Vec<Option<Arc<Buffer>>> = operands[..count].iter().map(begin).collect::<Result<_>>()?;
                loop {
                    let condition = self.run_inner(0, operands, &mut carry, false, threads)?;
                    if condition.first().and_then(|condition| condition.as_bytes().first()) != Some(&1) {
                        return Ok(carry.into_iter().flatten().collect());
                    }
                    carry = self.run_inner(1, operands, &mut carry, true, threads)?.into_iter().map(Some).collect();
                }
            }
        }
    }
}

/// Bytes that control flow takes at once, at most: of a loop its state, beside which a graph makes the next one or the condition; of branches what one
/// takes. `made` are the bytes of each result, `peaks` what the programs of the graphs take.
fn taken(kind: ControlKind, made: &[usize], peaks: impl Iterator<Item = u64>) -> usize {
    let state = match kind {
        ControlKind::While => made.iter().fold(0usize, |all, &bytes| all.saturating_add(bytes)),
        ControlKind::Cond => 0,
    };
    state.saturating_add(usize::try_from(peaks.max().unwrap_or(0)).unwrap_or(usize::MAX))
}

/// The same before its graphs are compiled, so that what their kernels take for themselves is not counted.
///
/// # Errors
/// Those of lowering and planning them: `Verify`, `Size`.
pub fn planned(control: &Control<DType>, operands: usize) -> Result<usize> {
    let (_, made) = control.sizes(operands)?;
    let mut peaks = [0; 2];
    for (peak, inner) in peaks.iter_mut().zip(&control.graphs) {
        *peak = Memory::of(&lower_inner(&inner.graph, &Options::default())?)?.peak;
    }
    Ok(taken(control.kind, &made, peaks.into_iter()))
}

impl Composed for Controller {
    fn own(&self) -> SmallVec<[&Kernel; 8]> {
        SmallVec::new()
    }

    fn inner(&self) -> Option<Vec<Arc<Kernel>>> {
        let programs = self.programs.iter().filter_map(|program| program.get()?.as_ref().ok());
        Some(programs.flat_map(Executable::kernels).cloned().collect())
    }

    /// How often graphs run is not known: as much as a call takes.
    fn cost(&self) -> f64 {
        1000.0
    }

    fn prepare(&self, threads: &Threads) -> Result<()> {
        (0..self.programs.len()).try_for_each(|n| self.program(n, threads).map(|_| ()))
    }

    fn scratch(&self, _extents: &[usize], _threads: &Threads) -> usize {
        let compiled = self.programs.iter().filter_map(|program| program.get()?.as_ref().ok());
        taken(self.control.kind, &self.made, compiled.map(|program| program.memory().peak))
    }

    unsafe fn run(&self, operands: Operands<'_>, threads: &Threads) -> Result<()> {
        let (inputs, outputs) = operands.pointers.split_at(self.operands.len());
        // SAFETY: the plan has checked that each operand has these bytes, which are initialised, and nobody writes them meanwhile.
        let read =
            |(&pointer, &bytes): (&*mut u8, &usize)| unsafe { std::slice::from_raw_parts(pointer.cast_const(), bytes) };
        let given: Vec<&[u8]> = inputs.iter().zip(&self.operands).map(read).collect();
        let results = self.results(&given, threads)?;
        for (&output, &which) in outputs.iter().zip(&self.results) {
            let result = results[which as usize].as_bytes();
            // SAFETY: the plan has checked that the output has the result's size; it is this run's alone.
            unsafe { output.copy_from_nonoverlapping(result.as_ptr(), result.len()) };
        }
        Ok(())
    }
}
