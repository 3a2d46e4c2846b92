//! `x.at(indices)`: gather and scatter at indices along the first axes.

use super::checked::{check, checked_indices};
use super::indices::{ArrayIndices, AxisSelection, Index, IndexLayout, Indices, slices};
use super::masks;
use super::rows::{INDEXED_UPDATES, no_indices, rows};
use crate::api::config::with_parts;
use crate::api::manipulation::{Slice, refused, seen};
use crate::array::node::Array;
use crate::trace::cast;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, ArrayOperand, Operand};
use crate::trace::ranges;
use crate::trace::scalar::Scalar;
use ndjit_eval::request::{Movement, NamedFunction};
use ndjit_ir::axes::AxisSet;
use ndjit_ir::graph::{NodeKind, Scatter};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::view::{self, View};
use ndjit_ir::{CastAdvice, DType, Error, ErrorCode, Help, LiteralValue, Op, Result, Shape, SourceLoc, ValueType};
use smallvec::SmallVec;
use std::slice;
use std::sync::Arc;

/// Elements of an array at indices, made by [`Expr::at`] and [`Array::at`]. `R` is the type of the results.
///
/// Indices along several axes broadcast with each other. The result has their shape, followed by the other axes of the
/// array. Ranges keep their axes, in order. As in NumPy, the axes of indices replace the first indexed axis, or come first
/// if a range separates the indices.
///
/// ```
/// use ndjit::Array;
///
/// let x = Array::from([0, 0, 0, 0]);
/// let i = Array::from([1, 3, 1]);
/// assert_eq!(x.at(&i).add(1).to_vec::<i32>()?, [0, 2, 0, 1]);
/// assert_eq!(x.at(1..).set(7).to_vec::<i32>()?, [0, 7, 7, 7]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[must_use]
pub struct At<R> {
    pub(super) x: AnyOperand,
    pub(super) indices: SmallVec<[Index; 4]>,
    pub(super) place: SourceLoc,
    gives: std::marker::PhantomData<R>,
}

/// Handling of an index out of range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MissingIndex {
    /// Clamp it to the nearest index.
    Nearest,
    /// Drop the update.
    LeftOut,
    /// Detect it.
    Seen,
}

/// The resolved indices of an [`At`].
struct ResolvedIndices {
    /// The array with its first axes joined into one, and trailing axes of extent 1, one for each axis of the indices.
    rows: AnyOperand,
    /// Indices along that axis, with an axis of extent 1 for each other axis of the array.
    index: AnyOperand,
    /// A mask of indices in range before clamping, if requested and unknown; of the shape of `index`, or one that broadcasts
    /// to it. Indices of ranges are in range.
    inside: Option<AnyOperand>,
    shape: Shape,
    dtype: DType,
    /// False if one of those axes is empty.
    any: bool,
    /// The shape of the gathered or scattered elements.
    taken: Shape,
}

impl<R: ArrayLike> At<R> {
    pub(crate) fn new(x: AnyOperand, indices: SmallVec<[Index; 4]>, place: SourceLoc) -> At<R> {
        At { x, indices, place, gives: std::marker::PhantomData }
    }

    fn number(n: isize) -> AnyOperand {
        AnyOperand::Scalar(Scalar((n as i64).into(), None))
    }

    fn compute(&self, op: Op, operands: &[&AnyOperand]) -> AnyOperand {
        let operands: Vec<AnyOperand> = operands.iter().map(|&operand| operand.clone()).collect();
        with_parts(|| R::compute(op, &operands, self.place)).operand()
    }

