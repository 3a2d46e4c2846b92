//! Every public function for traced functions, called with random arguments: the elementwise ops, reductions, scans and sorts from their
//! tables, the others by hand. A test checks completeness (`fuzz/tests/targets/public.rs`).

use crate::api::bodies::{CONTROL, REFUSED, SAME};
use crate::api::pool::{Call, Pool, Run};
use crate::api::value::Value;
use crate::api::values::*;
use crate::choices::Choices;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::random::{self, randint};
use ndjit::{Closed, Interpolation, Op, Overlap, Pad, Result, Scalar, Side};
use ndjit::{dynamic, include_initial};

/// All calls, in a fixed order.
pub fn all<R: Value>() -> Vec<Call<R>> {
    let mut calls: Vec<Call<R>> = Op::ALL
        .into_iter()
        .map(|op| Call { name: op.name(), is_view: false, run: Box::new(move |c, p| elementwise(op, c, p)) })
        .collect();
    calls.extend(reductions());
    calls.extend(views());
    calls.extend(others());
    calls.extend(estimates());
    calls.extend(draws());
    calls.extend(CONTROL.iter().map(|&(name, f)| Call {
        name,
        is_view: false,
        run: Box::new(move |c: &mut Choices, p: &mut Pool<R>| R::within(p.small(c), p.small(c), f)),
    }));
    calls.extend(SAME.iter().map(|&(name, f)| Call {
        name,
        is_view: false,
        run: Box::new(move |c: &mut Choices, p: &mut Pool<R>| {
            let results = R::within(p.small(c), p.small(c), f)?;
            results.windows(2).try_for_each(|pair| R::same(&pair[0], &pair[1]))?;
            Ok(results)
        }),
    }));
    calls.extend(REFUSED.iter().map(|&(name, f)| Call {
        name,
        is_view: false,
        run: Box::new(move |c: &mut Choices, p: &mut Pool<R>| {
            let made = R::within(p.small(c), p.small(c), f);
            R::refused(&made);
            made
        }),
    }));
    calls
}

/// Another operand of an op: a value, or a scalar.
fn operand<R: Value>(c: &mut Choices, p: &mut Pool<R>) -> AnyOperand {
    if c.one_in(3) { ndjit::operand::Operand::operand(number(c)) } else { p.any(c).operand() }
}

fn elementwise<R: Value>(op: Op, c: &mut Choices, p: &mut Pool<R>) -> Result<Vec<R>> {
    let mut operands = vec![p.any(c).operand()];
    let others = if c.one_in(64) { c.below(5) } else { op.arity() - 1 };
    operands.extend((0..others).map(|_| operand(c, p)));
    if c.one_in(4) {
        operands.rotate_left(1);
    }
    Ok(vec![dynamic::apply(op, &operands)])
}

fn rank<R: Value>(x: &R) -> usize {
    x.facts().2.rank()
}

/// Calls by name, with their construction from choices and values.
macro_rules! calls {
    ($r:ty, is_view: $is_view:literal; $($name:literal |$c:ident, $p:ident| $body:expr;)*) => {
        vec![$(Call {
            name: $name,
            is_view: $is_view,
            run: Box::new(|$c: &mut Choices, $p: &mut Pool<$r>| -> Result<Vec<$r>> { Ok(Vec::from($body)) }),
        }),*]
    };
}

macro_rules! tables {
    (reductions { $($reduction:ident $reduce:ident($($x:ident)*) $rule:ident $doc:literal;)* }
     scans { $($scan:ident $along:ident($($y:ident)*) $scan_rule:ident $scan_doc:literal;)* }
     sorts { $($sort:ident $sorted:ident($($z:ident)*) $sort_rule:ident $sort_doc:literal;)* }) => {
        fn reductions<R: Value>() -> Vec<Call<R>> {
            fn call<R: Value>(name: &'static str, run: Run<R>) -> Call<R> {
                Call { name, is_view: false, run }
            }
            vec![
                $(call(stringify!($reduce), Box::new(|c, p| {
                    let x = p.any(c);
                    let axes = axes(c, rank(&x));
                    Ok(vec![typed!($rule, c, $reduce(x, axes))])
                })),)*
                $(call(stringify!($along), Box::new(|c, p| {
                    let x = p.any(c);
                    let axis = axis(c, rank(&x));
                    Ok(vec![typed!($scan_rule, c, $along(x, axis))])
                })),)*
                $(call(stringify!($sorted), Box::new(|c, p| {
                    let x = p.any(c);
                    let axis = axis(c, rank(&x));
                    let x = if c.one_in(3) { ndjit::$sorted(x, ndjit::descending(axis)) } else { typed!($sort_rule, c, $sorted(x, axis)) };
                    Ok(vec![x])
                })),)*
            ]
        }
    };
}

