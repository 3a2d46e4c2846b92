//! The views of functions of the Array API and NumPy: each returns the view and the shape of its result.

use super::{AxisIndex, View};
use crate::axes::{AxisSet, check_rank, position};
use crate::error::{Error, ErrorCode, Result};
use crate::help::{Code, Help};
use crate::shape::{Shape, ShapeMismatch};
use smallvec::SmallVec;

type ViewResult = Result<(View, Shape)>;

fn made(view: View, extents: impl IntoIterator<Item = usize>) -> ViewResult {
    let shape = Shape::from(extents.into_iter().collect::<Vec<usize>>());
    check_rank(shape.rank())?;
    Ok((view.canonical(&shape), shape))
}

/// The view whose axis `n` is the operand's axis `order[n]`.
fn permuted(shape: &Shape, order: &[usize]) -> ViewResult {
    let mut view = View { rank: order.len(), axes: SmallVec::from_elem(AxisIndex::default(), shape.rank()) };
    for (n, &axis) in order.iter().enumerate() {
        view.axes[axis] = AxisIndex::along(n, 0, 1);
    }
    made(view, order.iter().map(|&axis| shape.extents()[axis]))
}

/// Maps each axis of the operand to one of `rank` axes of the result. Axes mapped to the same one give its diagonal; axes of the
/// result without any have extent 1.
///
/// # Errors
/// `Shape` if the rank is above the maximum.
pub fn placed(shape: &Shape, rank: usize, places: &[usize]) -> ViewResult {
    check_rank(rank)?;
    let mut extents = vec![1; rank];
    let mut view = View { rank, axes: SmallVec::from_elem(AxisIndex::default(), shape.rank()) };
    for ((&place, &extent), index) in places.iter().zip(shape.extents()).zip(&mut view.axes) {
        if let Some(own) = extents.get_mut(place) {
            *own = extent;
            *index = AxisIndex::along(place, 0, 1);
        }
    }
    made(view, extents)
}

/// Permutes the axes: axis `n` of the result is axis `axes[n]`, each once.
///
/// # Errors
/// `Shape` if these are not all axes.
pub fn permute_dims(shape: &Shape, axes: &[isize]) -> ViewResult {
    let all = AxisSet::new(axes, shape.rank())?;
    if all != AxisSet::all(shape.rank())? {
        return Err(Error::new(ErrorCode::Shape, format!("{} of {} axes are named", axes.len(), shape.rank()))
            .fact(format_args!("the axes: {axes:?} of shape {shape}"))
            .help("name every axis once; `moveaxis` leaves those that are not named in their order"));
    }
    let order: Vec<usize> = axes.iter().map(|&axis| position(axis, shape.rank())).collect::<Result<_>>()?;
    permuted(shape, &order)
}

/// Moves axes to other indices; the other axes keep their order.
///
/// # Errors
/// `Shape` for invalid or repeated axes, and for different numbers of sources and destinations.
pub fn moveaxis(shape: &Shape, source: &[isize], destination: &[isize]) -> ViewResult {
    let rank = shape.rank();
    let (from, to) = (AxisSet::new(source, rank)?, AxisSet::new(destination, rank)?);
    if source.len() != destination.len() {
        let what = format!("{} axes to move, but places for {}", source.len(), destination.len());
        return Err(Error::new(ErrorCode::Shape, what)
            .about_axis()
            .fact(format_args!("from {source:?} to {destination:?}"))
            .help("give each axis that is moved a place, as in `x.moveaxis([0, 1], [-2, -1])`"));
    }
    let mut order = vec![usize::MAX; rank];
    for (&source, &destination) in source.iter().zip(destination) {
        order[position(destination, rank)?] = position(source, rank)?;
    }
    let rest = (0..rank).filter(|&axis| !from.contains(axis));
    let places = (0..rank).filter(|&axis| !to.contains(axis));
    places.zip(rest).for_each(|(place, axis)| order[place] = axis);
    permuted(shape, &order)
}

