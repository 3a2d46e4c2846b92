//! Properties of an [`Expr`] during tracing: type, shape, explanation of the dtype; and constants as expressions.

use crate::array::node::Array;
use crate::trace::expr::{Expr, ExprValue};
use crate::trace::operand::AnyOperand;
use crate::trace::recorder;
use crate::trace::scalar::{Scalar, each_number};
use ndjit_inspect::explain::Explanation;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc, ValueType};
use ndjit_runtime::Element;
use std::fmt;

impl Expr {
    /// Returns the type of the value: a dtype, or weak. A poisoned value has the type bool.
    ///
    /// ```
    /// use ndjit::{Array, DType, jit};
    ///
    /// let f = jit!(|x| {
    ///     assert_eq!(x.value_type(), DType::U8.into());
    ///     (x + 1) / 2.5
    /// });
    /// assert!(f(&Array::from([1u8])).is_weak());
    /// ```
    pub fn value_type(self) -> ValueType {
        recorder::describe(self, "value_type").map_or(ValueType::Strong(DType::Bool), |(ty, ..)| ty)
    }

    /// Returns the dtype of the value, in computation and in memory. A weak value has the default of its kind under the
    /// policy at its creation. A poisoned value has the dtype bool.
    ///
    /// ```
    /// use ndjit::{Array, DType, Expr, jit};
    ///
    /// // Doubles what has a floating-point dtype.
    /// let f = jit(|x: Expr| if x.dtype() == DType::F32 { x * 2 } else { x });
    /// assert_eq!(f(&Array::from([1.5f32])).item::<f32>()?, 3.0);
    /// assert_eq!(f(&Array::from([1u8])).item::<u8>()?, 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn dtype(self) -> DType {
        recorder::describe(self, "dtype").map_or(DType::Bool, |(_, dtype, _)| dtype)
    }

    /// Checks whether the type is weak.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit!(|x, n| {
    ///     assert!(!x.is_weak() && n.is_weak());
    ///     x + n
    /// });
    /// assert_eq!(f.call((&Array::from([1u8]), 2))?.item::<u8>()?, 3);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn is_weak(self) -> bool {
        self.value_type().is_weak()
    }

    /// Returns the shape. A traced function may depend on it: each shape has a trace of its own, and kernels are
    /// shared. A poisoned value has the shape of a scalar.
    ///
    /// ```
    /// use ndjit::{arange, jit};
    ///
    /// let mean = jit!(|x| x.sum(..) / x.shape().extents()[0] as i32);
    /// assert_eq!(mean(&arange(5)).item::<f32>()?, 2.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn shape(self) -> Shape {
        recorder::describe(self, "shape").map_or_else(|_| Shape::scalar(), |(.., shape)| shape)
    }

    /// Returns the number of elements, known during tracing. A poisoned value has one.
    ///
    /// ```
    /// use ndjit::{arange, jit};
    ///
    /// let mean = jit!(|x| x.sum(..) / x.len() as i32);
    /// assert_eq!(mean(&arange(6).reshape([2, 3])).item::<f32>()?, 2.5);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn len(self) -> usize {
        self.shape().size().unwrap_or(0)
    }

    /// Checks whether there are no elements.
    ///
    /// ```
    /// use ndjit::{jit, zeros};
    ///
    /// // The largest element, or 0 of none.
    /// let f = jit!(|x| if x.is_empty() { x.sum(..) } else { x.max(..) });
    /// assert_eq!(f(&zeros([0])).item::<f32>()?, 0.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns an error: elements exist only when the function runs. Return the value and read it outside.
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode, jit};
    ///
    /// let f = jit!(|x| {
    ///     let _ = x.to_vec::<i32>();
    ///     x + 1
    /// });
    /// assert_eq!(f.call((&Array::from([1]),)).unwrap_err().code(), ErrorCode::Traced);
    /// ```
    ///
    /// # Errors
    /// `Traced`.
    #[track_caller]
    pub fn to_vec<T: Element>(self) -> Result<Vec<T>> {
        Err(self.not_data("to_vec", SourceLoc::caller()))
    }

    /// Returns an error, like [`Expr::to_vec`].
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode, jit};
    ///
    /// let f = jit!(|x| if x.item::<i32>().is_ok() { x } else { -x });
    /// assert_eq!(f.call((&Array::from([1]),)).unwrap_err().code(), ErrorCode::Traced);
    /// ```
    ///
    /// # Errors
    /// `Traced`.
    #[track_caller]
    pub fn item<T: Element>(self) -> Result<T> {
        Err(self.not_data("item", SourceLoc::caller()))
    }

    /// Explains the dtype of the value: the chain of operations back to the arguments and numbers that decided it.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit!(|x| {
    ///     let y = x / 2;
    ///     println!("{}", y.explain_dtype().unwrap());
    ///     y
    /// });
    /// f.call((&Array::from([1u8]),))?;
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error, if the value is poisoned; `Traced` outside its trace.
    #[track_caller]
    pub fn explain_dtype(self) -> Result<Explanation> {
        recorder::explain(self, SourceLoc::caller())
    }

    fn not_data(self, what: &str, place: SourceLoc) -> Error {
        if let Err(error) = recorder::describe(self, what)
            && error.code() == ErrorCode::Traced
        {
            return error.at(place);
        }
        let error = Error::new(ErrorCode::Traced, "a traced value has no elements to read")
            .of(what)
            .at(place)
            .fact(format_args!("the value: {self:?}"))
            .help("return the value from the traced function and read the result; to choose by value use `where_`");
        recorder::note_error(&error);
        error
    }
}

