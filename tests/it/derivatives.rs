//! Derivatives: slopes against finite differences, forward against reverse mode, loops against unrolled ones, kinks, errors.

use ndjit::{
    Array, DType, Expr, arange, cond, fori_loop, grad, grad_at, jit, jvp, scan, scan_reversed, stop_gradient, sum,
    value_and_grad, vjp, where_, while_loop, wrt,
};

/// The derivative of a function of one variable by Richardson's extrapolation.
fn difference(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 1e-2 * x.abs().max(1e-2);
    let central = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let mut rows: Vec<f64> = (0..5).map(|n| central(h / f64::from(1 << n))).collect();
    for order in 1..rows.len() {
        let factor = f64::from(1 << (2 * order));
        for n in 0..rows.len() - order {
            rows[n] = (factor * rows[n + 1] - rows[n]) / (factor - 1.0);
        }
    }
    rows[0]
}

fn near(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(
        error <= 1e-7 * (1.0 + expected.abs()) || (found.is_nan() && expected.is_nan()),
        "{what}: {found} for {expected}"
    );
}

/// Both modes, compared with finite differences, at each point.
fn slopes(name: &str, f: impl Fn(Expr) -> Expr + Copy + Send + Sync + 'static, points: &[f64]) {
    let value = jit(move |x: Expr| f(x));
    let reverse = jit(grad(move |x: Expr| sum(f(x), ..)));
    let forward = jit(move |x: Expr, t: Expr| jvp(|x: Expr| f(x), x, t));
    let second = jit(grad(move |x: Expr| sum(grad_at(|x: Expr| sum(f(x), ..), x), ..)));
    let x = Array::from(points.to_vec());
    let found: Vec<f64> = reverse.call((&x,)).unwrap_or_else(|e| panic!("{name}: {e:#}")).to_vec().unwrap();
    let (_, along) = forward.call((&x, &Array::from(vec![1.0f64; points.len()]))).unwrap();
    let along: Vec<f64> = along.to_vec().unwrap();
    let curvature: Vec<f64> = second.call((&x,)).unwrap_or_else(|e| panic!("{name}: {e:#}")).to_vec().unwrap();
    for (n, &point) in points.iter().enumerate() {
        let at = |x: f64| value.call((&Array::from(vec![x]),)).unwrap().to_vec::<f64>().unwrap()[0];
        near(found[n], difference(at, point), &format!("{name} at {point}"));
        near(along[n], found[n], &format!("{name} at {point}, forward"));
        let slope = |x: f64| reverse.call((&Array::from(vec![x]),)).unwrap().to_vec::<f64>().unwrap()[0];
        near(curvature[n] * 1e-1, difference(slope, point) * 1e-1, &format!("{name} at {point}, second"));
    }
}

macro_rules! table {
    ($($name:ident [$($point:expr),*];)*) => {
        $(slopes(stringify!($name), |x| ndjit::$name(x), &[$($point),*]);)*
    };
}

/// Powers of two, whose products are exact in any order, with zeros at indices.
#[test]
fn slopes_of_long_products_are_the_products_of_the_others() {
    for (count, zeros) in
        [(1024, &[][..]), (1500, &[]), (1500, &[3]), (1500, &[1499]), (1500, &[7, 1480]), (1025, &[0, 1]), (2047, &[])]
    {
        let power = |n: usize| if zeros.contains(&(n % count)) { 0.0 } else { [2.0, -0.5, 1.0, -1.0, 0.5][n * n % 5] };
        let x: Vec<f64> = (0..2 * count).map(power).collect();
        let found = jit(grad(|x: Expr| sum(ndjit::prod(x, 1) * 3.0, ..)));
        let found: Vec<f64> =
            found.call((&Array::from(x.clone()).reshape([2, count as isize]),)).unwrap().to_vec().unwrap();
        assert_eq!(found.len(), x.len());
        for (n, slope) in found.into_iter().enumerate() {
            let row = n / count * count;
            let others: f64 = (row..row + count).filter(|&other| other != n).map(|other| x[other]).product();
            assert_eq!(slope, 3.0 * others, "{n} of 2 rows of {count}, zeros at {zeros:?}");
        }
    }
}

