//! Products of small matrices with AVX-512, without [packing](super::packed).
//!
//! An element is the sum of its products in order, with fused multiply-adds, for any shape: a tile of results stays in registers, eight
//! rows by two vectors, while rows of the second matrix are read.

use super::matrices::Matrices;
use super::packed::PRODUCTS;
use std::arch::x86_64::*;

/// The maximum of rows, columns and products per sum, which is also the length of partial sums of packed matrices. One core multiplies
/// matrices of 128 by 128 `f32` at 255 Gflop/s here, packed at 206; of 256 by 256 at 261 and 233; of 384 by 384 at 232 and 243.
const SIDE: usize = PRODUCTS;

/// Small matrices with contiguous rows of the result and of the second matrix: as given, or transposed, with the same sums. `None` for
/// other matrices, or without AVX-512.
fn by_rows(matrices: &Matrices) -> Option<Matrices> {
    let Matrices { extents: [m, n, k], pointers: [out, left, right], strides, add } = *matrices;
    if [m, n, k].iter().any(|&extent| extent > SIDE) || !is_x86_feature_detected!("avx512f") {
        return None;
    }
    let [[out_m, out_n], [left_m, left_k], [right_k, right_n]] = strides;
    if out_n == 1 && right_n == 1 {
        return Some(*matrices);
    }
    let strides = [[out_n, out_m], [right_n, right_k], [left_k, left_m]];
    let transposed = Matrices { extents: [n, m, k], pointers: [out, right, left], strides, add };
    (out_m == 1 && left_m == 1).then_some(transposed)
}

macro_rules! small {
    ($($name:ident $t:ty, $lanes:literal lanes of $mask:ty: $zero:ident $splat:ident $load:ident $fma:ident $add:ident $store:ident;)*) => {$(
        /// Multiplies matrices if they are small; returns whether it did.
        ///
        /// # Safety
        /// As [`Multiply`](super::matrices::Multiply).
        pub(super) unsafe fn $name(matrices: &Matrices) -> bool {
            /// `ROWS` rows of the result by `VECTORS` vectors with the lanes of `masks`.
            ///
            /// # Safety
            /// As [`Multiply`](super::matrices::Multiply); these rows and lanes exist.
            #[target_feature(enable = "avx512f")]
            unsafe fn tile<const ROWS: usize, const VECTORS: usize>(
                products: usize,
                [out, left, right]: [*mut $t; 3],
                strides: &[[isize; 2]; 3],
                masks: [$mask; VECTORS],
                add: bool,
            ) {
                let [[out_m, _], [left_m, left_k], [right_k, _]] = *strides;
                let mut sums = [[$zero(); VECTORS]; ROWS];
                let (mut column, mut row) = (left, right);
                for _ in 0..products {
                    let mut vectors = [$zero(); VECTORS];
                    for (v, vector) in vectors.iter_mut().enumerate() {
                        // SAFETY: the caller's promise; lanes without a bit are not read.
                        *vector = unsafe { $load(masks[v], row.wrapping_add($lanes * v)) };
                    }
                    for (m, sums) in sums.iter_mut().enumerate() {
                        // SAFETY: the caller's promise.
                        let factor = $splat(unsafe { *column.wrapping_offset(m as isize * left_m) });
                        for (sum, vector) in sums.iter_mut().zip(vectors) {
                            *sum = $fma(factor, vector, *sum);
                        }
                    }
                    column = column.wrapping_offset(left_k);
                    row = row.wrapping_offset(right_k);
                }
                for (m, sums) in sums.into_iter().enumerate() {
                    for (v, mut sum) in sums.into_iter().enumerate() {
                        let at = out.wrapping_offset(m as isize * out_m).wrapping_add($lanes * v);
                        // SAFETY: the caller's promise; lanes without a bit are neither read nor written.
                        unsafe {
                            if add {
                                sum = $add($load(masks[v], at), sum);
                            }
                            $store(at, masks[v], sum);
                        }
                    }
                }
            }

            /// All rows of these vectors of columns.
            ///
            /// # Safety
            /// As that of `tile`.
            #[target_feature(enable = "avx512f")]
            unsafe fn columns<const VECTORS: usize>(
                [rows, products]: [usize; 2],
                pointers: [*mut $t; 3],
                strides: &[[isize; 2]; 3],
                masks: [$mask; VECTORS],
                add: bool,
            ) {
                let at = |row: usize| {
                    let [out, left, right] = pointers;
                    let row = row as isize;
                    [out.wrapping_offset(row * strides[0][0]), left.wrapping_offset(row * strides[1][0]), right]
                };
                let mut row = 0;
                // SAFETY: the caller's promise.
                unsafe {
                    while row + 8 <= rows {
                        tile::<8, VECTORS>(products, at(row), strides, masks, add);
                        row += 8;
                    }
                    if row + 4 <= rows {
                        tile::<4, VECTORS>(products, at(row), strides, masks, add);
                        row += 4;
                    }
                    if row + 2 <= rows {
                        tile::<2, VECTORS>(products, at(row), strides, masks, add);
                        row += 2;
                    }
                    if row < rows {
                        tile::<1, VECTORS>(products, at(row), strides, masks, add);
                    }
                }
            }

            let Some(Matrices { extents: [rows, width, products], pointers, ref strides, add }) = by_rows(matrices) else {
                return false;
            };
            let pointers = pointers.map(|pointer| pointer.cast::<$t>());
            let mask = |lanes: usize| <$mask>::MAX >> ($lanes - lanes);
            let mut column = 0;
            while column < width {
                let [out, left, right] = pointers;
                let at = [out.wrapping_add(column), left, right.wrapping_add(column)];
                let lanes = width - column;
                // SAFETY: the processor has AVX-512, as `by_rows` checked; the caller's promise.
                unsafe {
                    match lanes {
                        0..=$lanes => columns([rows, products], at, strides, [mask(lanes)], add),
                        _ => {
                            let masks = [<$mask>::MAX, mask((lanes - $lanes).min($lanes))];
                            columns([rows, products], at, strides, masks, add);
                        }
                    }
                }
                column += 2 * $lanes;
            }
            true
        }
    )*};
}

small! {
    of_f32 f32, 16 lanes of __mmask16:
        _mm512_setzero_ps _mm512_set1_ps _mm512_maskz_loadu_ps _mm512_fmadd_ps _mm512_add_ps _mm512_mask_storeu_ps;
    of_f64 f64, 8 lanes of __mmask8:
        _mm512_setzero_pd _mm512_set1_pd _mm512_maskz_loadu_pd _mm512_fmadd_pd _mm512_add_pd _mm512_mask_storeu_pd;
}
