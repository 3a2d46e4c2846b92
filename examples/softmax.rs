//! A softmax over rows: subtracting the maximum prevents overflow, and the five operations, two of them
//! reductions, are one kernel that reads each row from memory once.

use ndjit::{Array, DType, abs, arange, assert_kernels, exp, jit, keepdims};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let naive = jit!(|x| exp(x) / exp(x).sum(keepdims(-1)));
    let softmax = jit!(|x| {
        let e = exp(x - x.max(keepdims(-1)));
        e / e.sum(keepdims(-1))
    });

    let scores = Array::from_rows(&[[1.0f32, 2.0, 3.0], [100.0, 101.0, 102.0], [0.0, 0.0, 0.0]]);
    println!("without the largest subtracted, exp(100) is infinite:\n{:.4}", naive.call((&scores,))?);
    println!("softmax:\n{:.4}", softmax.call((&scores,))?);

    // The kernel is the same for any number of rows and columns.
    let many = (arange(4096 * 1000).reshape([4096, 1000]) % 997).cast(DType::F32) / 100;
    let shares = softmax.call((&many,))?;
    assert_kernels!(softmax, (&many,), 1);
    let off = abs(shares.sum(-1) - 1);
    println!("the sums of {} rows are 1 within {:.0e}", off.len(), off.max(..).item::<f32>()?);

    // Fusion, threads and vectors do not change a bit.
    let plain = jit!(|x| {
        let e = exp(x - x.max(keepdims(-1)));
        e / e.sum(keepdims(-1))
    });
    let plain = plain.fuse(false).threads(1).vector(false);
    let same = plain.call((&many,))?.to_vec::<f32>()? == shares.to_vec::<f32>()?;
    println!("unfused, on one thread, without vectors: {} kernels, the same bits: {same}", plain.kernels().len());
    Ok(())
}
