//! Error messages of every policy: their text, and that their advice works.

use ndjit_ir::promotion::Refusal;
use ndjit_ir::{DType, ErrorCode, Op, Policy, ValueType};
use std::collections::BTreeMap;

/// Follows the casts that an error's help names, for all pairs of types under both policies.
#[test]
fn the_advice_of_every_error_works() {
    let (mut advised, mut elsewhere) = (0, 0);
    for (policy, op) in Policy::ALL.into_iter().flat_map(|policy| Op::ALL.map(|op| (policy, op))) {
        for (a, b) in ValueType::ALL.into_iter().flat_map(|a| ValueType::ALL.map(|b| (a, b))) {
            let operands = match op.arity() {
                _ if op == Op::Where => vec![b, a, b],
                arity => [a, a, a, b][4 - arity..].to_vec(),
            };
            let error = match policy.resolve_op(op, &operands) {
                Ok(types) => {
                    assert!(op.row().domain.contains(policy.commit(types.compute)));
                    assert_eq!(policy.commit(types.result), op.result_dtype(policy.commit(types.compute)));
                    continue;
                }
                Err(error) => error,
            };
            let because = |fact: &String| fact.starts_with("because: ") && fact.contains("(https://");
            assert_eq!(error.facts().iter().any(because), error.code() == ErrorCode::DType, "{error}");
            let help = error.help_text().unwrap_or_else(|| panic!("no help: {error}"));
            if help.contains("with_policy(Policy::Standard, ") {
                let takes = |dtype: DType| policy.resolve_op(op, &[dtype.into()][..].repeat(op.arity())).is_ok();
                assert!(!op.row().domain.iter().any(takes), "{policy}: {error}");
                elsewhere += 1;
                continue;
            }
            let cast = |(name, &ty): (&&str, &ValueType)| {
                let Some((_, rest)) = help.split_once(&format!("`cast({name}, DType::")) else { return ty };
                ValueType::Strong(rest.split(')').next().unwrap().to_lowercase().parse().unwrap())
            };
            let mended: Vec<ValueType> = op.row().operands.iter().zip(&operands).map(cast).collect();
            assert_ne!(mended, operands, "{error}");
            assert!(policy.resolve_op(op, &mended).is_ok(), "{policy}: {error}\nwith {mended:?}");
            advised += 1;
        }
    }
    println!("{advised} errors, and their advice works");
    assert!(advised > 1000 && elsewhere > 0);
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
  because: it is defined for real numbers (https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.remainder.html)
  accepted: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64
  help: abs gives the modulus; a cast drops the imaginary part: `cast(x, DType::F32)`"
    );
    assert_eq!(
        error(Policy::Standard, Op::BitwiseAnd, &[DType::U64, DType::I64]),
        "error[dtype]: bitwise_and: f* is not supported
  x: u64
  y: i64
  because: it is about the bits of integers (https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.bitwise_and.html)
  accepted: bool u8 u16 u32 u64 i8 i16 i32 i64
  help: no integer type holds both operands; cast explicitly: `cast(x, DType::I64)`; i64 keeps 63 binary digits, u64 has 64"
    );
    assert_eq!(
        error(Policy::Standard, Op::Negative, &[DType::Bool]),
        "error[dtype]: negative: bool is not supported
  x: bool
  because: it is defined for numbers, and bool is none (https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.negative.html)
  accepted: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
  help: cast explicitly: `cast(x, DType::I32)`"
    );
    assert_eq!(
        error(Policy::Strict, Op::Where, &[DType::Bool, DType::I32, DType::F32]),
        "error[promotion]: where: the strict policy does not promote i32 and f32
  condition: bool
  x:         i32
  y:         f32
  help: cast explicitly: `cast(x, DType::F32)`; f32 keeps 24 binary digits, i32 has 31"
    );
    assert_eq!(
        error(Policy::Strict, Op::Add, &[DType::U64, DType::I64]),
        "error[promotion]: add: the strict policy does not promote u64 and i64
  x: u64
  y: i64
  help: cast explicitly: `cast(x, DType::F64)` and `cast(y, DType::F64)`; f64 keeps 53 binary digits, u64 has 64"
    );
    assert_eq!(
        error(Policy::Standard, Op::BitwiseXor, &[DType::F32, DType::I32]),
        "error[dtype]: bitwise_xor: f32 is not supported
  x: f32
  y: i32
  because: it is about the bits of integers (https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.bitwise_xor.html)
  accepted: bool u8 u16 u32 u64 i8 i16 i32 i64
  help: powers are `pow(x, y)`, `^` is about bits; a cast truncates: `cast(x, DType::I32)`"
    );
    assert_eq!(
        error(Policy::Standard, Op::Add, &[DType::F32]),
        "error[arity]: add: takes 2 operands, 1 given\n  operands: add(x, y)"
    );
}

