//! Control flow on the CPU: the programs of its graphs, and who calls them.
//!
//! The carry of a loop is in buffers of its own. Each time the body is given them away, so that what it makes of an array takes the memory of
//! that where the program allows it: an element put into a large array costs an element, not the array.

use crate::buffer::Buffer;
use crate::executable::{Argument, Executable, Output, Timed};
use ndjit_codegen::{Lowered, LoweredControl};
use ndjit_ir::graph::{Control, ControlKind};
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::mem::replace;
use std::sync::Arc;

/// Control flow with the programs of its graphs.
#[derive(Debug)]
pub struct Controller {
    control: Arc<Control<DType>>,
    /// Which of its results each output is.
    results: SmallVec<[u32; 2]>,
    programs: [Arc<Executable>; 2],
    /// Of each graph which parameters are the last that stand for their operands.
    last: [Vec<bool>; 2],
    /// Bytes of each operand, and of each result.
    operands: Vec<usize>,
    made: Vec<usize>,
    /// Bytes that it takes beside its results, at most. Known once: graphs that share graphs would be asked again for each use.
    scratch: usize,
}

impl Controller {
    /// Control flow whose graphs `compile` makes programs of.
    ///
    /// # Errors
    /// `Verify` if its graphs do not fit it; `Size` if an array cannot exist; those of `compile`.
    pub fn new(
        LoweredControl { fused, bodies }: &LoweredControl,
        mut compile: impl FnMut(&Arc<Lowered>) -> Result<Arc<Executable>>,
    ) -> Result<Controller> {
        let wrong = || Error::new(ErrorCode::Verify, "control flow: its graphs do not fit it");
        let control = Arc::clone(&fused.control.0);
        let (operands, made) = control.sizes(fused.operands.len())?;
        let results: SmallVec<[u32; 2]> = fused.results.iter().map(|&(n, _)| n).collect();
        if results.iter().any(|&n| n as usize >= made.len()) {
            return Err(wrong());
        }
        let programs = [compile(&bodies[0])?, compile(&bodies[1])?];
        let scratch = taken(control.kind, &made, programs.each_ref().map(|program| program.memory().peak).into_iter());
        let last = control.graphs.each_ref().map(|inner| {
            let mut later = vec![false; operands.len()];
            let mut last: Vec<bool> =
                inner.operands.iter().rev().map(|&n| !replace(&mut later[n as usize], true)).collect();
            last.reverse();
            last
        });
        Ok(Controller { control, results, programs, last, operands, made, scratch })
    }

    /// The programs of its graphs.
    pub fn programs(&self) -> &[Arc<Executable>; 2] {
        &self.programs
    }

    /// Bytes that it takes beside its results, at most.
    pub fn scratch(&self) -> usize {
        self.scratch
    }

