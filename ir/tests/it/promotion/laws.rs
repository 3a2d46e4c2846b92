//! The laws of joins over all pairs and triples, and the policies' claims.

use ndjit_ir::op::TypeRule;
use ndjit_ir::promotion::Joins;
use ndjit_ir::promotion::lattice::{STANDARD, STANDARD_EDGES, STRICT, join, strict_join};
use ndjit_ir::{DType, Policy, ValueType};

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
                    let resolved = policy.resolve(TypeRule::Join, &[a, b, c]).ok().map(|r| r.compute);
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

#[test]
fn strict_agrees_with_standard_where_it_is_defined() {
    for a in ValueType::ALL {
        for b in ValueType::ALL {
            assert!(strict_join(a, b).is_none_or(|strict| strict == join(a, b)), "{a} {b}");
        }
    }
}

#[test]
fn policies_say_what_they_obey() {
    let lattices: Vec<Policy> = Policy::ALL.into_iter().filter(|policy| policy.is_lattice()).collect();
    assert_eq!(lattices, [Policy::Standard, Policy::Jax32Explicit, Policy::TensorFlowNumpyAll]);
    let partial: Vec<Policy> = Policy::ALL.into_iter().filter(|policy| policy.is_partial_lattice()).collect();
    assert_eq!(
        partial,
        [Policy::Standard, Policy::Strict, Policy::Jax32Explicit, Policy::TensorFlowNumpyAll, Policy::Lax]
    );
    // With 64-bit types off those are no nodes; the others still form a lattice.
    assert_eq!(Policy::Jax32.non_idempotent(), [DType::U64, DType::I64, DType::F64, DType::C128].map(ValueType::from));
    assert!(Policy::Jax32.non_associative().is_empty());
    // Of NumExpr's kinds too: only they are results.
    assert!(Policy::NumExpr.non_associative().is_empty() && Policy::NumExpr.asymmetric().is_empty());
    let kinds = [DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64, DType::C128].map(ValueType::from);
    assert!(kinds.iter().all(|kind| !Policy::NumExpr.non_idempotent().contains(kind)));
    for policy in Policy::ALL {
        // An order that sorts operands cannot tell the two of a pair apart, so its joins must be symmetric.
        let sorts = policy.rules().order == ndjit_ir::promotion::system::Order::KindFirst;
        assert!(!sorts || policy.asymmetric().is_empty(), "{policy}");
        for [a, b, c] in policy.non_associative() {
            let from_left = policy.join(a, b).and_then(|ab| policy.join(ab, c));
            let from_right = policy.join(b, c).and_then(|bc| policy.join(a, bc));
            let has_weak_join = [(a, b), (b, c)].iter().any(|&(a, b)| {
                let join = policy.system().joins.get(a, b);
                join.is_some_and(ValueType::is_weak)
            });
            assert!(from_left != from_right || has_weak_join, "{policy}: {a} {b} {c}");
        }
    }
    let triple = [DType::I8, DType::U8, DType::F16].map(ValueType::from);
    assert!(Policy::NumPy2.non_associative().contains(&triple));
    let [i8, u8, f16] = triple;
    assert_eq!(Policy::NumPy2.join(i8, u8).and_then(|i16| Policy::NumPy2.join(i16, f16)), Some(DType::F32.into()));
    // NumPy lets the float meet each integer first.
    let resolved = Policy::NumPy2.resolve(TypeRule::Join, &triple).unwrap().compute;
    assert_eq!(resolved, f16);
}
