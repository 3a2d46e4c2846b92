//! Scans of any numbers of rows and blocks, side by side and in registers, against the interpreter.

use ndjit::{Array, DType, Expr, cummax, cummin, cumulative_prod, cumulative_sum, jit};

fn bits(x: &Array) -> Vec<u64> {
    let bits = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    x.cast(DType::F64).to_vec::<f64>().unwrap().iter().map(bits).collect()
}

/// Numbers around 1 and -1, some zeros of both signs, infinities and NaNs where there are any.
fn array(shape: &[usize], dtype: DType) -> Array {
    let element = |i: usize| match i * 7919 % 1013 {
        0 if dtype.is_float() && i > 3000 => f64::NAN,
        1 if dtype.is_float() => f64::NEG_INFINITY,
        2..9 => -0.0,
        n if dtype == DType::U8 || dtype == DType::U32 => n as f64 / 8.0,
        n => (if n % 2 == 0 { -1.0 } else { 1.0 }) + n as f64 / 5000.0,
    };
    let n: usize = shape.iter().product();
    let scale = if dtype.is_float() { 1.0 } else { 100.0 };
    let elements: Vec<f64> = (0..n).map(|i| (element(i) * scale).clamp(-120.0, 120.0)).collect();
    Array::from(elements).reshape(shape.iter().map(|&extent| extent as i64).collect::<Vec<i64>>()).cast(dtype)
}

const SCANS: [fn(Expr) -> Expr; 6] = [
    |x| cumulative_sum(x, -1),
    |x| cumulative_prod(x * 1, -1),
    |x| cummax(x, -1),
    |x| cummin(x + 1, -1),
    |x| cumulative_sum(x * x - 1, 0),
    // Elements computed of several arrays, one of them read backwards.
    |x| cummax(x * x.slice((.., ndjit::step(-1))) + x.slice((0, ..)), -1),
];

#[test]
fn any_rows_and_blocks_are_the_interpreters() {
    let shapes =
        [[1, 1], [3, 17], [4, 16], [5, 33], [9, 100], [1, 1024], [2, 4095], [1, 4096], [3, 5000], [6, 9000], [1030, 7]];
    for dtype in [DType::F32, DType::F64, DType::F16, DType::I32, DType::I64, DType::U8, DType::U32, DType::C64] {
        for shape in shapes {
            let x = array(&shape, dtype);
            for (at, f) in SCANS.into_iter().enumerate() {
                if dtype == DType::C64 && ![0, 1, 4].contains(&at) {
                    continue;
                }
                let real = move |x: Expr| if dtype == DType::C64 { ndjit::real(f(x)) } else { f(x) };
                let expected = jit(real).interpreted(true).call((&x,)).unwrap();
                for threads in [1, 3] {
                    let given = jit(real).threads(threads).call((&x,)).unwrap();
                    assert!(bits(&given) == bits(&expected), "scan {at} of {dtype}{shape:?}, {threads} threads");
                }
            }
        }
    }
}
