//! Compiled kernels against the reference evaluation of their bodies, bit for bit.

use super::support::{check, compile, nest};
use ndjit_codegen::clif::{AccumulatorLayout, ClifOptions, emit, host_isa};
use ndjit_codegen::target::combinations;
use ndjit_codegen::x64::{self, Set};
use ndjit_ir::body::{Body, BodyBuilder, Prim, PrimSignature, Reg};
use ndjit_ir::loops::Stride::{Broadcast, Contiguous, Strided};
use ndjit_ir::loops::{LoopBody, LoopNest};
use ndjit_ir::{DType, PrimType};

/// A dtype stored as one word of this type.
fn dtype(ty: PrimType) -> DType {
    match ty {
        PrimType::Bool => DType::Bool,
        PrimType::I8 => DType::I8,
        PrimType::I16 => DType::I16,
        PrimType::I32 => DType::I32,
        PrimType::I64 => DType::I64,
        PrimType::F32 => DType::F32,
        PrimType::F64 => DType::F64,
    }
}

/// The value of a stored word.
fn read(b: &mut BodyBuilder, ty: PrimType, word: Reg) -> Reg {
    if ty != PrimType::Bool {
        return word;
    }
    let one = b.int(PrimType::I8, 1);
    let low = b.and(word, one);
    let zero = b.int(PrimType::I8, 0);
    b.ine(low, zero)
}

/// The stored word of a value.
fn written(b: &mut BodyBuilder, value: Reg) -> Reg {
    if b.ty(value) == PrimType::Bool { b.mask(value, PrimType::I8) } else { value }
}

/// A body with inputs of these types: `f` maps their values to the results.
fn body(types: &[PrimType], f: impl FnOnce(&mut BodyBuilder, &[Reg]) -> Vec<Reg>) -> Body {
    let words: Vec<PrimType> = types.iter().map(|&ty| dtype(ty).storage()[0]).collect();
    let mut b = BodyBuilder::new(&words);
    let inputs = b.inputs();
    let values: Vec<Reg> = inputs.iter().zip(types).map(|(&r, &ty)| read(&mut b, ty, r)).collect();
    let results = f(&mut b, &values);
    let words: Vec<Reg> = results.iter().map(|&r| written(&mut b, r)).collect();
    b.finish(&words)
}

/// A nest over arrays of these types, all contiguous, rank 1.
fn flat(types: &[PrimType], results: &[PrimType], f: impl FnOnce(&mut BodyBuilder, &[Reg]) -> Vec<Reg>) -> LoopNest {
    let arrays = |types: &[PrimType]| types.iter().map(|&ty| (dtype(ty), Contiguous)).collect::<Vec<_>>();
    nest(1, &arrays(types), &[], &arrays(results), body(types, f))
}

/// Checks a nest of rank 1 without literals at many lengths, in vector and scalar code.
fn check_lengths(nest: &LoopNest) {
    for compiled in compile(nest) {
        for length in (0..=67).chain([127, 1000]) {
            check(&compiled, nest, &[length], &[], length as u64, false);
        }
    }
}

fn operand_types(prim: Prim, from: PrimType) -> Vec<PrimType> {
    match prim.signature() {
        PrimSignature::Select => vec![PrimType::Bool, from, from],
        PrimSignature::Same(_) | PrimSignature::Compare | PrimSignature::Convert => vec![from; prim.arity()],
    }
}

#[test]
fn every_primitive_on_every_type() {
    for (prim, from, to) in combinations() {
        let types = operand_types(prim, from);
        check_lengths(&flat(&types, &[to], |b, args| vec![b.prim(prim, args, Some(to))]));
    }
}

/// Primitives without code in either set: division of integers.
#[test]
fn primitives_without_wide_code() {
    let without = |set: Set| {
        let is_without = move |&(prim, from, to): &(Prim, PrimType, PrimType)| {
            let nest = flat(&operand_types(prim, from), &[to], |b, args| vec![b.prim(prim, args, Some(to))]);
            x64::emit(&nest, AccumulatorLayout::Plain, set).unwrap().is_none()
        };
        combinations().into_iter().filter(is_without).map(|(prim, from, _)| format!("{prim} {}", from.name()))
    };
    for set in Set::ALL {
        let divisions = ["sdiv", "udiv", "srem", "urem"];
        let all = divisions.iter().flat_map(|prim| ["i8", "i16", "i32", "i64"].map(|ty| format!("{prim} {ty}")));
        assert_eq!(without(set).collect::<Vec<_>>(), all.collect::<Vec<_>>(), "{set:?}");
    }
}

