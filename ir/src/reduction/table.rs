//! The reduction table: one row per reduction, scan and sort. The enum, names, the parser, the user's functions and methods derive from it.

/// Calls `$callback!` with all rows. A row is
///
/// `Variant name(parameter names) types "documentation" [since n];`
///
/// - *types*: the promotion of the result ([`ReductionRule`](crate::reduction::ReductionRule));
/// - *since*: the [opset](crate::opset) that introduced it, if that is not the first.
///
/// Scans and sorts have separate rows: scans keep the extent, and sorts combine nothing.
#[macro_export]
macro_rules! reduction_table {
    ($callback:path) => {
        $callback! {
            reductions {
                Sum sum(x) Sum
                    "The sum of the elements; 0 of none. Integers wrap, so the number of `true` does where the dtype is too narrow for it (`count_nonzero` refuses it).";
                Prod prod(x) Product
                    "The product of the elements; 1 of none. Integers wrap.";
                Mean mean(x) Mean
                    "The arithmetic mean: the sum divided by the number of elements; NaN of none.";
                Var var(x correction) Variance
                    "The variance: the sum of squared distances from the mean, divided by the number of elements less `correction` (0 unless given), or by 0 where that is negative. Of complex numbers the distance is the modulus. NaN of no elements.";
                Std std(x correction) Variance
                    "The standard deviation: the square root of the variance.";
                Max max(x) Same
                    "The largest element. NaN if any is NaN; -0 < +0. Complex numbers are ordered by real, then imaginary part. Of no elements an error.";
                Min min(x) Same
                    "The smallest element. NaN if any is NaN; -0 < +0. Complex numbers are ordered by real, then imaginary part. Of no elements an error.";
                Ptp ptp(x) Same
                    "The distance of the smallest from the largest element: `max - min`. NaN if any element is; integers wrap, of bool whether both values occur. Of no elements an error.";
                LogSumExp logsumexp(x) Exponential
                    "The logarithm of the sum of exponentials, without overflow: `log(sum(exp(x - m))) + m` where `m` is the largest element, or of complex numbers the largest real part. -inf of no elements.";
                Norm norm(x) Norm
                    "The Euclidean norm: the square root of the sum of squared moduli, without overflow or underflow on the way. 0 of no elements.";
                Any any(x) Bool
                    "Whether any element is nonzero; NaN is. `false` of none.";
                All all(x) Bool
                    "Whether all elements are nonzero; NaN is. `true` of none.";
                ArgMax argmax(x) Index
                    "The index of the first largest element; of the first NaN if there is one. Over several axes the index into them flattened in row-major order. Of no elements an error.";
                ArgMin argmin(x) Index
                    "The index of the first smallest element; of the first NaN if there is one. Over several axes the index into them flattened in row-major order. Of no elements an error.";
                CountNonzero count_nonzero(x) Index
                    "The number of elements that are nonzero; NaN is.";
            }
            scans {
                CumulativeSum cumulative_sum(x) Sum
                    "The sums of the elements up to each along an axis, that element included. Integers wrap.";
                CumulativeProd cumulative_prod(x) Product
                    "The products of the elements up to each along an axis, that element included. Integers wrap.";
                CumMax cummax(x) Same
                    "The largest of the elements up to each along an axis, that element included. NaN from the first NaN on; -0 < +0. Complex numbers are ordered by real, then imaginary part.";
                CumMin cummin(x) Same
                    "The smallest of the elements up to each along an axis, that element included. NaN from the first NaN on; -0 < +0. Complex numbers are ordered by real, then imaginary part.";
            }
            sorts {
                Sort sort(x) Same
                    "The elements in ascending order along an axis; equal ones stay in the order they had. `false` before `true`; -0 and +0 are equal; NaN is after all numbers. Complex numbers are ordered by real, then imaginary part, those with a NaN after the others: with a NaN as imaginary part, as real part, as both.";
                ArgSort argsort(x) Index
                    "The indices, along an axis, of the elements in ascending order; equal ones stay in the order they had. The order is that of `sort`.";
            }
        }
    };
}
