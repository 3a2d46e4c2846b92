//! Machine instructions of primitives: for each primitive and type each set's instruction on a whole register, as data.

use super::inst::Sign;
use super::set::Set;
use iced_x86::Code::{self, *};
use ndjit_ir::PrimType::{self, *};
use ndjit_ir::body::Prim;

/// A machine instruction on vectors or masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InstForm {
    pub code: Code,
    /// The sizes of its operands, result first.
    pub operands: [Size; 3],
    /// The memory form of its last operand.
    pub memory: MemoryOperand,
}

/// The size of an operand's register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Xmm,
    Ymm,
    Zmm,
    Mask,
}

impl Size {
    /// The size of a set's register for a whole, half, or quarter and less; given in AVX-512's sizes.
    pub(super) const fn of(self, set: Set) -> Size {
        match (set, self) {
            (Set::Avx2, Size::Zmm) => Size::Ymm,
            (Set::Avx2, Size::Ymm) => Size::Xmm,
            (Set::Avx2, Size::Xmm | Size::Mask) | (Set::Avx512, _) => self,
        }
    }

    /// A whole register.
    pub(super) const fn whole(set: Set) -> Size {
        Size::Zmm.of(set)
    }
}

/// The memory form of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryOperand {
    No,
    /// A vector.
    Whole,
    /// A vector, or one element of this many bits broadcast to all lanes.
    Broadcast(u32),
}

pub(super) const fn form(code: Code, operands: [Size; 3], memory: MemoryOperand) -> InstForm {
    InstForm { code, operands, memory }
}

/// On vectors. AVX-512 also broadcasts elements of 32 and 64 bits from memory.
pub(super) const fn vector(set: Set, code: Code, bits: u32) -> InstForm {
    let memory = match set {
        Set::Avx512 if bits >= 32 => MemoryOperand::Broadcast(bits),
        Set::Avx512 | Set::Avx2 => MemoryOperand::Whole,
    };
    form(code, [Size::whole(set); 3], memory)
}

const fn masks(code: Code) -> InstForm {
    form(code, [Size::Mask; 3], MemoryOperand::No)
}

/// A row of a table: the instruction of AVX-512, that of AVX2, `_` if there is none.
macro_rules! code {
    ($set:expr, $wide:ident | _) => {
        match $set {
            Set::Avx512 => Some($wide),
            Set::Avx2 => None,
        }
    };
    ($set:expr, $wide:ident | $narrow:ident) => {
        match $set {
            Set::Avx512 => Some($wide),
            Set::Avx2 => Some($narrow),
        }
    };
}

/// The form of a type in one of the rows.
macro_rules! by_type {
    ($set:expr, $ty:expr; $($variant:ident => $wide:ident | $narrow:tt),* $(,)?) => {
        match $ty {
            $($variant => code!($set, $wide | $narrow).map(|code| vector($set, code, $variant.bits())),)*
            _ => None,
        }
    };
}

/// From vectors of one size to another, in AVX-512's sizes.
macro_rules! convert {
    ($set:expr, $wide:ident | $narrow:tt, $to:ident, $from:ident) => {
        code!($set, $wide | $narrow).map(|code| {
            let from = Size::$from.of($set);
            form(code, [Size::$to.of($set), from, from], MemoryOperand::No)
        })
    };
}

