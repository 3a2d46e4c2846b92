//! Bodies as machine instructions on virtual registers.
//!
//! A block has some units of as many lanes as the widest type has in a register. Each instruction of a body is made for all units
//! before the next one, so that independent chains stand side by side. What is the same in all lanes is one value for all units.

use super::forms::{self, Form};
use super::inst::{Base, Class, If, Inst, Kind, Place, V, Values};
use crate::clif::Located;
use crate::clif::constants::Constants;
use ndjit_ir::PrimType;
use ndjit_ir::body::{Body, InstKind, Prim, Reg, Table};
use ndjit_ir::loops::Access;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The value of a body's register.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// One value for each unit.
    Units(SmallVec<[V; 4]>),
    /// The same value in all lanes.
    Same(V),
    /// A constant.
    Const(u64),
    /// A word of this input, not loaded yet.
    Input(usize),
}

/// Lanes that are there, where a block is not whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    /// One bit for each lane.
    pub lanes: V,
    /// Two bits for each lane: those of the first register of pairs, and of the second.
    pub pairs: [V; 2],
}

/// An input or output in the innermost loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub operand: usize,
    pub access: Access,
    /// Its first word's register in the body.
    pub first: usize,
}

/// What constants have been asked for.
#[derive(Default)]
pub(super) struct Known {
    pub constants: Constants,
    places: FxHashMap<Place, V>,
}

impl Known {
    /// The value at this place.
    pub(super) fn at(&mut self, values: &mut Values, place: Place) -> V {
        *self.places.entry(place).or_insert_with(|| values.make_known(Class::Vector, place))
    }

    fn splat(&mut self, values: &mut Values, ty: PrimType, bits: u64) -> V {
        let offset = self.constants.splat(ty, bits);
        self.at(values, Place { base: Base::Constants, offset, broadcast: Some(ty.bits()) })
    }
}

/// A body on its way to instructions.
pub(super) struct Select<'a> {
    pub values: &'a mut Values,
    pub known: &'a mut Known,
    pub insts: Vec<Inst>,
    /// Units of a block.
    pub units: usize,
    /// Lanes of a unit.
    pub lanes: u32,
    pub tail: Option<Tail>,
    pub located: Located,
}

