//! Lazy arrays read while programs on them grow: runs of operations, kept elements and their lifetime, compilations, and bits equal to
//! those of immediate evaluation.

use ndjit::debug::with_jit_disabled;
use ndjit::{
    Array, DType, ErrorCode, Expr, Stats, abs, arange, assert_in_place, broadcast_to, cos, f16, jit, keepdims, max,
    mean, min, sin, sqrt, stats, sum, where_,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counters belong to the process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counters of some code: operations run, repeated operations, compiled kernels.
fn counted<R>(body: impl FnOnce() -> R) -> (R, Stats) {
    let before = stats();
    let result = body();
    let mut after = stats();
    after.operations -= before.operations;
    after.operations_again -= before.operations_again;
    after.kernels_compiled -= before.kernels_compiled;
    after.plans -= before.plans;
    (result, after)
}

fn read(x: &Array) -> f32 {
    x.item::<f32>().unwrap()
}

/// A loop with reads: the name, and one step.
type Step = Box<dyn FnMut(usize)>;

fn loops() -> Vec<(&'static str, Step)> {
    let x = || Array::from([0.5f32, 1.5, -0.25, 3.0]);
    let mut loops: Vec<(&'static str, Step)> = Vec::new();
    let mut a = x();
    loops.push((
        "read at each step",
        Box::new(move |_| {
            a = sin(&a) + 1;
            read(&sum(&a, ..));
        }),
    ));
    let mut a = x();
    loops.push((
        "one cheap operation",
        Box::new(move |_| {
            a = &a + 1;
            read(&sum(&a, ..));
        }),
    ));
    let mut a = x();
    loops.push((
        "read at each third step",
        Box::new(move |n| {
            a = sin(&a) * 2;
            if n % 3 == 2 {
                read(&sum(&a, ..));
            }
        }),
    ));
    let mut a = x();
    loops.push((
        "many readers",
        Box::new(move |_| {
            a = sin(&a) * cos(&a);
            read(&sum(&a, ..));
            read(&max(&a, ..));
            read(&min(&a, ..));
        }),
    ));
    let (mut a, mut b) = (x(), x());
    loops.push((
        "two recurrences",
        Box::new(move |_| {
            let next = sin(&a) + &b;
            b = cos(&b) * &a;
            a = next;
            read(&sum(&a, ..));
            read(&sum(&b, ..));
        }),
    ));
    let mut a = Array::from_rows(&[[0.5f32, 1.0], [2.0, -1.0]]);
    loops.push((
        "views, gathers, selections and scans",
        Box::new(move |_| {
            let turned = a.mt().flip(0);
            let taken = turned.take(Array::from([1i32, 0]), 0);
            a = where_(taken.gt(0), sqrt(&taken), taken.cumulative_sum(0)) / 2;
            read(&a.slice(0).sum(..));
        }),
    ));
    let mut a = x();
    loops.push((
        "a step that reduces",
        Box::new(move |_| {
            a = &a - mean(&a, keepdims(..));
            a = &a / 3;
            read(&max(&a, ..));
        }),
    ));
    let (mut old, mut a) = (Vec::new(), x());
    loops.push((
        "old arrays after new ones",
        Box::new(move |n| {
            a = sin(&a) + 1;
            old.push(a.clone());
            read(&sum(&a, ..));
            read(&sum(&old[n / 2], ..));
        }),
    ));
    let (mut a, mut held) = (x(), Vec::new());
    loops.push((
        "arrays that wait and are not read",
        Box::new(move |_| {
            a = sin(&a) + 1;
            held.push(&a * 2);
            read(&sum(&a, ..));
        }),
    ));
    loops
}

#[test]
fn steps_take_the_same_work_however_many_there_were() {
    let _alone = alone();
    for (name, mut step) in loops() {
        let (_, start) = counted(|| (0..30).for_each(&mut step));
        let (_, later) = counted(|| (30..240).for_each(&mut step));
        let [new, later_new] = [&start, &later].map(|done| done.operations - done.operations_again);
        println!(
            "{name}: {later_new} operations in 210 steps, {} again; {} kernels",
            later.operations_again, start.kernels_compiled
        );
        // Views of computed arrays are immediate: in the first steps of more.
        assert!(later_new * 30 * 10 <= new * 210 * 11, "{name}: {new} operations in 30 steps");
        // Once more, and twice for cheap operations.
        assert!(later.operations_again <= 2 * later_new, "{name}: {} of {later_new} again", later.operations_again);
        assert!(later.plans <= 2, "{name}: {} plans of steps after the thirtieth", later.plans);
        assert!(
            start.plans <= 12 && start.kernels_compiled <= 12,
            "{name}: {} plans, {} kernels",
            start.plans,
            start.kernels_compiled
        );
    }
}

/// Every array of a chain is alive, and they are read from the last to the first.
#[test]
fn a_chain_is_read_backwards() {
    let _alone = alone();
    let mut chain = vec![Array::from([0.5f32; 8])];
    for n in 0..400 {
        chain.push(sin(&chain[n]) + 0.25);
    }
    let (sums, done) = counted(|| chain.iter().rev().map(|x| read(&sum(x, ..))).collect::<Vec<f32>>());
    println!("{} operations, {} again", done.operations, done.operations_again);
    assert_eq!(sums.len(), 401);
    // 800 of the chain and 401 sums: twice those of the chain, and for each sum the cheap operations.
    assert!(done.operations <= 2 * 800 + 3 * 401, "{}", done.operations);
}

/// An array read once is not stored, a cheap one never.
#[test]
fn what_is_cheap_or_read_once_is_not_kept() {
    let _alone = alone();
    let x = arange(1000).cast(DType::F32);
    x.eval().unwrap();
    let before = stats().kept_bytes;
    let y = &x * 2 + 1;
    for _ in 0..5 {
        read(&mean(&y, ..));
        read(&y.std(..));
    }
    assert_eq!(stats().kept_bytes, before, "two operations are computed where they are used");
    let z = sin(&x) * cos(&x);
    read(&mean(&z, ..));
    assert_eq!(stats().kept_bytes, before, "nothing was computed twice");
    read(&max(&z, ..));
    assert_eq!(stats().kept_bytes, before + 4000);
    let (_, done) = counted(|| read(&min(&z, ..)));
    assert_eq!((done.operations, done.operations_again), (1, 0));
    let view = z.slice(1..);
    drop(z);
    assert_eq!(view.len(), 999);
    drop(view);
    assert_eq!(stats().kept_bytes, before, "nobody can reach it");
}

/// The inputs of a kept array are dropped with their last owner.
#[test]
fn inputs_of_what_is_kept_are_let_go() {
    let _alone = alone();
    let mut a = Array::from(vec![0.5f32; 1000]);
    let before = stats().kept_bytes;
    let mut most = 0;
    for _ in 0..300 {
        a = sin(&a) + cos(&a);
        read(&sum(&a, ..));
        most = most.max(stats().kept_bytes - before);
    }
    assert!(most <= 2 * 4000, "{most} bytes are kept of one array of 4000");
    drop(a);
    assert_eq!(stats().kept_bytes, before);
}

/// An operation whose result exceeds any machine's memory.
fn ask_for_too_much() {
    let error = (broadcast_to(Array::from([0.5f32]), [1 << 55]) + 1).eval().map(|_| ()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Allocation);
}

/// `x`, an array computed from it with kept elements, and the bytes of others kept before.
fn kept() -> (Array, Array, u64) {
    let before = stats().kept_bytes;
    let x = Array::from((0..1000).map(|n| n as f32 / 8.0).collect::<Vec<f32>>());
    let y = sin(&x) * cos(&x);
    read(&sum(&y, ..));
    read(&max(&y, ..));
    assert_eq!(stats().kept_bytes, before + 4000);
    (x, y, before)
}

#[test]
fn where_memory_is_refused_what_was_kept_is_given_back_and_computed_again() {
    let _alone = alone();
    let (x, y, before) = kept();
    let least = read(&min(&y, ..));
    ask_for_too_much();
    assert_eq!(stats().kept_bytes, before);
    let (again, done) = counted(|| read(&min(&y, ..)));
    assert_eq!((again.to_bits(), done.operations, done.operations_again), (least.to_bits(), 4, 3));
    assert_eq!(stats().kept_bytes, before + 4000, "and kept again");
    let expected = with_jit_disabled(|| (sin(&x) * cos(&x)).to_vec::<f32>().unwrap());
    ask_for_too_much();
    assert_eq!(y.to_vec::<f32>().unwrap(), expected);
}

#[test]
fn what_cannot_be_computed_again_or_was_read_stays() {
    let _alone = alone();
    let (x, y, before) = kept();
    drop(x);
    ask_for_too_much();
    assert_eq!(stats().kept_bytes, before + 4000, "nobody has `x`, so it is not held either");
    let (_, done) = counted(|| read(&min(&y, ..)));
    assert_eq!(done.operations, 1);
    y.eval().unwrap();
    assert_eq!(stats().kept_bytes, before, "what was read is the array's");
    ask_for_too_much();
    let (_, done) = counted(|| read(&min(&y, ..)));
    assert_eq!(done.operations, 1);
}

/// Freed elements are recomputed from those that stay: every second array of a chain.
#[test]
fn of_a_chain_each_second_array_is_given_back() {
    let _alone = alone();
    let before = stats().kept_bytes;
    let mut chain = vec![Array::from([0.5f32; 100])];
    for n in 0..20 {
        let next = sin(&chain[n]) * cos(&chain[n]);
        read(&sum(&next, ..));
        read(&max(&next, ..));
        chain.push(next);
    }
    assert_eq!(stats().kept_bytes, before + 20 * 400);
    for _ in 0..3 {
        ask_for_too_much();
        assert_eq!(stats().kept_bytes, before + 10 * 400);
    }
    let (_, done) = counted(|| chain[1..].iter().for_each(|x| _ = read(&sum(x, ..))));
    assert_eq!(done.operations, 10 + 10 * 4);
}

#[test]
fn what_is_kept_is_given_away_viewed_and_captured() {
    let _alone = alone();
    let y_values = kept().1.to_vec::<f32>().unwrap();
    let thrice = jit(|x: Expr| x * 3);
    let expected: Vec<f32> = y_values.iter().map(|y| y * 3.0).collect();

    let (x, y, before) = kept();
    assert_eq!(assert_in_place!(thrice, (y.donate(),)).to_vec::<f32>().unwrap(), expected);
    assert_eq!(stats().kept_bytes, before);
    drop(x);

    let (x, y, before) = kept();
    let (part, left) = (y.slice(10..), y.clone());
    ask_for_too_much();
    assert_eq!(stats().kept_bytes, before);
    assert_eq!(part.to_vec::<f32>().unwrap(), y_values[10..]);
    assert_eq!(thrice.call((left.donate(),)).unwrap().to_vec::<f32>().unwrap(), expected);
    assert_eq!(y.to_vec::<f32>().unwrap(), y_values);
    drop(x);

    let (_x, y, before) = kept();
    let (captured, least) = (y.clone(), y_values.iter().copied().fold(f32::MAX, f32::min));
    let within = jit(move |x: Expr| {
        assert_eq!(read(&min(&captured, ..)), least, "is read while a function is traced");
        x * &captured
    });
    let given = Array::from(vec![3f32; 1000]);
    assert_eq!(within(&given).to_vec::<f32>().unwrap(), expected);
    ask_for_too_much();
    assert_eq!(within(&given).to_vec::<f32>().unwrap(), expected);
    assert_eq!(stats().kept_bytes, before, "the function has the elements");
}

#[test]
fn threads_read_what_is_kept_given_back_and_dropped() {
    let _alone = alone();
    let before = stats().kept_bytes;
    let start = || Array::from((0..256).map(|n| n as f32 / 64.0).collect::<Vec<f32>>());
    let grown = |x: Array| {
        (0..24).scan(x, |a, _| {
            *a = sin(&*a) * 2 + cos(&*a);
            Some(a.clone())
        })
    };
    let expected: Vec<f32> = with_jit_disabled(|| grown(start()).map(|a| read(&sum(&a, ..))).collect());
    for _ in 0..4 {
        let shared: Vec<Array> = grown(start()).collect();
        std::thread::scope(|scope| {
            for thread in 0..4usize {
                let (mut mine, expected) = (shared.clone(), &expected);
                scope.spawn(move || {
                    for n in (0..24).map(|n| if thread % 2 == 0 { n } else { 23 - n }) {
                        assert_eq!(read(&sum(&mine[n], ..)).to_bits(), expected[n].to_bits());
                        read(&max(&mine[n], ..));
                        mine[n] = Array::from([0.0f32]);
                        if n % 8 == thread {
                            ask_for_too_much();
                        }
                    }
                });
            }
            // Dropped while others compute with them.
            drop(shared);
        });
        assert_eq!(stats().kept_bytes, before);
    }
}

#[test]
fn threads_read_what_they_share() {
    let _alone = alone();
    let x = Array::from([0.5f32, -2.0, 7.0]);
    let shared: Vec<Array> = (0..40)
        .scan(x, |a, _| {
            *a = sin(&*a) + 1;
            Some(a.clone())
        })
        .collect();
    let expected: Vec<f32> = with_jit_disabled(|| {
        let x = Array::from([0.5f32, -2.0, 7.0]);
        let own = (0..40).scan(x, |a, _| {
            *a = (sin(&*a) + 1).eval().unwrap().clone();
            Some(a.clone())
        });
        own.map(|a| read(&sum(&a, ..))).collect()
    });
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (mine, expected) = (shared.clone(), &expected);
            scope.spawn(move || {
                let mut mine: Vec<Option<Array>> = mine.into_iter().map(Some).collect();
                for n in 0..40 {
                    let at = if thread % 2 == 0 { n } else { 39 - n };
                    let x = mine[at].take().unwrap();
                    assert_eq!(read(&sum(&x, ..)).to_bits(), expected[at].to_bits());
                    assert_eq!(read(&max(&x, ..)), x.to_vec::<f32>().unwrap().into_iter().fold(f32::MIN, f32::max));
                }
            });
        }
        drop(shared.iter().map(|x| x + 1).collect::<Vec<Array>>());
    });
}

