//! Parts of SVG documents: paths with rounded corners, the width of texts, escaped text.

use std::fmt::Write;

/// A line through points as the data of an SVG path. Each corner is rounded: it is the control point of a curve that begins and ends
/// `radius` pixels from it, but not beyond the midpoints of the lines that meet in it.
pub fn path(points: &[(f64, f64)], radius: f64) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let mut path = format!("M{:.0} {:.0}", first.0, first.1);
    for corner in points.windows(3) {
        let [a, b, c] = [corner[0], corner[1], corner[2]];
        let (start, end) = (towards(b, a, radius), towards(b, c, radius));
        // Writing to a string cannot fail.
        let _ = write!(path, " L{:.0} {:.0} Q{:.0} {:.0} {:.0} {:.0}", start.0, start.1, b.0, b.1, end.0, end.1);
    }
    let _ = write!(path, " L{:.0} {:.0}", last.0, last.1);
    path
}

/// The point at this distance from `from` towards `to`, at most the midpoint.
fn towards(from: (f64, f64), to: (f64, f64), distance: f64) -> (f64, f64) {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let part = (distance / x.hypot(y)).min(0.5);
    (from.0 + x * part, from.1 + y * part)
}

/// The approximate width in pixels of a text of this size; fonts differ.
pub fn text_width(text: &str, size: f64) -> f64 {
    size * 8.5 / 14.0 * text.chars().count() as f64
}

/// Text escaped for SVG.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