    /// Resolves the indices. `checked` ones must be in range where their values are known.
    fn found(&self, what: &'static str, checked: bool, missing: MissingIndex) -> Result<ResolvedIndices> {
        let place = self.place;
        let (_, dtype, shape) = self.x.describe(what)?;
        let layout = IndexLayout::new(what, &self.indices, &shape)?;
        let (first, others) = shape.extents().split_at(layout.axes.len());
        let joined = first.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent)).unwrap_or(usize::MAX);
        let (mut index, mut inside): (Option<AnyOperand>, Option<AnyOperand>) = (None, None);
        for (axis, (along, &extent)) in layout.axes.iter().zip(first).enumerate() {
            let size = Self::number(extent as isize);
            let own = match along {
                AxisSelection::Indices(own) => {
                    let own = checked_indices::<R>(what, own, axis, extent, checked, place)?;
                    let there = ranges::known(&own).is_some_and(|(from, to)| from >= 0 && to < extent as i64);
                    let own = self.apart(what, own, layout.before, layout.behind);
                    // A scatter drops updates without a row.
                    let wanted = missing == MissingIndex::Seen || missing == MissingIndex::LeftOut && first.len() > 1;
                    if wanted && !there {
                        let at_least = self.compute(Op::GreaterEqual, &[&own, &Self::number(0)]);
                        let below = self.compute(Op::Less, &[&own, &size]);
                        let here = self.compute(Op::LogicalAnd, &[&at_least, &below]);
                        inside = Some(inside.map_or(here.clone(), |all| self.compute(Op::LogicalAnd, &[&all, &here])));
                    }
                    match first {
                        // A gather clamps the index anyway.
                        [_] => own,
                        _ if there => own,
                        _ => self.compute(
                            Op::Clip,
                            &[&own, &Self::number(0), &Self::number(extent.saturating_sub(1) as isize)],
                        ),
                    }
                }
                &AxisSelection::Range { start, step, axis } => self.range(what, [start, step], axis, &layout.found),
                AxisSelection::Dynamic { start, axis } => {
                    let start = checked_indices::<R>(what, start, *axis, extent, false, place)?;
                    let start = self.clipped(&start, extent.saturating_sub(layout.found.extents()[*axis]));
                    self.compute(Op::Add, &[&self.range(what, [0, 1], *axis, &layout.found), &start])
                }
            };
            index = Some(index.map_or(own.clone(), |before| {
                let moved = self.compute(Op::Multiply, &[&before, &size]);
                self.compute(Op::Add, &[&moved, &own])
            }));
        }
        let Some(index) = index else {
            return Err(Error::new(ErrorCode::Shape, "an array without axes has no indices")
                .help("`x.reshape([1])` has one axis; `where_(mask, x, y)` takes one of two numbers"));
        };
        let depth = layout.found.rank();
        let rows: Vec<usize> = [joined].into_iter().chain(vec![1; depth]).chain(others.iter().copied()).collect();
        let reshape = |_: &[&Shape]| Ok(Operation::reshape(Shape::from(&rows[..])));
        let rows =
            R::movement(&Movement { function: what.into(), of: &reshape }, slice::from_ref(&self.x), place).operand();
        let index = self.apart(what, index, 0, others.len());
        let inside = inside.map(|inside| self.apart(what, inside, 0, others.len()));
        let taken: Vec<usize> = layout.found.extents().iter().chain(others).copied().collect();
        let (any, taken) = (joined > 0, Shape::from(&taken[..]));
        Ok(ResolvedIndices { rows, index, inside, shape, dtype, any, taken })
    }

    /// Clips the start of a range to the last one.
    pub(super) fn clipped(&self, start: &AnyOperand, last: usize) -> AnyOperand {
        match ranges::known(start).is_some_and(|(from, to)| from >= 0 && to <= last as i64) {
            true => start.clone(),
            false => self.compute(Op::Clip, &[start, &Self::number(0), &Self::number(last as isize)]),
        }
    }

    /// Adds axes of extent 1 before and after the array's own.
    fn apart(&self, what: &'static str, x: AnyOperand, before: usize, behind: usize) -> AnyOperand {
        if before + behind == 0 {
            return x;
        }
        let x: R = seen(what, x, self.place, |shape| {
            let new = (0..before).chain((0..behind).map(|n| before + shape.rank() + n));
            view::expand_dims(shape, &new.map(|axis| axis as isize).collect::<Vec<isize>>())
        });
        x.operand()
    }

    /// The indices of a range along an axis of the result.
    fn range(&self, what: &'static str, [start, step]: [isize; 2], axis: usize, found: &Shape) -> AnyOperand {
        let mut extents = vec![1; found.rank()];
        extents[axis] = found.extents()[axis];
        let of = |_: &[&Shape]| Ok(Operation::iota(AxisSet::all(extents.len())?, Shape::from(&extents[..])));
        let along =
            R::movement(&Movement { function: what.into(), of: &of }, slice::from_ref(&self.x), self.place).operand();
        let steps = if step == 1 { along } else { self.compute(Op::Multiply, &[&along, &Self::number(step)]) };
        if start == 0 { steps } else { self.compute(Op::Add, &[&steps, &Self::number(start)]) }
    }

    /// Returns the operands of the user.
    fn operands(&self, updates: Option<&AnyOperand>) -> Vec<AnyOperand> {
        let indices = self.indices.iter().filter_map(|index| match index {
            Index::Elements(operand) | Index::Dynamic(operand, _) => Some(operand),
            Index::Slice(_) => None,
        });
        [&self.x].into_iter().chain(indices).chain(updates).cloned().collect()
    }

    /// Returns the result of the function `what`, or its error with the operands.
    fn given(&self, what: &'static str, updates: Option<&AnyOperand>, made: Result<R>) -> R {
        let operands = self.operands(updates);
        let names = operand_names(operands.len() - 1 - usize::from(updates.is_some()), updates.is_some());
        let function = NamedFunction::new(what, &names);
        match made {
            Ok(made) => made.part_of(function, &operands, self.place),
            Err(error) => refused(function, &operands, self.place, &error),
        }
    }

    /// Returns the elements.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.at((Array::from([1, 0]), Array::from([-1, 0]))).get().to_vec::<i32>()?, [6, 1]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// For an array outside of a trace, a mask of bools may replace the indices. It has the extents of the array's first
    /// axes. As in NumPy, the elements where it is true lie along one axis, before the array's other axes. Their number
    /// depends on values, so a mask is an error in a traced function.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from_rows(&[[1, 2], [3, 4], [5, 6]]);
    /// assert_eq!(x.at(x.gt(3)).get().to_string(), "[4 5 6]");
    /// assert_eq!(x.at(Array::from([true, false, true])).get().to_string(), "[[1 2]\n [5 6]]");
    /// ```
    ///
    /// # Errors
    /// Poisoned as [`take`](fn@crate::take); with `Shape` for more indices than axes, for indices that do not broadcast, or
    /// for a mask of other extents; with `DType` for a traced mask, or one beside other indices.
    pub fn get(self) -> R {
        if self.indices.iter().all(|index| matches!(index, Index::Slice(_))) {
            return seen("at", self.x, self.place, |shape| view::slice(shape, &slices(&self.indices)));
        }
        if let [Index::Elements(AnyOperand::Array(mask))] = &self.indices[..]
            && let AnyOperand::Array(x) = &self.x
            && mask.error().is_none()
            && mask.dtype() == DType::Bool
        {
            return self.given("at", None, masks::elements("at", x, mask, self.place));
        }
        match self.started("at", false) {
            Ok(Some(part)) => return self.given("at", None, Ok(self.taken("at", &part))),
            Ok(None) => {}
            Err(error) => return self.given("at", None, Err(error)),
        }
        let made = self.found("at", true, MissingIndex::Nearest).and_then(|found| {
            match found.any || found.taken.size() == Ok(0) {
                true => Ok(rows("at", found.rows, found.index, self.place)),
                false => Err(no_indices(&found.shape)),
            }
        });
        self.given("at", None, made)
    }

    /// Returns the elements, with a fill value for each index out of range, which is not an error here.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from([1.0f32, 2.0]);
    /// assert_eq!(x.at(Array::from([1, 7])).get_or(f32::NAN).to_string(), "[ 2. nan]");
    /// ```
    ///
    /// # Errors
    /// As [`get`](At::get), except for indices out of range.
    pub fn get_or(self, number: impl ArrayOperand) -> R {
        let number = number.operand();
        let made = self.found("at.get_or", false, MissingIndex::Seen).map(|found| {
            let gathered: R = match found.any {
                true => rows("at.get_or", found.rows, found.index, self.place),
                // There are no elements to take: return the fill value.
                false => {
                    let zero: R = R::convert(&Self::number(0), found.dtype, self.place);
                    seen("at.get_or", zero.operand(), self.place, |shape| view::broadcast_to(shape, &found.taken))
                }
            };
            let inside = found.inside.unwrap_or(AnyOperand::Scalar(Scalar(true.into(), None)));
            R::compute(Op::Where, &[inside, gathered.operand(), number.clone()], self.place)
        });
        self.given("at.get_or", Some(&number), made)
    }

    /// The array with updates where the mask is true, unchanged elsewhere.
    fn masked(&self, what: &'static str, scatter: Scatter, mask: &AnyOperand, updates: AnyOperand) -> Result<R> {
        let (_, dtype, shape) = self.x.describe(what)?;
        let (_, _, of) = mask.describe(what)?;
        let (_, _, given) = updates.describe(what)?;
        masks::check_mask(&shape, &of)?;
        if given.broadcast(&shape).as_ref() != Some(&shape) {
            return Err(Error::new(
                ErrorCode::Shape,
                format!("{given} does not broadcast to {shape}, the array's shape"),
            )
            .help("with a mask what is put has an element for each of the array's, or is a number"));
        }
        if of.extents().contains(&0) {
            return Ok(R::compute(Op::Positive, slice::from_ref(&self.x), self.place));
        }
        let behind: Vec<isize> = (of.rank()..shape.rank()).map(|n| n as isize).collect();
        let mask: R = seen(what, mask.clone(), self.place, |shape| view::expand_dims(shape, &behind));
        let updates = self.cast(what, updates, dtype)?;
        let put = match scatter.combine() {
            None => updates,
            Some(op) => self.compute(op, &[&self.x, &updates]),
        };
        let operands = [mask.operand(), put, self.x.clone()];
        Ok(with_parts(|| R::compute(Op::Where, &operands, self.place)))
    }

    /// The updates in the dtype of the array. A scalar takes it and must fit, like one passed at each call.
    fn cast(&self, what: &'static str, updates: AnyOperand, dtype: DType) -> Result<AnyOperand> {
        match &updates {
            AnyOperand::Scalar(number) if number.is_weak() => {
                let own = Literal::from_repr(dtype, &number.0.to_repr(dtype)?);
                let promotes = matches!(number.0.ty(), ValueType::Weak(weak) if weak.promotes_to(dtype));
                Ok(if promotes { updates } else { AnyOperand::Scalar(Scalar(own, number.1)) })
            }
            AnyOperand::Expr(x) if matches!(updates.describe(what)?.0, ValueType::Weak(weak) if weak.promotes_to(dtype)) =>
            {
                cast::check_number(*x, dtype)?;
                Ok(cast::promote(*x, dtype, what, self.place).operand())
            }
            _ => Ok(R::convert(&updates, dtype, self.place).operand()),
        }
    }

    fn put(self, what: &'static str, scatter: Scatter, updates: AnyOperand) -> R {
        self.given(what, Some(&updates), self.placed(what, scatter, &updates))
    }

    fn placed(&self, what: &'static str, scatter: Scatter, updates: &AnyOperand) -> Result<R> {
        if let [Index::Elements(mask)] = &self.indices[..]
            && mask.describe(what).is_ok_and(|(_, dtype, _)| dtype == DType::Bool)
        {
            return self.masked(what, scatter, mask, updates.clone());
        }
        let (_, _, shape) = self.x.describe(what)?;
        if shape.rank() == 0 && self.indices.iter().all(|index| matches!(index, Index::Slice(_))) {
            // All of an array without axes: `x[...] = v`.
            view::slice(&shape, &slices(&self.indices))?;
            let always = AnyOperand::Scalar(Scalar(true.into(), None));
            return self.masked(what, scatter, &always, updates.clone());
        }
        if let Some((view, taken)) = self.region(what)? {
            let own = || seen(what, self.x.clone(), self.place, |_| Ok((view.clone(), taken.clone())));
            let combined = scatter.combine().map(|op| (op, own()));
            return self.inserted(what, scatter, (view, &taken, &[]), updates, combined);
        }
        if let Some(part) = self.started(what, true)? {
            let combined = scatter.combine().map(|op| (op, self.taken(what, &part)));
            return self.inserted(what, scatter, (part.view, &part.taken, &part.starts), updates, combined);
        }
        let found = self.found(what, true, MissingIndex::LeftOut)?;
        check_put(what, scatter, found.dtype, updates, &found.taken)?;
        let place = self.place;
        // An index out of range matches no row.
        let nowhere = Self::number(-1);
        let index = match &found.inside {
            Some(inside) => self.compute(Op::Where, &[inside, &found.index, &nowhere]),
            None => found.index,
        };
        let updates = self.cast(what, updates.clone(), found.dtype)?;
        let of = |_: &[&Shape]| Ok(NodeKind::Scatter(scatter).into());
        let function = NamedFunction::new(what, INDEXED_UPDATES);
        let put = R::movement(&Movement { function, of: &of }, &[found.rows, index, updates], place);
        let reshape = |_: &[&Shape]| Ok(Operation::reshape(found.shape.clone()));
        Ok(R::movement(&Movement { function: what.into(), of: &reshape }, &[put.operand()], place))
    }

    /// The elements of ranges as a view of this shape, and in traced functions of scalar indices. (Outside of traces each
    /// would be another program.)
    fn region(&self, what: &'static str) -> Result<Option<(View, Shape)>> {
        let (_, _, shape) = self.x.describe(what)?;
        if shape.rank() == 0 {
            return Ok(None);
        }
        let mut parts: SmallVec<[Slice; 4]> = SmallVec::new();
        for index in &self.indices {
            parts.push(match index {
                Index::Slice(slice) => *slice,
                Index::Elements(AnyOperand::Scalar(Scalar(number, _))) if matches!(self.x, AnyOperand::Expr(_)) => {
                    match number.value() {
                        LiteralValue::Int(n) if isize::try_from(n).is_ok() => Slice::Index(n as isize),
                        _ => return Ok(None),
                    }
                }
                Index::Elements(_) | Index::Dynamic(..) => return Ok(None),
            });
        }
        // The layout reports an index out of range.
        let layout = IndexLayout::new(what, &self.indices, &shape)?;
        for (axis, (along, &extent)) in layout.axes.iter().zip(shape.extents()).enumerate() {
            if let AxisSelection::Indices(own) = along {
                check(own, own.describe(what)?.1, axis, extent, self.place)?;
            }
        }
        view::slice(&shape, &parts).map(Some)
    }

    /// The array with updates at the elements of a view of shape `taken` from these starts, or `combined` with its own ones there.
    fn inserted(
        &self,
        what: &'static str,
        scatter: Scatter,
        (view, taken, starts): (View, &Shape, &[AnyOperand]),
        updates: &AnyOperand,
        combined: Option<(Op, R)>,
    ) -> Result<R> {
        let (_, dtype, _) = self.x.describe(what)?;
        check_put(what, scatter, dtype, updates, taken)?;
        let (place, updates) = (self.place, self.cast(what, updates.clone(), dtype)?);
        let put = match combined {
            None => match updates {
                AnyOperand::Scalar(Scalar(number, at)) => {
                    let own = Scalar(Literal::from_repr(dtype, &number.to_repr(dtype)?), at);
                    // The updates are on the device of the array.
                    match &self.x {
                        AnyOperand::Array(x) => Array::scalar(own).on(x.device()).operand(),
                        _ => AnyOperand::Scalar(own),
                    }
                }
                updates => updates,
            },
            Some((op, own)) => self.compute(op, &[&own.operand(), &updates]),
        };
        let put: R = seen(what, put, place, |shape| view::broadcast_to(shape, taken));
        let view = Arc::new(view);
        let of = |_: &[&Shape]| Ok(NodeKind::Insert(Arc::clone(&view)).into());
        let names = operand_names(starts.len(), true);
        let names: SmallVec<[&str; 4]> =
            [names[0], names[names.len() - 1]].into_iter().chain(names[1..names.len() - 1].iter().copied()).collect();
        let operands: SmallVec<[AnyOperand; 4]> =
            [self.x.clone(), put.operand()].into_iter().chain(starts.iter().cloned()).collect();
        Ok(R::movement(&Movement { function: NamedFunction::new(what, &names), of: &of }, &operands, place))
    }
}

