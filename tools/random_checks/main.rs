//! Statistical checks of the random numbers, on 10^8 of each kind: writes docs/random.md. `cargo run --release -p ndjit-tools --bin
//! random_checks`; with a number of chunks of 2^20 numbers as argument nothing is written.

mod bits;
mod numbers;
mod page;
mod probability;

use bits::{Check, Words, avalanche, birthdays};
use ndjit::{Array, Result, dtype, random, threefry2x32};
use numbers::CHUNK;
use std::path::Path;

/// The key of all draws.
const SEED: u64 = 2011;
/// 100,663,296 numbers.
const CHUNKS: usize = 96;

/// All checks on so many chunks of numbers of each sort.
fn checks(seed: u64, chunks: usize) -> Result<Vec<Check>> {
    let key = random::key(seed);
    let mut words = Words::new();
    let all = random::bits(&key, [chunks, CHUNK]);
    for chunk in 0..chunks {
        words.see(&all.slice(chunk).to_vec::<u32>()?);
    }
    let mut checks = words.checks();
    checks.push(days(&key, chunks)?);
    let hash = |keys: &[u64], counters: &[u64]| {
        threefry2x32(Array::from(keys.to_vec()), Array::from(counters.to_vec())).to_vec().unwrap_or_default()
    };
    checks.push(avalanche(hash, (chunks * 1000) as u64));
    checks.push(streams(&key, chunks)?);
    checks.extend(numbers::distributions(&key, chunks)?);
    Ok(checks)
}

/// Birthday spacings, in groups of 2^24 words if there are as many.
fn days(key: &Array, chunks: usize) -> Result<Check> {
    let size = if chunks < 16 { CHUNK / 16 } else { 16 * CHUNK };
    let keys = random::keys(random::fold_in(key, 1), (chunks * CHUNK / size).min(4));
    let samples = keys
        .to_vec::<u64>()?
        .into_iter()
        .map(|key| dtype(ndjit::DType::U64).bits(random::key(key), size).to_vec::<u64>());
    Ok(birthdays(&samples.collect::<Result<Vec<_>>>()?))
}

/// The independence of streams from consecutive keys.
fn streams(key: &Array, chunks: usize) -> Result<Check> {
    let keys = random::keys(random::fold_in(key, 2), chunks * 1024);
    let bits = random::bits(&keys, 1024);
    let both = bits.slice(1..) ^ bits.slice(..-1);
    let ones = dtype(ndjit::DType::I64).sum(both.popcount(), ..).item::<i64>()? as f64;
    let all = 32.0 * 1024.0 * (chunks * 1024 - 1) as f64;
    let p = probability::normal((2.0 * ones - all) / all.sqrt());
    Ok(Check { name: "keys of one split", about: "bits of neighbouring keys differ as often as not", p })
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let chunks = std::env::args().nth(1).map(|chunks| chunks.parse()).transpose()?;
    let checks = checks(SEED, chunks.unwrap_or(CHUNKS))?;
    for check in &checks {
        println!("{:24} {:60} {:.4}", check.name, check.about, check.p);
    }
    if chunks.is_none() {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("docs/random.md");
        std::fs::write(&path, page::page(&checks, SEED, CHUNKS * CHUNK))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
