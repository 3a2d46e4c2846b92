//! The examples of docs/fusion.md.

use super::{Examples, examples};
use ndjit::Result;

fn costs() -> Result<()> {
    use ndjit::{DType, Op};
    use ndjit_math::shared_body;

    for op in [Op::Add, Op::Divide, Op::Sqrt, Op::Maximum, Op::Exp, Op::Sin, Op::Tanh, Op::Pow] {
        let [half, single, double] =
            [DType::F16, DType::F32, DType::F64].map(|dtype| shared_body(op, dtype).insts.len());
        println!("{:<8} {half:>3} in f16, {single:>3} in f32, {double:>3} in f64", op.name());
    }
    Ok(())
}

fn elementwise() -> Result<()> {
    use ndjit::{arange, assert_kernels, jit, sin, sqrt};

    let x = arange(6).reshape([2, 3]) / 2;
    let f = jit(|x| {
        let y = sin(x) * 2;
        (y + 1, sqrt(y * y + x))
    });
    assert_kernels!(f, (&x,), 1); // two results, one loop
    let g = jit(|x, y| (x + 1, y * 2));
    assert_kernels!(g, (&x, &x), 2); // nothing is shared, so nothing is saved
    Ok(())
}

fn broadcast() -> Result<()> {
    use ndjit::{arange, exp, jit};

    let (x, row, column) = (arange(6).reshape([2, 3]) / 2, arange(3) / 2, arange(2).reshape([2, 1]) / 2);
    let cheap = jit(|x, row| x * (row + 1));
    let dear = jit(|x, row| x * exp(row));
    cheap.call((&x, &row))?;
    println!("a sum, for each row again: {} nest", cheap.kernels()[0].nests);
    dear.call((&x, &row))?;
    println!("an exponential, stored: {} nests", dear.kernels()[0].nests);
    dear.call((&x, &column))?;
    println!("an exponential for each row, before its loop: {} nest", dear.kernels()[0].nests);
    Ok(())
}

fn reduced() -> Result<()> {
    use ndjit::{arange, assert_kernels, exp, jit, keepdims, sqrt};

    let x = arange(6).reshape([2, 3]) / 2;
    let f = jit!(|x| (exp(x) * 2).sum(..)); // what is reduced is computed where it is reduced
    assert_kernels!(f, (&x,), 1);
    let g = jit!(|x| (x.min(1), x.max(1), x.sum(1), (x * x).sum(1))); // four reductions of the same elements
    assert_kernels!(g, (&x,), 1);
    let h = jit!(|x| (x.sum(0), x.sum(1))); // along different axes
    assert_kernels!(h, (&x,), 2);
    let score = jit!(|x| (x - x.mean(keepdims(1))) / sqrt(x.var(keepdims(1)) + 1e-5)); // row by row
    assert_kernels!(score, (&x,), 1);
    let total = jit!(|x| x / x.sum(..)); // all is read before the first can be divided
    assert_kernels!(total, (&x,), 2);
    Ok(())
}

fn too_much() -> Result<()> {
    use ndjit::{Array, assert_kernels, jit, sin};

    let x = Array::from([0.5f32, 1.0, 1.5]);
    let f = jit(|mut x| {
        for _ in 0..150 {
            x = x * x + 1;
        }
        x
    });
    assert_kernels!(f, (&x,), 1); // 300 primitives
    let g = jit(|mut x| {
        for _ in 0..20 {
            x = sin(x + 1);
        }
        x
    });
    g.call((&x,))?;
    println!(
        "20 sines: {} nests in {} launches",
        g.kernels().iter().map(|k| k.nests).sum::<usize>(),
        g.kernels().len()
    );
    Ok(())
}

examples!(costs elementwise broadcast reduced too_much);
