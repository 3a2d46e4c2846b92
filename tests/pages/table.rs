//! The table of docs/numpy.md for NumPy's functions. Each row was evaluated with NumPy 2.4; the code here is run by a test and
//! compared.

use ndjit::*;

/// NumPy's expression, and the names of similar ones; the expression here; the names in JAX and PyTorch, if they differ; shape
/// and elements of NumPy's result; those of the result here.
pub struct Row {
    pub numpy: &'static str,
    pub ndjit: &'static str,
    pub others: &'static str,
    pub expected: &'static str,
    pub found: String,
}

/// Shape and elements, as text.
fn shown(x: &Array) -> Result<String> {
    let elements = x.cast(DType::F64).to_vec::<f64>()?;
    // An f32 has only its significant digits.
    let elements = elements.iter().map(|&x| if x == x.round() { format!(" {x}") } else { format!(" {x:.6}") });
    Ok(format!("{:?}{}", x.shape().extents(), elements.collect::<String>()))
}

macro_rules! rows {
    ($x:ident $y:ident $z:ident $v:ident $w:ident; $($heading:literal { $($numpy:literal => $ndjit:expr, $others:literal, $expected:literal;)* })*) => {
        /// The rows under their headings.
        pub fn table() -> Result<Vec<(&'static str, Vec<Row>)>> {
            let $x = Array::from_rows(&[[3, 1, 2], [6, 5, 4]]);
            let $y = Array::from_rows(&[[0, 7, 1], [2, 2, 9]]);
            let $z = arange(24).reshape([2, 3, 4]);
            let ($v, $w) = (Array::from([4, 1, 3, 2]), Array::from([1, 2, 4, 7]));
            Ok(vec![$(($heading, vec![$(Row {
                numpy: $numpy,
                ndjit: stringify!($ndjit),
                others: $others,
                expected: $expected,
                found: shown(&$ndjit)?,
            }),*])),*])
        }
    };
}

