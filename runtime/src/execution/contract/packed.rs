//! Matrix products of any size, with the algorithm of BLIS: blocks of both matrices are packed in the order of the tiles' reads, and stay
//! in the caches while every tile of their product is summed ("BLIS: A Framework for Rapidly Instantiating BLAS Functionality", Van Zee and
//! van de Geijn, 2015).
//!
//! A sum starts with [`PRODUCTS`] products, then adds the sums of as many following ones, in order. The order is independent of shapes,
//! processors and threads.

use super::matrices::{Matrices, MatrixElement};
use super::tiles::{LARGEST, MicroKernels};
use crate::memory::pool;
use ndjit_ir::Result;

/// Products per sum of a tile: so many rows of 32 `f32` take two thirds of a cache of 48 KiB.
pub(super) const PRODUCTS: usize = 256;
/// Rows of the first matrix packed at once, a multiple of the rows of tiles: 240 KiB of `f64`, a quarter of a second-level cache.
const ROWS: usize = 120;
/// Columns of the second matrix packed at once, a multiple of the columns of tiles.
const COLUMNS: usize = 1024;
/// The maximum number of rows for which the second matrix is read in place: packing reads and writes it once more.
const MAX_ROWS_IN_PLACE: usize = 24;

/// The maximum number of bytes for which it is always read in place.
const MAX_BYTES_IN_PLACE: usize = 256 << 10;

/// Lines of a matrix along the products: their number, and the strides in elements to the next line and to the next product.
#[derive(Clone, Copy)]
struct MatrixLines<T> {
    at: *const T,
    count: usize,
    line: isize,
    product: isize,
}

impl<T: MatrixElement> MatrixLines<T> {
    fn at(self, line: usize, product: usize) -> *const T {
        self.at.wrapping_offset(line as isize * self.line + product as isize * self.product)
    }

    /// Copies so many products of `lines` lines from the `first`, padded with zeros; lines are adjacent in the result.
    ///
    /// # Safety
    /// These elements are readable, and `to` has room for them.
    unsafe fn pack<const PARTS: usize>(self, first: usize, lines: usize, [begin, products]: [usize; 2], to: *mut T) {
        let there = lines.min(self.count - first);
        // The number of products to read per line: lines a power of 2 apart conflict in the cache.
        let run = if self.line == 1 { 1 } else { 64 };
        for done in (0..products).step_by(run) {
            let run = run.min(products - done);
            let from = self.at(first, begin + done);
            let to = to.wrapping_add(done * lines * PARTS);
            // SAFETY: the caller's promise.
            unsafe {
                if PARTS == 1 && self.line == 1 {
                    to.copy_from_nonoverlapping(from, there);
                } else {
                    for line in 0..there {
                        let (mut from, mut to) =
                            (from.wrapping_offset(line as isize * self.line), to.wrapping_add(line));
                        for _ in 0..run {
                            for part in 0..PARTS {
                                *to = *from.wrapping_add(part);
                                to = to.wrapping_add(lines);
                            }
                            from = from.wrapping_offset(self.product);
                        }
                    }
                }
                for (product, line) in
                    (0..run * PARTS).flat_map(|product| (there..lines).map(move |line| (product, line)))
                {
                    *to.wrapping_add(product * lines + line) = T::ZERO;
                }
            }
        }
    }
}

