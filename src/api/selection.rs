//! Nonzero elements, unique values, membership. The shapes of all results except those of [`isin`] depend on values, so
//! these functions take arrays. Traced functions have fixed shapes: there they return errors that suggest an alternative.

use crate::api::config::with_parts;
use crate::api::indexing::{index_dtype, rows};
use crate::api::manipulation::{part, refused, reshaped, seen};
use crate::api::reductions::{self, IntoAxes};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, BinaryOperand, Operand, UnaryOperand};
use ndjit_eval::request::Request;
use ndjit_ir::reserve::{collect, filled};
use ndjit_ir::{Code, DType, Error, ErrorCode, Help, Op, Reduction, Result, Shape, Sort, SourceLoc};
use ndjit_runtime::{Buffer, chosen};
use std::sync::Arc;

/// The indices of the nonzero elements, in row-major order: one array per axis, of the dtype of indices as in
/// [`argsort`](fn@crate::argsort). NaN is nonzero.
///
/// ```
/// use ndjit::{Array, nonzero};
/// let x = Array::from_rows(&[[0, 5], [7, 0]]);
/// let [rows, columns] = &nonzero(&x)[..] else { unreachable!() };
/// assert_eq!((rows.to_vec::<i32>()?, columns.to_vec::<i32>()?), (vec![0, 1], vec![1, 0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// In traced functions, with fixed shapes: [`size`](crate::size).
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.nonzero.html).
///
/// # Errors
/// All poisoned: with `Traced` in a traced function, with `Shape` for an array without axes, with the errors of the operand.
#[doc(alias = "argwhere")]
#[track_caller]
pub fn nonzero<X: UnaryOperand>(x: X) -> Vec<X::Out> {
    let (what, place, x) = ("nonzero", SourceLoc::caller(), x.operand());
    let rank = x.describe(what).map_or(1, |(.., shape)| shape.rank().max(1));
    let instead = Help::from("compute with all elements and a mask, as ")
        .code(Code::IsNonzero)
        .text(": ")
        .code(Code::Select("mask, y, 0"))
        .text(", `sum` of that, `count_nonzero`")
        .rust("; `size(n).nonzero(x)` gives `n` indices");
    outside(what, &x, place, instead, rank, |x| {
        let shape = x.shape().clone();
        if shape.rank() == 0 {
            return Err(Error::new(ErrorCode::Shape, "an array without axes has no indices")
                .help(Help::default().code(Code::Reshape(&[1])).text(" has one axis")));
        }
        let dtype = index_dtype(shape.extents().iter().copied().max().unwrap_or(0))?;
        found(x, dtype, place)
    })
}

/// Returns the indices of the nonzero elements along each axis, on the array's device.
pub(crate) fn found(x: &Array, dtype: DType, place: SourceLoc) -> Result<Vec<Array>> {
    let mask = Array::convert(&x.operand(), DType::Bool, place).buffer()?;
    let indices = chosen::nonzero(mask.as_bytes(), x.shape().extents(), dtype)?;
    let array = |indices: Buffer| {
        let shape = Shape::from(indices.len() / dtype.bytes());
        Array::concrete(dtype, dtype, shape, Arc::new(indices)).on(x.device())
    };
    Ok(indices.into_iter().map(array).collect())
}

/// The result of [`unique_all`]. Indices and counts have the dtype of indices, as in [`argsort`](fn@crate::argsort).
///
/// ```
/// use ndjit::{Array, UniqueAll, unique_all};
/// let UniqueAll { values, counts, .. } = unique_all(Array::from([3, 1, 3]));
/// assert_eq!((values.to_vec::<i32>()?, counts.to_vec::<i32>()?), (vec![1, 3], vec![1, 2]));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct UniqueAll<X> {
    /// The unique values, in ascending order.
    pub values: X,
    /// The index of the first occurrence of each value in the flattened array.
    pub indices: X,
    /// The index of the value of each element: `values[inverse_indices]` is the array.
    pub inverse_indices: X,
    /// The number of occurrences of each value.
    pub counts: X,
}

/// The unique values of an array in ascending order, the indices of their first occurrences, the inverse indices, and the
/// counts. Every NaN is a separate value; -0 and +0 are one value, that of the first occurrence.
///
/// ```
/// use ndjit::{Array, unique_all};
/// let unique = unique_all(Array::from([3, 1, 3, 2]));
/// assert_eq!(unique.values.to_string(), "[1 2 3]");
/// assert_eq!(unique.indices.to_string(), "[1 3 0]");
/// assert_eq!(unique.inverse_indices.to_string(), "[2 0 2 1]");
/// assert_eq!(unique.counts.to_string(), "[1 1 2]");
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.unique_all.html).
///
/// # Errors
/// All poisoned: with `Traced` in a traced function, with the errors of the operand.
#[doc(alias = "unique")]
#[track_caller]
pub fn unique_all<X: UnaryOperand>(x: X) -> UniqueAll<X::Out> {
    let [values, indices, inverse_indices, counts] = unique("unique_all", x, SourceLoc::caller());
    UniqueAll { values, indices, inverse_indices, counts }
}

