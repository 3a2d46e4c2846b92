//! NumPy functions without a counterpart here, and expressions for the same result.

/// Names, and what to write instead. Text between backticks is an expression of matrices `x` and `y` and vectors `v`
/// and `w`.
const ROWS: &[(&str, &str)] = &[
    ("allclose", "write `all(isclose(x, y))`"),
    ("array asarray asanyarray", "inputs are arrays; `stack([1, 2, 3])` makes one of numbers"),
    ("array_equal array_equiv", "write `all(x == y)`"),
    ("atleast_1d atleast_2d atleast_3d", "an axis is added by `v[None, :]`"),
    ("average", "with weights `w` it is `sum(v * w) / sum(w)`, else `mean(v)`"),
    ("column_stack", "of vectors write `stack([v, w], axis=1)`, of matrices `concat([x, y], axis=1)`"),
    (
        "compress extract nonzero flatnonzero argwhere unique take take_along_axis put searchsorted digitize",
        "how many elements a result has, and which, cannot depend on elements: zeros in place of the others are \
         `where(x > 0, x, 0)`, and their number `count_nonzero(x > 0)`",
    ),
    (
        "convolve correlate",
        "of vectors write `sum(sliding_window(v, 3) * w[:3], axis=-1)`, for `convolve` with `w[2::-1]`",
    ),
    (
        "cov corrcoef",
        "of vectors write `mean((v - mean(v)) * (w - mean(w)))`, over `std(v) * std(w)` for the correlation",
    ),
    ("diag diagflat", "of a matrix write `diagonal(x)`, of a vector with 4 elements `eye(4) * v`"),
    ("divmod", "write `x // y` and `x % y`"),
    (
        "dot matmul einsum tensordot kron cross",
        "expressions have no matrix products yet; of vectors write `sum(v * w)`, of a matrix and a vector `sum(x * v, axis=1)`",
    ),
    ("contains", "there are no texts in arrays: elements are numbers"),
    ("dstack", "write `stack([x, y], axis=2)`"),
    ("ediff1d", "write `diff(v)`"),
    ("empty empty_like", "write `zeros([2, 3])` or `zeros_like(x)`"),
    ("fft ifft rfft irfft fft2", "there are no Fourier transforms in ndjit"),
    ("flipud", "write `x[::-1]`"),
    ("fliplr", "write `x[:, ::-1]`"),
    ("float float_", "write `astype(x, f64)`"),
    ("frexp", "write `frexp_mantissa(x)` and `frexp_exponent(x)`"),
    ("geomspace", "write `exp(linspace(log(1), log(1000), 4))`"),
    ("gradient", "of the middle write `(v[2:] - v[:-2]) / 2`; `diff(v)` are the differences of neighbours"),
    ("histogram bincount", "one bin is `count_nonzero((v >= 0) & (v < 1))`; there are no histograms yet"),
    ("hstack append", "of matrices write `concat([x, y], axis=1)`, of vectors `concat([v, w])`"),
    ("inner vdot", "of vectors write `sum(v * w)`"),
    ("int int_", "write `astype(x, i64)`"),
    ("interp", "there is no interpolation in ndjit"),
    ("inv solve det svd eig eigh cholesky lstsq qr pinv", "there is no linear algebra in ndjit"),
    ("isin in1d", "of few values write `(x == 1) | (x == 2)`"),
    ("isneginf isposinf", "write `x == -inf` or `x == inf`"),
    ("iscomplex isreal", "write `imag(x) != 0` or `imag(x) == 0`"),
    ("len", "write `x.shape[0]`"),
    ("meshgrid mgrid ogrid indices ix_", "arrays broadcast: all pairs of two vectors are in `v[:, None] + w`"),
    ("modf", "write `modf_fraction(x)` and `modf_integer(x)`"),
    ("nanmax", "write `max(where(isnan(x), -inf, x))`"),
    ("nanmean", "write `sum(where(isnan(x), 0, x)) / count_nonzero(x == x)`"),
    ("nanmin", "write `min(where(isnan(x), inf, x))`"),
    ("nanprod nancumprod", "write `prod(where(isnan(x), 1, x))`"),
    ("nansum nancumsum", "write `sum(where(isnan(x), 0, x))`"),
    ("nanstd nanvar nanargmax nanargmin", "NaN are replaced by `where(isnan(x), 0, x)`"),
    ("outer", "write `v[:, None] * w`"),
    ("random rand randn normal uniform randint choice", "there are no random numbers: give a file of them as an input"),
    ("ravel flatten", "write `reshape(x, -1)`"),
    ("rot90", "write `flip(x.mT, axis=0)`"),
    ("select choose piecewise", "write `where(x > 1, x, where(x < 0, -x, 0))`"),
    ("shape ndim size", "write `x.shape[0]`, `x.ndim` or `x.size`"),
    ("lexsort", "one array is sorted at a time: `argsort(v)`"),
    ("nanmedian", "without NaN among the elements write `median(x)`"),
    ("percentile", "a percentile is a hundredth of a quantile's number: `quantile(x, 0.9)`"),
    ("partition argpartition", "write `sort(v)` or `argsort(v)`"),
    ("split array_split hsplit vsplit unstack unbind", "parts are slices: `v[:2]` and `v[2:]`"),
    ("trace", "write `sum(diagonal(x))`"),
    ("tri", "write `tril(ones([3, 3]))`"),
    ("vector_norm", "write `norm(x)`, of order 1 `sum(abs(x))`, of infinite order `max(abs(x))`"),
    ("vstack row_stack", "of matrices write `concat([x, y], axis=0)`, of vectors `stack([v, w])`"),
];

