//! Graphs that call others: their depth and size.

use insta::assert_snapshot;
use ndjit_ir::graph::{Graph, MAX_EXPANSION, NodeKind, SourceLocs};
use ndjit_ir::{DType, Op, Policy, Shape, ValueType};
use std::sync::Arc;

type Traced = Graph<ValueType>;

fn traced(text: &str) -> Traced {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_child_has_one_number() {
    let child = Arc::new(traced("graph (%0: f32[]) {\n  return %0\n}"));
    let mut graph = Traced::new();
    assert_eq!((graph.child(Arc::clone(&child)), graph.child(child), graph.children().len()), (0, 0, 1));
    let text = "child @0 (%0: f32[]) {\n  return %0\n}\ngraph (%0: f32[]) calls @0, @0 {\n  %1 = call @0(%0) : f32[]\n  return %1\n}";
    assert_eq!(traced(text).to_string(), text.replace("@0, @0", "@0"));
}

/// Graphs each of which calls the one before `calls` times, one after the other.
fn calling(deep: usize, calls: usize) -> Traced {
    let scalar = |graph: &mut Traced| (DType::F32.into(), graph.intern(&Shape::scalar()));
    let mut graph = traced("graph (%0: f32[]) {\n  %1 = sin %0 : f32[]\n  return %1\n}");
    for _ in 0..deep {
        let child = Arc::new(graph);
        graph = Traced::new();
        let mut x = graph.param(DType::F32.into(), &Shape::scalar());
        let (number, result) = (graph.child(child), scalar(&mut graph));
        for _ in 0..calls {
            x = graph.add(NodeKind::Call(number), &[x], &[result]);
        }
        graph.set_outputs(vec![x]);
    }
    graph
}

/// Calls of calls that share their callees print in linear size.
#[test]
fn shared_children_print_once() {
    let graph = calling(60, 2);
    graph.verify().unwrap();
    let text = graph.to_string();
    assert_eq!((text.matches("child ").count(), graph.whole().len()), (60, 61));
    assert_eq!(traced(&text).to_string(), text);
}

/// Walks over deeply nested calls do not recurse, and neither does freeing them.
#[test]
fn calls_nest_as_deep_as_memory_goes() {
    let graph = calling(50_000, 1);
    graph.verify().unwrap();
    let read = traced(&graph.to_string());
    assert_eq!((read.whole().len(), read.expanded()), (50_001, 2 + 2 * 50_000));
    let mut places = SourceLocs::default();
    for _ in 0..50_000 {
        let mut outer = SourceLocs::default();
        outer.add_child(Arc::new(places));
        places = outer;
    }
    drop((graph, read, places));
}

/// The size of a program with expanded calls is known without expanding them.
#[test]
fn calls_are_counted_before_they_are_written_out() {
    assert_eq!(calling(3, 2).expanded(), 3 + 2 * (3 + 2 * (3 + 2 * 2)));
    calling(17, 2).check_expansion().unwrap();
    let error = calling(20, 2).check_expansion().unwrap_err();
    assert_snapshot!(error, @"
    error[size]: inline: calls make the program too large
      operations, those of a function at each of its calls: 5242877
      limit: 1048576 more than are written
      help: repeat with a loop, `fori_loop(0, n, x, |_, x| f.inline((x,)))`, whose body is there once; or jit the parts and call them one after the other
    ");
    assert_eq!(calling(4000, 2).expanded(), usize::MAX);
    assert_snapshot!(calling(4000, 2).check_expansion().unwrap_err().facts().join("; "), @"operations, those of a function at each of its calls: more than memory can address; limit: 1048576 more than are written");
    // A long program is not a large one.
    let mut long = Traced::new();
    let mut x = long.param(DType::F32.into(), &Shape::scalar());
    let scalar = (DType::F32.into(), long.intern(&Shape::scalar()));
    for _ in 0..MAX_EXPANSION + 10 {
        x = long.add(NodeKind::Op(Op::Sin, Policy::default()), &[x], &[scalar]);
    }
    long.set_outputs(vec![x]);
    let (mut outer, long) = (Traced::new(), Arc::new(long));
    let x = outer.param(DType::F32.into(), &Shape::scalar());
    let (scalar, number) = ((DType::F32.into(), outer.intern(&Shape::scalar())), outer.child(long));
    outer.add(NodeKind::Call(number), &[x], &[scalar]);
    outer.check_expansion().unwrap();
}
