//! Random programs on every engine. A failing one is shrunk and printed as a corpus file.

use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::{LoweredStep, Options, lower};
use ndjit_engines::{ALL, Matrix, check, compare};
use ndjit_ir::graph::{Control, ControlKind, Graph, Inner, NodeKind, Rewriter, Slot, SourceLocs, Value};
use ndjit_ir::kernel::{FusedKernel, KernelKind};
use ndjit_ir::loops::Role;
use ndjit_ir::{DType, Error, ErrorCode, Literal, LiteralValue, Shape, ValueType, Weak};
use ndjit_math::interp::eval_graph;
use ndjit_random::{Limits, Program, program, shrink};
use ndjit_transform::access::contiguous;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

fn run(seeds: std::ops::Range<u64>, limits: &Limits, matrix: Matrix) {
    let mut report = String::new();
    for seed in seeds {
        let program = program(seed, limits).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if check(&program, matrix).is_err() {
            let small = shrink(&program, |p: &Program| check(p, matrix).is_err());
            let difference = check(&small, matrix).expect_err("a shrunk program fails as well");
            let _ = writeln!(report, "seed {seed}: {}: {}\n{small}", difference.engine, difference.what);
            if report.lines().count() > 60 {
                break;
            }
        }
    }
    assert!(report.is_empty(), "add as tests/programs/NAME.graph:\n{report}");
}

#[test]
fn small_programs_of_everything() {
    run(0..150, &Limits { nodes: 12, elements: 70, ..Limits::default() }, ALL);
}

#[test]
fn branches_and_loops() {
    let matrix = Matrix {
        fuse: &[true, false],
        vector: &[VectorWidth::Scalar, VectorWidth::Bits128, VectorWidth::Widest],
        threads: &[1, 2],
        ..ALL
    };
    run(0..150, &Limits { nodes: 12, elements: 70, control: true, ..Limits::default() }, matrix);
}

/// The graph with each of its literals as a parameter, after the others; and the slots of these literals.
fn without_numbers(graph: &Graph<ValueType>) -> (Graph<ValueType>, Vec<Slot>) {
    let (mut out, mut notes, mut slots) = (Graph::new(), (), Vec::new());
    let mut rewriter = Rewriter::splice((graph, &()), (&mut out, &mut notes));
    graph.params().iter().for_each(|&param| {
        rewriter.copy(graph.producer(param));
    });
    for id in graph.node_ids() {
        if let NodeKind::Literal(slot) = graph.node(id).kind {
            let value = rewriter.new.param(graph.ty(graph.node(id).first()), &Shape::scalar());
            rewriter.set(id, value);
            slots.push(graph.slots()[slot.index()].clone());
        }
    }
    for id in graph.node_ids().filter(|&id| !matches!(graph.node(id).kind, NodeKind::Param(..) | NodeKind::Literal(_)))
    {
        rewriter.copy(id);
    }
    rewriter.finish();
    (out, slots)
}

/// The execution of a graph by another.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Runs {
    Called,
    /// As the taken branch.
    Branch,
    /// As the body of a loop of one step.
    Body,
    /// As the taken branch in the taken branch.
    Nested,
}

