//! Elements that are kept, and given back where their memory is wanted.
//!
//! An array whose elements were kept still waits: until somebody reads the array itself, its elements may be given back, and it is computed as
//! before. What it was computed from may be large and out of everybody's reach, so a kept array does not hold that: the program's [`Past`] is
//! what a pending operation is made of again, if all arrays that it began with live anyway. These must have elements, and keep theirs from then on: what is
//! given back is computed from what is there, however many arrays are given back.

use crate::array::node::{
    ArrayNode, ArrayRef, ElementSource, Kept, LazyOperand, NODE_LIMIT, OperandSource, Past, PendingOp, ProgramItem,
    kept_bytes,
};
use ndjit_ir::lock::Mutex;
use ndjit_ir::support::Device;
use ndjit_runtime::{Memory, pool, system};
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock, Weak};

impl Past {
    /// How an item is computed, from arrays that live and have elements, which stay.
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
        // None stays for a pending operation that another of them makes impossible.
        let arrays = || made.iter().flatten().filter_map(LazyOperand::array);
        if !arrays().all(Kept::has_elements) || !arrays().all(Kept::stay) {
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

impl Kept {
    /// Keeps the elements of an array that waits; without effect on one that does not, as another thread was first.
    pub(crate) fn keep(array: &ArrayRef, memory: Memory, past: &Arc<Past>, item: usize) {
        let kept = ElementSource::Kept(Arc::new(Kept::new(memory, Arc::clone(past), item)));
        if array.0.change_source(|source| matches!(source, ElementSource::Pending(_)), kept) {
            KEPT.lock().add(array);
        }
    }

    /// Gives the elements of an array back, which waits then as before they were kept, if it can be computed again; how many bytes these are.
    fn give_back(array: &ArrayRef) -> Option<usize> {
        let kept = array.kept().filter(|kept| !kept.needed.load(Relaxed))?;
        let pending_op = ElementSource::Pending(Arc::new(kept.past.pending_op(kept.item, array.device())?));
        let is_same = |source: &ElementSource| {
            matches!(source, ElementSource::Kept(now) if Arc::ptr_eq(now, &kept)) && !kept.needed.load(Relaxed)
        };
        array.0.change_source(is_same, pending_op).then(|| kept.memory.len())
    }

    /// Whether an array has elements.
    fn has_elements(array: &ArrayRef) -> bool {
        match &*array.0.source.lock() {
            ElementSource::Nothing => array.error().is_none(),
            ElementSource::Kept(_) => true,
            ElementSource::Pending(_) => false,
        }
    }

    /// Has an array hold its elements from now on; whether it has any.
    fn stay(array: &ArrayRef) -> bool {
        match &*array.0.source.lock() {
            ElementSource::Nothing => array.error().is_none(),
            ElementSource::Kept(kept) => {
                kept.needed.store(true, Relaxed);
                true
            }
            ElementSource::Pending(_) => false,
        }
    }
}

/// The arrays whose elements are kept, from the first to the last, and others that are gone.
struct All {
    nodes: VecDeque<Weak<ArrayNode>>,
    /// At which length those that are gone are looked for.
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

/// Gives back what was kept, what was kept first before others, until it is so many bytes, or so many arrays were found that cannot be computed
/// again; how many bytes it is. Those stay, behind the others: nobody looks at them first again.
pub(crate) fn give_back(bytes: usize, mut patience: usize) -> usize {
    let mut given = 0;
    let count = KEPT.lock().nodes.len();
    // Each is looked at once. Neither lock nor array is held longer than for one: other threads give back as well.
    for _ in 0..count {
        if given >= bytes || patience == 0 {
            break;
        }
        let Some(node) = KEPT.lock().nodes.pop_front() else { break };
        let Some(array) = node.upgrade().map(ArrayRef) else { continue };
        match Kept::give_back(&array) {
            Some(bytes) => given += bytes,
            None => {
                patience -= 1;
                // What is needed stays for good.
                if array.kept().is_some_and(|kept| !kept.needed.load(Relaxed)) {
                    KEPT.lock().nodes.push_back(node);
                }
            }
        }
    }
    given
}

/// The bytes that may still be kept.
pub(crate) fn left() -> usize {
    limit().saturating_sub(kept_bytes())
}

/// How many bytes of elements are kept at most.
pub(crate) fn limit() -> usize {
    static LIMIT: LazyLock<usize> = LazyLock::new(|| system::memory().map_or(UNKNOWN, |total| total / 2));
    *LIMIT
}

/// The limit where the machine does not say how much memory it has.
const UNKNOWN: usize = 1 << 30;

/// Tests that give back what others keep run one after the other.
#[cfg(test)]
pub(crate) static ALONE: Mutex<()> = Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lazy::examples::{data, first, product, reduced};
    use ndjit_ir::Reduction;

    /// Each array is given back by one thread, however many do so; none is lost, and all are computed again.
    #[test]
    fn several_threads_give_back() {
        let _alone = ALONE.lock();
        // What they are computed from has to live.
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