#[test]
fn ops_of_one_operand_have_the_slopes_of_their_differences() {
    table! {
        negative [1.5, -2.0];
        abs [1.5, -2.0];
        square [1.5, -2.0];
        sqrt [0.5, 2.0];
        reciprocal [0.5, -2.0];
        rsqrt [0.5, 2.0];
        cbrt [0.5, -2.0];
        exp [0.5, -2.0];
        expm1 [0.5, -2.0];
        exp2 [0.5, -2.0];
        exp10 [0.5, -1.0];
        log [0.5, 2.0];
        log1p [0.5, -0.5];
        log2 [0.5, 2.0];
        log10 [0.5, 2.0];
        sin [0.5, -2.0];
        cos [0.5, -2.0];
        tan [0.5, -1.0];
        asin [0.5, -0.25];
        acos [0.5, -0.25];
        atan [0.5, -2.0];
        sinh [0.5, -2.0];
        cosh [0.5, -2.0];
        tanh [0.5, -2.0];
        asinh [0.5, -2.0];
        acosh [1.5, 3.0];
        atanh [0.5, -0.25];
        degrees [0.5];
        radians [0.5];
        sigmoid [0.5, -2.0];
        log_sigmoid [0.5, -2.0];
        softplus [0.5, -2.0];
        silu [0.5, -2.0];
        gelu [0.5, -2.0];
        gelu_tanh [0.5, -2.0];
        relu [0.5, -2.0];
        sinc [0.05, 0.25, -0.4, 1.5, 2.25];
        erf [0.5, -1.0];
        erfc [0.5, -1.0];
        erfinv [0.5, -0.25];
        lgamma [0.3, 2.5, 20.0, -0.4, -2.7];
        tgamma [0.3, 2.5, 6.0, -0.4, -2.7];
        digamma [0.3, 1.5, 2.5, 20.0, -0.4, -2.7];
        floor [0.5];
        sign [0.5];
        frexp_mantissa [0.3, 5.0];
        modf_fraction [0.3, 5.5];
        nan_to_num [0.3];
        positive [0.3];
    }
}

#[test]
fn slopes_hold_where_their_plain_forms_overflow_cancel_or_round() {
    let first = |f: fn(Expr) -> Expr, x: f64| jit(grad(f))(&Array::from(x)).item::<f64>().unwrap();
    let second = |f: fn(Expr) -> Expr, x: f64| jit(grad(grad(f)))(&Array::from(x)).item::<f64>().unwrap();
    assert_eq!(first(|x| ndjit::erf(x), 1e200), 0.0);
    assert_eq!(first(|x| ndjit::gelu(x), 1e200), 1.0);
    assert_eq!(first(|x| ndjit::hypot(x, 1.0), f64::INFINITY), 1.0);
    assert_eq!(first(|x| ndjit::sinc(x), 1e6), 1e-6);
    assert_eq!(first(|y| ndjit::fmod(1.0f64.next_down(), y), 1.0 / 3.0), -2.0);
    assert!(first(|x| ndjit::cbrt(x), f64::MAX) > 0.0);
    assert_eq!(second(|x| ndjit::asin(x), 1e-20), 1e-20);
    assert_eq!(second(|x| ndjit::sqrt(x), 0.0), f64::NEG_INFINITY);
    let power = 0.3 * 1e300f64.powf(0.3) / 1e300;
    assert!((first(|x| ndjit::pow(x, 0.3), 1e300) / power - 1.0).abs() < 1e-15);
    assert_eq!(second(|x| ndjit::pow(x, 2.0), 3.0), 2.0);
}

