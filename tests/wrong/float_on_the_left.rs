//! A Rust number as the first argument of a function.

use ndjit::{Array, Expr};

fn scaled(x: Expr) -> Expr {
    ndjit::maximum(2.0f32, x)
}

fn main() {
    let _ = scaled;
    let _: Array = ndjit::minimum(1u8, &Array::from([1u8]));
}
