//! Derivatives in the current trace: variables, and the dependence of outputs on them.

use super::recorder::{TRACES, Trace, describe, in_trace, read};
use super::written;
use crate::api::config::{self, Settings};
use crate::trace::expr::Expr;
use ndjit_ir::graph::{NodeId, RuleKind, Value};
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};
use ndjit_transform::batching::Batching;
use ndjit_transform::derivative::{self, DerivativeMode, Linearization, stop_gradient, variable};
use ndjit_transform::{AppendSettings, OpenGraph};

/// The outputs of a function of variables, in a trace.
#[derive(Debug)]
pub(crate) struct Linearized {
    trace: u32,
    linear: Linearization,
    what: &'static str,
    place: SourceLoc,
}

impl Trace {
    /// Returns the values of expressions in this trace.
    fn values(&mut self, exprs: &[Expr], what: &str, place: SourceLoc) -> std::result::Result<Vec<Value>, u32> {
        exprs.iter().map(|&x| self.expr(x, what, place)).collect()
    }
}

/// Returns the settings of nodes that transformations append to a trace.
fn append_settings() -> AppendSettings {
    let Settings { policy, state_bytes, .. } = config::settings();
    AppendSettings { policy, state_bytes }
}

/// Adds values as variables of a transformation. Poisoned values stay unchanged.
pub(crate) fn variables(values: &[Expr], what: &str, place: SourceLoc) -> Vec<Expr> {
    each(values, what, place, |trace, value, place| {
        variable((&mut trace.graph, &mut trace.places, append_settings()), value, place)
    })
}

/// Adds copies of values that are constant in derivatives.
pub(crate) fn constants(values: &[Expr], place: SourceLoc) -> Vec<Expr> {
    each(values, "stop_gradient", place, |trace, value, place| {
        stop_gradient((&mut trace.graph, &mut trace.places, append_settings()), value, place)
    })
}

fn each(
    values: &[Expr],
    what: &str,
    place: SourceLoc,
    make: impl Fn(&mut Trace, Value, SourceLoc) -> Value,
) -> Vec<Expr> {
    let place = written::place(place);
    let one = |&x: &Expr| {
        in_trace(|trace| {
            let value = trace.expr(x, what, place)?;
            Ok(make(trace, value, place))
        })
    };
    values.iter().map(one).collect()
}

/// Runs `ask` on the current trace, for the function `what`.
fn in_open<R>(what: &str, place: SourceLoc, ask: impl FnOnce(&mut Trace) -> Result<R>) -> Result<R> {
    TRACES.with_borrow_mut(|traces| match traces.last_mut() {
        Some(trace) => {
            trace.transformed = true;
            ask(trace)
        }
        None => Err(Error::new(ErrorCode::Traced, format!("{what} outside of a traced function"))
            .at(place)
            .help("a transformed function is jitted, as in `jit(grad(|x| sum(x * x)))(&x)`; other forms are called in one that is")),
    })
}

impl Linearized {
    /// Records the outputs of a function of variables.
    ///
    /// # Errors
    /// The first error of an output; `Traced` outside of traces.
    pub(crate) fn new(
        variables: &[Expr],
        outputs: &[Expr],
        mode: DerivativeMode,
        what: &'static str,
        place: SourceLoc,
    ) -> Result<Linearized> {
        let place = written::place(place);
        variables.iter().chain(outputs).try_for_each(|&x| read(x, what, |_, _| ()))?;
        in_open(what, place, |trace| {
            let failed = |trace: &Trace, error: u32| trace.errors[error as usize].clone();
            let variables = trace.values(variables, what, place).map_err(|error| failed(trace, error))?;
            let outputs = trace.values(outputs, what, place).map_err(|error| failed(trace, error))?;
            let graph = (&mut trace.graph, &mut trace.places, append_settings());
            let linear = Linearization::new(graph, &variables, &outputs, mode, place)?;
            Ok(Linearized { trace: trace.id, linear, what, place })
        })
    }

    /// Returns the outputs.
    pub(crate) fn outputs(&self) -> Vec<Expr> {
        self.values(|linear, _| Ok(linear.outputs().to_vec())).unwrap_or_default()
    }

