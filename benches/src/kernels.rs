//! The twelve kernels: definitions, sizes, and calls.

use crate::check::{self, Reference};
use crate::inputs::{self, Input, Made};
use crate::numpy_name;
use crate::probe::Machine;
use crate::timing::{Times, time};
use ndjit::{
    Array, Complex, DType, Expr, Result, VectorWidth, cos, exp, expm1, jit, keepdims, log, max, sin, sqrt, sum, tanh,
    where_,
};
use serde_json::json;

/// Coefficients of the polynomial, from the constant one.
pub const COEFFICIENTS: [f64; 11] = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8, 0.9, -1.0, 1.1];
const SIZES: &[usize] = &[1000, 100_000, 10_000_000];

/// A traced function of so many arrays.
pub enum Function {
    /// One.
    One(fn(Expr) -> Expr),
    /// Two.
    Two(fn(Expr, Expr) -> Expr),
    /// Three.
    Three(fn(Expr, Expr, Expr) -> Expr),
    /// Four.
    Four(fn(Expr, Expr, Expr, Expr) -> Expr),
}

/// A kernel of the comparison of libraries.
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    /// Elements of its result; for a reduction, of its arguments.
    pub sizes: &'static [usize],
    /// Whether it is also timed in `f64`.
    pub double: bool,
    /// Its arguments.
    pub inputs: &'static [Input],
    /// What it computes.
    pub function: Function,
    /// The same in `f64`.
    pub reference: Reference,
    /// Arithmetic operations per element; a library function counts as one.
    pub operations: f64,
    /// Whether its first argument is donated.
    pub donates: bool,
    /// The maximum error, relative to the largest element.
    pub tolerance: f64,
}

const HALF: Input = Input::Uniform(-1.0, 1.0);
const WIDE: Input = Input::Uniform(-3.0, 3.0);

/// All of them.
pub const KERNELS: &[Kernel] = &[
    Kernel {
        name: "axpy",
        double: true,
        inputs: &[HALF, HALF],
        function: Function::Two(|x, y| x + y * 2),
        reference: Reference::Elements(|a| a[0] + a[1] * 2.0),
        operations: 2.0,
        ..BASE
    },
    Kernel {
        name: "poly",
        double: true,
        inputs: &[HALF],
        function: Function::One(|x| {
            let first = x * COEFFICIENTS[10] + COEFFICIENTS[9];
            COEFFICIENTS[..9].iter().rev().fold(first, |a, &c| a * x + c)
        }),
        reference: Reference::Elements(|a| COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * a[0] + c)),
        operations: 20.0,
        ..BASE
    },
    Kernel {
        name: "bs",
        inputs: &[
            Input::Uniform(50.0, 150.0),
            Input::Uniform(50.0, 150.0),
            Input::Uniform(0.1, 2.0),
            Input::Uniform(0.1, 0.6),
        ],
        function: Function::Four(|s, k, t, v| {
            let deviation = v * sqrt(t);
            let d1 = (log(s / k) + (v * v * 0.5 + 0.03) * t) / deviation;
            let d2 = d1 - deviation;
            let normal = |d: Expr| 1.0 / (exp(d * -1.702) + 1);
            s * normal(d1) - k * exp(t * -0.03) * normal(d2)
        }),
        reference: Reference::Elements(|a| {
            let [s, k, t, v] = [a[0], a[1], a[2], a[3]];
            let deviation = v * t.sqrt();
            let d1 = ((s / k).ln() + (0.03 + 0.5 * v * v) * t) / deviation;
            let normal = |d: f64| 1.0 / (1.0 + (-1.702 * d).exp());
            s * normal(d1) - k * (-0.03 * t).exp() * normal(d1 - deviation)
        }),
        operations: 24.0,
        donates: false,
        ..BASE
    },
    Kernel {
        name: "gelu",
        double: true,
        inputs: &[WIDE],
        function: Function::One(|x| x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.79788456) + 1)),
        reference: Reference::Elements(|a| {
            0.5 * a[0] * (1.0 + (0.79788456 * (a[0] + 0.044715 * a[0] * a[0] * a[0])).tanh())
        }),
        operations: 9.0,
        ..BASE
    },
    Kernel {
        name: "sincos",
        inputs: &[WIDE],
        function: Function::One(|x| sin(x) * sin(x) + cos(x) * cos(x)),
        reference: Reference::Elements(|_| 1.0),
        operations: 5.0,
        ..BASE
    },
    Kernel {
        name: "hypot3",
        inputs: &[HALF, HALF, HALF],
        function: Function::Three(|x, y, z| sqrt(x * x + y * y + z * z)),
        reference: Reference::Elements(|a| (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()),
        operations: 6.0,
        ..BASE
    },
    Kernel {
        name: "mixed",
        inputs: &[Input::Integers(DType::I32), HALF, Input::Integers(DType::I8)],
        function: Function::Three(|i, f, b| i * f + b),
        reference: Reference::Elements(|a| a[0] * a[1] + a[2]),
        operations: 2.0,
        donates: false,
        ..BASE
    },
    Kernel {
        name: "sumsq",
        double: true,
        inputs: &[HALF, HALF],
        function: Function::Two(|x, y| {
            let d = x - y;
            sum(d * d, ..)
        }),
        reference: Reference::Sum(|a| (a[0] - a[1]) * (a[0] - a[1])),
        operations: 3.0,
        donates: false,
        ..BASE
    },
    Kernel {
        name: "softmax",
        sizes: &[1_000_000],
        inputs: &[WIDE],
        function: Function::One(|x| {
            let e = exp(x - max(x, keepdims(-1)));
            e / sum(e, keepdims(-1))
        }),
        reference: Reference::Softmax(1000),
        operations: 5.0,
        donates: false,
        ..BASE
    },
    Kernel {
        name: "outer",
        sizes: &[9_000_000],
        inputs: &[Input::Uniform(-2.0, 2.0), Input::Uniform(-2.0, 2.0)],
        function: Function::Two(|a, b| {
            let d = a - b;
            exp(-(d * d))
        }),
        reference: Reference::Outer(|a, b| (-(a - b) * (a - b)).exp()),
        operations: 4.0,
        donates: false,
        ..BASE
    },
    Kernel {
        name: "elu",
        inputs: &[WIDE],
        function: Function::One(|x| where_(x.gt(0), x, expm1(x))),
        reference: Reference::Elements(|a| if a[0] > 0.0 { a[0] } else { a[0].exp_m1() }),
        operations: 3.0,
        ..BASE
    },
    Kernel {
        name: "mandel",
        sizes: &[1_000_000],
        inputs: &[Input::Disc],
        function: Function::One(|c| (0..20).fold(c, |z, _| z * z + c)),
        reference: Reference::Complex(|c| (0..20).fold(c, |z, _| z * z + c)),
        operations: 160.0,
        donates: false,
        ..BASE
    },
];

