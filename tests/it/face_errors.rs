//! Errors of bad input: a code, the place in the source, both operands, and a fix. Snapshots of all of them.

use ndjit::*;

/// The error's text with the file's name only: paths are machine-dependent.
fn text(error: &Error) -> String {
    error.to_string().replace(file!(), "face_errors.rs")
}

/// The place of an error, as `line:column` in this file.
fn line(error: &Error) -> u32 {
    let place = error.place().expect("errors know their place");
    assert_eq!(place.file, file!());
    place.line
}

fn array(shape: &[usize]) -> Array {
    let size = shape.iter().product();
    Array::from_shape_vec(shape, vec![1.0f32; size]).unwrap()
}

#[test]
fn shapes_that_do_not_broadcast() {
    let f = jit(|x, y| {
        let doubled = x * 2;
        doubled + y
    });
    let at = line!() - 2;
    let error = f.call((&array(&[2, 3]), &array(&[4]))).unwrap_err();
    assert_eq!((error.code(), line(&error)), (ErrorCode::Shape, at));
    insta::assert_snapshot!(text(&error));
    let lazy = array(&[2, 3]) - array(&[2]);
    assert_eq!(line(&lazy.eval().unwrap_err().clone()), line!() - 1);
    assert_eq!(lazy.error().map(Error::code), Some(ErrorCode::Shape));
}

#[test]
fn places_are_those_of_the_user() {
    let (x, y) = (array(&[2]), array(&[3]));
    #[rustfmt::skip]
    let made = [
        (&x + &y, line!()),
        (x.minimum(&y), line!()),
        (x.clone() * y.clone(), line!()),
        (maximum(&x, &y), line!()),
        (where_(&x, &y, 0), line!()),
        (x.eq(&y), line!()),
        (!&x, line!()),
    ];
    for (array, at) in made {
        assert_eq!(line(array.error().unwrap()), at);
    }
    let at = line!() + 1;
    let f = jit!(|x, y| x.clip(y, 1) + 2.0 * y);
    assert_eq!(line(&f.call((&x, &y)).unwrap_err()), at);
}

#[test]
fn the_first_error_is_kept() {
    let bad = array(&[2]) + array(&[3]);
    let worse = (&bad & 1.5).sin() + array(&[7]);
    assert_eq!(worse.eval().unwrap_err(), bad.eval().unwrap_err());
    let f = jit(|x, y| (x + y, x & y));
    assert_eq!(f.call((&array(&[2]), &array(&[3]))).unwrap_err().code(), ErrorCode::Shape);
}

#[test]
fn a_dtype_an_op_does_not_take() {
    let f = jit(|x, y| x & y);
    insta::assert_snapshot!(text(&f.call((&array(&[3]), &Array::from([1i32]))).unwrap_err()));
    let error = (Array::from([Complex::new(1.0f32, 0.0)]) % 2).eval().unwrap_err().clone();
    insta::assert_snapshot!(text(&error));
}

#[test]
fn operands_without_a_common_type() {
    let f = jit(|x, y| x * y).with_policy(Policy::Strict);
    insta::assert_snapshot!(text(&f.call((&array(&[3]), &Array::from([1i32]))).unwrap_err()));
}

#[test]
fn an_integer_literal_out_of_range() {
    let f = jit(|x| x + 300);
    let error = f.call((&Array::from([1u8, 2]),)).unwrap_err();
    assert_eq!((error.code(), line(&error)), (ErrorCode::Literal, line!() - 2));
    insta::assert_snapshot!(text(&error));
    // As an argument it is known only at the call, and meets the array there.
    let f = jit(|x, k| x + k);
    assert!(f.call((&[1u8, 2], 255)).is_ok());
    let error = f.call((&[1u8, 2], 300)).unwrap_err();
    assert_eq!((error.code(), line(&error)), (ErrorCode::Literal, line!() - 3));
    insta::assert_snapshot!(text(&error));
    assert_eq!((Array::from([1u8]) - 300).eval().unwrap_err().code(), ErrorCode::Literal);
}

#[test]
fn more_elements_than_memory_can_address() {
    let error = Array::from_shape_vec([usize::MAX, 2], vec![0u8]).unwrap_err();
    insta::assert_snapshot!(text(&error).replace(&usize::MAX.to_string(), "usize::MAX"));
    let f = jit(|x, y| x + y);
    let huge = [spec(DType::F32, [1 << 40, 1]), spec(DType::F32, [1, 1 << 40])];
    let Err(error) = f.trace(&huge) else { panic!("a shape of 2^80 elements was traced") };
    assert_eq!(error.code(), ErrorCode::Size);
    insta::assert_snapshot!(text(&error));
}

