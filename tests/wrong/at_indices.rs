//! `x.at(..)` takes indices and ranges along the first axes.

use ndjit::{Array, Expr, jit};

fn main() {
    let x = Array::from([1, 2, 3]);
    let _ = x.at("first").get();
    let _ = jit(|i: Expr| x.at(i).get());
    let _ = jit(|x: Expr| x.at((.., Some(1))).get());
}
