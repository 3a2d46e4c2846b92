//! Random numbers: JAX's, bit-equal if no function rounds; the same on every engine, for any split of the work; errors.

use ndjit::{Array, DType, ErrorCode, Expr, Policy, VectorWidth, arange, dtype, jit, random, with_policy};
use serde_json::Value;

fn goldens() -> Value {
    let path = ndjit_tests::root().join("tests/goldens/random.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().unwrap_or_else(|| panic!("no list {name} in {of}"))
}

fn number(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("no number {name} in {of}"))
}

fn numbers(of: &Value, name: &str) -> Vec<u64> {
    list(of, name).iter().map(|n| n.as_u64().unwrap()).collect()
}

/// The elements as bits of each part.
fn patterns(x: &Array) -> Vec<u64> {
    let int = |x: &Array| x.cast(DType::I64).to_vec::<i64>().unwrap();
    match x.dtype() {
        DType::F64 => x.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits).collect(),
        DType::F32 => x.to_vec::<f32>().unwrap().into_iter().map(|x| x.to_bits().into()).collect(),
        DType::F16 => x.to_vec::<ndjit::f16>().unwrap().into_iter().map(|x| x.to_bits().into()).collect(),
        DType::Bf16 => x.to_vec::<ndjit::bf16>().unwrap().into_iter().map(|x| x.to_bits().into()).collect(),
        DType::C64 | DType::C128 => {
            let [re, im] = [x.real(), x.imag()].map(|part| patterns(&part));
            re.into_iter().zip(im).flat_map(|(re, im)| [re, im]).collect()
        }
        other => {
            let mask = u64::MAX >> (64 - 8 * other.bytes());
            int(x).into_iter().map(|n| n as u64 & mask).collect()
        }
    }
}

fn as_float(dtype: DType, bits: u64) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => f64::from_bits(bits),
        DType::F32 | DType::C64 => f32::from_bits(bits as u32).into(),
        DType::F16 => ndjit::f16::from_bits(bits as u16).into(),
        _ => ndjit::bf16::from_bits(bits as u16).into(),
    }
}

/// The relative tolerance to JAX's numbers: its `erf_inv` and `log1p` are not correctly rounded, nor are ours.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => 1e-14,
        DType::F32 | DType::C64 => 2e-6,
        DType::F16 => 2e-3,
        _ => 1.6e-2,
    }
}

/// The call of a case of JAX's.
fn made(case: &Value) -> Array {
    let shape: Vec<usize> = numbers(case, "shape").into_iter().map(|n| n as usize).collect();
    let key = random::key(number(case, "key"));
    let d: DType = case["dtype"].as_str().unwrap().parse().unwrap();
    match case["function"].as_str().unwrap() {
        "bits" => dtype(d).bits(&key, shape),
        "uniform" => dtype(d).uniform(&key, shape, 0..1),
        "exponential" => dtype(d).exponential(&key, shape),
        "normal" => dtype(d).normal(&key, shape),
        "bernoulli" => random::bernoulli(&key, shape, Array::from(case["p"].as_f64().unwrap()).cast(d)),
        "randint" => {
            let ends: Vec<i128> =
                list(case, "range").iter().map(|n| n.as_number().unwrap().to_string().parse().unwrap()).collect();
            match (i64::try_from(ends[0]), i64::try_from(ends[1])) {
                (Ok(low), Ok(high)) => dtype(d).randint(&key, shape, low..high),
                _ => panic!("{case}"),
            }
        }
        other => panic!("no function {other}"),
    }
}

