//! Frames of prepared loops with their addresses: what a step does, as a list.
//!
//! A step whose kernel is a few calls of machine code repeats the recorded calls, at addresses computed before the first step. Operands
//! that move from step to step, rows at indices and trip counts change some of these addresses and extents before the calls.

use crate::execution::calls::{CallRows, RecordedAction, RecordedMemory};
use crate::execution::code::{MachineEntry, RecordedLoop};
use crate::execution::reduce::{ElementCopy, fill};
use crate::programs::control::ReadyLoop;
use crate::programs::indices;
use crate::programs::plan::BufferPlan;
use crate::programs::prepared::{LoopFrame, LoopMemory, LoopProgram, PreparedStep, ResultCopy};
use crate::programs::step_plan::{RangePlan, RowPlan};
use crate::spans;
use ndjit_codegen::clif::Cell;
use ndjit_ir::Result;
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::LANES;
use smallvec::SmallVec;
use std::iter::StepBy;
use std::ops::Range;
use std::slice;

/// A frame with its addresses.
pub struct ReadyFrame<'a> {
    /// The address of each pointer of the frame.
    pointers: Vec<*mut u8>,
    /// Pointers that move from step to step: number, first address, and stride in bytes.
    moving: Vec<(usize, *mut u8, isize)>,
    actions: Vec<ReadyAction<'a>>,
    /// The addresses of recorded calls.
    addresses: Vec<*mut u8>,
    /// Addresses that follow pointers that move.
    following: Vec<Follower>,
    /// The extents of recorded calls: trip counts change some.
    extents: Vec<usize>,
}

/// An address at an offset from a pointer of the frame.
#[derive(Clone, Copy)]
struct Follower {
    address: usize,
    pointer: usize,
    offset: isize,
}

/// A call of some indices of a loop.
enum RangedCall<'a> {
    /// The last two extents, from this one on, are its steps of all lanes, and the lanes left.
    Lanes { extents: usize },
    /// An extent, of so many groups of rows.
    Rows {
        extent: usize,
        count: usize,
        rows: CallRows,
        /// The first address, and the strides of all: those of the loop, one by one in `rank`.
        addresses: usize,
        strides: StepBy<slice::Iter<'a, isize>>,
    },
}

/// One action of a step.
enum ReadyAction<'a> {
    /// A call, with its first address, its first extent, its strides, and its literals.
    Call {
        entry: MachineEntry,
        addresses: usize,
        extents: usize,
        strides: *const isize,
        literals: *const Cell,
    },
    Fill {
        to: usize,
        element: &'a [u8],
        count: usize,
    },
    Copy {
        from: usize,
        to: usize,
        copy: ElementCopy,
    },
    /// Copies a result to where another lies.
    Result(ResultCopy),
    /// Puts addresses back that rows and ranges have moved.
    Begin {
        followers: Vec<Follower>,
    },
    /// Moves addresses to the row at an index. Without that row the step stores nothing: it ends `end` actions on.
    Row {
        plan: &'a RowPlan,
        index: usize,
        addresses: Vec<usize>,
        stores: bool,
        end: usize,
    },
    /// Restricts calls to a range of a loop, whose ends are pointers from `ends` on.
    Range {
        plan: &'a RangePlan,
        ends: usize,
        calls: Vec<RangedCall<'a>>,
    },
    /// A call of a compiled loop, with its pointers.
    Loop {
        ready: Box<ReadyLoop<'a>>,
        pointers: Range<usize>,
    },
    /// A step that is more than a few calls, of this launch.
    Step {
        launch: usize,
        steps: usize,
        step: &'a PreparedStep,
    },
}

