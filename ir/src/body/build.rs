//! Building bodies: one method per primitive, with common subexpressions shared and constants folded.
//!
//! Folding uses the interpreter's definition of each primitive, so a folded body gives the same bits.

use super::eval::eval_prim;
use super::{Body, Inst, InstKind, LookupTable, Prim, Reg};
use crate::dtype::PrimType;
use crate::origin::StatementOrigin;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The identity of an instruction: kind, operands and result types.
type InstKey = (InstKind, SmallVec<[Reg; 3]>, SmallVec<[PrimType; 2]>);

/// Builds a [`Body`].
///
/// Methods panic on mismatched operand types: only this crate and passes over verified bodies build bodies, and tests build
/// every body.
#[derive(Default)]
pub struct BodyBuilder {
    body: Body,
    known: FxHashMap<InstKey, Reg>,
    constants: FxHashMap<Reg, u64>,
    origin: StatementOrigin,
}

impl BodyBuilder {
    /// A builder for a body with these inputs; their registers are `0..inputs.len()`.
    pub fn new(inputs: &[PrimType]) -> BodyBuilder {
        BodyBuilder {
            body: Body { inputs: inputs.len(), types: inputs.to_vec(), ..Body::default() },
            ..BodyBuilder::default()
        }
    }

    /// The input registers.
    pub fn inputs(&self) -> Vec<Reg> {
        (0..self.body.inputs).map(Reg::from_index).collect()
    }

    /// The type of a register.
    pub fn ty(&self, reg: Reg) -> PrimType {
        self.body.ty(reg)
    }

    /// The bits of a register, if constant.
    pub fn constant(&self, reg: Reg) -> Option<u64> {
        self.constants.get(&reg).copied()
    }

    /// Sets the origin of the next instructions.
    pub fn at(&mut self, origin: StatementOrigin) {
        self.origin = origin;
    }

    /// Ends the body. Unused instructions are dropped.
    pub fn finish(mut self, outputs: &[Reg]) -> Body {
        self.body.outputs = outputs.to_vec();
        self.body.eliminate_dead();
        self.body
    }

    fn push(&mut self, kind: InstKind, args: SmallVec<[Reg; 3]>, results: &[PrimType]) -> Reg {
        let first = Reg::from_index(self.body.types.len());
        self.body.types.extend_from_slice(results);
        self.body.insts.push(Inst { kind, args, first, results: results.len() as u32, origin: self.origin });
        first
    }

    fn push_shared(&mut self, kind: InstKind, args: SmallVec<[Reg; 3]>, results: &[PrimType]) -> Reg {
        let key = (kind, args, SmallVec::from_slice(results));
        if let Some(&reg) = self.known.get(&key) {
            return reg;
        }
        let reg = self.push(key.0.clone(), key.1.clone(), results);
        self.known.insert(key, reg);
        reg
    }

    /// A constant from bits in the low end of `bits`.
    pub fn bits(&mut self, ty: PrimType, bits: u64) -> Reg {
        let bits = bits & ty.mask();
        let reg = self.push_shared(InstKind::Const(bits), smallvec![], &[ty]);
        self.constants.insert(reg, bits);
        reg
    }

    /// An integer constant, wrapped to the type.
    pub fn int(&mut self, ty: PrimType, value: i64) -> Reg {
        assert!(ty.is_int(), "int constant of type {ty}");
        self.bits(ty, value as u64)
    }

    /// A float constant, rounded to the type.
    pub fn float(&mut self, ty: PrimType, value: f64) -> Reg {
        match ty {
            PrimType::F32 => self.bits(ty, u64::from((value as f32).to_bits())),
            PrimType::F64 => self.bits(ty, value.to_bits()),
            PrimType::Bool | PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => {
                panic!("float constant of type {ty}")
            }
        }
    }

    /// A `Bool` constant.
    pub fn bool(&mut self, value: bool) -> Reg {
        self.bits(PrimType::Bool, u64::from(value))
    }

    /// A primitive on registers. `to` is the result type of a conversion, `None` otherwise.
    pub fn prim(&mut self, prim: Prim, args: &[Reg], to: Option<PrimType>) -> Reg {
        let types: SmallVec<[PrimType; 3]> = args.iter().map(|&a| self.ty(a)).collect();
        let Some(ty) = prim.result(&types, to) else { panic!("{prim} does not take {types:?} -> {to:?}") };
        let known: Option<SmallVec<[u64; 3]>> = args.iter().map(|&a| self.constant(a)).collect();
        if let Some(values) = known {
            return self.bits(ty, eval_prim(prim, &types, ty, &values));
        }
        if prim == Prim::Select {
            match self.constant(args[0]) {
                Some(0) => return args[2],
                Some(_) => return args[1],
                None if args[1] == args[2] => return args[1],
                None => {}
            }
        }
        if let Some(sum) = self.sum_with_constant(prim, args) {
            return sum;
        }
        self.push_shared(InstKind::Prim(prim), SmallVec::from_slice(args), &[ty])
    }

