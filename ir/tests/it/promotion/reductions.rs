//! The computing and result dtypes of reductions under every policy: laws, indices, errors.

use ndjit_ir::dtype::DTypeSet;
use ndjit_ir::promotion::system::Inexact;
use ndjit_ir::promotion::{Defaults, ReductionTypes, Rules};
use ndjit_ir::reduction::{AxisFunction, ReductionRule};
use ndjit_ir::{DType, ErrorCode, Policy, Reduction, ValueType};

/// Every policy with its own defaults and with others, each reduction, each operand.
fn cases() -> impl Iterator<Item = (Policy, AxisFunction, ValueType)> {
    let odd = Defaults { int: DType::U16, float: DType::F16, complex: DType::C128 };
    let policies = Policy::ALL.into_iter().flat_map(move |policy| [policy, policy.with_defaults(odd).unwrap()]);
    policies.flat_map(|policy| {
        AxisFunction::all().flat_map(move |r| ValueType::ALL.into_iter().map(move |ty| (policy, r, ty)))
    })
}

fn is_inexact(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

/// Each computing dtype is possible: elements combine, a mean can be divided, a root taken.
fn assert_computes(reduction: AxisFunction, types: ReductionTypes, case: &str) {
    match (reduction.combine(), reduction.row().rule) {
        (Some(op), _) => assert!(op.row().domain.contains(types.compute), "{case}: {types:?}"),
        (None, ReductionRule::Mean | ReductionRule::Exponential | ReductionRule::Variance | ReductionRule::Norm) => {
            assert!(is_inexact(types.compute), "{case}: {types:?}")
        }
        (None, _) => {}
    }
}

#[test]
fn asking_for_the_dtype_that_is_inferred_changes_nothing() {
    let mut asked = 0;
    for (policy, reduction, ty) in cases() {
        let Ok(types) = policy.resolve_reduction(reduction, None, ty) else { continue };
        let case = format!("{policy}: {reduction} of {ty}");
        assert_computes(reduction, types, &case);
        assert_eq!(types.result, policy.width(types.result), "{case}");
        let again = policy.resolve_reduction(reduction, Some(types.result), ty);
        if reduction.takes_dtype() {
            assert_eq!(again.unwrap(), types, "{case}");
            asked += 1;
        } else {
            assert_eq!(again.unwrap_err().code(), ErrorCode::DType, "{case}");
        }
    }
    assert!(asked > 4000, "{asked}");
}

#[test]
fn a_dtype_asked_for_is_given() {
    for (policy, reduction, ty) in cases().filter(|(_, reduction, _)| reduction.takes_dtype()) {
        let given = match reduction.row().rule {
            ReductionRule::Variance | ReductionRule::Norm => DTypeSet::FLOAT,
            ReductionRule::Index => DTypeSet::INT,
            _ => DTypeSet::ALL,
        };
        for dtype in DType::ALL {
            let case = format!("{policy}: {reduction} of {ty} in {dtype}");
            match policy.resolve_reduction(reduction, Some(dtype), ty) {
                Ok(types) => {
                    assert_eq!(types.result, policy.width(dtype), "{case}");
                    assert_computes(reduction, types, &case);
                }
                // Elements are compared or counted in their own dtype, which the system must have.
                Err(error) => {
                    let own = policy.resolve_reduction(reduction, None, ty);
                    let is_index = reduction.row().rule == ReductionRule::Index;
                    assert!(!given.contains(dtype) || is_index && own.is_err(), "{case}: {error}");
                }
            }
        }
    }
}

#[test]
fn only_the_dtype_of_a_bare_number_counts() {
    for (policy, reduction, ty) in cases().filter(|(.., ty)| ty.is_weak()) {
        let of = |ty| policy.resolve_reduction(reduction, None, ty).ok();
        let strong = of(policy.commit(ty).into());
        // JAX's means and variances of weak integers are weak floats before they take the default dtype.
        if let (Some(weak), Some(strong)) = (of(ty), strong)
            && !matches!(
                reduction.row().rule,
                ReductionRule::Mean | ReductionRule::Exponential | ReductionRule::Variance | ReductionRule::Norm
            )
        {
            assert_eq!(weak, strong, "{policy}: {reduction} of {ty}");
        }
        assert_eq!(of(ty).is_some(), strong.is_some(), "{policy}: {reduction} of {ty}");
    }
}

#[test]
fn indices_have_one_dtype_per_policy() {
    let mut lines = Vec::new();
    for policy in Policy::ALL {
        let of = |reduction: AxisFunction, ty: ValueType| policy.resolve_reduction(reduction, None, ty).ok();
        let index = of(Reduction::ArgMax.into(), DType::F32.into()).unwrap().result;
        for reduction in AxisFunction::all().filter(|reduction| reduction.row().rule == ReductionRule::Index) {
            for ty in ValueType::ALL {
                assert!(of(reduction, ty).is_none_or(|types| types.result == index), "{policy}: {reduction} of {ty}");
            }
        }
        let defaults = Defaults { int: DType::I16, ..policy.defaults() };
        let follows = policy.with_defaults(defaults).unwrap();
        let followed = follows.resolve_reduction(Reduction::ArgMax, None, DType::F32.into()).unwrap().result;
        lines.push(format!("{policy}: {index}{}", if followed == index { "" } else { ", the default integer" }));
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
    standard: i32, the default integer
    strict: i32, the default integer
    jax32: i32, the default integer
    jax32_explicit: i32, the default integer
    jax2019: i32, the default integer
    numpy2: i64
    numpy2_ml_dtypes: i64
    numpy1: i64
    torch: i64
    tensorflow: i64
    tensorflow_np_all: i64
    tensorflow_np_safe: i64
    tensorflow_np_legacy: i64
    ivy_precise: i64
    ivy_imprecise: i64
    array_api: i64
    lax: i64, the default integer
    numexpr: i64
    ");
}

/// With 64-bit types off no computation is in one.
#[test]
fn without_64_bit_types_none_is_computed_in() {
    let mut cases = 0;
    for (reduction, ty) in AxisFunction::all().flat_map(|r| ValueType::ALL.map(|ty| (r, ty))) {
        for dtype in DType::ALL.map(Some).into_iter().chain([None]) {
            let Ok(types) = Policy::Jax32.resolve_reduction(reduction, dtype, ty) else { continue };
            assert_eq!([types.compute, types.result].map(|d| Policy::Jax32.width(d)), [types.compute, types.result]);
            cases += 1;
        }
    }
    assert!(cases > 1000, "{cases}");
}

/// A mean or a variance that stays an integer is computed as a float.
#[test]
fn integers_are_not_divided_as_such() {
    let rules = Rules { mean: Inexact::Unchanged, variance: Inexact::Unchanged, ..Policy::Standard.rules() };
    let policy = Policy::new("kept_means", Policy::Standard.system().joins, rules).unwrap();
    let of = |reduction| policy.resolve_reduction(reduction, None, DType::I8.into()).unwrap();
    assert_eq!(of(Reduction::Mean), ReductionTypes { compute: DType::F64, result: DType::I8 });
    assert_eq!(of(Reduction::Std), ReductionTypes { compute: DType::F64, result: DType::F64 });
}

/// Follows the advice of an error.
#[test]
fn the_advice_of_every_error_works() {
    let named = |text: &str, before: &str| -> Option<DType> {
        let (_, rest) = text.split_once(before)?;
        Some(rest.split(')').next()?.to_lowercase().parse().unwrap())
    };
    let mut advised = [0; 2];
    let dtypes = || DType::ALL.map(Some).into_iter().chain([None]);
    for (policy, reduction, ty) in cases() {
        for dtype in dtypes() {
            let Err(error) = policy.resolve_reduction(reduction, dtype, ty) else { continue };
            let help = error.help_text().unwrap_or_else(|| panic!("no help: {error}"));
            if let Some(ask) = named(help, "`dtype(DType::") {
                let mended = policy.resolve_reduction(reduction, Some(ask), ty);
                // Advice on the requested dtype is not about the operand.
                let refused = mended.is_err() && error.code() == ErrorCode::DType;
                let own = policy.resolve_reduction(reduction, None, ty);
                assert!(mended.is_ok() || refused && own.is_err(), "{policy}: {error}");
                advised[0] += 1;
            }
            if let Some(cast) = named(help, "`cast(x, DType::") {
                let asked = dtype.filter(|_| reduction.takes_dtype());
                assert!(policy.resolve_reduction(reduction, asked, cast.into()).is_ok(), "{policy}: {error}");
                advised[1] += 1;
            }
            assert!(help.contains("cast"), "{error}");
        }
    }
    assert!(advised.iter().all(|&n| n > 100), "{advised:?}");
}

#[test]
fn errors_say_what_is_refused_and_the_way_out() {
    let types = |dtype: DType| ValueType::from(dtype);
    let refused = [
        (Policy::ArrayApi, Reduction::Sum, None, types(DType::Bool)),
        (Policy::Lax, Reduction::Prod, None, types(DType::Bool)),
        (Policy::TensorFlow, Reduction::Mean, None, types(DType::Bool)),
        (Policy::Torch, Reduction::Mean, None, types(DType::U8)),
        (Policy::ArrayApi, Reduction::Var, None, types(DType::I64)),
        (Policy::TensorFlow, Reduction::Std, None, ndjit_ir::Weak::Int.into()),
        (Policy::NumPy2, Reduction::Sum, None, types(DType::Bf16)),
        (Policy::NumPy2, Reduction::Max, None, types(DType::Bf16)),
        (Policy::ArrayApi, Reduction::ArgMin, None, types(DType::F16)),
        (Policy::Standard, Reduction::ArgMax, Some(DType::Bool), types(DType::F32)),
        (Policy::Standard, Reduction::Var, Some(DType::I32), types(DType::F32)),
        (Policy::Jax32, Reduction::Std, Some(DType::C128), types(DType::C64)),
        (Policy::Standard, Reduction::Max, Some(DType::F64), types(DType::I8)),
        (Policy::Standard, Reduction::Any, Some(DType::U8), types(DType::I8)),
    ];
    let texts = refused
        .map(|(policy, reduction, dtype, ty)| policy.resolve_reduction(reduction, dtype, ty).unwrap_err().to_string());
    insta::assert_snapshot!(texts.join("\n\n"), @r"
    error[promotion]: sum: the array_api policy does not compute with bool as a number
      x: bool
      help: ask for a dtype, as in `dtype(DType::I64).sum(…)`, or cast: `cast(x, DType::I64)`

    error[promotion]: prod: the lax policy does not compute with bool as a number
      x: bool
      help: ask for a dtype, as in `dtype(DType::I64).prod(…)`, or cast: `cast(x, DType::I64)`

    error[promotion]: mean: the tensorflow policy does not compute with bool as a number
      x: bool
      help: ask for a dtype, as in `dtype(DType::F32).mean(…)`, or cast: `cast(x, DType::F32)`

    error[promotion]: mean: the torch policy does not turn u8 into a float
      x: u8
      help: ask for a dtype, as in `dtype(DType::F32).mean(…)`, or cast: `cast(x, DType::F32)`

    error[promotion]: var: the array_api policy does not turn i64 into a float
      x: i64
      help: ask for a dtype, as in `dtype(DType::F64).var(…)`, or cast: `cast(x, DType::F64)`; f64 keeps 53 binary digits, i64 has 63

    error[promotion]: std: the tensorflow policy does not turn i* into a float
      x: i*
      help: ask for a dtype, as in `dtype(DType::F32).std(…)`, or cast: `cast(x, DType::F32)`

    error[promotion]: sum: the numpy2 policy does not take bf16
      x: bf16
      NumPy itself has no bf16; ml_dtypes adds one
      help: ask for a dtype, as in `dtype(DType::F64).sum(…)`, or cast: `cast(x, DType::F64)`

    error[promotion]: max: the numpy2 policy does not take bf16
      x: bf16
      NumPy itself has no bf16; ml_dtypes adds one
      help: cast explicitly: `cast(x, DType::F64)`

    error[promotion]: argmin: the array_api policy does not take f16
      x: f16
      the Array API standard has no bf16 and no f16
      help: cast explicitly: `cast(x, DType::F64)`

    error[dtype]: argmax: a result of dtype bool is not supported
      argmax gives: u8 u16 u32 u64 i8 i16 i32 i64
      help: ask for one of these, as in `dtype(DType::I32).argmax(…)`, or cast the result: `cast(argmax(…), DType::Bool)`

    error[dtype]: var: a result of dtype i32 is not supported
      var gives: bf16 f16 f32 f64
      help: ask for one of these, as in `dtype(DType::F32).var(…)`, or cast the result: `cast(var(…), DType::I32)`

    error[dtype]: std: a result of dtype c64 is not supported
      std gives: bf16 f16 f32 f64
      help: ask for one of these, as in `dtype(DType::F32).std(…)`, or cast the result: `cast(std(…), DType::C64)`

    error[dtype]: max: a result of dtype f64 is not supported
      max gives: the operand's dtype
      help: cast the result: `cast(max(…), DType::F64)`

    error[dtype]: any: a result of dtype u8 is not supported
      any gives: bool
      help: cast the result: `cast(any(…), DType::U8)`
    ");
}