#[test]
fn data_that_does_not_fill_its_shape() {
    insta::assert_snapshot!(text(&Array::from_shape_vec([2, 3], vec![0u8; 5]).unwrap_err()));
}

#[test]
fn wrong_arguments_of_a_compiled_function() {
    let f = jit(|x, y| (x + y, x));
    let Err(error) = f.trace(&[spec(DType::F32, [3])]) else { panic!("one spec for two parameters") };
    insta::assert_snapshot!(text(&error));
    let specs = [spec(DType::F32, [3]), spec(DType::F32, [])];
    let compiled = f.trace(&specs).unwrap().lower().unwrap().compile().unwrap();
    let error = compiled.call((&[1i32, 2, 3], 2.0)).unwrap_err();
    assert_eq!((error.code(), line(&error)), (ErrorCode::Argument, line!() - 1));
    insta::assert_snapshot!(text(&error));
    let mut out = [0.0f32; 3];
    let error = f.call_into((&out.clone(), 2.0), &mut out).unwrap_err();
    insta::assert_snapshot!(text(&error));
    let (mut a, mut b) = ([0.0f64; 3], [0.0f32; 3]);
    let error = f.call_into((&b.clone(), 2.0), (&mut a, &mut b)).unwrap_err();
    insta::assert_snapshot!(text(&error));
}

#[test]
fn reading_a_traced_value() {
    let f = jit(|x: Expr| match x.to_vec::<f32>() {
        Ok(_) => x,
        Err(_) => x + 1,
    });
    let error = f.call((&array(&[2]),)).unwrap_err();
    assert_eq!((error.code(), line(&error)), (ErrorCode::Traced, line!() - 5));
    insta::assert_snapshot!(text(&error));
    thread_local!(static LEAK: std::cell::Cell<Option<Expr>> = const { std::cell::Cell::new(None) });
    let f = jit(|x: Expr| {
        LEAK.set(Some(x));
        x
    });
    f.call((&array(&[2]),)).unwrap();
    let g = jit(|x: Expr| x + LEAK.get().unwrap());
    let error = g.call((&array(&[2]),)).unwrap_err();
    assert_eq!((error.code(), line(&error)), (ErrorCode::Traced, line!() - 2));
    insta::assert_snapshot!(text(&error));
}

#[test]
fn reading_as_another_type() {
    insta::assert_snapshot!(text(&array(&[2]).to_vec::<f64>().unwrap_err()));
    insta::assert_snapshot!(text(&array(&[2]).item::<f32>().unwrap_err()));
}

#[test]
fn a_panic_of_the_traced_function() {
    let f = jit(|x: Expr| if x.shape().rank() > 1 { panic!("rank too high") } else { x + 1 });
    let error = f.call((&array(&[2, 2]),)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Panic);
    insta::assert_snapshot!(text(&error));
    assert!(f.call((&array(&[2]),)).is_ok());
}

#[test]
fn memory_that_is_refused() {
    // 2^46 bytes: beyond any address space.
    let f = jit(|x, y| x + y);
    let (x, y) = too_large();
    let error = f.call((&x, &y)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Allocation);
}

#[test]
fn errors_of_a_call_name_its_line() {
    let f = jit(|x, y| x + y);
    let made = line!() - 1;
    let (x, y) = (array(&[2]), array(&[3]));
    let calls = |error: &Error| -> Vec<u32> {
        let places = error.facts().iter().filter_map(|fact| fact.strip_prefix("called at "));
        places.map(|place| place.rsplit(':').nth(1).unwrap().parse().unwrap()).collect()
    };
    let error = f.call((&x, &y)).unwrap_err();
    assert_eq!((line(&error), calls(&error)), (made, vec![line!() - 1]));
    let error = f.call_into((&x, &y), &mut [0.0f32; 3]).unwrap_err();
    assert_eq!((line(&error), calls(&error)), (made, vec![line!() - 1]));
    let g = jit(move |x, y| f.inline((x, y)));
    let error = g.call((&x, &y)).unwrap_err();
    assert_eq!((line(&error), calls(&error)), (made, vec![line!() - 2, line!() - 1]));
}

