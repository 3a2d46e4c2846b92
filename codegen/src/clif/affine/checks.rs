//! The code before a loop with affine rows: it evaluates their instructions for the first two steps, and checks that all rows are in
//! bounds in all steps.

use super::{AffineLoop, AffineRows, Evolution, LIMIT, MIN_STEPS, Within};
use crate::clif::AccumulatorLayout;
use crate::clif::lanes::{Emitter, LaneValue, Regs, scalar_type};
use crate::clif::memory::OperandStream;
use crate::clif::nest::{Args, NestEmitter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use ndjit_ir::PrimType;
use ndjit_ir::body::Reg;
use ndjit_ir::loops::Role;
use smallvec::SmallVec;

impl AffineRows {
    /// Emits the checks. Returns whether they hold, and the values of the loop; `None` if a `while` loop ends by another condition.
    pub(crate) fn enter(
        &self,
        nest: &NestEmitter<'_>,
        (b, args): (&mut FunctionBuilder<'_>, &mut Args),
        streams: &[OperandStream],
        (total, env, first): (Value, &[LaneValue], &[Regs]),
    ) -> Option<(Value, AffineLoop)> {
        let conditional = matches!(nest.form, AccumulatorLayout::While { .. });
        let ends = if conditional { Some(self.compared(nest)?) } else { None };
        let needed = self.needed(nest, first.len());
        let mut emitter = nest.emitter(b, args, 1);
        let evaluate = |emitter: &mut Emitter<'_, '_>, streams: &[OperandStream], state: Vec<LaneValue>| {
            let mut env = env.to_vec();
            env[..state.len()].clone_from_slice(&state);
            for inst in &nest.body.insts[nest.hoisted..] {
                match self.same[inst.first.index()] {
                    Some(same) => env.push(env[same.index()].clone()),
                    None if inst.result_regs().any(|reg| needed[reg.index()]) => {
                        emitter.insts(nest.body, std::slice::from_ref(inst), &mut env, streams);
                    }
                    None => env.extend(inst.result_regs().map(|_| LaneValue::Const(0))),
                }
            }
            for (reg, _) in needed.iter().enumerate().filter(|(_, needed)| **needed) {
                emitter.load_first(Reg::from_index(reg), &mut env, streams);
            }
            env
        };
        let types = nest.body.input_types();
        let state = first.iter().zip(types).map(|(regs, ty)| LaneValue::Lanes { regs: regs.clone(), bits: ty.bits() });
        let start = evaluate(&mut emitter, streams, state.collect());
        // Of those that are not affine nothing is used.
        let state = nest.body.outputs[..first.len()].iter().zip(&start).enumerate().map(|(n, (output, own))| {
            let affine = matches!(self.evolutions[n], Evolution::Affine(_));
            if affine { start[output.index()].clone() } else { own.clone() }
        });
        let state = state.collect();
        let mut moved = streams.to_vec();
        for stream in &mut moved {
            if let (Role::Index, Some(stride)) = (stream.access.role, stream.stride) {
                stream.pointer = emitter.b.ins().iadd(stream.pointer, stride);
            }
        }
        let next = evaluate(&mut emitter, &moved, state);
        let mut check = Checks { emitter, nest, envs: [start, next], holds: None };

        let all = ends.map(|(equal, compared)| check.steps(equal, compared));
        let goes_on = all.map(|all| check.emitter.b.ins().icmp(IntCC::UnsignedGreaterThan, all, total));
        let total = all.map_or(total, |all| check.emitter.b.ins().umin(all, total));
        check.unsigned_below(total, MIN_STEPS, LIMIT);
        let span = check.emitter.b.ins().iadd_imm_s(total, -1);
        // A `while` loop evaluates its condition once more.
        let last = if ends.is_some() { total } else { span };
        for &(reg, within) in &self.within {
            check.within(reg, within, last);
        }
        for reg in ends.iter().flat_map(|(_, compared)| compared) {
            check.within(*reg, Within::Signed, last);
        }
        let live = self.live(nest, first.len());
        let last =
            (0..first.len()).map(|n| (self.known(n) && !live[n]).then(|| check.after(Reg::from_index(n), total)));
        let mut steps = AffineLoop {
            last: last.collect(),
            total,
            goes_on,
            end: None,
            bases: Vec::with_capacity(self.accesses.len()),
            rows: Vec::with_capacity(self.accesses.len()),
            distances: vec![None; self.ids],
        };
        let mut checked: SmallVec<[usize; 4]> = SmallVec::new();
        for access in &self.accesses {
            let rows = &streams[access.input..];
            let bytes = rows[0].access.dtype.bytes() as i64;
            if !checked.contains(&access.input) {
                checked.push(access.input);
                let dense = check.emitter.b.ins().icmp_imm_s(IntCC::Equal, rows[2].pointer, bytes);
                check.and(dense);
            }
            let (row, distance) = check.row(access.row, rows[1].pointer, span);
            let offset = check.emitter.b.ins().imul_imm_s(row, bytes);
            steps.bases.push(check.emitter.b.ins().iadd(rows[0].pointer, offset));
            steps.rows.push(row);
            if let Evolution::Affine(id) = access.evolution {
                steps.distances[id].get_or_insert(distance);
            }
        }
        // The offset counts the steps.
        let counts = self.offsets(&steps).next();
        if let Some((id, distance)) = counts {
            let moves = check.emitter.b.ins().icmp_imm_s(IntCC::NotEqual, distance, 0);
            check.and(moves);
            steps.end = Some((id, check.emitter.b.ins().imul(distance, total)));
        }
        Some((check.holds?, steps))
    }
}

/// Checks being emitted.
struct Checks<'a, 'e, 'f> {
    emitter: Emitter<'e, 'f>,
    nest: &'a NestEmitter<'a>,
    /// The registers of the first two steps.
    envs: [Vec<LaneValue>; 2],
    holds: Option<Value>,
}

impl Checks<'_, '_, '_> {
    fn and(&mut self, holds: Value) {
        self.holds = Some(match self.holds {
            Some(before) => self.emitter.b.ins().band(before, holds),
            None => holds,
        });
    }

    /// Checks that an integer is at least a number and below another.
    fn unsigned_below(&mut self, value: Value, from: i64, to: i64) {
        let moved = self.emitter.b.ins().iadd_imm_s(value, -from);
        let holds = self.emitter.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, moved, to - from);
        self.and(holds);
    }

    /// The value of a register in the first step, and its distance to that of the second, as 64-bit integers.
    fn course(&mut self, reg: Reg, signed: bool) -> (Value, Value) {
        let ty = self.nest.body.ty(reg);
        let [first, second] = [0, 1].map(|step| self.emitter.regs(&self.envs[step][reg.index()], ty, ty.bits())[0]);
        let distance = self.emitter.b.ins().isub(second, first);
        if scalar_type(ty) == types::I64 {
            return (first, distance);
        }
        let distance = self.emitter.b.ins().sextend(types::I64, distance);
        let first = match signed {
            true => self.emitter.b.ins().sextend(types::I64, first),
            false => self.emitter.b.ins().uextend(types::I64, first),
        };
        (first, distance)
    }

    /// An accumulator after some steps.
    fn after(&mut self, reg: Reg, steps: Value) -> Value {
        let ty = self.nest.body.ty(reg);
        let [first, second] = [0, 1].map(|step| self.emitter.regs(&self.envs[step][reg.index()], ty, ty.bits())[0]);
        let distance = self.emitter.b.ins().isub(second, first);
        let steps = match scalar_type(ty) {
            types::I64 => steps,
            narrow => self.emitter.b.ins().ireduce(narrow, steps),
        };
        let moved = self.emitter.b.ins().imul(distance, steps);
        self.emitter.b.ins().iadd(first, moved)
    }

    fn at(&mut self, (first, distance): (Value, Value), steps: Value) -> Value {
        let moved = self.emitter.b.ins().imul(distance, steps);
        self.emitter.b.ins().iadd(first, moved)
    }

    /// Checks a register in the first step and the last, the same number of steps later.
    fn within(&mut self, reg: Reg, within: Within, steps: Value) {
        let ty = self.nest.body.ty(reg);
        let bits = ty.bits();
        let (first, distance) = self.course(reg, !matches!(within, Within::Unsigned));
        let last = self.at((first, distance), steps);
        match within {
            Within::Unsigned => self.unsigned_below(last, 0, 1 << bits),
            _ if ty == PrimType::I64 => {
                self.unsigned_below(first, -(1 << 61), 1 << 61);
                self.unsigned_below(distance, -LIMIT, LIMIT);
            }
            Within::Signed | Within::Above(_) | Within::Below(_) => {
                self.unsigned_below(last, -(1 << (bits - 1)), 1 << (bits - 1));
            }
        }
        let (limit, condition) = match within {
            Within::Above(limit) => (limit, IntCC::SignedGreaterThanOrEqual),
            Within::Below(limit) => (limit, IntCC::SignedLessThanOrEqual),
            Within::Signed | Within::Unsigned => return,
        };
        let (limit, _) = self.course(limit, true);
        for value in [first, last] {
            let holds = self.emitter.b.ins().icmp(condition, value, limit);
            self.and(holds);
        }
    }

    /// Checks the bounds of a row. Returns its first value and its distance from step to step.
    fn row(&mut self, reg: Reg, last: Value, steps: Value) -> (Value, Value) {
        let (first, distance) = self.course(reg, true);
        self.unsigned_below(distance, -LIMIT, LIMIT);
        let end = self.at((first, distance), steps);
        let rows = self.emitter.b.ins().iadd_imm_s(last, 1);
        for row in [first, end] {
            let holds = self.emitter.b.ins().icmp(IntCC::UnsignedLessThan, row, rows);
            self.and(holds);
        }
        (first, distance)
    }

    /// The number of steps until a value is no longer less than another, or less or equal.
    fn steps(&mut self, equal: i64, [x, y]: [Reg; 2]) -> Value {
        let ((x, along_x), (y, along_y)) = (self.course(x, true), self.course(y, true));
        for (value, distance) in [(x, along_x), (y, along_y)] {
            self.unsigned_below(value, -(1 << 61), 1 << 61);
            self.unsigned_below(distance, -LIMIT, LIMIT);
        }
        let gap = self.emitter.b.ins().isub(y, x);
        let gap = self.emitter.b.ins().iadd_imm_s(gap, equal);
        let closes = self.emitter.b.ins().isub(along_x, along_y);
        self.unsigned_below(gap, 1, LIMIT);
        self.unsigned_below(closes, 1, LIMIT);
        // A division by zero traps.
        let one = self.emitter.b.ins().iconst(types::I64, 1);
        let divisor = self.emitter.b.ins().smax(closes, one);
        let more = self.emitter.b.ins().iadd_imm_s(divisor, -1);
        let more = self.emitter.b.ins().iadd(gap, more);
        self.emitter.b.ins().udiv(more, divisor)
    }
}
