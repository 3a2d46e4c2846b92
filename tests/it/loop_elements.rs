//! Loops whose steps read and store a few elements of arrays at indices: one kernel runs all steps.

use ndjit::{
    Array, Complex, DType, Expr, Stage, cond, cumulative_sum, floor_divide, fori_loop, jit, maximum, minimum, scan,
    stack, sum, take, where_, while_loop, zeros,
};

/// A step from an array and the index of the step to the next array.
type Step = fn(Expr, Expr) -> Expr;

const STEPS: [(&str, Step); 31] = [
    ("recurrence", |x, i| x.at(i).set(take(x, i - 1, 0) + take(x, i - 2, 0))),
    ("in place", |x, i| x.at(i).add(take(x, i - 1, 0))),
    ("product", |x, i| x.at(i).multiply(2)),
    ("least", |x, i| x.at(i).min(take(x, i + 1, 0))),
    ("greatest", |x, i| x.at(i).max(take(x, -i, 0))),
    ("swap", |x, i| {
        let (a, b) = (take(x, i, 0), take(x, i + 1, 0));
        x.at(i).set(minimum(a, b)).at(i + 1).set(maximum(a, b))
    }),
    // Indices from before the first to after the last.
    ("beyond", |x, i| x.at(i * 3 - 5).set(take(x, i * 2 - 4, 0) + 1)),
    ("wrapped", |x, i| x.at(-i).set(take(x, -i - 1, 0) + 1)),
    // Reads of what the step has stored, and stores in the same place.
    ("read after a store", |x, i| {
        let x = x.at(i).set(7);
        x.at(i + 1).set(take(x, i, 0) + take(x, i + 2, 0))
    }),
    ("read before the first", |x, i| {
        let x = x.at(0).set(i);
        x.at(i).set(take(x, minimum(i, -9), 0) + 1)
    }),
    ("stored twice", |x, i| x.at(i).set(3).at(i).add(4).at(i - 1).add(1).at(i).multiply(2)),
    ("stored twice, then read", |x, i| {
        let before = take(x, i - 1, 0);
        x.at(i).set(before + 1).at(i).set(before * 2 + 3)
    }),
    ("many reads after a store", |x, i| {
        let x = x.at(i).set(2);
        let around = [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7].map(|by| take(x, i + by, 0));
        x.at(i + 1).set(around.into_iter().reduce(|a, b| a + b).unwrap_or(x.slice(0)))
    }),
    ("ends", |x, i| x.at(i).set(x.slice(0) + x.slice(-1)).at(0).add(1).at(-1).set(take(x, 0, 0))),
    ("chosen", |x, i| where_((i % 2).equal(0), x.at(i).set(5), x)),
    ("chosen otherwise", |x, i| where_(take(x, i, 0).gt(3), x.at(i).set(1), x.at(i - 1).add(2).at(i + 1).set(4))),
    ("read of a choice", |x, i| {
        let y = where_((i % 3).equal(0), x.at(i).set(5), x.at(1).set(6));
        y.at(i + 1).set(take(y, i, 0) * 2 + take(y, 1, 0))
    }),
    ("read of what is left", |x, i| x.at(i).set(take(x.at(i - 1).set(9), i - 1, 0) + take(x, i - 1, 0))),
    ("computed index", |x, i| x.at(take(x, i, 0).cast(DType::I64) % 5).add(1)),
    ("unchanged", |x, _| x),
    ("matrix", |x, i| {
        let y = x.reshape([2, -1]);
        y.at((0, i)).set(y.at((1, i - 1)).get() + y.at((i - 3, 2)).get()).reshape([-1])
    }),
    ("branch", |x, i| {
        cond((i % 2).equal(0), |x: Expr| x.at(i).set(take(x, i - 1, 0) + 1), |x: Expr| x.at(i + 1).add(2), x)
    }),
    ("branch of scalars", |x, i| {
        let before = take(x, i - 1, 0);
        let next = cond((i % 3).equal(1), |y: Expr| y * 2, |y: Expr| y + take(x, 1, 0), before);
        x.at(i).set(next)
    }),
    ("branch in a branch", |x, i| {
        let inner =
            move |x: Expr| cond((i % 4).equal(2), |x: Expr| x.at(i).set(5), |x: Expr| x.at(0).set(take(x, 1, 0)), x);
        let x = cond(i.gt(0), inner, |x: Expr| x.at(-1).add(1), x);
        x.at(i).add(take(x, 0, 0))
    }),
    ("branch without a store", |x, i| cond((i % 5).ne(0), |x: Expr| x.at(i).add(1), |x: Expr| x, x)),
    ("backward", |x, i| x.at(32 - i).set(take(x, 33 - i, 0) + take(x, 32 - i, 0))),
    ("at the same place", |x, i| x.at(2).add(take(x, i, 0)).at(i).set(take(x, 2, 0) + 1)),
    ("in two directions", |x, i| x.at(i).set(take(x, 33 - i, 0) + 1).at(34 - i).add(take(x, i - 1, 0))),
    ("every third", |x, i| x.at(i * 3 % 40).add(1).at(maximum(i, 5)).set(take(x, minimum(i, 9), 0))),
    ("chosen from the step before", |x, i| where_((i % 3).ne(0), x.at(i).set(take(x, i - 1, 0) + 1), x)),
    ("part of an array", |x, i| x.at(i).set(take(x.slice(2..), i - 2, 0) + 1)),
];

