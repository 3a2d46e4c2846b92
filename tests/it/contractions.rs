//! Contractions: random subscripts against loops, types, rounding of halves, and errors. NumPy's results are in
//! `tests/arrays/`.

use ndjit::{
    Array, DType, Ellipsis, Expr, NewAxis, Stage, arange, bf16, concat, dtype, einsum, f16, jit, kron, matmul, ones,
    outer, square, step_by, sum, tensordot, trace, vecdot, weak, wrt, zeros,
};
use std::collections::BTreeMap;

/// Random numbers, deterministic.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// The sum over all letters, as a loop nest: the products of every operand's element at each index. Integers wrap.
fn by_loops(subscripts: &str, operands: &[(Vec<usize>, Vec<i32>)]) -> (Vec<usize>, Vec<i32>) {
    let (inputs, result) = subscripts.split_once("->").unwrap();
    let inputs: Vec<Vec<char>> = inputs.split(',').map(|term| term.chars().collect()).collect();
    let mut extents: BTreeMap<char, usize> = BTreeMap::new();
    for (letters, (shape, _)) in inputs.iter().zip(operands) {
        for (&letter, &extent) in letters.iter().zip(shape) {
            let own = extents.entry(letter).or_insert(1);
            *own = if extent == 1 { *own } else { extent };
        }
    }
    let shape: Vec<usize> = result.chars().map(|letter| extents[&letter]).collect();
    let mut sums = vec![0i32; shape.iter().product()];
    let letters: Vec<char> = extents.keys().copied().collect();
    let total: usize = extents.values().product();
    for flat in 0..total {
        let (mut rest, mut index) = (flat, BTreeMap::new());
        for letter in &letters {
            index.insert(*letter, rest % extents[letter]);
            rest /= extents[letter];
        }
        let at = |of: &mut dyn Iterator<Item = (char, usize)>| {
            of.fold(0, |at, (letter, extent)| at * extent + if extent == 1 { 0 } else { index[&letter] })
        };
        let product = inputs.iter().zip(operands).fold(1i32, |product, (letters, (shape, elements))| {
            product.wrapping_mul(elements[at(&mut letters.iter().copied().zip(shape.iter().copied()))])
        });
        let at = at(&mut result.chars().zip(shape.iter().copied()));
        sums[at] = sums[at].wrapping_add(product);
    }
    (shape, sums)
}

#[test]
fn random_subscripts_are_their_loops() {
    let mut random = Random(11);
    for round in 0..150 {
        let letters: Vec<char> = "abcdE".chars().collect();
        let extents: Vec<usize> = letters.iter().map(|_| [0, 1, 2, 3, 3, 4, 5, 2][random.below(8)]).collect();
        let (mut terms, mut operands) = (Vec::new(), Vec::new());
        for _ in 0..1 + random.below(if round % 10 == 0 { 10 } else { 4 }) {
            let term: Vec<usize> = (0..random.below(4)).map(|_| random.below(letters.len())).collect();
            // One that broadcasts, unless it is a diagonal.
            let alone = |&n: &usize| term.iter().filter(|&&other| other == n).count() == 1;
            let of = |n: &usize, random: &mut Random| if alone(n) && random.below(6) == 0 { 1 } else { extents[*n] };
            let shape: Vec<usize> = term.iter().map(|n| of(n, &mut random)).collect();
            let count = shape.iter().product();
            let elements: Vec<i32> = (0..count).map(|_| random.below(1 << 20) as i32 - (1 << 19)).collect();
            terms.push(term.iter().map(|&n| letters[n]).collect::<String>());
            operands.push((shape, elements));
        }
        let mut result: Vec<char> = terms.iter().flat_map(|term| term.chars()).collect();
        result.sort_unstable();
        result.dedup();
        result.retain(|_| random.below(2) == 0);
        (1..result.len()).for_each(|n| result.swap(n, random.below(n + 1)));
        let subscripts = format!("{}->{}", terms.join(","), result.iter().collect::<String>());
        let (shape, expected) = by_loops(&subscripts, &operands);
        let array = |(shape, elements): &(Vec<usize>, Vec<i32>)| {
            Array::from_shape_vec(shape.clone(), elements.clone()).unwrap()
        };
        let arrays: Vec<Array> = operands.iter().map(array).collect();
        let got = einsum(&subscripts, &arrays);
        assert_eq!(got.shape().extents(), shape, "{subscripts}");
        assert_eq!(got.to_vec::<i32>().unwrap(), expected, "{subscripts} of {operands:?}");
    }
}