    /// `(x ± a) ± b` as `x + c`, for integer constants.
    fn sum_with_constant(&mut self, prim: Prim, args: &[Reg]) -> Option<Reg> {
        let outer = self.addend(prim, args)?;
        let inner = self.body.definition(args[0])?;
        let InstKind::Prim(inner_prim) = inner.kind else { return None };
        let inner_args = inner.args.clone();
        let addend = self.addend(inner_prim, &inner_args)?.wrapping_add(outer);
        let ty = self.ty(args[0]);
        let addend = self.bits(ty, addend);
        Some(self.prim(Prim::Iadd, &[inner_args[0], addend], None))
    }

    /// The constant that an addition or subtraction adds, modulo 2^64.
    fn addend(&self, prim: Prim, args: &[Reg]) -> Option<u64> {
        let constant = self.constant(*args.get(1)?)?;
        match prim {
            Prim::Iadd => Some(constant),
            Prim::Isub => Some(constant.wrapping_neg()),
            _ => None,
        }
    }

    /// A conversion, or the operand itself if it has the type.
    fn convert(&mut self, prim: Prim, a: Reg, to: PrimType) -> Reg {
        if self.ty(a) == to { a } else { self.prim(prim, &[a], Some(to)) }
    }

    /// `table[min(index, len - 1)]`, `index` an unsigned `I32`.
    pub fn table(&mut self, ty: PrimType, values: &[u64], index: Reg) -> Reg {
        assert!(!values.is_empty() && self.ty(index) == PrimType::I32, "table look-up");
        let table = Arc::new(LookupTable { ty, values: values.to_vec() });
        self.push_shared(InstKind::Table(table), smallvec![index], &[ty])
    }

    /// Word `word`, of type `ty`, of an element of input `input` of a nest: see [`InstKind::Gather`].
    pub fn gather(&mut self, ty: PrimType, (input, word): (u32, u32), operands: [Reg; 4]) -> Reg {
        assert!(operands.iter().all(|&reg| self.ty(reg) == PrimType::I64), "operands of a gather");
        self.push_shared(InstKind::Gather { input, word }, SmallVec::from_slice(&operands), &[ty])
    }

    /// The registers that `then` computes from `args` where `mask` is true, else `defaults`. `then` gets a fresh builder and its
    /// input registers and returns as many registers as there are defaults.
    pub fn if_any(
        &mut self,
        mask: Reg,
        defaults: &[Reg],
        args: &[Reg],
        then: impl FnOnce(&mut BodyBuilder, &[Reg]) -> Vec<Reg>,
    ) -> Vec<Reg> {
        assert_eq!(self.ty(mask), PrimType::Bool, "mask of an If");
        let types: Vec<PrimType> = args.iter().map(|&a| self.ty(a)).collect();
        let mut inner = BodyBuilder::new(&types);
        let inputs = inner.inputs();
        let outputs = then(&mut inner, &inputs);
        let results: Vec<PrimType> = defaults.iter().map(|&d| self.ty(d)).collect();
        let given: Vec<PrimType> = outputs.iter().map(|&o| inner.ty(o)).collect();
        assert_eq!(given, results, "outputs of an If");
        let mut operands: SmallVec<[Reg; 3]> = smallvec![mask];
        operands.extend_from_slice(defaults);
        operands.extend_from_slice(args);
        let first = self.push_shared(InstKind::If(Arc::new(inner.finish(&outputs))), operands, &results);
        (0..results.len()).map(|i| Reg(first.0 + i as u32)).collect()
    }

    /// A bounded loop: at most `max` times, `step` maps (state, invariants) to (condition, next state); a false condition ends it.
    pub fn repeat(
        &mut self,
        max: u32,
        state: &[Reg],
        invariants: &[Reg],
        step: impl FnOnce(&mut BodyBuilder, &[Reg], &[Reg]) -> (Reg, Vec<Reg>),
    ) -> Vec<Reg> {
        let operands: SmallVec<[Reg; 3]> = state.iter().chain(invariants).copied().collect();
        let types: Vec<PrimType> = operands.iter().map(|&a| self.ty(a)).collect();
        let mut inner = BodyBuilder::new(&types);
        let inputs = inner.inputs();
        let (go_on, next) = step(&mut inner, &inputs[..state.len()], &inputs[state.len()..]);
        let results: Vec<PrimType> = state.iter().map(|&s| self.ty(s)).collect();
        let given: Vec<PrimType> = next.iter().map(|&o| inner.ty(o)).collect();
        assert_eq!(given, results, "state of a Repeat");
        assert_eq!(inner.ty(go_on), PrimType::Bool, "condition of a Repeat");
        let outputs: Vec<Reg> = std::iter::once(go_on).chain(next).collect();
        let kind = InstKind::Repeat { max, state: state.len(), body: Arc::new(inner.finish(&outputs)) };
        let first = self.push_shared(kind, operands, &results);
        (0..results.len()).map(|i| Reg(first.0 + i as u32)).collect()
    }

