//! Statistics of functions: bytes, operations, memory, stages; and profiles.

use ndjit::{Array, Complex, FunctionStats, Jitted, exp, jit, keepdims, sum, where_};

fn of<M, F: ndjit::jit::JitFn<M, 1>>(f: Jitted<M, 1, F>, x: &Array) -> FunctionStats {
    f.call((x,)).unwrap();
    f.stats()
}

/// Elements, bytes read and written, operations of each kernel.
fn work(stats: &FunctionStats) -> Vec<(u64, u64, u64, u64)> {
    stats.kernels.iter().map(|k| (k.elements, k.bytes_read, k.bytes_written, k.flops)).collect()
}

fn rows(rows: usize, columns: usize) -> Array {
    Array::from_shape_vec([rows, columns], vec![1.0f32; rows * columns]).unwrap()
}

#[test]
fn elementwise_functions() {
    let f = jit(|x, y| x + y * 2);
    f.call((&rows(10, 100), &Array::from(vec![1i8; 100]))).unwrap();
    // The row is read once; its product is one of integers.
    assert_eq!(work(&f.stats()), [(1000, 4100, 4000, 1000)]);
    let stats = of(jit(|x: ndjit::Expr| where_(x.gt(0), exp(x) - 1, x)), &rows(10, 100));
    assert_eq!(work(&stats), [(1000, 4000, 4000, 2000)], "selections and comparisons are no operations");
    let stats = of(jit(|z| z * z + 1), &Array::from(vec![Complex::new(1.0f64, 2.0); 10]));
    assert_eq!(work(&stats), [(10, 160, 160, 80)]);
    let every_second = rows(10, 100).slice((.., ndjit::step(2)));
    assert_eq!(work(&of(jit(|x| x + 1), &every_second)), [(500, 2000, 2000, 500)]);
}

#[test]
fn reductions_and_tiles() {
    let stats = of(jit(|x| sum(x, 1)), &rows(10, 100));
    assert_eq!(work(&stats), [(1000, 4000, 40, 1000)]);
    let stats = of(jit(|x| x / sum(x, keepdims(1))), &rows(10, 100));
    // Two nests in one launch: rows are read from memory once, the sums never.
    assert_eq!(work(&stats), [(2000, 4000, 4040, 2000)]);
    assert_eq!(
        (stats.allocations, stats.result_bytes, stats.intermediate_bytes, stats.peak_bytes - stats.scratch_bytes),
        (2, 4000, 40, 4040)
    );
    // Sixteen lanes for each of the rows, and as much again to combine them; they stay in registers with AVX-512.
    assert!([0, 2 * 10 * 16 * 4].contains(&stats.scratch_bytes), "{}", stats.scratch_bytes);
    let unfused = of(jit(|x| (exp(x) + 1) * 2).fuse(false), &rows(10, 100));
    assert_eq!(unfused.kernels.len(), 3);
    assert_eq!(
        (unfused.intermediate_bytes, unfused.peak_bytes),
        (8000, 4000),
        "each is computed in the place of the one before"
    );
}

