//! The verifiers of fused kernels. They check of each kernel that
//!
//! - its body has the kernel's numbers of inputs, literals and outputs, with at least one output;
//! - every input's shape broadcasts to the kernel's;
//! - statements use earlier ones; loads and literals exist and have the dtype the body declares; an op matches its operands,
//!   its computing dtype and the statement's dtype;
//! - reductions are along axes of the kernel, with an elementary reduction of each output's dtype; scans and sorts along one axis,
//!   with a scan or a sort for each output;
//! - no value is stored twice.
//!
//! They check of all steps of a graph together ([`verify_steps`]) that
//!
//! - each value read is a parameter, an iota, stored by earlier steps, or a view of such, so the steps can run in order;
//! - control flow has the operands and results of its graphs;
//! - values read and stored have the shapes and dtypes the kernel says; literal slots exist;
//! - no two steps store the same value, unless each stores a disjoint part; every output of the graph except parameters is
//!   stored;
//! - a partial output has the type and shape of the value of the rest;
//! - a stored row has an array for the rest, and its index is one integer; so has a row that is read in place.

use super::{
    FusedKernel, FusedStep, KernelInput, KernelKind, KernelReduce, KernelScatter, OpBody, Reads, ScalarId, Stmt,
    StmtKind,
};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::{Control, Graph, NodeKind, Value};
use crate::problems::Problems;
use crate::reduction::{AxisFunction, AxisSet, Reduction};
use crate::shape::Shape;
use crate::view::DisjointRegions;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

impl FusedKernel {
    /// Checks the kernel by itself.
    ///
    /// # Errors
    /// `Verify`, one fact per problem.
    pub fn verify(&self) -> Result<()> {
        let mut problems = Problems::default();
        check_kernel(self, &mut problems);
        problems.verdict("kernel")
    }
}

