//! A step of what is not a range.

use ndjit::{Ellipsis, NewAxis, step, step_by};

fn main() {
    let _ = step_by(5, 3);
    let _ = step_by(NewAxis, 3);
    let _ = step_by(Ellipsis, 3);
    let _ = step_by(step(2), 3);
}