/// Swaps two axes.
///
/// # Errors
/// `Shape` for invalid axes.
pub fn swapaxes(shape: &Shape, a: isize, b: isize) -> ViewResult {
    let mut order: Vec<usize> = (0..shape.rank()).collect();
    order.swap(position(a, shape.rank())?, position(b, shape.rank())?);
    permuted(shape, &order)
}

/// Inserts axes of extent 1 at these indices of the result.
///
/// # Errors
/// `Shape` for invalid or repeated axes.
pub fn expand_dims(shape: &Shape, axes: &[isize]) -> ViewResult {
    let rank = shape.rank() + axes.len();
    let new = AxisSet::new(axes, rank)?;
    let mut old = shape.extents().iter();
    let extents: Vec<usize> =
        (0..rank).map(|axis| if new.contains(axis) { 1 } else { *old.next().unwrap_or(&1) }).collect();
    let axes = (0..rank).filter(|&axis| !new.contains(axis)).map(|axis| AxisIndex::along(axis, 0, 1)).collect();
    made(View { rank, axes }, extents)
}

/// Removes these axes, which have extent 1.
///
/// # Errors
/// `Shape` for invalid or repeated axes, and for other extents.
pub fn squeeze(shape: &Shape, axes: &[isize]) -> ViewResult {
    let gone = AxisSet::new(axes, shape.rank())?;
    if let Some(axis) = gone.iter().find(|&axis| shape.extents()[axis] != 1) {
        return Err(Error::new(ErrorCode::Shape, format!("axis {axis} has extent {}, not 1", shape.extents()[axis]))
            .about_axis()
            .fact(format_args!("the shape: {shape}"))
            .help(
                Help::from("an axis of one index can be left out; ").code(Code::OneIndex).text(" takes one of several"),
            ));
    }
    let left = (0..shape.rank()).filter(|&axis| !gone.contains(axis));
    let mut view = View { rank: left.clone().count(), axes: SmallVec::from_elem(AxisIndex::default(), shape.rank()) };
    for (n, axis) in left.clone().enumerate() {
        view.axes[axis] = AxisIndex::along(n, 0, 1);
    }
    made(view, left.map(|axis| shape.extents()[axis]))
}

/// Reverses these axes.
///
/// # Errors
/// `Shape` for invalid or repeated axes.
pub fn flip(shape: &Shape, axes: &[isize]) -> ViewResult {
    let flipped = AxisSet::new(axes, shape.rank())?;
    let index = |(axis, &extent): (usize, &usize)| match flipped.contains(axis) {
        true => AxisIndex::along(axis, extent as isize - 1, -1),
        false => AxisIndex::along(axis, 0, 1),
    };
    let axes = shape.extents().iter().enumerate().map(index).collect();
    made(View { rank: shape.rank(), axes }, shape.extents().iter().copied())
}

/// Broadcasts to a shape.
///
/// # Errors
/// `Shape` if the operand does not broadcast to it.
pub fn broadcast_to(shape: &Shape, to: &Shape) -> ViewResult {
    if shape.broadcast(to).as_ref() != Some(to) {
        return Err(Error::new(ErrorCode::Shape, format!("shape {shape} does not broadcast to {to}"))
            .help("axes are matched from the last; an axis of the array must have the same extent or 1"));
    }
    let missing = to.rank() - shape.rank();
    let index = |(axis, &extent): (usize, &usize)| match extent == to.extents()[axis + missing] {
        true => AxisIndex::along(axis + missing, 0, 1),
        false => AxisIndex::default(),
    };
    made(View { rank: to.rank(), axes: shape.extents().iter().enumerate().map(index).collect() }, to.extents().to_vec())
}

