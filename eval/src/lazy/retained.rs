//! Retained elements, freed under memory pressure.
//!
//! An array with kept elements is still pending: until it is read, its elements may be freed, and it is then recomputed. Its inputs may be
//! large and otherwise unreachable, so a kept array does not own them: its pending operation is rebuilt from the program's [`Past`], if all
//! initial arrays are alive. These must have elements, and keep theirs from then on: freed elements are always recomputable, in any number.

use crate::array::node::{
    ArrayNode, ArrayRef, ElementSource, LazyOperand, NODE_LIMIT, OperandSource, Past, PendingOp, ProgramItem, Retained,
    retained_bytes,
};
use ndjit_ir::lock::Mutex;
use ndjit_ir::support::Device;
use ndjit_runtime::{Memory, pool, system};
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock, Weak};

impl Past {
    /// The pending operation of an item, from live arrays with elements, which stay.
    fn pending_op(&self, root: usize, device: Device) -> Option<PendingOp> {
        let mut wanted = vec![false; root + 1];
        wanted[root] = true;
        for item in
            (0..=root).rev().filter(|&item| item == root || matches!(self.origins[item], OperandSource::Operation(_)))
        {
            if wanted[item]
                && let ProgramItem::Step(_, operands, ..) = &self.items[item]
            {
                operands.iter().for_each(|&operand| wanted[operand as usize] = true);
            }
        }
        let mut made: Vec<Option<LazyOperand>> = vec![None; root];
        for item in (0..root).filter(|&item| wanted[item]) {
            made[item] = match &self.origins[item] {
                OperandSource::Number(number, place) => Some(LazyOperand::Literal(*number, *place)),
                OperandSource::Array(node) => Some(LazyOperand::Array(node.upgrade().map(ArrayRef)?)),
                OperandSource::Operation(_) => None,
            };
        }
        // Elements stay only if the whole pending operation can be built.
        let arrays = || made.iter().flatten().filter_map(LazyOperand::array);
        if !arrays().all(Retained::has_elements) || !arrays().all(Retained::stay) {
            return None;
        }
        for item in (0..root).filter(|&item| wanted[item]) {
            if let OperandSource::Operation(dtype) = &self.origins[item] {
                let ProgramItem::Step(_, _, ty, shape) = &self.items[item] else { return None };
                let pending_op = self.step(item, &made)?;
                let array = ArrayRef::waiting(*ty, *dtype, shape.clone(), device, pending_op, NODE_LIMIT);
                made[item] = Some(LazyOperand::Array(array));
            }
        }
        self.step(root, &made)
    }

    fn step(&self, item: usize, made: &[Option<LazyOperand>]) -> Option<PendingOp> {
        let ProgramItem::Step(step, operands, ..) = &self.items[item] else { return None };
        let operands = operands.iter().map(|&operand| made[operand as usize].clone()).collect::<Option<_>>()?;
        let pending_op = PendingOp::new(step.clone(), operands, self.places[item]?, self.fallback);
        pending_op.has_run.store(true, Relaxed);
        Some(pending_op)
    }
}

impl Retained {
    /// Keeps the elements of a pending array; no effect if another thread was first.
    pub(crate) fn keep(array: &ArrayRef, memory: Memory, past: &Arc<Past>, item: usize) {
        let kept = ElementSource::Retained(Arc::new(Retained::new(memory, Arc::clone(past), item)));
        if array.0.change_source(|source| matches!(source, ElementSource::Pending(_)), kept) {
            KEPT.lock().add(array);
        }
    }

    /// Frees the elements of an array, which is pending again, if it can be recomputed; returns their bytes.
    fn give_back(array: &ArrayRef) -> Option<usize> {
        let kept = array.kept().filter(|kept| !kept.needed.load(Relaxed))?;
        let pending_op = ElementSource::Pending(Arc::new(kept.past.pending_op(kept.item, array.device())?));
        let is_same = |source: &ElementSource| {
            matches!(source, ElementSource::Retained(now) if Arc::ptr_eq(now, &kept)) && !kept.needed.load(Relaxed)
        };
        array.0.change_source(is_same, pending_op).then(|| kept.memory.len())
    }

