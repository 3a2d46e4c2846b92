//! Explanations of dtypes for users: explanations, inserted casts, the widening lint, policy diffs. Snapshots of every printed
//! form; the places are those of this file.

use ndjit::{
    Array, CastingModes, DType, ErrorCode, Expr, Lint, Policy, Restriction, Stage, dtype, jit, spec, strong, weak,
    where_, with_casting, with_policy,
};
use std::fmt::Display;
use std::process::Command;

/// The text with Unix paths.
fn text(printed: impl Display) -> String {
    printed.to_string().replace('\\', "/")
}

fn f32s() -> Array {
    Array::from([1.0f32, 2.0, 3.0])
}

#[test]
fn a_strong_number_decides() {
    let f = jit(|x| {
        let k = strong(2.5);
        let y = x * k;
        y + 1
    });
    assert_eq!(f.explain_dtype(0), None);
    f.call((&f32s(),)).unwrap();
    insta::assert_snapshot!(text(f.explain_dtype(0).unwrap()));
    assert_eq!(f.explain_dtype(1), None);
    let f = jit(|x| x * strong(2.5));
    f.call((&f32s(),)).unwrap();
    insta::assert_snapshot!(text(f.explain_dtype(0).unwrap()));
}

#[test]
fn two_operands_decide_together() {
    let f = jit(|x, y| (x + y) * x);
    let traced = f.trace(&[spec(DType::U32, [3]), spec(DType::I32, [])]).unwrap();
    insta::assert_snapshot!(text(traced.explain_dtype(0).unwrap()));
}

