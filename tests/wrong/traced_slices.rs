//! Values of a traced function where the bounds of a slice stand.

use ndjit::{Expr, jit};

fn main() {
    let _ = jit(|x: Expr, n: Expr| x.slice(..n));
    let _ = jit(|x: Expr, n: Expr| x.slice((0, n)));
    let _ = jit(|x: Expr, n: Expr| x.at(..n).get());
}
