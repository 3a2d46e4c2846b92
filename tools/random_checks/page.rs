//! docs/random.md.

use crate::bits::Check;
use std::fmt::Write;

const HEAD: &str = "# Random numbers
`ndjit::random` generates random numbers from explicit keys. A key is one `u64`. The same key gives the same numbers, with every engine and every
number of threads. Number `i` depends only on the key and on `i`, so kernels compute numbers where they are used. The generator is
Threefry-2x32 with 20 rounds, by Salmon, Moraes, Dror and Shaw ([Parallel random numbers: as easy as 1, 2,
3](https://www.thesalmons.org/john/random123/papers/random123sc11.pdf), 2011). The authors report that it passes TestU01's BigCrush. Keys,
bits, uniform numbers, integers, bools and permutations are those of `jax.random`, bit for bit; a test compares them.

```rust
use ndjit::{Expr, jit, random};

// Independent draws use separate keys.
let [first, second] = random::split(random::key(42));
let mean = jit(|key: Expr| random::normal(key, 1_000_000).mean(..));
assert_ne!(mean(&first).item::<f32>()?, mean(&second).item::<f32>()?);
# Ok::<(), ndjit::Error>(())
```

| function | result |
| --- | --- |
| `random::key(seed)` | a key: the seed itself |
| `random::split(&key)` | as many keys as the pattern has: `let [a, b] = …` |
| `random::keys(&key, n)` | `n` keys, as an array |
| `random::fold_in(&key, n)` | the key for number `n`, of a step of a loop |
| `random::bits(&key, shape)` | 32 bits in each `u32` |
| `random::uniform(&key, shape, low..high)` | floats in `low..high` |
| `random::normal(&key, shape)` | floats or complex numbers of mean 0 and variance 1 |
| `random::exponential(&key, shape)` | floats of mean 1 |
| `random::randint(&key, shape, low..high)` | integers |
| `random::bernoulli(&key, shape, p)` | bools |
| `random::permutation(&key, n)` | the integers below `n` in random order |
| `random::shuffle(&key, &x, axis)` | the parts of `x` in random order |
| `random::choice(&key, &x, shape)` | parts of `x`, drawn with replacement |

`dtype(DType::F64).normal(&key, shape)` selects another dtype, also for the other functions.

## Ranges
`uniform` replaces a draw that rounds to `high` by `low`. Each of its operations is monotone, so the first and the last draw bound the others. Both were
computed for all pairs of finite 16-bit ends, with one of the two zeros. All are in `low..high` (`NDJIT_ALL_PAIRS=1 cargo test
--release -p ndjit-tests --test it random_numbers::the_first`; without the variable the test takes every 499th lower end with all upper ends).

| dtype | pairs of ends | pairs whose last draw is `low` |
| --- | --- | --- |
| f16 | 2015267841 | 43311358 |
| bf16 | 2130641281 | 5607034 |

";

/// The page.
pub fn page(checks: &[Check], seed: u64, count: usize) -> String {
    let mut page = HEAD.to_owned();
    // Writing to a String cannot fail.
    let _ = write!(
        page,
        "## Checks
Each check reads {count} numbers of key {seed}, or of keys derived from it. *p* is the probability of a statistic at least as extreme for ideal random
numbers. It is uniformly distributed itself: about one in a hundred is below 0.01. `cargo run --release -p ndjit-tools --bin random_checks` writes this
page. A test runs the same checks on fewer numbers, and checks that they reject unsound generators.

| check | of what | p |
| --- | --- | --- |
"
    );
    for Check { name, about, p } in checks {
        let _ = writeln!(page, "| {name} | {about} | {p:.4} |");
    }
    page
}
