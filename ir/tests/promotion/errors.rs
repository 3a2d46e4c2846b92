//! Error messages of every policy: what they say, and that their advice works.

use ndjit_ir::{DType, Op, Policy, ValueType, Weak};

/// Follows the casts that an error's help names, for all pairs of types under both policies.
#[test]
fn the_advice_of_every_error_works() {
    let mut advised = 0;
    for (policy, op) in Policy::ALL.into_iter().flat_map(|policy| Op::ALL.map(|op| (policy, op))) {
        for (a, b) in ValueType::ALL.into_iter().flat_map(|a| ValueType::ALL.map(|b| (a, b))) {
            let operands = match op.arity() {
                1 => vec![a],
                2 => vec![a, b],
                _ if op == Op::Where => vec![b, a, b],
                _ => vec![a, a, b],
            };
            let error = match policy.resolve_op(op, &operands) {
                Ok(types) => {
                    assert!(op.row().domain.contains(policy.commit(types.compute)));
                    assert_eq!(policy.commit(types.result), op.result_dtype(policy.commit(types.compute)));
                    continue;
                }
                Err(error) => error,
            };
            let help = error.help_text().unwrap_or_else(|| panic!("no help: {error}"));
            let cast = |(name, &ty): (&&str, &ValueType)| {
                let Some((_, rest)) = help.split_once(&format!("`{name}.cast(DType::")) else { return ty };
                ValueType::Strong(rest.split(')').next().unwrap().to_lowercase().parse().unwrap())
            };
            let mended: Vec<ValueType> = op.row().operands.iter().zip(&operands).map(cast).collect();
            assert_ne!(mended, operands, "{error}");
            assert!(policy.resolve_op(op, &mended).is_ok(), "{policy}: {error}\nwith {mended:?}");
            advised += 1;
        }
    }
    println!("{advised} errors, and their advice works");
    assert!(advised > 1000);
}

#[test]
fn errors_name_the_operands_and_the_way_out() {
    let error = |policy: Policy, op: Op, operands: &[DType]| {
        let types: Vec<ValueType> = operands.iter().map(|&dtype| dtype.into()).collect();
        policy.resolve_op(op, &types).unwrap_err().to_string()
    };
    assert_eq!(
        error(Policy::Standard, Op::Remainder, &[DType::C64, DType::F32]),
        "error[dtype]: remainder: c64 is not supported
  x: c64
  y: f32
  accepted: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64
  help: abs gives the modulus; a cast drops the imaginary part: `x.cast(DType::F32)`"
    );
    assert_eq!(
        error(Policy::Standard, Op::BitwiseAnd, &[DType::U64, DType::I64]),
        "error[dtype]: bitwise_and: f* is not supported
  x: u64
  y: i64
  accepted: bool u8 u16 u32 u64 i8 i16 i32 i64
  help: no integer type holds both operands; cast explicitly: `x.cast(DType::I64)`"
    );
    assert_eq!(
        error(Policy::Standard, Op::Negative, &[DType::Bool]),
        "error[dtype]: negative: bool is not supported
  x: bool
  accepted: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
  help: cast explicitly: `x.cast(DType::I32)`"
    );
    assert_eq!(
        error(Policy::Strict, Op::Where, &[DType::Bool, DType::I32, DType::F32]),
        "error[promotion]: where: the strict policy does not promote i32 and f32
  condition: bool
  x:         i32
  y:         f32
  help: cast explicitly: `x.cast(DType::F32)`"
    );
    assert_eq!(
        error(Policy::Standard, Op::Add, &[DType::F32]),
        "error[arity]: add: takes 2 operands, 1 given\n  operands: add(x, y)"
    );
}
