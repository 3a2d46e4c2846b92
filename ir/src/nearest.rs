//! Suggestions for misspelled names.

use std::cmp::Reverse;

/// The known name nearest to an unknown one. At most a third of its letters differ: none for names of one or two letters.
///
/// ```
/// use ndjit_ir::nearest;
/// assert_eq!(nearest("mulitply", ["add", "multiply"]), Some("multiply"));
/// assert_eq!(nearest("blur", ["add", "multiply"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = name.chars().count() / 3;
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, candidate)| (*distance, Reverse(shared(&lower, candidate))))
        .map(|(_, candidate)| candidate)
}

/// The length of the common prefix of two names.
fn shared(a: &str, b: &str) -> usize {
    a.chars().zip(b.to_lowercase().chars()).take_while(|(a, b)| a == b).count()
}

/// The edit distance: letters inserted, deleted, replaced, or swapped with the next one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let swapped = i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x;
            let changed = last[j] + usize::from(x != y);
            let mut least = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if swapped {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
