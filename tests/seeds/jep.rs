//! JEP 9407, "Design of Type Promotion Semantics for JAX", its first half: tables, lattices and Python scalars.
//! <https://docs.jax.dev/en/latest/jep/9407-type-promotion.html>, `docs/jep/9407-type-promotion.md` at cec06d116c; printed
//! results from the notebook beside it. `np.int8(1)` is a strong scalar here, a Python scalar a bare number.

use super::support::{both, gives, graph, node_pairs, page_lattice, program, text, triples};
use insta::assert_snapshot;
use ndjit::promotion::lattice::NAMED;
use ndjit::promotion::{Claim, NoLattice};
use ndjit::{
    Array, DType, ErrorCode, Lattice, Policy, Stage, ValueType, Weak, dtype, f16, jit, strong, weak, with_policy,
};
use ndjit_ir::op::TypeRule;

const NUMPY: [Policy; 2] = [Policy::NumPy1, Policy::NumPy2];

/// The policies whose joins come from a lattice, or a partial one.
const LATTICES: [Policy; 4] = [Policy::Standard, Policy::Strict, Policy::Jax32, Policy::Lax];

// P01 np.dtype(np.int32(1) + np.float32(1)) -> dtype('float64')
#[test]
fn np_int32_plus_float32() {
    for policy in NUMPY {
        gives(both!(|x, y| with_policy(policy, move || x + y), 1i32, 1.0f32), DType::F64, &[2.0f64]);
    }
    gives(both!(|x, y| x + y, 1i32, 1.0f32), DType::F32, &[2.0f32]);
}

// P02 types = [int, float, complex]; name(type(t1(1) + t2(1)))
#[test]
fn python_int_float_complex_table() {
    let page = [["i*", "f*", "c*"], ["f*", "f*", "c*"], ["c*", "c*", "c*"]];
    for (a, row) in Weak::ALL.into_iter().zip(page) {
        for (b, result) in Weak::ALL.into_iter().zip(row) {
            assert_eq!(Policy::Standard.join(a.into(), b.into()).unwrap().name(), result);
        }
    }
    gives(both!(|x, y| x + y, weak(1), weak(1)), Weak::Int, &[2i32]);
    gives(both!(|x, y| x + y, weak(1), weak(1.0)), Weak::Float, &[2.0f32]);
}

// P03 lattice = {'int': ['float'], 'float': ['complex']}
#[test]
fn python_lattice() {
    let lattice = Lattice::new("page", graph("{'int': ['float'], 'float': ['complex']}")).unwrap().total().unwrap();
    let weak = |name: &str| match name {
        "int" => "i*",
        "float" => "f*",
        _ => "c*",
    };
    let python = Lattice::named("python").unwrap();
    for (a, b) in node_pairs(&lattice) {
        assert_eq!(lattice.join(a, b).map(weak), python.join(weak(a), weak(b)), "{a} with {b}");
    }
    assert_eq!(lattice.join("complex", "int"), Some("complex"));
}

// P04 "implicit promotion from integer to float is allowed, but implicit promotion from float to integer is not"
#[test]
fn arrow_means_implicit_promotion_is_allowed() {
    let python = Lattice::named("python").unwrap();
    assert!(python.le("i*", "f*") && !python.le("f*", "i*"));
    assert_eq!(python.join("i*", "f*"), Some("f*"));
}

// P05 lattice = {'A': ['B', 'C']}
// "there exists no upper bound for nodes B and C"
#[test]
fn dag_a_b_c_is_no_lattice() {
    let partial = Lattice::new("page", graph("{'A': ['B', 'C']}")).unwrap();
    assert_eq!((partial.join("B", "C"), partial.upper_bounds(["B", "C"]).len()), (None, 0));
    let error = partial.total().unwrap_err();
    assert_eq!(error.reason, NoLattice::NoBound(vec![("B".into(), "C".into())]));
    assert_snapshot!(error, @"`page` is only a partial lattice: B and C have no common upper bound; add a node above both");
    assert!(Lattice::named("jep_fork").is_err());
}

