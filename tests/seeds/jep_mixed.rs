//! JEP 9407, "Design of Type Promotion Semantics for JAX", the middle: the combined lattice, criteria, mixed promotion.
//! <https://docs.jax.dev/en/latest/jep/9407-type-promotion.html>, `docs/jep/9407-type-promotion.md` at cec06d116c.

use super::support::{both, gives, graph, node_pairs, page_lattice, undefined};
use insta::assert_snapshot;
use ndjit::promotion::lattice::NAMED;
use ndjit::promotion::{Finding, NoLattice};
use ndjit::{DType, Defaults, ErrorCode, Lattice, Policy, ValueType, Weak, bf16, f16, finfo, iinfo, with_policy};
use ndjit_ir::Kind;

/// Asserts that NumPy has every join of the lattice, with 64-bit weak results; returns their number.
#[track_caller]
fn numpy_agrees(lattice: &Lattice) -> usize {
    let wide = |ty: ValueType| match ty {
        ValueType::Weak(weak) => Defaults::BITS_64.of(weak).into(),
        strong => strong,
    };
    let mut defined = 0;
    for (a, b) in node_pairs(lattice) {
        let (a, b) = (a.parse().unwrap(), b.parse().unwrap());
        let Some(join) = lattice.join_types(a, b) else { continue };
        for policy in [Policy::NumPy1, Policy::NumPy2] {
            assert_eq!(policy.join(a, b), Some(wide(join)), "{a} with {b} in {policy}");
        }
        defined += 1;
    }
    defined
}

const COMBINED: &str = "{
    'i*': ['f*', 'u8', 'i8'], 'f*': ['c*', 'f16'], 'c*': ['c64'],
    'u8': ['u16'], 'u16': ['u32'], 'u32': ['u64'],
    'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64'],
    'f16': ['f32'], 'f32': ['f64'],
    'c64': ['c128']
}";

// P26
// "not (yet) a true lattice: there are many pairs of nodes for which a join does not exist"
#[test]
fn partial_lattice_of_python_and_numpy() {
    let lattice = page_lattice("jep_combined", COMBINED);
    assert_eq!((lattice.nodes().len(), undefined(&lattice)), (16, 256 - 94));
    assert_eq!((lattice.join("u8", "i8"), lattice.join("f16", "c64")), (None, None));
    assert_snapshot!(lattice.total().unwrap_err(), @"`jep_combined` is only a partial lattice: f* and u8 have no common upper bound (80 more pairs like this); add a node above both");
}

// P27 "the defined portion of this partial lattice does correctly describe NumPy's array promotion behavior"
#[test]
fn partial_lattice_is_numpy_where_defined() {
    assert_eq!(numpy_agrees(&Lattice::new("page", graph(COMBINED)).unwrap()), 94);
}

// P28 "1. the graph should remain a (partial) lattice"
#[test]
fn audit_commutative_and_associative() {
    for named in NAMED {
        if let Ok(lattice) = Lattice::named(named.name) {
            assert!(lattice.audit().is_lawful(), "{}", named.name);
        }
    }
    let lawful: Vec<&str> = Policy::ALL.into_iter().filter(|&p| p.audit().is_lawful()).map(Policy::name).collect();
    assert_eq!(lawful, ["standard", "strict", "jax32", "jax32_explicit", "tensorflow_np_all", "lax", "numexpr"]);
}

// P29 "2. we should never promote complex to float"
#[test]
fn audit_drops_no_component() {
    for policy in Policy::ALL {
        assert!(policy.audit().dropped_component.is_empty(), "{policy}");
    }
    // A table that does so is reported.
    let dropped = ndjit::Audit::of("drops", &|a, b| if a.kind() == Kind::Complex { Some(b) } else { Some(a) });
    let finding = Finding { left: DType::F32.into(), right: DType::C64.into(), result: DType::F32.into() };
    assert!(dropped.dropped_component.contains(&finding));
}

// P30 "3. the maximum possible uint32 is twice as large as the maximum possible int32, so we should not implicitly promote
// uint32 to int32"
// JAX itself does so with 64-bit types off.
#[test]
fn audit_no_unhandled_overflow() {
    assert_eq!(iinfo(DType::U32).unwrap().max, 2 * iinfo(DType::I32).unwrap().max + 1);
    let (u32, i32) = (ValueType::from(DType::U32), ValueType::from(DType::I32));
    let overflows: Vec<&str> =
        Policy::ALL.into_iter().filter(|policy| policy.join(u32, i32) == Some(i32)).map(Policy::name).collect();
    assert_eq!(overflows, ["jax32", "jax32_explicit"]);
    for policy in [Policy::Jax32, Policy::Jax32Explicit] {
        assert!(policy.audit().lost_magnitude.contains(&Finding { left: u32, right: i32, result: i32 }), "{policy}");
    }
}

