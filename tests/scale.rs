//! Programs of a million nodes on a thread with a small stack: nothing recurses over user programs.

use ndjit::{Array, DType, Expr, Stage, jit, spec};

const STACK: usize = 256 << 10;

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().expect("the work panicked");
}

#[test]
fn a_traced_chain_of_a_million_nodes() {
    on_small_stack(|| {
        let n = 1_000_000;
        let f = jit(move |x, y| (0..n).fold(x, |acc: Expr, i| if i % 2 == 0 { acc + y } else { y - acc }));
        let array = spec(DType::I64, [5]);
        let lowered = f.trace(&[array.clone(), array]).and_then(|t| t.lower()).expect("lowers");
        assert!(lowered.explain(Stage::Graph).lines().count() > n);
        let compiled = lowered.compile().expect("compiles");
        let (x, y) = (Array::from([1i64, 2, 3, 4, 5]), Array::from([1i64; 5]));
        let result = compiled.call((&x, &y)).and_then(|z| z.to_vec::<i64>()).expect("runs");
        let expected = [1i64, 2, 3, 4, 5]
            .map(|x| (0..n).fold(x, |acc, i| if i % 2 == 0 { acc.wrapping_add(1) } else { 1i64.wrapping_sub(acc) }));
        assert_eq!(result, expected);
    });
}

#[test]
fn a_lazy_chain_of_a_million_arrays() {
    on_small_stack(|| {
        let y = Array::from([1i32, 2]);
        let mut x = Array::from([0i32, 0]);
        for _ in 0..1_000_000 {
            x += &y;
        }
        assert_eq!(x.to_vec::<i32>().expect("runs"), [1_000_000, 2_000_000]);
    });
}

#[test]
fn sharing_is_not_a_tree() {
    on_small_stack(|| {
        let f = jit(|x| (0..10_000).fold(x, |acc: Expr, _| acc + acc));
        let lowered = f.trace(&[spec(DType::U8, [3])]).and_then(|t| t.lower()).expect("lowers");
        let ops = lowered.explain(Stage::Kernels).matches(" = add ").count();
        assert_eq!(ops, 10_000, "nothing is computed twice");
    });
}
