//! The promotion policies against tables measured from JAX (`tests/goldens/`), cell by cell, and their laws over all triples.
//!
//! The goldens were measured with 64-bit types and defaults; the only thing that reads differently here is a weak result,
//! which JAX prints with its default dtype (`f64/w`) and ndjit as its kind (`f*`). Everything else that differs is listed in
//! [`deliberate`] with its reason, and a listed reason that no cell needs fails the test.

use ndjit_ir::op::{Operands, ResultRule};
use ndjit_ir::promotion::Joins;
use ndjit_ir::promotion::lattice::{STANDARD, STANDARD_EDGES, STRICT, join, strict_join};
use ndjit_ir::{DType, Kind, Op, Policy, ValueType, Weak};
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads a golden file whose tables number the types as [`ValueType::ALL`] does.
fn golden(path: &str) -> Value {
    let path = format!("{}/../tests/goldens/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    let names: Vec<&str> = file["types"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names, ValueType::ALL.map(ValueType::name));
    file
}

fn value_type(name: &str) -> ValueType {
    ValueType::ALL.into_iter().find(|ty| ty.name() == name).unwrap_or_else(|| panic!("no type `{name}`"))
}

fn compare_policy(name: &str, policy: Policy) {
    let file = golden(&format!("promotion/{name}.json"));
    let mut differences = Vec::new();
    let mut compared = 0;
    for (i, a) in ValueType::ALL.into_iter().enumerate() {
        for (j, b) in ValueType::ALL.into_iter().enumerate() {
            let want = file["table"][i][j].as_str().map(value_type);
            let got = policy.resolve(Operands::Join, &[a, b]).ok().map(|resolution| resolution.compute);
            compared += 1;
            if got != want {
                differences.push(format!("{a} with {b}: {got:?}, {name} has {want:?}"));
            }
        }
    }
    println!("{name}: {compared} cells compared, {} equal", compared - differences.len());
    assert_eq!(compared, 324);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn standard_is_jax_standard() {
    compare_policy("jax_standard", Policy::Standard);
}

#[test]
fn strict_is_jax_strict() {
    compare_policy("jax_strict", Policy::Strict);
}

/// Why ndjit means to differ from JAX in a cell, if it does. `jax` is JAX's result, `None` where it raises.
fn deliberate(op: Op, operands: &[ValueType], jax: Option<&str>) -> Option<&'static str> {
    let complex = operands.iter().any(|ty| ty.kind() == Kind::Complex);
    match op {
        Op::Exp | Op::Log | Op::Sin | Op::Cos | Op::Tanh if complex => {
            Some("exp log sin cos tanh take real dtypes only so far")
        }
        _ if jax == Some("bool/w") => Some("bool is always strong; JAX leaves a weak flag on some"),
        _ => None,
    }
}

/// A cell of the ops golden as a type: `f32` strong, `f64/w` weak of its kind.
fn golden_result(cell: &str) -> ValueType {
    match cell.strip_suffix("/w").map(|weak| weak.parse::<DType>().unwrap().kind()) {
        None => value_type(cell),
        Some(Kind::Bool) => DType::Bool.into(),
        Some(Kind::Int | Kind::UInt) => Weak::Int.into(),
        Some(Kind::Float) => Weak::Float.into(),
        Some(Kind::Complex) => Weak::Complex.into(),
    }
}

/// Operand types and the golden's cell for them.
type Cell = (Vec<ValueType>, String);

/// The golden's cells for an op; `None` if JAX has no such function.
fn golden_cells(x64: &Value, op: Op) -> Option<Vec<Cell>> {
    let text = |cell: &Value| cell.as_str().unwrap().to_owned();
    let row = |cells: &Value, operands: &dyn Fn(ValueType) -> Vec<ValueType>| -> Vec<Cell> {
        ValueType::ALL.into_iter().enumerate().map(|(i, a)| (operands(a), text(&cells[i]))).collect()
    };
    let table = |rows: &Value, operands: &dyn Fn(ValueType, ValueType) -> Vec<ValueType>| -> Vec<Cell> {
        ValueType::ALL.into_iter().enumerate().flat_map(|(i, a)| row(&rows[i], &|b| operands(a, b))).collect()
    };
    match op {
        Op::Where => {
            let mut cells = table(&x64["where"], &|a, b| vec![DType::Bool.into(), a, b]);
            cells.extend(row(&x64["where_cond"], &|c| vec![c, DType::F32.into(), DType::I8.into()]));
            Some(cells)
        }
        Op::Clip => Some(table(&x64["clip"], &|a, b| vec![a, b, b])),
        _ if op.arity() == 1 => Some(row(x64["unary"].get(op.name())?, &|a| vec![a])),
        _ if op.arity() == 2 => {
            let entry = x64["binary"].get(op.name())?;
            let rows = entry.get("same_as").map_or(entry, |other| &x64["binary"][other.as_str().unwrap()]);
            Some(table(rows, &|a, b| vec![a, b]))
        }
        _ => None,
    }
}

#[test]
fn ops_have_jax_result_types() {
    let x64 = &golden("ops/jax_result_dtypes.json")["x64"];
    let (mut compared, mut equal) = (0, 0);
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut unexplained, mut absent) = (Vec::new(), Vec::new());
    for op in Op::ALL {
        let Some(cells) = golden_cells(x64, op) else {
            absent.push(op);
            continue;
        };
        for (operands, cell) in cells {
            let got = Policy::Standard.resolve_op(op, &operands).ok().map(|types| types.result);
            let jax = (!cell.starts_with('!')).then_some(cell.as_str());
            compared += 1;
            let same = got == jax.map(golden_result);
            match deliberate(op, &operands, jax) {
                // A weak bool is ours but for the flag, so the type must still be bool.
                Some(reason) if same == (jax == Some("bool/w")) => *listed.entry(reason).or_default() += 1,
                _ if same => equal += 1,
                _ => {
                    let raised = cell.strip_prefix('!').map(|n| &x64["errors"][n.parse::<usize>().unwrap()]);
                    unexplained.push(format!("{op} {operands:?}: {got:?}, JAX {cell} {raised:?}"));
                }
            }
        }
    }
    println!("ops: {compared} cells compared, {equal} equal, {} listed differences", listed.values().sum::<usize>());
    for (reason, cells) in &listed {
        println!("  {cells}: {reason}");
    }
    println!("  no such function in JAX: {absent:?}");
    assert!(unexplained.is_empty(), "{} unexplained:\n{}", unexplained.len(), unexplained.join("\n"));
    assert_eq!(equal + listed.values().sum::<usize>(), compared);
    assert_eq!(listed.len(), 2, "a listed difference that no cell shows");
    assert_eq!(absent, [Op::MulAdd]);
}