/// The names of an array, of so many indices, and of updates.
pub(super) fn operand_names(indices: usize, updates: bool) -> SmallVec<[&'static str; 4]> {
    const NUMBERED: [&str; 7] =
        ["indices 0", "indices 1", "indices 2", "indices 3", "indices 4", "indices 5", "indices 6"];
    let indices: &[&str] = if indices == 1 { &["indices"] } else { &NUMBERED[..indices.min(NUMBERED.len())] };
    let updates: &[&str] = if updates { &["y"] } else { &[] };
    ["x"].iter().chain(indices).chain(updates).copied().collect()
}

/// Checks that a scatter into an array of this dtype supports these updates, of this shape.
fn check_put(what: &'static str, scatter: Scatter, dtype: DType, updates: &AnyOperand, taken: &Shape) -> Result<()> {
    if !scatter.takes(dtype) {
        let (why, to) = match scatter {
            _ if dtype.is_complex() => (": a product of complex numbers is of four others", None),
            Scatter::Divide => {
                (": division gives floats", Some(if dtype.bytes() < 8 { DType::F32 } else { DType::F64 }))
            }
            _ => ("", Some(DType::I32)),
        };
        return Err(Error::new(ErrorCode::DType, format!("elements of {dtype} are not put so{why}")).help(match to {
            Some(to) => Help::from("cast the array, as in ").casts([CastAdvice::NamedOperand("x", to)]),
            None => "compute what is put, as in `x.at(i).set(x.at(i).get() * y)`, where no index is there twice".into(),
        }));
    }
    let (_, _, given) = updates.describe(what)?;
    if given.broadcast(taken).as_ref() != Some(taken) {
        let headline = format!("{given} does not broadcast to {taken}, the shape of what is put");
        return Err(Error::new(ErrorCode::Shape, headline)
            .help("it is the shape of the indices and then the array's other axes, as `get` gives it"));
    }
    Ok(())
}

