//! Helpers of the examples: types by a page's names, printed tables, one expression run traced and on arrays.

use ndjit::{Array, Element, Error, Lattice, Policy, Result, ValueType};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// All ordered pairs of types.
pub fn pairs() -> impl Iterator<Item = (ValueType, ValueType)> {
    ValueType::ALL.into_iter().flat_map(|a| ValueType::ALL.into_iter().map(move |b| (a, b)))
}

/// All ordered triples of types.
pub fn triples() -> impl Iterator<Item = [ValueType; 3]> {
    pairs().flat_map(|(a, b)| ValueType::ALL.into_iter().map(move |c| [a, b, c]))
}

/// A cell of a page's table.
pub struct Cell {
    pub left: ValueType,
    pub right: ValueType,
    /// `None` for `-` on the page.
    pub result: Option<ValueType>,
    /// Whether the page has a green background here.
    pub green: bool,
}

/// The cells of a table in its page's format: a row of names, then rows of a name and results; `-` is undefined, `!` marks
/// green cells. `named` parses the page's names.
pub fn table(text: &str, named: impl Fn(&str) -> ValueType) -> Vec<Cell> {
    let mut lines = text.lines();
    let columns: Vec<ValueType> = lines.next().unwrap().split_whitespace().map(&named).collect();
    let mut cells = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let left = named(words.next().unwrap());
        let before = cells.len();
        for (word, &right) in words.zip(&columns) {
            let name = word.trim_end_matches('!');
            let result = (name != "-").then(|| named(name));
            cells.push(Cell { left, right, result, green: name != word });
        }
        assert_eq!(cells.len() - before, columns.len(), "{line}");
    }
    assert_eq!(cells.len(), columns.len() * columns.len());
    cells
}

/// Asserts that a policy gives a page's table, except in cells that satisfy `but`.
pub fn assert_table(policy: Policy, cells: &[Cell], but: impl Fn(&Cell) -> bool) {
    for cell in cells.iter().filter(|cell| !but(cell)) {
        assert_eq!(policy.join(cell.left, cell.right), cell.result, "{} with {} in {policy}", cell.left, cell.right);
    }
}

/// The graph of a page in its format, a Python dict of lists: each node with its successors.
pub fn graph(dict: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = dict.split(']').map(|row| row.split('\'').skip(1).step_by(2).collect::<Vec<&str>>());
    rows.filter(|names| !names.is_empty()).map(|names| (names[0], names[1..].to_vec())).collect()
}

/// The lattice of a page's graph, which must equal ndjit's with this `name`: the same nodes in the same order.
#[track_caller]
pub fn page_lattice(name: &str, dict: &str) -> Lattice {
    let (page, named) = (Lattice::new(name, graph(dict)).unwrap(), Lattice::named(name).unwrap());
    let sorted = |lattice: &Lattice| lattice.nodes().iter().cloned().collect::<BTreeSet<String>>();
    assert_eq!(sorted(&page), sorted(&named));
    for (a, b) in node_pairs(&page) {
        assert_eq!(page.le(a, b), named.le(a, b), "{a} to {b}");
    }
    page
}

/// All ordered pairs of a lattice's nodes.
pub fn node_pairs(lattice: &Lattice) -> impl Iterator<Item = (&str, &str)> {
    let nodes = || lattice.nodes().iter().map(String::as_str);
    nodes().flat_map(move |a| nodes().map(move |b| (a, b)))
}

/// The number of ordered pairs of nodes without a join.
pub fn undefined(lattice: &Lattice) -> usize {
    2 * lattice.undefined_pairs().len()
}

/// An expression of arrays on these arrays, evaluated directly, then traced, compiled and called: both must give the same
/// type, shape and elements, or the same error.
macro_rules! both {
    (|$($x:ident),+| $body:expr, $($array:expr),+ $(,)?) => {{
        $(let $x = ndjit::Array::from($array);)+
        let traced = ndjit::jit!(move |$($x),+| $body).call(($(&$x,)+));
        $(let $x = &$x;)+
        let lazy: ndjit::Array = $body;
        $crate::support::agreed(traced, lazy)
    }};
}
pub(crate) use both;

/// The result of both evaluations.
#[track_caller]
pub fn agreed(traced: Result<Array>, lazy: Array) -> Result<Array> {
    match (&traced, lazy.eval()) {
        (Ok(a), Ok(b)) => {
            assert_eq!((a.value_type(), a.dtype(), a.shape()), (b.value_type(), b.dtype(), b.shape()));
            assert_eq!(a.to_string(), b.to_string());
        }
        (Err(a), Err(b)) => assert_eq!((a.code(), a.headline()), (b.code(), b.headline())),
        (a, b) => panic!("traced: {a:?}, on arrays: {b:?}"),
    }
    traced
}

/// Asserts a result's type and elements.
#[track_caller]
pub fn gives<T: Element + PartialEq + Debug>(result: Result<Array>, ty: impl Into<ValueType>, elements: &[T]) {
    let array = result.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((array.value_type(), array.to_vec::<T>().as_deref()), (ty.into(), Ok(elements)));
}

/// An error without its place, which changes with the tests.
pub fn text(error: Error) -> String {
    let text = error.to_string();
    let is_place = |line: &&str| ["  at ", "  called at "].iter().any(|place| line.starts_with(place));
    text.lines().filter(|line| !is_place(line)).collect::<Vec<_>>().join("\n")
}

/// A stage's text without its comments: places, and reasons of casts.
pub fn program(text: String) -> String {
    text.lines().map(|line| line.split("  ;").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}