impl Select<'_> {
    /// Makes `insts` of `body`. `env` holds the operands of all registers before them and gets those of their results; `None` if
    /// there is something that other code generators do.
    pub(super) fn insts(
        &mut self,
        body: &Body,
        insts: &[ndjit_ir::body::Inst],
        env: &mut Vec<Operand>,
        inputs: &[Stream],
        noted: bool,
    ) -> Option<()> {
        for inst in insts {
            for &arg in &inst.args {
                self.load_first(arg, env, inputs);
            }
            if noted {
                self.located = Located::Register(inst.first);
            }
            let args: SmallVec<[Operand; 3]> = inst.args.iter().map(|a| env[a.index()].clone()).collect();
            match &inst.kind {
                InstKind::Const(bits) => env.push(Operand::Const(*bits)),
                InstKind::Prim(prim) => {
                    let from = body.ty(inst.args[inst.args.len() - 1]);
                    env.push(self.prim(*prim, from, body.ty(inst.first), &args)?);
                }
                InstKind::Table(table) => env.push(self.look_up(table, &args[0])?),
                InstKind::If(inner) => env.extend(self.if_any(inner, &args)?),
                InstKind::Repeat { .. } => return None,
            }
        }
        Some(())
    }

    /// Loads the input a register is a word of, if that has not been done.
    pub(super) fn load_first(&mut self, reg: Reg, env: &mut [Operand], inputs: &[Stream]) {
        if let Operand::Input(input) = env[reg.index()] {
            let stream = &inputs[input];
            self.located = Located::Register(Reg::from_index(stream.first));
            for (word, operand) in self.load(stream).into_iter().enumerate() {
                env[stream.first + word] = operand;
            }
        }
    }

    /// An instruction; its result.
    pub(super) fn make(&mut self, class: Class, kind: Kind, args: &[V]) -> V {
        self.make_under(class, kind, args, None, None)
    }

    /// An instruction with an immediate, whose result is 0 in lanes that the mask leaves out.
    pub(super) fn make_under(
        &mut self,
        class: Class,
        kind: Kind,
        args: &[V],
        mask: Option<V>,
        immediate: Option<u8>,
    ) -> V {
        let result = self.values.make(class);
        self.insts.push(Inst {
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

    fn vector(&mut self, form: Form, args: &[V]) -> V {
        self.make(Class::Vector, Kind::Plain(form), args)
    }

    /// `form` in the lanes of the mask, in others the first argument.
    fn merge(&mut self, form: Form, args: &[V], mask: V) -> V {
        let result = self.vector_tied(form, args);
        if let Some(last) = self.insts.last_mut() {
            last.mask = Some(mask);
        }
        result
    }

    fn vector_tied(&mut self, form: Form, args: &[V]) -> V {
        self.make(Class::Vector, Kind::Tied(form), args)
    }

    /// A constant in all lanes.
    pub(super) fn constant(&mut self, ty: PrimType, bits: u64) -> V {
        self.known.splat(self.values, ty, bits)
    }

    /// The value of an operand in a unit.
    pub(super) fn unit(&mut self, operand: &Operand, ty: PrimType, unit: usize) -> V {
        match operand {
            Operand::Units(units) => units[unit],
            Operand::Same(v) => *v,
            Operand::Const(bits) if ty == PrimType::Bool => {
                let class = Class::Mask;
                let all = self.make(class, Kind::Plain(forms::equal_masks()), &[]);
                if bits & 1 == 1 {
                    return all;
                }
                self.make(class, Kind::Plain(forms::and_not_masks()), &[all, all])
            }
            Operand::Const(bits) => self.constant(ty, *bits),
            Operand::Input(_) => unreachable!("inputs are loaded before their first use"),
        }
    }

    fn prim(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[Operand]) -> Option<Operand> {
        if prim == Prim::Bitcast {
            return Some(match &args[0] {
                // Constants stand for themselves, of any type as wide.
                Operand::Const(bits) => Operand::Const(*bits),
                other => other.clone(),
            });
        }
        let same = args.iter().all(|a| matches!(a, Operand::Same(_) | Operand::Const(_)));
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
                Operand::Const(bits) => Some(bits),
                _ => None,
            };
            made.push(self.one(prim, from, to, &values, count)?);
        }
        Some(if same { Operand::Same(made[0]) } else { Operand::Units(made) })
    }

    /// A primitive on one unit. `last` is its last operand, if that is constant.
    fn one(&mut self, prim: Prim, from: PrimType, to: PrimType, args: &[V], last: Option<u64>) -> Option<V> {
        let class = Class::of(to);
        if matches!(prim, Prim::Shl | Prim::Ushr | Prim::Sshr)
            && let Some(count) = last
            && let Some(form) = forms::shift_by(prim, from)
        {
            return Some(self.make_under(class, Kind::Plain(form), &args[..1], None, Some(count.min(255) as u8)));
        }
        if let Some((form, immediate)) = forms::of(prim, from, to) {
            let mut args: SmallVec<[V; 3]> = args.into();
            if commutes(prim) && self.values.get(args[0]).known.is_some() {
                args.swap(0, 1);
            }
            return Some(self.make_under(class, Kind::Plain(form), &args, None, immediate));
        }
        Some(match prim {
            Prim::Fma => self.make(class, Kind::Fma(from), args),
            Prim::Fneg => {
                let sign = self.constant(from.as_int(), 1 << (from.bits() - 1));
                self.vector(forms::of(Prim::Xor, from.as_int(), to)?.0, &[args[0], sign])
            }
            Prim::Fabs => {
                let rest = self.constant(from.as_int(), from.mask() >> 1);
                self.vector(forms::of(Prim::And, from.as_int(), to)?.0, &[args[0], rest])
            }
            Prim::Fmin | Prim::Fmax => self.extreme(prim, from, args[0], args[1]),
            Prim::Not => {
                let ones = self.constant(PrimType::I32, u64::from(u32::MAX));
                self.vector(forms::of(Prim::Xor, PrimType::I32, to)?.0, &[args[0], ones])
            }
            Prim::Select if to == PrimType::Bool => self.choose_masks(args[0], args[1], args[2])?,
            Prim::Select => {
                let blend = Kind::Plain(forms::blend(from.bits()));
                let chosen = self.make(class, blend, &[args[2], args[1]]);
                if let Some(last) = self.insts.last_mut() {
                    last.mask = Some(args[0]);
                }
                chosen
            }
            Prim::Mask => {
                let one = self.constant(to, 1);
                self.make_under(class, Kind::Plain(forms::move_lanes(to.bits())), &[one], Some(args[0]), None)
            }
            Prim::ToSint | Prim::ToUint => self.converted(prim, from, to, args[0])?,
            Prim::Smulhi | Prim::Umulhi if from == PrimType::I32 => self.high_product(prim, args[0], args[1])?,
            Prim::Smulhi | Prim::Umulhi if from == PrimType::I64 => self.wide_high_product(prim, args[0], args[1])?,
            // Bytes, of which there are neither products nor shifts, as 16 bits.
            Prim::Imul | Prim::Shl | Prim::Ushr | Prim::Sshr | Prim::Smulhi | Prim::Umulhi
                if from == PrimType::I8 && self.lanes <= 32 =>
            {
                let signed = matches!(prim, Prim::Sshr | Prim::Smulhi);
                let wide = if signed { Prim::Sext } else { Prim::Zext };
                let x = self.one(wide, PrimType::I8, PrimType::I16, &args[..1], None)?;
                // The count of a shift is unsigned.
                let other = if prim == Prim::Smulhi { Prim::Sext } else { Prim::Zext };
                let y = self.one(other, PrimType::I8, PrimType::I16, &args[1..], None)?;
                let product = matches!(prim, Prim::Smulhi | Prim::Umulhi);
                let done = if product { Prim::Imul } else { prim };
                let mut result = self.one(done, PrimType::I16, PrimType::I16, &[x, y], None)?;
                if product {
                    let eight = self.constant(PrimType::I16, 8);
                    result = self.one(Prim::Ushr, PrimType::I16, PrimType::I16, &[result, eight], Some(8))?;
                }
                self.one(Prim::Itrunc, PrimType::I16, PrimType::I8, &[result], None)?
            }
            _ => return None,
        })
    }

    /// The minimum or maximum: NaN if either is.
    fn extreme(&mut self, prim: Prim, ty: PrimType, x: V, y: V) -> V {
        let immediate = Some(if prim == Prim::Fmin { 4 } else { 5 });
        let number = self.make_under(Class::Vector, Kind::Plain(forms::range(ty)), &[x, y], None, immediate);
        let unordered = Some(forms::UNORDERED);
        let nan = self.make_under(Class::Mask, Kind::Plain(forms::compare_floats(ty)), &[x, y], None, unordered);
        let Some((add, _)) = forms::of(Prim::Fadd, ty, ty) else { return number };
        self.merge(add, &[number, x, y], nan)
    }

    fn choose_masks(&mut self, mask: V, yes: V, no: V) -> Option<V> {
        let yes =
            self.make(Class::Mask, Kind::Plain(forms::of(Prim::And, PrimType::Bool, PrimType::Bool)?.0), &[mask, yes]);
        let no = self.make(Class::Mask, Kind::Plain(forms::and_not_masks()), &[mask, no]);
        Some(self.make(Class::Mask, Kind::Plain(forms::of(Prim::Or, PrimType::Bool, PrimType::Bool)?.0), &[yes, no]))
    }

    /// Truncates and saturates; NaN gives 0.
    fn converted(&mut self, prim: Prim, from: PrimType, to: PrimType, x: V) -> Option<V> {
        let form = forms::to_int(prim, from, to)?;
        let compare = forms::compare_floats(from);
        let compared = |s: &mut Self, y: V, predicate: u8| {
            s.make_under(Class::Mask, Kind::Plain(compare), &[x, y], None, Some(predicate))
        };
        if prim == Prim::ToUint {
            // Too large gives the largest. Below 0, or NaN, must give 0 and does not.
            let zero = self.constant(from, 0);
            let positive = compared(self, zero, forms::GREATER_EQUAL);
            return Some(self.make_under(Class::Vector, Kind::Plain(form), &[x], Some(positive), None));
        }
        // Too small gives the smallest. Too large must give the largest, NaN 0, and do not.
        let ordered = compared(self, x, forms::ORDERED);
        let number = self.make_under(Class::Vector, Kind::Plain(form), &[x], Some(ordered), None);
        let limit = (1u64 << (to.bits() - 1)) as f64;
        let limit = if from == PrimType::F32 { u64::from((limit as f32).to_bits()) } else { limit.to_bits() };
        let limit = self.constant(from, limit);
        let large = compared(self, limit, forms::GREATER_EQUAL);
        let largest = self.constant(to, to.mask() >> 1);
        Some(self.merge(forms::move_lanes(to.bits()), &[number, largest], large))
    }

    /// High halves of products of 32 bits, by products of even and of odd lanes.
    fn high_product(&mut self, prim: Prim, x: V, y: V) -> Option<V> {
        let product = forms::wide_product(prim == Prim::Smulhi);
        let down = forms::shift_by(Prim::Ushr, PrimType::I64)?;
        let half = |s: &mut Self, v: V| s.make_under(Class::Vector, Kind::Plain(down), &[v], None, Some(32));
        let even = self.vector(product, &[x, y]);
        let even = half(self, even);
        let (x, y) = (half(self, x), half(self, y));
        let odd = self.vector(product, &[x, y]);
        let high = self.constant(PrimType::I64, 0xffff_ffff_0000_0000);
        let chosen =
            self.make_under(Class::Vector, Kind::Tied(forms::ternary_logic()), &[high, odd, even], None, Some(0xca));
        Some(chosen)
    }

    /// High halves of products of 64 bits, by products of halves (Knuth, TAOCP 4.3.1, algorithm M with two digits).
    fn wide_high_product(&mut self, prim: Prim, x: V, y: V) -> Option<V> {
        let i64 = PrimType::I64;
        let (add, _) = forms::of(Prim::Iadd, i64, i64)?;
        let (and, _) = forms::of(Prim::And, i64, i64)?;
        let (subtract, _) = forms::of(Prim::Isub, i64, i64)?;
        let down = forms::shift_by(Prim::Ushr, i64)?;
        let half = |s: &mut Self, v: V| s.make_under(Class::Vector, Kind::Plain(down), &[v], None, Some(32));
        let product = forms::wide_product(false);
        let (x1, y1) = (half(self, x), half(self, y));
        // Products read the lower halves of their operands.
        let low = self.vector(product, &[x, y]);
        let carry = half(self, low);
        let cross = self.vector(product, &[x1, y]);
        let cross = self.vector(add, &[cross, carry]);
        let mask = self.constant(i64, 0xffff_ffff);
        let cross_low = self.vector(and, &[cross, mask]);
        let other = self.vector(product, &[x, y1]);
        let other = self.vector(add, &[other, cross_low]);
        let high = self.vector(product, &[x1, y1]);
        let (cross, other) = (half(self, cross), half(self, other));
        let high = self.vector(add, &[high, cross]);
        let mut high = self.vector(add, &[high, other]);
        if prim == Prim::Smulhi {
            // A negative operand counts 2^64 too much.
            let sign = forms::shift_by(Prim::Sshr, i64)?;
            for (one, another) in [(x, y), (y, x)] {
                let negative = self.make_under(Class::Vector, Kind::Plain(sign), &[one], None, Some(63));
                let excess = self.vector(and, &[negative, another]);
                high = self.vector(subtract, &[high, excess]);
            }
        }
        Some(high)
    }

    fn look_up(&mut self, table: &Arc<Table>, index: &Operand) -> Option<Operand> {
        if !matches!(table.ty.bits(), 32 | 64) || table.ty.bits() * self.lanes > 512 {
            return None;
        }
        let offset = self.known.constants.table(table);
        let last = self.constant(PrimType::I32, table.values.len() as u64 - 1);
        let same = matches!(index, Operand::Same(_) | Operand::Const(_));
        let mut made: SmallVec<[V; 4]> = SmallVec::new();
        for unit in 0..if same { 1 } else { self.units } {
            let index = self.unit(index, PrimType::I32, unit);
            let inside = self.one(Prim::Umin, PrimType::I32, PrimType::I32, &[index, last], None)?;
            made.push(self.make(Class::Vector, Kind::Gather(table.ty, offset), &[inside]));
        }
        Some(if same { Operand::Same(made[0]) } else { Operand::Units(made) })
    }

    /// Runs the inner body, out of the way, if any lane's mask is set.
    fn if_any(&mut self, inner: &Body, args: &[Operand]) -> Option<Vec<Operand>> {
        let types: Vec<PrimType> = inner.output_types().collect();
        let (defaults, inputs) = args[1..].split_at(types.len());
        let same = args.iter().all(|a| matches!(a, Operand::Same(_) | Operand::Const(_)));
        let mut made: Vec<SmallVec<[V; 4]>> = vec![smallvec![]; types.len()];
        for unit in 0..if same { 1 } else { self.units } {
            let mask = self.unit(&args[0], PrimType::Bool, unit);
            let any = match self.tail {
                // Lanes that are not there ask for nothing.
                Some(tail) => {
                    let (and, _) = forms::of(Prim::And, PrimType::Bool, PrimType::Bool)?;
                    self.make(Class::Mask, Kind::Plain(and), &[mask, tail.lanes])
                }
                None => mask,
            };
            let results: Vec<(V, V)> = types
                .iter()
                .zip(defaults)
                .map(|(&ty, default)| {
                    let default = self.unit(default, ty, unit);
                    (self.values.make(Class::of(ty)), default)
                })
                .collect();
            let mut env: Vec<Operand> = inputs
                .iter()
                .zip(inner.input_types())
                .map(|(input, &ty)| match input {
                    Operand::Const(bits) => Operand::Const(*bits),
                    other => Operand::Units(smallvec![self.unit(other, ty, unit)]),
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
            self.insts.push(Inst {
                kind: Kind::If(Box::new(If { lanes: self.lanes, results, cold })),
                result: None,
                args: smallvec![any],
                mask: None,
                zeroing: false,
                immediate: None,
                located: self.located,
            });
        }
        let made = made.into_iter().map(|units| if same { Operand::Same(units[0]) } else { Operand::Units(units) });
        Some(made.collect())
    }

    /// The results of a cold path become its outputs in the lanes that asked for it.
    fn change(&mut self, inner: &Body, env: &[Operand], results: &[(V, V)], any: V) -> Option<()> {
        for (&output, &(result, _)) in inner.outputs.iter().zip(results) {
            let ty = inner.ty(output);
            let output = self.unit(&env[output.index()], ty, 0);
            let (kind, args, mask): (Kind, SmallVec<[V; 3]>, _) = if ty == PrimType::Bool {
                (Kind::Copy, smallvec![self.choose_masks(any, output, result)?], None)
            } else {
                (Kind::Tied(forms::move_lanes(ty.bits())), smallvec![result, output], Some(any))
            };
            self.insts.push(Inst {
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
