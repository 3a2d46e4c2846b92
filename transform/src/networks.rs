//! Networks: sorts of few elements whose results are read at single indices, such as medians and quantiles of short
//! windows, become compare-exchanges of adjacent elements. Unused ones are not computed, and the network is one kernel
//! with its producers and users.
//!
//! The order is that of [`sorted`](ndjit_ir::reduction::sorted). A stable sort keeps the order of -0 and +0: only
//! adjacent elements that are out of order are exchanged. NaNs come last: they are counted, replaced by infinities in
//! between, and the last elements are NaN. A sort that is needed as an array is unchanged.

use crate::windows::{ElementsRead, WindowElement};
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Rewriter, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::{AxisSet, Sort};
use ndjit_ir::view::View;
use ndjit_ir::{DType, Kind, Op, Result, Shape};
use rustc_hash::FxHashMap;

/// The maximum number of elements of a network: it has a comparison for each pair.
const MAX_ELEMENTS: usize = 16;
/// The maximum number of primitives computed for each element before its comparison.
const MAX_WEIGHT: usize = 200;

/// Replaces sorts by networks. `None` if there are none to replace.
///
/// # Errors
/// `Shape` if the graph is not valid.
pub fn networks(graph: &Graph<DType>) -> Result<Option<Graph<DType>>> {
    if !graph.node_ids().any(|id| sorts_few(graph, id).is_some()) {
        return Ok(None);
    }
    let plan = SortsRead::of(graph);
    if plan.places.is_empty() {
        return Ok(None);
    }
    let (mut out, mut notes) = (Graph::like(graph), ());
    let mut rewriter = Rewriter::new((graph, &()), (&mut out, &mut notes));
    // The read indices of each sort.
    let mut made: FxHashMap<(Value, usize), Value> = FxHashMap::default();
    for id in graph.node_ids() {
        rewriter.begin(id);
        let value = graph.node(id).first();
        if let Some(places) = plan.places.get(&value) {
            for (place, part) in network(&mut rewriter, id, places)? {
                made.insert((value, place), part);
            }
            continue;
        }
        match plan.seen(value) {
            None => {
                rewriter.copy(id);
            }
            Some((sort, axis, view)) => {
                // Views of more than one index are only read by other views.
                let Some(&part) = place(view, axis).and_then(|place| made.get(&(sort, place))) else { continue };
                let mut view = view.clone();
                view.axes.remove(axis);
                let part = rewriter.new.view(part, view, graph.shape(value));
                rewriter.replace(id, part);
            }
        }
    }
    rewriter.finish();
    Ok(Some(out))
}

/// Returns the axis of a sort of few elements; `None` for other nodes.
fn sorts_few(graph: &Graph<DType>, id: NodeId) -> Option<usize> {
    let NodeKind::Sort(Sort::Sort, axis, ()) = graph.node(id).kind else { return None };
    let (axis, value) = (axis as usize, graph.node(id).first());
    let shape = graph.shape(value);
    let few = (2..=MAX_ELEMENTS).contains(shape.extents().get(axis)?) && !shape.extents().contains(&0);
    (few && graph.ty(value).kind() != Kind::Complex).then_some(axis)
}

/// Returns the index that a view selects along a sorted axis; `None` for several.
fn place(view: &View, axis: usize) -> Option<usize> {
    let index = &view.axes[axis];
    if index.terms.is_empty() { usize::try_from(index.start).ok() } else { None }
}

/// The reads of sorts.
struct SortsRead {
    /// For views of sorts, and views of these: the sort, its axis, and the composed view.
    views: Vec<Option<(Value, usize, View)>>,
    /// The read indices, in order, of sorts without other reads.
    places: FxHashMap<Value, Vec<usize>>,
}

impl SortsRead {
    fn of(graph: &Graph<DType>) -> SortsRead {
        let mut read = SortsRead { views: vec![None; graph.value_count()], places: FxHashMap::default() };
        let mut whole = vec![false; graph.value_count()];
        for id in graph.node_ids() {
            let value = graph.node(id).first();
            if sorts_few(graph, id).is_some() {
                read.places.insert(value, Vec::new());
            }
            for &operand in graph.operands(id) {
                let NodeKind::View(view) = graph.node(id).kind else {
                    read.note(operand, &mut whole);
                    continue;
                };
                let (view, shape) = (graph.view_of(view), graph.shape(value));
                let seen = match &read.views[operand.index()] {
                    Some((sort, axis, inner)) => Some((*sort, *axis, view.of(inner))),
                    None => sorts_few(graph, graph.producer(operand)).map(|axis| (operand, axis, view.clone())),
                };
                read.views[value.index()] = seen.map(|(sort, axis, view)| (sort, axis, view.canonical(shape)));
            }
        }
        for &output in graph.outputs() {
            read.note(output, &mut whole);
        }
        read.places.retain(|sort, places| {
            places.sort_unstable();
            places.dedup();
            !whole[sort.index()] && !places.is_empty()
        });
        read
    }

    /// Records a read of a value by a node other than a view.
    fn note(&mut self, value: Value, whole: &mut [bool]) {
        match &self.views[value.index()] {
            Some((sort, axis, view)) => match (place(view, *axis), self.places.get_mut(sort)) {
                (Some(place), Some(places)) => places.push(place),
                _ => whole[sort.index()] = true,
            },
            None => whole[value.index()] = true,
        }
    }

    /// Returns the replaced sort that a value views at an index, directly or through other views.
    fn seen(&self, value: Value) -> Option<(Value, usize, &View)> {
        let (sort, axis, view) = self.views[value.index()].as_ref()?;
        self.places.contains_key(sort).then_some((*sort, *axis, view))
    }
}

