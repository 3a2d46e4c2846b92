//! Laws of indexing, on random arrays of every dtype: both sides of each are computed by compiled code on one and two threads and by the
//! interpreter, and have the same bits everywhere (NaNs compare as NaN).

use ndjit::{
    Array, Complex, DType, Expr, Side, argsort, clip, concat, jit, searchsorted, sort, take, take_along_axis, where_,
};
use ndjit_random::Rng;

/// The values of random elements: many are equal, and some are special.
const VALUES: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    3.0,
    -3.0,
    0.5,
    7.0,
    100.0,
    255.0,
    1e5,
    -3e9,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn elements(rng: &mut Rng, dtype: DType, shape: &[usize]) -> Array {
    let n = shape.iter().product();
    let mut numbers = || Array::from((0..n).map(|_| rng.pick(&VALUES)).collect::<Vec<f64>>());
    let x = numbers().cast(dtype);
    let x = if dtype.is_complex() { x + numbers().cast(dtype) * Complex::new(0.0f32, 1.0) } else { x };
    x.cast(dtype).reshape(shape.iter().map(|&n| n as isize).collect::<Vec<isize>>())
}

/// Indices along an axis, including negative ones, as integers of random dtypes.
fn positions(rng: &mut Rng, extent: usize, shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let dtype = rng.pick(&[DType::I8, DType::I16, DType::I32, DType::I64]);
    let at = (0..n).map(|_| rng.below(extent) as i64 - if rng.one_in(3) { extent as i64 } else { 0 });
    let at = Array::from(at.collect::<Vec<i64>>()).cast(dtype);
    at.reshape(shape.iter().map(|&n| n as isize).collect::<Vec<isize>>())
}

fn permutation(rng: &mut Rng, n: usize) -> Array {
    let mut order: Vec<i32> = (0..n as i32).collect();
    (1..n).rev().for_each(|last| order.swap(last, rng.below(last + 1)));
    Array::from(order)
}

/// Type, shape and elements; all NaNs are equal.
fn text(x: &Array) -> String {
    macro_rules! elements {
        ($($dtype:ident $rust:ty),*) => {
            match x.dtype() {
                $(DType::$dtype => format!("{:?}", x.to_vec::<$rust>().unwrap()),)*
            }
        };
    }
    let elements = elements! {
        Bool bool, U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, Bf16 ndjit::bf16, F16 ndjit::f16, F32 f32, F64 f64,
        C64 Complex<f32>, C128 Complex<f64>
    };
    format!("{}{} {}", x.dtype(), x.shape(), elements)
}

/// Both sides of a law, on arrays in a traced function.
macro_rules! law {
    ($what:expr; $($x:ident = $array:expr),* => $left:expr, $right:expr) => {
        let mut first: Option<String> = None;
        for (threads, interpreted) in [(1, false), (2, false), (1, true)] {
            let both = jit(move |$($x: Expr),*| ($left, $right)).threads(threads).interpreted(interpreted);
            let (left, right) = both.call(($(&$array,)*)).unwrap_or_else(|error| panic!("{}: {error}", $what));
            let way = format!("{}, {threads} threads, interpreted {interpreted}", $what);
            let (left, right) = (text(&left), text(&right));
            assert_eq!(left, right, "{way}");
            assert_eq!(left, *first.get_or_insert_with(|| left.clone()), "{way}");
        }
    };
}

/// Runs a law on each dtype and some extents.
fn each(law: impl Fn(&mut Rng, DType, usize)) {
    for (seed, dtype) in DType::ALL.into_iter().enumerate() {
        for n in [1, 2, 7, 33] {
            law(&mut Rng::new(seed as u64 * 100 + n as u64), dtype, n);
        }
    }
}

#[test]
fn taking_in_order_sorts() {
    each(|rng, dtype, n| {
        let (x, y) = (elements(rng, dtype, &[n]), elements(rng, dtype, &[3, n, 2]));
        law!(dtype; x = x => take(x, argsort(x, 0), 0), sort(x, 0));
        law!(dtype; y = y => take_along_axis(y, argsort(y, 1), 1), sort(y, 1));
    });
}

