//! Machine instructions of primitives: for each primitive and type the instruction that does it on a whole register, as data.

use iced_x86::Code::{self, *};
use ndjit_ir::PrimType::{self, *};
use ndjit_ir::body::Prim;

/// A machine instruction on vectors or masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub code: Code,
    /// Which registers its operands are, result first.
    pub operands: [Size; 3],
    /// What its last operand can be, beside a register.
    pub memory: Memory,
}

/// The name an operand goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Xmm,
    Ymm,
    Zmm,
    Mask,
}

/// What an operand can be, beside a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    No,
    /// A vector.
    Whole,
    /// A vector, or one element of so many bits for all lanes.
    Broadcast(u32),
}

const ZMM: [Size; 3] = [Size::Zmm; 3];
const MASKS: [Size; 3] = [Size::Mask; 3];
const COMPARE: [Size; 3] = [Size::Mask, Size::Zmm, Size::Zmm];

const fn form(code: Code, operands: [Size; 3], memory: Memory) -> Form {
    Form { code, operands, memory }
}

/// On vectors, with memory of elements of `bits` bits; instructions on narrower ones take whole vectors alone.
const fn vector(code: Code, bits: u32) -> Form {
    form(code, ZMM, if bits < 32 { Memory::Whole } else { Memory::Broadcast(bits) })
}

const fn masks(code: Code) -> Form {
    form(code, MASKS, Memory::No)
}

/// From vectors of one size to another.
const fn convert(code: Code, to: Size, from: Size) -> Form {
    form(code, [to, from, from], Memory::No)
}

/// The form of a type, which is in one of its rows.
macro_rules! by_type {
    ($ty:expr; $($variant:ident => $code:ident),* $(,)?) => {
        match $ty {
            $($variant => Some(vector($code, $variant.bits())),)*
            _ => None,
        }
    };
}

