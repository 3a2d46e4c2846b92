//! Machine instructions that move lanes: between memory and registers, from register to register, chosen by a mask.

use super::forms::{InstForm, MemoryOperand, Size, form, vector};
use super::set::Set;
use iced_x86::Code::{self, *};

/// The lanes of the second operand where the mask is set, of the first elsewhere. AVX2's masks are a third operand.
pub(super) fn blend(set: Set, bits: u32) -> InstForm {
    let code = match (set, bits) {
        (Set::Avx512, 8) => EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512,
        (Set::Avx512, 16) => EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512,
        (Set::Avx512, 32) => EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
        (Set::Avx512, _) => EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64,
        (Set::Avx2, 8 | 16) => VEX_Vpblendvb_ymm_ymm_ymmm256_ymm,
        (Set::Avx2, 32) => VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
        (Set::Avx2, _) => VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
    };
    let form = vector(set, code, bits);
    if set == Set::Avx2 { InstForm { memory: MemoryOperand::No, ..form } } else { form }
}

/// A register moved, in lanes of this width: AVX-512's, which can be masked.
pub(super) fn move_lanes(bits: u32) -> InstForm {
    let code = match bits {
        8 => EVEX_Vmovdqu8_zmm_k1z_zmmm512,
        16 => EVEX_Vmovdqu16_zmm_k1z_zmmm512,
        32 => EVEX_Vmovdqu32_zmm_k1z_zmmm512,
        _ => EVEX_Vmovdqu64_zmm_k1z_zmmm512,
    };
    form(code, [Size::Zmm; 3], MemoryOperand::Whole)
}

/// One element of memory in all lanes.
pub(super) fn broadcast(set: Set, bits: u32) -> InstForm {
    let code = match (set, bits) {
        (Set::Avx512, 8) => EVEX_Vpbroadcastb_zmm_k1z_xmmm8,
        (Set::Avx512, 16) => EVEX_Vpbroadcastw_zmm_k1z_xmmm16,
        (Set::Avx512, 32) => EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        (Set::Avx512, _) => EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
        (Set::Avx2, 8) => VEX_Vpbroadcastb_ymm_xmmm8,
        (Set::Avx2, 16) => VEX_Vpbroadcastw_ymm_xmmm16,
        (Set::Avx2, 32) => VEX_Vbroadcastss_ymm_m32,
        (Set::Avx2, 64) => VEX_Vbroadcastsd_ymm_m64,
        (Set::Avx2, _) => VEX_Vbroadcastf128_ymm_m128,
    };
    form(code, [Size::whole(set), Size::Xmm, Size::Xmm], MemoryOperand::Whole)
}

/// Loads of this many bytes, in lanes of this width: with AVX-512 at least 8, with a mask of 8 bytes like 16; with AVX2 at least 4,
/// without masks.
pub(super) fn load(set: Set, bytes: u32, bits: u32, masked: bool) -> InstForm {
    let (code, size) = match (set, bytes, bits) {
        (Set::Avx2, 0..=4, _) => (VEX_Vmovd_xmm_rm32, Size::Xmm),
        (Set::Avx2, 5..=8, _) => (VEX_Vmovq_xmm_xmmm64, Size::Xmm),
        (Set::Avx2, 9..=16, _) => (VEX_Vmovups_xmm_xmmm128, Size::Xmm),
        (Set::Avx2, ..) => (VEX_Vmovups_ymm_ymmm256, Size::Ymm),
        (_, 0..=8, _) if !masked => (EVEX_Vmovq_xmm_xmmm64, Size::Xmm),
        (_, 0..=16, 8) => (EVEX_Vmovdqu8_xmm_k1z_xmmm128, Size::Xmm),
        (_, 0..=16, 16) => (EVEX_Vmovdqu16_xmm_k1z_xmmm128, Size::Xmm),
        (_, 0..=16, 32) => (EVEX_Vmovdqu32_xmm_k1z_xmmm128, Size::Xmm),
        (_, 0..=16, _) => (EVEX_Vmovdqu64_xmm_k1z_xmmm128, Size::Xmm),
        (_, 17..=32, 8) => (EVEX_Vmovdqu8_ymm_k1z_ymmm256, Size::Ymm),
        (_, 17..=32, 16) => (EVEX_Vmovdqu16_ymm_k1z_ymmm256, Size::Ymm),
        (_, 17..=32, 32) => (EVEX_Vmovdqu32_ymm_k1z_ymmm256, Size::Ymm),
        (_, 17..=32, _) => (EVEX_Vmovdqu64_ymm_k1z_ymmm256, Size::Ymm),
        (_, _, 8) => (EVEX_Vmovdqu8_zmm_k1z_zmmm512, Size::Zmm),
        (_, _, 16) => (EVEX_Vmovdqu16_zmm_k1z_zmmm512, Size::Zmm),
        (_, _, 32) => (EVEX_Vmovups_zmm_k1z_zmmm512, Size::Zmm),
        _ => (EVEX_Vmovupd_zmm_k1z_zmmm512, Size::Zmm),
    };
    form(code, [size; 3], MemoryOperand::Whole)
}

