//! Functions of two traced values, with control flow, and with derivatives and calls.

use crate::api::value::Body;
use ndjit::{Complex, Expr, Jitted, Scalar, cond, debug, fori_loop, jit, scan, scan_reversed, weak, while_loop};
use std::sync::LazyLock;

/// Control flow, of a state and an operand.
pub const CONTROL: &[(&str, Body)] = &[
    ("cond", |x, y| vec![cond(ndjit::any(y, ..), |(x, y)| x + y, |(x, _)| x * 2, (x, y))]),
    ("while_loop", |x, y| {
        let (n, x) = while_loop((Expr::from(0), x), |(n, _)| n.lt(5), |(n, x)| (n + 1, ndjit::maximum(x, y) + x));
        vec![n, x]
    }),
    ("fori_loop", |x, y| vec![fori_loop(0, 3, x, |i, x| x * i - y)]),
    // From a negative start it may take years.
    ("fori_loop/bound", |x, y| vec![fori_loop(ndjit::maximum(y, 0), 4, x, |i, x| x + i)]),
    ("scan", |x, y| {
        let (carry, rows) = scan(|carry: Expr, row: Expr| (carry + row, carry * 2), y, x);
        vec![carry, rows]
    }),
    ("scan_reversed", |x, y| {
        let (carry, rows) = scan_reversed(|carry: Expr, row: Expr| (carry - row, carry + 1), y, x);
        vec![carry, rows]
    }),
    ("grad", |x, y| vec![ndjit::grad(|x: Expr, y: Expr| smooth(x, y))(x, y)]),
    ("value_and_grad", |x, y| {
        let (value, slope) = ndjit::value_and_grad(|x: Expr, y: Expr| smooth(x, y))(x, y);
        vec![value, slope]
    }),
    ("grad_aux", |x, y| {
        let (slope, besides) = ndjit::grad_aux(|x: Expr, y: Expr| (smooth(x, y), x + y))(x, y);
        vec![slope, besides]
    }),
    ("wrt", |x, y| {
        let (by_x, by_y) = ndjit::wrt((0, 1)).grad(|x: Expr, y: Expr| smooth(x, y))(x, y);
        vec![by_x, by_y]
    }),
    ("grad_at", |x, y| vec![ndjit::grad_at(|x: Expr| ndjit::grad_at(|y: Expr| smooth(x, y), y) * 2 + x, x)]),
    ("value_and_grad_at", |x, y| {
        let (value, (by_x, by_y)) = ndjit::value_and_grad_at(|(x, y): (Expr, Expr)| smooth(x, y), (x, y));
        vec![value, by_x, by_y]
    }),
    ("jvp", |x, y| {
        let sorted = |x: Expr| {
            let product = x * y;
            ndjit::sort(product, -1)
        };
        let (value, tangent) = ndjit::jvp(sorted, x, x);
        vec![value, tangent]
    }),
    ("linearize", |x, y| {
        let (value, map) = ndjit::linearize(|x: Expr| ndjit::exp(x) * y, x);
        vec![value, map(x)]
    }),
    ("vjp", |x, y| {
        let products = |(x, y): (Expr, Expr)| {
            let sum = x + y;
            ndjit::cumulative_prod(sum, 0)
        };
        let (value, back) = ndjit::vjp(products, (x, y));
        let (by_x, by_y) = back(value);
        vec![value, by_x, by_y]
    }),
    ("stop_gradient", |x, y| vec![ndjit::grad_at(|x: Expr| smooth(x, ndjit::stop_gradient(x * y)), x)]),
    ("custom_jvp", |x, y| {
        let f = ndjit::custom_jvp(|x, y| x * y, |[x, y], _, [s, t]| s * y + x * t);
        vec![ndjit::grad_at(|x: Expr| ndjit::sum(f(x, y), ..), x)]
    }),
    ("custom_jvp_at", |x, y| {
        let own = |x: Expr| {
            ndjit::custom_jvp_at(
                |x: Expr| (ndjit::sin(x), x),
                |x, (_, z), t| (t * ndjit::cos(z), t + ndjit::zeros_like(x)),
                x,
            )
        };
        vec![ndjit::grad_at(|x: Expr| ndjit::grad_at(|x: Expr| ndjit::sum(own(x).0 * y, ..), x) * x, x)]
    }),
    ("custom_vjp", |x, y| {
        let f = ndjit::custom_vjp(|x, y| (x * y, (x, y)), |(x, y), g| [g * y, g * x]);
        vec![ndjit::vmap(move |x: Expr, y: Expr| f(x, y), 0)(x, y)]
    }),
    ("custom_vjp_at", |x, y| {
        let own = |x: Expr| ndjit::custom_vjp_at(|x: Expr| (ndjit::sin(x), x), |x, g| g * ndjit::cos(x), x);
        vec![ndjit::jvp(own, x, y).1]
    }),
    ("checkpoint", |x, y| {
        let f = ndjit::checkpoint(|x: Expr, y: Expr| smooth(x, y));
        vec![ndjit::grad_at(|x: Expr| f(x, y), x)]
    }),
    ("checkpoint_at", |x, y| vec![ndjit::grad_at(|y: Expr| ndjit::checkpoint_at(|x: Expr| smooth(x, y), x), y)]),
    ("jacrev", |x, _| vec![ndjit::jacrev(|x: Expr| ndjit::sin(ndjit::sum(x, 0)))(x)]),
    ("jacfwd", |x, _| vec![ndjit::jacfwd(|x: Expr| ndjit::sin(ndjit::sum(x, 0)))(x)]),
    ("hessian", |x, _| vec![ndjit::hessian(|x: Expr| ndjit::prod(ndjit::sum(x, 0), ..))(ndjit::sum(x, 0))]),
    ("hvp", |x, y| vec![ndjit::hvp(|x: Expr| smooth(x, y), x, x)]),
    ("vmap", |x, y| vec![ndjit::vmap(|x: Expr, y: Expr| ndjit::sort(x * y, 0), (0, ndjit::Same))(x, y)]),
    ("in_axes", |x, y| {
        let axes = ndjit::in_axes((ndjit::Same, 0)).out_axis(-1).axis_size(3);
        vec![ndjit::vmap(|x: Expr, y: Expr| ndjit::sort(x * y, 0), axes)(x, y)]
    }),
    ("trees", |x, y| {
        let f = ndjit::trees(|(x, list): (Expr, Vec<Expr>)| list.into_iter().fold(x, |x, y| x * y));
        let (by_x, by_list) =
            ndjit::grad(ndjit::trees(move |p: (Expr, Vec<Expr>)| ndjit::sum(f(p), ..)))((x, vec![y, x]));
        [by_x].into_iter().chain(by_list).collect()
    }),
    ("vmap_at", |x, y| {
        let step = |(n, x): (Expr, Expr)| (n + 1, ndjit::maximum(x, y) + x);
        let goes_on = |(n, x): (Expr, Expr)| ndjit::logical_and(n.lt(4), ndjit::any(x.lt(y), ..));
        vec![ndjit::vmap_at(|x: Expr| while_loop((Expr::from(0), x), goes_on, step).1, x)]
    }),
    ("debug_print", |x, y| vec![debug::debug_print("x", x) + y]),
];