#[test]
fn shifts_by_constants() {
    for prim in [Prim::Shl, Prim::Ushr, Prim::Sshr] {
        for ty in [PrimType::I8, PrimType::I16, PrimType::I32, PrimType::I64] {
            for count in [0, 1, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, -1] {
                check_lengths(&flat(&[ty], &[ty], |b, x| {
                    let count = b.int(ty, count);
                    vec![b.prim(prim, &[x[0], count], None)]
                }));
            }
        }
    }
}

#[test]
fn shifts_by_one_count_for_all_lanes() {
    for prim in [Prim::Shl, Prim::Ushr, Prim::Sshr] {
        for ty in [PrimType::I8, PrimType::I16, PrimType::I32, PrimType::I64] {
            let mut b = BodyBuilder::new(&[ty; 3]);
            let x = b.inputs();
            // Hoisted: the count of the second shift.
            let count = b.xor(x[1], x[2]);
            let (by_literal, by_splat) = (b.prim(prim, &[x[0], x[2]], None), b.prim(prim, &[x[0], count], None));
            let body = b.finish(&[by_literal, by_splat]);
            let array = (dtype(ty), Contiguous);
            let mut plain = nest(1, &[array, (dtype(ty), Broadcast)], &[dtype(ty)], &[array, array], body);
            let LoopBody::Prims { hoisted, .. } = &mut plain.body else { panic!("primitives") };
            *hoisted = 1;
            for compiled in compile(&plain) {
                for count in [0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 128, 200, u64::MAX] {
                    for length in [0, 66, 129] {
                        check(&compiled, &plain, &[length], &[vec![count & ty.mask()]], count, false);
                    }
                }
            }
        }
    }
}

#[test]
fn lanes_of_different_widths_mix() {
    use PrimType::{Bool, F32, F64, I8, I16, I32, I64};
    check_lengths(&flat(&[I8, F64], &[F64], |b, x| {
        let wide = b.zext(x[0], I32);
        let float = b.fromuint(wide, F64);
        vec![b.fmul(float, x[1])]
    }));
    check_lengths(&flat(&[F64, F64, I8, I8], &[I8], |b, x| {
        let less = b.flt(x[0], x[1]);
        vec![b.select(less, x[2], x[3])]
    }));
    check_lengths(&flat(&[I8, I8, F64, F64], &[F64, Bool], |b, x| {
        let less = b.slt(x[0], x[1]);
        vec![b.select(less, x[2], x[3]), less]
    }));
    check_lengths(&flat(&[F64, F32, I16, I8, Bool], &[Bool, I64, F32, I16], |b, x| {
        let zero = b.float(F64, 0.0);
        let a = b.flt(x[0], zero);
        let one = b.float(F32, 1.0);
        let c = b.flt(x[1], one);
        let d = b.slt(x[2], x[2]);
        let sixteen = b.int(I16, 16);
        let e = b.slt(x[2], sixteen);
        let f = b.xor(a, c);
        let g = b.or(f, d);
        let h = b.and(g, x[4]);
        let i = b.select(e, h, a);
        let n = b.not(i);
        let long = b.mask(n, I64);
        let half = b.select(n, x[2], sixteen);
        vec![i, long, x[1], half]
    }));
}

#[test]
fn masks_and_values_move_between_all_widths() {
    let types = [PrimType::I8, PrimType::I16, PrimType::I32, PrimType::I64];
    for from in types {
        for to in types {
            check_lengths(&flat(&[from, from, to, to], &[to], |b, x| {
                let less = b.ult(x[0], x[1]);
                vec![b.select(less, x[2], x[3])]
            }));
        }
    }
}