#[test]
fn taking_twice_is_taking_what_is_taken() {
    each(|rng, dtype, n| {
        let x = elements(rng, dtype, &[n, 3]);
        let (i, j, k) = (positions(rng, n, &[5]), positions(rng, 5, &[2, 2]), positions(rng, 3, &[5]));
        law!(dtype; x = x, i = i, j = j => take(take(x, i, 0), j, 0), take(x, take(i, j, 0), 0));
        law!(dtype; x = x, i = i => x.at(i).get(), take(x, i, 0));
        law!(dtype; x = x, i = i, k = k => x.at((i, k)).get(), take_along_axis(take(x, i, 0), k.expand_dims(1), 1).squeeze(1));
        law!(dtype; x = x, i = i => take(x, i, 0), take_along_axis(x, i.expand_dims(1), 0));
        law!(dtype; x = x => take(x, ndjit::arange(n), 0), x);
    });
}

#[test]
fn what_is_put_is_found_and_nothing_else_changes() {
    each(|rng, dtype, n| {
        let (x, y) = (elements(rng, dtype, &[n]), elements(rng, dtype, &[n]));
        let order = permutation(rng, n);
        law!(dtype; x = x, i = order, y = y => x.at(i).set(y).at(i).get(), y);
        law!(dtype; i = order, y = y => ndjit::zeros_like(y).at(i).set(y), take(y, argsort(i, 0), 0));
        // With some indices, other elements stay.
        let (some, others) = (order.slice(..n as isize / 2), order.slice(n as isize / 2..));
        law!(dtype; x = x, i = some, j = others => x.at(i).set(take(x, i, 0).flip(0)).at(j).get(), x.at(j).get());
    });
}

#[test]
fn puts_are_put_one_after_the_other() {
    each(|rng, dtype, n| {
        let n = n.min(9);
        let (x, y) = (elements(rng, dtype, &[3, 2]), elements(rng, dtype, &[n, 2]));
        let i = positions(rng, 3, &[n]);
        macro_rules! put {
            ($($put:ident)*) => {$(
                law!(format!("{dtype} {}", stringify!($put)); x = x, i = i, y = y => x.at(i).$put(y), {
                    (0..n as isize).fold(x, |x, k| x.at(i.slice(k)).$put(y.slice(k)))
                });
            )*};
        }
        put! { set add min max }
    });
}

#[test]
fn what_commutes_is_put_in_any_order() {
    each(|rng, dtype, n| {
        let (x, y) = (elements(rng, dtype, &[4]), elements(rng, dtype, &[n]));
        let (i, order) = (positions(rng, 4, &[n]), permutation(rng, n));
        law!(dtype; x = x, i = i, y = y, o = order => x.at(i).min(y), x.at(take(i, o, 0)).min(take(y, o, 0)));
        law!(dtype; x = x, i = i, y = y, o = order => x.at(i).max(y), x.at(take(i, o, 0)).max(take(y, o, 0)));
        if dtype.is_int() || dtype == DType::Bool {
            law!(dtype; x = x, i = i, y = y, o = order => x.at(i).add(y), x.at(take(i, o, 0)).add(take(y, o, 0)));
        }
    });
}

#[test]
fn a_mask_is_what_it_chooses() {
    each(|rng, dtype, n| {
        let (x, y) = (elements(rng, dtype, &[n, 2]), elements(rng, dtype, &[2]));
        let truths: Vec<bool> = (0..n).map(|_| rng.one_in(2)).collect();
        let chosen: Vec<i32> = (0..n as i32).filter(|&k| truths[k as usize]).collect();
        let (mask, chosen) = (Array::from(truths), Array::from(chosen));
        law!(dtype; x = x, y = y, m = mask, c = chosen => x.at(m).set(y), x.at(c).set(y));
        law!(dtype; x = x, y = y, m = mask, c = chosen => x.at(m).add(y), x.at(c).add(y));
        law!(dtype; x = x, y = y, m = mask => x.at(m).max(y), where_(m.expand_dims(1), ndjit::maximum(x, y), x));
    });
}

