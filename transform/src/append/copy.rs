//! Splicing of graphs: callees, and the bodies of loops and branches.

use super::Appender;
use ndjit_ir::graph::{Control, ControlKind, Graph, Inner, NodeId, NodeKind, Rewriter, SourceLocs, Value};
use ndjit_ir::{DType, Error, Shape, ValueType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The type of a parameter: type, storage dtype, shape.
pub(crate) type ParamType = (ValueType, DType, Shape);

/// A graph of control flow and its places.
pub(crate) type LocatedGraph = (Arc<Graph<ValueType>>, Arc<SourceLocs>);

impl Appender {
    /// Writes a graph into this one, with these values for its parameters. Returns its outputs.
    pub fn run(&self, called: (&Graph<ValueType>, &SourceLocs), arguments: &[Value]) -> Vec<Value> {
        let graph = called.0;
        self.write(|new, places| {
            let mut rewriter = Rewriter::splice(called, (new, places));
            rewriter.bind(arguments);
            let is_param = |id: &NodeId| matches!(graph.node(*id).kind, NodeKind::Param(..));
            for id in graph.node_ids().filter(|id| !is_param(id)) {
                rewriter.copy(id);
            }
            rewriter.outputs()
        })
    }

    /// Copies the computation of outputs from inputs to a separate graph; `None` if it depends on other values than
    /// literals.
    pub fn function(&self, inputs: &[Value], outputs: &[Value]) -> Option<LocatedGraph> {
        let nodes = self.read(|graph| {
            let mut seen: FxHashSet<NodeId> = inputs.iter().map(|&input| graph.producer(input)).collect();
            let (mut nodes, mut open) = (Vec::new(), outputs.to_vec());
            while let Some(value) = open.pop() {
                let id = graph.producer(value);
                if seen.insert(id) {
                    nodes.push(id);
                    open.extend(graph.operands(id));
                }
            }
            nodes.sort_unstable();
            let is_closed = !nodes.iter().any(|&id| matches!(graph.node(id).kind, NodeKind::Param(..)));
            is_closed.then_some(nodes)
        })?;
        Some(self.graph(&self.param_types(inputs), |inner, params| {
            self.write(|graph, places| {
                inner.write(|new, beside| {
                    let mut rewriter = Rewriter::splice((graph, places), (new, beside));
                    inputs.iter().zip(params).for_each(|(&input, &param)| rewriter.put(input, param));
                    nodes.into_iter().for_each(|id| {
                        rewriter.copy(id);
                    });
                    outputs.iter().map(|&output| rewriter.value(output)).collect()
                })
            })
        }))
    }

    /// Splices the callee of a call on these operands; returns its results.
    pub fn called(&self, id: NodeId, operands: &[Value]) -> Option<Vec<Value>> {
        let NodeKind::Call(child) = self.read(|graph| graph.node(id).kind) else { return None };
        let (graph, places) =
            self.write(|graph, places| (Arc::clone(&graph.children()[child as usize]), places.child(child)));
        Some(self.run((&graph, &places), operands))
    }

    /// Copies the nodes from `first` on, if outputs depend on them and they on replaced values. `become_` may return
    /// other results for a node. Returns the outputs.
    pub fn rewrite(
        &self,
        first: NodeId,
        new: &mut FxHashMap<Value, Value>,
        outputs: &[Value],
        mut become_: impl FnMut(NodeId, &[Value]) -> Option<Vec<Value>>,
    ) -> Vec<Value> {
        let needed = self.read(|graph| {
            let base = first.index();
            let last = outputs.iter().map(|&output| graph.producer(output).index() + 1).max().unwrap_or(0);
            let mut needed = vec![false; last.saturating_sub(base)];
            let mark = |needed: &mut [bool], value: Value| {
                let at = graph.producer(value).index().checked_sub(base).filter(|_| !new.contains_key(&value));
                at.into_iter().for_each(|at| needed[at] = true);
            };
            outputs.iter().for_each(|&output| mark(&mut needed, output));
            for at in (0..needed.len()).rev() {
                if needed[at] {
                    graph.operands(NodeId((at + base) as u32)).iter().for_each(|&operand| mark(&mut needed, operand));
                }
            }
            (0..needed.len()).filter(|&at| needed[at]).map(|at| NodeId((at + base) as u32)).collect::<Vec<NodeId>>()
        });
        for id in needed {
            let of = |value: &Value| new.get(value).copied().unwrap_or(*value);
            let (kind, operands, changed, results) = self.read(|graph| {
                let before = graph.operands(id);
                let operands: Vec<Value> = before.iter().map(of).collect();
                let changed = operands != before;
                (graph.node(id).kind, operands, changed, graph.node(id).results().collect::<Vec<Value>>())
            });
            self.at(id);
            let made = become_(id, &operands).or_else(|| {
                changed.then(|| {
                    let ty = |value: &Value| self.read(|graph| (graph.ty(*value), graph.shape(*value).clone()));
                    self.results(kind, &operands, &results.iter().map(ty).collect::<Vec<_>>())
                })
            });
            new.extend(results.into_iter().zip(made.into_iter().flatten()));
        }
        outputs.iter().map(|output| new.get(output).copied().unwrap_or(*output)).collect()
    }

    /// Returns the outputs after a substitution of values.
    pub fn substituted(&self, mut new: FxHashMap<Value, Value>, outputs: &[Value]) -> Vec<Value> {
        let first = self.read(|graph| new.keys().map(|&value| graph.producer(value)).min());
        first.map_or_else(|| outputs.to_vec(), |first| self.rewrite(first, &mut new, outputs, |_, _| None))
    }

    /// Returns the types of values, for parameters.
    pub fn param_types(&self, values: &[Value]) -> Vec<ParamType> {
        self.read(|graph| {
            let of =
                |&value: &Value| (graph.ty(value), graph.storage_dtype(value, self.policy), graph.shape(value).clone());
            values.iter().map(of).collect()
        })
    }

    /// Records a graph with parameters of these types, with this graph's current places.
    pub fn graph(&self, params: &[ParamType], write: impl FnOnce(&Appender, &[Value]) -> Vec<Value>) -> LocatedGraph {
        let mut graph = Graph::new();
        let params: Vec<Value> =
            params.iter().map(|(ty, stored, shape)| graph.param_stored(*ty, *stored, shape)).collect();
        let inner = Appender::new(graph, SourceLocs::default(), self.settings());
        inner.written_as(self);
        inner.in_step.set(self.in_step.get());
        let outputs = write(&inner, &params);
        let (mut graph, places, made) = inner.finish();
        made.unwrap_or_else(|error: Error| self.fail(error));
        graph.set_outputs(outputs);
        let (graph, places) = crate::live(&graph, &places).unwrap_or((graph, places));
        (Arc::new(graph), Arc::new(places))
    }

    /// Adds control flow, with the operand indices of each graph's parameters; returns its results.
    pub fn control(&self, kind: ControlKind, graphs: Vec<(LocatedGraph, Vec<u32>)>, operands: &[Value]) -> Vec<Value> {
        let (mut inner, mut places) = (Vec::new(), Vec::new());
        for ((graph, beside), operands) in graphs {
            inner.push(Inner { graph, operands });
            places.push(beside);
        }
        let control = Control { kind, graphs: inner };
        let results: Vec<(ValueType, Shape)> = (0..control.results()).filter_map(|n| control.result(n)).collect();
        let number = self.write(|graph, own| {
            let number = graph.control(Arc::new(control));
            own.set_control(number, places);
            number
        });
        self.results(NodeKind::Control(number), operands, &results)
    }
}

/// Control flow of a graph, with its graphs and their places.
pub(crate) struct ControlPiece {
    pub control: Arc<Control<ValueType>>,
    pub bodies: Vec<LocatedGraph>,
}

impl ControlPiece {
    pub fn of(to: &Appender, n: u32) -> ControlPiece {
        to.write(|graph, places| {
            let control = Arc::clone(&graph.controls()[n as usize]);
            let body =
                |(which, inner): (usize, &Inner<ValueType>)| (Arc::clone(&inner.graph), places.control(n, which));
            let bodies = control.graphs.iter().enumerate().map(body).collect();
            ControlPiece { control, bodies }
        })
    }

    /// Returns the types of the parameters of a graph.
    pub fn params(&self, which: usize) -> Vec<ParamType> {
        let graph = &self.bodies[which].0;
        let of = |(at, &param): (usize, &Value)| {
            let stored = graph.param_dtype(at).unwrap_or(DType::Bool);
            (graph.ty(param), stored, graph.shape(param).clone())
        };
        graph.params().iter().enumerate().map(of).collect()
    }

    /// Returns the types of the operands as parameters of its graphs, which determine the storage dtypes of weak ones.
    pub fn operand_types(&self, to: &Appender, operands: &[Value]) -> Vec<ParamType> {
        let mut types = to.param_types(operands);
        for which in (0..self.bodies.len()).rev() {
            for (param, ty) in self.params(which).into_iter().enumerate() {
                let operand = self.operand(which, param);
                // A graph takes one slice; the array has another shape.
                if let Some(own) = types.get_mut(operand) {
                    own.1 = ty.1;
                }
            }
        }
        types
    }

    /// Returns the operand index of a parameter.
    pub fn operand(&self, which: usize, param: usize) -> usize {
        self.control.graphs[which].operands[param] as usize
    }

    /// Returns the last graph: the body of a loop.
    pub fn last(&self) -> usize {
        self.bodies.len() - 1
    }
}
