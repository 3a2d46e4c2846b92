//! Checks of 32-bit words in one pass: bit tests of NIST's suite (SP 800-22), Marsaglia and Knuth.

use crate::probability::{chi_square, chi_square_of, normal, poisson};

/// A check: its name, its subject, and the probability of its statistic for independent fair bits.
pub struct Check {
    pub name: &'static str,
    pub about: &'static str,
    pub p: f64,
}

/// The counters of all checks.
pub struct Words {
    count: u64,
    ones: u64,
    ones_at: [u64; 32],
    runs: u64,
    last: Option<u32>,
    bytes: Vec<u64>,
    pairs: Vec<u64>,
    weights: Vec<u64>,
    products: [f64; LAGS.len()],
    recent: Vec<f64>,
    largest: Vec<u64>,
    in_group: (u32, u32),
    gaps: Vec<u64>,
    gap: usize,
    rows: Vec<u32>,
    ranks: [u64; 3],
}

/// The lags of tested correlations.
const LAGS: [usize; 5] = [1, 2, 3, 16, 64];
const GAPS: usize = 40;
/// The number of values per maximum, and of equally likely classes of it.
const GROUP: u32 = 8;
const CLASSES: usize = 64;

impl Words {
    pub fn new() -> Words {
        Words {
            count: 0,
            ones: 0,
            ones_at: [0; 32],
            runs: 0,
            last: None,
            bytes: vec![0; 256],
            pairs: vec![0; 1 << 16],
            weights: vec![0; 33 * 33],
            products: [0.0; LAGS.len()],
            recent: Vec::new(),
            largest: vec![0; CLASSES],
            in_group: (0, 0),
            gaps: vec![0; GAPS + 1],
            gap: 0,
            rows: Vec::with_capacity(32),
            ranks: [0; 3],
        }
    }

    pub fn see(&mut self, words: &[u32]) {
        for &word in words {
            self.see_bits(word);
            self.see_groups(word);
        }
        self.see_products(words);
    }

    fn see_bits(&mut self, word: u32) {
        self.count += 1;
        self.ones += u64::from(word.count_ones());
        for (n, ones) in self.ones_at.iter_mut().enumerate() {
            *ones += u64::from(word >> n & 1);
        }
        // A bit that differs from the previous one starts a run.
        let before = self.last.map_or(!word & 1, |last| last >> 31);
        self.runs += u64::from((word ^ (word << 1 | before)).count_ones());
        for byte in word.to_le_bytes() {
            self.bytes[usize::from(byte)] += 1;
        }
        self.pairs[word as usize & 0xffff] += 1;
        if let Some(last) = self.last.filter(|_| self.count.is_multiple_of(2)) {
            self.weights[(last.count_ones() * 33 + word.count_ones()) as usize] += 1;
        }
        self.last = Some(word);
    }

    fn see_groups(&mut self, word: u32) {
        let (seen, largest) = self.in_group;
        self.in_group = (seen + 1, largest.max(word));
        if self.in_group.0 == GROUP {
            let below = ((f64::from(self.in_group.1) + 0.5) / 2f64.powi(32)).powi(GROUP as i32);
            self.largest[((below * CLASSES as f64) as usize).min(CLASSES - 1)] += 1;
            self.in_group = (0, 0);
        }
        if word < 1 << 29 {
            self.gaps[self.gap.min(GAPS)] += 1;
            self.gap = 0;
        } else {
            self.gap += 1;
        }
        self.rows.push(word);
        if self.rows.len() == 32 {
            self.ranks[32usize.saturating_sub(rank(&mut self.rows)).min(2)] += 1;
            self.rows.clear();
        }
    }

    fn see_products(&mut self, words: &[u32]) {
        let numbers: Vec<f64> = words.iter().map(|&word| (f64::from(word) + 0.5) / 2f64.powi(32) - 0.5).collect();
        let all: Vec<f64> = self.recent.iter().chain(&numbers).copied().collect();
        for (sum, lag) in self.products.iter_mut().zip(LAGS) {
            let from = self.recent.len().max(lag);
            *sum += (from..all.len()).map(|n| all[n] * all[n - lag]).sum::<f64>();
        }
        self.recent = all[all.len().saturating_sub(64)..].to_vec();
    }

