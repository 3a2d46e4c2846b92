//! Tile: finds kernels that can run together, tile by tile along one axis that all keep. Later kernels read a tile of
//! earlier ones from the cache: a row softmax reads its rows from memory once.
//!
//! It depends only on the data flow: every kernel of such a launch reads the others' outputs at the index along the
//! axis at which it computes. The runtime decides whether to tile, and the tiles' extent.

use ndjit_ir::graph::{Graph, NodeKind, Value};
use ndjit_ir::kernel::{FusedKernel, FusedStep, KernelKind, Part, Reads};
use ndjit_ir::view::{AxisIndex, IndexTerm};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use ndjit_transform::access::Accesses;
use rustc_hash::FxHashMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// Steps that run as one: a single one, or several kernels whose tiles are computed in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The steps, in order.
    pub steps: Range<usize>,
    /// The tiles' axis in each kernel's iteration space; empty for a single step.
    pub axes: Vec<usize>,
}

impl Launch {
    /// Returns the tiles' axis in the kernel at this index.
    pub fn axis(&self, kernel: usize) -> Option<usize> {
        self.axes.get(kernel.checked_sub(self.steps.start)?).copied()
    }
}

impl Display for Launch {
    /// Writes `nests 0 to 3, tile by tile`, or `nest 4`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.axes.is_empty() {
            true => write!(f, "nest {}", self.steps.start),
            false => write!(f, "nests {} to {}, tile by tile", self.steps.start, self.steps.end - 1),
        }
    }
}

/// Groups steps, in their order, into launches. Each launch is the longest one from its first step.
pub fn tile(steps: &[FusedStep], graph: &Graph<DType>, accesses: &Accesses) -> Vec<Launch> {
    let mut launches = Vec::new();
    let mut start = 0;
    while start < steps.len() {
        let rank = steps[start].kernel().map_or(0, |first| first.shape.rank());
        let grown = (0..rank).map(|axis| grow(&steps[start..], graph, accesses, axis));
        // Of equally long ones the first: tiles along outer axes are contiguous.
        let longest = grown.rev().max_by_key(Vec::len).filter(|axes| axes.len() > 1).unwrap_or_default();
        let end = start + longest.len().max(1);
        launches.push(Launch { steps: start..end, axes: longest });
        start = end;
    }
    launches
}

/// Returns launches of one step each.
pub fn one_by_one(steps: usize) -> Vec<Launch> {
    (0..steps).map(|n| Launch { steps: n..n + 1, axes: Vec::new() }).collect()
}

/// Checks that launches hold each step once, in order, and that the kernels of one have as many indices along its axes, along which none
/// reduces.
///
/// # Errors
/// `Verify`, with the launch.
pub fn verify_launches(launches: &[Launch], steps: &[FusedStep]) -> Result<()> {
    let mut next = 0;
    for launch in launches {
        let wrong = |what: &str| Err(Error::new(ErrorCode::Verify, format!("launches: {launch} {what}")));
        let Launch { steps: Range { start, end }, axes } = launch;
        if *start != next || end <= start || *end > steps.len() {
            return wrong("does not hold the next steps");
        }
        next = *end;
        if axes.is_empty() {
            match end - start {
                1 => continue,
                _ => return wrong("holds several steps without an axis"),
            }
        }
        if axes.len() != end - start {
            return wrong("does not have an axis for each kernel");
        }
        let mut common = None;
        for (step, &axis) in steps[launch.steps.clone()].iter().zip(axes) {
            let Some(kernel) = step.kernel() else { return wrong("holds control flow") };
            let Some(&extent) = kernel.shape.extents().get(axis) else {
                return wrong("has an axis that a kernel lacks");
            };
            if kernel.kind.reduced().contains(axis) {
                return wrong("reduces along its axis");
            }
            if *common.get_or_insert(extent) != extent {
                return wrong("has axes of different extents");
            }
        }
    }
    match next == steps.len() {
        true => Ok(()),
        false => Err(Error::new(ErrorCode::Verify, format!("launches: step {next} has none"))),
    }
}

/// Returns `true` if the kernel stores different results at different indices along the axis, and has several.
fn keeps(kernel: &FusedKernel, accesses: &Accesses, axis: usize) -> bool {
    // Most axes of an array of very high rank have one index. This check comes first because all of them are tried.
    if kernel.shape.extents()[axis] <= 1 {
        return false;
    }
    // The location of rows is known only after the earlier steps.
    if kernel.inputs.iter().any(|input| !accesses.rows(input.value).is_empty()) {
        return false;
    }
    let cuts = match &kernel.kind {
        KernelKind::Map => true,
        // The rest of the array is copied before the tiles, as a whole.
        KernelKind::Part(part) => {
            let Part { view, into, starts } = &**part;
            into.is_none()
                && starts.is_empty()
                && view.axes.get(axis) == Some(&AxisIndex::along(axis, 0, 1))
                && (0..view.axes.len()).all(|other| other == axis || view.depends(other).all(|of| of != axis))
        }
        KernelKind::Reduce(reduce) => !reduce.axes.contains(axis),
        // Column tiles of a product read all rows of the other factor again: for 512x512 they took eight times as long.
        KernelKind::Contract(reduce) => axis == 0 && !reduce.axes.contains(axis),
        // The runtime itself divides these into tasks.
        KernelKind::Scan(_) | KernelKind::Sort(_) | KernelKind::Scatter(_) => false,
    };
    cuts && !kernel.shape.extents().contains(&0)
}