#[test]
fn ops_of_two_operands_have_the_slopes_of_their_differences() {
    macro_rules! both {
        ($($name:ident [$x:expr, $y:expr];)*) => {$(
            slopes(concat!(stringify!($name), " by x"), |x| ndjit::$name(x, $y), &[$x]);
            slopes(concat!(stringify!($name), " by y"), |y| ndjit::$name($x, y), &[$y]);
        )*};
    }
    both! {
        add [1.5, 0.7];
        subtract [1.5, 0.7];
        multiply [1.5, 0.7];
        multiply_no_nan [1.5, 0.7];
        divide [1.5, 0.7];
        remainder [1.5, 0.7];
        remainder [-1.5, 0.7];
        fmod [-1.5, 0.7];
        minimum [1.5, 0.7];
        maximum [1.5, 0.7];
        fmin [1.5, 0.7];
        fmax [1.5, 0.7];
        hypot [1.5, 0.7];
        atan2 [1.5, -0.7];
        pow [1.5, 0.7];
        float_power [1.5, 0.7];
        logaddexp [1.5, 0.7];
        logaddexp2 [1.5, 0.7];
        copysign [1.5, -0.7];
    }
    slopes("mul_add", |x| ndjit::mul_add(x, x + 1.0, x * 2.0), &[0.5]);
    for n in [0.0, 1.0, 2.0, 5.0] {
        slopes("polygamma by x", move |x| ndjit::polygamma(n, x), &[0.3, 2.5, 20.0]);
    }
    slopes("polygamma by x", |x| ndjit::polygamma(0.0, x), &[-0.4]);
    let by_order = jit(grad(|n: Expr| ndjit::polygamma(n, 2.5)));
    assert_eq!(by_order(&Array::from(1.0f64)).item::<f64>().unwrap(), 0.0);
    slopes("clip", |x| ndjit::clip(x * x, 0.0, 2.0), &[0.5, 3.0]);
    slopes("where", |x| where_(x.gt(0.0), x * x, x * 3.0), &[0.5, -3.0]);
    slopes("ldexp", |x| ndjit::ldexp(x * x, 3), &[0.5]);
}

/// The gradient of a sum weighted by index, compared with finite differences for each element.
fn gradient(name: &str, f: impl Fn(Expr) -> Expr + Copy + Send + Sync + 'static, x: &[f64], shape: &[usize]) {
    let weighted = move |x: Expr| {
        let y = f(x);
        let y = ndjit::reshape(y, -1);
        let n = y.shape().extents()[0];
        sum(ndjit::sin(arange(n) + 1.0) * y, ..)
    };
    let value = jit(weighted);
    let reverse = jit(grad(weighted));
    let x = Array::from(x.to_vec()).reshape(shape.iter().map(|&n| n as isize).collect::<Vec<isize>>());
    let found = reverse.call((&x,)).unwrap_or_else(|e| panic!("{name}: {e:#}"));
    assert_eq!(found.shape(), x.shape(), "{name}");
    let (found, x): (Vec<f64>, Vec<f64>) = (found.to_vec().unwrap(), x.to_vec().unwrap());
    let extents: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
    for n in 0..x.len() {
        let at = |own: f64| {
            let mut moved = x.clone();
            moved[n] = own;
            value.call((&Array::from(moved).reshape(extents.clone()),)).unwrap().item::<f64>().unwrap()
        };
        near(found[n], difference(at, x[n]), &format!("{name} by {n}"));
        // Along this direction in forward mode.
        let mut along = vec![0.0; x.len()];
        along[n] = 1.0;
        let forward = jit(move |x: Expr, t: Expr| jvp(weighted, x, t).1);
        let [x, along] = [x.clone(), along].map(|data| Array::from(data).reshape(extents.clone()));
        let slope = forward.call((&x, &along)).unwrap_or_else(|e| panic!("{name}: {e:#}")).item::<f64>().unwrap();
        near(slope, found[n], &format!("{name} by {n}, forward"));
    }
}

