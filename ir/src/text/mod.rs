//! Parsers of the stages' texts: lines, tokens, common parts. `docs/grammar.md` has the grammar.
//!
//! Each stage's parser is beside its printer. Parsers take time and memory in proportion to the text, whatever its numbers, with
//! bounded recursion.

mod line;

pub(crate) use line::{Line, Lines};

use crate::dtype::DType;
use crate::error::Result;
use crate::reduction::{AxisSet, MAX_RANK};
use crate::shape::Shape;

/// The dtype of a short name.
pub(crate) fn dtype(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|dtype| dtype.name() == name)
}

/// `f32`.
pub(crate) fn dtype_of(line: &mut Line<'_>, what: &str) -> Result<DType> {
    line.word(what, dtype)
}

/// `axes [0, 1]`.
pub(crate) fn axes(line: &mut Line<'_>) -> Result<AxisSet> {
    line.expect("axes")?;
    line.expect("[")?;
    let axes = line.list("]", |line| line.number_of::<u8>("an axis"))?;
    let axes: Vec<isize> = axes.into_iter().map(isize::from).collect();
    AxisSet::new(&axes, MAX_RANK).map_err(|error| line.error(error.headline()))
}

/// `[8, 3]`.
pub(crate) fn shape(line: &mut Line<'_>) -> Result<Shape> {
    line.expect("[")?;
    Ok(Shape::from(line.list("]", |line| line.number_of::<usize>("an extent"))?))
}
