//! A call with too few arguments.

use ndjit::{Array, jit};

fn main() {
    let f = jit(|x, y| x + y);
    let x = Array::from([1.0f32]);
    let _ = f.call((&x, &x, &x));
}