const SIX: [f64; 6] = [0.3, -1.2, 2.5, 0.7, -0.4, 1.9];

#[test]
fn reductions_and_scans() {
    macro_rules! all {
        ($($name:ident)*) => {$(
            gradient(stringify!($name), |x| ndjit::$name(x * x + x, ..), &SIX, &[2, 3]);
            gradient(concat!(stringify!($name), " 0"), |x| ndjit::$name(x * 2.0, 0), &SIX, &[2, 3]);
            gradient(concat!(stringify!($name), " 1"), |x| ndjit::$name(x, ndjit::keepdims(-1)), &SIX, &[2, 3]);
        )*};
    }
    all! { sum prod mean var std max min ptp logsumexp norm }
    macro_rules! scans {
        ($($name:ident)*) => {$(
            gradient(stringify!($name), |x| ndjit::$name(x * 1.5, 1), &SIX, &[2, 3]);
            gradient(concat!(stringify!($name), " 0"), |x| ndjit::$name(x, 0), &SIX, &[3, 2]);
        )*};
    }
    scans! { cumulative_sum cumulative_prod cummax cummin sort }
    gradient("prod with a zero", |x| ndjit::prod(x, ..), &[2.0, 0.0, 3.0, 4.0], &[4]);
    gradient("prod with two", |x| ndjit::prod(x, ..), &[2.0, 0.0, 0.0, 4.0], &[4]);
    gradient("cumulative_prod with a zero", |x| ndjit::cumulative_prod(x, 0), &[2.0, 0.0, 3.0, 4.0], &[4]);
    gradient("median", |x| ndjit::median(x, ..), &SIX, &[6]);
    gradient("quantile", |x| ndjit::quantile(x, 0.3, ..), &SIX, &[6]);
}

#[test]
fn movement() {
    gradient("flip", |x| ndjit::flip(x * x, 1), &SIX, &[2, 3]);
    gradient("permute", |x| ndjit::permute_dims(x * x, [1, 0]), &SIX, &[2, 3]);
    gradient("reshape", |x| ndjit::reshape(x.permute_dims([1, 0]), [2, 3]), &SIX, &[2, 3]);
    gradient("slice", |x| (x * x).slice((.., 1..)), &SIX, &[2, 3]);
    gradient("index", |x| (x * x).slice((1,)), &SIX, &[2, 3]);
    gradient("broadcast", |x| ndjit::broadcast_to(x * x, [4, 2, 3]), &SIX, &[2, 3]);
    gradient("diagonal", |x| ndjit::diagonal(x, 0, [0, 1]), &SIX, &[2, 3]);
    gradient("windows", |x| ndjit::sliding_window(x * x, 3, 0), &SIX, &[6]);
    gradient("concat", |x| ndjit::concat(&[x * x, x * 2.0, ndjit::ones_like(x)], 0), &SIX, &[2, 3]);
    gradient("stack", |x| ndjit::stack(&[x * x, x], 0), &SIX, &[6]);
    gradient("roll", |x| ndjit::roll(x * x, 2, 0), &SIX, &[6]);
    gradient("pad", |x| ndjit::pad(x * x, (1, 2), 0.0), &SIX, &[6]);
    gradient("take", |x| ndjit::take(x * x, Array::from([0i64, 2, 2, 1]), 0), &SIX, &[3, 2]);
    gradient("set", |x| (x * x).at((1,)).set(x.slice((0,)) * 3.0), &SIX, &[2, 3]);
    gradient("add", |x| (x * x).at((1..,)).add(5.0), &SIX, &[3, 2]);
    gradient("scatter add", |x| (x * x).at(Array::from([0i64, 0, 2])).add(x.slice((3..,))), &SIX, &[6]);
    gradient("scatter set", |x| (x * x).at(Array::from([0i64, 0, 2])).set(x.slice((3..,))), &SIX, &[6]);
    gradient("scatter multiply", |x| (x * x).at(Array::from([0i64, 0, 2])).multiply(x.slice((3..,))), &SIX, &[6]);
    gradient("scatter max", |x| (x * x).at(Array::from([0i64, 0, 2])).max(x.slice((3..,))), &SIX, &[6]);
    gradient("matmul", |x| ndjit::matmul(x, x.permute_dims([1, 0])), &SIX, &[2, 3]);
    gradient("einsum", |x| ndjit::einsum("ij,kj->ik", [x, x * 2.0]), &SIX, &[2, 3]);
}