/// The unique values of an array in ascending order, and their counts: see [`unique_all`].
///
/// ```
/// use ndjit::{Array, unique_counts};
/// let (values, counts) = unique_counts(Array::from([3, 1, 3, 2]));
/// assert_eq!((values.to_string(), counts.to_string()), ("[1 2 3]".into(), "[1 1 2]".into()));
/// ```
///
/// # Errors
/// Those of [`unique_all`].
#[track_caller]
pub fn unique_counts<X: UnaryOperand>(x: X) -> (X::Out, X::Out) {
    let [values, _, _, counts] = unique("unique_counts", x, SourceLoc::caller());
    (values, counts)
}

/// The unique values of an array in ascending order, and the inverse indices, in the array's shape: see [`unique_all`].
///
/// ```
/// use ndjit::{Array, unique_inverse};
/// let (values, inverse) = unique_inverse(Array::from_rows(&[[3, 1], [3, 2]]));
/// assert_eq!((values.to_string(), inverse.to_string()), ("[1 2 3]".into(), "[[2 0]\n [2 1]]".into()));
/// ```
///
/// # Errors
/// Those of [`unique_all`].
#[track_caller]
pub fn unique_inverse<X: UnaryOperand>(x: X) -> (X::Out, X::Out) {
    let [values, _, inverse, _] = unique("unique_inverse", x, SourceLoc::caller());
    (values, inverse)
}

/// The unique values of an array in ascending order: see [`unique_all`].
///
/// ```
/// use ndjit::{Array, unique_values};
/// assert_eq!(unique_values(Array::from([3, 1, 3, 2])).to_string(), "[1 2 3]");
/// ```
///
/// # Errors
/// Those of [`unique_all`].
#[track_caller]
pub fn unique_values<X: UnaryOperand>(x: X) -> X::Out {
    let [values, ..] = unique("unique_values", x, SourceLoc::caller());
    values
}

/// Values, indices of first occurrences, inverse indices, and counts.
fn unique<X: UnaryOperand>(what: &'static str, x: X, place: SourceLoc) -> [X::Out; 4] {
    let instead = "`sort` it, after which equal elements stand beside each other, and mask the first of each";
    let all = outside(what, &x.operand(), place, instead, 4, |x| {
        let flat: Array = reshaped(what, x.operand(), &[-1], place);
        let n = x.len();
        let dtype = index_dtype(n)?;
        let counted =
            |numbers: &Array| -> Result<Array> { Ok(Array::convert(&numbers.operand(), dtype, place).eval()?.clone()) };
        let numbers = |shape: Shape, numbers: Vec<i64>| counted(&Array::from_shape_vec(shape, numbers)?);
        if n == 0 {
            // An empty array has no values.
            let none = |shape: &Shape| numbers(shape.clone(), Vec::new());
            return Ok(vec![flat, none(&Shape::from(0))?, none(x.shape())?, none(&Shape::from(0))?]);
        }
        let request = Request::along(Sort::ArgSort, Some(DType::I64), 0);
        let order = with_parts(|| Array::reduce(&request, &[(&flat).operand()], place));
        let sorted: Array = rows(what, (&flat).operand(), (&order).operand(), place);
        let ends = |start: usize, end: usize| -> AnyOperand {
            let ends: Array = seen(what, (&sorted).operand(), place, |shape| part(shape, 0, start, end, 1));
            ends.operand()
        };
        let mut begins = filled(what, true, n)?;
        if n > 1 {
            let differ = with_parts(|| Array::compute(Op::NotEqual, &[ends(1, n), ends(0, n - 1)], place));
            begins[1..].copy_from_slice(&differ.to_vec::<bool>()?);
        }
        let order = order.to_vec::<i64>()?;
        let firsts = chosen::indices(&begins)?;
        let found = Shape::from(firsts.len());
        let indices = collect(what, firsts.iter().map(|&first| order[first as usize]))?;
        let indices = Array::from_shape_vec(found.clone(), indices)?;
        let values: Array = rows(what, flat.operand(), (&indices).operand(), place);
        let next = firsts.iter().skip(1).copied().chain([n as i64]);
        let counts = collect(what, firsts.iter().zip(next).map(|(first, next)| next - first))?;
        Ok(vec![
            values.eval()?.clone(),
            counted(&indices)?,
            numbers(x.shape().clone(), chosen::groups(&begins, &order)?)?,
            numbers(found, counts)?,
        ])
    });
    let mut all = all.into_iter();
    std::array::from_fn(|_| {
        let lost = || ArrayLike::failed(Error::new(ErrorCode::Verify, "a result is missing").of("unique").at(place));
        all.next().unwrap_or_else(lost)
    })
}