#[test]
fn memory_is_planned() {
    let f = jit(|x: ndjit::Expr| {
        let e = exp(x);
        (sum(e, keepdims(0)), (e * 2).cumulative_sum(1).flip(0), e.cast(ndjit::DType::F64))
    });
    let f = f.fuse(false);
    assert_eq!(f.memory_plan(), None);
    f.call((&rows(10, 100),)).unwrap();
    let plan = f.memory_plan().unwrap();
    let stats = f.stats();
    assert_eq!((plan.peak_bytes, plan.arrays.len()), (stats.peak_bytes, stats.allocations));
    insta::assert_snapshot!(plan, @r"
    array                 size         where  launches  donated
    %1 : f32[10, 100]  3.9 KiB     arena + 0    0 to 5        -
    %8 : f64[10, 100]  7.8 KiB      result 2  1 to end        -
    %5 : f32[10, 100]  3.9 KiB      result 1    2 to 3        -
    %6 : f32[10, 100]  3.9 KiB  arena + 4032    3 to 4        -
    %7 : f32[10, 100]  3.9 KiB      result 1  4 to end        -
    %2 : f32[100]        400 B      result 0  5 to end        -
    peak 26.2 KiB: results 12.1 KiB, arena 7.8 KiB for 11.7 KiB of temporaries, scratch 6.2 KiB
    ");
    let compiled = f.trace(&[ndjit::spec(ndjit::DType::F32, [10, 100])]).unwrap().lower().unwrap();
    let early = compiled.memory_plan().unwrap();
    assert_eq!((&early.arrays, early.scratch_bytes), (&plan.arrays, 0));
    assert_eq!(compiled.compile().unwrap().memory_plan().unwrap(), plan);
}

#[test]
fn donations_are_counted() {
    let f = jit(|x, y| x * y + 1);
    let (x, y) = (rows(10, 100), rows(10, 100));
    // Compared by address.
    let z = ndjit::assert_in_place!(f, (x.donate(), &y));
    assert_eq!((f.stats().donated, f.stats().donations_taken), (1, 1));
    // Another owner.
    let copy = z.clone();
    let sum = ndjit::assert_in_place!(f, (z.donate(), &y), 0);
    assert_eq!(copy.to_vec::<f32>().unwrap(), vec![2.0; 1000]);
    assert_eq!((f.stats().donated, f.stats().donations_taken), (2, 1));
    assert!(f.stats().to_string().contains("; of 2 donated arguments 1 became results\n"));
    // Both are donated, one is needed.
    f.call((sum.donate(), y.donate())).unwrap();
    assert_eq!((f.stats().donated, f.stats().donations_taken), (4, 2));
    // With the caller's memory no donation is used.
    let mut out = [0.0f32; 1000];
    f.call_into((rows(10, 100).donate(), &rows(10, 100)), &mut out[..]).unwrap();
    assert_eq!((f.stats().donated, f.stats().donations_taken), (5, 2));
}

#[test]
fn stages_are_timed() {
    let f = jit(|x| exp(x) * 0.4375);
    assert_eq!(f.stats(), FunctionStats::default(), "nothing before the first call");
    f.call((&rows(2, 2),)).unwrap();
    let stats = f.stats();
    let names: Vec<&str> = stats.stages.iter().map(|(name, _)| *name).collect();
    let passes = ndjit_codegen::pipeline::passes().map(|(pass, _)| pass);
    let expected: Vec<&str> = ["trace"].into_iter().chain(passes).chain(["compile"]).collect();
    assert_eq!(names, expected);
    assert!(stats.time() >= stats.stages[1].1 && !stats.time().is_zero());
    // A literal's value is not in the nest, so other tests may have compiled it: this one is new.
    let new = jit(|x| ndjit::sinh(ndjit::cbrt(x) * 0.25) / 3 - x);
    new.call((&rows(2, 2),)).unwrap();
    for pass in ["split", "expand", "legalize", "compile"] {
        let time = new.stats().stages.iter().find(|(stage, _)| *stage == pass).unwrap().1;
        assert!(!time.is_zero(), "{pass} is not timed");
    }
    let again = jit(|x| ndjit::sinh(ndjit::cbrt(x) * 0.25) / 3 - x);
    again.call((&rows(2, 2),)).unwrap();
    let expand = again.stats().stages.iter().find(|(stage, _)| *stage == "expand").unwrap().1;
    assert!(expand.is_zero(), "its kernel is known: {expand:?}");
    assert!(stats.kernels[0].code_bytes > 0 && !stats.kernels[0].compile_time.is_zero());
    let staged = jit(|x| x + 1);
    staged.trace(&[ndjit::spec(ndjit::DType::F32, [2])]).unwrap().lower().unwrap().compile().unwrap();
    assert_eq!(staged.stats().kernels.len(), 0, "of calls of the function alone");
}

#[test]
fn statistics_print_as_a_table() {
    let f = jit(|x| x / sum(x, keepdims(1)) + 1);
    f.call((&rows(256, 1024),)).unwrap();
    let text = f.stats().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].starts_with("kernel  nests  elements     read  written   flops"), "{text}");
    assert!(lines[1].starts_with("0           2    524288  1.0 MiB  1.0 MiB  786432"), "{text}");
    assert_eq!(lines[2], "memory: arrays 2, results 1.0 MiB, intermediate 1.0 KiB, at once 1.0 MiB");
    assert!(lines[3].starts_with("stages: trace "), "{text}");
}

#[test]
fn profiles_measure_each_kernel() {
    let f = jit(|x| (exp(x), sum(x, 0))).fuse(false);
    let profile = f.profile((&rows(20, 30),)).unwrap();
    assert_eq!(profile.kernels.len(), 2);
    assert!(profile.runs >= 5);
    for kernel in &profile.kernels {
        assert!(!kernel.best.is_zero() && kernel.best <= kernel.median && !kernel.estimated.is_zero());
    }
    assert!(profile.best >= profile.kernels.iter().map(|kernel| kernel.best).max().unwrap());
    let text = profile.to_string();
    assert!(text.starts_with("kernel  estimated") && text.lines().count() == 5, "{text}");
    assert!(text.ends_with("; estimated without the overhead of a call"), "{text}");
    let interpreted = jit(|x| x + 1).interpreted(true).profile((&[1.0f32; 3],)).unwrap();
    assert!(!interpreted.to_string().contains("; estimated"), "{interpreted}");
    assert!(interpreted.kernels.is_empty() && !interpreted.best.is_zero());
    assert!(f.profile((&[1i64],)).is_ok());
    assert!(jit(|x| x + &Array::from([1, 2])).profile((&[1i32; 3],)).is_err());
}
