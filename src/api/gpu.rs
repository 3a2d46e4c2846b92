//! The GPUs of this machine: their list, capabilities, and options.
//!
//! [`Device::gpu`] does not need this module: its first use opens the GPU.
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

use crate::{DType, Device, Error, ErrorCode, Result, SourceLoc};
pub use ndjit_codegen::wgsl::Features;
pub use ndjit_runtime::gpu::{Gpu, GpuInfo, GpuKind, GpuLimits, GpuOptions};
use std::fmt;
use std::sync::Arc;

/// Lists the GPUs of this machine, the most suitable first; `Device::gpus(n)` is the `n`th. Software implementations, such
/// as Mesa's lavapipe, come last and are marked.
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

/// Opens another GPU of the process with its own options: the same device with fewer features, to test programs on lesser
/// ones, with another memory budget, or with a longer timeout. Equal options give the same device. [`Device::gpus`] does not
/// list these; their names are `gpu (options 1)`, and so on.
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
/// `Argument` if the options allow less than kernels need; `Device` if it cannot be opened, or after sixteen others.
#[track_caller]
pub fn with_options(options: GpuOptions) -> Result<Device> {
    let place = SourceLoc::caller();
    ndjit_runtime::gpu::with_options(options).map_err(|error| error.at(place))
}

/// Returns the capabilities of a GPU; opens it if necessary.
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
/// `Device` if it cannot be opened, or is not a GPU.
#[track_caller]
pub fn capabilities(device: Device) -> Result<Capabilities> {
    let gpu = open(device)?;
    Ok(Capabilities { device, info: gpu.info().clone(), features: gpu.features(), limits: gpu.limits() })
}

/// Returns the bytes of a GPU's memory that the process has allocated, in use or cached.
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

/// Frees the cached memory of a GPU that no array uses.
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
    let place = SourceLoc::caller();
    let opened = device.gpu_number().map(ndjit_runtime::gpu::opened);
    let opened = opened.unwrap_or_else(|| {
        Err(Error::new(ErrorCode::Device, format!("gpu: {device} is not a GPU"))
            .help("`Device::gpu()` is the first; `ndjit::gpu::list()` gives all"))
    });
    opened.map_err(|error| error.at(place))
}

/// Support of a dtype on a GPU.
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
    /// Native.
    Natively,
    /// Composed of other dtypes, with the same results, under any settings.
    Composed,
    /// Not supported; with [`Fallback::Emulate`](crate::Fallback::Emulate) as pairs of words.
    Emulated,
    /// Moves, casts and comparisons only.
    Moved,
}

/// Capabilities of a GPU.
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
    /// Its name, type, interface and driver.
    pub info: GpuInfo,
    /// The features that kernels use; IEEE-754 conformance is tested at run time.
    pub features: Features,
    /// Its limits.
    pub limits: GpuLimits,
}

impl Capabilities {
    /// Returns its support of a dtype.
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

    /// Returns the rows of a table: names and values.
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
