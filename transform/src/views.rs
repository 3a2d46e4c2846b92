//! Views: moves views to the reads of elements. A view of `f(x)` is `f` of the view of `x`, so kernels compute results
//! in the order of their use, and load through strides.
//!
//! One walk from the results to the parameters collects the *forms* in which each value is used; one walk back makes
//! the nodes. A value is computed in another form than its own if that is no more work: if it has only one form with no
//! more elements, or if it is cheap. Otherwise it is computed in its own form, and read through the view.

use ndjit_ir::graph::{Graph, NodeId, NodeKind, Rewriter, Value};
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::{AxisSet, Reduce};
use ndjit_ir::view::{AxisIndex, IndexTerm, View, broadcast_to};
use ndjit_ir::{DType, Result, Shape};
use ndjit_math::shared_body;
use smallvec::{SmallVec, smallvec};

/// The maximum number of primitives recomputed for each form of a value.
const MAX_REMATERIALIZED: u32 = 16;
/// The maximum number of forms of a value.
const MAX_FORMS: usize = 4;

/// A form in which a value is used.
#[derive(Clone, Debug, PartialEq)]
enum ViewForm {
    /// Unchanged.
    Own,
    /// Through a view, as an array of this shape.
    Viewed(View, Shape),
    /// In another shape with the same number of elements.
    Reshaped(Shape),
}

/// The forms of a value made so far.
type ValueForms = SmallVec<[(ViewForm, Value); 1]>;
type FormRewriter<'a> = Rewriter<'a, DType, (), DType, ValueForms>;

/// Moves views to where elements are read. `params` are the layouts of the parameters.
///
/// # Errors
/// `Shape` if the graph is not valid.
pub fn views(graph: &Graph<DType>, params: &[Layout]) -> Result<Option<Graph<DType>>> {
    let moved = |id| matches!(graph.node(id).kind, NodeKind::View(_) | NodeKind::Reshape);
    if !graph.node_ids().any(moved) {
        return Ok(None);
    }
    let wanted = WantedForms::collect(graph, params)?;
    let mut out = Graph::like(graph);
    let mut notes = ();
    let mut rewriter: FormRewriter<'_> = Rewriter::mapping((graph, &()), (&mut out, &mut notes), smallvec![]);
    for id in graph.node_ids() {
        let value = graph.node(id).first();
        rewriter.begin(id);
        if let NodeKind::Control(_) = graph.node(id).kind {
            if !wanted.computed[value.index()].is_empty() {
                control(&mut rewriter, id)?;
            }
            continue;
        }
        let mut made = ValueForms::new();
        for form in &wanted.computed[value.index()] {
            made.push((form.clone(), make(&mut rewriter, value, form)?));
        }
        rewriter.put(value, made);
    }
    let mut outputs = Vec::with_capacity(graph.outputs().len());
    for &output in graph.outputs() {
        rewriter.begin(graph.producer(output));
        outputs.push(find(&mut rewriter, output, &ViewForm::Own)?);
    }
    out.set_outputs(outputs);
    Ok(Some(out))
}

/// The forms in which each value is computed.
struct WantedForms {
    computed: Vec<SmallVec<[ViewForm; 1]>>,
}