/// Returns the axes of the leading kernels that can run in tiles along `axis` of the first.
fn grow(steps: &[FusedStep], graph: &Graph<DType>, accesses: &Accesses, axis: usize) -> Vec<usize> {
    let mut axes = Vec::new();
    let kernels = || steps.iter().map_while(FusedStep::kernel);
    let Some(&extent) = kernels().next().and_then(|first| first.shape.extents().get(axis)) else { return axes };
    // The tiles' axis of each value that these kernels store.
    let mut stored: FxHashMap<Value, usize> = FxHashMap::default();
    for kernel in kernels() {
        let own = match axes.is_empty() {
            true => Some(axis),
            false => common_axis(kernel, graph, accesses, &stored, extent),
        };
        let Some(own) = own.filter(|&own| keeps(kernel, accesses, own)) else { break };
        let before = |axis: usize| kernel.kind.reduced().contains(axis);
        let mut consistent = true;
        for &value in &kernel.outputs {
            let rank = graph.shape(value).rank();
            let at = if rank == kernel.shape.rank() { own } else { own - (0..own).filter(|&a| before(a)).count() };
            // A reshape that is a copy has other axes than its kernel, even if one has the same extent.
            let same = kernel.stores(graph.shape(value)) && graph.shape(value).extents().get(at) == Some(&extent);
            consistent &= same && *stored.entry(value).or_insert(at) == at;
        }
        if !consistent {
            break;
        }
        axes.push(own);
    }
    axes
}

/// Returns the axis of the kernel's iteration space along which it reads values stored in tiles; `None` if there is
/// none, or if it reads other tiles, too.
fn common_axis(
    kernel: &FusedKernel,
    graph: &Graph<DType>,
    accesses: &Accesses,
    stored: &FxHashMap<Value, usize>,
    extent: usize,
) -> Option<usize> {
    let mut common = None;
    for input in &kernel.inputs {
        let base = match input.reads {
            Reads::Elements => accesses.base(input.value),
            Reads::GatherSource | Reads::GatherBound | Reads::GatherStride => accesses.in_memory(graph, input.value),
        };
        let Some(&along) = stored.get(&base) else { continue };
        // Rows of other tiles are read too.
        if input.reads != Reads::Elements {
            return None;
        }
        let own = seen_along(graph, accesses, input.value, along)?;
        let axis = own + (kernel.shape.rank() - input.shape.rank());
        if input.shape.extents()[own] != extent || common.is_some_and(|common| common != axis) {
            return None;
        }
        common = Some(axis);
    }
    common
}

/// Returns the axis of a view that moves along the operand's axis `along`, index by index.
fn seen_along(graph: &Graph<DType>, accesses: &Accesses, value: Value, along: usize) -> Option<usize> {
    let base = accesses.base(value);
    let mut views = Vec::new();
    let mut at = value;
    while at != base {
        let id = graph.producer(at);
        let NodeKind::View(view) = graph.node(id).kind else { return None };
        views.push(graph.view_of(view));
        at = graph.operands(id)[0];
    }
    views.iter().rev().try_fold(along, |axis, view| {
        let index = &view.axes[axis];
        let &[IndexTerm { axis: own, step: 1 }] = &index.terms[..] else { return None };
        // Along a diagonal other indices move too.
        let alone = (0..view.axes.len()).all(|other| other == axis || view.depends(other).all(|a| a != own as usize));
        (index.start == 0 && alone).then_some(own as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndjit_ir::Shape;
    use ndjit_ir::kernel::{KernelReduce, OpBody, Statements};
    use ndjit_ir::reduction::{AxisSet, Reduction};
    use smallvec::smallvec;
    use std::sync::Arc;

    fn step(extents: &[usize], kind: KernelKind) -> FusedStep {
        let (body, statements) = (Arc::new(OpBody::default()), Statements::default());
        let (inputs, literals, outputs) = (Vec::new(), Vec::new(), Vec::new());
        FusedStep::Kernel(FusedKernel {
            shape: Shape::from(extents),
            kind,
            inputs,
            literals,
            outputs,
            body,
            statements,
        })
    }

    #[test]
    fn launches_that_cannot_run_are_named() {
        let sum = KernelReduce { axes: AxisSet::one(1), outputs: smallvec![Reduction::Sum] };
        let steps =
            [step(&[3, 2], KernelKind::Map), step(&[3, 2], KernelKind::Reduce(sum)), step(&[2], KernelKind::Map)];
        let launch = |steps: Range<usize>, axes: &[usize]| Launch { steps, axes: axes.to_vec() };
        assert_eq!(verify_launches(&one_by_one(3), &steps), Ok(()));
        assert_eq!(verify_launches(&[launch(0..2, &[0, 0]), launch(2..3, &[])], &steps), Ok(()));
        for (launches, what) in [
            (vec![launch(0..1, &[])], "launches: step 1 has none"),
            (vec![launch(1..2, &[])], "launches: nest 1 does not hold the next steps"),
            (vec![launch(0..4, &[])], "launches: nest 0 does not hold the next steps"),
            (vec![launch(0..2, &[])], "launches: nest 0 holds several steps without an axis"),
            (vec![launch(0..2, &[0])], "launches: nests 0 to 1, tile by tile does not have an axis for each kernel"),
            (vec![launch(0..2, &[0, 2])], "launches: nests 0 to 1, tile by tile has an axis that a kernel lacks"),
            (vec![launch(0..2, &[1, 1])], "launches: nests 0 to 1, tile by tile reduces along its axis"),
            (vec![launch(0..3, &[0, 0, 0])], "launches: nests 0 to 2, tile by tile has axes of different extents"),
        ] {
            assert_eq!(verify_launches(&launches, &steps).unwrap_err().headline(), what);
        }
    }
}
