//! Time per element as an array grows, from 10^6 to 10^9 elements: kernels of one array, into existing memory.

use crate::kernels::{Function, KERNELS};
use crate::timing::time;
use clap::Args;
use ndjit::{DType, Result, arange, jit};

/// Times kernels on arrays that grow.
#[derive(Args)]
pub struct Growth {
    /// Kernels of one array, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = ["poly", "gelu", "sincos", "elu"].map(String::from))]
    kernels: Vec<String>,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Elements of the largest arrays; both take 4 bytes for each.
    #[arg(long, default_value_t = 1_000_000_000)]
    most: usize,
    /// Seconds that each size is timed for.
    #[arg(long, default_value_t = 1.0)]
    budget: f64,
}

impl Growth {
    /// Prints a row for each kernel and number of threads: nanoseconds for an element of `f32`, the median, for each size.
    pub fn run(self) -> Result<()> {
        let sizes: Vec<usize> = (6..).map(|digits| 10usize.pow(digits)).take_while(|&n| n <= self.most).collect();
        print!("{:<8} {:>7}", "kernel", "threads");
        sizes.iter().for_each(|n| print!(" {n:>10}"));
        println!(" {:>8}", "longest");
        for kernel in KERNELS.iter().filter(|kernel| self.kernels.iter().any(|name| name == kernel.name)) {
            let Function::One(function) = kernel.function else { continue };
            for &threads in &self.threads {
                let f = jit(function).threads(threads);
                print!("{:<8} {threads:>7}", kernel.name);
                let mut all = Vec::new();
                for &n in &sizes {
                    let x = arange(n).cast(DType::F32) * (6.0 / n as f64) - 3.0;
                    x.eval()?;
                    let mut out = vec![0f32; n];
                    f.call_into((&x,), &mut out[..])?;
                    let each = time(self.budget, || drop(f.call_into((&x,), &mut out[..]))).median / n as f64;
                    print!(" {:>10.3}", each * 1e9);
                    all.push(each);
                }
                // Relative to the minimum: 1 if the time per element is constant.
                let (least, most) = all.iter().fold((f64::MAX, 0f64), |(least, most), &t| (least.min(t), most.max(t)));
                println!(" {:>8.2}", most / least);
            }
        }
        Ok(())
    }
}