impl WantedForms {
    fn collect(graph: &Graph<DType>, params: &[Layout]) -> Result<WantedForms> {
        let costs = costs(graph);
        let reshapable = reshapable(graph, params);
        let mut wanted: Vec<SmallVec<[ViewForm; 1]>> = vec![smallvec![]; graph.value_count()];
        for &output in graph.outputs() {
            want(&mut wanted[output.index()], ViewForm::Own);
        }
        for id in graph.node_ids().rev() {
            let value = graph.node(id).first();
            let index = value.index();
            let kind = graph.node(id).kind;
            if let NodeKind::Control(_) = kind {
                // All its results are computed if one is.
                let forms = match graph.node(id).results().all(|value| wanted[value.index()].is_empty()) {
                    true => smallvec![],
                    false => smallvec![ViewForm::Own],
                };
                for operand in graph.operands(id).iter().filter(|_| !forms.is_empty()) {
                    want(&mut wanted[operand.index()], ViewForm::Own);
                }
                graph.node(id).results().for_each(|value| wanted[value.index()].clone_from(&forms));
                continue;
            }
            let forms = std::mem::take(&mut wanted[index]);
            let computed: SmallVec<[ViewForm; 1]> = match kind {
                NodeKind::Param(..) => smallvec![ViewForm::Own],
                _ if forms.is_empty() => smallvec![],
                // The forms of a view apply to its operand.
                NodeKind::View(_) if !forms.iter().any(|f| matches!(f, ViewForm::Reshaped(_))) => forms,
                NodeKind::Op(..) | NodeKind::Cast(_) => {
                    let fits = |form: &ViewForm| match form {
                        ViewForm::Own => true,
                        // No operand determines a scalar's shape.
                        ViewForm::Viewed(..) if graph.shape(value).rank() == 0 => false,
                        ViewForm::Viewed(_, shape) => {
                            costs[index] <= MAX_REMATERIALIZED
                                || forms.len() == 1 && size(shape) <= size(graph.shape(value))
                        }
                        ViewForm::Reshaped(_) => forms.len() == 1 && reshapable[index],
                    };
                    let several = forms.len() > 1 && costs[index] > MAX_REMATERIALIZED;
                    if !several && forms.iter().all(fits) { forms } else { smallvec![ViewForm::Own] }
                }
                NodeKind::Reduce(reduce) => match &forms[..] {
                    [form] if permuted(graph, value, reduce, form).is_some() => forms,
                    _ => smallvec![ViewForm::Own],
                },
                _ => smallvec![ViewForm::Own],
            };
            for form in &computed {
                for &operand in graph.operands(id) {
                    want(&mut wanted[operand.index()], demand(graph, value, kind, form, operand)?);
                }
            }
            wanted[index] = computed;
        }
        Ok(WantedForms { computed: wanted })
    }
}

/// Adds a form of a value. Beyond the maximum it has its own form, and views.
fn want(forms: &mut SmallVec<[ViewForm; 1]>, form: ViewForm) {
    if forms.contains(&form) {
        return;
    }
    if forms.len() >= MAX_FORMS {
        *forms = smallvec![ViewForm::Own];
        return;
    }
    forms.push(form);
}

/// Returns the form of an operand of a node computed in `form`.
fn demand(
    graph: &Graph<DType>,
    value: Value,
    kind: NodeKind<DType>,
    form: &ViewForm,
    operand: Value,
) -> Result<ViewForm> {
    let shape = graph.shape(operand);
    Ok(match (kind, form) {
        (NodeKind::View(id), ViewForm::Own) => viewed(graph.view_of(id).clone(), shape, graph.shape(value)),
        (NodeKind::View(id), ViewForm::Viewed(view, result)) => viewed(view.of(graph.view_of(id)), shape, result),
        (NodeKind::Reshape, _) => ViewForm::Reshaped(graph.shape(value).clone()),
        (NodeKind::Op(..) | NodeKind::Cast(_), ViewForm::Viewed(view, result)) if shape.rank() > 0 => {
            // Repetition along axes stays repetition along the permuted axes.
            if shape.rank() == graph.shape(value).rank()
                && let Some(order) = permutation(view, graph.shape(value), result)
            {
                let mut extents = result.extents().to_vec();
                order.iter().zip(shape.extents()).for_each(|(&axis, &extent)| extents[axis] = extent);
                return Ok(viewed(view.clone(), shape, &Shape::from(extents)));
            }
            // First broadcast to the op's shape.
            let (wide, _) = broadcast_to(shape, graph.shape(value))?;
            viewed(view.of(&wide), shape, result)
        }
        (NodeKind::Op(..) | NodeKind::Cast(_), ViewForm::Reshaped(result)) if shape == graph.shape(value) => {
            ViewForm::Reshaped(result.clone())
        }
        (NodeKind::Reduce(reduce), form) => match permuted(graph, value, reduce, form) {
            Some((view, result, _)) => viewed(view, shape, &result),
            None => ViewForm::Own,
        },
        _ => ViewForm::Own,
    })
}