#[test]
fn laws_hold_over_all_triples() {
    let mut triples = 0;
    for policy in [Policy::Standard, Policy::Strict] {
        let join3 = |a, b, c| policy.join(a, b).and_then(|ab| policy.join(ab, c));
        for a in ValueType::ALL {
            assert_eq!(policy.join(a, a), Some(a));
            for b in ValueType::ALL {
                assert_eq!(policy.join(a, b), policy.join(b, a));
                for c in ValueType::ALL {
                    // With commutativity, (a b) c = (b c) a is associativity.
                    assert_eq!(join3(a, b, c), join3(b, c, a), "{policy}: {a} {b} {c}");
                    let resolved = policy.resolve(Operands::Join, &[a, b, c]).ok().map(|r| r.compute);
                    assert_eq!(resolved, join3(a, b, c));
                    triples += 1;
                }
            }
        }
    }
    assert_eq!(triples, 2 * 18 * 18 * 18);
    assert!(STANDARD.is_total() && !STRICT.is_total());
}

#[test]
fn a_join_is_the_least_type_above_both() {
    // Reachability by search, independent of the bitmasks.
    let above = |from: ValueType| {
        let mut seen = vec![from.index() as u8];
        let mut next = 0;
        while let Some(&node) = seen.get(next) {
            for &(_, upper) in STANDARD_EDGES.iter().filter(|edge| edge.0 == node) {
                if !seen.contains(&upper) {
                    seen.push(upper);
                }
            }
            next += 1;
        }
        seen
    };
    for a in ValueType::ALL {
        for b in ValueType::ALL {
            let least = above(join(a, b));
            let common: Vec<u8> = above(a).into_iter().filter(|node| above(b).contains(node)).collect();
            assert!(common.contains(&(join(a, b).index() as u8)), "{a} {b}");
            assert!(common.iter().all(|node| least.contains(node)), "{a} {b}");
        }
    }
}