/// Steps that no kernel of all steps has.
const APART: [&str; 1] = ["part of an array"];

fn vector(n: usize, dtype: DType) -> Array {
    Array::from((0..n).map(|i| (i * 7919 % 13) as f64).collect::<Vec<f64>>()).cast(dtype)
}

/// Shape, dtype, and the bits of the elements; those of a NaN are not promised.
fn bits(x: &Array) -> (String, Vec<[u64; 2]>) {
    let of = |part: f64| if part.is_nan() { f64::NAN.to_bits() } else { part.to_bits() };
    let elements = x.cast(DType::C128).to_vec::<Complex<f64>>().unwrap();
    (format!("{x:?}"), elements.into_iter().map(|z| [of(z.re), of(z.im)]).collect())
}

fn is_compiled(listing: &str) -> bool {
    listing.contains("its steps are one loop of a nest")
}

#[test]
fn elements_are_those_of_the_interpreter() {
    for (name, step) in STEPS {
        for dtype in [DType::F64, DType::I32, DType::U8, DType::F16, DType::Bool, DType::C64] {
            let needs_order =
                ["product", "stored twice", "least", "greatest", "swap", "chosen otherwise", "computed index"]
                    .contains(&name);
            if dtype == DType::C64 && needs_order || dtype == DType::Bool && name != "recurrence" {
                continue;
            }
            // More ops than a kernel has: each of `f16` is a score of primitives.
            if dtype == DType::F16 && name == "many reads after a store" {
                continue;
            }
            // All rows are in bounds in all steps, in none, up to the last step.
            for (n, start, end) in [(6, -3, 13), (8, -3, 13), (40, -3, 13), (40, 3, 30), (32, 3, 33)] {
                let x = vector(n, dtype);
                let f = move |x: Expr| {
                    let looped = fori_loop(start, end, x, move |i, x: Expr| step(x, i).cast(x.dtype()));
                    (looped, x + 1)
                };
                let own = jit(f).interpreted(true);
                let expected = own.call((&x,));
                let compiled = jit(f).threads(1);
                let given = compiled.call((&x,));
                let (expected, given) = match (expected, given) {
                    (Ok(expected), Ok(given)) => (expected, given),
                    (expected, given) => panic!("{name}, {dtype}[{n}]\n{expected:?}\n{given:?}"),
                };
                assert_eq!(bits(&given.0), bits(&expected.0), "{name}, {dtype}[{n}], {start}..{end}");
                assert_eq!(bits(&given.1), bits(&expected.1), "{name}, {dtype}[{n}]: its operand");
                let kernel = is_compiled(&compiled.explain(Stage::Loops));
                assert_eq!(kernel, !APART.contains(&name), "{name}, {dtype}[{n}]\n{}", compiled.explain(Stage::Loops));
            }
        }
    }
}