// P06 lattice = {'A': ['C', 'D'], 'B': ['C', 'D']}
// "fails on two counts": no upper bound of C and D; two minimal ones of A and B, which cannot be ordered. ndjit stops at the
// second, which leaves nothing to look a join up in; without it the first is reported.
#[test]
fn dag_a_b_c_d_is_no_lattice() {
    let error = Lattice::new("page", graph("{'A': ['C', 'D'], 'B': ['C', 'D']}")).unwrap_err();
    assert_eq!(error.reason, NoLattice::Ambiguous(vec![("A".into(), "B".into(), vec!["C".into(), "D".into()])]));
    assert_snapshot!(error, @"`page` is no lattice: the minimal common upper bounds of A and B are C and D, none of them is the least; add an edge between these bounds, or a node below them and above the pair");
    let one_below = Lattice::new("page", graph("{'A': ['C', 'D']}")).unwrap().total().unwrap_err();
    assert_eq!(one_below.reason, NoLattice::NoBound(vec![("C".into(), "D".into())]));
    assert!(Lattice::named("jep_crossed").is_err());
}

fn named(claim: impl Fn(Claim) -> bool) -> Vec<Lattice> {
    let chosen: Vec<Lattice> =
        NAMED.iter().filter(|named| claim(named.claim)).map(|named| Lattice::named(named.name).unwrap()).collect();
    assert!(chosen.len() > 3);
    chosen
}

// P07 "Existence: for any pair of nodes a least upper bound, and one only"
#[test]
fn existence_law() {
    for lattice in named(|claim| claim == Claim::Lattice) {
        for (a, b) in node_pairs(&lattice) {
            let bounds = lattice.upper_bounds([a, b]);
            let least = |bound: &&&str| bounds.iter().all(|other| lattice.le(bound, other));
            let least: Vec<&str> = bounds.iter().filter(least).copied().collect();
            assert_eq!(least, [lattice.join(a, b).unwrap()], "{a} {b} in {}", lattice.name());
        }
    }
}

// P08 "Commutativity: a ∨ b = b ∨ a"
#[test]
fn commutativity_law() {
    for lattice in named(|claim| claim != Claim::NoLattice) {
        for (a, b) in node_pairs(&lattice) {
            assert_eq!(lattice.join(a, b), lattice.join(b, a), "{a} {b} in {}", lattice.name());
        }
    }
    // No law of TensorFlow's: the first operand decides.
    assert!(!Policy::TensorFlow.audit().non_commutative.is_empty());
}

// P09 "Associativity: a ∨ (b ∨ c) = (a ∨ b) ∨ c"
#[test]
fn associativity_law() {
    for lattice in named(|claim| claim != Claim::NoLattice) {
        let nodes: Vec<&str> = lattice.nodes().iter().map(String::as_str).collect();
        for (a, b) in node_pairs(&lattice) {
            for &c in &nodes {
                let first = lattice.join(a, b).and_then(|joined| lattice.join(joined, c));
                let last = lattice.join(b, c).and_then(|joined| lattice.join(a, joined));
                assert_eq!(first, last, "{a} {b} {c} in {}", lattice.name());
            }
        }
    }
    for policy in NUMPY {
        assert!(!policy.audit().non_associative.is_empty());
    }
}

// P10 a, b, c = np.int8(1), np.uint8(1), np.float16(1)
// print(np.dtype((a + b) + c)) -> float32; print(np.dtype(a + (b + c))) -> float16
#[test]
fn numpy_int8_uint8_float16_is_not_associative() {
    for policy in NUMPY {
        let left = both!(|a, b, c| with_policy(policy, move || (a + b) + c), 1i8, 1u8, f16::ONE);
        gives(left, DType::F32, &[3.0f32]);
        let right = both!(|a, b, c| with_policy(policy, move || a + (b + c)), 1i8, 1u8, f16::ONE);
        gives(right, DType::F16, &[f16::from_f32(3.0)]);
        // np.result_type(np.int8, np.uint8, np.float16), which takes the highest kind first, gives float16 in any order.
        for all in [[DType::I8, DType::U8, DType::F16], [DType::F16, DType::I8, DType::U8]] {
            let all = policy.resolve(TypeRule::Join, &all.map(ValueType::from));
            assert_eq!(all.unwrap().compute, DType::F16.into());
        }
    }
    gives(both!(|a, b, c| (a + b) + c, 1i8, 1u8, f16::ONE), DType::F16, &[f16::from_f32(3.0)]);
    gives(both!(|a, b, c| a + (b + c), 1i8, 1u8, f16::ONE), DType::F16, &[f16::from_f32(3.0)]);
}

