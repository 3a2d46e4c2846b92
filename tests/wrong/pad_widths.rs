//! Widths that are no pairs, and numbers that are none of elements.

use ndjit::arange;

fn main() {
    let _ = arange(3).pad([1, 2], 0);
    let _ = arange(3).pad((1, 2, 3), 0);
}