#[test]
fn a_call_through_a_dereference_knows_its_line() {
    let f = jit(|x| x + 1);
    let g = jit(|x: Expr| x.sum(0));
    let message = |call: &dyn Fn() -> Array| {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
        caught.downcast_ref::<String>().unwrap().clone()
    };
    let scalar = Array::scalar(1.0f32);
    let panicked = message(&|| f(&g(&f(&scalar))));
    let here = format!("called at {}:{}:", file!(), line!() - 1);
    assert!(panicked.contains(&here), "{panicked}");
    assert_eq!(panicked.matches("called at ").count(), 1);
    // A dereference without a call is not mistaken for a call.
    let _ = &*g;
    let again = message(&|| g(&f(&scalar)));
    assert!(again.contains(&format!("called at {}:{}:", file!(), line!() - 1)), "{again}");
}

#[test]
fn reports_show_the_line() {
    let error = (array(&[2]) + array(&[3])).eval().unwrap_err().clone();
    let shown = report(&error).replace(file!(), "face_errors.rs");
    insta::assert_snapshot!(shown);
}

#[test]
fn the_panicking_door_prints_the_error() {
    let f = jit(|x, y| x + y);
    let (x, y) = (array(&[2]), array(&[3]));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(&x, &y))).unwrap_err();
    let message = caught.downcast_ref::<String>().unwrap();
    assert!(message.starts_with("error[shape]: add: shapes [2] and [3] do not broadcast"), "{message}");
}

#[test]
fn unwrapping_an_error_shows_it() {
    let f = jit(|x: Expr| x + x.item::<f32>().unwrap());
    let at = line!() - 1;
    let error = f.call((&array(&[]),)).unwrap_err();
    assert_eq!((error.code(), line(&error)), (ErrorCode::Traced, at));
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn advice_names_what_the_user_wrote() {
    let strict = |f: fn(Array, Array) -> Array| {
        let (x, y) = (Array::from([1.0f32]), Array::from([1i32]));
        let error = with_policy(Policy::Strict, move || f(x, y)).eval().unwrap_err().clone();
        error.help_text().unwrap_or_default().to_owned()
    };
    assert_eq!(strict(|x, y| y * x), "cast explicitly: `cast(y, DType::F32)`; f32 keeps 24 binary digits, i32 has 31");
    assert_eq!(
        strict(|x, y| (y + 1) * x),
        "cast explicitly: `cast(y + 1, DType::F32)`; f32 keeps 24 binary digits, i32 has 31"
    );
    assert_eq!(
        strict(|_, y| &y * 2.5),
        "cast explicitly: `cast(&y, DType::F32)`; f32 keeps 24 binary digits, i32 has 31"
    );
    assert_eq!(
        strict(|x, y| maximum(sin(&x), &y)),
        "cast explicitly: `cast(&y, DType::F32)`; f32 keeps 24 binary digits, i32 has 31"
    );
}

/// A cast of one side only is rejected under the strict policy, so the advice casts both.
#[test]
fn a_value_that_is_both_operands_is_cast_in_both_places() {
    let b = Array::from([true, false]);
    let refused = with_policy(Policy::Strict, || &b - &b);
    insta::assert_snapshot!(text(refused.error().unwrap()));
    let one = with_policy(Policy::Strict, || b.cast(DType::I32) - &b);
    let both = with_policy(Policy::Strict, || b.cast(DType::I32) - b.cast(DType::I32));
    assert!(one.error().is_some() && both.eval().is_ok());
}

#[test]
fn a_choice_among_cases_is_made_by_integers() {
    fn cases() -> [Array; 2] {
        [Array::from([1, 2]), Array::from([3, 4])]
    }
    let error = select_n(Array::from([0.5f32, 1.0]), cases()).eval().unwrap_err();
    assert_eq!(error.code(), ErrorCode::DType);
    assert_eq!(error.headline(), "select_n: which is f32, not an integer or bool");
    let traced = jit(|which| select_n(which, cases())).call((&[1.5f64, 0.0],)).unwrap_err();
    assert_eq!(traced.headline(), "select_n: which is f64, not an integer or bool");
    assert_eq!(select_n(Array::from([true, false]), cases()).to_vec::<i32>().unwrap(), [3, 2]);
    assert_eq!(jit(|which| select_n(which, cases())).call((&[-7, 7],)).unwrap().to_vec::<i32>().unwrap(), [1, 4]);
    assert_eq!(select_n(Array::from([5, 5]), [Array::from([8u8, 9])]).to_vec::<u8>().unwrap(), [8, 9]);
}

#[test]
fn poisoned_arrays_show_their_error() {
    let failed = array(&[2]) + array(&[3]);
    assert_eq!(format!("{failed:?}"), "Array(error[shape]: add: shapes [2] and [3] do not broadcast)");
    assert_eq!(failed.to_string(), failed.error().unwrap().to_string());
    assert_eq!((failed.dtype(), failed.shape().extents(), failed.len()), (DType::Bool, &[][..], 1), "as documented");
    let f = jit(|x| x + 1);
    let traced = f.trace(&[Spec::of(&failed)]).map(|_| ()).unwrap_err();
    assert_eq!(Some(&traced), failed.error(), "not a bool scalar's program");
    assert_eq!(Spec::of(&failed).to_string(), "error[shape]");
    // Errors of execution are errors of reading.
    let (column, row) = too_large();
    let late = column + row;
    assert!(late.to_string().starts_with("error[allocation]: "), "{late}");
    assert_eq!(format!("{late:?}"), "Array(f32[1048576, 16777216], not yet computed)");
    assert_eq!(late.error(), None);
}

/// Two arrays whose sum exceeds memory.
fn too_large() -> (Array, Array) {
    let row = Array::from_shape_vec([1, 1 << 24], vec![1.0f32; 1 << 24]).unwrap();
    (array(&[1 << 20, 1]), row)
}

#[test]
fn a_panic_of_the_call_alone_is_at_its_line() {
    let add = jit(|x, y| x + y);
    let (column, row) = too_large();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| add(&column, &row))).unwrap_err();
    let message = caught.downcast_ref::<String>().unwrap();
    assert!(message.contains(&format!(" --> {}:{}:", file!(), line!() - 2)), "{message}");
}

