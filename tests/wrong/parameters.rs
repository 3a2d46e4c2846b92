//! A closure of 13 parameters.

use ndjit::jit;

fn main() {
    let _ = jit(|a, b, c, d, e, f, g, h, i, j, k, l, m| a + b + c + d + e + f + g + h + i + j + k + l + m);
}