#[test]
fn the_numbers_are_those_of_jax() {
    let goldens = goldens();
    let (mut equal, mut near) = (0, 0);
    for case in list(&goldens, "cases") {
        let function = case["function"].as_str().unwrap();
        if function == "permutation" {
            continue;
        }
        let (array, expected) = (made(case), numbers(case, "bits"));
        assert_eq!(array.error(), None, "{case}");
        let got = patterns(&array);
        if !matches!(function, "normal" | "exponential") {
            assert_eq!(got, expected, "{function} {} of key {}", case["dtype"], case["key"]);
            equal += got.len();
            continue;
        }
        assert_eq!(got.len(), expected.len());
        for (got, expected) in got.into_iter().zip(expected) {
            let [got, expected] = [got, expected].map(|bits| as_float(array.dtype(), bits));
            let off = (got - expected).abs();
            assert!(off <= tolerance(array.dtype()) * expected.abs(), "{function} {}: {got} {expected}", case["dtype"]);
            near += 1;
        }
    }
    for case in list(&goldens, "cases").iter().filter(|case| case["function"] == "permutation") {
        let n = numbers(case, "shape")[0] as usize;
        let key = random::key(number(case, "key"));
        assert_eq!(patterns(&random::permutation(&key, n)), numbers(case, "bits"), "{n} of key {}", case["key"]);
        let shuffled = random::shuffle(&key, &(arange(n) * 3), 0);
        assert_eq!(patterns(&shuffled), patterns(&(random::permutation(&key, n) * 3)));
    }
    println!("{equal} numbers equal, {near} near");
    assert!(equal > 2_000 && near > 800, "{equal} {near}");
}

#[test]
fn keys_are_those_of_jax() {
    let goldens = goldens();
    for seed in list(&goldens, "seeds") {
        assert_eq!(random::key(number(seed, "seed")).item::<u64>().unwrap(), number(seed, "key"));
    }
    for split in list(&goldens, "split") {
        let key = random::key(number(split, "key"));
        let expected = numbers(split, "keys");
        assert_eq!(random::keys(&key, 6).to_vec::<u64>().unwrap(), expected);
        let few: [Array; 3] = random::split(&key);
        assert_eq!(few.map(|key| key.item::<u64>().unwrap()), expected[..3]);
    }
    for fold in list(&goldens, "fold_in") {
        let folded = random::fold_in(random::key(number(fold, "key")), number(fold, "data"));
        assert_eq!(folded.item::<u64>().unwrap(), number(fold, "to"));
    }
}

#[test]
fn positions_count_on_over_all_axes() {
    for million in list(&goldens(), "million") {
        let key = random::key(number(million, "key"));
        let bits = random::bits(&key, [1000, 1000]);
        assert_eq!(dtype(DType::U64).sum(&bits, ..).item::<u64>().unwrap(), number(million, "sum"));
        assert_eq!(patterns(&bits.slice((-1, -3..))), numbers(million, "last"));
        let flat = random::bits(&key, 1_000_000).reshape([1000, 1000]);
        assert!(flat.equal(&bits).all(..).item::<bool>().unwrap());
    }
}

/// One of each function, with users.
fn everything(key: Expr) -> Vec<Expr> {
    let [a, b] = random::split(key);
    let noise = random::normal(a, [37, 61]);
    vec![
        dtype(DType::U8).bits(b, 301),
        random::uniform(b, [3, 5, 7], -2.0..3.0) + 1,
        noise,
        noise.mean(0),
        (noise * noise).sum(..),
        random::randint(a, 999, 1..7),
        dtype(DType::I64).randint(b, 77, -5..1_000_000_000_007i64),
        random::bernoulli(a, [50, 20], 0.3).count_nonzero(1),
        dtype(DType::F16).normal(a, 100),
        dtype(DType::Bf16).uniform(a, 100, 0..4),
        dtype(DType::F16).uniform(a, 300, 1000..1001),
        random::uniform(a, 300, 0.0..1e-45),
        random::uniform(a, 300, f32::MIN..f32::MAX),
        dtype(DType::F64).uniform(a, 300, f64::MIN..1e300),
        dtype(DType::F64).exponential(b, 100),
        dtype(DType::C64).normal(b, 50),
        random::uniform(random::keys(a, 4), [6], 0..1),
        random::fold_in(key, arange(9)),
    ]
}

