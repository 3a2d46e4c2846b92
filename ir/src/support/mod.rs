//! Support: the dtypes that devices, ops and user declarations exclude, with reasons, and the handling of exclusions.
//!
//! [`device`] describes devices: dtypes they lack, and dtypes that some ops do not support there. The
//! [op table](crate::op_table) has the domains of ops, `domain` the reasons for their limits. [`restriction`] has the user's
//! declarations. [`query`] answers queries. [`modes`] are the casting modes, which choose another dtype for an unsupported one.
//! [`adapt`] applies all to one use of an op, `reduce` to one of a reduction; [`supports`] has the support of each node of a
//! graph, and [`walk`] infers that of the whole graph.
//!
//! The terms are [Ivy's](https://docs.ivy.dev/overview/deep_dive/data_types.html): a dtype that a device lacks is *invalid* on
//! it, one that an op does not support there is *unsupported*; none is both. Without a device every dtype is valid.
//! Nothing here runs on a device or depends on values.

pub mod adapt;
pub mod device;
mod domain;
pub mod modes;
pub mod query;
mod reduce;
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
pub use restriction::{Restriction, Restrictions};
pub use supports::Supports;
pub use walk::{Exclusion, Inferred};
