//! `einsum`: a contraction with a letter for each axis.

use super::pairs::contracted;
use crate::api::manipulation::refused;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use ndjit_ir::axes::check_rank;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};
use ndjit_transform::contraction::{Contraction, ExtentMismatch, Subscripts};

/// The sum of products for subscripts: a letter for each axis. Axes with the same letter are multiplied elementwise; letters
/// that are not in the result are summed over.
///
/// ```
/// use ndjit::{Array, arange, einsum};
/// let (x, y) = (arange(6).reshape([2, 3]), arange(12).reshape([3, 4]));
/// assert_eq!(einsum("ij,jk->ik", [&x, &y]).to_string(), x.matmul(&y).to_string());
/// assert_eq!(einsum("ij->ji", [&x]).to_string(), "[[0 3]\n [1 4]\n [2 5]]");
/// assert_eq!(einsum("ij,ij->i", [&x, &x]).to_vec::<i32>()?, [5, 50]);
/// let square = arange(9).reshape([3, 3]);
/// assert_eq!(einsum("ii", [&square]).item::<i32>()?, 12);
/// assert_eq!(einsum("ii->i", [&square]).to_vec::<i32>()?, [0, 4, 8]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Subscripts: letters a to z and A to Z, one for each axis, with `,` between operands and `->` before the result. `...`
///   stands for axes without a letter, which broadcast from the last. Without `->` the result has the axes of `...`, then
///   the letters that occur once, A to Z before a to z. A repeated letter in one operand is its diagonal. Spaces are
///   ignored.
/// - Extents: axes with the same letter have the same extent, or 1.
/// - Order: two operands at a time. For up to 8 operands the order with the least multiplications, for more a heuristic
///   ([`order`](ndjit_transform::contraction::order)). It depends only on subscripts and shapes.
/// - Types and accuracy: [`contractions`](crate::contractions). All products are computed in the common dtype of all
///   operands; halves are rounded once, at the end.
///
/// Source: NumPy's [`einsum`](https://numpy.org/doc/stable/reference/generated/numpy.einsum.html).
///
/// # Errors
/// Poisoned with `Parse` for invalid subscripts, with `Arity` for another number of subscripts than operands, with `Shape`
/// if an operand has other axes than its subscript, or extents differ, with `Promotion` without a common dtype.
#[doc(alias = "contract")]
#[track_caller]
pub fn einsum<X: UnaryOperand>(subscripts: &str, operands: impl IntoIterator<Item = X>) -> X::Out {
    let (what, place) = ("einsum", SourceLoc::caller());
    let operands: Vec<AnyOperand> = operands.into_iter().map(Operand::operand).collect();
    let mut ranks = Vec::with_capacity(operands.len());
    for operand in &operands {
        match operand.describe(what) {
            Ok((.., shape)) => ranks.push(shape.rank()),
            Err(error) => return X::Out::failed(error.at(place)),
        }
    }
    let read = || -> Result<(Subscripts, Contraction)> {
        let subscripts: Subscripts = subscripts.parse()?;
        ranks.iter().try_for_each(|&rank| check_rank(rank))?;
        let contraction = subscripts.contraction(&ranks)?;
        Ok((subscripts, contraction))
    };
    match read() {
        Err(error) => refused(what, &operands, place, &error),
        Ok((subscripts, contraction)) => {
            let worded = |mismatch: &ExtentMismatch| {
                let name = Subscripts::name(mismatch.label);
                Error::new(ErrorCode::Shape, mismatch.to_string())
                    .fact(format_args!("both are `{name}` of \"{subscripts}\""))
                    .help("axes with one letter have the same extent, or 1; give them different letters")
            };
            contracted(what, &operands, &contraction, &worded, place)
        }
    }
}