#[test]
fn errors_are_not_kept_and_checks_look_at_what_is_read() {
    let _alone = alone();
    let x = Array::from([4.0f32, -1.0, 9.0]);
    let root = sqrt(&x) * sin(&x);
    let safe = where_(root.isnan(), 0, &root) + (cos(&root) - cos(&root));
    // A NaN in an intermediate value is not an error, kept or not.
    let kept = stats().kept_bytes;
    let replaced = |n: i32| where_(root.isnan(), n, &root);
    for n in 0..3 {
        let read = ndjit::debug::with_nan_check(|| sum(replaced(n), ..).item::<f32>());
        assert!(read.is_ok_and(|sum| sum.is_finite()));
    }
    assert!(stats().kept_bytes > kept, "`root` is kept");
    for _ in 0..2 {
        let error = ndjit::debug::with_nan_check(|| root.to_vec::<f32>().unwrap_err());
        assert_eq!(error.code(), ErrorCode::Nan);
    }
    assert!(root.to_vec::<f32>().unwrap()[1].is_nan());
    for _ in 0..3 {
        let error = ndjit::debug::with_nan_check(|| (&safe + 1).eval().map(|_| ()).unwrap_err());
        assert_eq!(error.code(), ErrorCode::Nan);
        assert!(safe.error().is_none());
    }
    assert!((&safe + 1).to_vec::<f32>().unwrap()[1].is_nan());
}

