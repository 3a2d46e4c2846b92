//! The section of docs/transforms.md with the counts of cases. `README_BLESS=1` writes it.

use super::{Case, Outcome, Why, autodiff, batching, control, control_slopes, errors, gathers, numpy, rules};
use super::{remat, transforms, vjp_rules};
use ndjit_tests::root;
use std::collections::HashSet;
use std::fmt::Write;
use std::fs;

/// A file of JAX's tests: its relevant number of tests; its cases; and the numbers of excluded ones, by reason.
struct File {
    name: &'static str,
    tests: usize,
    cases: &'static [&'static [Case]],
    left: [usize; LEFT.len()],
}

/// Reasons for exclusion.
const LEFT: [&str; 6] = [
    "named axes, collectives, devices, sharding, options of `jit`",
    "dumps, caches, counts of traces, computations and stored values",
    "Python: pytrees of objects, keywords, branches on values, leaked tracers; types checked by the Rust compiler",
    "`float0`, symbolic zeros, `custom_vmap`, logs and references in rules, policies of `checkpoint`",
    "unsupported functions: linear algebra, FFT, Bessel functions, `associative_scan`",
    "duplicates of other cases",
];

const FILES: &[File] = &[
    File {
        name: "lax_control_flow_test.py",
        tests: 161,
        cases: &[control::CASES, control_slopes::CASES, errors::CONTROL],
        left: [16, 20, 8, 0, 8, 10],
    },
    File {
        name: "lax_autodiff_test.py",
        tests: 55,
        cases: &[autodiff::CASES, gathers::AUTODIFF],
        left: [0, 1, 0, 0, 6, 0],
    },
    File { name: "lax_vmap_test.py", tests: 39, cases: &[batching::LAX], left: [1, 0, 3, 0, 5, 0] },
    File { name: "batching_test.py", tests: 76, cases: &[batching::BATCHING], left: [14, 0, 6, 0, 10, 11] },
    File {
        name: "api_test.py",
        tests: 592,
        cases: &[transforms::CASES, remat::CASES, errors::API],
        left: [114, 162, 135, 64, 4, 29],
    },
    File {
        name: "custom_api_test.py",
        tests: 218,
        cases: &[rules::CASES, vjp_rules::CASES],
        left: [7, 18, 21, 57, 4, 38],
    },
    File { name: "custom_root_test.py", tests: 7, cases: &[rules::ROOTS], left: [0, 1, 0, 0, 2, 1] },
    File { name: "lax_test.py", tests: 15, cases: &[autodiff::LAX], left: [1, 2, 0, 0, 7, 1] },
    File { name: "lax_numpy_test.py", tests: 15, cases: &[numpy::NUMPY], left: [0, 0, 0, 0, 0, 2] },
    File { name: "lax_numpy_indexing_test.py", tests: 9, cases: &[gathers::INDEXING], left: [0, 0, 0, 0, 0, 1] },
    File { name: "lax_numpy_reducers_test.py", tests: 1, cases: &[numpy::REDUCERS], left: [0, 0, 0, 0, 0, 0] },
    File { name: "nn_test.py", tests: 28, cases: &[numpy::NN], left: [0, 1, 2, 0, 1, 2] },
    File { name: "lax_scipy_test.py", tests: 5, cases: &[numpy::SCIPY], left: [0, 0, 0, 0, 0, 0] },
];

impl File {
    fn all(&self) -> impl Iterator<Item = &'static Case> {
        self.cases.iter().flat_map(|cases| cases.iter())
    }

    /// The rewritten ones, and the equal ones among them.
    fn counts(&self) -> (usize, usize) {
        (self.all().count(), self.all().filter(|case| case.outcome == Outcome::Same).count())
    }
}

/// The text between the heading and the next one.
fn section() -> String {
    let mut text = String::from(
        "`tests/it/jax/` has cases of [JAX's own tests](https://github.com/jax-ml/jax/tree/main/tests), with their names: expected values, numerical\n\
         derivatives, and batches compared with single calls. Files on other subjects count only tests of derivatives and batching.\n\n\
         | file | tests | rewritten | same | differ | left out |\n|---|---|---|---|---|---|\n",
    );
    let mut sums = [0; 4];
    for file in FILES {
        let (all, same) = file.counts();
        let row = [file.tests, all, same, all - same];
        row.iter().zip(&mut sums).for_each(|(n, sum)| *sum += n);
        let [tests, all, same, differ] = row;
        writeln!(text, "| `{}` | {tests} | {all} | {same} | {differ} | {} |", file.name, tests - all).unwrap();
    }
    let [tests, all, same, differ] = sums;
    writeln!(text, "| all | {tests} | {all} | {same} | {differ} | {} |", tests - all).unwrap();
    text.push_str("\n| differs on purpose | cases |\n|---|---|\n");
    for why in Why::ALL {
        let count = FILES.iter().flat_map(File::all).filter(|case| case.outcome == Outcome::Differs(why)).count();
        writeln!(text, "| {} | {count} |", why.words()).unwrap();
    }
    text.push_str("\n| left out | tests |\n|---|---|\n");
    for (n, why) in LEFT.iter().enumerate() {
        writeln!(text, "| {why} | {} |", FILES.iter().map(|file| file.left[n]).sum::<usize>()).unwrap();
    }
    text
}

#[test]
fn the_page_has_the_counts() {
    let path = root().join("docs/transforms.md");
    let page = fs::read_to_string(&path).unwrap();
    let heading = "## JAX's tests\n";
    let (before, rest) = page.split_once(heading).expect("docs/transforms.md has the section");
    let end = rest.find("\n## ").map_or(rest.len(), |end| end + 1);
    let blank = if end < rest.len() { "\n" } else { "" };
    let written = format!("{before}{heading}{}{blank}{}", section(), &rest[end..]);
    if std::env::var_os("README_BLESS").is_some() {
        fs::write(&path, &written).unwrap();
    }
    assert_eq!(page, written, "`README_BLESS=1` writes the counts");
}

#[test]
fn every_test_is_accounted_for() {
    for file in FILES {
        let (all, _) = file.counts();
        assert_eq!(all + file.left.iter().sum::<usize>(), file.tests, "{}: {all} are rewritten", file.name);
        let names: HashSet<&str> = file.all().map(|case| case.name).collect();
        // Two classes of a file have tests with the same names.
        let twice = all - names.len();
        assert!(twice == 0 || file.name == "custom_api_test.py", "{}: {twice} names stand twice", file.name);
    }
}
