//! Bodies on a block of lanes: straight-line code, look-ups, `If` and `Repeat`.

use super::cold::is_long;
use super::lanes::{Emitter, LaneValue, Located, Regs, cells, lane_bits, scalar_type};
use super::memory::OperandStream;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use ndjit_ir::PrimType;
use ndjit_ir::body::{Body, Inst, InstKind, LookupTable, Prim, Reg};
use std::sync::Arc;

impl Emitter<'_, '_> {
    /// Emits `insts` of `body`. `env` has the operands of all earlier registers and receives those of the results.
    /// `inputs` are the arrays of the [`LaneValue::Input`]s in `env`.
    pub(super) fn insts(&mut self, body: &Body, insts: &[Inst], env: &mut Vec<LaneValue>, inputs: &[OperandStream]) {
        for inst in insts {
            for &arg in &inst.args {
                self.load_first(arg, env, inputs);
            }
            self.locate(Located::Register(inst.first));
            let args: Vec<LaneValue> = inst.args.iter().map(|a| env[a.index()].clone()).collect();
            match &inst.kind {
                InstKind::Const(bits) => env.push(LaneValue::Const(*bits)),
                InstKind::Prim(prim) => {
                    let from = body.ty(inst.args[inst.args.len() - 1]);
                    env.push(self.prim(*prim, from, body.ty(inst.first), &args));
                }
                InstKind::Table(table) => {
                    let in_range = bound(body, inst.args[0]) < table.values.len() as u64;
                    env.push(self.look_up(table, &args[0], in_range));
                }
                InstKind::Gather { input, word } => {
                    let (rows, ty) = (&inputs[*input as usize..], body.ty(inst.first));
                    // The verifier has gathers at the top level alone: registers are those of the whole body.
                    env.push(match &self.step {
                        Some(_) => self.gather_in_step((*input, *word), ty, rows, (inst.args[1], &args[1])),
                        None => self.gather_rows(rows, ty, *word, &args[1]),
                    });
                }
                InstKind::If(inner) => env.extend(self.if_any(inner, &args)),
                InstKind::Repeat { max, state, body: inner } => env.extend(self.repeat(inner, *max, *state, &args)),
            }
        }
    }

    /// Loads the input of a register, unless it is loaded.
    pub(super) fn load_first(&mut self, reg: Reg, env: &mut [LaneValue], inputs: &[OperandStream]) {
        if let LaneValue::Input(input) = env[reg.index()] {
            let stream = &inputs[input];
            self.locate(Located::Register(Reg::from_index(stream.first)));
            for (word, operand) in self.load(stream).into_iter().enumerate() {
                env[stream.first + word] = operand;
            }
        }
    }

    /// Emits an inner body, and returns its outputs.
    pub(super) fn call(&mut self, body: &Body, args: &[LaneValue]) -> Vec<LaneValue> {
        let mut env = args.to_vec();
        env.reserve(body.types.len() - args.len());
        // All instructions belong to the one with the inner body.
        let located = std::mem::replace(&mut self.located, false);
        self.insts(body, &body.insts, &mut env, &[]);
        self.located = located;
        body.outputs.iter().map(|o| env[o.index()].clone()).collect()
    }

    fn look_up(&mut self, table: &Arc<LookupTable>, index: &LaneValue, in_range: bool) -> LaneValue {
        let offset = self.constants.table(table);
        let last = table.values.len() as u64 - 1;
        let mut index = self.regs(index, PrimType::I32, 0);
        if !in_range {
            let limit = self.regs(&LaneValue::Const(last), PrimType::I32, 0);
            index = index.iter().zip(&limit).map(|(&i, &l)| self.b.ins().umin(i, l)).collect();
        }
        let indices = self.index_lanes(&index);
        let entry = |e: &mut Self, lane: usize| {
            let shift = i64::from(table.ty.bytes().trailing_zeros());
            let bytes = e.b.ins().ishl_imm_u(indices[lane], shift);
            let address = e.b.ins().iadd(e.constants_base, bytes);
            e.b.ins().load(scalar_type(table.ty), cells(), address, offset)
        };
        if self.lanes == 1 {
            let entry = entry(self, 0);
            return LaneValue::Lanes { regs: Regs::from_slice(&[entry]), bits: table.ty.bits() };
        }
        if table.ty != PrimType::Bool {
            return LaneValue::Lanes { regs: self.gather(table.ty, entry), bits: table.ty.bits() };
        }
        // The lanes have the index's width: a table of bools needs no lanes of bytes.
        let wide = |e: &mut Self, lane: usize| {
            let narrow = entry(e, lane);
            let wide = e.b.ins().uextend(types::I32, narrow);
            e.b.ins().ineg(wide)
        };
        LaneValue::Lanes { regs: self.gather(PrimType::I32, wide), bits: 32 }
    }

