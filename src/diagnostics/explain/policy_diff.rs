//! [`PolicyDiff`]: one function traced under several policies, dtypes side by side.

use crate::trace::failure::Failure;
use crate::trace::recording::Recording;
use ndjit_inspect::explain::operations::{self, OperationKey, Recorded, merged};
use ndjit_inspect::source::Sources;
use ndjit_ir::promotion::Policy;
use ndjit_ir::spaces::Spaces;
use ndjit_ir::{DType, Error, Place, ValueType};
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

/// The dtypes of one function's operations under several policies: one row per written operation in the order traced, one
/// column per policy. Made by [`Jitted::policy_diff`](crate::Jitted::policy_diff); displays as a table in which the
/// [rows that differ](PolicyDiff::differences) are marked, with the errors of policies that refuse the function below it.
///
/// Columns are aligned by op and place: the nth time that an op was recorded at a place is one row. An operation that was
/// written at several places and recorded once, because all of it is equal, has a row for each place. Casts that a casting mode
/// inserted are left out.
///
/// ```
/// use ndjit::{DType, Policy, jit, spec};
///
/// let f = jit(|x, y| x + y);
/// let specs = [spec(DType::I32, [3]), spec(DType::F32, [3])];
/// let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::NumPy2, Policy::Strict])?;
/// println!("{diff}");
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolicyDiff {
    columns: Vec<Column>,
    rows: Vec<DiffRow>,
}

#[derive(Clone, Debug)]
struct Column {
    policy: Policy,
    error: Option<Error>,
    /// The row at which the policy refused the function, if another policy got that far.
    refused: Option<usize>,
}

/// One operation under each policy.
///
/// ```
/// use ndjit::{DType, Policy, jit, spec};
///
/// let f = jit(|x, y| x + y);
/// let specs = [spec(DType::I32, [3]), spec(DType::F32, [3])];
/// let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::NumPy2, Policy::Strict])?;
/// assert_eq!(diff.rows()[0].types[1], Some((DType::F64.into(), DType::F64)));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffRow {
    /// The op's name, the reduction's, or `cast`.
    pub what: &'static str,
    /// As written in the source, where that can be read.
    pub written: Option<String>,
    /// Where it was written.
    pub place: Option<Place>,
    /// Its type and the dtype that is computed in and stored, per policy. `None` from where the policy has refused the function,
    /// or where the function recorded no such operation.
    pub types: Vec<Option<(ValueType, DType)>>,
}

impl PolicyDiff {
    pub(crate) fn new(traced: Vec<(Policy, Result<Recording, Failure>)>) -> PolicyDiff {
        let sources = Sources::default();
        let recorded: Vec<_> = traced.iter().map(|(policy, made)| recorded(made, *policy, &sources)).collect();
        let keys = merged(&recorded);
        let row = |key: &OperationKey| DiffRow {
            what: key.what,
            written: None,
            place: key.place,
            types: vec![None; traced.len()],
        };
        let mut rows: Vec<DiffRow> = keys.iter().map(row).collect();
        let at: HashMap<OperationKey, usize> = keys.iter().enumerate().map(|(row, key)| (*key, row)).collect();
        for (column, operations) in recorded.into_iter().enumerate() {
            for Recorded { key, written, ty } in operations {
                let row = &mut rows[at[&key]];
                row.types[column] = Some(ty);
                row.written = row.written.take().or(written);
            }
        }
        let column = |(column, (policy, made)): (usize, (Policy, Result<Recording, Failure>))| {
            let error = made.err().map(|failure| failure.error);
            let refused = error.as_ref().and_then(|error| refused(&rows, column, error));
            Column { policy, error, refused }
        };
        let columns = traced.into_iter().enumerate().map(column).collect();
        PolicyDiff { columns, rows }
    }

