//! Functions composed of several operations, under every policy and of every dtype: policies do not affect their parts, and
//! errors have the name of the function.

use ndjit::*;

/// A matrix of zeros and ones of a dtype, created under the default policy.
fn matrix(d: DType) -> Array {
    Array::from_rows(&[[1i8, 0], [1, 1]]).cast(d)
}

/// Runs `check` under every policy with every dtype.
fn everywhere(check: impl Fn(Policy, DType, &Array)) {
    for d in DType::ALL {
        let x = matrix(d);
        x.eval().unwrap();
        for policy in Policy::ALL {
            with_policy(policy, || check(policy, d, &x));
        }
    }
}

macro_rules! movements {
    ($($name:literal |$x:ident| $made:expr;)*) => {
        /// The functions that move elements, by name.
        fn moved(array: &Array) -> Vec<(&'static str, Array)> {
            vec![$(($name, { let $x = array; $made })),*]
        }

        /// The same in a trace.
        fn traced(value: Expr) -> Vec<(&'static str, Expr)> {
            vec![$(($name, { let $x = value; $made })),*]
        }
    };
}

movements! {
    "tril" |x| x.tril(0);
    "triu" |x| triu(x, 1);
    "roll" |x| x.roll(1, [0, 1]);
    "tile" |x| x.tile([2, 1]);
    "repeat" |x| x.repeat(2, 0);
    "pad" |x| x.pad(1, 0);
    "pad with one" |x| x.pad((1, 0), true);
    "pad with the edge" |x| x.pad([(2, 3)], Pad::Edge);
    "pad reflected" |x| x.pad(1, Pad::Reflect);
    "pad reflected far" |x| x.pad(5, Pad::Reflect);
    "pad mirrored" |x| x.pad(2, Pad::Symmetric);
    "pad mirrored far" |x| x.pad(5, Pad::Symmetric);
    "pad wrapped" |x| x.pad(2, Pad::Wrap);
    "pad wrapped far" |x| x.pad((5, 0), Pad::Wrap);
    "slice" |x| x.slice((.., step(-1)));
    "sliding_window" |x| x.sliding_window(2, 0);
    "diagonal" |x| x.diagonal(1, [0, 1]);
}

#[test]
fn what_moves_elements_keeps_every_dtype_under_every_policy() {
    everywhere(|policy, d, x| {
        for (name, y) in moved(x) {
            assert_eq!((y.error(), y.dtype()), (None, d), "{name} under {policy}");
        }
        let dtypes = jit(|x: Expr| {
            let moved = traced(x);
            moved.iter().for_each(|(name, y)| assert_eq!(y.dtype(), x.dtype(), "{name}"));
            moved.into_iter().map(|(_, y)| y).collect::<Vec<Expr>>()
        });
        dtypes.trace(&[spec(d, [2, 2])]).map(drop).unwrap_or_else(|error| panic!("{d} under {policy}: {error}"));
    });
    // Their values are the same under every policy.
    for (name, y) in moved(&matrix(DType::I32)) {
        let lax = with_policy(Policy::Lax, || moved(&matrix(DType::I32)));
        let (_, other) = lax.into_iter().find(|(other, _)| *other == name).unwrap();
        assert_eq!(other.to_string(), y.to_string(), "{name}");
    }
}

#[test]
fn norms_of_every_order_take_what_the_euclidean_one_takes() {
    everywhere(|policy, d, x| {
        let euclidean = norm(x, ..);
        for order in [0.0, 1.0, 2.0, 3.0, f64::INFINITY, f64::NEG_INFINITY] {
            let made = vector_norm(x, order, ..);
            match (made.error(), euclidean.error()) {
                (None, None) => assert_eq!(made.dtype(), euclidean.dtype(), "{order}: {d} under {policy}"),
                (Some(error), Some(of)) => {
                    assert_eq!(error.headline(), of.headline().replace("norm: ", "vector_norm: "));
                    assert_eq!(error.facts()[0], of.facts()[0]);
                }
                (made, of) => panic!("order {order} of {d} under {policy}: {made:?}, {of:?}"),
            }
        }
    });
    let x = matrix(DType::I8) * -128;
    assert_eq!(vector_norm(&x, 1, ..).item::<f32>(), Ok(384.0));
    assert_eq!(vector_norm(&x, 0, ..).item::<f32>(), Ok(3.0));
    assert_eq!(vector_norm(&x, f64::INFINITY, 0).to_vec::<f32>(), Ok(vec![128.0, 128.0]));
    assert_eq!(vector_norm(asarray([f32::NAN, 0.0]), 0, ..).item::<f32>(), Ok(1.0));
}

#[test]
fn choices_and_pairs_are_refused_by_their_own_name() {
    everywhere(|policy, d, x| {
        for (pair, of) in [(frexp(x), frexp_mantissa(x)), (modf(x), modf_fraction(x))] {
            match (pair.0.error(), of.error()) {
                (None, None) => assert_eq!(pair.0.dtype(), of.dtype()),
                (Some(error), Some(_)) => {
                    assert!(["frexp: ", "modf: "].iter().any(|name| error.headline().starts_with(name)), "{error}");
                }
                (pair, of) => panic!("{d} under {policy}: {pair:?}, {of:?}"),
            }
        }
        let cases = || [Array::from([1.0f32]), Array::from([2.0f32]), Array::from([3.0f32])];
        let which = select_n(x, cases());
        match (DTypeSet::INT | DTypeSet::BOOL).contains(d) {
            true => assert_eq!(which.error(), None, "{d} under {policy}"),
            false => assert!(which.error().unwrap().headline().starts_with("select_n: which is ")),
        }
        let chosen = select_n(Array::from([1, 0]), [x, x]);
        match (policy.join(d.into(), d.into()), chosen.error()) {
            (Some(join), None) => assert_eq!(chosen.value_type(), join),
            (None, Some(error)) => assert!(error.headline().starts_with("select_n: the "), "{error}"),
            (join, error) => panic!("{d} under {policy}: {join:?}, {error:?}"),
        }
    });
}

#[test]
fn what_is_made_of_positions_is_made_under_every_policy() {
    everywhere(|policy, d, x| {
        let made = [
            from_fn([2, 3], |[row, _]| row),
            meshgrid([arange(2), arange(3)], Indexing::Xy).remove(0),
            meshgrid([x.slice(0), x.slice(1)], Indexing::Ij).remove(1),
            broadcast_arrays([x, &x.slice(0)]).remove(1),
            zeros_like(x),
            full_like(x, true),
            eye(3),
            logspace(0..=1, 3),
        ];
        for (n, y) in made.iter().enumerate() {
            assert_eq!(y.error(), None, "{n}: {d} under {policy}");
        }
    });
}
