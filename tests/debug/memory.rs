//! Memory plans of programs with loops and branches: the arrays of bodies, in text and on the page.

use ndjit::{
    Array, DType, Expr, KernelStats, MemoryPlan, cast, cond, cumulative_sum, flip, fori_loop, jit, scan, spec, sqrt,
    sum, while_loop,
};

/// A loop in a loop, each with a captured array; a compiled loop; branches; a loop that is called twice.
fn looped(x: Expr, w: Expr) -> Expr {
    let step = move |x: Expr| cumulative_sum(flip(x * w, 0), 0) / w;
    let y = fori_loop(0, 10, x, move |_, x| fori_loop(0, 4, flip(x, 0) * 2, move |_, x| step(x)) + x);
    let y = fori_loop(0, 3, y, |_, y| y * y - 1);
    let y = cond(sum(y, ..).gt(1), |y| cumulative_sum(y, 0), |y| y * 2, y);
    let y = while_loop(y, |y| sum(y, ..).lt(-1), |y| flip(sqrt(y), 0) - 1);
    let last = jit(|y: Expr, w: Expr| fori_loop(0, 5, y, move |_, y| cumulative_sum(flip(y * w, 0), 0)));
    last.inline((last.inline((y, w)) * 2, w))
}

/// A loop with a branch in it, and a scan with a compiled loop in it.
fn stacked(x: Expr, n: Expr) -> (Expr, Expr) {
    let (y, _) = fori_loop(0, n, (x, sum(x, ..)), |i, (x, total)| {
        let x = cond(total.gt(10), |x| sqrt(x) * 0.5, |x| x * 2 + cast(i, DType::F32), x);
        (x, sum(x, ..))
    });
    let (_, all) = scan(|carry: Expr, row: Expr| (fori_loop(0, 2, carry, |_, c| c + row), carry), Expr::from(0.0), y);
    (y, all)
}