/// Sorts the elements of a sort's operand. Returns the elements at the indices read, each an array without the axis.
fn network(rewriter: &mut Rewriter<'_, DType>, sort: NodeId, places: &[usize]) -> Result<Vec<(usize, Value)>> {
    let graph = rewriter.old;
    let NodeKind::Sort(_, axis, ()) = graph.node(sort).kind else { return Ok(Vec::new()) };
    let operand = graph.operands(sort)[0];
    let elements = elements(rewriter, operand, axis as usize)?;
    let mut network = Network::new(rewriter.new, elements[0], elements.len());
    let mut elements: Vec<Value> = elements.into_iter().map(|element| network.prepared(element)).collect();
    // Comparisons in order, and whether their smaller and larger elements are used.
    let pairs: Vec<usize> = (0..elements.len()).flat_map(|round| (round % 2..elements.len() - 1).step_by(2)).collect();
    let mut used = vec![false; elements.len()];
    places.iter().for_each(|&place| used[place] = true);
    let mut wanted = Vec::with_capacity(pairs.len());
    for &pair in pairs.iter().rev() {
        let either = (used[pair], used[pair + 1]);
        wanted.push((pair, either));
        if either != (false, false) {
            (used[pair], used[pair + 1]) = (true, true);
        }
    }
    for (pair, (lesser, greater)) in wanted.into_iter().rev() {
        let (a, b) = (elements[pair], elements[pair + 1]);
        if lesser {
            elements[pair] = network.lesser(a, b);
        }
        if greater {
            elements[pair + 1] = network.greater(a, b);
        }
    }
    Ok(places.iter().map(|&place| (place, network.finished(elements[place], place))).collect())
}

/// Returns the elements along an axis, each an array without it. They are computed if that is cheap, else they are
/// views.
fn elements(rewriter: &mut Rewriter<'_, DType>, operand: Value, axis: usize) -> Result<Vec<Value>> {
    let graph = rewriter.old;
    let shape = graph.shape(operand);
    let (along, most) = (AxisSet::one(axis), MAX_WEIGHT / shape.extents()[axis]);
    let few = ElementsRead::of(graph, operand, along, most).weight <= most;
    (0..shape.extents()[axis])
        .map(|position| {
            let mut element = WindowElement::new(shape, along, position).through_views();
            if few { element.of(rewriter, operand) } else { element.seen(rewriter, operand) }
        })
        .collect()
}

/// Comparisons of one array's elements.
struct Network<'a> {
    out: &'a mut Graph<DType>,
    /// The dtype of the elements, and the comparison dtype.
    dtype: DType,
    compared: DType,
    shape: Shape,
    len: usize,
    /// For floats: the count of NaNs, and literals.
    nans: Option<Value>,
    numbers: FxHashMap<u64, Value>,
}

impl Network<'_> {
    /// Creates a network of `len` elements of this type.
    fn new(out: &mut Graph<DType>, like: Value, len: usize) -> Network<'_> {
        let (dtype, shape) = (out.ty(like), out.shape(like).clone());
        let compared = if dtype.is_half() { DType::F32 } else { dtype };
        Network { out, dtype, compared, shape, len, nans: None, numbers: FxHashMap::default() }
    }

    fn op(&mut self, op: Op, operands: &[Value]) -> Value {
        let dtype = if op == Op::Where { self.compared } else { op.result_dtype(self.compared) };
        let shape = self.out.intern(&self.shape);
        self.out.add(NodeKind::Op(op, ()), operands, &[(dtype, shape)])
    }

    fn cast(&mut self, value: Value, dtype: DType) -> Value {
        if self.out.ty(value) == dtype {
            return value;
        }
        let shape = self.out.intern(&self.shape);
        self.out.add(NodeKind::Cast(()), &[value], &[(dtype, shape)])
    }

    fn number(&mut self, number: f64) -> Value {
        let (out, dtype) = (&mut *self.out, self.compared);
        *self.numbers.entry(number.to_bits()).or_insert_with(|| out.literal(Slot::Value(Literal::weak(number)), dtype))
    }

    /// Prepares an element for comparison, and counts NaNs.
    fn prepared(&mut self, element: Value) -> Value {
        if !self.dtype.is_float() {
            return element;
        }
        let element = self.cast(element, self.compared);
        let (one, zero, most) = (self.number(1.0), self.number(0.0), self.number(f64::INFINITY));
        let nan = self.op(Op::IsNan, &[element]);
        let own = self.op(Op::Where, &[nan, one, zero]);
        self.nans = Some(match self.nans {
            Some(nans) => self.op(Op::Add, &[nans, own]),
            None => own,
        });
        self.op(Op::Where, &[nan, most, element])
    }

    fn lesser(&mut self, a: Value, b: Value) -> Value {
        if !self.dtype.is_float() {
            return self.op(Op::Minimum, &[a, b]);
        }
        let swap = self.op(Op::Less, &[b, a]);
        self.op(Op::Where, &[swap, b, a])
    }

    fn greater(&mut self, a: Value, b: Value) -> Value {
        if !self.dtype.is_float() {
            return self.op(Op::Maximum, &[a, b]);
        }
        let swap = self.op(Op::Less, &[b, a]);
        self.op(Op::Where, &[swap, a, b])
    }

    /// Returns the element at an index of the sorted result.
    fn finished(&mut self, element: Value, place: usize) -> Value {
        let Some(nans) = self.nans else { return element };
        let (least, nan) = (self.number((self.len - place) as f64), self.number(f64::NAN));
        let is_nan = self.op(Op::GreaterEqual, &[nans, least]);
        let value = self.op(Op::Where, &[is_nan, nan, element]);
        self.cast(value, self.dtype)
    }
}
