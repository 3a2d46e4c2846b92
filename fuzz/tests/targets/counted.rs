//! docs/reliability.md shows the counts of fuzz/counts.csv.

use ndjit_fuzz::counts::{next, page, read, with_table};

#[test]
fn the_page_says_what_was_counted() {
    let (rows, text) = (read().unwrap(), std::fs::read_to_string(page()).unwrap());
    assert_eq!(with_table(&text, &rows).unwrap(), text, "`ndjit-fuzz campaign` writes it");
}

#[test]
fn a_campaign_begins_where_the_last_one_ended() {
    let row = |target: &str, first, executions| {
        format!("2026-01-01,abc,debug,a machine,{target},{first},{executions},0").parse().unwrap()
    };
    let rows = [row("programs", 1, 1000), row("graph", 1, 5), row("programs", 1001, 500)];
    assert_eq!((next(&rows, "programs", true), next(&rows, "graph", false), next(&rows, "body", false)), (1501, 2, 1));
}