/// A graph of the same parameters that passes these scalars to `body`.
fn passing(body: &Arc<Graph<ValueType>>, slots: &[Slot], runs: Runs) -> Graph<ValueType> {
    let mut out = Graph::new();
    let count = body.params().len() - slots.len();
    let mut operands: Vec<Value> = Vec::new();
    for &param in &body.params()[..count] {
        let NodeKind::Param(_, stored) = body.node(body.producer(param)).kind else { continue };
        operands.push(out.param_stored(body.ty(param), stored, body.shape(param)));
    }
    for slot in slots {
        operands.push(out.literal(slot.clone(), slot.ty()));
    }
    let results: Vec<_> = body.outputs().iter().map(|&o| (body.ty(o), out.intern(body.shape(o)))).collect();
    let yes =
        |graph: &mut Graph<ValueType>, yes: bool| graph.literal(Slot::Value(Literal::weak(yes)), DType::Bool.into());
    let outputs = match runs {
        Runs::Called => {
            let child = out.child(Arc::clone(body));
            let first = out.add(NodeKind::Call(child), &operands, &results);
            out.node(out.producer(first)).results().collect()
        }
        Runs::Branch | Runs::Nested => {
            let taken: Vec<u32> = (1..=operands.len() as u32).collect();
            let inner = match runs {
                Runs::Nested => Arc::new(passing_params(body)),
                _ => Arc::clone(body),
            };
            let inner = Inner { graph: inner, operands: taken };
            operands.insert(0, yes(&mut out, true));
            let control =
                out.control(Arc::new(Control { kind: ControlKind::Cond, graphs: vec![inner.clone(), inner] }));
            let first = out.add(NodeKind::Control(control), &operands, &results);
            out.node(out.producer(first)).results().collect()
        }
        Runs::Body => {
            // The state: whether to continue, and the body's results, which it does not read.
            let mut state = vec![yes(&mut out, true)];
            for &output in body.outputs() {
                let zero = out.literal(Slot::Value(Literal::weak(0)), Weak::Int.into());
                let ValueType::Strong(dtype) = body.ty(output) else { unreachable!("a strong state") };
                let scalar = out.intern(&Shape::scalar());
                let cast = NodeKind::Cast(ndjit_ir::support::CastReason::Explicit);
                let zero = out.add(cast, &[zero], &[(dtype.into(), scalar)]);
                let (view, shape) = ndjit_ir::view::broadcast_to(&Shape::scalar(), body.shape(output)).unwrap();
                state.push(out.view(zero, view, &shape));
            }
            let (own, taken) = (state.len() as u32, operands.len() as u32);
            let mut condition = Graph::new();
            let goes_on = condition.param(DType::Bool.into(), &Shape::scalar());
            condition.set_outputs(vec![goes_on]);
            let mut step = passing(body, &[], Runs::Called);
            let no = yes(&mut step, false);
            let outputs = [no].into_iter().chain(step.outputs().iter().copied()).collect();
            step.set_outputs(outputs);
            let graphs = [
                Inner { graph: Arc::new(condition), operands: vec![0] },
                Inner { graph: Arc::new(step), operands: (own..own + taken).collect() },
            ];
            let flag = out.intern(&Shape::scalar());
            state.extend(operands);
            let control = out.control(Arc::new(Control { kind: ControlKind::While, graphs: graphs.into() }));
            let all: Vec<_> = [(DType::Bool.into(), flag)].into_iter().chain(results).collect();
            let first = out.add(NodeKind::Control(control), &state, &all);
            out.node(out.producer(first)).results().skip(1).collect()
        }
    };
    out.set_outputs(outputs);
    out
}

/// The graph as the taken branch, with its own parameters.
fn passing_params(body: &Arc<Graph<ValueType>>) -> Graph<ValueType> {
    passing(body, &[], Runs::Branch)
}

/// The `n`th scalar of a kind, beyond 32 bits.
fn long(literal: Literal, n: usize) -> Literal {
    let nth = 1.0 + n as f64;
    match literal.ty() {
        ValueType::Weak(Weak::Int) => Literal::weak((1_i64 << 40) + n as i64),
        ValueType::Weak(Weak::Float) => Literal::weak(0.1 * nth),
        ValueType::Weak(Weak::Complex) => Literal::weak(LiteralValue::Complex(0.1 * nth, 0.7 / nth)),
        ValueType::Strong(_) => literal,
    }
}

