//! The cases: each function that takes an integer, on arrays of several shapes, outside of `jit` and in a traced function.

use ndjit::random;
use ndjit::*;

/// A call, with its outcome in a word.
pub struct Case {
    pub name: String,
    pub run: Box<dyn FnOnce() -> String>,
}

const SIGNED: [isize; 11] = [0, 1, -1, 2, -2, 1 << 33, 1 << 40, 1 << 62, isize::MAX, isize::MIN, isize::MIN + 1];
const UNSIGNED: [usize; 10] = [0, 1, 2, 7, 1 << 33, 1 << 40, 1 << 60, 1 << 62, isize::MAX as usize, usize::MAX];

/// An axis with more elements than memory, all at one address.
fn broad() -> Array {
    broadcast_to(Array::from([1.5f32]), [1usize << 40])
}

fn arrays() -> Vec<Array> {
    vec![
        Array::from([3i32, 1, 2]),
        Array::from_rows(&[[1.5f32, 2.5, 0.5], [0.0, -1.0, 1.0]]),
        zeros([0]),
        zeros([0, 3]),
        zeros([0, 1 << 60]),
        Array::from(2.5f32),
        broad(),
    ]
}

/// All queries of a result.
fn read(result: &Array) -> Result<&'static str> {
    let _ = (result.len(), result.is_empty(), format!("{result:?}"), result.shape().to_string());
    result.eval()?;
    let _ = (result.to_string(), format!("{result:.3}"));
    Ok("ok")
}

fn word(outcome: Result<&'static str>) -> String {
    outcome.map_or_else(|error| format!("{}", error.code()), str::to_owned)
}

#[derive(Default)]
struct Cases(Vec<Case>);

impl Cases {
    fn add(&mut self, name: String, run: impl FnOnce() -> Result<&'static str> + 'static) {
        self.0.push(Case { name, run: Box::new(move || word(run())) });
    }
}

/// Functions of an array and an integer, outside of a traced function and in one.
macro_rules! of_an_array {
    ($cases:ident, $numbers:ident: $($functions:tt)*) => { of_an_array! { @ $cases, $numbers, |_: &Array| true, $($functions)* } };
    // Reading every element of a broadcast axis takes as long as the axis.
    ($cases:ident, $numbers:ident, without broad: $($functions:tt)*) => {
        of_an_array! { @ $cases, $numbers, |x: &Array| x.len() < 1 << 40, $($functions)* }
    };
    (@ $cases:ident, $numbers:ident, $taken:expr, $(|$x:ident, $n:ident| $made:expr;)*) => {$(
        for $n in $numbers {
            for x in arrays().into_iter().filter($taken) {
                let text = format!("{}, x = {}, {} = {}", stringify!($made), x.shape(), stringify!($n), $n);
                let same = x.clone();
                $cases.add(text.clone(), move || { let $x = &x; read(&$made) });
                $cases.add(format!("traced: {text}"), move || read(&jit(move |$x: Expr| $made).call((&same,))?));
            }
        }
    )*};
}

/// Functions of an integer.
macro_rules! of_a_number {
    ($cases:ident, $numbers:ident: $(|$n:ident| $made:expr;)*) => {$(
        for $n in $numbers {
            $cases.add(format!("{}, {} = {}", stringify!($made), stringify!($n), $n), move || read(&$made));
        }
    )*};
}

/// Functions of arrays with more elements than memory.
macro_rules! of_much {
    ($cases:ident: $(|$x:ident| $made:expr;)*) => {$(
        $cases.add(format!("{}, x = {}", stringify!($made), broad().shape()), || { let $x = &broad(); read(&$made) });
    )*};
}

fn first<X: Clone + operand::ArrayLike>(all: &[X]) -> X {
    all.first().cloned().unwrap_or_else(|| X::failed(Error::new(ErrorCode::Shape, "none")))
}

