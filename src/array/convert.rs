//! Arrays from Rust data and back.

use crate::api::creation::IntoShape;
use crate::array::node::Array;
use crate::trace::scalar::{Number, Scalar, strong};
use ndjit_eval::array::ArrayRef;
use ndjit_ir::literal::Literal;
use ndjit_ir::reserve::collect;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, ValueType};
use ndjit_runtime::element::bytes_of;
use ndjit_runtime::{Buffer, Element};
use std::sync::Arc;

impl Array {
    /// Creates an array of `shape` from `elements` in row-major order. The memory is reused, except that up to 1 MiB is
    /// copied to memory aligned for vectors.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode};
    ///
    /// let x = Array::from_shape_vec([2, 2], vec![1, 2, 3, 4])?;
    /// assert_eq!(x.to_string(), "[[1 2]\n [3 4]]");
    /// assert_eq!(Array::from_shape_vec([2, 2], vec![1, 2, 3]).unwrap_err().code(), ErrorCode::Shape);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Shape` if the number of elements differs from that of the shape; `Size` if no array can have the shape.
    #[track_caller]
    pub fn from_shape_vec<T: Element>(shape: impl IntoShape, elements: Vec<T>) -> Result<Array> {
        let (shape, place) = (shape.shape(), ndjit_ir::SourceLoc::caller());
        let size = shape.size().map_err(|e| e.of("from_shape_vec").at(place))?;
        if size != elements.len() {
            let of = elements.len();
            let error = Error::new(ErrorCode::Shape, format!("shape {shape} does not hold the data"))
                .of("from_shape_vec")
                .at(place)
                .fact(format_args!("the shape has {size} elements, the data {of}"));
            return Err(error.help(match shape.extents() {
                [_, .., last] if *last != 0 && of.is_multiple_of(*last) => {
                    format!("give as many elements as the shape has; rows of {last} are {} here", of / last)
                }
                _ => format!("give as many elements as the shape has; `[{of}]` is the shape of one axis"),
            }));
        }
        Ok(Array::concrete(T::DTYPE, T::DTYPE, shape, Arc::new(Buffer::from_vec(elements))))
    }

    /// Creates an array from the bytes of its elements in row-major order, in the byte order of the machine: the inverse of
    /// [`to_bytes`](Array::to_bytes).
    ///
    /// ```
    /// use ndjit::{Array, DType, ErrorCode};
    ///
    /// let x = Array::from_bytes(DType::U8, [2, 2], &[1, 2, 3, 4])?;
    /// assert_eq!(x.to_string(), "[[1 2]\n [3 4]]");
    /// assert_eq!(Array::from_bytes(DType::F32, 1, &[1, 2]).unwrap_err().code(), ErrorCode::Shape);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Shape` for another number of bytes; `Argument` for a bool that is neither 0 nor 1; `Size` if no array can have the
    /// shape; `Allocation` if an allocation fails.
    #[track_caller]
    pub fn from_bytes(dtype: DType, shape: impl IntoShape, bytes: &[u8]) -> Result<Array> {
        let shape = shape.shape();
        let made = || {
            let needed = shape.bytes(dtype.bytes())?;
            if needed != bytes.len() {
                return Err(Error::new(ErrorCode::Shape, format!("{} bytes do not fill {dtype}{shape}", bytes.len()))
                    .fact(format_args!("it has {needed} bytes"))
                    .help("give the bytes of all elements"));
            }
            if dtype == DType::Bool && !bool::valid(bytes) {
                return Err(Error::new(ErrorCode::Argument, "bools that are neither 0 nor 1"));
            }
            Ok(Array::concrete(dtype, dtype, shape.clone(), Arc::new(Buffer::from_bytes(bytes)?)))
        };
        made().map_err(|e: Error| e.of("from_bytes").at(ndjit_ir::SourceLoc::caller()))
    }

    /// Creates an array with two axes from rows of equal length, copied. Poisoned if an allocation fails.
    ///
    /// ```
    /// use ndjit::Array;
    /// let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.shape().extents(), [2, 3]);
    /// ```
    pub fn from_rows<T: Element, const C: usize>(rows: &[[T; C]]) -> Array {
        match Buffer::from_bytes(bytes_of(rows.as_flattened())) {
            Ok(buffer) => Array::concrete(T::DTYPE, T::DTYPE, Shape::from([rows.len(), C]), Arc::new(buffer)),
            Err(error) => Array::poisoned(error),
        }
    }

