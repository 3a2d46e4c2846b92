use ndjit::{Expr, jit};

struct Pair(Expr, Expr);

fn main() {
    let _ = jit(|x: Expr| Pair(x, x));
}
