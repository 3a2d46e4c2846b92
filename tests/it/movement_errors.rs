//! Errors of functions that move elements: the function, the place, the shapes, the axis, and a fix.

use ndjit::{
    Array, Ellipsis, ErrorCode, Expr, Indexing, Pad, broadcast_arrays, concat, from_fn, jit, meshgrid, stack, step,
    tril, triu, zeros,
};

/// Two axes, and one.
fn operands() -> (Array, Array) {
    (zeros([2, 3]), zeros([3]))
}

#[test]
fn reshapes() {
    let (x, _) = operands();
    insta::assert_snapshot!(refused!(x.reshape([4, -1])), @r"
    error[shape]: reshape: 6 elements are not divided by 4
      at here
      x: f32[2, 3] held as data
      from shape [2, 3] to [4, -1]
      help: the number of elements stays; one extent may be -1, which is as much as is left
    ");
    insta::assert_snapshot!(refused!(x.reshape([-1, -1])), @r"
    error[shape]: reshape: two extents are -1
      at here
      x: f32[2, 3] held as data
      from shape [2, 3] to [-1, -1]
      help: the number of elements stays; one extent may be -1, which is as much as is left
    ");
    insta::assert_snapshot!(refused!(x.reshape([3, -2])), @r"
    error[shape]: reshape: -2 is not an extent
      at here
      x: f32[2, 3] held as data
      from shape [2, 3] to [3, -2]
      help: the number of elements stays; one extent may be -1, which is as much as is left
    ");
    insta::assert_snapshot!(refused!(zeros([0, 2]).reshape([0, -1])), @r"
    error[shape]: reshape: the extent that is left open could be any
      at here
      x: f32[0, 2] held as data
      from shape [0, 2] to [0, -1]
      help: the number of elements stays; one extent may be -1, which is as much as is left
    ");
    insta::assert_snapshot!(refused!(x.reshape([7])), @r"
    error[shape]: reshape: 6 elements do not make 7
      at here
      x: f32[2, 3] held as data
      from shape [2, 3] to [7]
      help: the number of elements stays; one extent may be -1, which is as much as is left
    ");
    insta::assert_snapshot!(refused!(zeros([2]).reshape([1; 33])), @r"
    error[shape]: reshape: an array of 33 axes
      at here
      x: f32[2] held as data
      limit: 32 axes
      help: leave out extents of 1, or give one axis for several
    ");
}

#[test]
fn axes_in_another_order() {
    let (x, row) = operands();
    insta::assert_snapshot!(refused!(x.permute_dims([1])), @r"
    error[shape]: permute_dims: 1 of 2 axes are named
      at here
      x: f32[2, 3] held as data
      the axes: [1] of shape [2, 3]
      help: name every axis once; `moveaxis` leaves those that are not named in their order
    ");
    insta::assert_snapshot!(refused!(x.permute_dims([0, 2])), @r"
    error[shape]: permute_dims: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(x.permute_dims([1, -1])), @r"
    error[shape]: permute_dims: axis 1 is named twice
      at here
      x: f32[2, 3] held as data
      the axes: [1, -1] of 2
      help: name each axis once; negative ones count from the last
    ");
    insta::assert_snapshot!(refused!(x.moveaxis([0, 1], 0)), @r"
    error[shape]: moveaxis: 2 axes to move, but places for 1
      at here
      x: f32[2, 3] held as data
      from [0, 1] to [0]
      help: give each axis that is moved a place, as in `x.moveaxis([0, 1], [-2, -1])`
    ");
    insta::assert_snapshot!(refused!(x.moveaxis(2, 0)), @r"
    error[shape]: moveaxis: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(x.moveaxis([0, 0], [0, 1])), @r"
    error[shape]: moveaxis: axis 0 is named twice
      at here
      x: f32[2, 3] held as data
      the axes: [0, 0] of 2
      help: name each axis once; negative ones count from the last
    ");
    insta::assert_snapshot!(refused!(x.swapaxes(0, 2)), @r"
    error[shape]: swapaxes: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(row.mt()), @r"
    error[shape]: matrix_transpose: a matrix has two axes
      at here
      x: f32[3] held as data
      help: `x.reshape([1, -1])` makes a row of a vector, `x.reshape([-1, 1])` a column
    ");
}

#[test]
fn axes_that_come_and_go() {
    let (x, _) = operands();
    insta::assert_snapshot!(refused!(x.expand_dims(4)), @r"
    error[shape]: expand_dims: there is no axis 4
      at here
      x: f32[2, 3] held as data
      axes: 0 to 2, or -3 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(x.expand_dims([0, 0])), @r"
    error[shape]: expand_dims: axis 0 is named twice
      at here
      x: f32[2, 3] held as data
      the axes: [0, 0] of 4
      help: name each axis once; negative ones count from the last
    ");
    insta::assert_snapshot!(refused!(x.squeeze(0)), @r"
    error[shape]: squeeze: axis 0 has extent 2, not 1
      at here
      x: f32[2, 3] held as data
      the shape: [2, 3]
      help: an axis of one index can be left out; `x.slice((.., 0))` takes one of several
    ");
    insta::assert_snapshot!(refused!(x.squeeze(-3)), @r"
    error[shape]: squeeze: there is no axis -3
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(zeros([1, 2]).squeeze([0, -2])), @r"
    error[shape]: squeeze: axis 0 is named twice
      at here
      x: f32[1, 2] held as data
      the axes: [0, -2] of 2
      help: name each axis once; negative ones count from the last
    ");
    insta::assert_snapshot!(refused!(x.flip(2)), @r"
    error[shape]: flip: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(x.flip([0, -2])), @r"
    error[shape]: flip: axis 0 is named twice
      at here
      x: f32[2, 3] held as data
      the axes: [0, -2] of 2
      help: name each axis once; negative ones count from the last
    ");
}

#[test]
fn broadcasts() {
    let (x, _) = operands();
    insta::assert_snapshot!(refused!(x.broadcast_to([2, 4])), @r"
    error[shape]: broadcast_to: shape [2, 3] does not broadcast to [2, 4]
      at here
      x: f32[2, 3] held as data
      help: axes are matched from the last; an axis of the array must have the same extent or 1
    ");
    insta::assert_snapshot!(refused!(x.broadcast_to([3])), @r"
    error[shape]: broadcast_to: shape [2, 3] does not broadcast to [3]
      at here
      x: f32[2, 3] held as data
      help: axes are matched from the last; an axis of the array must have the same extent or 1
    ");
    insta::assert_snapshot!(refused!(&broadcast_arrays([&x, &zeros([2])])[1]), @r"
    error[shape]: broadcast_arrays: shape [2] of x1 does not broadcast with [2, 3]
      at here
      x0: f32[2, 3] held as data
      x1: f32[2] held as data
      help: axes are matched from the last; extents must be equal or 1
    ");
    insta::assert_snapshot!(refused!(&broadcast_arrays([&x, &zeros([2]), &x])[0]), @r"
    error[shape]: broadcast_arrays: shape [2] of x1 does not broadcast with [2, 3]
      at here
      x0: f32[2, 3] held as data
      x1: f32[2] held as data
      x2: f32[2, 3] held as data
      help: axes are matched from the last; extents must be equal or 1
    ");
    insta::assert_snapshot!(refused!(from_fn([2, 3], |[row, _]| row.slice((.., 0)))), @r"
    error[shape]: from_fn: the function gave shape [2], which does not broadcast to [2, 3]
      at here
      x: i32[2] held as data
      help: compute the elements from the function's indices, which have the shape's axes
    ");
    insta::assert_snapshot!(refused!(from_fn([usize::MAX, 3], |[row, _]| row)), @r"
    error[size]: from_fn: shape [18446744073709551615, 3] has more elements than memory can address
      at here
      limit: 9223372036854775807 elements
      help: use smaller extents, or evaluate the array in parts
    ");
    let vectors = [zeros([2]), x, zeros([3])];
    insta::assert_snapshot!(refused!(&meshgrid(&vectors, Indexing::Xy)[0]), @r"
    error[shape]: meshgrid: x1 has 2 axes, not one
      at here
      x0: f32[2] held as data
      x1: f32[2, 3] held as data
      x2: f32[3] held as data
      help: a grid is made of vectors; `x.reshape(-1)` makes one axis of all
    ");
}

#[test]
fn slices() {
    let (x, row) = operands();
    insta::assert_snapshot!(refused!(x.slice((0, 0, 0))), @r"
    error[shape]: slice: 3 indices or ranges of an array of shape [2, 3]
      at here
      x: f32[2, 3] held as data
      help: give at most one index or range for each axis
    ");
    insta::assert_snapshot!(refused!(x.slice((.., 3))), @r"
    error[shape]: slice: index 3 of axis 1, which has 3
      at here
      x: f32[2, 3] held as data
      the shape: [2, 3]
      help: indices are 0 to the extent less 1, or -1 for the last and so on
    ");
    insta::assert_snapshot!(refused!(x.slice(-3)), @r"
    error[shape]: slice: index -3 of axis 0, which has 2
      at here
      x: f32[2, 3] held as data
      the shape: [2, 3]
      help: indices are 0 to the extent less 1, or -1 for the last and so on
    ");
    insta::assert_snapshot!(refused!(x.slice((.., 1..4))), @r"
    error[shape]: slice: 4 is beyond an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: a range ends at 3 at most; negative numbers count from the end
    ");
    insta::assert_snapshot!(refused!(x.slice((.., step(0)))), @r"
    error[shape]: slice: a step of 0
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: steps are 1, 2, …, or -1, -2, … for backwards
    ");
    insta::assert_snapshot!(refused!(x.slice((Ellipsis, 0, Ellipsis))), @r"
    error[shape]: slice: two ellipses: which axes each stands for could not be told
      at here
      x: f32[2, 3] held as data
      the shape: [2, 3]
      help: write whole axes as `..`, and one ellipsis at most
    ");
    insta::assert_snapshot!(refused!(row.slice(usize::MAX)), @r"
    error[shape]: slice: index 9223372036854775807 of axis 0, which has 3
      at here
      x: f32[3] held as data
      the shape: [3]
      help: indices are 0 to the extent less 1, or -1 for the last and so on
    ");
    insta::assert_snapshot!(refused!(x.slice((.., ..=3))), @r"
    error[shape]: slice: 3 is beyond an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: the last element is 2, or -1; `..` is all of an axis
    ");
    insta::assert_snapshot!(refused!(x.slice((.., 1..=7))), @r"
    error[shape]: slice: 7 is beyond an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: the last element is 2, or -1; `..` is all of an axis
    ");
    insta::assert_snapshot!(refused!(x.slice((.., -7..))), @r"
    error[shape]: slice: -7 is before the first element of an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: negative numbers count from the end; the first element is 0 or -3
    ");
    insta::assert_snapshot!(refused!(x.slice((.., ..-7))), @r"
    error[shape]: slice: -7 is before the first element of an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: negative numbers count from the end; the first element is 0 or -3
    ");
    insta::assert_snapshot!(refused!(x.slice((.., 9..))), @r"
    error[shape]: slice: 9 is beyond an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: a range begins at 3 at most, where it is empty; negative numbers count from the end
    ");
    insta::assert_snapshot!(refused!(x.slice([0, 0, 0])), @r"
    error[shape]: slice: 3 indices or ranges of an array of shape [2, 3]
      at here
      x: f32[2, 3] held as data
      help: give at most one index or range for each axis
    ");
}

#[test]
fn diagonals_and_windows() {
    let (x, row) = operands();
    insta::assert_snapshot!(refused!(x.diagonal(0, [1, -1])), @r"
    error[shape]: diagonal: axis 1 is named twice
      at here
      x: f32[2, 3] held as data
      the axes: [1, -1] of 2
      help: name each axis once; negative ones count from the last
    ");
    insta::assert_snapshot!(refused!(row.diagonal(0, [0, 1])), @r"
    error[shape]: diagonal: there is no axis 1
      at here
      x: f32[3] held as data
      axes: 0, or -1 from the last
      help: name this axis
    ");
    insta::assert_snapshot!(refused!(x.sliding_window(4, 1)), @r"
    error[shape]: sliding_window: a window of 4 along an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: a window has at least one element, and at most as many as its axis
    ");
    insta::assert_snapshot!(refused!(x.sliding_window(0, 1)), @r"
    error[shape]: sliding_window: a window of 0 along an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: a window has at least one element, and at most as many as its axis
    ");
    insta::assert_snapshot!(refused!(x.sliding_window(-1, 1)), @r"
    error[shape]: sliding_window: a window of -1 along an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: a window has at least one element, and at most as many as its axis
    ");
    insta::assert_snapshot!(refused!(x.sliding_window([2, 2], 0)), @r"
    error[shape]: sliding_window: extents of a window along 2 axes, but 1 axes to slide along
      at here
      x: f32[2, 3] held as data
      extents: [2, 2], axes: [0]
      help: give one extent for each axis, as in `x.sliding_window([3, 3], [0, 1])`
    ");
    insta::assert_snapshot!(refused!(x.sliding_window(2, 2)), @r"
    error[shape]: sliding_window: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(x.sliding_window([1, 1], [0, 0])), @r"
    error[shape]: sliding_window: axis 0 is named twice
      at here
      x: f32[2, 3] held as data
      the axes: [0, 0] of 2
      help: name each axis once; negative ones count from the last
    ");
}

#[test]
fn scalars_have_no_axes() {
    let x = Array::scalar(1.0f32);
    insta::assert_snapshot!(refused!(x.flip(0)), @r"
    error[shape]: flip: there is no axis 0
      at here
      x: f32[] held as data
      a scalar has no axes
      help: name no axes, or give it some with `reshape`
    ");
    insta::assert_snapshot!(refused!(concat([&x, &x], 0)), @r"
    error[shape]: concat: there is no axis 0
      at here
      x0: f32[] held as data
      x1: f32[] held as data
      a scalar has no axes
      help: name no axes, or give it some with `reshape`
    ");
    insta::assert_snapshot!(refused!(x.slice(0)), @r"
    error[shape]: slice: 1 indices or ranges of an array of shape []
      at here
      x: f32[] held as data
      help: give at most one index or range for each axis
    ");
}

#[test]
fn a_traced_function_gives_the_same_errors() {
    let (x, row) = operands();
    type Use = (fn(Expr) -> Expr, Array);
    let uses: [Use; 7] = [
        (|x| x.roll([1, 2], 0), x.roll([1, 2], 0)),
        (|x| x.repeat(2, 2), x.repeat(2, 2)),
        (|x| x.pad([(0, 0); 3], Pad::Wrap), x.pad([(0, 0); 3], Pad::Wrap)),
        (|x| x.repeat([1, 2], -1), x.repeat([1, 2], -1)),
        (|x| x.flip(7), x.flip(7)),
        (|x| stack([x, x.slice(0)], 0), stack([&x, &row], 0)),
        (|x| x.slice(0).tril(0), row.tril(0)),
    ];
    for (function, array) in uses {
        let traced = jit(function).call((&x,)).unwrap_err();
        let error = array.error().unwrap();
        assert_eq!((traced.code(), traced.headline()), (ErrorCode::Shape, error.headline()));
        assert_eq!(traced.help_text(), error.help_text());
        assert_eq!(traced.place().map(|place| place.line), error.place().map(|place| place.line));
    }
}

#[test]
fn diagonals_beyond_every_corner_are_no_error() {
    let x = Array::from_rows(&[[1, 2], [3, 4], [5, 6]]);
    let all = x.to_vec::<i32>().unwrap();
    for far in [isize::MAX, 3] {
        assert_eq!(tril(&x, far).to_vec::<i32>().unwrap(), all);
        assert_eq!(triu(&x, -far).to_vec::<i32>().unwrap(), all);
        assert_eq!(triu(&x, far).to_vec::<i32>().unwrap(), [0; 6]);
        assert_eq!(tril(&x, -far).to_vec::<i32>().unwrap(), [0; 6]);
    }
}
