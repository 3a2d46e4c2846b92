//! Bodies as machine instructions on virtual registers.
//!
//! A block has units of as many lanes as a register has of the widest type. Each instruction of a body is made for all units
//! before the next one, so that independent chains interleave. A value equal in all lanes is shared by all units.

use super::folds::{Folded, Folds};
use super::forms::{self, InstForm};
use super::inst::{Base, If, InvariantAddress, MachineInst, MachineInstKind, RegClass, Sign, V, Values};
use super::moves;
use super::set::Set;
use crate::clif::constants::ConstantPool;
use crate::clif::{Cell, Located};
use ndjit_ir::PrimType;
use ndjit_ir::body::{Body, InstKind, LookupTable, Prim, Reg};
use ndjit_ir::loops::Access;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The truth table of `a | (b & c)`.
const OR_AND: u8 = 0xf8;

/// The value of a body's register.
#[derive(Clone, Debug)]
pub(super) enum SelectedValue {
    /// One value for each unit.
    Units(SmallVec<[V; 4]>),
    /// The same value in all lanes.
    Same(V),
    /// A constant.
    Const(u64),
    /// A word of this input, not loaded yet.
    Input(usize),
}

/// The selection of existing lanes in a partial unit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tail {
    /// By masks.
    Masked {
        /// One bit per lane.
        lanes: V,
        /// Two bits per lane: those of the first register of pairs, and of the second.
        pairs: [V; 2],
    },
    /// By their number: loads and stores take [parts](super::inst::PartialUnit). Missing lanes have values of others.
    Counted,
}

/// An input or output in the innermost loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub operand: usize,
    pub access: Access,
    /// The body's register of its first word.
    pub first: usize,
    /// For indices, the frame's memory of the lanes' distances from the first of a block.
    pub indices: Option<i32>,
    /// Whether it has every other element: the first words of pairs.
    pub alternate: bool,
}

/// Constants used so far.
#[derive(Default)]
pub(super) struct ConstantTable {
    pub constants: ConstantPool,
    places: FxHashMap<InvariantAddress, V>,
}

impl ConstantTable {
    /// The value at this location.
    pub(super) fn at(&mut self, values: &mut Values, place: InvariantAddress) -> V {
        *self.places.entry(place).or_insert_with(|| values.make_known(RegClass::Vector, place))
    }

    /// A constant in all lanes.
    fn splat(&mut self, set: Set, values: &mut Values, ty: PrimType, bits: u64) -> V {
        let place = match set {
            Set::Avx512 => InvariantAddress {
                base: Base::Constants,
                offset: self.constants.splat(ty, bits),
                broadcast: Some(ty.bits()),
            },
            // AVX2 reads memory only in whole registers.
            Set::Avx2 => {
                let bytes = [Cell::splat(ty, bits).0; 2].concat();
                InvariantAddress { base: Base::Constants, offset: self.constants.vector(&bytes), broadcast: None }
            }
        };
        self.at(values, place)
    }
}

/// A body during selection.
pub(super) struct Select<'a> {
    pub set: Set,
    pub values: &'a mut Values,
    pub known: &'a mut ConstantTable,
    pub insts: Vec<MachineInst>,
    /// Units of a block.
    pub units: usize,
    /// Lanes of a unit.
    pub lanes: u32,
    pub tail: Option<Tail>,
    pub located: Located,
}

