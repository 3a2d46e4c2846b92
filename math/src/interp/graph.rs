//! Evaluation of typed graphs.

use super::elementwise::{Function, Functions};
use super::movement;
use super::reduce::{iota, reduce, scanned, sort};
use super::tensor::Tensor;
use crate::store_body;
use ndjit_ir::dtype::DType;
use ndjit_ir::error::{Error, ErrorCode, Result};
use ndjit_ir::graph::{Control, ControlKind, Graph, Inner, NodeId, NodeKind, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::shape::Shape;
use rustc_hash::FxHashMap;

/// Evaluates a typed graph: the definition of a program. `scalars` are the values of argument slots, by argument index.
/// Dead nodes are not computed; a value is freed after its last use.
///
/// # Errors
/// `Verify` if the graph is not valid; `Arity` or `Argument` if parameters or scalars are missing, or do not match the
/// graph; `Literal` if a scalar does not fit the dtype of a use; `Allocation` if memory is refused.
pub fn eval_graph(graph: &Graph<DType>, params: &[Tensor], scalars: &[(usize, Literal)]) -> Result<Vec<Tensor>> {
    graph.verify()?;
    eval(graph, params, scalars)
}

/// Evaluates a verified graph, like [`eval_graph`].
fn eval(graph: &Graph<DType>, params: &[Tensor], scalars: &[(usize, Literal)]) -> Result<Vec<Tensor>> {
    check_params(graph, params)?;
    let last_uses = last_uses(graph);
    let mut functions = Functions::default();
    let mut live: FxHashMap<Value, Tensor> = FxHashMap::default();
    for id in graph.node_ids() {
        let node = graph.node(id);
        let value = node.first();
        let is_used = |value: &Value| last_uses[value.index()].is_some();
        if !node.results().any(|value| is_used(&value)) {
            continue;
        }
        let (dtype, operands) = (graph.ty(value), graph.operands(id));
        let mut apply = |function| {
            let arguments: Vec<&Tensor> = operands.iter().map(|operand| &live[operand]).collect();
            functions.apply(function, &arguments, graph.shape(value))
        };
        let result = match node.kind {
            NodeKind::Param(n, _) => {
                live.insert(value, params[n as usize].copied()?);
                continue;
            }
            NodeKind::Literal(slot) => {
                let words = store_body(dtype).eval(&slot_value(&graph.slots()[slot.index()], scalars)?.to_repr(dtype)?);
                live.insert(value, Tensor::from_words(dtype, Shape::scalar(), |_| &words[..])?);
                continue;
            }
            NodeKind::Iota(axes) => iota(axes, graph.shape(value))?,
            NodeKind::View(view) => movement::view(&live[&operands[0]], graph.view_of(view), graph.shape(value))?,
            NodeKind::Identity(_) | NodeKind::Reshape => movement::reshape(&live[&operands[0]], graph.shape(value))?,
            NodeKind::Control(n) => {
                let given: Vec<&Tensor> = operands.iter().map(|operand| &live[operand]).collect();
                let results = control(&graph.controls()[n as usize], &given, scalars)?;
                live.extend(node.results().zip(results).filter(|(value, _)| is_used(value)));
                release(&mut live, operands, id, &last_uses);
                continue;
            }
            NodeKind::Scatter(scatter) => {
                let operands = [0, 1, 2].map(|n| &live[&operands[n]]);
                movement::scatter(&mut functions, scatter, operands)?
            }
            NodeKind::Insert(view) => {
                let starts: Vec<&Tensor> = operands[2..].iter().map(|start| &live[start]).collect();
                movement::insert(&live[&operands[0]], &live[&operands[1]], &starts, graph.view_of(view))?
            }
            NodeKind::Slice(view) => {
                let starts: Vec<&Tensor> = operands[1..].iter().map(|start| &live[start]).collect();
                movement::slice(&live[&operands[0]], &starts, graph.view_of(view), graph.shape(value))?
            }
            NodeKind::Gather => movement::gather(&live[&operands[0]], &live[&operands[1]], graph.shape(value))?,
            NodeKind::Concat(axis, _) => {
                let operands: Vec<&Tensor> = operands.iter().map(|operand| &live[operand]).collect();
                movement::concat(&operands, axis as usize, graph.shape(value))?
            }
            NodeKind::Reduce(node) => reduce(&mut functions, node, &live[&operands[0]])?,
            NodeKind::Scan(function, axis, ()) => scanned(&mut functions, function, axis, &live[&operands[0]])?,
            NodeKind::Sort(function, axis, ()) => sort(function, axis as usize, &live[&operands[0]], dtype)?,
            NodeKind::Op(op, _) => apply(Function::Op(op, graph.compute_dtype(id, op)))?,
            NodeKind::Cast(_) => apply(Function::Cast(graph.ty(operands[0]), dtype))?,
            NodeKind::Call(_) => return Err(Error::new(ErrorCode::Verify, "interpreter: a call that was not inlined")),
        };
        live.insert(value, result);
        release(&mut live, operands, id, &last_uses);
    }
    graph.outputs().iter().map(|output| live[output].copied()).collect()
}

/// Frees the operands of which node `id` is the last user.
fn release(live: &mut FxHashMap<Value, Tensor>, operands: &[Value], id: NodeId, last_uses: &[Option<usize>]) {
    for used in operands.iter().filter(|used| last_uses[used.index()] == Some(id.index())) {
        live.remove(used);
    }
}

/// Evaluates control flow on its operands, with the program's `scalars`.
///
/// # Errors
/// As [`eval_graph`].
pub fn eval_control(flow: &Control<DType>, operands: &[&Tensor], scalars: &[(usize, Literal)]) -> Result<Vec<Tensor>> {
    let (taken, _) = flow.sizes(operands.len())?;
    flow.graphs.iter().try_for_each(|inner| inner.graph.verify())?;
    match taken.iter().zip(operands).position(|(&bytes, operand)| operand.bytes.len() < bytes) {
        Some(n) => {
            Err(Error::new(ErrorCode::Argument, format!("interpreter: operand {n} of control flow is too small")))
        }
        None => control(flow, operands, scalars),
    }
}

/// Evaluates control flow with verified graphs.
fn control(control: &Control<DType>, operands: &[&Tensor], scalars: &[(usize, Literal)]) -> Result<Vec<Tensor>> {
    let run = |n: usize, carry: &[Tensor]| {
        let Inner { graph, operands: taken } = &control.graphs[n];
        let given = |&operand: &u32| carry.get(operand as usize).unwrap_or(operands[operand as usize]).copied();
        let params = taken.iter().map(given).collect::<Result<Vec<Tensor>>>()?;
        eval(graph, &params, scalars)
    };
    let holds = |condition: &Tensor| condition.get(0).first() == Some(&1);
    match control.kind {
        ControlKind::Cond => run(usize::from(!holds(operands[0])), &[]),
        ControlKind::While => {
            let begin = operands[..control.results()].iter().map(|&operand| operand.copied());
            let mut carry = begin.collect::<Result<Vec<Tensor>>>()?;
            while holds(&run(0, &carry)?[0]) {
                carry = run(1, &carry)?;
            }
            Ok(carry)
        }
        ControlKind::For(counts) => {
            let carried = counts.carried as usize;
            let mut carry = operands[..carried].iter().map(|x| x.copied()).collect::<Result<Vec<Tensor>>>()?;
            let [start, end] = [carried, carried + 1].map(|n| &operands[n].bytes[..counts.index.bytes()]);
            for step in 0..counts.trips(start, end) {
                let mut index = operands[carried].copied()?;
                index.bytes.copy_from_slice(&counts.at(start, step)[..counts.index.bytes()]);
                carry.push(index);
                carry = run(0, &carry)?;
            }
            Ok(carry)
        }
        ControlKind::Scan(steps) => {
            let (carried, arrays) = (steps.carried as usize, control.kind.arrays(0));
            let mut carry = operands[..carried].iter().map(|x| x.copied()).collect::<Result<Vec<Tensor>>>()?;
            let results = (carried..control.results()).filter_map(|n| control.result(n));
            let mut stacked =
                results.map(|(dtype, shape)| Tensor::zeros(dtype, shape)).collect::<Result<Vec<Tensor>>>()?;
            for step in 0..steps.length {
                for x in &operands[carried..arrays] {
                    carry.push(x.slice(steps.slice(step))?);
                }
                let mut made = run(0, &carry)?;
                for (all, slice) in stacked.iter_mut().zip(made.split_off(carried)) {
                    all.set_slice(steps.slice(step), &slice);
                }
                carry = made;
            }
            carry.extend(stacked);
            Ok(carry)
        }
    }
}

/// Returns for each value on which results depend the index of the last node that uses it. Outputs are used after all
/// nodes.
fn last_uses(graph: &Graph<DType>) -> Vec<Option<usize>> {
    let mut last_uses: Vec<Option<usize>> = vec![None; graph.value_count()];
    for output in graph.outputs() {
        last_uses[output.index()] = Some(usize::MAX);
    }
    for id in graph.node_ids().rev() {
        if graph.node(id).results().any(|value| last_uses[value.index()].is_some()) {
            for operand in graph.operands(id) {
                last_uses[operand.index()].get_or_insert(id.index());
            }
        }
    }
    last_uses
}

fn check_params(graph: &Graph<DType>, params: &[Tensor]) -> Result<()> {
    if params.len() != graph.params().len() {
        let (takes, given) = (graph.params().len(), params.len());
        return Err(Error::new(ErrorCode::Arity, format!("interpreter: takes {takes} arrays, {given} given")));
    }
    for (n, (&value, tensor)) in graph.params().iter().zip(params).enumerate() {
        let (dtype, shape) = (graph.ty(value), graph.shape(value));
        if tensor.dtype != dtype || tensor.shape != *shape || Ok(tensor.bytes.len()) != shape.bytes(dtype.bytes()) {
            let given = format_args!("{}{} of {} bytes", tensor.dtype, tensor.shape, tensor.bytes.len());
            let error = Error::new(ErrorCode::Argument, format!("interpreter: array {n} is not {dtype}{shape}"));
            return Err(error.fact(format_args!("given: {given}")));
        }
    }
    Ok(())
}

fn slot_value(slot: &Slot, scalars: &[(usize, Literal)]) -> Result<Literal> {
    match *slot {
        Slot::Value(literal) => Ok(literal),
        Slot::Argument { index, .. } => match scalars.iter().find(|(argument, _)| *argument == index) {
            Some((_, literal)) => Ok(*literal),
            None => Err(Error::new(ErrorCode::Argument, format!("interpreter: no number given for argument {index}"))),
        },
    }
}