/// Checks the steps of a graph: each by itself, and that they compute the graph's outputs in order.
///
/// # Errors
/// `Verify`, one fact per problem.
pub fn verify_steps(steps: &[FusedStep], graph: &Graph<DType>) -> Result<()> {
    let mut problems = Problems::default();
    let is_param = |value: Value| matches!(graph.node(graph.producer(value)).kind, NodeKind::Param(..));
    let is_position = |value: Value| matches!(graph.node(graph.producer(value)).kind, NodeKind::Iota(_));
    let mut stored: FxHashMap<Value, StoredParts> = FxHashMap::default();
    for (n, step) in steps.iter().enumerate() {
        if problems.is_full() {
            break;
        }
        let known = |value: Value| value.index() < graph.value_count();
        // A view is read where its operand is stored, and so is a row.
        let seen = |&value: &Value| match graph.node(graph.producer(value)).kind {
            kind if is_seen(kind) && !stored.contains_key(&value) => {
                graph.operands(graph.producer(value)).first().copied()
            }
            _ => None,
        };
        let base = |value: Value| std::iter::successors(Some(value), seen).last().unwrap_or(value);
        let stands = |value: Value| is_param(base(value)) || is_position(base(value)) || complete(&stored, base(value));
        // An index may be read before its cast.
        let index = |value: Value| {
            let cast = |&value: &Value| match graph.node(graph.producer(base(value))).kind {
                NodeKind::Cast(()) => graph.operands(graph.producer(base(value))).first().copied(),
                _ => None,
            };
            graph.shape(value).size() == Ok(1) && std::iter::successors(Some(value), cast).any(stands)
        };
        let rows = |value: Value| {
            std::iter::successors(Some(value), seen)
                .filter(|&row| graph.node(graph.producer(row)).kind == NodeKind::Gather && !stored.contains_key(&row))
                .all(|row| index(graph.operands(graph.producer(row))[1]))
        };
        let there = |value: Value| {
            if !known(value) {
                Err("does not exist".to_owned())
            } else if !stands(value) {
                Err("is no parameter and no earlier kernel stores it".to_owned())
            } else if !rows(value) {
                Err("is a row at an index that is not one, or that no earlier kernel stores".to_owned())
            } else {
                Ok(())
            }
        };
        let kernel = match step {
            FusedStep::Kernel(kernel) => kernel,
            FusedStep::Control(control) => {
                for (i, &value) in control.operands.iter().enumerate() {
                    problems.check(there(value), || format!("control flow {n}: in{i} = {value}"));
                }
                for (i, &(result, value)) in control.results.iter().enumerate() {
                    let checked = match known(value) {
                        false => Err("does not exist".to_owned()),
                        true if stored.contains_key(&value) => Err("is stored by an earlier step".to_owned()),
                        true => check_control_result(&control.control.0, result, (graph.ty(value), graph.shape(value))),
                    };
                    problems.check(checked, || format!("control flow {n}: out{i} = result {result} -> {value}"));
                    stored.insert(value, StoredParts::Whole);
                }
                continue;
            }
        };
        let mut own = Problems::default();
        check_kernel(kernel, &mut own);
        if !own.is_empty() {
            problems.check(own.verdict("kernel").map_err(|error| error.facts().join("; ")), || format!("kernel {n}"));
            continue;
        }
        for (i, (input, &dtype)) in kernel.inputs.iter().zip(&kernel.body.inputs).enumerate() {
            let value = input.value;
            let of_elements = matches!(input.reads, Reads::Elements | Reads::GatherSource);
            let checked = there(value).and_then(|()| {
                if of_elements && graph.ty(value) != dtype || *graph.shape(value) != input.shape {
                    return Err(format!("is {}{} in the graph", graph.ty(value), graph.shape(value)));
                }
                Ok(())
            });
            problems.check(checked, || format!("kernel {n}: in{i} = {value} : {dtype}{}", input.shape));
        }
        for slot in kernel.literals.iter().filter(|slot| slot.index() >= graph.slots().len()) {
            problems.note(format!("kernel {n}: literal slot {slot} does not exist"));
        }
        let rest = kernel.kind.part().and_then(|part| part.into);
        for &start in kernel.kind.part().into_iter().flat_map(|part| &part.starts) {
            let integer = known(start) && graph.ty(start).is_int() && index(start) && rest.is_some();
            problems.check(if integer { Ok(()) } else { Err("is no stored index".to_owned()) }, || {
                format!("kernel {n}: start {start}")
            });
        }
        if let (Some(into), [value, ..]) = (rest, &kernel.outputs[..]) {
            let checked = there(into).and_then(|()| {
                // A reshape keeps the row-major order.
                let like = known(*value)
                    && graph.ty(into) == graph.ty(*value)
                    && graph.shape(into).size() == graph.shape(*value).size();
                if like { Ok(()) } else { Err(format!("is {}{} in the graph", graph.ty(into), graph.shape(into))) }
            });
            problems.check(checked, || format!("kernel {n}: rest {into}"));
        }
        for (i, (&value, &scalar)) in kernel.outputs.iter().zip(&kernel.body.outputs).enumerate() {
            let dtype = kernel.body.dtype(scalar);
            let gives = |result| match kernel.kind.function(i) {
                Some(function) => function.stores(dtype, result),
                None => dtype == result,
            };
            let checked = if !known(value) {
                Err("does not exist".to_owned())
            } else if !gives(graph.ty(value)) || !stores(kernel, graph, value) {
                Err(format!("is {}{} in the graph", graph.ty(value), graph.shape(value)))
            } else {
                let part = kernel.kind.part().and_then(|part| part.view.region(graph.shape(value), &kernel.shape));
                let again = || "is stored by an earlier kernel".to_owned();
                match (part.filter(|_| rest.is_none()), stored.entry(value)) {
                    (None, Entry::Vacant(entry)) => {
                        entry.insert(StoredParts::Whole);
                        Ok(())
                    }
                    (None, Entry::Occupied(_)) => Err(again()),
                    (Some(part), entry) => {
                        let new = || StoredParts::Parts(DisjointRegions::new(graph.shape(value).clone()));
                        match entry.or_insert_with(new) {
                            StoredParts::Parts(parts) => parts.add(part).map_err(|()| again()),
                            StoredParts::Whole => Err(again()),
                        }
                    }
                }
            };
            let stored = || match kernel.kind.function(i) {
                None => format!("{scalar} -> {value} : {dtype}{}", kernel.shape),
                Some(function) => {
                    let shape = kernel.kind.reduced().reduced(&kernel.shape, false);
                    format!("{function} {scalar} -> {value} : {dtype}{shape}")
                }
            };
            problems.check(checked, || format!("kernel {n}: out{i} = {}", stored()));
        }
    }
    let has_memory = |value: Value| {
        let seen = |&value: &Value| match graph.node(graph.producer(value)).kind {
            kind if kind.row().is_view => graph.operands(graph.producer(value)).first().copied(),
            _ => None,
        };
        std::iter::successors(Some(value), seen).any(|value| complete(&stored, value))
    };
    for &value in graph.outputs().iter().filter(|&&value| !is_param(value) && !has_memory(value)) {
        problems.note(format!("the graph's output {value} is stored by no kernel"));
    }
    problems.verdict("kernels")
}

