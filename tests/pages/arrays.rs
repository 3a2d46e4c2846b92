//! The examples of docs/arrays.md, and the one of several axes in README.md.

use super::{Examples, examples};
use ndjit::Result;

fn making() -> Result<()> {
    use ndjit::{Array, arange, from_fn};

    let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
    let y = Array::from_shape_vec([2, 3], vec![0.5f32, 1.0, 1.5, 2.0, 2.5, 3.0])?;
    let z = arange(24).reshape([2, 3, 4]);
    let table = from_fn([2, 5], |[row, column]| 10 * row + column);
    println!("{x}\n{y}\n{z}\n{table}");
    Ok(())
}

fn asking() -> Result<()> {
    use ndjit::arange;

    let z = arange(24).reshape([2, 3, 4]);
    println!("{:?} {} {} {}", z.shape().extents(), z.shape().rank(), z.len(), z.dtype());
    println!("{:?}", z.slice(1).to_vec::<i32>()?); // the elements in row-major order
    println!("{}", z.slice((1, 2, 3)).item::<i32>()?);
    println!("{z:?}"); // type and shape, without the elements
    Ok(())
}

#[cfg(all(feature = "ndarray", feature = "npy"))]
fn exchange() -> Result<()> {
    use ndarray::{ArrayD, array};
    use ndjit::{Array, jit};

    let grid = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let rows = jit!(|x| x.sum(1));
    println!("{}", rows.call((grid.t(),))?); // a view of 3 rows, read in place
    let back: ArrayD<f32> = (Array::from(grid) * 10).try_into()?;
    println!("{back}");

    let path = std::env::temp_dir().join("ndjit-grid.npy");
    Array::from(back).write_npy(&path)?;
    println!("{}", Array::read_npy(&path)?);
    Ok(())
}

fn sharing() -> Result<()> {
    use ndjit::dlpack::ManagedTensor;
    use ndjit::{from_dlpack, sort};
    use std::sync::Arc;

    let elements: Arc<[f32]> = Arc::from([3.0, 1.0, 2.0]);
    let x = from_dlpack(ManagedTensor::from_owner(Arc::clone(&elements), [3])?, None, None)?; // no copy
    println!("{} {}", sort(&x, 0), Arc::strong_count(&elements));
    drop(x);
    println!("{}", Arc::strong_count(&elements));
    Ok(())
}

fn creating() -> Result<()> {
    use ndjit::{DType, Indexing, arange, dtype, eye, full, linspace, logspace, meshgrid, zeros_like};

    println!("{}", dtype(DType::U8).zeros([2, 3]));
    println!("{}", full([2, 2], 7.5));
    println!("{}", eye((2, 3, 1))); // rows, columns, diagonal
    println!("{} {}", arange(2..6), arange((1, 0, -0.25))); // start, stop, step
    println!("{} {}", linspace(0..=1, 5), linspace(0..1, 4)); // with its end, without
    println!("{}", logspace(0..=3, 4));
    println!("{}", zeros_like(arange(3)));
    let grid = meshgrid([arange(3), arange(2)], Indexing::Xy);
    println!("{}\n{}", grid[0], grid[1]);
    Ok(())
}

fn traced_creation() -> Result<()> {
    use ndjit::{Stage, arange, assert_kernels, from_fn, jit, zeros};

    let f = jit!(|x| x + arange(3));
    let x = zeros([2, 3]);
    println!("{}", f.call((&x,))?);
    println!("{}", f.explain(Stage::Kernels));
    assert_kernels!(f, (&x,), 1);
    let f = jit!(|x| x + from_fn([2, 3], |[row, column]| row * 10 + column));
    println!("{}", f.call((&x,))?);
    assert_kernels!(f, (&x,), 1);
    Ok(())
}

fn broadcasting() -> Result<()> {
    use ndjit::{Array, NewAxis, arange};

    let x = arange(6).reshape([2, 3]);
    let (row, column) = (Array::from([10, 20, 30]), Array::from([100, 200]));
    println!("{}", &x + &row);
    println!("{}", &x + column.slice((.., NewAxis))); // shape [2, 1]
    println!("{}", (&x + &column).error().expect("2 is not 3").headline());
    Ok(())
}

fn slices() -> Result<()> {
    use ndjit::{arange, step, step_by};

    let x = arange(12).reshape([3, 4]);
    println!("{} {}", x.slice(0), x.slice((.., -1))); // the first row, the last column
    println!("{}", x.slice((1.., ..2)));
    println!("{}", x.slice((step(2), step(-1)))); // every second row, backwards
    println!("{}", arange(8).slice(step_by(1..5, -1))); // the elements 1 to 4, backwards
    Ok(())
}