#[test]
fn traced_as_eager() {
    let (x, y) = (arange(12).reshape([3, 4]).cast(DType::F32) / 7, arange(20).reshape([4, 5]).cast(DType::F32) / 9);
    let f = jit(|x: Expr, y: Expr| {
        [x.matmul(y), einsum("ij,jk->ki", [x, y]), x.tensordot(y, 1), x.sin().matmul(y.exp()) + 1]
    });
    let [a, b, c, d] = f(&x, &y);
    let same = |a: &Array, b: &Array| assert_eq!(a.to_vec::<f32>().unwrap(), b.to_vec::<f32>().unwrap());
    same(&a, &matmul(&x, &y));
    same(&b, &matmul(&x, &y).matrix_transpose());
    same(&c, &a);
    same(&d, &(matmul(x.sin(), y.exp()) + 1));
    // A captured array, and an argument.
    let g = jit(move |x: Expr| x.matmul(&y));
    same(&g(&x), &a);
}

#[test]
fn types_are_joined_and_kept() {
    let of = |x: DType, y: DType| matmul(ones([2, 3]).cast(x), ones([3, 2]).cast(y));
    for (x, y, result) in [
        (DType::I8, DType::I8, DType::I8),
        (DType::U8, DType::I8, DType::I16),
        (DType::I32, DType::F32, DType::F32),
        (DType::F16, DType::Bf16, DType::F32),
        (DType::F16, DType::F16, DType::F16),
        (DType::F64, DType::C64, DType::C128),
        (DType::Bool, DType::Bool, DType::Bool),
        (DType::Bool, DType::U8, DType::U8),
    ] {
        let product = of(x, y);
        assert_eq!((product.dtype(), product.is_weak()), (result, false), "{x} {y}");
    }
    // Weak operands are promoted to the default dtype, and strong after that.
    let weak_one = jit(|n: Expr| n.outer(weak(2))).call((2.5f32,)).unwrap();
    assert_eq!((weak_one.dtype(), weak_one.is_weak()), (DType::F32, false));
    // Integers wrap in their dtype; they are not widened.
    let large = dtype(DType::U8).full([1, 3], 100);
    assert_eq!(matmul(&large, large.matrix_transpose()).item::<u8>().unwrap(), (30_000 % 256) as u8);
    // Whether any pair is true.
    let truth = Array::from_rows(&[[true, false], [false, false]]);
    assert_eq!(matmul(&truth, truth.matrix_transpose()).to_vec::<bool>().unwrap(), [true, false, false, false]);
    assert_eq!(trace(&ones([300, 300]).cast(DType::I8), 0, [0, 1]).item::<i32>().unwrap(), 300);
}

#[test]
fn halves_are_rounded_once() {
    // 1 + 2^-11 + 2^-11: the small ones are lost one by one.
    let small = f16::from_f32(2f32.powi(-11));
    let (x, y) = (Array::from([f16::ONE, small, small]), ones(3).cast(DType::F16));
    assert_eq!(matmul(&x, &y).item::<f16>().unwrap(), f16::from_f32(1.0 + 2f32.powi(-10)));
    // In the product of three, nothing is rounded between.
    let three = einsum(
        "i,i,i->i",
        [
            &Array::from([bf16::from_f32(1.0078125)]),
            &Array::from([bf16::from_f32(1.0078125)]),
            &ones(1).cast(DType::Bf16),
        ],
    );
    assert_eq!(three.item::<bf16>().unwrap(), bf16::from_f32(1.0078125 * 1.0078125));
}

/// Integers from -8 to 8, whose products and sums are exact in any order.
fn whole(shape: &[usize], seed: u64) -> Array {
    let mut random = Random(seed);
    let count = shape.iter().product::<usize>();
    let elements: Vec<i32> = (0..count).map(|_| random.below(17) as i32 - 8).collect();
    Array::from_shape_vec(shape.to_vec(), elements).unwrap()
}

