//! docs/grammar.md: its examples parse and print unchanged, they contain each word of the grammar, and each name is
//! explained. Also errors in texts, with line and column.

use ndjit_ir::body::Body;
use ndjit_ir::graph::Graph;
use ndjit_ir::kernel::{FusedKernel, parse_kernels};
use ndjit_ir::loops::{IterationDomain, LoopNest, parse_nests};
use ndjit_ir::{DType, Result, ValueType};
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../docs/grammar.md");

/// The blocks of the page in these languages.
fn blocks(languages: &[&str]) -> Vec<(&'static str, &'static str)> {
    let fenced = PAGE.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).filter(|(language, _)| languages.contains(language)).collect()
}

/// The printed text of a parsed block.
fn printed(language: &str, text: &str) -> Result<String> {
    Ok(match language {
        "graph" => text.parse::<Graph<ValueType>>()?.to_string(),
        "typed" => text.parse::<Graph<DType>>()?.to_string(),
        "kernels" => parse_kernels(text)?.iter().map(|kernel| format!("{kernel}\n")).collect(),
        "loops" => {
            let domain = |domain: Option<IterationDomain>| domain.map_or(String::new(), |domain| format!("{domain}\n"));
            parse_nests(text)?.into_iter().map(|(nest, given)| format!("{nest}\n{}", domain(given))).collect()
        }
        "body" => text.parse::<Body>()?.to_string(),
        _ => panic!("the page has a block of {language}"),
    })
}

#[test]
fn examples_are_read_and_print_as_they_are() {
    let examples = blocks(&["graph", "typed", "kernels", "loops", "body"]);
    assert!(examples.len() >= 6, "{} examples", examples.len());
    for (language, text) in examples {
        let code: Vec<&str> = text.lines().map(|line| line.split("  ;").next().unwrap_or(line)).collect();
        let printed = printed(language, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(printed.trim_end(), code.join("\n").trim_end());
    }
}

#[test]
fn every_word_of_the_grammar_has_an_example() {
    let examples: String =
        blocks(&["graph", "typed", "kernels", "loops", "body"]).iter().map(|(_, text)| *text).collect();
    let grammar: String = blocks(&["ebnf"]).iter().map(|(_, text)| *text).collect();
    let quoted: BTreeSet<&str> = grammar.split('"').skip(1).step_by(2).collect();
    assert!(quoted.len() > 60, "{} words", quoted.len());
    let is_type = |word: &str| DType::ALL.iter().any(|dtype| dtype.name() == word);
    let missing: Vec<&&str> = quoted.iter().filter(|word| !is_type(word) && !examples.contains(**word)).collect();
    assert!(missing.is_empty(), "no example has {missing:?}");
    // Names are defined, or described in words.
    let unquoted: String = grammar.split('"').step_by(2).collect::<Vec<&str>>().join(" ");
    let defined: BTreeSet<&str> =
        grammar.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.trim()).collect();
    let words = unquoted.split(|c: char| !c.is_ascii_lowercase() && c != '-').filter(|word| word.len() > 1);
    let said = |word: &str| word == "digit" || word == "hexadecimal" || PAGE.contains(&format!("`{word}`"));
    let unknown: BTreeSet<&str> = words.filter(|word| !defined.contains(word) && !said(word)).collect();
    assert!(unknown.is_empty(), "{unknown:?} is not explained");
}

/// The errors of texts with one fault each.
fn errors<T: std::str::FromStr<Err = ndjit_ir::Error> + std::fmt::Debug>(
    text: &str,
    changes: &[(&str, &str)],
) -> String {
    text.parse::<T>().unwrap();
    let error = |&(right, wrong): &(&str, &str)| {
        assert!(text.contains(right), "{right}");
        let error = text.replacen(right, wrong, 1).parse::<T>().unwrap_err();
        let facts: String = error.facts().iter().take(1).map(|fact| format!(": {fact}")).collect();
        format!("{}{facts}\n", error.headline())
    };
    changes.iter().map(error).collect()
}