#[test]
fn the_same_bits_everywhere() {
    let key = random::key(2024);
    let patterns = |results: Vec<Array>| -> Vec<Vec<u64>> { results.iter().map(patterns).collect() };
    let expected = patterns(jit(everything).interpreted(true)(&key));
    for fuse in [true, false] {
        for vector in VectorWidth::ALL {
            for threads in [1, 2, 7] {
                let f = jit(everything).fuse(fuse).vector(vector).threads(threads);
                assert!(patterns(f(&key)) == expected, "fuse {fuse}, {vector:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn parts_of_a_shape_are_the_numbers_of_the_whole() {
    let key = random::key(5);
    let whole = random::normal(&key, [100, 10]);
    let rows = jit(|key: Expr| random::normal(key, [100, 10]).slice((40..43, 2..)));
    assert_eq!(patterns(&rows(&key)), patterns(&whole.slice((40..43, 2..))));
    assert_eq!(patterns(&random::normal(&key, 10)), patterns(&whole.slice(0)));
}

#[test]
fn an_array_of_keys_makes_an_array_for_each() {
    let keys = random::keys(random::key(9), 3);
    let all = random::normal(&keys, [2, 5]);
    assert_eq!(all.shape().extents(), [3, 2, 5]);
    // Sorted more than once.
    let orders = random::permutation(&keys, 2000);
    let flags = random::bernoulli(&keys, [4], Array::from([0.1f32, 0.4, 0.5, 0.9]));
    for n in 0..3 {
        let key = keys.slice(n);
        assert_eq!(patterns(&all.slice(n)), patterns(&random::normal(&key, [2, 5])));
        let own = random::bernoulli(&key, [4], Array::from([0.1f32, 0.4, 0.5, 0.9]));
        assert_eq!(patterns(&flags.slice(n)), patterns(&own));
        assert_eq!(patterns(&orders.slice(n)), patterns(&random::permutation(&key, 2000)));
    }
}

/// The float dtypes, with the number of drawn mantissa bits.
const FLOATS: [(DType, i32); 4] = [(DType::F64, 52), (DType::F32, 23), (DType::F16, 10), (DType::Bf16, 7)];

/// A value rounded to a float dtype.
fn to(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F64 => x,
        DType::F32 => f64::from(x as f32),
        // The 16-bit computations below are exact in `f64`, or near enough that `f32` stays on the same side of a tie.
        DType::F16 => ndjit::f16::from_f64(x).into(),
        _ => ndjit::bf16::from_f64(x).into(),
    }
}

/// Fraction `k / 2^bits` between two values of a dtype, as documented by `uniform`.
fn between(dtype: DType, fraction: f64, low: f64, high: f64) -> f64 {
    let width = to(dtype, high - low);
    let x = if width.is_finite() {
        to(dtype, to(dtype, fraction * width) + low)
    } else {
        2.0 * to(dtype, to(dtype, fraction * to(dtype, high / 2.0 - low / 2.0)) + low / 2.0)
    };
    if x < high { x } else { low }
}

/// All finite values of a 16-bit float dtype, in order, with one zero.
fn all_of(dtype: DType) -> Vec<f64> {
    let numbers = (0..=u16::MAX).map(|bits| as_float(dtype, bits.into())).filter(|x| x.is_finite());
    let mut numbers: Vec<f64> = numbers.map(|x| x + 0.0).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    numbers
}

/// Edge values of formats, with adjacent ones, in order.
fn edges(dtype: DType) -> Vec<f64> {
    let (least, most) = match dtype {
        DType::F64 => (f64::MIN_POSITIVE, f64::MAX),
        DType::F32 => (f32::MIN_POSITIVE.into(), f32::MAX.into()),
        DType::F16 => (ndjit::f16::MIN_POSITIVE.into(), ndjit::f16::MAX.into()),
        _ => (ndjit::bf16::MIN_POSITIVE.into(), ndjit::bf16::MAX.into()),
    };
    let bits = FLOATS.into_iter().find(|(d, _)| *d == dtype).unwrap().1;
    let ulp = 0.5f64.powi(bits);
    let smallest = least * ulp;
    let mut edges = vec![0.0, smallest, 3.0 * smallest, least - smallest, least, most / 2.0, most * (1.0 - ulp), most];
    for x in [0.75f64, 1.0, 1000.0] {
        edges.extend([-1.0, 0.0, 1.0, 2.0, 5.0].map(|n| to(dtype, x + n * ulp * 2f64.powf(x.log2().floor()))));
    }
    edges.extend(edges.clone().iter().map(|x| 0.0 - x));
    let mut edges: Vec<f64> = edges.into_iter().map(|x| to(dtype, x)).collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    edges
}

/// Pairs of edges, in two dtypes with every possible draw.
#[test]
fn ranges_are_half_open_whatever_their_ends() {
    let key = random::key(1);
    for (d, bits) in FLOATS {
        let n = if bits > 10 { 500 } else { 16 << bits };
        let fractions = dtype(d).uniform(&key, n, 0..1).cast(DType::F64).to_vec::<f64>().unwrap();
        let mut drawn: Vec<f64> = fractions.clone();
        drawn.sort_by(f64::total_cmp);
        drawn.dedup();
        assert!(bits > 10 || drawn.len() == 1 << bits, "{d}: {} of all draws", drawn.len());
        let (edges, mut to_low) = (edges(d), 0);
        for (i, &low) in edges.iter().enumerate() {
            for &high in &edges[i + 1..] {
                let x = dtype(d).uniform(&key, n, low..high).cast(DType::F64).to_vec::<f64>().unwrap();
                for (&x, &fraction) in x.iter().zip(&fractions) {
                    assert!(low <= x && x < high, "{d}: {x:?} of {low:?}..{high:?}");
                    // 0.0 + low is 0.0 where low is -0.0.
                    assert_eq!(x + 0.0, between(d, fraction, low, high) + 0.0, "{d}: {fraction} of {low:?}..{high:?}");
                    to_low += usize::from(x == low && fraction > 0.5);
                }
            }
        }
        println!("{d}: {} ends, {to_low} numbers rounded to the upper one", edges.len());
        assert!(to_low > 1000);
    }
}

/// The first and the last draw for pairs of 16-bit ends: for each `step`th lower end and for each upper end above. Returns the number of
/// pairs, and of those whose last draw rounds to the upper end.
fn extreme_draws(dtype: DType, bits: i32, step: usize) -> [usize; 2] {
    let numbers = all_of(dtype);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = |thread: usize| {
        let [mut pairs, mut to_low] = [0; 2];
        for i in (thread * step..numbers.len()).step_by(threads * step) {
            let low = numbers[i];
            for &high in &numbers[i + 1..] {
                let [first, last] = [0.0, 1.0 - 0.5f64.powi(bits)].map(|fraction| between(dtype, fraction, low, high));
                assert!(first == low && low <= last && last < high, "{dtype}: {first:?} {last:?} of {low:?}..{high:?}");
                pairs += 1;
                to_low += usize::from(last == low);
            }
        }
        [pairs, to_low]
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        let parts = threads.into_iter().map(|thread| thread.join().unwrap());
        parts.fold([0; 2], |[pairs, to_low], part| [pairs + part[0], to_low + part[1]])
    })
}

/// The first and the last draw are the minimum and the maximum, as each operation is monotone: 0 and 1 - 2^-bits. With `NDJIT_ALL_PAIRS`
/// for all pairs of 16-bit values, which takes some minutes.
#[test]
fn the_first_and_the_last_draw_are_inside() {
    let step = if std::env::var_os("NDJIT_ALL_PAIRS").is_some() { 1 } else { 499 };
    for &(d, bits) in &FLOATS[2..] {
        let [pairs, to_low] = extreme_draws(d, bits, step);
        println!("{d}: {pairs} pairs of ends, of {to_low} the last draw is the lower one");
        assert!(pairs > 4_000_000);
    }
    // `erfinv` and `log1p` are infinite at 1.
    for (d, bits) in FLOATS {
        let low = -1.0 + 0.5f64.powi(1 + bits);
        let [least, most] = [0.0, 1.0 - 0.5f64.powi(bits)].map(|x| to(d, to(d, x * to(d, 1.0 - low)) + low));
        assert!(-1.0 < least && most < 1.0, "{d}: {least} {most}");
        for x in [dtype(d).normal(random::key(7), 200_000), dtype(d).exponential(random::key(8), 200_000)] {
            assert!(x.isfinite().all(..).item::<bool>().unwrap(), "{d}");
        }
    }
}

/// The count of each value, in order.
fn counted(x: &Array) -> Vec<(f64, usize)> {
    let mut x = x.cast(DType::F64).to_vec::<f64>().unwrap();
    x.sort_by(f64::total_cmp);
    x.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len())).collect()
}