#[test]
fn what_only_passes_on_a_dtype_ends_at_the_argument() {
    let f = jit!(|x, _y| (x * 2).maximum(0).negative());
    f.call((&f32s(), 3)).unwrap();
    insta::assert_snapshot!(text(f.explain_dtype(0).unwrap()));
    let f = jit!(|x, y| (x, y, x.gt(y), where_(x.gt(1), y, 2.5)));
    f.call((0.5, &f32s())).unwrap();
    let all: Vec<String> = (0..4).map(|i| text(f.explain_dtype(i).unwrap())).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn integers_become_floats_and_weak_results_have_a_default() {
    let f = jit!(|x, b| (x / 4, x * 0.5, b % 2, x.sqrt(), b.logical_not(), x.cast(DType::F64) + 1));
    let specs = [spec(DType::U8, [3]), spec(DType::Bool, [3])];
    let shown = |policy: Policy| {
        let traced = with_policy(policy, || f.trace(&specs)).unwrap();
        (0..6).map(|i| text(traced.explain_dtype(i).unwrap())).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(shown(Policy::Standard));
    let own = Policy::Standard.with_defaults(ndjit::Defaults::BITS_64).unwrap();
    insta::assert_snapshot!(shown(own));
}

#[test]
fn captured_arrays_and_called_functions() {
    let w = Array::from([1.0f64, 2.0, 3.0]);
    let scale = jit(move |x| x * &w);
    let f = jit(move |x, y| {
        let scaled = scale.inline((x + 1,));
        scaled - y
    });
    f.call((&f32s(), &f32s())).unwrap();
    insta::assert_snapshot!(text(f.explain_dtype(0).unwrap()));
    let traced = f.trace(&[spec(DType::F32, [3]), spec(DType::F32, [3])]).unwrap();
    assert_eq!(traced.explain_dtype(0), f.explain_dtype(0));
    let f = jit(|x| x + dtype(DType::F64).ones_like(x));
    insta::assert_snapshot!(text(f.trace(&[spec(DType::F32, [3])]).unwrap().explain_dtype(0).unwrap()));
}

#[test]
fn inside_a_trace() {
    let f = jit(|x: Expr, y: Expr| {
        let sum = x + y;
        let begin = format!("i64 because `x + y` at tests/it/explain.rs:{}:19: x u32 from argument 0", line!() - 1);
        assert!(text(sum.explain_dtype().unwrap()).starts_with(&begin), "{}", sum.explain_dtype().unwrap());
        // A poisoned value has an error instead.
        assert_eq!((x & 0.5).explain_dtype().unwrap_err().code(), ErrorCode::DType);
        sum
    });
    let error = f.call((&Array::from([1u32]), &Array::from([1i32]))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DType);
    thread_local!(static LEAK: std::cell::Cell<Option<Expr>> = const { std::cell::Cell::new(None) });
    jit(|x: Expr| {
        LEAK.set(Some(x));
        x
    })
    .call((&f32s(),))
    .unwrap();
    insta::assert_snapshot!(text(LEAK.get().unwrap().explain_dtype().unwrap_err()));
}

#[test]
fn of_arrays() {
    let x = Array::from([1u8, 2]);
    let lazy = (&x / 2 + weak(0.5)) * strong(1.0f64);
    insta::assert_snapshot!(text(lazy.explain_dtype().unwrap()));
    lazy.eval().unwrap();
    assert_eq!(lazy.explain_dtype().unwrap().to_string(), "f64 held as data");
    assert_eq!(Array::scalar(weak(2)).explain_dtype().unwrap().to_string(), "i* held as data; stored as i32");
    let bad = &x & 0.5;
    assert_eq!(bad.explain_dtype().unwrap_err(), bad.eval().unwrap_err().clone());
}

#[test]
fn operations_written_twice_and_long_chains() {
    #[rustfmt::skip]
    let f = jit(|x, y| (
        x + y,
        x + y,
    ));
    let specs = [spec(DType::U8, [3]), spec(DType::I8, [3])];
    insta::assert_snapshot!(text(f.trace(&specs).unwrap().explain_dtype(1).unwrap()));
    let f = jit(|mut x: Expr| {
        for _ in 0..10_000 {
            x *= 2;
        }
        x
    });
    let traced = f.trace(&[spec(DType::F32, [3])]).unwrap();
    let why = traced.explain_dtype(0).unwrap();
    assert_eq!((why.steps.len(), why.to_string().lines().count()), (10_000, 18));
    assert!(why.to_string().contains("\n  … 9984 more steps\n"), "{why}");
    // Both operands are one value: a tree of 2^64 leaves, a chain of 64 steps.
    let f = jit(|mut x: Expr| {
        for _ in 0..64 {
            x += x;
        }
        x
    });
    assert_eq!(f.trace(&[spec(DType::F32, [3])]).unwrap().explain_dtype(0).unwrap().steps.len(), 64);
}

#[test]
fn casts_say_who_asked_for_them() {
    let f = jit(|x, y| {
        let half: Expr = y * 0.5;
        (x + y * 2, x - y, half.cast(DType::I32), where_(y, 1, 2))
    });
    f.call((&f32s(), &Array::from([10i8, 20, 30]))).unwrap();
    insta::assert_snapshot!(text(f.explain(Stage::Typed)));
    let casts: Vec<String> = f.casts().iter().map(text).collect();
    insta::assert_snapshot!(casts.join("\n"));
    let lowered = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [3])]).unwrap().lower().unwrap();
    assert_eq!(lowered.casts(), f.casts());
}

#[test]
fn casting_modes_are_reasons() {
    let f = jit(|x| (x ^ 1) + 2);
    let cross = with_casting(CastingModes::CROSS, || f.trace(&[spec(DType::F32, [3])])).unwrap();
    insta::assert_snapshot!(text(cross.explain_dtype(0).unwrap()));
    let casts: Vec<String> = cross.lower().unwrap().casts().iter().map(text).collect();
    insta::assert_snapshot!(casts.join("\n"));
}

#[test]
fn the_first_widening() {
    let f = jit(|x, y| {
        let fine = x + y;
        let wide = fine * strong(0.5);
        wide / 3
    });
    let traced = f.trace(&[spec(DType::F32, [3]), spec(DType::I32, [3])]).unwrap();
    insta::assert_snapshot!(text(traced.first_widening().unwrap()));
    let count = |function: &dyn Fn() -> Option<ndjit::Widening>| function().map(|w| (w.from, w.to));
    let of = |x: DType, y: DType| {
        let f = jit(|x, y| x + y);
        count(&|| f.trace(&[spec(x, [3]), spec(y, [3])]).unwrap().first_widening())
    };
    assert_eq!(of(DType::U32, DType::I32), Some((DType::U32, DType::I64)));
    // One array has that width already; complex dtypes are as wide as their parts; bool has no width.
    assert_eq!([of(DType::F32, DType::F64), of(DType::F32, DType::C64), of(DType::Bool, DType::Bool)], [None; 3]);
    let cast = jit!(|x| x.cast(DType::F64) + true);
    assert_eq!(count(&|| cast.trace(&[spec(DType::F32, [3])]).unwrap().first_widening()), None);
}

