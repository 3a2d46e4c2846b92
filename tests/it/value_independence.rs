//! No value determines a dtype, a shape, a plan or a kernel: random programs with every literal changed within the range of its
//! dtypes, and calls with every element changed.
//!
//! Uses of a literal's value, none of which changes a result's type:
//!
//! - an integer literal that does not fit the dtype it is used in is an error;
//! - an explicit cast of a weak integer literal above `i64::MAX` converts from `u64`, not from `i64` (commit). The literals here
//!   stay below;
//! - simplify folds operations on literals alone. That they are folded depends on their being literals, not on their values.

use ndjit::{Array, DType, Jitted, Policy, ValueType, jit};
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, NodeKind, Rewriter, Slot, SlotId, SourceLocs, Value};
use ndjit_ir::{Literal, LiteralValue};
use ndjit_random::{Limits, Rng, program};
use ndjit_transform::access::contiguous;
use std::collections::BTreeMap;

fn lowered(graph: &Graph<ValueType>) -> Lowered {
    let layouts = graph.params().iter().map(|&p| contiguous(graph.shape(p), graph.storage_dtype(p, Policy::default())));
    let layouts: Vec<_> = layouts.collect::<Result<_, _>>().expect("a small array");
    lower(graph, &SourceLocs::default(), &layouts, &Options::default()).unwrap_or_else(|e| panic!("{e}\n{graph}"))
}

/// The dtypes in which each slot's literal is used.
fn uses(typed: &Graph<DType>) -> BTreeMap<SlotId, Vec<DType>> {
    let mut uses: BTreeMap<SlotId, Vec<DType>> = BTreeMap::new();
    for id in typed.node_ids() {
        if let NodeKind::Literal(slot) = typed.node(id).kind {
            uses.entry(slot).or_default().push(typed.ty(typed.node(id).first()));
        }
    }
    uses
}

/// Another literal of the same type that fits all these dtypes.
fn another(rng: &mut Rng, literal: &Literal, used_in: &[DType]) -> Literal {
    let floats = [0.0, -0.0, 1.0, -2.5, 1e-310, 1e300, f64::NAN, f64::INFINITY, 0.1];
    let integers =
        [0, 1, -1, 2, 100, 127, -128, 255, 256, -32768, 65535, 1 << 31, -(1 << 31), i64::MAX.into(), 1 << 62];
    loop {
        let value = match literal.value() {
            LiteralValue::Bool(old) => LiteralValue::Bool(!old),
            LiteralValue::Int(_) => LiteralValue::Int(rng.pick(&integers)),
            LiteralValue::Float(_) => LiteralValue::Float(rng.pick(&floats)),
            LiteralValue::Complex(..) => LiteralValue::Complex(rng.pick(&floats), rng.pick(&floats)),
        };
        let new = match literal.ty() {
            ValueType::Strong(dtype) => Literal::strong(value, dtype),
            ValueType::Weak(_) => Ok(Literal::weak(value)),
        };
        if let Ok(new) = new
            && used_in.iter().all(|&dtype| new.to_repr(dtype).is_ok())
        {
            return new;
        }
    }
}

/// The same graph, without calls, with other literals.
fn with_literals(graph: &Graph<ValueType>, mut change: impl FnMut(SlotId, &Literal) -> Literal) -> Graph<ValueType> {
    let (mut out, mut notes) = (Graph::new(), ());
    let mut slots: BTreeMap<SlotId, SlotId> = BTreeMap::new();
    let mut rewriter = Rewriter::splice((graph, &()), (&mut out, &mut notes));
    for id in graph.node_ids() {
        let first = graph.node(id).first();
        if let NodeKind::Literal(slot) = graph.node(id).kind {
            let number = *slots.entry(slot).or_insert_with(|| {
                rewriter.new.slot(match &graph.slots()[slot.index()] {
                    Slot::Value(literal) => Slot::Value(change(slot, literal)),
                    argument => argument.clone(),
                })
            });
            let value = rewriter.new.slot_value(number, graph.ty(first));
            rewriter.set(id, value);
        } else {
            rewriter.copy(id);
        }
        assert_eq!(rewriter.value(first), first);
    }
    rewriter.finish();
    out
}

/// The properties of a graph except the literals' values.
fn structure(graph: &Graph<DType>) -> Vec<String> {
    let line = |id| {
        let node = graph.node(id);
        let results: Vec<String> =
            node.results().map(|v: Value| format!("{}{}", graph.ty(v), graph.shape(v))).collect();
        format!("{:?} {:?} {results:?}", node.kind, graph.operands(id))
    };
    graph.node_ids().map(line).collect()
}