macro_rules! puts {
    ($($name:ident $what:literal $scatter:ident $doc:literal $example:literal;)*) => {
        impl At<Expr> {$(
            #[doc = concat!($doc, " What is said of the function of arrays holds of it.")]
            #[doc(alias = "scatter")]
            #[allow(clippy::should_implement_trait, reason = "named as in JAX; it is no sum of two of these")]
            pub fn $name(self, updates: impl Operand) -> Expr {
                self.put($what, Scatter::$scatter, updates.operand())
            }
        )*}

        impl At<AnyOperand> {$(
            #[doc = concat!($doc, " What is said of the function of arrays holds of it.")]
            #[doc(alias = "scatter")]
            #[allow(clippy::should_implement_trait, reason = "named as in JAX; it is no sum of two of these")]
            pub fn $name(self, updates: impl Operand) -> AnyOperand {
                self.put($what, Scatter::$scatter, updates.operand())
            }
        )*}

        impl At<Array> {$(
            #[doc = concat!($doc, "\n\n```\nuse ndjit::Array;\n\n", $example, "\n# Ok::<(), ndjit::Error>(())\n```\n\n\
                - Result: dtype and shape of the array; in a traced function it takes the array's memory if nothing else needs that.\n\
                - What is put is cast to the dtype of the array, without a word where that is narrower: of floats put into integers the fraction is \
                lost. (JAX warns.) A number must fit. It broadcasts to the shape of what [`get`](At::get) gives. It is put one \
                element after the other in row-major order, so that it is defined, and the same for any number of threads, what becomes of a \
                index that is there twice.\n\
                - In a traced function what has an index that is not there is left out.\n\
                - A mask of bools may stand for indices: it has the first axes of the array, with their extents, and what is put \
                broadcasts to the array's shape.\n\n\
                # Errors\nPoisoned as [`get`](At::get); with `Shape` if what is put does not broadcast; with `DType` for dtypes that \
                have no such operation; with `Literal` for a number that does not fit.")]
            #[doc(alias = "scatter")]
            #[allow(clippy::should_implement_trait, reason = "named as in JAX; it is no sum of two of these")]
            pub fn $name(self, updates: impl ArrayOperand) -> Array {
                self.put($what, Scatter::$scatter, updates.operand())
            }
        )*}
    };
}

