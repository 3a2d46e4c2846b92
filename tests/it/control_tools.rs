//! Inspection of programs with control flow: stages and their formats, types and reasons, debugging, memory.

use ndjit::debug::{self, first_nan};
use ndjit::inspect::graph_from_json;
use ndjit::{
    Array, DType, DTypeSet, ErrorCode, Expr, Lint, Policy, Program, Restriction, Stage, ValueType, cast, cond,
    first_mismatch, flip, fori_loop, jit, log, restrict_dtypes, scan, spec, sqrt, sum,
};
use ndjit_ir::graph::Graph;

/// A loop with a branch in it, and a scan with a loop in it.
fn nested(x: Expr, n: Expr) -> (Expr, Expr) {
    let (y, _) = fori_loop(0, n, (x, sum(x, ..)), |i, (x, total)| {
        let x = cond(total.gt(10), |x| sqrt(x) * 0.5, |x| x * 2 + cast(i, DType::F32), x);
        (x, sum(x, ..))
    });
    let (_, all) = scan(|carry: Expr, row: Expr| (fori_loop(0, 2, carry, |_, c| c + row), carry), Expr::from(0.0), y);
    (y, all)
}

fn arguments() -> (Array, Array) {
    (Array::from([1.0f32, 2.0, 3.0]), Array::from(3))
}

#[test]
fn every_stage_shows_it() {
    let f = jit(nested);
    let (x, n) = arguments();
    f.call((&x, &n)).unwrap();
    for &stage in Stage::ALL {
        let text = f.explain(stage);
        let part = match stage {
            Stage::Graph | Stage::Typed | Stage::Simplified => "$0 = for index i32 carried 2 body @",
            Stage::Kernels | Stage::Loops => "for {",
            Stage::Expanded | Stage::Clif | Stage::Assembly => ", for body",
            Stage::Wgsl | Stage::Spirv => "processor",
            _ => panic!("{}: what it shows is not said here", stage.name()),
        };
        assert!(text.contains(part), "{}: {text}", stage.name());
    }
    // The kernels of bodies, including those of nested branches and loops.
    let kernels = f.explain(Stage::Kernels);
    let before = kernels.split_once("sqrt").expect("the branch is shown").0;
    let title = before.lines().rfind(|line| line.starts_with("; kernel ") && line.contains(", "));
    assert!(title.is_some_and(|title| title.ends_with("cond true")), "{kernels}");
    let typed = f.explain(Stage::Typed);
    let graph: Graph<DType> = typed.parse().unwrap();
    assert_eq!(graph.nesting(), 2);
}

