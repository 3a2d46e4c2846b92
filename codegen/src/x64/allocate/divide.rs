//! Division of integers that are the same in all lanes: one scalar division, for the reciprocals of invariants.

use super::super::assembler::AsmOperand;
use super::super::forms::Size;
use super::super::frame::POINTERS;
use super::super::inst::MachineInst;
use super::super::set::Set;
use super::{Allocator, name};
use iced_x86::{Code, Register};
use ndjit_ir::PrimType;

impl Allocator<'_> {
    pub(super) fn divide(&mut self, inst: &MachineInst, ty: PrimType, at: u32) {
        let (Some(result), &[x, y]) = (inst.result, &inst.args[..]) else { return };
        let [x, y] = [x, y].map(|v| self.in_register(v, at));
        self.release(inst, at);
        let to = self.define(result, at, None);
        let register = AsmOperand::Register;
        let (low, high) = (register(Register::RAX), register(Register::RDX));
        let (divisor, by_zero) = (register(POINTERS.scratch), register(POINTERS.count));
        let set = self.set();
        let (from_vector, to_vector) = match set {
            Set::Avx512 => (Code::EVEX_Vmovq_rm64_xmm, Code::EVEX_Vmovq_xmm_rm64),
            Set::Avx2 => (Code::VEX_Vmovq_rm64_xmm, Code::VEX_Vmovq_xmm_rm64),
        };
        let xmm = |n: u8| register(name(n, Size::Xmm));
        // The division's registers have the index and a pointer. Nothing here reads the frame.
        self.code.add(Code::Push_r64, &[low]);
        self.code.add(Code::Push_r64, &[high]);
        self.code.add(from_vector, &[low, xmm(x)]);
        self.code.add(from_vector, &[divisor, xmm(y)]);
        if ty != PrimType::I64 {
            for word in [low, divisor] {
                // The first lane.
                self.code.add(Code::Shl_rm64_imm8, &[word, AsmOperand::Immediate8(64 - ty.bits() as u8)]);
                self.code.add(Code::Shr_rm64_imm8, &[word, AsmOperand::Immediate8(64 - ty.bits() as u8)]);
            }
        }
        // Only 0 is below 1: its mask is all ones, and makes the divisor 1.
        self.code.add(Code::Cmp_rm64_imm32, &[divisor, AsmOperand::Immediate32(1)]);
        self.code.add(Code::Sbb_r64_rm64, &[by_zero, by_zero]);
        self.code.add(Code::Sub_r64_rm64, &[divisor, by_zero]);
        let high_word = register(Register::EDX);
        self.code.add(Code::Xor_rm32_r32, &[high_word, high_word]);
        if ty == PrimType::I64 {
            self.code.add(Code::Div_rm64, &[divisor]);
        } else {
            // Older processors take several times as long for words of 64 bits (Agner Fog, instruction tables, `DIV`).
            self.code.add(Code::Div_rm32, &[register(Register::R10D)]);
        }
        self.code.add(Code::Not_rm64, &[by_zero]);
        self.code.add(Code::And_r64_rm64, &[low, by_zero]);
        self.code.add(to_vector, &[xmm(to), low]);
        self.code.add(Code::Pop_r64, &[high]);
        self.code.add(Code::Pop_r64, &[low]);
        let splat = match (set, ty.bits()) {
            (Set::Avx512, 8) => Code::EVEX_Vpbroadcastb_zmm_k1z_xmmm8,
            (Set::Avx512, 16) => Code::EVEX_Vpbroadcastw_zmm_k1z_xmmm16,
            (Set::Avx512, 32) => Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32,
            (Set::Avx512, _) => Code::EVEX_Vpbroadcastq_zmm_k1z_xmmm64,
            (Set::Avx2, 8) => Code::VEX_Vpbroadcastb_ymm_xmmm8,
            (Set::Avx2, 16) => Code::VEX_Vpbroadcastw_ymm_xmmm16,
            (Set::Avx2, 32) => Code::VEX_Vpbroadcastd_ymm_xmmm32,
            (Set::Avx2, _) => Code::VEX_Vpbroadcastq_ymm_xmmm64,
        };
        self.code.add(splat, &[register(name(to, Size::whole(set))), xmm(to)]);
        self.defined(result);
    }
}