fn axes() -> Result<()> {
    use ndjit::{Ellipsis, NewAxis, arange, expand_dims, moveaxis, permute_dims, squeeze, swapaxes};

    let z = arange(24).reshape([2, 3, 4]);
    let views = [
        ("slice((Ellipsis, 0))", z.slice((Ellipsis, 0))),
        ("slice((0, NewAxis, .., 1..3))", z.slice((0, NewAxis, .., 1..3))),
        ("permute_dims", permute_dims(&z, [2, 0, 1])),
        ("mt", z.mt()),
        ("moveaxis", moveaxis(&z, 0, -1)),
        ("swapaxes", swapaxes(&z, 0, 1)),
        ("expand_dims", expand_dims(&z, [0, -1])),
        ("squeeze", squeeze(z.slice((..1, 1..2)), [0, 1])),
    ];
    for (name, view) in views {
        println!("{} {name}", view.shape());
    }
    Ok(())
}

fn more_views() -> Result<()> {
    use ndjit::{arange, broadcast_to, diagonal, flip, sliding_window, unstack};

    let x = arange(9).reshape([3, 3]);
    println!("{}", flip(&x, 1));
    println!("{} {}", diagonal(&x, 0, [0, 1]), diagonal(&x, 1, [0, 1]));
    println!("{}", broadcast_to(arange(3), [2, 3]));
    println!("{}", sliding_window(arange(5), 3, 0)); // an axis of windows follows those there are
    println!("{}", unstack(&x, 0)?[2]); // a Vec of the rows
    Ok(())
}

fn copies() -> Result<()> {
    use ndjit::{Stage, arange, assert_kernels, jit};

    let x = arange(6).reshape([2, 3]);
    let flat = jit!(|x| x.reshape([-1]) + 1);
    assert_kernels!(flat, (&x,), 1);

    let columns_first = jit!(|x| x.mt().reshape([-1]) + 1);
    println!("{}", columns_first.call((&x,))?);
    println!("{}", columns_first.explain(Stage::Kernels));
    assert_kernels!(columns_first, (&x,), 2);
    Ok(())
}

fn joins() -> Result<()> {
    use ndjit::{Array, arange, concat, repeat, roll, stack, tile, tril, triu};

    let (x, y) = (Array::from_rows(&[[1, 2], [3, 4]]), Array::from_rows(&[[5, 6]]));
    println!("{}", concat([&x, &y], 0)); // along an axis they have
    println!("{}", stack([arange(3), arange(3) * 10], 1)); // along a new one
    println!("{}", tile(&y, [2, 2])); // the whole array again
    println!("{}", repeat(&x, 2, 1)); // each element again
    println!("{}", repeat(arange(4), [1, 0, 3, 2], 0)); // each as often as said
    println!("{}", roll(arange(5), 2, 0));
    println!("{}\n{}", tril(&x, 0), triu(&x, 0)); // below and above the diagonal
    Ok(())
}

fn padding() -> Result<()> {
    use ndjit::{Array, Pad, pad};

    let x = Array::from([1, 2, 3]);
    println!("{}", pad(&x, (1, 2), 9)); // one before, two after, with a number
    for with in [Pad::Edge, Pad::Reflect, Pad::Symmetric, Pad::Wrap] {
        println!("{} {with:?}", pad(&x, 2, with));
    }
    println!("{}", pad(Array::from_rows(&[[1, 2], [3, 4]]), [(1, 0), (0, 1)], 0)); // a pair for each axis
    Ok(())
}

fn reductions() -> Result<()> {
    use ndjit::{Array, DType, correction, dtype, keepdims};

    let x = Array::from_rows(&[[1.0f32, 2.0, 6.0], [3.0, 5.0, 4.0]]);
    println!("{}", x.sum(..)); // over all axes
    println!("{} {}", x.mean(0), x.mean(-1)); // of each column, of each row
    println!("{}", x.max([0, 1])); // over several axes
    println!("{}", &x - x.min(keepdims(1))); // the axis stays, with extent 1
    println!("{}", dtype(DType::F64).sum(&x, 0).dtype()); // summed as f64
    println!("{} {}", x.var(1), correction(1).var(&x, 1)); // divided by 3, by 2
    println!("{} {}", x.argmax(1), x.argmin(..)); // over several axes: in row-major order
    println!("{} {} {}", x.gt(5).any(1), x.gt(0).all(..), x.gt(2).count_nonzero(0));
    println!("{} {} {}", x.prod(1), x.std(1), x.ptp(1));
    println!("{} {}", x.logsumexp(1), x.norm(1));
    println!("{} {}", ndjit::vector_norm(&x, 1, 1), ndjit::vector_norm(&x, f64::INFINITY, 1));
    Ok(())
}