#[test]
fn loops_and_branches() {
    gradient("cond", |x| cond(sum(x, ..).gt(0.0), |x: Expr| x * x, |x: Expr| x * 3.0, x), &SIX, &[6]);
    gradient("scan", |x| scan(|c: Expr, x: Expr| (c * 0.5 + x * x, c * x), Expr::from(1.0), x).1, &SIX, &[6]);
    gradient(
        "scan, reversed",
        |x| scan_reversed(|c: Expr, x: Expr| (c * 0.5 + x * x, c * x), Expr::from(1.0), x).1,
        &SIX,
        &[6],
    );
    gradient("scan's state", |x| scan(|c: Expr, y: Expr| (c * y + x, ()), x, x * 0.5).0, &SIX, &[6]);
    gradient("for", |x| fori_loop(0, 4, x, |i, y| ndjit::sin(y) * x + i * 0.1), &SIX, &[6]);
    gradient(
        "while",
        |x| while_loop((x, Expr::from(0)), |(y, _)| sum(y * y, ..).lt(40.0), |(y, n)| (y * 1.3 + x * 0.1, n + 1)).0,
        &SIX,
        &[6],
    );
    gradient("no steps", |x| fori_loop(0, 0, x * x, |_, y| y * 2.0), &SIX, &[6]);
    gradient(
        "loops within loops",
        |x| fori_loop(0, 3, x, |_, y| scan(|c: Expr, y: Expr| (c * 0.5 + y, c * y), Expr::from(0.5), y).1 + x),
        &SIX,
        &[6],
    );
    // More steps than there are slots for states.
    gradient("a long loop", |x| fori_loop(0, 2500, x, |_, y| y + (x - y) * 0.01), &SIX, &[6]);
    gradient(
        "a long while",
        |x| while_loop((x, Expr::from(0)), |(_, n)| n.lt(2500), |(y, n)| (y + (x - y) * 0.01, n + 1)).0,
        &SIX,
        &[6],
    );
}

#[test]
fn second_derivatives_of_loops() {
    let f = |x: Expr| fori_loop(0, 3, x, |_, y| y * y + x);
    let second = jit(grad(grad(f)));
    // y1 = x^2 + x, y2 = y1^2 + x, y3 = y2^2 + x.
    let x = 0.5f64;
    let (y0, d0, s0) = (x, 1.0, 0.0);
    let next = |(y, d, s): (f64, f64, f64)| (y * y + x, 2.0 * y * d + 1.0, 2.0 * d * d + 2.0 * y * s);
    let (_, _, expected) = next(next(next((y0, d0, s0))));
    near(second.call((&Array::from(x),)).unwrap().item::<f64>().unwrap(), expected, "second");
    let g = |x: Expr| while_loop(x, |y| y.lt(10.0), |y| y * y + x);
    let second = jit(grad(grad(g)));
    let x = 2.0f64;
    let next = |(y, d, s): (f64, f64, f64)| (y * y + x, 2.0 * y * d + 1.0, 2.0 * d * d + 2.0 * y * s);
    let (_, _, expected) = next(next((x, 1.0, 0.0)));
    near(second.call((&Array::from(x),)).unwrap().item::<f64>().unwrap(), expected, "second of while");
}

