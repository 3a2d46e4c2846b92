//! Printing of arrays, with the format of NumPy: summarised beyond 1000 elements, weak types marked. The text is
//! bounded.

use crate::array::node::Array;
use ndjit_inspect::elements::Shown;
use ndjit_ir::support::Device;
use ndjit_transform::access::contiguous;
use std::fmt;

impl fmt::Display for Array {
    /// Prints elements in nested brackets with aligned columns, as NumPy 2.4 does. Unlike there, bools are `true` and
    /// `false`, and each row is one line. A weak type is marked: `[1 2] i*`. A failed computation prints its error.
    ///
    /// - Floats have the fewest digits that read back as the same value, with at most 8 after the point; `{:.3}` sets
    ///   their number.
    /// - All elements have exponents if the dtype cannot represent each digit of one (1e8 of `f64`, 1e6 of `f32`, 1000
    ///   of `f16`, 100 of `bf16`), if a nonzero one is smaller than 0.0001, or if the largest is more than 1000 times
    ///   the smallest. A scalar has an exponent from 1e16 and below 0.0001.
    /// - `{:8}` sets the minimum width of an element. Other flags have no effect.
    /// - An array of more than 1000 elements shows 3 at either end of each axis longer than 6. If more than 1296
    ///   remain, axes show 2 at either end, then 1, and at last only the first of the outer axes. NumPy prints all of
    ///   them.
    ///
    /// ```
    /// use ndjit::{Array, arange};
    ///
    /// let x = Array::from([2.0 / 3.0, 1e9]);
    /// assert_eq!(format!("{x} {x:.2} {x:10.2}"), "[6.66666667e-01 1.00000000e+09] [6.67e-01 1.00e+09] [  6.67e-01   1.00e+09]");
    /// assert_eq!(arange(2000).to_string(), "[   0    1    2 ... 1997 1998 1999]");
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements = match self.elements() {
            Ok(elements) => elements,
            Err(error) => return write!(f, "{error}"),
        };
        // Views are read from the memory of their base.
        let seen = elements.layout.clone().filter(|_| self.device() == Device::CPU);
        let shown = match seen {
            Some(layout) => elements.memory.host().map(|buffer| (buffer, layout)),
            None => self.buffer().and_then(|buffer| Ok((buffer, contiguous(self.shape(), self.dtype())?))),
        };
        match shown {
            Ok((buffer, layout)) => Shown::new(self.dtype(), self.shape(), &layout, buffer.as_bytes()).fmt(f)?,
            Err(error) => return write!(f, "{error}"),
        }
        if self.is_weak() { write!(f, " {}", self.value_type()) } else { Ok(()) }
    }
}

impl fmt::Debug for Array {
    /// Prints type, shape and state in one line, without computing anything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.0.state() {
            Some(Err(error)) => return write!(f, "Array(error[{}]: {})", error.code(), error.headline()),
            None if self.0.waits() => ", not yet computed",
            Some(Ok(_)) | None => "",
        };
        write!(f, "Array({}{}", self.value_type(), self.shape())?;
        if self.is_weak() {
            write!(f, " stored as {}", self.dtype())?;
        }
        if self.device() != Device::CPU {
            write!(f, " on {}", self.device())?;
        }
        write!(f, "{state})")
    }
}
