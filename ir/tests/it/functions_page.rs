//! `docs/functions.md`: every op and reduction, from their tables. Written with `NDJIT_WRITE_DOCS=1`, else checked.

use ndjit_ir::DTypeSet;
use ndjit_ir::op::{Accuracy, Op, ResultRule, TypeRule};
use ndjit_ir::reduction::{Reduction, ReductionRule, Scan, Sort};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "# Functions
Every elementwise function, reduction, scan and sort, generated from their tables
([ops](https://github.com/ndjit/ndjit/blob/main/ir/src/op/table.rs), [reductions](https://github.com/ndjit/ndjit/blob/main/ir/src/reduction/table.rs)). Each is a free function and a method of `Expr` and `Array`; `where` is spelled `where_`. The
[policy](promotion.md) decides promotion; this page describes the standard policy. [Accuracy](accuracy.md) has the measured errors.
[Arrays](arrays.md) describes creating, slicing, joining and viewing arrays.

## Elementwise
*Computes in*: the dtypes to which operands are cast; other dtypes are errors. *ULP*: the largest error in units in the last place. *Exact*: correctly
rounded. Both apply to real dtypes unless noted. Examples have arrays in Rust syntax and printed results; each is a test.

| function | operands | computes in | gives | accuracy | meaning | example | result |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

const REDUCTIONS: &str = "
Composed of these: `frexp(x)` and `modf(x)` return both results; `select_n(which, [a, b, c])` is `cases[which]` for each element. `cast(x, dtype)` and
`x.astype(dtype)` change the dtype.

## Reductions
The axes are the last argument: `x.sum(..)`, `x.mean(-1)`, `max(&x, [0, 2])`; [arrays.md](arrays.md#reductions) shows each. Norms of
other orders are `vector_norm(x, order, axes)`. [Numerics](numerics.md#sums) describes the order of summation, and the distances in `var` and `std`.

| function | gives | |
| --- | --- | --- |
";

const SCANS: &str = "
## Scans
The axis is the last argument: `x.cumulative_sum(0)`, `cummax(&x, -1)`. With `include_initial(0)`, sums and products begin with that of no
elements. Functions of adjacent elements: `diff(x, n, axis)`, `trapezoid(y, dx, axis)`. `prepend(0).append(0).diff(x, n, axis)` adds elements before
and after the array. `positions(x).trapezoid(y, axis)` takes the positions of the values.

| function | gives | |
| --- | --- | --- |
";

const SORTS: &str = "
## Sorts
The axis is the last argument: `x.sort(-1)`, `argsort(&x, 0)`. `sort(&x, descending(0))` sorts in descending order. Both orders are stable.
Composed of these: `topk(x, k, axis)` returns the largest elements and their indices. `median(x, axes)` and `quantile(x, q, axes)` take axes like
reductions. `Interpolation::Nearest.quantile(x, q, axes)` and similar select NumPy's other methods.

| function | gives | |
| --- | --- | --- |
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    for op in Op::ALL {
        let row = op.row();
        let (rule, result, accuracy) = (operands(row.rule), result(row.result), accuracy(row.accuracy));
        let names = row.operands.join(" ");
        // Writing to a String cannot fail.
        let _ = writeln!(
            page,
            "| `{op}({names})` | {rule} | {} | {result} | {accuracy} | {} | `{}` | `{}` |",
            domain(row.domain),
            row.doc.replace('|', "\\|"),
            row.example.0.join(", "),
            row.example.1
        );
    }
    let reductions = Reduction::ALL.map(Reduction::row).to_vec();
    let (scans, sorts) = (Scan::ALL.map(Scan::row).to_vec(), Sort::ALL.map(Sort::row).to_vec());
    for (head, rows) in [(REDUCTIONS, reductions), (SCANS, scans), (SORTS, sorts)] {
        page += head;
        for row in rows {
            let _ = writeln!(page, "| `{}` | {} | {} |", row.name, reduced(row.rule), row.doc);
        }
    }
    page
}

/// The kinds of dtypes that a domain contains whole.
fn domain(domain: DTypeSet) -> String {
    let kinds = [
        (DTypeSet::BOOL, "bool"),
        (DTypeSet::INT, "integers"),
        (DTypeSet::FLOAT, "floats"),
        (DTypeSet::COMPLEX, "complex"),
    ];
    let names = kinds.into_iter().filter_map(|(kind, name)| match kind.intersection(domain) {
        none if none.is_empty() => None,
        all if all == kind => Some(name.to_owned()),
        some => Some(some.to_string()),
    });
    names.collect::<Vec<String>>().join(", ")
}

fn operands(rule: TypeRule) -> &'static str {
    match rule {
        TypeRule::Join => "meet in their common dtype",
        TypeRule::Number => "meet; bool becomes the default integer",
        TypeRule::Inexact => "meet; integers become floats",
        TypeRule::TrueDivide => "meet; integers become floats",
        TypeRule::Logical => "become bool",
        TypeRule::Ldexp => "the first becomes a float, the second is an integer",
        TypeRule::Shift => "the first as it is, the second is an integer",
        TypeRule::Select => "the condition becomes bool, the others meet",
    }
}

fn result(rule: ResultRule) -> &'static str {
    match rule {
        ResultRule::Same => "that dtype",
        ResultRule::Bool => "bool",
        ResultRule::Complex => "the complex dtype of such parts",
        ResultRule::Int32 => "i32",
        ResultRule::Real => "that dtype, of complex its real part's",
    }
}

fn accuracy(accuracy: Accuracy) -> String {
    match accuracy {
        Accuracy::Exact => "exact".to_owned(),
        Accuracy::Ulp(n) => format!("{n} ULP"),
    }
}

fn reduced(rule: ReductionRule) -> &'static str {
    match rule {
        ReductionRule::Sum | ReductionRule::Product => {
            "integers at least as wide as the default integer; else the operand's dtype"
        }
        ReductionRule::Mean => "integers give floats; else the operand's dtype",
        ReductionRule::Exponential => "integers give floats; else the operand's",
        ReductionRule::Variance | ReductionRule::Norm => {
            "integers give floats, complex numbers their real part's dtype; else the operand's"
        }
        ReductionRule::Same => "the operand's dtype",
        ReductionRule::Bool => "bool",
        ReductionRule::Index => "the default integer",
    }
}

#[test]
fn the_page_of_functions_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/functions.md");
    if std::env::var_os("NDJIT_WRITE_DOCS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "docs/functions.md is not what this test writes with NDJIT_WRITE_DOCS=1");
}
