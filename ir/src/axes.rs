//! Axis numbers and sets of axes. Negative numbers count from the last axis.

use crate::error::{Error, ErrorCode, Result};
use crate::shape::Shape;
use std::fmt;

/// The largest rank of an array whose axes can be reduced, permuted or joined along.
pub const MAX_RANK: usize = 32;

/// A set of axes, counted from the outermost.
///
/// ```
/// use ndjit_ir::axes::AxisSet;
/// use ndjit_ir::Shape;
///
/// let axes = AxisSet::new(&[0, -1], 3)?;
/// assert_eq!(axes.to_string(), "[0, 2]");
/// assert_eq!(axes.reduced(&Shape::from([2, 3, 4]), false), Shape::from([3]));
/// assert_eq!(axes.reduced(&Shape::from([2, 3, 4]), true), Shape::from([1, 3, 1]));
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AxisSet(u32);

impl AxisSet {
    /// No axes.
    pub const NONE: AxisSet = AxisSet(0);

    /// The axes of these numbers, of an array of `rank` axes. Negative numbers count from the last axis, -1.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, if one is named twice, or if the rank is above [`MAX_RANK`].
    pub fn new(axes: &[isize], rank: usize) -> Result<AxisSet> {
        check_rank(rank)?;
        let mut set = AxisSet::NONE;
        for &axis in axes {
            let found = position(axis, rank)?;
            if set.contains(found) {
                return Err(Error::new(ErrorCode::Shape, format!("axis {found} is named twice"))
                    .about_axis()
                    .fact(format_args!("the axes: {axes:?} of {rank}"))
                    .help("name each axis once; negative ones count from the last"));
            }
            set.0 |= 1 << found;
        }
        Ok(set)
    }

    /// All axes of an array of `rank` axes.
    ///
    /// # Errors
    /// `Shape` if the rank is above [`MAX_RANK`].
    pub fn all(rank: usize) -> Result<AxisSet> {
        check_rank(rank)?;
        Ok(AxisSet(u32::MAX.checked_shr((MAX_RANK - rank) as u32).unwrap_or(0)))
    }

    /// The set of one axis; the empty set if it is above [`MAX_RANK`].
    pub fn one(axis: usize) -> AxisSet {
        AxisSet(if axis < MAX_RANK { 1 << axis } else { 0 })
    }

    /// This set with one more axis; an axis above [`MAX_RANK`] is ignored.
    #[must_use]
    pub fn with(self, axis: usize) -> AxisSet {
        AxisSet(self.0 | AxisSet::one(axis).0)
    }

    /// Returns `true` if the set contains the axis.
    pub fn contains(self, axis: usize) -> bool {
        axis < MAX_RANK && self.0 >> axis & 1 == 1
    }

    /// The axes, outermost first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..MAX_RANK).filter(move |&axis| self.contains(axis))
    }

    /// The strides of a row-major index over these axes, one for each axis of the shape; 0 along the other axes.
    pub fn steps(self, shape: &Shape) -> Vec<usize> {
        let mut steps = vec![0; shape.rank()];
        let mut step = 1usize;
        for (axis, &extent) in shape.extents().iter().enumerate().rev().filter(|(axis, _)| self.contains(*axis)) {
            steps[axis] = step;
            step = step.saturating_mul(extent.max(1));
        }
        steps
    }

    /// Returns `true` if all axes of the set are axes of an array of this rank.
    pub fn within(self, rank: usize) -> bool {
        rank >= MAX_RANK || self.0 >> rank == 0
    }

    /// The shape without these axes, or with extent 1 along them.
    pub fn reduced(self, shape: &Shape, keepdims: bool) -> Shape {
        let axes = shape.extents().iter().enumerate();
        let kept = axes.filter_map(|(axis, &extent)| match self.contains(axis) {
            false => Some(extent),
            true => keepdims.then_some(1),
        });
        Shape::from(kept.collect::<Vec<usize>>())
    }

    /// The number of elements along these axes. The shape has a valid size.
    pub fn count(self, shape: &Shape) -> usize {
        let along = shape.extents().iter().enumerate().filter(|(axis, _)| self.contains(*axis));
        along.fold(1, |n: usize, (_, &extent)| n.saturating_mul(extent))
    }
}

/// The index of an axis of an array of `rank` axes. Negative numbers count from the last axis, -1.
///
/// # Errors
/// `Shape` if there is no such axis.
pub fn position(axis: isize, rank: usize) -> Result<usize> {
    let own = if axis < 0 { axis.checked_add_unsigned(rank) } else { Some(axis) };
    let found = own.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
    found.ok_or_else(|| {
        let error = Error::new(ErrorCode::Shape, format!("there is no axis {axis}")).about_axis();
        match rank {
            0 => error.fact("a scalar has no axes").help("name no axes, or give it some with `reshape`"),
            1 => error.fact("axes: 0, or -1 from the last").help("name this axis"),
            _ => error
                .fact(format_args!("axes: 0 to {}, or -{rank} to -1 from the last", rank - 1))
                .help("name one of these axes"),
        }
    })
}

/// Checks that the rank is at most [`MAX_RANK`].
///
/// # Errors
/// `Shape` if the rank is above [`MAX_RANK`].
pub fn check_rank(rank: usize) -> Result<()> {
    if rank <= MAX_RANK {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Shape, format!("an array of {rank} axes"))
        .fact(format_args!("limit: {MAX_RANK} axes"))
        .help("join some of its axes with `reshape`"))
}

impl fmt::Display for AxisSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, axis) in self.iter().enumerate() {
            write!(f, "{}{axis}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str("]")
    }
}
