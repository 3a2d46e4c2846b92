//! Elements in nested brackets, in NumPy's format, summarised beyond 1000. The output size is bounded.

use crate::cells::{DisplayElement, FormatOptions};
use half::{bf16, f16};
use ndjit_ir::loops::Layout;
use ndjit_ir::spaces::Spaces;
use ndjit_ir::{DType, Error, ErrorCode, Shape};
use ndjit_math::interp::Tensor;
use ndjit_runtime::pod;
use num_complex::Complex;
use std::fmt;

/// Larger arrays show only the ends of long axes.
const THRESHOLD: usize = 1000;
/// The elements shown at either end of a shortened axis.
const EDGE: usize = 3;
/// The maximum number of shown elements: those of four shortened axes.
const MOST: usize = (2 * EDGE).pow(4);

/// An element of a tensor, as printed in arrays.
pub fn shown(tensor: &Tensor, at: usize) -> String {
    let layout = Layout { offset: at.saturating_mul(tensor.dtype.bytes()), strides: [].into_iter().collect() };
    Shown::new(tensor.dtype, &Shape::scalar(), &layout, &tensor.bytes).to_string()
}

/// The indices of the `flat`th element, in row-major order.
pub fn indices(shape: &Shape, flat: usize) -> Vec<usize> {
    let mut rest = flat;
    let mut indices: Vec<usize> = shape
        .extents()
        .iter()
        .rev()
        .map(|&extent| {
            let index = rest % extent.max(1);
            rest /= extent.max(1);
            index
        })
        .collect();
    indices.reverse();
    indices
}

/// The flat index of the element at an index of an array that this one is broadcast to.
pub fn flat(shape: &Shape, index: &[usize]) -> usize {
    let own = index.get(index.len().saturating_sub(shape.rank())..).unwrap_or_default();
    shape.extents().iter().zip(own).fold(0, |flat, (&extent, &index)| flat * extent + index.min(extent.max(1) - 1))
}

/// The shown elements, and their layout.
pub struct Shown<'a> {
    dtype: DType,
    bytes: &'a [u8],
    layout: &'a Layout,
    axes: Vec<Axis>,
}

/// The shown indices of an axis: so many at its start, and so many at its end.
#[derive(Clone, Copy)]
struct Axis {
    extent: usize,
    first: usize,
    last: usize,
}

impl Axis {
    /// The number of shown indices.
    fn count(self) -> usize {
        self.first + self.last
    }

    /// The nth shown index.
    fn index(self, nth: usize) -> usize {
        if nth >= self.first { self.extent - self.count() + nth } else { nth }
    }

    /// Whether there is a gap before the nth, or after the last.
    fn gap(self, nth: usize) -> bool {
        self.count() < self.extent && nth == self.first
    }
}

/// The shown part of each axis.
fn axes_of(extents: &[usize], summarise: bool) -> Vec<Axis> {
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
    // Axes keep two indices, or one.
    for outer in 0..axes.len() {
        // There may be very many axes of extent 1.
        if axes[outer].count() > 1 && !fits(&axes) {
            axes[outer] = Axis { first: 1, last: 0, ..axes[outer] };
        }
    }
    axes
}
impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            DType::Bool => self.write::<bool>(f),
            DType::U8 => self.write::<u8>(f),
            DType::U16 => self.write::<u16>(f),
            DType::U32 => self.write::<u32>(f),
            DType::U64 => self.write::<u64>(f),
            DType::I8 => self.write::<i8>(f),
            DType::I16 => self.write::<i16>(f),
            DType::I32 => self.write::<i32>(f),
            DType::I64 => self.write::<i64>(f),
            DType::Bf16 => self.write::<bf16>(f),
            DType::F16 => self.write::<f16>(f),
            DType::F32 => self.write::<f32>(f),
            DType::F64 => self.write::<f64>(f),
            DType::C64 => self.write::<Complex<f32>>(f),
            DType::C128 => self.write::<Complex<f64>>(f),
        }
    }
}

impl<'a> Shown<'a> {
    /// The elements of an array of this dtype and shape, with this layout in `bytes`.
    pub fn new(dtype: DType, shape: &Shape, layout: &'a Layout, bytes: &'a [u8]) -> Shown<'a> {
        let elements = shape.extents().iter().fold(1usize, |elements, &extent| elements.saturating_mul(extent));
        Shown { dtype, bytes, layout, axes: axes_of(shape.extents(), elements > THRESHOLD) }
    }

    /// The byte offsets of elements, in row-major order.
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

    fn write<T: DisplayElement>(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Few, for any size of the array.
        let values: Vec<T> = self.starts().map_while(|start| pod::element_at::<T>(self.bytes, start)).collect();
        if values.len() < self.starts().count() {
            let what = format!("array: its bytes are not elements of {}", T::DTYPE);
            return write!(f, "{}", Error::new(ErrorCode::Argument, what));
        }
        let format = T::format(&values, FormatOptions { precision: f.precision(), scalar: self.axes.is_empty() });
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

    /// The brackets around and between consecutive elements.
    fn brackets(
        &self,
        f: &mut fmt::Formatter<'_>,
        mut element: impl FnMut(&mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        let rank = self.axes.len();
        // One index per axis; the innermost moves fastest, like an odometer.
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
