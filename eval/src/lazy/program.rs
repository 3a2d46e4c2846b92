//! The pending operations below an array as one program, and the plans of such programs.

use crate::argument::ArgumentType;
use crate::array::node::{ArrayRef, ElementSource, LazyOperand, OperandSource, Past, PendingOp, ProgramItem, Retained};
use crate::counts;
use crate::forbidden;
use crate::options::PlanOptions;
use crate::plan::compiled::Plan;
use crate::settings::{Settings, settings};
use ndjit_ir::graph::{Graph, Slot, SourceLocs, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::lock::Mutex;
use ndjit_ir::support::Device;
use ndjit_ir::{Error, Result, SourceLoc, ValueType};
use ndjit_runtime::Fallback;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The representation of a program's weak scalars.
pub(crate) enum Numbers {
    /// As arguments: one plan serves all values.
    Passed,
    /// By value.
    Known,
}

/// An operation of a program.
pub(crate) struct Pending {
    /// Its item.
    pub(crate) item: usize,
    pub(crate) array: ArrayRef,
    pub(crate) pending_op: Arc<PendingOp>,
}

/// An input array of a program.
pub(crate) struct Leaf {
    pub(crate) array: ArrayRef,
    /// Its elements, if kept.
    pub(crate) kept: Option<Arc<Retained>>,
}

impl Leaf {
    /// The array, with its kept elements, which may have been freed since.
    pub(crate) fn with_elements(&self) -> ArrayRef {
        let Leaf { array, kept } = self;
        kept.as_ref().map_or_else(
            || array.clone(),
            |kept| ArrayRef::in_memory(array.value_type(), array.dtype(), array.shape().clone(), kept.memory.clone()),
        )
    }
}

/// The pending operations below an array, operands before users.
pub(crate) struct LazyProgram {
    pub(crate) items: Vec<ProgramItem>,
    /// The items that are operations.
    pub(crate) pending: Vec<Pending>,
    /// The items to compute: that of the array itself, then those to keep.
    pub(crate) outputs: SmallVec<[u32; 1]>,
    pub(crate) places: Vec<Option<SourceLoc>>,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) scalars: Vec<(usize, Literal)>,
    /// The fallback for dtypes that the device lacks: the most permissive of its operations.
    pub(crate) fallback: Fallback,
}