fn contractions() -> Result<()> {
    use ndjit::{Array, einsum, tensordot};

    let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
    let y = Array::from_rows(&[[1, 0], [0, 1], [1, 1]]);
    println!("{}", x.matmul(&y)); // rows of the one with columns of the other
    println!("{} {}", x.matmul(&Array::from([1, 0, -1])), x.vecdot(&x, -1)); // with a vector; of each row with itself
    println!("{} {}", tensordot(&x, &y, ([0, 1], [1, 0])), x.slice((.., ..2)).trace(0, [0, 1])); // over pairs of axes
    println!("{} {}", x.slice(0).outer(&x.slice(1)).shape(), x.kron(&y).shape());
    println!("{}", einsum("ij,jk,k->i", [&x, &y, &Array::from([1, 10])])); // letters name axes; `k` goes first
    println!("{}", einsum("ij->", [&x]));
    Ok(())
}

fn any_threads() -> Result<()> {
    use ndjit::{DType, dtype, jit};

    let x = 1 / (dtype(DType::F32).arange(1_000_000) + 1);
    let sums = [1, 2, 7].map(|threads| jit!(|x| x.sum(..)).threads(threads)(&x));
    for sum in &sums {
        println!("{sum} {:#x}", sum.item::<f32>()?.to_bits());
    }
    Ok(())
}

fn scans() -> Result<()> {
    use ndjit::{Array, DType, cummax, cummin, cumulative_prod, cumulative_sum, dtype, include_initial};

    let x = Array::from_rows(&[[1, 4, 2], [3, 0, 5]]);
    println!("{}", cumulative_sum(&x, 0)); // down the columns
    println!("{}", cumulative_sum(&x, include_initial(1))); // along the rows, from 0 on
    println!("{}", dtype(DType::F64).cumulative_prod(&x, 1));
    println!("{}", cumulative_prod(&x, include_initial(1)));
    println!("{}\n{}", cummax(&x, 1), cummin(&x, 1));
    Ok(())
}

fn differences() -> Result<()> {
    use ndjit::{Array, append, diff, positions, prepend, trapezoid};

    let x = Array::from([1, 4, 9, 16]);
    println!("{} {}", diff(&x, 1, 0), diff(&x, 2, 0)); // once, twice
    println!("{} {}", prepend(0).diff(&x, 1, 0), append(&x).diff(&x, 1, 0));
    let y = Array::from([0.0f32, 1.0, 4.0, 9.0]);
    println!("{}", trapezoid(&y, 0.5, 0)); // values 0.5 apart
    let x = Array::from([0.0f32, 1.0, 2.0, 4.0]);
    println!("{}", positions(&x).trapezoid(&y, 0)); // values at these positions
    Ok(())
}

fn bins() -> Result<()> {
    use ndjit::{
        Array, Expr, Overlap, bincount, convolve, cov, density, digitize, histogram, interp, jit, size, weights,
    };

    let x = Array::from([1.0f32, 2.5, 2.0, 4.0, 2.25]);
    let (counts, edges) = histogram(&x, 3);
    println!("{counts} {edges}");
    println!("{} {}", histogram(&x, (2, 0.0..=5.0)).0, density().histogram(&x, &Array::from([0.0f32, 2.0, 4.0])).0);
    println!("{} {}", digitize(&x, &edges), weights(&x).bincount(&Array::from([0, 1, 1, 3, 0]), ..));
    // In a traced function how many there are is told: larger numbers are not counted.
    println!("{}", jit(|n| bincount(n, 3))(&Array::from([0, 2, 2, 7])));
    let (points, values) = (Array::from([0.0f32, 2.0, 4.0]), Array::from([0.0f32, 10.0, 0.0]));
    println!("{}", interp(&x, &points, &values));
    println!("{}", convolve(&x, Array::from([0.5f32, 0.5]), Overlap::Valid));
    println!("{}", cov(Array::from_rows(&[[1.0f32, 2.0, 3.0], [2.0, 4.0, 6.0]])));
    // What a mask chooses; in a traced function so many, and a number for what is missing.
    println!("{}", x.at(x.gt(2)).get());
    let chosen = jit(|x: Expr| size(4).fill(-1).compress(x.gt(2), x, 0));
    println!("{}", chosen(&x));
    Ok(())
}