/// If memory is refused, nothing is kept, and reads are computed. With a device: lavapipe is enough.
#[cfg(feature = "gpu")]
#[test]
fn memory_that_is_refused_keeps_nothing() {
    use ndjit::gpu::{GpuOptions, with_options};
    use ndjit::{Device, Fallback, with_fallback};

    let _alone = alone();
    let options = GpuOptions { budget: Some(3 << 20), ..GpuOptions::default() };
    let small = match with_options(options) {
        Ok(device) => device,
        Err(error) => {
            println!("SKIPPED, no device: {error}");
            return;
        }
    };
    let kept = stats().kept_bytes;
    let (sums, expected) = with_fallback(Fallback::Emulate, || {
        let read = |device: Device| {
            let x = Array::from(vec![0.5f32; 1 << 18]).on(device);
            let y = sin(&x) * cos(&x);
            let filler = Array::from(vec![0u8; 3 << 19]).on(device);
            let sums = [sum(&y, ..), max(&y, ..), min(&y, ..)].map(|x| read(&x));
            (sums, filler.len(), stats().kept_bytes)
        };
        (read(small), read(Device::CPU))
    });
    assert_eq!(sums.0, expected.0);
    println!("{} {}", sums.2 - kept, expected.2 - kept);
    assert_eq!((sums.2, expected.2), (kept, kept + (1 << 20)));
}

