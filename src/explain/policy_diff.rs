//! [`PolicyDiff`]: one function traced under several policies, dtypes side by side.

use crate::source::Sources;
use crate::trace::Attempt;
use ndjit_ir::explain::Explainer;
use ndjit_ir::graph::{Graph, NodeKind, Places};
use ndjit_ir::promotion::Policy;
use ndjit_ir::{DType, Error, Op, Place, Result, ValueType};
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// The dtypes of one function's operations under several policies: one row per operation in the order traced, one column per
/// policy. Made by [`Jitted::policy_diff`](crate::Jitted::policy_diff); displays as a table, with the errors of policies that
/// refuse the function below it.
///
/// Columns are aligned by order. That is right as long as the function records the same operations under each policy; one that
/// looks at dtypes may not. A column leaves the table where its operations are others than the first longest column's.
#[derive(Clone, Debug)]
pub struct PolicyDiff {
    columns: Vec<Column>,
    rows: Vec<DiffRow>,
}

#[derive(Clone, Debug)]
struct Column {
    policy: Policy,
    error: Option<Error>,
    /// The number of rows it has.
    recorded: usize,
    /// The row from which on it recorded other operations.
    parted: Option<usize>,
}

/// One operation under each policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffRow {
    /// The op's name, or `cast`.
    pub what: &'static str,
    /// As written in the source, where that can be read.
    pub written: Option<String>,
    /// Where it was written.
    pub place: Option<Place>,
    /// Its type and the dtype that is computed in and stored, per policy. `None` from where the policy has refused the function,
    /// or where the function recorded other operations.
    pub types: Vec<Option<(ValueType, DType)>>,
}

/// One recorded operation under one policy.
struct Recorded {
    op: Option<Op>,
    what: &'static str,
    written: Option<String>,
    place: Option<Place>,
    ty: (ValueType, DType),
}

impl Recorded {
    fn is_same(&self, other: &Recorded) -> bool {
        (self.op, self.place) == (other.op, other.place)
    }
}

impl PolicyDiff {
    pub(crate) fn new(attempts: Vec<(Policy, Attempt)>) -> Result<PolicyDiff> {
        let sources = Sources::default();
        let mut columns = Vec::new();
        let mut recorded = Vec::new();
        for (policy, attempt) in attempts {
            let operations = operations(&attempt, policy, &sources);
            columns.push(Column { policy, error: attempt.error, recorded: operations.len(), parted: None });
            recorded.push(operations);
        }
        let longest = recorded.iter().map(Vec::len).max().unwrap_or(0);
        let Some(reference) = recorded.iter().find(|operations| operations.len() == longest) else {
            return Ok(PolicyDiff { columns, rows: Vec::new() });
        };
        for (column, operations) in columns.iter_mut().zip(&recorded) {
            let other = reference.iter().zip(operations).position(|(a, b)| !a.is_same(b));
            let ended = (column.error.is_none() && operations.len() < longest).then_some(operations.len());
            column.parted = other.or(ended);
        }
        let row = |(i, of): (usize, &Recorded)| DiffRow {
            what: of.what,
            written: of.written.clone(),
            place: of.place,
            types: columns
                .iter()
                .zip(&recorded)
                .map(|(column, operations)| match column.parted {
                    Some(parted) if parted <= i => None,
                    _ => operations.get(i).map(|operation| operation.ty),
                })
                .collect(),
        };
        let rows = reference.iter().enumerate().map(row).collect();
        Ok(PolicyDiff { columns, rows })
    }

    /// The policies, one per column.
    pub fn policies(&self) -> impl Iterator<Item = Policy> {
        self.columns.iter().map(|column| column.policy)
    }

    /// The operations, in the order traced.
    pub fn rows(&self) -> &[DiffRow] {
        &self.rows
    }