#[test]
fn bodies_have_their_arrays() {
    let specs = [spec(DType::F32, [1000]), spec(DType::F32, [1000])];
    let lowered = jit(looped).trace(&specs).unwrap().lower().unwrap();
    insta::assert_snapshot!(lowered.memory_plan().unwrap(), @r"
    array               size           where   launches  donated
    %2 : i32[]           4 B        result 0     0 to 8        -
    %3 : i32[]           4 B   result 0 + 64     1 to 8        -
    %5 : i32[]           4 B  result 0 + 128    2 to 16        -
    %6 : i32[]           4 B  result 0 + 192    3 to 16        -
    %13 : i32[]          4 B  result 0 + 256    4 to 26        -
    %14 : i32[]          4 B  result 0 + 320    5 to 26        -
    %18 : i32[]          4 B       arena + 0    6 to 29        -
    %19 : i32[]          4 B      arena + 64    7 to 29        -
    %4 : f32[1000]   3.9 KiB     arena + 128    8 to 16        -
    %7 : f32[1000]   3.9 KiB     arena + 128   16 to 19        -
    %8 : f32[]           4 B        result 0   17 to 18        -
    %10 : bool[]         1 B   result 0 + 64   18 to 19        -
    %11 : f32[1000]  3.9 KiB    arena + 4160   19 to 22        -
    %12 : f32[1000]  3.9 KiB     arena + 128   22 to 26        -
    %15 : f32[1000]  3.9 KiB    arena + 4160   26 to 28        -
    %17 : f32[1000]  3.9 KiB    arena + 4160   28 to 29        -
    %20 : f32[1000]  3.9 KiB        result 0  29 to end        -
    peak 31.5 KiB: results 3.9 KiB, arena 8.0 KiB for 23.5 KiB of temporaries, scratch 19.7 KiB
    kernel 8, for: state 3.9 KiB
      kernel 8, for body
        array              size        where   launches     donated
        %6 : i32[]          4 B    arena + 0    9 to 12           -
        %7 : i32[]          4 B   arena + 64   10 to 12           -
        %5 : f32[1000]  3.9 KiB  arena + 128   11 to 12           -
        %8 : f32[1000]  3.9 KiB     result 0   12 to 15           -
        %9 : f32[1000]  3.9 KiB     result 0  15 to end  argument 0
        peak 15.8 KiB: results 3.9 KiB, arena 4.0 KiB for 7.8 KiB of temporaries, scratch 7.8 KiB
        kernel 12, for: state 3.9 KiB
          kernel 12, for body
            array              size     where   launches  donated
            %6 : f32[1000]  3.9 KiB  result 0   13 to 14        -
            %7 : f32[1000]  3.9 KiB  result 0  14 to end        -
            peak 3.9 KiB: results 3.9 KiB, arena 0 B for 3.9 KiB of temporaries, scratch 0 B
    kernel 16, for: state 3.9 KiB; its steps are one loop of a nest, without arrays
    kernel 19, cond
      kernel 19, cond true
        array              size     where   launches  donated
        %1 : f32[1000]  3.9 KiB  result 0  20 to end        -
        peak 3.9 KiB: results 3.9 KiB, arena 0 B for 0 B of temporaries, scratch 0 B
      kernel 19, cond false
        array              size     where   launches  donated
        %2 : f32[1000]  3.9 KiB  result 0  21 to end        -
        peak 3.9 KiB: results 3.9 KiB, arena 0 B for 0 B of temporaries, scratch 0 B
    kernel 22, while: state 3.9 KiB
      kernel 22, while condition
        array        size      where   launches  donated
        %1 : f32[]    4 B  arena + 0   23 to 24        -
        %3 : bool[]   1 B   result 0  24 to end        -
        peak 5 B: results 1 B, arena 4 B for 4 B of temporaries, scratch 0 B
      kernel 22, while body
        array              size     where   launches  donated
        %4 : f32[1000]  3.9 KiB  result 0  25 to end        -
        peak 3.9 KiB: results 3.9 KiB, arena 0 B for 0 B of temporaries, scratch 0 B
    kernel 26, for: state 3.9 KiB
      kernel 26, for body
        array              size     where   launches  donated
        %6 : f32[1000]  3.9 KiB  result 0  27 to end        -
        peak 3.9 KiB: results 3.9 KiB, arena 0 B for 0 B of temporaries, scratch 0 B
    kernel 29, for: state 3.9 KiB
      kernel 29, for body: the program of kernel 26, for body
    ");
}

#[test]
fn bodies_have_their_charts() {
    let path = std::env::temp_dir().join(format!("ndjit-memory-{}.html", std::process::id()));
    let specs = [spec(DType::F32, [1000]), spec(DType::F32, [1000])];
    let lowered = jit(looped).trace(&specs).unwrap().lower().unwrap();
    lowered.explain_html(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let memory = page.split_once("<summary>memory").and_then(|(_, rest)| rest.split_once("</details>")).unwrap().0;
    let titles: Vec<&str> = memory.split("<p>").skip(1).map(|title| title.split("</p>").next().unwrap()).collect();
    insta::assert_snapshot!(titles.join("\n"), @r"
    step 8: kernel 8, for body
    step 3: kernel 12, for body
    step 9: kernel 16, for: state 3.9 KiB; its steps are one loop of a nest, without arrays
    step 12: kernel 19, cond true
    step 12: kernel 19, cond false
    step 13: kernel 22, while condition
    step 13: kernel 22, while body
    step 14: kernel 26, for body
    step 16: kernel 29, for body: the program of kernel 26, for body
    ");
    // One for the program, and one below the title of each graph with a plan of its own.
    assert_eq!(memory.matches("<svg").count(), 1 + memory.matches("</p><div class=\"inner\"><svg").count(), "{memory}");
    let plan = lowered.memory_plan().unwrap();
    each_array(&plan, &mut |name| assert!(memory.contains(&format!("{name} : ")), "{name}: {memory}"));
}

/// Calls `of` with the name of each array, with those of bodies.
fn each_array(plan: &MemoryPlan, of: &mut impl FnMut(&str)) {
    plan.arrays.iter().for_each(|array| of(&array.name));
    plan.control_flow.iter().flat_map(|control| &control.bodies).for_each(|body| each_array(&body.plan, of));
}

/// The listed arrays are those that the totals count; launches are those of the statistics; a loop that is not compiled needs its state and
/// the peak of its graph.
fn adds_up(plan: &MemoryPlan, depth: usize, kernels: &[KernelStats]) {
    let bytes = |result: bool| {
        let own = plan.arrays.iter().filter(|array| array.last.is_none() == result);
        own.map(|array| array.bytes).sum::<u64>()
    };
    assert_eq!((bytes(true), bytes(false)), (plan.result_bytes, plan.intermediate_bytes), "{plan}");
    let launches = plan.arrays.iter().flat_map(|array| [array.first, array.last.unwrap_or(array.first)]);
    let launches = launches.chain(plan.control_flow.iter().map(|control| control.launch));
    launches.for_each(|launch| assert_eq!(kernels[launch].depth, depth, "{launch}: {plan}"));
    for control in &plan.control_flow {
        // The state of a compiled loop lies in its results.
        let Some(peak) = control.bodies.iter().map(|body| body.plan.peak_bytes).max() else { continue };
        assert!(control.state_bytes + peak <= plan.scratch_bytes, "{control} in {} B", plan.scratch_bytes);
        for body in control.bodies.iter().filter(|body| body.same_as.is_none()) {
            adds_up(&body.plan, depth + 1, kernels);
        }
    }
}

#[test]
fn memory_of_bodies_adds_up() {
    let (f, x) = (jit(looped), Array::from(vec![0.5f32; 1000]));
    f.call((&x, &x)).unwrap();
    adds_up(&f.memory_plan().unwrap(), 0, &f.kernels());
    let f = jit(stacked);
    f.call((&Array::from([1.0f32, 2.0, 3.0]), 3)).unwrap();
    adds_up(&f.memory_plan().unwrap(), 0, &f.kernels());
}

/// A body has one plan, however often loops within loops run it.
#[test]
fn shared_bodies_are_planned_once() {
    let mut f: Box<dyn Fn(Expr) -> Expr + Send + Sync> = Box::new(|x| cumulative_sum(x, 0));
    for _ in 0..12 {
        let g = jit(f);
        f = Box::new(move |x| fori_loop(0, 2, x, |_, x| g.inline((g.inline((x,)),))));
    }
    let lowered = jit(f).trace(&[spec(DType::F32, [10])]).unwrap().lower().unwrap();
    let plan = lowered.memory_plan().unwrap().to_string();
    // The innermost body has no loops.
    assert_eq!(plan.matches(": the program of kernel ").count(), 11, "{plan}");
}