const BASE: Kernel = Kernel {
    name: "",
    sizes: SIZES,
    double: false,
    inputs: &[],
    function: Function::One(|x| x),
    reference: Reference::Elements(|a| a[0]),
    operations: 0.0,
    donates: true,
    tolerance: 2e-6,
};

/// A row of the table.
pub struct Row {
    mode: &'static str,
    times: Times,
    bytes: usize,
}

/// Options of timing.
#[derive(Clone, Copy)]
pub struct Setting {
    pub threads: usize,
    pub width: VectorWidth,
    /// Whether products and sums are contracted.
    pub fp_contract: bool,
    /// Seconds for each row.
    pub budget: f64,
}

impl Kernel {
    /// Dtypes and sizes.
    pub fn cases(&self) -> impl Iterator<Item = (DType, usize)> + '_ {
        let double = self.sizes.iter().filter(|&&n| self.double && n > 1000);
        self.sizes.iter().map(|&n| (DType::F32, n)).chain(double.map(|&n| (DType::F64, n)))
    }

    /// The shapes of its arguments.
    pub fn shapes(&self, n: usize) -> Vec<Vec<usize>> {
        match self.reference {
            Reference::Softmax(columns) => vec![vec![n / columns, columns]],
            Reference::Outer(_) => {
                let side = n.isqrt();
                vec![vec![side, 1], vec![1, side]]
            }
            _ => vec![vec![n]; self.inputs.len()],
        }
    }

    /// Checks the results, and times all modes.
    pub fn time(&self, dtype: DType, n: usize, setting: Setting) -> Result<Vec<Row>> {
        let budget = setting.budget;
        let made = inputs::make(self.inputs, &self.shapes(n), dtype)?;
        let arrays: Vec<Array> = made.iter().map(|made| made.array.clone()).collect();
        macro_rules! with {
            ($function:expr, $($x:ident)*) => {{
                let f = jit($function).threads(setting.threads).vector(setting.width).fp_contract(setting.fp_contract);
                let [$($x),*] = &arrays[..] else { unreachable!("a kernel has as many inputs as parameters") };
                let result = f.call(($($x,)*))?;
                check::check(self, dtype, &made, &result)?;
                let bytes = bytes(&made, &result);
                let mut rows = vec![Row { mode: "fresh", times: time(budget, || drop(f.call(($($x,)*)))), bytes }];
                if result.len() > 1 {
                    let times = match result.dtype() {
                        DType::F32 => {
                            let mut out = vec![0f32; result.len()];
                            time(budget, || drop(f.call_into(($($x,)*), &mut out[..])))
                        }
                        DType::F64 => {
                            let mut out = vec![0f64; result.len()];
                            time(budget, || drop(f.call_into(($($x,)*), &mut out[..])))
                        }
                        _ => {
                            let mut out = vec![Complex::<f32>::default(); result.len()];
                            time(budget, || drop(f.call_into(($($x,)*), &mut out[..])))
                        }
                    };
                    rows.push(Row { mode: "out", times, bytes });
                }
                rows
            }};
        }
        let mut rows = match self.function {
            Function::One(function) => with!(function, x),
            Function::Two(function) => with!(function, x y),
            Function::Three(function) => with!(function, x y z),
            Function::Four(function) => with!(function, x y z w),
        };
        if self.donates {
            let times = self.donated(&made, setting)?;
            let bytes = rows[0].bytes;
            rows.push(Row { mode: "donate", times, bytes });
        }
        Ok(rows)
    }

    /// The first argument is donated to the result, which becomes the next call's first argument.
    fn donated(&self, made: &[Made], setting: Setting) -> Result<Times> {
        let budget = setting.budget;
        let rest: Vec<&Array> = made[1..].iter().map(|made| &made.array).collect();
        // Nobody else has it.
        let first =
            inputs::make(&self.inputs[..1], &[made[0].array.shape().extents().to_vec()], made[0].array.dtype())?;
        let mut state = first.into_iter().next().map(|made| made.array);
        macro_rules! with {
            ($function:expr, $($x:ident)*) => {{
                let f = jit($function).threads(setting.threads).vector(setting.width).fp_contract(setting.fp_contract);
                let [$($x),*] = rest[..] else { unreachable!("a kernel has as many inputs as parameters") };
                time(budget, || state = state.take().and_then(|state| f.call((state, $($x,)*)).ok()))
            }};
        }
        Ok(match self.function {
            Function::One(function) => with!(function,),
            Function::Two(function) => with!(function, y),
            Function::Three(function) => with!(function, y z),
            Function::Four(function) => with!(function, y z w),
        })
    }
}