/// Returns `true` if a node's value may be read in the memory of its first operand.
fn is_seen(kind: NodeKind<DType>) -> bool {
    kind.row().is_view || kind == NodeKind::Gather
}

/// The stored parts of a value.
enum StoredParts {
    /// All of it.
    Whole,
    /// Parts of it.
    Parts(DisjointRegions),
}

/// Returns `true` if all of a value is stored.
fn complete(stored: &FxHashMap<Value, StoredParts>, value: Value) -> bool {
    stored.get(&value).is_some_and(|stored| match stored {
        StoredParts::Whole => true,
        StoredParts::Parts(parts) => parts.are_all(),
    })
}

/// Returns `true` if a kernel stores a value; a reshape also in the shape of its operand.
fn stores(kernel: &FusedKernel, graph: &Graph<DType>, value: Value) -> bool {
    let id = graph.producer(value);
    let copied = graph.operands(id).first().filter(|_| graph.node(id).kind == NodeKind::Reshape);
    kernel.stores(graph.shape(value)) || copied.is_some_and(|&operand| kernel.stores(graph.shape(operand)))
}

fn check_kernel(kernel: &FusedKernel, problems: &mut Problems) {
    let body = &kernel.body;
    check_body(body, problems);
    for (what, has, reads) in [
        ("inputs", kernel.inputs.len(), body.inputs.len()),
        ("literals", kernel.literals.len(), body.literals.len()),
        (
            "outputs",
            kernel.outputs.len() + usize::from(matches!(kernel.kind, KernelKind::Scatter(_))),
            body.outputs.len(),
        ),
    ] {
        if has != reads {
            problems.note(format!("the kernel has {has} {what}, its body {reads}"));
        }
    }
    for (n, input) in kernel.inputs.iter().enumerate() {
        if input.seen().broadcast(&kernel.shape).as_ref() != Some(&kernel.shape) {
            problems.note(format!("in{n} = {} : {} does not broadcast to {}", input.value, input.shape, kernel.shape));
        }
        problems.check(check_reads(&kernel.inputs, body, n), || format!("in{n} = {}", input.value));
    }
    match &kernel.kind {
        KernelKind::Map | KernelKind::Part(_) => {}
        KernelKind::Reduce(reduce) => check_reduce(kernel, reduce, problems),
        KernelKind::Contract(reduce) => {
            check_reduce(kernel, reduce, problems);
            if reduce.outputs[..] != [Reduction::Sum] || !body.is_product() {
                problems
                    .note("a kernel that contracts sums the products of two arrays, and does nothing else".to_owned());
            }
        }
        KernelKind::Scan(scan) => {
            check_axes(kernel, AxisSet::one(scan.axis), problems);
            check_accumulates(body, &scan.outputs, problems);
        }
        KernelKind::Sort(sort) => {
            check_axes(kernel, AxisSet::one(sort.axis), problems);
            check_accumulates(body, &sort.outputs, problems);
        }
        KernelKind::Scatter(scatter) => {
            problems.check(check_scatter(kernel, *scatter), || "scatter".to_owned());
        }
    }
    let mut stored = FxHashSet::default();
    for value in kernel.outputs.iter().filter(|value| !stored.insert(**value)) {
        problems.note(format!("{value} is stored twice"));
    }
}

