//! [`Array`] as data: elements in memory, or the operation that gives them when they are read.
//!
//! An array is one `Arc`. Concrete arrays hold a buffer of the dtype their type commits to, or see one of another array through
//! strides; lazy ones hold a pending operation and get their buffer when read. Results never change, so an array may be read from any thread.

use crate::array::lazy::kept::Kept;
use crate::trace::scalar::Scalar;
use ndjit_ir::graph::Graph;
use ndjit_ir::infer::Operation;
use ndjit_ir::lock::Mutex;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Place, Result, Shape, ValueType};
use ndjit_runtime::{Fallback, Memory, Reading};
use smallvec::SmallVec;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// An n-dimensional array: elements of one [`DType`], or a computation that gives them.
///
/// Operators and methods do not compute: they note what is to be done. Reading ([`to_vec`](Array::to_vec),
/// [`item`](Array::item), printing), passing to a jitted function, or [`eval`](Array::eval) compiles and runs what was noted
/// as one program. When more than [`Array::NODE_LIMIT`] operations wait, they run at once, so memory stays bounded.
/// Of operations on the way to what is read nothing is stored at first. An operation that runs again has its result kept in the array that holds it,
/// unless it is cheap: loops that read as they go take as long for each step, and hold no more than arrays computed at once would. Where memory is
/// refused, what was kept is given back and computed when it is needed.
///
/// An operation that fails gives a poisoned array, and whatever reads it, or computes with it, gets the first error; printing shows it. Such
/// an array has neither dtype nor shape: [`dtype`](Array::dtype), [`shape`](Array::shape) and what follows from them are
/// those of a `bool` scalar, so ask [`error`](Array::error) first where an operation may have failed. What is found out only when
/// it runs, such as memory that is refused, is an error of each reading, and the array is not poisoned. `Clone` is cheap and shares the elements.
///
/// ```
/// use ndjit::{Array, DType};
///
/// let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
/// let y = (&x * 2).sum(0); // nothing is computed yet
/// assert_eq!((y.dtype(), y.to_vec::<f32>()?), (DType::F32, vec![8.0, 12.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone)]
pub struct Array(pub(crate) Arc<ArrayNode>);

/// What an [`Array`](super::Array) points to.
pub(crate) struct ArrayNode {
    pub ty: ValueType,
    /// The dtype of the elements: of a weak array one of its kind.
    pub dtype: DType,
    pub shape: Shape,
    /// Where the elements are, or will be computed.
    pub device: Device,
    pub state: ElementState,
    /// How to get the elements, while there are none.
    pub source: Mutex<ElementSource>,
    /// How many operations wait below, at most.
    pub waiting: usize,
    /// How a kernel computes the elements instead of reading them: a program without arguments, of one result.
    pub formula: Option<Box<Graph<ValueType>>>,
    /// Whether it waits for its elements since a function was traced, which computes them itself if it can.
    pub traced: bool,
}

/// How to get the elements of an array. Behind pointers: most arrays that calls make are not computed, and are moved as they are made.
pub(crate) enum ElementSource {
    Nothing,
    /// By an operation.
    Pending(Arc<PendingOp>),
    /// They were kept when others were read. Nobody has asked for them, and they may be given back.
    Kept(Arc<Kept>),
}

impl ElementSource {
    pub(crate) fn pending_op(&self) -> Option<&Arc<PendingOp>> {
        match self {
            ElementSource::Pending(pending_op) => Some(pending_op),
            ElementSource::Nothing | ElementSource::Kept(_) => None,
        }
    }

    /// Lets go of the source, and gives its operation.
    pub(crate) fn take_pending_op(&mut self) -> Option<Arc<PendingOp>> {
        match std::mem::replace(self, ElementSource::Nothing) {
            ElementSource::Pending(pending_op) => Some(pending_op),
            ElementSource::Nothing | ElementSource::Kept(_) => None,
        }
    }
}