/// The number of triples for which two orders of joins differ: of dtypes, and of all types.
fn differing(
    policy: Policy,
    differ: impl Fn(&dyn Fn(ValueType, ValueType) -> Option<ValueType>, [ValueType; 3]) -> bool,
) -> [usize; 2] {
    let join = |a, b| policy.join(a, b);
    let found: Vec<[ValueType; 3]> = triples().filter(|&triple| differ(&join, triple)).collect();
    let dtypes = found.iter().filter(|triple| !triple.iter().any(|ty| ty.is_weak())).count();
    [dtypes, found.len()]
}

// P11 "a + b + c should be equivalent to c + b + a"
#[test]
fn sum_order_does_not_change_the_dtype() {
    let order = |policy| {
        differing(policy, |join, [a, b, c]| {
            join(a, b).and_then(|sum| join(sum, c)) != join(c, b).and_then(|sum| join(sum, a))
        })
    };
    for policy in LATTICES {
        assert_eq!(order(policy), [0, 0], "{policy}");
    }
    assert_eq!(order(Policy::NumPy2)[0], 28);
    assert_eq!(order(Policy::IvyPrecise)[0], 40);
    assert_eq!(order(Policy::IvyImprecise)[0], 64);
    // PyTorch promotes u16, u32 and u64 with floats, but not with other integers.
    assert_eq!(order(Policy::Torch)[0], 432);
}

// P12 "x * (y + z) should be equivalent to x * y + x * z"
#[test]
fn distributivity_of_dtypes() {
    let distributes = |policy| {
        differing(policy, |join, [x, y, z]| {
            let factored = join(y, z).and_then(|sum| join(x, sum));
            let expanded = join(x, y).zip(join(x, z)).and_then(|(left, right)| join(left, right));
            factored != expanded
        })
    };
    for policy in LATTICES {
        assert_eq!(distributes(policy), [0, 0], "{policy}");
    }
    assert_eq!(distributes(Policy::NumPy2)[1], 384);
    let (x, y, z) = (Array::from(f16::ONE), Array::from(1i8), Array::from(1u8));
    let dtypes = with_policy(Policy::NumPy2, || [&x * (&y + &z), &x * &y + &x * &z].map(|array| array.dtype()));
    assert_eq!(dtypes, [DType::F32, DType::F16]);
}

// P13 "JAX recognizes 18 distinct types … a table of 324 entries"
#[test]
fn jax_has_18_types_and_324_entries() {
    assert_eq!((DType::ALL.len(), Weak::ALL.len(), ValueType::ALL.len()), (15, 3, 18));
    let lattice = Lattice::named("jax").unwrap();
    assert_eq!(node_pairs(&lattice).filter(|(a, b)| lattice.join(a, b).is_some()).count(), 324);
}

/// The chains of "Type Promotion within Categories".
const CHAINS: [&[&str]; 4] =
    [&["u8", "u16", "u32", "u64"], &["i8", "i16", "i32", "i64"], &["f16", "f32", "f64"], &["c64", "c128"]];

// P14
#[test]
fn category_chains() {
    let lattice = page_lattice(
        "jep_categories",
        "{'u8': ['u16'], 'u16': ['u32'], 'u32': ['u64'],
          'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64'],
          'f16': ['f32'], 'f32': ['f64'],
          'c64': ['c128']}",
    );
    assert_eq!(lattice.nodes().len(), 13);
    for (a, b) in node_pairs(&lattice) {
        let chain = CHAINS.into_iter().find(|chain| chain.contains(&a) && chain.contains(&b));
        let larger = chain.and_then(|chain| chain.iter().rfind(|&&node| node == a || node == b));
        assert_eq!(lattice.join(a, b), larger.copied(), "{a} with {b}");
    }
}

