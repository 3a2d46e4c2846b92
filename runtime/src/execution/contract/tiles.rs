//! Tiles of matrix products: some rows by one or two vectors of results, accumulated in registers over a block of products.
//!
//! Each sum begins at 0 and adds the products in order with fused multiply-adds, so tiles of any size and processor give the same bits.

/// Sums the products of one tile.
///
/// Per product the left matrix has one element per row of the tile; the right one has a row of one or two vectors, `right_step` elements
/// after the previous one. Complex elements have the real parts first, then the imaginary parts. Real results are stored or accumulated in
/// rows, `out_row` elements apart; of complex ones the real parts of all rows are stored, then the imaginary parts, contiguously.
///
/// # Safety
/// The processor has the instructions; reads and writes are in bounds.
pub(super) type MicroKernel<T> = unsafe fn(
    products: usize,
    left: *const T,
    right: *const T,
    right_step: isize,
    out: *mut T,
    out_row: isize,
    add: bool,
);

/// The tiles of one instruction set.
#[derive(Debug)]
pub(super) struct MicroKernels<T: 'static> {
    /// Elements of a vector.
    pub lanes: usize,
    /// Numbers of rows with their kernels for one vector and two: from the most rows to 1.
    pub real: &'static [(usize, [MicroKernel<T>; 2])],
    pub complex: &'static [(usize, [MicroKernel<T>; 2])],
}

/// Elements of the largest tile.
pub(super) const LARGEST: usize = 12 * 32;

