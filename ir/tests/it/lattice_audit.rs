//! The JEP's criteria on lattices and on the tables of the libraries: the counts the goldens were measured with, and the reports.

use ndjit_ir::promotion::{Audit, Defaults, Lattice};
use ndjit_ir::{DType, Policy, ValueType, Weak};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/goldens/promotion")
}

fn read(path: PathBuf) -> Value {
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Audits a golden table. A cell `f*:f64` is TensorFlow's weak result with the dtype it is stored in; a dtype that ndjit lacks
/// (PyTorch's 32-bit complex) counts as undefined.
fn audit(name: &str) -> Audit {
    let file = read(folder().join(format!("{name}.json")));
    Audit::of(name, &|a, b| {
        let cell = file["table"][a.index()][b.index()].as_str()?.split(':').next()?;
        ValueType::ALL.into_iter().find(|ty| ty.name() == cell)
    })
}

/// Ordered triples of dtypes whose promotion depends on the grouping, as counted when the tables were measured.
const NON_ASSOCIATIVE: &[(&str, usize)] = &[
    ("array_api", 0),
    ("ivy_imprecise", 64),
    ("ivy_precise", 40),
    ("jax_2019_seed003", 64),
    ("jax_lax", 0),
    ("jax_seed001", 0),
    ("jax_seed001_lattice", 0),
    ("jax_seed002", 0),
    ("jax_standard", 0),
    ("jax_strict", 0),
    ("jax_x64off", 0),
    ("jax_x64off_explicit", 0),
    ("jep_adopted", 0),
    ("jep_numpy_like", 160),
    ("jep_option0", 0),
    ("jep_option1", 0),
    ("jep_option2", 0),
    ("jep_option3", 0),
    ("jep_option3_no_bf16", 0),
    ("numexpr", 0),
    ("numpy1", 28),
    ("numpy1_seed002", 28),
    ("numpy2", 28),
    ("numpy2_ml_dtypes", 40),
    ("tensorflow", 0),
    ("tensorflow_np_all", 28),
    ("tensorflow_np_legacy", 212),
    ("tensorflow_np_safe", 288),
    ("tensorflow_seed002", 0),
    ("torch", 456),
    ("torch_seed002", 0),
];

#[test]
fn non_associative_triples_are_those_measured() {
    let expected: BTreeMap<&str, usize> = NON_ASSOCIATIVE.iter().copied().collect();
    let mut files = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let file = read(path);
        let audit = audit(&name);
        let count = audit.non_associative_dtypes().count();
        assert_eq!(expected.get(name.as_str()), Some(&count), "{name}");
        if let Some(stated) = file.get("non_associative_concrete_count") {
            assert_eq!(stated.as_u64(), Some(count as u64), "{name}");
        }
        // Of all 18 types, according to the file.
        if let Some(stated) = file.get("non_associative_count") {
            assert_eq!(stated.as_u64(), Some(audit.non_associative.len() as u64), "{name}");
        }
        println!("{name}: {count} non-associative triples of 3375");
        files += 1;
    }
    assert_eq!(files, expected.len());
}

