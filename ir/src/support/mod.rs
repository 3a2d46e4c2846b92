//! Support: what a device, an op or a declaration of the user's does not take, as data with reasons, and what is done about it.
//!
//! [`device`] describes devices: dtypes they lack, and dtypes in which they do not do certain ops. What an op computes in
//! anywhere is its domain in the [op table](crate::op_table); why it is no wider stands in `domain`. [`restriction`] holds what users declare. [`query`] answers
//! questions about all of them. [`modes`] are the casting modes: they choose another dtype where one is not supported.
//! [`adapt`] puts these together for one use of an op, [`reduce`] for one of a reduction; [`supports`] keeps what each node of a graph was made under, and [`walk`]
//! finds what the whole graph supports.
//!
//! The terms are [Ivy's](https://docs.ivy.dev/overview/deep_dive/data_types.html): a dtype that a device lacks is *invalid* on
//! it, one that an op does not take there is *unsupported*; none is both. Where no device is chosen every dtype is valid.
//! Nothing here runs on a device or looks at a value.

pub mod adapt;
pub mod device;
mod domain;
pub mod modes;
pub mod query;
pub mod reduce;
pub mod restriction;
pub mod supports;
pub mod walk;

pub use adapt::{Adapted, Support};
pub use device::{Device, DeviceBuilder, Gap};
pub use modes::{CastReason, CastingModes, Mode};
pub use query::{
    Unsupported, devices, invalid_dtypes, supported_devices, supported_dtypes, unsupported, unsupported_devices,
    unsupported_dtypes, valid_dtypes,
};
pub use reduce::AdaptedReduction;
pub use restriction::{Restriction, Restrictions};
pub use supports::Supports;
pub use walk::{Exclusion, Inferred};