/// The elements `(i, i + offset)` along two axes, which become the last axis of the result.
///
/// # Errors
/// `Shape` for invalid axes, or the same axis twice.
pub fn diagonal(shape: &Shape, offset: isize, axes: [isize; 2]) -> ViewResult {
    let rank = shape.rank();
    let both = AxisSet::new(&axes, rank)?;
    let [row, column] = [position(axes[0], rank)?, position(axes[1], rank)?];
    let starts = [offset.min(0).unsigned_abs(), offset.max(0).unsigned_abs()];
    let len = shape.extents()[row].saturating_sub(starts[0]).min(shape.extents()[column].saturating_sub(starts[1]));
    let rest = (0..rank).filter(|&axis| !both.contains(axis));
    let mut view = View { rank: rank - 1, axes: SmallVec::from_elem(AxisIndex::default(), rank) };
    for (n, axis) in rest.clone().enumerate() {
        view.axes[axis] = AxisIndex::along(n, 0, 1);
    }
    for (axis, start) in [(row, starts[0]), (column, starts[1])] {
        view.axes[axis] = AxisIndex::along(rank - 2, isize::try_from(start).unwrap_or(isize::MAX), 1);
    }
    made(view, rest.map(|axis| shape.extents()[axis]).chain([len]))
}

/// Windows of these extents along these axes; the result has an axis for each window, after the others.
/// (NumPy, `sliding_window_view`.)
///
/// # Errors
/// `Shape` for invalid or repeated axes, for different numbers of extents and axes, and for windows larger than
/// their axis.
pub fn sliding_window(shape: &Shape, extents: &[isize], axes: &[isize]) -> ViewResult {
    let rank = shape.rank();
    AxisSet::new(axes, rank)?;
    if extents.len() != axes.len() {
        let what = format!("extents of a window along {} axes, but {} axes to slide along", extents.len(), axes.len());
        return Err(Error::new(ErrorCode::Shape, what)
            .fact(format_args!("extents: {extents:?}, axes: {axes:?}"))
            .help("give one extent for each axis, as in `x.sliding_window([3, 3], [0, 1])`"));
    }
    let mut view = View::identity(rank);
    view.rank = rank + axes.len();
    let mut result = shape.extents().to_vec();
    let mut windows = Vec::with_capacity(extents.len());
    for (n, (&extent, &axis)) in extents.iter().zip(axes).enumerate() {
        let axis = position(axis, rank)?;
        let own = usize::try_from(extent).ok().filter(|own| (1..=result[axis]).contains(own));
        let Some(own) = own else {
            return Err(Error::new(
                ErrorCode::Shape,
                format!("a window of {extent} along an axis of {}", result[axis]),
            )
            .about_axis()
            .fact(format_args!("axis {axis} of shape {shape}"))
            .help("a window has at least one element, and at most as many as its axis"));
        };
        view.axes[axis].add((rank + n) as u32, 1);
        result[axis] -= own - 1;
        windows.push(own);
    }
    made(view, result.into_iter().chain(windows))
}

/// The shape with an extent of -1, at most one, inferred from the number of elements.
///
/// # Errors
/// `Shape` if the numbers of elements differ, or several extents are -1.
pub fn resolve_reshape(shape: &Shape, to: &[isize]) -> Result<Shape> {
    let error = |what: String| {
        Err(Error::new(ErrorCode::Shape, what)
            .fact(format_args!("from shape {shape} to {to:?}"))
            .help("the number of elements stays; one extent may be -1, which is as much as is left"))
    };
    check_rank(to.len()).map_err(|error| error.help("leave out extents of 1, or give one axis for several"))?;
    let size = shape.size()?;
    let mut open = None;
    let mut extents: Vec<usize> = Vec::with_capacity(to.len());
    for (axis, &extent) in to.iter().enumerate() {
        match usize::try_from(extent) {
            Ok(extent) => extents.push(extent),
            Err(_) if extent == -1 && open.is_none() => {
                open = Some(axis);
                extents.push(1);
            }
            Err(_) if extent == -1 => return error("two extents are -1".to_owned()),
            Err(_) => return error(format!("{extent} is not an extent")),
        }
    }
    let others = Shape::new(&extents).size()?;
    match open {
        Some(_) if others == 0 => return error("the extent that is left open could be any".to_owned()),
        Some(axis) if size % others == 0 => extents[axis] = size / others,
        Some(_) => return error(format!("{size} elements are not divided by {others}")),
        None if size == others => {}
        None => return error(format!("{size} elements do not make {others}")),
    }
    Ok(Shape::from(extents))
}