/// A scalar that depends on both.
fn smooth(x: Expr, y: Expr) -> Expr {
    ndjit::sum(fori_loop(0, 2, ndjit::tanh(x) * y, |i, z| z * x + i), ..)
}

/// Functions with two equal results: a loop in a called function with a scalar argument, and the same loop inline.
pub const SAME: &[(&str, Body)] = &[
    ("inline/float", |x, y| called_and_written(x, y, weak(0.15))),
    ("inline/int", |x, y| called_and_written(x, y, weak(3_000_000_000i64))),
    ("inline/complex", |x, y| called_and_written(x, y, weak(Complex::new(0.1, 1.0)))),
    ("inline/bool", |x, y| called_and_written(x, y, weak(true))),
    ("scan/state", |x, _| scanned_and_written(x, weak(0.15), |(state, _)| state)),
    ("scan/stacked", |x, _| scanned_and_written(x, weak(0.15), |(_, stacked)| stacked)),
    ("scan/int", |x, _| scanned_and_written(x, weak(300), |(_, stacked)| stacked)),
    ("scan/complex", |x, _| scanned_and_written(x, weak(Complex::new(0.1, 1.0)), |(_, stacked)| stacked)),
    ("loops/float", |x, _| nested_and_written(x, weak(0.15))),
    ("loops/int", |x, _| nested_and_written(x, weak(300))),
    ("loops/complex", |x, _| nested_and_written(x, weak(Complex::new(0.1, 1.0)))),
    ("lists", |x, y| {
        let step = |(a, b): Lists| (a.into_iter().map(|a| a + b[0]).collect(), b);
        let (a, b) = fori_loop(0, 2, (vec![x, y], vec![x]), |_, state| step(state));
        let (written, _) = step(step((vec![x, y], vec![x])));
        vec![a[0] * b[0], written[0] * x]
    }),
];

/// A state or a result of several lists.
type Lists = (Vec<Expr>, Vec<Expr>);