#[test]
fn numbers_of_narrow_ranges_are_equally_likely() {
    let n = 64_000;
    let narrow = [
        (DType::F16, 1000.0, 1001.0, 2),
        (DType::Bf16, 256.0, 264.0, 4),
        (DType::F32, 1e6, 1e6 + 1.0, 16),
        (DType::F64, -1e16, -1e16 + 20.0, 10),
        (DType::F32, 0.0, 1e-45, 1),
        (DType::F32, -3e-45, 3e-45, 4),
    ];
    for (d, low, high, numbers) in narrow {
        let counts = counted(&dtype(d).uniform(random::key(2), n, low..high));
        assert_eq!(counts.len(), numbers, "{d} {low}..{high}: {counts:?}");
        // The 128 draws of bf16 put each tie, two of 32, to one side. Otherwise five deviations are allowed.
        let expected = (n / numbers) as f64;
        let allowed = 5.0 * expected.sqrt() + if d == DType::Bf16 { expected / 32.0 } else { 0.0 };
        assert!(counts.iter().all(|(_, count)| (*count as f64 - expected).abs() <= allowed), "{d}: {counts:?}");
    }
    // The maximum width: a quarter of the values in each quarter, within one of the 128 draws of bf16, and five deviations.
    for (d, most) in
        [(DType::F64, f64::MAX), (DType::F32, f32::MAX.into()), (DType::F16, 65504.0), (DType::Bf16, 3.38e38)]
    {
        let most = to(d, most);
        let x = dtype(d).uniform(random::key(3), n, -most..most).cast(DType::F64).to_vec::<f64>().unwrap();
        for quarter in 0..4 {
            let least = most * (f64::from(quarter) / 2.0 - 1.0);
            let count = x.iter().filter(|&&x| least <= x && x - least < most / 2.0).count();
            assert!(count.abs_diff(n / 4) < n / 128 + 550, "{d}: {count} of {n} in quarter {quarter}");
        }
    }
}