/// The refusals of every policy: the first error of each kind and reason.
#[test]
fn each_policy_refuses_in_these_words() {
    let mut seen = BTreeMap::new();
    let mut texts = Vec::new();
    for (policy, op) in Policy::ALL
        .into_iter()
        .flat_map(|policy| [Op::Add, Op::Divide, Op::Sqrt, Op::FloorDivide].map(|op| (policy, op)))
    {
        for (a, b) in ValueType::ALL.into_iter().flat_map(|a| ValueType::ALL.map(|b| (a, b))) {
            let operands = &[a, b][..op.arity()];
            let Err(clash) = policy.resolve(op.row().rule, operands) else { continue };
            let wording = match clash.refusal {
                Refusal::Pair { .. } => "pair",
                Refusal::Inexact(_) => "inexact",
                Refusal::Number => "number",
            };
            if seen.insert((policy.name(), wording, clash.reason()), ()).is_none() {
                texts.push(policy.resolve_op(op, operands).unwrap_err().to_string());
            }
        }
    }
    insta::assert_snapshot!(texts.join("\n\n"), @r"
        error[promotion]: add: the strict policy does not promote bool and u8
          x: bool
          y: u8
          help: cast explicitly: `cast(x, DType::U8)`

        error[promotion]: add: the jax2019 policy does not promote bool and i*
          x: bool
          y: i*
          the table of 2019 has no rows for bare numbers
          help: cast explicitly: `cast(y, DType::I32)`

        error[promotion]: add: the numpy2 policy does not take bf16
          x: bool
          y: bf16
          NumPy itself has no bf16; ml_dtypes adds one
          help: cast explicitly: `cast(y, DType::F64)`

        error[promotion]: add: the numpy1 policy does not take bf16
          x: bool
          y: bf16
          NumPy itself has no bf16; ml_dtypes adds one
          help: cast explicitly: `cast(y, DType::F64)`

        error[promotion]: add: the torch policy does not promote bool and u16
          x: bool
          y: u16
          PyTorch promotes u16, u32 and u64 with floats and bare numbers only
          help: cast explicitly: `cast(x, DType::U16)`

        error[promotion]: floor_divide: the torch policy does not compute with bool as a number
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::I64)` and `cast(y, DType::I64)`

        error[promotion]: add: the tensorflow policy does not promote bool and u8
          x: bool
          y: u8
          help: cast explicitly: `cast(x, DType::U8)`

        error[promotion]: sqrt: the tensorflow policy does not turn bool into a float
          x: bool
          help: cast explicitly: `cast(x, DType::F32)`

        error[promotion]: floor_divide: the tensorflow policy does not compute with bool as a number
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::I32)` and `cast(y, DType::I32)`

        error[promotion]: sqrt: the tensorflow_np_all policy does not turn bool into a float
          x: bool
          help: cast explicitly: `cast(x, DType::F32)`

        error[promotion]: floor_divide: the tensorflow_np_all policy does not compute with bool as a number
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::I32)` and `cast(y, DType::I32)`

        error[promotion]: add: the tensorflow_np_safe policy does not promote u8 and i8
          x: u8
          y: i8
          help: cast explicitly: `cast(x, DType::I16)` and `cast(y, DType::I16)`

        error[promotion]: sqrt: the tensorflow_np_safe policy does not turn bool into a float
          x: bool
          help: cast explicitly: `cast(x, DType::F32)`

        error[promotion]: floor_divide: the tensorflow_np_safe policy does not compute with bool as a number
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::I32)` and `cast(y, DType::I32)`

        error[promotion]: add: the tensorflow_np_legacy policy does not promote u16 and bf16
          x: u16
          y: bf16
          the legacy mode promotes bf16 with 8-bit integers and wider floats only
          help: cast explicitly: `cast(x, DType::Bf16)`; bf16 keeps 8 binary digits, u16 has 16

        error[promotion]: add: the tensorflow_np_legacy policy does not promote i* and f*
          x: i*
          y: f*
          help: cast explicitly: `cast(x, DType::F32)` and `cast(y, DType::F32)`

        error[promotion]: sqrt: the tensorflow_np_legacy policy does not turn bool into a float
          x: bool
          help: cast explicitly: `cast(x, DType::F32)`

        error[promotion]: floor_divide: the tensorflow_np_legacy policy does not compute with bool as a number
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::I32)` and `cast(y, DType::I32)`

        error[promotion]: add: the ivy_precise policy does not promote bf16 and i*
          x: bf16
          y: i*
          Ivy's NumPy backend has no bf16 to give a bare number
          help: cast explicitly: `cast(y, DType::Bf16)`

        error[promotion]: add: the ivy_imprecise policy does not promote bf16 and i*
          x: bf16
          y: i*
          Ivy's NumPy backend has no bf16 to give a bare number
          help: cast explicitly: `cast(y, DType::Bf16)`

        error[promotion]: add: the array_api policy does not promote bool and u8
          x: bool
          y: u8
          help: cast explicitly: `cast(x, DType::U8)`

        error[promotion]: add: the array_api policy does not promote bool and bf16
          x: bool
          y: bf16
          the Array API standard has no bf16 and no f16
          help: cast explicitly: `cast(x, DType::F64)` and `cast(y, DType::F64)`

        error[promotion]: add: the array_api policy does not promote bool and i*
          x: bool
          y: i*
          the Array API standard takes a bare number beside an array of its kind or a higher one, not of bool
          help: cast explicitly: `cast(x, DType::I64)`

        error[promotion]: divide: the array_api policy does not turn bool into a float
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::F64)` and `cast(y, DType::F64)`

        error[promotion]: floor_divide: the array_api policy does not compute with bool as a number
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::I64)` and `cast(y, DType::I64)`

        error[promotion]: add: the lax policy does not promote bool and u8
          x: bool
          y: u8
          help: cast explicitly: `cast(x, DType::U8)`

        error[promotion]: divide: the lax policy does not turn bool into a float
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::F64)` and `cast(y, DType::F64)`

        error[promotion]: floor_divide: the lax policy does not compute with bool as a number
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::I64)` and `cast(y, DType::I64)`

        error[promotion]: add: the numexpr policy does not promote bool and bf16
          x: bool
          y: bf16
          NumExpr has no bf16
          help: cast explicitly: `cast(y, DType::F64)`

        error[promotion]: floor_divide: the numexpr policy does not compute with bool as a number
          x: bool
          y: bool
          help: cast explicitly: `cast(x, DType::I32)` and `cast(y, DType::I32)`
        ");
}
