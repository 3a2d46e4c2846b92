//! Updates of parts of arrays: `x.at(ranges)` with other elements, on arrays and traced, in place and copied, on one thread and several.

#![allow(clippy::reversed_empty_ranges, reason = "the end of a range may count from the last element")]

use ndjit::{Array, ErrorCode, Expr, Stage, assert_in_place, assert_kernels, fori_loop, jit, step_by, strong};

fn wave(shape: &[usize]) -> Array {
    let n = shape.iter().product::<usize>();
    Array::from((0..n).map(|i| ((i * 7919 % 1013) as f64) / 1000.0 - 0.4).collect::<Vec<f64>>()).reshape(shape.to_vec())
}

fn elements(x: &Array) -> Vec<f64> {
    x.to_vec().unwrap()
}

/// A heat step in the plane with a fixed border.
fn heat(u: Expr) -> Expr {
    let around = u.slice((..-2, 1..-1)) + u.slice((2.., 1..-1)) + u.slice((1..-1, ..-2)) + u.slice((1..-1, 2..));
    u.at((1..-1, 1..-1)).set(around * 0.25f64)
}

fn heated(u: &[f64], [rows, columns]: [usize; 2]) -> Vec<f64> {
    let mut new = u.to_vec();
    for i in 1..rows - 1 {
        for j in 1..columns - 1 {
            let at = |i: usize, j: usize| u[i * columns + j];
            new[i * columns + j] = (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)) * 0.25;
        }
    }
    new
}

#[test]
fn a_stencil_stores_its_inside_and_keeps_the_border() {
    for shape in [[3, 3], [5, 7], [40, 3], [3, 300], [700, 901]] {
        let u = wave(&shape);
        for threads in [1, 2] {
            let f = jit(heat).threads(threads);
            assert_kernels!(f, (&u,), 1);
            let once = f.call((&u,)).unwrap();
            assert_eq!(elements(&once), heated(&elements(&u), shape), "{shape:?}");
            // Elements read and stored elsewhere are not updated in place, even if donated. One point has no adjacent points.
            let in_place = usize::from(shape == [3, 3]);
            assert_eq!(
                elements(&assert_in_place!(f, (wave(&shape).donate(),), in_place)),
                elements(&once),
                "{shape:?}"
            );
            let steps = jit(|u: Expr| fori_loop(0, 5, u, |_, u| heat(u))).threads(threads);
            let mut expected = elements(&u);
            (0..5).for_each(|_| expected = heated(&expected, shape));
            assert_eq!(elements(&steps.call((&u,)).unwrap()), expected, "{shape:?}");
        }
    }
}

#[test]
fn elements_are_stored_in_place_where_none_is_read_that_is_stored() {
    // The adjacent elements of every other element are read, and stay.
    let red = jit(|u: Expr| {
        let around = u.slice(step_by(..-2, 2)) + u.slice(step_by(2.., 2));
        u.at(step_by(1..-1, 2)).set(around * 0.5f64)
    });
    for n in [3, 5, 101, 200_001] {
        let u = elements(&wave(&[n]));
        let mut expected = u.clone();
        (1..n - 1).step_by(2).for_each(|i| expected[i] = (u[i - 1] + u[i + 1]) * 0.5);
        assert_eq!(elements(&red.call((&wave(&[n]),)).unwrap()), expected);
        assert_eq!(elements(&assert_in_place!(red, (wave(&[n]).donate(),), 1)), expected);
    }
    // Elements stored by other loops of the kernel are read: a copy.
    let shifted = jit(|u: Expr| u.at(1..).set(u.slice(..-1) * 2));
    let result = assert_in_place!(shifted, (wave(&[1000]).donate(),), 0);
    assert_eq!(elements(&result)[1..], elements(&(wave(&[1000]) * 2))[..999]);
    // An element's own value may be read, and several updates may follow each other.
    let border = jit(|u: Expr| u.at((0, ..)).set(1).at((-1, ..)).multiply(3).at((1..-1, 0)).add(u.slice((1..-1, 1))));
    let result = assert_in_place!(border, (wave(&[4, 3]).donate(),), 0);
    let u = elements(&wave(&[4, 3]));
    let mut expected = u.clone();
    expected[..3].fill(1.0);
    (9..12).for_each(|i| expected[i] *= 3.0);
    [3, 6].iter().for_each(|&i| expected[i] += u[i + 1]);
    assert_eq!(elements(&result), expected);
}

