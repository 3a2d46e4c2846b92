//! Errors of compiled functions: inputs in chunks, each chunk one call.

use ndjit::{DType, Op, Policy, Result, Shape, ValueType};
use ndjit_codegen::passes::schedule::contiguous;
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{Graph, NodeKind, Places};
use ndjit_ir::op::{cast_body, load_body, store_body};
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use serde_json::{Value, json};

/// Inputs of a chunk.
pub const CHUNK: usize = 1 << 16;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    pub inputs: u64,
    /// The largest error in ULP of the result, and where.
    pub error: f64,
    pub at: f64,
    /// Results that are not the nearest number.
    pub not_nearest: u64,
    /// Results that are NaN, infinite, or of another sign where the exact one is not, or the other way round.
    pub wrong: u64,
}

impl Figures {
    pub fn add(&mut self, other: &Figures) {
        self.inputs += other.inputs;
        self.not_nearest += other.not_nearest;
        self.wrong += other.wrong;
        if other.error > self.error {
            (self.error, self.at) = (other.error, other.at);
        }
    }

    fn note(&mut self, x: f64, error: f64, nearest: bool, wrong: bool) {
        self.inputs += 1;
        self.not_nearest += u64::from(!nearest);
        self.wrong += u64::from(wrong);
        if error > self.error {
            (self.error, self.at) = (error, x);
        }
    }

    pub fn to_json(&self) -> Value {
        let Figures { inputs, error, at, not_nearest, wrong } = self;
        json!({ "inputs": inputs, "error": error, "at": format!("{at:e}"), "not_nearest": not_nearest, "wrong": wrong })
    }

    pub fn from_json(value: &Value) -> Option<Figures> {
        Some(Figures {
            inputs: value["inputs"].as_u64()?,
            error: value["error"].as_f64()?,
            at: value["at"].as_str()?.parse().ok()?,
            not_nearest: value["not_nearest"].as_u64()?,
            wrong: value["wrong"].as_u64()?,
        })
    }
}

/// A compiled function on chunks of one dtype.
pub struct Kernel {
    pub dtype: DType,
    executable: Executable,
}

impl Kernel {
    pub fn new(op: Op, dtype: DType) -> Result<Kernel> {
        let shape = Shape::from([CHUNK]);
        let mut graph: Graph<ValueType> = Graph::new();
        let x = graph.param(dtype.into(), &shape);
        let result = Policy::default().resolve_op(op, &[dtype.into()])?.result;
        let id = graph.intern(&shape);
        let value = graph.add(NodeKind::Op(op, Policy::default()), &[x], &[(result, id)]);
        graph.set_outputs(vec![value]);
        let lowered = lower(&graph, &Places::default(), &[contiguous(&shape, dtype)?], &Options::default())?;
        let options = RunOptions { threads: Some(1), ..RunOptions::default() };
        Ok(Kernel { dtype, executable: Executable::new(&lowered, &options)? })
    }

    /// The results for inputs given by their bits.
    fn run(&self, inputs: &[u64]) -> Result<Vec<u64>> {
        let size = self.dtype.bytes();
        let mut bytes: Vec<u8> = inputs.iter().flat_map(|x| x.to_le_bytes().into_iter().take(size)).collect();
        bytes.resize(CHUNK * size, 0);
        let mut results = vec![0u8; CHUNK * size];
        self.executable.run([Argument::Borrowed(&bytes)], &[], &mut [Output::Into(&mut results)])?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        Ok(results.chunks_exact(size).take(inputs.len()).map(word).collect())
    }

