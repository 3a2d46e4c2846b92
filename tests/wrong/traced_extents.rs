//! Values of a traced function where shapes are fixed.

use ndjit::{Expr, arange, eye, jit, zeros};

fn main() {
    let _ = jit(|n: Expr| zeros(n) + 1);
    let _ = jit(|n: Expr| arange(3).broadcast_to([n]) + 1);
    let _ = jit(|n: Expr| eye(n) + 1);
    let _ = jit(|n: Expr| arange(n) + 1);
    let _ = zeros((2, 3));
    let _ = zeros(3i32);
}