    /// Runs a graph of which some operands are the carry, which it may be given.
    fn run_inner(
        &self,
        n: usize,
        operands: &[&[u8]],
        carry: &mut [Option<Arc<Buffer>>],
        give: bool,
        call: &mut Call<'_>,
    ) -> Result<Vec<Arc<Buffer>>> {
        let program = &self.programs[n];
        let inner = &self.control.graphs[n].operands;
        // What is read twice is given at its last use, so that nobody else has it then.
        let given: Vec<Option<Arc<Buffer>>> = inner
            .iter()
            .enumerate()
            .map(|(at, &operand)| {
                let place = carry.get_mut(operand as usize)?;
                if give && self.last[n][at] { place.take() } else { place.clone() }
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
            program.run_into(arguments.collect::<Vec<_>>(), call.scalars, &mut outputs, call.times(n))?;
        } else {
            let arguments = given.iter().zip(inner);
            let arguments = arguments.map(|(buffer, &n)| buffer.as_ref().map_or_else(|| borrowed(n), Argument::Shared));
            program.run_into(arguments.collect::<Vec<_>>(), call.scalars, &mut outputs, call.times(n))?;
        }
        let missing = || Error::new(ErrorCode::Verify, "control flow: a graph gave no result");
        let buffer = |output| match output {
            Output::Fresh(Some(buffer)) => Ok(buffer),
            _ => Err(missing()),
        };
        outputs.into_iter().map(buffer).collect()
    }

    /// Its results, of operands in order.
    ///
    /// # Errors
    /// `Argument` if an operand is too small; those of [`Executable::run`].
    pub fn results(
        &self,
        operands: &[&[u8]],
        scalars: &[(usize, Literal)],
        times: Option<&mut [Timed]>,
    ) -> Result<Vec<Arc<Buffer>>> {
        let given = operands.iter().map(|bytes| bytes.len()).chain(std::iter::repeat(0));
        if let Some(n) = self.operands.iter().zip(given).position(|(&wanted, given)| given < wanted) {
            return Err(Error::new(ErrorCode::Argument, format!("control flow: operand {n} is too small")));
        }
        // Of a view that begins where its memory does there may be more.
        let operands: SmallVec<[&[u8]; 4]> =
            operands.iter().zip(&self.operands).map(|(bytes, &wanted)| &bytes[..wanted]).collect();
        let operands = &operands[..];
        let between = if times.is_some() { self.programs[0].launches() } else { 0 };
        let call = &mut Call { scalars, times, between };
        let all = match self.control.kind {
            ControlKind::Cond => {
                let otherwise = operands.first().and_then(|condition| condition.first()) != Some(&1);
                self.run_inner(usize::from(otherwise), operands, &mut [], false, call)?
            }
            ControlKind::While => {
                let count = self.made.len();
                let begin = |bytes: &&[u8]| Ok(Some(Arc::new(Buffer::from_bytes(bytes)?)));
                let mut carry: Vec<Option<Arc<Buffer>>> = operands[..count].iter().map(begin).collect::<Result<_>>()?;
                loop {
                    let condition = self.run_inner(0, operands, &mut carry, false, call)?;
                    if condition.first().and_then(|condition| condition.as_bytes().first()) != Some(&1) {
                        break carry.into_iter().flatten().collect();
                    }
                    carry = self.run_inner(1, operands, &mut carry, true, call)?.into_iter().map(Some).collect();
                }
            }
        };
        let missing = || Error::new(ErrorCode::Verify, "control flow: a graph gave no result");
        self.results.iter().map(|&n| all.get(n as usize).cloned().ok_or_else(missing)).collect()
    }

    /// Does the same on memory.
    ///
    /// # Safety
    /// The pointers are those of its operands, and then of its outputs: each leads to as many bytes as [`Control::sizes`] says, operands to
    /// initialised ones that nobody writes meanwhile, outputs to such that nobody else uses.
    ///
    /// # Errors
    /// Those of [`results`](Controller::results).
    pub unsafe fn run(
        &self,
        pointers: &[*mut u8],
        scalars: &[(usize, Literal)],
        times: Option<&mut [Timed]>,
    ) -> Result<()> {
        let (inputs, outputs) = pointers.split_at(self.operands.len());
        // SAFETY: the caller's promise.
        let read =
            |(&pointer, &bytes): (&*mut u8, &usize)| unsafe { std::slice::from_raw_parts(pointer.cast_const(), bytes) };
        let given: SmallVec<[&[u8]; 4]> = inputs.iter().zip(&self.operands).map(read).collect();
        let results = self.results(&given, scalars, times)?;
        for (&output, result) in outputs.iter().zip(&results) {
            let result = result.as_bytes();
            // SAFETY: the caller's promise.
            unsafe { output.copy_from_nonoverlapping(result.as_ptr(), result.len()) };
        }
        Ok(())
    }
}

/// What a call of control flow is given beside arrays.
struct Call<'a> {
    scalars: &'a [(usize, Literal)],
    /// Of the launches of both graphs.
    times: Option<&'a mut [Timed]>,
    /// How many of them are the first graph's.
    between: usize,
}

impl Call<'_> {
    /// Those of a graph.
    fn times(&mut self, n: usize) -> Option<&mut [Timed]> {
        let (first, second) = self.times.as_deref_mut()?.split_at_mut_checked(self.between)?;
        Some(if n == 0 { first } else { second })
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
/// Those of planning them: `Verify`, `Size`.
pub fn planned(control: &Control<DType>, operands: usize, peaks: [u64; 2]) -> Result<usize> {
    let (_, made) = control.sizes(operands)?;
    Ok(taken(control.kind, &made, peaks.into_iter()))
}