// P15 "the only way to produce a 64-bit output is to have a 64-bit input"
#[test]
fn within_a_category_64_bits_need_a_64_bit_input() {
    let lattice = Lattice::named("jep_categories").unwrap();
    let wide = |node: &str| ["u64", "i64", "f64", "c128"].contains(&node);
    for (a, b) in node_pairs(&lattice) {
        assert!(!lattice.join(a, b).is_some_and(wide) || wide(a) || wide(b), "{a} with {b}");
    }
    assert!(lattice.audit().wider.is_empty());
}

// P16 "NumPy's promotion within categories"
#[test]
fn numpy_categories_agree_within() {
    let lattice = Lattice::named("jep_categories").unwrap();
    let ty = |node: &str| node.parse::<ValueType>().unwrap();
    for (a, b) in node_pairs(&lattice).filter(|(a, b)| lattice.join(a, b).is_some()) {
        for policy in NUMPY {
            assert_eq!(policy.join(ty(a), ty(b)), lattice.join_types(ty(a), ty(b)), "{a} with {b}");
        }
    }
}

// P17 x = np.int8(0); y = 1; (x + y).dtype -> dtype('int64')
// Two scalars in NumPy 1; NumPy 2 gives int8. No rank decides a dtype here, so NumPy 1's policy has its rule of arrays, and the
// other takes `strong`.
#[test]
fn np_int8_scalar_plus_python_int() {
    gives(both!(|x| with_policy(Policy::NumPy1, move || x + strong(1i64)), 0i8), DType::I64, &[1i64]);
    gives(both!(|x| with_policy(Policy::NumPy1, move || x + 1), 0i8), DType::I8, &[1i8]);
    gives(both!(|x| with_policy(Policy::NumPy2, move || x + 1), 0i8), DType::I8, &[1i8]);
}

/// The policies that reject a bare 1 with i8.
const NO_BARE_NUMBER: [Policy; 2] = [Policy::Jax2019, Policy::Lax];

// P18 x = np.zeros(1, dtype='int8'); y = 1; (x + y).dtype -> dtype('int8')
#[test]
fn np_zeros_int8_plus_1() {
    for policy in Policy::ALL {
        let sum = both!(|x| with_policy(policy, move || x + 1), dtype(DType::I8).zeros(1));
        if NO_BARE_NUMBER.contains(&policy) {
            assert_eq!(sum.unwrap_err().code(), ErrorCode::Promotion, "{policy}");
        } else if policy == Policy::NumExpr {
            gives(sum, DType::I32, &[1i32]);
        } else {
            gives(sum, DType::I8, &[1i8]);
        }
    }
}

// P19 x = np.zeros(1, dtype='int8'); y = 1000; (x + y).dtype -> dtype('int16')
// By value, in NumPy 1. NumPy 2 raises OverflowError, JAX wraps (-24). Here it is an error under every policy that computes in i8.
#[test]
fn np_zeros_int8_plus_1000() {
    let others = Policy::ALL.into_iter().filter(|policy| !NO_BARE_NUMBER.contains(policy));
    for policy in others.filter(|policy| *policy != Policy::NumExpr) {
        let sum = both!(|x| with_policy(policy, move || x + 1000), dtype(DType::I8).zeros(1));
        assert_eq!(sum.unwrap_err().code(), ErrorCode::Literal, "{policy}");
    }
    assert_snapshot!(text(both!(|x| x + 1000, [0i8]).unwrap_err()), @"
    error[literal]: add: literal 1000 does not fit i8
      x: i8[1] from argument 0
      y: i* (literal 1000)
      i8 holds -128 to 127
      help: cast the other operand to a wider dtype, for example `.cast(DType::I16)`
    ");
    gives(both!(|x| x + strong(1000i16), [0i8]), DType::I16, &[1000i16]);
}

// P20 "value-dependent type promotion is a non-starter" (it would need the values while tracing)
#[test]
fn value_dependent_promotion_is_a_non_starter() {
    let f = jit(|x, y| x + y);
    for policy in [Policy::Standard, Policy::NumPy1, Policy::NumPy2] {
        let dtypes = [0, 1, 100, -128].map(|y| with_policy(policy, || f.call((&[1i8, 2], y))).unwrap().dtype());
        assert_eq!(dtypes, [DType::I8; 4]);
    }
    assert_eq!(f.trace_count(), 3, "once per policy");
}

// P21
#[test]
fn signed_scalar_types_below_array_types() {
    let lattice = page_lattice(
        "jep_numpy_signed",
        "{'i8*': ['i16*'], 'i16*': ['i32*'], 'i32*': ['i64*'], 'i64*': ['i8'],
          'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64']}",
    );
    assert_eq!((lattice.nodes().len(), lattice.is_total()), (8, true));
    assert_eq!((lattice.join("i64*", "i8"), lattice.join("i8*", "i64*")), (Some("i8"), Some("i64*")));
}