#[test]
fn traced_positions_that_are_not_there() {
    each(|rng, dtype, n| {
        let (x, y) = (elements(rng, dtype, &[n]), elements(rng, dtype, &[12]));
        let far: Vec<i64> = (0..12).map(|_| rng.below(5 * n) as i64 - 3 * n as i64).collect();
        let (count, end) = (far.len(), n as i64);
        let there: Vec<i32> = (0..count as i32).filter(|&k| (-end..end).contains(&far[k as usize])).collect();
        let (i, there) = (Array::from(far), Array::from(there));
        law!(dtype; x = x, i = i => take(x, i, 0), take(x, clip(where_(i.lt(0), i + n as i64, i), 0, n as i64 - 1), 0));
        law!(dtype; x = x, i = i, y = y, t = there => x.at(i).set(y), x.at(take(i, t, 0)).set(take(y, t, 0)));
        law!(dtype; x = x, i = i, y = y, t = there => x.at(i).add(y), x.at(take(i, t, 0)).add(take(y, t, 0)));
        law!(dtype; x = x, i = i => x.at(i).get_or(true), {
            let inside = i.ge(-(n as i64)).logical_and(i.lt(n as i64));
            where_(inside, take(x, i, 0), true)
        });
    });
}

/// The sums of a loop, in every dtype with Rust addition.
#[test]
fn sums_are_those_of_a_loop() {
    let mut rng = Rng::new(7);
    for n in [0, 1, 50, 3000] {
        let at: Vec<i64> = (0..n).map(|_| rng.below(17) as i64).collect();
        let integers: Vec<i32> = (0..n).map(|_| rng.bits() as i32).collect();
        let floats: Vec<f32> = (0..n).map(|_| rng.bits() as f32 / 1e9 - 5e9).collect();
        let (mut of_integers, mut of_floats) = ([1i32; 17], [0.5f32; 17]);
        for (k, &at) in at.iter().enumerate() {
            of_integers[at as usize] = of_integers[at as usize].wrapping_add(integers[k]);
            of_floats[at as usize] += floats[k];
        }
        let (i, integers, floats) = (Array::from(at), Array::from(integers), Array::from(floats));
        for (threads, interpreted) in [(1, false), (2, false), (1, true)] {
            let add = jit(|x: Expr, i: Expr, y: Expr| x.at(i).add(y)).threads(threads).interpreted(interpreted);
            assert_eq!(add(&Array::from([1i32; 17]), &i, &integers).to_vec::<i32>().unwrap(), of_integers);
            assert_eq!(add(&Array::from([0.5f32; 17]), &i, &floats).to_vec::<f32>().unwrap(), of_floats);
        }
    }
}

#[test]
fn what_is_found_divides_a_sorted_array() {
    for (seed, dtype) in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()).enumerate() {
        for n in [0, 1, 2, 31, 64, 100] {
            let mut rng = Rng::new((seed * 1000 + n) as u64);
            let x = sort(elements(&mut rng, dtype, &[n]), 0);
            let v = concat([&elements(&mut rng, dtype, &[20]), &x], 0);
            for side in [Side::Left, Side::Right] {
                for interpreted in [false, true] {
                    let search = jit(move |x: Expr, v: Expr| searchsorted(x, v, side)).interpreted(interpreted);
                    let found = search(&x, &v).to_vec::<i32>().unwrap();
                    // All dtypes except the widest integers are exact in `f64`, as are these values. NaN comes last.
                    let wide = |x: &Array| x.cast(DType::F64).to_vec::<f64>().unwrap();
                    let key = |x: f64| (x.is_nan(), if x.is_nan() { 0.0 } else { x });
                    let (sorted, values) = (wide(&x), wide(&v));
                    for (&p, &v) in found.iter().zip(&values) {
                        let (before, behind) = sorted.split_at(p as usize);
                        let before = before.iter().all(|&x| match side {
                            Side::Left => key(x) < key(v),
                            Side::Right => key(x) <= key(v),
                        });
                        let behind = behind.iter().all(|&x| match side {
                            Side::Left => key(x) >= key(v),
                            Side::Right => key(x) > key(v),
                        });
                        assert!(before && behind, "{dtype} {n} {side:?} {interpreted}: {v} at {p} of {sorted:?}");
                    }
                }
            }
        }
    }
}
