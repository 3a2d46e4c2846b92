//! Errors of functions that join elements, or are composed of others: the function, the place, the shapes, the axis, and a
//! fix.

use ndjit::{Array, DType, Pad, Policy, concat, dtype, stack, unstack, vector_norm, with_policy, zeros};

/// Two axes, and one.
fn operands() -> (Array, Array) {
    (zeros([2, 3]), zeros([3]))
}

#[test]
fn joins() {
    let (x, row) = operands();
    let integers = Array::from_rows(&[[1, 2, 3]]);
    insta::assert_snapshot!(refused!(concat([&x; 0], 0)), @r"
    error[shape]: concat: there are no arrays to join
      at here
      help: give at least one
    ");
    insta::assert_snapshot!(refused!(concat([&x, &x], 2)), @r"
    error[shape]: concat: there is no axis 2
      at here
      x0: f32[2, 3] held as data
      x1: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(concat([&x, &zeros([2, 4])], 0)), @r"
    error[shape]: concat: x1 has 4 along axis 1, x0 has 3
      at here
      x0: f32[2, 3] held as data
      x1: f32[2, 4] held as data
      help: arrays joined along axis 0 have the same number of axes, and the same extents along all others
    ");
    insta::assert_snapshot!(refused!(concat([&x, &row], 0)), @r"
    error[shape]: concat: x1 has 1 axes, x0 has 2
      at here
      x0: f32[2, 3] held as data
      x1: f32[3] held as data
      help: arrays joined along axis 0 have the same number of axes, and the same extents along all others
    ");
    insta::assert_snapshot!(refused!(concat([&x, &x, &x, &x, &x, &x, &x, &x, &row], 0)), @r"
    error[shape]: concat: x8 has 1 axes, x0 has 2
      at here
      x0: f32[2, 3] held as data
      x1: f32[2, 3] held as data
      x2: f32[2, 3] held as data
      x3: f32[2, 3] held as data
      x4: f32[2, 3] held as data
      x5: f32[2, 3] held as data
      x6: f32[2, 3] held as data
      x7: f32[2, 3] held as data
      help: arrays joined along axis 0 have the same number of axes, and the same extents along all others
    ");
    insta::assert_snapshot!(refused!(with_policy(Policy::Strict, || concat([&x, &integers], 0))), @r"
    error[promotion]: concat: the strict policy does not promote f32 and i32
      at here
      x0: f32[2, 3] held as data
      x1: i32[1, 3] held as data
      help: cast the arrays to a common dtype, as in `cast(x, DType::F64)`
    ");
    insta::assert_snapshot!(refused!(stack([&x, &row], 0)), @r"
    error[shape]: stack: shapes [2, 3] and [3] differ
      at here
      x0: f32[2, 3] held as data
      x1: f32[3] held as data
      help: arrays beside each other have one shape; `concat` joins along an axis that they have
    ");
    insta::assert_snapshot!(refused!(stack([&x, &x], 3)), @r"
    error[shape]: stack: there is no axis 3
      at here
      x0: f32[2, 3] held as data
      x1: f32[2, 3] held as data
      axes: 0 to 2, or -3 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(stack([&x; 0], 0)), @r"
    error[shape]: stack: there are no arrays to join
      at here
      help: give at least one
    ");
    insta::assert_snapshot!(refused!(concat([&x, &x, &zeros([2, 4])], 0)), @r"
    error[shape]: concat: x2 has 4 along axis 1, x0 has 3
      at here
      x0: f32[2, 3] held as data
      x1: f32[2, 3] held as data
      x2: f32[2, 4] held as data
      help: arrays joined along axis 0 have the same number of axes, and the same extents along all others
    ");
}

#[test]
fn parts_and_repetitions() {
    let (x, _) = operands();
    let error = unstack(&x, 2).unwrap_err();
    insta::assert_snapshot!(crate::refused::text(&error, file!()), @r"
    error[shape]: unstack: there is no axis 2
      at here
      axes: 0 to 1, or -2 to -1 from the last
      the shape: [2, 3]
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(x.tile([2, -1])), @r"
    error[shape]: tile: -1 is not a number of repetitions
      at here
      x: f32[2, 3] held as data
      help: repetitions are 0 or more
    ");
    insta::assert_snapshot!(refused!(x.repeat(2, 2)), @r"
    error[shape]: repeat: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(x.repeat(usize::MAX, 0)), @r"
    error[size]: repeat: shape [2, 9223372036854775807, 3] has more elements than memory can address
      at here
      x: f32[2, 3] held as data
      limit: 9223372036854775807 elements
      help: use smaller extents, or evaluate the array in parts
    ");
    insta::assert_snapshot!(refused!(x.repeat([1, 2], 1)), @r"
    error[shape]: repeat: 2 counts along an axis of 3
      at here
      x: f32[2, 3] held as data
      axis 1 of shape [2, 3]
      help: give a count for each index of the axis, or one for all
    ");
    insta::assert_snapshot!(refused!(x.repeat([1, -2], 0)), @r"
    error[shape]: repeat: -2 is not a number of repetitions
      at here
      x: f32[2, 3] held as data
      help: repetitions are 0 or more
    ");
    insta::assert_snapshot!(refused!(x.repeat([usize::MAX, 1], 0)), @r"
    error[size]: repeat: shape [1, 9223372036854775807, 3] has more elements than memory can address
      at here
      x: f32[2, 3] held as data
      limit: 9223372036854775807 elements
      help: use smaller extents, or evaluate the array in parts
    ");
    insta::assert_snapshot!(refused!(x.roll([1, 2], 0)), @r"
    error[shape]: roll: 2 shifts for 1 axes
      at here
      x: f32[2, 3] held as data
      shifts: [1, 2], axes: [0]
      help: give one shift for each axis, or one for all
    ");
    insta::assert_snapshot!(refused!(x.roll(1, 2)), @r"
    error[shape]: roll: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(x.tile([1usize << 40; 2])), @r"
    error[size]: tile: the result has more elements than memory can address
      at here
      x: f32[2, 3] held as data
      the shape: [2, 3], repeated [1099511627776, 1099511627776] times
      help: repeat it less often; operators need no repetition, they broadcast
    ");
}

#[test]
fn paddings() {
    let (_, row) = operands();
    insta::assert_snapshot!(refused!(row.pad([(1, 1), (1, 1)], 0)), @r"
    error[shape]: pad: widths of 2 axes, the array has 1
      at here
      x: f32[3] held as data
      help: give a pair for each axis from the first, or one pair for all; axes left out stay
    ");
    insta::assert_snapshot!(refused!(zeros([0]).pad([(1, 0)], Pad::Edge)), @r"
    error[shape]: pad: axis 0 has no elements to be padded with
      at here
      x: f32[0] held as data
      axis 0 of shape [0], padded by (1, 0) with Edge
      help: pad with a number, as in `x.pad(2, 0)`
    ");
    insta::assert_snapshot!(refused!(Array::from([1u8, 2, 3]).pad([(1, 1)], 300)), @r"
    error[literal]: pad: literal 300 does not fit u8
      at here
      x: u8[3] held as data
      u8 holds 0 to 255
      help: give a number that u8 holds, or cast the array, as in `cast(Array::from([1u8, 2, 3]), DType::I16)`
    ");
    insta::assert_snapshot!(refused!(row.pad([(usize::MAX, 1)], 0)), @r"
    error[size]: pad: axis 0 has more elements than memory can address
      at here
      x: f32[3] held as data
      axis 0 of shape [3], padded by (18446744073709551615, 1)
      help: pad by less
    ");
    let (bits, bytes) = (Array::from([true, false]), Array::from([1u8, 2, 3]));
    insta::assert_snapshot!(refused!(bits.pad(1, 2)), @r"
    error[literal]: pad: literal 2 does not fit bool
      at here
      x: bool[2] held as data
      an integer literal becomes bool by an explicit cast only
      help: give `true`, `false`, 0 or 1, or cast the array, as in `cast(bits, DType::I16)`
    ");
    insta::assert_snapshot!(refused!(bytes.pad(1, -1)), @r"
    error[literal]: pad: literal -1 does not fit u8
      at here
      x: u8[3] held as data
      u8 holds 0 to 255
      help: give a number that u8 holds, or cast the array, as in `cast(bytes, DType::I16)`
    ");
    insta::assert_snapshot!(refused!(bytes.pad(1, 0.5)), @r"
    error[literal]: pad: literal 0.5 does not fit u8
      at here
      x: u8[3] held as data
      a float literal becomes u8 by an explicit cast only
      help: give a number that u8 holds, or cast the array, as in `cast(bytes, DType::F32)`
    ");
    insta::assert_snapshot!(refused!(zeros([2, 3]).pad((usize::MAX, 0), Pad::Wrap)), @r"
    error[size]: pad: axis 0 has more elements than memory can address
      at here
      x: f32[2, 3] held as data
      axis 0 of shape [2, 3], padded by (18446744073709551615, 0)
      help: pad by less
    ");
    insta::assert_snapshot!(refused!(row.pad(usize::MAX / 4, Pad::Edge)), @r"
    error[size]: pad: shape [9223372036854775809] has more elements than memory can address
      at here
      x: f32[3] held as data
      limit: 9223372036854775807 elements
      help: use smaller extents, or evaluate the array in parts
    ");
}

#[test]
fn triangles() {
    let (_, row) = operands();
    insta::assert_snapshot!(refused!(row.tril(0)), @r"
    error[shape]: tril: a matrix has two axes
      at here
      x: f32[3] held as data
      help: `x.reshape([1, -1])` makes a row of a vector, `x.reshape([-1, 1])` a column
    ");
    insta::assert_snapshot!(refused!(row.triu(1)), @r"
    error[shape]: triu: a matrix has two axes
      at here
      x: f32[3] held as data
      help: `x.reshape([1, -1])` makes a row of a vector, `x.reshape([-1, 1])` a column
    ");
}

#[test]
fn norms() {
    let (x, _) = operands();
    let (none, halves) = (zeros([0]), dtype(DType::Bf16).zeros(2));
    insta::assert_snapshot!(refused!(vector_norm(&none, f64::INFINITY, ..)), @r"
    error[shape]: vector_norm: there are no elements, of which none is the largest or smallest
      at here
      x: f32[0] held as data
      along axes [0] of shape [0]
      help: give the array elements, or take a norm of a finite order: that of no elements is 0
    ");
    insta::assert_snapshot!(refused!(vector_norm(&x, 1, [0, 0])), @r"
    error[shape]: vector_norm: axis 0 is named twice
      at here
      x: f32[2, 3] held as data
      the axes: [0, 0] of 2
      help: name each axis once; negative ones count from the last
    ");
    insta::assert_snapshot!(refused!(vector_norm(&x, true, ..)), @r"
    error[argument]: vector_norm: the order is not a real number
      at here
      x: f32[2, 3] held as data
      help: orders are 0, 1, 2, other numbers, and infinities
    ");
    insta::assert_snapshot!(refused!(with_policy(Policy::NumPy2, || vector_norm(&halves, 1, ..))), @r"
    error[promotion]: vector_norm: the numpy2 policy does not take bf16
      at here
      x: bf16[2] held as data
      NumPy itself has no bf16; ml_dtypes adds one
      help: cast the array, as in `cast(&halves, DType::F64)`
    ");
}

#[test]
fn memory_that_no_system_has() {
    let made = dtype(DType::U8).zeros([1 << 50]);
    let error = crate::refused::text(made.error().unwrap(), file!());
    assert!(
        error.starts_with("error[allocation]: zeros: the system refused memory for u8[1125899906842624]"),
        "{error}"
    );
}