/// A body's results do not depend on its execution: scalars stay exact until they meet an array.
#[test]
fn a_body_inlined_is_a_body_called() {
    let matrix = Matrix { fuse: &[true], vector: &[VectorWidth::Widest], threads: &[1], strided: &[false], ..ALL };
    let (mut bodies, mut numbers) = ([0; 3], 0);
    for seed in 0..240 {
        // Arrays of 64 bits, and the default dtypes, in which scalar results are stored.
        let dtypes = DType::F64 | DType::I64 | DType::C128 | DType::F32 | DType::I32 | DType::C64;
        let limits = Limits { nodes: 14, elements: 70, control: seed % 2 == 1, dtypes, ..Limits::default() };
        let mut original = program(seed, &limits).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let (body, mut slots) = without_numbers(&original.graph);
        let is_wide = |kind| kind != ValueType::Weak(Weak::Int) || seed % 3 == 0;
        for (n, slot) in slots.iter_mut().enumerate() {
            if let Slot::Value(literal) = slot
                && is_wide(literal.ty())
            {
                *literal = long(*literal, n);
            }
        }
        for (n, (_, literal)) in original.scalars.iter_mut().enumerate() {
            if is_wide(literal.ty()) {
                *literal = long(*literal, n);
            }
        }
        let strong = body.outputs().iter().all(|&output| !body.ty(output).is_weak());
        let body = Arc::new(body);
        let variant = |runs| Program { graph: passing(&body, &slots, runs), ..original.clone() };
        let results = |program: &Program| -> Result<Vec<_>, Error> {
            let layouts = program.params.iter().map(|x| contiguous(&x.shape, x.dtype).unwrap()).collect::<Vec<_>>();
            let options = Options { verify: true, ..Options::default() };
            let lowered = lower(&program.graph, &SourceLocs::default(), &layouts, &options)?;
            eval_graph(&lowered.typed, &program.params, &program.scalars)
        };
        let expected = match results(&variant(Runs::Called)) {
            Ok(expected) => expected,
            // An integer that does not fit.
            Err(error) if error.code() == ErrorCode::Literal => continue,
            Err(error) => panic!("seed {seed}: {error}\n{original}"),
        };
        numbers += slots.len();
        for (n, runs) in [Runs::Branch, Runs::Nested, Runs::Body].into_iter().enumerate() {
            // A loop stores weak numbers in its state.
            if runs == Runs::Body && !strong {
                continue;
            }
            let variant = variant(runs);
            let found = results(&variant).unwrap_or_else(|e| panic!("seed {seed}, {runs:?}: {e}\n{variant}"));
            let compared = compare("interpreter", &expected, &found).and_then(|()| check(&variant, matrix));
            if let Err(difference) = compared {
                panic!("seed {seed}, {runs:?}: {}: {}\n{variant}", difference.engine, difference.what);
            }
            bodies[n] += 1;
        }
    }
    println!("{bodies:?} bodies, {numbers} numbers");
    assert!(bodies[0] > 160 && bodies[2] > 60 && numbers > 300, "{bodies:?} {numbers}");
}

#[test]
fn many_small_programs_fused_and_vectorised() {
    let matrix = Matrix {
        fuse: &[true],
        vector: &[VectorWidth::Bits128, VectorWidth::Bits256, VectorWidth::Widest],
        threads: &[1],
        ..ALL
    };
    run(1_000..1_400, &Limits { nodes: 16, elements: 140, ..Limits::default() }, matrix);
}

#[test]
fn contracted_programs() {
    let matrix =
        Matrix { vector: &[VectorWidth::Scalar, VectorWidth::Widest], threads: &[1], fp_contract: true, ..ALL };
    run(3_000..3_100, &Limits { nodes: 16, elements: 140, ..Limits::default() }, matrix);
    run(3_100..3_150, &Limits { nodes: 12, elements: 70, control: true, ..Limits::default() }, matrix);
}

/// Loops of each kind whose steps are one nest, with the state in registers and in memory.
#[test]
fn programs_have_compiled_loops() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..3_000 {
        let program = program(seed, &Limits { nodes: 12, elements: 70, control: true, ..Limits::default() }).unwrap();
        let layouts = program.params.iter().map(|x| contiguous(&x.shape, x.dtype).unwrap());
        let layouts: Vec<_> = layouts.collect();
        let lowered = lower(&program.graph, &SourceLocs::default(), &layouts, &Options::default()).unwrap();
        for program in std::iter::once(&lowered).chain(lowered.bodies()) {
            for control in program.steps.iter().filter_map(LoweredStep::control) {
                let Some(steps) = &control.compiled else { continue };
                let form = format!("{:?}", steps.form);
                let form = form.split(' ').next().unwrap_or_default();
                let elements = steps.nest.outputs.iter().any(|access| access.role == Role::Rows);
                let form = if elements { "elements" } else { form };
                let branches = control.bodies.iter().any(|body| !body.simplified.controls().is_empty());
                let form = if branches { "branches" } else { form };
                *seen.entry(format!("{} {form}", control.fused.control.0.kind.name())).or_default() += 1;
            }
        }
    }
    let kinds: Vec<&str> = seen.keys().map(String::as_str).collect();
    assert_eq!(
        kinds,
        [
            "for Plain",
            "for Steps",
            "for branches",
            "for elements",
            "scan Plain",
            "scan Steps",
            "scan branches",
            "while While",
            "while branches",
            "while elements"
        ],
        "{seen:?}"
    );
    assert!(seen.values().all(|&count| count > 5), "{seen:?}");
}