/// A body with all constructs: an `If` with operands and results of several types, which contains a lookup and a loop.
fn constructs(types: &[PrimType], mask: impl FnOnce(&mut BodyBuilder, &[Reg]) -> Reg) -> LoopNest {
    use PrimType::{Bool, F32, I32};
    let results = [F32, I32, Bool];
    flat(types, &results, |b, x| {
        let mask = mask(b, x);
        let zero = b.int(I32, 0);
        let minus = b.float(F32, -1.0);
        let not = b.not(mask);
        let below = b.slt(x[1], zero);
        let table: Vec<u64> = (0..37).map(|i| i * i + 5).collect();
        let results = b.if_any(mask, &[minus, zero, not], &[x[0], x[1], below], |b, x| {
            let bits = b.bitcast(x[0], I32);
            let shift = b.int(I32, 27);
            let small = b.ushr(bits, shift);
            let entry = b.table(I32, &table, small);
            let wild = b.table(I32, &table, x[1]);
            let max = 40;
            let zero = b.int(I32, 0);
            let state = b.repeat(max, &[entry, zero], &[small], |b, state, invariant| {
                let odd = b.int(I32, 3);
                let product = b.imul(state[0], odd);
                let next = b.iadd(product, invariant[0]);
                let one = b.int(I32, 1);
                let trips = b.iadd(state[1], one);
                let limit = b.int(I32, 100_000);
                let go_on = b.ult(state[0], limit);
                (go_on, vec![next, trips])
            });
            let sum = b.iadd(state[0], wild);
            let float = b.fromsint(sum, F32);
            let negated = b.fneg(float);
            let float = b.select(x[2], negated, float);
            let even = b.int(I32, 1);
            let low = b.and(state[1], even);
            let none = b.int(I32, 0);
            let is_even = b.ieq(low, none);
            vec![float, state[1], is_even]
        });
        // A bool result is a condition too.
        let chosen = b.select(results[2], results[0], minus);
        vec![chosen, results[1], results[2]]
    })
}

#[test]
fn branches_loops_and_tables() {
    use PrimType::{F32, F64, I8, I32};
    check_lengths(&constructs(&[F32, I32], |b, x| {
        let limit = b.float(F32, 1.0);
        b.flt(x[0], limit)
    }));
    check_lengths(&constructs(&[F32, I32, F64], |b, x| b.feq(x[2], x[2])));
    check_lengths(&constructs(&[F32, I32, I8], |b, x| {
        let one = b.int(I8, 1);
        b.ieq(x[2], one)
    }));
    check_lengths(&constructs(&[F32, I32], |b, _| b.bool(false)));
}

#[test]
fn tables_of_every_type() {
    for ty in PrimType::ALL {
        let values: Vec<u64> = super::support::specials(ty);
        check_lengths(&flat(&[PrimType::I32], &[ty], |b, x| {
            let four = b.int(PrimType::I32, 4);
            let shifted = b.ushr(x[0], four);
            vec![b.table(ty, &values, shifted)]
        }));
        check_lengths(&flat(&[PrimType::I8], &[ty], |b, x| {
            let index = b.zext(x[0], PrimType::I32);
            vec![b.table(ty, &values, index)]
        }));
    }
}

#[test]
fn loops_of_no_or_all_trips() {
    use PrimType::{Bool, F64, I64};
    for max in [0, 1, 7] {
        check_lengths(&flat(&[F64, Bool], &[F64, Bool, I64], |b, x| {
            let zero = b.int(I64, 0);
            b.repeat(max, &[x[0], x[1], zero], &[], |b, state, _| {
                let two = b.float(F64, 2.0);
                let halved = b.fdiv(state[0], two);
                let flipped = b.not(state[1]);
                let one = b.int(I64, 1);
                let count = b.iadd(state[2], one);
                let limit = b.float(F64, 1.0);
                let go_on = b.flt(limit, state[0]);
                (go_on, vec![halved, flipped, count])
            })
        }));
    }
}

