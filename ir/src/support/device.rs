//! Devices and dtypes: the dtypes that devices lack, and those unsupported by some ops, with reasons.
//!
//! GPUs have entries before they are opened; opening one sets its gaps.
//!
//! A device is described once and lives for the whole process, so it is a reference and equality is by address. Gaps may
//! name invalid dtypes; these stay invalid and never count as unsupported.

use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, ErrorCode, Result};
use crate::lock::Mutex;
use crate::op::Op;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{MutexGuard, OnceLock};

/// The maximum number of user-described devices.
pub const USER_DEVICES: usize = 128;
/// The maximum number of a machine's GPUs.
pub const GPUS: usize = 8;
/// The maximum number of GPUs opened with custom options.
pub const OPTIONED: usize = 16;
/// The numbers of GPUs: the machine's, then those with options.
const NUMBERS: usize = GPUS + OPTIONED;

/// Dtypes that a device does not support, in some ops or at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The ops; empty if the device lacks the dtypes.
    pub ops: Vec<Op>,
    /// The dtypes.
    pub dtypes: DTypeSet,
    /// The reason.
    pub reason: String,
    /// Its documentation or issue.
    pub link: String,
}

/// The description of a device.
#[derive(Debug, PartialEq, Eq)]
struct Description {
    name: &'static str,
    /// Unset for a GPU that has not been opened.
    gaps: OnceLock<Vec<Gap>>,
}

/// A device's support of dtypes.
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

static CPU: Description = Description::named("cpu");
/// GPUs, without and with emulation of missing features.
static GPU: [[Description; NUMBERS]; 2] = {
    const NAMES: [&str; NUMBERS] = [
        "gpu",
        "gpu1",
        "gpu2",
        "gpu3",
        "gpu4",
        "gpu5",
        "gpu6",
        "gpu7",
        "gpu (options 1)",
        "gpu (options 2)",
        "gpu (options 3)",
        "gpu (options 4)",
        "gpu (options 5)",
        "gpu (options 6)",
        "gpu (options 7)",
        "gpu (options 8)",
        "gpu (options 9)",
        "gpu (options 10)",
        "gpu (options 11)",
        "gpu (options 12)",
        "gpu (options 13)",
        "gpu (options 14)",
        "gpu (options 15)",
        "gpu (options 16)",
    ];
    const fn named() -> [Description; NUMBERS] {
        let mut all = [const { Description::named("gpu") }; NUMBERS];
        let mut n = 0;
        while n < NUMBERS {
            all[n].name = NAMES[n];
            n += 1;
        }
        all
    }
    [named(), named()]
};
static USERS: Mutex<Vec<Device>> = Mutex::new(Vec::new());

fn users() -> MutexGuard<'static, Vec<Device>> {
    USERS.lock()
}

impl Description {
    const fn named(name: &'static str) -> Description {
        Description { name, gaps: OnceLock::new() }
    }
}

impl Device {
    /// The processor: it has every dtype, and every op in its whole domain.
    pub const CPU: Device = Device(&CPU);

    /// The first GPU of this machine, preferably a discrete one. It is opened on first use; failures are errors of that use.
    pub const fn gpu() -> Device {
        Device(&GPU[0][0])
    }

    /// The `n`th GPU of this machine, from 0, the most suitable first. `None` beyond the eighth.
    pub fn gpus(n: usize) -> Option<Device> {
        GPU[0][..GPUS].get(n).map(Device)
    }

    /// The `n`th GPU opened with custom options, from 0. `None` beyond [`OPTIONED`].
    pub fn with_options(n: usize) -> Option<Device> {
        GPU[0][GPUS..].get(n).map(Device)
    }

    /// The GPU's number, if the device is one: the machine's GPUs first, then those with options.
    pub fn gpu_number(self) -> Option<usize> {
        GPU.iter().find_map(|gpus| gpus.iter().position(|gpu| std::ptr::eq(gpu, self.0)))
    }

    /// The GPU with emulation of missing features; other devices unchanged.
    pub fn emulating(self) -> Device {
        self.gpu_number().map_or(self, |n| Device(&GPU[1][n]))
    }

    /// Sets the gaps of an opened GPU. The first call wins.
    pub fn set_gaps(self, gaps: Vec<Gap>) {
        if self.gpu_number().is_some() {
            let _ = self.0.gaps.set(gaps);
        }
    }

    /// Begins the description of a device; its name is one word.
    pub fn describe(name: impl Into<String>) -> DeviceBuilder {
        DeviceBuilder { name: name.into(), gaps: Vec::new() }
    }

    /// The known devices, the processor first, then opened GPUs.
    pub fn all() -> Vec<Device> {
        let opened = GPU[0].iter().filter(|gpu| gpu.gaps.get().is_some()).map(Device);
        [Device::CPU].into_iter().chain(opened).chain(users().iter().copied()).collect()
    }

    /// The device's name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// All gaps, in the order described.
    pub fn gaps(self) -> &'static [Gap] {
        self.0.gaps.get().map_or(&[], Vec::as_slice)
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

    /// The dtypes that the device has.
    pub fn valid_dtypes(self) -> DTypeSet {
        let invalid = self.gaps().iter().filter(|gap| gap.ops.is_empty());
        invalid.fold(DTypeSet::ALL, |valid, gap| valid.difference(gap.dtypes))
    }

    /// The dtypes that the device has and supports in `op`.
    pub fn taken(self, op: Op) -> DTypeSet {
        let gaps = self.gaps().iter().filter(|gap| gap.ops.contains(&op));
        gaps.fold(self.valid_dtypes().intersection(op.row().domain), |taken, gap| taken.difference(gap.dtypes))
    }
}

/// A builder of a device's description; see [`Device::describe`].
#[derive(Debug)]
pub struct DeviceBuilder {
    name: String,
    gaps: Vec<Gap>,
}

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
        self.gaps.push(Gap { ops, dtypes, reason: reason.to_owned(), link: link.to_owned() });
        self
    }

    /// Registers the device. An equal description registered before is the same device.
    ///
    /// # Errors
    /// `DType` if the name is not one word or another device has it, or if 128 devices have been described.
    pub fn register(self) -> Result<Device> {
        let DeviceBuilder { name, gaps } = self;
        let name = name.as_str();
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
            if known.gaps() == gaps {
                return Ok(*known);
            }
            return refused(
                format!("another device is named `{name}`"),
                "devices are told apart by name: choose another",
            );
        }
        if name == Device::CPU.name() || GPU[0].iter().any(|gpu| gpu.name == name) {
            let what = format!("`{name}` is described already");
            return refused(what, "it is `Device::CPU` or `Device::gpu()`; choose another name");
        }
        if users.len() == USER_DEVICES {
            return refused(
                format!("{USER_DEVICES} devices have been described, no more fit"),
                "a device stays for the life of the process: describe each once and keep it",
            );
        }
        let description = Description { name: name.to_owned().leak(), gaps: OnceLock::from(gaps) };
        let device = Device(Box::leak(Box::new(description)));
        users.push(device);
        Ok(device)
    }
}

impl Default for Device {
    fn default() -> Device {
        Device::CPU
    }
}

/// Devices are described once: identity is the address.
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
