//! A call with an argument that is no array.

use ndjit::jit;

fn main() {
    let f = jit(|x, y| x + y);
    let _ = f.call(("one", 1.0));
}
