//! Type queries under several policies, and the cost of changing a weak operand.

use ndjit::*;

/// The error's text without its place, which must be in this file.
fn text(error: &Error) -> String {
    assert!(error.place().is_none_or(|place| place.file == file!()));
    error.to_string().lines().filter(|line| !line.starts_with("  at ")).collect::<Vec<&str>>().join("\n")
}

#[test]
fn types_of_all_sorts_of_operands() {
    let (x, k) = (Array::from([1i8, 2]), asarray(2));
    let name = |ty: Result<ValueType>| ty.unwrap().to_string();
    assert_eq!(name(promote_types(DType::U8, &x)), "i16");
    assert_eq!(name(promote_types(1, 2.5)), "f*");
    assert_eq!(name(promote_types(true, false)), "bool");
    assert_eq!(name(promote_types(true, 1)), "i*");
    assert_eq!(name(promote_types(&k, Weak::Complex)), "c*");
    assert_eq!(name(promote_types(ValueType::from(DType::F16), strong(2f64))), "f64");
    assert_eq!(name(result_type((&x, &k, 1000, DType::U8))), "i16");
    assert_eq!(name(result_type((x.clone(), DType::Bool, 0.5))), "f*");
    assert_eq!(name(result_type([DType::F16, DType::Bf16])), "f32");
    assert_eq!(name(result_type(vec![&x, &k])), "i8");
    assert_eq!(name(result_type(&[Weak::Int][..])), "i*");
    assert_eq!(name(result_type((1, 2.0, Complex::new(0.0, 1.0)))), "c*");
    let f = jit!(|x, y| {
        assert_eq!(result_type((x, y, DType::U8)).unwrap(), DType::I16.into());
        assert!(
            can_cast(y, DType::I8).unwrap() && y.is_weak() && y.astype(y.dtype()).value_type() == DType::I32.into()
        );
        x + y
    });
    assert_eq!(f(&x, &k).dtype(), DType::I8);
}

#[test]
fn answers_are_those_of_the_policy() {
    let pair = || promote_types(DType::I64, DType::F32).map(|ty| ty.to_string());
    assert_eq!(pair(), Ok("f32".to_owned()));
    assert_eq!(with_policy(Policy::Jax32, || promote_types(DType::I64, DType::I32)), Ok(DType::I32.into()));
    assert!(with_policy(Policy::Strict, pair).is_err());
    assert_eq!(Policy::Strict.promote_types(DType::I8, Weak::Int), Ok(DType::I8.into()));
    for from in ValueType::ALL {
        for to in DType::ALL {
            let joins = Policy::Standard.join(from, to.into()) == Some(to.into());
            assert_eq!(can_cast(from, to), Ok(joins), "{from} {to}");
        }
    }
    assert!(with_policy(Policy::Jax32, || can_cast(DType::I64, DType::I64)).unwrap());
    assert!(!with_policy(Policy::Strict, || can_cast(DType::I8, DType::I16)).unwrap());
}

/// The standard's question, with its reference answer.
#[test]
fn can_cast_is_the_array_apis() {
    let path = ndjit_tests::root().join("tests/goldens/ops/array_api_result_dtypes.json");
    let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let lacks = file["lacks"].as_array().unwrap();
    let (mut compared, mut different) = (0, Vec::new());
    for (i, from) in DType::ALL.into_iter().enumerate() {
        for (j, to) in DType::ALL.into_iter().enumerate() {
            if lacks.iter().any(|lacking| *lacking == from.name() || *lacking == to.name()) {
                continue;
            }
            compared += 1;
            let want = file["can_cast"]["can_cast"][i][j].as_u64().map(|cell| cell == 1);
            let got = with_policy(Policy::ArrayApi, || can_cast(from, to)).ok();
            if got != want {
                different.push(format!("{from} to {to}: {got:?} here, {want:?} there"));
            }
        }
    }
    println!("can_cast: {compared} cells compared, {} equal", compared - different.len());
    assert_eq!(different.join("\n"), "");
    assert_eq!(compared, 13 * 13);
}

#[test]
fn promoted_arrays() {
    let (x, y) = (Array::from([1u8, 255]), Array::from([-1i8]));
    let [a, b, c] = promote_arrays((&x, &y, 2)).unwrap();
    assert_eq!([&a, &b, &c].map(|z| z.to_vec::<i16>().unwrap()), [vec![1, 255], vec![-1], vec![2]]);
    // Each with its own shape; arrays of the common type are unchanged.
    let [a, b] = promote_arrays([&x, &x]).unwrap();
    assert_eq!((a.shape().extents(), b.dtype()), (&[2][..], DType::U8));
    // Weak with weak stays weak.
    let [one, half] = promote_arrays((asarray(1), 0.5)).unwrap();
    assert_eq!([one.to_string(), half.to_string()], ["1. f*", "0.5 f*"]);
    let [ints, half] = promote_arrays((&x, 0.5)).unwrap();
    assert_eq!([ints.to_string(), half.to_string()], ["[  1. 255.] f*", "0.5 f*"]);
    let [one] = promote_arrays((1,)).unwrap();
    assert_eq!((one.dtype(), one.is_weak()), (DType::I32, true));
    let [t, f] = promote_arrays((true, &Array::from([false]))).unwrap();
    assert_eq!((t.dtype(), f.dtype()), (DType::Bool, DType::Bool));
}