#[test]
fn no_literal_decides_a_dtype_a_shape_or_a_kernel() {
    let limits = Limits { nodes: 20, elements: 20, ..Limits::default() };
    let mut changed = 0;
    for seed in 0..1_000 {
        let original = program(seed, &limits).expect("a small program");
        let before = lowered(&original.graph);
        // Inlined, so all literals are in one graph; lowered again, so slots are numbered alike.
        let before = lowered(&with_literals(&before.traced, |_, literal| *literal));
        let (uses, mut rng) = (uses(&before.typed), Rng::new(seed));
        let other = with_literals(&before.traced, |slot, literal| {
            let new = another(&mut rng, literal, uses.get(&slot).map_or(&[], Vec::as_slice));
            changed += usize::from(new != *literal);
            new
        });
        let after = lowered(&other);
        let types = |lowered: &Lowered| -> Vec<ValueType> {
            lowered.traced.outputs().iter().map(|&o| lowered.traced.ty(o)).collect()
        };
        assert_eq!(types(&before), types(&after), "seed {seed}");
        assert_eq!(structure(&before.typed), structure(&after.typed), "seed {seed}");
        assert_eq!(structure(&before.simplified), structure(&after.simplified), "seed {seed}");
        let scheduled =
            |lowered: &Lowered| lowered.kernels().map(|kernel| kernel.scheduled.clone()).collect::<Vec<_>>();
        for (a, b) in scheduled(&before).iter().zip(&scheduled(&after)) {
            assert!(a.nest == b.nest && a.domain == b.domain, "seed {seed}\n{}\n{}", a.nest, b.nest);
        }
        assert_eq!(before.steps.len(), after.steps.len(), "seed {seed}");
    }
    assert!(changed > 1_000, "only {changed} literals changed");
}

/// One call per array: no new trace, no new kernel, the same type each time.
fn one_plan<M, F: ndjit::jit::JitFn<M, 1, Outputs = ndjit::Expr>>(f: &Jitted<M, 1, F>, inputs: &[Array]) {
    let results: Vec<_> = inputs.iter().map(|x| f.call((x,)).expect("a result").value_type()).collect();
    assert!(results.iter().all(|ty| *ty == results[0]), "{results:?}");
    assert_eq!(f.trace_count(), 1);
    assert!(f.compile_count() <= 1);
}

#[test]
fn no_element_decides_anything() {
    let floats = [[0.0f32, 1.0], [f32::NAN, f32::INFINITY], [1e-45, f32::MAX], [-0.0, 300.0]];
    one_plan(&jit(|x| x * 300 + 0.1), &floats.map(Array::from));
    one_plan(&jit(|x| x / 2 + 1e300), &floats.map(Array::from));
    let bytes = [[0u8, 1], [255, 254], [127, 128]];
    one_plan(&jit(|x| x + 1), &bytes.map(Array::from));
    one_plan(&jit(|x| x / 4.0), &bytes.map(Array::from));
    one_plan(&jit(|x| ndjit::where_(x, 1, 2.5)), &bytes.map(Array::from));
}

#[test]
fn a_number_passed_at_a_call_decides_nothing_by_its_value() {
    let f = jit(|x, k| x * k + k);
    let x = Array::from([1.0f32, 2.0]);
    for k in [0.0, -1.5, f64::NAN, 1e300, 1e-310] {
        assert_eq!(f.call((&x, k)).expect("a result").dtype(), DType::F32);
    }
    assert_eq!((f.trace_count(), f.compile_count()), (1, 1));
    for k in [0, -1, i32::MAX, 7] {
        assert_eq!(f.call((&x, k)).expect("a result").dtype(), DType::F32);
    }
    // An integer is of another kind than a float: traced once more, with the same kernel.
    assert_eq!((f.trace_count(), f.compile_count()), (2, 1));
}

#[test]
fn lazy_arrays_find_the_plan_of_other_values() {
    let types: Vec<ValueType> = [0, 1, -7, 100]
        .into_iter()
        .map(|k| {
            let sum = Array::from([k as f32, 2.0]) * k + 3;
            sum.eval().expect("elements").value_type()
        })
        .collect();
    assert!(types.iter().all(|ty| *ty == ValueType::Strong(DType::F32)), "{types:?}");
}