#[test]
fn ranges_are_kept() {
    let key = random::key(1);
    // As documented: a rounding in each operation.
    let fractions = random::uniform(&key, 1000, 0..1).to_vec::<f32>().unwrap();
    let expected: Vec<f32> = fractions.iter().map(|x| x * (2.5f32 - -1.3f32) + -1.3f32).collect();
    assert_eq!(random::uniform(&key, 1000, -1.3..2.5).to_vec::<f32>().unwrap(), expected);
    for (d, low, high) in [(DType::U8, 0, 256), (DType::I8, -128, 128), (DType::I16, -3, 4), (DType::I32, 5, 6)] {
        let x = dtype(d).randint(&key, 5000, low..high);
        let [least, most] = [x.min(..), x.max(..)].map(|end| end.cast(DType::I64).item::<i64>().unwrap());
        assert_eq!((least, most), (low, high - 1), "{d}");
    }
    // Ranges of all integers, or nearly: half of them below the middle.
    let halves = [
        (dtype(DType::I64).randint(&key, 4000, i64::MIN..i64::MAX).lt(0), "i64"),
        (dtype(DType::U64).randint(&key, 4000, 0..u64::MAX).lt(Array::from(1u64 << 63)), "u64"),
        (dtype(DType::I32).randint(&key, 4000, -(1i64 << 31)..1 << 31).lt(0), "i32"),
        (dtype(DType::U32).randint(&key, 4000, 0..1u64 << 32).lt(Array::from(1u32 << 31)), "u32"),
        (dtype(DType::I16).randint(&key, 4000, -32768..32768).lt(0), "i16"),
    ];
    for (below, name) in halves {
        let below = below.count_nonzero(..).item::<i32>().unwrap();
        assert!((1840..2160).contains(&below), "{name}: {below} of 4000");
    }
    for end in [i64::MIN, -1, 0, i64::MAX - 1] {
        let only = dtype(DType::I64).randint(&key, 9, end..end + 1).to_vec::<i64>().unwrap();
        assert_eq!(only, [end; 9]);
    }
    assert_eq!(dtype(DType::U64).randint(&key, 2, u64::MAX - 1..u64::MAX).to_vec::<u64>().unwrap(), [u64::MAX - 1; 2]);
}

