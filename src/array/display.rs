//! How arrays print: elements as NumPy prints them, summarised beyond 1000, weak types marked. What is shown is bounded.

use crate::array::node::Array;
use ndjit_inspect::elements::Shown;
use ndjit_ir::support::Device;
use ndjit_transform::access::contiguous;
use std::fmt;

impl fmt::Display for Array {
    /// Elements in nested brackets, columns aligned, as NumPy 2.4 prints them; but bools are `true` and `false`, and a row is one line, however
    /// long. A weak type is marked: `[1 2] i*`. A failed computation prints its error.
    ///
    /// - Floats have the fewest digits that read back as the same, but 8 after the point at most; `{:.3}` sets how many. All have
    ///   exponents, and then as many digits, if one is so large that the dtype has not all its digits (1e8 of `f64`, 1e6 of `f32`, 1000 of `f16`, 100 of
    ///   `bf16`), one that is not 0 is smaller than 0.0001, or the largest is more than 1000 times the smallest. The number of an array without axes
    ///   has one from 1e16 and below 0.0001.
    /// - `{:8}` sets the least width of an element. Other flags have no effect.
    /// - Of more than 1000 elements axes of more than 6 show 3 at either end. If these are more than 1296, which 5 such axes
    ///   are and NumPy prints, axes show 2 at either end, or 1, and at last the outer ones their first alone. So the text is bounded.
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
        // What is seen in the memory of another array is read there.
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
    /// Type, shape and state in one line, without computing anything.
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
