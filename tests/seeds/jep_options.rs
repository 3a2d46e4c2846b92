//! JEP 9407, "Design of Type Promotion Semantics for JAX", its options 0 to 3 for integers with floats.
//! <https://docs.jax.dev/en/latest/jep/9407-type-promotion.html>, `docs/jep/9407-type-promotion.md` at cec06d116c.
//!
//! An option's lattice is also a policy, so its sums are computed.

use super::support::{both, gives, graph, node_pairs, page_lattice, text, undefined};
use insta::assert_snapshot;
use ndjit::promotion::NoLattice;
use ndjit::{DType, Lattice, Policy, ValueType, Weak, f16, with_policy};

/// The page's graph with some additional edges `(lower, upper)`.
fn extended<'a>(dict: &'a str, edges: &[(&'a str, &'a str)]) -> Result<Lattice, NoLattice> {
    let more = edges.iter().map(|&(lower, upper)| (lower, vec![upper]));
    Lattice::new("extended", graph(dict).into_iter().chain(more)).map_err(|error| error.reason)
}

/// The policy of an option's lattice, with the other rules of JAX.
fn policy(name: &str) -> Policy {
    Policy::from_lattice(&Lattice::named(name).unwrap(), Policy::Standard.rules()).unwrap()
}

#[track_caller]
fn joins(lattice: &Lattice, joins: &[(&str, &str, &str)]) {
    for (a, b, join) in joins {
        assert_eq!(lattice.join(a, b), Some(*join), "{a} with {b}");
    }
}

/// The dtypes without a join with this one.
fn undefined_with<'a>(lattice: &'a Lattice, node: &str) -> Vec<&'a str> {
    let pairs = node_pairs(lattice).filter(|(a, b)| *a == node && lattice.join(a, b).is_none());
    pairs.map(|(_, b)| b).collect()
}

/// Pairs of a graph that is not a lattice, with their minimal upper bounds.
#[track_caller]
fn ambiguous(reason: NoLattice) -> Vec<String> {
    match reason {
        NoLattice::Ambiguous(pairs) => {
            pairs.iter().map(|(a, b, bounds)| format!("{a} {b}: {}", bounds.join(" "))).collect()
        }
        other => panic!("{other:?}"),
    }
}

// P44 "leave as undefined any mixed integer/float promotion beyond Python scalars, stopping with the partial lattice from the
// previous section"
#[test]
fn option_0() {
    let lattice = Lattice::named("jep_option0").unwrap();
    assert_eq!(undefined(&lattice), 120);
    for int in DType::ALL_INT {
        for float in [DType::F16, DType::F32, DType::F64] {
            assert_eq!(lattice.join(int.name(), float.name()), None, "{int} with {float}");
        }
    }
    let policy = policy("jep_option0");
    gives(both!(|x| with_policy(policy, move || x + 1), [1.0f32]), DType::F32, &[2.0f32]);
    let error = both!(|x, y| with_policy(policy, move || x + y), [1.0f32], [1i32]).unwrap_err();
    assert_snapshot!(text(error), @"
    error[promotion]: add: the jep_option0 policy does not promote f32 and i32
      x: f32[1] from argument 0
      y: i32[1] from argument 1
      help: cast explicitly: `cast(y, DType::F32)`; f32 keeps 24 binary digits, i32 has 31
    ");
    let cast = both!(|x, y| with_policy(policy, move || x + y.cast(DType::F32)), [1.0f32], [1i32]);
    gives(cast, DType::F32, &[2.0f32]);
}

const OPTION_1: &str = "{
    'i*': ['f*', 'u8', 'i8'], 'f*': ['c*', 'f16'], 'c*': ['c64'],
    'u8': ['u16', 'i16'], 'u16': ['u32', 'i32'], 'u32': ['u64', 'i64'],
    'i8': ['i16', 'f16'], 'i16': ['i32', 'f32'], 'i32': ['i64', 'f64'],
    'f16': ['f32'], 'f32': ['f64', 'c64'], 'f64': ['c128'],
    'c64': ['c128']
}";

// P45 "Option 1: Avoiding All Precision Loss"
#[test]
fn option_1() {
    let lattice = page_lattice("jep_option1", OPTION_1);
    joins(&lattice, &[("u8", "f16", "f32"), ("i8", "f16", "f16"), ("i16", "f32", "f32"), ("i32", "f32", "f64")]);
    assert!(lattice.audit().lost_precision.is_empty());
    let policy = policy("jep_option1");
    gives(both!(|x, y| with_policy(policy, move || x + y), [1i32], [1.0f32]), DType::F64, &[2.0f64]);
}

// P46 "it still leaves int64 and uint64 promotion undefined"
// So is u32 with any float: above it are only these two.
#[test]
fn option_1_leaves_i64_and_u64_undefined() {
    let lattice = Lattice::named("jep_option1").unwrap();
    assert_eq!(undefined(&lattice), 50);
    let inexact = ["f*", "f16", "c*", "c64", "f32", "f64", "c128"];
    let sorted = |mut names: Vec<&'static str>| {
        names.sort();
        names
    };
    let undefined_with = |node| {
        let found = undefined_with(&lattice, node);
        let mut names: Vec<String> = found.into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(undefined_with("u32"), sorted(inexact.to_vec()));
    assert_eq!(undefined_with("i64"), sorted([&inexact[..], &["u64"]].concat()));
    assert_eq!(undefined_with("u64"), sorted([&inexact[..], &["i8", "i16", "i32", "i64"]].concat()));
}

