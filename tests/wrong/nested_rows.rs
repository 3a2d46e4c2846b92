//! Rows where elements stand.

use ndjit::Array;

fn main() {
    let _ = Array::from(vec![[1.0f32, 2.0], [3.0, 4.0]]);
    let _ = Array::from(vec!["one"]);
}
