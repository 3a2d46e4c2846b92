//! What arrays and traced values have in common: each call is written once and runs on both.

use crate::api::calls;
use crate::api::pool::Call;
use crate::api::values::to_tensor;
use crate::choices::Choices;
use ndjit::operand::{Computed, Math, Meet};
use ndjit::{
    Array, Complex, DType, Ellipsis, Expr, Result, Scalar, Shape, Slice, ValueType, cond, debug, fori_loop, jit, scan,
    weak, while_loop,
};
use std::ops::{Add, BitAnd, Div, Mul, Rem, Shl, Sub};
use std::sync::OnceLock;

/// An array, or a value of a function that is traced.
pub trait Value:
    Math<Out = Self>
    + Computed
    + Clone
    + Meet<Self, Out = Self>
    + Meet<Scalar, Out = Self>
    + Add<Scalar, Output = Self>
    + Sub<Scalar, Output = Self>
    + Mul<Self, Output = Self>
    + Div<Self, Output = Self>
    + Rem<Scalar, Output = Self>
    + BitAnd<Self, Output = Self>
    + Shl<Self, Output = Self>
    + 'static
{
    /// Type, stored dtype and shape, as queries give them.
    fn facts(&self) -> (ValueType, DType, Shape);

    /// The value in another dtype.
    fn cast_to(&self, dtype: DType) -> Self;

    /// The value of an array.
    fn of(array: Array) -> Self;

    /// What a function of two traced values gives: a call of compiled code, or part of the trace.
    fn within(x: Self, y: Self, f: Body) -> Result<Vec<Self>>;

    /// Panics if two values of one type differ in an element; says nothing of those of a trace.
    fn same(one: &Self, other: &Self) -> Result<()>;

    /// What stands at indices, of one of several forms, or the value with other elements there.
    fn at_indices(&self, c: &mut Choices, index: Self, other: Self, part: Slice) -> Self;

    /// All calls.
    fn calls() -> &'static [Call<Self>];
}

macro_rules! values {
    ($($t:ty, $x:ident => $reference:expr, $of:expr;)*) => {$(
        impl Value for $t {
            fn facts(&self) -> (ValueType, DType, Shape) {
                let $x = self;
                ($reference.value_type(), $reference.dtype(), $reference.shape().clone())
            }

            fn cast_to(&self, dtype: DType) -> $t {
                let $x = self;
                $reference.cast(dtype)
            }

            fn of(array: Array) -> $t {
                ($of)(array)
            }

            fn within(x: $t, y: $t, f: Body) -> Result<Vec<$t>> {
                Within::within(x, y, f)
            }

            fn same(one: &$t, other: &$t) -> Result<()> {
                Within::same(one, other)
            }

            fn at_indices(&self, c: &mut Choices, index: $t, other: $t, part: Slice) -> $t {
                let $x = self;
                let at = match c.below(5) {
                    0 => $reference.at(index),
                    1 => $reference.at((index, other.clone())),
                    2 => $reference.at((part, index)),
                    3 => $reference.at((index, part)),
                    _ => $reference.at((Ellipsis, index)),
                };
                match c.below(6) {
                    0 => at.get(),
                    1 => at.get_or(crate::api::values::number(c)),
                    2 => at.set(other),
                    3 => at.add(other),
                    4 => at.min(other),
                    _ => at.max(other),
                }
            }

            fn calls() -> &'static [Call<$t>] {
                static CALLS: OnceLock<Vec<Call<$t>>> = OnceLock::new();
                CALLS.get_or_init(calls::all)
            }
        }
    )*};
}

values! {
    Array, x => x, |array| array;
    Expr, x => (*x), Expr::from;
}

trait Within: Sized {
    fn within(x: Self, y: Self, f: Body) -> Result<Vec<Self>>;
    fn same(one: &Self, other: &Self) -> Result<()>;
}

impl Within for Array {
    fn within(x: Array, y: Array, f: Body) -> Result<Vec<Array>> {
        jit(f).call((&x, &y))
    }

    fn same(one: &Array, other: &Array) -> Result<()> {
        let (own, tensor) = (to_tensor(one)?, to_tensor(other)?);
        assert!(own.dtype == tensor.dtype && own.shape == tensor.shape, "{one:?} and {other:?} are to be the same");
        assert!(own.first_difference(&tensor).is_none(), "{one} and {other} are to be the same");
        Ok(())
    }
}

impl Within for Expr {
    fn within(x: Expr, y: Expr, f: Body) -> Result<Vec<Expr>> {
        Ok(jit(f).inline((x, y)))
    }

    fn same(_: &Expr, _: &Expr) -> Result<()> {
        Ok(())
    }
}

/// A function of two traced values.
pub type Body = fn(Expr, Expr) -> Vec<Expr>;

/// Control flow, of a state and an operand.
pub const CONTROL: &[(&str, Body)] = &[
    ("cond", |x, y| vec![cond(ndjit::any(y, ..), |(x, y)| x + y, |(x, _)| x * 2, (x, y))]),
    ("while_loop", |x, y| {
        let (n, x) = while_loop((Expr::from(0), x), |(n, _)| n.lt(5), |(n, x)| (n + 1, ndjit::maximum(x, y) + x));
        vec![n, x]
    }),
    ("fori_loop", |x, y| vec![fori_loop(0, 3, x, |i, x| x * i - y)]),
    // From below zero it may take years.
    ("fori_loop/bound", |x, y| vec![fori_loop(ndjit::maximum(y, 0), 4, x, |i, x| x + i)]),
    ("scan", |x, y| {
        let (carry, rows) = scan(|carry: Expr, row: Expr| (carry + row, carry * 2), y, x);
        vec![carry, rows]
    }),
    ("debug_print", |x, y| vec![debug::debug_print("x", x) + y]),
];

/// Functions whose two results are the same: a loop in a function that is called with a number, and the loop where it stands.
pub const SAME: &[(&str, Body)] = &[
    ("inline/float", |x, y| called_and_written(x, y, weak(0.15))),
    ("inline/int", |x, y| called_and_written(x, y, weak(3_000_000_000i64))),
    ("inline/complex", |x, y| called_and_written(x, y, weak(Complex::new(0.1, 1.0)))),
    ("inline/bool", |x, y| called_and_written(x, y, weak(true))),
    ("scan/state", |x, _| scanned_and_written(x, weak(0.15), |(state, _)| state)),
    ("scan/stacked", |x, _| scanned_and_written(x, weak(0.15), |(_, stacked)| stacked)),
    ("scan/int", |x, _| scanned_and_written(x, weak(300), |(_, stacked)| stacked)),
    ("scan/complex", |x, _| scanned_and_written(x, weak(Complex::new(0.1, 1.0)), |(_, stacked)| stacked)),
];

/// The number is where a state begins, which is stacked: as it is where it meets what is added to it.
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

/// The number is captured by a loop and a branch of it, and is where a state begins.
fn called_and_written(x: Expr, y: Expr, number: Scalar) -> Vec<Expr> {
    fn repeated(x: Expr, y: Expr, k: Expr) -> Expr {
        let step = move |x: Expr| cond(ndjit::any(y, ..), |x: Expr| x * k, |x: Expr| x + k, x);
        fori_loop(0, 2, (x, k), move |_, (x, s)| (step(x), s + s)).0
    }
    vec![jit(repeated).inline((x, y, number)), repeated(x, y, number.into())]
}