fn check_axes(kernel: &FusedKernel, axes: AxisSet, problems: &mut Problems) {
    if !axes.within(kernel.shape.rank()) {
        problems.note(format!("axes {axes} of {}", kernel.shape));
    }
}

fn check_reduce(kernel: &FusedKernel, reduce: &KernelReduce, problems: &mut Problems) {
    check_axes(kernel, reduce.axes, problems);
    check_accumulates(&kernel.body, &reduce.outputs, problems);
}

/// Checks that each output has an elementary reduction, a scan or a sort of its dtype.
fn check_accumulates<F: Copy + Into<AxisFunction>>(body: &OpBody, functions: &[F], problems: &mut Problems) {
    if functions.len() != body.outputs.len() {
        problems.note(format!("{} reductions of {} outputs", functions.len(), body.outputs.len()));
    }
    for (n, function) in functions.iter().map(|&function| function.into()).enumerate() {
        if let Some(dtype) = output_dtype(body, n).filter(|&dtype| !function.accumulates(dtype)) {
            problems.note(format!("out{n}: {function} does not accumulate {dtype}"));
        }
    }
}

/// Checks that control flow has a result of this type.
fn check_control_result(control: &Control<DType>, result: u32, (dtype, shape): (DType, &Shape)) -> Result<(), String> {
    match control.result(result as usize) {
        Some((own, of)) if (own, &of) == (dtype, shape) => Ok(()),
        Some(_) => Err(format!("is {dtype}{shape} in the graph")),
        None => Err(format!("there are {} results", control.results())),
    }
}

/// Checks that a scatter has a supported dtype, an index, and an array of that dtype.
fn check_scatter(kernel: &FusedKernel, KernelScatter { scatter, into }: KernelScatter) -> Result<(), String> {
    let input = kernel.inputs.get(into as usize).filter(|input| input.reads == Reads::GatherSource);
    let dtypes = [0, 1].map(|n| output_dtype(&kernel.body, n));
    let of = kernel.body.inputs.get(into as usize).copied();
    match (input, dtypes) {
        (None, _) => Err(format!("in{into} has no rows")),
        (_, [Some(dtype), Some(DType::I64)]) if scatter.takes(dtype) && of == Some(dtype) => Ok(()),
        (_, dtypes) => Err(format!("{} of {dtypes:?} into {of:?}", scatter.name())),
    }
}

/// Checks that rows are of an array with a first axis and only gathered, and that their bound and stride follow.
fn check_reads(inputs: &[KernelInput], body: &OpBody, n: usize) -> Result<(), String> {
    let reads = |n: usize| inputs.get(n).map(|input| (input.value, input.reads));
    let gathers = body.stmts.iter().any(|stmt| stmt.kind == StmtKind::Gather(n as u32));
    let loads = body.stmts.iter().any(|stmt| stmt.kind == StmtKind::Load(n as u32));
    let KernelInput { value, ref shape, reads: own } = inputs[n];
    match own {
        Reads::Elements if gathers => Err("its rows are gathered".to_owned()),
        Reads::Elements => Ok(()),
        Reads::GatherBound | Reads::GatherStride if gathers || body.inputs.get(n) != Some(&DType::I64) => {
            Err("rows are told of by an i64".to_owned())
        }
        Reads::GatherBound | Reads::GatherStride => Ok(()),
        Reads::GatherSource if loads => Err("rows are gathered, not loaded".to_owned()),
        Reads::GatherSource if shape.rank() == 0 => Err("a scalar has no rows".to_owned()),
        Reads::GatherSource
            if [reads(n + 1), reads(n + 2)]
                != [Some((value, Reads::GatherBound)), Some((value, Reads::GatherStride))] =>
        {
            Err("the inputs that follow do not tell of its rows".to_owned())
        }
        Reads::GatherSource => Ok(()),
    }
}

