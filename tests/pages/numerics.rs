//! The examples of docs/numerics.md.

use super::{Examples, examples};
use ndjit::Result;

fn rounding() -> Result<()> {
    use ndjit::{Array, jit, mul_add};

    let x = Array::from([1.0f32 + f32::EPSILON]);
    let twice = jit(|x| x * x - (x + x - 1)); // each operation is rounded
    let once = jit!(|x| mul_add(x, x, -(x + x - 1))); // a product and a sum, rounded once
    println!("{} {}", twice.call((&x,))?, once.call((&x,))?);
    Ok(())
}

fn special_values() -> Result<()> {
    use ndjit::{Array, fmax, maximum, minimum};

    let (x, y) = (Array::from([f32::NAN, -0.0]), Array::from([1.0f32, 0.0]));
    println!("{} {}", maximum(&x, &y), fmax(&x, &y)); // NaN stays; `fmax` prefers numbers
    println!("{}", minimum(&x, &y)); // -0 is less than 0
    println!("{}", Array::from([1e-40f32]) / 2); // subnormal numbers are not flushed to 0
    Ok(())
}

fn integers() -> Result<()> {
    use ndjit::{Array, DType, floor_divide};

    let x = Array::from([7i32, -7, i32::MIN, 5]);
    let y = Array::from([2i32, 2, -1, 0]);
    println!("{}\n{}\n{}", floor_divide(&x, &y), &x % &y, &x / &y);
    println!("{}", Array::from([200u8, 255]) + 100); // wraps
    println!("{}", Array::from([1i32, 1]) << Array::from([31, 32])); // shifted out
    println!("{}", Array::from([300.7f32, -1.5, f32::NAN]).cast(DType::U8)); // truncated, saturated; NaN is 0
    Ok(())
}

fn halves() -> Result<()> {
    use ndjit::{Array, f16, jit};

    let x = Array::from([f16::from_f32(2048.0)]);
    println!("{}", jit(|x| x + 1 + 1).call((&x,))?); // rounded after each sum, to 11 bits
    let ones = Array::from(vec![f16::ONE; 4096]);
    println!("{}", ones.sum(..)); // summed in f32, rounded once
    Ok(())
}

fn sums() -> Result<()> {
    use ndjit::Array;

    let tenths = vec![0.1f32; 1_000_000];
    let one_by_one: f32 = tenths.iter().sum();
    println!("{one_by_one} {}", Array::from(&tenths).sum(..));
    Ok(())
}

fn literals() -> Result<()> {
    use ndjit::{Array, DType};

    let x = Array::from([1.0f64]);
    println!("{:.17} {:.17}", &x * 0.1, &x * 0.1f32); // the number that Rust passed, exactly
    println!("{:?}", (Array::from([1u8]) + 300).eval().map_err(|error| error.headline().to_owned()).err());
    println!("{}", (Array::from([1u8]) + 0.5).cast(DType::F64));
    Ok(())
}

fn same_bits() -> Result<()> {
    use ndjit::{DType, Stage, arange, exp, jit, keepdims};

    let softmax = || {
        jit!(|x| {
            let e = exp(x - x.max(keepdims(-1)));
            e / e.sum(keepdims(-1))
        })
    };
    let x = (arange(100_000).reshape([100, 1000]) % 7).cast(DType::F32);
    let usual = softmax().call((&x,))?.to_vec::<f32>()?;
    for f in [softmax().fuse(false), softmax().vector(false), softmax().threads(1), softmax().threads(3)] {
        let same = f.call((&x,))?.to_vec::<f32>()?.iter().zip(&usual).all(|(a, b)| a.to_bits() == b.to_bits());
        println!("{} kernels: {same}", f.kernels().len());
        assert!(!f.explain(Stage::Kernels).is_empty());
    }
    Ok(())
}

examples!(rounding special_values integers halves sums literals same_bits);