    /// The results.
    pub fn checks(&self) -> Vec<Check> {
        let bits = 32.0 * self.count as f64;
        let count = self.count as f64;
        // Squares of independent deviations, one for each.
        let squares = |deviations: &[f64]| chi_square(deviations.iter().map(|z| z * z).sum(), deviations.len());
        let at = self.ones_at.map(|ones| (2.0 * ones as f64 - count) / count.sqrt());
        let lags: Vec<f64> = self.products.iter().map(|sum| sum * 12.0 / count.sqrt()).collect();
        let weight = |n: u32| (0..n).fold(0.5f64.powi(32), |p, k| p * f64::from(32 - k) / f64::from(k + 1));
        // Rare weights are merged: few of them are expected.
        let class = |weight: usize| weight.clamp(8, 24) - 8;
        let mut weights = vec![0; 17 * 17];
        let mut probability = vec![0.0; 17 * 17];
        for (n, &seen) in self.weights.iter().enumerate() {
            let into = class(n / 33) * 17 + class(n % 33);
            weights[into] += seen;
            probability[into] += weight(n as u32 / 33) * weight(n as u32 % 33);
        }
        let pairs: u64 = weights.iter().sum();
        let gaps: u64 = self.gaps.iter().sum();
        let gap = |n: usize| (if n == GAPS { 1.0 } else { 0.125 }) * 0.875f64.powi(n as i32) * gaps as f64;
        let matrices: u64 = self.ranks.iter().sum();
        let ranks = [0.288_788_095_153_9, 0.577_576_190_173_2, 0.133_635_714_672_9];
        let groups: u64 = self.largest.iter().sum();
        let of = |name, about, p| Check { name, about, p };
        vec![
            of("monobit", "as many ones as zeros", normal((2.0 * self.ones as f64 - bits) / bits.sqrt())),
            of("positions of bits", "the same at each of the 32 positions", squares(&at)),
            of(
                "runs",
                "how often a bit differs from the one before",
                normal((2.0 * self.runs as f64 - bits) / bits.sqrt()),
            ),
            of("bytes", "each of 256 as often", chi_square_of(&self.bytes, |_| count / 64.0)),
            of("pairs of bytes", "each of 65,536 as often", chi_square_of(&self.pairs, |_| count / 65_536.0)),
            of(
                "weights of neighbours",
                "ones in two words after each other",
                chi_square_of(&weights, |n| probability[n] * pairs as f64),
            ),
            of("serial correlation", "numbers 1, 2, 3, 16 and 64 apart", squares(&lags)),
            of("gaps", "how long until a number is below 1/8 again", chi_square_of(&self.gaps, gap)),
            of(
                "largest of eight",
                "its distribution",
                chi_square_of(&self.largest, |_| groups as f64 / CLASSES as f64),
            ),
            of(
                "ranks of matrices",
                "of 32 words as rows of bits",
                chi_square_of(&self.ranks, |n| ranks[n] * matrices as f64),
            ),
        ]
    }
}

/// The rank of a matrix of bits.
fn rank(rows: &mut [u32]) -> usize {
    let mut rank = 0;
    for bit in 0..32 {
        let Some(pivot) = (rank..rows.len()).find(|&row| rows[row] >> bit & 1 == 1) else { continue };
        rows.swap(rank, pivot);
        let row = rows[rank];
        for other in &mut rows[rank + 1..] {
            *other ^= row & 0u32.wrapping_sub(*other >> bit & 1);
        }
        rank += 1;
    }
    rank
}

/// Birthday spacings in a year of `days`, chosen for 64 expected equal distances; repeated within the accuracy of the approximation of
/// Marsaglia and of L'Ecuyer's TestU01.
pub fn birthdays(samples: &[Vec<u64>]) -> Check {
    let (mut equal, mut mean) = (0, 0.0);
    for words in samples {
        let size = words.len() as f64;
        let shift = 64 - (3.0 * size.log2() - 8.0).round() as u32;
        let mut birthdays: Vec<u64> = words.iter().map(|word| word >> shift).collect();
        birthdays.sort_unstable();
        let mut distances: Vec<u64> = birthdays.windows(2).map(|two| two[1] - two[0]).collect();
        distances.sort_unstable();
        equal += distances.windows(2).filter(|two| two[0] == two[1]).count() as u64;
        mean += size.powi(3) / 2f64.powi(66 - shift as i32);
    }
    Check { name: "birthday spacings", about: "equal distances of sorted 64-bit words", p: poisson(equal, mean) }
}

/// Words from inputs that differ in one bit of the key or the counter: whether each bit of the result flips half of the time. `hash`
/// computes a word.
pub fn avalanche(hash: impl Fn(&[u64], &[u64]) -> Vec<u64>, tries: u64) -> Check {
    let mut deviations = Vec::new();
    for bit in 0..64u64 {
        for of_key in [true, false] {
            let (keys, counters): (Vec<u64>, Vec<u64>) = (0..tries).map(|n| (n * 3 + 1, n)).unzip();
            let flipped = |words: &[u64], flip: bool| -> Vec<u64> {
                words.iter().map(|word| word ^ u64::from(flip) << bit).collect()
            };
            let plain = hash(&keys, &counters);
            let other = hash(&flipped(&keys, of_key), &flipped(&counters, !of_key));
            let ones: u32 = plain.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
            let bits = 64.0 * tries as f64;
            deviations.push((2.0 * f64::from(ones) - bits) / bits.sqrt());
        }
    }
    let p = chi_square(deviations.iter().map(|z| z * z).sum(), deviations.len());
    Check { name: "avalanche", about: "half of the bits flip where one of key or counter does", p }
}