/// Multiplies matrices: real elements have one part, complex ones two.
///
/// # Errors
/// `Allocation` if there is no memory to pack into.
///
/// # Safety
/// As [`Multiply`](super::matrices::Multiply); the processor has the instructions of the tiles.
pub(super) unsafe fn multiply<T: MatrixElement, const PARTS: usize>(
    tiles: &MicroKernels<T>,
    matrices: &Matrices,
) -> Result<()> {
    let wide = 2 * tiles.lanes;
    let Matrices { extents: [m, n, k], pointers: [out, left, right], strides, add } = turned(matrices, wide, PARTS);
    let [[out_m, out_n], [left_m, left_k], [right_k, right_n]] = strides.map(|pair| pair.map(|n| n * PARTS as isize));
    let left = MatrixLines { at: left.cast::<T>().cast_const(), count: m, line: left_m, product: left_k };
    let right = MatrixLines { at: right.cast::<T>().cast_const(), count: n, line: right_n, product: right_k };
    let out = out.cast::<T>();
    let heights = if PARTS == 1 { tiles.real } else { tiles.complex };
    let in_place = PARTS == 1
        && right_n == 1
        && (m <= MAX_ROWS_IN_PLACE || n.saturating_mul(k.min(PRODUCTS) * size_of::<T>()) <= MAX_BYTES_IN_PLACE);

    let deep = k.min(PRODUCTS) * PARTS;
    let right_columns = if in_place { wide } else { n.min(COLUMNS).next_multiple_of(wide) };
    let left_bytes = (m.min(ROWS) * deep * size_of::<T>()).next_multiple_of(64);
    let block = pool::take(left_bytes + right_columns * deep * size_of::<T>(), false)?;
    let left_packed = block.ptr().as_ptr().cast::<T>();
    let right_packed = block.ptr().as_ptr().wrapping_add(left_bytes).cast::<T>();
    let mut own = Aligned([T::ZERO; LARGEST]);
    let own = own.0.as_mut_ptr();

    for first_column in (0..n).step_by(COLUMNS) {
        let columns = COLUMNS.min(n - first_column);
        for first_product in (0..k).step_by(PRODUCTS) {
            let products = PRODUCTS.min(k - first_product);
            let add = add || first_product > 0;
            // Columns of a tile, and whether they are read in place.
            let width = |column: usize| {
                let rest = columns - column;
                let width = if rest > tiles.lanes { wide } else { tiles.lanes };
                (width, in_place && width <= rest)
            };
            let right_at =
                |column: usize| right_packed.wrapping_add(if in_place { 0 } else { column * products * PARTS });
            for column in (0..columns).step_by(wide) {
                if let (width, false) = width(column) {
                    // SAFETY: the caller's promise; there is room for all columns of a block, or for the last ones.
                    unsafe {
                        let at = right_at(column);
                        right.pack::<PARTS>(first_column + column, width, [first_product, products], at);
                    }
                }
            }
            for first_row in (0..m).step_by(ROWS) {
                let rows = ROWS.min(m - first_row);
                let mut row = 0;
                while let Some((height, _)) = heights.iter().find(|(height, _)| *height <= rows - row) {
                    let at = left_packed.wrapping_add(row * products * PARTS);
                    // SAFETY: the caller's promise; there is room for all rows of a block.
                    unsafe { left.pack::<PARTS>(first_row + row, *height, [first_product, products], at) };
                    row += height;
                }
                for column in (0..columns).step_by(wide) {
                    let (width, in_place) = width(column);
                    let (right_at, step) = if in_place {
                        (right.at(first_column + column, first_product), right_k)
                    } else {
                        (right_at(column).cast_const(), (width * PARTS) as isize)
                    };
                    let there = width.min(columns - column);
                    let stored = PARTS == 1 && out_n == 1 && there == width;
                    let mut row = 0;
                    while let Some((height, by_vectors)) = heights.iter().find(|(height, _)| *height <= rows - row) {
                        let tile = by_vectors[width / tiles.lanes - 1];
                        let left_at = left_packed.wrapping_add(row * products * PARTS);
                        let first = [first_row + row, first_column + column].map(|n| n as isize);
                        let at = out.wrapping_offset(first[0] * out_m + first[1] * out_n);
                        // SAFETY: the caller's promise; these are elements of the result, or a buffer of the largest tile.
                        unsafe {
                            if stored {
                                tile(products, left_at, right_at, step, at, out_m, add);
                            } else {
                                tile(products, left_at, right_at, step, own, width as isize, false);
                                for (row, column) in
                                    (0..*height).flat_map(|row| (0..there).map(move |column| (row, column)))
                                {
                                    let at = at.wrapping_offset(row as isize * out_m + column as isize * out_n);
                                    for part in 0..PARTS {
                                        let sum = *own.wrapping_add((part * height + row) * width + column);
                                        let at = at.wrapping_add(part);
                                        *at = if add { *at + sum } else { sum };
                                    }
                                }
                            }
                        }
                        row += height;
                    }
                }
            }
        }
    }
    pool::give(block);
    Ok(())
}

/// Aligned for vectors.
#[repr(align(64))]
struct Aligned<T>([T; LARGEST]);