/// Lines of a body have their own numbers, in all stages and in the source, and refer to the loop. Counters include them.
#[test]
fn lines_of_bodies_are_told_apart() {
    let folder = std::env::temp_dir().join(format!("ndjit-control-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("page.html");
    let f = jit(nested);
    let (x, n) = arguments();
    f.call((&x, &n)).unwrap();
    f.explain_html(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    for part in ["$0 = for index", ", for body", "sqrt"] {
        assert!(page.contains(part), "{part}");
    }
    let marks = |panel: &str, attribute: &str, part: &str| {
        let panel =
            page.split(&format!("id=\"{panel}\"")).nth(1).and_then(|rest| rest.split("</section>").next()).unwrap();
        let line = panel.split("<div ").filter(|line| line.contains(part)).last().unwrap_or_else(|| panic!("{part}"));
        let marks = line.split_once(&format!("{attribute}=\"")).and_then(|(_, rest)| rest.split_once('"'))?.0;
        Some(marks.split(' ').map(str::to_owned).collect::<Vec<String>>())
    };
    let own = |part| marks("graph", "data-n", part).unwrap();
    let (root, times, other) = (own("= sqrt %"), own("= add %0"), own("$1 = scan"));
    assert!(root.len() == 1 && root != times && root != other && root != own("$0 = for"), "{root:?} {times:?}");
    // The loop's own line is the last one of its kind.
    assert_eq!(marks("graph", "data-in", "= sqrt %").unwrap(), own("$0 = for"));
    assert_eq!(marks("graph", "data-in", "$0 = for"), None);
    for panel in ["typed", "simplified", "kernels", "loops"] {
        assert_eq!(marks(panel, "data-n", " = sqrt "), Some(root.clone()), "{panel}");
        assert!(marks(panel, "data-in", " = sqrt ").is_some(), "{panel}");
    }
    let written = marks("source", "data-n", "sqrt(x) * 0.5").unwrap();
    assert!(written.contains(&root[0]) && !written.contains(&times[0]), "{written:?}");
    assert!(page.contains("because `sqrt(x)` at "), "its dtype is explained");
    let nests: usize = f.kernels().iter().map(|kernel| kernel.nests).sum();
    let counted = format!("loop nests: {nests}, kernels: {};", f.kernels().len());
    assert!(page.contains(&counted), "{counted}: {}", page.split("<nav>").next().unwrap());
    let drawn = page.split("<summary>fusion").nth(1).and_then(|rest| rest.split("</details>").next()).unwrap();
    assert!(drawn.contains("cond true: step") && drawn.contains("sqrt"), "bodies are drawn");
    assert!(page.contains("<meta name=\"viewport\""));
}

#[test]
fn pictures_draw_its_graphs() {
    let f = jit(nested);
    let (x, n) = arguments();
    f.call((&x, &n)).unwrap();
    for stage in [Stage::Graph, Stage::Typed, Stage::Simplified] {
        let dot = f.dot(stage).unwrap();
        for part in ["$0 for body", "$0 cond true", "sqrt"] {
            assert!(dot.contains(part), "{}: {dot}", stage.name());
        }
        assert!(f.svg(stage).unwrap().contains("for body"));
        // Each graph has an edge to its user.
        let edges: Vec<&str> = dot.lines().filter(|line| line.starts_with("  n") && line.contains(" -> ")).collect();
        assert_eq!(edges.len() >= dot.matches("subgraph").count(), !edges.is_empty(), "{dot}");
        assert!(!edges.is_empty(), "{dot}");
    }
    for stage in [Stage::Kernels, Stage::Loops] {
        let dot = f.dot(stage).unwrap();
        assert!(dot.contains("for of %") && dot.contains("body"), "{dot}");
        // Another kernel reads the loop's result.
        let given = dot.lines().filter(|line| line.contains("[label=\"out0 = result"));
        let names: Vec<&str> = given.filter_map(|line| line.trim().split(' ').next()).collect();
        assert!(names.len() >= 2, "{dot}");
        // Kernels of bodies have edges to their users.
        assert!(dot.contains("for body: ") && dot.contains("cond true: ") && dot.contains("sqrt"), "{dot}");
        assert!(names.iter().any(|name| dot.contains(&format!("\n  {name} -> "))), "{dot}");
    }
}

#[test]
fn graphs_are_read_back_from_json() {
    let f = jit(nested);
    let (x, n) = arguments();
    f.call((&x, &n)).unwrap();
    let read = |stage| graph_from_json::<DType>(&f.json(stage).unwrap()).unwrap();
    assert_eq!(read(Stage::Simplified).to_string(), f.explain(Stage::Simplified));
    let graph = graph_from_json::<ValueType>(&f.json(Stage::Graph).unwrap()).unwrap();
    graph.verify().unwrap();
    let without_places: String = f
        .explain(Stage::Graph)
        .lines()
        .map(|line| line.split("  ;").next().unwrap_or(line).to_owned() + "\n")
        .collect();
    assert_eq!(graph.to_string(), without_places.trim_end());
    let damaged = f.json(Stage::Graph).unwrap().replace("\"kind\":\"for\"", "\"kind\":\"until\"");
    assert_eq!(graph_from_json::<ValueType>(&damaged).unwrap_err().code(), ErrorCode::Parse);
}

#[test]
fn diffs_name_values_graph_by_graph() {
    let f = jit(nested);
    let specs = [spec(DType::F32, [3]), spec(DType::I32, [])];
    assert!(f.diff(&specs, &specs, Stage::Typed).unwrap().is_empty());
    let lowered = f.trace(&specs).unwrap().lower().unwrap();
    let diff = lowered.diff(Stage::Typed, Stage::Simplified).to_string();
    assert!(diff.lines().all(|line| !line.starts_with('+') || !line.contains("sqrt")), "{diff}");
    // A removed node renumbers the program's values, but not those of a body with the same numbers.
    let f = jit(|x: Expr| (-(-x) + 1, fori_loop(0, 3, x, |i, x| x * 2 + cast(i, DType::F32))));
    let lowered = f.trace(&[spec(DType::F32, [3])]).unwrap().lower().unwrap();
    let diff = lowered.diff(Stage::Typed, Stage::Simplified).to_string();
    let added: Vec<&str> = diff.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++")).collect();
    let same = |line: &&str| [" = less ", " = multiply ", "return"].iter().any(|part| line.contains(part));
    assert!(!added.is_empty() && !added.iter().any(same), "{diff}");
}

#[test]
fn programs_read_back_and_run() {
    let f = jit(nested);
    let (x, n) = arguments();
    let expected = f.call((&x, &n)).unwrap();
    let text = f.explain(Stage::Graph);
    let results = Program::parse(&text).unwrap().call([&x, &n]).unwrap();
    assert_eq!(results[0].to_vec::<f32>().unwrap(), expected.0.to_vec::<f32>().unwrap());
    assert_eq!(results[1].to_vec::<f32>().unwrap(), expected.1.to_vec::<f32>().unwrap());
    assert_eq!(
        debug::disagreement(&f.explain(Stage::Graph).replace("%1: i32[]", "%1: bool[]"), 1).unwrap_err().code(),
        ErrorCode::Verify
    );
    let small = debug::shrink(&text, |text| text.contains("cond $0")).unwrap();
    assert!(small.contains("cond $0") && small.len() < text.len() / 2, "{small}");
    small.parse::<Graph<ValueType>>().unwrap().verify().unwrap();
}

#[test]
fn kernels_have_the_numbers_of_the_statistics() {
    let f = jit(nested);
    let (x, n) = arguments();
    f.call((&x, &n)).unwrap();
    for stage in [Stage::Kernels, Stage::Loops, Stage::Expanded, Stage::Assembly] {
        let text = f.explain(stage);
        let mut numbers: Vec<usize> =
            text.lines().filter_map(|line| line.strip_prefix("; kernel ")?.parse().ok()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..f.kernels().len()).collect::<Vec<usize>>(), "{text}");
    }
    // One kernel needs no number; a compiled loop is one.
    let one = jit(|x: Expr| x + 1);
    one.call((&x,)).unwrap();
    assert!(!one.explain(Stage::Kernels).contains("; kernel"));
    let compiled = jit(|x: Expr| fori_loop(0, 3, x, |_, x| x * 2));
    compiled.call((&x,)).unwrap();
    let kernels = compiled.kernels();
    let at = kernels.iter().position(|kernel| kernel.compiled_loop).unwrap();
    assert_eq!((kernels[at].nests, kernels[at].depth), (1, 0));
    let said = format!("\ncompiled loops, of which a step is counted: {at}\n");
    assert!(compiled.stats().to_string().contains(&said), "{}", compiled.stats());
}

#[test]
fn policies_differ_in_bodies_too() {
    let f = jit(|x: Expr| fori_loop(0, 3, x, |i, x| cast(x + i, DType::F32)));
    let diff = f.policy_diff(&[spec(DType::F32, [3])], &[Policy::Standard, Policy::NumPy2]).unwrap();
    let row = diff.rows().iter().find(|row| row.what == "add" && row.written.as_deref() == Some("x + i"));
    let types = &row.unwrap_or_else(|| panic!("{diff}")).types;
    assert_ne!(types[0], types[1], "{diff}");
}

#[test]
fn casts_and_widenings_in_bodies_are_found() {
    let f = jit(|x: Expr| fori_loop(0, 3, x, |i, x| cast(x * ndjit::strong(0.1f64) + i, DType::F32)));
    let x = Array::from([1.0f32]);
    f.call((&x,)).unwrap();
    let casts = f.casts();
    assert!(casts.iter().any(|cast| (cast.from, cast.to) == (DType::F32, DType::F64)), "{casts:?}");
    assert!(
        casts.iter().any(|cast| cast.reasons.iter().any(|reason| reason.contains("tests/it/control_tools.rs"))),
        "{casts:?}"
    );
    let typed = f.explain(Stage::Typed);
    let casts = typed.lines().filter(|line| line.contains(" = cast "));
    assert!(casts.clone().count() > 2 && casts.clone().all(|line| line.contains("  ; ")), "{typed}");
    let widening = f.first_widening().unwrap();
    assert_eq!((widening.from, widening.to), (DType::F32, DType::F64));
    let denied = jit(|x: Expr| fori_loop(0, 3, x, |i, x| cast(x * ndjit::strong(0.1f64) + i, DType::F32)));
    assert_eq!(denied.on_widening(Lint::Deny).call((&x,)).unwrap_err().code(), ErrorCode::Promotion);
}

#[test]
fn declarations_in_bodies_count() {
    let excluded = |f: fn(Expr) -> Expr, dtype: DType| {
        let inferred = jit(f).trace(&[spec(DType::F32, [3])]).unwrap().inferred_dtypes().unwrap();
        inferred
            .unsupported
            .into_iter()
            .find(|exclusion| exclusion.dtype == dtype)
            .map(|exclusion| exclusion.to_string())
    };
    let declared = |x: Expr| {
        fori_loop(0, 3, x, |_, x| restrict_dtypes(Restriction::unsupported(DTypeSet::COMPLEX | DType::F64), || x * 2))
    };
    let reason = excluded(declared, DType::F64).expect("it is declared unsupported");
    assert!(
        reason.starts_with("f64: multiply takes f64, which is declared unsupported, at tests/it/control_tools.rs:"),
        "{reason}"
    );
    assert_eq!(excluded(declared, DType::F16), None);
    // Unsupported dtypes of ops in a body.
    let masks = |x: Expr| cond(sum(x, ..).gt(0), |x| ndjit::floor(x), |x| x, x);
    assert!(excluded(masks, DType::C64).expect("floor takes no complex numbers").contains("floor"));
    // A state keeps its type for any argument; a scalar takes it.
    let meets = |x: Expr| fori_loop(0, 2, x, |_, x| x * ndjit::strong(2.0f32));
    assert!(
        excluded(meets, DType::F16)
            .expect("f16 becomes f32")
            .contains("leaf 0 of a loop's state is f16, the body gives f32")
    );
    assert_eq!(excluded(meets, DType::F64), None);
    let numbers = |x: Expr| fori_loop(0, 2, Expr::from(0.0), |_, total| total + sum(x, ..));
    assert_eq!(excluded(numbers, DType::F64), None);
}

#[test]
fn errors_of_bodies_name_their_line() {
    let (f, line) = (jit(|x: Expr| fori_loop(0, 3, x, |_, x| x + 300)), line!());
    let error = f.call((&Array::from([1u8]),)).unwrap_err();
    assert_eq!((error.code(), error.place().map(|place| place.line)), (ErrorCode::Literal, Some(line)), "{error}");
}

/// A weak value with an unusual stored dtype keeps it in loops and branches.
#[test]
fn weak_state_keeps_how_it_is_stored() {
    let text = "child @0 (%0: f*:f64[], %1: i32[]) {
  %2 = literal #0 3_i32 : i32[]
  %3 = less %1, %2 : bool[]
  return %3
}
child @1 (%0: f*:f64[], %1: i32[]) {
  %2 = literal #0 0.1 : f*[]
  %3 = add %0, %2 : f*[]
  %4 = literal #1 1_i32 : i32[]
  %5 = add %1, %4 : i32[]
  return %3, %5
}
child @2 (%0: f*:f64[]) {
  return %0
}
child @3 () {
  %0 = literal #0 0.5 : f*[]
  return %0
}
graph (%0: f*:f64[], %1: bool[]) {
  $0 = while condition @0 of [0, 1] body @1 of [0, 1]
  $1 = cond true @2 of [1] false @3 of []
  %2 = literal #0 0_i32 : i32[]
  %3, %4 = while $0 %0, %2 : f*[], i32[]
  %5 = cond $1 %1, %3 : f*[]
  return %3, %5
}";
    assert_eq!(debug::disagreement(text, 1).unwrap(), None);
}

#[test]
fn a_loop_that_makes_nan_is_found() {
    let f = jit(|x: Expr| fori_loop(0, 3, x * 1, |_, x| log(x) - 1) + 1);
    let found = first_nan(&f, (&Array::from([2.0f32, 0.5]),)).unwrap().expect("logarithms of negative numbers");
    assert!(found.operation.contains("= log %"), "{found}");
    assert_eq!(found.place.map(|place| place.line), Some(line!() - 3));
    let at = format!("tests/it/control_tools.rs:{}:", line!() - 4);
    assert!(matches!(&found.within[..], [step] if step.starts_with(&format!("step 1 of for at {at}"))), "{found}");
    assert_eq!((&found.index[..], found.elements), (&[0][..], 2), "{found}");
    // In nested loops, branches, and conditions; for the slices of a scan.
    let f = jit(|x: Expr, n: Expr| {
        let (_, y) = scan(|s: Expr, e: Expr| (fori_loop(0, n, s, |_, s| s + sqrt(e)), s), Expr::from(0.0f32), x);
        y
    });
    let found = first_nan(&f, (&Array::from([4.0f32, 1.0, -1.0, 0.0]), 2)).unwrap().unwrap();
    assert!(found.operation.contains("= sqrt %"), "{found}");
    assert!(found.within.first().is_some_and(|step| step.starts_with("step 2 of scan at ")), "{found}");
    let f = jit(|x: Expr| {
        cond(sum(x, ..).gt(0), |x| x, |x| ndjit::while_loop(x, |x| sum(x, ..).lt(0), |x| x / (x + 1) + 2), x)
    });
    let found = ndjit::debug::first_nonfinite(&f, (&Array::from([-1.0f32]),)).unwrap().unwrap();
    assert!(found.operation.contains("= divide %") && found.value == "-inf", "{found}");
    assert!(
        found.within[0].starts_with("the branch `false` of cond") && found.within[1].starts_with("step 0 of while")
    );
    let checked = jit(|x: Expr| fori_loop(0, 3, x * 1, |_, x| log(x) - 1)).check_nans(true);
    let error = checked.call((&Array::from([2.0f32]),)).unwrap_err();
    assert!(error.facts().iter().any(|fact| fact.starts_with("in step 1 of for at ")), "{error}");
    let f = jit(|x: Expr| fori_loop(0, 3, log(x), |_, x| x - 1) + 1);
    let found = first_nan(&f, (&Array::from([2.0f32, -0.5]),)).unwrap().unwrap();
    assert!(found.operation.contains("log"), "{found}");
}

#[test]
fn runs_are_measured() {
    let f = jit(nested);
    let (x, n) = arguments();
    f.call((&x, &n)).unwrap();
    let stats = f.stats();
    assert!(!stats.to_string().is_empty() && f.profile((&x, &n)).unwrap().to_string().contains("kernel"));
    match first_mismatch(&f, (&x, &n)) {
        Ok(found) => assert!(found.is_none(), "{found:?}"),
        Err(error) => assert_eq!(error.code(), ErrorCode::Device, "{error}"),
    }
}

#[test]
fn the_memory_of_bodies_is_planned() {
    let f =
        jit(|x: Expr| fori_loop(0, 3, x, |_, x| ndjit::cumulative_sum(ndjit::flip(ndjit::cumulative_sum(x, 0), 0), 0)));
    let specs = [spec(DType::F32, [100_000])];
    let array = 400_000;
    let lowered = f.trace(&specs).unwrap().lower().unwrap();
    // The result, the state, and the next state, with at least one more array.
    assert!(lowered.memory_plan().unwrap().peak_bytes > 3 * array);
    let compiled = lowered.compile().unwrap();
    let plan = compiled.memory_plan().unwrap();
    assert!(plan.scratch_bytes >= 2 * array && plan.peak_bytes >= plan.scratch_bytes + plan.result_bytes, "{plan}");
    // Bodies are compiled with the program.
    let x = ndjit::arange(100_000);
    let x = cast(x, DType::F32);
    x.eval().unwrap();
    ndjit::no_recompile(|| compiled.call((&x,))).unwrap();
}

/// Options of a function apply to its loops and branches.
#[test]
fn options_hold_in_bodies() {
    // Elements interact, so the loop runs step by step.
    let f = |x: Expr| fori_loop(0, 3, x, |_, x| sqrt(flip(x, 0) * 2 + 1) - 1);
    let x = Array::from([1.0f32, 2.0]);
    let (fused, plain) = (jit(f), jit(f).fuse(false));
    assert_eq!(
        fused.call((&x,)).unwrap().to_vec::<f32>().unwrap(),
        plain.call((&x,)).unwrap().to_vec::<f32>().unwrap()
    );
    // The bounds, the loop, and its body: one kernel, or each operation.
    ndjit::assert_kernels!(fused, (&x,), 4);
    ndjit::assert_kernels!(plain, (&x,), 7);
    assert_eq!(fused.explain(Stage::Kernels).matches("kernel [").count(), 3);
    assert_eq!(plain.explain(Stage::Kernels).matches("kernel [").count(), 6);
    // In functions called by bodies, too.
    let step = jit(|x: Expr| x * ndjit::strong(0.1f32) + 1);
    let outer = move |x: Expr| fori_loop(0, 3, x, |_, x| step.inline((x,)));
    let contracted = jit(outer).fp_contract(true);
    contracted.call((&x,)).unwrap();
    assert!(contracted.explain(Stage::Simplified).contains("mul_add"), "{}", contracted.explain(Stage::Simplified));
}

#[test]
fn kernels_of_bodies_are_counted_and_measured() {
    let f = jit(|x: Expr, n: Expr| fori_loop(0, n, x, |_, x| sqrt(flip(x, 0) * 2 + 1) - 1));
    let (x, n) = (cast(ndjit::arange(1000), DType::F32), Array::from(5));
    let profile = f.profile((&x, &n)).unwrap();
    let depths: Vec<(usize, u64)> = profile.kernels.iter().map(|kernel| (kernel.work.depth, kernel.runs)).collect();
    assert_eq!(depths, [(0, 1), (0, 1), (1, 5)]);
    let body = profile.kernels.iter().find(|kernel| kernel.work.depth == 1 && kernel.work.flops > 0).unwrap();
    assert_eq!((body.work.flops, body.flops(), body.bytes()), (4_000, 20_000, 5 * 8_000));
    assert!(body.best <= profile.kernels[1].best && body.work.code_bytes > 0, "{profile}");
    assert!(profile.to_string().contains("\n>2 "), "{profile}");
    let stats = f.stats();
    assert_eq!((stats.kernels.len(), stats.flops()), (3, 4_000));
    assert_eq!(f.trace(&[spec(DType::F32, [1000]), spec(DType::I32, [])]).unwrap().lower().unwrap().kernel_count(), 3);
}

#[test]
fn printing_in_a_body_is_refused() {
    let f = jit(|x: Expr| fori_loop(0, 3, x, |_, x| debug::debug_print("x", x * 2)));
    let error = f.call((&Array::from([1.0f32]),)).unwrap_err();
    assert_eq!((error.code(), error.headline()), (ErrorCode::Traced, "debug_print: control flow prints nothing"));
    assert!(error.help_text().is_some_and(|help| help.contains("`scan`")));
}