/// The form of a one-instruction primitive, with its immediate; [`select`](super::select) makes others of several.
pub(super) fn of(set: Set, prim: Prim, from: PrimType, to: PrimType) -> Option<(InstForm, Option<u8>)> {
    if prim.signature() == ndjit_ir::body::PrimSignature::Compare {
        return compare(set, prim, from);
    }
    let from = match (set, from) {
        (Set::Avx512, Bool) => return of_masks(prim).map(|form| (form, None)),
        // Lanes of ones or zeros.
        (Set::Avx2, Bool) => I32,
        _ => from,
    };
    let immediate = match prim {
        Prim::Fround => Some(8),
        Prim::Ffloor => Some(9),
        Prim::Fceil => Some(10),
        Prim::Ftrunc => Some(11),
        _ => None,
    };
    let form = match prim {
        Prim::Fadd => by_type!(set, from;
            F32 => EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er | VEX_Vaddps_ymm_ymm_ymmm256,
            F64 => EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er | VEX_Vaddpd_ymm_ymm_ymmm256),
        Prim::Fsub => by_type!(set, from;
            F32 => EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er | VEX_Vsubps_ymm_ymm_ymmm256,
            F64 => EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er | VEX_Vsubpd_ymm_ymm_ymmm256),
        Prim::Fmul => by_type!(set, from;
            F32 => EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er | VEX_Vmulps_ymm_ymm_ymmm256,
            F64 => EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er | VEX_Vmulpd_ymm_ymm_ymmm256),
        Prim::Fdiv => by_type!(set, from;
            F32 => EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er | VEX_Vdivps_ymm_ymm_ymmm256,
            F64 => EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er | VEX_Vdivpd_ymm_ymm_ymmm256),
        Prim::Fsqrt => by_type!(set, from;
            F32 => EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er | VEX_Vsqrtps_ymm_ymmm256,
            F64 => EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er | VEX_Vsqrtpd_ymm_ymmm256),
        Prim::Ffloor | Prim::Fceil | Prim::Ftrunc | Prim::Fround => by_type!(set, from;
            F32 => EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae | VEX_Vroundps_ymm_ymmm256_imm8,
            F64 => EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae | VEX_Vroundpd_ymm_ymmm256_imm8),
        Prim::Iadd => by_type!(set, from;
            I8 => EVEX_Vpaddb_zmm_k1z_zmm_zmmm512 | VEX_Vpaddb_ymm_ymm_ymmm256,
            I16 => EVEX_Vpaddw_zmm_k1z_zmm_zmmm512 | VEX_Vpaddw_ymm_ymm_ymmm256,
            I32 => EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpaddd_ymm_ymm_ymmm256,
            I64 => EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64 | VEX_Vpaddq_ymm_ymm_ymmm256),
        Prim::Isub => by_type!(set, from;
            I8 => EVEX_Vpsubb_zmm_k1z_zmm_zmmm512 | VEX_Vpsubb_ymm_ymm_ymmm256,
            I16 => EVEX_Vpsubw_zmm_k1z_zmm_zmmm512 | VEX_Vpsubw_ymm_ymm_ymmm256,
            I32 => EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpsubd_ymm_ymm_ymmm256,
            I64 => EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64 | VEX_Vpsubq_ymm_ymm_ymmm256),
        Prim::Imul => by_type!(set, from;
            I16 => EVEX_Vpmullw_zmm_k1z_zmm_zmmm512 | VEX_Vpmullw_ymm_ymm_ymmm256,
            I32 => EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 | VEX_Vpmulld_ymm_ymm_ymmm256,
            I64 => EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64 | _),
        Prim::Smulhi => by_type!(set, from;
            I16 => EVEX_Vpmulhw_zmm_k1z_zmm_zmmm512 | VEX_Vpmulhw_ymm_ymm_ymmm256),
        Prim::Umulhi => by_type!(set, from;
            I16 => EVEX_Vpmulhuw_zmm_k1z_zmm_zmmm512 | VEX_Vpmulhuw_ymm_ymm_ymmm256),
        Prim::Smin => by_type!(set, from;
            I8 => EVEX_Vpminsb_zmm_k1z_zmm_zmmm512 | VEX_Vpminsb_ymm_ymm_ymmm256,
            I16 => EVEX_Vpminsw_zmm_k1z_zmm_zmmm512 | VEX_Vpminsw_ymm_ymm_ymmm256,
            I32 => EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpminsd_ymm_ymm_ymmm256,
            I64 => EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64 | _),
        Prim::Smax => by_type!(set, from;
            I8 => EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512 | VEX_Vpmaxsb_ymm_ymm_ymmm256,
            I16 => EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512 | VEX_Vpmaxsw_ymm_ymm_ymmm256,
            I32 => EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpmaxsd_ymm_ymm_ymmm256,
            I64 => EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64 | _),
        Prim::Umin => by_type!(set, from;
            I8 => EVEX_Vpminub_zmm_k1z_zmm_zmmm512 | VEX_Vpminub_ymm_ymm_ymmm256,
            I16 => EVEX_Vpminuw_zmm_k1z_zmm_zmmm512 | VEX_Vpminuw_ymm_ymm_ymmm256,
            I32 => EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32 | VEX_Vpminud_ymm_ymm_ymmm256,
            I64 => EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64 | _),
        Prim::Umax => by_type!(set, from;
            I8 => EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512 | VEX_Vpmaxub_ymm_ymm_ymmm256,
            I16 => EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512 | VEX_Vpmaxuw_ymm_ymm_ymmm256,
            I32 => EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32 | VEX_Vpmaxud_ymm_ymm_ymmm256,
            I64 => EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64 | _),
        // Counts of the width and more give 0, or the sign, as the primitives do.
        Prim::Shl => by_type!(set, from;
            I16 => EVEX_Vpsllvw_zmm_k1z_zmm_zmmm512 | _,
            I32 => EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpsllvd_ymm_ymm_ymmm256,
            I64 => EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64 | VEX_Vpsllvq_ymm_ymm_ymmm256),
        Prim::Ushr => by_type!(set, from;
            I16 => EVEX_Vpsrlvw_zmm_k1z_zmm_zmmm512 | _,
            I32 => EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpsrlvd_ymm_ymm_ymmm256,
            I64 => EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64 | VEX_Vpsrlvq_ymm_ymm_ymmm256),
        Prim::Sshr => by_type!(set, from;
            I16 => EVEX_Vpsravw_zmm_k1z_zmm_zmmm512 | _,
            I32 => EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpsravd_ymm_ymm_ymmm256,
            I64 => EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64 | _),
        Prim::And => by_type!(set, from;
            I8 => EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpand_ymm_ymm_ymmm256,
            I16 => EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpand_ymm_ymm_ymmm256,
            I32 => EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 | VEX_Vpand_ymm_ymm_ymmm256,
            I64 => EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64 | VEX_Vpand_ymm_ymm_ymmm256),
        Prim::Or => by_type!(set, from;
            I8 => EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 | VEX_Vpor_ymm_ymm_ymmm256,
            I16 => EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 | VEX_Vpor_ymm_ymm_ymmm256,
            I32 => EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 | VEX_Vpor_ymm_ymm_ymmm256,
            I64 => EVEX_Vporq_zmm_k1z_zmm_zmmm512b64 | VEX_Vpor_ymm_ymm_ymmm256),
        Prim::Xor => by_type!(set, from;
            I8 => EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 | VEX_Vpxor_ymm_ymm_ymmm256,
            I16 => EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 | VEX_Vpxor_ymm_ymm_ymmm256,
            I32 => EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 | VEX_Vpxor_ymm_ymm_ymmm256,
            I64 => EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64 | VEX_Vpxor_ymm_ymm_ymmm256),
        Prim::Sext => match (from, to) {
            (I8, I16) => convert!(set, EVEX_Vpmovsxbw_zmm_k1z_ymmm256 | VEX_Vpmovsxbw_ymm_xmmm128, Zmm, Ymm),
            (I8, I32) => convert!(set, EVEX_Vpmovsxbd_zmm_k1z_xmmm128 | VEX_Vpmovsxbd_ymm_xmmm64, Zmm, Xmm),
            (I8, I64) => convert!(set, EVEX_Vpmovsxbq_zmm_k1z_xmmm64 | VEX_Vpmovsxbq_ymm_xmmm32, Zmm, Xmm),
            (I16, I32) => convert!(set, EVEX_Vpmovsxwd_zmm_k1z_ymmm256 | VEX_Vpmovsxwd_ymm_xmmm128, Zmm, Ymm),
            (I16, I64) => convert!(set, EVEX_Vpmovsxwq_zmm_k1z_xmmm128 | VEX_Vpmovsxwq_ymm_xmmm64, Zmm, Xmm),
            (I32, I64) => convert!(set, EVEX_Vpmovsxdq_zmm_k1z_ymmm256 | VEX_Vpmovsxdq_ymm_xmmm128, Zmm, Ymm),
            _ => None,
        },
        Prim::Zext => match (from, to) {
            (I8, I16) => convert!(set, EVEX_Vpmovzxbw_zmm_k1z_ymmm256 | VEX_Vpmovzxbw_ymm_xmmm128, Zmm, Ymm),
            (I8, I32) => convert!(set, EVEX_Vpmovzxbd_zmm_k1z_xmmm128 | VEX_Vpmovzxbd_ymm_xmmm64, Zmm, Xmm),
            (I8, I64) => convert!(set, EVEX_Vpmovzxbq_zmm_k1z_xmmm64 | VEX_Vpmovzxbq_ymm_xmmm32, Zmm, Xmm),
            (I16, I32) => convert!(set, EVEX_Vpmovzxwd_zmm_k1z_ymmm256 | VEX_Vpmovzxwd_ymm_xmmm128, Zmm, Ymm),
            (I16, I64) => convert!(set, EVEX_Vpmovzxwq_zmm_k1z_xmmm128 | VEX_Vpmovzxwq_ymm_xmmm64, Zmm, Xmm),
            (I32, I64) => convert!(set, EVEX_Vpmovzxdq_zmm_k1z_ymmm256 | VEX_Vpmovzxdq_ymm_xmmm128, Zmm, Ymm),
            _ => None,
        },
        Prim::Itrunc => match (from, to) {
            (I16, I8) => convert!(set, EVEX_Vpmovwb_ymmm256_k1z_zmm | _, Ymm, Zmm),
            (I32, I8) => convert!(set, EVEX_Vpmovdb_xmmm128_k1z_zmm | _, Xmm, Zmm),
            (I64, I8) => convert!(set, EVEX_Vpmovqb_xmmm64_k1z_zmm | _, Xmm, Zmm),
            (I32, I16) => convert!(set, EVEX_Vpmovdw_ymmm256_k1z_zmm | _, Ymm, Zmm),
            (I64, I16) => convert!(set, EVEX_Vpmovqw_xmmm128_k1z_zmm | _, Xmm, Zmm),
            (I64, I32) => convert!(set, EVEX_Vpmovqd_ymmm256_k1z_zmm | _, Ymm, Zmm),
            _ => None,
        },
        Prim::Fpromote => convert!(set, EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae | VEX_Vcvtps2pd_ymm_xmmm128, Zmm, Ymm),
        Prim::Fdemote => convert!(set, EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er | VEX_Vcvtpd2ps_xmm_ymmm256, Ymm, Zmm),
        Prim::FromSint => match (from, to) {
            (I32, F32) => convert!(set, EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er | VEX_Vcvtdq2ps_ymm_ymmm256, Zmm, Zmm),
            (I32, F64) => convert!(set, EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er | VEX_Vcvtdq2pd_ymm_xmmm128, Zmm, Ymm),
            (I64, F32) => convert!(set, EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er | _, Ymm, Zmm),
            (I64, F64) => convert!(set, EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er | _, Zmm, Zmm),
            _ => None,
        },
        Prim::FromUint => match (from, to) {
            (I32, F32) => convert!(set, EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er | _, Zmm, Zmm),
            (I32, F64) => convert!(set, EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er | _, Zmm, Ymm),
            (I64, F32) => convert!(set, EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er | _, Ymm, Zmm),
            (I64, F64) => convert!(set, EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er | _, Zmm, Zmm),
            _ => None,
        },
        _ => None,
    };
    form.map(|form| (form, immediate))
}