// P31 "4. an int64 value may have 64 bits of mantissa, so promoting int64 to float64 represents a possible loss of precision.
// However, the maximum representable float64 is larger"
#[test]
fn audit_reports_precision_loss() {
    assert!(finfo(DType::F64).unwrap().max > iinfo(DType::I64).unwrap().max as f64);
    let rounded = both!(|x| x.cast(DType::F64), [(1i64 << 53) + 1]);
    gives(rounded, DType::F64, &[(1u64 << 53) as f64]);
    let (i64, f64) = (ValueType::from(DType::I64), ValueType::from(DType::F64));
    let audit = Policy::Standard.audit();
    let finding = Finding { left: i64, right: f64, result: f64 };
    assert!(audit.lost_precision.contains(&finding) && !audit.lost_magnitude.contains(&finding));
}

// P32 "5. binary promotion should avoid resulting in types that are wider than the inputs"
#[test]
fn audit_reports_wider_than_inputs() {
    let wider: Vec<String> =
        Policy::Standard.audit().wider.iter().map(|f| format!("{} {} = {}", f.left, f.right, f.result)).collect();
    assert_snapshot!(wider.join(", "), @"u8 i8 = i16, u16 i8 = i32, u16 i16 = i32, u32 i8 = i64, u32 i16 = i64, u32 i32 = i64, bf16 f16 = f32, bf16 c* = c64, f16 c* = c64");
}

const FLOAT_COMPLEX: &str = "{
    'i*': ['f*', 'u8', 'i8'], 'f*': ['c*', 'f16'], 'c*': ['c64'],
    'u8': ['u16'], 'u16': ['u32'], 'u32': ['u64'],
    'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64'],
    'f16': ['f32'], 'f32': ['f64', 'c64'], 'f64': ['c128'],
    'c64': ['c128']
}";

// P33 "cast float to complex while maintaining the width of the real part"
#[test]
fn float_complex_lattice() {
    let lattice = page_lattice("jep_float_complex", FLOAT_COMPLEX);
    assert_eq!(undefined(&lattice), 256 - 112);
    for (a, b, join) in [("f16", "c64", "c64"), ("f64", "c64", "c128"), ("f32", "c*", "c64"), ("f64", "c*", "c128")] {
        assert_eq!(lattice.join(a, b), Some(join));
    }
}

// P34 "exactly the semantics used by Numpy in mixed float/complex"
#[test]
fn float_complex_is_numpys() {
    assert_eq!(numpy_agrees(&Lattice::new("page", graph(FLOAT_COMPLEX)).unwrap()), 112);
}

// P35 "the largest uint8 numbers are not representable in int8"
#[test]
fn uint8_max_exceeds_int8_max() {
    assert_eq!((iinfo(DType::U8).unwrap().max, iinfo(DType::I8).unwrap().max), (255, 127));
    assert!(!DType::I8.holds(DType::U8) && DType::I16.holds(DType::U8));
}

const SIGNED_UNSIGNED: &str = "{
    'i*': ['f*', 'u8', 'i8'], 'f*': ['c*', 'f16'], 'c*': ['c64'],
    'u8': ['u16', 'i16'], 'u16': ['u32', 'i32'], 'u32': ['u64', 'i64'],
    'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64'],
    'f16': ['f32'], 'f32': ['f64', 'c64'], 'f64': ['c128'],
    'c64': ['c128']
}";

// P36
#[test]
fn signed_unsigned_lattice() {
    let lattice = page_lattice("jep_option0", SIGNED_UNSIGNED);
    assert_eq!(undefined(&lattice), 256 - 136);
    for (a, b, join) in [("u8", "i8", "i16"), ("u16", "i8", "i32"), ("u32", "i32", "i64"), ("u8", "i32", "i32")] {
        assert_eq!(lattice.join(a, b), Some(join));
    }
}

// P37 "precisely the promotion semantics implemented by Numpy for mixed-integer promotion"
#[test]
fn signed_unsigned_is_numpys() {
    assert_eq!(numpy_agrees(&Lattice::new("page", graph(SIGNED_UNSIGNED)).unwrap()), 136);
}

// P38 "int128, not a standard available dtype"
#[test]
fn uint64_with_signed_needs_int128() {
    let lattice = Lattice::new("page", graph(SIGNED_UNSIGNED)).unwrap();
    for dtype in DType::ALL_SIGNED {
        assert!(lattice.upper_bounds(["u64", dtype.name()]).is_empty(), "{dtype}");
    }
    assert_eq!(lattice.upper_bounds(["u64"]), ["u64"]);
}

