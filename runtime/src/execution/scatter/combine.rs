//! Scatters of a block of elements into rows, for each dtype, with the semantics of the ops of [`Scatter::combine`], element by element.

use half::{bf16, f16};
use ndjit_ir::DType;
use ndjit_ir::graph::Scatter;
use std::ops::Range;

/// Updates, in row-major order of the block's extents; at least one.
pub struct UpdateBlock<'a> {
    pub updates: *const u8,
    pub indices: *const i64,
    /// The address of the first element at index 0.
    pub target: *mut u8,
    pub extents: &'a [usize],
    /// Strides of the target in bytes, for each extent.
    pub strides: &'a [isize],
    /// Stride of rows in bytes.
    pub step: usize,
    /// The range of rows to update.
    pub rows: Range<usize>,
}

/// Scatters a block.
///
/// # Safety
/// There are as many updates of this dtype and indices as the block has elements. For each index of the block its element in each row is
/// readable, writable and exclusive.
pub unsafe fn put(scatter: Scatter, dtype: DType, block: &UpdateBlock<'_>) {
    macro_rules! each {
        ($t:ty, $f:expr) => {
            // SAFETY: the caller's promise; elements of this type have the dtype's size.
            unsafe { each::<$t>(block, $f) }
        };
    }
    // Unsupported dtypes are never used: the array stays unchanged.
    macro_rules! numbers {
        ($t:ty, $($other:ident => $f:expr,)*) => {
            match scatter {
                Scatter::Set => each!($t, |_, update| update),
                $(Scatter::$other => each!($t, $f),)*
                #[allow(unreachable_patterns, reason = "some dtypes take all")]
                _ => {}
            }
        };
    }
    macro_rules! integers {
        ($t:ty) => {
            numbers!(
                $t,
                Add => |a, b| a.wrapping_add(b),
                Subtract => |a, b| a.wrapping_sub(b),
                Multiply => |a, b| a.wrapping_mul(b),
                Min => |a, b| a.min(b),
                Max => |a, b| a.max(b),
            )
        };
    }
    macro_rules! halves {
        ($t:ty) => {
            // An `f32` operation on two halves rounds correctly: it has more than twice their digits, plus two.
            numbers!(
                $t,
                Add => |a, b| <$t>::from_f32(a.to_f32() + b.to_f32()),
                Subtract => |a, b| <$t>::from_f32(a.to_f32() - b.to_f32()),
                Multiply => |a, b| <$t>::from_f32(a.to_f32() * b.to_f32()),
                Divide => |a, b| <$t>::from_f32(a.to_f32() / b.to_f32()),
                Min => |a, b| <$t>::from_f32(minimum(a.to_f32().into(), b.to_f32().into()) as f32),
                Max => |a, b| <$t>::from_f32(maximum(a.to_f32().into(), b.to_f32().into()) as f32),
            )
        };
    }
    macro_rules! floats {
        ($t:ty) => {
            numbers!(
                $t,
                Add => |a, b| a + b,
                Subtract => |a, b| a - b,
                Multiply => |a, b| a * b,
                Divide => |a, b| a / b,
                Min => |a, b| minimum(a.into(), b.into()) as $t,
                Max => |a, b| maximum(a.into(), b.into()) as $t,
            )
        };
    }
    macro_rules! complex {
        ($t:ty) => {
            numbers!(
                [$t; 2],
                Add => |a, b| [a[0] + b[0], a[1] + b[1]],
                Subtract => |a, b| [a[0] - b[0], a[1] - b[1]],
                Min => |a, b| extreme(a, b, <$t>::lt, |a, b| minimum(a.into(), b.into()) as $t),
                Max => |a, b| extreme(a, b, <$t>::gt, |a, b| maximum(a.into(), b.into()) as $t),
            )
        };
    }
    match dtype {
        DType::Bool => {
            numbers!(u8, Add => |a, b| a | b, Multiply => |a, b| a & b, Min => |a, b| a & b, Max => |a, b| a | b,)
        }
        DType::U8 => integers!(u8),
        DType::U16 => integers!(u16),
        DType::U32 => integers!(u32),
        DType::U64 => integers!(u64),
        DType::I8 => integers!(i8),
        DType::I16 => integers!(i16),
        DType::I32 => integers!(i32),
        DType::I64 => integers!(i64),
        DType::Bf16 => halves!(bf16),
        DType::F16 => halves!(f16),
        DType::F32 => floats!(f32),
        DType::F64 => floats!(f64),
        DType::C64 => complex!(f32),
        DType::C128 => complex!(f64),
    }
}

/// IEEE-754-2019 minimum.
fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_negative() { a } else { b }
    } else {
        a.min(b)
    }
}

fn maximum(a: f64, b: f64) -> f64 {
    -minimum(-a, -b)
}

/// The first of two complex numbers by real, then imaginary part. If only one has a NaN, it is the result; part by part if they are
/// unordered.
fn extreme<T: PartialOrd + Copy>(a: [T; 2], b: [T; 2], before: fn(&T, &T) -> bool, part: impl Fn(T, T) -> T) -> [T; 2] {
    // Only NaN is unordered with itself.
    let nan = |z: [T; 2]| z.iter().any(|part| part.partial_cmp(part).is_none());
    let first = |a: [T; 2], b: [T; 2]| before(&a[0], &b[0]) || a[0] == b[0] && before(&a[1], &b[1]);
    if first(a, b) && !nan(b) || nan(a) && !nan(b) {
        a
    } else if first(b, a) && !nan(a) || nan(b) && !nan(a) {
        b
    } else {
        [part(a[0], b[0]), part(a[1], b[1])]
    }
}

/// # Safety
/// As [`put`], for elements of type `T`.
unsafe fn each<T: Copy>(block: &UpdateBlock<'_>, combine: impl Fn(T, T) -> T) {
    let Some((&len, outer)) = block.extents.split_last() else { return };
    let Some((&stride, strides)) = block.strides.split_last() else { return };
    let (first, count) = (block.rows.start as u64, block.rows.len() as u64);
    let lines: usize = outer.iter().product();
    for line in 0..lines {
        let (mut rest, mut target) = (line, block.target);
        for (&extent, &stride) in outer.iter().zip(strides).rev() {
            target = target.wrapping_offset((rest % extent) as isize * stride);
            rest /= extent;
        }
        for i in 0..len {
            let n = line * len + i;
            // SAFETY: the caller's promise: there are as many indices and updates. An index of one of the rows has an element.
            unsafe {
                let position = block.indices.add(n).read() as u64;
                if position.wrapping_sub(first) < count {
                    let place =
                        target.wrapping_offset(i as isize * stride).wrapping_add(position as usize * block.step);
                    let place = place.cast::<T>();
                    let update = block.updates.cast::<T>().add(n).read_unaligned();
                    place.write_unaligned(combine(place.read_unaligned(), update));
                }
            }
        }
    }
}