/// An array, and the same computed by the interpreter, operation by operation.
#[derive(Clone)]
struct Pair {
    lazy: Array,
    eager: Array,
}

impl Pair {
    fn new(x: Array) -> Pair {
        Pair { lazy: x.clone(), eager: x }
    }

    fn made(of: &[&Pair], make: impl Fn(&[&Array]) -> Array) -> Pair {
        let [lazy, eager] = [|pair: &Pair| pair.lazy.clone(), |pair: &Pair| pair.eager.clone()]
            .map(|part| of.iter().map(|pair| part(pair)).collect::<Vec<Array>>());
        let eager: Vec<&Array> = eager.iter().collect();
        let eager = with_jit_disabled(|| make(&eager).eval().expect("is computed").clone());
        let lazy: Vec<&Array> = lazy.iter().collect();
        Pair { lazy: make(&lazy), eager }
    }

    fn check(&self, what: &dyn Fn() -> String) {
        assert_eq!(patterns(&self.lazy), patterns(&self.eager), "{}", what());
    }
}

/// The bits of the elements; all NaNs are equal.
fn patterns(x: &Array) -> Vec<u64> {
    match x.dtype() {
        DType::F64 => {
            x.to_vec::<f64>().unwrap().into_iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect()
        }
        DType::F32 => {
            x.to_vec::<f32>().unwrap().into_iter().map(|x| if x.is_nan() { 1 } else { x.to_bits().into() }).collect()
        }
        DType::F16 => {
            x.to_vec::<f16>().unwrap().into_iter().map(|x| if x.is_nan() { 1 } else { x.to_bits().into() }).collect()
        }
        DType::I32 => x.to_vec::<i32>().unwrap().into_iter().map(|x| x as u64).collect(),
        other => panic!("{other}"),
    }
}

