//! Rules other than joins: weak types, names, other defaults.

use ndjit_ir::op::ResultRule;
use ndjit_ir::promotion::lattice::join;
use ndjit_ir::promotion::{Defaults, Lattice, Rules};
use ndjit_ir::{DType, Op, Policy, ValueType, Weak};

/// Joins are usable at compile time.
const U64_AND_I64: ValueType = join(ValueType::Strong(DType::U64), ValueType::Strong(DType::I64));

#[test]
fn weak_types_stay_weak_and_take_32_bits() {
    let types = |op: Op, operands: &[ValueType]| Policy::Standard.resolve_op(op, operands).unwrap();
    let (i, f, c) = (Weak::Int.into(), Weak::Float.into(), Weak::Complex.into());
    assert_eq!(U64_AND_I64, f);
    assert_eq!(types(Op::Divide, &[i, i]).result, f);
    assert_eq!((types(Op::Abs, &[c]).compute, types(Op::Abs, &[c]).result), (c, f));
    assert_eq!([i, f, c].map(|ty| Policy::Standard.commit(ty)), [DType::I32, DType::F32, DType::C64]);
    for op in Op::ALL.into_iter().filter(|op| op.row().result == ResultRule::Bool) {
        assert_eq!(types(op, &vec![f; op.arity()]).result, DType::Bool.into());
    }
}