impl Select<'_> {
    /// Selects `insts` of `body`. `env` has the operands of all earlier registers and receives those of the results; `None` if
    /// an instruction is for other code generators.
    pub(super) fn insts(
        &mut self,
        body: &Body,
        insts: &[ndjit_ir::body::Inst],
        env: &mut Vec<SelectedValue>,
        inputs: &[Stream],
        noted: bool,
    ) -> Option<()> {
        let folds = Folds::of(self.set, body);
        for inst in insts {
            if folds.spares(inst) {
                // It is never read.
                env.push(SelectedValue::Const(0));
                continue;
            }
            let folded = folds.folded(inst);
            let read = folded.map_or(&inst.args[..], |(_, args)| args);
            for &arg in read {
                self.load_first(arg, env, inputs);
            }
            if noted {
                self.located = Located::Register(inst.first);
            }
            let args: SmallVec<[SelectedValue; 3]> = read.iter().map(|a| env[a.index()].clone()).collect();
            if let Some((folded, _)) = folded {
                env.push(self.folded(folded, body.ty(inst.first), &args));
                continue;
            }
            match &inst.kind {
                InstKind::Const(bits) => env.push(SelectedValue::Const(*bits)),
                InstKind::Prim(prim) => {
                    let from = body.ty(inst.args[inst.args.len() - 1]);
                    env.push(self.prim(*prim, from, body.ty(inst.first), &args)?);
                }
                InstKind::Table(table) => env.push(self.look_up(table, &args[0])?),
                InstKind::If(inner) => env.extend(self.if_any(inner, &args)?),
                InstKind::Repeat { .. } | InstKind::Gather { .. } => return None,
            }
        }
        Some(())
    }

    /// Loads the input of a register, unless it is loaded.
    pub(super) fn load_first(&mut self, reg: Reg, env: &mut [SelectedValue], inputs: &[Stream]) {
        if let SelectedValue::Input(input) = env[reg.index()] {
            let stream = &inputs[input];
            self.located = Located::Register(Reg::from_index(stream.first));
            for (word, operand) in self.load(stream).into_iter().enumerate() {
                env[stream.first + word] = operand;
            }
        }
    }

    /// Adds an instruction; returns its result.
    pub(super) fn make(&mut self, class: RegClass, kind: MachineInstKind, args: &[V]) -> V {
        self.make_under(class, kind, args, None, None)
    }

    /// Adds an instruction with an immediate, whose result is 0 in masked-out lanes.
    pub(super) fn make_under(
        &mut self,
        class: RegClass,
        kind: MachineInstKind,
        args: &[V],
        mask: Option<V>,
        immediate: Option<u8>,
    ) -> V {
        let result = self.values.make(class);
        self.insts.push(MachineInst {
            kind,
            result: Some(result),
            args: args.into(),
            mask,
            zeroing: mask.is_some(),
            immediate,
            located: self.located,
        });
        result
    }

    pub(super) fn vector(&mut self, form: InstForm, args: &[V]) -> V {
        self.make(RegClass::Vector, MachineInstKind::Plain(form), args)
    }

    /// An instruction on vectors with an immediate.
    pub(super) fn vector_by(&mut self, form: InstForm, args: &[V], immediate: u8) -> V {
        self.make_under(RegClass::Vector, MachineInstKind::Plain(form), args, None, Some(immediate))
    }

    /// A constant in all lanes.
    pub(super) fn constant(&mut self, ty: PrimType, bits: u64) -> V {
        self.known.splat(self.set, self.values, ty, bits)
    }

    /// A primitive of two operands and a result of one type.
    pub(super) fn both(&mut self, prim: Prim, ty: PrimType, x: V, y: V) -> Option<V> {
        self.one(prim, ty, ty, &[x, y], None)
    }

    /// The bits of a vector shifted by a count.
    pub(super) fn shifted(&mut self, prim: Prim, ty: PrimType, x: V, count: u8) -> Option<V> {
        self.one(prim, ty, ty, &[x, x], Some(u64::from(count)))
    }

    /// The value of an operand in a unit.
    pub(super) fn unit(&mut self, operand: &SelectedValue, ty: PrimType, unit: usize) -> V {
        match operand {
            SelectedValue::Units(units) => units[unit],
            SelectedValue::Same(v) => *v,
            SelectedValue::Const(bits) if ty == PrimType::Bool => self.truth(bits & 1 == 1),
            SelectedValue::Const(bits) => self.constant(ty, *bits),
            SelectedValue::Input(_) => unreachable!("inputs are loaded before their first use"),
        }
    }

    /// A bool, the same in all lanes.
    fn truth(&mut self, value: bool) -> V {
        if self.set == Set::Avx2 {
            return self.constant(PrimType::Bool, u64::from(value));
        }
        let all = self.make(RegClass::Mask, MachineInstKind::Plain(forms::equal_masks()), &[]);
        if value { all } else { self.make(RegClass::Mask, MachineInstKind::Plain(forms::and_not_masks()), &[all, all]) }
    }

    fn prim(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[SelectedValue]) -> Option<SelectedValue> {
        if prim == Prim::Bitcast {
            return Some(match &args[0] {
                // Constants are valid for any type of the same width.
                SelectedValue::Const(bits) => SelectedValue::Const(*bits),
                other => other.clone(),
            });
        }
        let same = args.iter().all(|a| matches!(a, SelectedValue::Same(_) | SelectedValue::Const(_)));
        if same && prim == Prim::Udiv {
            let [x, y] = [0, 1].map(|n| self.unit(&args[n], from, 0));
            return Some(SelectedValue::Same(self.make(RegClass::Vector, MachineInstKind::Divide(from), &[x, y])));
        }
        let units = if same { 1 } else { self.units };
        let mut made: SmallVec<[V; 4]> = SmallVec::new();
        for unit in 0..units {
            let values: SmallVec<[V; 3]> = (0..args.len())
                .map(|i| {
                    let ty = if prim == Prim::Select && i == 0 { PrimType::Bool } else { from };
                    self.unit(&args[i], ty, unit)
                })
                .collect();
            let count = match args[args.len() - 1] {
                SelectedValue::Const(bits) => Some(bits),
                _ => None,
            };
            made.push(self.one(prim, from, to, &values, count)?);
        }
        Some(if same { SelectedValue::Same(made[0]) } else { SelectedValue::Units(made) })
    }

    /// Several primitives in one instruction, on operands of the result's type.
    fn folded(&mut self, folded: Folded, ty: PrimType, args: &[SelectedValue]) -> SelectedValue {
        let same = args.iter().all(|a| matches!(a, SelectedValue::Same(_) | SelectedValue::Const(_)));
        let mut made: SmallVec<[V; 4]> = SmallVec::new();
        for unit in 0..if same { 1 } else { self.units } {
            let values: SmallVec<[V; 3]> = args.iter().map(|arg| self.unit(arg, ty, unit)).collect();
            let (kind, immediate) = match folded {
                Folded::Rotate(count) => (MachineInstKind::Plain(forms::rotate_by(self.set, ty)), Some(count)),
                Folded::Less => (MachineInstKind::Plain(forms::lesser(self.set, ty)), None),
                Folded::Greater => (MachineInstKind::Plain(forms::larger(self.set, ty)), None),
                Folded::NegatedFma => (MachineInstKind::Fma(ty, Sign::Minus), None),
                Folded::OrAnd => (MachineInstKind::Tied(forms::ternary_logic()), Some(OR_AND)),
            };
            made.push(self.make_under(RegClass::Vector, kind, &values, None, immediate));
        }
        if same { SelectedValue::Same(made[0]) } else { SelectedValue::Units(made) }
    }

    /// A primitive on one unit. `last` is its last operand, if constant.
    pub(super) fn one(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[V], last: Option<u64>) -> Option<V> {
        let class = RegClass::of(self.set, to);
        if matches!(prim, Prim::Shl | Prim::Ushr | Prim::Sshr)
            && let Some(count) = last
            && let Some(form) = forms::shift_by(self.set, prim, from)
        {
            return Some(self.make_under(
                class,
                MachineInstKind::Plain(form),
                &args[..1],
                None,
                Some(count.min(255) as u8),
            ));
        }
        if let Some((form, immediate)) = forms::of(self.set, prim, from, to) {
            let mut args: SmallVec<[V; 3]> = args.into();
            if commutes(prim) && self.values.get(args[0]).known.is_some() {
                args.swap(0, 1);
            }
            let result = self.make_under(class, MachineInstKind::Plain(form), &args, None, immediate);
            return if to == PrimType::Bool && from != to { self.compared(from, result) } else { Some(result) };
        }
        match prim {
            Prim::Fma => Some(self.make(class, MachineInstKind::Fma(from, Sign::Plus), args)),
            Prim::Fneg => {
                let sign = self.constant(from.as_int(), 1 << (from.bits() - 1));
                self.both(Prim::Xor, from.as_int(), args[0], sign)
            }
            Prim::Fabs => {
                let rest = self.constant(from.as_int(), from.mask() >> 1);
                self.both(Prim::And, from.as_int(), args[0], rest)
            }
            Prim::Not => {
                let ones = self.constant(PrimType::I32, u64::from(u32::MAX));
                self.both(Prim::Xor, PrimType::I32, args[0], ones)
            }
            Prim::Smulhi | Prim::Umulhi if from == PrimType::I32 => self.high_product(prim, args[0], args[1]),
            Prim::Smulhi | Prim::Umulhi if from == PrimType::I64 => self.wide_high_product(prim, args[0], args[1]),
            // Bytes have neither products nor shifts: they are computed in 16 bits.
            Prim::Imul | Prim::Smulhi | Prim::Umulhi if from == PrimType::I8 && self.fits(PrimType::I16) => {
                let extended = if prim == Prim::Smulhi { Prim::Sext } else { Prim::Zext };
                let x = self.one(extended, PrimType::I8, PrimType::I16, &args[..1], None)?;
                let y = self.one(extended, PrimType::I8, PrimType::I16, &args[1..], None)?;
                let mut result = self.both(Prim::Imul, PrimType::I16, x, y)?;
                if prim != Prim::Imul {
                    result = self.shifted(Prim::Ushr, PrimType::I16, result, 8)?;
                }
                self.one(Prim::Itrunc, PrimType::I16, PrimType::I8, &[result], None)
            }
            Prim::Shl | Prim::Ushr | Prim::Sshr if from.bits() < 32 => self.narrow_shift(prim, from, args, last),
            Prim::Sshr => self.signed_shift(args, last),
            _ => match self.set {
                Set::Avx512 => self.several_of_avx512(prim, from, to, args),
                Set::Avx2 => self.several_of_avx2(prim, from, to, args),
            },
        }
    }

    /// Returns `true` if a register has as many lanes of a type as a unit.
    pub(super) fn fits(&self, ty: PrimType) -> bool {
        self.lanes * ty.bits() <= self.set.bits()
    }

    /// Shifts of bytes, and of 16 bits without instructions, in the narrowest lanes with shifts.
    fn narrow_shift(&mut self, prim: Prim, ty: PrimType, args: &[V], count: Option<u64>) -> Option<V> {
        let by_one = count.is_some() || self.set == Set::Avx512;
        let wide = if ty == PrimType::I8 && by_one { PrimType::I16 } else { PrimType::I32 };
        if !self.fits(wide) {
            return None;
        }
        let extended = if prim == Prim::Sshr { Prim::Sext } else { Prim::Zext };
        let x = self.one(extended, ty, wide, &args[..1], None)?;
        // The count of a shift is unsigned. AVX-512's is in a register, constant or not.
        let result = match count.filter(|_| self.set == Set::Avx2) {
            Some(count) => self.shifted(prim, wide, x, count.min(255) as u8)?,
            None => {
                let y = self.one(Prim::Zext, ty, wide, &args[1..], None)?;
                self.both(prim, wide, x, y)?
            }
        };
        self.one(Prim::Itrunc, wide, ty, &[result], None)
    }

    fn look_up(&mut self, table: &Arc<LookupTable>, index: &SelectedValue) -> Option<SelectedValue> {
        if !matches!(table.ty.bits(), 32 | 64) || !self.fits(table.ty) {
            return None;
        }
        let offset = self.known.constants.table(table);
        let last = self.constant(PrimType::I32, table.values.len() as u64 - 1);
        let same = matches!(index, SelectedValue::Same(_) | SelectedValue::Const(_));
        let mut made: SmallVec<[V; 4]> = SmallVec::new();
        for unit in 0..if same { 1 } else { self.units } {
            let index = self.unit(index, PrimType::I32, unit);
            let inside = self.one(Prim::Umin, PrimType::I32, PrimType::I32, &[index, last], None)?;
            made.push(self.make(RegClass::Vector, MachineInstKind::Gather(table.ty, offset), &[inside]));
        }
        Some(if same { SelectedValue::Same(made[0]) } else { SelectedValue::Units(made) })
    }

    /// Runs the inner body, as a cold path, if any lane's mask is set.
    fn if_any(&mut self, inner: &Body, args: &[SelectedValue]) -> Option<Vec<SelectedValue>> {
        let types: Vec<PrimType> = inner.output_types().collect();
        let (defaults, inputs) = args[1..].split_at(types.len());
        let same = args.iter().all(|a| matches!(a, SelectedValue::Same(_) | SelectedValue::Const(_)));
        let mut made: Vec<SmallVec<[V; 4]>> = vec![smallvec![]; types.len()];
        for unit in 0..if same { 1 } else { self.units } {
            let mask = self.unit(&args[0], PrimType::Bool, unit);
            let any = match self.tail {
                // Missing lanes do not take the cold path.
                Some(Tail::Masked { lanes, .. }) => self.both(Prim::And, PrimType::Bool, mask, lanes)?,
                Some(Tail::Counted) | None => mask,
            };
            let results: Vec<(V, V)> = types
                .iter()
                .zip(defaults)
                .map(|(&ty, default)| {
                    let default = self.unit(default, ty, unit);
                    (self.values.make(RegClass::of(self.set, ty)), default)
                })
                .collect();
            let mut env: Vec<SelectedValue> = inputs
                .iter()
                .zip(inner.input_types())
                .map(|(input, &ty)| match input {
                    SelectedValue::Const(bits) => SelectedValue::Const(*bits),
                    other => SelectedValue::Units(smallvec![self.unit(other, ty, unit)]),
                })
                .collect();
            let outside = std::mem::take(&mut self.insts);
            let units = std::mem::replace(&mut self.units, 1);
            let done = self.insts(inner, &inner.insts, &mut env, &[], false);
            if done.is_some() {
                self.change(inner, &env, &results, any)?;
            }
            self.units = units;
            let cold = std::mem::replace(&mut self.insts, outside);
            done?;
            for (made, &(result, _)) in made.iter_mut().zip(&results) {
                made.push(result);
            }
            self.insts.push(MachineInst {
                kind: MachineInstKind::If(Box::new(If { lanes: self.lanes, results, cold })),
                result: None,
                args: smallvec![any],
                mask: None,
                zeroing: false,
                immediate: None,
                located: self.located,
            });
        }
        let made = made
            .into_iter()
            .map(|units| if same { SelectedValue::Same(units[0]) } else { SelectedValue::Units(units) });
        Some(made.collect())
    }

    /// The results of a cold path become its outputs in the lanes of the mask.
    fn change(&mut self, inner: &Body, env: &[SelectedValue], results: &[(V, V)], any: V) -> Option<()> {
        for (&output, &(result, _)) in inner.outputs.iter().zip(results) {
            let ty = inner.ty(output);
            let output = self.unit(&env[output.index()], ty, 0);
            let (kind, args, mask): (MachineInstKind, SmallVec<[V; 3]>, _) = match self.set {
                Set::Avx512 if ty != PrimType::Bool => {
                    (MachineInstKind::Tied(moves::move_lanes(ty.bits())), smallvec![result, output], Some(any))
                }
                Set::Avx512 | Set::Avx2 => {
                    let chosen = self.one(Prim::Select, ty, ty, &[any, output, result], None)?;
                    // The result keeps its register until then.
                    (MachineInstKind::Copy, smallvec![chosen, result], None)
                }
            };
            self.insts.push(MachineInst {
                kind,
                result: Some(result),
                args,
                mask,
                zeroing: false,
                immediate: None,
                located: self.located,
            });
        }
        Some(())
    }
}

fn commutes(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::Fadd
            | Prim::Fmul
            | Prim::Iadd
            | Prim::Imul
            | Prim::Smulhi
            | Prim::Umulhi
            | Prim::Smin
            | Prim::Smax
            | Prim::Umin
            | Prim::Umax
            | Prim::And
            | Prim::Or
            | Prim::Xor
            | Prim::Feq
            | Prim::Fne
            | Prim::Ieq
            | Prim::Ine
    )
}
