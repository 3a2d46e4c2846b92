//! Slices: along each axis an index, or a range with a step.

use super::{AxisIndex, View};
use crate::axes::check_rank;
use crate::error::{Error, ErrorCode, Result};
use crate::help::{Code, Help};
use crate::shape::Shape;
use smallvec::SmallVec;

/// The slice of one axis. Negative numbers count from the end: -1 is the last element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slice {
    /// One element; the axis is removed.
    Index(isize),
    /// The elements from `start` (default 0) up to but excluding `end` (default the extent), every
    /// `step`th, from the last backwards if the step is negative.
    Range {
        /// The first element of the range.
        start: Option<isize>,
        /// The element after the last.
        end: Option<isize>,
        /// Not 0.
        step: isize,
    },
    /// A range that includes `last`.
    Inclusive {
        /// The first element of the range.
        start: Option<isize>,
        /// The last element of the range.
        last: isize,
        /// Not 0.
        step: isize,
    },
    /// A new axis of extent 1.
    NewAxis,
    /// As many whole axes as the other parts leave, at most once. Axes omitted at the end are whole.
    Ellipsis,
}

impl Slice {
    /// A whole axis.
    pub const ALL: Slice = Slice::Range { start: None, end: None, step: 1 };
}

/// Slices an array.
///
/// # Errors
/// `Shape` for more parts than axes, out-of-bounds indices and ranges, and a step of 0.
pub fn slice(shape: &Shape, parts: &[Slice]) -> Result<(View, Shape)> {
    let taken = parts.iter().filter(|part| !matches!(part, Slice::NewAxis | Slice::Ellipsis)).count();
    let Some(whole) = shape.rank().checked_sub(taken) else {
        return Err(Error::new(ErrorCode::Shape, format!("{taken} indices or ranges of an array of shape {shape}"))
            .help("give at most one index or range for each axis"));
    };
    let ellipses = parts.iter().filter(|part| **part == Slice::Ellipsis).count();
    if ellipses > 1 {
        return Err(Error::new(ErrorCode::Shape, "two ellipses: which axes each stands for could not be told")
            .fact(format_args!("the shape: {shape}"))
            .help(Help::from("write ").code(Code::WholeAxes)));
    }
    let mut axes: SmallVec<[AxisIndex; 4]> = SmallVec::new();
    let mut extents: Vec<usize> = Vec::new();
    let after = if ellipses == 0 { &[Slice::Ellipsis][..] } else { &[] };
    for part in parts.iter().chain(after) {
        match *part {
            Slice::NewAxis => extents.push(1),
            Slice::Ellipsis => {
                for _ in 0..whole {
                    let extent = shape.extents()[axes.len()];
                    axes.push(AxisIndex::along(extents.len(), 0, 1));
                    extents.push(extent);
                }
            }
            Slice::Index(index) => {
                let axis = axes.len();
                let extent = shape.extents()[axis];
                let at = from_end(index, extent).filter(|&at| at < extent).ok_or_else(|| {
                    Error::new(ErrorCode::Shape, format!("index {index} of axis {axis}, which has {extent}"))
                        .fact(format_args!("the shape: {shape}"))
                        .help("indices are 0 to the extent less 1, or -1 for the last and so on")
                })?;
                axes.push(AxisIndex::fixed(at as isize));
            }
            Slice::Range { start, step, .. } | Slice::Inclusive { start, step, .. } => {
                let axis = axes.len();
                let extent = shape.extents()[axis];
                let bounds = first(start, extent).and_then(|from| Ok((from, end(part, extent)?)));
                let taken = bounds.and_then(|bounds| range(bounds, step, extents.len()));
                let (index, count) = taken.map_err(|error| error.fact(format_args!("axis {axis} of shape {shape}")))?;
                axes.push(index);
                extents.push(count);
            }
        }
    }
    check_rank(extents.len())?;
    let shape = Shape::from(extents);
    Ok((View { rank: shape.rank(), axes }.canonical(&shape), shape))
}

/// The start of a range.
fn first(start: Option<isize>, extent: usize) -> Result<usize> {
    let Some(start) = start else { return Ok(0) };
    from_end(start, extent).filter(|&at| at <= extent).ok_or_else(|| {
        let help =
            format!("a range begins at {extent} at most, where it is empty; negative numbers count from the end");
        beyond(start, extent, help)
    })
}