#[test]
fn policies_are_about_types_alone() {
    let key = random::key(3);
    let expected = patterns(&random::uniform(&key, 20, 0.5..2.5));
    for policy in Policy::ALL {
        with_policy(policy, || {
            let x = dtype(DType::F32).uniform(&key, 20, 0.5..2.5);
            assert_eq!(patterns(&x), expected, "{policy}");
            assert_eq!(random::randint(&key, 3, 0..5).error(), None, "{policy}");
            assert_eq!(random::normal(&key, 3).dtype(), policy.defaults().float, "{policy}");
        });
    }
}

#[test]
fn what_is_refused_is_refused_by_name() {
    let key = random::key(0);
    let code = |x: Array, headline: &str| {
        let error = x.error().unwrap_or_else(|| panic!("{headline} is accepted")).clone();
        assert!(error.headline().starts_with(headline), "{error}");
        assert!(error.place().is_some_and(|place| place.to_string().contains("random_numbers.rs")), "{error}");
        assert!(error.help_text().is_some(), "{error}");
        error.code()
    };
    let floats = Array::from([1.0f32]);
    assert_eq!(code(random::normal(&floats, 3), "normal: the key is f32, not u64"), ErrorCode::DType);
    assert_eq!(code(dtype(DType::I32).normal(&key, 3), "normal: i32 is not supported"), ErrorCode::DType);
    assert_eq!(code(dtype(DType::C64).uniform(&key, 3, 0..1), "uniform: c64 is not"), ErrorCode::DType);
    assert_eq!(code(dtype(DType::Bool).randint(&key, 3, 0..2), "randint: bool is not"), ErrorCode::DType);
    assert_eq!(code(dtype(DType::I8).bits(&key, 3), "bits: i8 is not"), ErrorCode::DType);
    assert_eq!(
        code(random::uniform(&key, 3, 1.0..1.0), "uniform: 1.0..1.0 is not a range of f32"),
        ErrorCode::Argument
    );
    for (low, high) in
        [(2.0, 1.0), (0.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0), (f64::NAN, 1.0), (0.0, f64::NAN), (0.0, 1e39)]
    {
        assert_eq!(code(random::uniform(&key, 3, low..high), "uniform: "), ErrorCode::Argument);
    }
    let narrow = dtype(DType::Bf16).uniform(&key, 3, 1000..1001);
    assert!(narrow.error().unwrap().to_string().contains("rounded to bf16 it is 1000.0..1000.0"), "{narrow:?}");
    assert_eq!(code(narrow, "uniform: 1000..1001 is not a range of bf16"), ErrorCode::Argument);
    assert_eq!(code(random::randint(&key, 3, 4..4), "randint: 4..4 is not a range"), ErrorCode::Argument);
    assert_eq!(code(dtype(DType::U8).randint(&key, 3, 0..257), "randint: 0..257"), ErrorCode::Argument);
    assert_eq!(code(random::randint(&key, 3, 0.0..4.0), "randint: 0.0..4.0"), ErrorCode::Argument);
    assert_eq!(code(random::bernoulli(&key, 3, &key), "bernoulli: the probability is u64"), ErrorCode::DType);
    assert_eq!(
        code(random::bernoulli(&key, 3, Array::from([0.1f32, 0.2])), "bernoulli: probabilities of shape [2]"),
        ErrorCode::Shape
    );
    assert_eq!(code(random::fold_in(&key, 0.5), "fold_in: the number is f*"), ErrorCode::DType);
    assert_eq!(code(random::normal(&key, [1 << 40, 1 << 40]), "normal:"), ErrorCode::Size);
    let poisoned = jit(|key: Expr| dtype(DType::I32).normal(key, 3)).call((&key,)).unwrap_err();
    assert!(poisoned.headline().starts_with("normal: i32"), "{poisoned}");
}

