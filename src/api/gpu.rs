//! The GPUs of this machine: which there are, what they can do, and other ways to open them.
//!
//! [`Device::gpu`] needs nothing of this: it is opened when it is first used.
//!
//! ```
//! for (n, info) in ndjit::gpu::list().into_iter().enumerate() {
//!     println!("{n}: {info}");
//! }
//! match ndjit::gpu::capabilities(ndjit::Device::gpu()) {
//!     Ok(capabilities) => println!("{capabilities}"),
//!     Err(error) => assert_eq!(error.code(), ndjit::ErrorCode::Device),
//! }
//! ```

use crate::{DType, Device, Error, ErrorCode, Place, Result};
pub use ndjit_codegen::wgsl::Features;
pub use ndjit_runtime::gpu::{Gpu, GpuInfo, GpuKind, GpuLimits, GpuOptions};
use std::fmt;
use std::sync::Arc;

/// The GPUs of this machine, the most suitable first; `Device::gpus(n)` is the `n`th. What computes on the processor, such as Mesa's
/// lavapipe, comes last and says so.
///
/// ```
/// use ndjit::gpu;
///
/// for gpu in gpu::list() {
///     println!("{gpu}");
/// }
/// ```
pub fn list() -> Vec<GpuInfo> {
    Gpu::list()
}

/// A further GPU of the process, opened with options of its own: the same device with fewer features, to see what programs do on lesser
/// ones, with another memory budget, or with more patience. Equal options give the same device, and no [`Device::gpus`] is one of these:
/// they are named `gpu (options 1)`, and so on.
///
/// ```
/// use ndjit::gpu::{Features, GpuOptions, with_options};
/// use ndjit::{Array, DType, ErrorCode};
///
/// let at_most = Features { float64: false, ..Features::ALL };
/// if let Ok(device) = with_options(GpuOptions { at_most, ..GpuOptions::default() }) {
///     assert_eq!(ndjit::supported_dtypes(ndjit::Op::Exp, device).contains(DType::F64), false);
/// }
/// ```
///
/// # Errors
/// `Argument` if the options ask for less than kernels need; `Device` if it cannot be opened, or sixteen were opened with other options.
#[track_caller]
pub fn with_options(options: GpuOptions) -> Result<Device> {
    let place = Place::caller();
    ndjit_runtime::gpu::with_options(options).map_err(|error| error.at(place))
}

/// What a GPU can do: opens it, if it is not open.
///
/// ```
/// use ndjit::{Device, gpu};
///
/// if let Ok(can) = gpu::capabilities(Device::gpu()) {
///     println!("{can}");
/// }
/// ```
///
/// # Errors
/// `Device` if it cannot be opened, or is no GPU.
#[track_caller]
pub fn capabilities(device: Device) -> Result<Capabilities> {
    let gpu = open(device)?;
    Ok(Capabilities { device, info: gpu.info().clone(), features: gpu.features(), limits: gpu.limits() })
}

/// Bytes of a GPU's memory that the process has taken, in use or kept for later.
///
/// ```
/// use ndjit::{Device, gpu};
///
/// if let Ok(bytes) = gpu::memory_taken(Device::gpu()) {
///     println!("{bytes} bytes");
/// }
/// ```
///
/// # Errors
/// As [`capabilities`].
#[track_caller]
pub fn memory_taken(device: Device) -> Result<u64> {
    Ok(open(device)?.memory_taken())
}

/// Gives back the memory of a GPU that arrays no longer use, and that is kept for those to come.
///
/// ```
/// use ndjit::{Array, Device, gpu};
///
/// let device = Device::gpu();
/// if gpu::capabilities(device).is_ok() {
///     let x = Array::from(vec![1.0f32; 1000]).on(device);
///     drop(x);
///     gpu::release(device)?;
///     println!("{} bytes are taken", gpu::memory_taken(device)?);
/// }
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`capabilities`].
#[track_caller]
pub fn release(device: Device) -> Result<()> {
    open(device)?.trim();
    Ok(())
}

#[track_caller]
fn open(device: Device) -> Result<Arc<Gpu>> {
    let place = Place::caller();
    let opened = device.gpu_number().map(ndjit_runtime::gpu::opened);
    let opened = opened.unwrap_or_else(|| {
        Err(Error::new(ErrorCode::Device, format!("gpu: {device} is no GPU"))
            .help("`Device::gpu()` is the first; `ndjit::gpu::list()` gives all"))
    });
    opened.map_err(|error| error.at(place))
}

