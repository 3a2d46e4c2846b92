//! The Rust types of array elements, one per dtype.
//!
//! Sealed: the unsafe promises below hold for these types only.

use half::{bf16, f16};
use ndjit_ir::DType;
use num_complex::Complex;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type of the elements of one dtype.
///
/// # Safety
/// The type has no padding and the size of its dtype, dropping it is a no-op, and any bytes that satisfy
/// [`Element::valid`] are values of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is the element of no dtype",
    label = "not a number or bool of a dtype",
    note = "elements are bool, integers of 8 to 64 bits, `bf16`, `f16`, `f32`, `f64` and `Complex` of the last two; `usize` is none",
    note = "an array of rows is made by `Array::from_rows(&[[1, 2], [3, 4]])`, of more axes by `Array::from_shape_vec([2, 2, 2], elements)`"
)]
pub unsafe trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The dtype.
    const DTYPE: DType;

    /// Whether `bytes`, a whole number of elements, are values of this type. True for everything except `bool`.
    fn valid(bytes: &[u8]) -> bool {
        let _ = bytes;
        true
    }
}

macro_rules! elements {
    ($($ty:ty => $dtype:ident,)*) => { $(
        impl sealed::Sealed for $ty {}
        const _: () = assert!(size_of::<$ty>() == DType::$dtype.bytes());
        // SAFETY: integers, floats and pairs of floats without padding; every bit pattern is a value.
        unsafe impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}

elements! {
    u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    bf16 => Bf16, f16 => F16, f32 => F32, f64 => F64, Complex<f32> => C64, Complex<f64> => C128,
}

impl sealed::Sealed for bool {}
// SAFETY: one byte; `valid` admits 0 and 1 only, which are the values of `bool`.
unsafe impl Element for bool {
    const DTYPE: DType = DType::Bool;

    fn valid(bytes: &[u8]) -> bool {
        bytes.iter().fold(0, |all, &b| all | b) <= 1
    }
}

/// The bytes of elements.
pub fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: `T` has no padding, so all its bytes are initialised; a slice's size fits `isize`.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}