/// A requested dtype half of the time, if possible.
macro_rules! typed {
    (Same, $c:ident, $name:ident($x:ident, $how:ident)) => {
        ndjit::$name($x, $how)
    };
    (Bool, $c:ident, $name:ident($x:ident, $how:ident)) => {
        ndjit::$name($x, $how)
    };
    ($rule:ident, $c:ident, $name:ident($x:ident, $how:ident)) => {
        if $c.one_in(2) { ndjit::dtype(any_dtype($c)).$name($x, $how) } else { ndjit::$name($x, $how) }
    };
}

ndjit_ir::reduction_table!(tables);

fn views<R: Value>() -> Vec<Call<R>> {
    calls! { R, is_view: true;
        "permute_dims" |c, p| { let x = p.any(c); let axes = permutation(c, rank(&x)); [ndjit::permute_dims(x, axes)] };
        "matrix_transpose" |c, p| [ndjit::matrix_transpose(p.any(c))];
        "swapaxes" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::swapaxes(x, axis(c, n), axis(c, n))] };
        "moveaxis" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::moveaxis(x, axis_list(c, n), axis_list(c, n))] };
        "expand_dims" |c, p| { let x = p.any(c); let n = rank(&x) + 1; [ndjit::expand_dims(x, axis_list(c, n))] };
        "squeeze" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::squeeze(x, axis_list(c, n))] };
        "flip" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::flip(x, axis_list(c, n))] };
        "slice" |c, p| {
            let x = p.any(c);
            let parts = if c.one_in(8) { c.below(6) } else { c.below(rank(&x) + 1) };
            [ndjit::slice(x, (0..parts).map(|_| slice(c)).collect::<Vec<_>>())]
        };
        "step" |c, p| [ndjit::slice(p.any(c), ndjit::step(integer(c)))];
        "step_by" |c, p| [ndjit::slice(p.any(c), ndjit::step_by(integer(c)..integer(c), integer(c)))];
        "diagonal" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::diagonal(x, integer(c), [axis(c, n), axis(c, n)])] };
        "sliding_window" |c, p| {
            let x = p.any(c);
            let axes = axis_list(c, rank(&x));
            [ndjit::sliding_window(x, integers(c, axes.len()), axes)]
        };
        "broadcast_to" |c, p| {
            let x = p.any(c);
            let mut extents: Vec<usize> = x.facts().2.extents().to_vec();
            extents.iter_mut().filter(|extent| **extent == 1).for_each(|extent| *extent = count(c));
            (0..c.below(3)).for_each(|_| extents.insert(0, count(c)));
            if c.one_in(8) { extents = shape(c).extents().to_vec(); }
            [ndjit::broadcast_to(x, extents)]
        };
        "broadcast_arrays" |c, p| ndjit::broadcast_arrays([p.any(c), p.any(c)]);
        "unstack" |c, p| {
            let x = p.small(c);
            let axis = axis(c, rank(&x));
            ndjit::unstack(x, axis)?.into_iter().take(3).collect::<Vec<R>>()
        };
    }
}