#[test]
fn conditions_end_loops_before_the_last_store() {
    let until = |x: Expr| {
        let go_on = |(i, x): (Expr, Expr)| i.lt(20) & take(x, i, 0).lt(5);
        while_loop((Expr::from(0), x), go_on, |(i, x): (Expr, Expr)| (i + 1, x.at(i + 1).add(take(x, i, 0)))).1
    };
    let sieve = |x: Expr| {
        fori_loop(2, 7, x, |i, x: Expr| {
            let marked = |(j, x): (Expr, Expr)| (j + i, x.at(j).set(0));
            while_loop((i * i, x), |(j, _): (Expr, Expr)| j.lt(40), marked).1
        })
    };
    // The array is the first of the state.
    let table = |x: Expr| {
        let go_on = |(x, i): (Expr, Expr)| i.lt(20) & take(x, i, 0).lt(5);
        while_loop((x, Expr::from(0)), go_on, |(x, i): (Expr, Expr)| (x.at(i + 1).add(take(x, i, 0)), i + 1)).0
    };
    for f in [until as fn(Expr) -> Expr, table, sieve] {
        for dtype in [DType::I32, DType::F32] {
            let x = where_(vector(40, dtype).gt(3), Array::from(1).cast(dtype), Array::from(0).cast(dtype));
            let compiled = jit(f).threads(1);
            let (given, expected) = (compiled.call((&x,)).unwrap(), jit(f).interpreted(true).call((&x,)).unwrap());
            assert_eq!(bits(&given), bits(&expected));
            assert!(is_compiled(&compiled.explain(Stage::Loops)), "{}", compiled.explain(Stage::Loops));
        }
    }
}

/// Counters that a condition compares, upward and downward, with steps of several, beyond the bounds of the array and of their dtype.
#[test]
fn counters_end_loops_at_known_steps() {
    type Next = fn(Expr) -> Expr;
    type Condition = fn(Expr) -> Expr;
    let loops: [(i64, Next, Condition); 12] = [
        (3, |j| j + 1, |j| j.lt(30)),
        (3, |j| j + 4, |j| j.lt(30)),
        (3, |j| j + 4, |j| j.le(31)),
        (3, |j| 4 + j, |j| j.lt(60)),
        (35, |j| j - 1, |j| j.gt(2)),
        (35, |j| j - 3, |j| j.ge(2)),
        (-35, |j| j + 3, |j| j.lt(-4)),
        (30, |j| j - 3, |j| j.gt(-9)),
        // Until the counter wraps.
        (90, |j| j + 3, |j| j.gt(3)),
        (3, |j| j + 0, |j| j.lt(3)),
        (40, |j| j + 1, |j| j.lt(30)),
        (5, |j| j + 2, |j| j.ne(25)),
    ];
    for (number, (start, next, condition)) in loops.into_iter().enumerate() {
        for counter in [DType::I8, DType::I32, DType::I64] {
            // Until it wraps, others take too long.
            if number == 8 && counter != DType::I8 {
                continue;
            }
            let f = move |x: Expr| {
                let step = move |(j, x): (Expr, Expr)| (next(j), x.at(j).add(take(x, j - 1, 0)).at(j + 1).min(9));
                let start = Expr::from(Array::from(start).cast(counter));
                while_loop((start, x), move |(j, _): (Expr, Expr)| condition(j), step)
            };
            let x = vector(40, DType::I32);
            let compiled = jit(f).threads(1);
            let (given, expected) = (compiled.call((&x,)).unwrap(), jit(f).interpreted(true).call((&x,)).unwrap());
            assert_eq!(bits(&given.0), bits(&expected.0), "the counter of loop {number} of {counter}");
            assert_eq!(bits(&given.1), bits(&expected.1), "loop {number} of {counter}");
            assert!(is_compiled(&compiled.explain(Stage::Loops)), "{}", compiled.explain(Stage::Loops));
        }
    }
}

#[test]
fn branches_of_scalars_are_chosen_in_registers() {
    let collatz = |n: Expr| {
        let step = |(n, count): (Expr, Expr)| {
            (cond((n % 2).equal(0), |n: Expr| floor_divide(n, 2), |n: Expr| n * 3 + 1, n).cast(DType::I64), count + 1)
        };
        while_loop((n, Expr::from(0)), |(n, _): (Expr, Expr)| n.gt(1), step).1
    };
    let clipped = |x: Expr| {
        let step = |sum: Expr, e: Expr| {
            let sum = cond(e.gt(4), |sum: Expr| sum + take(x, 2, 0), |sum: Expr| sum - e, sum);
            (sum, cond(sum.lt(0), |s: Expr| -s, |s: Expr| s.sqrt(), sum))
        };
        scan(step, x.slice(0), x).1
    };
    let whole = |x: Expr| {
        // Arrays: one side alone is computed.
        fori_loop(0, 4, x, |i, x: Expr| cond(i.gt(1), |x: Expr| x * 2, |x: Expr| x + 1, x))
    };
    let n = Array::from(27i64);
    let x = vector(23, DType::F64);
    for (f, x, kernel) in [(collatz as fn(Expr) -> Expr, &n, true), (clipped, &x, true), (whole, &x, false)] {
        let compiled = jit(f).threads(1);
        let (given, expected) = (compiled.call((x,)).unwrap(), jit(f).interpreted(true).call((x,)).unwrap());
        assert_eq!(bits(&given), bits(&expected));
        assert_eq!(is_compiled(&compiled.explain(Stage::Loops)), kernel, "{}", compiled.explain(Stage::Loops));
    }
}

