//! The generator of random bits: Threefry-2x32 with 20 rounds, a keyed permutation of 64-bit words (Salmon, Moraes, Dror and Shaw,
//! "Parallel random numbers: as easy as 1, 2, 3", 2011).
//!
//! A word is two 32-bit halves, the high one first. All operations are on halves, so machines without 64-bit lanes are as
//! fast.

use crate::integer::bit_count::rotate;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// The rotation of the second half in each round, in alternating groups of four rounds.
const ROTATIONS: [[i64; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
/// The constant in the third word of the key schedule, which makes it nonzero for key 0.
const PARITY: i64 = 0x1bd1_1bda;
/// Groups of four rounds, after each of which a part of the key is added.
const GROUPS: usize = 5;

/// The word of `counter` under `key`.
pub(crate) fn hash(b: &mut BodyBuilder, key: Reg, counter: Reg) -> Reg {
    let (key_high, key_low) = halves(b, key);
    let parity = b.int(PrimType::I32, PARITY);
    let both = b.xor(key_high, key_low);
    let schedule = [key_high, key_low, b.xor(both, parity)];
    let (high, low) = halves(b, counter);
    let (mut first, mut second) = (b.iadd(high, key_high), b.iadd(low, key_low));
    for group in 0..GROUPS {
        for rotation in ROTATIONS[group % 2] {
            first = b.iadd(first, second);
            let places = b.int(PrimType::I32, rotation);
            let rotated = rotate(b, second, places, true);
            second = b.xor(rotated, first);
        }
        let count = b.int(PrimType::I32, group as i64 + 1);
        first = b.iadd(first, schedule[(group + 1) % 3]);
        // Depends only on the key: computed once per key.
        let counted = b.iadd(schedule[(group + 2) % 3], count);
        second = b.iadd(second, counted);
    }
    let (high, low) = (b.zext(first, PrimType::I64), b.zext(second, PrimType::I64));
    let width = b.int(PrimType::I64, 32);
    let high = b.shl(high, width);
    b.or(high, low)
}

/// The high and the low half of a word.
fn halves(b: &mut BodyBuilder, word: Reg) -> (Reg, Reg) {
    let width = b.int(PrimType::I64, 32);
    let high = b.ushr(word, width);
    (b.itrunc(high, PrimType::I32), b.itrunc(word, PrimType::I32))
}
