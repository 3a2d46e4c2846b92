//! A nest being compiled, and the instructions selected for its body.

use super::inst::{MachineInst, V};
use super::set::Set;
use crate::clif::AccumulatorLayout;
use ndjit_ir::body::Body;
use ndjit_ir::loops::LoopNest;

/// A nest being compiled.
pub(super) struct NestContext<'a> {
    pub nest: &'a LoopNest,
    pub body: &'a Body,
    pub hoisted: usize,
    pub form: AccumulatorLayout,
    pub set: Set,
    /// Whether strided operands have every other element.
    pub alternate: bool,
    /// The final combination of the accumulators of rows. The first inputs are then initial values, the same for all lanes, and each
    /// output is one element.
    pub combine: Option<Combine<'a>>,
}

/// The instructions of the body, before register allocation.
pub(super) struct Selected {
    pub once: Vec<MachineInst>,
    /// Loads of accumulators into values, blocks of lanes, stores.
    pub whole: LoopBlock,
    /// The same for one whole unit, of a short body whose blocks have several.
    pub unit: Option<LoopBlock>,
    /// The same for one masked unit; for blocks of a reduction for each of their units.
    pub rest: Vec<LoopBlock>,
    /// Combines accumulators and stores the results, after all steps.
    pub finish: Vec<MachineInst>,
}

#[derive(Default)]
pub(super) struct LoopBlock {
    pub before: Vec<MachineInst>,
    pub insts: Vec<MachineInst>,
    pub after: Vec<MachineInst>,
    /// Each accumulator before the first step, its register, and its value after a step.
    pub carried: Vec<(V, V, V)>,
    pub lanes: u32,
}

/// The combination of a block's accumulators.
#[derive(Clone, Copy)]
pub(super) struct Combine<'a> {
    pub body: &'a Body,
    pub pairs: Pairs,
}

/// The pairs in which elements or accumulators are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Each of the first half with one of the second half, like lanes.
    Halves,
    /// Adjacent ones, then adjacent results, like blocks.
    Neighbours,
    /// Each with all before it: a scan.
    Prefixes,
}