/// A reshape as a view, if it only splits axes of the operand.
pub fn reshape(from: &Shape, to: &Shape) -> Option<View> {
    if to.extents().contains(&0) {
        return Some(View { rank: to.rank(), axes: SmallVec::from_elem(AxisIndex::default(), from.rank()) });
    }
    let mut view = View { rank: to.rank(), axes: SmallVec::from_elem(AxisIndex::default(), from.rank()) };
    let mut parts = to.extents().iter().enumerate().rev().filter(|(_, extent)| **extent != 1);
    for (axis, &extent) in from.extents().iter().enumerate().rev().filter(|(_, extent)| **extent != 1) {
        let mut split = 1usize;
        while split < extent {
            let (part, &own) = parts.next()?;
            view.axes[axis].add(part as u32, isize::try_from(split).ok()?);
            split = split.checked_mul(own)?;
        }
        if split != extent {
            return None;
        }
    }
    Some(view)
}

/// The shape of arrays `x0`, `x1`, … joined along an axis.
///
/// # Errors
/// The mismatch.
pub fn concat_shape(shapes: &[&Shape], axis: usize) -> Result<Shape, ShapeMismatch> {
    let Some((&first, rest)) = shapes.split_first() else { return Err(ShapeMismatch::NoArrays) };
    let mut extents: SmallVec<[usize; 4]> = SmallVec::from_slice(first.extents());
    if axis >= extents.len() {
        return Err(ShapeMismatch::Axis(axis, first.clone()));
    }
    for (operand, shape) in (1..).zip(rest) {
        if shape.rank() != extents.len() {
            return Err(ShapeMismatch::Ranks { operand, ranks: [shape.rank(), extents.len()] });
        }
        let differs = |&other: &usize| other != axis && shape.extents()[other] != first.extents()[other];
        if let Some(axis) = (0..extents.len()).find(differs) {
            return Err(ShapeMismatch::Extents { operand, axis, extents: [shape, first].map(|of| of.extents()[axis]) });
        }
        extents[axis] = extents[axis].saturating_add(shape.extents()[axis]);
    }
    Ok(Shape::new(&extents))
}

/// The shape of the rows of `x` at the indices `index`: the shape of `x` without its first axis, broadcast with that of `index`.
///
/// # Errors
/// The mismatch.
pub fn gathered(x: &Shape, index: &Shape) -> Result<Shape, ShapeMismatch> {
    let shape = scattered(x, index)?;
    match x.extents().first() {
        Some(0) if shape.size() != Ok(0) => Err(ShapeMismatch::NoneToTake(shape)),
        _ => Ok(shape),
    }
}