/// The form of a primitive on bits of mask registers.
fn of_masks(prim: Prim) -> Option<InstForm> {
    let code = match prim {
        Prim::And => VEX_Kandq_kr_kr_kr,
        Prim::Or => VEX_Korq_kr_kr_kr,
        Prim::Xor => VEX_Kxorq_kr_kr_kr,
        Prim::Not => VEX_Knotq_kr_kr,
        _ => return None,
    };
    Some(masks(code))
}

/// Casts to integers as the machine rounds and saturates: out of range gives the smallest signed or the largest unsigned integer.
pub(super) fn to_int(set: Set, prim: Prim, from: PrimType, to: PrimType) -> Option<InstForm> {
    match (prim, from, to) {
        (Prim::ToSint, F32, I32) => {
            convert!(set, EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae | VEX_Vcvttps2dq_ymm_ymmm256, Zmm, Zmm)
        }
        (Prim::ToSint, F32, I64) => convert!(set, EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae | _, Zmm, Ymm),
        (Prim::ToSint, F64, I32) => {
            convert!(set, EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae | VEX_Vcvttpd2dq_xmm_ymmm256, Ymm, Zmm)
        }
        (Prim::ToSint, F64, I64) => convert!(set, EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae | _, Zmm, Zmm),
        (Prim::ToUint, F32, I32) => convert!(set, EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae | _, Zmm, Zmm),
        (Prim::ToUint, F32, I64) => convert!(set, EVEX_Vcvttps2uqq_zmm_k1z_ymmm256b32_sae | _, Zmm, Ymm),
        (Prim::ToUint, F64, I32) => convert!(set, EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae | _, Ymm, Zmm),
        (Prim::ToUint, F64, I64) => convert!(set, EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae | _, Zmm, Zmm),
        _ => None,
    }
}

