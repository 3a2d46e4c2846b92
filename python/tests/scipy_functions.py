"""Which functions of SciPy take arrays of this package: `python tests/scipy_functions.py [--write]`.

SciPy computes with any namespace of the Array API where `SCIPY_ARRAY_API=1` is set. Each function is called with NumPy's arrays and
with ours. It passes if the result is ours and equals NumPy's. `--write` writes `docs/scipy.md`.
"""

import os
import sys
import warnings
from pathlib import Path

os.environ["SCIPY_ARRAY_API"] = "1"

import ndjit  # noqa: E402
import numpy as np  # noqa: E402
import scipy  # noqa: E402
import scipy.optimize.elementwise  # noqa: E402
from scipy import cluster, constants, differentiate, fft, integrate, interpolate, ndimage, optimize, signal, spatial, special, stats  # noqa: E402

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=100), RNG.normal(size=100)
M = RNG.normal(size=(12, 8))
P = RNG.random(100)
C = RNG.normal(size=64) + 1j * RNG.normal(size=64)
POINTS = RNG.normal(size=(20, 3))
# The name, and the function of a converter of arrays.
FUNCTIONS = {
    "special.erf": lambda a: special.erf(a(X)),
    "special.gammaln": lambda a: special.gammaln(a(P + 1)),
    "special.expit": lambda a: special.expit(a(X)),
    "special.logit": lambda a: special.logit(a(P)),
    "special.xlogy": lambda a: special.xlogy(a(P), a(P)),
    "special.entr": lambda a: special.entr(a(P)),
    "special.ndtr": lambda a: special.ndtr(a(X)),
    "special.logsumexp": lambda a: special.logsumexp(a(M), axis=1),
    "special.softmax": lambda a: special.softmax(a(M), axis=1),
    "special.log_softmax": lambda a: special.log_softmax(a(M), axis=1),
    "special.chdtr": lambda a: special.chdtr(a(P + 2), a(P)),
    "special.betainc": lambda a: special.betainc(a(P + 1), a(P + 2), a(P)),
    "stats.zscore": lambda a: stats.zscore(a(X)),
    "stats.skew": lambda a: stats.skew(a(X)),
    "stats.kurtosis": lambda a: stats.kurtosis(a(X)),
    "stats.moment": lambda a: stats.moment(a(X), order=3),
    "stats.describe": lambda a: stats.describe(a(X)).variance,
    "stats.gmean": lambda a: stats.gmean(a(P)),
    "stats.hmean": lambda a: stats.hmean(a(P)),
    "stats.pmean": lambda a: stats.pmean(a(P), 3),
    "stats.sem": lambda a: stats.sem(a(X)),
    "stats.variation": lambda a: stats.variation(a(P)),
    "stats.entropy": lambda a: stats.entropy(a(P)),
    "stats.pearsonr": lambda a: stats.pearsonr(a(X), a(Y)).statistic,
    "stats.ttest_1samp": lambda a: stats.ttest_1samp(a(X), 0.1).pvalue,
    "stats.ttest_ind": lambda a: stats.ttest_ind(a(X), a(Y)).pvalue,
    "stats.chisquare": lambda a: stats.chisquare(a(P + 1), a(np.full(100, (P + 1).mean()))).statistic,
    "stats.normaltest": lambda a: stats.normaltest(a(X)).pvalue,
    "stats.jarque_bera": lambda a: stats.jarque_bera(a(X)).statistic,
    "stats.bartlett": lambda a: stats.bartlett(a(X), a(Y)).statistic,
    "stats.tmean": lambda a: stats.tmean(a(X), (-1, 1)),
    "stats.trim_mean": lambda a: stats.trim_mean(a(X), 0.1),
    "stats.rankdata": lambda a: stats.rankdata(a(X)),
    "stats.quantile": lambda a: stats.quantile(a(X), 0.3),
    "stats.circmean": lambda a: stats.circmean(a(X)),
    "fft.fft": lambda a: fft.fft(a(C)),
    "fft.rfft": lambda a: fft.rfft(a(X)),
    "fft.fftfreq": lambda a: fft.fftfreq(10, xp=ndjit if a is ndjit.asarray else np),
    "fft.fftshift": lambda a: fft.fftshift(a(X)),
    "fft.dct": lambda a: fft.dct(a(X)),
    "signal.convolve": lambda a: signal.convolve(a(X), a(Y[:9]), method="direct"),
    "signal.fftconvolve": lambda a: signal.fftconvolve(a(X), a(Y[:9])),
    "signal.hilbert": lambda a: signal.hilbert(a(X)),
    "signal.detrend": lambda a: signal.detrend(a(X), type="constant"),
    "signal.lfilter": lambda a: signal.lfilter(a(np.array([0.2, 0.3])), a(np.array([1.0, 0.1])), a(X)),
    "signal.windows.hann": lambda a: signal.windows.hann(20, xp=ndjit if a is ndjit.asarray else np),
    "ndimage.gaussian_filter": lambda a: ndimage.gaussian_filter(a(M), 1.0),
    "ndimage.uniform_filter": lambda a: ndimage.uniform_filter(a(M), 3),
    "ndimage.sobel": lambda a: ndimage.sobel(a(M)),
    "integrate.trapezoid": lambda a: integrate.trapezoid(a(X)),
    "integrate.simpson": lambda a: integrate.simpson(a(X)),
    "integrate.cumulative_trapezoid": lambda a: integrate.cumulative_trapezoid(a(X)),
    "integrate.tanhsinh": lambda a: integrate.tanhsinh(lambda x: x * x, a(np.array(0.0)), a(np.array(2.0))).integral,
    "optimize.rosen": lambda a: optimize.rosen(a(X)),
    "optimize.rosen_der": lambda a: optimize.rosen_der(a(X)),
    "optimize.elementwise.find_root": lambda a: optimize.elementwise.find_root(
        lambda x: x * x - 2, (a(np.array(0.0)), a(np.array(2.0)))
    ).x,
    "differentiate.derivative": lambda a: differentiate.derivative(lambda x: x * x * x, a(np.array([1.0, 2.0]))).df,
    "cluster.vq.whiten": lambda a: cluster.vq.whiten(a(M)),
    "cluster.vq.vq": lambda a: cluster.vq.vq(a(POINTS), a(POINTS[:4]))[1],
    "cluster.hierarchy.linkage": lambda a: cluster.hierarchy.linkage(a(POINTS)),
    "spatial.distance.cdist": lambda a: spatial.distance.cdist(a(POINTS), a(POINTS[:4])),
    "spatial.transform.Rotation": lambda a: spatial.transform.Rotation.from_rotvec(a(POINTS)).as_matrix(),
    "interpolate.BSpline": lambda a: interpolate.make_interp_spline(a(np.arange(100.0)), a(X))(a(np.arange(9.0) + 0.5)),
    "constants.convert_temperature": lambda a: constants.convert_temperature(a(X), "C", "K"),
}
# Why functions do not pass, where the exception or the type does not say it.
REASONS = {
    "fft.fftfreq": "SciPy asks the namespace's extension `fft`, which is not there yet",
    "integrate.simpson": "not of the functions that SciPy has for other namespaces: it computes with NumPy",
    "spatial.distance.cdist": "not of the functions that SciPy has for other namespaces: it computes with NumPy",
}


