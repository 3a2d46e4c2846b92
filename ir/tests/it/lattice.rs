//! Lattices as values: the named ones against the JEP's tables cell by cell, laws over all triples, refused constructions,
//! the text and drawn forms.

use ndjit_drawing::{LayeredLayout, layout};
use ndjit_ir::ValueType;
use ndjit_ir::promotion::lattice::{Claim, Join, Joins, NAMED, Named};
use ndjit_ir::promotion::{Lattice, LatticeError, NoLattice, lattice};
use serde_json::Value;

fn golden(name: &str) -> Value {
    let path = format!("{}/../tests/goldens/promotion/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn named(name: &str) -> &'static Named {
    NAMED.iter().find(|named| named.name == name).unwrap()
}

/// A cell: the join, or the reason why there is none in the golden's words.
type Cell = Result<String, String>;

fn cell(lattice: &Result<Lattice, LatticeError>, rows: &Named, a: &str, b: &str) -> Cell {
    let has = |name: &str| rows.rows.iter().any(|(lower, uppers)| *lower == name || uppers.contains(&name));
    if !has(a) || !has(b) {
        return Err("node_not_in_lattice".into());
    }
    match lattice {
        Ok(lattice) => lattice.join(a, b).map(str::to_owned).ok_or("no_upper_bound".into()),
        Err(LatticeError { reason: NoLattice::Ambiguous(pairs), .. }) => {
            let is = |x: &str, y: &str| (a == x && b == y) || (a == y && b == x);
            if let Some((.., minimal)) = pairs.iter().find(|(x, y, _)| is(x, y)) {
                let mut minimal = minimal.clone();
                minimal.sort();
                return Err(format!("ambiguous:{}", minimal.join("|")));
            }
            // The graph is no lattice, so its other joins come from the table of the order.
            let number = |name: &str| ValueType::ALL.iter().position(|ty| ty.name() == name).unwrap() as u8;
            let edges = rows.rows.iter().flat_map(|(lower, uppers)| uppers.iter().map(|u| (number(lower), number(u))));
            let edges: Vec<(u8, u8)> = edges.collect();
            match Joins::<18>::from_edges(&edges).join(number(a), number(b)) {
                Join::Node(node) => Ok(ValueType::ALL[usize::from(node)].name().to_owned()),
                Join::NoBound => Err("no_upper_bound".into()),
                Join::Ambiguous => panic!("{a} and {b} are not listed as ambiguous"),
            }
        }
        Err(error) => panic!("{error}"),
    }
}

/// The golden's cell; `null_reasons` lists pairs by reason, except nodes that the graph lacks, which it counts.
fn golden_cell(file: &Value, i: usize, j: usize) -> Cell {
    if let Some(join) = file["table"][i][j].as_str() {
        return Ok(join.to_owned());
    }
    let pair = serde_json::json!([file["types"][i], file["types"][j]]);
    let reasons = file["null_reasons"].as_object().unwrap();
    let listed = reasons.iter().find(|(_, pairs)| pairs.as_array().is_some_and(|pairs| pairs.contains(&pair)));
    Err(listed.map_or("node_not_in_lattice", |(reason, _)| reason).to_owned())
}

#[test]
fn named_lattices_are_the_jeps() {
    let pairs = [
        ("jep_option0", "jep_option0"),
        ("jep_option1", "jep_option1"),
        ("jep_option2", "jep_option2"),
        ("jep_option3_no_bf16", "jep_option3_no_bf16"),
        ("jep_option3", "jep_option3"),
        ("jep_adopted", "jep_adopted"),
        ("jep_numpy_like", "jep_numpy_like"),
        ("jax_seed001_lattice", "jax"),
    ];
    for (file_name, name) in pairs {
        let file = golden(file_name);
        let types: Vec<&str> = file["types"].as_array().unwrap().iter().map(|ty| ty.as_str().unwrap()).collect();
        assert_eq!(types, ValueType::ALL.map(ValueType::name));
        let (lattice, rows) = (Lattice::named(name), named(name));
        let (mut compared, mut absent) = (0, 0);
        for (i, a) in types.iter().enumerate() {
            for (j, b) in types.iter().enumerate() {
                let (got, want) = (cell(&lattice, rows, a, b), golden_cell(&file, i, j));
                assert_eq!(got, want, "{name}: {a} with {b}");
                compared += 1;
                absent += usize::from(got == Err("node_not_in_lattice".into()));
            }
        }
        assert_eq!(file["null_reasons"].get("node_not_in_lattice").map_or(0, |n| n.as_u64().unwrap()), absent as u64);
        assert_eq!(compared, 324);
        println!("{file_name}: {compared} cells compared, {compared} equal");
        // The edges are the source's too.
        let edges = |lower: &str| {
            let uppers = rows.rows.iter().filter(|row| row.0 == lower).flat_map(|row| row.1);
            let mut uppers: Vec<String> = uppers.map(|upper| upper.to_string()).collect();
            uppers.sort();
            uppers
        };
        for (lower, uppers) in file["lattice"].as_object().unwrap() {
            let mut want: Vec<&str> = uppers.as_array().unwrap().iter().map(|u| u.as_str().unwrap()).collect();
            want.sort();
            assert_eq!(edges(lower), want, "{name}: {lower}");
        }
    }
}

#[test]
fn laws_hold_over_all_triples_of_every_named_lattice() {
    let mut triples = 0;
    for named in NAMED.iter().filter(|named| named.claim != Claim::NoLattice) {
        let lattice = Lattice::named(named.name).unwrap();
        assert_eq!(lattice.is_total(), named.claim == Claim::Lattice, "{}", named.name);
        let n = lattice.nodes().len();
        let join = |a: Option<usize>, b: Option<usize>| lattice.join_indices(a?, b?);
        for a in 0..n {
            assert_eq!(lattice.join_indices(a, a), Some(a));
            for b in 0..n {
                assert_eq!(lattice.join_indices(a, b), lattice.join_indices(b, a));
                let (x, y) = (lattice.nodes()[a].as_str(), lattice.nodes()[b].as_str());
                // The join is the least of the common upper bounds.
                let bounds = lattice.upper_bounds([x, y]);
                let least = bounds.iter().find(|least| bounds.iter().all(|bound| lattice.le(least, bound)));
                assert_eq!(lattice.join(x, y), least.copied(), "{}: {x} {y}", named.name);
                assert_eq!(lattice.le(x, y), lattice.join(x, y) == Some(y));
                for c in 0..n {
                    let (a, b, c) = (Some(a), Some(b), Some(c));
                    assert_eq!(join(join(a, b), c), join(a, join(b, c)), "{}", named.name);
                    triples += 1;
                }
            }
        }
    }
    println!("{triples} triples");
    assert!(triples > 50_000);
}

#[test]
fn jax_is_the_constant_tables() {
    let (jax, strict) = (Lattice::named("jax").unwrap(), Lattice::named("jax_strict").unwrap());
    for a in ValueType::ALL {
        for b in ValueType::ALL {
            assert_eq!(jax.join_types(a, b), Some(lattice::join(a, b)));
            assert_eq!(strict.join_types(a, b), lattice::strict_join(a, b));
        }
    }
}

#[test]
fn graphs_that_are_no_lattices_are_refused_with_the_reason() {
    let refused = NAMED.iter().filter(|named| named.claim == Claim::NoLattice);
    let reasons: Vec<String> = refused.map(|named| Lattice::named(named.name).unwrap_err().to_string()).collect();
    insta::assert_snapshot!(reasons.join("\n"), @r"
    `jep_fork` is only a partial lattice: B and C have no common upper bound; add a node above both
    `jep_crossed` is no lattice: the minimal common upper bounds of A and B are C and D, none of them is the least; add an edge between these bounds, or a node below them and above the pair
    `jep_numpy_like` is no lattice: the minimal common upper bounds of u8 and i8 are f16 and i16, none of them is the least (5 more pairs like this); add an edge between these bounds, or a node below them and above the pair
    `jep_option1_bf16` is no lattice: the minimal common upper bounds of f* and i8 are f16 and bf16, none of them is the least; add an edge between these bounds, or a node below them and above the pair
    `jep_option2_bf16` is no lattice: the minimal common upper bounds of f* and u8 are f16 and bf16, none of them is the least (2 more pairs like this); add an edge between these bounds, or a node below them and above the pair
    ");
}

fn refusal(nodes: &[&str], edges: &[(&str, &str)]) -> String {
    Lattice::with_nodes("mine", nodes, edges).unwrap_err().to_string()
}

#[test]
fn every_refusal_names_what_is_wrong() {
    let many: Vec<String> = (0..65).map(|i| format!("n{i}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let total = Lattice::new("mine", [("a", ["b"]), ("c", ["d"])]).unwrap().total();
    let messages = [
        refusal(&["a", "b c"], &[]),
        refusal(&["a", ""], &[]),
        refusal(&["->"], &[]),
        Lattice::with_nodes("my lattice", &[], &[]).unwrap_err().to_string(),
        refusal(&many, &[]),
        refusal(&["a", "b", "a"], &[]),
        refusal(&["a", "b"], &[("a", "c")]),
        refusal(&["a", "b"], &[("a", "b"), ("a", "b")]),
        refusal(&["a", "b"], &[("a", "a")]),
        refusal(&["a", "b"], &[("a", "b"), ("b", "a")]),
        refusal(&["x", "a", "b", "c"], &[("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("a", "x"), ("b", "x")]),
        refusal(&["a", "b", "c", "d", "e"], &[("a", "c"), ("a", "d"), ("a", "e"), ("b", "c"), ("b", "d"), ("b", "e")]),
        total.unwrap_err().to_string(),
        Lattice::named("jep_option4").unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(messages.join("\n"), @r"
    `b c` cannot be a name in lattice `mine`: use one word other than `->`
    `` cannot be a name in lattice `mine`: use one word other than `->`
    `->` cannot be a name in lattice `mine`: use one word other than `->`
    `my lattice` cannot be a name in lattice `my lattice`: use one word other than `->`
    lattice `mine` has 65 nodes; at most 64 are possible
    lattice `mine` lists node `a` twice
    edge a -> c of lattice `mine` names `c`, which is not listed as a node
    lattice `mine` lists edge a -> b twice
    lattice `mine` has an edge from a to itself; edges lead to other nodes above
    `mine` is no lattice: its edges form the cycle a -> b -> a
    `mine` is no lattice: its edges form the cycle x -> a -> x
    `mine` is no lattice: the minimal common upper bounds of a and b are c and d and e, none of them is the least; add an edge between these bounds, or a node below them and above the pair
    `mine` is only a partial lattice: a and c have no common upper bound (3 more pairs like this); add a node above both
    no lattice has the name `jep_option4`; known are python jep_categories jep_numpy_signed jep_scalar_categories jep_combined jep_float_complex jep_option0 jep_option0_bf16 jep_option1 jep_option2 jep_option3_no_bf16 jep_option3 jep_adopted jax jax_strict jep_fork jep_crossed jep_numpy_like jep_option1_bf16 jep_option2_bf16
    ");
    assert!(Lattice::with_nodes("mine", &many[..64], &[]).is_ok());
}

#[test]
fn any_number_of_names_is_counted_at_once() {
    let names: Vec<String> = (0..100_000).map(|name| format!("n{name}")).collect();
    let rows = names.iter().map(|name| (name.as_str(), ["n0"]));
    // Not by comparing each name with all previous ones.
    assert_eq!(Lattice::new("many", rows).unwrap_err().reason, NoLattice::TooManyNodes(100_000));
}

#[test]
fn lattices_print_and_read_back() {
    for named in NAMED.iter().filter(|named| named.claim != Claim::NoLattice) {
        let lattice = Lattice::named(named.name).unwrap();
        assert_eq!(lattice.to_string().parse(), Ok(lattice));
    }
    insta::assert_snapshot!(Lattice::named("jax").unwrap(), @r"
    lattice jax
    bool -> i*
    i* -> u8 i8
    u8 -> u16 i16
    i8 -> i16
    u16 -> u32 i32
    i16 -> i32
    u32 -> u64 i64
    i32 -> i64
    u64 -> f*
    i64 -> f*
    f* -> bf16 f16 c*
    bf16 -> f32
    f16 -> f32
    c* -> c64
    f32 -> f64 c64
    f64 -> c128
    c64 -> c128
    c128
    ");
    let messages = ["a -> b", "lattice mine\na -> b\nb ->", "a b\n", "lattice mine\n-> a", "a\nlattice late"];
    let messages = messages.map(|text| text.parse::<Lattice>().unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"), @r"
    edge a -> b of lattice `unnamed` names `b`, which is not listed as a node
    line 3 of lattice `mine` is neither `node` nor `node -> successor …`
    line 1 of lattice `unnamed` is neither `node` nor `node -> successor …`
    line 2 of lattice `mine` is neither `node` nor `node -> successor …`
    line 2 of lattice `unnamed` is neither `node` nor `node -> successor …`
    ");
    let unnamed: Lattice = "a -> b\n\n  b  \n".parse().unwrap();
    assert_eq!((unnamed.name(), unnamed.join("a", "b")), ("unnamed", Some("b")));
}

#[test]
fn edges_that_follow_from_others_leave_no_trace() {
    let short = Lattice::new("chain", [("a", &["b"][..]), ("b", &["c"])]).unwrap();
    let long = Lattice::new("chain", [("a", &["b", "c"][..]), ("b", &["c"])]).unwrap();
    assert_eq!(short, long);
    assert_eq!(long.edges().collect::<Vec<_>>(), [("a", "b"), ("b", "c")]);
    // Named graphs have no redundant edges: all are drawn.
    for named in NAMED.iter().filter(|named| named.claim != Claim::NoLattice) {
        let written: usize = named.rows.iter().map(|(_, uppers)| uppers.len()).sum();
        assert_eq!(Lattice::named(named.name).unwrap().edges().count(), written, "{}", named.name);
    }
}

#[test]
fn queries_answer_for_any_nodes() {
    let lattice =
        Lattice::new("units", [("day", &["week", "month"][..]), ("week", &["year"]), ("month", &["year"])]).unwrap();
    assert_eq!(lattice.join("week", "month"), Some("year"));
    assert_eq!(lattice.join("week", "decade"), None);
    assert_eq!(lattice.join_all(["day", "week", "day"]), Some("week"));
    assert_eq!(lattice.join_all([]), Some("day"));
    assert_eq!(lattice.join_all(["decade"]), None);
    assert_eq!(lattice.upper_bounds(["week"]), ["week", "year"]);
    assert_eq!(lattice.upper_bounds(["week", "decade"]), [""; 0]);
    assert_eq!(lattice.upper_bounds([]), ["day", "week", "month", "year"]);
    assert!(lattice.le("day", "year") && !lattice.le("week", "month") && !lattice.le("decade", "decade"));
    assert_eq!(
        (lattice.index_of("month"), lattice.join_indices(1, 2), lattice.join_indices(1, 9)),
        (Some(2), Some(3), None)
    );
    let chains = Lattice::new("chains", [("a", ["b"]), ("c", ["d"])]).unwrap();
    assert_eq!(chains.undefined_pairs(), [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]);
    assert_eq!(chains.join_all([]), None);
    let empty = Lattice::with_nodes("empty", &[], &[]).unwrap();
    assert!(empty.is_total() && empty.join_all([]).is_none() && empty.to_svg().ends_with("</svg>\n"));
}

#[test]
fn diagrams_are_svg_and_dot() {
    let python = Lattice::new("a<b", [("i*", &["f\"*"][..]), ("f\"*", &["c*"]), ("x", &[])]).unwrap();
    insta::assert_snapshot!(python.to_dot(), @r#"
    digraph "a<b" {
      rankdir=BT;
      "i*";
      "f\"*";
      "c*";
      "x";
      "i*" -> "f\"*";
      "f\"*" -> "c*";
    }
    "#);
    insta::assert_snapshot!(python.to_svg(), @r##"
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 167 252" width="167" height="252" font-family="sans-serif" font-size="14" text-anchor="middle">
    <rect width="100%" height="100%" fill="white"/>
    <text x="83" y="24" font-weight="bold">a&lt;b</text>
    <path d="M48 198 L48 156" fill="none" stroke="#777" stroke-width="1.5"/>
    <path d="M48 126 L48 84" fill="none" stroke="#777" stroke-width="1.5"/>
    <rect x="25" y="198" width="46" height="30" rx="15" fill="#d3efe9" stroke="#1d7f6e" stroke-width="1.5" stroke-dasharray="4 3"/><text x="48" y="218">i*</text>
    <rect x="24" y="126" width="48" height="30" rx="15" fill="#f6f6f6" stroke="#666" stroke-width="1.5"/><text x="48" y="146">f&quot;*</text>
    <rect x="25" y="54" width="46" height="30" rx="15" fill="#f5d9ec" stroke="#a23a83" stroke-width="1.5" stroke-dasharray="4 3"/><text x="48" y="74">c*</text>
    <rect x="97" y="198" width="46" height="30" rx="15" fill="#f6f6f6" stroke="#666" stroke-width="1.5"/><text x="120" y="218">x</text>
    </svg>
    "##);
    // An edge over a layer bends around its nodes.
    let bent = Lattice::new("bent", [("a", &["b", "d"][..]), ("b", &["c"]), ("c", &["e"]), ("d", &["e"])]).unwrap();
    let svg = bent.to_svg();
    let paths: Vec<&str> = svg.lines().filter(|line| line.starts_with("<path")).collect();
    insta::assert_snapshot!(paths.join("\n"), @r##"
    <path d="M83 270 L47 228" fill="none" stroke="#777" stroke-width="1.5"/>
    <path d="M83 270 L119 228" fill="none" stroke="#777" stroke-width="1.5"/>
    <path d="M47 198 L58 156" fill="none" stroke="#777" stroke-width="1.5"/>
    <path d="M119 198 L113 177 Q108 156 108 141 L108 141 Q108 126 95 105 L83 84" fill="none" stroke="#777" stroke-width="1.5"/>
    <path d="M58 126 L83 84" fill="none" stroke="#777" stroke-width="1.5"/>
    "##);
    for named in NAMED.iter().filter(|named| named.claim != Claim::NoLattice) {
        let lattice = Lattice::named(named.name).unwrap();
        let svg = lattice.to_svg();
        assert_eq!(svg.matches("<path").count(), lattice.edges().count());
        assert_eq!(svg.matches("<text").count(), lattice.nodes().len() + 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(lattice.to_dot().matches(" -> ").count(), lattice.edges().count());
    }
}

/// The number of crossings between lines of adjacent layers.
fn crossings(plan: &LayeredLayout) -> usize {
    let lines: Vec<_> = plan.routes.iter().flat_map(|route| route.windows(2)).collect();
    let cross =
        |a: &[(f64, usize)], b: &[(f64, usize)]| a[0].1 == b[0].1 && (a[0].0 - b[0].0) * (a[1].0 - b[1].0) < -1e-6;
    lines.iter().enumerate().map(|(i, a)| lines[..i].iter().filter(|b| cross(a, b)).count()).sum()
}

#[test]
fn named_lattices_are_drawn_without_crossings() {
    for named in NAMED.iter().filter(|named| named.claim != Claim::NoLattice) {
        let lattice = Lattice::named(named.name).unwrap();
        let widths: Vec<f64> = lattice.nodes().iter().map(|node| 40.0 + node.len() as f64).collect();
        let index = |node| lattice.index_of(node).unwrap();
        let edges: Vec<(usize, usize)> = lattice.edges().map(|(a, b)| (index(a), index(b))).collect();
        assert_eq!(crossings(&layout(&widths, &edges)), 0, "{}", named.name);
    }
}