/// Comparisons by a predicate. AVX2 has only those of floats, and [`equal`] and [`greater`].
fn compare(set: Set, prim: Prim, ty: PrimType) -> Option<(InstForm, Option<u8>)> {
    let form = match (ty, matches!(prim, Prim::Ult | Prim::Ule)) {
        (F32 | F64, _) => compare_floats(set, ty),
        _ if set == Set::Avx2 => return None,
        (I8, false) => compare_integers(EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8, ty),
        (I16, false) => compare_integers(EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8, ty),
        (I32, false) => compare_integers(EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, ty),
        (I64, false) => compare_integers(EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8, ty),
        (I8, true) => compare_integers(EVEX_Vpcmpub_kr_k1_zmm_zmmm512_imm8, ty),
        (I16, true) => compare_integers(EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8, ty),
        (I32, true) => compare_integers(EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, ty),
        (I64, true) => compare_integers(EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8, ty),
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
    Some((form, Some(predicate)))
}

const fn compare_integers(code: Code, ty: PrimType) -> InstForm {
    let memory = vector(Set::Avx512, code, ty.bits()).memory;
    form(code, [Size::Mask, Size::Zmm, Size::Zmm], memory)
}

/// Lanes of ones where integers are equal: AVX2's.
pub(super) fn equal(ty: PrimType) -> InstForm {
    let code = match ty.bits() {
        8 => VEX_Vpcmpeqb_ymm_ymm_ymmm256,
        16 => VEX_Vpcmpeqw_ymm_ymm_ymmm256,
        32 => VEX_Vpcmpeqd_ymm_ymm_ymmm256,
        _ => VEX_Vpcmpeqq_ymm_ymm_ymmm256,
    };
    vector(Set::Avx2, code, ty.bits())
}

/// Lanes of ones where the first signed integer is greater: AVX2's.
pub(super) fn greater(ty: PrimType) -> InstForm {
    let code = match ty.bits() {
        8 => VEX_Vpcmpgtb_ymm_ymm_ymmm256,
        16 => VEX_Vpcmpgtw_ymm_ymm_ymmm256,
        32 => VEX_Vpcmpgtd_ymm_ymm_ymmm256,
        _ => VEX_Vpcmpgtq_ymm_ymm_ymmm256,
    };
    vector(Set::Avx2, code, ty.bits())
}

/// Predicates of comparisons.
pub(super) const EQUAL: u8 = 0;
/// Either is NaN.
pub(super) const UNORDERED: u8 = 3;
/// Not less, of floats; neither is NaN.
pub(super) const GREATER_EQUAL: u8 = 0x1d;
/// Neither is NaN.
pub(super) const ORDERED: u8 = 7;

/// A comparison of floats: to bits of a mask register, or lanes of ones.
pub(super) fn compare_floats(set: Set, ty: PrimType) -> InstForm {
    let code = match (set, ty) {
        (Set::Avx512, F32) => EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
        (Set::Avx512, _) => EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
        (Set::Avx2, F32) => VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
        (Set::Avx2, _) => VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
    };
    let mut form = vector(set, code, ty.bits());
    if set == Set::Avx512 {
        form.operands[0] = Size::Mask;
    }
    form
}

/// Shifts by an immediate count, except those of 8 bits.
pub(super) fn shift_by(set: Set, prim: Prim, ty: PrimType) -> Option<InstForm> {
    let form = match prim {
        Prim::Shl => by_type!(set, ty;
            I16 => EVEX_Vpsllw_zmm_k1z_zmmm512_imm8 | VEX_Vpsllw_ymm_ymm_imm8,
            I32 => EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 | VEX_Vpslld_ymm_ymm_imm8,
            I64 => EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8 | VEX_Vpsllq_ymm_ymm_imm8),
        Prim::Ushr => by_type!(set, ty;
            I16 => EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8 | VEX_Vpsrlw_ymm_ymm_imm8,
            I32 => EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8 | VEX_Vpsrld_ymm_ymm_imm8,
            I64 => EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8 | VEX_Vpsrlq_ymm_ymm_imm8),
        _ => by_type!(set, ty;
            I16 => EVEX_Vpsraw_zmm_k1z_zmmm512_imm8 | VEX_Vpsraw_ymm_ymm_imm8,
            I32 => EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8 | VEX_Vpsrad_ymm_ymm_imm8,
            I64 => EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8 | _),
    };
    // AVX2 shifts only registers.
    form.map(|form| if set == Set::Avx2 { InstForm { memory: MemoryOperand::No, ..form } } else { form })
}

/// Rotations to the left by an immediate count, of lanes of 32 or 64 bits: AVX-512's.
pub(super) fn rotate_by(set: Set, ty: PrimType) -> InstForm {
    match ty {
        I64 => vector(set, EVEX_Vprolq_zmm_k1z_zmmm512b64_imm8, 64),
        _ => vector(set, EVEX_Vprold_zmm_k1z_zmmm512b32_imm8, 32),
    }
}

/// The result replaces the first operand: `second * first + third`, `first * third + second`, `second * third + first`, or with the
/// negated product.
pub(super) fn fma(set: Set, ty: PrimType, sign: Sign) -> [InstForm; 3] {
    let codes = match (set, sign, ty) {
        (Set::Avx512, Sign::Plus, F32) => [
            EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
            EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
            EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        ],
        (Set::Avx512, Sign::Plus, _) => [
            EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
            EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
            EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        ],
        (Set::Avx2, Sign::Plus, F32) => {
            [VEX_Vfmadd213ps_ymm_ymm_ymmm256, VEX_Vfmadd132ps_ymm_ymm_ymmm256, VEX_Vfmadd231ps_ymm_ymm_ymmm256]
        }
        (Set::Avx2, Sign::Plus, _) => {
            [VEX_Vfmadd213pd_ymm_ymm_ymmm256, VEX_Vfmadd132pd_ymm_ymm_ymmm256, VEX_Vfmadd231pd_ymm_ymm_ymmm256]
        }
        (Set::Avx512, Sign::Minus, F32) => [
            EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
            EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er,
            EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        ],
        (Set::Avx512, Sign::Minus, _) => [
            EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
            EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er,
            EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
        ],
        (Set::Avx2, Sign::Minus, F32) => {
            [VEX_Vfnmadd213ps_ymm_ymm_ymmm256, VEX_Vfnmadd132ps_ymm_ymm_ymmm256, VEX_Vfnmadd231ps_ymm_ymm_ymmm256]
        }
        (Set::Avx2, Sign::Minus, _) => {
            [VEX_Vfnmadd213pd_ymm_ymm_ymmm256, VEX_Vfnmadd132pd_ymm_ymm_ymmm256, VEX_Vfnmadd231pd_ymm_ymm_ymmm256]
        }
    };
    codes.map(|code| vector(set, code, ty.bits()))
}

/// The machine's minimum of two floats: the second one if either is NaN, or both are 0.
pub(super) fn lesser(set: Set, ty: PrimType) -> InstForm {
    let code = match (set, ty) {
        (Set::Avx512, F32) => EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae,
        (Set::Avx512, _) => EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae,
        (Set::Avx2, F32) => VEX_Vminps_ymm_ymm_ymmm256,
        (Set::Avx2, _) => VEX_Vminpd_ymm_ymm_ymmm256,
    };
    vector(set, code, ty.bits())
}

/// The machine's maximum, see [`lesser`].
pub(super) fn larger(set: Set, ty: PrimType) -> InstForm {
    let code = match (set, ty) {
        (Set::Avx512, F32) => EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae,
        (Set::Avx512, _) => EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae,
        (Set::Avx2, F32) => VEX_Vmaxps_ymm_ymm_ymmm256,
        (Set::Avx2, _) => VEX_Vmaxpd_ymm_ymm_ymmm256,
    };
    vector(set, code, ty.bits())
}

/// The minimum (immediate 4) or maximum (5) of two floats, with -0 below +0; of a number and a quiet NaN the number.
pub(super) fn range(ty: PrimType) -> InstForm {
    if ty == F32 {
        vector(Set::Avx512, EVEX_Vrangeps_zmm_k1z_zmm_zmmm512b32_imm8_sae, 32)
    } else {
        vector(Set::Avx512, EVEX_Vrangepd_zmm_k1z_zmm_zmmm512b64_imm8_sae, 64)
    }
}

/// Products of the lower halves of 64-bit lanes.
pub(super) fn wide_product(set: Set, signed: bool) -> InstForm {
    let code = match (set, signed) {
        (Set::Avx512, true) => EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64,
        (Set::Avx512, false) => EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64,
        (Set::Avx2, true) => VEX_Vpmuldq_ymm_ymm_ymmm256,
        (Set::Avx2, false) => VEX_Vpmuludq_ymm_ymm_ymmm256,
    };
    vector(set, code, 64)
}

/// Any function of three bits, tabulated in the immediate: with 0xca the second where the first is 1, else the third.
pub(super) fn ternary_logic() -> InstForm {
    vector(Set::Avx512, EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8, 32)
}

/// The second mask without the first.
pub(super) fn and_not_masks() -> InstForm {
    masks(VEX_Kandnq_kr_kr_kr)
}

/// Equality of two masks; all ones for a mask and itself.
pub(super) fn equal_masks() -> InstForm {
    masks(VEX_Kxnorq_kr_kr_kr)
}

/// The top bits of bytes.
pub(super) fn mask_of_bytes() -> InstForm {
    form(EVEX_Vpmovb2m_kr_zmm, [Size::Mask, Size::Zmm, Size::Zmm], MemoryOperand::No)
}