    fn values(&self, ask: impl FnOnce(&Linearization, &mut Trace) -> Result<Vec<Value>>) -> Result<Vec<Expr>> {
        in_open(self.what, self.place, |trace| {
            if trace.id != self.trace {
                let headline = format!("{}: what it gave was used in another trace", self.what);
                return Err(Error::new(ErrorCode::Traced, headline)
                    .at(self.place)
                    .help("call it where it was made: in the same function, the same body of a loop"));
            }
            let made = ask(&self.linear, trace)?;
            trace.graph.check_expansion()?;
            Ok(made.into_iter().map(|value| trace.expr_of(Ok(value))).collect())
        })
    }

    /// Appends the gradient of the first output with respect to each variable.
    ///
    /// # Errors
    /// `Size` if the graph is too large.
    pub(crate) fn gradient(&self) -> Result<Vec<Expr>> {
        self.values(|linear, trace| {
            linear.gradient((&mut trace.graph, &mut trace.places, append_settings()), self.place)
        })
    }

    /// Appends the tangents of the outputs.
    ///
    /// # Errors
    /// The first error of a tangent; `Size` if the graph is too large.
    pub(crate) fn forward(&self, tangents: &[Expr], place: SourceLoc) -> Result<Vec<Expr>> {
        self.mapped(tangents, place, Linearization::forward)
    }

    /// Appends the cotangents of the variables.
    ///
    /// # Errors
    /// The first error of a cotangent; `Size` if the graph is too large.
    pub(crate) fn reverse(&self, cotangents: &[Expr], place: SourceLoc) -> Result<Vec<Expr>> {
        self.mapped(cotangents, place, Linearization::reverse)
    }