fn others<R: Value>() -> Vec<Call<R>> {
    calls! { R, is_view: false;
        "reshape" |c, p| {
            let x = p.any(c);
            let size = x.facts().2.size().unwrap_or(0) as isize;
            let extents = match c.below(6) {
                0 => vec![-1],
                1 => vec![size],
                2 => vec![1, size, 1],
                3 if size % 2 == 0 => vec![2, -1],
                4 => vec![-1, c.pick(&[3, 1, 0, -1])],
                _ => integers(c, 2),
            };
            [ndjit::reshape(x, extents)]
        };
        "cast" |c, p| { let x = p.any(c); let dtype = any_dtype(c); [x.cast_to(dtype)] };
        "concat" |c, p| { let x = p.any(c); let axis = axis(c, rank(&x)); [ndjit::concat([x, p.any(c)], axis)] };
        "concat/many" |c, p| { let x = p.any(c); let n = c.below(20); [ndjit::concat(vec![x; n], axis(c, 1))] };
        "stack" |c, p| { let x = p.any(c); let axis = axis(c, rank(&x) + 1); [ndjit::stack([x.clone(), p.any(c), x], axis)] };
        "tile" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::tile(x, integers(c, n))] };
        "repeat" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::repeat(x, integers(c, 1), axis(c, n))] };
        "roll" |c, p| { let x = p.any(c); let axes = axis_list(c, rank(&x)); [ndjit::roll(x, integers(c, axes.len()), axes)] };
        "tril" |c, p| [ndjit::tril(p.any(c), integer(c))];
        "triu" |c, p| [ndjit::triu(p.any(c), integer(c))];
        "pad" |c, p| {
            let x = p.any(c);
            let mut widths: Vec<(usize, usize)> = Vec::new();
            (0..rank(&x)).for_each(|_| widths.push((count(c), count(c))));
            let with = match c.below(6) {
                0 => Pad::Edge,
                1 => Pad::Reflect,
                2 => Pad::Symmetric,
                3 => Pad::Wrap,
                _ => Pad::Constant(number(c)),
            };
            if c.one_in(4) { [ndjit::pad(x, count(c), with)] } else { [ndjit::pad(x, widths, with)] }
        };
        "cumulative_sum/initial" |c, p| {
            let x = p.any(c);
            let along = include_initial(axis(c, rank(&x)));
            [ndjit::cumulative_sum(x.clone(), along), ndjit::cumulative_prod(x, along)]
        };
        "correction" |c, p| {
            let (x, correction) = (p.any(c), ndjit::correction(number(c)));
            let correction = if c.one_in(3) { correction.dtype(any_dtype(c)) } else { correction };
            let axes = axes(c, rank(&x));
            [correction.var(x.clone(), axes.clone()), correction.std(x, axes)]
        };
        "vector_norm" |c, p| { let x = p.any(c); let axes = axes(c, rank(&x)); [ndjit::vector_norm(x, number(c), axes)] };
        "softmax" |c, p| { let x = p.any(c); let axes = axes(c, rank(&x)); [ndjit::softmax(x, axes)] };
        "log_softmax" |c, p| { let x = p.any(c); let axes = axes(c, rank(&x)); [ndjit::log_softmax(x, axes)] };
        "topk" |c, p| { let x = p.any(c); let n = rank(&x); let (a, b) = ndjit::topk(x, count(c), axis(c, n)); [a, b] };
        "median" |c, p| { let x = p.any(c); let axes = axes(c, rank(&x)); [ndjit::median(x, axes)] };
        "quantile" |c, p| {
            let x = p.any(c);
            let axes = axes(c, rank(&x));
            let q: Vec<f64> = (0..c.below(4)).map(|_| c.pick(&[0.5, 0.0, 1.0, 0.25, 0.9999, -0.1, 1.1, f64::NAN])).collect();
            [ndjit::quantile(x, q, axes)]
        };
        "Interpolation" |c, p| {
            use Interpolation::*;
            let x = p.any(c);
            let axes = axes(c, rank(&x));
            let how = c.pick(&[Linear, Lower, Higher, Midpoint, Nearest]);
            [how.quantile(x, number(c), axes)]
        };
        "frexp" |c, p| { let (a, b) = ndjit::frexp(p.any(c)); [a, b] };
        "modf" |c, p| { let (a, b) = ndjit::modf(p.any(c)); [a, b] };
        "select_n" |c, p| [ndjit::select_n(p.any(c), [p.any(c), p.any(c), p.any(c)])];
        "isin" |c, p| { let x = p.any(c); [ndjit::isin(x, p.any(c))] };
        "diff" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::diff(x, c.pick(&[1, 0, 2, 3, 5, 70]), axis(c, n))] };
        "prepend" |c, p| {
            let x = p.any(c);
            let axis = axis(c, rank(&x));
            [ndjit::prepend(p.any(c)).append(p.any(c)).diff(x.clone(), 1, axis), ndjit::append(number(c)).diff(x, 2, axis)]
        };
        "trapezoid" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::trapezoid(x, number(c), axis(c, n))] };
        "positions" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::positions(p.any(c)).trapezoid(x, axis(c, n))] };
        "matmul" |c, p| [ndjit::matmul(p.any(c), p.any(c))];
        "vecdot" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::vecdot(x, p.any(c), axis(c, n))] };
        "tensordot" |c, p| {
            let (x, y) = (p.any(c), p.any(c));
            match c.one_in(2) {
                true => [ndjit::tensordot(x, y, c.pick(&[1, 0, 2, 3, usize::MAX]))],
                false => { let n = rank(&x); [ndjit::tensordot(x, y, (axis_list(c, n), axis_list(c, n)))] }
            }
        };
        "outer" |c, p| [ndjit::outer(p.any(c), p.any(c))];
        "kron" |c, p| [ndjit::kron(p.any(c), p.any(c))];
        "trace" |c, p| { let x = p.any(c); let n = rank(&x); [ndjit::trace(x, integer(c), [axis(c, n), axis(c, n)])] };
        "einsum" |c, p| {
            let subscripts = ["ij,jk->ik", "ii->i", "i,i", "ij->ji", "...i,...i->...", "ij,j", "ab,bc,cd->ad", "i->", "iij->j", "->", "x,"];
            let subscripts = c.pick(&subscripts);
            let operands: Vec<R> = (0..=subscripts.matches(',').count()).map(|_| p.any(c)).collect();
            [ndjit::einsum(subscripts, operands)]
        };
        "searchsorted" |c, p| {
            let side = if c.one_in(2) { Side::Left } else { Side::Right };
            [ndjit::searchsorted(p.any(c), p.any(c), side)]
        };
        "take" |c, p| {
            let x = p.any(c);
            let axis = axis(c, rank(&x));
            let extent = usize::try_from(axis).ok().and_then(|axis| x.facts().2.extents().get(axis).copied());
            let index = if c.one_in(6) { p.any(c) } else { R::of(indices(c, extent.unwrap_or(1))) };
            [ndjit::take(x, index, axis)]
        };
        "take_along_axis" |c, p| {
            let x = p.any(c);
            let axis = axis(c, rank(&x));
            let index = if c.one_in(2) { p.any(c) } else { ndjit::argsort(x.clone(), axis) };
            [ndjit::take_along_axis(x, index, axis)]
        };
        "slice_dynamic" |c, p| {
            let x = p.any(c);
            let index = if c.one_in(4) { p.any(c) } else { R::of(ndjit::Array::from(c.below(9) as i32 - 4)) };
            let length = c.pick(&[1isize, 2, 0, 3, -1, isize::MAX]);
            [ndjit::slice_dynamic(x.clone(), index.clone(), length), ndjit::slice_dynamic(x, (0, index), [1, length])]
        };
        "prefix" |c, p| {
            let x = p.any(c);
            let length = if c.one_in(4) { p.any(c) } else { R::of(ndjit::Array::from(c.below(9) as i32 - 2)) };
            [ndjit::prefix(x, length, c.below(4) as isize - 2, 0)]
        };
        "at" |c, p| {
            let x = p.any(c);
            let extent = x.facts().2.extents().first().copied().unwrap_or(1);
            let index = if c.one_in(4) { p.any(c) } else { R::of(indices(c, extent)) };
            let (other, part) = (p.any(c), slice(c));
            [x.at_indices(c, index, other, part)]
        };
        "zeros_like" |c, p| {
            let x = p.small(c);
            match c.one_in(2) {
                true => [ndjit::zeros_like(x.clone()), ndjit::ones_like(x.clone()), ndjit::full_like(x, number(c))].to_vec(),
                false => vec![ndjit::dtype(any_dtype(c)).full_like(x, number(c))],
            }
        };
        "operators" |c, p| {
            let (x, y) = (p.any(c), p.any(c));
            let scalar: Scalar = number(c);
            match c.below(7) {
                0 => [x + scalar],
                1 => [x - scalar],
                2 => [x * y],
                3 => [x / y],
                4 => [x % scalar],
                5 => [x & y],
                _ => [x << y],
            }
        };
        "meshgrid" |c, p| {
            let how = if c.one_in(2) { ndjit::Indexing::Ij } else { ndjit::Indexing::Xy };
            ndjit::meshgrid([p.any(c), p.any(c)], how)
        };
    }
}