/// The operation is found for any use of the scalar, on every engine.
#[test]
fn a_number_of_a_call_that_does_not_fit_is_told_where_it_is_used() {
    let x = [1u8, 2];
    let large = 1i64 << 40;
    let headline = |error: &Error| error.headline().to_owned();
    let add = "add: literal 300 does not fit u8";
    let function = |x: Expr, k: Expr| {
        let y = x * 2;
        y + k
    };
    let at = line!() - 2;
    for f in [jit(function), jit(function).interpreted(true), jit(function).fuse(false)] {
        let error = f.call((&x, 300)).unwrap_err();
        assert_eq!((line(&error), headline(&error)), (at, add.to_owned()));
        assert_eq!(error.facts()[1], "y: i* (300 from argument 1)");
        let error = f.profile((&x, 300)).map(drop).unwrap_err();
        assert_eq!((line(&error), headline(&error)), (at, add.to_owned()));
    }
    // In a called function, and in a loop.
    let inner = jit(|x: Expr, k: Expr| x + k);
    let at = line!() - 1;
    let f = jit(move |x: Expr, k: Expr| inner.inline((x, k)));
    let error = f.call((&x, 300)).unwrap_err();
    assert_eq!((line(&error), headline(&error)), (at, add.to_owned()));
    let f = jit(|x: Expr, k: Expr| fori_loop(0, 2, x, |_, x| x + k));
    let error = f.call((&x, 300)).unwrap_err();
    assert_eq!((line(&error), headline(&error)), (line!() - 2, add.to_owned()));
    let f = jit(|x: Expr, k: Expr| concat([x, k.reshape([1])], 0));
    let error = f.call((&x, large)).unwrap_err();
    assert_eq!((line(&error), headline(&error)), (line!() - 2, format!("call: literal {large} does not fit i32")));
    let f = jit(|k: Expr| k.sum(..));
    let error = f.call((large,)).unwrap_err();
    assert_eq!((line(&error), headline(&error)), (line!() - 2, format!("sum: literal {large} does not fit i32")));
    // Without an array, none can be cast: the help gives the scalar a dtype.
    let strong = "`strong(1099511627776i64)`";
    assert!(error.help_text().is_some_and(|help| help.contains(strong)), "{error}");
    let f = jit(|k: Expr| k);
    let error = f.call((large,)).unwrap_err();
    assert_eq!((line(&error), headline(&error)), (line!() - 1, format!("call: literal {large} does not fit i32")));
    assert_eq!(error.facts()[1], format!("the number: i* ({large} from argument 0)"));
    assert!(error.help_text().is_some_and(|help| help.contains(strong)), "{error}");
    assert_eq!(f.call((ndjit::strong(large),)).unwrap().item::<i64>().unwrap(), large);
}

