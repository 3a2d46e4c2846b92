//! Creation functions called with a dtype or a range where an argument of another kind stands.

use ndjit::*;

fn main() {
    let _ = full([2], DType::I8);
    let _ = arange((0, 5));
    let _ = linspace((0, 1), 5);
    let _ = asarray("2");
    let _ = result_type("f32");
}
