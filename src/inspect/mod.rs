//! Looking into programs: the lines of each stage, and which operations of the traced program each was made from.

pub(crate) mod listing;

pub(crate) use listing::Looked;