#[test]
fn variables_are_not_confused() {
    let f = jit(grad(|x: Expr| x * grad_at(|y: Expr| x + y, Expr::from(1.0f64))));
    assert_eq!(f(&Array::from(5.0f64)).item::<f64>().unwrap(), 1.0);
    let f = jit(grad(|x: Expr| x * stop_gradient(x)));
    assert_eq!(f(&Array::from(5.0f64)).item::<f64>().unwrap(), 5.0);
    let f = jit(|x: Expr| grad_at(|y: Expr| x * y, x));
    assert_eq!(f(&Array::from(5.0f64)).item::<f64>().unwrap(), 5.0);
}

#[test]
fn kinks_poles_and_ends() {
    let at = |f: &dyn Fn(&Array) -> Array, x: &[f64]| f(&Array::from(x.to_vec())).to_vec::<f64>().unwrap();
    let g = jit(grad(|x: Expr| sum(ndjit::abs(x), ..)));
    assert_eq!(at(&|x| g(x), &[0.0, -0.0]), [0.0, 0.0]);
    let g = jit(grad(|x: Expr| ndjit::norm(x, ..)));
    assert_eq!(at(&|x| g(x), &[0.0, 0.0]), [0.0, 0.0]);
    let g = jit(grad(|x: Expr| ndjit::std(x, ..)));
    assert_eq!(at(&|x| g(x), &[1.0, 1.0]), [0.0, 0.0]);
    let g = jit(grad(|x: Expr| ndjit::max(x, ..)));
    assert_eq!(at(&|x| g(x), &[1.0, 1.0, 0.0]), [0.5, 0.5, 0.0]);
    let g = jit(grad(|x: Expr| sum(ndjit::clip(x, 0.0, 1.0), ..)));
    assert_eq!(at(&|x| g(x), &[0.0, 0.5, 1.0, 2.0]), [0.0, 1.0, 0.0, 0.0]);
    let g = jit(grad(|x: Expr| sum(ndjit::relu(x), ..)));
    assert_eq!(at(&|x| g(x), &[0.0, 1.0]), [0.0, 1.0]);
    let g = jit(grad(|x: Expr| sum(where_(x.lt(1.0), x, ndjit::sqrt(x)), ..)));
    assert_eq!(at(&|x| g(x), &[0.0, -1.0]), [1.0, 1.0]);
    let g = jit(grad(|x: Expr| sum(ndjit::maximum(ndjit::sqrt(x), 1e-10), ..)));
    assert_eq!(at(&|x| g(x), &[0.0]), [0.0]);
    let g = jit(grad(|x: Expr| sum(ndjit::sqrt(x), ..)));
    assert_eq!(at(&|x| g(x), &[0.0]), [f64::INFINITY]);
    let g = jit(grad(|x: Expr| sum(ndjit::pow(x, 0.0), ..)));
    assert_eq!(at(&|x| g(x), &[0.0, 2.0]), [0.0, 0.0]);
    let g = jit(grad(|x: Expr| sum(ndjit::pow(x, 2), ..)));
    assert_eq!(at(&|x| g(x), &[0.0, -2.0]), [0.0, -4.0]);
    let g = jit(grad(|x: Expr| ndjit::logsumexp(x, ..)));
    assert_eq!(at(&|x| g(x), &[f64::NEG_INFINITY, f64::NEG_INFINITY]), [0.0, 0.0]);
    assert_eq!(at(&|x| g(x), &[f64::INFINITY, 2.0, f64::INFINITY]), [1.0, 0.0, 1.0]);
    let g = jit(wrt((0, 1)).grad(|y: Expr, x: Expr| sum(ndjit::atan2(y, x), ..)));
    let (by_y, by_x) = g(&Array::from([1e-200f64, 0.0]), &Array::from([1e-200f64, 0.0]));
    let [a, b] = [by_y, by_x].map(|a| a.to_vec::<f64>().unwrap());
    assert!((a[0] / 5e199 - 1.0).abs() < 1e-14 && (b[0] / 5e199 + 1.0).abs() < 1e-14, "{a:?} {b:?}");
    assert_eq!([a[1], b[1]], [0.0, 0.0]);
    let g = jit(wrt((0, 1)).grad(|x: Expr, y: Expr| sum(ndjit::logaddexp(x, y), ..)));
    let inf = f64::INFINITY;
    let (a, b) = g(&Array::from([inf, -inf]), &Array::from([inf, -inf]));
    assert_eq!([a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap()], [[0.5, 0.0], [0.5, 0.0]]);
    let g = jit(grad(|x: Expr| sum(ndjit::sort(x, 0) * Array::from([1.0, 2.0, 3.0]), ..)));
    assert_eq!(at(&|x| g(x), &[1.0, 1.0, 0.0]), [2.0, 3.0, 1.0]);
    let g = jit(grad(|x: Expr| sum(ndjit::cumulative_prod(x, 0), ..)));
    assert_eq!(at(&|x| g(x), &[2.0, 0.0, 3.0, 4.0]), [1.0, 32.0, 0.0, 0.0]);
}