// P39 (np.uint64(1) + np.int64(1)).dtype -> dtype('float64')
// JAX's answer is a weak float, stored with the default width.
#[test]
fn np_uint64_plus_int64() {
    for policy in [Policy::NumPy1, Policy::NumPy2, Policy::Jax2019] {
        gives(both!(|x, y| with_policy(policy, move || x + y), 1u64, 1i64), DType::F64, &[2.0f64]);
    }
    gives(both!(|x, y| x + y, 1u64, 1i64), Weak::Float, &[2.0f32]);
    for policy in [Policy::ArrayApi, Policy::Torch, Policy::TensorFlow, Policy::Strict] {
        let error = both!(|x, y| with_policy(policy, move || x + y), 1u64, 1i64).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Promotion);
    }
}

// P40 "it's the only case in which promotion of integer types does not result in an integer"
#[test]
fn u64_is_the_only_integer_join_that_is_no_integer() {
    let signed_with_u64 = |a: DType, b: DType| a == DType::U64 && b.is_signed();
    for a in DType::ALL_INT {
        for b in DType::ALL_INT {
            let join = Policy::NumPy2.join(a.into(), b.into()).unwrap();
            let integer = matches!(join.kind(), Kind::UInt | Kind::Int);
            assert_eq!(!integer, signed_with_u64(a, b) || signed_with_u64(b, a), "{a} with {b}");
        }
    }
}

// P41 "A 16-bit integer cannot be represented at full precision by a 16-bit float, which has only 10 bits of mantissa"
#[test]
fn int16_is_not_exact_in_float16() {
    assert_eq!(finfo(DType::F16).unwrap().mantissa_digits, 10 + 1, "with the leading bit");
    gives(both!(|x| x.cast(DType::F16), [2049i16]), DType::F16, &[f16::from_f32(2048.0)]);
    assert!(!DType::F16.holds(DType::I16) && !DType::Bf16.holds(DType::I16) && DType::F32.holds(DType::I16));
    gives(both!(|x| x.cast(DType::Bf16), [257i16]), DType::Bf16, &[bf16::from_f32(256.0)]);
}

const NUMPY_LIKE: &str = "{
    'i*': ['f*', 'u8', 'i8'], 'f*': ['c*', 'f16'], 'c*': ['c64'],
    'u8': ['u16', 'i16', 'f16'], 'u16': ['u32', 'i32', 'f32'], 'u32': ['u64', 'i64', 'f64'],
    'i8': ['i16', 'f16'], 'i16': ['i32', 'f32'], 'i32': ['i64', 'f64'],
    'f16': ['f32'], 'f32': ['f64', 'c64'], 'f64': ['c128'],
    'c64': ['c128']
}";

/// Pairs with several minimal upper bounds, with their bounds.
fn ambiguous() -> Vec<(String, String, Vec<String>)> {
    match Lattice::new("page", graph(NUMPY_LIKE)).unwrap_err().reason {
        NoLattice::Ambiguous(pairs) => pairs,
        other => panic!("{other:?}"),
    }
}

// P42 "the pair {i8, u8} no longer has a unique least upper bound: the possibilities are i16 and f16"
#[test]
fn numpy_like_graph_is_no_lattice() {
    let lines: Vec<String> =
        ambiguous().iter().map(|(a, b, bounds)| format!("{a} {b}: {}", bounds.join(" "))).collect();
    assert_snapshot!(lines.join("\n"), @"
    u8 i8: f16 i16
    i8 u16: i32 f32
    i8 u32: i64 f64
    u16 i16: i32 f32
    i16 u32: i64 f64
    u32 i32: i64 f64
    ");
    assert_snapshot!(Lattice::named("jep_numpy_like").unwrap_err(), @"`jep_numpy_like` is no lattice: the minimal common upper bounds of u8 and i8 are f16 and i16, none of them is the least (5 more pairs like this); add an edge between these bounds, or a node below them and above the pair");
}

// P43 "the source of NumPy's non-associative type promotion highlighted above"
// "effectively what Numpy type promotion does" is loose: no float is above the graph's i64, where NumPy has float64.
#[test]
fn numpy_like_graph_is_the_source_of_p10() {
    let ambiguous = ambiguous();
    let among = |triple: [DType; 3]| {
        let has = |name: &String| triple.iter().any(|dtype| dtype.name() == name);
        ambiguous.iter().any(|(a, b, _)| has(a) && has(b))
    };
    let mut triples = 0;
    for triple in Policy::NumPy2.audit().non_associative_dtypes() {
        assert!(among(triple), "{triple:?}");
        triples += 1;
    }
    assert_eq!(triples, 28);
    let without_unsigned = graph(NUMPY_LIKE).into_iter().filter(|(node, _)| !node.starts_with('u'));
    let signed = Lattice::new("page", without_unsigned).unwrap();
    assert!(signed.upper_bounds(["i64", "f16"]).is_empty());
    assert_eq!(Policy::NumPy2.join(DType::I64.into(), DType::F16.into()), Some(DType::F64.into()));
}
