//! Small texts whose expanded calls would be millions of operations: rejected before expansion, or their graphs are lowered once. Memory is
//! counted, not time.

use ndjit::{Array, CountingAllocator, ErrorCode, Expr, Program, Spec, Stage, jit};
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{DType, Shape, ValueType};
use ndjit_transform::access::contiguous;
use std::sync::Arc;

/// Bytes allocated by some work.
fn bytes<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = CountingAllocator::counts().bytes;
    let result = work();
    (result, CountingAllocator::counts().bytes - before)
}

/// Functions that each call the previous one twice.
fn doubling(deep: usize) -> String {
    let mut text = "child @0 (%0: f32[2]) {\n  %1 = sin %0 : f32[2]\n  return %1\n}\n".to_owned();
    for n in 1..=deep {
        let header = if n == deep { "graph".to_owned() } else { format!("child @{n}") };
        let below = n - 1;
        text += &format!("{header} (%0: f32[2]) calls @{below} {{\n  %1 = call @{below}(%0) : f32[2]\n");
        text += &format!("  %2 = call @{below}(%1) : f32[2]\n  return %2\n}}\n");
    }
    text
}

/// Branches with two equal nested branches.
fn branching(deep: usize) -> String {
    let mut text = "child @0 (%0: bool[], %1: f32[2]) {\n  %2 = sin %1 : f32[2]\n  return %2\n}\n".to_owned();
    for n in 1..=deep {
        let header = if n == deep { "graph".to_owned() } else { format!("child @{n}") };
        let below = n - 1;
        text += &format!(
            "{header} (%0: bool[], %1: f32[2]) {{\n  $0 = cond true @{below} of [0, 1] false @{below} of [0, 1]\n"
        );
        text += "  %2 = cond $0 %0, %1 : f32[2]\n  return %2\n}\n";
    }
    text
}

#[test]
fn texts_that_grow_are_refused_before_they_do() {
    for text in [doubling(24), doubling(2_000), branching(31)] {
        let (error, taken) = bytes(|| Program::parse(&text).err().unwrap_or_else(|| panic!("{text}")));
        assert_eq!(error.code(), ErrorCode::Size, "{error}");
        assert!(error.help_text().is_some_and(|help| help.contains("fori_loop")), "{error}");
        let factor = taken as usize / text.len();
        println!("{} bytes of text take {taken}, {factor} times as many", text.len());
        assert!(factor < 100, "{} bytes of text take {taken}", text.len());
    }
}

#[test]
fn functions_that_grow_are_refused_where_they_are_called() {
    let mut f: Arc<dyn Fn(Expr) -> Expr + Send + Sync> = Arc::new(|x| ndjit::sin(x));
    for _ in 0..24 {
        let below = f;
        let own = jit(move |x: Expr| below(below(x)));
        f = Arc::new(move |x| own.inline((x,)));
    }
    let f = jit(move |x: Expr| f(x));
    let (error, taken) = bytes(|| f.call((&Array::from([1.0f32]),)).unwrap_err());
    assert_eq!((error.code(), error.headline()), (ErrorCode::Size, "inline: calls make the program too large"));
    assert!(error.place().is_some_and(|place| place.file.ends_with("expansion.rs")), "{error}");
    println!("{taken} bytes");
    assert!(taken < 4 << 20, "{taken} bytes");
}

/// Branches that are small enough each, but not together.
#[test]
fn branches_that_grow_are_refused_where_they_meet() {
    let mut f: Arc<dyn Fn(Expr) -> Expr + Send + Sync> = Arc::new(|x| ndjit::sin(x));
    for _ in 0..17 {
        let below = f;
        let own = jit(move |x: Expr| below(below(x)));
        f = Arc::new(move |x| own.inline((x,)));
    }
    let one = Arc::clone(&f);
    let spec = [Spec::of(&Array::from([0.0f32]))];
    jit(move |x: Expr| ndjit::cond(ndjit::any(x, ..), |x| one(one(x)), |x| x, x)).trace(&spec).unwrap();
    let (f, line) = (jit(move |x: Expr| ndjit::cond(ndjit::any(x, ..), |x| f(f(x)), |x| f(x), x)), line!());
    let error = f.trace(&spec).map(drop).unwrap_err();
    assert_eq!((error.code(), error.headline()), (ErrorCode::Size, "inline: calls make the program too large"));
    assert_eq!(error.place().map(|place| place.line), Some(line), "{error}");
}

/// A graph shared by several pieces of control flow is lowered, compiled and listed once.
#[test]
fn shared_bodies_are_lowered_once() {
    let taken = |deep: usize| {
        let graph: Graph<ValueType> = branching(deep).parse().unwrap();
        let layouts = [(Shape::scalar(), DType::Bool), (Shape::from(2), DType::F32)];
        let layouts = layouts.map(|(shape, dtype)| contiguous(&shape, dtype).unwrap());
        let options = Options { verify: false, ..Options::default() };
        let (lowered, lowering) = bytes(|| lower(&graph, &SourceLocs::default(), &layouts, &options).unwrap());
        assert_eq!(lowered.bodies().len(), deep);
        let compile = || ndjit_runtime::Executable::new(&lowered, &ndjit_runtime::RunOptions::default()).unwrap();
        let (_, compiling) = bytes(compile);
        let program = Program::parse(&branching(deep)).unwrap();
        let listings = || Stage::ALL.iter().map(|&stage| program.explain(stage).unwrap().len()).sum::<usize>();
        let (length, listing) = bytes(listings);
        [("lowering", lowering), ("compiling", compiling), ("listings", listing), ("their length", length as u64)]
    };
    taken(1);
    for ((what, once), (_, twice)) in taken(7).into_iter().zip(taken(14)) {
        println!("{what}: {once} bytes, of twice as deep ones {twice}");
        assert!(twice < 3 * once, "{what}: {once} bytes, of twice as deep ones {twice}");
    }
    let program = Program::parse(&branching(14)).unwrap();
    let x = Array::from([1.0f32, 2.0]);
    assert_eq!(
        program.call([&Array::from(true), &x]).unwrap()[0].to_vec::<f32>().unwrap(),
        ndjit::sin(&x).to_vec::<f32>().unwrap()
    );
}
