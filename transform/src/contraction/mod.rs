//! Contractions: sums of products of arrays, with labels of axes. `ij,jk->ik` is the product of two matrices: axes of
//! one label are matched, and labels that the result lacks are summed.
//!
//! A [`Contraction`] has the labels, [`Subscripts`] are its `einsum` notation, and [`order`] determines the order of
//! the products. Nothing here depends on types or elements.

pub mod order;
mod subscripts;

pub use subscripts::Subscripts;

use ndjit_ir::error::Result;
use ndjit_ir::shape::Shape;
use smallvec::SmallVec;

/// The label of an axis: a number below [`MAX_LABELS`].
pub type Label = u8;

/// The maximum number of labels.
pub const MAX_LABELS: usize = 128;

/// The labels of an array's axes, in their order.
pub type Labels = SmallVec<[Label; 8]>;

/// A set of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LabelSet(u128);

impl LabelSet {
    /// Returns the labels of a list.
    pub fn of(labels: &[Label]) -> LabelSet {
        LabelSet(labels.iter().fold(0, |set, &label| set | bit(label)))
    }

    /// Returns `true` if the set contains the label.
    pub fn contains(self, label: Label) -> bool {
        self.0 & bit(label) != 0
    }

    /// Returns the union.
    #[must_use]
    pub fn union(self, other: LabelSet) -> LabelSet {
        LabelSet(self.0 | other.0)
    }

    /// Returns the intersection.
    #[must_use]
    pub fn intersection(self, other: LabelSet) -> LabelSet {
        LabelSet(self.0 & other.0)
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the labels, ascending.
    pub fn iter(self) -> impl Iterator<Item = Label> {
        (0..MAX_LABELS as u8).filter(move |&label| self.contains(label))
    }
}

/// Returns the bit of a label; 0 for a label beyond [`MAX_LABELS`], which is in no set.
fn bit(label: Label) -> u128 {
    1u128.checked_shl(label.into()).unwrap_or(0)
}

/// The matched axes of arrays, and the axes of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// The labels of each array's axes. A repeated label denotes a diagonal.
    pub operands: Vec<Labels>,
    /// The labels of the result's axes, each once, all of them labels of operands.
    pub result: Labels,
    /// Labels whose extents must be equal. Along others an extent of 1 broadcasts.
    pub exact: LabelSet,
}

/// The extent of each label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extents(Vec<usize>);

impl Extents {
    /// Returns the extent of a label; 1 for a missing one.
    pub fn of(&self, label: Label) -> usize {
        self.0.get(usize::from(label)).copied().unwrap_or(1)
    }

    /// Returns the number of elements of an array with these labels, or of multiplications of a product over them.
    /// Saturates.
    pub fn count(&self, labels: LabelSet) -> u128 {
        labels.iter().fold(1, |count, label| count.saturating_mul(self.of(label) as u128))
    }
}

/// One axis of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisOf {
    /// The operand.
    pub operand: usize,
    /// The axis.
    pub axis: usize,
    /// Its extent.
    pub extent: usize,
}

/// Two axes of one label with different extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtentMismatch {
    /// Their label.
    pub label: Label,
    /// The two axes, in the order of operands.
    pub axes: [AxisOf; 2],
}

impl std::fmt::Display for ExtentMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b] = self.axes;
        write!(
            f,
            "axis {} of x{} has {}, axis {} of x{} has {}",
            a.axis, a.operand, a.extent, b.axis, b.operand, b.extent
        )
    }
}

impl Contraction {
    /// Computes the extent of each label from arrays of these shapes, which have the labelled axes.
    ///
    /// # Errors
    /// The first two axes that do not match.
    pub fn extents(&self, shapes: &[Shape]) -> Result<Extents, ExtentMismatch> {
        let mut first: Vec<Option<AxisOf>> = vec![None; MAX_LABELS];
        for (operand, (labels, shape)) in self.operands.iter().zip(shapes).enumerate() {
            for (axis, (&label, &extent)) in labels.iter().zip(shape.extents()).enumerate() {
                let own = AxisOf { operand, axis, extent };
                let Some(slot) = first.get_mut(usize::from(label)) else { continue };
                let Some(before) = *slot else {
                    *slot = Some(own);
                    continue;
                };
                // The axes of a diagonal have equal extents.
                let exact = self.exact.contains(label) || before.operand == operand;
                match (before.extent, extent) {
                    (a, b) if a == b => {}
                    (1, _) if !exact => *slot = Some(own),
                    (_, 1) if !exact => {}
                    _ => return Err(ExtentMismatch { label, axes: [before, own] }),
                }
            }
        }
        Ok(Extents(first.into_iter().map(|axis| axis.map_or(1, |axis| axis.extent)).collect()))
    }

    /// Returns the labels of each operand as a set.
    pub fn sets(&self) -> Vec<LabelSet> {
        self.operands.iter().map(|labels| LabelSet::of(labels)).collect()
    }
}

/// The labels of the product of two arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DotDimensions {
    /// Labels of the result that both have.
    pub batch: Labels,
    /// Labels that only the left one has.
    pub rows: Labels,
    /// Labels that only the right one has.
    pub columns: Labels,
    /// Summed labels, which both have.
    pub summed: Labels,
}

impl DotDimensions {
    /// Creates the product of arrays with these labels, each once; `result` are the labels that remain. Labels are in
    /// the order of the result, the summed ones in that of the left array.
    pub fn new(left: &[Label], right: &[Label], result: &[Label]) -> DotDimensions {
        let (in_left, in_right) = (LabelSet::of(left), LabelSet::of(right));
        let kept = |wanted: (bool, bool)| {
            let of = |label: &Label| (in_left.contains(*label), in_right.contains(*label)) == wanted;
            result.iter().copied().filter(of).collect()
        };
        let in_result = LabelSet::of(result);
        let summed = left.iter().copied().filter(|&label| in_right.contains(label) && !in_result.contains(label));
        DotDimensions {
            batch: kept((true, true)),
            rows: kept((true, false)),
            columns: kept((false, true)),
            summed: summed.collect(),
        }
    }
}
