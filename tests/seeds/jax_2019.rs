//! JAX's page "Type promotion semantics" as it stood in December 2019:
//! <https://github.com/jax-ml/jax/blob/d958f3007d/docs/type_promotion.rst>.

use super::support::{Cell, assert_table, both, table};
use insta::assert_snapshot;
use ndjit::{DType, ErrorCode, Policy, ValueType, with_policy};

/// The page's names of [`DType::ALL`], in their order; of complex dtypes the size is that of one part.
const NAMES: [&str; 15] = ["b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "bf", "f2", "f4", "f8", "c4", "c8"];

fn named(name: &str) -> ValueType {
    let index = NAMES.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name}"));
    DType::ALL[index].into()
}

fn page() -> Vec<Cell> {
    table(include_str!("tables/jax_2019.txt"), named)
}

fn join(a: DType, b: DType) -> ValueType {
    Policy::Jax2019.join(a.into(), b.into()).expect("every pair of dtypes has a join")
}

fn is_inexact(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

// K01 The table, 15 x 15
#[test]
fn jax_2019_table() {
    let page = page();
    assert_eq!(page.len(), 225);
    assert_table(Policy::Jax2019, &page, |_| false);
}

// K02 The row of u8: with i1, i2, i4 and i8 it is f8
#[test]
fn jax_2019_u64_with_signed_is_f64() {
    let differs = |cell: &Cell| cell.result != Policy::Standard.join(cell.left, cell.right);
    let page = page();
    let cells: Vec<&Cell> = page.iter().filter(|cell| differs(cell)).collect();
    assert_eq!(cells.len(), 8);
    for cell in cells {
        let u64_with_signed =
            |a: ValueType, b: ValueType| a == DType::U64.into() && DType::ALL_SIGNED.map(ValueType::from).contains(&b);
        assert!(u64_with_signed(cell.left, cell.right) || u64_with_signed(cell.right, cell.left));
        assert_eq!(cell.result, Some(DType::F64.into()));
    }
}

// K03 What the JEP holds against this table
#[test]
fn jax_2019_is_no_lattice() {
    let join3 = |policy: Policy, [a, b, c]: [DType; 3]| {
        let join = |a, b| policy.join(a, b).expect("defined");
        (join(join(a.into(), b.into()), c.into()), join(a.into(), join(b.into(), c.into())))
    };
    let triple = [DType::U64, DType::I8, DType::Bf16];
    assert_eq!(join3(Policy::Jax2019, triple), (DType::F64.into(), DType::Bf16.into()));
    assert_eq!(join3(Policy::Standard, triple), (DType::Bf16.into(), DType::Bf16.into()));
    let audit = Policy::Jax2019.audit();
    assert_eq!(audit.non_associative_dtypes().count(), 64);
    // u64, a signed integer, and one of bf16, f16, f32, c64, which f64 then swallows.
    for mut triple in audit.non_associative_dtypes() {
        triple.sort();
        let [unsigned, signed, inexact] = triple;
        assert!(unsigned == DType::U64 && signed.is_signed(), "{triple:?}");
        assert!([DType::Bf16, DType::F16, DType::F32, DType::C64].contains(&inexact), "{triple:?}");
    }
}

// K04 "When promoting an integer or boolean type against a floating-point or complex type, JAX always prefers the type of the
// floating-point or complex type."
#[test]
fn jax_2019_integer_with_inexact() {
    for exact in DType::ALL.into_iter().filter(|&dtype| !is_inexact(dtype)) {
        for inexact in DType::ALL.into_iter().filter(|&dtype| is_inexact(dtype)) {
            assert_eq!((join(exact, inexact), join(inexact, exact)), (inexact.into(), inexact.into()));
        }
    }
}

// K05 "IEEE-754 float16, with which bfloat16 promotes to a float32"
#[test]
fn jax_2019_bfloat16_with_float16() {
    assert_eq!(join(DType::Bf16, DType::F16), DType::F32.into());
}

// K06 "There are two key differences": integers and bool with inexact types; bfloat16
// Here they are all, unlike on today's page.
#[test]
fn jax_2019_green_cells() {
    let page = page();
    assert_eq!(page.iter().filter(|cell| cell.green).count(), 57);
    for cell in page {
        assert_eq!(
            cell.green,
            Policy::NumPy1.join(cell.left, cell.right) != cell.result,
            "{} {}",
            cell.left,
            cell.right
        );
        let inexact = |ty: ValueType| is_inexact(Policy::Jax2019.commit(ty));
        let bfloat16 = [cell.left, cell.right].contains(&DType::Bf16.into());
        assert!(!cell.green || bfloat16 || inexact(cell.left) != inexact(cell.right), "{} {}", cell.left, cell.right);
    }
}

// K07 "s2 means np.int16, u4 np.uint32, bf np.bfloat16, f2 np.float16, c8 np.complex128"
// The table writes i2 for what the text calls s2.
#[test]
fn jax_2019_names() {
    for (page, ours) in [("i2", DType::I16), ("u4", DType::U32), ("bf", DType::Bf16), ("c8", DType::C128)] {
        assert_eq!(named(page), ours.into());
    }
    assert!("s2".parse::<DType>().is_err());
    assert_snapshot!("c4".parse::<DType>().unwrap_err(), @"
    error[dtype]: dtype `c4` is ambiguous
      4 bytes per part, as in JAX's first tables: c64
      4 bytes: two f16, a dtype that ndjit does not have
      help: write `c64`
    ");
}

// K08 The table has no rows for Python scalars.
#[test]
fn jax_2019_refuses_weak_operands() {
    let error = both!(|x| with_policy(Policy::Jax2019, move || x + 1), [1i32]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Promotion);
    assert_snapshot!(error.facts()[..3].join("\n"), @"
    x: i32[1] from argument 0
    y: i* (literal 1)
    the table of 2019 has no rows for bare numbers
    ");
    assert!(ValueType::ALL.into_iter().all(|ty| Policy::Jax2019.join(ty, ndjit::Weak::Int.into()).is_none()));
}