/// Functions with more parameters in NumPy, and what to write instead.
const PARAMETERS: &[(&str, &str)] = &[
    ("mean var std", "of some elements write `sum(where(x > 0, x, 0)) / count_nonzero(x > 0)`"),
    ("norm", "the norm is Euclidean; of order 1 write `sum(abs(x))`, of infinite order `max(abs(x))`"),
    ("round around", "to two decimals write `round(x * 100) / 100`"),
    ("sum prod", "of some elements write `sum(where(x > 0, x, 0))`"),
];

/// Module names before functions and dtypes.
pub(crate) const MODULES: [&str; 6] = ["np", "numpy", "jnp", "torch", "math", "scipy"];

/// The alternative to a missing function.
pub(crate) fn instead(name: &str) -> Option<&'static str> {
    row(ROWS, name)
}

/// The alternative to arguments that a function lacks.
pub(crate) fn more_arguments(name: &str) -> Option<String> {
    row(PARAMETERS, name).map(str::to_owned)
}

fn row(rows: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    rows.iter().find(|(names, _)| names.split(' ').any(|known| known == name)).map(|(_, help)| *help)
}

#[cfg(test)]
mod tests {
    use super::{PARAMETERS, ROWS};
    use crate::{Budget, functions, parse, trace};
    use ndjit::{DType, spec};

    #[test]
    fn what_is_to_be_written_can_be() {
        let [matrix, vector] = [spec(DType::F64, [2, 4]), spec(DType::F64, [4])];
        let inputs = [("x", matrix.clone()), ("y", matrix), ("v", vector.clone()), ("w", vector)];
        let (mut count, budget) = (0, Budget::new(1 << 20));
        for (_, help) in ROWS.iter().chain(PARAMETERS) {
            for text in help.split('`').skip(1).step_by(2).filter(|text| !["convolve", "w"].contains(text)) {
                let traced = parse(text).map_err(ndjit::Error::from).and_then(|read| trace(&read, &inputs, &budget));
                assert!(traced.is_ok(), "{text}: {}", traced.unwrap_err());
                count += 1;
            }
        }
        assert!(count > 60, "{count}");
    }

    #[test]
    fn no_name_is_there_twice() {
        let there: Vec<&str> = functions().iter().map(|(name, _)| *name).collect();
        let mut names: Vec<&str> = ROWS.iter().flat_map(|(names, _)| names.split(' ')).collect();
        assert!(names.iter().all(|name| !there.contains(name)), "{names:?}");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        let more = PARAMETERS.iter().flat_map(|(names, _)| names.split(' '));
        more.for_each(|name| assert!(there.contains(&name), "{name}"));
    }
}
