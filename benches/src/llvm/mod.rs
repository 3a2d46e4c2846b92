//! ndjit's machine code compared with LLVM's: the same primitives as loops in Rust, compiled ahead of time for AVX-512.
//!
//! Arrays stay in a core's caches. Results are compared bit for bit before timing. `ndjit-bench llvm` prints the median times of both, and
//! LLVM's over ndjit's: above 1 ndjit is faster. `--write` generates the loops from ndjit's expanded kernels.

mod generate;
mod generated;

use crate::inputs;
use crate::kernels::{Function, KERNELS, Kernel};
use crate::timing::time;
use clap::Args;
use generated::*;
use ndjit::{Array, Complex, Element, jit};
use pulp::x86::V4;
use serde_json::{Value, json};
use std::error::Error;

/// Elements: arrays stay in a core's second-level cache.
const N: usize = 8192;

/// Compares machine code with LLVM's.
#[derive(Args)]
pub struct Llvm {
    /// Writes the loops anew.
    #[arg(long)]
    write: bool,
    /// Seconds that each side is timed for.
    #[arg(long, default_value_t = 0.3)]
    budget: f64,
}

impl Llvm {
    /// Runs the command.
    pub fn run(&self) -> Result<(), Box<dyn Error>> {
        if self.write {
            return generate::write();
        }
        println!("{:16} {:>10} {:>10} {:>6}", "kernel", "ndjit ns", "LLVM ns", "ratio");
        for Compared { name, ours, llvm } in compare(self.budget)? {
            println!("{name:16} {:10.0} {:10.0} {:6.2}", ours * 1e9, llvm * 1e9, llvm / ours);
        }
        Ok(())
    }
}

/// Median times of a kernel, in seconds.
pub struct Compared {
    /// Kernel and dtype.
    pub name: &'static str,
    /// A call of ndjit's.
    pub ours: f64,
    /// LLVM's loop.
    pub llvm: f64,
}

impl Compared {
    /// As a line of JSON.
    pub fn line(&self) -> Value {
        json!({ "backend": "llvm", "mode": "llvm", "kernel": self.name, "ndjit_s": self.ours, "llvm_s": self.llvm })
    }
}

/// Compares all kernels; none without AVX-512.
pub fn compare(budget: f64) -> Result<Vec<Compared>, Box<dyn Error>> {
    let mut all = Vec::new();
    let Some(simd) = V4::try_new() else { return Ok(all) };
    macro_rules! compare {
        ($($loops:ident $name:literal $ty:ty [$($input:ident)*];)*) => {$(
            let kernel = named($name)?;
            let (arrays, values) = made::<$ty>(kernel)?;
            let mut own = vec![<$ty>::default(); N];
            let mut other = own.clone();
            let [$($input),*] = &values[..] else { return Err("a kernel has as many inputs as parameters".into()) };
            let ours = of_a_call(kernel, &arrays, &mut own, budget)?;
            let llvm = time(budget, || simd.vectorize($loops { $($input,)* out0: &mut other })).median;
            if let Some(n) = (0..N).find(|&n| format!("{:?}", own[n]) != format!("{:?}", other[n])) {
                return Err(format!("{}: {:?} and {:?} at {n}", stringify!($loops), own[n], other[n]).into());
            }
            all.push(Compared { name: stringify!($loops), ours, llvm });
        )*};
    }
    compare! {
        poly_float32 "poly" f32 [arg0];
        bs_float32 "bs" f32 [arg0 arg1 arg2 arg3];
        gelu_float32 "gelu" f32 [arg0];
        sincos_float32 "sincos" f32 [arg0];
        elu_float32 "elu" f32 [arg0];
        mandel_float32 "mandel" Complex<f32> [arg0];
        poly_float64 "poly" f64 [arg0];
        gelu_float64 "gelu" f64 [arg0];
        axpy_float32 "axpy" f32 [arg0 arg1];
        axpy_float64 "axpy" f64 [arg0 arg1];
        hypot3_float32 "hypot3" f32 [arg0 arg1 arg2];
    }
    Ok(all)
}

fn named(name: &str) -> Result<&'static Kernel, String> {
    KERNELS.iter().find(|kernel| kernel.name == name).ok_or_else(|| format!("there is no kernel {name}"))
}

/// The arguments of a kernel, and their elements.
fn made<T: Element>(kernel: &Kernel) -> ndjit::Result<(Vec<Array>, Vec<Vec<T>>)> {
    let made = inputs::make(kernel.inputs, &vec![vec![N]; kernel.inputs.len()], T::DTYPE)?;
    let arrays: Vec<Array> = made.into_iter().map(|made| made.array).collect();
    let values = arrays.iter().map(Array::to_vec).collect::<ndjit::Result<_>>()?;
    Ok((arrays, values))
}

/// The median time of a call, in seconds.
fn of_a_call<T: Element>(kernel: &Kernel, arrays: &[Array], out: &mut [T], budget: f64) -> Result<f64, Box<dyn Error>> {
    macro_rules! with {
        ($function:expr, $($x:ident)*) => {{
            let f = jit($function).threads(1);
            let [$($x),*] = arrays else { return Err("a kernel has as many inputs as parameters".into()) };
            f.call_into(($($x,)*), &mut *out)?;
            time(budget, || drop(f.call_into(($($x,)*), &mut *out)))
        }};
    }
    let times = match kernel.function {
        Function::One(function) => with!(function, x),
        Function::Two(function) => with!(function, x y),
        Function::Three(function) => with!(function, x y z),
        Function::Four(function) => with!(function, x y z w),
    };
    Ok(times.median)
}
