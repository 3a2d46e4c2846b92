//! The sort order of elements. It is total on values, so a stable sort has one result.

use crate::dtype::{DType, Kind, PrimType};
use crate::error::Result;
use crate::reserve::collect;
use std::cmp::Ordering;

/// Compares two elements, given as register bits ([`DType::repr`]): integers by value, `false` before
/// `true`; floats by value, -0 equal to +0, all NaNs equal and after all numbers; complex numbers by real, then imaginary part, those
/// with a NaN after the others: a NaN as imaginary part, then as real part, then as both.
///
/// ```
/// use ndjit_ir::{DType, reduction::compare};
/// use std::cmp::Ordering;
///
/// let [minus_one, zero, nan] = [-1.0f32, -0.0, f32::NAN].map(|x| [u64::from(x.to_bits())]);
/// assert_eq!(compare(DType::F32, &minus_one, &zero), Ordering::Less);
/// assert_eq!(compare(DType::F32, &nan, &minus_one), Ordering::Greater);
/// assert_eq!(compare(DType::F32, &zero, &[0]), Ordering::Equal);
/// ```
pub fn compare(dtype: DType, a: &[u64], b: &[u64]) -> Ordering {
    match dtype.kind() {
        Kind::Bool | Kind::UInt => a.cmp(b),
        Kind::Int => integers(dtype, a).cmp(integers(dtype, b)),
        Kind::Float | Kind::Complex => {
            let [a, b] = [a, b].map(|registers| floats(dtype, registers));
            // NaN as the real part outranks NaN as the imaginary part.
            let nans = |parts: [f64; 2]| parts.map(f64::is_nan);
            nans(a).cmp(&nans(b)).then_with(|| part(a[0], b[0])).then_with(|| part(a[1], b[1]))
        }
    }
}

/// The indices that sort elements, each given as register bits. The sort is stable. This is the definition; engines may use another
/// algorithm with the same result.
///
/// ```
/// use ndjit_ir::{DType, reduction::sorted};
///
/// assert_eq!(sorted(DType::U8, &[[3], [1], [3], [2]])?, [1, 3, 0, 2]);
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
///
/// # Errors
/// `Allocation` if memory is refused.
pub fn sorted<W: AsRef<[u64]>>(dtype: DType, elements: &[W]) -> Result<Vec<usize>> {
    let mut order = collect("sort", 0..elements.len())?;
    // In place: a stable sort allocates.
    order.sort_unstable_by(|&a, &b| compare(dtype, elements[a].as_ref(), elements[b].as_ref()).then_with(|| a.cmp(&b)));
    Ok(order)
}

/// Signed integers by value.
fn integers(dtype: DType, registers: &[u64]) -> impl Iterator<Item = i64> + '_ {
    let unused = 64 - dtype.repr()[0].bits().min(64);
    registers.iter().map(move |&bits| ((bits << unused) as i64) >> unused)
}

/// The real and the imaginary part; 0 for a real number.
fn floats(dtype: DType, registers: &[u64]) -> [f64; 2] {
    let value = |bits: u64| match dtype.repr()[0] {
        PrimType::F64 => f64::from_bits(bits),
        _ => f64::from(f32::from_bits(bits as u32)),
    };
    [0, 1].map(|n| registers.get(n).map_or(0.0, |&bits| value(bits)))
}

/// Compares two parts that are both NaN or both not.
fn part(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literal::Literal;
    use num_complex::Complex;

    fn order(dtype: DType, values: &[Literal]) -> Vec<usize> {
        let elements: Vec<Vec<u64>> = values.iter().map(|value| value.to_repr(dtype).unwrap().to_vec()).collect();
        sorted(dtype, &elements).unwrap()
    }

    #[test]
    fn numbers_are_in_the_order_of_their_values() {
        let integers = [3i32, -1, 0, -128, 127, -1].map(Literal::weak);
        for dtype in [DType::I8, DType::I16, DType::I32, DType::I64, DType::Bf16, DType::F16, DType::F32, DType::F64] {
            assert_eq!(order(dtype, &integers), [3, 1, 5, 2, 0, 4], "{dtype}");
        }
        assert_eq!(order(DType::U64, &[u64::MAX, 0, 1 << 63].map(Literal::weak)), [1, 2, 0]);
        assert_eq!(order(DType::Bool, &[true, false, true, false].map(Literal::weak)), [1, 3, 0, 2]);
    }

    #[test]
    fn zeros_are_equal_and_nan_is_last() {
        let floats = [f64::NAN, 0.0, f64::INFINITY, -0.0, -f64::NAN, f64::NEG_INFINITY].map(Literal::weak);
        for dtype in [DType::Bf16, DType::F16, DType::F32, DType::F64, DType::C64, DType::C128] {
            assert_eq!(order(dtype, &floats), [5, 1, 3, 2, 0, 4], "{dtype}");
        }
    }

    /// `numpy.argsort` of the same numbers, with kind `stable`.
    #[test]
    fn complex_numbers_are_in_numpys_order() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let parts = [
            (nan, nan),
            (nan, 2.0),
            (1.0, nan),
            (inf, 0.0),
            (1.0, -1.0),
            (nan, -2.0),
            (0.0, nan),
            (-0.0, 1.0),
            (0.0, -1.0),
            (0.0, 1.0),
            (inf, nan),
        ];
        let values = parts.map(|(re, im)| Literal::weak(Complex::new(re, im)));
        for dtype in [DType::C64, DType::C128] {
            assert_eq!(order(dtype, &values), [8, 7, 9, 4, 3, 6, 2, 10, 5, 1, 0], "{dtype}");
        }
    }
}