puts! {
    set "at.set" Set "The array with other elements at the indices: of two at the same index the later one stays."
        "let x = Array::from([1, 2, 3]);\nassert_eq!(x.at(Array::from([2, 0, 2])).set(Array::from([7, 8, 9])).to_vec::<i32>()?, [8, 2, 9]);";
    add "at.add" Add "The array with numbers added at the indices, once for each time that an index is there."
        "let counts = Array::from([0, 0, 0]).at(Array::from([2, 0, 2])).add(1);\nassert_eq!(counts.to_vec::<i32>()?, [1, 0, 2]);";
    subtract "at.subtract" Subtract "The array with numbers subtracted at the indices, once for each time that an index is there."
        "let x = Array::from([5, 5]).at(Array::from([0, 0])).subtract(2);\nassert_eq!(x.to_vec::<i32>()?, [1, 5]);";
    multiply "at.multiply" Multiply "The array with its elements at the indices multiplied, once for each time that an index is there; not of complex elements."
        "let x = Array::from([1.5f32, 5.0]).at(Array::from([0, 0])).multiply(2);\nassert_eq!(x.to_vec::<f32>()?, [6.0, 5.0]);";
    divide "at.divide" Divide "The array with its elements at the indices divided, once for each time that an index is there: of floats, as integers divided are none."
        "let x = Array::from([6.0f32, 5.0]).at(Array::from([0, 0])).divide(2);\nassert_eq!(x.to_vec::<f32>()?, [1.5, 5.0]);";
    min "at.min" Min "The array with the smaller of its elements and others at the indices; NaN if either is."
        "let x = Array::from([5, 5]);\nassert_eq!(x.at(Array::from([0, 0])).min(Array::from([7, 3])).to_vec::<i32>()?, [3, 5]);";
    max "at.max" Max "The array with the larger of its elements and others at the indices; NaN if either is."
        "let x = Array::from([5, 5]);\nassert_eq!(x.at(Array::from([0, 0])).max(Array::from([7, 3])).to_vec::<i32>()?, [7, 5]);";
}