    /// Returns the lanes of an index as 64-bit integers.
    fn index_lanes(&mut self, index: &Regs) -> Vec<Value> {
        let block = self.b.current_block();
        if let Some((known_in, known, lanes)) = &self.looked_up
            && Some(*known_in) == block
            && known == index
        {
            return lanes.clone();
        }
        let lanes: Vec<Value> = if self.lanes == 1 {
            vec![self.b.ins().uextend(types::I64, index[0])]
        } else {
            index.iter().flat_map(|&reg| self.pairs_of_lanes(reg)).collect()
        };
        self.looked_up = block.map(|block| (block, index.clone(), lanes.clone()));
        lanes
    }

    /// Returns the four 32-bit lanes of a register as 64-bit integers, extracted in pairs: extraction costs more than
    /// integer arithmetic.
    fn pairs_of_lanes(&mut self, reg: Value) -> [Value; 4] {
        let pairs = self.bitcast(types::I64X2, reg);
        let [low, high] = [0, 1].map(|pair| self.b.ins().extractlane(pairs, pair));
        let halves = [low, high].map(|pair| {
            let narrow = self.b.ins().ireduce(types::I32, pair);
            [self.b.ins().uextend(types::I64, narrow), self.b.ins().ushr_imm_u(pair, 32)]
        });
        let [[a, b], [c, d]] = halves;
        [a, b, c, d]
    }

    /// Runs the inner body, as a cold path, if any lane's mask is set.
    fn if_any(&mut self, inner: &Body, args: &[LaneValue]) -> Vec<LaneValue> {
        let types: Vec<PrimType> = inner.output_types().collect();
        let (defaults, inputs) = args[1..].split_at(types.len());
        let bits = self.mask_bits(&args[0]).unwrap_or_else(|| self.narrowest_mask());
        let mask = self.regs(&args[0], PrimType::Bool, bits);
        let defaults: Vec<Regs> = defaults.iter().zip(&types).map(|(d, &ty)| self.regs(d, ty, bits)).collect();
        let (taken, merge) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(taken);
        let any = self.any(&mask);
        let otherwise = block_args(&defaults);
        self.b.ins().brif(any, taken, &[], merge, &otherwise);

        self.b.switch_to_block(taken);
        let merged: Vec<Regs> = if self.lanes > 1 && is_long(inner) {
            self.lane_by_lane(inner, inputs, (&mask, bits), &defaults)
        } else {
            let outputs = self.call(inner, inputs);
            let outputs = outputs.iter().zip(&types).map(|(output, &ty)| self.regs(output, ty, bits));
            let outputs: Vec<Regs> = outputs.collect();
            if self.lanes == 1 {
                outputs
            } else {
                let masks: Vec<Regs> = types.iter().map(|&ty| self.mask_to(&mask, bits, lane_bits(ty, bits))).collect();
                let chosen = masks.iter().zip(outputs.iter().zip(&defaults));
                chosen.map(|(mask, (output, default))| self.choose(mask, output, default)).collect()
            }
        };
        let merged = block_args(&merged);
        self.b.ins().jump(merge, &merged);
        self.b.switch_to_block(merge);
        types.iter().map(|&ty| self.param(merge, ty, bits)).collect()
    }