/// `x * literal + y` with one operand of each class, for real and complex elements.
#[test]
fn strides_broadcasts_and_ranks() {
    let classes = [Contiguous, Broadcast, Strided];
    for dtype in DType::ALL {
        let ty = dtype.storage()[0];
        let words = dtype.storage().len();
        for (x, y, out) in [
            (classes[0], classes[1], classes[0]),
            (classes[2], classes[0], classes[0]),
            (classes[0], classes[2], classes[2]),
            (classes[1], classes[1], classes[2]),
            (classes[2], classes[2], classes[0]),
        ] {
            let mut b = BodyBuilder::new(&[&vec![ty; 2 * words][..], dtype.repr()].concat());
            let inputs = b.inputs();
            let mut outputs = Vec::new();
            for w in 0..words {
                let (x, y, literal) = (inputs[w], inputs[words + w], inputs[2 * words + (words - 1 - w)]);
                let literal = match (b.ty(literal), ty) {
                    (PrimType::Bool, _) => b.mask(literal, ty),
                    (PrimType::F32, PrimType::I16) => {
                        let bits = b.bitcast(literal, PrimType::I32);
                        b.itrunc(bits, PrimType::I16)
                    }
                    _ => literal,
                };
                outputs.push(if ty.is_float() {
                    let twice = b.fadd(literal, y);
                    b.fma(x, literal, twice)
                } else {
                    let twice = b.iadd(literal, y);
                    let product = b.imul(x, literal);
                    b.iadd(product, twice)
                });
            }
            let body = b.finish(&outputs);
            let literals: Vec<Vec<u64>> =
                vec![dtype.repr().iter().map(|ty| (5 * 0x1234_5678_9abc) & ty.mask()).collect()];
            for (rank, extents) in [
                (1, vec![vec![0], vec![1], vec![66], vec![200]]),
                (2, vec![vec![3, 37], vec![0, 5], vec![5, 0], vec![1, 1]]),
                (3, vec![vec![2, 3, 67]]),
                (4, vec![vec![2, 1, 3, 17]]),
            ] {
                let plain = nest(rank, &[(dtype, x), (dtype, y)], &[dtype], &[(dtype, out)], body.clone());
                for compiled in compile(&plain) {
                    for (i, extents) in extents.iter().enumerate() {
                        check(&compiled, &plain, extents, &literals, i as u64, false);
                        check(&compiled, &plain, extents, &literals, i as u64, true);
                    }
                }
            }
        }
    }
}

/// The only trapping instructions in a kernel are divisions by a divisor chosen to be safe, every access is declared not
/// to trap, and nothing is called.
#[test]
fn no_kernel_can_trap() {
    use cranelift_codegen::ir::Opcode;
    let isa = host_isa().unwrap();
    let has_fma = isa.isa_flags().iter().any(|f| f.name == "has_fma" && f.as_bool() == Some(true));
    for (prim, from, to) in combinations() {
        let types = operand_types(prim, from);
        let plain = flat(&types, &[to], |b, args| vec![b.prim(prim, args, Some(to))]);
        for vector in [false, true] {
            let kernel = emit(&plain, &*isa, ClifOptions { vector, ..ClifOptions::default() }).unwrap();
            let function = &kernel.function;
            for inst in function.layout.blocks().flat_map(|block| function.layout.block_insts(block)) {
                let data = &function.dfg.insts[inst];
                let shown = function.dfg.display_inst(inst);
                let opcode = data.opcode();
                assert!(!opcode.is_call() || !has_fma, "{shown}");
                if let Some(flags) = data.memflags() {
                    assert!(opcode == Opcode::Bitcast || function.dfg.mem_flags[flags].notrap(), "{shown}");
                } else if matches!(opcode, Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem) {
                    let divisor = function.dfg.inst_args(inst)[1];
                    let maker = function.dfg.value_def(divisor).unwrap_inst();
                    assert_eq!(function.dfg.insts[maker].opcode(), Opcode::Select, "{shown}");
                } else {
                    assert!(!opcode.can_trap(), "{shown}");
                }
            }
        }
    }
}

#[test]
fn text_of_a_kernel() {
    let f32 = (DType::F32, Contiguous);
    let mut b = BodyBuilder::new(&[PrimType::F32; 3]);
    let x = b.inputs();
    let product = b.fmul(x[1], x[2]);
    let sum = b.fadd(x[0], product);
    let body = b.finish(&[sum]);
    let plain = nest(1, &[f32, f32], &[DType::F32], &[f32], body);
    let isa = host_isa().unwrap();
    let kernel = emit(&plain, &*isa, ClifOptions::default()).unwrap();
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        let convention = kernel.function.signature.call_conv.to_string();
        insta::assert_snapshot!("x_plus_y_times_two", kernel.to_string().replace(&convention, "(convention)"));
    });
}

#[test]
fn nests_that_are_not_ready_are_refused() {
    use ndjit_ir::kernel::OpBody;
    let isa = host_isa().unwrap();
    let mut ops = flat(&[PrimType::F32], &[PrimType::F32], |_, x| x.to_vec());
    let mut misfit = ops.clone();
    misfit.inputs[0].dtype = DType::F64;
    let error = emit(&misfit, &*isa, ClifOptions::default()).unwrap_err();
    assert_eq!(error.headline(), "clif: the nest's operands are not those of its body");
    ops.body = LoopBody::Ops(OpBody::default().into());
    let error = emit(&ops, &*isa, ClifOptions::default()).unwrap_err();
    assert_eq!(error.headline(), "clif: the nest is not expanded into primitives");
}
