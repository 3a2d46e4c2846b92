//! The definition of primitives and bodies, in Rust scalars: slow and obvious.
//!
//! Values are bits in the low end of a `u64`. A float operation that gives NaN gives the canonical quiet NaN here; other
//! engines may give any NaN.

use super::{Body, InstKind, Prim, Reg};
use crate::dtype::PrimType;

/// Evaluates one primitive. `types` are the operand types, `to` the result type, `args` the operands' bits.
pub fn eval_prim(prim: Prim, types: &[PrimType], to: PrimType, args: &[u64]) -> u64 {
    let ty = types[types.len() - 1];
    let (a, b) = (args[0], args.get(1).copied().unwrap_or(0));
    match prim {
        Prim::Select => return if a & 1 == 1 { b } else { args[2] },
        Prim::Bitcast | Prim::Mask | Prim::Zext => return a,
        Prim::Itrunc => return a & to.mask(),
        Prim::Sext => return signed(ty, a) as u64 & to.mask(),
        Prim::Fpromote => return canonical(f64::from(f32::from_bits(a as u32))),
        Prim::Fdemote => return canonical32(f64::from_bits(a) as f32),
        Prim::FromSint => return from_int(to, signed(ty, a).into()),
        Prim::FromUint => return from_int(to, a.into()),
        Prim::ToSint | Prim::ToUint => {
            let value = if ty == PrimType::F32 { f64::from(f32::from_bits(a as u32)) } else { f64::from_bits(a) };
            return match (prim, to) {
                (Prim::ToSint, PrimType::I32) => u64::from(value as i32 as u32),
                (Prim::ToSint, _) => value as i64 as u64,
                (_, PrimType::I32) => u64::from(value as u32),
                _ => value as u64,
            };
        }
        _ => {}
    }
    match ty {
        PrimType::F32 => {
            let f = |i: usize| f32::from_bits(args[i] as u32);
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            match prim {
                Prim::Fneg => u64::from((-x).to_bits()),
                Prim::Fabs => u64::from(x.abs().to_bits()),
                Prim::Feq => u64::from(x == y),
                Prim::Fne => u64::from(x != y),
                Prim::Flt => u64::from(x < y),
                Prim::Fle => u64::from(x <= y),
                Prim::Fadd => canonical32(x + y),
                Prim::Fsub => canonical32(x - y),
                Prim::Fmul => canonical32(x * y),
                Prim::Fdiv => canonical32(x / y),
                Prim::Fsqrt => canonical32(x.sqrt()),
                Prim::Fma => canonical32(x.mul_add(y, f(2))),
                Prim::Fmin => canonical32(minimum(x.into(), y.into()) as f32),
                Prim::Fmax => canonical32(-minimum(-f64::from(x), -f64::from(y)) as f32),
                Prim::Ffloor => canonical32(x.floor()),
                Prim::Fceil => canonical32(x.ceil()),
                Prim::Ftrunc => canonical32(x.trunc()),
                Prim::Fround => canonical32(x.round_ties_even()),
                other => unreachable!("{other} on f32: the verifier refuses it"),
            }
        }
        PrimType::F64 => {
            let f = |i: usize| f64::from_bits(args[i]);
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            match prim {
                Prim::Fneg => (-x).to_bits(),
                Prim::Fabs => x.abs().to_bits(),
                Prim::Feq => u64::from(x == y),
                Prim::Fne => u64::from(x != y),
                Prim::Flt => u64::from(x < y),
                Prim::Fle => u64::from(x <= y),
                Prim::Fadd => canonical(x + y),
                Prim::Fsub => canonical(x - y),
                Prim::Fmul => canonical(x * y),
                Prim::Fdiv => canonical(x / y),
                Prim::Fsqrt => canonical(x.sqrt()),
                Prim::Fma => canonical(x.mul_add(y, f(2))),
                Prim::Fmin => canonical(minimum(x, y)),
                Prim::Fmax => canonical(-minimum(-x, -y)),
                Prim::Ffloor => canonical(x.floor()),
                Prim::Fceil => canonical(x.ceil()),
                Prim::Ftrunc => canonical(x.trunc()),
                Prim::Fround => canonical(x.round_ties_even()),
                other => unreachable!("{other} on f64: the verifier refuses it"),
            }
        }
        PrimType::Bool | PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => {
            let (x, y) = (signed(ty, a), signed(ty, b));
            let width = u64::from(ty.bits());
            let bits = match prim {
                Prim::Iadd => a.wrapping_add(b),
                Prim::Isub => a.wrapping_sub(b),
                Prim::Imul => a.wrapping_mul(b),
                Prim::Smulhi => ((i128::from(x) * i128::from(y)) >> width) as u64,
                Prim::Umulhi => ((u128::from(a) * u128::from(b)) >> width) as u64,
                Prim::Sdiv => {
                    if y == 0 {
                        0
                    } else {
                        x.wrapping_div(y) as u64
                    }
                }
                Prim::Udiv => a.checked_div(b).unwrap_or(0),
                Prim::Srem => {
                    if y == 0 {
                        0
                    } else {
                        x.wrapping_rem(y) as u64
                    }
                }
                Prim::Urem => a.checked_rem(b).unwrap_or(0),
                Prim::Smin => x.min(y) as u64,
                Prim::Smax => x.max(y) as u64,
                Prim::Umin => a.min(b),
                Prim::Umax => a.max(b),
                Prim::Shl => {
                    if b >= width {
                        0
                    } else {
                        a << b
                    }
                }
                Prim::Ushr => {
                    if b >= width {
                        0
                    } else {
                        a >> b
                    }
                }
                Prim::Sshr => (x >> b.min(width - 1)) as u64,
                Prim::Ieq => u64::from(a == b),
                Prim::Ine => u64::from(a != b),
                Prim::Slt => u64::from(x < y),
                Prim::Sle => u64::from(x <= y),
                Prim::Ult => u64::from(a < b),
                Prim::Ule => u64::from(a <= b),
                Prim::And => a & b,
                Prim::Or => a | b,
                Prim::Xor => a ^ b,
                Prim::Not => !a,
                other => unreachable!("{other} on {ty}: the verifier refuses it"),
            };
            bits & to.mask()
        }
    }
}

