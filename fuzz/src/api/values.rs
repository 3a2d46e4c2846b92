//! Arguments of calls: integers, axes, shapes, scalars and arrays, most of them valid, some hostile.

use crate::choices::Choices;
use ndjit::reductions::IntoAxes;
use ndjit::{Array, Axes, DType, Element, Result, Scalar, Shape, Slice, keepdims, strong, weak};
use ndjit::{Complex, bf16, f16};
use ndjit_math::interp::Tensor;
use ndjit_random::{Rng, tensor};

/// Integers that overflow sizes, offsets and casts, and adjacent ones.
const HOSTILE: &[isize] = &[
    isize::MIN,
    isize::MIN + 1,
    isize::MAX,
    isize::MAX - 1,
    1 << 7,
    1 << 8,
    (1 << 15) + 1,
    (1 << 16) - 1,
    1 << 31,
    (1 << 31) - 1,
    -(1 << 31),
    -(1 << 31) - 1,
    1 << 32,
    (1 << 32) - 1,
    (1 << 53) + 1,
    1 << 60,
    -(1 << 60),
    1 << 61,
    1 << 62,
    (1 << 62) + 1,
];

/// An integer: small, one time in eight hostile.
pub fn integer(c: &mut Choices) -> isize {
    if c.one_in(8) { c.pick(HOSTILE) } else { c.pick(&[0, 1, -1, 2, -2, 3, 4, -3, 5, 7, -8, 10]) }
}

/// A count: small, one time in eight hostile.
pub fn count(c: &mut Choices) -> usize {
    match c.one_in(8) {
        true if c.one_in(4) => c.pick(&[usize::MAX, usize::MAX - 1, 1 << 63, (1 << 63) - 1]),
        true => c.pick(HOSTILE).unsigned_abs(),
        false => c.pick(&[1, 0, 2, 3, 4, 5, 8, 17]),
    }
}

/// Integers, of the given number or another.
pub fn integers(c: &mut Choices, len: usize) -> Vec<isize> {
    let len = if c.one_in(8) { c.below(6) } else { len };
    (0..len).map(|_| integer(c)).collect()
}

/// An axis below this rank, or an invalid one.
pub fn axis(c: &mut Choices, rank: usize) -> isize {
    match c.one_in(12) {
        true => integer(c),
        false if rank == 0 => 0,
        false => c.below(2 * rank) as isize - if c.one_in(2) { rank as isize } else { 0 }.min(rank as isize),
    }
}

/// Some axes, rarely repeated or invalid.
pub fn axis_list(c: &mut Choices, rank: usize) -> Vec<isize> {
    let mut axes: Vec<isize> = (0..rank as isize).filter(|_| c.one_in(2)).collect();
    if c.one_in(8) {
        axes.push(axis(c, rank));
    }
    axes
}

/// Axes of a reduction.
pub fn axes(c: &mut Choices, rank: usize) -> Axes {
    let axes = match c.below(3) {
        0 => (..).axes(),
        1 => axis(c, rank).axes(),
        _ => axis_list(c, rank).axes(),
    };
    if c.one_in(4) { keepdims(axes) } else { axes }
}

/// A permutation of axes, or an invalid one.
pub fn permutation(c: &mut Choices, rank: usize) -> Vec<isize> {
    let mut axes: Vec<isize> = (0..rank as isize).collect();
    (1..rank).rev().for_each(|last| axes.swap(last, c.below(last + 1)));
    if c.one_in(8) {
        axes.push(axis(c, rank));
    }
    axes
}

/// A shape of few elements.
pub fn small_shape(c: &mut Choices) -> Shape {
    let extents: Vec<usize> = match c.below(16) {
        0..=2 => vec![],
        3..=5 => vec![c.pick(&[3, 1, 2, 5, 8])],
        6..=8 => vec![c.pick(&[2, 3, 1, 4]), c.pick(&[3, 2, 1, 5])],
        9 | 10 => vec![c.pick(&[2, 1, 3]), c.pick(&[1, 2, 3]), c.pick(&[2, 3, 1])],
        11 => vec![2, 1, 2, 1, 3],
        12 => vec![c.pick(&[17, 33, 64, 70, 129])],
        13 => vec![c.pick(&[2, 3]), c.pick(&[17, 20, 33])],
        14 => (0..c.below(12)).map(|_| c.pick(&[1, 1, 2])).collect(),
        _ => vec![c.pick(&[0, 2]), c.pick(&[3, 0]), c.pick(&[1, 0])],
    };
    extents.into()
}