rows! { x y z v w;
    "Creation" {
        "np.array([[1, 2, 3], [4, 5, 6]])" => Array::from_rows(&[[1, 2, 3], [4, 5, 6]]), "`torch.tensor`", "[2, 3] 1 2 3 4 5 6";
        "np.reshape([1, 2, 3, 4], (2, 2))" => Array::from_shape_vec([2, 2], vec![1, 2, 3, 4])?, "", "[2, 2] 1 2 3 4";
        "np.fromfunction(lambda i, j: 10 * i + j, (2, 3))" => from_fn([2, 3], |[i, j]| 10 * i + j), "not in PyTorch", "[2, 3] 0 1 2 10 11 12";
        "np.zeros((2, 3))`, `np.ones`, `np.empty" => zeros([2, 3]), "", "[2, 3] 0 0 0 0 0 0";
        "np.zeros((2, 3), dtype='i1')" => dtype(DType::I8).zeros([2, 3]), "", "[2, 3] 0 0 0 0 0 0";
        "np.full((2, 3), 7)`, `np.full_like" => full([2, 3], 7), "", "[2, 3] 7 7 7 7 7 7";
        "np.zeros_like(x)`, `np.ones_like" => zeros_like(&x), "", "[2, 3] 0 0 0 0 0 0";
        "np.eye(3)`, `np.identity" => eye(3), "", "[3, 3] 1 0 0 0 1 0 0 0 1";
        "np.eye(2, 3, k=1)" => eye((2, 3, 1)), "not in PyTorch", "[2, 3] 0 1 0 0 0 1";
        "np.diag(v)" => dtype(DType::I32).eye(4) * &v, "", "[4, 4] 4 0 0 0 0 1 0 0 0 0 3 0 0 0 0 2";
        "np.arange(5)" => arange(5), "", "[5] 0 1 2 3 4";
        "np.arange(2, 5)" => arange(2..5), "", "[3] 2 3 4";
        "np.arange(5, 0, -2)" => arange((5, 0, -2)), "", "[3] 5 3 1";
        "np.linspace(0, 1, 5)" => linspace(0..=1, 5), "", "[5] 0 0.250000 0.500000 0.750000 1";
        "np.linspace(0, 1, 4, endpoint=False)" => linspace(0..1, 4), "not in PyTorch", "[4] 0 0.250000 0.500000 0.750000";
        "np.logspace(0, 3, 4)" => logspace(0..=3, 4), "", "[4] 1 10 100 1000";
        "np.meshgrid(v, w)[0]" => meshgrid([&v, &w], Indexing::Xy)[0], "PyTorch: the other indexing by default", "[4, 4] 4 1 3 2 4 1 3 2 4 1 3 2 4 1 3 2";
        "np.tri(3)" => tril(ones([3, 3]), 0), "not in PyTorch", "[3, 3] 1 0 0 1 1 0 1 1 1";
    }
    "Slicing and selection" {
        "x[0]" => x.slice(0), "", "[3] 3 1 2";
        "x[:, 1]" => x.slice((.., 1)), "", "[2] 1 5";
        "x[:, 1:]" => x.slice((.., 1..)), "", "[2, 2] 1 2 5 4";
        "x[-1, ::2]" => x.slice((-1, step(2))), "", "[2] 6 4";
        "v[::-2]" => v.slice(step(-2)), "PyTorch: no negative steps", "[2] 2 1";
        "v[3:0:-1]" => v.slice(step_by(1..4, -1)), "PyTorch: no negative steps", "[3] 2 3 1";
        "z[..., 0]" => z.slice((Ellipsis, 0)), "", "[2, 3] 0 4 8 12 16 20";
        "v[:, None]`, `v[:, np.newaxis]" => v.slice((.., NewAxis)), "", "[4, 1] 4 1 3 2";
        "np.split(v, [3])[1]" => v.slice(3..), "`torch.tensor_split`", "[1] 2";
        "np.unstack(x)[1]" => unstack(&x, 0)?[1], "`torch.unbind`", "[3] 6 5 4";
        "np.diagonal(x, 1)`, `np.diag" => diagonal(&x, 1, [0, 1]), "", "[2] 1 4";
        "np.lib.stride_tricks.sliding_window_view(v, 3)" => sliding_window(&v, 3, 0), "not in JAX; PyTorch: `v.unfold(0, 3, 1)`", "[2, 3] 4 1 3 1 3 2";
        "np.where(x > 2, x, 0)" => where_(x.gt(2), &x, 0), "", "[2, 3] 3 0 0 6 5 4";
    }
    "Elementwise functions with other names" {
        "v / w`, `np.divide`, `np.true_divide" => &v / &w, "", "[4] 4 0.500000 0.750000 0.285714";
        "v // w" => floor_divide(&v, &w), "", "[4] 4 0 0 0";
        "v % w`, `np.mod`, `np.remainder" => &v % &w, "", "[4] 0 1 3 2";
        "v ** 2`, `np.power(v, 2)" => pow(&v, 2), "", "[4] 16 1 9 4";
        "np.absolute(v - w)`, `np.fabs" => abs(&v - &w), "", "[4] 3 1 1 5";
        "np.arcsin(v / 5)`, `np.arccos`, `np.arctan" => asin(&v / 5), "", "[4] 0.927295 0.201358 0.643501 0.411517";
        "np.arctan2(v, w)" => atan2(&v, &w), "", "[4] 1.325818 0.463648 0.643501 0.278300";
        "np.deg2rad(v)`, `np.radians" => radians(&v), "", "[4] 0.069813 0.017453 0.052360 0.034907";
        "v == w`, `np.equal" => v.eq(&w), "", "[4] 0 0 0 0";
        "(v > 1) & (w < 5)" => v.gt(1) & w.lt(5), "", "[4] 1 0 1 0";
        "np.logical_not(v - 1)" => logical_not(&v - 1), "", "[4] 0 1 0 0";
        "~v`, `np.invert" => !&v, "", "[4] -5 -2 -4 -3";
        "v << 1`, `np.left_shift(v, 1)" => &v << 1, "", "[4] 8 2 6 4";
        "np.bitwise_count(v)" => popcount(&v), "`jax.lax.population_count`", "[4] 1 1 2 1";
        "np.round(v / 2)`, `np.around" => round(&v / 2), "", "[4] 2 0 2 1";
        "np.fix(v / 3 + 1)`, `np.trunc" => trunc(&v / 3 + 1), "", "[4] 2 1 2 1";
        "np.isclose(v, 1)" => isclose(&v, 1, 1e-5, 1e-8), "", "[4] 0 1 0 0";
        "scipy.special.gamma(v)" => tgamma(&v), "`jax.scipy.special.gamma`", "[4] 6 1 2 1";
        "scipy.special.gammaln(v + 1)" => lgamma(&v + 1), "`torch.lgamma`", "[4] 3.178054 0 1.791759 0.693147";
        "scipy.special.digamma(v)`, `scipy.special.psi" => digamma(&v), "`torch.digamma`", "[4] 1.256118 -0.577216 0.922784 0.422784";
        "scipy.special.polygamma(1, v)" => polygamma(1, &v), "`jax.scipy.special.polygamma`", "[4] 0.283823 1.644934 0.394934 0.644934";
        "scipy.special.expit(v)" => sigmoid(&v), "`jax.nn.sigmoid`", "[4] 0.982014 0.731059 0.952574 0.880797";
    }
    "Axes" {
        "x.T`, `x.mT`, `np.matrix_transpose(x)" => x.mt(), "", "[3, 2] 3 6 1 5 2 4";
        "z.T" => z.permute_dims([2, 1, 0]), "", "[4, 3, 2] 0 12 4 16 8 20 1 13 5 17 9 21 2 14 6 18 10 22 3 15 7 19 11 23";
        "np.transpose(z, (1, 2, 0))" => permute_dims(&z, [1, 2, 0]), "`torch.permute`", "[3, 4, 2] 0 12 1 13 2 14 3 15 4 16 5 17 6 18 7 19 8 20 9 21 10 22 11 23";
        "np.moveaxis(z, 0, -1)" => moveaxis(&z, 0, -1), "`torch.movedim`", "[3, 4, 2] 0 12 1 13 2 14 3 15 4 16 5 17 6 18 7 19 8 20 9 21 10 22 11 23";
        "np.swapaxes(z, 0, 1)" => swapaxes(&z, 0, 1), "`torch.transpose`", "[3, 2, 4] 0 1 2 3 12 13 14 15 4 5 6 7 16 17 18 19 8 9 10 11 20 21 22 23";
        "np.expand_dims(v, 0)" => expand_dims(&v, 0), "`torch.unsqueeze`", "[1, 4] 4 1 3 2";
        "np.squeeze(x[:1], 0)" => squeeze(x.slice(..1), 0), "", "[3] 3 1 2";
        "x.reshape(3, -1)" => x.reshape([3, -1]), "", "[3, 2] 3 1 2 6 5 4";
        "x.ravel()`, `x.flatten()" => x.reshape([-1]), "", "[6] 3 1 2 6 5 4";
        "np.flip(x, 0)`, `np.flipud(x)" => flip(&x, 0), "", "[2, 3] 6 5 4 3 1 2";
        "np.fliplr(x)" => flip(&x, 1), "", "[2, 3] 2 1 3 4 5 6";
        "np.rot90(x)" => flip(x.mt(), 0), "", "[3, 2] 2 4 1 5 3 6";
        "np.broadcast_to(v, (2, 4))" => broadcast_to(&v, [2, 4]), "PyTorch: `v.expand(2, 4)`", "[2, 4] 4 1 3 2 4 1 3 2";
        "np.broadcast_arrays(v, w.reshape(4, 1))[0]" => broadcast_arrays([&v, &w.reshape([4, 1])])[0], "`torch.broadcast_tensors`", "[4, 4] 4 1 3 2 4 1 3 2 4 1 3 2 4 1 3 2";
    }
    "Indices" {
        "v[[2, 0, -1]]`, `np.take(v, [2, 0, -1])" => take(&v, Array::from([2, 0, -1]), 0), "`torch.index_select`", "[3] 3 4 2";
        "x[:, [2, 0]]" => take(&x, Array::from([2, 0]), 1), "", "[2, 2] 2 3 4 6";
        "np.take_along_axis(x, np.argmax(x, 1, keepdims=True), 1)" => take_along_axis(&x, argmax(&x, keepdims(1)), 1), "`torch.gather`", "[2, 1] 3 6";
        "x[[1, 0], [0, 2]]" => x.at((Array::from([1, 0]), Array::from([0, 2]))).get(), "", "[2] 6 2";
        "v[[0, 2]] = 9" => v.at(Array::from([0, 2])).set(9), "JAX: `v.at[i].set(9)`; a new array", "[4] 9 1 9 2";
        "x[:, 1] = 0" => x.at((.., 1)).set(0), "JAX: `x.at[:, 1].set(0)`", "[2, 3] 3 0 2 6 0 4";
        "x[1:, [0, 2]] += 1" => x.at((1.., Array::from([0, 2]))).add(1), "JAX: `x.at[1:, i].add(1)`", "[2, 3] 3 1 2 7 5 5";
        "np.add.at(v, [0, 0], 1)" => v.at(Array::from([0, 0])).add(1), "`v.at[i].add(1)`, `torch.index_add`", "[4] 6 1 3 2";
        "v[v > 2] = 0`, `np.putmask(v, v > 2, 0)" => v.at(v.gt(2)).set(0), "`torch.masked_fill`", "[4] 0 1 0 2";
        "v[v > 2]`, `np.extract" => v.at(v.gt(2)).get(), "in `jit` `size(n).compress`", "[2] 4 3";
        "np.compress([True, False, True], x, axis=1)" => compress(Array::from([true, false, true]), &x, 1), "", "[2, 2] 3 2 6 4";
        "np.searchsorted(w, v)" => searchsorted(&w, &v, Side::Left), "", "[4] 2 0 2 1";
    }
    "Joins" {
        "np.concatenate([x, y], axis=1)" => concat([&x, &y], 1), "`torch.cat`", "[2, 6] 3 1 2 0 7 1 6 5 4 2 2 9";
        "np.stack([x, y])" => stack([&x, &y], 0), "", "[2, 2, 3] 3 1 2 6 5 4 0 7 1 2 2 9";
        "np.vstack([x, y])`, `np.r_[x, y]" => concat([&x, &y], 0), "", "[4, 3] 3 1 2 6 5 4 0 7 1 2 2 9";
        "np.hstack([x, y])`, `np.c_[x, y]" => concat([&x, &y], 1), "", "[2, 6] 3 1 2 0 7 1 6 5 4 2 2 9";
        "np.vstack([v, w])" => stack([&v, &w], 0), "", "[2, 4] 4 1 3 2 1 2 4 7";
        "np.hstack([v, w])`, `np.append(v, w)`, `np.r_[v, w]" => concat([&v, &w], 0), "", "[8] 4 1 3 2 1 2 4 7";
        "np.column_stack([v, w])`, `np.c_[v, w]" => stack([&v, &w], 1), "", "[4, 2] 4 1 1 2 3 4 2 7";
        "np.dstack([x, y])" => stack([&x, &y], 2), "", "[2, 3, 2] 3 0 1 7 2 1 6 2 5 2 4 9";
        "np.tile(v, (2, 1))" => tile(&v, [2, 1]), "", "[2, 4] 4 1 3 2 4 1 3 2";
        "np.repeat(x, 2, axis=1)" => repeat(&x, 2, 1), "`torch.repeat_interleave`", "[2, 6] 3 3 1 1 2 2 6 6 5 5 4 4";
        "np.repeat(v, [1, 0, 2, 1])" => repeat(&v, [1, 0, 2, 1], 0), "`torch.repeat_interleave`", "[4] 4 3 3 2";
        "np.roll(x, (1, 2), (0, 1))" => roll(&x, [1, 2], [0, 1]), "", "[2, 3] 5 4 6 1 2 3";
        "np.pad(v, (1, 2))" => pad(&v, (1, 2), 0), "`torch.nn.functional.pad`", "[7] 0 4 1 3 2 0 0";
        "np.pad(x, ((0, 1), (2, 0)), constant_values=9)" => pad(&x, [(0, 1), (2, 0)], 9), "PyTorch: the last axis first", "[3, 5] 9 9 3 1 2 9 9 6 5 4 9 9 9 9 9";
        "np.pad(v, 2, mode='edge')" => pad(&v, 2, Pad::Edge), "PyTorch: `'replicate'`", "[8] 4 4 4 1 3 2 2 2";
        "np.pad(v, 2, mode='reflect')" => pad(&v, 2, Pad::Reflect), "", "[8] 3 1 4 1 3 2 3 1";
        "np.pad(v, 2, mode='symmetric')" => pad(&v, 2, Pad::Symmetric), "not in PyTorch", "[8] 1 4 4 1 3 2 2 3";
        "np.pad(v, 2, mode='wrap')" => pad(&v, 2, Pad::Wrap), "PyTorch: `'circular'`", "[8] 3 2 4 1 3 2 4 1";
        "np.tril(x)" => tril(&x, 0), "", "[2, 3] 3 0 0 6 5 0";
        "np.triu(x, 1)" => triu(&x, 1), "", "[2, 3] 0 1 2 0 0 4";
    }
    "Products" {
        "x @ y.T`, `np.matmul`, `np.dot" => matmul(&x, y.mt()), "`torch.mm`, `torch.bmm`", "[2, 2] 9 26 39 58";
        "z @ v`, `np.matvec(z, v)" => z.matmul(&v), "", "[2, 3] 13 53 93 133 173 213";
        "np.vecdot(x, y)`, `np.vdot`, `np.inner" => vecdot(&x, &y, -1), "`torch.linalg.vecdot`", "[2] 9 58";
        "np.tensordot(x, z, ([0], [0]))" => tensordot(&x, &z, ([0], [0])), "", "[3, 3, 4] 72 81 90 99 108 117 126 135 144 153 162 171 60 66 72 78 84 90 96 102 108 114 120 126 48 54 60 66 72 78 84 90 96 102 108 114";
        "np.outer(v, w)" => outer(&v, &w), "", "[4, 4] 4 8 16 28 1 2 4 7 3 6 12 21 2 4 8 14";
        "np.kron(v, x)" => kron(&v, &x), "", "[2, 12] 12 4 8 3 1 2 9 3 6 6 2 4 24 20 16 6 5 4 18 15 12 12 10 8";
        "np.trace(x)" => trace(&x, 0, [0, 1]), "", "[] 8";
        "np.einsum('ij,kij->k', x, z[:, :2, :3])" => einsum("ij,kij->k", [&x, &z.slice((.., ..2, ..3))]), "", "[2] 78 330";
        "np.einsum('i,ij,j->', v[:2], x, w[:3])" => einsum("i,ij,j->", [&v.slice(..2), &x, &w.slice(..3)]), "", "[] 84";
    }
    "Reductions" {
        "x.sum()`, `np.sum(x)" => x.sum(..), "", "[] 21";
        "x.sum(axis=0, dtype='f8')" => dtype(DType::F64).sum(&x, 0), "", "[3] 9 6 6";
        "x.prod(axis=1)" => x.prod(1), "", "[2] 6 120";
        "x - x.mean(axis=1, keepdims=True)" => &x - x.mean(keepdims(1)), "", "[2, 3] 1 -1 0 1 0 -1";
        "x.var(axis=-1)" => x.var(-1), "PyTorch: divides by `n - 1` unless `correction=0`", "[2] 0.666667 0.666667";
        "x.std(axis=(0, 1), ddof=1)" => correction(1).std(&x, [0, 1]), "", "[] 1.870829";
        "np.maximum(x, y)`, `np.minimum" => maximum(&x, &y), "", "[2, 3] 3 7 2 6 5 9";
        "np.max(x)`, `x.max()" => max(&x, ..), "`torch.amax`", "[] 6";
        "x.min(axis=0)" => x.min(0), "`torch.amin`", "[3] 3 1 2";
        "np.argmax(x)`, `np.argmin" => x.argmax(..), "", "[] 3";
        "(x > 2).any(axis=1)" => x.gt(2).any(1), "", "[2] 1 1";
        "np.all(x > 0)" => all(x.gt(0), ..), "", "[] 1";
        "np.count_nonzero(x > 2, axis=0)" => count_nonzero(x.gt(2), 0), "", "[3] 2 1 1";
        "np.ptp(x, axis=1)" => ptp(&x, 1), "not in PyTorch", "[2] 2 2";
        "np.logaddexp.reduce(x, axis=1)`, `scipy.special.logsumexp" => logsumexp(&x, 1), "`jax.nn.logsumexp`", "[2] 3.407606 6.407606";
        "np.linalg.norm(x, axis=1)" => norm(&x, 1), "`torch.linalg.vector_norm`", "[2] 3.741657 8.774964";
        "np.linalg.vector_norm(x, ord=1, axis=1)" => vector_norm(&x, 1, 1), "", "[2] 6 15";
        "np.linalg.norm(v, np.inf)" => vector_norm(&v, f64::INFINITY, ..), "", "[] 4";
        "np.cov(x)" => cov(&x), "", "[2, 2] 1 0.500000 0.500000 1";
        "np.cov(v, w)[0, 1]" => cov(stack([&v, &w], 0)).slice((0, 1)), "", "[] -1";
        "np.cov(x, ddof=0)" => correction(0).cov(&x), "", "[2, 2] 0.666667 0.333333 0.333333 0.666667";
        "np.corrcoef(x)" => corrcoef(&x), "", "[2, 2] 1 0.500000 0.500000 1";
        "np.average(v, weights=w)" => (&v * &w).sum(..) / w.sum(..), "not in PyTorch", "[] 2.285714";
    }
    "Scans, differences, interpolation" {
        "np.cumsum(x, axis=1)`, `np.cumulative_sum" => cumulative_sum(&x, 1), "", "[2, 3] 3 4 6 6 11 15";
        "np.cumulative_sum(v, include_initial=True)" => cumulative_sum(&v, include_initial(0)), "not in PyTorch", "[5] 0 4 5 8 10";
        "np.cumprod(v)`, `np.cumulative_prod" => cumulative_prod(&v, 0), "", "[4] 4 4 12 24";
        "np.maximum.accumulate(v)" => cummax(&v, 0), "`jax.lax.cummax`, `torch.cummax`", "[4] 4 4 4 4";
        "np.minimum.accumulate(v)" => cummin(&v, 0), "`jax.lax.cummin`, `torch.cummin`", "[4] 4 1 1 1";
        "np.convolve(v, [1, 2, 3])" => convolve(&v, Array::from([1, 2, 3]), Overlap::Full), "", "[6] 4 9 17 11 13 6";
        "np.correlate(v, [1, 2, 3])" => correlate(&v, Array::from([1, 2, 3]), Overlap::Valid), "", "[2] 15 13";
        "np.interp([0, 3, 9], w, v)" => interp(Array::from([0, 3, 9]), &w, &v), "not in PyTorch", "[3] 4 2 2";
        "np.interp(3, w, v, left=0, right=0)" => left(0).right(0).interp(Array::from(3), &w, &v), "", "[] 2";
        "np.diff(v)" => diff(&v, 1, 0), "", "[3] -3 2 -1";
        "np.diff(v, n=2)" => diff(&v, 2, 0), "", "[2] 5 -3";
        "np.diff(v, prepend=0, append=9)" => prepend(0).append(9).diff(&v, 1, 0), "", "[5] 4 -3 2 -1 7";
        "np.trapezoid(v, dx=0.5)" => trapezoid(&v, 0.5, 0), "", "[] 3.500000";
        "np.trapezoid(v, w)" => positions(&w).trapezoid(&v, 0), "", "[] 14";
    }
    "Sorts and sets" {
        "np.sort(x, axis=1)" => sort(&x, 1), "`torch.sort` also gives the indices", "[2, 3] 1 2 3 4 5 6";
        "np.sort(v)[::-1]" => sort(&v, descending(0)), "`descending=True`", "[4] 4 3 2 1";
        "np.argsort(v, stable=True)" => argsort(&v, 0), "", "[4] 1 3 2 0";
        "np.median(x, axis=1)" => median(&x, 1), "PyTorch: the lower of the middle two", "[2] 2 5";
        "np.quantile(v, 0.25)`, `np.percentile(v, 25)" => quantile(&v, 0.25, ..), "", "[] 1.750000";
        "np.quantile(v, 0.25, method='lower')" => Interpolation::Lower.quantile(&v, 0.25, ..), "PyTorch: `interpolation=`", "[] 1";
        "np.quantile(v, [0.25, 0.75])" => quantile(&v, [0.25, 0.75], ..), "", "[2] 1.750000 3.250000";
        "np.bincount(v, minlength=6)" => bincount(&v, 6..), "JAX: with `length=` inside `jit`", "[6] 0 1 1 1 1 0";
        "np.bincount(v, weights=w)" => weights(&w).bincount(&v, ..), "", "[5] 0 2 7 4 1";
        "np.histogram(x, 3)[0]" => histogram(&x, 3).0, "`torch.histogram`", "[3] 2 2 2";
        "np.histogram(x, 4, (0, 8))[0]" => histogram(&x, (4, 0..=8)).0, "", "[4] 1 2 2 1";
        "np.histogram(x, [1, 2, 4])[0]" => histogram(&x, &Array::from([1, 2, 4])).0, "", "[2] 1 3";
        "np.histogram(v, 2, density=True)[0]" => density().histogram(&v, 2).0, "", "[2] 0.333333 0.333333";
        "np.histogram(v, 2, weights=w)[0]" => weights(&w).histogram(&v, 2).0, "", "[2] 9 5";
        "np.digitize(v, w)" => digitize(&v, &w), "`torch.bucketize`", "[4] 3 1 2 2";
        "np.digitize(v, w, right=True)" => Closed::Right.digitize(&v, &w), "", "[4] 2 0 2 1";
        "np.isin(v, w)" => isin(&v, &w), "", "[4] 1 1 0 1";
        "np.nonzero(x > 3)[1]" => nonzero(x.gt(3))[1], "JAX: with `size=` inside `jit`", "[3] 0 1 2";
        "np.unique(y)`, `np.unique_values" => unique_values(&y), "JAX: with `size=` inside `jit`", "[5] 0 1 2 7 9";
        "np.unique_counts(y).counts" => unique_counts(&y).1, "`return_counts=True`", "[5] 1 1 2 1 1";
        "np.unique_inverse(y).inverse_indices" => unique_inverse(&y).1, "`return_inverse=True`", "[2, 3] 0 3 1 2 2 4";
    }
}