/// Functions that count elements, and their estimates.
fn estimates<R: Value>() -> Vec<Call<R>> {
    fn overlap(c: &mut Choices) -> Overlap {
        c.pick(&[Overlap::Full, Overlap::Same, Overlap::Valid])
    }
    calls! { R, is_view: false;
        "bincount" |c, p| {
            let x = if c.one_in(3) { p.small(c) } else { R::of(indices(c, 9)) };
            [ndjit::bincount(x.clone(), count(c)), ndjit::weights(p.any(c)).bincount(x, 3)]
        };
        "histogram" |c, p| {
            let x = p.any(c);
            let (counts, edges) = match c.below(4) {
                0 => ndjit::histogram(x, count(c)),
                1 => ndjit::histogram(x, (count(c), number(c)..=number(c))),
                2 => ndjit::histogram(x, p.any(c)),
                // Unused results may fail too, so they are sorted here.
                _ => {
                    let edges = ndjit::sort(p.any(c), -1);
                    ndjit::density().histogram(x, edges)
                }
            };
            [counts, edges]
        };
        "weights" |c, p| {
            let (x, w) = (p.any(c), if c.one_in(2) { p.any(c).operand() } else { number(c).operand() });
            let w = dynamic::apply::<R>(Op::Positive, &[w]);
            let (counts, edges) = match c.one_in(2) {
                true => ndjit::weights(w.clone()).histogram(x.clone(), p.any(c)),
                false => ndjit::weights(w.clone()).density().histogram(x.clone(), 3),
            };
            [counts, edges, ndjit::weights(w).correction(number(c)).cov(x)]
        };
        "digitize" |c, p| {
            let (x, edges) = (p.any(c), p.any(c));
            [ndjit::digitize(x.clone(), edges.clone()), c.pick(&[Closed::Left, Closed::Right]).digitize(x, edges)]
        };
        "interp" |c, p| {
            let (x, xp, fp) = (p.any(c), p.any(c), p.any(c));
            let beyond = match c.below(4) {
                0 => ndjit::left(number(c)).right(number(c)),
                1 => ndjit::right(number(c)).left(number(c)),
                2 => ndjit::period(number(c)),
                _ => ndjit::left(number(c)).period(number(c)),
            };
            [ndjit::interp(x.clone(), xp.clone(), fp.clone()), beyond.interp(x, xp, fp)]
        };
        "convolve" |c, p| [ndjit::convolve(p.small(c), p.small(c), overlap(c)), ndjit::correlate(p.small(c), p.small(c), overlap(c))];
        "cov" |c, p| { let x = p.small(c); [ndjit::cov(x.clone()), ndjit::corrcoef(x.clone()), ndjit::correction(number(c)).cov(x)] };
        "size/compress" |c, p| {
            let (mask, x) = (p.small(c), p.small(c));
            let axis = axis(c, rank(&x));
            [ndjit::size(count(c)).fill(number(c)).compress(mask, x, axis)]
        };
        "size/nonzero" |c, p| { let x = p.small(c); ndjit::size(count(c)).fill(number(c)).nonzero(x) };
    }
}