#[test]
fn every_function_of_a_range_does_to_its_elements_what_it_says() {
    let (x, y) = (wave(&[6, 5]), wave(&[3, 3]) * 2);
    let put = |f: &dyn Fn(f64, f64) -> f64| {
        let mut all = elements(&x);
        for i in 0..3 {
            for j in 0..3 {
                let at = (5 - 2 * i) * 5 + 1 + j;
                all[at] = f(all[at], elements(&y)[i * 3 + j]);
            }
        }
        all
    };
    macro_rules! check {
        ($($name:ident $f:expr;)*) => {$(
            let expected = put(&$f);
            assert_eq!(elements(&x.at((step_by(1.., -2), 1..4)).$name(&y)), expected, stringify!($name));
            let f = jit(|x: Expr, y: Expr| x.at((step_by(1.., -2), 1..4)).$name(y));
            assert_eq!(elements(&f(&x, &y)), expected, stringify!($name));
        )*};
    }
    check! {
        set |_, y| y;
        add |x, y| x + y;
        subtract |x, y| x - y;
        multiply |x, y| x * y;
        divide |x, y| x / y;
        min f64::min;
        max f64::max;
    }
}

#[test]
fn numbers_are_put_in_the_dtype_of_the_array() {
    let x = Array::from([1, 2, 3]);
    let long = 1i64 << 40;
    for put in [x.at(1..).add(1.5), x.at(x.gt(1)).add(1.5), x.at(1..).set(0.5), x.at(1..).set(long)] {
        assert_eq!(put.eval().unwrap_err().code(), ErrorCode::Literal);
    }
    assert_eq!(Array::from([1i64, 2, 3]).at(1..).add(long).to_vec::<i64>().unwrap(), [1, long + 2, long + 3]);
    assert_eq!(jit(|x: Expr| x.at((1..3,)).multiply(strong(2.0f64)))(&x).to_vec::<i32>().unwrap(), [1, 4, 6]);
    // An integer is a range in a traced function; an index out of bounds is an error as elsewhere.
    let put = |i: isize| jit(move |x: Expr| x.at(i).set(9));
    assert_eq!(put(-1)(&x).to_vec::<i32>().unwrap(), [1, 2, 9]);
    assert_eq!(put(3).call((&x,)).unwrap_err().code(), ErrorCode::Index);
    let one = put(1);
    assert_eq!(one(&x).to_vec::<i32>().unwrap(), [1, 9, 3]);
    assert!(!one.explain(Stage::Graph).contains("scatter"), "{}", one.explain(Stage::Graph));
}

#[test]
fn every_range_of_every_axis_is_stored() {
    let (mut rows, mut counted) = (Vec::new(), 0);
    for extent in 1..7isize {
        for step in 1..4isize {
            rows.extend((0..extent.min(3)).map(move |start| (extent, start, step)));
        }
    }
    // Two axes, whose loops may be merged.
    for &(m, from, by) in rows.iter().filter(|(m, ..)| *m < 4) {
        for &(n, start, step) in &rows {
            let x = wave(&[m as usize, n as usize]);
            let f = jit(move |x: Expr| x.at((step_by(from.., by), step_by(start.., step))).add(1.0));
            let expected: Vec<f64> = elements(&x)
                .iter()
                .enumerate()
                .map(|(at, x)| {
                    let (i, j) = (at as isize / n, at as isize % n);
                    let named = i >= from && (i - from) % by == 0 && j >= start && (j - start) % step == 0;
                    if named { x + 1.0 } else { *x }
                })
                .collect();
            assert_eq!(elements(&f.call((&x,)).unwrap()), expected, "{m}x{n}, {from} by {by}, {start} by {step}");
            assert_eq!(
                elements(&f.call((x.donate(),)).unwrap()),
                expected,
                "{m}x{n}, {from} by {by}, {start} by {step}"
            );
            counted += 1;
        }
    }
    assert_eq!(counted, 18 * 45);
}
