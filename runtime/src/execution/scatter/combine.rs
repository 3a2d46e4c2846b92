//! Putting a block of elements into rows: what becomes of the element that is there, for each dtype. The meaning is that of the ops
//! [`Scatter::combine`] names, on one element after the other.

use half::{bf16, f16};
use ndjit_ir::DType;
use ndjit_ir::graph::Scatter;
use std::ops::Range;

/// Elements to be put, in row-major order of the block's extents, of which there is at least one.
pub struct UpdateBlock<'a> {
    pub updates: *const u8,
    pub indices: *const i64,
    /// Where the first element would be put, were its position 0.
    pub target: *mut u8,
    pub extents: &'a [usize],
    /// Bytes of the target, for each extent.
    pub strides: &'a [isize],
    /// Bytes from row to row.
    pub step: usize,
    /// The rows that are put into.
    pub rows: Range<usize>,
}

/// Puts a block.
///
/// # Safety
/// There are as many updates of this dtype and indices as the block has elements. Of each index of the block the element in each of the
/// rows is memory that may be read and written, and nobody else does.
pub unsafe fn put(scatter: Scatter, dtype: DType, block: &UpdateBlock<'_>) {
    macro_rules! each {
        ($t:ty, $f:expr) => {
            // SAFETY: the caller's promise; elements of this type have the dtype's size.
            unsafe { each::<$t>(block, $f) }
        };
    }
    // What a dtype does not take is never asked for: the array stays as it is.
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
            // What `f32` gives of two halves rounds as it would at once: it has more than twice their digits, and two.
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

/// The one of two complex numbers that comes first, by real, then imaginary part; the one that has a NaN, if one alone has; part by part where
/// neither is before the other.
fn extreme<T: PartialOrd + Copy>(a: [T; 2], b: [T; 2], before: fn(&T, &T) -> bool, part: impl Fn(T, T) -> T) -> [T; 2] {
    // NaN alone is in no order with itself.
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
/// As [`put`], of elements of type `T`.
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
            // SAFETY: the caller's promise: there are as many indices and updates. A position of one of the rows has an element.
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