#[test]
fn errors_of_kernels_say_where() {
    let text = "kernel [8, 3] {\n  in0 = %0 : f32[8, 3]\n  l0 = #0 : f32\n  t0 = load in0 : f32\n  t1 = add t0, t0 : f32\n  \
                out0 = t1 -> %5\n}";
    let changes = [
        ("kernel", "kernels"),
        ("[8, 3] {", "[8, 99999999999999999999] {"),
        ("[8, 3] {", "[8, 3] reduces axes [1] {"),
        ("in0 = %0", "in1 = %0"),
        ("f32[8, 3]", "f33[8, 3]"),
        ("load in0", "load in"),
        ("add t0, t0", "add t0, t1"),
        ("add t0, t0", "add t0"),
        ("add t0, t0", "adds t0, t0"),
        ("out0 = t1", "out0 = sum t1"),
        ("out0 = t1 -> %5", "out0 = t1 -> %5 at 1"),
        ("out0 = t1 -> %5\n", "t2 = sin t1 : f32\n"),
        ("out0 = t1 -> %5\n}", "out0 = t1 -> %5"),
        ("%5\n}", "%5\n}\n}"),
        ("in0 = %0 : f32[8, 3]", "in0 = %0 : f32[8, 2]"),
    ];
    insta::assert_snapshot!(errors::<FusedKernel>(text, &changes), @"
    kernel text, line 1, column 1: expected `kernel […] {`, found `kernels [8, 3] {`
    kernel text, line 1, column 12: 99999999999999999999 is too large
    kernel text, line 6, column 10: expected a reduction or a scan, as in `sum`, found `t1 -> %5`
    kernel text, line 2, column 7: numbers are in order: the next one is `in0`
    kernel text, line 2, column 14: expected the dtype of what is read, found `f33[8, 3]`
    kernel text, line 4, column 13: expected an input, as in `in0`, found `in : f32`
    kernel text, line 5, column 19: t1 is not defined above this line
    kernel: 1 broken invariant: t1 = add t0 : f32  ; takes 2 operands, has 1
    kernel text, line 5, column 8: expected an op, `load`, `gather`, `address`, `literal` or `cast`, found `adds t0, t0 : f32`
    kernel text, line 6, column 10: expected a scalar, as in `t0`, found `sum t1 -> %5`
    kernel text, line 6, column 22: expected `(`, found `1`
    kernel text, line 7, column 1: expected `in0 = …`, `l0 = …`, `t0 = …` or `out0 = …`, numbered in order, found `}`
    kernel text, line 7: expected `out0 = …` and `}`, found the end
    kernel text, line 8, column 1: expected the end, found `}`
    kernel: 1 broken invariant: in0 = %0 : [8, 2] does not broadcast to [8, 3]
    ");
}

#[test]
fn errors_of_loops_say_where() {
    let text = "nest rank 2 {\n  in0: f32 contiguous, in1: f32 broadcast\n  literals: l0 f32\n  out0: f32 contiguous\n  for i0 {\n    preheader:\n      \
                r1 = load in1 : f32\n      r2 = literal l0 : f32\n      r3 = fmul.f32 r1, r2\n    loop: for i1 {\n      r0 = load in0 : f32\n      \
                r4 = fadd.f32 r0, r3\n      store out0, r4\n    }\n  }\n}";
    let changes = [
        ("rank 2", "rank 99999999999"),
        ("rank 2", "rank 2, vectors along i0"),
        ("f32 contiguous,", "f32 wide,"),
        ("in1: f32", "in2: f32"),
        ("out0: f32 contiguous", "out0: f32 sum"),
        ("out0: f32 contiguous", "out0: f32 contiguous sum"),
        ("for i0 {", "for i0, i1 {"),
        ("      r2 = literal l0 : f32\n", ""),
        ("r2 = literal l0", "r1 = load in1"),
        ("r1 = load in1 : f32", "r0 = load in0 : f32"),
        ("r1 = load in1 : f32", "r1 = load in1 : f64"),
        ("loop: for i1", "loop: for i2"),
        ("fmul.f32 r1, r2", "fmul.f32 r0, r2"),
        ("fadd.f32 r0, r3", "fadd.f64 r0, r3"),
        ("fadd.f32 r0, r3", "flop.f32 r0, r3"),
        ("fadd.f32 r0, r3", "fadd.f32 r0, r9"),
        ("store out0, r4", "reduce out0, r4"),
        ("    }\n  }\n}", "    }\n  }"),
    ];
    insta::assert_snapshot!(errors::<LoopNest>(text, &changes), @"
    loop text, line 5, column 11: 1 loops in a nest of rank 99999999999
    loop text, line 1, column 32: vectors lie along the last loop, or in a nest that reduces or scans along the last kept one
    loop text, line 2, column 12: expected `contiguous`, `broadcast` or `strided`, found `wide, in1: f32 broadcast`
    loop text, line 2, column 27: numbers are in order: the next one is `in1`
    loop text, line 5, column 10: expected `reduce`, found `{`
    loop text, line 4, column 24: expected a scan, as in `cumulative_sum`, found `sum`
    loop text, line 6, column 5: expected `store`, found `preheader:`
    loop text, line 12, column 7: `r2 = literal l0 : f32` is missing above this line
    loop text, line 8, column 7: r1 is loaded above
    loop text, line 7, column 7: r0 stands in the loop
    loop text, line 7, column 23: expected `f32`, found `f64`
    loop text, line 10, column 18: numbers are in order: the next one is `i1`
    loop nest: 1 broken invariant: r3 is hoisted, but r0 changes in the innermost loop
    loop nest: 2 broken invariants: body: 1 invariants do not hold
    loop text, line 12, column 12: expected a primitive, `const`, `table`, `gather`, `if` or `repeat`, found `flop.f32 r0, r3`
    loop text, line 12, column 27: r9 is not defined above this line
    loop text, line 13, column 7: expected `store`, found `reduce out0, r4`
    loop text, line 16: expected `}`, found the end
    ");
    let text = "domain [8] {\n  in0: offset 0, strides [-4]\n  out0: offset 0, strides [4]\n}";
    let changes =
        [("[8]", "[-8]"), ("in0", "in1"), ("[-4]", "[-99999999999999999999]"), ("offset 0", "offset"), ("\n}", "")];
    insta::assert_snapshot!(errors::<IterationDomain>(text, &changes), @"
    loop text, line 1, column 9: expected an extent, found `-8] {`
    loop text, line 2, column 6: numbers are in order: the next one is `in0`
    loop text, line 2, column 28: 99999999999999999999 is too large
    loop text, line 2, column 14: expected an offset in bytes, found `, strides [-4]`
    loop text, line 4: expected `}`, found the end
    ");
}

#[test]
fn errors_of_bodies_say_where() {
    let text = "body(r0: f32) {\n  r1 = const.i32 -3\n  r2 = fromsint.i32.f32 r1\n  r3 = const.f32 1.5\n  r4 = flt.f32 r0, r3\n  \
                r5 = if r4, r2, r0 then(r0: f32) {\n    return r0\n  }\n  return r5\n}";
    let changes = [
        ("-3", "-3000000000"),
        ("-3", "0x1ffffffff"),
        ("1.5", "1e999"),
        ("1.5", "nan"),
        ("1.5", "nan:0x3f800000"),
        ("fromsint.i32.f32", "fromsint.i64.f32"),
        ("flt.f32", "flt.f64"),
        ("r5 = if", "r5, r6 = if"),
        ("r4, r2, r0 then", "r4, r2 then"),
        ("    return r0\n", ""),
        ("body(r0: f32)", "body(r1: f32)"),
    ];
    insta::assert_snapshot!(errors::<Body>(text, &changes), @"
    body text, line 2, column 18: expected a constant of type i32, found `-3000000000`
    body text, line 2, column 18: expected a constant of type i32, found `0x1ffffffff`
    body text, line 4, column 18: expected a constant of type f32, found `1e999`
    body text, line 4, column 18: expected a constant of type f32, found `nan`
    body text, line 4, column 18: expected a constant of type f32, found `nan:0x3f800000`
    body text, line 3, column 27: r1 is i32, not i64
    body text, line 5, column 22: r0 is f32, not f64
    body text, line 6, column 41: 2 results on the left, 1 on the right
    body: 1 invariants do not hold: r5: if takes (bool f32 f32), not (bool f32)
    body text, line 7, column 3: expected `r1`, found `}`
    body text, line 1, column 8: numbers are in order: the next one is `r0`
    ");
    let deep = "body(r0: bool) {\n".to_owned() + &"r1 = if r0, r0, r0 then(r0: bool) {\n".repeat(100_000);
    insta::assert_snapshot!(deep.parse::<Body>().unwrap_err().headline(), @"body text, line 10, column 24: bodies nest deeper than 8");
}
