//! The examples of docs/dumps.md, and the dump of several axes in README.md.

use super::{Examples, examples};
use ndjit::{Array, Expr, Result, Stage, VectorWidth, jit, keepdims};

fn shares(x: Expr) -> Expr {
    let y = x.mt();
    y / y.sum(keepdims(-1))
}

/// The shares of a stage.
fn stage(stage: Stage) -> Result<String> {
    let f = jit(shares);
    f.call((&Array::from_rows(&[[1.0f32, 2.0, 5.0], [3.0, 2.0, 15.0]]),))?;
    Ok(f.explain(stage))
}

fn shares_program() -> Result<()> {
    use ndjit::{Array, Stage, assert_kernels, jit, keepdims};

    let f = jit!(|x| {
        let y = x.mt();
        y / y.sum(keepdims(-1))
    });
    let x = Array::from_rows(&[[1.0f32, 2.0, 5.0], [3.0, 2.0, 15.0]]);
    println!("{}", f.call((&x,))?);
    println!("{}", f.explain(Stage::Simplified));
    assert_kernels!(f, (&x,), 1);
    Ok(())
}

fn shares_kernels() -> Result<()> {
    println!("{}", stage(Stage::Kernels)?);
    Ok(())
}

fn shares_dump() -> Result<()> {
    let (simplified, kernels, loops) = (stage(Stage::Simplified)?, stage(Stage::Kernels)?, stage(Stage::Loops)?);
    let nest = loops.split("domain").next().unwrap_or_default();
    println!("{simplified}\n{kernels}\n{nest}");
    Ok(())
}

fn shares_loops() -> Result<()> {
    println!("{}", stage(Stage::Loops)?);
    Ok(())
}

fn row_sums() -> Result<()> {
    use ndjit::{Array, Stage, jit};

    let f = jit!(|x| x.sum(-1));
    f.call((&Array::from_rows(&[[1.0f32, 2.0, 5.0], [3.0, 2.0, 15.0]]),))?;
    println!("{}", f.explain(Stage::Expanded));
    Ok(())
}

fn spread() -> Result<()> {
    use ndjit::{Array, Stage, jit};

    let f = jit!(|x| x.std(-1));
    f.call((&Array::from_rows(&[[1.0f32, 2.0, 5.0, 4.0], [3.0, 2.0, 15.0, 8.0]]),))?;
    println!("{}", f.explain(Stage::Typed));
    Ok(())
}

fn running_sums() -> Result<()> {
    use ndjit::{Array, Stage, jit};

    let f = jit!(|x| x.cumulative_sum(-1));
    f.call((&Array::from_rows(&[[1.0f32, 2.0, 5.0], [3.0, 2.0, 15.0]]),))?;
    println!("{}", f.explain(Stage::Kernels));
    println!("{}", f.explain(Stage::Expanded));
    Ok(())
}

fn taken() -> Result<()> {
    use ndjit::{Array, Stage, jit};

    let f = jit!(|x, i| x.take(i, 0) * 2);
    let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    f.call((&x, &Array::from([2u8, 0])))?;
    println!("{}", f.explain(Stage::Simplified));
    println!("{}", f.explain(Stage::Kernels));
    println!("{}", f.explain(Stage::Loops));
    Ok(())
}

fn put() -> Result<()> {
    use ndjit::{Array, Stage, jit};

    let f = jit!(|x, i| x.at(i).add(0.5));
    f.call((&Array::from([1.0f32, 2.0, 3.0]), &Array::from([2u8, 0, 2])))?;
    println!("{}", f.explain(Stage::Simplified));
    println!("{}", f.explain(Stage::Kernels));
    Ok(())
}

fn sorted() -> Result<()> {
    use ndjit::{Array, Stage, jit};

    let f = jit!(|x| (x * 2).sort(1));
    f.call((&Array::from_rows(&[[3.0f32, 1.0, 2.0], [4.0, 6.0, 5.0]]),))?;
    println!("{}", f.explain(Stage::Kernels));
    Ok(())
}

fn repeated() -> Result<()> {
    use ndjit::{Array, Stage, jit, while_loop};

    let f = jit!(|x, k| while_loop(x, |x| x.max(..).gt(1), move |x| x * k));
    f.call((&Array::from([8.0f32, 3.0]), &Array::from([0.5f32, 0.25])))?;
    println!("{}", f.explain(Stage::Simplified));
    println!("{}", f.explain(Stage::Kernels));
    Ok(())
}