#[test]
fn policies_read_back() {
    for policy in Policy::ALL {
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
    assert_eq!(Policy::default(), Policy::Standard);
    let unknown = "numpy".parse::<Policy>().unwrap_err();
    assert!(unknown.to_string().starts_with("unknown promotion policy `numpy`; known are standard strict"));
}

#[test]
fn other_names_of_policies_are_read() {
    assert_eq!((Policy::Jax, Policy::JaxStrict), (Policy::Standard, Policy::Strict));
    assert_eq!(("jax".parse(), "jax_strict".parse()), (Ok(Policy::Jax), Ok(Policy::JaxStrict)));
    assert_eq!(Policy::Jax.to_string(), "standard");
    assert!(Policy::new("jax", Policy::NumPy2.system().joins, Policy::NumPy2.rules()).is_err());
}

#[test]
fn set_defaults_reach_weak_results_under_every_policy() {
    let defaults = Defaults { int: DType::I16, float: DType::F16, complex: DType::C64 };
    for policy in [Policy::NumPy2, Policy::NumPy1, Policy::Torch, Policy::IvyPrecise, Policy::IvyImprecise] {
        let policy = policy.with_defaults(defaults).unwrap();
        let add = |weak: Weak| policy.resolve_op(Op::Add, &[DType::Bool.into(), weak.into()]).unwrap().result;
        assert_eq!(Weak::ALL.map(add), [DType::I16, DType::F16, DType::C64].map(ValueType::from), "{policy}");
    }
    // Ivy makes a float beside an integer a double whatever the default float is; NumPy does not.
    let mixed = |policy: Policy| {
        let policy = policy.with_defaults(defaults).unwrap();
        policy.resolve_op(Op::Add, &[DType::U8.into(), Weak::Float.into()]).unwrap().result
    };
    assert_eq!(mixed(Policy::IvyPrecise), DType::F64.into());
    assert_eq!(mixed(Policy::NumPy2), DType::F16.into());
}

#[test]
fn ops_may_have_rules_of_their_own() {
    let types = |policy: Policy, op: Op, operands: &[DType]| {
        let operands: Vec<ValueType> = operands.iter().map(|&dtype| dtype.into()).collect();
        policy.resolve_op(op, &operands).map(|types| types.result)
    };
    let floats = [DType::F32, DType::F32];
    assert_eq!(types(Policy::NumExpr, Op::Maximum, &floats), Ok(DType::F64.into()));
    assert_eq!(types(Policy::NumExpr, Op::Complex, &floats), Ok(DType::C128.into()));
    assert_eq!(types(Policy::NumExpr, Op::Subtract, &floats), Ok(DType::F32.into()));
    assert_eq!(types(Policy::NumPy2, Op::Maximum, &floats), Ok(DType::F32.into()));
    // An own rule is for bool, too, which is otherwise no number.
    assert_eq!(types(Policy::NumExpr, Op::Fmod, &[DType::Bool; 2]), Ok(DType::F32.into()));
    assert!(types(Policy::NumExpr, Op::Remainder, &[DType::Bool; 2]).is_err());
    // Other defaults reach bare numbers beside arrays.
    let narrow = Policy::NumExpr.with_defaults(Defaults::BITS_32).unwrap();
    assert_eq!(narrow.join(DType::F32.into(), Weak::Float.into()), Some(DType::F32.into()));
    assert_eq!(Policy::NumExpr.join(DType::F32.into(), Weak::Float.into()), Some(DType::F64.into()));
}

#[test]
fn defaults_are_of_the_widths_a_policy_takes() {
    let wide = Policy::Jax32.with_defaults(Defaults::BITS_64).unwrap();
    assert_eq!((wide, wide.defaults()), (Policy::Jax32, Defaults::BITS_32));
    assert_eq!("jax32(i64,f64,c128)".parse(), Ok(Policy::Jax32));
    assert_eq!(wide.resolve_op(Op::Add, &[DType::Bool.into(), Weak::Int.into()]).unwrap().result, Weak::Int.into());
    assert_eq!(wide.commit(Weak::Int.into()), DType::I32);
    // The others are unchanged, wider or narrower.
    let mixed = Defaults { int: DType::U64, float: DType::F16, complex: DType::C64 };
    let narrowed = Defaults { int: DType::U32, ..mixed };
    assert_eq!(Policy::Jax32.with_defaults(mixed).unwrap().defaults(), narrowed);
    assert_eq!(Policy::Jax32Explicit.with_defaults(mixed).unwrap().defaults(), mixed);
    let rules = Rules { defaults: Defaults::BITS_64, ..Policy::Jax32.rules() };
    let own = Policy::new("own_narrow", Policy::Jax32.system().joins, rules).unwrap();
    assert_eq!((own.defaults(), "own_narrow".parse()), (Defaults::BITS_32, Ok(own)));
}

#[test]
fn bare_numbers_that_count_as_their_default_dtype_follow_it() {
    let defaults = [
        Defaults::BITS_32,
        Defaults::BITS_64,
        Defaults { int: DType::U8, float: DType::F16, complex: DType::C128 },
        Defaults { int: DType::I16, float: DType::Bf16, complex: DType::C64 },
    ];
    for defaults in defaults {
        let under = |policy: Policy| policy.with_defaults(defaults).unwrap();
        for (weak, dtype) in Weak::ALL.into_iter().flat_map(|weak| DType::ALL.map(|dtype| (weak, dtype))) {
            let (weak, strong, default) = (ValueType::from(weak), ValueType::from(dtype), defaults.of(weak));
            let met = (dtype == default).then_some(strong);
            assert_eq!(under(Policy::Lax).join(weak, strong), met, "{weak} {dtype} {defaults:?}");
            assert_eq!(under(Policy::Lax).join(strong, weak), met, "{dtype} {weak} {defaults:?}");
            assert_eq!(under(Policy::TensorFlow).join(weak, strong), met, "{weak} {dtype} {defaults:?}");
            // A weak result must be able to hold the other operand.
            let safe = under(Policy::TensorFlowNumpySafe).join(weak, strong);
            assert!(safe.is_none_or(|join| !join.is_weak() || default.holds(dtype)), "{weak} {dtype} {defaults:?}");
        }
        for weak in [Weak::Float, Weak::Complex] {
            let precise = under(Policy::IvyPrecise);
            let dtypes = precise.join(defaults.int.into(), defaults.of(weak).into());
            assert_eq!(precise.join(Weak::Int.into(), weak.into()), dtypes, "{weak} {defaults:?}");
        }
    }
    for policy in Policy::ALL {
        let join = |a, b| policy.system().joins.get(a, b).map(|ty| policy.weak_result(ty));
        for (a, b) in ValueType::ALL.into_iter().flat_map(|a| ValueType::ALL.map(|b| (a, b))) {
            assert_eq!(policy.join(a, b), join(a, b), "{policy}: {a} {b}");
        }
        // The laws do not depend on the defaults: they are checked once per system.
        for defaults in defaults {
            let other = policy.with_defaults(defaults).unwrap();
            let holds = other.audit().is_lawful() && other.non_idempotent().is_empty();
            assert_eq!(holds, policy.is_partial_lattice(), "{other}");
        }
    }
}

#[test]
fn lattices_name_types_in_short_or_at_length() {
    let lattice = |nodes: [&'static str; 3]| {
        let [a, b, top] = nodes;
        Lattice::new("floats", [(a, [top]), (b, [top])]).unwrap()
    };
    let (short, long) = (lattice(["bf16", "f16", "f32"]), lattice(["bfloat16", "float16", "float32"]));
    let policy = |lattice: &Lattice| Policy::from_lattice(lattice, Policy::Standard.rules());
    assert_eq!(policy(&long).unwrap().join(DType::Bf16.into(), DType::F16.into()), Some(DType::F32.into()));
    assert_eq!(policy(&short), policy(&long));
    assert_eq!(long.join_types(DType::Bf16.into(), DType::F16.into()), Some(DType::F32.into()));
    let audit = lattice(["half", "f16", "f32"]).audit();
    assert_eq!((audit.types.len(), audit.unjudged), (2, vec!["half".to_owned()]));
    let misspelled = [["half", "f16", "f32"], ["f16", "f99", "f64"], ["f16", "flaot32", "f64"]].map(lattice);
    let refused = misspelled.into_iter().chain([lattice(["float32", "f16", "f32"])]);
    let messages: Vec<String> = refused.map(|lattice| policy(&lattice).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(messages.join("\n"), @"
    error[promotion]: policy: a node of lattice `floats` is no type: unknown dtype `half`
      dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      weak types: i* f* c*
      help: write `f16`
    error[promotion]: policy: a node of lattice `floats` is no type: unknown dtype `f99`
      dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      weak types: i* f* c*
      help: long names such as `float32` are read too
    error[promotion]: policy: a node of lattice `floats` is no type: unknown dtype `flaot32`
      dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      weak types: i* f* c*
      help: long names such as `float32` are read too
    error[promotion]: policy: two nodes of lattice `floats` are f32
      the nodes: float32 f32 f16
      help: name each dtype once, by its short or its long name
    ");
}

#[test]
fn the_modulus_of_a_weak_complex_is_that_of_its_dtype() {
    // A weak float would be f32 here, and the modulus of the default c128 is not.
    let types = Policy::TensorFlowNumpyAll.resolve_op(Op::Abs, &[Weak::Complex.into()]).unwrap();
    assert_eq!((types.compute, types.result), (Weak::Complex.into(), DType::F64.into()));
}