/// Random numbers for tests: splitmix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// One step of a random program on arrays that broadcast to `[4, 3]`: an operation, a read, or a drop; if memory is refused now and then,
/// kept elements are freed.
fn step(draw: &mut Draw, pool: &mut Vec<Pair>, refused: bool, what: &dyn Fn() -> String) {
    if refused && draw.below(6) == 0 {
        return ask_for_too_much();
    }
    let recent = |draw: &mut Draw, pool: &[Pair]| {
        let n = pool.len();
        if draw.below(3) == 0 { draw.below(n) } else { n - 1 - draw.below(n.min(3)) }
    };
    let at = recent(draw, pool);
    let (x, y) = (pool[at].clone(), pool[recent(draw, pool)].clone());
    let axis = draw.below(2) as isize;
    let made = match draw.below(16) {
        0 => Pair::made(&[&x], |x| sin(x[0]) + 1),
        1 => Pair::made(&[&x], |x| sqrt(abs(x[0]))),
        2 => Pair::made(&[&x, &y], |x| x[0] + x[1]),
        3 => Pair::made(&[&x, &y], |x| x[0] * 0.5 - x[1]),
        4 => Pair::made(&[&x, &y], |x| where_(x[0].gt(x[1]), x[0], x[1])),
        5 => Pair::made(&[&x], |x| x[0].sum(keepdims(axis)) / 4),
        6 => Pair::made(&[&x], |x| x[0].max(keepdims(axis))),
        7 => Pair::made(&[&x], |x| x[0].cumulative_sum(axis)),
        8 => Pair::made(&[&x], |x| x[0].flip(axis)),
        9 => Pair::made(&[&x], |x| x[0].take(Array::from([0i32; 1]), axis)),
        10 => {
            let dtype = [DType::F16, DType::F32, DType::F64, DType::I32][draw.below(4)];
            Pair::made(&[&x], |x| x[0].cast(dtype))
        }
        11 if pool.len() > 2 => {
            let Pair { lazy, eager } = pool.swap_remove(at);
            if draw.below(2) == 0 {
                let lazy = jit(|x: Expr| x * 3).call((lazy.donate(),)).unwrap();
                Pair { lazy, eager: with_jit_disabled(|| (eager * 3).eval().unwrap().clone()) }.check(what);
            }
            return;
        }
        12 => return x.check(what),
        13 => {
            let reads = jit(|x: Expr| x * 3);
            Pair { lazy: reads(&x.lazy), eager: with_jit_disabled(|| (&x.eager * 3).eval().unwrap().clone()) }
                .check(what);
            return;
        }
        _ => return Pair::made(&[&x], |x| x[0].sum(..)).check(what),
    };
    pool.push(made);
}