/// A requested shape: one time in four of high rank or with huge extents.
pub fn shape(c: &mut Choices) -> Shape {
    if !c.one_in(4) {
        return small_shape(c);
    }
    let rank = c.pick(&[1, 2, 3, 8, 16, 32, 33]);
    let extents: Vec<usize> = (0..rank).map(|_| if c.one_in(2) { 1 } else { count(c) }).collect();
    extents.into()
}

/// The shape, if an array of it takes little memory or more than there is, otherwise a small one: sizes between may be available, but
/// take long to fill.
pub fn given_or_refused(shape: Shape) -> Shape {
    match shape.size() {
        Ok(size) if (1 << 16..1 << 46).contains(&size) => Shape::from(7),
        _ => shape,
    }
}

/// The count, by the same rule.
pub fn count_given_or_refused(c: &mut Choices) -> usize {
    Some(count(c)).filter(|count| !(1 << 16..1 << 46).contains(count)).unwrap_or(7)
}

/// A term of a sequence, which has few elements with others of these, or exceeds memory.
pub fn bound(c: &mut Choices) -> Scalar {
    match c.below(4) {
        0 | 1 => weak(c.pick(&[3, 0, 1, -1, 10, -7, 1 << 60, i64::MAX, i64::MIN])),
        2 => weak(c.pick(&[2.5, 0.0, -0.0, 1.0, -3.0, 1e300, f64::NAN, f64::INFINITY, 5e-324])),
        _ => c.pick(&[
            strong(5u8),
            strong(-3i8),
            strong(bf16::ONE),
            strong(2.5f32),
            strong(1e300),
            strong(u64::MAX),
            strong(true),
            weak(Complex::new(1.0, 0.0)),
        ]),
    }
}

/// A dtype.
pub fn any_dtype(c: &mut Choices) -> DType {
    c.pick(&DType::ALL)
}

/// Edge values of float functions.
pub fn float(c: &mut Choices) -> f64 {
    c.pick(&[
        1.0,
        0.0,
        -1.0,
        0.5,
        2.0,
        -0.0,
        3.7,
        1e-3,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        1e10,
        -1e300,
        65520.0,
        9007199254740993.0,
    ])
}

/// A scalar, weak or strong.
pub fn number(c: &mut Choices) -> Scalar {
    match c.below(8) {
        0 | 1 => weak(integer(c) as i64),
        2 | 3 => weak(float(c)),
        4 => weak(Complex::new(float(c), float(c))),
        5 => weak(c.one_in(2)),
        _ => {
            let (dtype, integer, float) = (any_dtype(c), integer(c), float(c));
            match dtype {
                DType::Bool => strong(integer % 2 == 0),
                DType::U8 => strong(integer as u8),
                DType::U16 => strong(integer as u16),
                DType::U32 => strong(integer as u32),
                DType::U64 => strong(integer as u64),
                DType::I8 => strong(integer as i8),
                DType::I16 => strong(integer as i16),
                DType::I32 => strong(integer as i32),
                DType::I64 => strong(integer as i64),
                DType::Bf16 => strong(bf16::from_f64(float)),
                DType::F16 => strong(f16::from_f64(float)),
                DType::F32 => strong(float as f32),
                DType::F64 => strong(float),
                DType::C64 => strong(Complex::new(float as f32, integer as f32)),
                DType::C128 => strong(Complex::new(float, integer as f64)),
            }
        }
    }
}

/// A slice of one axis.
pub fn slice(c: &mut Choices) -> Slice {
    let end = |c: &mut Choices| if c.one_in(3) { None } else { Some(integer(c)) };
    match c.below(6) {
        0 | 1 => Slice::ALL,
        2 => Slice::Index(integer(c)),
        3 => Slice::Range { start: end(c), end: end(c), step: c.pick(&[1, -1, 2, -3, isize::MAX, isize::MIN, 0]) },
        4 => c.pick(&[Slice::NewAxis, Slice::Ellipsis]),
        _ => Slice::Range { start: end(c), end: end(c), step: 1 },
    }
}

/// An initial array of few elements, with a dtype or weak.
pub fn array(c: &mut Choices) -> Array {
    let shape = small_shape(c);
    if c.one_in(10) {
        let number = c.pick(&[weak(3), weak(-1.5), weak(Complex::new(0.0, 1.0)), weak(i32::MAX)]);
        return ndjit::broadcast_to(Array::scalar(number), shape);
    }
    let (dtype, mut rng) = (any_dtype(c), Rng::new(c.seed()));
    match tensor(&mut rng, dtype, shape) {
        Ok(tensor) => of_tensor(&tensor),
        Err(error) => panic!("a small array is refused: {error}"),
    }
}