#[test]
fn parts_are_drawn_and_shuffled() {
    let (key, x) = (random::key(4), Array::from_rows(&[[1, 2, 3], [4, 5, 6]]));
    let drawn = random::choice(&key, &x, [5]);
    let positions = random::randint(&key, [5], 0..2);
    assert_eq!(patterns(&drawn), patterns(&ndjit::take(&x, &positions, 0)));
    let traced = jit(|key: Expr, x: Expr| random::choice(key, x, [5]));
    assert_eq!(patterns(&traced(&key, &x)), patterns(&drawn));
    let columns = random::shuffle(&key, &x, -1);
    assert_eq!(patterns(&columns.sum(0)), patterns(&ndjit::take(x.sum(0), random::permutation(&key, 3), 0)));
    let traced = jit(|key: Expr, x: Expr| (random::permutation(key, 70_000), random::shuffle(key, x, 1)));
    let (order, shuffled) = traced(&key, &x);
    assert_eq!(patterns(&order), patterns(&random::permutation(&key, 70_000)));
    assert_eq!(patterns(&shuffled), patterns(&columns));
    for refused in [
        random::shuffle(&key, &x, 2),
        random::permutation(&Array::from([0.5f32]), 3),
        random::choice(&key, Array::from(1), 3),
        random::choice(&key, ndjit::zeros([0, 2]), 3),
    ] {
        let error = refused.error().expect("an error");
        let names = ["shuffle:", "permutation:", "choice:"];
        assert!(names.iter().any(|name| error.headline().starts_with(name)) && error.place().is_some(), "{error}");
    }
}

#[test]
fn empty_shapes_have_no_numbers() {
    assert!(random::normal(random::key(0), [0, 3]).to_vec::<f32>().unwrap().is_empty());
    assert_eq!(random::keys(random::key(0), 0).shape().extents(), [0]);
}

/// With a device: lavapipe is enough.
#[cfg(feature = "gpu")]
#[test]
fn a_gpu_has_the_same_bits() {
    use ndjit::{Device, Fallback, with_fallback};

    if let Err(error) = ndjit_runtime::gpu::opened(0) {
        println!("SKIPPED, no device: {error}");
        assert_eq!(error.code(), ErrorCode::Device);
        return;
    }
    let gpu = Device::gpu();
    let draws = |key: Expr| {
        let [a, b] = random::split(key);
        vec![
            random::bits(a, [5, 70]),
            random::uniform(b, 300, -1.0..2.0),
            random::normal(a, 300),
            random::randint(b, 300, 1..7),
            random::bernoulli(a, 300, 0.3),
            random::keys(key, 5),
        ]
    };
    let key = random::key(77);
    let expected: Vec<Vec<u64>> = jit(draws)(&key).iter().map(patterns).collect();
    let there = jit(draws).on(gpu).fallback(Fallback::Emulate).call((&key,)).unwrap();
    let got: Vec<Vec<u64>> = there.iter().map(|x| patterns(&x.on(Device::CPU))).collect();
    assert_eq!(got, expected);
    // Indices are computed on the key's device.
    let lazy = with_fallback(Fallback::Emulate, || random::uniform(key.on(gpu), 100, 0..1));
    assert_eq!((lazy.error(), lazy.device()), (None, gpu));
    assert_eq!(patterns(&lazy.on(Device::CPU)), patterns(&random::uniform(&key, 100, 0..1)));
}

/// Drawn indices exist: they are not computed before the result.
#[test]
fn elements_are_drawn_when_they_are_read() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let drawn = random::choice(&random::key(0), &x, [1 << 24, 1 << 24]);
    assert_eq!((drawn.error(), drawn.shape().extents()), (None, &[1 << 24, 1 << 24][..]));
    let long = ndjit::broadcast_to(&x, [1 << 30, 3]);
    assert_eq!(random::shuffle(&random::key(0), &long, 0).shape().extents(), [1 << 30, 3]);
}
