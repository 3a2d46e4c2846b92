//! Counts of cells: equal, different for a listed reason, and different without one.

use ndjit_ir::Policy;
use std::collections::BTreeMap;

/// The outcome of comparing one table or one library's ops.
pub struct Report {
    pub name: String,
    pub policy: Policy,
    pub compared: usize,
    pub equal: usize,
    /// Cells per reason.
    pub listed: BTreeMap<&'static str, usize>,
    pub unexplained: Vec<String>,
    /// Functions that the library lacks.
    pub absent: Vec<&'static str>,
}

impl Report {
    pub fn new(name: String, policy: Policy) -> Report {
        Report {
            name,
            policy,
            compared: 0,
            equal: 0,
            listed: BTreeMap::new(),
            unexplained: Vec::new(),
            absent: Vec::new(),
        }
    }

    /// Counts a cell.
    pub fn cell(&mut self, same: bool, reason: Option<&'static str>, describe: impl FnOnce() -> String) {
        self.compared += 1;
        match reason {
            _ if same => self.equal += 1,
            Some(reason) => *self.listed.entry(reason).or_default() += 1,
            None => self.unexplained.push(describe()),
        }
    }

    /// Checks that every listed reason is that of a cell.
    pub fn needs_all(&mut self, reasons: impl Iterator<Item = &'static str>) {
        for reason in reasons.filter(|reason| !self.listed.contains_key(reason)) {
            self.unexplained.push(format!("listed, but no cell differs for it: {reason}"));
        }
    }

    pub fn differences(&self) -> usize {
        self.listed.values().sum()
    }
}
