//! A loop whose state begins with a bare number.

use ndjit::{Expr, fori_loop, jit};

fn main() {
    let _ = jit(|x: Expr| x + fori_loop(0, 3, 0, |_, n| n + 1));
}
