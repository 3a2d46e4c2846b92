//! JEP 9407, "Design of Type Promotion Semantics for JAX", its end: the adopted lattice, its rules, the libraries' tables.
//! <https://docs.jax.dev/en/latest/jep/9407-type-promotion.html>, `docs/jep/9407-type-promotion.md` at cec06d116c; the tables
//! of the appendix from the notebook beside it.

use super::support::{assert_table, both, gives, node_pairs, page_lattice, pairs, table};
use ndjit::promotion::Finding;
use ndjit::{Array, DType, Defaults, Lattice, Policy, ValueType, Weak, f16, finfo, with_defaults};

/// The appendix calls bool `b`; its other names are ndjit's.
fn named(name: &str) -> ValueType {
    if name == "b" { DType::Bool.into() } else { name.parse().unwrap() }
}

// P61 "bf16 represents a larger range at lower precision, while f16 represents a smaller range at higher precision"
#[test]
fn bf16_has_range_f16_has_precision() {
    let (bf16, f16) = (finfo(DType::Bf16).unwrap(), finfo(DType::F16).unwrap());
    assert!(bf16.max > 3.38e38 && f16.max == 65504.0);
    assert_eq!((bf16.eps, f16.eps), (2f64.powi(-7), 2f64.powi(-10)));
}

// P62 "int64 (max 9.2×10^18) can be promoted to float16 (max 6.5×10^4), meaning most representable values will become inf"
#[test]
fn int64_promoted_to_float16_is_inf() {
    let sum = both!(|x, y| x + y, [100_000i64, 65_519, 65_520, i64::MIN], [f16::ZERO]);
    gives(sum, DType::F16, &[f16::INFINITY, f16::MAX, f16::INFINITY, f16::NEG_INFINITY]);
}

// P63 "represented as 64-bit, but only weakly holds to this bit width"
// As the defaults say: 32 bits here unless set otherwise.
#[test]
fn weak_float_is_64_bits_weakly_held() {
    let sum = || Array::from([1i32]) + 1.5;
    let wide = with_defaults(Defaults::BITS_64, sum).unwrap();
    assert_eq!((wide.value_type(), wide.dtype()), (Weak::Float.into(), DType::F64));
    assert_eq!((sum().value_type(), sum().dtype()), (Weak::Float.into(), DType::F32));
    let met = with_defaults(Defaults::BITS_64, || both!(|x, y| x + 1.5 + y, [1i32], [1.0f32])).unwrap();
    gives(met, DType::F32, &[3.5f32]);
}

// P65 "the lattice property; no inadvertent wider types; loss of precision but not of magnitude"
// The third does not hold, as the JEP says itself of int64 with float16 (P62).
#[test]
fn three_design_rules() {
    let audit = Lattice::named("jep_adopted").unwrap().audit();
    assert!(audit.is_lawful() && audit.undefined.is_empty());
    let list = |findings: &[Finding]| -> Vec<String> {
        findings.iter().map(|f| format!("{} {} = {}", f.left, f.right, f.result)).collect()
    };
    let unsigned = audit.wider.iter().filter(|f| f.left.kind() == ndjit_ir::Kind::UInt);
    assert_eq!((audit.wider.len(), unsigned.count()), (9, 6));
    let lost = ["u16 f16 = f16", "u32 f16 = f16", "u64 f16 = f16", "i32 f16 = f16", "i64 f16 = f16"];
    assert_eq!(list(&audit.lost_magnitude), lost);
    assert!(!audit.lost_precision.is_empty());
}

// P66
#[test]
fn adopted_lattice() {
    let lattice = page_lattice(
        "jep_adopted",
        "{
        'i*': ['u8', 'i8'], 'f*': ['c*', 'f16', 'bf16'], 'c*': ['c64'],
        'u8': ['u16', 'i16'], 'u16': ['u32', 'i32'], 'u32': ['u64', 'i64'], 'u64': ['f*'],
        'i8': ['i16'], 'i16': ['i32'], 'i32': ['i64'], 'i64': ['f*'],
        'f16': ['f32'], 'bf16': ['f32'], 'f32': ['f64', 'c64'], 'f64': ['c128'],
        'c64': ['c128']
        }",
    );
    assert_eq!((lattice.nodes().len(), lattice.is_total()), (17, true));
    for (a, b) in node_pairs(&lattice) {
        let (a, b) = (named(a), named(b));
        assert_eq!(lattice.join_types(a, b), Policy::Standard.join(a, b), "{a} with {b}");
    }
}