/// Checks a body of ops by itself.
pub(crate) fn check_body(body: &OpBody, problems: &mut Problems) {
    for (index, stmt) in body.stmts.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        problems.check(check_stmt(body, index, stmt), || body.statement(index));
    }
    if body.outputs.is_empty() {
        problems.note("nothing is stored".to_owned());
    }
    for (n, scalar) in body.outputs.iter().enumerate().filter(|(_, scalar)| scalar.index() >= body.stmts.len()) {
        problems.note(format!("out{n} = {scalar} does not exist"));
    }
}

fn check_stmt(body: &OpBody, index: usize, stmt: &Stmt) -> Result<(), String> {
    if let Some(arg) = stmt.args.iter().find(|arg| arg.index() >= index) {
        return Err(format!("{arg} does not come before the statement"));
    }
    let takes = |takes: usize| match stmt.args.len() {
        n if n == takes => Ok(()),
        n => Err(format!("takes {takes} operands, has {n}")),
    };
    let declared = |dtypes: &[DType], n: u32| match dtypes.get(n as usize) {
        Some(&dtype) if dtype == stmt.dtype => Ok(()),
        Some(dtype) => Err(format!("is declared as {dtype}")),
        None => Err("is not declared".to_owned()),
    };
    match stmt.kind {
        StmtKind::Load(n) => takes(0).and_then(|()| declared(&body.inputs, n)),
        StmtKind::Gather(n) | StmtKind::Address(n) => {
            takes(1)?;
            let index = body.dtype(stmt.args[0]);
            let follow = (1..=2).map(|more| body.inputs.get((n as usize).saturating_add(more)));
            if index != DType::I64 || follow.into_iter().any(|dtype| dtype != Some(&DType::I64)) {
                return Err("rows, their last position and their step are i64".to_owned());
            }
            match stmt.kind {
                StmtKind::Address(_) if stmt.dtype != DType::I64 => Err("an address is an i64".to_owned()),
                StmtKind::Address(_) => Ok(()),
                _ => declared(&body.inputs, n),
            }
        }
        StmtKind::Literal(n) => takes(0).and_then(|()| declared(&body.literals, n)),
        StmtKind::Cast => takes(1),
        StmtKind::Op(op) => {
            takes(op.arity())?;
            let compute = body.compute_dtype(stmt, op);
            for (n, &arg) in stmt.args.iter().enumerate() {
                let (expected, found) = (op.operand_dtype(n, compute), body.dtype(arg));
                if expected != found {
                    return Err(format!("{arg} is {found}, {op} in {compute} takes {expected}"));
                }
            }
            if !op.row().domain.contains(compute) {
                return Err(format!("{op} does not compute in {compute}"));
            }
            match op.result_dtype(compute) {
                expected if expected == stmt.dtype => Ok(()),
                expected => Err(format!("the result's type is {expected}, not {}", stmt.dtype)),
            }
        }
    }
}

/// The dtype of output `n`'s scalar; `None` if it does not exist.
pub(crate) fn output_dtype(body: &OpBody, n: usize) -> Option<DType> {
    let scalar: &ScalarId = body.outputs.get(n)?;
    body.stmts.get(scalar.index()).map(|stmt| stmt.dtype)
}
