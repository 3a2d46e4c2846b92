//! Queries of support: the dtypes of a device, those of an op on it, the devices of a dtype, and reasons.
//!
//! A device is a [`Device`] or `None`. For every op and device each dtype is exactly one of supported,
//! unsupported and invalid.

use super::device::Device;
use super::domain::domain_gap;
use crate::dtype::{DType, DTypeSet};
use crate::op::Op;
use std::fmt;

/// The dtypes of a class that a device has; all without a device.
pub fn valid_dtypes(device: impl Into<Option<Device>>, class: impl Into<DTypeSet>) -> DTypeSet {
    device.into().map_or(DTypeSet::ALL, Device::valid_dtypes).intersection(class.into())
}

/// The dtypes of a class that a device lacks; none without a device.
pub fn invalid_dtypes(device: impl Into<Option<Device>>, class: impl Into<DTypeSet>) -> DTypeSet {
    DTypeSet::ALL.difference(valid_dtypes(device, DTypeSet::ALL)).intersection(class.into())
}

/// The dtypes that an op computes in on a device. Operands of other dtypes are allowed if the policy promotes them to one of
/// these: cosines of integers are computed in floats.
pub fn supported_dtypes(op: Op, device: impl Into<Option<Device>>) -> DTypeSet {
    device.into().map_or(op.row().domain, |device| device.taken(op))
}

/// The valid dtypes of a device that an op does not support there.
pub fn unsupported_dtypes(op: Op, device: impl Into<Option<Device>>) -> DTypeSet {
    let device = device.into();
    valid_dtypes(device, DTypeSet::ALL).difference(supported_dtypes(op, device))
}

/// The known devices on which an op computes in `dtype`.
pub fn supported_devices(op: Op, dtype: DType) -> Vec<Device> {
    Device::all().into_iter().filter(|&device| supported_dtypes(op, device).contains(dtype)).collect()
}

/// The known devices on which an op does not compute in `dtype`, those without the dtype included.
pub fn unsupported_devices(op: Op, dtype: DType) -> Vec<Device> {
    Device::all().into_iter().filter(|&device| !supported_dtypes(op, device).contains(dtype)).collect()
}

/// The known devices: the processor, and those described.
pub fn devices() -> Vec<Device> {
    Device::all()
}

/// The reason why an op does not compute in a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// The dtype is not in the op's domain, on any device.
    Domain(Op, DType),
    /// The device has no such dtype.
    Invalid(Device, DType),
    /// The device does not support the op in this dtype.
    Gap(Device, Op, DType),
}

impl Unsupported {
    /// The reason.
    pub fn reason(self) -> &'static str {
        match self {
            Unsupported::Domain(op, dtype) => domain_gap(op, dtype).map_or("", |gap| gap.reason),
            Unsupported::Invalid(device, dtype) => device.invalid(dtype).map_or("", |gap| &gap.reason),
            Unsupported::Gap(device, op, dtype) => device.unsupported(op, dtype).map_or("", |gap| &gap.reason),
        }
    }

    /// Its documentation or issue.
    pub fn link(self) -> &'static str {
        match self {
            Unsupported::Domain(op, dtype) => domain_gap(op, dtype).map_or("", |gap| gap.link),
            Unsupported::Invalid(device, dtype) => device.invalid(dtype).map_or("", |gap| &gap.link),
            Unsupported::Gap(device, op, dtype) => device.unsupported(op, dtype).map_or("", |gap| &gap.link),
        }
    }

    /// Reason and link, for errors.
    pub(crate) fn because(self) -> String {
        match (self.reason(), self.link()) {
            (reason, "") => format!("because: {reason}"),
            (reason, link) => format!("because: {reason} ({link})"),
        }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Domain(op, _) => write!(f, "{op} computes in {} only: {}", op.row().domain, self.reason()),
            Unsupported::Invalid(device, dtype) => write!(f, "{device} has no {dtype}: {}", self.reason()),
            Unsupported::Gap(device, op, dtype) => {
                write!(f, "{device} does not do {op} in {dtype}: {}", self.reason())
            }
        }
    }
}

/// The reason why `op` does not compute in `dtype` on a device; `None` if it does.
pub fn unsupported(op: Op, dtype: DType, device: impl Into<Option<Device>>) -> Option<Unsupported> {
    let device = device.into();
    match device {
        Some(device) if device.invalid(dtype).is_some() => Some(Unsupported::Invalid(device, dtype)),
        _ if !op.row().domain.contains(dtype) => Some(Unsupported::Domain(op, dtype)),
        Some(device) if device.unsupported(op, dtype).is_some() => Some(Unsupported::Gap(device, op, dtype)),
        _ => None,
    }
}