/// Kernels of which only some indices have an effect, on every engine.
#[test]
fn programs_have_ranges() {
    let [mut ends, mut rows] = [0; 2];
    for (seeds, control) in [(0..8_000, false), (0..4_000, true)] {
        for seed in seeds {
            let limits = Limits { nodes: 16, elements: 140, control, ..Limits::default() };
            let program = program(seed, &limits).unwrap();
            let layouts = program.params.iter().map(|x| contiguous(&x.shape, x.dtype).unwrap());
            let layouts: Vec<_> = layouts.collect();
            let lowered = lower(&program.graph, &SourceLocs::default(), &layouts, &Options::default()).unwrap();
            let before = ends + rows;
            for program in std::iter::once(&lowered).chain(lowered.bodies()) {
                for scheduled in program.kernels().map(|kernel| &kernel.scheduled) {
                    for range in &scheduled.ranges {
                        let own = usize::from(scheduled.domain.extents[range.index] > range.step);
                        *if range.index < scheduled.nest.parallel_rank() { &mut rows } else { &mut ends } += own;
                    }
                }
            }
            if ends + rows > before {
                run(seed..seed + 1, &limits, Matrix { fuse: &[true], threads: &[1, 2], ..ALL });
            }
        }
    }
    println!("{ends} reductions that end early, {rows} kernels of some rows");
    assert!(ends > 8 && rows > 60, "{ends} {rows}");
}

#[test]
fn programs_have_what_is_hard() {
    let [mut scans, mut seen, mut tiled, mut chained, mut copied, mut many] = [0; 6];
    for seed in 0..6_000 {
        let program = program(seed, &Limits { nodes: 16, elements: 140, ..Limits::default() }).unwrap();
        let layouts = program.params.iter().map(|x| contiguous(&x.shape, x.dtype).unwrap());
        let layouts: Vec<_> = layouts.collect();
        let lowered = lower(&program.graph, &SourceLocs::default(), &layouts, &Options::default()).unwrap();
        let graph = &lowered.simplified;
        let fused: Vec<&FusedKernel> = lowered.kernels().map(|kernel| &kernel.fused).collect();
        for kernel in fused.iter().filter(|k| matches!(k.kind, KernelKind::Scan(_) | KernelKind::Sort(_))) {
            scans += 1;
            let is_view = |value| matches!(graph.node(graph.producer(value)).kind, NodeKind::View(_));
            seen += usize::from(kernel.inputs.iter().any(|input| is_view(input.value)));
        }
        for launch in lowered.launches.iter().filter(|launch| launch.steps.len() > 1) {
            let kernels = lowered.steps[launch.steps.clone()].iter().filter_map(LoweredStep::kernel);
            tiled += 1;
            chained += usize::from(kernels.filter(|kernel| kernel.fused.kind.function(0).is_some()).count() > 1);
        }
        many += fused.iter().filter(|kernel| kernel.kind.function(0).is_some() && kernel.inputs.len() > 8).count();
        copied += fused.iter().filter(|k| k.outputs.iter().any(|&v| !k.stores(graph.shape(v)))).count();
    }
    println!(
        "{scans} scans, {seen} of views; {tiled} in tiles, {chained} with reductions; {copied} copies; {many} of many"
    );
    assert!(
        scans > 60 && seen > 10 && tiled > 120 && chained > 20 && copied > 0 && many > 10,
        "{scans} {seen} {tiled} {chained} {copied} {many}"
    );
}