fn bytes(made: &[Made], result: &Array) -> usize {
    let size = |array: &Array| array.len() * array.dtype().bytes();
    made.iter().map(|made| size(&made.array)).sum::<usize>() + size(result)
}

impl Row {
    /// The row as JSON.
    pub fn line(
        &self,
        kernel: &Kernel,
        dtype: DType,
        n: usize,
        threads: usize,
        machine: &Machine,
    ) -> serde_json::Value {
        let Times { least, median, calls } = self.times;
        let (bandwidth, operations) = self.rates(kernel, n);
        json!({
            "backend": "ndjit", "threads": threads, "kernel": kernel.name, "dtype": numpy_name(dtype), "n": n, "mode": self.mode,
            "min_s": least, "med_s": median, "reps": calls, "bytes": self.bytes,
            "of_bandwidth": bandwidth / machine.bandwidth(self.bytes), "of_arithmetic": operations / machine.operations(dtype),
        })
    }

    /// The row for people.
    pub fn text(&self, kernel: &Kernel, dtype: DType, n: usize, threads: usize, machine: &Machine) -> String {
        let (bandwidth, operations) = self.rates(kernel, n);
        format!(
            "{:8} {:8} {n:>9} threads {threads} {:7} {:>10.1} us {:>7.1} GB/s ({:.2}) {:>7.1} Gop/s ({:.2})",
            kernel.name,
            numpy_name(dtype),
            self.mode,
            self.times.least * 1e6,
            bandwidth / 1e9,
            bandwidth / machine.bandwidth(self.bytes),
            operations / 1e9,
            operations / machine.operations(dtype)
        )
    }

    /// Bytes and operations a second.
    fn rates(&self, kernel: &Kernel, n: usize) -> (f64, f64) {
        (self.bytes as f64 / self.times.least, kernel.operations * n as f64 / self.times.least)
    }
}
