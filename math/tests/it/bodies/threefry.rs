//! The generator of random bits against the known answers of its authors, of JAX, and of plain Rust.

use super::support::Runner;
use ndjit_ir::body::{Body, InstKind, Prim};
use ndjit_ir::op::Op;
use ndjit_ir::{DType, PrimType};
use ndjit_math::body;

/// The authors' algorithm: a key and a counter of two halves.
pub fn plain(key: u64, counter: u64) -> u64 {
    let halves = |word: u64| ((word >> 32) as u32, word as u32);
    let ((k0, k1), (c0, c1)) = (halves(key), halves(counter));
    let ks = [k0, k1, 0x1bd1_1bda ^ k0 ^ k1];
    let (mut x0, mut x1) = (c0.wrapping_add(ks[0]), c1.wrapping_add(ks[1]));
    for round in 0..20 {
        x0 = x0.wrapping_add(x1);
        x1 = x1.rotate_left([13, 15, 26, 6, 17, 29, 16, 24][round % 8]) ^ x0;
        if round % 4 == 3 {
            let group = round / 4 + 1;
            x0 = x0.wrapping_add(ks[group % 3]);
            x1 = x1.wrapping_add(ks[(group + 1) % 3]).wrapping_add(group as u32);
        }
    }
    u64::from(x0) << 32 | u64::from(x1)
}

/// `threefry2x32 20` of Random123's `kat_vectors`: counter, key, result.
const KNOWN: [[u64; 3]; 3] = [
    [0, 0, 0x6b20_0159_99ba_4efe],
    [u64::MAX, u64::MAX, 0x1cb9_96fc_bb00_2be7],
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xc492_3a9c_483d_f7a0],
];

#[test]
fn known_answers() {
    let (mut run, made) = (Runner::default(), body(Op::Threefry2x32, DType::U64));
    for [counter, key, expected] in KNOWN {
        assert_eq!(run.one(&made, &[key, counter]), expected, "{key:#x} {counter:#x}");
        assert_eq!(plain(key, counter), expected, "{key:#x} {counter:#x}");
    }
}

#[test]
fn counters_in_a_row_and_keys_of_one_bit() {
    let (mut run, made) = (Runner::default(), body(Op::Threefry2x32, DType::U64));
    for bit in 0..64 {
        for counter in (0..20).chain([u32::MAX.into(), 1 << 32, 1 << bit]) {
            assert_eq!(run.one(&made, &[1 << bit, counter]), plain(1 << bit, counter), "{bit} {counter}");
        }
    }
}

/// The number of a body's instructions that give a value of 64 bits.
fn wide(body: &Body) -> usize {
    let wide =
        |inst: &&ndjit_ir::body::Inst| !matches!(inst.kind, InstKind::Const(_)) && body.ty(inst.first) == PrimType::I64;
    body.insts.iter().filter(wide).count()
}

#[test]
fn rounds_are_work_on_halves() {
    let body = body(Op::Threefry2x32, DType::U64);
    // Two shifts down, two extensions, a shift up, an or.
    assert_eq!(wide(&body), 6);
    let count = |prim| body.insts.iter().filter(|inst| inst.kind == InstKind::Prim(prim)).count();
    assert_eq!((count(Prim::Xor), count(Prim::Or)), (22, 21));
}