fn join() -> Result<()> {
    use ndjit::{Stage, assert_kernels, concat, jit};

    let f = jit!(|x, y| concat([x * 2, y + 1], 0));
    println!("{}", f.call((&[1.0f32, 2.0, 3.0, 4.0], &[10.0f32, 20.0]))?);
    println!("{}", f.explain(Stage::Kernels));
    assert_kernels!(f, (&[1.0f32, 2.0, 3.0, 4.0], &[10.0f32, 20.0]), 2);
    Ok(())
}

fn positions() -> Result<()> {
    use ndjit::{Stage, arange, jit, zeros};

    let f = jit!(|x| x + arange(3));
    f.call((&zeros([2, 3]),))?;
    println!("{}", f.explain(Stage::Simplified));
    println!("{}", f.explain(Stage::Loops));
    Ok(())
}

fn copy() -> Result<()> {
    use ndjit::{Stage, arange, jit};

    let f = jit!(|x| x.mt().reshape([-1]) + 1);
    f.call((&arange(6).reshape([2, 3]),))?;
    println!("{}", f.explain(Stage::Simplified));
    println!("{}", f.explain(Stage::Kernels));
    Ok(())
}

/// The code of `docs/dumps.md` for a processor, with its stages there.
fn code(stage: Stage, width: VectorWidth) -> Result<()> {
    // Elsewhere registers and instructions are others.
    #[cfg(all(target_arch = "x86_64", unix))]
    if std::is_x86_feature_detected!("avx2")
        && (width == VectorWidth::Bits128 || ndjit_codegen::x64::Set::Avx512.is_supported())
    {
        let f = jit(|x: Expr, y: Expr| ndjit::abs(x) * 2 + y).vector(width);
        f.call((&[1.0f32, -2.0, 3.0], &[10.0f32, 20.0, 30.0]))?;
        println!("{}", f.explain(stage));
        return Ok(());
    }
    let what = format!("no x86-64 processor whose {} is shown, {width:?}", stage.name());
    Err(ndjit::Error::new(ndjit::ErrorCode::Device, what))
}

fn code_expanded() -> Result<()> {
    code(Stage::Expanded, VectorWidth::Bits128)
}

fn code_clif() -> Result<()> {
    code(Stage::Clif, VectorWidth::Bits128)
}

fn code_assembly() -> Result<()> {
    code(Stage::Assembly, VectorWidth::Bits128)
}

fn code_wide() -> Result<()> {
    code(Stage::Assembly, VectorWidth::Widest)
}

// Where there is no Vulkan, the code has to guard results.
#[cfg(all(feature = "gpu", not(target_vendor = "apple")))]
fn on_gpu() -> Result<()> {
    use ndjit::{Array, Device, Stage, jit};

    let f = jit(|x, y| x + y * 2).on(Device::gpu());
    f.call((&Array::from([1.0f32, 2.0, 3.0]), &[10.0f32, 20.0, 30.0]))?;
    for line in f.explain(Stage::Wgsl).lines().skip(1) {
        println!("{line}");
    }
    Ok(())
}

// As above.
#[cfg(all(feature = "gpu", not(target_vendor = "apple")))]
fn sums_on_gpu() -> Result<()> {
    use ndjit::{Array, Device, Stage, jit};

    let f = jit!(|x| x.sum(-1)).on(Device::gpu());
    f.call((&Array::from_rows(&[[1.0f32, 2.0, 5.0], [3.0, 2.0, 15.0]]),))?;
    println!("{}", f.explain(Stage::Expanded));
    Ok(())
}

#[cfg(all(feature = "gpu", not(target_vendor = "apple")))]
fn sums_on_gpu_code() -> Result<()> {
    let f = jit(|x: Expr| x.sum(-1)).on(ndjit::Device::gpu());
    f.call((&Array::from_rows(&[[1.0f32, 2.0, 5.0], [3.0, 2.0, 15.0]]),))?;
    for line in f.explain(Stage::Wgsl).lines().skip(1) {
        println!("{line}");
    }
    Ok(())
}

examples! { spread shares_program shares_kernels shares_dump shares_loops row_sums running_sums join positions copy taken put sorted repeated code_expanded code_clif code_assembly code_wide #[cfg(all(feature = "gpu", not(target_vendor = "apple")))] on_gpu #[cfg(all(feature = "gpu", not(target_vendor = "apple")))] sums_on_gpu #[cfg(all(feature = "gpu", not(target_vendor = "apple")))] sums_on_gpu_code }
