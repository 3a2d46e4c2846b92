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
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::BuildHasher;
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
        let mut known = KnownItems::default();
        let mut stack: SmallVec<[VisitFrame; 4]> = SmallVec::new();
        // An array to visit: a new frame, or a complete item.
        let mut enter = Some(root.clone());
        loop {
            if let Some(array) = enter.take() {
                let (pending_op, kept) = match &*array.0.source.lock() {
                    ElementSource::Nothing => (None, None),
                    ElementSource::Pending(pending_op) => (Some(Arc::clone(pending_op)), None),
                    ElementSource::Retained(kept) => (None, Some(Arc::clone(kept))),
                };
                let done = known.get(array.identity()).or_else(|| {
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
        let key = PlanKey { items: &self.items, outputs: &self.outputs, device, fallback, interpreted };
        let hash = FxBuildHasher.hash_one(key);
        if let Some(plan) = PLANS.lock().get_or_insert_default().get(hash, key).filter(alive) {
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
        let new = CachedPlan {
            items: self.items.clone(),
            outputs: self.outputs.clone(),
            device,
            fallback,
            interpreted,
            plan: Arc::clone(&plan),
            used: 0,
        };
        let evicted = PLANS.lock().get_or_insert_default().insert(hash, new);
        drop(evicted);
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

/// The items of arrays, by their addresses: a few are compared, which takes no memory.
#[derive(Default)]
struct KnownItems {
    few: SmallVec<[(usize, u32); KnownItems::FEW]>,
    many: FxHashMap<usize, u32>,
}

impl KnownItems {
    const FEW: usize = 8;

    #[inline]
    fn get(&self, array: usize) -> Option<u32> {
        let few = self.few.iter().find(|(known, _)| *known == array).map(|(_, item)| *item);
        few.or_else(|| if self.many.is_empty() { None } else { self.many.get(&array).copied() })
    }

    #[inline]
    fn insert(&mut self, array: usize, item: u32) {
        if self.few.len() < KnownItems::FEW {
            self.few.push((array, item));
        } else {
            self.many.insert(array, item);
        }
    }
}

/// What a plan is found by. It is borrowed: to copy the items took a tenth of a small evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PlanKey<'a> {
    items: &'a [ProgramItem],
    outputs: &'a [u32],
    device: Device,
    fallback: Fallback,
    interpreted: bool,
}

struct CachedPlan {
    items: Vec<ProgramItem>,
    outputs: SmallVec<[u32; 1]>,
    device: Device,
    fallback: Fallback,
    interpreted: bool,
    plan: Arc<Plan>,
    used: u64,
}

impl CachedPlan {
    fn key(&self) -> PlanKey<'_> {
        let CachedPlan { items, outputs, device, fallback, interpreted, .. } = self;
        PlanKey { items, outputs, device: *device, fallback: *fallback, interpreted: *interpreted }
    }
}

/// Plans by the hashes of their keys; when full, the least recently used is evicted.
#[derive(Default)]
struct PlanCache {
    plans: FxHashMap<u64, SmallVec<[CachedPlan; 1]>>,
    count: usize,
    clock: u64,
}

impl PlanCache {
    const LIMIT: usize = 256;

    fn get(&mut self, hash: u64, key: PlanKey<'_>) -> Option<Arc<Plan>> {
        self.clock += 1;
        let found = self.plans.get_mut(&hash)?.iter_mut().find(|cached| cached.key() == key)?;
        found.used = self.clock;
        Some(Arc::clone(&found.plan))
    }

    /// Inserts a plan. Returns the one that it replaces, or that is evicted for it.
    fn insert(&mut self, hash: u64, mut new: CachedPlan) -> Option<CachedPlan> {
        new.used = self.clock;
        if let Some(old) =
            self.plans.get_mut(&hash).and_then(|of_hash| of_hash.iter_mut().find(|old| old.key() == new.key()))
        {
            return Some(std::mem::replace(old, new));
        }
        let evicted = if self.count >= PlanCache::LIMIT { self.evict() } else { None };
        self.plans.entry(hash).or_default().push(new);
        self.count += 1;
        evicted
    }

    fn evict(&mut self) -> Option<CachedPlan> {
        let all = self.plans.iter().flat_map(|(hash, of_hash)| of_hash.iter().map(|cached| (cached.used, *hash)));
        let (used, hash) = all.min()?;
        let of_hash = self.plans.get_mut(&hash)?;
        let at = of_hash.iter().position(|cached| cached.used == used)?;
        let evicted = of_hash.swap_remove(at);
        if of_hash.is_empty() {
            self.plans.remove(&hash);
        }
        self.count -= 1;
        Some(evicted)
    }
}