/// The same, also for an array without rows.
///
/// # Errors
/// The mismatch.
pub fn scattered(x: &Shape, index: &Shape) -> Result<Shape, ShapeMismatch> {
    let Some((_, rest)) = x.extents().split_first() else { return Err(ShapeMismatch::NoRows) };
    let rest = Shape::from(rest);
    rest.broadcast(index).ok_or_else(|| ShapeMismatch::Rows(rest, index.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(made: ViewResult) -> String {
        made.map_or_else(|error| error.headline().to_owned(), |(view, shape)| format!("{view} : {shape}"))
    }

    #[test]
    fn each_function_is_its_view() {
        let shape = Shape::from([2, 3, 4]);
        assert_eq!(text(permute_dims(&shape, &[2, 0, -2])), "(d0, d1, d2) -> (d1, d2, d0) : [4, 2, 3]");
        assert_eq!(text(permute_dims(&shape, &[2, 0])), "2 of 3 axes are named");
        assert_eq!(text(moveaxis(&shape, &[0], &[-1])), "(d0, d1, d2) -> (d2, d0, d1) : [3, 4, 2]");
        assert_eq!(text(swapaxes(&shape, 0, 2)), "(d0, d1, d2) -> (d2, d1, d0) : [4, 3, 2]");
        assert_eq!(text(expand_dims(&shape, &[0, -1])), "(d0, d1, d2, d3, d4) -> (d1, d2, d3) : [1, 2, 3, 4, 1]");
        assert_eq!(text(squeeze(&Shape::from([1, 3, 1]), &[0])), "(d0, d1) -> (0, d0, 0) : [3, 1]");
        assert_eq!(text(squeeze(&shape, &[1])), "axis 1 has extent 3, not 1");
        assert_eq!(text(placed(&shape, 4, &[3, 0, 1])), "(d0, d1, d2, d3) -> (d3, d0, d1) : [3, 4, 1, 2]");
        assert_eq!(text(placed(&Shape::from([3, 3, 2]), 2, &[1, 1, 0])), "(d0, d1) -> (d1, d1, d0) : [2, 3]");
        assert_eq!(text(flip(&shape, &[1])), "(d0, d1, d2) -> (d0, -d1 + 2, d2) : [2, 3, 4]");
        assert_eq!(
            text(broadcast_to(&Shape::from([3, 1]), &shape_of([2, 3, 4]))),
            "(d0, d1, d2) -> (d1, 0) : [2, 3, 4]"
        );
        assert_eq!(text(broadcast_to(&shape, &Shape::from([3, 4]))), "shape [2, 3, 4] does not broadcast to [3, 4]");
        assert_eq!(text(diagonal(&shape, -1, [0, 1])), "(d0, d1) -> (1, 0, d0) : [4, 1]");
        assert_eq!(text(diagonal(&shape, 1, [1, 2])), "(d0, d1) -> (d0, d1, d1 + 1) : [2, 3]");
        assert_eq!(text(diagonal(&shape, 9, [1, 2])), "(d0, d1) -> (0, 0, 0) : [2, 0]");
        assert_eq!(text(sliding_window(&shape, &[2], &[2])), "(d0, d1, d2, d3) -> (d0, d1, d2 + d3) : [2, 3, 3, 2]");
        assert_eq!(text(sliding_window(&shape, &[5], &[2])), "a window of 5 along an axis of 4");
    }

    fn shape_of<const N: usize>(extents: [usize; N]) -> Shape {
        Shape::from(extents)
    }

    #[test]
    fn reshapes_that_split_axes_are_views() {
        let view = |from: &[usize], to: &[usize]| reshape(&Shape::new(from), &Shape::new(to)).map(|v| v.to_string());
        assert_eq!(view(&[6, 4], &[2, 3, 1, 4]).unwrap(), "(d0, d1, d2, d3) -> (3*d0 + d1, d3)");
        assert_eq!(view(&[6, 1], &[6]).unwrap(), "(d0) -> (d0, 0)");
        assert_eq!(view(&[6, 4], &[24]), None);
        assert_eq!(view(&[6, 4], &[4, 6]), None);
        assert_eq!(view(&[], &[1, 1]).unwrap(), "(d0, d1) -> ()");
        assert_eq!(resolve_reshape(&Shape::from([2, 6]), &[-1, 4]).unwrap(), Shape::from([3, 4]));
        for wrong in [&[-1, -1][..], &[5, -1], &[-2, 3], &[13], &[0, -1]] {
            assert!(resolve_reshape(&Shape::from([2, 6]), wrong).is_err());
        }
    }
}