/// How a GPU has a dtype.
///
/// ```
/// use ndjit::{DType, Device, gpu};
///
/// if let Ok(can) = gpu::capabilities(Device::gpu()) {
///     assert_eq!(can.has(DType::F16), gpu::Has::Composed);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Has {
    /// As its own.
    Natively,
    /// In other dtypes, with the same results, whatever is asked for.
    Composed,
    /// Not at all; with [`Fallback::Emulate`](crate::Fallback::Emulate) in pairs of words.
    Emulated,
    /// Not at all: arrays are moved, cast and compared, and nothing else is computed in it.
    Moved,
}

/// What a GPU can do.
///
/// ```
/// use ndjit::{Device, gpu};
///
/// if let Ok(can) = gpu::capabilities(Device::gpu()) {
///     println!("{}: {:?}", can.info, can.limits);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The device.
    pub device: Device,
    /// Its name, sort, interface and driver.
    pub info: GpuInfo,
    /// What its kernels use of it; what it does as IEEE-754 says was found out by trying.
    pub features: Features,
    /// How much it takes.
    pub limits: GpuLimits,
}

impl Capabilities {
    /// How it has a dtype.
    ///
    /// ```
    /// use ndjit::{DType, Device, gpu};
    ///
    /// if let Ok(can) = gpu::capabilities(Device::gpu()) {
    ///     assert_eq!(can.has(DType::F32), gpu::Has::Natively);
    /// }
    /// ```
    pub fn has(&self, dtype: DType) -> Has {
        match dtype {
            DType::U32 | DType::I32 | DType::F32 => Has::Natively,
            DType::Bool | DType::U8 | DType::U16 | DType::I8 | DType::I16 | DType::F16 | DType::Bf16 | DType::C64 => {
                Has::Composed
            }
            DType::U64 | DType::I64 if self.features.int64 => Has::Natively,
            DType::U64 | DType::I64 => Has::Emulated,
            DType::F64 if self.features.float64 => Has::Natively,
            DType::C128 if self.features.float64 => Has::Composed,
            DType::F64 | DType::C128 => Has::Moved,
        }
    }

    /// The rows of a table: what is asked, and the answer.
    ///
    /// ```
    /// use ndjit::{Device, gpu};
    ///
    /// if let Ok(can) = gpu::capabilities(Device::gpu()) {
    ///     println!("{:?}", can.rows());
    /// }
    /// ```
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let Capabilities { features, limits, .. } = self;
        let dtypes = |has: Has| {
            let dtypes = DType::ALL.iter().filter(|&&dtype| self.has(dtype) == has).map(|dtype| dtype.name());
            let names = dtypes.collect::<Vec<&str>>().join(" ");
            if names.is_empty() { "none".to_owned() } else { names }
        };
        let ieee = |does: bool, otherwise: &str| if does { "by the device".to_owned() } else { otherwise.to_owned() };
        vec![
            ("dtypes natively", dtypes(Has::Natively)),
            ("dtypes composed of these, same bits", dtypes(Has::Composed)),
            ("dtypes with `Fallback::Emulate` or `Cpu`", dtypes(Has::Emulated)),
            ("dtypes moved, cast and compared; computed in with `Fallback::Cpu` alone", dtypes(Has::Moved)),
            ("arithmetic as written", ieee(features.as_written, "results hidden from the compiler")),
            ("fused multiply-add", ieee(features.fma, "emulated exactly")),
            ("division of f32", ieee(features.division, "with integers")),
            ("square root of f32", ieee(features.sqrt, "with integers")),
            ("subnormal f32", ieee(features.subnormals, "with integers")),
            ("arrays a kernel uses", limits.arrays.to_string()),
            ("bytes of an array", limits.array_bytes.to_string()),
            ("bytes a kernel sees of an array at once", limits.bound_bytes.to_string()),
            ("memory budget in bytes", limits.budget.map_or("what there is".to_owned(), |bytes| bytes.to_string())),
        ]
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.device, self.info)?;
        self.rows().iter().try_for_each(|(what, answer)| write!(f, "\n  {what}: {answer}"))
    }
}