impl LazyProgram {
    pub(crate) fn collect(root: &ArrayRef) -> LazyProgram {
        struct VisitFrame {
            array: ArrayRef,
            pending_op: Arc<PendingOp>,
            operands: SmallVec<[u32; 3]>,
        }
        let mut program = LazyProgram {
            items: Vec::new(),
            pending: Vec::new(),
            outputs: SmallVec::new(),
            places: Vec::new(),
            leaves: Vec::new(),
            scalars: Vec::new(),
            fallback: Fallback::Error,
        };
        let mut known: FxHashMap<usize, u32> = FxHashMap::default();
        let mut stack: Vec<VisitFrame> = Vec::new();
        // An array to visit: a new frame, or a complete item.
        let mut enter = Some(root.clone());
        loop {
            if let Some(array) = enter.take() {
                let (pending_op, kept) = match &*array.0.source.lock() {
                    ElementSource::Nothing => (None, None),
                    ElementSource::Pending(pending_op) => (Some(Arc::clone(pending_op)), None),
                    ElementSource::Retained(kept) => (None, Some(Arc::clone(kept))),
                };
                let done = known.get(&array.identity()).copied().or_else(|| {
                    pending_op.is_none().then(|| {
                        let leaf = ProgramItem::Leaf(
                            array.value_type(),
                            array.dtype(),
                            array.shape().clone(),
                            array.layout().cloned(),
                        );
                        let item = program.push(leaf, None);
                        known.insert(array.identity(), item);
                        program.leaves.push(Leaf { array: array.clone(), kept });
                        item
                    })
                });
                match (done, pending_op, stack.last_mut()) {
                    (Some(item), _, Some(frame)) => frame.operands.push(item),
                    (Some(item), _, None) => {
                        program.outputs.push(item);
                        return program;
                    }
                    (None, Some(pending_op), _) => {
                        stack.push(VisitFrame { array, pending_op, operands: SmallVec::new() })
                    }
                    (None, None, _) => {}
                }
            }
            let Some(frame) = stack.last_mut() else { return program };
            match frame.pending_op.operands.get(frame.operands.len()) {
                Some(LazyOperand::Array(array)) => enter = Some(array.clone()),
                Some(&LazyOperand::Literal(literal, place)) => {
                    let place = place.or(Some(frame.pending_op.place));
                    let item = match literal.ty() {
                        ValueType::Weak(weak) => {
                            let item = program.push(ProgramItem::Argument(weak), place);
                            program.scalars.push((item as usize, literal));
                            item
                        }
                        ValueType::Strong(_) => program.push(ProgramItem::Value(literal), place),
                    };
                    if let Some(frame) = stack.last_mut() {
                        frame.operands.push(item);
                    }
                }
                None => {
                    let Some(VisitFrame { array, pending_op, operands }) = stack.pop() else { return program };
                    let shape = array.shape().clone();
                    program.fallback = program.fallback.max(pending_op.fallback);
                    let step = ProgramItem::Step(pending_op.operation.clone(), operands, array.value_type(), shape);
                    let item = program.push(step, Some(pending_op.place));
                    known.insert(array.identity(), item);
                    program.pending.push(Pending { item: item as usize, array, pending_op });
                    match stack.last_mut() {
                        Some(frame) => frame.operands.push(item),
                        None => {
                            program.outputs.push(item);
                            return program;
                        }
                    }
                }
            }
        }
    }

    fn push(&mut self, item: ProgramItem, place: Option<SourceLoc>) -> u32 {
        self.items.push(item);
        self.places.push(place);
        self.items.len() as u32 - 1
    }