#[test]
fn several_arrays_and_scalars_are_state() {
    // A table of sums, a histogram, the largest element so far, and a stacked result; the second array is read only.
    let f = |x: Expr| {
        let step = |(table, counts, known, most): (Expr, Expr, Expr, Expr), e: Expr| {
            let bucket = e.cast(DType::I64) % 4;
            let counts = counts.at(bucket).add(1);
            let most = maximum(most, e + take(known, bucket, 0));
            let table = table.at(bucket).set(most).at(take(counts, bucket, 0)).add(e);
            ((table, counts, known, most), most + take(counts, 0, 0))
        };
        let zero = Expr::from(zeros([6]));
        let start = (zero, Expr::from(zeros([4]).cast(DType::I32)), x.slice(..4), x.slice(0));
        let ((table, counts, known, most), stacked) = scan(step, start, x);
        (table, counts, known, most, stacked)
    };
    let x = vector(37, DType::F64);
    let compiled = jit(f).threads(1);
    let (given, expected) = (compiled.call((&x,)).unwrap(), jit(f).interpreted(true).call((&x,)).unwrap());
    let all = |(a, b, c, d, e): &(Array, Array, Array, Array, Array)| [a, b, c, d, e].map(bits);
    assert_eq!(all(&given), all(&expected));
    assert!(is_compiled(&compiled.explain(Stage::Loops)), "{}", compiled.explain(Stage::Loops));
}

#[test]
fn arrays_that_change_places_or_are_read_whole_run_step_by_step() {
    let swapped = |x: Expr| {
        let step = |i: Expr, (a, b): (Expr, Expr)| (b.at(i).set(take(a, i, 0)), a);
        let (a, b) = fori_loop(0, 5, (x, x + 1), step);
        stack([a, b], 0)
    };
    let summed = |x: Expr| fori_loop(0, 5, x, |i, x: Expr| x.at(i).set(sum(x, ..)));
    let scanned = |x: Expr| fori_loop(0, 5, x, |i, x: Expr| x.at(i).set(take(cumulative_sum(x, 0), i, 0)));
    for f in [swapped as fn(Expr) -> Expr, summed, scanned] {
        let x = vector(9, DType::F64);
        let compiled = jit(f).threads(1);
        let (given, expected) = (compiled.call((&x,)).unwrap(), jit(f).interpreted(true).call((&x,)).unwrap());
        assert_eq!(bits(&given), bits(&expected));
        assert!(!is_compiled(&compiled.explain(Stage::Loops)));
    }
}

#[test]
fn an_inner_loop_changes_the_state_of_the_outer_in_place() {
    // A copy of the table for each row would take longer than the row.
    let f = |a: Expr, b: Expr| {
        let table = Expr::from(zeros([61, 61]).cast(DType::I32));
        fori_loop(1, 61, table, move |i, t: Expr| {
            fori_loop(1, 61, t, move |j, t: Expr| {
                let same = take(a, i - 1, 0).equal(take(b, j - 1, 0));
                let longer = maximum(t.at((i - 1, j)).get(), t.at((i, j - 1)).get());
                t.at((i, j)).set(where_(same, t.at((i - 1, j - 1)).get() + 1, longer))
            })
        })
    };
    let (a, b) = (vector(60, DType::I32) % 4, vector(60, DType::I32) % 3);
    let compiled = jit(f).threads(1);
    let given = compiled.call((&a, &b)).unwrap();
    assert_eq!(bits(&given), bits(&jit(f).interpreted(true).call((&a, &b)).unwrap()));
    assert!(is_compiled(&compiled.explain(Stage::Loops)));
    let plan = compiled.memory_plan().unwrap();
    let body = &plan.control_flow[0].bodies[0].plan;
    let table = body.arrays.last().unwrap();
    assert_eq!(table.donors, [0], "{plan}");
    assert!(body.scratch_bytes < table.bytes, "{plan}");
}