#[test]
fn what_is_refused() {
    let (x, y) = (Array::from([1i32]), Array::from([1f32]));
    let strict = |query: fn(&Array, &Array) -> Error| with_policy(Policy::Strict, || query(&x, &y));
    insta::assert_snapshot!(text(&strict(|x, y| promote_types(x, y).unwrap_err())), @r"
    error[promotion]: promote_types: the strict policy does not promote i32 and f32
      the types: i32, f32
      help: cast to one dtype first, for example `.cast(DType::F32)`; f32 keeps 24 binary digits, i32 has 31
    ");
    insta::assert_snapshot!(text(&strict(|x, y| result_type((x, 2, y)).unwrap_err())), @r"
    error[promotion]: result_type: the strict policy does not promote i32 and f32
      the types: i32, i*, f32
      help: cast to one dtype first, for example `.cast(DType::F32)`; f32 keeps 24 binary digits, i32 has 31
    ");
    insta::assert_snapshot!(text(&strict(|x, y| promote_arrays((x, y)).unwrap_err())), @r"
    error[promotion]: promote_arrays: the strict policy does not promote i32 and f32
      the types: i32, f32
      help: cast to one dtype first, for example `.cast(DType::F32)`; f32 keeps 24 binary digits, i32 has 31
    ");
    let seed = with_policy(Policy::Jax2019, || promote_types(DType::F32, 2).unwrap_err());
    insta::assert_snapshot!(text(&seed), @r"
    error[promotion]: promote_types: the jax2019 policy does not promote f32 and i*
      the types: f32, i*
      the table of 2019 has no rows for bare numbers
      help: cast to one dtype first, for example `.cast(DType::F32)`
    ");
    insta::assert_snapshot!(text(&result_type([DType::F32; 0]).unwrap_err()), @r"
    error[arity]: result_type: no operands, so no type
      help: give at least one operand
    ");
    insta::assert_snapshot!(text(&promote_arrays((&Array::from([1u8]), 300)).unwrap_err()), @r"
    error[literal]: promote_arrays: literal 300 does not fit u8
      u8 holds 0 to 255
      help: cast the other operand to a wider dtype, for example `.cast(DType::I16)`
    ");
    let poisoned = &y & 1.5;
    assert_eq!(result_type((&x, &poisoned)).as_ref().err(), poisoned.error());
    assert_eq!(can_cast(&poisoned, DType::Bool).as_ref().err(), poisoned.error());
    assert_eq!(promote_arrays((&x, &poisoned)).err().as_ref(), poisoned.error());
}

/// Other scalars cost nothing; another kind of scalar costs a plan, and a kernel only if the kernel's dtypes differ.
#[test]
fn weak_operands_compile_once() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let f = jit(|x, k| x * k + 1);
    f(&x, &asarray(2));
    let made = (f.trace_count(), f.compile_count());
    assert_no_recompile!([f(&x, &asarray(3)), f(&x, &full([], -7))]);

    let g = jit(|x, k| x * k - 1);
    assert_eq!(g.call((&x, 2)).unwrap().to_vec::<f32>().unwrap(), [1.0, 3.0, 5.0]);
    assert_no_recompile!(g.call((&x, 3))).unwrap();
    // A float instead of an integer: a new signature, the same machine code.
    assert_eq!(g.call((&x, 2.0)).unwrap().to_vec::<f32>().unwrap(), [1.0, 3.0, 5.0]);
    assert_eq!((g.trace_count(), g.compile_count()), (2, 1));
    // As an array a weak float has another stored dtype than a weak integer, so its kernel has no cast.
    f(&x, &asarray(0.5));
    assert_eq!((f.trace_count(), f.compile_count()), (made.0 + 1, made.1 + 1));
}

#[test]
fn promoted_weak_arrays_are_stored_alike() -> Result<()> {
    let one = asarray(1);
    let wide = with_defaults(Defaults::BITS_64, || promote_arrays((&one, 2)))??;
    assert_eq!(wide.each_ref().map(Array::dtype), [DType::I64; 2]);
    assert!(wide.iter().all(Array::is_weak));
    Ok(())
}
