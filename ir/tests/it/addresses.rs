//! Outputs stored at addresses: text and invariants.

use insta::assert_snapshot;
use ndjit_ir::loops::{IterationDomain, LoopNest};

/// `x[i] = x[i - 1] + x[i]` for each `i`.
const NEST: &str = "nest rank 1 {
  in0: i64 index strided, in1: f32 rows broadcast, in2: i64 index broadcast, in3: i64 index broadcast, in4: i64 index broadcast
  out0: f32 rows broadcast, out1: i64 index broadcast
  for i0 {
    t0 = load in0 : i64
    t1 = load in4 : i64
    t2 = add t0, t1 : i64
    t3 = gather in1, t2 : f32
    t4 = gather in1, t0 : f32
    t5 = add t3, t4 : f32
    t6 = address in1, t0 : i64
    store out0, t5
    store out1, t6
  }
}";

#[test]
fn nests_with_addresses_print_and_parse() {
    let nest: LoopNest = NEST.parse().unwrap();
    assert_eq!(nest.to_string(), NEST);
    assert_eq!((nest.stores_at_addresses(), nest.address_of(0), nest.address_of(1)), (true, Some(1), None));
}

#[test]
fn what_is_stored_at_no_address_is_found() {
    let changes = [
        ("out0: f32 rows broadcast, ", "out0: f32 contiguous, "),
        ("out1: i64 index broadcast", "out1: i64 strided"),
        ("out1: i64 index broadcast", "out1: f32 index broadcast"),
        ("store out1, t6", "store out1, t2"),
        ("address in1, t0 : i64", "address in0, t0 : i64"),
        ("address in1, t0 : i64", "address in1, t5 : i64"),
        ("address in1, t0 : i64", "address in1, t0 : f32"),
        ("address in1, t0 : i64", "address in9, t0 : i64"),
        ("in1: f32 rows broadcast", "in1: f32 broadcast"),
    ];
    let found = changes.map(|(from, to)| {
        let text = NEST.replacen(from, to, 1);
        assert_ne!(text, NEST);
        let error = text.parse::<LoopNest>().unwrap_err();
        let facts: Vec<&str> = error.facts().iter().map(String::as_str).collect();
        format!("{}: {}", error.headline(), facts.join("; "))
    });
    assert_snapshot!(found.join("\n"), @r"
    loop nest: 1 broken invariant: out1: i64 index broadcast is stored neither at its index nor at an address
    loop nest: 1 broken invariant: out0: f32 rows broadcast is stored neither at its index nor at an address
    loop nest: 2 broken invariants: indices are i64; the nest's outputs are [Some(F32), Some(F32)], the body's [Some(F32), Some(I64)]
    loop nest: 1 broken invariant: out0: f32 rows broadcast is stored neither at its index nor at an address
    loop nest: 3 broken invariants: out0: f32 rows broadcast is stored neither at its index nor at an address; t6 = address in0, t0 : i64  ; rows, their last position and their step are i64; in0 is gathered from, or an address is in it, and it has no rows
    loop nest: 1 broken invariant: t6 = address in1, t5 : i64  ; rows, their last position and their step are i64
    loop nest: 2 broken invariants: t6 = address in1, t0 : f32  ; an address is an i64; the nest's outputs are [Some(F32), Some(I64)], the body's [Some(F32), Some(F32)]
    loop nest: 3 broken invariants: out0: f32 rows broadcast is stored neither at its index nor at an address; t6 = address in9, t0 : i64  ; rows, their last position and their step are i64; in9 is gathered from, or an address is in it, and it has no rows
    loop nest: 4 broken invariants: out0: f32 rows broadcast is stored neither at its index nor at an address; in1 is gathered from, or an address is in it, and it has no rows; in1 is gathered from, or an address is in it, and it has no rows; in1 is gathered from, or an address is in it, and it has no rows
    ");
}

#[test]
fn addresses_lie_in_the_memory_of_the_rows() {
    let nest: LoopNest = NEST.parse().unwrap();
    let domain: IterationDomain = "domain [8] {
  in0: offset 0, strides [1]
  in1: offset 0, strides [0]
  in2: offset 9, strides [0]
  in3: offset 4, strides [0]
  in4: offset 18446744073709551615, strides [0]
  out0: offset 0, strides [0]
  out1: offset 0, strides [0]
}"
    .parse()
    .unwrap();
    let check = |read, stored| domain.verify(&nest, &[0, read, 0, 0, 0], &[stored, 0]);
    check(40, 40).unwrap();
    assert!(check(39, 40).is_err() && check(40, 39).is_err(), "ten rows of four bytes");
}