/// Random programs, with memory refused now and then or never: repeated work as a fraction of work done once, in total and at most, and
/// the number of programs with kept elements at the end.
fn random_programs(refused: bool) -> (f64, f64, usize) {
    let kept = stats().kept_bytes;
    let again = |done: Stats| done.operations_again as f64 / (done.operations - done.operations_again) as f64;
    let (mut most, mut some) = (0f64, 0);
    let (_, done) = counted(|| {
        for seed in 0..150 {
            let mut draw = Draw(seed);
            let numbers = |n: usize| (0..n).map(|n| n as f32 * 0.75 - 2.0).collect::<Vec<f32>>();
            let mut pool = vec![
                Pair::new(Array::from(numbers(12)).reshape([4, 3])),
                Pair::new(Array::from(numbers(3)).reshape([1, 3])),
                Pair::new(Array::from(numbers(4)).reshape([4, 1])),
            ];
            let ((), done) = counted(|| {
                for n in 0..80 {
                    step(&mut draw, &mut pool, refused, &|| format!("step {n} of seed {seed}"));
                }
            });
            most = most.max(again(done));
            some += usize::from(stats().kept_bytes > kept);
            for (n, pair) in pool.iter().enumerate() {
                pair.check(&|| format!("array {n} of seed {seed}"));
            }
            drop(pool);
            assert_eq!(stats().kept_bytes, kept, "nothing is left of seed {seed}");
        }
    });
    println!(
        "{} operations, {:.2} again, {most:.2} at most; {some} programs keep something",
        done.operations,
        again(done)
    );
    (again(done), most, some)
}

#[test]
fn random_programs_read_as_they_grow() {
    let _alone = alone();
    let (again, most, some) = random_programs(false);
    assert!(again < 0.5 && most < 1.0, "{again} {most}");
    assert!(some > 50);
}

#[test]
fn random_programs_read_as_they_grow_where_memory_is_refused() {
    let _alone = alone();
    let (.., some) = random_programs(true);
    assert!(some > 20);
}
