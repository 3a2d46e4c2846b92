//! Random programs: their properties hold, and graph text round-trips on all of them.

use ndjit_ir::graph::{Graph, NodeKind, Slot};
use ndjit_ir::reduction::AxisFunction;
use ndjit_ir::support::CastReason;
use ndjit_ir::{DType, DTypeSet, Op, Policy, Shape, ValueType};
use ndjit_random::{Limits, Program, Rng, program, shrink, special_words, tensor};
use std::collections::{BTreeMap, BTreeSet};

fn programs(limits: &Limits) -> impl Iterator<Item = Program> + '_ {
    (0..4_000).map(|seed| program(seed, limits).unwrap())
}

#[test]
fn programs_verify_and_their_text_round_trips() {
    for program in programs(&Limits::default()) {
        program.graph.verify().unwrap_or_else(|error| panic!("{error}\n{program}"));
        let text = program.graph.to_string();
        let parsed: Graph<ValueType> = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(parsed.to_string(), text);
        assert_eq!(parsed.node_count(), program.graph.node_count());
        assert_eq!(parsed.slots(), program.graph.slots());
        assert_eq!(parsed.outputs(), program.graph.outputs());
        for id in parsed.node_ids() {
            let (a, b) = (parsed.node(id), program.graph.node(id));
            assert_eq!((a.kind, parsed.operands(id)), (b.kind, program.graph.operands(id)));
            assert!(a.results().eq(b.results()));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_program() {
    let make = || program(7, &Limits::default()).unwrap();
    let (a, b) = (make(), make());
    assert_eq!(a.to_string(), b.to_string());
    assert_eq!(a.params, b.params);
    assert_ne!(a.to_string(), program(8, &Limits::default()).unwrap().to_string());
}

#[test]
fn arguments_fit_their_parameters() {
    for program in programs(&Limits::default()) {
        assert_eq!(program.params.len(), program.graph.params().len());
        for (&value, tensor) in program.graph.params().iter().zip(&program.params) {
            assert_eq!(tensor.dtype, program.graph.storage_dtype(value, Policy::default()));
            assert_eq!(&tensor.shape, program.graph.shape(value));
        }
        for slot in program.graph.slots() {
            if let Slot::Argument { index, ty } = slot {
                let (_, literal) = program.scalars.iter().find(|(argument, _)| argument == index).unwrap();
                assert_eq!(literal.ty(), ValueType::Weak(*ty));
            }
        }
    }
}

/// Counts of the contents of the programs of a few seeds.
#[test]
fn programs_cover_everything() {
    let mut ops: BTreeMap<(Op, DType), usize> = BTreeMap::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let (mut shared, mut dead) = (0, 0);
    for program in programs(&Limits::default()) {
        let graph = &program.graph;
        let mut uses = vec![0; graph.value_count()];
        for id in graph.node_ids() {
            graph.operands(id).iter().for_each(|operand| uses[operand.index()] += 1);
            for value in graph.node(id).results() {
                seen.extend(graph.shape(value).extents().iter().map(|extent| format!("extent {extent}")));
                seen.insert(format!("rank {}", graph.shape(value).rank()));
                seen.insert(format!("type {}", graph.ty(value)));
            }
            let kind = graph.node(id).kind;
            seen.insert(kind.axis_function().map_or(kind.row().name, AxisFunction::name).to_owned());
            if let NodeKind::Op(op, policy) = kind {
                let types: Vec<ValueType> = graph.operands(id).iter().map(|&operand| graph.ty(operand)).collect();
                let compute = policy.commit(policy.resolve_op(op, &types).unwrap().compute);
                *ops.entry((op, compute)).or_default() += 1;
                seen.insert(format!("policy {policy}"));
            }
            if let NodeKind::Literal(slot) = kind {
                let what = match &graph.slots()[slot.index()] {
                    Slot::Value(literal) if literal.ty().is_weak() => "weak literal",
                    Slot::Value(_) => "strong literal",
                    Slot::Argument { .. } => "passed literal",
                };
                seen.insert(what.to_owned());
            }
            if let NodeKind::Reduce(reduce) = kind {
                seen.insert(format!("keepdims {}", reduce.keepdims));
                seen.insert(format!("{} reduced", reduce.axes.iter().count()));
                seen.extend(reduce.request.dtype.map(|dtype| format!("asked for {dtype}")));
            }
            if let NodeKind::Scatter(scatter) = kind {
                seen.insert(format!("scatter {}", scatter.name()));
            }
            if let NodeKind::Call(_) = kind {
                seen.insert(format!("call of {}", graph.node(id).result_count()));
            }
            if let NodeKind::Concat(..) = kind {
                seen.insert(format!("concat of {}", graph.operands(id).len()));
            }
        }
        shared += uses.iter().filter(|&&n| n > 1).count();
        dead += graph.params().iter().filter(|param| uses[param.index()] == 0).count();
        seen.insert(format!("outputs {}", graph.outputs().len()));
    }
    let mut missing: Vec<String> = Vec::new();
    for op in Op::ALL {
        for dtype in op.row().domain.iter().filter(|&dtype| !ops.contains_key(&(op, dtype))) {
            missing.push(format!("{op} in {dtype}"));
        }
    }
    let types = ValueType::ALL.iter().map(|ty| format!("type {ty}"));
    let extents = [0, 1, 3, 16, 17, 67].iter().map(|extent| format!("extent {extent}"));
    let other = ["rank 0", "rank 1", "rank 2", "rank 3", "rank 4", "policy strict", "call of 1", "call of 2"];
    let movement = ["scatter set", "scatter add", "scatter min", "scatter max", "concat of 2", "concat of 3", "rank 5"];
    let literals = ["weak literal", "strong literal", "passed literal", "outputs 1", "outputs 2", "outputs 3"];
    let reductions = AxisFunction::all().map(|function| function.to_string());
    let reduced = ["keepdims false", "keepdims true", "0 reduced", "1 reduced", "2 reduced", "3 reduced"];
    let asked = DType::ALL.iter().map(|dtype| format!("asked for {dtype}"));
    // Control flow has a test of its own.
    let is_control = |word: &str| matches!(NodeKind::<ValueType>::named(word), Some(NodeKind::Control(..)));
    let kinds = NodeKind::<ValueType>::words().filter(|word| !is_control(word)).map(str::to_owned);
    let words = other.iter().chain(&movement).chain(&literals).chain(&reduced).map(|&what| what.to_owned());
    let wanted = types.chain(extents).chain(kinds).chain(words).chain(reductions).chain(asked);
    missing.extend(wanted.filter(|what| !seen.contains(what)));
    assert!(missing.is_empty(), "no program has {missing:?}");
    assert!(shared > 1000 && dead > 100, "{shared} shared, {dead} dead");
}

/// Counts of control flow and its contents; its text round-trips, and loops end.
#[test]
fn programs_have_control_flow_in_control_flow() {
    let limits = Limits { elements: 40, nodes: 16, control: true, ..Limits::default() };
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for program in programs(&limits).take(1_000) {
        program.graph.verify().unwrap_or_else(|error| panic!("{error}\n{program}"));
        let text = program.graph.to_string();
        let parsed: Graph<ValueType> = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(parsed.to_string(), text);
        parsed.verify().unwrap_or_else(|error| panic!("{error}\n{text}"));
        *seen.entry(format!("nesting {}", program.graph.nesting())).or_default() += 1;
        let mut graphs: Vec<(&Graph<ValueType>, bool)> = vec![(&program.graph, false)];
        while let Some((graph, inner)) = graphs.pop() {
            graphs.extend(graph.children().iter().map(|child| (&**child, inner)));
            for control in graph.controls() {
                *seen.entry(control.kind.name().to_owned()).or_default() += 1;
                *seen.entry(format!("{} of {}", control.kind.name(), control.results())).or_default() += 1;
                graphs.extend(control.graphs.iter().map(|inner| (&*inner.graph, true)));
            }
            for id in graph.node_ids() {
                let what = match graph.node(id).kind {
                    NodeKind::Cast(CastReason::Promotion) => "promotion",
                    _ if !inner => continue,
                    NodeKind::Gather => "gather",
                    NodeKind::Scatter(_) => "scatter",
                    NodeKind::Insert(_) if graph.operands(id).len() > 2 => "insert from a start",
                    NodeKind::Insert(_) => "insert",
                    NodeKind::Slice(_) => "slice",
                    NodeKind::Reduce(_) => "reduce",
                    NodeKind::Call(_) => "call",
                    _ => continue,
                };
                *seen.entry(what.to_owned()).or_default() += 1;
            }
        }
    }
    println!("{seen:?}");
    let wanted = ["nesting 0", "nesting 1", "nesting 2", "nesting 3", "while", "cond", "cond of 1", "cond of 2"];
    let inside = [
        "promotion",
        "while of 1",
        "while of 2",
        "while of 4",
        "gather",
        "scatter",
        "insert",
        "insert from a start",
        "slice",
        "reduce",
        "call",
    ];
    for what in wanted.into_iter().chain(inside) {
        assert!(seen.get(what).is_some_and(|&count| count >= 10), "{what}: {seen:?}");
    }
}

#[test]
fn limits_are_kept() {
    for set in [DTypeSet::BOOL, DTypeSet::COMPLEX, DTypeSet::FLOAT, DTypeSet::INT] {
        let limits = Limits {
            nodes: 12,
            params: 2,
            many: 5,
            outputs: 1,
            elements: 20,
            dtypes: set,
            calls: false,
            reductions: false,
            movement: false,
            control: false,
        };
        for program in programs(&limits).take(200) {
            program.graph.verify().unwrap();
            assert!(program.params.len() <= 5 && program.graph.outputs().len() == 1);
            assert!(program.graph.children().is_empty());
            for id in program.graph.node_ids() {
                let value = program.graph.node(id).first();
                let dtype = program.graph.storage_dtype(value, Policy::default());
                assert!(dtype == DType::Bool || set.contains(dtype), "{dtype} is not in {set:?}\n{program}");
                assert!(program.graph.shape(value).size().unwrap() <= 20);
                if let NodeKind::Op(op, policy) = program.graph.node(id).kind {
                    let operands = program.graph.operands(id);
                    let types: Vec<ValueType> = operands.iter().map(|&operand| program.graph.ty(operand)).collect();
                    // The common type of u64 and i64 is a weak float.
                    let compute = policy.commit(policy.resolve_op(op, &types).unwrap().compute);
                    assert!(compute == DType::Bool || set.contains(compute), "{op} in {compute}\n{program}");
                }
            }
        }
    }
    let nothing = Limits { nodes: 0, params: 0, outputs: 0, elements: 0, ..Limits::default() };
    for program in programs(&nothing).take(20) {
        program.graph.verify().unwrap();
    }
}

#[test]
fn special_words_hold_what_implementations_trip_over() {
    let f32s = special_words(DType::F32);
    for value in [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE] {
        assert!(f32s.contains(&value.to_bits().into()), "{value}");
    }
    assert!(f32s.contains(&1) && f32s.contains(&0x8000_0001), "the least subnormals");
    assert!(f32s.iter().any(|&word| f32::from_bits(word as u32).is_nan()));
    assert!(special_words(DType::F16).contains(&0x7bff), "65504");
    assert!(special_words(DType::Bf16).contains(&0x3f81), "the number after 1");
    for value in [i16::MIN, i16::MAX, -1, 0, 1, 15, 16, 17, 255, 256] {
        assert!(special_words(DType::I16).contains(&u64::from(value as u16)), "{value}");
    }
    assert_eq!(special_words(DType::Bool), [0, 1]);
    for dtype in DType::ALL {
        let mask = dtype.storage()[0].mask();
        assert!(special_words(dtype).iter().all(|&word| word <= mask), "{dtype}");
        let mut rng = Rng::new(3);
        let tensor = tensor(&mut rng, dtype, Shape::from([1000])).unwrap();
        let distinct: BTreeSet<_> = (0..1000).map(|i| tensor.get(i).to_vec()).collect();
        assert!(distinct.len() >= if dtype == DType::Bool { 2 } else { 150 }, "{dtype}: {}", distinct.len());
        assert!(dtype != DType::Bool || distinct.iter().all(|words| words[0] <= 1));
    }
}

#[test]
fn shrinking_leaves_what_fails() {
    // The number of nodes of this op that an output depends on.
    let has = |program: &Program, op: Op| {
        let graph = &program.graph;
        let mut live: BTreeSet<_> = graph.outputs().iter().map(|&output| graph.producer(output)).collect();
        for id in graph.node_ids().rev() {
            if live.contains(&id) {
                live.extend(graph.operands(id).iter().map(|&operand| graph.producer(operand)));
            }
        }
        live.iter().filter(|&&id| matches!(graph.node(id).kind, NodeKind::Op(o, _) if o == op)).count()
    };
    let mut shrunk = 0;
    for program in programs(&Limits::default()).filter(|program| has(program, Op::Remainder) > 0).take(20) {
        let small = shrink(&program, |candidate| has(candidate, Op::Remainder) > 0);
        small.graph.verify().unwrap();
        assert!(has(&small, Op::Remainder) > 0);
        assert_eq!(small.graph.outputs().len(), 1);
        // The op, its operands and required nodes below them: calls, and casts that change the dtype.
        shrunk += usize::from(small.graph.node_count() <= small.params.len() + 6);
    }
    assert!(shrunk >= 15, "{shrunk} of 20 are small");
}

#[test]
fn graphs_shrink_to_what_fails_alone() {
    // An output is a product.
    let has = |graph: &Graph<ValueType>| {
        let mut producers = graph.outputs().iter().map(|&output| graph.node(graph.producer(output)).kind);
        producers.any(|kind| matches!(kind, NodeKind::Op(Op::Multiply, _)))
    };
    let mut shrunk = 0;
    for program in programs(&Limits::default()).filter(|program| has(&program.graph)).take(10) {
        let small = ndjit_transform::shrink(&program.graph, has);
        small.verify().unwrap();
        assert!(has(&small) && small.node_count() <= 3 && small.children().is_empty(), "{small}");
        assert_eq!(small.to_string().parse::<Graph<ValueType>>().unwrap().to_string(), small.to_string());
        shrunk += 1;
    }
    assert_eq!(shrunk, 10);
}