/// Rewrites a contraction with permuted result axes as a contraction of the permuted product. Returns the view and
/// shape of the product, and the sum. The result is then stored in the order of its use, and operands are read through
/// strides, like those of every contraction.
fn permuted(
    graph: &Graph<DType>,
    value: Value,
    reduce: Reduce<DType>,
    form: &ViewForm,
) -> Option<(View, Shape, Reduce<DType>)> {
    let ViewForm::Viewed(seen, result) = form else { return None };
    let (shape, rank) = (graph.shape(value), result.rank());
    let order = permutation(seen, shape, result)?;
    if !reduce.contracts || reduce.keepdims {
        return None;
    }
    let operand = graph.shape(graph.operands(graph.producer(value))[0]);
    let (mut extents, mut kept) = (SmallVec::<[usize; 6]>::from_slice(result.extents()), order.iter());
    let axes = operand.extents().iter().enumerate().map(|(axis, &extent)| match reduce.axes.contains(axis) {
        true => {
            extents.push(extent);
            Some(AxisIndex::along(extents.len() - 1, 0, 1))
        }
        false => kept.next().map(|&axis| AxisIndex::along(axis, 0, 1)),
    });
    let axes = axes.collect::<Option<SmallVec<[AxisIndex; 4]>>>()?;
    let view = View { rank: extents.len(), axes };
    let reduce = Reduce { axes: (rank..extents.len()).fold(AxisSet::default(), AxisSet::with), ..reduce };
    Some((view, Shape::from(&extents[..]), reduce))
}

/// Returns, for a view that permutes the axes, the result's axis of each axis of the operand.
fn permutation(view: &View, operand: &Shape, result: &Shape) -> Option<SmallVec<[usize; 4]>> {
    let axis = |(axis, &extent): (&AxisIndex, &usize)| {
        let (0, &[IndexTerm { axis, step: 1 }]) = (axis.start, &axis.terms[..]) else { return None };
        let axis = axis as usize;
        (result.extents().get(axis) == Some(&extent)).then_some(axis)
    };
    let order = view.axes.iter().zip(operand.extents()).map(axis).collect::<Option<SmallVec<[usize; 4]>>>()?;
    (order.len() == result.rank() && (0..result.rank()).all(|axis| order.contains(&axis))).then_some(order)
}

fn viewed(view: View, operand: &Shape, result: &Shape) -> ViewForm {
    let view = view.canonical(result);
    if view.is_identity(operand, result) { ViewForm::Own } else { ViewForm::Viewed(view, result.clone()) }
}

/// Makes a node in a form.
fn make(rewriter: &mut FormRewriter<'_>, value: Value, form: &ViewForm) -> Result<Value> {
    let graph = rewriter.old;
    let id = graph.producer(value);
    let kind = graph.node(id).kind;
    let (dtype, shape) = match form {
        ViewForm::Own => (graph.ty(value), graph.shape(value)),
        ViewForm::Viewed(_, shape) | ViewForm::Reshaped(shape) => (graph.ty(value), shape),
    };
    match kind {
        NodeKind::Param(..) => return Ok(rewriter.new.param(dtype, shape)),
        NodeKind::Literal(slot) => return Ok(rewriter.new.slot_value(slot, dtype)),
        _ => {}
    }
    let mut operands: SmallVec<[Value; 3]> = SmallVec::new();
    for &operand in graph.operands(id) {
        operands.push(find(rewriter, operand, &demand(graph, value, kind, form, operand)?)?);
    }
    if matches!(kind, NodeKind::View(_) | NodeKind::Reshape) {
        return Ok(operands[0]);
    }
    let kind = match kind {
        NodeKind::Reduce(reduce) => {
            NodeKind::Reduce(permuted(graph, value, reduce, form).map_or(reduce, |(.., reduce)| reduce))
        }
        kind => graph.kind_in(kind, rewriter.new),
    };
    let shape = rewriter.new.intern(shape);
    Ok(rewriter.new.add(kind, &operands, &[(dtype, shape)]))
}