#[test]
fn reports_read_as_a_page() {
    insta::assert_snapshot!(Lattice::named("jax").unwrap().audit(), @r"
    audit of jax: 18 types, 324 of 324 pairs defined
    1 commutative: yes
    1 associative over dtypes: yes
    1 associative over all types: yes
    2 keeps components: yes
    3 keeps magnitude: not in 5 pairs: u16 ∨ f16 = f16, u32 ∨ f16 = f16, u64 ∨ f16 = f16, i32 ∨ f16 = f16, i64 ∨ f16 = f16
    4 keeps precision: not in 32 pairs: u16 ∨ bf16 = bf16, u16 ∨ f16 = f16, u32 ∨ bf16 = bf16, u32 ∨ f16 = f16, u32 ∨ f32 = f32, u32 ∨ c64 = c64, …
    5 no wider than the inputs: not in 9 pairs: u8 ∨ i8 = i16, u16 ∨ i8 = i32, u16 ∨ i16 = i32, u32 ∨ i8 = i64, u32 ∨ i16 = i64, u32 ∨ i32 = i64, …
    ");
    insta::assert_snapshot!(Lattice::named("jep_option1").unwrap().audit(), @r"
    audit of jep_option1: 16 types, 206 of 256 pairs defined
    1 commutative: yes
    1 associative over dtypes: yes
    1 associative over all types: yes
    2 keeps components: yes
    3 keeps magnitude: yes
    4 keeps precision: yes
    5 no wider than the inputs: not in 25 pairs: u8 ∨ i8 = i16, u8 ∨ f16 = f32, u8 ∨ f* = f32, u8 ∨ c* = c64, u16 ∨ i8 = i32, u16 ∨ i16 = i32, …
    ");
    insta::assert_snapshot!(audit("numpy2"), @r"
    audit of numpy2: 17 types, 289 of 289 pairs defined
    1 commutative: yes
    1 associative over dtypes: not in 28 triples: (u8 i8 f16), (u16 i8 f16), (u16 i8 f32), (u16 i8 c64), (u16 i16 f16), (u16 i16 f32), …
    1 associative over all types: not in 256 triples: (bool i* u8), (bool i* u16), (bool i* u32), (bool i* u64), (bool i* i8), (bool i* i16), …
    2 keeps components: yes
    3 keeps magnitude: yes
    4 keeps precision: not in 18 pairs: u64 ∨ i8 = f64, u64 ∨ i16 = f64, u64 ∨ i32 = f64, u64 ∨ i64 = f64, u64 ∨ f16 = f64, u64 ∨ f32 = f64, …
    5 no wider than the inputs: not in 36 pairs: bool ∨ i* = i64, bool ∨ f* = f64, bool ∨ c* = c128, u8 ∨ i8 = i16, u8 ∨ f* = f64, u8 ∨ c* = c128, …
    ");
    insta::assert_snapshot!(audit("torch"), @r"
    audit of torch: 18 types, 257 of 324 pairs defined
    1 commutative: yes
    1 associative over dtypes: not in 456 triples: (bool u16 bf16), (bool u16 f16), (bool u16 f32), (bool u16 f64), (bool u32 bf16), (bool u32 f16), …
    1 associative over all types: not in 1016 triples: (bool u16 bf16), (bool u16 f16), (bool u16 f32), (bool u16 f64), (bool u16 f*), (bool u16 c*), …
    2 keeps components: yes
    3 keeps magnitude: not in 5 pairs: u16 ∨ f16 = f16, u32 ∨ f16 = f16, u64 ∨ f16 = f16, i32 ∨ f16 = f16, i64 ∨ f16 = f16
    4 keeps precision: not in 29 pairs: u16 ∨ bf16 = bf16, u16 ∨ f16 = f16, u32 ∨ bf16 = bf16, u32 ∨ f16 = f16, u32 ∨ f32 = f32, u32 ∨ f* = f32, …
    5 no wider than the inputs: not in 19 pairs: bool ∨ i* = i64, bool ∨ f* = f32, bool ∨ c* = c64, u8 ∨ i8 = i16, u8 ∨ f* = f32, u8 ∨ c* = c64, …
    ");
    insta::assert_snapshot!(audit("tensorflow"), @r"
    audit of tensorflow: 17 types, 45 of 289 pairs defined
    1 commutative: not in 22 pairs: u8 ∨ i*, u16 ∨ i*, u32 ∨ i*, u64 ∨ i*, i8 ∨ i*, i16 ∨ i*, …
    1 associative over dtypes: yes
    1 associative over all types: not in 66 triples: (u8 i* u8), (u8 i* i*), (u16 i* u16), (u16 i* i*), (u32 i* u32), (u32 i* i*), …
    2 keeps components: yes
    3 keeps magnitude: yes
    4 keeps precision: yes
    5 no wider than the inputs: not in 6 pairs: i* ∨ i* = i32, f* ∨ i* = f32, f* ∨ f* = f32, c* ∨ i* = c128, c* ∨ f* = c128, c* ∨ c* = c128
    ");
    insta::assert_snapshot!(audit("jep_numpy_like"), @r"
    audit of jep_numpy_like: 16 types, 208 of 256 pairs defined
    1 commutative: yes
    1 associative over dtypes: not in 160 triples: (u8 i8 i16), (u8 i8 i32), (u8 i8 i64), (u8 i8 f16), (u8 i8 f32), (u8 i8 f64), …
    1 associative over all types: not in 208 triples: (u8 i8 i16), (u8 i8 i32), (u8 i8 i64), (u8 i8 f16), (u8 i8 f32), (u8 i8 f64), …
    2 keeps components: yes
    3 keeps magnitude: yes
    4 keeps precision: yes
    5 no wider than the inputs: not in 21 pairs: u8 ∨ f* = f16, u8 ∨ c* = c64, u16 ∨ f16 = f32, u16 ∨ f* = f32, u16 ∨ c* = c64, u32 ∨ f16 = f64, …
    ");
    insta::assert_snapshot!(Lattice::named("jep_numpy_signed").unwrap().audit(), @r"
    audit of jep_numpy_signed: 4 types, 16 of 16 pairs defined
    1 commutative: yes
    1 associative over dtypes: yes
    1 associative over all types: yes
    2 keeps components: yes
    3 keeps magnitude: yes
    4 keeps precision: yes
    5 no wider than the inputs: yes
    not judged, being no value types: i8* i16* i32* i64*
    ");
}

#[test]
fn policies_are_audited_before_weak_results_take_a_default() {
    for policy in Policy::ALL {
        let audit = policy.audit();
        let lawful = audit.is_lawful() && policy.non_idempotent().is_empty();
        assert_eq!(lawful, policy.is_partial_lattice(), "{policy}");
        // A type without any join is left out of the audit, and undefined with each.
        let unknown = 18 - audit.types.len();
        assert_eq!(audit.undefined.len(), policy.undefined().len() - unknown * (36 - unknown), "{policy}");
    }
    insta::assert_snapshot!(Policy::TensorFlowNumpySafe.audit(), @r"
    audit of tensorflow_np_safe: 18 types, 226 of 324 pairs defined
    1 commutative: yes
    1 associative over dtypes: not in 260 triples: (u8 i8 i16), (u8 i8 i32), (u8 i8 i64), (u8 i8 bf16), (u8 i8 f16), (u8 i8 f32), …
    1 associative over all types: not in 452 triples: (u8 i8 i16), (u8 i8 i32), (u8 i8 i64), (u8 i8 bf16), (u8 i8 f16), (u8 i8 f32), …
    2 keeps components: yes
    3 keeps magnitude: yes
    4 keeps precision: yes
    5 no wider than the inputs: yes
    ");
    let other = Policy::Lax.with_defaults(Defaults::BITS_32).unwrap().audit();
    assert_eq!(other.name, "lax(i32,f32,c64)");
    assert!(other.undefined.contains(&(Weak::Int.into(), DType::I64.into())));
}

#[test]
fn a_table_that_breaks_everything_is_reported_whole() {
    // The left operand's type wins.
    let left = Audit::of("left wins", &|a, _| Some(a));
    insta::assert_snapshot!(left, @r"
    audit of left wins: 18 types, 324 of 324 pairs defined
    1 commutative: not in 153 pairs: bool ∨ u8, bool ∨ u16, bool ∨ u32, bool ∨ u64, bool ∨ i8, bool ∨ i16, …
    1 associative over dtypes: yes
    1 associative over all types: yes
    2 keeps components: not in 45 pairs: bool ∨ c64 = bool, bool ∨ c128 = bool, bool ∨ c* = bool, u8 ∨ c64 = u8, u8 ∨ c128 = u8, u8 ∨ c* = u8, …
    3 keeps magnitude: not in 122 pairs: bool ∨ u8 = bool, bool ∨ u16 = bool, bool ∨ u32 = bool, bool ∨ u64 = bool, bool ∨ i8 = bool, bool ∨ i16 = bool, …
    4 keeps precision: not in 138 pairs: bool ∨ u8 = bool, bool ∨ u16 = bool, bool ∨ u32 = bool, bool ∨ u64 = bool, bool ∨ i8 = bool, bool ∨ i16 = bool, …
    5 no wider than the inputs: yes
    ");
    assert!(left.non_associative.is_empty() && !left.is_lawful());
    let (c64, f32) = (ValueType::Strong(DType::C64), ValueType::Strong(DType::F32));
    assert!(left.dropped_component.iter().any(|f| (f.left, f.right, f.result) == (f32, c64, f32)));
    // The unsigned maximum, the sign, and the fraction.
    let table = |a: ValueType, b: ValueType| match (a.name(), b.name()) {
        ("u8", "i8") => Some(DType::I8.into()),
        ("u16", "i8") => Some(DType::U16.into()),
        ("f16", "i32") => Some(DType::I32.into()),
        ("f32", "f16") => Some(DType::Bf16.into()),
        ("u8", "f*") => Some(DType::F64.into()),
        ("u64", "i64") => Some(Weak::Float.into()),
        _ => None,
    };
    insta::assert_snapshot!(Audit::of("odd", &table), @r"
    audit of odd: 9 types, 6 of 81 pairs defined
    1 commutative: not in 6 pairs: u8 ∨ i8, u8 ∨ f*, u16 ∨ i8, u64 ∨ i64, i32 ∨ f16, f16 ∨ f32
    1 associative over dtypes: not in 5 triples: (u8 u8 i8), (u8 u64 i64), (u16 u8 i8), (u16 i8 i8), (f16 f16 i32)
    1 associative over all types: not in 5 triples: (u8 u8 i8), (u8 u64 i64), (u16 u8 i8), (u16 i8 i8), (f16 f16 i32)
    2 keeps components: yes
    3 keeps magnitude: not in 3 pairs: u8 ∨ i8 = i8, u16 ∨ i8 = u16, f32 ∨ f16 = bf16
    4 keeps precision: not in 4 pairs: u8 ∨ i8 = i8, u64 ∨ i64 = f*, f16 ∨ i32 = i32, f32 ∨ f16 = bf16
    5 no wider than the inputs: not in 1 pair: u8 ∨ f* = f64
    ");
}

#[test]
fn the_jeps_own_claims_hold() {
    let audit = |name: &str| Lattice::named(name).unwrap().audit();
    // Option 1 loses no precision, for which u16 with f16 goes all the way to f64.
    assert!(audit("jep_option1").lost_precision.is_empty());
    let (u16, f16) = (DType::U16.into(), DType::F16.into());
    assert!(audit("jep_option1").wider.iter().any(|f| (f.left, f.right, f.result) == (u16, f16, DType::F64.into())));
    // Option 2 keeps every magnitude.
    assert!(audit("jep_option2").lost_magnitude.is_empty() && !audit("jep_option2").lost_precision.is_empty());
    // Option 3 never gives f64 without a 64-bit input, but i64 with f16 overflows.
    let option3 = audit("jep_option3");
    assert!(option3.wider.iter().all(|f| f.result != DType::F64.into()));
    assert!(option3.lost_magnitude.iter().any(|f| (f.left, f.right) == (DType::I64.into(), f16)));
}
