//! Scatters on several threads: the bits are the interpreter's and a loop's, for any number of threads.

use ndjit::{Array, Expr, jit, zeros};

/// Enough updates to wake threads, which take some of them.
const N: usize = 40_000;

/// Numbers without a pattern.
fn noise(n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(2) + 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state = (state ^ state >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^ state >> 27
    };
    (0..n).map(|_| next()).collect()
}

/// Indices of `rows` rows, of which some have none: before the first, after the last, far away.
fn indices(n: usize, rows: usize) -> Vec<i64> {
    let of = |bits: u64| match bits % 16 {
        0 => rows as i64,
        1 => -(rows as i64) - 1,
        2 => [i64::MAX, i64::MIN, 1 << 32, -(1 << 32)][(bits >> 8) as usize % 4],
        3 => -1,
        _ => (bits >> 8) as i64 % rows as i64,
    };
    noise(n, 3).into_iter().map(of).collect()
}

/// The row of an index, if there is one: negative ones count from the end.
fn row(index: i64, rows: usize) -> Option<usize> {
    let from = if index < 0 { index + rows as i64 } else { index };
    usize::try_from(from).ok().filter(|&row| row < rows)
}

const NAMES: [&str; 6] = ["set", "add", "subtract", "multiply", "min", "max"];

fn put(name: &str, x: Expr, i: Expr, y: Expr) -> Expr {
    match name {
        "set" => x.at(i).set(y),
        "add" => x.at(i).add(y),
        "subtract" => x.at(i).subtract(y),
        "multiply" => x.at(i).multiply(y),
        "min" => x.at(i).min(y),
        _ => x.at(i).max(y),
    }
}

/// Checks the scatter of `updates` into `into` at indices on some numbers of threads.
macro_rules! check {
    ($t:ty, $into:expr, $updates:expr, $of:expr, $bits:expr) => {{
        let (into, updates): (Vec<$t>, Vec<$t>) = ($into, $updates);
        let at = indices(updates.len(), into.len());
        for name in NAMES {
            let mut expected = into.clone();
            for (&at, &update) in at.iter().zip(&updates) {
                if let Some(row) = row(at, into.len()) {
                    expected[row] = $of(name, expected[row], update);
                }
            }
            let bits = |x: Vec<$t>| x.into_iter().map($bits).collect::<Vec<_>>();
            let expected = bits(expected);
            let operands = [Array::from(into.clone()), Array::from(updates.clone())];
            let at = Array::from(at.clone());
            for threads in [1, 2, 3, 7] {
                let f = jit(move |x: Expr, i: Expr, y: Expr| put(name, x, i, y)).threads(threads);
                let found = bits(f(&operands[0], &at, &operands[1]).to_vec::<$t>().unwrap());
                assert!(found == expected, "{name} of {} into {}, {threads} threads", stringify!($t), into.len());
            }
        }
    }};
}

#[test]
fn integers_of_every_dtype_are_those_of_a_loop() {
    macro_rules! integers {
        ($($t:ty)*) => {$(
            let of = |name: &str, a: $t, b: $t| match name {
                "set" => b,
                "add" => a.wrapping_add(b),
                "subtract" => a.wrapping_sub(b),
                "multiply" => a.wrapping_mul(b),
                "min" => a.min(b),
                _ => a.max(b),
            };
            for rows in [1, 7, 1000, 30_000] {
                // Odd factors: even ones make zero of every product.
                let drawn = |n, seed| noise(n, seed).into_iter().map(|bits| (bits | 1) as $t).collect();
                check!($t, drawn(rows, 1), drawn(N, 2), of, |x| x);
            }
        )*};
    }
    integers!(i8 i16 i32 i64 u8 u16 u32 u64);
}

#[test]
fn bools_are_those_of_a_loop() {
    for rows in [1, 300] {
        let x: Vec<bool> = noise(rows, 1).into_iter().map(|bits| bits % 2 == 0).collect();
        let y: Vec<bool> = noise(N, 2).into_iter().map(|bits| bits % 3 == 0).collect();
        let at = indices(N, rows);
        let [into, updates] = [&x, &y].map(|x| Array::from(x.clone()));
        let mut expected = x.clone();
        for (&at, &update) in at.iter().zip(&y) {
            if let Some(row) = row(at, rows) {
                expected[row] = update;
            }
        }
        let at = Array::from(at);
        for threads in [1, 2, 3, 7] {
            let set = jit(|x: Expr, i: Expr, y: Expr| x.at(i).set(y)).threads(threads);
            assert!(set(&into, &at, &updates).to_vec::<bool>().unwrap() == expected, "{rows} rows, {threads} threads");
        }
    }
}

