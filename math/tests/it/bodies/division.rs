//! Bodies of divisions by each method against those of the ops: all pairs of 8-bit values, all 16-bit dividends by edge divisors, and
//! edge and random values of the wider types.

use super::support::Runner;
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::{DivisionMethod, body, division_body};

const DIVISIONS: [Op; 3] = [Op::FloorDivide, Op::Remainder, Op::Fmod];

/// 0, 1 and -1, the ends of the range, powers of two and their neighbours, and common divisors.
fn edges(bits: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let powers = (0..bits).flat_map(|n| [(1u64 << n) - 1, 1 << n, (1 << n) + 1]);
    let small = powers.chain([3, 5, 6, 7, 10, 11, 100, 641, 1000, 65_521, 1_000_000_007]);
    let mut all: Vec<u64> = small.flat_map(|n| [n, n.wrapping_neg(), !n]).map(|n| n & mask).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Pseudo-random numbers of all magnitudes (xorshift of 64 bits, Marsaglia 2003).
fn random(count: usize, bits: u32) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let shift = (state >> 58) as u32 % bits;
        ((state.wrapping_mul(0x2545_f491_4f6c_dd1d) & (u64::MAX >> (64 - bits))) as i64 >> shift) as u64
            & (u64::MAX >> (64 - bits))
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn check(dtype: DType, xs: &[u64], ys: &[u64]) {
    let mut run = Runner::default();
    for op in DIVISIONS {
        let law = body(op, dtype);
        let methods = DivisionMethod::ALL.into_iter();
        let methods: Vec<_> = methods.filter_map(|m| Some((m, division_body(op, dtype, m)?))).collect();
        assert_eq!(methods.len(), if dtype.bytes() == 8 { 2 } else { 3 }, "{op} {dtype}");
        for &y in ys {
            for &x in xs {
                let expected = run.one(&law, &[x, y]);
                for (method, made) in &methods {
                    assert_eq!(run.one(made, &[x, y]), expected, "{op}({x:#x}, {y:#x}) of {dtype} by {method:?}");
                }
            }
        }
    }
}

#[test]
fn all_bytes() {
    let all: Vec<u64> = (0..256).collect();
    check(DType::U8, &all, &all);
    check(DType::I8, &all, &all);
}

#[test]
fn all_words_by_edges() {
    let all: Vec<u64> = (0..65_536).step_by(if cfg!(debug_assertions) { 7 } else { 1 }).collect();
    for dtype in [DType::U16, DType::I16] {
        check(dtype, &all, &[0, 1, 2, 3, 7, 255, 256, 641, 32_767, 32_768, 32_769, 65_521, 65_534, 65_535]);
        check(dtype, &edges(16), &edges(16));
        check(dtype, &random(200, 16), &random(200, 16));
    }
}

#[test]
fn wide_edges_and_random_numbers() {
    for dtype in [DType::U32, DType::I32, DType::U64, DType::I64] {
        let bits = 8 * dtype.bytes() as u32;
        let (edges, random) = (edges(bits), random(150, bits));
        check(dtype, &edges, &edges);
        check(dtype, &random, &edges);
        check(dtype, &edges, &random);
        check(dtype, &random, &random);
    }
}

/// An invariant divisor leaves no division of the dividend.
#[test]
fn reciprocals_divide_only_invariants() {
    use ndjit_ir::body::{InstKind, Prim};
    for dtype in [DType::U8, DType::I16, DType::U32, DType::I64] {
        for op in DIVISIONS {
            for method in [DivisionMethod::Reciprocal, DivisionMethod::WideReciprocal] {
                let made = division_body(op, dtype, method).unwrap();
                let mut varying = vec![false; made.types.len()];
                varying[0] = true;
                for inst in &made.insts {
                    let varies = inst.args.iter().any(|arg| varying[arg.index()]);
                    varying[inst.first.index()] = varies;
                    let divides =
                        matches!(inst.kind, InstKind::Prim(Prim::Udiv | Prim::Sdiv | Prim::Urem | Prim::Srem));
                    assert!(!(varies && divides), "{op} of {dtype} by {method:?}: {made}");
                }
            }
        }
    }
}
