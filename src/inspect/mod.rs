//! Looking into programs: the lines of each stage, which operations of the traced program each was made from, and a page that shows them
//! side by side.

mod chart;
pub(crate) mod listing;
mod page;

pub(crate) use listing::Looked;