/// The signed value of the low bits.
fn signed(ty: PrimType, bits: u64) -> i64 {
    let unused = 64 - ty.bits();
    (bits << unused) as i64 >> unused
}

fn canonical(x: f64) -> u64 {
    if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() }
}

fn canonical32(x: f32) -> u64 {
    u64::from(if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() })
}

fn from_int(to: PrimType, value: i128) -> u64 {
    if to == PrimType::F32 { canonical32(value as f32) } else { canonical(value as f64) }
}

/// IEEE-754-2019 minimum.
fn minimum(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        if x.is_sign_negative() { x } else { y }
    } else if x < y {
        x
    } else {
        y
    }
}

impl Body {
    /// Evaluates the body on input bits; returns the outputs' bits.
    pub fn eval(&self, inputs: &[u64]) -> Vec<u64> {
        let mut regs = Vec::new();
        self.eval_in(inputs, &mut regs);
        self.outputs.iter().map(|o| regs[o.index()]).collect()
    }

    /// Like [`Body::eval`], with every register's bits in `regs`: loops reuse the memory.
    pub fn eval_in(&self, inputs: &[u64], regs: &mut Vec<u64>) {
        self.eval_with(inputs, regs, &mut |_, _, _| 0);
    }

    /// Like [`Body::eval_in`]; `load` reads the word of a type at an address of a nest's input. Bodies of ops have no loads.
    pub fn eval_with(&self, inputs: &[u64], regs: &mut Vec<u64>, load: &mut dyn FnMut(usize, usize, PrimType) -> u64) {
        assert_eq!(inputs.len(), self.inputs, "inputs of a body");
        regs.clear();
        regs.extend_from_slice(inputs);
        for inst in &self.insts {
            let arg = |regs: &[u64], i: usize| regs[inst.args[i].index()];
            match &inst.kind {
                InstKind::Const(bits) => regs.push(*bits),
                InstKind::Prim(prim) => {
                    let n = inst.args.len();
                    let (mut types, mut values) = ([PrimType::Bool; 3], [0; 3]);
                    for i in 0..n {
                        types[i] = self.ty(inst.args[i]);
                        values[i] = arg(regs, i);
                    }
                    regs.push(eval_prim(*prim, &types[..n], self.ty(inst.first), &values[..n]));
                }
                InstKind::Table(table) => {
                    let index = (arg(regs, 0) as usize).min(table.values.len() - 1);
                    regs.push(table.values[index]);
                }
                InstKind::Gather { input, word } => {
                    let [address, position, last, step] = [0, 1, 2, 3].map(|i| arg(regs, i));
                    let row = (position as i64).min(last as i64).max(0) as u64;
                    let ty = self.ty(inst.first);
                    let before = u64::from(*word) * ty.bytes() as u64;
                    let at = address.wrapping_add(row.wrapping_mul(step)).wrapping_add(before);
                    regs.push(load(*input as usize, at as usize, ty));
                }
                InstKind::If(body) => {
                    let n = inst.results as usize;
                    let values = gather(regs, &inst.args);
                    let results = if values[0] & 1 == 1 { body.eval(&values[1 + n..]) } else { values[1..=n].to_vec() };
                    regs.extend(results);
                }
                InstKind::Repeat { max, state, body } => {
                    let mut values = gather(regs, &inst.args);
                    for _ in 0..*max {
                        let next = body.eval(&values);
                        if next[0] & 1 == 0 {
                            break;
                        }
                        values[..*state].copy_from_slice(&next[1..]);
                    }
                    regs.extend_from_slice(&values[..*state]);
                }
            }
        }
    }
}

fn gather(regs: &[u64], args: &[Reg]) -> Vec<u64> {
    args.iter().map(|a| regs[a.index()]).collect()
}
