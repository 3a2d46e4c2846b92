//! The lattice and the table of JAX's page "Type promotion semantics": <https://docs.jax.dev/en/latest/type_promotion.html>,
//! `docs/type_promotion.rst` at cec06d116c. Its examples of scalars are in `jax_scalars`, those of strict mode in `jax_strict`.

use super::support::{Cell, graph, pairs, table, triples};
use insta::assert_snapshot;
use ndjit::{DType, Lattice, Policy, ValueType, Weak};
use ndjit_ir::Kind;

/// The page's names of [`ValueType::ALL`], in their order; sizes are in bytes.
const NAMES: [&str; 18] =
    ["b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "bf", "f2", "f4", "f8", "c8", "c16", "i*", "f*", "c*"];

fn named(name: &str) -> ValueType {
    let index = NAMES.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name}"));
    ValueType::ALL[index]
}

/// The page's name of a type.
fn name(ty: ValueType) -> &'static str {
    NAMES[ty.index()]
}

fn page() -> Vec<Cell> {
    table(include_str!("tables/jax.txt"), named)
}

fn join(a: ValueType, b: ValueType) -> ValueType {
    Policy::Standard.join(a, b).expect("every pair has a join")
}

fn is_wide(ty: ValueType) -> bool {
    matches!(ty, ValueType::Strong(DType::U64 | DType::I64 | DType::F64 | DType::C128))
}

fn is_inexact(ty: ValueType) -> bool {
    matches!(ty.kind(), Kind::Float | Kind::Complex)
}

// J01 The graph under "lattice = {…}" that draws the page's figure.
#[test]
fn jax_page_lattice_gives_the_table() {
    const GRAPH: &str = "
        'b1': ['i*'], 'u1': ['u2', 'i2'], 'u2': ['i4', 'u4'], 'u4': ['u8', 'i8'], 'u8': ['f*'],
        'i*': ['u1', 'i1'], 'i1': ['i2'], 'i2': ['i4'], 'i4': ['i8'], 'i8': ['f*'],
        'f*': ['c*', 'f2', 'bf'], 'bf': ['f4'], 'f2': ['f4'], 'f4': ['c8', 'f8'], 'f8': ['c16'],
        'c*': ['c8'], 'c8': ['c16'], 'c16': []";
    let lattice = Lattice::new("jax_page", graph(GRAPH)).unwrap().total().unwrap();
    assert_eq!(lattice.nodes().len(), 18);
    for cell in page() {
        let (a, b) = (name(cell.left), name(cell.right));
        assert_eq!(lattice.join(a, b).map(named), cell.result, "{a} with {b}");
    }
}

