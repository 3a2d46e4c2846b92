//! Causes of compilation, and its prohibition.

use super::without_places;
use ndjit::{
    Array, CastingModes, DType, ErrorCode, Fallback, Policy, jit, no_recompile, sum, weak, with_casting,
    with_default_dtype, with_fallback, with_policy,
};

fn f32s(n: usize) -> Array {
    Array::from(vec![1.0f32; n])
}

#[test]
fn each_difference_is_named() {
    let f = jit(|x, y| x + y * 2);
    let last = || f.explain_cache_misses().pop().expect("a miss");
    f.call((&f32s(3), &f32s(3))).unwrap();
    let first = last();
    assert_eq!((first.signature.as_str(), first.nearest), ("(f32[3], f32[3])", None));
    assert_eq!((first.place.unwrap().line, first.kernels), (line!() - 3, 1));
    assert!(first.differences.is_empty());

    f.call((&f32s(3), &Array::from([1i8; 3]))).unwrap();
    assert_eq!(last().differences, ["argument 1: i8[3], known f32[3]"]);
    f.call((&f32s(4), &f32s(3).mt())).unwrap_err();
    assert_eq!(f.explain_cache_misses().len(), 2, "a call that fails makes no plan");
    f.call((&f32s(6).slice(ndjit::step(2)), &f32s(3))).unwrap();
    assert_eq!(last().differences, ["argument 0: strides [8], known in row-major order"]);
    f.call((&f32s(6).slice(ndjit::step(-2)), &f32s(3))).unwrap();
    assert_eq!(last().differences, ["argument 0: strides [-8], known [8]"]);
    f.call((&f32s(3), 2)).unwrap();
    assert_eq!(last().differences, ["argument 1: a number i*, known i8[3]"], "the latest of those as near");
    f.call((&f32s(3), 2.5)).unwrap();
    assert_eq!(last().differences, ["argument 1: a number of kind f*, known i*"]);
    f.call((&f32s(3), &Array::scalar(weak(2)))).unwrap();
    assert_eq!(last().differences, ["argument 1: i*[], known a number f*"]);
}

#[test]
fn settings_are_differences() {
    let f = jit(|x| x + 1);
    let call = || f.call((&f32s(3),)).map(|_| ()).unwrap();
    call();
    with_policy(Policy::Jax32, call);
    with_default_dtype(DType::F64, call);
    with_fallback(Fallback::Cpu, call);
    with_casting(CastingModes::CROSS, call);
    ndjit::debug::with_jit_disabled(call);
    let differences: Vec<String> = f.explain_cache_misses().into_iter().flat_map(|miss| miss.differences).collect();
    let policy = format!("policy: {}, known {}", Policy::Jax32, Policy::Standard);
    let expected = [
        policy.as_str(),
        "default dtype: f64, known that of floats",
        "fallback: cpu, known error",
        "casting modes",
        "run by the interpreter, known compiled code",
    ];
    assert_eq!(differences, expected);
}

#[test]
fn hits_are_no_misses_and_kernels_are_shared() {
    let f = jit(|x| ndjit::exp(x) * 3.25 + 0.125);
    for n in [5, 6, 5, 6, 5] {
        f.call((&f32s(n),)).unwrap();
    }
    let misses = f.explain_cache_misses();
    assert_eq!(misses.len(), 2);
    assert_eq!((misses[1].kernels, misses[1].compiled), (1, 0), "another size needs no other kernel");
}

#[test]
fn a_dropped_plan_is_named_and_misses_are_bounded() {
    let f = jit(|x| x + 1);
    for n in 1..=65 {
        f.call((&f32s(n),)).unwrap();
    }
    f.call((&f32s(1),)).unwrap();
    let misses = f.explain_cache_misses();
    assert_eq!(misses.len(), 64);
    assert_eq!(misses[63].differences, ["its plan was dropped: 64 are kept"]);
    assert_eq!(misses[0].signature, "(f32[3])", "the oldest went");
}

#[test]
fn a_miss_prints() {
    let f = jit(|x, y| x + y);
    f.call((&f32s(3), &f32s(3))).unwrap();
    f.call((&f32s(4), 1)).unwrap();
    let text: String = f.explain_cache_misses().iter().map(|miss| format!("{miss}\n")).collect();
    let times = |line: &str| line.split_once(" in ").map_or(line.to_owned(), |(before, _)| format!("{before} in …"));
    let lines: Vec<String> = without_places(&text).lines().map(times).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    not known: (f32[3], f32[3])
      at misses.rs
      no signature is known: it is the first call
      traced and planned in …
    not known: (f32[4], a number i*)
      at misses.rs
      nearest: (f32[3], f32[3])
      argument 0: f32[4], known f32[3]
      argument 1: a number i*, known f32[3]
      traced and planned in …
    ");
}

#[test]
fn compiling_is_forbidden_in_a_scope() {
    let f = jit(|x, y| x * y);
    f.call((&f32s(3), 2)).unwrap();
    assert!(no_recompile(|| f.call((&f32s(3), 7))).is_ok(), "a known signature runs");
    let error = no_recompile(|| f.call((&f32s(4), 2)).unwrap_err());
    assert_eq!((error.code(), error.place().unwrap().line), (ErrorCode::Compile, line!() - 1));
    insta::assert_snapshot!(without_places(&error.to_string()), @r"
    error[compile]: call: it would have to be compiled, which is forbidden here
      at misses.rs
      the call: (f32[4], a number i*)
      nearest:  (f32[3], a number i*)
      argument 0: f32[4], known f32[3]
      help: do the same once before `no_recompile`, with arguments of these types, shapes and layouts
    ");
    assert_eq!((f.trace_count(), f.explain_cache_misses().len()), (1, 1), "nothing was made");
    assert!(f.call((&f32s(4), 2)).is_ok(), "outside it is made");

    let specs = [ndjit::spec(DType::F32, [5]), ndjit::spec(DType::F32, [5])];
    let traced = no_recompile(|| f.trace(&specs).err().map(|error| error.code()));
    assert_eq!(traced, Some(ErrorCode::Compile));
    let lowered = f.trace(&specs).unwrap().lower().unwrap();
    assert_eq!(no_recompile(|| lowered.compile().err().map(|e| e.code())), Some(ErrorCode::Compile));
}

#[test]
fn lazy_arrays_are_forbidden_as_well() {
    let x = f32s(3);
    let lazy = || sum(&x * 3.5 - 1, ..);
    let error = no_recompile(|| lazy().eval().map(|_| ()).unwrap_err());
    assert_eq!(error.code(), ErrorCode::Compile);
    assert_eq!(error.facts(), ["operations that wait: 3"]);
    assert!(lazy().eval().is_ok());
    assert!(no_recompile(|| lazy().eval().is_ok()), "now it is known");
    let unread = no_recompile(|| sum(&x * 4.5 + 2, ..));
    let read = || unread.item::<f32>().map_err(|error| error.code());
    assert_eq!(no_recompile(read), Err(ErrorCode::Compile), "what counts is where it is read");
    assert_eq!(read(), Ok(19.5), "an array that was refused can be read where that is allowed");
}

#[test]
fn the_guard_ends_with_its_scope() {
    let caught = std::panic::catch_unwind(|| no_recompile(|| panic!("out")));
    assert!(caught.is_err());
    assert!(jit(|x| x + 2).call((&f32s(2),)).is_ok());
    // It applies to the thread.
    let other = || std::thread::spawn(|| jit(|x| x + 3).call((&[1.0f32],)).is_ok()).join().unwrap();
    assert!(no_recompile(other));
}