/// Values between -1 and 1.
fn real(shape: &[usize], seed: u64) -> Array {
    let mut random = Random(seed);
    let count = shape.iter().product::<usize>();
    let elements: Vec<f64> = (0..count).map(|_| random.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0).collect();
    Array::from_shape_vec(shape.to_vec(), elements).unwrap()
}

#[test]
fn large_matrices_are_multiplied_as_small_ones_are() {
    let cases: [(&str, &[usize], &[usize]); 14] = [
        ("ij,jk->ik", &[70, 90], &[90, 50]),
        ("ij,jk->ki", &[70, 90], &[90, 50]),
        ("ji,kj->ik", &[90, 70], &[50, 90]),
        ("ij,jk->ik", &[4, 3000], &[3000, 5]),
        ("ij,jk->ik", &[517, 9], &[9, 1033]),
        ("ij,jk->ik", &[65, 31], &[31, 67]),
        ("bij,bjk->bik", &[3, 40, 50], &[3, 50, 30]),
        ("bij,jk->bik", &[3, 40, 50], &[50, 30]),
        ("ij,bjk->bik", &[40, 50], &[3, 50, 30]),
        ("acij,bjk->abcik", &[2, 3, 40, 50], &[2, 50, 30]),
        ("iajb,bkja->ik", &[20, 9, 8, 7], &[7, 21, 8, 9]),
        ("iajb,kbla->kjil", &[20, 9, 8, 7], &[12, 7, 5, 9]),
        ("aabij,bjk->aki", &[3, 3, 2, 40, 50], &[2, 50, 30]),
        ("bij,bjk->ik", &[1, 40, 50], &[3, 50, 30]),
    ];
    for (subscripts, x, y) in cases {
        let (x, y) = (whole(x, 1), whole(y, 2));
        let expected = einsum(subscripts, [&x, &y]).to_vec::<i32>().unwrap();
        // Arrays in memory, parts of larger ones in reverse, and computed operands.
        let last = x.shape().rank() as isize - 1;
        let (wide, other) = (concat([&x, &x], last), concat([&y, &y], 0).flip(0));
        let every = |extent: usize| step_by(..extent as isize, -1);
        let back = wide.flip(last).slice((Ellipsis, every(x.shape().extents()[last as usize])));
        let parts = [back, other.slice(..y.shape().extents()[0]).flip(0)];
        for dtype in [DType::F32, DType::F64, DType::C64, DType::C128, DType::F16] {
            let (x, y) = (x.cast(dtype), y.cast(dtype));
            let of = |[x, y]: [&Array; 2]| einsum(subscripts, [x, y]).real_part();
            assert_eq!(of([&x, &y]), expected, "{subscripts} {dtype}");
            let [back, other] = &parts;
            let (back, other) = (back.cast(dtype), other.cast(dtype));
            assert_eq!(of([&back, &other]), expected, "{subscripts} {dtype}, computed");
            back.eval().unwrap();
            other.eval().unwrap();
            assert_eq!(of([&back, &other]), expected, "{subscripts} {dtype}, of parts");
        }
    }
}

/// Integer-valued elements.
trait Whole {
    fn real_part(&self) -> Vec<i32>;
}

impl Whole for Array {
    fn real_part(&self) -> Vec<i32> {
        let real = if self.dtype().is_complex() { self.real() } else { self.clone() };
        real.cast(DType::I32).to_vec().unwrap()
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (x, y) = (real(&[700, 300], 3), real(&[300, 1100], 4));
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
        let (x, y) = (x.cast(dtype), y.cast(dtype));
        let all = [1, 2, 3, 7].map(|threads| {
            let product = jit!(|x, y| x.matmul(y)).threads(threads).call((&x, &y)).unwrap();
            if dtype.is_complex() { product.real().cast(DType::F64) } else { product.cast(DType::F64) }
        });
        let bits = all.map(|product| product.to_vec::<f64>().unwrap());
        assert!(bits.iter().all(|other| *other == bits[0]), "{dtype}");
    }
}