#[test]
fn complex_gradients_are_adjoints() {
    use ndjit::Complex;
    let z = Array::from([Complex::new(3.0f64, 4.0)]);
    let f = jit(grad(|z: Expr| sum(ndjit::square(ndjit::abs(z)), ..)));
    assert_eq!(f(&z).to_vec::<Complex<f64>>().unwrap(), [Complex::new(6.0, 8.0)]);
    let f = jit(|z: Expr, t: Expr| jvp(|z: Expr| ndjit::exp(z) * z, z, t).1);
    let one = Array::from([Complex::new(1.0f64, 0.0)]);
    let w = Complex::new(3.0f64, 4.0);
    let (found, expected) = (f(&z, &one).to_vec::<Complex<f64>>().unwrap()[0], w.exp() * (w + 1.0));
    assert!((found - expected).norm() < 1e-13 * expected.norm());
    let f = jit(grad(|x: Expr| sum(ndjit::real(ndjit::complex(x, x * x) * Complex::new(1.0f64, 2.0)), ..)));
    assert_eq!(f(&Array::from([3.0f64])).to_vec::<f64>().unwrap(), [1.0 - 2.0 * 6.0]);
}

#[test]
fn halves_are_rounded_once() {
    let f = jit(value_and_grad(|x: Expr| sum(ndjit::exp(x), ..)));
    let x = Array::from(vec![half::f16::from_f32(0.5); 3]);
    let (value, slope) = f(&x);
    assert_eq!((value.dtype(), slope.dtype()), (DType::F16, DType::F16));
    assert_eq!(
        slope.to_vec::<half::f16>().unwrap(),
        [half::f16::from_f64(half::f16::from_f64(0.5f64.exp()).to_f64()); 3]
    );
}

#[test]
fn both_modes_agree_with_pullbacks() {
    let f = jit(|x: Expr, g: Expr| {
        let (y, back) = vjp(|(a, b): (Expr, Expr)| (a * b, ndjit::sin(a)), (x, x * 2.0));
        let (by_a, by_b) = back((g, g));
        (y.0, by_a, by_b)
    });
    let (y, a, b) = f(&Array::from([2.0f64]), &Array::from([1.0f64]));
    assert_eq!(y.to_vec::<f64>().unwrap(), [8.0]);
    near(a.to_vec::<f64>().unwrap()[0], 4.0 + 2f64.cos(), "a");
    assert_eq!(b.to_vec::<f64>().unwrap(), [2.0]);
}

