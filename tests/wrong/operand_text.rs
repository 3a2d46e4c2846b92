//! Text as an operand.

use ndjit::{Expr, jit};

fn main() {
    let _ = jit(|x: Expr| x + "one");
}