#[test]
fn errors_are_within_the_stated_bound() {
    for (m, k, n) in [(64, 64, 64), (33, 61, 47), (64, 700, 64), (33, 1030, 65), (5, 5000, 7)] {
        let (x, y) = (real(&[m, k], 5).cast(DType::F32), real(&[k, n], 6).cast(DType::F32));
        let [wide_x, wide_y] = [&x, &y].map(|x| x.cast(DType::F64));
        let exact = wide_x.matmul(&wide_y).to_vec::<f64>().unwrap();
        let scales = wide_x.abs().matmul(wide_y.abs()).to_vec::<f64>().unwrap();
        let found = x.matmul(&y).to_vec::<f32>().unwrap();
        let bound = (k + k / 256 + 2) as f64 * 2f64.powi(-24) * 1.01;
        let worst = found
            .iter()
            .zip(&exact)
            .zip(&scales)
            .map(|((&found, exact), scale)| (f64::from(found) - exact).abs() / scale);
        let worst = worst.fold(0.0, f64::max);
        assert!(worst > 0.0 && worst <= bound, "{worst:e} of {bound:e}");
    }
}

#[test]
fn large_matrices_have_kernels_of_their_own() {
    let (x, y) = (real(&[64, 64], 7), real(&[64, 64], 8));
    let kernels = |f: &str| f.matches("contracts").count();
    let f = jit!(|x, y| x.sin().matmul(y.exp()) * 2 + 1);
    f.call((&x, &y)).unwrap();
    let text = f.explain(Stage::Kernels);
    // The preparation of `y`, the product, and its users are one launch.
    assert_eq!((f.kernels().len(), kernels(&text)), (2, 1), "{text}");
    // An explicit sum of products keeps its order.
    let g = jit!(|x, y| (x.slice((.., .., NewAxis)) * y).sum(1));
    g.call((&x, &y)).unwrap();
    assert_eq!(kernels(&g.explain(Stage::Kernels)), 0);
    // So do small ones, and products with other users.
    let small = jit!(|x, y| x.matmul(y));
    small.call((&x.slice((..8, ..)), &y.slice((.., ..8)))).unwrap();
    assert_eq!(kernels(&small.explain(Stage::Kernels)), 0);
}

/// Two layers of a neural network: products with elementwise operations, on one thread and on several.
#[test]
fn what_is_made_of_products_follows_tile_by_tile() {
    let whole = |shape: [usize; 2]| {
        let size = shape[0] * shape[1];
        let numbers: Vec<f32> = (0..size as i32).map(|i| (i * 79 % 17 - 8) as f32).collect();
        Array::from(numbers).reshape(shape)
    };
    let (x, w, b, v) = (whole([8000, 48]), whole([48, 100]), whole([1, 100]).reshape([100]), whole([100, 32]));
    let layers = || jit!(|x, w, b, v| (x + 1).matmul(w).add(b).maximum(0.0).matmul(v) / 4);
    // Sums of integers are exact in any order.
    let expected = (((&x + 1.0).matmul(&w) + &b).maximum(0.0).matmul(&v) / 4.0).to_vec::<f32>().unwrap();
    for threads in [1, 2, 3] {
        let f = layers().threads(threads);
        assert_eq!(f.call((&x, &w, &b, &v)).unwrap().to_vec::<f32>().unwrap(), expected);
        assert!(f.explain(Stage::Kernels).contains("tile by tile"), "{}", f.explain(Stage::Kernels));
        // Neither product is stored as a whole.
        let peak = f.memory_plan().unwrap().peak_bytes;
        assert!(peak < 8000 * (32 + 100) * 4, "{peak}");
    }
}

#[test]
fn what_there_is_none_of() {
    assert_eq!(matmul(zeros([2, 0]), zeros([0, 3])).to_vec::<f32>().unwrap(), [0.0; 6]);
    assert!(matmul(zeros([2, 0]), zeros([0, 3])).to_vec::<f32>().unwrap().iter().all(|x| x.is_sign_positive()));
    assert_eq!(matmul(zeros([0, 3]), zeros([3, 2])).shape().extents(), [0, 2]);
    assert_eq!(outer(zeros(0), zeros(3)).shape().extents(), [0, 3]);
    assert_eq!(kron(zeros([0, 2]), zeros([3, 1])).shape().extents(), [0, 2]);
}