impl<'a> ReadyFrame<'a> {
    /// The frame at the addresses that `find` returns for the first step, with strides in bytes from step to step. `registers` are those of
    /// its program's literals, which `scalars` are part of; `scratch` is memory of its calls. Both stay where they are.
    ///
    /// # Errors
    /// Those of [`LoopProgram::ready`].
    pub fn new<P: LoopProgram>(
        frame: &'a LoopFrame,
        program: &'a P,
        registers: &[SmallVec<[Cell; 4]>],
        scalars: &[(usize, Literal)],
        scratch: *mut u8,
        find: &mut impl FnMut(LoopMemory) -> (*mut u8, isize),
    ) -> Result<ReadyFrame<'a>> {
        let mut this = ReadyFrame {
            pointers: Vec::with_capacity(frame.pointers.len()),
            moving: Vec::new(),
            actions: Vec::new(),
            addresses: Vec::new(),
            following: Vec::new(),
            extents: Vec::new(),
        };
        for (n, &(memory, offset)) in frame.pointers.iter().enumerate() {
            let (start, step) = find(memory);
            let pointer = match memory {
                LoopMemory::Number => std::ptr::without_provenance_mut(offset),
                _ => start.wrapping_add(offset),
            };
            this.pointers.push(pointer);
            if step != 0 {
                this.moving.push((n, pointer, step));
            }
        }
        for (launch, steps) in &frame.launches {
            for step in steps {
                if this.repeat(step, program.plan(), registers, scratch) {
                    continue;
                }
                this.actions.push(match program.ready(step.step, scalars)? {
                    Some(ready) if !spans::are_collected() => {
                        ReadyAction::Loop { ready: Box::new(ready), pointers: step.pointers.clone() }
                    }
                    _ => ReadyAction::Step { launch: *launch, steps: steps.len(), step },
                });
            }
        }
        this.actions.extend(frame.copies.iter().copied().map(ReadyAction::Result));
        Ok(this)
    }

    /// Adds the recorded calls of a step; returns whether it has any.
    fn repeat(
        &mut self,
        step: &'a PreparedStep,
        plan: &'a BufferPlan,
        registers: &[SmallVec<[Cell; 4]>],
        scratch: *mut u8,
    ) -> bool {
        let own = &plan.steps[step.step];
        let Some(recording) = step.recording.as_ref().filter(|_| !spans::are_collected()) else { return false };
        let operands = own.inputs.len() + own.outputs.len();
        let moves = |pointer: usize| self.moving.iter().any(|&(n, ..)| n == pointer);
        if let (Some(rest), [output]) = (step.rest, &own.outputs[..]) {
            let last = step.pointers.start + operands - 1;
            // Elsewhere the rest is copied first.
            let there = self.pointers[rest] == self.pointers[last].wrapping_sub(output.offset);
            if !there || moves(rest) || moves(last) {
                return false;
            }
        }
        let calls = &recording.calls;
        let first = self.addresses.len();
        let mut by_operand: Vec<SmallVec<[Follower; 4]>> = vec![SmallVec::new(); operands];
        for (n, (memory, at)) in calls.addresses().enumerate() {
            let address = match memory {
                RecordedMemory::Fixed => at,
                RecordedMemory::Scratch => scratch.wrapping_add(at.addr()),
                RecordedMemory::Operand(operand) => {
                    let pointer = step.pointers.start + operand;
                    let offset = at.addr() as isize;
                    by_operand[operand].push(Follower { address: first + n, pointer, offset });
                    self.pointers[pointer].wrapping_offset(offset)
                }
            };
            self.addresses.push(address);
        }
        let indices = step.pointers.start + operands;
        let begin = self.actions.len();
        let moves_rows = recording.ranges.iter().any(|range| matches!(range, RecordedLoop::Extent(_)));
        if !own.rows.is_empty() || moves_rows {
            // A range may move the addresses of all operands.
            let of_rows = by_operand
                .iter_mut()
                .enumerate()
                .filter(|(operand, _)| moves_rows || own.rows.iter().any(|row| row.operand == *operand));
            let mut followers: Vec<Follower> = of_rows.flat_map(|(_, followers)| std::mem::take(followers)).collect();
            let addresses = |operand: usize| -> Vec<usize> {
                let pointer = step.pointers.start + operand;
                followers
                    .iter()
                    .filter(|follower| follower.pointer == pointer)
                    .map(|follower| follower.address)
                    .collect()
            };
            let rows: Vec<ReadyAction<'_>> = own
                .rows
                .iter()
                .enumerate()
                .map(|(n, plan)| ReadyAction::Row {
                    plan,
                    index: indices + n,
                    addresses: addresses(plan.operand),
                    stores: plan.operand >= own.inputs.len(),
                    end: 0,
                })
                .collect();
            followers.shrink_to_fit();
            self.actions.push(ReadyAction::Begin { followers });
            self.actions.extend(rows);
        }
        let moving = &self.moving;
        let follows = |followers: &SmallVec<[Follower; 4]>| {
            followers.first().is_some_and(|first| moving.iter().any(|&(n, ..)| n == first.pointer))
        };
        self.following.extend(by_operand.iter().filter(|followers| follows(followers)).flatten());
        let extents = self.extents.len();
        self.extents.extend_from_slice(&calls.extents);
        let mut ends = indices + own.rows.len();
        for (plan, &changed) in own.ranges.iter().zip(&recording.ranges) {
            let ranged = calls.actions.iter().filter_map(|action| match action {
                RecordedAction::Call { extents: own, addresses, strides, rows, .. } => Some(match changed {
                    RecordedLoop::Lanes => RangedCall::Lanes { extents: extents + own.end - 2 },
                    RecordedLoop::Extent(at) => RangedCall::Rows {
                        extent: extents + own.start + at,
                        count: calls.extents[own.start + at],
                        rows: *rows,
                        addresses: first + addresses.start,
                        strides: calls.strides[strides.start + at..strides.end].iter().step_by(own.len()),
                    },
                }),
                RecordedAction::Fill { .. } | RecordedAction::Copy { .. } => None,
            });
            self.actions.push(ReadyAction::Range { plan, ends, calls: ranged.collect() });
            ends += plan.ends.iter().flatten().count();
        }
        let literals = registers[step.step].as_ptr();
        for action in &calls.actions {
            self.actions.push(match action {
                RecordedAction::Fill { to, element, count } => {
                    ReadyAction::Fill { to: first + to, element, count: *count }
                }
                RecordedAction::Copy { from, to, copy } => {
                    ReadyAction::Copy { from: first + from, to: first + to, copy: *copy }
                }
                RecordedAction::Call { entry, addresses, extents: own, strides, .. } => {
                    let (entry, addresses, strides) =
                        (*entry, first + addresses.start, calls.strides[strides.clone()].as_ptr());
                    ReadyAction::Call { entry, addresses, extents: extents + own.start, strides, literals }
                }
            });
        }
        let all = self.actions.len();
        for (n, action) in self.actions[begin..].iter_mut().enumerate() {
            if let ReadyAction::Row { end, .. } = action {
                *end = all - (begin + n);
            }
        }
        true
    }

    /// Runs the body.
    ///
    /// # Safety
    /// As [`LoopProgram::call`], of each step in order.
    pub unsafe fn run(
        &mut self,
        program: &impl LoopProgram,
        step: usize,
        registers: &[SmallVec<[Cell; 4]>],
        scalars: &[(usize, Literal)],
    ) -> Result<()> {
        for &(n, start, bytes) in &self.moving {
            self.pointers[n] = start.wrapping_offset(bytes.wrapping_mul(step as isize));
        }
        for &Follower { address, pointer, offset } in &self.following {
            self.addresses[address] = self.pointers[pointer].wrapping_offset(offset);
        }
        let mut at = 0;
        while let Some(action) = self.actions.get_mut(at) {
            at += 1;
            match action {
                &mut ReadyAction::Call { entry, addresses, extents, strides, literals } => {
                    let (addresses, extents) = (self.addresses[addresses..].as_ptr(), self.extents[extents..].as_ptr());
                    // SAFETY: the caller's promise: the recording was made for operands of these extents and strides, and loops have no more
                    // trips than it was made with.
                    unsafe { entry.call(addresses, extents, strides, literals) };
                }
                &mut ReadyAction::Fill { to, element, count } => {
                    // SAFETY: as above.
                    unsafe { fill(self.addresses[to], element, count) };
                }
                &mut ReadyAction::Copy { from, to, copy } => {
                    let (from, to) = (self.addresses[from], self.addresses[to]);
                    // SAFETY: as above.
                    unsafe { ElementCopy { from, to, ..copy }.run() };
                }
                &mut ReadyAction::Result(ResultCopy { from, to, bytes }) => {
                    // SAFETY: as above: results of as many bytes, each in memory of its own.
                    unsafe { self.pointers[to].copy_from_nonoverlapping(self.pointers[from], bytes) };
                }
                ReadyAction::Begin { followers } => {
                    for &mut Follower { address, pointer, offset } in followers {
                        self.addresses[address] = self.pointers[pointer].wrapping_offset(offset);
                    }
                }
                ReadyAction::Row { plan, index, addresses, stores, end } => {
                    // SAFETY: the caller's promise: the index is initialised.
                    match unsafe { indices::row(plan, self.pointers[*index], *stores) } {
                        Some(offset) => {
                            for &mut address in addresses {
                                self.addresses[address] = self.addresses[address].wrapping_offset(offset);
                            }
                        }
                        None => at += *end - 1,
                    }
                }
                ReadyAction::Range { plan, ends, calls } => {
                    // SAFETY: as above.
                    let range = unsafe { indices::range(plan, &self.pointers[*ends..]) };
                    for call in calls {
                        match call {
                            &mut RangedCall::Lanes { extents } => {
                                self.extents[extents] = range.end / LANES;
                                self.extents[extents + 1] = range.end % LANES;
                            }
                            RangedCall::Rows { extent, count, rows, addresses, strides } => {
                                // A call computes some rows more rather than none.
                                let from = (range.start.saturating_sub(rows.first) / rows.at_once).min(*count - 1);
                                let to = range.end.saturating_sub(rows.first).div_ceil(rows.at_once);
                                self.extents[*extent] = to.clamp(from + 1, *count) - from;
                                for (address, stride) in self.addresses[*addresses..].iter_mut().zip(strides.clone()) {
                                    *address = address.wrapping_offset(stride.wrapping_mul(from as isize));
                                }
                            }
                        }
                    }
                }
                ReadyAction::Loop { ready, pointers } => {
                    // SAFETY: the caller's promise.
                    unsafe { ready.run(&self.pointers[Range::clone(pointers)])? };
                }
                ReadyAction::Step { launch, steps, step: PreparedStep { step, pointers, rest, .. } } => {
                    let _span = spans::launch(*launch, *steps);
                    let rest = rest.map(|rest| self.pointers[rest]);
                    let pointers: &[*mut u8] = &self.pointers[Range::clone(pointers)];
                    // SAFETY: the caller's promise.
                    unsafe { program.call(*step, pointers, rest, &registers[*step], scalars, None)? };
                }
            }
        }
        Ok(())
    }
}
