//! Casting modes: Ivy's worked table, the differences from it, and the modes' results for each op and dtype.

use insta::assert_snapshot;
use ndjit_ir::infer::Operation;
use ndjit_ir::support::modes::{narrower, wider};
use ndjit_ir::support::*;
use ndjit_ir::{DType, DTypeSet, Op, Policy, ValueType};

fn set(text: &str) -> DTypeSet {
    text.split_whitespace().map(|name| name.parse::<DTypeSet>().unwrap()).fold(DTypeSet::EMPTY, DTypeSet::union)
}

fn candidate(modes: CastingModes, dtype: &str, supported: DTypeSet) -> String {
    let defaults = Policy::Standard.defaults();
    let chosen = modes.candidate(dtype.parse().unwrap(), supported, defaults);
    chosen.map_or("none".to_owned(), |(to, mode)| format!("{to} {}", mode.name()))
}

/// Torch's dtypes.
fn torch() -> DTypeSet {
    DTypeSet::ALL.difference(set("u16 u32 u64"))
}

/// Ivy's caster on torch's dtypes: mode, dtype, unsupported dtypes, result. Measured with ivy 1.0.0.5.
const IVY: &[(CastingModes, &str, &str, &str)] = &[
    (CastingModes::UP, "f16", "f16 c64 c128", "f32 up"),
    (CastingModes::ALL, "f16", "f16 c64 c128", "f32 up"),
    (CastingModes::CROSS, "f16", "f16 c64 c128", "none"),
    (CastingModes::UP, "c64", "f16 c64 c128", "none"),
    (CastingModes::UP, "c64", "c64", "c128 up"),
    (CastingModes::CROSS, "f16", "float", "i32 cross"),
    (CastingModes::ALL, "f16", "float", "i32 cross"),
    (CastingModes::UP, "f16", "float", "none"),
    (CastingModes::DOWN, "f64", "float", "none"),
    (CastingModes::CROSS, "i32", "integer", "f32 cross"),
    (CastingModes::CROSS, "bool", "integer bool", "f32 cross"),
    (CastingModes::CROSS, "bool", "bool", "i32 cross"),
    (CastingModes::UP, "i8", "i8 i16", "i32 up"),
    (CastingModes::ALL, "i8", "i8", "i16 up"),
    (CastingModes::ALL, "i64", "i64", "i32 down"),
    (CastingModes::ALL, "u8", "u8", "none"),
    (CastingModes::UP, "u8", "u8", "none"),
    (CastingModes::DOWN, "u8", "u8", "none"),
    (CastingModes::UP, "f32", "f16", "none"),
    (CastingModes::DOWN, "f16", "f16 bf16", "none"),
    (CastingModes::DOWN, "f32", "f32", "f16 down"),
    (CastingModes::ALL, "f16", "f16", "f32 up"),
    (CastingModes::UP, "i64", "i64", "none"),
    (CastingModes::DOWN, "i16", "i16", "i8 down"),
    (CastingModes::DOWN, "i8", "i8", "none"),
    (CastingModes::UP, "bool", "bool", "none"),
];

#[test]
fn ivys_worked_table() {
    for &(modes, dtype, unsupported, expected) in IVY {
        let found = candidate(modes, dtype, torch().difference(set(unsupported)));
        assert_eq!(found, expected, "{modes} of {dtype}, unsupported {unsupported}");
    }
}

/// Deliberate differences: Ivy's result, and ours.
const DIFFERENT: &[(CastingModes, &str, &str, &str, &str)] = &[
    // f16 and bf16 are not ordered: bf16 has fewer digits and more range.
    (CastingModes::DOWN, "f16", "f16", "bf16", "none"),
    (CastingModes::UP, "bf16", "bf16", "f16", "f32 up"),
    // All enabled modes are tried; Ivy tries only cross, then only up.
    (CastingModes::CROSS.with(Mode::Up, true), "f16", "f16", "none", "f32 up"),
    (CastingModes::UP.with(Mode::Down, true), "i64", "i64", "none", "i32 down"),
    // No component is dropped.
    (CastingModes::CROSS, "c64", "float complex", "i32", "none"),
    // The result is supported.
    (CastingModes::CROSS, "i32", "integer float", "f32", "none"),
    // Cross depends on the kind it replaces.
    (CastingModes::CROSS, "f16", "integer f16", "f32", "none"),
];

#[test]
fn differences_from_ivy() {
    for &(modes, dtype, unsupported, ivy, expected) in DIFFERENT {
        let found = candidate(modes, dtype, torch().difference(set(unsupported)));
        assert_eq!(found, expected, "{modes} of {dtype}, unsupported {unsupported}");
        assert_ne!(found.split(' ').next(), Some(ivy), "no difference: {dtype}");
    }
}