/// Composed functions name their own operands, for arrays and in traced functions.
#[test]
fn facts_are_about_the_operands_of_the_user() {
    let (x, m) = (Array::from([1u8, 2, 3]), Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]));
    let i = Array::from([0, 1]);
    let given = [
        (x.at(0).set(300), "at.set", "x: u8[3], indices: i* (literal 0), y: i* (literal 300)"),
        (x.at(&i).add(300), "at.add", "x: u8[3], indices: i32[2], y: i* (literal 300)"),
        (x.at(x.gt(1)).set(300), "at.set", "x: u8[3], indices: bool[3], y: i* (literal 300)"),
        (x.at(&i).get_or(300), "at.get_or", "x: u8[3], indices: i32[2], y: i* (literal 300)"),
        (
            x.reshape([3, 1, 1, 1, 1]).at((0, 0, 0, 0, 0)).set(300),
            "at.set",
            "x: u8[3, 1, 1, 1, 1], indices 0: i* (literal 0), indices 1: i* (literal 0), indices 2: i* (literal 0), \
             indices 3: i* (literal 0), indices 4: i* (literal 0), y: i* (literal 300)",
        ),
        (weights(Array::from([1, 2])).histogram(&x, 2).0, "histogram", "x: u8[3], weights: i32[2]"),
        (repeat(&x, [isize::MAX, 1, 1], 0), "repeat", "x: u8[3]"),
        (repeat(&m, [isize::MAX; 2], 0), "repeat", "x: f32[2, 2]"),
        (tile(&m, [isize::MAX, 1]), "tile", "x: f32[2, 2]"),
        (roll(&m, 1, [0, 7]), "roll", "x: f32[2, 2]"),
        (stack([&x, &x], 7), "stack", "x0: u8[3], x1: u8[3]"),
        (prepend(0).diff(&m, 1, 7), "diff", "x: f32[2, 2]"),
        (trapezoid(&m, 0.5, 7), "trapezoid", "x: f32[2, 2]"),
    ];
    for (array, what, operands) in given {
        let error = array.error().unwrap_or_else(|| panic!("{what} of {operands}")).clone();
        assert!(error.headline().starts_with(&format!("{what}: ")), "{error}");
        let facts = error.facts().iter().filter(|fact| fact.starts_with(['x', 'i', 'y', 'w']));
        // Types are aligned.
        let facts: Vec<String> = facts
            .map(|fact| fact.split(" held").next().and_then(|fact| fact.split(" from").next()).unwrap())
            .map(|fact| fact.split_whitespace().collect::<Vec<&str>>().join(" "))
            .collect();
        assert_eq!(facts.join(", "), operands, "{error}");
    }
    let f = jit(|x: Expr| x.at(0).set(300));
    let error = f.call((&x,)).unwrap_err();
    assert_eq!(line(&error), line!() - 2);
    assert_eq!(error.facts()[..2], ["x:       u8[3] from argument 0", "indices: i* (literal 0)"]);
    let error = from_fn([1, 1 << 50], |[row, column]: [Array; 2]| row + column).error().unwrap().clone();
    assert_eq!(error.headline(), "from_fn: i32 cannot count the 1125899906842624 indices of axis 1");
}

#[test]
fn a_panic_says_after_which_operation() {
    let f = jit(|x: Expr| {
        let y = x + 1;
        assert!(y.shape().rank() == 0, "no scalar");
        y
    });
    let error = f.call((&array(&[2]),)).unwrap_err();
    let after = format!("after the operation at {}:{}:17", file!(), line!() - 5);
    assert_eq!(error.facts()[..2], ["no scalar".to_owned(), after]);
}

/// A chain beyond the limit is evaluated; if memory is refused for that, it stays pending: only reads of all of it fail.
#[test]
fn a_long_chain_that_memory_is_refused_to_waits() {
    let mut x = ndjit::broadcast_to(Array::from([0.5f32]), [1 << 55]);
    for _ in 0..1100 {
        x += 1;
    }
    assert_eq!((x.dtype(), x.shape().extents(), x.error().is_some()), (ndjit::DType::F32, &[1 << 55][..], false));
    assert_eq!(x.eval().unwrap_err().code(), ndjit::ErrorCode::Allocation);
    assert_eq!(x.slice(..2).to_vec::<f32>().unwrap(), [1100.5; 2]);
}