    /// Whether an array has elements.
    fn has_elements(array: &ArrayRef) -> bool {
        match &*array.0.source.lock() {
            ElementSource::Nothing => array.error().is_none(),
            ElementSource::Retained(_) => true,
            ElementSource::Pending(_) => false,
        }
    }

    /// Makes an array keep its elements; returns whether it has any.
    fn stay(array: &ArrayRef) -> bool {
        match &*array.0.source.lock() {
            ElementSource::Nothing => array.error().is_none(),
            ElementSource::Retained(kept) => {
                kept.needed.store(true, Relaxed);
                true
            }
            ElementSource::Pending(_) => false,
        }
    }
}

/// The arrays with kept elements, in order, and dropped ones.
struct All {
    nodes: VecDeque<Weak<ArrayNode>>,
    /// The length at which dropped arrays are removed.
    limit: usize,
}

static KEPT: Mutex<All> = Mutex::new(All { nodes: VecDeque::new(), limit: 0 });

impl All {
    fn add(&mut self, array: &ArrayRef) {
        if self.nodes.len() >= self.limit {
            pool::on_refusal(|| _ = give_back(usize::MAX, usize::MAX));
            self.nodes.retain(|node| node.strong_count() > 0);
            self.limit = 2 * self.nodes.len() + 64;
        }
        self.nodes.push_back(Arc::downgrade(&array.0));
    }
}

/// Frees kept elements, the oldest first, up to so many bytes, or until so many arrays cannot be recomputed; returns the bytes. Those
/// arrays move to the end, to be tried last.
pub(crate) fn give_back(bytes: usize, mut patience: usize) -> usize {
    let mut given = 0;
    let count = KEPT.lock().nodes.len();
    // Each is tried once. Neither lock nor array is held across iterations: other threads free as well.
    for _ in 0..count {
        if given >= bytes || patience == 0 {
            break;
        }
        let Some(node) = KEPT.lock().nodes.pop_front() else { break };
        let Some(array) = node.upgrade().map(ArrayRef) else { continue };
        match Retained::give_back(&array) {
            Some(bytes) => given += bytes,
            None => {
                patience -= 1;
                // Needed elements stay.
                if array.kept().is_some_and(|kept| !kept.needed.load(Relaxed)) {
                    KEPT.lock().nodes.push_back(node);
                }
            }
        }
    }
    given
}

/// The remaining bytes for kept elements.
pub(crate) fn left() -> usize {
    limit().saturating_sub(retained_bytes())
}

/// The maximum number of bytes of kept elements.
pub(crate) fn limit() -> usize {
    static LIMIT: LazyLock<usize> = LazyLock::new(|| system::memory().map_or(UNKNOWN, |total| total / 2));
    *LIMIT
}

/// The limit if the machine's memory is unknown.
const UNKNOWN: usize = 1 << 30;

/// Tests that free other tests' elements run in sequence.
#[cfg(test)]
pub(crate) static ALONE: Mutex<()> = Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lazy::examples::{data, first, product, reduced};
    use ndjit_ir::Reduction;

    /// Each array is freed by one thread; none is lost, and all are recomputed.
    #[test]
    fn several_threads_give_back() {
        let _alone = ALONE.lock();
        // Their inputs must live.
        let given: Vec<ArrayRef> = (0..200).map(|n| data(0.5 + n as f32, 1000)).collect();
        let x = data(0.5, 1000);
        let arrays: Vec<ArrayRef> = given.iter().map(|given| product(given, &x)).collect();
        for y in &arrays {
            for reduction in [Reduction::Sum, Reduction::Max] {
                reduced(reduction, y).memory().expect("runs");
            }
        }
        assert!(arrays.iter().all(|y| y.kept().is_some()));
        let bytes: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| give_back(200 * 4000, usize::MAX))).collect();
            threads.into_iter().map(|thread| thread.join().expect("ends")).sum()
        });
        let gone = arrays.iter().filter(|y| y.kept().is_none()).count();
        assert_eq!((gone, bytes), (200, 200 * 4000));
        for (n, y) in arrays.iter().enumerate() {
            let expected = ((0.5 + n as f32) as f64).sin() * 0.5f64.cos();
            assert!((f64::from(first(y)) - expected).abs() < 1e-6);
        }
    }
}