#[test]
fn a_widening_denied_or_warned_of() {
    let f = jit(|x, y| x / 2 + y).on_widening(Lint::Deny);
    let error = f.call((&Array::from([1u8]), &f32s())).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Promotion);
    insta::assert_snapshot!(text(error));
    assert!(f.trace(&[spec(DType::U8, [1]), spec(DType::F32, [3])]).unwrap().lower().is_err());
    assert!(f.call((&f32s(), &f32s())).is_ok());
    // Printed output is only visible from outside.
    let test = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "explain::prints_one_warning", "--nocapture"])
        .output()
        .unwrap();
    let printed = String::from_utf8(test.stderr).unwrap();
    let from = printed.find("warning[widening]").unwrap_or_else(|| panic!("no warning: {printed}"));
    let lines: Vec<&str> = printed[from..].lines().take_while(|line| !line.is_empty()).collect();
    insta::assert_snapshot!(text(lines.join("\n")));
    assert_eq!(printed.matches("warning[widening]").count(), 1);
}

/// Rerun by the test above, which reads its output.
#[test]
fn prints_one_warning() {
    let f = jit(|x| x * strong(0.5)).on_widening(Lint::Warn);
    f.call((&f32s(),)).unwrap();
    f.call((&f32s(),)).unwrap();
}

#[test]
fn refused_operands_say_where_they_come_from() {
    let k = Array::from([1i32]);
    let f = jit(move |x, y| {
        let half = strong(0.5);
        (x * half, y, x + &k)
    });
    let strict = |specs: &[ndjit::Spec]| text(with_policy(Policy::Strict, || f.trace(specs)).err().unwrap());
    insta::assert_snapshot!(strict(&[spec(DType::F32, [3]), spec(DType::I32, [])]));
    insta::assert_snapshot!(strict(&[spec(DType::F64, [3]), spec(DType::I32, [])]));
    let f = jit(|x, y| {
        let doubled = x * 2;
        doubled + y
    });
    let f = f.with_policy(Policy::Strict);
    insta::assert_snapshot!(text(f.call((&f32s(), &Array::from([1i32]))).unwrap_err()));
    // A scalar argument follows the arrays in the graph, but keeps its argument index.
    let f = jit(|k, x, y| (k * x, x * y)).with_policy(Policy::Strict);
    insta::assert_snapshot!(text(f.call((2, &f32s(), &Array::from([1i32]))).unwrap_err()));
    let lazy = with_policy(Policy::Strict, || (f32s() * 2) + Array::from([1i32]));
    insta::assert_snapshot!(text(lazy.error().unwrap()));
    let lazy = with_policy(Policy::Jax2019, || f32s() * 2);
    insta::assert_snapshot!(text(lazy.error().unwrap()));
}

#[test]
fn one_function_under_several_policies() {
    let f = jit(|x, y| {
        let sum = x + 1;
        let both = sum * y;
        both / 2
    });
    let policies = [Policy::Standard, Policy::NumPy2, Policy::Torch, Policy::Jax2019, Policy::Strict];
    let diff = f.policy_diff(&[spec(DType::U32, [3]), spec(DType::I32, [3])], &policies).unwrap();
    insta::assert_snapshot!(text(&diff));
    assert_eq!((diff.differences().collect(), diff.rows()[1].types[4]), (vec![0, 1], None));
    assert!(diff.error(Policy::Strict).is_some() && diff.error(Policy::NumPy2).is_none());
    let same =
        f.policy_diff(&[spec(DType::F32, [3]), spec(DType::F32, [3])], &[Policy::Standard, Policy::Jax32]).unwrap();
    assert_eq!(same.first_difference(), None);
    insta::assert_snapshot!(text(&same));
    insta::assert_snapshot!(text(f.policy_diff(&[spec(DType::F32, [3])], &policies).unwrap_err()));
    assert_eq!(f.policy_diff(&[spec(DType::F32, [3]), spec(DType::F32, [3])], &[]).unwrap().to_string(), "\n");
}