/// Functions of keys.
fn draws<R: Value>() -> Vec<Call<R>> {
    fn key<R: Value>(c: &mut Choices, p: &mut Pool<R>) -> R {
        match c.below(8) {
            0 => p.any(c),
            1 => random::fold_in(R::of(random::key(c.seed())), p.any(c)),
            _ => R::of(random::key(c.seed())),
        }
    }
    fn asked(c: &mut Choices) -> ndjit::creation::Typed {
        ndjit::dtype(any_dtype(c))
    }
    calls! { R, is_view: false;
        "split" |c, p| { let [a, b] = random::split(key(c, p)); [a, b] };
        "keys" |c, p| [random::keys(key(c, p), count(c))];
        "fold_in" |c, p| [random::fold_in(key(c, p), p.any(c))];
        "bits" |c, p| [random::bits(key(c, p), shape(c)), asked(c).bits(key(c, p), small_shape(c))];
        "uniform" |c, p| [random::uniform(key(c, p), shape(c), number(c)..number(c)), asked(c).uniform(key(c, p), small_shape(c), 0.0..1.0)];
        "normal" |c, p| [random::normal(key(c, p), shape(c)), asked(c).normal(key(c, p), small_shape(c))];
        "exponential" |c, p| [random::exponential(key(c, p), shape(c)), asked(c).exponential(key(c, p), small_shape(c))];
        "randint" |c, p| [randint(key(c, p), shape(c), number(c)..number(c)), asked(c).randint(key(c, p), small_shape(c), 0..10)];
        "bernoulli" |c, p| [random::bernoulli(key(c, p), shape(c), p.any(c))];
        "permutation" |c, p| [random::permutation(key(c, p), count(c))];
        "shuffle" |c, p| { let x = p.any(c); let axis = axis(c, rank(&x)); [random::shuffle(key(c, p), x, axis)] };
        "choice" |c, p| { let x = p.any(c); [random::choice(key(c, p), x, shape(c))] };
    }
}
