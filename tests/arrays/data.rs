//! Elements: from text, in arrays of all layouts, and back.

use crate::call::Case;
use ndjit::{Array, DType, Result, Shape};
use ndjit_ir::view::Slice;
use ndjit_math::interp::Tensor;
use ndjit_runtime::{bytes_of, pod};
use serde_json::Value;

/// The storage words of a number, or of a complex one as `re:im`. Integers wrap.
pub fn words(dtype: DType, text: &str) -> Vec<u64> {
    let part = |text: &str| -> u64 {
        let float = || text.parse::<f64>().unwrap_or_else(|e| panic!("{text}: {e}"));
        match dtype.real() {
            DType::F16 => half::f16::from_f64(float()).to_bits().into(),
            DType::Bf16 => half::bf16::from_f64(float()).to_bits().into(),
            DType::F32 => (float() as f32).to_bits().into(),
            DType::F64 => float().to_bits(),
            integer => {
                let number = text.parse::<i128>().unwrap_or_else(|e| panic!("{text} as {integer}: {e}")) as u64;
                let bits = 8 * integer.bytes() as u32;
                number & (u64::MAX >> (64 - bits))
            }
        }
    };
    let mut words: Vec<u64> = text.split(':').map(part).collect();
    words.resize(dtype.storage().len(), 0);
    words
}

/// The parts of an element as `f64`: the second is 0 for a real one.
pub fn parts(tensor: &Tensor, at: usize) -> [f64; 2] {
    let words = tensor.get(at);
    let part = |word: u64| match tensor.dtype.real() {
        DType::F16 => half::f16::from_bits(word as u16).to_f64(),
        DType::Bf16 => half::bf16::from_bits(word as u16).to_f64(),
        DType::F32 => f32::from_bits(word as u32).into(),
        DType::F64 => f64::from_bits(word),
        integer if integer.is_signed() => {
            let unused = 64 - 8 * integer.bytes() as u32;
            (((word << unused) as i64) >> unused) as f64
        }
        _ => word as f64,
    };
    [part(words[0]), words.get(1).map_or(0.0, |&word| part(word))]
}

/// The operands of a case: each continues where the previous one ends. Positions and masks follow.
pub fn operands(pools: &Value, case: &Case) -> Vec<Tensor> {
    let mut begin = 0;
    let operand = |(&dtype, shape): (&DType, &Vec<usize>)| {
        let pool: Vec<&str> = pools[case.pool][dtype.name()].as_str().expect("elements").split(' ').collect();
        let element = |i: usize| words(dtype, pool[(begin + i) % pool.len()]);
        let tensor = Tensor::from_words(dtype, Shape::new(shape), element).expect("a small array");
        begin += tensor.len();
        tensor
    };
    let operands = case.dtypes.iter().zip(&case.shapes).map(operand);
    operands.collect::<Vec<_>>().into_iter().chain(case.index.iter().cloned()).collect()
}

macro_rules! typed {
    ($dtype:expr, $t:ident => $typed:expr) => {
        typed! {
            $dtype, $t => $typed;
            Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 ndjit::f16, Bf16 ndjit::bf16,
            F32 f32, F64 f64, C64 ndjit::Complex<f32>, C128 ndjit::Complex<f64>
        }
    };
    ($dtype:expr, $t:ident => $typed:expr; $($variant:ident $rust:ty),*) => {
        match $dtype {
            $(DType::$variant => {
                type $t = $rust;
                $typed
            })*
        }
    };
}

/// An array in row-major order.
pub fn array(tensor: &Tensor) -> Array {
    let Tensor { dtype, shape, bytes } = tensor;
    typed!(*dtype, T => Array::from_shape_vec(shape.clone(), pod::read::<T>(bytes).expect("elements")).expect("an array"))
}

pub fn tensor(array: &Array) -> Result<Tensor> {
    let (dtype, shape) = (array.eval()?.dtype(), array.shape().clone());
    let bytes = typed!(dtype, T => bytes_of(&array.to_vec::<T>()?).to_vec());
    Ok(Tensor { dtype, shape, bytes })
}

/// The same elements as every second one of a larger array, with axes in reverse order, and every other axis backwards.
pub fn strided(tensor: &Tensor) -> Array {
    let extents = tensor.shape.extents();
    // Axes of extent 1 stay: otherwise arrays of high rank would grow by 3 for each.
    let large = |extent: usize| if extent == 1 { 1 } else { 2 * extent + 1 };
    let backwards = |axis: usize| axis.is_multiple_of(2);
    let reversed: Vec<usize> = extents.iter().rev().map(|&extent| large(extent)).collect();
    // Memory between the elements is nonzero, so wrong reads change sums.
    let mut whole = Tensor::zeros(tensor.dtype, Shape::from(reversed)).expect("a small array");
    (0..whole.len()).filter(|_| !tensor.is_empty()).for_each(|at| whole.set(at, &tensor.get(at * 3 % tensor.len())));
    for index in 0..tensor.len() {
        let (mut rest, mut at) = (index, 0);
        for (axis, &extent) in extents.iter().enumerate().rev() {
            let own = rest % extent;
            rest /= extent;
            let place = match (extent, backwards(axis)) {
                (1, _) => 0,
                (_, true) => 2 * (extent - 1 - own) + 1,
                (_, false) => 2 * own + 1,
            };
            at += place * extents[..axis].iter().map(|&before| large(before)).product::<usize>();
        }
        whole.set(at, &tensor.get(index));
    }
    let part = |(axis, &extent): (usize, &usize)| match extent {
        1 => Slice::ALL,
        _ => {
            Slice::Range { start: Some(1), end: Some(2 * extent as isize), step: if backwards(axis) { -2 } else { 2 } }
        }
    };
    let parts: Vec<Slice> = extents.iter().enumerate().map(part).collect();
    let order: Vec<usize> = (0..extents.len()).rev().collect();
    array(&whole).permute_dims(order).slice(&parts[..])
}