// P47 "We could relax the precision constraint and complete the lattice by drawing connections from i64->f64 and u64->f64"
#[test]
fn option_1_completed_by_i64_f64_and_u64_f64() {
    let lattice = extended(OPTION_1, &[("i64", "f64"), ("u64", "f64")]).unwrap();
    assert!(lattice.is_total());
    joins(&lattice, &[("u32", "f32", "f64"), ("u64", "i64", "f64")]);
    assert!(!lattice.audit().lost_precision.is_empty());
}

// P48 "difficult to find a sensible place to insert bfloat16 while maintaining the lattice property"
// Beside float16 it is no lattice; without an integer below it, it is, but every integer with bfloat16 is then float32.
#[test]
fn option_1_has_no_place_for_bfloat16() {
    let beside = extended(OPTION_1, &[("f*", "bf16"), ("i8", "bf16"), ("bf16", "f32")]).unwrap_err();
    assert_eq!(ambiguous(beside), ["f* i8: f16 bf16"]);
    assert!(Lattice::named("jep_option1_bf16").is_err());
    let apart = extended(OPTION_1, &[("f*", "bf16"), ("bf16", "f32")]).unwrap();
    joins(&apart, &[("i8", "bf16", "f32"), ("f16", "bf16", "f32"), ("f*", "bf16", "bf16")]);
}

// P49 "mixed operations between uint16 and float16 would promote all the way to float64"
// Ivy's page has this sentence of a table in which it is not so.
#[test]
fn option_1_uint16_with_float16_is_float64() {
    let policy = policy("jep_option1");
    let sum = both!(|x, y| with_policy(policy, move || x + y), [1u16], [f16::ONE]);
    gives(sum, DType::F64, &[2.0f64]);
}

const OPTION_2: &str = "{
    'i*': ['f*', 'u8', 'i8'], 'f*': ['c*', 'f16'], 'c*': ['c64'],
    'u8': ['u16', 'i16'], 'u16': ['u32', 'i32'], 'u32': ['u64', 'i64'],
    'i8': ['i16'], 'i16': ['f16', 'i32'], 'i32': ['f32', 'i64'], 'i64': ['f64'],
    'f16': ['f32'], 'f32': ['f64', 'c64'], 'f64': ['c128'],
    'c64': ['c128']
}";

// P50 "Option 2: Avoid most wider-than-necessary promotions"
#[test]
fn option_2() {
    let lattice = page_lattice("jep_option2", OPTION_2);
    let same_width = [("i16", "f16", "f16"), ("i32", "f32", "f32"), ("i64", "f64", "f64")];
    joins(&lattice, &same_width);
    joins(&lattice, &[("u8", "f16", "f16"), ("u16", "f16", "f32")]);
    let policy = policy("jep_option2");
    gives(both!(|x, y| with_policy(policy, move || x + y), [1i32], [1.0f32]), DType::F32, &[2.0f32]);
}

// P51 "will not mis-represent the magnitude"
#[test]
fn option_2_keeps_magnitude() {
    let audit = Lattice::named("jep_option2").unwrap().audit();
    assert!(audit.lost_magnitude.is_empty());
    assert!(!audit.lost_precision.is_empty());
    assert!(!Lattice::named("jep_option3").unwrap().audit().lost_magnitude.is_empty());
}

// P52 "though uint64 remains unpromotable in this scheme"
#[test]
fn option_2_int64_to_float64() {
    let lattice = Lattice::named("jep_option2").unwrap();
    joins(&lattice, &[("i64", "f64", "f64")]);
    assert_eq!(undefined(&lattice), 22);
    assert_eq!(undefined_with(&lattice, "u64").len(), 11);
}

// P53 "a connection from u64 to f64 could be justified more readily"
#[test]
fn option_2_u64_f64_edge() {
    let lattice = extended(OPTION_2, &[("u64", "f64")]).unwrap();
    assert!(lattice.is_total());
    joins(&lattice, &[("u64", "i64", "f64"), ("u64", "f16", "f64")]);
}

// P54 "operations between float32 and uint32 result in float64"
#[test]
fn option_2_float32_with_uint32_is_float64() {
    let policy = policy("jep_option2");
    gives(both!(|x, y| with_policy(policy, move || x + y), [1.0f32], [1u32]), DType::F64, &[2.0f64]);
}

// P55 "difficult to find a sensible place to insert bfloat16", as in option 1
#[test]
fn option_2_has_no_place_for_bfloat16() {
    let beside = extended(OPTION_2, &[("f*", "bf16"), ("i16", "bf16"), ("bf16", "f32")]).unwrap_err();
    assert_eq!(ambiguous(beside), ["f* u8: f16 bf16", "f* i8: f16 bf16", "f* i16: f16 bf16"]);
    assert!(Lattice::named("jep_option2_bf16").is_err());
    let apart = extended(OPTION_2, &[("f*", "bf16"), ("bf16", "f32")]).unwrap();
    joins(&apart, &[("i16", "bf16", "f32"), ("f16", "bf16", "f32")]);
}