// P22 "A similar pattern holds within the uint, float, and complex lattices."
#[test]
fn a_scalar_point_per_category() {
    let lattice = page_lattice(
        "jep_scalar_categories",
        "{'u*': ['u8'], 'u8': ['u16'], 'u16': ['u32'], 'u32': ['u64'],
          'i*': ['i8'], 'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64'],
          'f*': ['f16'], 'f16': ['f32'], 'f32': ['f64'],
          'c*': ['c64'], 'c64': ['c128']}",
    );
    assert_eq!(lattice.nodes().len(), 17);
    for (a, b) in node_pairs(&lattice) {
        assert_eq!(lattice.join(a, b).is_some(), a.as_bytes()[0] == b.as_bytes()[0], "{a} with {b}");
        let array = if a.ends_with('*') { b } else { a };
        assert!(lattice.join(a, b).is_none() || !b.ends_with('*') || lattice.join(a, b) == Some(array));
    }
}

// P23 for dtype in [np.int8, np.int16, np.int32, np.int64]: x = np.arange(10, dtype=dtype); assert (x + 2).dtype == dtype
#[test]
fn arange_plus_2_keeps_every_signed_width() {
    for policy in [Policy::Standard, Policy::NumPy1, Policy::NumPy2, Policy::Torch, Policy::IvyPrecise] {
        for dtype in DType::ALL_SIGNED {
            let x = ndjit::dtype(dtype).arange(10);
            let sum = both!(|x| with_policy(policy, move || x + 2), x).unwrap();
            assert_eq!(sum.value_type(), dtype.into());
            gives(Ok(sum.cast(DType::I64)), DType::I64, &[2i64, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        }
    }
}

// P24 3 * (x + 1) ** 2, and np.int32(3) * (x + np.int32(1)) ** np.int32(2)
// "given an array x of type int32, the types in the second statement are implicit within the first". Rust has no `**`; the
// square is `square`, so the exponent's type is not part of the test.
#[test]
fn three_times_x_plus_1_squared() {
    gives(both!(|x| 3 * (x + 1).square(), [1i32, -3]), DType::I32, &[12i32, 12]);
    gives(both!(|x| strong(3i32) * (x + strong(1i32)).square(), [1i32, -3]), DType::I32, &[12i32, 12]);
    let (implicit, explicit) = (jit!(|x| 3 * (x + 1).square()), jit!(|x| strong(3i32) * (x + strong(1i32)).square()));
    implicit.call((&[1i32],)).unwrap();
    explicit.call((&[1i32],)).unwrap();
    // Literals print as they were written, `1` and `1_i32`; all else is the same once types are resolved.
    let at = |stage| [implicit.explain(stage), explicit.explain(stage).replace("_i32", "")].map(program);
    let [implicit_graph, explicit_graph] = at(Stage::Graph);
    let [implicit_typed, explicit_typed] = at(Stage::Typed);
    assert_ne!(implicit_graph, explicit_graph);
    assert_eq!(implicit_typed, explicit_typed);
    assert!(implicit_typed.contains("literal #0 1 : i32[]"), "{implicit_typed}");
}

// P25 "let's further allow i* to subsume u* (after all, there is no unsigned integer scalar type in Python)"
#[test]
fn weak_int_subsumes_unsigned() {
    for dtype in DType::ALL_UNSIGNED {
        for policy in [Policy::Standard, Policy::NumPy1, Policy::NumPy2] {
            assert_eq!(policy.join(Weak::Int.into(), dtype.into()), Some(dtype.into()), "{dtype} in {policy}");
        }
    }
    gives(both!(|x| x + 2, [1u16]), DType::U16, &[3u16]);
}
