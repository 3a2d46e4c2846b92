//! Devices, as far as dtypes are concerned: which they lack and which they do not take in some ops, with reasons.
//!
//! A device is described once and stays for the life of the process, so that it can be held as a reference and compared by
//! name. Rows may name dtypes that are invalid; these stay invalid and never count as unsupported.

use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, ErrorCode, Result};
use crate::op::Op;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many devices users can describe.
pub const USER_DEVICES: usize = 128;

/// Dtypes that a device does not take: in some ops, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The ops; empty where the device has no such dtypes.
    pub ops: Vec<Op>,
    /// The dtypes.
    pub dtypes: DTypeSet,
    /// Why.
    pub reason: String,
    /// Where that is documented or tracked.
    pub link: String,
}

/// What a device's description holds.
#[derive(Debug, PartialEq, Eq)]
struct Description {
    name: String,
    gaps: Vec<Gap>,
}

/// What a device takes.
///
/// ```
/// use ndjit_ir::support::{Device, supported_dtypes, valid_dtypes};
/// use ndjit_ir::{DType, DTypeSet, Op};
///
/// let device = Device::describe("doc_torch")
///     .invalid(DTypeSet::UNSIGNED.difference(DType::U8.into()), "torch has no such types", "https://docs.pytorch.org")
///     .unsupported([Op::Cbrt], DType::F16, "declared by Ivy", "https://docs.ivy.dev")
///     .register()?;
/// assert_eq!(valid_dtypes(device, DTypeSet::UNSIGNED), DType::U8.into());
/// assert_eq!(supported_dtypes(Op::Cbrt, device).to_string(), "bf16 f32 f64");
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Device(&'static Description);

static CPU: Description = Description { name: String::new(), gaps: Vec::new() };
static USERS: Mutex<Vec<Device>> = Mutex::new(Vec::new());

fn users() -> MutexGuard<'static, Vec<Device>> {
    USERS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    /// The processor: it has every dtype, and every op in its whole domain.
    pub const CPU: Device = Device(&CPU);

    /// Begins the description of a device; its name is one word.
    pub fn describe(name: impl Into<String>) -> DeviceBuilder {
        DeviceBuilder(Description { name: name.into(), gaps: Vec::new() })
    }

    /// The devices known to the process, the processor first.
    pub fn all() -> Vec<Device> {
        [Device::CPU].into_iter().chain(users().iter().copied()).collect()
    }

    /// The device's name.
    pub fn name(self) -> &'static str {
        if self == Device::CPU { "cpu" } else { &self.0.name }
    }

    /// Everything it does not take, in the order described.
    pub fn gaps(self) -> &'static [Gap] {
        &self.0.gaps
    }

    /// The first gap that makes `dtype` invalid, if it is.
    pub fn invalid(self, dtype: DType) -> Option<&'static Gap> {
        self.gaps().iter().find(|gap| gap.ops.is_empty() && gap.dtypes.contains(dtype))
    }

    /// The first gap that makes `dtype` unsupported by `op`, unless it is invalid.
    pub fn unsupported(self, op: Op, dtype: DType) -> Option<&'static Gap> {
        let covers = |gap: &&Gap| gap.ops.contains(&op) && gap.dtypes.contains(dtype);
        self.gaps().iter().find(covers).filter(|_| self.invalid(dtype).is_none())
    }

    /// The dtypes it has.
    pub fn valid_dtypes(self) -> DTypeSet {
        let invalid = self.gaps().iter().filter(|gap| gap.ops.is_empty());
        invalid.fold(DTypeSet::ALL, |valid, gap| valid.difference(gap.dtypes))
    }

    /// The dtypes it has and takes in `op`, as far as the op computes in them.
    pub fn taken(self, op: Op) -> DTypeSet {
        let gaps = self.gaps().iter().filter(|gap| gap.ops.contains(&op));
        gaps.fold(self.valid_dtypes().intersection(op.row().domain), |taken, gap| taken.difference(gap.dtypes))
    }
}

/// The description of a device in the making; see [`Device::describe`].
#[derive(Debug)]
pub struct DeviceBuilder(Description);

impl DeviceBuilder {
    /// The device has no such dtypes.
    #[must_use]
    pub fn invalid(self, dtypes: impl Into<DTypeSet>, reason: &str, link: &str) -> DeviceBuilder {
        self.gap(Vec::new(), dtypes.into(), reason, link)
    }

    /// The device does not do these ops in these dtypes.
    #[must_use]
    pub fn unsupported(
        self,
        ops: impl IntoIterator<Item = Op>,
        dtypes: impl Into<DTypeSet>,
        reason: &str,
        link: &str,
    ) -> DeviceBuilder {
        let ops: Vec<Op> = ops.into_iter().collect();
        if ops.is_empty() { self } else { self.gap(ops, dtypes.into(), reason, link) }
    }

    fn gap(mut self, ops: Vec<Op>, dtypes: DTypeSet, reason: &str, link: &str) -> DeviceBuilder {
        self.0.gaps.push(Gap { ops, dtypes, reason: reason.to_owned(), link: link.to_owned() });
        self
    }

    /// The device, known to the process from now on. An equal description made before is the same device.
    ///
    /// # Errors
    /// `DType` if the name is not one word or another device has it, or if 128 devices have been described.
    pub fn register(self) -> Result<Device> {
        let description = self.0;
        let name = description.name.as_str();
        let refused =
            |what: String, help: &str| Err(Error::new(ErrorCode::DType, format!("device: {what}")).help(help));
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return refused(
                format!("the name `{}` is not one word", name.escape_debug()),
                "use letters, digits and `_`",
            );
        }
        let mut users = users();
        if let Some(known) = users.iter().find(|known| known.0.name == name) {
            if *known.0 == description {
                return Ok(*known);
            }
            return refused(
                format!("another device is named `{name}`"),
                "devices are told apart by name: choose another",
            );
        }
        if name == Device::CPU.name() {
            return refused("`cpu` is described already".to_owned(), "it is `Device::CPU`; choose another name");
        }
        if users.len() == USER_DEVICES {
            return refused(
                format!("{USER_DEVICES} devices have been described, no more fit"),
                "a device stays for the life of the process: describe each once and keep it",
            );
        }
        let device = Device(Box::leak(Box::new(description)));
        users.push(device);
        Ok(device)
    }
}

/// Devices are described once, so that their identity is their address.
impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Device {}

impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self})")
    }
}
