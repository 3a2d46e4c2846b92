//! Control flow on the CPU: the programs of its graphs, and who calls them.
//!
//! The carry of a loop is in buffers of its own. Each time the body is given them away, so that what it makes of an array takes the memory of
//! that where the program allows it: an element put into a large array costs an element, not the array.

use crate::buffer::Buffer;
use crate::code::{CodeOptions, Composed, Kernel, Operands};
use crate::executable::{Argument, Executable, Output, RunOptions};
use crate::threads::Threads;
use ndjit_codegen::Options;
use ndjit_codegen::lower::lower_inner;
use ndjit_ir::graph::{Control, ControlKind};
use ndjit_ir::loops::LoopNest;
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// Control flow with its graphs compiled.
#[derive(Debug)]
pub struct Controller {
    control: Arc<Control>,
    /// Which of its results each output is.
    results: SmallVec<[u32; 2]>,
    options: CodeOptions,
    /// The programs of the graphs, for the calling thread alone and for as many as there are.
    serial: Programs,
    threaded: Programs,
    /// Bytes of each operand, and of each result.
    operands: Vec<usize>,
    made: Vec<usize>,
}

/// The programs of both graphs, compiled when they are first wanted.
type Programs = [OnceLock<Result<Executable>>; 2];

impl Controller {
    /// Finds the sizes of what `nest` takes and gives.
    ///
    /// # Errors
    /// `Verify` if its graphs were not committed, or do not fit it; `Size` if an array cannot exist.
    pub fn new(nest: &LoopNest, options: CodeOptions) -> Result<Controller> {
        let wrong = || Error::new(ErrorCode::Verify, "control flow: its graphs do not fit it");
        let Some((control, results)) = &nest.control else { return Err(wrong()) };
        let (operands, made) = sizes(&control.0, nest.inputs.len())?;
        if results.len() != nest.outputs.len() || results.iter().any(|&n| n as usize >= made.len()) {
            return Err(wrong());
        }
        Ok(Controller {
            control: Arc::clone(&control.0),
            results: results.clone(),
            options,
            serial: Programs::default(),
            threaded: Programs::default(),
            operands,
            made,
        })
    }

    fn program(&self, n: usize, threads: &Threads) -> Result<&Executable> {
        let (programs, count) = match threads {
            Threads::Serial => (&self.serial, Some(1)),
            Threads::Several(_) => (&self.threaded, None),
        };
        let compiled = programs[n].get_or_init(|| {
            let wrong = || Error::new(ErrorCode::Verify, "control flow: a graph that was not committed");
            let lowered = lower_inner(self.control.typed(n).ok_or_else(wrong)?, &Options::default())?;
            let CodeOptions { vector, compile } = self.options;
            Executable::new(&lowered, &RunOptions { threads: count, vector, compile, tile: None })
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
        let count = self.control.typed(n).map_or(0, |graph| graph.outputs().len());
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

/// Bytes of each operand of control flow, as far as a graph takes it, and of each result.
///
/// # Errors
/// `Verify` if its graphs were not committed, or do not fit so many operands; `Size` if an array cannot exist.
pub fn sizes(control: &Control, operands: usize) -> Result<(Vec<usize>, Vec<usize>)> {
    let wrong = || Error::new(ErrorCode::Verify, "control flow: its graphs do not fit it");
    let mut taken = vec![0; operands];
    let mut made = Vec::new();
    for (n, inner) in control.graphs.iter().enumerate() {
        let graph = control.typed(n).ok_or_else(wrong)?;
        let bytes = |value| graph.shape(value).bytes(graph.ty(value).bytes());
        if graph.params().len() != inner.operands.len() {
            return Err(wrong());
        }
        for (&param, &operand) in graph.params().iter().zip(&inner.operands) {
            let taken = taken.get_mut(operand as usize).ok_or_else(wrong)?;
            *taken = bytes(param)?.max(*taken);
        }
        made = graph.outputs().iter().map(|&output| bytes(output)).collect::<Result<_>>()?;
    }
    match control.kind {
        ControlKind::Cond => *taken.first_mut().ok_or_else(wrong)? = 1,
        ControlKind::While => {
            for (n, &bytes) in made.iter().enumerate() {
                let taken = taken.get_mut(n).ok_or_else(wrong)?;
                *taken = bytes.max(*taken);
            }
        }
    }
    Ok((taken, made))
}

impl Composed for Controller {
    fn own(&self) -> SmallVec<[&Kernel; 2]> {
        SmallVec::new()
    }

    /// How often graphs run is not known: as much as a call takes.
    fn cost(&self) -> f64 {
        1000.0
    }

    /// The carry once; what the programs take beside depends on how they run.
    fn scratch(&self, _extents: &[usize], _threads: &Threads) -> usize {
        self.made.iter().fold(0, |all, &bytes| all.saturating_add(bytes))
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