/// The matrices, or both transposed: vectors lie along the longer side of a result narrower than a tile, or along contiguous rows. Complex
/// matrices are not transposed: the parts of a product are added in an asymmetric order.
fn turned(matrices: &Matrices, wide: usize, parts: usize) -> Matrices {
    let Matrices { extents: [m, n, k], pointers: [out, left, right], strides, add } = *matrices;
    let [[out_m, out_n], [left_m, left_k], [right_k, right_n]] = strides;
    let turn = if m.min(n) < wide / 2 { m > n } else { out_n != 1 && out_m == 1 };
    if !turn || parts == 2 {
        return *matrices;
    }
    let strides = [[out_n, out_m], [right_n, right_k], [left_k, left_m]];
    Matrices { extents: [n, m, k], pointers: [out, right, left], strides, add }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scalar operations of the reference.
    trait Exact: MatrixElement + std::fmt::Debug + PartialEq + std::ops::Neg<Output = Self> {
        fn number(n: usize) -> Self;
        fn fma(self, x: Self, y: Self) -> Self;
        fn bits(self) -> u64;
    }

    macro_rules! exact {
        ($($t:ty)*) => {$(
            impl Exact for $t {
                fn number(n: usize) -> $t {
                    (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as $t / 4e6 - 2.0
                }
                fn fma(self, x: $t, y: $t) -> $t {
                    self.mul_add(x, y)
                }
                fn bits(self) -> u64 {
                    self.to_bits().into()
                }
            }
        )*};
    }

    exact!(f32 f64);

    /// An element, computed as the page on numerics documents.
    fn element<T: Exact, const PARTS: usize>(
        k: usize,
        before: Option<[T; 2]>,
        at: impl Fn(usize) -> [[T; 2]; 2],
    ) -> [T; 2] {
        let mut total = before;
        for first in (0..k).step_by(256) {
            let (mut re, mut im) = (T::ZERO, T::ZERO);
            for product in first..k.min(first + 256) {
                let [[a, b], [c, d]] = at(product);
                re = a.fma(c, re);
                if PARTS == 2 {
                    re = (-b).fma(d, re);
                    im = a.fma(d, im);
                    im = b.fma(c, im);
                }
            }
            total = Some(total.map_or([re, im], |[x, y]| [x + re, y + im]));
        }
        total.expect("there are products")
    }

    fn same_bits<T: Exact, const PARTS: usize>(extents: [usize; 3], by_columns: [bool; 3], add: bool) {
        let [m, n, k] = extents;
        let strides = |by_columns: bool, rows: usize, columns: usize| {
            let [row, column] = if by_columns { [1, rows + 1] } else { [columns + 3, 1] };
            ([row as isize, column as isize], (rows + 1) * (columns + 3) * PARTS)
        };
        let [(out_by, out_len), (left_by, left_len), (right_by, right_len)] =
            [strides(by_columns[0], m, n), strides(by_columns[1], m, k), strides(by_columns[2], k, n)];
        let numbers = |count: usize, seed: usize| (0..count).map(|i| T::number(i + seed)).collect::<Vec<T>>();
        let [out, mut left, mut right] = [numbers(out_len, 1), numbers(left_len, 7 << 30), numbers(right_len, 9 << 40)];
        let get = |of: &[T], at: [isize; 2], row: usize, column: usize| {
            let first = (row as isize * at[0] + column as isize * at[1]) as usize * PARTS;
            [of[first], of[first + PARTS - 1]]
        };
        let expected = |row: usize, column: usize| {
            let before = add.then(|| get(&out, out_by, row, column));
            element::<T, PARTS>(k, before, |product| {
                [get(&left, left_by, row, product), get(&right, right_by, product, column)]
            })
        };
        let expected: Vec<Vec<[T; 2]>> =
            (0..m).map(|row| (0..n).map(|column| expected(row, column)).collect()).collect();
        let small = T::small as unsafe fn(&Matrices) -> bool;
        for tiles in T::tiles().map(Some).chain((PARTS == 1).then_some(None)) {
            let mut own = out.clone();
            let pointers = [own.as_mut_ptr().cast(), left.as_mut_ptr().cast(), right.as_mut_ptr().cast()];
            let matrices = Matrices { extents, pointers, strides: [out_by, left_by, right_by], add };
            // SAFETY: the elements of these strides exist.
            unsafe {
                match tiles {
                    Some(tiles) => multiply::<T, PARTS>(tiles, &matrices).expect("memory"),
                    None if small(&matrices) => {}
                    None => continue,
                }
            }
            for (row, of_row) in expected.iter().enumerate() {
                for (column, of) in of_row.iter().enumerate() {
                    let bits = get(&own, out_by, row, column).map(T::bits);
                    let of = if PARTS == 1 { [of[0]; 2] } else { *of };
                    assert_eq!(bits, of.map(T::bits), "{extents:?} {by_columns:?} {row} {column} {tiles:?}");
                }
            }
            // Memory between the elements is unchanged.
            let untouched = own.iter().zip(&out).filter(|(own, out)| own.bits() == out.bits()).count();
            assert!(untouched + m * n * PARTS >= out_len);
        }
    }

    #[test]
    fn every_tile_has_the_bits_of_the_definition() {
        let sides = [1, 3, 4, 7, 12, 13, 23, 31, 33, 47];
        let mut shapes: Vec<[usize; 3]> = sides.iter().flat_map(|&m| sides.map(|n| [m, n, 9 + m])).collect();
        // Several blocks of rows, columns and products.
        shapes.extend([[130, 40, 300], [17, 1050, 20], [30, 30, 515], [1, 80, 257], [250, 3, 40]]);
        for (number, extents) in shapes.into_iter().enumerate() {
            let by_columns = [1, 2, 4].map(|bit| number & bit != 0);
            let add = number % 3 == 0;
            same_bits::<f32, 1>(extents, by_columns, add);
            same_bits::<f64, 1>(extents, by_columns, add);
            same_bits::<f32, 2>(extents, by_columns, add);
            same_bits::<f64, 2>(extents, by_columns, add);
        }
    }
}