    /// The first row in which the policies disagree: other dtypes, or one refuses. `None` if all are of one mind.
    pub fn first_difference(&self) -> Option<usize> {
        let refused = self.columns.iter().filter(|column| column.error.is_some()).map(|column| column.recorded);
        let differs = self.rows.iter().position(|row| row.types.windows(2).any(|pair| pair[0] != pair[1]));
        differs.into_iter().chain(refused.filter(|&row| row < self.rows.len())).min()
    }

    /// The error with which a policy refuses the function, if it does.
    pub fn error(&self, policy: Policy) -> Option<&Error> {
        self.columns.iter().find(|column| column.policy == policy)?.error.as_ref()
    }

    fn cell(&self, row: usize, column: usize) -> String {
        let Column { error, recorded, parted, .. } = &self.columns[column];
        match self.rows[row].types[column] {
            Some((ValueType::Weak(weak), stored)) => format!("{weak}:{stored}"),
            Some((ValueType::Strong(dtype), _)) => dtype.name().to_owned(),
            None if parted.is_some() => "?".to_owned(),
            None if error.is_some() && *recorded == row => "error".to_owned(),
            None => String::new(),
        }
    }
}

/// The operations recorded before an error, those of called functions at their calls.
fn operations(attempt: &Attempt, policy: Policy, sources: &Sources) -> Vec<Recorded> {
    struct Frame {
        graph: Arc<Graph<ValueType>>,
        places: Arc<Places>,
        nodes: std::vec::IntoIter<ndjit_ir::graph::NodeId>,
    }
    let frame = |graph: Arc<Graph<ValueType>>, places, limit| {
        let nodes = graph.node_ids().take(limit).collect::<Vec<_>>().into_iter();
        Frame { graph, places, nodes }
    };
    let mut recorded = Vec::new();
    let (graph, places) = (Arc::new(attempt.graph.clone()), Arc::new(attempt.places.clone()));
    let mut stack = vec![frame(graph, places, attempt.nodes)];
    while let Some(Frame { graph, places, nodes }) = stack.last_mut() {
        let Some(id) = nodes.next() else {
            stack.pop();
            continue;
        };
        let node = graph.node(id);
        let (op, what) = match node.kind {
            NodeKind::Param(..) | NodeKind::Literal(_) => continue,
            NodeKind::Op(op, _) => (Some(op), op.name()),
            NodeKind::Cast(_) => (None, "cast"),
            NodeKind::Call(n) => {
                if let Some(child) = graph.children().get(n as usize).cloned() {
                    let places = places.child(n);
                    stack.push(frame(child, places, usize::MAX));
                }
                continue;
            }
        };
        let ty = (graph.ty(node.first()), graph.stored(node.first(), policy));
        let read = |site| sources.snippet(site);
        let written = Explainer::new(graph, places).source(&read).written(id).map(|snippet| snippet.text);
        recorded.push(Recorded { op, what, written, place: places.first(id), ty });
    }
    recorded
}

impl Display for PolicyDiff {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let first = self.first_difference();
        let label = |row: &DiffRow| {
            let written = row.written.as_ref().map_or_else(|| row.what.to_owned(), |written| format!("`{written}`"));
            [row.place.map_or_else(String::new, |place| place.to_string()), written]
        };
        let policies = self.policies().map(|policy| policy.to_string());
        let mut lines: Vec<Vec<String>> = vec![[String::new(), String::new()].into_iter().chain(policies).collect()];
        for (i, row) in self.rows.iter().enumerate() {
            let cells = (0..self.columns.len()).map(|column| self.cell(i, column));
            lines.push(label(row).into_iter().chain(cells).collect());
        }
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
        for (i, line) in lines.iter().enumerate() {
            let cells = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
            let mark = if i > 0 && first == Some(i - 1) { "  <- the dtypes part here" } else { "" };
            writeln!(f, "{}{mark}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        for Column { policy, error, parted, .. } in &self.columns {
            if let Some(row) = parted {
                writeln!(
                    f,
                    "{policy}: other operations were recorded from row {} on; the function looks at dtypes",
                    row + 1
                )?;
            }
            if let Some(error) = error {
                writeln!(f, "{policy}: {error}")?;
            }
        }
        Ok(())
    }
}