    fn mapped(
        &self,
        given: &[Expr],
        place: SourceLoc,
        map: impl FnOnce(&Linearization, OpenGraph<'_>, &[Option<Value>], SourceLoc) -> Result<Vec<Value>>,
    ) -> Result<Vec<Expr>> {
        given.iter().try_for_each(|&x| describe(x, self.what).map(drop))?;
        self.values(|linear, trace| {
            let values = trace.values(given, self.what, place).map_err(|error| trace.errors[error as usize].clone())?;
            let values: Vec<Option<Value>> = values.into_iter().map(Some).collect();
            map(linear, (&mut trace.graph, &mut trace.places, append_settings()), &values, place)
        })
    }
}

/// Returns the number of the next node of the current trace.
pub(crate) fn next_node() -> NodeId {
    TRACES.with_borrow(|traces| NodeId(traces.last().map_or(0, |trace| trace.graph.node_count() as u32)))
}

/// Adds the results of a function with a custom derivative; `beside` are the values of its [rule](RuleKind).
///
/// # Errors
/// The first error of a value; `Traced` outside of traces.
pub(crate) fn ruled(
    kind: RuleKind,
    results: &[Expr],
    beside: &[Expr],
    what: &'static str,
    place: SourceLoc,
) -> Result<Vec<Expr>> {
    let place = written::place(place);
    with_values([results, beside], what, place, |graph, [results, beside]| {
        derivative::ruled(graph, kind, results, beside, place)
    })
}

/// Adds the results of a checkpointed function of variables, recorded from a node on. Derivatives recompute it.
///
/// # Errors
/// The first error of a value; `Traced` outside of traces.
pub(crate) fn checkpointed(
    variables: &[Expr],
    results: &[Expr],
    first: NodeId,
    what: &'static str,
    place: SourceLoc,
) -> Result<Vec<Expr>> {
    let place = written::place(place);
    with_values([variables, results], what, place, |graph, [variables, results]| {
        derivative::checkpointed(graph, variables, results, first, place)
    })
}

/// Runs `make` on values of the current trace.
fn with_values<const N: usize>(
    exprs: [&[Expr]; N],
    what: &'static str,
    place: SourceLoc,
    make: impl FnOnce(OpenGraph<'_>, [&[Value]; N]) -> Result<Vec<Value>>,
) -> Result<Vec<Expr>> {
    exprs.iter().copied().flatten().try_for_each(|&x| read(x, what, |_, _| ()))?;
    in_open(what, place, |trace| {
        let mut values: [Vec<Value>; N] = std::array::from_fn(|_| Vec::new());
        for (values, exprs) in values.iter_mut().zip(exprs) {
            *values = trace.values(exprs, what, place).map_err(|error| trace.errors[error as usize].clone())?;
        }
        let graph = (&mut trace.graph, &mut trace.places, append_settings());
        let made = make(graph, values.each_ref().map(Vec::as_slice))?;
        trace.graph.check_expansion()?;
        Ok(made.into_iter().map(|value| trace.expr_of(Ok(value))).collect())
    })
}

/// Returns whether each output depends on any of these values.
///
/// # Errors
/// The first error of a value; `Traced` outside of traces.
pub(crate) fn depend(what: &'static str, outputs: &[Expr], on: &[Expr], place: SourceLoc) -> Result<Vec<bool>> {
    let place = written::place(place);
    outputs.iter().chain(on).try_for_each(|&x| read(x, what, |_, _| ()))?;
    in_open(what, place, |trace| {
        let failed = |trace: &Trace, error: u32| trace.errors[error as usize].clone();
        let on = trace.values(on, what, place).map_err(|error| failed(trace, error))?;
        let outputs = trace.values(outputs, what, place).map_err(|error| failed(trace, error))?;
        let at = |value: Value| trace.graph.producer(value).index();
        let count = outputs.iter().map(|&output| at(output) + 1).max().unwrap_or(0);
        let mut reached = vec![false; count];
        on.iter().map(|&value| at(value)).filter(|&at| at < count).for_each(|at| reached[at] = true);
        for n in 0..count {
            reached[n] |= trace.graph.operands(NodeId(n as u32)).iter().any(|&operand| reached[at(operand)]);
        }
        Ok(outputs.iter().map(|&output| reached[at(output)]).collect())
    })
}

/// Values of one lane each, with the number of lanes and their axes; `None` for values shared by all lanes.
#[derive(Debug)]
pub(crate) struct Lanes {
    trace: u32,
    batching: Batching,
    /// The values of one lane.
    pub values: Vec<Expr>,
    what: &'static str,
    place: SourceLoc,
}

impl Lanes {
    /// Creates the values of one lane, and checks the axes.
    ///
    /// # Errors
    /// The first error of a value; `Traced` outside of traces.
    pub(crate) fn new(
        given: &[(Expr, Option<usize>)],
        lanes: usize,
        what: &'static str,
        place: SourceLoc,
    ) -> Result<Lanes> {
        let place = written::place(place);
        in_open(what, place, |trace| {
            let mut batching = Batching::new(lanes);
            let mut values = Vec::with_capacity(given.len());
            for &(x, axis) in given {
                let value = trace.expr(x, what, place).map_err(|error| trace.errors[error as usize].clone())?;
                let lane = match axis {
                    None => value,
                    Some(axis) => {
                        batching.lane((&mut trace.graph, &mut trace.places, append_settings()), value, axis, place)?
                    }
                };
                values.push(trace.expr_of(Ok(lane)));
            }
            Ok(Lanes { trace: trace.id, batching, values, what, place })
        })
    }

    /// Appends the outputs of all lanes, with the lanes along axis 0.
    ///
    /// # Errors
    /// The first error of an output; `Size` and `Shape` for invalid arrays.
    pub(crate) fn all(mut self, outputs: &[Expr]) -> Result<Vec<Expr>> {
        outputs.iter().try_for_each(|&x| read(x, self.what, |_, _| ()))?;
        in_open(self.what, self.place, |trace| {
            if trace.id != self.trace {
                let headline = format!("{}: lanes were used in another trace", self.what);
                return Err(Error::new(ErrorCode::Traced, headline).at(self.place));
            }
            let values =
                trace.values(outputs, self.what, self.place).map_err(|error| trace.errors[error as usize].clone())?;
            let made =
                self.batching.all((&mut trace.graph, &mut trace.places, append_settings()), &values, self.place)?;
            trace.graph.check_expansion()?;
            Ok(made.into_iter().map(|value| trace.expr_of(Ok(value))).collect())
        })
    }
}
