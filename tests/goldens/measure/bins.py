"""Measures NumPy's functions of bins, of sequences that slide along each other, of points, of variables and of masks: writes ../bins.json.

    python measure/bins.py > bins.json

NumPy 2.4.6. Each case: what is called, its arguments, and shapes and elements of what it gives; complex numbers as pairs, what JSON lacks as text.
"""
import json
import numpy as np

rng = np.random.default_rng(5)


def shown(x):
    x = np.asarray(x)
    flat = x.reshape(-1)
    if np.iscomplexobj(flat):
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    return {"shape": list(x.shape), "dtype": x.dtype.kind, "elements": [number(e) for e in flat.tolist()]}


def number(e):
    return str(e) if isinstance(e, float) and not np.isfinite(e) else int(e) if isinstance(e, bool) else e


cases = []


def case(name, arguments, options, results):
    cases.append({"name": name, "arguments": [shown(a) for a in arguments], "options": options,
                  "results": [shown(r) for r in results]})


def sequence(kind, n):
    if kind == "i":
        return rng.integers(-9, 9, n)
    if kind == "c":
        return rng.integers(-9, 9, n) + 1j * rng.integers(-9, 9, n)
    return rng.integers(-9, 9, n) / 4


for kind in "fic":
    for m, n in [(1, 1), (5, 2), (5, 3), (6, 4), (2, 5), (3, 6), (4, 7), (7, 7), (4, 1), (1, 4)]:
        a, v = sequence(kind, m), sequence(kind, n)
        for mode in ["full", "same", "valid"]:
            case("convolve", [a, v], {"mode": mode}, [np.convolve(a, v, mode)])
            case("correlate", [a, v], {"mode": mode}, [np.correlate(a, v, mode)])

for x, least in [([0, 3, 3, 1, 3], 0), ([2], 6), ([], 0), ([], 3), ([5, 5, 0], 2)]:
    x = np.array(x, dtype="i8")
    case("bincount", [x], {"minlength": least}, [np.bincount(x, minlength=least)])
    w = rng.integers(-8, 8, len(x)) / 8
    # Of no elements NumPy counts integers, weights or not.
    if len(x):
        case("bincount", [x, w], {"minlength": least}, [np.bincount(x, w, least)])

data = np.array([0.0, 1.0, 1.5, 2.0, 2.5, -1.0, 9.0, np.nan, 4.0, np.inf, -np.inf, 1.0])
finite = data[np.isfinite(data)]
w = rng.integers(1, 16, len(data)) / 8
for x, own in [(data, w), (finite, w[:len(finite)]), (np.array([3, 1, 4, 1, 5, 9, 2, 6]), w[:8]), (np.zeros(0), w[:0]), (np.array([7.0, 7.0]), w[:2])]:
    for bins in [[0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 1.0, 4.0], [-1.0, 9.0], [1.0, 2.0, 2.0]]:
        edges = np.array(bins)
        with np.errstate(all="ignore"):
            for density in [False, True]:
                case("histogram", [x, edges], {"density": density}, np.histogram(x, edges, density=density))
                case("histogram", [x, edges, own], {"density": density}, np.histogram(x, edges, weights=own, density=density))
    for count, between in [(1, (0.0, 4.0)), (7, (-1.0, 2.5)), (16, (0.0, 4.0)), (3, (2.0, 2.0)), (10, (0.1, 0.7))]:
        case("histogram", [x], {"bins": count, "range": between, "density": False}, np.histogram(x, count, between))
    if np.isfinite(x).all():
        for count in [1, 3, 10, 17]:
            case("histogram", [x], {"bins": count, "density": False}, np.histogram(x, count))

for edges in [[0.0, 1.0, 10.0], [10.0, 1.0, 0.0], [1.0], [0.0, 1.0, 1.0, 2.0], [2.0, 2.0, 1.0], [3.0, 3.0]]:
    for right in [False, True]:
        case("digitize", [data, np.array(edges)], {"right": right}, [np.digitize(data, edges, right)])
case("digitize", [np.array([3, 1, 4, 1, 5]), np.array([1, 3, 5])], {"right": False}, [np.digitize([3, 1, 4, 1, 5], [1, 3, 5])])

points = np.array([-1.0, 0.0, 0.25, 1.0, 1.5, 2.0, 3.75, 4.0, 7.0, np.nan, np.inf, -np.inf])
for xp, fp in [([0.0, 1.0, 2.0, 4.0], [1.0, 3.0, 2.0, -2.0]), ([1.0], [5.0]), ([0.0, 1.0, 2.0], [np.inf, np.inf, 1.0]),
               ([0.0, 2.0], [1.0, np.inf]), ([0.0, 2.0], [-np.inf, np.inf]), ([0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 5.0, 6.0]),
               ([0.0, 1.0, 4.0], [1 + 2j, 3 - 4j, 0.5j])]:
    xp, fp = np.array(xp), np.array(fp)
    # At one point NumPy gives NaN the value of that.
    x = points[~np.isnan(points)] if len(xp) == 1 else points
    with np.errstate(all="ignore"):
        case("interp", [x, xp, fp], {}, [np.interp(x, xp, fp)])
        case("interp", [x, xp, fp], {"left": -5.0, "right": 5.5}, [np.interp(x, xp, fp, -5.0, 5.5)])
finite = points[np.isfinite(points)]
for period in [4.0, -3.0, 2.5]:
    xp, fp = np.array([3.0, 0.5, 1.0]), np.array([1.0, 3.0, 2.0])
    case("interp", [finite, xp, fp], {"period": period}, [np.interp(finite, xp, fp, period=period)])

for x in [rng.integers(-9, 9, (3, 5)) / 4, rng.integers(-9, 9, 6) / 4, rng.integers(-9, 9, (2, 7)),
          rng.integers(-9, 9, (3, 4)) + 1j * rng.integers(-9, 9, (3, 4)), np.array([[1.0, 1.0], [2.0, 3.0]])]:
    own = rng.integers(1, 9, x.shape[-1]) / 4
    with np.errstate(all="ignore"):
        for ddof in [0, 1, 2]:
            case("cov", [x], {"ddof": ddof}, [np.cov(x, ddof=ddof)])
            case("cov", [x, own], {"ddof": ddof}, [np.cov(x, ddof=ddof, aweights=own)])
        case("corrcoef", [x], {}, [np.corrcoef(x)])

z = np.arange(24).reshape(2, 3, 4)
for mask, axis in [([True, False], 0), ([False, True, True], 1), ([1, 0, 0, 2], 2), ([False, True], -1), ([], 0), ([False, False], 1)]:
    mask = np.array(mask, dtype=bool)
    case("compress", [mask, z], {"axis": axis}, [np.compress(mask, z, axis)])
for mask in [z > 5, z[:, :, 0] % 8 == 0, np.array([False, True]), z > 99, np.zeros(2, bool)]:
    case("mask", [mask, z], {}, [z[mask]])
    case("nonzero", [mask], {}, np.nonzero(mask))

print(json.dumps({"numpy": np.__version__, "cases": cases}).replace('{"name"', '\n{"name"'))