fn sorts() -> Result<()> {
    use ndjit::{Array, argsort, descending, isin, median, nonzero, quantile, sort, topk, unique_counts};

    let x = Array::from_rows(&[[3, 1, 2], [9, 7, 7]]);
    println!("{}\n{}", sort(&x, 1), sort(&x, descending(0)));
    println!("{}", argsort(&x, 1));
    let (values, indices) = topk(&x, 2, 1);
    println!("{values}\n{indices}");
    println!("{} {} {}", median(&x, ..), quantile(&x, 0.25, 1), isin(&x, Array::from([7, 9])).any(0));
    // How many there are depends on values: of arrays, not inside a traced function.
    let (values, counts) = unique_counts(&x);
    println!("{values} {counts}");
    let at = nonzero(x.gt(3));
    println!("{} {}", at[0], at[1]);
    Ok(())
}

fn one_kernel() -> Result<()> {
    use ndjit::{DType, arange, assert_kernels, concat, exp, jit, keepdims, sliding_window, sqrt};

    let x = arange(12).cast(DType::F32).reshape([3, 4]);
    let softmax = jit!(|x| {
        let e = exp(x - x.max(keepdims(-1)));
        e / e.sum(keepdims(-1))
    });
    let layer_norm = jit!(|x| (x - x.mean(keepdims(-1))) / sqrt(x.var(keepdims(-1)) + 1e-5) * 2 + 1);
    let standard_score = jit!(|x| (x - x.mean(keepdims(0))) / x.std(keepdims(0)));
    let moving_average = jit!(|x| sliding_window(x, 3, 1).mean(-1));
    let bounds = jit!(|x| (x.min(1), x.max(1), x.mean(1))); // one pass for all three
    let moved = jit!(|x| (x.mt().slice((1.., ..-1)) * 2 + 1).flip(0)); // views cost nothing
    assert_kernels!(softmax, (&x,), 1);
    assert_kernels!(layer_norm, (&x,), 1);
    assert_kernels!(standard_score, (&x,), 1);
    assert_kernels!(moving_average, (&x,), 1);
    assert_kernels!(bounds, (&x,), 1);
    assert_kernels!(moved, (&x,), 1);

    let joined = jit!(|x| concat([x * 2, exp(x)], 0)); // one for each part
    assert_kernels!(joined, (&x,), 2);
    let scanned = jit!(|x| x.cumulative_sum(1) + 1); // what reads a scan reads it from memory
    assert_kernels!(scanned, (&x,), 2);
    Ok(())
}

fn complete() -> Result<()> {
    use ndjit::{Array, assert_kernels, correction, jit, keepdims};

    fn main() -> Result<(), ndjit::Error> {
        // Points of four people in three tests.
        let points =
            Array::from_rows(&[[52.0f32, 7.5, 131.0], [61.0, 9.0, 118.0], [48.0, 4.5, 140.0], [70.0, 7.0, 125.0]]);
        // How many standard deviations each is above the mean of its test.
        let scores = jit!(|x| (x - x.mean(keepdims(0))) / correction(1).std(x, keepdims(0)));
        assert_kernels!(scores, (&points,), 1);

        let z = scores.call((&points,))?;
        println!("{z:.2}");
        println!("best in each test: {}", z.argmax(0));
        println!("mean of each person: {:.2}", z.mean(1));
        println!("best overall: {}", z.mean(1).argmax(..));
        Ok(())
    }
    main()
}

fn rows() -> Result<()> {
    use ndjit::{Array, Expr, fori_loop, grad, jit, keepdims, ones_like, sum};

    fn main() -> Result<(), ndjit::Error> {
        let x = Array::from_shape_vec([2, 3], vec![1.0f32, 2.0, 3.0, 1.0, 1.0, 4.0])?;
        let shares = jit!(|x| x / x.sum(keepdims(1)));
        println!("{:.3}", shares.call((&x,))?); // each row divided by its sum
        println!("{}", (&x + 1).mt().slice((1.., ..))); // lazy: computed when it is printed
        let cubes = |x: Expr| sum(fori_loop(0, 3, ones_like(x), |_, p| p * x), ..); // a loop of the compiled program
        println!("{}", jit(grad(cubes)).call((&x,))?); // and its gradient, 3x²
        Ok(())
    }
    main()
}

examples! {
    making asking creating traced_creation broadcasting slices axes more_views copies joins padding reductions contractions any_threads
    scans differences sorts bins one_kernel complete rows
    #[cfg(all(feature = "ndarray", feature = "npy"))] exchange
    sharing
}
