//! Counts of each target's inputs, with commits and findings: the lines of `fuzz/counts.csv`, which campaigns append, and the table of
//! `docs/reliability.md`, generated from them.

use crate::TARGETS;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// The first line of the file.
const HEADER: &str = "date,commit,profile,machine,target,first,executions,findings";
/// The marks around the page's table.
const MARKS: [&str; 2] = ["<!-- counts -->\n", "<!-- end of counts -->\n"];

/// Other runs of campaigns: programs with refused memory, threads with shared functions, and distinct functions.
pub const RUNS: [&str; 3] = ["refusals", "threads", "functions"];

/// One target in one campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The day.
    pub date: String,
    /// The tested commit.
    pub commit: String,
    /// `debug`, with overflow checks, or `release`.
    pub profile: String,
    /// The processor.
    pub machine: String,
    /// The target, or one of [`RUNS`].
    pub target: String,
    /// The first number, or the seed of the inputs; 1 for [`RUNS`].
    pub first: u64,
    /// The number of inputs, refused blocks, or calls.
    pub executions: u64,
    /// The number of distinct findings.
    pub findings: u64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { date, commit, profile, machine, target, first, executions, findings } = self;
        write!(f, "{date},{commit},{profile},{machine},{target},{first},{executions},{findings}")
    }
}

impl FromStr for Row {
    type Err = String;

    fn from_str(line: &str) -> Result<Row, String> {
        let wrong = || format!("no line of counts: {line}");
        let fields: Vec<&str> = line.split(',').collect();
        let [date, commit, profile, machine, target, numbers @ ..] = &fields[..] else { return Err(wrong()) };
        let numbers: Vec<u64> = numbers.iter().map(|n| n.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
        let [first, executions, findings] = numbers[..] else { return Err(wrong()) };
        let [date, commit, profile, machine, target] = [date, commit, profile, machine, target].map(|s| s.to_string());
        Ok(Row { date, commit, profile, machine, target, first, executions, findings })
    }
}

/// The file with the counts.
pub fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.csv")
}

/// The page with the table.
pub fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reliability.md")
}

/// Reads the file.
///
/// # Errors
/// In words, if it cannot be read.
pub fn read() -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(file()).map_err(|error| error.to_string())?;
    match text.lines().next() {
        Some(HEADER) => text.lines().skip(1).map(str::parse).collect(),
        _ => Err(format!("{} does not begin with {HEADER}", file().display())),
    }
}

/// Appends a row, and rewrites the table.
///
/// # Errors
/// In words, if a file cannot be read or written.
pub fn append(row: Row) -> Result<(), String> {
    let written = |error: std::io::Error| error.to_string();
    // Campaigns may run concurrently.
    let lock = std::fs::File::open(file()).map_err(written)?;
    lock.lock().map_err(written)?;
    let mut rows = read()?;
    rows.push(row);
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(file(), format!("{HEADER}\n{lines}")).map_err(written)?;
    let text = std::fs::read_to_string(page()).map_err(written)?;
    std::fs::write(page(), with_table(&text, &rows)?).map_err(written)
}

/// The page with the table of these rows.
///
/// # Errors
/// If the page lacks the marks.
pub fn with_table(page: &str, rows: &[Row]) -> Result<String, String> {
    let [before, after] = MARKS.map(|mark| page.find(mark));
    match (before, after) {
        (Some(before), Some(after)) if before < after => {
            Ok(format!("{}\n{}\n{}", &page[..before + MARKS[0].len()], table(rows), &page[after..]))
        }
        _ => Err(format!("the page has no {MARKS:?}")),
    }
}

/// One line per target and profile: the total, the last commit and day, and the findings.
fn table(rows: &[Row]) -> String {
    let mut text =
        "| target | profile | tried | last commit | last day | findings |\n|---|---|---:|---|---|---:|\n".to_owned();
    for target in TARGETS.iter().map(|target| target.name).chain(RUNS) {
        let profiles: BTreeSet<&str> =
            rows.iter().filter(|row| row.target == target).map(|row| &row.profile[..]).collect();
        for profile in profiles {
            let own = || rows.iter().filter(|row| row.target == target && row.profile == profile);
            let (tried, findings): (u64, u64) = (own().map(|r| r.executions).sum(), own().map(|r| r.findings).sum());
            if let Some(Row { commit, date, .. }) = own().next_back() {
                text += &format!("| `{target}` | {profile} | {tried} | {commit} | {date} | {findings} |\n");
            }
        }
    }
    text
}

/// The first untried number of a target.
pub fn next(rows: &[Row], target: &str, numbered: bool) -> u64 {
    let end = |row: &Row| row.first + if numbered { row.executions } else { 1 };
    rows.iter().filter(|row| row.target == target).map(end).max().unwrap_or(1)
}

/// A row for this build, machine and day, with zero counts.
///
/// # Errors
/// If the tree has uncommitted changes: the tested code would be unknown.
pub fn here() -> Result<Row, String> {
    let said = |command: &str, arguments: &[&str]| {
        let made = Command::new(command).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
        let made = made.map_err(|error| format!("{command}: {error}"))?;
        Ok::<String, String>(String::from_utf8_lossy(&made.stdout).trim().to_owned())
    };
    let changed =
        said("git", &["status", "--porcelain", "-uno", "--", "..", ":!counts.csv", ":!../docs/reliability.md"])?;
    if !changed.is_empty() {
        return Err(format!("a campaign tries a commit, and there are changes:\n{changed}"));
    }
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = model.unwrap_or(std::env::consts::ARCH).trim().replace(',', " ");
    Ok(Row {
        date: said("date", &["+%F"])?,
        commit: said("git", &["rev-parse", "--short=8", "HEAD"])?,
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        machine: format!("{threads} threads of {model}"),
        target: String::new(),
        first: 0,
        executions: 0,
        findings: 0,
    })
}