#[test]
fn wrong_shapes() {
    let (x, y, row) = (zeros([2, 3]), zeros([4, 5]), zeros([3]));
    insta::assert_snapshot!(refused!(matmul(&x, &y)), @r"
    error[shape]: matmul: axis 1 of x0 has 3, axis 0 of x1 has 4
      at here
      x0: f32[2, 3] held as data
      x1: f32[4, 5] held as data
      help: the last axis of x0 meets the last but one of x1, or its only one; other axes have equal extents or 1
    ");
    insta::assert_snapshot!(refused!(x.matmul(2.0)), @r"
    error[shape]: matmul: a number is not a matrix
      at here
      x0: f32[2, 3] held as data
      x1: f* (literal 2.0)
      help: `x * y` multiplies by a number; a matrix has two axes, a vector one
    ");
    insta::assert_snapshot!(refused!(matmul(zeros([2, 3, 4]), zeros([5, 4, 2]))), @r"
    error[shape]: matmul: axis 0 of x0 has 2, axis 0 of x1 has 5
      at here
      x0: f32[2, 3, 4] held as data
      x1: f32[5, 4, 2] held as data
      help: the last axis of x0 meets the last but one of x1, or its only one; other axes have equal extents or 1
    ");
    insta::assert_snapshot!(refused!(vecdot(&x, &y, -1)), @r"
    error[shape]: vecdot: axis 0 of x0 has 2, axis 0 of x1 has 4
      at here
      x0: f32[2, 3] held as data
      x1: f32[4, 5] held as data
      help: vectors have one length; other axes are matched from the last, with equal extents or 1
    ");
    insta::assert_snapshot!(refused!(vecdot(&x, &row, 1)), @r"
    error[shape]: vecdot: there is no axis 1
      at here
      x0: f32[2, 3] held as data
      x1: f32[3] held as data
      axes: 0, or -1 from the last
      help: name this axis
    ");
    insta::assert_snapshot!(refused!(tensordot(&x, &y, 1)), @r"
    error[shape]: tensordot: axis 1 of x0 has 3, axis 0 of x1 has 4
      at here
      x0: f32[2, 3] held as data
      x1: f32[4, 5] held as data
      help: the two axes of a pair have one length; `([1], [0])` pairs axis 1 of the first with axis 0 of the second
    ");
    insta::assert_snapshot!(refused!(tensordot(&x, &y, 3)), @r"
    error[shape]: tensordot: there is no axis 2
      at here
      x0: f32[2, 3] held as data
      x1: f32[4, 5] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(tensordot(&x, &y, ([0, 1], [0]))), @r"
    error[shape]: tensordot: 2 axes of x0 are paired with 1 of x1
      at here
      x0: f32[2, 3] held as data
      x1: f32[4, 5] held as data
      the axes: [0, 1] and [0]
      help: name as many axes of each
    ");
    insta::assert_snapshot!(refused!(tensordot(&x, &y, ([0, 0], [0, 1]))), @r"
    error[shape]: tensordot: axis 0 is named twice
      at here
      x0: f32[2, 3] held as data
      x1: f32[4, 5] held as data
      the axes: [0, 0] of 2
      help: name each axis once; negative ones count from the last
    ");
    insta::assert_snapshot!(refused!(trace(&row, 0, [0, 1])), @r"
    error[shape]: trace: there is no axis 1
      at here
      x: f32[3] held as data
      axes: 0, or -1 from the last
      help: name this axis
    ");
}

#[test]
fn wrong_subscripts() {
    let (x, y) = (zeros([2, 3]), zeros([4, 5]));
    insta::assert_snapshot!(refused!(einsum("ij,jk->ik", [&x, &y])), @r#"
    error[shape]: einsum: axis 1 of x0 has 3, axis 0 of x1 has 4
      at here
      x0: f32[2, 3] held as data
      x1: f32[4, 5] held as data
      both are `j` of "ij,jk->ik"
      help: axes with one letter have the same extent, or 1; give them different letters
    "#);
    insta::assert_snapshot!(refused!(einsum("i1", [&x])), @r#"
    error[parse]: einsum: '1' in "i1" is not a letter
      at here
      x: f32[2, 3] held as data
      help: subscripts are letters, one for each axis, `...` for axes without one, `,` between operands and `->` before the result, as in "ij,jk->ik"
    "#);
    insta::assert_snapshot!(refused!(einsum("ij->k", [&x])), @r#"
    error[parse]: einsum: `k` of the result in "ij->k" is in no operand
      at here
      x: f32[2, 3] held as data
      help: subscripts are letters, one for each axis, `...` for axes without one, `,` between operands and `->` before the result, as in "ij,jk->ik"
    "#);
    insta::assert_snapshot!(refused!(einsum("ij,jk", [&x])), @r#"
    error[arity]: einsum: 2 subscripts for 1 operand
      at here
      x: f32[2, 3] held as data
      the subscripts: "ij,jk->ik"
      help: give a subscript for each operand, with `,` between them
    "#);
    insta::assert_snapshot!(refused!(einsum("ijk", [&x])), @r#"
    error[shape]: einsum: "ijk" stands for 3 axes, x0 has 2
      at here
      x: f32[2, 3] held as data
      the subscripts: "ijk->ijk"
      help: name each axis by a letter; `...` stands for all that have none
    "#);
    insta::assert_snapshot!(refused!(einsum("ii", [&x])), @r#"
    error[shape]: einsum: axis 0 of x0 has 2, axis 1 of x0 has 3
      at here
      x: f32[2, 3] held as data
      both are `i` of "ii->"
      help: axes with one letter have the same extent, or 1; give them different letters
    "#);
    insta::assert_snapshot!(refused!(einsum("i...->i", [&x])), @r#"
    error[shape]: einsum: the result has no `...`, which stands for 1 axes
      at here
      x: f32[2, 3] held as data
      the subscripts: "i...->i"
      help: keep these axes, as in `->...i`, or sum over them afterwards
    "#);
    insta::assert_snapshot!(refused!(einsum("...i,...i->...i", [&x, &y])), @r#"
    error[shape]: einsum: axis 0 of x0 has 2, axis 0 of x1 has 4
      at here
      x0: f32[2, 3] held as data
      x1: f32[4, 5] held as data
      both are `...` of "...i,...i->...i"
      help: axes with one letter have the same extent, or 1; give them different letters
    "#);
    insta::assert_snapshot!(refused!(einsum("", [&x; 0])), @r#"
    error[arity]: einsum: 1 subscript for 0 operands
      at here
      the subscripts: "->"
      help: give a subscript for each operand, with `,` between them
    "#);
}

/// A transposed product, as in gradients of products, is computed directly: no kernel copies it.
#[test]
fn what_is_seen_transposed_is_computed_so() {
    let whole = |shape: [usize; 2]| {
        let numbers: Vec<f64> = (0..shape[0] * shape[1]).map(|i| (i * 79 % 17) as f64 - 8.0).collect();
        Array::from(numbers).reshape(shape)
    };
    let (a, b) = (whole([40, 64]), whole([64, 50]));
    // Sums of integers are exact in any order.
    let transposed = jit!(|a, b| a.matmul(b).mt());
    let expected = (a.matmul(&b)).mt().to_vec::<f64>().unwrap();
    assert_eq!(transposed.call((&a, &b)).unwrap().to_vec::<f64>().unwrap(), expected);
    let gradients = jit(wrt((0, 1)).grad(|a: Expr, b: Expr| sum(square(a.matmul(b)), ..)));
    let (by_a, by_b) = gradients.call((&a, &b)).unwrap();
    let c = a.matmul(&b) * 2.0;
    assert_eq!(by_a.to_vec::<f64>().unwrap(), c.matmul(b.mt()).to_vec::<f64>().unwrap());
    assert_eq!(by_b.to_vec::<f64>().unwrap(), a.mt().matmul(c).to_vec::<f64>().unwrap());
    for (text, products) in [(transposed.explain(Stage::Kernels), 1), (gradients.explain(Stage::Kernels), 3)] {
        assert_eq!(text.matches("contracts axes").count(), products, "{text}");
        let copies = text.split("\n\n").filter(|kernel| kernel.contains("out0 = t0 ->")).count();
        assert_eq!(copies, 0, "{text}");
    }
}