/// The elements, or why there are none.
pub(crate) enum ElementState {
    /// Known when the array was made.
    Made(Result<Elements>),
    /// Computed when they are wanted. (To fill a lock for those that are there took 15 ns of a call.)
    Waiting(OnceLock<Result<Elements>>),
}

impl ElementState {
    /// What is there by now.
    pub(crate) fn get(&self) -> Option<&Result<Elements>> {
        match self {
            ElementState::Made(elements) => Some(elements),
            ElementState::Waiting(elements) => elements.get(),
        }
    }

    /// Keeps what was computed; the first counts.
    pub(crate) fn set(&self, computed: Result<Elements>) {
        if let ElementState::Waiting(elements) = self {
            let _ = elements.set(computed);
        }
    }
}

/// Elements in memory.
pub(crate) struct Elements {
    pub memory: Memory,
    /// Where they are in the memory; `None` where they are all of it, in row-major order.
    pub layout: Option<Layout>,
    /// A copy in row-major order, once one was needed.
    pub dense: OnceLock<Memory>,
    /// Elements on their way to the host, for whoever reads them next.
    pub coming: Mutex<Option<Box<dyn Reading>>>,
}

impl Elements {
    /// All of some memory, in row-major order.
    pub(crate) fn dense(memory: Memory) -> Elements {
        Elements { memory, layout: None, dense: OnceLock::new(), coming: Mutex::new(None) }
    }
}

impl Drop for ArrayNode {
    fn drop(&mut self) {
        if let Some(pending_op) = self.source.get_mut().take_pending_op() {
            dismantle(pending_op);
        }
    }
}

impl ArrayNode {
    /// Stores elements that were computed. A second thread may have been first: its elements are the same.
    pub(crate) fn store(&self, elements: Elements) {
        self.state.set(Ok(elements));
        self.change_source(|_| true, ElementSource::Nothing);
    }

    /// Whether the source is one that is to be changed; it is changed then.
    pub(crate) fn change_source(&self, is_meant: impl FnOnce(&ElementSource) -> bool, new: ElementSource) -> bool {
        let mut source = self.source.lock();
        let changed = is_meant(&source);
        let old = if changed { std::mem::replace(&mut *source, new) } else { new };
        // What it holds goes where the lock is not held: memory of others runs code of theirs.
        drop(source);
        if let ElementSource::Pending(pending_op) = old {
            dismantle(pending_op);
        }
        changed
    }
}

/// A pending operation.
pub(crate) struct PendingOp {
    pub(super) operation: Operation<'static>,
    pub(super) operands: SmallVec<[LazyOperand; 2]>,
    pub(super) place: Place,
    /// What is done about dtypes that its device lacks.
    pub(super) fallback: Fallback,
    /// Whether it has run, in a program that gave the elements of other arrays.
    pub(super) has_run: AtomicBool,
}

impl PendingOp {
    pub(super) fn new(
        operation: Operation<'static>,
        operands: SmallVec<[LazyOperand; 2]>,
        place: Place,
        fallback: Fallback,
    ) -> PendingOp {
        PendingOp { operation, operands, place, fallback, has_run: AtomicBool::new(false) }
    }
}

/// An operand of a pending operation.
#[derive(Clone)]
pub(crate) enum LazyOperand {
    Array(Array),
    Literal(Scalar),
}

impl LazyOperand {
    pub(super) fn array(&self) -> Option<&Array> {
        match self {
            LazyOperand::Array(array) => Some(array),
            LazyOperand::Literal(_) => None,
        }
    }
}

/// Lets go of a pending operation without recursion, however deep what it holds.
pub(crate) fn dismantle(pending_op: Arc<PendingOp>) {
    let mut stack = vec![pending_op];
    while let Some(pending_op) = stack.pop() {
        // A program that is being collected or run may hold it too, and then lets go of it.
        let Some(pending_op) = Arc::into_inner(pending_op) else { continue };
        for operand in pending_op.operands {
            if let LazyOperand::Array(array) = operand
                && let Some(mut node) = Arc::into_inner(array.0)
            {
                stack.extend(node.source.get_mut().take_pending_op());
            }
        }
    }
}