/// The end of a range: the index after its last.
fn end(part: &Slice, extent: usize) -> Result<usize> {
    match *part {
        Slice::Range { end: Some(end), .. } => from_end(end, extent).filter(|&end| end <= extent).ok_or_else(|| {
            beyond(end, extent, format!("a range ends at {extent} at most; negative numbers count from the end"))
        }),
        Slice::Inclusive { last: -1, .. } => Ok(extent),
        Slice::Inclusive { last, .. } => {
            let end = last.checked_add(1).and_then(|end| from_end(end, extent)).filter(|&end| end <= extent);
            end.ok_or_else(|| match extent.checked_sub(1) {
                Some(of) => beyond(last, extent, format!("the last element is {of}, or -1; `..` is all of an axis")),
                None => beyond(last, extent, "the axis has no elements; `..` is all of an axis".to_owned()),
            })
        }
        Slice::Range { end: None, .. } | Slice::Index(_) | Slice::NewAxis | Slice::Ellipsis => Ok(extent),
    }
}

/// The error of an out-of-bounds bound; `help` is for bounds beyond the end.
fn beyond(bound: isize, extent: usize, help: String) -> Error {
    match bound {
        0.. => Error::new(ErrorCode::Shape, format!("{bound} is beyond an axis of {extent}")).help(help),
        _ => Error::new(ErrorCode::Shape, format!("{bound} is before the first element of an axis of {extent}"))
            .help(format!("negative numbers count from the end; the first element is 0 or -{extent}")),
    }
}

/// The index in the operand's axis, along axis `axis` of the result, and the number of elements.
fn range((from, to): (usize, usize), step: isize, axis: usize) -> Result<(AxisIndex, usize)> {
    if step == 0 {
        return Err(Error::new(ErrorCode::Shape, "a step of 0").help("steps are 1, 2, …, or -1, -2, … for backwards"));
    }
    let count = to.saturating_sub(from).div_ceil(step.unsigned_abs());
    let first = if step > 0 { from } else { to.saturating_sub(1) };
    Ok((AxisIndex::along(axis, first as isize, step), count))
}

fn from_end(index: isize, extent: usize) -> Option<usize> {
    if index >= 0 { usize::try_from(index).ok() } else { extent.checked_sub(index.unsigned_abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(parts: &[Slice]) -> String {
        let made = slice(&Shape::from([5, 6, 7]), parts);
        made.map_or_else(|error| error.headline().to_owned(), |(view, shape)| format!("{view} : {shape}"))
    }

    fn of(start: isize, end: isize, step: isize) -> Slice {
        Slice::Range { start: Some(start), end: Some(end), step }
    }

    #[test]
    fn parts_are_taken_axis_by_axis() {
        assert_eq!(text(&[]), "(d0, d1, d2) -> (d0, d1, d2) : [5, 6, 7]");
        assert_eq!(text(&[Slice::Index(-1), of(1, -1, 2)]), "(d0, d1) -> (4, 2*d0 + 1, d1) : [2, 7]");
        assert_eq!(text(&[Slice::Ellipsis, of(1, 6, -2)]), "(d0, d1, d2) -> (d0, d1, -2*d2 + 5) : [5, 6, 3]");
        assert_eq!(text(&[Slice::NewAxis, Slice::Index(0)]), "(d0, d1, d2) -> (0, d1, d2) : [1, 6, 7]");
        assert_eq!(text(&[of(4, 2, 1)]), "(d0, d1, d2) -> (0, 0, 0) : [0, 6, 7]");
        assert_eq!(text(&[of(5, 5, -1)]), "(d0, d1, d2) -> (0, 0, 0) : [0, 6, 7]");
        assert_eq!(text(&[Slice::Index(5)]), "index 5 of axis 0, which has 5");
        assert_eq!(text(&[of(0, 6, 1)]), "6 is beyond an axis of 5");
        assert_eq!(text(&[of(-6, 2, 1)]), "-6 is before the first element of an axis of 5");
        let to = |last| Slice::Inclusive { start: Some(1), last, step: 2 };
        assert_eq!(text(&[to(4)]), text(&[of(1, 5, 2)]));
        assert_eq!(text(&[to(-1)]), text(&[of(1, 5, 2)]));
        assert_eq!(text(&[to(-2)]), text(&[of(1, 4, 2)]));
        assert_eq!(text(&[to(-6)]), text(&[of(1, 0, 2)]));
        assert_eq!(text(&[to(5)]), "5 is beyond an axis of 5");
        assert_eq!(text(&[to(isize::MAX)]), format!("{} is beyond an axis of 5", isize::MAX));
        assert_eq!(text(&[to(-7)]), "-7 is before the first element of an axis of 5");
        assert_eq!(text(&[of(0, 5, 0)]), "a step of 0");
        assert_eq!(text(&[Slice::ALL; 4]), "4 indices or ranges of an array of shape [5, 6, 7]");
    }
}