    /// Copies `body` into this one with its inputs bound to `args`; returns its outputs.
    pub fn inline(&mut self, body: &Body, args: &[Reg]) -> Vec<Reg> {
        assert_eq!(args.len(), body.inputs, "inputs of an inlined body");
        let mut map: Vec<Reg> = args.to_vec();
        map.resize(body.types.len(), Reg(u32::MAX));
        for inst in &body.insts {
            let operands: SmallVec<[Reg; 3]> = inst.args.iter().map(|a| map[a.index()]).collect();
            let ty = body.ty(inst.first);
            match &inst.kind {
                InstKind::Const(bits) => map[inst.first.index()] = self.bits(ty, *bits),
                InstKind::Prim(prim) => map[inst.first.index()] = self.prim(*prim, &operands, Some(ty)),
                InstKind::Table(_) | InstKind::Gather { .. } => {
                    map[inst.first.index()] = self.push_shared(inst.kind.clone(), operands, &[ty]);
                }
                InstKind::If(_) | InstKind::Repeat { .. } => {
                    let types: Vec<PrimType> = inst.result_regs().map(|r| body.ty(r)).collect();
                    let first = self.push_shared(inst.kind.clone(), operands, &types);
                    for (i, reg) in inst.result_regs().enumerate() {
                        map[reg.index()] = Reg(first.0 + i as u32);
                    }
                }
            }
        }
        body.outputs.iter().map(|o| map[o.index()]).collect()
    }
}

macro_rules! methods {
    ($($prim:ident $method:ident ($($arg:ident)*);)*) => {
        impl BodyBuilder { $(
            #[doc = concat!("The primitive `", stringify!($method), "`; see [`Prim::", stringify!($prim), "`].")]
            #[allow(clippy::should_implement_trait)]
            pub fn $method(&mut self, $($arg: Reg),*) -> Reg {
                self.prim(Prim::$prim, &[$($arg),*], None)
            }
        )* }
    };
}

methods! {
    Fadd fadd (a b); Fsub fsub (a b); Fmul fmul (a b); Fdiv fdiv (a b); Fsqrt fsqrt (a); Fma fma (a b c);
    Fneg fneg (a); Fabs fabs (a); Fmin fmin (a b); Fmax fmax (a b);
    Ffloor ffloor (a); Fceil fceil (a); Ftrunc ftrunc (a); Fround fround (a);
    Feq feq (a b); Fne fne (a b); Flt flt (a b); Fle fle (a b);
    Iadd iadd (a b); Isub isub (a b); Imul imul (a b); Smulhi smulhi (a b); Umulhi umulhi (a b);
    Sdiv sdiv (a b); Udiv udiv (a b); Srem srem (a b); Urem urem (a b);
    Smin smin (a b); Smax smax (a b); Umin umin (a b); Umax umax (a b);
    Shl shl (a b); Ushr ushr (a b); Sshr sshr (a b);
    Ieq ieq (a b); Ine ine (a b); Slt slt (a b); Sle sle (a b); Ult ult (a b); Ule ule (a b);
    And and (a b); Or or (a b); Xor xor (a b); Not not (a);
    Select select (mask a b);
}

macro_rules! conversions {
    ($($prim:ident $method:ident;)*) => {
        impl BodyBuilder { $(
            #[doc = concat!("The conversion `", stringify!($method), "` to type `to`, or `a` itself if it has that type; see [`Prim::",
                stringify!($prim), "`].")]
            pub fn $method(&mut self, a: Reg, to: PrimType) -> Reg {
                self.convert(Prim::$prim, a, to)
            }
        )* }
    };
}

conversions! {
    Bitcast bitcast; Sext sext; Zext zext; Itrunc itrunc; Mask mask; Fpromote fpromote; Fdemote fdemote;
    FromSint fromsint; FromUint fromuint; ToSint tosint; ToUint touint;
}

impl Body {
    /// Drops unused instructions, and renumbers registers.
    pub fn eliminate_dead(&mut self) {
        let mut live = vec![false; self.types.len()];
        live[..self.inputs].fill(true);
        for output in &self.outputs {
            live[output.index()] = true;
        }
        for inst in self.insts.iter().rev() {
            if inst.result_regs().any(|r| live[r.index()]) {
                for arg in &inst.args {
                    live[arg.index()] = true;
                }
            }
        }
        let mut map: Vec<Reg> = (0..self.types.len()).map(Reg::from_index).collect();
        let mut types = self.types[..self.inputs].to_vec();
        let old = std::mem::take(&mut self.types);
        self.insts.retain_mut(|inst| {
            if !inst.result_regs().any(|r| live[r.index()]) {
                return false;
            }
            for reg in inst.result_regs() {
                map[reg.index()] = Reg::from_index(types.len());
                types.push(old[reg.index()]);
            }
            inst.first = map[inst.first.index()];
            for arg in &mut inst.args {
                *arg = map[arg.index()];
            }
            true
        });
        for output in &mut self.outputs {
            *output = map[output.index()];
        }
        self.types = types;
    }
}