    /// The policies, one per column.
    ///
    /// ```
    /// use ndjit::{DType, Policy, jit, spec};
    ///
    /// let f = jit(|x, y| x + y);
    /// let specs = [spec(DType::I32, [3]), spec(DType::F32, [3])];
    /// let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::NumPy2, Policy::Strict])?;
    /// assert_eq!(diff.policies().count(), 3);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn policies(&self) -> impl Iterator<Item = Policy> {
        self.columns.iter().map(|column| column.policy)
    }

    /// The operations, in the order traced.
    ///
    /// ```
    /// use ndjit::{DType, Policy, jit, spec};
    ///
    /// let f = jit(|x, y| x + y);
    /// let specs = [spec(DType::I32, [3]), spec(DType::F32, [3])];
    /// let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::NumPy2, Policy::Strict])?;
    /// assert_eq!(diff.rows()[0].what, "add");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn rows(&self) -> &[DiffRow] {
        &self.rows
    }

    /// The rows in which the policies disagree: other dtypes, or one refuses. A policy has no part in the rows after the one
    /// that it refused.
    ///
    /// ```
    /// use ndjit::{DType, Policy, jit, spec};
    ///
    /// let f = jit(|x, y| x + y);
    /// let specs = [spec(DType::I32, [3]), spec(DType::F32, [3])];
    /// let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::NumPy2, Policy::Strict])?;
    /// assert_eq!(diff.differences().collect::<Vec<_>>(), [0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn differences(&self) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(|&row| self.differs(row))
    }

    fn differs(&self, row: usize) -> bool {
        let columns = self.columns.iter().zip(&self.rows[row].types);
        let mut types = columns.filter(|(column, _)| !column.has_ended(row)).map(|(_, ty)| ty);
        types.next().is_some_and(|first| types.any(|ty| ty != first))
    }

    /// The first row in which the policies disagree. `None` if all are of one mind.
    ///
    /// ```
    /// use ndjit::{DType, Policy, jit, spec};
    ///
    /// let f = jit(|x, y| x + y);
    /// let specs = [spec(DType::I32, [3]), spec(DType::F32, [3])];
    /// let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::NumPy2, Policy::Strict])?;
    /// assert_eq!(diff.first_difference(), Some(0));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn first_difference(&self) -> Option<usize> {
        self.differences().next()
    }

    /// The error with which a policy refuses the function, if it does.
    ///
    /// ```
    /// use ndjit::{DType, Policy, jit, spec};
    ///
    /// let f = jit(|x, y| x + y);
    /// let specs = [spec(DType::I32, [3]), spec(DType::F32, [3])];
    /// let diff = f.policy_diff(&specs, &[Policy::Standard, Policy::NumPy2, Policy::Strict])?;
    /// assert!(diff.error(Policy::Strict).is_some() && diff.error(Policy::NumPy2).is_none());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn error(&self, policy: Policy) -> Option<&Error> {
        self.columns.iter().find(|column| column.policy == policy)?.error.as_ref()
    }

    fn cell(&self, row: usize, column: usize) -> String {
        match self.rows[row].types[column] {
            Some((ValueType::Weak(weak), stored)) => format!("{weak}:{stored}"),
            Some((ValueType::Strong(dtype), _)) => dtype.name().to_owned(),
            None if self.columns[column].refused == Some(row) => "error".to_owned(),
            None => ABSENT.to_owned(),
        }
    }
}

impl Column {
    /// Whether the policy had refused the function before this row.
    fn has_ended(&self, row: usize) -> bool {
        self.error.is_some() && self.refused.is_none_or(|refused| refused < row)
    }
}

/// The cell of an operation that a policy's column lacks.
const ABSENT: &str = "-";

/// The row at which a policy refused the function: where the error was made, or the first that its column lacks.
fn refused(rows: &[DiffRow], column: usize, error: &Error) -> Option<usize> {
    let lacks = |row: &DiffRow| row.types[column].is_none();
    let there = rows.iter().position(|row| lacks(row) && row.place == error.place());
    there.or_else(|| rows.iter().position(lacks))
}

/// The operations recorded, before the error if there was one.
fn recorded(made: &Result<Recording, Failure>, policy: Policy, sources: &Sources) -> Vec<Recorded> {
    match made {
        Ok(Recording { graph, places, .. }) => operations::recorded([(graph, places, usize::MAX)], policy, sources),
        // What a called function recorded before it failed follows all that its caller did.
        Err(Failure { before, .. }) => {
            let all = std::iter::successors(before.as_deref(), |before| before.called.as_deref());
            operations::recorded(all.map(|before| (&before.graph, &before.places, before.nodes)), policy, sources)
        }
    }
}

impl Display for PolicyDiff {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let first = self.first_difference();
        let mark = |row: Option<usize>| match row {
            Some(_) if row == first => "  <- dtypes differ from here",
            Some(row) if self.differs(row) => "  <- differ",
            _ => "",
        };
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
            let cells = line
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| format!("{cell}{}", Spaces(width - cell.chars().count())));
            writeln!(f, "{}{}", cells.collect::<Vec<_>>().join("  ").trim_end(), mark(i.checked_sub(1)))?;
        }
        if lines.iter().any(|line| line[2..].iter().any(|cell| cell == ABSENT)) {
            writeln!(
                f,
                "{ABSENT}: no such operation was recorded (none is after an error), or an equal one stands for it"
            )?;
        }
        for Column { policy, error, .. } in &self.columns {
            if let Some(error) = error {
                writeln!(f, "{policy}: {error}")?;
            }
        }
        Ok(())
    }
}