/// The form of a primitive that one instruction does, with its immediate; others [`select`](super::select) makes of several.
pub(super) fn of(prim: Prim, from: PrimType, to: PrimType) -> Option<(Form, Option<u8>)> {
    if prim.signature() == ndjit_ir::body::Signature::Compare {
        return compare(prim, from);
    }
    if from == Bool {
        let form = match prim {
            Prim::And => masks(VEX_Kandq_kr_kr_kr),
            Prim::Or => masks(VEX_Korq_kr_kr_kr),
            Prim::Xor => masks(VEX_Kxorq_kr_kr_kr),
            Prim::Not => masks(VEX_Knotq_kr_kr),
            _ => return None,
        };
        return Some((form, None));
    }
    let immediate = match prim {
        Prim::Fround => Some(8),
        Prim::Ffloor => Some(9),
        Prim::Fceil => Some(10),
        Prim::Ftrunc => Some(11),
        _ => None,
    };
    let form = match prim {
        Prim::Fadd => {
            by_type!(from; F32 => EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, F64 => EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er)
        }
        Prim::Fsub => {
            by_type!(from; F32 => EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er, F64 => EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er)
        }
        Prim::Fmul => {
            by_type!(from; F32 => EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, F64 => EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er)
        }
        Prim::Fdiv => {
            by_type!(from; F32 => EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er, F64 => EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er)
        }
        Prim::Fsqrt => {
            by_type!(from; F32 => EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, F64 => EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er)
        }
        Prim::Ffloor | Prim::Fceil | Prim::Ftrunc | Prim::Fround => {
            by_type!(from; F32 => EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae, F64 => EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae)
        }
        Prim::Iadd => {
            by_type!(from; I8 => EVEX_Vpaddb_zmm_k1z_zmm_zmmm512, I16 => EVEX_Vpaddw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Isub => {
            by_type!(from; I8 => EVEX_Vpsubb_zmm_k1z_zmm_zmmm512, I16 => EVEX_Vpsubw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Imul => {
            by_type!(from; I16 => EVEX_Vpmullw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Smulhi => by_type!(from; I16 => EVEX_Vpmulhw_zmm_k1z_zmm_zmmm512),
        Prim::Umulhi => by_type!(from; I16 => EVEX_Vpmulhuw_zmm_k1z_zmm_zmmm512),
        Prim::Smin => {
            by_type!(from; I8 => EVEX_Vpminsb_zmm_k1z_zmm_zmmm512, I16 => EVEX_Vpminsw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Smax => {
            by_type!(from; I8 => EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512, I16 => EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Umin => {
            by_type!(from; I8 => EVEX_Vpminub_zmm_k1z_zmm_zmmm512, I16 => EVEX_Vpminuw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Umax => {
            by_type!(from; I8 => EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512, I16 => EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64)
        }
        // Counts of the width and more give 0, or the sign, as the primitives do.
        Prim::Shl => {
            by_type!(from; I16 => EVEX_Vpsllvw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Ushr => {
            by_type!(from; I16 => EVEX_Vpsrlvw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Sshr => {
            by_type!(from; I16 => EVEX_Vpsravw_zmm_k1z_zmm_zmmm512, I32 => EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::And => {
            by_type!(from; I8 => EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, I16 => EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, I32 => EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Or => {
            by_type!(from; I8 => EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, I16 => EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, I32 => EVEX_Vpord_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vporq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Xor => {
            by_type!(from; I8 => EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, I16 => EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, I32 => EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, I64 => EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64)
        }
        Prim::Sext => match (from, to) {
            (I8, I16) => Some(convert(EVEX_Vpmovsxbw_zmm_k1z_ymmm256, Size::Zmm, Size::Ymm)),
            (I8, I32) => Some(convert(EVEX_Vpmovsxbd_zmm_k1z_xmmm128, Size::Zmm, Size::Xmm)),
            (I8, I64) => Some(convert(EVEX_Vpmovsxbq_zmm_k1z_xmmm64, Size::Zmm, Size::Xmm)),
            (I16, I32) => Some(convert(EVEX_Vpmovsxwd_zmm_k1z_ymmm256, Size::Zmm, Size::Ymm)),
            (I16, I64) => Some(convert(EVEX_Vpmovsxwq_zmm_k1z_xmmm128, Size::Zmm, Size::Xmm)),
            (I32, I64) => Some(convert(EVEX_Vpmovsxdq_zmm_k1z_ymmm256, Size::Zmm, Size::Ymm)),
            _ => None,
        },
        Prim::Zext => match (from, to) {
            (I8, I16) => Some(convert(EVEX_Vpmovzxbw_zmm_k1z_ymmm256, Size::Zmm, Size::Ymm)),
            (I8, I32) => Some(convert(EVEX_Vpmovzxbd_zmm_k1z_xmmm128, Size::Zmm, Size::Xmm)),
            (I8, I64) => Some(convert(EVEX_Vpmovzxbq_zmm_k1z_xmmm64, Size::Zmm, Size::Xmm)),
            (I16, I32) => Some(convert(EVEX_Vpmovzxwd_zmm_k1z_ymmm256, Size::Zmm, Size::Ymm)),
            (I16, I64) => Some(convert(EVEX_Vpmovzxwq_zmm_k1z_xmmm128, Size::Zmm, Size::Xmm)),
            (I32, I64) => Some(convert(EVEX_Vpmovzxdq_zmm_k1z_ymmm256, Size::Zmm, Size::Ymm)),
            _ => None,
        },
        Prim::Itrunc => match (from, to) {
            (I16, I8) => Some(convert(EVEX_Vpmovwb_ymmm256_k1z_zmm, Size::Ymm, Size::Zmm)),
            (I32, I8) => Some(convert(EVEX_Vpmovdb_xmmm128_k1z_zmm, Size::Xmm, Size::Zmm)),
            (I64, I8) => Some(convert(EVEX_Vpmovqb_xmmm64_k1z_zmm, Size::Xmm, Size::Zmm)),
            (I32, I16) => Some(convert(EVEX_Vpmovdw_ymmm256_k1z_zmm, Size::Ymm, Size::Zmm)),
            (I64, I16) => Some(convert(EVEX_Vpmovqw_xmmm128_k1z_zmm, Size::Xmm, Size::Zmm)),
            (I64, I32) => Some(convert(EVEX_Vpmovqd_ymmm256_k1z_zmm, Size::Ymm, Size::Zmm)),
            _ => None,
        },
        Prim::Fpromote => Some(convert(EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae, Size::Zmm, Size::Ymm)),
        Prim::Fdemote => Some(convert(EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er, Size::Ymm, Size::Zmm)),
        Prim::FromSint => match (from, to) {
            (I32, F32) => Some(convert(EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er, Size::Zmm, Size::Zmm)),
            (I32, F64) => Some(convert(EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er, Size::Zmm, Size::Ymm)),
            (I64, F32) => Some(convert(EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er, Size::Ymm, Size::Zmm)),
            (I64, F64) => Some(convert(EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er, Size::Zmm, Size::Zmm)),
            _ => None,
        },
        Prim::FromUint => match (from, to) {
            (I32, F32) => Some(convert(EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, Size::Zmm, Size::Zmm)),
            (I32, F64) => Some(convert(EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er, Size::Zmm, Size::Ymm)),
            (I64, F32) => Some(convert(EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er, Size::Ymm, Size::Zmm)),
            (I64, F64) => Some(convert(EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er, Size::Zmm, Size::Zmm)),
            _ => None,
        },
        _ => None,
    };
    form.map(|form| (form, immediate))
}

/// Conversions to integers as the machine does them: what is out of range becomes the smallest signed or the largest unsigned integer.
pub(super) fn to_int(prim: Prim, from: PrimType, to: PrimType) -> Option<Form> {
    let form = match (prim, from, to) {
        (Prim::ToSint, F32, I32) => convert(EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae, Size::Zmm, Size::Zmm),
        (Prim::ToSint, F32, I64) => convert(EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae, Size::Zmm, Size::Ymm),
        (Prim::ToSint, F64, I32) => convert(EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae, Size::Ymm, Size::Zmm),
        (Prim::ToSint, F64, I64) => convert(EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae, Size::Zmm, Size::Zmm),
        (Prim::ToUint, F32, I32) => convert(EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, Size::Zmm, Size::Zmm),
        (Prim::ToUint, F32, I64) => convert(EVEX_Vcvttps2uqq_zmm_k1z_ymmm256b32_sae, Size::Zmm, Size::Ymm),
        (Prim::ToUint, F64, I32) => convert(EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae, Size::Ymm, Size::Zmm),
        (Prim::ToUint, F64, I64) => convert(EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae, Size::Zmm, Size::Zmm),
        _ => return None,
    };
    Some(form)
}

fn compare(prim: Prim, ty: PrimType) -> Option<(Form, Option<u8>)> {
    let unsigned = matches!(prim, Prim::Ult | Prim::Ule);
    let (code, bits) = match (ty, unsigned) {
        (F32, _) => (EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, 32),
        (F64, _) => (EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae, 64),
        (I8, false) => (EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8, 8),
        (I16, false) => (EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8, 16),
        (I32, false) => (EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, 32),
        (I64, false) => (EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8, 64),
        (I8, true) => (EVEX_Vpcmpub_kr_k1_zmm_zmmm512_imm8, 8),
        (I16, true) => (EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8, 16),
        (I32, true) => (EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, 32),
        (I64, true) => (EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8, 64),
        (Bool, _) => return None,
    };
    let predicate = match prim {
        Prim::Feq | Prim::Ieq => EQUAL,
        Prim::Fne | Prim::Ine => 4,
        Prim::Flt => 0x11,
        Prim::Fle => 0x12,
        Prim::Slt | Prim::Ult => 1,
        _ => 2,
    };
    Some((form(code, COMPARE, vector(code, bits).memory), Some(predicate)))
}

/// Predicates of comparisons.
pub(super) const EQUAL: u8 = 0;
/// Either is NaN.
pub(super) const UNORDERED: u8 = 3;
/// Not less, of floats; neither is NaN.
pub(super) const GREATER_EQUAL: u8 = 0x1d;
/// Neither is NaN.
pub(super) const ORDERED: u8 = 7;

/// A comparison of floats.
pub(super) fn compare_floats(ty: PrimType) -> Form {
    if ty == F32 {
        form(EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, COMPARE, Memory::Broadcast(32))
    } else {
        form(EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae, COMPARE, Memory::Broadcast(64))
    }
}

/// Shifts by an immediate count; those of 8 bits there are none.
pub(super) fn shift_by(prim: Prim, ty: PrimType) -> Option<Form> {
    match prim {
        Prim::Shl => {
            by_type!(ty; I16 => EVEX_Vpsllw_zmm_k1z_zmmm512_imm8, I32 => EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, I64 => EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8)
        }
        Prim::Ushr => {
            by_type!(ty; I16 => EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8, I32 => EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8, I64 => EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8)
        }
        _ => {
            by_type!(ty; I16 => EVEX_Vpsraw_zmm_k1z_zmmm512_imm8, I32 => EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8, I64 => EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8)
        }
    }
}

/// The lanes of the second operand where the mask is set, of the first elsewhere.
pub(super) fn blend(bits: u32) -> Form {
    let code = match bits {
        8 => EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512,
        16 => EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512,
        32 => EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32,
        _ => EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64,
    };
    vector(code, bits)
}

/// A register moved, in lanes of so many bits.
pub(super) fn move_lanes(bits: u32) -> Form {
    let code = match bits {
        8 => EVEX_Vmovdqu8_zmm_k1z_zmmm512,
        16 => EVEX_Vmovdqu16_zmm_k1z_zmmm512,
        32 => EVEX_Vmovdqu32_zmm_k1z_zmmm512,
        _ => EVEX_Vmovdqu64_zmm_k1z_zmmm512,
    };
    form(code, ZMM, Memory::Whole)
}

/// One element of memory in all lanes.
pub(super) fn broadcast(bits: u32) -> Form {
    let code = match bits {
        8 => EVEX_Vpbroadcastb_zmm_k1z_xmmm8,
        16 => EVEX_Vpbroadcastw_zmm_k1z_xmmm16,
        32 => EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        _ => EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
    };
    form(code, [Size::Zmm, Size::Xmm, Size::Xmm], Memory::Whole)
}

/// Loads and stores of so many bytes, at least 8, in lanes of so many bits. Under a mask, of 8 bytes as of 16.
pub(super) fn load(bytes: u32, bits: u32, masked: bool) -> Form {
    let (code, size) = match (bytes, bits) {
        (0..=8, _) if !masked => (EVEX_Vmovq_xmm_xmmm64, Size::Xmm),
        (0..=16, 8) => (EVEX_Vmovdqu8_xmm_k1z_xmmm128, Size::Xmm),
        (0..=16, 16) => (EVEX_Vmovdqu16_xmm_k1z_xmmm128, Size::Xmm),
        (0..=16, 32) => (EVEX_Vmovdqu32_xmm_k1z_xmmm128, Size::Xmm),
        (0..=16, _) => (EVEX_Vmovdqu64_xmm_k1z_xmmm128, Size::Xmm),
        (17..=32, 8) => (EVEX_Vmovdqu8_ymm_k1z_ymmm256, Size::Ymm),
        (17..=32, 16) => (EVEX_Vmovdqu16_ymm_k1z_ymmm256, Size::Ymm),
        (17..=32, 32) => (EVEX_Vmovdqu32_ymm_k1z_ymmm256, Size::Ymm),
        (17..=32, _) => (EVEX_Vmovdqu64_ymm_k1z_ymmm256, Size::Ymm),
        (_, 8) => (EVEX_Vmovdqu8_zmm_k1z_zmmm512, Size::Zmm),
        (_, 16) => (EVEX_Vmovdqu16_zmm_k1z_zmmm512, Size::Zmm),
        (_, 32) => (EVEX_Vmovups_zmm_k1z_zmmm512, Size::Zmm),
        _ => (EVEX_Vmovupd_zmm_k1z_zmmm512, Size::Zmm),
    };
    form(code, [size; 3], Memory::Whole)
}

/// See [`load`].
pub(super) fn store(bytes: u32, bits: u32, masked: bool) -> Form {
    let (code, size) = match (bytes, bits) {
        (0..=8, _) if !masked => (EVEX_Vmovq_xmmm64_xmm, Size::Xmm),
        (0..=16, 8) => (EVEX_Vmovdqu8_xmmm128_k1z_xmm, Size::Xmm),
        (0..=16, 16) => (EVEX_Vmovdqu16_xmmm128_k1z_xmm, Size::Xmm),
        (0..=16, 32) => (EVEX_Vmovdqu32_xmmm128_k1z_xmm, Size::Xmm),
        (0..=16, _) => (EVEX_Vmovdqu64_xmmm128_k1z_xmm, Size::Xmm),
        (17..=32, 8) => (EVEX_Vmovdqu8_ymmm256_k1z_ymm, Size::Ymm),
        (17..=32, 16) => (EVEX_Vmovdqu16_ymmm256_k1z_ymm, Size::Ymm),
        (17..=32, 32) => (EVEX_Vmovdqu32_ymmm256_k1z_ymm, Size::Ymm),
        (17..=32, _) => (EVEX_Vmovdqu64_ymmm256_k1z_ymm, Size::Ymm),
        (_, 8) => (EVEX_Vmovdqu8_zmmm512_k1z_zmm, Size::Zmm),
        (_, 16) => (EVEX_Vmovdqu16_zmmm512_k1z_zmm, Size::Zmm),
        (_, 32) => (EVEX_Vmovups_zmmm512_k1z_zmm, Size::Zmm),
        _ => (EVEX_Vmovupd_zmmm512_k1z_zmm, Size::Zmm),
    };
    form(code, [size; 3], Memory::Whole)
}

/// Lanes of two registers, the second and third operand, picked by the first, which the result replaces.
pub(super) fn pick(bits: u32) -> Form {
    if bits == 32 {
        vector(EVEX_Vpermi2ps_zmm_k1z_zmm_zmmm512b32, 32)
    } else {
        vector(EVEX_Vpermi2pd_zmm_k1z_zmm_zmmm512b64, 64)
    }
}

/// Lanes of a register, the second operand, picked by the first.
pub(super) fn pick_one(bits: u32) -> Form {
    if bits == 32 {
        vector(EVEX_Vpermps_zmm_k1z_zmm_zmmm512b32, 32)
    } else {
        vector(EVEX_Vpermpd_zmm_k1z_zmm_zmmm512b64, 64)
    }
}

/// The result replaces the first operand: `second * first + third`, `first * third + second`, `second * third + first`.
pub(super) fn fma(ty: PrimType) -> [Form; 3] {
    if ty == F32 {
        [
            vector(EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er, 32),
            vector(EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er, 32),
            vector(EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er, 32),
        ]
    } else {
        [
            vector(EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er, 64),
            vector(EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er, 64),
            vector(EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er, 64),
        ]
    }
}

/// The lesser (immediate 4) or greater (5) of two floats, the lesser of zeros being -0; of a number and a quiet NaN the number.
pub(super) fn range(ty: PrimType) -> Form {
    if ty == F32 {
        vector(EVEX_Vrangeps_zmm_k1z_zmm_zmmm512b32_imm8_sae, 32)
    } else {
        vector(EVEX_Vrangepd_zmm_k1z_zmm_zmmm512b64_imm8_sae, 64)
    }
}

/// Products of the lower halves of 64-bit lanes.
pub(super) fn wide_product(signed: bool) -> Form {
    vector(if signed { EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64 } else { EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64 }, 64)
}

/// Any function of three bits, which the immediate tabulates: with 0xca the second where the first is 1, else the third.
pub(super) fn ternary_logic() -> Form {
    vector(EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8, 32)
}

/// The second mask without the first.
pub(super) fn and_not_masks() -> Form {
    masks(VEX_Kandnq_kr_kr_kr)
}

/// Where two masks are equal; everywhere, of a mask and itself.
pub(super) fn equal_masks() -> Form {
    masks(VEX_Kxnorq_kr_kr_kr)
}

/// The top bits of bytes.
pub(super) fn mask_of_bytes() -> Form {
    form(EVEX_Vpmovb2m_kr_zmm, [Size::Mask, Size::Zmm, Size::Zmm], Memory::No)
}
