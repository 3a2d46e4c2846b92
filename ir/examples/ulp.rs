//! Prints the largest error of the functions below per dtype, in units in the last place of the correctly rounded
//! result: `cargo run --release -p ndjit-ir --example ulp [stride]`.
//!
//! Halves and, with a stride of 1, `f32` are exhaustive (a stride of 1 takes hours: bodies are interpreted); `f64` is a
//! stratified sample of all exponents and of the ranges where the functions are not trivial.

use ndjit_ir::DType;
use ndjit_ir::body::Body;
use ndjit_ir::op::{Op, body, load_body, store_body};

type Reference32 = fn(f32) -> f32;
type Reference64 = fn(f64) -> f64;

const FUNCTIONS: &[(Op, Reference32, Reference64)] = &[
    (Op::Exp, core_math::expf, core_math::exp),
    (Op::Log, core_math::logf, core_math::log),
    (Op::Sin, core_math::sinf, core_math::sin),
    (Op::Cos, core_math::cosf, core_math::cos),
    (Op::Tan, core_math::tanf, core_math::tan),
    (Op::Asin, core_math::asinf, core_math::asin),
    (Op::Acos, core_math::acosf, core_math::acos),
    (Op::Atan, core_math::atanf, core_math::atan),
    (Op::Tanh, core_math::tanhf, core_math::tanh),
];

fn main() {
    let stride: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1009);
    println!("{:<6}{:<6}{:>12}{:>9}{:>16}  at", "op", "dtype", "inputs", "max ULP", "not nearest");
    for &(op, reference32, reference64) in FUNCTIONS {
        for dtype in [DType::F16, DType::Bf16] {
            report(op, dtype, halves(op, dtype, reference64));
        }
        let singles = (0..=u32::MAX).step_by(stride.max(1)).map(|bits| {
            let x = f32::from_bits(bits);
            (f64::from(x), u64::from(bits), u64::from(reference32(x).to_bits()))
        });
        let made = body(op, DType::F32);
        report(op, DType::F32, measure(&made, 32, singles));
        let doubles = samples().map(|x| (x, x.to_bits(), reference64(x).to_bits()));
        report(op, DType::F64, measure(&body(op, DType::F64), 64, doubles));
    }
}

/// Largest error, its argument, how many results were not the nearest float, and how many were looked at.
#[derive(Default)]
struct Figures {
    worst: u64,
    at: f64,
    not_nearest: u64,
    inputs: u64,
}

fn report(op: Op, dtype: DType, f: Figures) {
    println!("{op:<6}{dtype:<6}{:>12}{:>9}{:>16}  {:e}", f.inputs, f.worst, f.not_nearest, f.at);
}

/// Compares a body with (argument, its bits, the expected bits).
fn measure(body: &Body, width: u32, cases: impl Iterator<Item = (f64, u64, u64)>) -> Figures {
    let mut figures = Figures::default();
    let mut regs = Vec::new();
    for (x, bits, expected) in cases {
        body.eval_in(&[bits], &mut regs);
        let got = regs[body.outputs[0].index()];
        let ulp = steps(got, expected, width);
        figures.inputs += 1;
        figures.not_nearest += u64::from(ulp > 0);
        if ulp > figures.worst {
            (figures.worst, figures.at) = (ulp, x);
        }
    }
    figures
}

/// Floats between two results, NaNs being equal.
fn steps(got: u64, expected: u64, width: u32) -> u64 {
    let sign = 1u64 << (width - 1);
    let infinity = if width == 32 { 0x7f80_0000 } else { 0x7ff0_0000_0000_0000 };
    if got & !sign > infinity && expected & !sign > infinity {
        return 0;
    }
    let ordered = |bits: u64| if bits & sign != 0 { -i128::from(bits & !sign) } else { i128::from(bits) };
    ordered(got).abs_diff(ordered(expected)) as u64
}

/// All values of a half, through load and store, against the half nearest to the correctly rounded `f64`.
fn halves(op: Op, dtype: DType, reference: Reference64) -> Figures {
    let (load, made, store) = (load_body(dtype), body(op, dtype), store_body(dtype));
    let round = ndjit_ir::op::cast_body(DType::F64, dtype);
    let mut figures = Figures::default();
    for bits in 0..=u64::from(u16::MAX) {
        let x = load.eval(&[bits]);
        let value = f64::from(f32::from_bits(x[0] as u32));
        let got = store.eval(&made.eval(&x))[0];
        let expected = store.eval(&round.eval(&[reference(value).to_bits()]))[0];
        let signed = |bits: u64| if bits >> 15 == 1 { -((bits & 0x7fff) as i64) } else { bits as i64 };
        let ulp = signed(got).abs_diff(signed(expected));
        figures.inputs += 1;
        figures.not_nearest += u64::from(ulp > 0);
        if ulp > figures.worst {
            (figures.worst, figures.at) = (ulp, value);
        }
    }
    figures
}

/// `f64` arguments: 40 of each exponent and sign, then dense in ranges of interest.
fn samples() -> impl Iterator<Item = f64> {
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 33
    };
    (0..4096u64 * 40 + 300_000).map(move |i| {
        let random = next();
        if i < 4096 * 40 {
            return f64::from_bits((i / 40) << 52 | random >> 12);
        }
        let unit = (random >> 11) as f64 / 2f64.powi(53) - 0.5;
        match i % 5 {
            0 => unit,
            1 => 4.0 * unit,
            2 => 60.0 * unit,
            3 => 1480.0 * unit,
            _ => 1.0 + unit,
        }
    })
}