#[test]
fn no_edge_follows_from_the_others() {
    for skipped in STANDARD_EDGES {
        let rest: Vec<(u8, u8)> = STANDARD_EDGES.iter().copied().filter(|edge| edge != skipped).collect();
        assert_ne!(Joins::<18>::from_edges(&rest), STANDARD, "edge {skipped:?} changes nothing");
    }
}

/// Joins are usable while compiling.
const U64_AND_I64: ValueType = join(ValueType::Strong(DType::U64), ValueType::Strong(DType::I64));

#[test]
fn strict_agrees_with_standard_where_it_is_defined() {
    for a in ValueType::ALL {
        for b in ValueType::ALL {
            assert!(strict_join(a, b).is_none_or(|strict| strict == join(a, b)), "{a} {b}");
        }
    }
}

/// Follows the casts that an error's help names, for all pairs of types under both policies.
#[test]
fn the_advice_of_every_error_works() {
    let mut advised = 0;
    for (policy, op) in Policy::ALL.into_iter().flat_map(|policy| Op::ALL.map(|op| (policy, op))) {
        for (a, b) in ValueType::ALL.into_iter().flat_map(|a| ValueType::ALL.map(|b| (a, b))) {
            let operands = match op.arity() {
                1 => vec![a],
                2 => vec![a, b],
                _ if op == Op::Where => vec![b, a, b],
                _ => vec![a, a, b],
            };
            let error = match policy.resolve_op(op, &operands) {
                Ok(types) => {
                    assert!(op.row().domain.contains(policy.commit(types.compute)));
                    assert_eq!(policy.commit(types.result), op.result_dtype(policy.commit(types.compute)));
                    continue;
                }
                Err(error) => error,
            };
            let help = error.help_text().unwrap_or_else(|| panic!("no help: {error}"));
            let cast = |(name, &ty): (&&str, &ValueType)| {
                let Some((_, rest)) = help.split_once(&format!("`{name}.cast(DType::")) else { return ty };
                ValueType::Strong(rest.split(')').next().unwrap().to_lowercase().parse().unwrap())
            };
            let mended: Vec<ValueType> = op.row().operands.iter().zip(&operands).map(cast).collect();
            assert_ne!(mended, operands, "{error}");
            assert!(policy.resolve_op(op, &mended).is_ok(), "{policy}: {error}\nwith {mended:?}");
            advised += 1;
        }
    }
    println!("{advised} errors, and their advice works");
    assert!(advised > 1000);
}

#[test]
fn errors_name_the_operands_and_the_way_out() {
    let error = |policy: Policy, op: Op, operands: &[DType]| {
        let types: Vec<ValueType> = operands.iter().map(|&dtype| dtype.into()).collect();
        policy.resolve_op(op, &types).unwrap_err().to_string()
    };
    assert_eq!(
        error(Policy::Standard, Op::Remainder, &[DType::C64, DType::F32]),
        "error[dtype]: remainder: c64 is not supported
  x: c64
  y: f32
  accepted: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64
  help: abs gives the modulus; a cast drops the imaginary part: `x.cast(DType::F32)`"
    );
    assert_eq!(
        error(Policy::Standard, Op::BitwiseAnd, &[DType::U64, DType::I64]),
        "error[dtype]: bitwise_and: f* is not supported
  x: u64
  y: i64
  accepted: bool u8 u16 u32 u64 i8 i16 i32 i64
  help: no integer type holds both operands; cast explicitly: `x.cast(DType::I64)`"
    );
    assert_eq!(
        error(Policy::Standard, Op::Negative, &[DType::Bool]),
        "error[dtype]: negative: bool is not supported
  x: bool
  accepted: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
  help: cast explicitly: `x.cast(DType::I32)`"
    );
    assert_eq!(
        error(Policy::Strict, Op::Where, &[DType::Bool, DType::I32, DType::F32]),
        "error[promotion]: where: the strict policy does not promote i32 and f32
  condition: bool
  x:         i32
  y:         f32
  help: cast explicitly: `x.cast(DType::F32)`"
    );
    assert_eq!(
        error(Policy::Standard, Op::Add, &[DType::F32]),
        "error[arity]: add: takes 2 operands, 1 given\n  operands: add(x, y)"
    );
}

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
