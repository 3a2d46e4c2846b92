//! Binning: counts of elements per bin, and the bin of each element. Free functions, and methods of the same names.
//! [`weights`](crate::weights) and [`density`] change the counts, [`Closed`] the edge that belongs to a bin.
//!
//! Counting is a scatter. Elements are added in row-major order, so sums of weights are the same for any number of threads.

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