    /// Compares the results for some inputs with a correctly rounded function.
    ///
    /// # Errors
    /// What running the kernel gives.
    pub fn measure(&self, inputs: &[u64], reference: fn(f64) -> f64) -> Result<Figures> {
        let mut figures = Figures::default();
        for (&bits, got) in inputs.iter().zip(self.run(inputs)?) {
            let (x, got) = (self.value(bits), self.value(got));
            if x.is_nan() {
                continue;
            }
            let exact = reference(x);
            let nearest = self.value(self.rounded(exact));
            let wrong = got.is_nan() != exact.is_nan()
                || got.is_infinite() != nearest.is_infinite()
                || !exact.is_nan() && got.is_sign_negative() != exact.is_sign_negative();
            let same = got == nearest || got.is_nan() && nearest.is_nan();
            let error = match (same, got.is_finite() && nearest.is_finite()) {
                // Of f64 the reference is rounded itself: floats are counted, and half of one is not known.
                (true, _) if self.dtype == DType::F64 => 0.5,
                (true, false) => 0.0,
                (false, false) => f64::INFINITY,
                (_, true) if self.dtype == DType::F64 => 0.5 + ((got - nearest) / self.ulp(nearest)).abs(),
                (_, true) => ((got - exact) / self.ulp(exact)).abs(),
            };
            figures.note(x, error, same, wrong);
        }
        Ok(figures)
    }

    /// The value of an element by its bits.
    fn value(&self, bits: u64) -> f64 {
        match self.dtype {
            DType::F64 => f64::from_bits(bits),
            DType::F32 => f64::from(f32::from_bits(bits as u32)),
            half => f64::from(f32::from_bits(load_body(half).eval(&[bits])[0] as u32)),
        }
    }

    /// The bits of the nearest number.
    fn rounded(&self, exact: f64) -> u64 {
        match self.dtype {
            DType::F64 => exact.to_bits(),
            DType::F32 => u64::from((exact as f32).to_bits()),
            half => store_body(half).eval(&cast_body(DType::F64, half).eval(&[exact.to_bits()]))[0],
        }
    }

    /// The distance of numbers of the dtype around a value.
    fn ulp(&self, x: f64) -> f64 {
        let (digits, least) = match self.dtype {
            DType::F64 => (52, -1022),
            DType::F32 => (23, -126),
            DType::F16 => (10, -14),
            _ => (7, -126),
        };
        // Of subnormal f64 the exponent is that of the least normal.
        let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
        power_of_two(exponent - digits)
    }
}

/// `2^exponent`, exact also where it is subnormal, which `powi` is not.
fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        ..-1022 => f64::from_bits(1 << (exponent + 1074)),
        _ => f64::from_bits(((exponent + 1023) as u64) << 52),
    }
}

/// The inputs of a dtype: how many chunks there are, and each of them. All of the halves; of `f32` all, or every `stride`th;
/// of `f64` random ones of each exponent, and of ranges where functions are not trivial.
pub struct Inputs {
    pub dtype: DType,
    pub stride: u64,
    /// Of `f64`.
    pub count: u64,
}

impl Inputs {
    pub fn len(&self) -> u64 {
        match self.dtype {
            DType::F64 => self.count,
            DType::F32 => (1u64 << 32).div_ceil(self.stride),
            _ => 1 << 16,
        }
    }

    pub fn chunks(&self) -> u64 {
        self.len().div_ceil(CHUNK as u64)
    }

    pub fn chunk(&self, index: u64) -> Vec<u64> {
        let start = index * CHUNK as u64;
        let end = self.len().min(start + CHUNK as u64);
        (start..end)
            .map(|i| match self.dtype {
                DType::F64 => random(i),
                DType::F32 => i * self.stride,
                _ => i,
            })
            .collect()
    }
}

/// The `i`th of the random `f64`: half of them with every exponent and sign equally often, the others in ranges.
fn random(i: u64) -> u64 {
    // SplitMix64 (Steele, Lea, Flood 2014).
    let mut z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    if i.is_multiple_of(2) {
        return z;
    }
    let unit = (z >> 11) as f64 / 2f64.powi(53) - 0.5;
    let x = match i / 2 % 6 {
        0 => 2.0 * unit,
        1 => 4.0 * unit,
        2 => 60.0 * unit,
        3 => 1500.0 * unit,
        4 => 1.0 + unit * 2f64.powi(-((i / 12 % 40) as i32)),
        _ => unit * 2f64.powi(-((i / 12 % 60) as i32)),
    };
    x.to_bits()
}
