//! The examples of docs/quick-start.md.

use super::{Examples, examples};
use ndjit::Result;

fn first() -> Result<()> {
    use ndjit::{Array, jit};

    fn main() -> Result<(), ndjit::Error> {
        let celsius = jit(|fahrenheit| (fahrenheit - 32) / 1.8);
        let readings = Array::from([50.0f32, 68.0, 86.0]);
        println!("{}", celsius.call((&readings,))?);
        Ok(())
    }
    main()
}

fn forms() -> Result<()> {
    use ndjit::{Array, jit};

    let f = jit(|x, y| x + y * 2);
    let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([10.0f32, 20.0]));
    println!("{}", f(&x, &y)); // panics if there is an error
    println!("{}", f.call((&x, &y))?); // returns it
    println!("{}", f.call((&[1.0f32, 2.0], &vec![10.0f32, 20.0]))?); // slices, in place
    println!("{}", f.call((&x, 0.5))?); // a number
    let mut out = vec![0.0f32; 2];
    f.call_into((&x, &y), &mut out)?; // into memory of your own
    println!("{out:?}");
    Ok(())
}

fn results() -> Result<()> {
    use ndjit::{Array, jit, keepdims};

    let bounds = jit!(|x| (x.min(..), x.max(..)));
    let x = Array::from_rows(&[[3.0f32, 1.0, 2.0], [6.0, 5.0, 4.0]]);
    let (low, high) = bounds.call((&x,))?;
    println!("{} {}", low.item::<f32>()?, high.item::<f32>()?);
    println!("{:?}", (&x - x.mean(keepdims(1))).to_vec::<f32>()?); // without `jit`: computed when it is read
    println!("{:?} {}", x.shape().extents(), x.dtype());
    Ok(())
}

fn why() -> Result<()> {
    use ndjit::{Array, jit};

    let f = jit(|x, k| x * k);
    println!("{}", f.call((&Array::from([1u32, 2]), &Array::from([-3i32, 4])))?.dtype());
    if let Some(why) = f.explain_dtype(0) {
        println!("{why}");
    }
    Ok(())
}

fn refused() -> Result<()> {
    use ndjit::{Array, jit, report};

    let f = jit(|x, y| x + y * 2);
    let (x, y) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([10.0f32, 20.0]));
    if let Err(error) = f.call((&x, &y)) {
        println!("{}", report(&error));
    }
    Ok(())
}

fn compiled() -> Result<()> {
    use ndjit::{Array, assert_kernels, jit};

    let norm = jit!(|x, y| (x * x + y * y).sqrt());
    let (x, y) = (Array::from([3.0f32, 5.0]), Array::from([4.0f32, 12.0]));
    println!("{}", norm.call((&x, &y))?);
    assert_kernels!(norm, (&x, &y), 1); // one loop for all four operations
    norm.call((&vec![1.0f32; 1000], &vec![2.0f32; 1000]))?;
    println!("compiled {}, traced {}", norm.compile_count(), norm.trace_count()); // a new size is traced, not compiled
    Ok(())
}

examples!(first forms results why refused compiled);
