//! `docs/policies.md`, written from the compared tables, so it cannot drift; and the table of reductions in
//! `docs/promotion.md`, which is checked.

use crate::report::Report;
use ndjit_ir::{DType, Policy, Reduction, ValueType};
use std::fmt::Write as _;

const INTRO: &str = "\
# Policies and the libraries they follow

Each policy is named after the library or standard that it follows. It reproduces that library's promotion in every cell of the tables in
`tests/goldens/`, which were measured with the libraries. The intended differences are listed below, with reasons. The test that compares the
tables (`ir/tests/promotion_goldens/`) writes this page: `NDJIT_WRITE_DOCS=1 cargo test -p ndjit-ir --test promotion_goldens`.

## The policies

Promotion in a *lattice* is independent of the order and grouping of operands. In a *partial lattice* this holds where it is defined. For other
policies the page counts the pairs whose order matters and the triples of dtypes whose grouping matters. `Policy::asymmetric()` and
`Policy::non_associative()` list them.

";

const NOT_FOLLOWED: &str = "\
## Rules that no policy follows

- In PyTorch, a zero-dimensional tensor widens other operands only across categories. In ndjit, the rank never decides a dtype.
  `torch/zero_dim_table` above counts the cells.
- NumPy 1 inspected the values of Python scalars and 0-d arrays (`u8 + 256` was `u16`). In ndjit, a value never decides a dtype; `numpy1`
  treats each number as small.
- `asarray(2**63)` is unsigned in NumPy, Ivy and the Array API, and `constant(2**31)` is `i64` in TensorFlow, by value. In ndjit, an
  integer takes the default dtype; an integer out of range is an error.
";

/// The page.
pub fn page(reports: &[Report]) -> String {
    let mut page = INTRO.to_owned();
    page += "| policy | description | joins | source |\n| --- | --- | --- | --- |\n";
    for policy in Policy::ALL {
        let _ = writeln!(page, "| `{policy}` | {} | {} | <{}> |", policy.doc(), laws(policy), policy.source());
    }
    page += "\n## Comparisons\n\n| golden table | policy | cells | equal | listed differences |\n| --- | --- | --- | --- | --- |\n";
    for Report { name, policy, compared, equal, .. } in reports {
        let listed = compared - equal;
        let _ = writeln!(page, "| {name} | `{policy}` | {compared} | {equal} | {listed} |");
    }
    page += "\n## Intended differences\n\nThe number of cells, then the reason.\n";
    for report in reports.iter().filter(|report| !report.listed.is_empty()) {
        let _ = writeln!(page, "\n{}:\n", report.name);
        for (reason, cells) in &report.listed {
            let _ = writeln!(page, "- {cells}: {reason}.");
        }
        if !report.absent.is_empty() {
            let _ = writeln!(page, "- Not measured, for want of such a function: {}.", report.absent.join(" "));
        }
    }
    page += "\n";
    page + NOT_FOLLOWED
}

/// The properties of a policy's joins, in words.
fn laws(policy: Policy) -> String {
    if policy.is_lattice() {
        return "a lattice".to_owned();
    }
    if policy.is_partial_lattice() {
        return format!("a partial lattice, {} of 324 pairs undefined", policy.undefined().len());
    }
    let triples = policy.non_associative();
    let narrowed: Vec<&str> = policy.non_idempotent().into_iter().map(ValueType::name).collect();
    if triples.is_empty() && !narrowed.is_empty() {
        return format!("a lattice without {}, which become others", narrowed.join(" "));
    }
    let strong: Vec<&[ValueType; 3]> = triples.iter().filter(|triple| !triple.iter().any(|ty| ty.is_weak())).collect();
    let example = strong.first().copied().or(triples.first()).map(|[a, b, c]| format!(" such as ({a}, {b}, {c})"));
    let asymmetric = match policy.asymmetric().len() {
        0 => String::new(),
        pairs => format!("{pairs} pairs depend on their order, "),
    };
    let with = if strong.is_empty() { triples.len() } else { strong.len() };
    let what = if strong.is_empty() { "triples with weak types" } else { "triples of dtypes" };
    format!("no lattice: {asymmetric}{with} {what}{}", example.unwrap_or_default())
}

/// The result dtypes of reductions by library: the table in `docs/promotion.md`.
pub fn reductions() -> String {
    use Reduction::{ArgMax, Mean, Prod, Sum, Var};
    let columns = [
        (Sum, DType::Bool),
        (Sum, DType::U8),
        (Sum, DType::I8),
        (Prod, DType::F16),
        (Mean, DType::I32),
        (Var, DType::I32),
        (ArgMax, DType::F32),
    ];
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = columns.map(|(reduction, dtype)| format!("{reduction}({dtype})"));
    let mut table = row(std::iter::once("policy".to_owned()).chain(names).collect());
    table += &row(vec!["---".to_owned(); columns.len() + 1]);
    for policy in [
        Policy::Standard,
        Policy::Jax32,
        Policy::NumPy2,
        Policy::Torch,
        Policy::TensorFlow,
        Policy::IvyPrecise,
        Policy::ArrayApi,
        Policy::Lax,
        Policy::NumExpr,
    ] {
        let cells = columns.map(|(reduction, dtype)| {
            let types = policy.resolve_reduction(reduction, None, dtype.into());
            types.map_or("–".to_owned(), |types| types.result.to_string())
        });
        table += &row(std::iter::once(format!("`{policy}`")).chain(cells).collect());
    }
    table
}

/// Returns `true` if `docs/promotion.md` has that table.
pub fn shows_reductions() -> bool {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/promotion.md");
    std::fs::read_to_string(path).is_ok_and(|text| text.contains(&reductions()))
}

/// Returns `true` if the page on disk is the given one, after writing it if requested.
pub fn is_current(page: &str) -> bool {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/policies.md");
    if std::env::var_os("NDJIT_WRITE_DOCS").is_some() {
        std::fs::write(path, page).unwrap_or_else(|e| panic!("{path}: {e}"));
    }
    std::fs::read_to_string(path).is_ok_and(|text| text == page)
}