/// The results of a function of arrays; errors for a traced value.
pub(crate) fn outside<R: ArrayLike>(
    what: &'static str,
    x: &AnyOperand,
    place: SourceLoc,
    instead: impl Into<Help>,
    results: usize,
    of: impl FnOnce(&Array) -> Result<Vec<Array>>,
) -> Vec<R> {
    let found = match x {
        AnyOperand::Array(x) => of(x),
        AnyOperand::Expr(_) | AnyOperand::Scalar(_) => Err(x.describe(what).err().unwrap_or_else(|| {
            let headline = "the shape of its result depends on values, which a traced function does not know";
            Error::new(ErrorCode::Traced, headline)
                .help(instead.into().text(format!("; or call `{what}` outside of the traced function, on the array")))
        })),
    };
    match found {
        Ok(arrays) => arrays.into_iter().map(|array| R::constant(array, place)).collect(),
        Err(error) if error.place().is_some() => (0..results).map(|_| R::failed(error.clone())).collect(),
        Err(error) => (0..results).map(|_| refused(what, std::slice::from_ref(x), place, &error)).collect(),
    }
}

/// Checks for each element whether another array contains it. NaN equals nothing, so the result is false.
///
/// ```
/// use ndjit::{Array, isin};
/// let x = Array::from([1, 5, 2, 5]);
/// assert_eq!(isin(&x, Array::from([5, 7])).to_vec::<bool>()?, [false, true, false, true]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Both are cast to their common dtype, as in [`equal`](fn@crate::equal).
/// - Every pair of elements is compared: `n m` comparisons, without temporary memory.
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isin.html), whose `invert` is
/// [`logical_not`](fn@crate::logical_not).
///
/// # Errors
/// Poisoned with `Promotion` if there is no common dtype.
#[track_caller]
pub fn isin<X: Operand + BinaryOperand<T>, T: Operand>(x: X, others: T) -> <X as BinaryOperand<T>>::Out {
    among(x.operand(), others.operand(), SourceLoc::caller())
}

fn among<R: ArrayLike>(x: AnyOperand, others: AnyOperand, place: SourceLoc) -> R {
    let what = "isin";
    let shapes = x.describe(what).and_then(|(.., shape)| Ok((shape, others.describe(what)?.2)));
    let (shape, others_shape) = match shapes {
        Ok(shapes) => shapes,
        Err(error) => return R::failed(error.at(place)),
    };
    let operands = [x.clone(), others.clone()];
    let one = shape.extents().iter().map(|&extent| extent as isize).chain([1]).collect::<Vec<isize>>();
    let count = others_shape.size().unwrap_or(0) as isize;
    let x: R = reshaped(what, x, &one, place);
    let others: R = reshaped(what, others, &[count], place);
    let equal = R::compute(Op::Equal, &[x.operand(), others.operand()], place);
    let found: R = with_parts(|| reductions::reduce(Reduction::Any, None, equal.operand(), (-1).axes(), place));
    found.part_of(what, &operands, place)
}

/// Selection as methods: see the free functions.
impl Array {
    /// The indices of the nonzero elements along each axis: [`nonzero`](fn@crate::nonzero).
    ///
    /// ```
    /// use ndjit::Array;
    /// assert_eq!(Array::from([0, 5, 7]).nonzero()[0].to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn nonzero(&self) -> Vec<Array> {
        nonzero(self)
    }

    /// Checks for each element whether another array contains it: [`isin`](fn@crate::isin).
    ///
    /// ```
    /// use ndjit::Array;
    /// assert_eq!(Array::from([1, 2]).isin(&Array::from([2, 3])).to_vec::<bool>()?, [false, true]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn isin<T: Operand>(&self, others: T) -> <Array as BinaryOperand<T>>::Out
    where
        Array: BinaryOperand<T>,
    {
        among(self.operand(), others.operand(), SourceLoc::caller())
    }
}

/// Selection as methods: see the free functions.
impl Expr {
    /// Poisoned: the number of nonzero elements of a traced value is unknown: [`nonzero`](fn@crate::nonzero).
    ///
    /// ```
    /// use ndjit::{Array, ErrorCode, Expr, jit};
    /// let f = jit(|x: Expr| x.nonzero());
    /// assert_eq!(f.call((&Array::from([0, 5]),)).unwrap_err().code(), ErrorCode::Traced);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn nonzero(self) -> Vec<Expr> {
        nonzero(self)
    }

    /// Checks for each element whether another array contains it: [`isin`](fn@crate::isin).
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    /// let f = jit(|x: Expr, y: Expr| x.isin(y));
    /// assert_eq!(f(&Array::from([1, 2]), &Array::from([2, 3])).to_vec::<bool>()?, [false, true]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn isin<T: Operand>(self, others: T) -> Expr {
        among(self.operand(), others.operand(), SourceLoc::caller())
    }
}