// P56 "Option 3": "integers always defer to the width of float types"
#[test]
fn option_3() {
    let lattice = page_lattice(
        "jep_option3_no_bf16",
        "{
        'i*': ['u8', 'i8'], 'f*': ['c*', 'f16'], 'c*': ['c64'],
        'u8': ['u16', 'i16'], 'u16': ['u32', 'i32'], 'u32': ['u64', 'i64'],
        'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64'], 'i64': ['f*'],
        'f16': ['f32'], 'f32': ['f64', 'c64'], 'f64': ['c128'],
        'c64': ['c128']
        }",
    );
    for int in DType::ALL_INT.into_iter().filter(|&dtype| dtype != DType::U64) {
        for float in ["f*", "f16", "f32", "f64"] {
            joins(&lattice, &[(int.name(), float, float)]);
        }
    }
    assert_eq!(lattice.join("u64", "f16"), None);
}

// P57 "f* might be applied to the array output of a mixed computation"
#[test]
fn option_3_array_results_can_be_weak() {
    for policy in [policy("jep_option3_no_bf16"), Policy::Standard] {
        gives(both!(|x| with_policy(policy, move || x + 1.5), [1i32, 2]), Weak::Float, &[2.5f32, 3.5]);
    }
}

// P58 "outside unsigned ints, it avoids all wider-than-necessary promotions: you can never get an f64 output without a 64-bit
// input, and you can never get an f32 output without a 32-bit input"
// Until bfloat16 is added (P60): with float16 it is float32.
#[test]
fn option_3_avoids_wider_results() {
    let wider = |name: &str| -> Vec<String> {
        let audit = Lattice::named(name).unwrap().audit();
        let strong = audit.wider.iter().filter(|f| !f.left.is_weak() && !f.right.is_weak());
        strong.map(|f| format!("{} {} = {}", f.left, f.right, f.result)).collect()
    };
    let unsigned = ["u8 i8 = i16", "u16 i8 = i32", "u16 i16 = i32", "u32 i8 = i64", "u32 i16 = i64", "u32 i32 = i64"];
    assert_eq!(wider("jep_option3_no_bf16"), unsigned);
    assert_eq!(wider("jep_option3"), [&unsigned[..], &["bf16 f16 = f32"]].concat());
}

// P59 "very closely resembles JAX's original ad hoc type promotion scheme"
#[test]
fn option_3_is_close_to_the_2019_table() {
    let lattice = Lattice::named("jep_option3").unwrap();
    let mut differ = 0;
    for (a, b) in node_pairs(&lattice).filter(|(a, b)| !a.ends_with('*') && !b.ends_with('*')) {
        let (x, y): (ValueType, ValueType) = (a.parse().unwrap(), b.parse().unwrap());
        if lattice.join_types(x, y) != Policy::Jax2019.join(x, y) {
            assert!([a, b].contains(&"u64"), "{a} with {b}");
            assert_eq!(lattice.join(a, b), None, "{a} with {b}");
            differ += 1;
        }
    }
    assert_eq!(differ, 20);
}

const OPTION_3_BF16: &str = "{
    'i*': ['u8', 'i8'], 'f*': ['c*', 'f16', 'bf16'], 'c*': ['c64'],
    'u8': ['u16', 'i16'], 'u16': ['u32', 'i32'], 'u32': ['u64', 'i64'],
    'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64'], 'i64': ['f*'],
    'f16': ['f32'], 'bf16': ['f32'], 'f32': ['f64', 'c64'], 'f64': ['c128'],
    'c64': ['c128']
}";

// P60 "a natural location to insert bfloat16, without the need to impose an ordering between bf16 and f16"
#[test]
fn option_3_with_bfloat16() {
    let lattice = page_lattice("jep_option3", OPTION_3_BF16);
    joins(&lattice, &[("bf16", "f16", "f32"), ("i64", "bf16", "bf16"), ("bf16", "c64", "c64")]);
    assert!(!lattice.le("bf16", "f16") && !lattice.le("f16", "bf16"));
    let policy = policy("jep_option3");
    let halves = both!(|x, y| with_policy(policy, move || x + y), [f16::ONE], [ndjit::bf16::ONE]);
    gives(halves, DType::F32, &[2.0f32]);
}

// P64 "perhaps reasonable to close the lattice by connecting u64 to f*"
#[test]
fn option_3_closed_by_u64() {
    let lattice = extended(OPTION_3_BF16, &[("u64", "f*")]).unwrap();
    let adopted = Lattice::named("jep_adopted").unwrap();
    assert!(lattice.is_total() && !Lattice::named("jep_option3").unwrap().is_total());
    for (a, b) in node_pairs(&lattice) {
        assert_eq!(lattice.join(a, b), adopted.join(a, b), "{a} with {b}");
    }
}