    /// The plan of this program, from the cache or new.
    pub(crate) fn plan(&self, device: Device) -> Result<Arc<Plan>> {
        static PLANS: Mutex<Option<PlanCache>> = Mutex::new(None);
        let Settings { fallback, interpreted, .. } = settings();
        let fallback = fallback.max(self.fallback);
        // A lost GPU is reopened: its plans are invalid.
        let alive = |plan: &Arc<Plan>| plan.is_alive();
        let key = (self.items.clone(), self.outputs.clone(), device, fallback, interpreted);
        if let Some(plan) = PLANS.lock().get_or_insert_default().get(&key).filter(alive) {
            counts::PLAN_HITS.fetch_add(1, Relaxed);
            return Ok(plan);
        }
        forbidden::allowed("array").map_err(|error| self.described(error))?;
        counts::count_trace();
        let (graph, places) = self.graph(Numbers::Passed);
        let types: Vec<ArgumentType> = self
            .leaves
            .iter()
            .map(|Leaf { array: leaf, .. }| ArgumentType {
                ty: leaf.value_type(),
                dtype: leaf.dtype(),
                shape: leaf.shape().clone(),
                layout: leaf.layout().cloned().into(),
            })
            .collect();
        // Operations keep their settings.
        let settings = Settings { device, fallback, interpreted, ..Settings::default() };
        let plan = Arc::new(Plan::new(&graph, &places, &types, &PlanOptions::default(), settings)?);
        PLANS.lock().get_or_insert_default().insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    /// An error with facts about its program.
    pub(crate) fn described(&self, error: Error) -> Error {
        let steps = self.items.iter().filter(|item| matches!(item, ProgramItem::Step(..))).count();
        error.at(self.places.last().copied().flatten()).fact(format_args!("operations that wait: {steps}"))
    }

    pub(crate) fn into_past(self) -> Past {
        let LazyProgram { items, pending, outputs, places, leaves, scalars, fallback } = self;
        let mut stored = vec![false; items.len()];
        outputs.iter().for_each(|&output| stored[output as usize] = true);
        let (mut leaves, mut scalars) = (leaves.iter().map(|leaf| &leaf.array), scalars.into_iter());
        let mut pending = pending.iter().map(|pending| &pending.array);
        let origin = |(n, item): (usize, &ProgramItem)| match *item {
            ProgramItem::Leaf(..) => Some(OperandSource::Array(Arc::downgrade(&leaves.next()?.0))),
            ProgramItem::Argument(_) => Some(OperandSource::Number(scalars.next()?.1, places[n])),
            ProgramItem::Value(literal) => Some(OperandSource::Number(literal, places[n])),
            ProgramItem::Step(..) => {
                let array = pending.next()?;
                Some(if stored[n] {
                    OperandSource::Array(Arc::downgrade(&array.0))
                } else {
                    OperandSource::Operation(array.dtype())
                })
            }
        };
        let origins = items.iter().enumerate().filter_map(origin).collect();
        Past { items, places, origins, fallback }
    }

    pub(crate) fn graph(&self, numbers: Numbers) -> (Graph<ValueType>, SourceLocs) {
        let known: FxHashMap<usize, Literal> = match numbers {
            Numbers::Passed => FxHashMap::default(),
            Numbers::Known => self.scalars.iter().copied().collect(),
        };
        let (mut graph, mut places) = (Graph::new(), SourceLocs::default());
        let mut values = vec![Value(u32::MAX); self.items.len()];
        for (item, value) in self.items.iter().zip(&mut values) {
            if let ProgramItem::Leaf(ty, dtype, shape, _) = item {
                *value = graph.param_stored(*ty, *dtype, shape);
            }
        }
        for (i, item) in self.items.iter().enumerate() {
            values[i] = match item {
                ProgramItem::Leaf(..) => continue,
                &ProgramItem::Argument(ty) => {
                    let slot = known.get(&i).map_or(Slot::Argument { index: i, ty }, |literal| Slot::Value(*literal));
                    graph.literal(slot, ValueType::Weak(ty))
                }
                ProgramItem::Value(literal) => graph.literal(Slot::Value(*literal), literal.ty()),
                ProgramItem::Step(operation, operands, ty, shape) => {
                    let operands: SmallVec<[Value; 3]> = operands.iter().map(|&o| values[o as usize]).collect();
                    let (kind, shape) = (operation.kind_in(&mut graph), graph.intern(shape));
                    graph.add(kind, &operands, &[(*ty, shape)])
                }
            };
            if let Some(place) = self.places[i] {
                places.note(graph.producer(values[i]), place);
            }
        }
        graph.set_outputs(self.outputs.iter().map(|&item| values[item as usize]).collect());
        (graph, places)
    }
}

/// A program, its outputs, device, fallback, and whether it is interpreted.
type PlanKey = (Vec<ProgramItem>, SmallVec<[u32; 1]>, Device, Fallback, bool);

/// Plans by program; when full, the least recently used is evicted.
#[derive(Default)]
struct PlanCache {
    plans: FxHashMap<PlanKey, (Arc<Plan>, u64)>,
    clock: u64,
}

impl PlanCache {
    const LIMIT: usize = 256;

    fn get(&mut self, key: &PlanKey) -> Option<Arc<Plan>> {
        self.clock += 1;
        let (plan, used) = self.plans.get_mut(key)?;
        *used = self.clock;
        Some(Arc::clone(plan))
    }

    fn insert(&mut self, key: PlanKey, plan: Arc<Plan>) {
        if self.plans.len() >= PlanCache::LIMIT
            && let Some(oldest) = self.plans.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone())
        {
            self.plans.remove(&oldest);
        }
        self.plans.insert(key, (plan, self.clock));
    }
}
