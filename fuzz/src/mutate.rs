//! Mutations of inputs: some of bytes, some of lines, words and numbers.

use crate::outcome::Outcome;
use ndjit_random::Rng;
use std::collections::HashSet;

/// The maximum length of an input: time and memory limits are for small inputs.
pub const LONGEST: usize = 16 << 10;

/// The maximum number of inputs kept for their outcomes, beside the seeds.
const KEPT: usize = 4_000;

/// Edge values of parsers.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "7",
    "8",
    "9",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "-1",
    "-9223372036854775808",
    "0x",
    "0xffffffffffffffff",
    "1e999",
    "1e-999",
    "nan",
    "inf",
    "",
];

/// Opening tokens, for nesting.
const OPENERS: &[&str] = &[
    "(",
    "[",
    "{",
    "-",
    "graph (",
    "child @0 (",
    "  $0 = while condition @0 of [",
    "if r0, r0 then(",
    "repeat 2 state 1 r0 step(",
    "\n",
    ",",
];

/// Generates inputs from seeds, and from inputs with new outcomes.
pub struct Mutator {
    rng: Rng,
    pool: Vec<Vec<u8>>,
    seeds: usize,
    seen: HashSet<Outcome>,
}

impl Mutator {
    /// Deterministic in the seed and the inputs.
    ///
    /// # Panics
    /// If there are no inputs.
    pub fn new(seed: u64, seeds: Vec<Vec<u8>>) -> Mutator {
        assert!(!seeds.is_empty(), "there is something to begin with");
        Mutator { rng: Rng::new(seed), seeds: seeds.len(), pool: seeds, seen: HashSet::new() }
    }

    /// The next input.
    #[expect(clippy::should_implement_trait, reason = "it never ends, and inputs are learned from between")]
    pub fn next(&mut self) -> Vec<u8> {
        let mut input = self.any().to_vec();
        for _ in 0..=self.rng.below(4) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    /// Keeps an input with a new outcome.
    pub fn learn(&mut self, input: &[u8], outcome: Outcome) {
        if self.seen.insert(outcome) && self.pool.len() < self.seeds + KEPT {
            self.pool.push(input.to_vec());
        }
    }

    /// The number of outcomes.
    pub fn outcomes(&self) -> usize {
        self.seen.len()
    }

    /// An input: half of the time a kept one.
    fn any(&mut self) -> &[u8] {
        let learned = self.pool.len() - self.seeds;
        let at = if learned > 0 && self.rng.one_in(2) {
            self.seeds + self.rng.below(learned)
        } else {
            self.rng.below(self.seeds)
        };
        &self.pool[at]
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        match self.rng.below(10) {
            0 => self.flip(input),
            1 => {
                let (from, to) = self.range(input.len());
                input.drain(from..to);
            }
            2 => {
                let (from, to) = self.range(input.len());
                let (chunk, at) = (input[from..to].to_vec(), self.rng.below(input.len() + 1));
                input.splice(at..at, chunk);
            }
            3 | 4 => self.number(input),
            5 | 6 => self.token(input),
            7 => self.lines(input),
            8 => {
                // The head of one, the tail of another.
                let other = self.any().to_vec();
                let (at, from) = (self.boundary(input), self.boundary(&other));
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => self.nest(input),
        }
    }

    fn flip(&mut self, input: &mut [u8]) {
        let at = self.rng.below(input.len());
        if let Some(byte) = input.get_mut(at) {
            *byte = if self.rng.one_in(2) { *byte ^ (1 << self.rng.below(8)) } else { self.rng.bits() as u8 };
        }
    }

    /// A short range.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let from = self.rng.below(len + 1);
        let longest = (len - from).min(1 << self.rng.below(9));
        (from, from + self.rng.below(longest + 1))
    }

    /// The start of a line, or the end.
    fn boundary(&mut self, input: &[u8]) -> usize {
        let at = self.rng.below(input.len() + 1);
        input[at..].iter().position(|&byte| byte == b'\n').map_or(input.len(), |n| at + n + 1)
    }

    /// Replaces a number.
    fn number(&mut self, input: &mut Vec<u8>) {
        let numbers = runs(input, |byte| byte.is_ascii_digit());
        if numbers.is_empty() {
            return;
        }
        let (from, to) = self.rng.pick(&numbers);
        let near = std::str::from_utf8(&input[from..to]).ok().and_then(|text| text.parse::<u64>().ok());
        let text = match near.filter(|_| self.rng.one_in(2)) {
            Some(number) if self.rng.one_in(2) => number.wrapping_add(1).to_string(),
            Some(number) => number.saturating_sub(1).to_string(),
            None => self.rng.pick(NUMBERS).to_owned(),
        };
        input.splice(from..to, text.into_bytes());
    }

    /// Replaces a word, or a mark.
    fn token(&mut self, input: &mut Vec<u8>) {
        let other = self.any().to_vec();
        let wordy = !self.rng.one_in(4);
        let of_the_kind =
            |byte: u8| (byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'*' | b'%' | b'#')) == wordy;
        let (mine, theirs) = (runs(input, of_the_kind), runs(&other, of_the_kind));
        if mine.is_empty() || theirs.is_empty() {
            return;
        }
        let ((from, to), (start, end)) = (self.rng.pick(&mine), self.rng.pick(&theirs));
        input.splice(from..to, other[start..end].to_vec());
    }

    /// Removes, repeats or moves lines.
    fn lines(&mut self, input: &mut Vec<u8>) {
        let (from, next) = (self.boundary(input), self.boundary(input));
        let (from, to) = (from.min(next), from.max(next));
        let lines = input[from..to].to_vec();
        match self.rng.below(3) {
            0 => drop(input.drain(from..to)),
            1 => drop(input.splice(from..from, lines)),
            _ => {
                input.drain(from..to);
                let at = self.boundary(input);
                input.splice(at..at, lines);
            }
        }
    }

    /// Many openers in a row.
    fn nest(&mut self, input: &mut Vec<u8>) {
        let (opener, at) = (self.rng.pick(OPENERS), self.rng.below(input.len() + 1));
        let times = 1 << self.rng.below(12);
        let many = opener.repeat((times).min(LONGEST / opener.len().max(1)));
        input.splice(at..at, many.into_bytes());
    }
}

/// The runs of bytes of a kind.
fn runs(input: &[u8], of_the_kind: impl Fn(u8) -> bool) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut from = None;
    for at in 0..=input.len() {
        let is = input.get(at).is_some_and(|&byte| of_the_kind(byte));
        match (from, is) {
            (None, true) => from = Some(at),
            (Some(start), false) => {
                runs.push((start, at));
                from = None;
            }
            _ => {}
        }
    }
    runs
}