    /// Runs the inner body while any lane's condition is true; other lanes keep their state, so their condition stays
    /// false.
    fn repeat(&mut self, inner: &Body, max: u32, state: usize, args: &[LaneValue]) -> Vec<LaneValue> {
        if max == 0 {
            return args[..state].to_vec();
        }
        let types: Vec<PrimType> = inner.input_types()[..state].to_vec();
        let width = types.iter().find(|&&ty| ty != PrimType::Bool).map(|ty| ty.bits());
        let bits = width.unwrap_or_else(|| self.narrowest_mask());
        let (header, exit) = (self.b.create_block(), self.b.create_block());
        let initial: Vec<Regs> = args[..state].iter().zip(&types).map(|(a, &ty)| self.regs(a, ty, bits)).collect();
        let zero = self.b.ins().iconst(types::I32, 0);
        let mut first = vec![BlockArg::Value(zero)];
        first.extend(block_args(&initial));
        self.b.ins().jump(header, &first);

        self.b.switch_to_block(header);
        let trip = self.b.append_block_param(header, types::I32);
        let current: Vec<LaneValue> = types.iter().map(|&ty| self.param(header, ty, bits)).collect();
        let mut inputs = current.clone();
        inputs.extend_from_slice(&args[state..]);
        let outputs = self.call(inner, &inputs);
        let go_on = self.regs(&outputs[0], PrimType::Bool, bits);
        let mut next = Vec::with_capacity(state);
        for ((output, current), &ty) in outputs[1..].iter().zip(&current).zip(&types) {
            let (output, current) = (self.regs(output, ty, bits), self.regs(current, ty, bits));
            let mask = if self.lanes == 1 { go_on.clone() } else { self.mask_to(&go_on, bits, lane_bits(ty, bits)) };
            next.push(self.choose(&mask, &output, &current));
        }
        let trip = self.b.ins().iadd_imm_s(trip, 1);
        let any = self.any(&go_on);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, trip, i64::from(max));
        let again = if self.lanes == 1 {
            self.b.ins().band(any, more)
        } else {
            let no = self.b.ins().iconst(types::I8, 0);
            self.b.ins().select(any, more, no)
        };
        let result = block_args(&next);
        let mut back = vec![BlockArg::Value(trip)];
        back.extend_from_slice(&result);
        self.b.ins().brif(again, header, &back, exit, &result);
        self.b.switch_to_block(exit);
        types.iter().map(|&ty| self.param(exit, ty, bits)).collect()
    }

    /// Adds a parameter to `block` for every register of a value.
    fn param(&mut self, block: Block, ty: PrimType, mask: u32) -> LaneValue {
        let bits = lane_bits(ty, mask);
        let reg_type = self.reg_type(ty, bits);
        let regs = (0..self.count(bits)).map(|_| self.b.append_block_param(block, reg_type)).collect();
        LaneValue::Lanes { regs, bits }
    }
}

/// Returns the registers of values as arguments of a block.
pub(super) fn block_args(values: &[Regs]) -> Vec<BlockArg> {
    values.iter().flatten().map(|&v| BlockArg::Value(v)).collect()
}

/// Returns an upper bound of an unsigned register, derived only from its instruction.
fn bound(body: &Body, reg: Reg) -> u64 {
    let constant = |reg: Reg| match body.definition(reg).map(|i| &i.kind) {
        Some(InstKind::Const(bits)) => Some(*bits),
        _ => None,
    };
    let all = body.ty(reg).mask();
    match body.definition(reg) {
        Some(Inst { kind: InstKind::Const(bits), .. }) => *bits,
        Some(Inst { kind: InstKind::Prim(Prim::And), args, .. }) => {
            args.iter().filter_map(|&a| constant(a)).min().unwrap_or(all)
        }
        Some(Inst { kind: InstKind::Prim(Prim::Ushr), args, .. }) => {
            let count = constant(args[1]).unwrap_or(0);
            all.checked_shr(count.min(64) as u32).unwrap_or(0)
        }
        Some(Inst { kind: InstKind::Prim(Prim::Zext), args, .. }) => body.ty(args[0]).mask(),
        Some(Inst { kind: InstKind::Prim(Prim::Itrunc), args, .. }) => bound(body, args[0]).min(all),
        _ => all,
    }
}
