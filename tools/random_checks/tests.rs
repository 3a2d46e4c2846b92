//! The checks on fewer numbers: sound ones pass, others do not, and the page has them all.

use super::*;
use std::fs;

fn of_words(mut next: impl FnMut() -> u32) -> Vec<Check> {
    let mut words = Words::new();
    let all: Vec<u32> = (0..CHUNK).map(|_| next()).collect();
    words.see(&all[..1000]);
    words.see(&all[1000..]);
    words.checks()
}

/// The checks that say that it is not sound: fair numbers are not as far from even as these, or not as even.
fn failed(checks: &[Check]) -> Vec<&'static str> {
    checks.iter().filter(|check| !(1e-6..1.0 - 1e-6).contains(&check.p)).map(|check| check.name).collect()
}

#[test]
fn sound_numbers_pass() {
    for check in checks(1, 1).unwrap() {
        println!("{}, {}: {}", check.name, check.about, check.p);
        assert!(check.p > 1e-4, "{}, {}: {}", check.name, check.about, check.p);
    }
}

#[test]
fn unsound_words_are_found() {
    let mut counter = 0u32;
    let counted = of_words(|| {
        counter = counter.wrapping_add(0x9e37_79b9);
        counter
    });
    assert!(failed(&counted).len() > 4, "{:?}", failed(&counted));
    let mut state = 1u32;
    let congruential = of_words(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    });
    assert!(failed(&congruential).contains(&"pairs of bytes"), "{:?}", failed(&congruential));
    // One bit in 64 words is set, whatever it would be.
    let words = random::bits(random::key(0), CHUNK).to_vec::<u32>().unwrap();
    let mut n = 0;
    let biased = of_words(|| {
        n += 1;
        words[n - 1] | u32::from(n % 64 == 0) << 7
    });
    assert!(failed(&biased).contains(&"positions of bits"), "{:?}", failed(&biased));
    let mut n = 0;
    let repeated = of_words(|| {
        n += 1;
        words[n - 1 - if n % 100 == 99 { 16 } else { 0 }]
    });
    assert!(failed(&repeated).contains(&"serial correlation"), "{:?}", failed(&repeated));
}

#[test]
fn unsound_hashes_are_found() {
    let weak = |keys: &[u64], counters: &[u64]| {
        keys.iter().zip(counters).map(|(key, n)| (key ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
    };
    assert!(avalanche(weak, 1000).p < 1e-6);
    let stepped: Vec<u64> = (0..1 << 16).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    assert!(birthdays(&[stepped]).p < 1e-6);
}

#[test]
fn the_page_has_all_checks() {
    let page =
        fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("docs/random.md")).unwrap();
    let (head, table) = page.split_once("## Checks").unwrap();
    assert_eq!(head, page::page(&[], SEED, CHUNKS * CHUNK).split_once("## Checks").unwrap().0);
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    let checks = checks(1, 1).unwrap();
    assert_eq!(rows.len(), checks.len() + 2, "the example writes docs/random.md");
    for (row, check) in rows[2..].iter().zip(checks) {
        assert_eq!(row[..2], [check.name, check.about]);
        let p: f64 = row[2].parse().unwrap();
        assert!((0.0005..0.9999).contains(&p), "{row:?}");
    }
}