#[test]
fn a_function_that_looks_at_dtypes_has_other_operations() {
    let inner = jit(|x, y| x + y);
    let f = jit(move |x: Expr, y: Expr| {
        let sum = inner.inline((x, y));
        if sum.dtype() == DType::I64 { sum.cast(DType::F64).sin() } else { sum * 2 }
    });
    let specs = [spec(DType::U32, [3]), spec(DType::I32, [3])];
    let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::Jax32, Policy::Strict]).unwrap();
    insta::assert_snapshot!(text(diff));
}

#[test]
fn long_chains_of_two_dtypes() {
    let f = jit(|mut x: Expr, y: Expr| {
        for _ in 0..10_000 {
            x += y;
        }
        x
    });
    let traced = f.trace(&[spec(DType::F32, [3]), spec(DType::U8, [3])]).unwrap();
    assert_eq!(traced.explain_dtype(0).unwrap().steps.len(), 10_000);
}

#[test]
fn policy_diff_traces_what_a_call_does() {
    let f = jit(|x: Expr| x + 1).restrict_dtypes(Restriction::unsupported(DType::F16));
    let diff = |modes| {
        let diff = || f.policy_diff(&[spec(DType::F16, [3])], &[Policy::Standard, Policy::Torch]).unwrap();
        text(with_casting(modes, diff))
    };
    insta::assert_snapshot!([diff(CastingModes::ERROR), diff(CastingModes::UP)].join("\n"));
}

#[test]
fn policy_diff_looks_into_a_called_function_that_refuses() {
    let g = jit(|x, y| {
        let a: Expr = x * 2;
        a + y
    });
    let f = jit(move |x, y| g.inline((x, y)));
    let specs = [spec(DType::U32, [3]), spec(DType::I32, [3])];
    let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::Strict]).unwrap();
    assert_eq!(diff.first_difference(), Some(1));
    insta::assert_snapshot!(text(diff));
}

#[test]
fn policy_diff_aligns_equal_operations_and_leaves_out_casts_of_modes() {
    let f = jit(|x: Expr| x.cast(DType::F64) + x.cast(DType::F32));
    let equal = f.policy_diff(&[spec(DType::F32, [3])], &[Policy::Standard, Policy::Jax32]).unwrap();
    let f = jit(|x, y| ((x + y) ^ 1) + 2);
    let specs = [spec(DType::U64, [3]), spec(DType::I64, [3])];
    let diff = || f.policy_diff(&specs, &[Policy::Standard, Policy::Jax32]).unwrap();
    let cast = with_casting(CastingModes::CROSS, diff);
    insta::assert_snapshot!(format!("{}\n{}", text(equal), text(cast)));
}

#[test]
fn casts_of_modes_have_no_source_text() {
    let f = jit(|x: Expr| x.bitwise_xor(1).negative());
    let cross = with_casting(CastingModes::CROSS, || f.trace(&[spec(DType::F32, [3])])).unwrap();
    insta::assert_snapshot!(text(cross.explain_dtype(0).unwrap()));
}

#[test]
fn a_called_function_keeps_its_lint() {
    let scale = jit(|x| x * strong(0.5)).on_widening(Lint::Deny);
    let f = jit(move |x| scale.inline((x,)) + 1);
    assert!(f.call((&Array::from([1.0f64]),)).is_ok());
    insta::assert_snapshot!(text(f.call((&f32s(),)).unwrap_err()));
}

#[test]
fn the_lint_says_where_a_bare_number_would_do() {
    let denied = |x: DType, number: ndjit::Scalar, policy: Policy| {
        let f = jit(move |x| x + number).on_widening(Lint::Deny).with_policy(policy);
        let error = f.trace(&[spec(x, [3])]).unwrap().lower().err().unwrap();
        error.help_text().unwrap().to_owned()
    };
    let cases = [
        (DType::F32, strong(0.5), Policy::Standard),
        (DType::U8, strong(3i64), Policy::Standard),
        // 300 does not fit u8, 0.5 widens u8 to a float, and a policy may reject bare scalars.
        (DType::U8, strong(300i64), Policy::Standard),
        (DType::U8, strong(0.5), Policy::Standard),
        (DType::F32, strong(0.5), Policy::Jax2019),
    ];
    let says: Vec<bool> = cases.map(|(x, k, policy)| denied(x, k, policy).contains("drop `strong(…)`")).into();
    assert_eq!(says, [true, true, false, false, false]);
}
