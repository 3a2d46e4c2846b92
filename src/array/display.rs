//! How arrays print: elements as NumPy prints them, summarised beyond 1000, weak types marked. What is shown is bounded.

use super::Array;
use super::cells::{Asked, Cell};
use half::{bf16, f16};
use ndjit_ir::loops::Layout;
use ndjit_ir::spaces::Spaces;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use ndjit_runtime::Buffer;
use ndjit_runtime::pod;
use ndjit_transform::access::contiguous;
use num_complex::Complex;
use std::fmt;
use std::sync::Arc;

/// Arrays of more elements show only the ends of long axes.
const THRESHOLD: usize = 1000;
/// The elements shown at either end of a shortened axis.
const EDGE: usize = 3;
/// More elements are not shown: as many as four shortened axes have.
const MOST: usize = (2 * EDGE).pow(4);

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
        let shown = match Shown::of(self) {
            Ok(shown) => shown,
            Err(error) => return write!(f, "{error}"),
        };
        match self.dtype() {
            DType::Bool => shown.write::<bool>(f),
            DType::U8 => shown.write::<u8>(f),
            DType::U16 => shown.write::<u16>(f),
            DType::U32 => shown.write::<u32>(f),
            DType::U64 => shown.write::<u64>(f),
            DType::I8 => shown.write::<i8>(f),
            DType::I16 => shown.write::<i16>(f),
            DType::I32 => shown.write::<i32>(f),
            DType::I64 => shown.write::<i64>(f),
            DType::Bf16 => shown.write::<bf16>(f),
            DType::F16 => shown.write::<f16>(f),
            DType::F32 => shown.write::<f32>(f),
            DType::F64 => shown.write::<f64>(f),
            DType::C64 => shown.write::<Complex<f32>>(f),
            DType::C128 => shown.write::<Complex<f64>>(f),
        }?;
        if self.is_weak() { write!(f, " {}", self.value_type()) } else { Ok(()) }
    }
}

impl fmt::Debug for Array {
    /// Type, shape and state in one line, without computing anything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.0.state.get() {
            Some(Err(error)) => return write!(f, "Array(error[{}]: {})", error.code(), error.headline()),
            None if self.waits() => ", not yet computed",
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

/// The elements that are shown, and where they lie.
struct Shown {
    buffer: Arc<Buffer>,
    layout: Layout,
    axes: Vec<Axis>,
}

/// The indices of an axis that are shown: so many at its beginning, and so many at its end.
#[derive(Clone, Copy)]
struct Axis {
    extent: usize,
    first: usize,
    last: usize,
}

impl Axis {
    /// How many are shown.
    fn count(self) -> usize {
        self.first + self.last
    }

    /// The index of the nth shown.
    fn index(self, nth: usize) -> usize {
        if nth >= self.first { self.extent - self.count() + nth } else { nth }
    }

    /// Whether there is a gap before the nth, or behind the last.
    fn gap(self, nth: usize) -> bool {
        self.count() < self.extent && nth == self.first
    }
}

/// What is shown of each axis.
fn shown(extents: &[usize], summarise: bool) -> Vec<Axis> {
    let with_edges = |edge: usize| -> Vec<Axis> {
        let axis = |&extent: &usize| match summarise && extent > 2 * edge {
            true => Axis { extent, first: edge, last: edge },
            false => Axis { extent, first: extent, last: 0 },
        };
        extents.iter().map(axis).collect()
    };
    let fits = |axes: &[Axis]| axes.iter().fold(1usize, |count, axis| count.saturating_mul(axis.count())) <= MOST;
    let mut axes = with_edges(EDGE);
    for edge in (1..EDGE).rev() {
        if !fits(&axes) {
            axes = with_edges(edge);
        }
    }
    // Axes of two indices are left, or of one.
    for outer in 0..axes.len() {
        // There may be very many of one index.
        if axes[outer].count() > 1 && !fits(&axes) {
            axes[outer] = Axis { first: 1, last: 0, ..axes[outer] };
        }
    }
    axes
}

impl Shown {
    fn of(array: &Array) -> Result<Shown> {
        let elements = array.elements()?;
        let (buffer, layout) = match &elements.layout {
            // What is seen in the memory of another array is read there.
            Some(layout) if array.device() == Device::CPU => (elements.memory.host()?, layout.clone()),
            _ => (array.buffer()?, contiguous(array.shape(), array.dtype())?),
        };
        let axes = shown(array.shape().extents(), array.len() > THRESHOLD);
        Ok(Shown { buffer, layout, axes })
    }

    /// Where the bytes of elements begin, in row-major order.
    fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        let count = if self.is_empty() { 0 } else { self.axes.iter().map(|axis| axis.count()).product() };
        (0..count).map(|mut nth: usize| {
            let mut start = self.layout.offset;
            for (axis, &stride) in self.axes.iter().zip(&self.layout.strides).rev() {
                start = start.wrapping_add_signed(stride.wrapping_mul(axis.index(nth % axis.count()) as isize));
                nth /= axis.count();
            }
            start
        })
    }

    fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| axis.extent == 0)
    }

    fn write<T: Cell>(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.buffer.as_bytes();
        // Few, however large the array is.
        let values: Vec<T> = self.starts().map_while(|start| pod::element_at::<T>(bytes, start)).collect();
        if values.len() < self.starts().count() {
            let what = format!("array: its bytes are not elements of {}", T::DTYPE);
            return write!(f, "{}", Error::new(ErrorCode::Argument, what));
        }
        let format = T::format(&values, Asked { precision: f.precision(), scalar: self.axes.is_empty() });
        let least = f.width().unwrap_or(0);
        let padded = |f: &mut fmt::Formatter<'_>, text: &str, width: usize| {
            write!(f, "{}{text}", Spaces(width.saturating_sub(text.len())))
        };
        let mut texts = values.iter().map(|value| value.text(&format));
        if self.axes.is_empty() {
            return padded(f, texts.next().unwrap_or_default().trim(), least);
        }
        if self.is_empty() {
            return f.write_str("[]");
        }
        let width = texts.clone().map(|text| text.len()).fold(least, usize::max);
        self.brackets(f, |f| padded(f, &texts.next().unwrap_or_default(), width))
    }

    /// The brackets, around and between elements that are written one after the other.
    fn brackets(
        &self,
        f: &mut fmt::Formatter<'_>,
        mut element: impl FnMut(&mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        let rank = self.axes.len();
        // One position per axis; the innermost moves fastest, like an odometer.
        let mut at = vec![0; rank];
        let mut open = rank;
        loop {
            (0..open).try_for_each(|_| f.write_str("["))?;
            // The innermost axis is written in one go.
            let row = self.axes[rank - 1];
            for nth in 0..row.count() {
                f.write_str(if nth == 0 { "" } else { " " })?;
                if row.gap(nth) {
                    f.write_str("... ")?;
                }
                element(f)?;
            }
            f.write_str("]")?;
            let mut axis = rank - 1;
            loop {
                if axis == 0 {
                    return Ok(());
                }
                axis -= 1;
                at[axis] += 1;
                if self.axes[axis].gap(at[axis]) {
                    newlines(f, rank - 1 - axis)?;
                    write!(f, "{}...", Spaces(axis + 1))?;
                }
                if at[axis] < self.axes[axis].count() {
                    break;
                }
                at[axis] = 0;
                f.write_str("]")?;
            }
            open = rank - 1 - axis;
            newlines(f, open)?;
            write!(f, "{}", Spaces(axis + 1))?;
        }
    }
}

fn newlines(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    (0..count).try_for_each(|_| f.write_str("\n"))
}