macro_rules! tiles {
    ($($(#[$feature:meta])* $name:ident of $t:ty, $lanes:literal lanes, $($real:literal)* real rows, $($complex:literal)* complex ones:
        $zero:ident $splat:ident $load:ident $fma:ident $fnma:ident $add:ident $store:ident;)*) => {$(
        pub(in crate::execution::contract) static $name: MicroKernels<$t> = {
            /// # Safety
            /// As [`MicroKernel`].
            $(#[$feature])*
            unsafe fn real<const ROWS: usize, const VECTORS: usize>(
                products: usize,
                mut left: *const $t,
                mut right: *const $t,
                right_step: isize,
                out: *mut $t,
                out_row: isize,
                add: bool,
            ) {
                let mut sums = [[$zero(); VECTORS]; ROWS];
                for _ in 0..products {
                    let mut vectors = [$zero(); VECTORS];
                    for (v, vector) in vectors.iter_mut().enumerate() {
                        // SAFETY: the caller's promise.
                        *vector = unsafe { $load(right.wrapping_add($lanes * v)) };
                    }
                    for (m, sums) in sums.iter_mut().enumerate() {
                        // SAFETY: the caller's promise.
                        let factor = $splat(unsafe { *left.wrapping_add(m) });
                        for (sum, vector) in sums.iter_mut().zip(vectors) {
                            *sum = $fma(factor, vector, *sum);
                        }
                    }
                    left = left.wrapping_add(ROWS);
                    right = right.wrapping_offset(right_step);
                }
                for (m, sums) in sums.into_iter().enumerate() {
                    for (v, mut sum) in sums.into_iter().enumerate() {
                        let at = out.wrapping_offset(m as isize * out_row).wrapping_add($lanes * v);
                        // SAFETY: the caller's promise.
                        unsafe {
                            if add {
                                sum = $add($load(at), sum);
                            }
                            $store(at, sum);
                        }
                    }
                }
            }

            /// # Safety
            /// As [`MicroKernel`].
            $(#[$feature])*
            unsafe fn complex<const ROWS: usize, const VECTORS: usize>(
                products: usize,
                mut left: *const $t,
                mut right: *const $t,
                right_step: isize,
                out: *mut $t,
                _: isize,
                _: bool,
            ) {
                let mut sums = [[[$zero(); VECTORS]; ROWS]; 2];
                for _ in 0..products {
                    let mut vectors = [[$zero(); VECTORS]; 2];
                    for (v, vector) in vectors.as_flattened_mut().iter_mut().enumerate() {
                        // SAFETY: the caller's promise.
                        *vector = unsafe { $load(right.wrapping_add($lanes * v)) };
                    }
                    let ([re, im], [re_sums, im_sums]) = (vectors, &mut sums);
                    for m in 0..ROWS {
                        // SAFETY: the caller's promise.
                        let [x, y] = unsafe { [*left.wrapping_add(m), *left.wrapping_add(ROWS + m)] };
                        let (x, y) = ($splat(x), $splat(y));
                        for v in 0..VECTORS {
                            re_sums[m][v] = $fma(x, re[v], re_sums[m][v]);
                            im_sums[m][v] = $fma(x, im[v], im_sums[m][v]);
                        }
                        for v in 0..VECTORS {
                            re_sums[m][v] = $fnma(y, im[v], re_sums[m][v]);
                            im_sums[m][v] = $fma(y, re[v], im_sums[m][v]);
                        }
                    }
                    left = left.wrapping_add(2 * ROWS);
                    right = right.wrapping_offset(right_step);
                }
                for (at, sum) in sums.as_flattened().as_flattened().iter().enumerate() {
                    // SAFETY: the caller's promise.
                    unsafe { $store(out.wrapping_add($lanes * at), *sum) };
                }
            }

            MicroKernels {
                lanes: $lanes,
                real: &[$(($real, [real::<$real, 1>, real::<$real, 2>])),*],
                complex: &[$(($complex, [complex::<$complex, 1>, complex::<$complex, 2>])),*],
            }
        };
    )*};
}

#[cfg(target_arch = "x86_64")]
mod x64 {
    use super::MicroKernels;
    use std::arch::x86_64::*;

    tiles! {
        #[target_feature(enable = "avx512f")] AVX512_F32 of f32, 16 lanes, 12 8 4 2 1 real rows, 6 4 2 1 complex ones:
            _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_fmadd_ps _mm512_fnmadd_ps _mm512_add_ps _mm512_storeu_ps;
        #[target_feature(enable = "avx512f")] AVX512_F64 of f64, 8 lanes, 12 8 4 2 1 real rows, 6 4 2 1 complex ones:
            _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_fmadd_pd _mm512_fnmadd_pd _mm512_add_pd _mm512_storeu_pd;
        #[target_feature(enable = "avx2,fma")] AVX2_F32 of f32, 8 lanes, 6 4 2 1 real rows, 2 1 complex ones:
            _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_fmadd_ps _mm256_fnmadd_ps _mm256_add_ps _mm256_storeu_ps;
        #[target_feature(enable = "avx2,fma")] AVX2_F64 of f64, 4 lanes, 6 4 2 1 real rows, 2 1 complex ones:
            _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_fmadd_pd _mm256_fnmadd_pd _mm256_add_pd _mm256_storeu_pd;
    }
}

/// Vectors as arrays, for other processors: where the target has fused multiply-adds, as aarch64 does, a compiler vectorizes them.
mod portable {
    use super::MicroKernels;

    macro_rules! vectors {
        ($($name:ident in $module:ident of $t:ty, $lanes:literal lanes;)*) => {$(
            pub(in crate::execution::contract) use $module::$name;

            mod $module {
                use super::MicroKernels;

                type Vector = [$t; $lanes];

                fn zero() -> Vector {
                    [0.0; $lanes]
                }

                fn splat(x: $t) -> Vector {
                    [x; $lanes]
                }

                /// # Safety
                /// There are so many elements.
                unsafe fn load(from: *const $t) -> Vector {
                    // SAFETY: the caller's promise.
                    unsafe { from.cast::<Vector>().read_unaligned() }
                }

                fn fma(x: Vector, y: Vector, z: Vector) -> Vector {
                    std::array::from_fn(|n| x[n].mul_add(y[n], z[n]))
                }

                fn fnma(x: Vector, y: Vector, z: Vector) -> Vector {
                    std::array::from_fn(|n| (-x[n]).mul_add(y[n], z[n]))
                }

                fn add(x: Vector, y: Vector) -> Vector {
                    std::array::from_fn(|n| x[n] + y[n])
                }

                /// # Safety
                /// There is room for so many elements.
                unsafe fn store(to: *mut $t, x: Vector) {
                    // SAFETY: the caller's promise.
                    unsafe { to.cast::<Vector>().write_unaligned(x) };
                }

                tiles! {
                    $name of $t, $lanes lanes, 8 4 2 1 real rows, 2 1 complex ones: zero splat load fma fnma add store;
                }
            }
        )*};
    }

    vectors! {
        PORTABLE_F32 in singles of f32, 4 lanes;
        PORTABLE_F64 in doubles of f64, 2 lanes;
    }
}

/// The tiles of all instruction sets of this processor, the widest first.
macro_rules! widest_first {
    ($($name:ident of $t:ty: $avx512:ident $avx2:ident $portable:ident;)*) => {$(
        pub(super) fn $name() -> impl Iterator<Item = &'static MicroKernels<$t>> {
            #[cfg(target_arch = "x86_64")]
            let own = [
                is_x86_feature_detected!("avx512f").then_some(&x64::$avx512),
                (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(&x64::$avx2),
            ];
            #[cfg(not(target_arch = "x86_64"))]
            let own: [Option<&MicroKernels<$t>>; 0] = [];
            own.into_iter().flatten().chain([&portable::$portable])
        }
    )*};
}

widest_first! {
    of_f32 of f32: AVX512_F32 AVX2_F32 PORTABLE_F32;
    of_f64 of f64: AVX512_F64 AVX2_F64 PORTABLE_F64;
}
