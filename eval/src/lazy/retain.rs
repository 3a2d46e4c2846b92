//! Choice of elements to keep when an array is read: those of intermediate arrays that would otherwise be computed a third time.
//!
//! A read computes all pending operations below an array, and stores only its elements: recomputing shared operands is cheaper than storing
//! them, and most intermediate values are read once. Operations record that they ran. When one runs again, the live arrays that depend on
//! it become outputs of the program too, and keep their elements. So no operation runs more than twice, except [cheap](CHEAP) ones, however
//! a program grows between reads.
//!
//! Unreachable arrays are not kept: an array used only by operations of the same program is no output. Neither are large arrays of which a
//! program reads a part. The limit is half of the machine's memory; newer elements replace older ones that can be [freed](super::kept). If
//! memory is still refused, the program runs for the array read only.

use crate::array::node::{ArrayRef, Elements, LazyOperand, ProgramItem, Retained};
use crate::counts;
use crate::lazy::program::{LazyProgram, Pending};
use crate::lazy::retained;
use crate::plan::compiled::Memories;
use ndjit_ir::graph::{Dependence, NodeKind};
use ndjit_math::shared_body;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The cost up to which operations are recomputed rather than kept.
const CHEAP: Cost = Cost { operations: 2, primitives: 16 };

/// Elements per intermediate operation that are worth computing for a partial read: their time equals that of compiling the programs that
/// differ by these operations.
const PART: usize = 1 << 16;

/// The number of arrays examined in vain for elements to free, to keep another's.
const PATIENCE: usize = 64;

/// The recomputation cost of an array, as a tree; saturating.
#[derive(Clone, Copy, Default)]
struct Cost {
    operations: usize,
    primitives: usize,
}

impl Cost {
    fn and(self, other: Cost) -> Cost {
        Cost {
            operations: self.operations.saturating_add(other.operations),
            primitives: self.primitives.saturating_add(other.primitives),
        }
    }

    fn is_cheap(self) -> bool {
        self.operations <= CHEAP.operations && self.primitives <= CHEAP.primitives
    }
}

/// The cost of one operation.
fn cost(pending: &Pending) -> Cost {
    let operation = &pending.pending_op.operation;
    let primitives = match (&operation.kind, operation.kind.dependence()) {
        (NodeKind::Op(op, _), _) => {
            let operands = pending.pending_op.operands.iter().filter_map(LazyOperand::array).map(ArrayRef::dtype);
            // The dtype of computation is one of these, or their common one, with about the same cost.
            let computes = operands.chain([pending.array.dtype()]).filter(|&dtype| op.row().domain.contains(dtype));
            computes.map(|dtype| shared_body(*op, dtype).insts.len()).max()
        }
        (_, Dependence::None | Dependence::Element) => Some(1),
        (_, Dependence::Other) if operation.kind.row().is_view => Some(1),
        // They read many elements per result, or are stored anyway.
        (_, Dependence::Axes(_) | Dependence::Other) => None,
    };
    Cost { operations: 1, primitives: primitives.unwrap_or(usize::MAX) }
}

/// Adds the arrays to keep to the outputs of a program, within so many bytes.
pub(crate) fn choose(program: &mut LazyProgram, mut left: usize) {
    let ran = |pending: &Pending| pending.pending_op.has_run.load(Relaxed);
    if !program.pending.iter().any(ran) {
        return;
    }
    // The program's own references to the array of each item: as an operand, and in the list.
    let mut holds = vec![0; program.items.len()];
    for item in &program.items {
        if let ProgramItem::Step(_, operands, ..) = item {
            operands.iter().for_each(|&operand| holds[operand as usize] += 1);
        }
    }
    let root = program.outputs.first().map(|&root| root as usize);
    let whole = whole(program);
    let mut open = vec![Cost::default(); program.items.len()];
    for pending in &program.pending {
        let Pending { item, array, .. } = pending;
        let ProgramItem::Step(_, operands, ..) = &program.items[*item] else { continue };
        let below = operands.iter().fold(Cost::default(), |below, &operand| below.and(open[operand as usize]));
        if below.operations == 0 && !ran(pending) {
            continue;
        }
        open[*item] = below.and(cost(pending));
        let held = Arc::strong_count(&array.0) > holds[*item] + 1;
        let worth = whole[*item] || array.size() <= open[*item].operations.saturating_mul(PART);
        let bytes = bytes(array);
        if held && worth && Some(*item) != root && !open[*item].is_cheap() {
            // An array above the limit does not evict others.
            if bytes > left && bytes <= retained::limit() {
                left = left.saturating_add(retained::give_back(bytes - left, PATIENCE));
            }
            let Some(rest) = left.checked_sub(bytes) else { continue };
            left = rest;
            open[*item] = Cost::default();
            program.outputs.push(*item as u32);
        }
    }
}

/// The items with all elements computed, not only those of views and gathers.
fn whole(program: &LazyProgram) -> Vec<bool> {
    let mut whole = vec![false; program.items.len()];
    program.outputs.iter().for_each(|&root| whole[root as usize] = true);
    for Pending { item, array, pending_op } in program.pending.iter().rev() {
        let ProgramItem::Step(_, operands, ..) = &program.items[*item] else { continue };
        for (n, (&operand, given)) in operands.iter().zip(&pending_op.operands).enumerate() {
            let part = match (&pending_op.operation.kind, given) {
                (NodeKind::View(..) | NodeKind::Gather, LazyOperand::Array(of)) => n == 0 && array.size() < of.size(),
                _ => false,
            };
            whole[operand as usize] |= whole[*item] && !part;
        }
    }
    whole
}