/// Indices into an axis of some extent: an array of integers, most in bounds.
pub fn indices(c: &mut Choices, extent: usize) -> Array {
    let dtype = c.pick(&[DType::I32, DType::I64, DType::U8, DType::I8, DType::U64]);
    let len = c.pick(&[2, 1, 3, 0, 5]);
    let numbers = (0..len).map(|_| match c.one_in(16) {
        true => integer(c) as i64,
        false => c.below(extent.clamp(1, 100)) as i64,
    });
    let array = Array::from(numbers.collect::<Vec<i64>>());
    let array = if c.one_in(4) { array.reshape([1, -1]) } else { array };
    array.cast(dtype)
}

/// Elements that can be read from bytes and written as bytes.
trait Raw: Element {
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut Vec<u8>);
}

macro_rules! raw {
    ($($t:ty)*) => {$(
        impl Raw for $t {
            fn read(bytes: &[u8]) -> $t {
                <$t>::from_ne_bytes(bytes.try_into().unwrap_or_default())
            }
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_ne_bytes());
            }
        }
    )*};
}

raw! { u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 }

impl Raw for bool {
    fn read(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|&byte| byte != 0)
    }
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

macro_rules! raw_complex {
    ($($t:ty)*) => {$(
        impl Raw for Complex<$t> {
            fn read(bytes: &[u8]) -> Complex<$t> {
                let (re, im) = bytes.split_at(bytes.len() / 2);
                Complex::new(Raw::read(re), Raw::read(im))
            }
            fn write(self, bytes: &mut Vec<u8>) {
                self.re.write(bytes);
                self.im.write(bytes);
            }
        }
    )*};
}

raw_complex! { f32 f64 }

/// `$body` with the Rust type of a dtype.
#[macro_export]
macro_rules! with_type {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            ndjit::DType::Bool => $crate::with_type!(@ $t = bool, $body),
            ndjit::DType::U8 => $crate::with_type!(@ $t = u8, $body),
            ndjit::DType::U16 => $crate::with_type!(@ $t = u16, $body),
            ndjit::DType::U32 => $crate::with_type!(@ $t = u32, $body),
            ndjit::DType::U64 => $crate::with_type!(@ $t = u64, $body),
            ndjit::DType::I8 => $crate::with_type!(@ $t = i8, $body),
            ndjit::DType::I16 => $crate::with_type!(@ $t = i16, $body),
            ndjit::DType::I32 => $crate::with_type!(@ $t = i32, $body),
            ndjit::DType::I64 => $crate::with_type!(@ $t = i64, $body),
            ndjit::DType::Bf16 => $crate::with_type!(@ $t = ndjit::bf16, $body),
            ndjit::DType::F16 => $crate::with_type!(@ $t = ndjit::f16, $body),
            ndjit::DType::F32 => $crate::with_type!(@ $t = f32, $body),
            ndjit::DType::F64 => $crate::with_type!(@ $t = f64, $body),
            ndjit::DType::C64 => $crate::with_type!(@ $t = ndjit::Complex<f32>, $body),
            ndjit::DType::C128 => $crate::with_type!(@ $t = ndjit::Complex<f64>, $body),
        }
    };
    (@ $t:ident = $type:ty, $body:expr) => {{
        type $t = $type;
        $body
    }};
}

/// The array of a tensor's elements.
pub fn of_tensor(tensor: &Tensor) -> Array {
    with_type!(tensor.dtype, T => {
        let elements = tensor.bytes.chunks_exact(tensor.dtype.bytes()).map(<T as Raw>::read);
        match Array::from_shape_vec(tensor.shape.clone(), elements.collect::<Vec<T>>()) {
            Ok(array) => array,
            Err(error) => panic!("elements do not fill their own shape: {error}"),
        }
    })
}

/// The elements of an array.
///
/// # Errors
/// Those of evaluating it.
pub fn to_tensor(array: &Array) -> Result<Tensor> {
    let dtype = array.dtype();
    let mut bytes = Vec::new();
    with_type!(dtype, T => array.to_vec::<T>()?.into_iter().for_each(|element| Raw::write(element, &mut bytes)));
    Ok(Tensor { dtype, shape: array.shape().clone(), bytes })
}