def outcome(call):
    """`None` where the result is ours and NumPy's, else the reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.asarray(call(np.asarray))
        try:
            result = call(ndjit.asarray)
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"
        if not isinstance(result, ndjit.Array):
            return f"the result is of {type(result).__module__}.{type(result).__name__}"
        got = np.asarray(result)
        if got.shape != expected.shape or not np.allclose(got, expected, rtol=1e-6, atol=1e-9, equal_nan=True):
            return "another result"
    return None


def table():
    """The text of the page, and the number of functions that pass."""
    rows = {name: outcome(call) for name, call in FUNCTIONS.items()}
    passed = sum(why is None for why in rows.values())
    lines = [
        "# SciPy's functions on ndjit's arrays",
        "",
        f"With `SCIPY_ARRAY_API=1`, {passed} of {len(rows)} functions tried take ndjit's arrays, return ndjit's arrays, and give NumPy's",
        f"results (SciPy {scipy.__version__}). `python tests/scipy_functions.py --write` writes this page. Policy: `numpy2`.",
        "",
        "| function of `scipy` | | reason |",
        "| --- | --- | --- |",
    ]
    for name, why in rows.items():
        text = "" if why is None else f"{REASONS.get(name, '')}: {why}".removeprefix(": ").replace("|", "\\|")
        lines.append(f"| `{name}` | {'yes' if why is None else 'no'} | {text} |")
    return "\n".join(lines) + "\n", passed, len(rows)


def main():
    """Prints the table, or writes it."""
    ndjit.set_policy("numpy2")
    text, passed, count = table()
    if "--write" in sys.argv[1:]:
        page = Path(__file__).parent.parent / "docs" / "scipy.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    sys.exit(passed < 36)


if __name__ == "__main__":
    main()
