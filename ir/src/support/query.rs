//! Questions about support: which dtypes a device has, which it takes in an op, which devices take a dtype, and why not.
//!
//! A device is a [`Device`] or `None` where none is chosen. For every op and device each dtype is exactly one of supported,
//! unsupported and invalid.

use super::device::Device;
use super::domain::domain_gap;
use crate::dtype::{DType, DTypeSet};
use crate::op::Op;
use std::fmt;

/// The dtypes of a class that a device has: all, where none is chosen.
pub fn valid_dtypes(device: impl Into<Option<Device>>, class: impl Into<DTypeSet>) -> DTypeSet {
    device.into().map_or(DTypeSet::ALL, Device::valid_dtypes).intersection(class.into())
}

/// The dtypes of a class that a device lacks: none, where none is chosen.
pub fn invalid_dtypes(device: impl Into<Option<Device>>, class: impl Into<DTypeSet>) -> DTypeSet {
    DTypeSet::ALL.difference(valid_dtypes(device, DTypeSet::ALL)).intersection(class.into())
}

/// The dtypes that an op computes in on a device. Operands of other dtypes are taken where the policy promotes them to one of
/// these: cosines of integers are computed in floats.
pub fn supported_dtypes(op: Op, device: impl Into<Option<Device>>) -> DTypeSet {
    device.into().map_or(op.row().domain, |device| device.taken(op))
}

/// The valid dtypes of a device that an op does not compute in there.
pub fn unsupported_dtypes(op: Op, device: impl Into<Option<Device>>) -> DTypeSet {
    let device = device.into();
    valid_dtypes(device, DTypeSet::ALL).difference(supported_dtypes(op, device))
}

/// The known devices on which an op computes in `dtype`.
pub fn supported_devices(op: Op, dtype: DType) -> Vec<Device> {
    Device::all().into_iter().filter(|&device| supported_dtypes(op, device).contains(dtype)).collect()
}

/// The known devices on which an op does not compute in `dtype`, whether they have it or not.
pub fn unsupported_devices(op: Op, dtype: DType) -> Vec<Device> {
    Device::all().into_iter().filter(|&device| !supported_dtypes(op, device).contains(dtype)).collect()
}

/// The devices known to the process: the processor, and those that were described.
pub fn devices() -> Vec<Device> {
    Device::all()
}

/// Why an op does not compute in a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// It does so nowhere: the dtype is not in its domain.
    Domain(Op, DType),
    /// The device has no such dtype.
    Invalid(Device, DType),
    /// The device does not do this op in this dtype.
    Gap(Device, Op, DType),
}

impl Unsupported {
    /// Why.
    pub fn reason(self) -> &'static str {
        match self {
            Unsupported::Domain(op, dtype) => domain_gap(op, dtype).map_or("", |gap| gap.reason),
            Unsupported::Invalid(device, dtype) => device.invalid(dtype).map_or("", |gap| &gap.reason),
            Unsupported::Gap(device, op, dtype) => device.unsupported(op, dtype).map_or("", |gap| &gap.reason),
        }
    }

    /// Where that is documented or tracked.
    pub fn link(self) -> &'static str {
        match self {
            Unsupported::Domain(op, dtype) => domain_gap(op, dtype).map_or("", |gap| gap.link),
            Unsupported::Invalid(device, dtype) => device.invalid(dtype).map_or("", |gap| &gap.link),
            Unsupported::Gap(device, op, dtype) => device.unsupported(op, dtype).map_or("", |gap| &gap.link),
        }
    }

    /// Both, as errors say them.
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

/// Why `op` does not compute in `dtype` on a device; `None` if it does.
pub fn unsupported(op: Op, dtype: DType, device: impl Into<Option<Device>>) -> Option<Unsupported> {
    let device = device.into();
    match device {
        Some(device) if device.invalid(dtype).is_some() => Some(Unsupported::Invalid(device, dtype)),
        _ if !op.row().domain.contains(dtype) => Some(Unsupported::Domain(op, dtype)),
        Some(device) if device.unsupported(op, dtype).is_some() => Some(Unsupported::Gap(device, op, dtype)),
        _ => None,
    }
}
