//! [`PolicyDiff`]: the dtypes of a function under several policies, side by side.

use crate::trace::failure::Failure;
use crate::trace::recording::Recording;
use ndjit_inspect::explain::operations::{self, OperationKey, Recorded, merged};
use ndjit_inspect::source::Sources;
use ndjit_ir::promotion::Policy;
use ndjit_ir::spaces::Spaces;
use ndjit_ir::{DType, Error, SourceLoc, ValueType};
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

/// The dtypes of a function's operations under several policies: one row per written operation in trace order, one
/// column per policy. Created by [`Jitted::policy_diff`](crate::Jitted::policy_diff). `Display` prints a table with
/// marks at the [rows that differ](PolicyDiff::differences), followed by the errors of policies that refuse the
/// function.
///
/// Columns are aligned by op and place: the nth record of an op at a place is one row. Equal operations from several
/// places are recorded once, and have a row for each place. Casts inserted by a casting mode are omitted.
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
    /// The row at which the policy refused the function, if another policy reached it.
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
    /// The name of the op or of the reduction, or `cast`.
    pub what: &'static str,
    /// Its source text, if readable.
    pub written: Option<String>,
    /// Its place in the source.
    pub place: Option<SourceLoc>,
    /// Per policy, its type and its dtype in computation and memory. `None` from the refused row on, or if the function
    /// recorded no such operation.
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

    /// Returns the policies, one per column.
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

    /// Returns the operations in the order of the trace.
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

    /// Returns the rows in which the policies disagree: other dtypes, or a refusal. A policy is ignored in the rows
    /// after its refusal.
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

    /// Returns the first row in which the policies disagree; `None` if all agree.
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

    /// Returns the error of a policy that refuses the function.
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
    /// Checks whether the policy refused the function before this row.
    fn has_ended(&self, row: usize) -> bool {
        self.error.is_some() && self.refused.is_none_or(|refused| refused < row)
    }
}

/// The cell of an operation absent from a column.
const ABSENT: &str = "-";

/// Returns the row at which a policy refused the function: that of the error, or else the first row absent from its
/// column.
fn refused(rows: &[DiffRow], column: usize, error: &Error) -> Option<usize> {
    let lacks = |row: &DiffRow| row.types[column].is_none();
    let there = rows.iter().position(|row| lacks(row) && row.place == error.place());
    there.or_else(|| rows.iter().position(lacks))
}

/// Returns the recorded operations, up to the error if there was one.
fn recorded(made: &Result<Recording, Failure>, policy: Policy, sources: &Sources) -> Vec<Recorded> {
    match made {
        Ok(Recording { graph, places, .. }) => operations::recorded([(graph, places, usize::MAX)], policy, sources),
        // The operations of a called function before its error follow all those of its caller.
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