#[test]
fn up_and_down_stay_in_the_kind() {
    let row = |d: DType| {
        let names = |list: Vec<DType>| list.iter().map(|d| d.name()).collect::<Vec<_>>().join(" ");
        format!("{d}: up {}; down {}", names(wider(d).collect()), names(narrower(d).collect()))
    };
    assert_snapshot!(DType::ALL.map(row).join("\n"), @r"
    bool: up ; down 
    u8: up u16 u32 u64; down 
    u16: up u32 u64; down u8
    u32: up u64; down u16 u8
    u64: up ; down u32 u16 u8
    i8: up i16 i32 i64; down 
    i16: up i32 i64; down i8
    i32: up i64; down i16 i8
    i64: up ; down i32 i16 i8
    bf16: up f32 f64; down 
    f16: up f32 f64; down 
    f32: up f64; down f16 bf16
    f64: up ; down f32 f16 bf16
    c64: up c128; down 
    c128: up ; down c64
    ");
}

/// All eight combinations of modes.
fn combinations() -> impl Iterator<Item = CastingModes> {
    (0..8).map(|bits| {
        let on = Mode::ALL.into_iter().enumerate();
        on.fold(CastingModes::ERROR, |modes, (i, mode)| modes.with(mode, bits >> i & 1 == 1))
    })
}

#[test]
fn a_candidate_is_supported_keeps_all_parts_and_comes_from_a_mode_that_is_on() {
    let defaults = Policy::Standard.defaults();
    for (bits, dtype) in (0u16..1 << 15).step_by(7).flat_map(|bits| DType::ALL.map(|dtype| (bits, dtype))) {
        let supported: DTypeSet = DType::ALL.into_iter().filter(|&d| bits >> d as u16 & 1 == 1).collect();
        for modes in combinations() {
            let Some((to, mode)) = modes.candidate(dtype, supported, defaults) else { continue };
            assert!(modes.has(mode) && supported.contains(to) && !supported.contains(dtype));
            assert!(to.is_complex() || !dtype.is_complex());
            assert_eq!(mode != Mode::Cross, to.kind() == dtype.kind(), "{dtype} -> {to}");
        }
    }
}

#[test]
fn modes_as_text() {
    let all: Vec<String> = combinations().map(|modes| modes.to_string()).collect();
    assert_snapshot!(all.join(" "), @"error cross up cross+up down cross+down up+down cross+up+down");
}

#[test]
fn results_are_supported_too() {
    let device = |name: &str, dtype: DType| {
        Device::describe(name).invalid(dtype, "test", "https://example.org").register().unwrap()
    };
    let (no_f32, no_bool) = (device("results_no_f32", DType::F32), device("results_no_bool", DType::Bool));
    let on = |device, op: Op, dtype: DType, casting| {
        let support = Support { device: Some(device), casting, ..Support::default() };
        let operands: Vec<ValueType> = [dtype, dtype][..op.arity()].iter().map(|&d| d.into()).collect();
        support.resolve(&Operation::op(op, Policy::Standard), &operands)
    };
    assert_snapshot!(on(no_f32, Op::Abs, DType::C64, CastingModes::ERROR).unwrap_err(), @r"
    error[dtype]: abs: the device results_no_f32 has no f32
      because: test (https://example.org)
      abs gives f32 here
      supported: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f64 c128
      help: cast explicitly: `cast(x, DType::C128)`; or `with_casting(CastingModes::UP, || …)` casts to c128
    ");
    let up = on(no_f32, Op::Abs, DType::C64, CastingModes::UP).unwrap();
    assert_eq!((&up.casts[..], up.types.result), (&[Some((DType::C128, Mode::Up))][..], DType::F64.into()));
    assert_snapshot!(on(no_bool, Op::Less, DType::I32, CastingModes::ALL).unwrap_err(), @r"
    error[dtype]: less: the device results_no_bool has no bool
      because: test (https://example.org)
      less gives bool here
      supported: nothing that less computes in
      help: use another operation, or support a dtype that this one computes in
    ");
    assert!(on(no_bool, Op::Add, DType::I32, CastingModes::ERROR).is_ok());
    // Declarations apply to results like operands, except bools, which are always allowed as conditions.
    let declared = |op: Op, dtype: DType, excluded: DType| {
        let restrictions = Restrictions::NONE.with(Restriction::unsupported(excluded));
        let support = Support { restrictions, ..Support::default() };
        let operands: Vec<ValueType> = [dtype, dtype][..op.arity()].iter().map(|&d| d.into()).collect();
        support.resolve(&Operation::op(op, Policy::Standard), &operands)
    };
    let refused = declared(Op::Abs, DType::C64, DType::F32).unwrap_err();
    assert_eq!(refused.headline(), "abs: f32 is not supported here");
    assert_eq!(declared(Op::Less, DType::F32, DType::Bool).unwrap().types.result, DType::Bool.into());
    assert!(declared(Op::LogicalNot, DType::Bool, DType::Bool).is_err());
}

/// For every op, dtype and modes: the result has a dtype of the device.
#[test]
fn nothing_gives_what_a_device_lacks() {
    let missing = |missing: DType| {
        let name = format!("gives_no_{missing}");
        Device::describe(name).invalid(missing, "test", "https://example.org").register().unwrap()
    };
    for (lacks, op, dtype) in [DType::Bool, DType::F32, DType::F64]
        .into_iter()
        .flat_map(|lacks| Op::ALL.into_iter().flat_map(move |op| DType::ALL.map(move |dtype| (lacks, op, dtype))))
    {
        let operands = vec![ValueType::from(dtype); op.arity()];
        for casting in combinations() {
            let support = Support { device: Some(missing(lacks)), casting, ..Support::default() };
            let Ok(adapted) = support.resolve(&Operation::op(op, Policy::Standard), &operands) else { continue };
            assert_ne!(Policy::Standard.commit(adapted.types.result), lacks, "{op} of {dtype}");
        }
    }
}

/// For every op and pair of dtypes: with all modes on, an op is either computed in a supported dtype, or refused like without.
#[test]
fn adapted_ops_compute_in_supported_dtypes() {
    let device = Device::describe("narrow")
        .invalid([DType::F16, DType::U8], "test", "https://example.org")
        .unsupported(Op::ALL, [DType::I8, DType::F64], "test", "https://example.org")
        .register()
        .unwrap();
    let policy = Policy::Standard;
    let mut cast = 0;
    for (op, a, b) in Op::ALL.into_iter().flat_map(|op| pairs().map(move |(a, b)| (op, a, b))) {
        let operands: Vec<ValueType> = [a, a, a, b][4 - op.arity()..].iter().map(|&d| d.into()).collect();
        for modes in combinations() {
            let support = Support { device: Some(device), casting: modes, ..Support::default() };
            let Ok(adapted) = support.resolve(&Operation::op(op, policy), &operands) else { continue };
            let compute = policy.commit(adapted.types.compute);
            assert!(supported_dtypes(op, device).contains(compute), "{op} of {a} {b}: {compute}");
            cast += usize::from(!adapted.casts.is_empty());
            assert!(modes != CastingModes::ERROR || adapted.casts.is_empty());
            // Explicit casts give the same types.
            let mut written = operands.clone();
            for (ty, chosen) in written.iter_mut().zip(&adapted.casts) {
                if let Some((to, _)) = chosen {
                    *ty = (*to).into();
                }
            }
            assert_eq!(policy.resolve_op(op, &written).unwrap(), adapted.types);
        }
    }
    assert!(cast > 1000, "{cast} combinations were cast");
}

fn pairs() -> impl Iterator<Item = (DType, DType)> {
    DType::ALL.into_iter().flat_map(|a| DType::ALL.into_iter().map(move |b| (a, b)))
}

#[test]
fn without_limits_and_modes_nothing_changes() {
    for (op, a, b) in Op::ALL.into_iter().flat_map(|op| pairs().map(move |(a, b)| (op, a, b))) {
        let operands: Vec<ValueType> = [a, a, a, b][4 - op.arity()..].iter().map(|&d| d.into()).collect();
        for device in [None, Some(Device::CPU)] {
            let support = Support { device, ..Support::default() };
            match (
                support.resolve(&Operation::op(op, Policy::Standard), &operands),
                Policy::Standard.resolve_op(op, &operands),
            ) {
                (Ok(adapted), Ok(types)) => assert!(adapted.types == types && adapted.casts.is_empty()),
                (Err(adapted), Err(plain)) => assert_eq!(adapted.headline(), plain.headline()),
                (adapted, plain) => panic!("{op} of {a} {b}: {adapted:?}, {plain:?}"),
            }
        }
    }
}

#[test]
fn without_64_bit_types_no_mode_takes_one() {
    let device = Device::describe("no_f32").unsupported([Op::Exp], DType::F32, "test", "https://example.org");
    let support = Support { device: Some(device.register().unwrap()), casting: CastingModes::UP, ..Support::default() };
    let exp = |policy: Policy| support.resolve(&Operation::op(Op::Exp, policy), &[DType::F32.into()]);
    assert_eq!(exp(Policy::Standard).unwrap().casts[..], [Some((DType::F64, Mode::Up))]);
    assert!(exp(Policy::Jax32).is_err());
}