impl From<&Array> for Expr {
    /// Returns the array as a constant of the function being traced on this thread, as for an array beside an `Expr` in
    /// an operation. For a traced function whose result does not depend on its arguments:
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit, ones};
    /// let f = jit(|_x: Expr| Expr::from(ones(3)));
    /// assert_eq!(f(&Array::from([7])).to_vec::<f32>()?, [1.0, 1.0, 1.0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    fn from(array: &Array) -> Expr {
        recorder::constant(&AnyOperand::Array(array.clone()), SourceLoc::caller())
    }
}

impl From<Array> for Expr {
    /// Returns the array as a constant, like the conversion from a reference.
    #[track_caller]
    fn from(array: Array) -> Expr {
        recorder::constant(&AnyOperand::Array(array), SourceLoc::caller())
    }
}

macro_rules! from_numbers {
    ($($t:ty)*) => {$(
        impl From<$t> for Expr {
            /// Returns a bare, weak number as a value of the function being traced on this thread, such as the initial
            /// state of a loop.
            #[track_caller]
            fn from(number: $t) -> Expr {
                recorder::constant(&AnyOperand::Scalar(Scalar(number.into(), None)), SourceLoc::caller())
            }
        }
    )*};
}

each_number!(from_numbers);

impl From<Scalar> for Expr {
    /// Returns a number, weak or strong, as a value of the function being traced on this thread.
    ///
    /// ```
    /// use ndjit::{DType, Expr, Program, weak};
    /// let two = Program::trace(&[], |_| vec![Expr::from(weak(2)).cast(DType::F16)])?;
    /// assert_eq!(two.results()[0].dtype(), DType::F16);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    fn from(number: Scalar) -> Expr {
        recorder::constant(&AnyOperand::Scalar(number), SourceLoc::caller())
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (recorder::describe(*self, "print"), self.node) {
            (Ok((ty, _, shape)), ExprValue::Value(value)) => write!(f, "Expr({value}: {ty}{shape})"),
            (_, ExprValue::Poisoned(_)) => f.write_str("Expr(poisoned)"),
            (Err(_), ExprValue::Value(_)) => f.write_str("Expr(outside its trace)"),
        }
    }
}
