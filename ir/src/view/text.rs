//! The text form of views, as MLIR writes affine maps: `(d0, d1) -> (d1, -2*d0 + 6)`.

use super::{AxisIndex, View};
use std::fmt::{self, Display, Formatter};

impl Display for View {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for axis in 0..self.rank {
            write!(f, "{}d{axis}", if axis > 0 { ", " } else { "" })?;
        }
        f.write_str(") -> (")?;
        for (axis, index) in self.axes.iter().enumerate() {
            write!(f, "{}{index}", if axis > 0 { ", " } else { "" })?;
        }
        f.write_str(")")
    }
}

impl Display for AxisIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (n, term) in self.terms.iter().enumerate() {
            match (n, term.step < 0) {
                (0, false) => {}
                (0, true) => f.write_str("-")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" - ")?,
            }
            match term.step.unsigned_abs() {
                1 => write!(f, "d{}", term.axis)?,
                step => write!(f, "{step}*d{}", term.axis)?,
            }
        }
        match (self.terms.is_empty(), self.start) {
            (true, start) => write!(f, "{start}"),
            (false, 0) => Ok(()),
            (false, start) if start < 0 => write!(f, " - {}", start.unsigned_abs()),
            (false, start) => write!(f, " + {start}"),
        }
    }
}