    /// Creates a scalar of the number's own dtype. `weak(2)` gives a weak scalar.
    ///
    /// ```
    /// use ndjit::{Array, DType, weak};
    ///
    /// assert_eq!(Array::scalar(2.5f64).dtype(), DType::F64);
    /// assert!(Array::scalar(weak(2)).is_weak());
    /// ```
    pub fn scalar(number: impl Into<Scalar>) -> Array {
        let literal = number.into().0;
        let dtype = crate::api::config::policy().commit(literal.ty());
        Array::from_literal(&literal, literal.ty(), dtype).unwrap_or_else(Array::poisoned)
    }

    /// Creates a scalar of a type, stored as `dtype`.
    pub(crate) fn from_literal(literal: &Literal, ty: ValueType, dtype: DType) -> Result<Array> {
        Ok(Array(ArrayRef::from_literal(literal, ty, dtype)?))
    }

    /// Creates an array with a copy of row-major elements.
    #[cfg(feature = "ndarray")]
    pub(crate) fn from_elements<T: Element>(shape: Shape, elements: Vec<T>) -> Array {
        Array::concrete(T::DTYPE, T::DTYPE, shape, Arc::new(Buffer::from_vec(elements)))
    }
}

impl<T: Element + Number> From<T> for Scalar {
    /// Creates a number of its own dtype, as [`strong`](crate::strong) does.
    fn from(number: T) -> Scalar {
        Scalar(strong(number).0, None)
    }
}

impl<T: Element> From<Vec<T>> for Array {
    /// Creates an array with one axis. The memory is reused, except that up to 1 MiB is copied to memory aligned for
    /// vectors.
    fn from(elements: Vec<T>) -> Array {
        let shape = Shape::from(elements.len());
        Array::concrete(T::DTYPE, T::DTYPE, shape, Arc::new(Buffer::from_vec(elements)))
    }
}

impl<T: Element> From<&[T]> for Array {
    /// Creates an array with one axis, copied. Poisoned if an allocation fails.
    fn from(elements: &[T]) -> Array {
        match Buffer::from_bytes(bytes_of(elements)) {
            Ok(buffer) => Array::concrete(T::DTYPE, T::DTYPE, Shape::from(elements.len()), Arc::new(buffer)),
            Err(error) => Array::poisoned(error),
        }
    }
}

impl<T: Element> From<&Vec<T>> for Array {
    fn from(elements: &Vec<T>) -> Array {
        Array::from(&elements[..])
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Array {
    fn from(elements: [T; N]) -> Array {
        Array::from(&elements[..])
    }
}

impl<T: Element, const N: usize> From<&[T; N]> for Array {
    fn from(elements: &[T; N]) -> Array {
        Array::from(&elements[..])
    }
}

impl<T: Element> FromIterator<T> for Array {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Array {
        match collect("from_iter", elements) {
            Ok(elements) => Array::from(elements),
            Err(error) => Array::poisoned(error),
        }
    }
}

macro_rules! scalars {
    ($($t:ty)*) => {$(
        impl From<$t> for Array {
            /// Creates a scalar of the number's own dtype.
            fn from(number: $t) -> Array {
                Array::scalar(number)
            }
        }
    )*};
}

scalars! { bool u8 u16 u32 u64 i8 i16 i32 i64 half::bf16 half::f16 f32 f64 num_complex::Complex<f32> num_complex::Complex<f64> }

impl From<Scalar> for Array {
    fn from(scalar: Scalar) -> Array {
        Array::scalar(scalar)
    }
}

impl<T: Element> TryFrom<&Array> for Vec<T> {
    type Error = Error;

    /// Copies the elements in row-major order: [`Array::to_vec`].
    fn try_from(array: &Array) -> Result<Vec<T>> {
        array.to_vec()
    }
}

impl<T: Element> TryFrom<Array> for Vec<T> {
    type Error = Error;

    /// Moves or copies the elements in row-major order: [`Array::into_vec`].
    fn try_from(array: Array) -> Result<Vec<T>> {
        array.into_vec()
    }
}