/// See [`load`].
pub(super) fn store(set: Set, bytes: u32, bits: u32, masked: bool) -> InstForm {
    let (code, size) = match (set, bytes, bits) {
        (Set::Avx2, 0..=4, _) => (VEX_Vmovd_rm32_xmm, Size::Xmm),
        (Set::Avx2, 5..=8, _) => (VEX_Vmovq_xmmm64_xmm, Size::Xmm),
        (Set::Avx2, 9..=16, _) => (VEX_Vmovups_xmmm128_xmm, Size::Xmm),
        (Set::Avx2, ..) => (VEX_Vmovups_ymmm256_ymm, Size::Ymm),
        (_, 0..=8, _) if !masked => (EVEX_Vmovq_xmmm64_xmm, Size::Xmm),
        (_, 0..=16, 8) => (EVEX_Vmovdqu8_xmmm128_k1z_xmm, Size::Xmm),
        (_, 0..=16, 16) => (EVEX_Vmovdqu16_xmmm128_k1z_xmm, Size::Xmm),
        (_, 0..=16, 32) => (EVEX_Vmovdqu32_xmmm128_k1z_xmm, Size::Xmm),
        (_, 0..=16, _) => (EVEX_Vmovdqu64_xmmm128_k1z_xmm, Size::Xmm),
        (_, 17..=32, 8) => (EVEX_Vmovdqu8_ymmm256_k1z_ymm, Size::Ymm),
        (_, 17..=32, 16) => (EVEX_Vmovdqu16_ymmm256_k1z_ymm, Size::Ymm),
        (_, 17..=32, 32) => (EVEX_Vmovdqu32_ymmm256_k1z_ymm, Size::Ymm),
        (_, 17..=32, _) => (EVEX_Vmovdqu64_ymmm256_k1z_ymm, Size::Ymm),
        (_, _, 8) => (EVEX_Vmovdqu8_zmmm512_k1z_zmm, Size::Zmm),
        (_, _, 16) => (EVEX_Vmovdqu16_zmmm512_k1z_zmm, Size::Zmm),
        (_, _, 32) => (EVEX_Vmovups_zmmm512_k1z_zmm, Size::Zmm),
        _ => (EVEX_Vmovupd_zmmm512_k1z_zmm, Size::Zmm),
    };
    form(code, [size; 3], MemoryOperand::Whole)
}

/// A whole register loaded, stored, and copied.
pub(super) const fn whole(set: Set) -> [Code; 3] {
    match set {
        Set::Avx512 => [EVEX_Vmovups_zmm_k1z_zmmm512, EVEX_Vmovups_zmmm512_k1z_zmm, EVEX_Vmovdqa32_zmm_k1z_zmmm512],
        Set::Avx2 => [VEX_Vmovups_ymm_ymmm256, VEX_Vmovups_ymmm256_ymm, VEX_Vmovaps_ymm_ymmm256],
    }
}

/// Lanes of two registers, the second and third operand, selected by the first, which the result replaces: AVX-512's.
pub(super) fn pick(bits: u32) -> InstForm {
    if bits == 32 {
        vector(Set::Avx512, EVEX_Vpermi2ps_zmm_k1z_zmm_zmmm512b32, 32)
    } else {
        vector(Set::Avx512, EVEX_Vpermi2pd_zmm_k1z_zmm_zmmm512b64, 64)
    }
}

/// Lanes of a register, the second operand, selected by the first. AVX2 only has lanes of 32 bits.
pub(super) fn pick_one(set: Set, bits: u32) -> InstForm {
    match (set, bits) {
        (Set::Avx2, _) => vector(set, VEX_Vpermps_ymm_ymm_ymmm256, 32),
        (Set::Avx512, 32) => vector(set, EVEX_Vpermps_zmm_k1z_zmm_zmmm512b32, 32),
        (Set::Avx512, _) => vector(set, EVEX_Vpermpd_zmm_k1z_zmm_zmmm512b64, 64),
    }
}

/// Lanes of 64 bits selected by the immediate: AVX2's.
pub(super) fn pick_quarters() -> InstForm {
    vector(Set::Avx2, VEX_Vpermpd_ymm_ymmm256_imm8, 64)
}

/// Halves of two registers selected by the immediate: 0x20 the lower ones, 0x31 the upper ones. AVX2's.
pub(super) fn pick_halves() -> InstForm {
    vector(Set::Avx2, VEX_Vperm2f128_ymm_ymm_ymmm256_imm8, 64)
}

/// In each half of a register the bytes selected by the second operand, 0 for -1: AVX2's.
pub(super) fn pick_bytes() -> InstForm {
    vector(Set::Avx2, VEX_Vpshufb_ymm_ymm_ymmm256, 8)
}

/// In each half of registers the lower or upper lanes of the first and of the second, interleaved: AVX2's.
pub(super) fn unpack(bits: u32, upper: bool) -> InstForm {
    let code = match (bits, upper) {
        (32, false) => VEX_Vunpcklps_ymm_ymm_ymmm256,
        (32, true) => VEX_Vunpckhps_ymm_ymm_ymmm256,
        (_, false) => VEX_Vunpcklpd_ymm_ymm_ymmm256,
        (_, true) => VEX_Vunpckhpd_ymm_ymm_ymmm256,
    };
    vector(Set::Avx2, code, bits)
}

/// In each half of registers two lanes of 32 bits of the first and two of the second, selected by the immediate: AVX2's.
pub(super) fn shuffle() -> InstForm {
    vector(Set::Avx2, VEX_Vshufps_ymm_ymm_ymmm256_imm8, 32)
}

/// Lanes of 32 bits of the second operand where the immediate has a 1, of the first elsewhere: AVX2's.
pub(super) fn blend_by() -> InstForm {
    vector(Set::Avx2, VEX_Vpblendd_ymm_ymm_ymmm256_imm8, 32)
}