/// Elements at indices.
impl Expr {
    /// Elements at indices along the first axis, or along several first axes for a tuple of indices: [`get`](At::get)
    /// returns them. `set`, `add`, `subtract`, `multiply`, `divide`, `min` and `max` return a new value with updates there.
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    ///
    /// let histogram = jit(|counts: Expr, bins: Expr| counts.at(bins).add(1));
    /// let counts = histogram(&Array::from([0, 0, 0]), &Array::from([2, 1, 2]));
    /// assert_eq!(counts.to_vec::<i32>()?, [0, 1, 2]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn at(self, indices: impl Indices) -> At<Expr> {
        At::new(self.operand(), indices.indices(), SourceLoc::caller())
    }
}

/// Elements at indices.
impl Array {
    /// Elements at indices along the first axis, or along several first axes for a tuple of indices: [`get`](At::get)
    /// returns them. `set`, `add`, `subtract`, `multiply`, `divide`, `min` and `max` return a new array with updates there.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let x = Array::from_rows(&[[1, 2], [3, 4]]);
    /// assert_eq!(x.at(-1).get().to_vec::<i32>()?, [3, 4]);
    /// assert_eq!(x.at((0, 1)).set(9).to_string(), "[[1 9]\n [3 4]]");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn at(&self, indices: impl ArrayIndices) -> At<Array> {
        At::new(self.operand(), indices.indices(), SourceLoc::caller())
    }
}
