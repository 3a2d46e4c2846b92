//! Elements by the bins that they lie in: how many lie in each, and in which each lies. Free functions, and methods of the same names;
//! [`weights`](crate::weights) and [`density`] say otherwise what is counted, [`Closed`] which edge belongs to a bin.
//!
//! Counting is a scatter: elements are added up in row-major order, so that sums of weights are the same for any number of threads.

mod count;
mod digitize;
mod edges;
mod histogram;

pub use count::{BinCount, IntoBinCount, bincount};
pub use digitize::{Closed, digitize};
pub use edges::{Bins, IntoBins};
pub use histogram::{Density, density, histogram};

pub(crate) use count::counts;
pub(crate) use histogram::histograms;
