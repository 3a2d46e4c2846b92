//! A traced function that returns a Rust number.

use ndjit::{Expr, jit};

fn main() {
    let _ = jit(|x: Expr| x.shape().rank() as f64);
}