#[test]
fn what_has_no_gradient_says_what_to_write() {
    let message = |error: ndjit::Error| format!("{error:#}");
    let f = jit(grad(|x: Expr| x * 2));
    let error = message(f.call((&Array::from([1.0f32, 2.0]),)).unwrap_err());
    assert!(error.contains("gives an array of shape [2]") && error.contains("sum(y, ..)"), "{error}");
    let error = message(f.call((&Array::from(1i32),)).unwrap_err());
    assert!(error.contains("variable 0 is i32") && error.contains("cast(x, DType::F32)"), "{error}");
    let error = message(f.call((1,)).unwrap_err());
    assert!(error.contains("`2.0`"), "{error}");
    assert_eq!(f.call((3.0,)).unwrap().item::<f32>().unwrap(), 2.0);
    let f = jit(grad(|x: Expr| ndjit::sum(x, ..).gt(0)));
    assert!(message(f.call((&Array::from([1.0f32]),)).unwrap_err()).contains("integers and bools"));
    let f = jit(wrt(3).grad(|x: Expr| x));
    assert!(message(f.call((&Array::from(1.0f32),)).unwrap_err()).contains("no parameter 3"));
    let outer = jit(grad(jit(|x: Expr| x * x)));
    assert_eq!(outer(&Array::from(3.0f32)).item::<f32>().unwrap(), 6.0);
}

#[test]
fn numbers_are_of_the_default_dtype() {
    use ndjit::Policy;
    let policy = Policy::Standard.with_defaults(ndjit::Defaults::BITS_64).unwrap();
    let f = jit(grad(|x: Expr| ndjit::exp(x) * 3)).with_policy(policy);
    let found = f.call((0.1,)).unwrap();
    assert_eq!((found.dtype(), found.item::<f64>().unwrap()), (DType::F64, 0.1f64.exp() * 3.0));
    let f = jit(grad(|x: Expr| fori_loop(0, 3, (Expr::from(1.0), x), |_, (p, x)| (p * x, x)).0)).with_policy(policy);
    near(f.call((0.1,)).unwrap().item::<f64>().unwrap(), 3.0 * 0.1 * 0.1, "power");
}

#[test]
fn windows_of_sums() {
    gradient("a sum of windows", |x| ndjit::square(sum(ndjit::sliding_window(x, 3, 0), 1)), &SIX, &[6]);
    gradient(
        "a weighted sum of windows",
        |x| sum(ndjit::sliding_window(x, 3, 0) * Array::from([1.0, 2.0, 3.0]), 1),
        &SIX,
        &[6],
    );
    gradient("every other window", |x| sum(ndjit::sliding_window(x, 3, 0).slice((ndjit::step(2), ..)), 1), &SIX, &[6]);
    gradient("windows of two axes", |x| sum(ndjit::sliding_window(x, [2, 2], [0, 1]), [2, 3]), &SIX, &[2, 3]);
}

#[test]
fn descent_in_a_loop_and_through_it() {
    let loss = |w: Expr, x: Expr| {
        let apart = ndjit::tanh(x * w) - 0.3;
        sum(apart * apart, ..)
    };
    let step = move |w: Expr, x: Expr, rate: Expr| w - grad_at(|w: Expr| loss(w, x), w) * rate;
    let looped = move |rate: Expr, w: Expr, x: Expr| loss(fori_loop(0, 3, w, |_, w| step(w, x, rate)), x);
    let written = move |rate: Expr, w: Expr, x: Expr| loss(step(step(step(w, x, rate), x, rate), x, rate), x);
    let (rate, w, x) = (Array::from(0.1f64), Array::from([0.5f64, -1.0]), Array::from([1.0f64, 2.0]));
    let by_loop = jit(value_and_grad(looped))(&rate, &w, &x);
    let by_hand = jit(value_and_grad(written))(&rate, &w, &x);
    assert_eq!(by_loop.0.item::<f64>().unwrap(), by_hand.0.item::<f64>().unwrap());
    near(by_loop.1.item::<f64>().unwrap(), by_hand.1.item::<f64>().unwrap(), "by the rate");
    let trained = jit(move |w: Expr, x: Expr| fori_loop(0, 500, w, |_, w| step(w, x, Expr::from(0.2))));
    let found: Vec<f64> = ndjit::tanh(trained(&w, &x) * &x).to_vec().unwrap();
    assert!(found.iter().all(|y| (y - 0.3).abs() < 1e-6), "{found:?}");
}