pub fn cases() -> Vec<Case> {
    let mut cases = Cases::default();
    of_an_array! { cases, SIGNED:
        |x, n| permute_dims(x, n);
        |x, n| permute_dims(x, [n, 0]);
        |x, n| moveaxis(x, n, 0);
        |x, n| moveaxis(x, 0, n);
        |x, n| expand_dims(x, n);
        |x, n| expand_dims(x, [n, 0]);
        |x, n| squeeze(x, n);
        |x, n| flip(x, n);
        |x, n| swapaxes(x, n, 0);
        |x, n| diagonal(x, n, [0, 1]);
        |x, n| diagonal(x, 0, [n, 1]);
        |x, n| reshape(x, n);
        |x, n| reshape(x, [n, -1]);
        |x, n| reshape(x, [n, n]);
        |x, n| reshape(x, [0, n]);
        |x, n| sliding_window(x, n, 0);
        |x, n| sliding_window(x, 2, n);
        |x, n| sliding_window(x, [n, n], [0, 1]);
        |x, n| slice(x, n);
        |x, n| slice(x, n..);
        |x, n| slice(x, ..n);
        |x, n| slice(x, n..n);
        |x, n| slice(x, n..=n);
        |x, n| slice(x, ..=n);
        |x, n| slice(x, step(n));
        |x, n| slice(x, step_by(1.., n));
        |x, n| slice(x, step_by(..=n, n));
        |x, n| concat([x, x], n);
        |x, n| stack([x, x], n);
        |x, n| roll(x, n, 0);
        |x, n| roll(x, 1, n);
        |x, n| roll(x, [n, n], [0, -1]);
        |x, n| tril(x, n);
        |x, n| triu(x, n);
        |x, n| tile(x, n);
        |x, n| tile(x, [n, n]);
        |x, n| tile(x, [0, n]);
        |x, n| repeat(x, n, 0);
        |x, n| repeat(x, 2, n);
        |x, n| repeat(x, [n, n, 1], 0);
        |x, n| cumulative_sum(x, n);
        |x, n| cumulative_sum(x, include_initial(n));
        |x, n| sort(x, n);
        |x, n| argsort(x, descending(n));
        |x, n| topk(x, 2, n).0;
        |x, n| median(x, n);
        |x, n| quantile(x, 0.5, n);
        |x, n| diff(x, 1, n);
        |x, n| take(x, &Array::from([n as i64]), 0);
        |x, n| take(x, &Array::from([0]), n);
        |x, n| x.at(n).get();
        |x, n| x.at(n as u64).get();
        |x, n| x.at(n).set(0);
        |x, n| x.at(n).add(1);
        |x, n| x.at(n).get_or(0);
        |x, n| x.at((.., n)).get();
        |x, n| x.at((n, n)).set(0);
        |x, n| x.at((n.., 0)).set(0);
        |x, n| x.at((step(n), 0)).get();
        |x, n| x.at((&Array::from([n as i64, 0]), ..n)).get();
        |x, n| take_along_axis(x, &Array::from([0]), n);
        |x, n| searchsorted(x, n as i64, Side::Left);
        |x, n| full_like(x, n as i64);
        |x, n| first(&unstack(x, n).unwrap_or_default());
        |x, n| meshgrid([x, x], if n == 0 { Indexing::Xy } else { Indexing::Ij }).remove(0);
    }
    of_an_array! { cases, SIGNED, without broad:
        |x, n| ndjit::trace(x, n, [0, 1]);
        |x, n| argmax(x, n);
        |x, n| trapezoid(x, 1, n);
        |x, n| vecdot(x, x, n);
        |x, n| tensordot(x, x, n as usize);
        |x, n| logsumexp(x, keepdims(n));
        |x, n| correction(n as i64).var(x, 0);
    }
    of_an_array! { cases, UNSIGNED:
        |x, n| broadcast_to(x, [n]);
        |x, n| broadcast_to(x, [n, 3]);
        |x, n| broadcast_to(x, [n, 0]);
        |x, n| broadcast_to(x, [2, n, 2, 3]);
        |x, n| pad(x, n, 0);
        |x, n| pad(x, (n, 0), Pad::Edge);
        |x, n| pad(x, (0, n), Pad::Wrap);
        |x, n| pad(x, (n, n), Pad::Reflect);
        |x, n| pad(x, [(0, n)], Pad::Symmetric);
        |x, n| topk(x, n, 0).1;
        |x, n| diff(x, n, 0);
        |x, n| append(0).diff(x, n, 0);
        |x, n| x.slice((n, n));
        |x, n| x.at(n..).set(1);
        |x, n| first(&broadcast_arrays([broadcast_to(x, [n, 3]), broadcast_to(x, [2, 3])]));
    }
    of_a_number! { cases, UNSIGNED:
        |n| zeros([n]);
        |n| zeros([n, n]);
        |n| zeros([0, n]);
        |n| zeros([n, 0]);
        |n| zeros([0, n, n]);
        |n| zeros(vec![1; n.min(100_000)]);
        |n| &zeros(vec![1; n.min(100_000)]) + 1;
        |n| ones([n, 2]);
        |n| full([n], 7);
        |n| dtype(DType::Bool).full([n], true);
        |n| dtype(DType::C128).empty([n]);
        |n| eye(n);
        |n| eye((n, 2));
        |n| eye((0, n));
        |n| eye((2, n, isize::MIN));
        |n| eye((2, 3, n as isize));
        |n| arange(n as u64);
        |n| arange((0, n as i64, 1));
        |n| arange((n as i64, 0, -1));
        |n| arange((0, 1, n as i64));
        |n| arange((0.0, n as f64, 1e-300));
        |n| arange((i64::MIN, i64::MAX, n as i64));
        |n| linspace(0..=1, n);
        |n| linspace(0.0..1.0, n);
        |n| linspace(n as u64..=0, 3);
        |n| logspace(0..=1, n);
        |n| from_fn([n, 2], |[i, j]| i + j);
        |n| from_fn([0, n], |[i, j]| i + j);
        |n| from_fn([2], |[i]| i.broadcast_to([n]));
        |n| Array::from_shape_vec([n, 0], Vec::<f32>::new())?;
        |n| Array::from_shape_vec([n], vec![1.0f32])?;
        |n| { let x = broadcast_to(Array::from([1u8]), [n]); x.cast(DType::F64) };
        |n| { let x = broadcast_to(Array::from([1u8]), [n]); &x + 1 };
        |n| { let x = broadcast_to(Array::from([1u8]), [n, 1]); &x + &x.reshape([1, -1]) };
        |n| random::keys(&random::key(1), n);
        |n| random::bits(&random::key(1), [n]);
        |n| random::uniform(&random::key(1), [n, 0], 0.0..1.0);
        |n| random::permutation(&random::key(1), n);
        |n| jit(|x: Expr| x + 1).threads(n).call((&Array::from([1, 2, 3]),))?;
        |n| { let f = jit(move |x: Expr| zeros([n, 1]) + x); f.call((&Array::from([1, 2]),))? };
        |n| {
            let traced = jit(|x: Expr| sum(exp(x) * 2, 0)).trace(&[spec(DType::F32, [n, 2])])?;
            let lowered = traced.lower()?;
            let _ = (lowered.explain(Stage::Loops), lowered.kernel_count());
            let _ = lowered.compile()?;
            Array::from(1)
        };
    }
    of_much! { cases:
        |x| Array::from(x.to_vec::<f32>()?);
        |x| Array::from(x.clone().into_vec::<f32>()?);
        |x| Array::from(x.item::<f32>()?);
        |x| x.cast(DType::C128);
        |x| exp(x);
        |x| x + x;
        |x| concat([x, x], 0);
        |x| stack([x, x], 1);
        |x| first(&unstack(x, 0)?);
        |x| sort(x, 0);
        |x| dtype(DType::I64).argsort(x, 0);
        |x| topk(x, 3, 0).0;
        |x| topk(x, 1 << 39, 0).0;
        |x| cumulative_sum(x, 0);
        |x| cumulative_sum(x, include_initial(0));
        |x| median(x, 0);
        |x| quantile(x, [0.25, 0.5], 0);
        |x| first(&nonzero(x));
        |x| unique_values(x);
        |x| unique_all(x).counts;
        |x| isin(x, x);
        |x| outer(x, x);
        |x| kron(x, x);
        |x| einsum("i,j->ij", [x, x]);
        |x| einsum("i,i->i", [x, x]);
        |x| matmul(&x.reshape([-1, 1]), &x.reshape([1, -1]));
        |x| diff(x, 1, 0);
        |x| diff(x, 1 << 30, 0);
        |x| take(x, &Array::from([0, -1]), 0);
        |x| take(x, x, 0);
        |x| x.at(0).set(1);
        |x| x.at(x).get();
        |x| x.at(x.gt(0)).set(0);
        |x| where_(x.gt(0), x, 0);
        |x| searchsorted(x, 1, Side::Right);
        |x| searchsorted(&Array::from([1]), x, Side::Right);
        |x| x.flip(0);
        |x| x.reshape([1 << 20, 1 << 20]);
        |x| x.reshape([1 << 20, 1 << 20]).mt().reshape(-1);
        |x| x.sliding_window(1 << 30, 0);
        |x| x.reshape([1 << 20, 1 << 20]).tril(0);
        |x| meshgrid([x, x], Indexing::Xy).remove(0);
        |x| (0..1u64 << 50).collect::<Array>() + x;
        |x| Array::from(x.on(Device::CPU).copy_to_host_async().map(|()| 1)?);
        |x| random::shuffle(&random::key(1), x, 0);
        |x| random::choice(&random::key(1), x, [3]);
        |x| jit(|x: Expr| x + 1).call((x,))?;
        |x| jit(|x: Expr| (sort(x, 0), x).1).call((x,))?;
        |x| { let f = jit(|x: Expr| x * 2); f.trace(&[Spec::of(x)])?; f.call((x,))? };
    }
    // Results that fit into memory once, but not twice, for checks or donation.
    cases.add("with_nan_check of 1.6 GiB".to_owned(), || {
        let f = jit(|x: Expr| x.broadcast_to([400 << 20]) + 1);
        let called = debug::with_nan_check(|| f.call((&Array::from(1.5f32),)));
        called.map(|_| "ok")
    });
    cases.add("with_jit_disabled of 1.6 GiB".to_owned(), || {
        let f = jit(|x: Expr| x.broadcast_to([100 << 20]));
        let called = debug::with_jit_disabled(|| f.call((&Array::from(1.5f32).cast(DType::C128),)));
        called.map(|_| "ok")
    });
    for precision in [0, 1, 100, 1000, 65_535] {
        for x in [
            Array::from([1.5f64, 1e300, f64::NAN]),
            Array::from([0.1f32, 100.0]),
            Array::from([f16::ONE]),
            arange(3),
            zeros([0]),
        ] {
            cases.add(format!("{{:.{precision}}} of {x}"), move || {
                let text = format!("{x:.precision$}{x:9.precision$?}{:>65535.precision$}", x.cast(DType::C64));
                Ok(if text.is_empty() { "empty" } else { "ok" })
            });
        }
    }
    cases.0
}
