//! Arrays as data: elements in memory, or the operation that gives them when they are read, or what was kept of a program that gave them.
//!
//! An array is one `Arc`. Concrete arrays hold a buffer of the dtype their type commits to, or see one of another array through
//! strides; lazy ones hold a pending operation and get their buffer when read. Results never change, so an array may be read from any thread.

use ndjit_ir::graph::Graph;
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::lock::Mutex;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Place, Result, Shape, ValueType};
use ndjit_runtime::{Fallback, Memory, Reading};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, Weak};

/// The number of operations that may wait to be run. One more runs them.
pub const NODE_LIMIT: usize = 1024;

/// An n-dimensional array: elements of one dtype, or a computation that gives them. A clone shares them.
#[derive(Clone)]
pub struct ArrayRef(pub(crate) Arc<ArrayNode>);

/// What an [`ArrayRef`] points to.
pub(crate) struct ArrayNode {
    /// The type: a dtype, or weak.
    pub ty: ValueType,
    /// The dtype of the elements: of a weak array one of its kind.
    pub dtype: DType,
    /// The extents of the axes.
    pub shape: Shape,
    /// Where the elements are, or will be computed.
    pub device: Device,
    /// The elements, or why there are none.
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
    /// They are there, or there is an error.
    Nothing,
    /// By an operation.
    Pending(Arc<PendingOp>),
    /// They were kept when others were read. Nobody has asked for them, and they may be given back.
    Kept(Arc<Kept>),
}

impl ElementSource {
    /// The operation that gives them, if one waits.
    pub fn pending_op(&self) -> Option<&Arc<PendingOp>> {
        match self {
            ElementSource::Pending(pending_op) => Some(pending_op),
            ElementSource::Nothing | ElementSource::Kept(_) => None,
        }
    }

    /// Lets go of the source, and gives its operation.
    pub fn take_pending_op(&mut self) -> Option<Arc<PendingOp>> {
        match std::mem::replace(self, ElementSource::Nothing) {
            ElementSource::Pending(pending_op) => Some(pending_op),
            ElementSource::Nothing | ElementSource::Kept(_) => None,
        }
    }
}

/// The elements, or why there are none.
pub enum ElementState {
    /// Known when the array was made.
    Made(Result<Elements>),
    /// Computed when they are wanted. (To fill a lock for those that are there took 15 ns of a call.)
    Waiting(OnceLock<Result<Elements>>),
}

impl ElementState {
    /// What is there by now.
    #[inline]
    pub fn get(&self) -> Option<&Result<Elements>> {
        match self {
            ElementState::Made(elements) => Some(elements),
            ElementState::Waiting(elements) => elements.get(),
        }
    }

    /// Keeps what was computed; the first counts.
    pub fn set(&self, computed: Result<Elements>) {
        if let ElementState::Waiting(elements) = self {
            let _ = elements.set(computed);
        }
    }
}

/// Elements in memory.
pub struct Elements {
    /// Where they are, perhaps with others.
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
    #[inline]
    pub fn dense(memory: Memory) -> Elements {
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
    pub fn store(&self, elements: Elements) {
        self.state.set(Ok(elements));
        self.change_source(|_| true, ElementSource::Nothing);
    }

    /// Whether the source is one that is to be changed; it is changed then.
    pub fn change_source(&self, is_meant: impl FnOnce(&ElementSource) -> bool, new: ElementSource) -> bool {
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
    pub(crate) operation: Operation<'static>,
    pub(crate) operands: SmallVec<[LazyOperand; 2]>,
    pub(crate) place: Place,
    /// What is done about dtypes that its device lacks.
    pub(crate) fallback: Fallback,
    /// Whether it has run, in a program that gave the elements of other arrays.
    pub(crate) has_run: AtomicBool,
}

impl PendingOp {
    pub(crate) fn new(
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
pub enum LazyOperand {
    /// An array.
    Array(ArrayRef),
    /// A number, and where it was written, if that is known.
    Literal(Literal, Option<Place>),
}

impl LazyOperand {
    pub(crate) fn array(&self) -> Option<&ArrayRef> {
        match self {
            LazyOperand::Array(array) => Some(array),
            LazyOperand::Literal(..) => None,
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

/// Elements that were kept when other arrays were read.
pub(crate) struct Kept {
    /// The elements, in row-major order.
    pub memory: Memory,
    pub(crate) past: Arc<Past>,
    /// The item of the past that they are the elements of.
    pub(crate) item: usize,
    /// Whether an array that waits again is computed from them.
    pub(crate) needed: AtomicBool,
}

/// A program that ran. It holds no array.
pub(crate) struct Past {
    pub(crate) items: Vec<ProgramItem>,
    pub(crate) places: Vec<Option<Place>>,
    pub(crate) origins: Vec<OperandSource>,
    pub(crate) fallback: Fallback,
}

/// Where the operand that an item is comes from.
pub(crate) enum OperandSource {
    /// An array that had elements, or whose elements were kept.
    Array(Weak<ArrayNode>),
    Number(Literal, Option<Place>),
    /// An operation whose result was not kept, of this dtype.
    Operation(DType),
}

/// The bytes of all elements that are kept.
static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);

impl Kept {
    pub(crate) fn new(memory: Memory, past: Arc<Past>, item: usize) -> Kept {
        KEPT_BYTES.fetch_add(memory.len(), Relaxed);
        Kept { memory, past, item, needed: AtomicBool::new(false) }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        KEPT_BYTES.fetch_sub(self.memory.len(), Relaxed);
    }
}

/// The bytes of all elements that are kept.
pub fn kept_bytes() -> usize {
    KEPT_BYTES.load(Relaxed)
}

/// One item of a program: what keys its plan.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum ProgramItem {
    /// An array of this type, stored as this dtype, with this layout if it is not in row-major order.
    Leaf(ValueType, DType, Shape, Option<Layout>),
    Argument(ndjit_ir::Weak),
    Value(Literal),
    Step(Operation<'static>, SmallVec<[u32; 3]>, ValueType, Shape),
}