// J02 "b1 means np.bool_, i2 np.int16, u4 np.uint32, bf np.bfloat16, f2 np.float16, c8 np.complex64"
// These sizes are in bytes, ndjit's in bits: i8 and u8 are other types here, and the other codes of sizes are refused. The
// page of 2019 calls complex128 what is complex64 here.
#[test]
fn jax_page_names() {
    for (page, ours) in [("b1", "bool"), ("i2", "i16"), ("u4", "u32"), ("bf", "bf16"), ("f2", "f16"), ("c8", "c64")] {
        assert_eq!(named(page).name(), ours);
        assert!(page.parse::<DType>().is_err(), "{page}");
    }
    let read: Vec<&str> = NAMES.into_iter().filter(|name| name.parse::<ValueType>().is_ok()).collect();
    assert_eq!(read, ["u8", "i8", "i*", "f*", "c*"]);
    assert_snapshot!("c8".parse::<DType>().unwrap_err(), @"
    error[dtype]: dtype `c8` is ambiguous
      8 bytes, as NumPy counts: c64
      8 bytes per part, as in JAX's first tables: c128
      help: write `c64` or `c128`
    ");
}

// J03 "Promotion between any two types is given by their join on this lattice"
#[test]
fn promotion_between_any_two_types_is_their_join() {
    let lattice = Lattice::named("jax").unwrap();
    for (a, b) in pairs() {
        assert_eq!(Some(join(a, b)), lattice.join_types(a, b), "{a} with {b}");
        // The least of all common upper bounds, by the order alone.
        let bounds = lattice.upper_bounds([a.name(), b.name()]);
        assert!(bounds.iter().all(|bound| lattice.le(join(a, b).name(), bound)), "{a} with {b}");
        assert_eq!(join(a, b), join(b, a));
        assert_eq!(join(a, a), a);
    }
    for [a, b, c] in triples() {
        assert_eq!(join(join(a, b), c), join(a, join(b, c)), "{a} {b} {c}");
    }
}

// J04 "The table below"
#[test]
fn jax_page_binary_promotion_table() {
    let page = page();
    assert_eq!(page.len(), 324);
    super::support::assert_table(Policy::Standard, &page, |_| false);
}

// J05 "differ from those of NumPy, as given by numpy.promote_types, in those cells highlighted with a green background"
// promote_types knows dtypes only: the weak types count as 64-bit ones, so u8 with i8 is not green, though JAX's result is
// weak and NumPy's is not.
#[test]
fn green_cells_are_where_numpy_differs() {
    let wide = |ty: ValueType| ValueType::Strong(Policy::NumPy2.commit(ty));
    for cell in page() {
        let (a, b) = (cell.left, cell.right);
        let numpy = Policy::NumPy2.join(wide(a), wide(b));
        assert_eq!(cell.green, numpy != Some(wide(join(a, b))), "{a} with {b}");
    }
    assert_eq!(page().iter().filter(|cell| cell.green).count(), 95);
}

// J08 "When promoting a weakly typed value against a typed JAX value of the same category, JAX always prefers the precision of
// the JAX value"
#[test]
fn weak_against_strong_of_its_kind_keeps_the_strong_width() {
    let category = |ty: ValueType| if ty.kind() == Kind::UInt { Kind::Int } else { ty.kind() };
    for weak in Weak::ALL {
        let strong: Vec<DType> =
            DType::ALL.into_iter().filter(|&dtype| category(dtype.into()) == weak.kind()).collect();
        assert_eq!(strong.len(), [8, 4, 2][weak as usize]);
        for dtype in strong {
            assert_eq!(join(weak.into(), dtype.into()), dtype.into());
        }
    }
    // No bool is weak, so there is none to keep a width.
    assert_eq!(join(DType::Bool.into(), Weak::Int.into()), Weak::Int.into());
}

// J09 "three key classes" of differences: weak types of the same category, integers and bool with inexact types, bfloat16
// Six green cells are in none of them: weak types of another inexact category.
#[test]
fn three_classes_of_differences_are_not_quite_all() {
    let category = |ty: ValueType| if ty.kind() == Kind::UInt { Kind::Int } else { ty.kind() };
    let classed = |&Cell { left: a, right: b, .. }: &Cell| {
        let weak = (a.is_weak() || b.is_weak()) && category(a) == category(b);
        let exact_with_inexact = is_inexact(a) != is_inexact(b);
        let bfloat16 = [a, b].contains(&DType::Bf16.into());
        weak || exact_with_inexact || bfloat16
    };
    let page = page();
    let others = page.iter().filter(|cell| cell.green && !classed(cell));
    let others: Vec<String> = others.map(|cell| format!("{} {}", name(cell.left), name(cell.right))).collect();
    assert_eq!(others, ["f2 c*", "f4 c*", "c8 f*", "f* c8", "c* f2", "c* f4"]);
}

// J10 "When promoting an integer or boolean type against a floating-point or complex type, JAX always prefers the type of the
// floating-point or complex type."
#[test]
fn integer_or_bool_with_inexact_gives_the_inexact_type() {
    let mut checked = 0;
    for (a, b) in pairs().filter(|&(a, b)| !is_inexact(a) && is_inexact(b)) {
        assert_eq!(join(a, b), b, "{a} with {b}");
        checked += 1;
    }
    assert_eq!(checked, 10 * 8);
}

// J11 "The only notable promotion behavior is with respect to IEEE-754 float16, with which bfloat16 promotes to a float32."
#[test]
fn bfloat16_with_float16_is_float32() {
    assert_eq!(join(DType::Bf16.into(), DType::F16.into()), DType::F32.into());
    for other in DType::ALL.into_iter().filter(|&dtype| dtype != DType::F16) {
        let joined = join(DType::Bf16.into(), other.into());
        assert!([ValueType::from(DType::Bf16), other.into()].contains(&joined), "{other}");
    }
}

// J12 "Classic NumPy's promotion rules are too willing to overpromote to 64-bit types"
#[test]
fn sixty_four_bit_results_need_a_sixty_four_bit_operand() {
    let widening = |policy: Policy| -> Vec<String> {
        let strong = pairs().filter(|(a, b)| !a.is_weak() && !b.is_weak() && a.index() < b.index());
        let wider = strong.filter(|&(a, b)| !is_wide(a) && !is_wide(b) && policy.join(a, b).is_some_and(is_wide));
        wider.map(|(a, b)| format!("{a} {b}")).collect()
    };
    assert_eq!(widening(Policy::Standard), ["u32 i8", "u32 i16", "u32 i32"]);
    let numpy = ["u32 i8", "u32 i16", "u32 i32", "u32 f16", "u32 f32", "u32 c64", "i32 f16", "i32 f32", "i32 c64"];
    assert_eq!(widening(Policy::NumPy1), numpy);
    assert_eq!(widening(Policy::NumPy2), numpy);
}

// J13 "similar to those used by PyTorch"
#[test]
fn float_rules_like_pytorch() {
    let mut defined = 0;
    for (a, b) in pairs().filter(|(a, b)| !a.is_weak() && !b.is_weak()) {
        if let Some(torch) = Policy::Torch.join(a, b) {
            assert_eq!(torch, join(a, b), "{a} with {b}");
            defined += 1;
        }
    }
    assert_eq!(defined, 171, "of 225");
}