/// Functions that fail for any arguments: recursion, and lists whose leaves would move between them.
pub const REFUSED: &[(&str, Body)] = &[
    ("circle", |x, y| CIRCLE[0].inline((x, y))),
    ("circle/three", |x, y| CIRCLE[3].inline((y, x))),
    ("circle/smaller", |x, y| CIRCLE[4].inline((x, y))),
    ("calls/failing", |x, _| {
        let failing = |x: Expr| ndjit::reshape(x, [7, 11, 13]);
        vec![(0..40).fold(jit(Box::new(failing) as Closure), |below, _| twice(below)).inline((x,))]
    }),
    ("calls/failing/within", |x, _| {
        let failing = |x: Expr| ndjit::reshape(x, [7, 11, 13]);
        vec![(0..24).fold(jit(Box::new(failing) as Closure), |below, _| within(below)).inline((x,))]
    }),
    ("lists/cond", |x, y| listed(cond(ndjit::any(y, ..), |x| (vec![x], vec![x, x]), |x| (vec![x, x], vec![x]), x))),
    ("lists/fori_loop", |x, _| listed(fori_loop(0, 2, (vec![x], vec![x, x]), |_, (a, b): Lists| (b, a)))),
    ("lists/while_loop", |x, _| {
        listed(while_loop((vec![x], vec![x, x]), |(a, _)| ndjit::any(a[0], ..), |(a, b): Lists| (b, a)))
    }),
    ("lists/scan", |x, y| listed(scan(|(a, b): Lists, y: Expr| ((b, a), y), (vec![x, x], vec![x]), y).0)),
];

fn listed((mut a, b): Lists) -> Vec<Expr> {
    a.extend(b);
    a
}

type Closure = Box<dyn Fn(Expr) -> Expr + Send + Sync>;
type Circle = Jitted<fn(Expr, Expr) -> Vec<Expr>, 2, Body>;

/// A function that calls one twice.
fn twice(below: Jitted<fn(Expr) -> Expr, 1, Closure>) -> Jitted<fn(Expr) -> Expr, 1, Closure> {
    jit(Box::new(move |x| below.inline((x,)) + below.inline((x + 1,))))
}

/// A function that calls one in a branch and in a loop.
fn within(below: Jitted<fn(Expr) -> Expr, 1, Closure>) -> Jitted<fn(Expr) -> Expr, 1, Closure> {
    jit(Box::new(move |x| {
        let branch = cond(ndjit::any(x, ..), |x| below.inline((x,)), |x| x, x);
        branch + fori_loop(0, 2, x, |_, x| below.inline((x,)))
    }))
}

/// A function that calls itself; a cycle of three functions; one that calls itself on more.
static CIRCLE: LazyLock<[Circle; 5]> = LazyLock::new(|| {
    [
        jit(|x, y| [CIRCLE[0].inline((x, y)), CIRCLE[0].inline((y, x))].concat()),
        jit(|x, y| CIRCLE[3].inline((x, y))),
        jit(|x, y| [CIRCLE[1].inline((x, y)), CIRCLE[1].inline((y, x))].concat()),
        jit(|x, y| CIRCLE[2].inline((y, x))),
        jit(|x, y| CIRCLE[4].inline((ndjit::stack(&[x, x], 0), y))),
    ]
});

/// A loop in a loop, with a scalar as initial state, and the same without loops.
fn nested_and_written(x: Expr, number: Scalar) -> Vec<Expr> {
    let inner = |x: Expr| fori_loop(0, 2, Expr::from(number), |_, s| s + ndjit::sum(x, ..));
    let nested = fori_loop(0, 2, Expr::from(number), |_, s| s + inner(x));
    let inner = |x: Expr| (0..2).fold(Expr::from(number), |s, _| s + ndjit::sum(x, ..));
    vec![nested, (0..2).fold(Expr::from(number), |s, _| s + inner(x))]
}

/// The scalar is an initial state, which is stacked, or is an addend.
fn scanned_and_written(x: Expr, number: Scalar, part: fn((Expr, Expr)) -> Expr) -> Vec<Expr> {
    let scanned = part(scan(|s: Expr, e: Expr| (s + ndjit::sum(e, ..), s), Expr::from(number), x));
    let rows = x.shape().extents().first().copied().unwrap_or(0);
    if rows == 0 {
        return vec![scanned];
    }
    let mut states: Vec<Expr> = Vec::new();
    let mut state = Expr::from(number);
    for row in 0..rows {
        let next = state + ndjit::sum(x.slice(row as isize), ..);
        states.push(ndjit::where_(true, state, next));
        state = next;
    }
    vec![scanned, part((state, ndjit::stack(&states, 0)))]
}

/// The scalar is captured by a loop and its branch, and is an initial state.
fn called_and_written(x: Expr, y: Expr, number: Scalar) -> Vec<Expr> {
    fn repeated(x: Expr, y: Expr, k: Expr) -> Expr {
        let step = move |x: Expr| cond(ndjit::any(y, ..), |x: Expr| x * k, |x: Expr| x + k, x);
        fori_loop(0, 2, (x, k), move |_, (x, s)| (step(x), s + s)).0
    }
    vec![jit(repeated).inline((x, y, number)), repeated(x, y, number.into())]
}
