//! A dtype where the axes of a reduction stand.

use ndjit::{Array, DType};

fn main() {
    let x = Array::from([1.0f32, 2.0]);
    let _ = x.sum(DType::F64);
    let _ = ndjit::max(&x, &x);
    let _ = x.mean((0, 1));
}