#[test]
fn floats_keep_the_order_of_their_updates() {
    // Sums and products depend on the order; the least of numbers with both zeros, infinities and NaN does not.
    let special = [0.0f64, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let drawn = |n: usize, seed: u64, special: &[f64]| -> Vec<f64> {
        let of = |bits: u64| match special.get(bits as usize % 5000) {
            Some(&special) => special,
            None => (bits >> 40) as f64 * 1.1e-7 + 0.05,
        };
        noise(n, seed).into_iter().map(of).collect()
    };
    let least = |a: f64, b: f64| match () {
        () if a.is_nan() || b.is_nan() => f64::NAN,
        () if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        () => a.min(b),
    };
    let of = |name: &str, a: f64, b: f64| match name {
        "set" => b,
        "add" => a + b,
        "subtract" => a - b,
        "multiply" => a * b,
        "min" => least(a, b),
        _ => -least(-a, -b),
    };
    let bits = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    for rows in [1, 7, 1000, 30_000] {
        check!(f64, drawn(rows, 1, &[]), drawn(N, 2, &[]), of, bits);
        check!(f64, drawn(rows, 1, &special), drawn(N, 2, &special), of, bits);
        let narrow = |x: Vec<f64>| x.into_iter().map(|x| x as f32).collect();
        let of = |name: &str, a: f32, b: f32| of(name, f64::from(a), f64::from(b)) as f32;
        check!(f32, narrow(drawn(rows, 1, &[])), narrow(drawn(N, 2, &special)), of, |x| bits(f64::from(x)));
    }
}

#[test]
fn rows_of_every_length_are_those_of_a_loop() {
    let rows = 11;
    for length in 1..=40 {
        let n = N / length;
        let at = indices(n, rows);
        let numbers: Vec<i32> = noise(n * length, 2).into_iter().map(|bits| bits as i32).collect();
        let floats: Vec<f32> = numbers.iter().map(|&x| x as f32 * 1e-7).collect();
        let (mut of_numbers, mut of_floats) = (vec![1i32; rows * length], vec![0.5f32; rows * length]);
        for (k, (&number, &float)) in numbers.iter().zip(&floats).enumerate() {
            if let Some(row) = row(at[k / length], rows) {
                let place = row * length + k % length;
                of_numbers[place] = of_numbers[place].wrapping_add(number);
                of_floats[place] += float;
            }
        }
        let (at, numbers) = (Array::from(at), Array::from(numbers).reshape([n as isize, length as isize]));
        let floats = Array::from(floats).reshape([n as isize, length as isize]);
        let ones = Array::from(vec![1i32; rows * length]).reshape([rows as isize, length as isize]);
        let halves = Array::from(vec![0.5f32; rows * length]).reshape([rows as isize, length as isize]);
        for threads in [1, 2, 3, 7] {
            let add = jit(|x: Expr, i: Expr, y: Expr| x.at(i).add(y)).threads(threads);
            let found = add(&ones, &at, &numbers).to_vec::<i32>().unwrap();
            assert!(found == of_numbers, "{length} integers, {threads} threads");
            let found = add(&halves, &at, &floats).to_vec::<f32>().unwrap();
            assert!(found == of_floats, "{length} floats, {threads} threads");
        }
    }
}

#[test]
fn threads_have_the_bits_of_the_interpreter() {
    // A histogram of computed bins, in which two loops are not one: the columns are read backwards.
    let counts = |x: Expr| {
        let bins = (x.slice((.., ndjit::step(-1))) * 30.0).cast(ndjit::DType::I32);
        Expr::from(zeros(25).cast(ndjit::DType::I32)).at(bins).add(1)
    };
    let x: Vec<f64> = noise(N, 5).into_iter().map(|bits| (bits >> 11) as f64 / (1u64 << 53) as f64).collect();
    for shape in [[4isize, N as isize / 4], [N as isize / 4, 4], [N as isize, 1]] {
        let x = Array::from(x.clone()).reshape(shape);
        let expected = jit(counts).interpreted(true)(&x).to_vec::<i32>().unwrap();
        for threads in [1, 2, 3, 7] {
            assert_eq!(jit(counts).threads(threads)(&x).to_vec::<i32>().unwrap(), expected, "{threads} threads");
        }
    }
}

/// The result does not take the memory of an array that its updates are gathered from.
#[test]
fn updates_are_gathered_from_the_array_before_all_of_them() {
    let rows = 10_000i64;
    let numbers: Vec<i32> = (0..rows as i32).map(|n| n * n % 1009).collect();
    let (to, from): (Vec<i64>, Vec<i64>) = (0..N as i64).map(|n| (n * 7919 % rows, n * 104_729 % rows)).unzip();
    let mut expected: Vec<i32> = numbers.iter().map(|x| x * 2).collect();
    for (&to, &from) in to.iter().zip(&from) {
        expected[to as usize] += numbers[from as usize] * 2;
    }
    let (x, to, from) = (Array::from(numbers), Array::from(to), Array::from(from));
    let f = |x: Expr, to: Expr, from: Expr| {
        let twice = x * 2;
        twice.at(to).add(ndjit::take(twice, from, 0))
    };
    for threads in [1, 2, 3, 7] {
        assert!(jit(f).threads(threads)(&x, &to, &from).to_vec::<i32>().unwrap() == expected, "{threads} threads");
    }
}

#[test]
fn nothing_is_put_without_updates_or_rows() {
    for threads in [1, 2, 3, 7] {
        let add = jit(|x: Expr, i: Expr| x.at(i).add(1)).threads(threads);
        let none = Array::from(Vec::<i64>::new());
        assert_eq!(add(&Array::from([1, 2]), &none).to_vec::<i32>().unwrap(), [1, 2]);
        let many = Array::from(vec![0i64; N]);
        assert_eq!(add(&Array::from(Vec::<i32>::new()), &many).to_vec::<i32>().unwrap(), [0i32; 0]);
        assert_eq!(add(&Array::from([5]), &many).to_vec::<i32>().unwrap(), [N as i32 + 5]);
    }
}