/// Stores the outputs of a program: the elements of the array read, and those of others as kept.
pub(crate) fn store(program: LazyProgram, results: Memories) {
    let again = program.pending.iter().filter(|pending| pending.pending_op.has_run.swap(true, Relaxed)).count();
    counts::count_operations(program.pending.len(), again);
    let array = |&item: &u32| {
        let at = program.pending.binary_search_by_key(&(item as usize), |pending| pending.item).ok()?;
        Some((program.pending[at].array.clone(), item as usize))
    };
    let mut outputs = program.outputs.iter().filter_map(array).collect::<Vec<_>>().into_iter().zip(results);
    if let Some(((array, _), memory)) = outputs.next() {
        array.0.store(Elements::dense(memory));
    }
    if outputs.len() > 0 {
        let past = Arc::new(program.into_past());
        outputs.for_each(|((array, item), memory)| Retained::keep(&array, memory, &past, item));
    }
}

fn bytes(array: &ArrayRef) -> usize {
    array.shape().bytes(array.dtype().bytes()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lazy::evaluate;
    use crate::lazy::examples::{broadcast, data, first, op, product, reduced, sliced};
    use ndjit_ir::{Op, Reduction};

    /// The number of arrays kept by the second read of an array of 4000 bytes.
    fn kept(left: usize, held: bool) -> usize {
        let x = data(0.5, 1000);
        let y = product(&x, &x);
        reduced(Reduction::Sum, &y).memory().expect("runs");
        let read = reduced(Reduction::Max, &y);
        let y = held.then_some(y);
        let mut program = LazyProgram::collect(&read);
        choose(&mut program, left);
        drop(y);
        program.outputs.len() - 1
    }

    #[test]
    fn no_more_is_kept_than_is_left_and_nothing_that_nobody_holds() {
        let _alone = retained::ALONE.lock();
        assert_eq!([kept(4000, true), kept(3999, true), kept(4000, false)], [1, 0, 0]);
    }

    /// An array of so many elements that was read once, and its dependent array.
    fn wide(elements: usize) -> (ArrayRef, ArrayRef) {
        let x = broadcast(1.0, elements);
        let y = op(Op::Add, &[&op(Op::Multiply, &[&op(Op::Add, &[&x, &x]), &x]), &x]);
        let (once, twice) = (reduced(Reduction::Max, &y), reduced(Reduction::Min, &y));
        mark(&once);
        (y, twice)
    }

    /// Marks the operations below an array as run.
    fn mark(array: &ArrayRef) {
        LazyProgram::collect(array).pending.iter().for_each(|pending| pending.pending_op.has_run.store(true, Relaxed));
    }

    #[test]
    fn kept_elements_are_given_back_for_what_may_be_kept_alone() {
        let _alone = retained::ALONE.lock();
        let x = data(0.5, 1000);
        let y = product(&x, &x);
        for reduction in [Reduction::Sum, Reduction::Max] {
            reduced(reduction, &y).memory().expect("runs");
        }
        assert!(y.kept().is_some(), "read twice");
        let chosen = |elements: usize| {
            let (wide, read) = wide(elements);
            let mut program = LazyProgram::collect(&read);
            choose(&mut program, 0);
            drop(wide);
            program.outputs.len() - 1
        };
        // An array above the limit frees no others.
        assert_eq!((chosen(retained::limit() / 4 + 1), y.kept().is_some()), (0, true));
        // These suffice for 4000 bytes.
        assert_eq!((chosen(1000), y.kept().is_some()), (1, false));
        assert!(y.waits());
    }

    /// A large array, and a partial read of it, as a program with all operations.
    fn part(elements: usize) -> (ArrayRef, ArrayRef) {
        let x = broadcast(0.5, elements);
        let y = product(&x, &x);
        reduced(Reduction::Sum, &sliced(&y, 0, 4)).memory().expect("runs");
        let read = reduced(Reduction::Max, &sliced(&y, 2, 6));
        (y, read)
    }

    #[test]
    fn large_arrays_of_which_a_part_is_read_are_not_kept() {
        for (elements, kept) in [(1000, 1), (1 << 20, 0), (1 << 40, 0)] {
            let (y, read) = part(elements);
            let mut program = LazyProgram::collect(&read);
            choose(&mut program, usize::MAX);
            assert_eq!(program.outputs.len() - 1, kept, "{elements} elements");
            drop(y);
        }
    }

    #[test]
    fn where_memory_is_refused_the_array_that_is_read_is_computed() {
        let (y, read) = part(1 << 55);
        let mut program = LazyProgram::collect(&read);
        let large = program.pending.iter().find(|pending| pending.array.identity() == y.identity()).expect("waits");
        program.outputs.push(large.item as u32);
        assert!(evaluate::compute(&program, &read).is_err_and(|error| error.code() == ndjit_ir::ErrorCode::Allocation));
        evaluate::finish(program, &read).expect("runs alone");
        assert_eq!(first(&read), 0.5f32.sin() * 0.5f32.cos());
        assert!(y.waits());
    }
}
