//! Long bodies of an `if`, run for each lane of the mask, one after the other.
//!
//! Such paths are rare. As a scalar loop over lanes, a long one costs a vector kernel neither registers nor compile time, so only
//! the common path limits the block's width: `cos` of `f32`, whose exact reduction of huge arguments is longer than the rest, is
//! 1.5 times as fast as with one register per block. Short bodies stay in lanes: special values may be frequent.

use super::lanes::{Emitter, LaneValue, Regs, lane_bits, scalar_type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types};
use ndjit_ir::PrimType;
use ndjit_ir::body::{Body, InstKind};

/// Returns `true` if the body of an `if` is long enough to run lane by lane.
pub(crate) fn is_long(inner: &Body) -> bool {
    let is_simple = |kind: &InstKind| matches!(kind, InstKind::Const(_) | InstKind::Prim(_));
    let code = inner.insts.iter().filter(|inst| !matches!(inst.kind, InstKind::Const(_))).count();
    code > 48 || !inner.insts.iter().all(|inst| is_simple(&inst.kind))
}

/// The lanes of a value on the stack, lane after lane.
struct Spilled {
    address: Value,
    ty: PrimType,
    /// The distance of lanes, in bits.
    bits: u32,
}

impl Emitter<'_, '_> {
    /// In vector code: the outputs of `inner` in the lanes of `mask`, and `defaults` in the others. All masks have lanes of `bits`
    /// bits.
    pub(super) fn lane_by_lane(
        &mut self,
        inner: &Body,
        inputs: &[LaneValue],
        (mask, bits): (&Regs, u32),
        defaults: &[Regs],
    ) -> Vec<Regs> {
        let asked = self.spill(mask, PrimType::Bool, bits);
        let types: Vec<PrimType> = inner.output_types().collect();
        let results: Vec<Spilled> =
            defaults.iter().zip(&types).map(|(regs, &ty)| self.spill(regs, ty, lane_bits(ty, bits))).collect();
        let inputs: Vec<(LaneValue, Option<Spilled>)> =
            inputs.iter().zip(inner.input_types()).map(|(input, &ty)| self.spill_input(input, ty)).collect();
        let lanes = std::mem::replace(&mut self.lanes, 1);

        let [header, body, next, done] = std::array::from_fn(|_| {
            let block = self.b.create_block();
            self.b.set_cold_block(block);
            block
        });
        let lane = self.b.append_block_param(header, types::I64);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(header, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(header);
        let is_asked = self.spilled_lane(&asked, lane);
        self.b.ins().brif(is_asked, body, &[], next, &[]);

        self.b.switch_to_block(body);
        let inputs: Vec<LaneValue> = inputs
            .into_iter()
            .map(|(operand, spilled)| match spilled {
                Some(spilled) => LaneValue::Lanes {
                    regs: Regs::from_slice(&[self.spilled_lane(&spilled, lane)]),
                    bits: spilled.ty.bits(),
                },
                None => operand,
            })
            .collect();
        let outputs = self.call(inner, &inputs);
        for (output, result) in outputs.iter().zip(&results) {
            let value = self.regs(output, result.ty, 0)[0];
            self.set_spilled_lane(result, lane, value);
        }
        self.b.ins().jump(next, &[]);

        self.b.switch_to_block(next);
        let following = self.b.ins().iadd_imm_s(lane, 1);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, following, i64::from(lanes));
        self.b.ins().brif(more, header, &[BlockArg::Value(following)], done, &[]);
        self.b.switch_to_block(done);
        self.lanes = lanes;
        results.iter().map(|result| self.reload(result)).collect()
    }

    fn spill(&mut self, regs: &Regs, ty: PrimType, bits: u32) -> Spilled {
        let slot =
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 16 * regs.len() as u32, 4));
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        for (i, &reg) in regs.iter().enumerate() {
            self.b.ins().store(stack(), reg, address, 16 * i as i32);
        }
        Spilled { address, ty, bits }
    }

    /// An input for scalar code: itself if equal in all lanes, else on the stack.
    fn spill_input(&mut self, input: &LaneValue, ty: PrimType) -> (LaneValue, Option<Spilled>) {
        match input {
            LaneValue::Lanes { regs, bits } => (input.clone(), Some(self.spill(regs, ty, *bits))),
            LaneValue::Splat(value) => {
                let lane = self.b.ins().extractlane(*value, 0);
                let lane = if ty == PrimType::Bool { self.b.ins().band_imm_u(lane, 1) } else { lane };
                (LaneValue::Lanes { regs: Regs::from_slice(&[lane]), bits: ty.bits() }, None)
            }
            LaneValue::Const(_) | LaneValue::Literal(_) | LaneValue::Input(_) => (input.clone(), None),
        }
    }

    /// Lane `lane` of a value, in its scalar form: the lowest bit of a mask.
    fn spilled_lane(&mut self, value: &Spilled, lane: Value) -> Value {
        let address = self.lane_address(value, lane);
        let word = self.b.ins().load(scalar_type(value.ty), stack(), address, 0);
        if value.ty == PrimType::Bool { self.b.ins().band_imm_u(word, 1) } else { word }
    }

    fn set_spilled_lane(&mut self, value: &Spilled, lane: Value, word: Value) {
        let address = self.lane_address(value, lane);
        let word = match (value.ty, value.bits) {
            (PrimType::Bool, 8) => self.b.ins().ineg(word),
            (PrimType::Bool, bits) => {
                let mask = self.b.ins().ineg(word);
                let int = Type::int(bits as u16).unwrap_or(types::I64);
                self.b.ins().sextend(int, mask)
            }
            _ => word,
        };
        self.b.ins().store(stack(), word, address, 0);
    }

    fn lane_address(&mut self, value: &Spilled, lane: Value) -> Value {
        let offset = self.b.ins().ishl_imm_u(lane, i64::from((value.bits / 8).trailing_zeros()));
        self.b.ins().iadd(value.address, offset)
    }

    fn reload(&mut self, value: &Spilled) -> Regs {
        let reg_type = self.reg_type(value.ty, value.bits);
        let count = self.count(value.bits) as i32;
        (0..count).map(|i| self.b.ins().load(reg_type, stack(), value.address, 16 * i)).collect()
    }
}

fn stack() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}
