//! A traced function that returns a struct of the user.

use ndjit::{Expr, jit};

struct Pair(Expr, Expr);

fn main() {
    let _ = jit(|x: Expr| Pair(x, x));
}