/// Copies control flow, on operands in their own forms.
fn control(rewriter: &mut FormRewriter<'_>, id: NodeId) -> Result<()> {
    let (graph, node) = (rewriter.old, rewriter.old.node(id));
    let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
    for &operand in graph.operands(id) {
        operands.push(find(rewriter, operand, &ViewForm::Own)?);
    }
    let kind = graph.kind_in(node.kind, rewriter.new);
    let results = node.results().map(|value| (graph.ty(value), rewriter.new.intern(graph.shape(value))));
    let results: SmallVec<[_; 4]> = results.collect();
    let first = rewriter.new.add(kind, &operands, &results);
    let made = rewriter.new.node(rewriter.new.producer(first)).results();
    node.results().zip(made).for_each(|(value, made)| rewriter.put(value, smallvec![(ViewForm::Own, made)]));
    Ok(())
}

/// Returns a value in a form: computed in it, or viewed.
fn find(rewriter: &mut FormRewriter<'_>, value: Value, form: &ViewForm) -> Result<Value> {
    let (graph, forms) = (rewriter.old, rewriter.of(value));
    let in_form = |form: &ViewForm| forms.iter().find(|(known, _)| known == form).map(|(_, value)| *value);
    if let Some(found) = in_form(form) {
        return Ok(found);
    }
    let Some(own) = in_form(&ViewForm::Own) else {
        return Err(ndjit_ir::Error::new(
            ndjit_ir::ErrorCode::Verify,
            format!(
                "views: {} is wanted in another form than those it is computed in",
                graph.display_node(graph.producer(value))
            ),
        ));
    };
    let out = &mut *rewriter.new;
    Ok(match form {
        ViewForm::Own => own,
        ViewForm::Viewed(view, shape) => see(out, own, view, shape),
        ViewForm::Reshaped(shape) => {
            let id = out.producer(own);
            let operand = if out.node(id).kind == NodeKind::Reshape { out.operands(id)[0] } else { own };
            out.reshape(operand, shape)
        }
    })
}

/// Adds a view of a value, composed with the view that the value is.
pub(crate) fn see(out: &mut Graph<DType>, value: Value, view: &View, shape: &Shape) -> Value {
    let id = out.producer(value);
    match out.node(id).kind {
        NodeKind::View(inner) => {
            let (operand, inner) = (out.operands(id)[0], out.view_of(inner).clone());
            out.view(operand, view.of(&inner).canonical(shape), shape)
        }
        _ => out.view(value, view.clone(), shape),
    }
}

fn size(shape: &Shape) -> usize {
    shape.extents().iter().fold(1, |n: usize, &extent| n.saturating_mul(extent))
}

/// Counts the primitives of each value from stored ones on, as for a tree.
fn costs(graph: &Graph<DType>) -> Vec<u32> {
    let mut costs = vec![0u32; graph.value_count()];
    for id in graph.node_ids() {
        let own = match graph.node(id).kind {
            NodeKind::Op(op, _) => shared_body(op, graph.compute_dtype(id, op)).insts.len() as u32,
            NodeKind::Cast(_) => 4,
            kind if kind.row().is_view => 0,
            _ => continue,
        };
        let sum = graph.operands(id).iter().fold(own, |sum, o| sum.saturating_add(costs[o.index()]));
        costs[graph.node(id).first().index()] = sum;
    }
    costs
}

/// Returns for each value whether it can be computed in another shape with the same number of elements without copies
/// of its inputs.
fn reshapable(graph: &Graph<DType>, params: &[Layout]) -> Vec<bool> {
    let mut reshapable = vec![false; graph.value_count()];
    for id in graph.node_ids() {
        let value = graph.node(id).first();
        reshapable[value.index()] = match graph.node(id).kind {
            NodeKind::Param(n, _) => {
                crate::access::contiguous(graph.shape(value), graph.ty(value)).ok().as_ref() == params.get(n as usize)
            }
            NodeKind::Literal(_)
            | NodeKind::Reduce(_)
            | NodeKind::Scan(..)
            | NodeKind::Sort(..)
            | NodeKind::Concat(..) => true,
            NodeKind::Op(..) | NodeKind::Cast(_) => graph.operands(id).iter().all(|operand| {
                let shape = graph.shape(*operand);
                shape.rank() == 0 || shape == graph.shape(value) && reshapable[operand.index()]
            }),
            NodeKind::Reshape => reshapable[graph.operands(id)[0].index()],
            _ => false,
        };
    }
    reshapable
}