// P67 "aside from the inclusion of larger unsigned types (u16, u32, u64) and some details about scalar/weak types, very close
// to PyTorch"
#[test]
fn adopted_is_close_to_pytorch() {
    let page = table(include_str!("tables/jep_pytorch.txt"), named);
    let (mut same, mut weak) = (0, 0);
    for cell in page.iter().filter(|cell| cell.result.is_some()) {
        if cell.result == Policy::Standard.join(cell.left, cell.right) {
            same += 1;
        } else {
            assert!(cell.left.is_weak() || cell.right.is_weak(), "{} with {}", cell.left, cell.right);
            weak += 1;
        }
    }
    assert_eq!((same, weak), (190, 35));
}

// P68 "numpy"; the table "ignores value-dependent effects"
#[test]
fn numpy_table() {
    let page = table(include_str!("tables/jep_numpy.txt"), named);
    for policy in [Policy::NumPy1, Policy::NumPy2] {
        assert_table(policy, &page, |_| false);
    }
    assert_eq!(page.iter().filter(|cell| cell.result.is_none()).count(), 2 * 18 - 1, "bfloat16's");
}

// P69 "tensorflow": "The table is asymmetric because in tf.add(x, y), the type of y must be coercible to the type of x."
// Two bools are undefined there because addition takes none; as types they meet.
#[test]
fn tensorflow_table() {
    let page = table(include_str!("tables/jep_tensorflow.txt"), named);
    let bool = ValueType::from(DType::Bool);
    assert_table(Policy::TensorFlow, &page, |cell| (cell.left, cell.right) == (bool, bool));
    let at = |a, b| page.iter().find(|cell| (cell.left, cell.right) == (a, b)).unwrap().result;
    let asymmetric = pairs().filter(|&(a, b)| a.index() < b.index() && at(a, b) != at(b, a));
    assert_eq!(asymmetric.count(), 22);
}

// P70 "pytorch": "torch does not include unsigned integer types larger than uint8"
// It does today: 45 of their pairs have a type, with floats and bare numbers. Python's own floats, which the table adds as
// doubles, are weak here.
#[test]
fn torch_table() {
    let page = table(include_str!("tables/jep_pytorch.txt"), named);
    let large = |ty: ValueType| [DType::U16, DType::U32, DType::U64].map(ValueType::from).contains(&ty);
    let bare_with_itself =
        |a: ValueType, b: ValueType| a == b && [Weak::Float, Weak::Complex].map(ValueType::from).contains(&a);
    assert_table(Policy::Torch, &page, |cell| {
        large(cell.left) || large(cell.right) || bare_with_itself(cell.left, cell.right)
    });
    let defined_since = page.iter().filter(|cell| large(cell.left) || large(cell.right));
    let defined_since: Vec<_> = defined_since.inspect(|cell| assert_eq!(cell.result, None)).collect();
    let defined_since = defined_since.iter().filter(|cell| Policy::Torch.join(cell.left, cell.right).is_some());
    assert_eq!(defined_since.count(), 45);
}

// P71 "jax.numpy"
#[test]
fn jax_numpy_table() {
    assert_table(Policy::Jax, &table(include_str!("tables/jep_jax_numpy.txt"), named), |_| false);
}

// P72 "jax.lax": it "does not do any implicit promotion"; printed with 64-bit types on
// Two bools are undefined there because addition takes none; as types they meet.
#[test]
fn jax_lax_table() {
    let page = table(include_str!("tables/jep_jax_lax.txt"), named);
    let bool = ValueType::from(DType::Bool);
    assert_table(Policy::Lax, &page, |cell| (cell.left, cell.right) == (bool, bool));
    let defined = page.iter().filter(|cell| cell.result.is_some() && cell.left != cell.right);
    let defined: Vec<String> = defined.map(|cell| format!("{} {}", cell.left, cell.right)).collect();
    assert_eq!(defined, ["i64 i*", "f64 f*", "c128 c*", "i* i64", "f* f64", "c* c128"]);
}
