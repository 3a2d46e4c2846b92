//! Opening devices.

use super::caught::caught;
use super::device::{Gpu, GpuInfo, GpuKind, GpuOptions, PIPELINES};
use super::faults::{Fault, Faults};
use super::pool::GpuPool;
use super::probe;
use super::spirv::FloatControls;
use crate::cache::Cache;
use crate::system;
use ndjit_codegen::wgsl;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

impl Gpu {
    /// The devices of this machine, the most suitable first: cards, then integrated ones, then software.
    pub fn list() -> Vec<GpuInfo> {
        adapters().iter().map(|adapter| info(&adapter.get_info())).collect()
    }

    /// Opens a device.
    ///
    /// # Errors
    /// `Argument` if the options are below the minimum; `Device` if there is no device of this index or it cannot be opened.
    pub fn open(options: GpuOptions) -> Result<Arc<Gpu>> {
        Gpu::open_as(options.index, options, None)
    }

    /// Opens a device with injected `faults`, for tests.
    ///
    /// # Errors
    /// As [`open`](Gpu::open).
    pub fn open_with_faults(options: GpuOptions, faults: &Arc<Faults>) -> Result<Arc<Gpu>> {
        Gpu::open_as(options.index, options, Some(Arc::clone(faults)))
    }

    /// Opens a device as the GPU with a number.
    pub(super) fn open_as(number: usize, options: GpuOptions, faults: Option<Arc<Faults>>) -> Result<Arc<Gpu>> {
        options.check()?;
        let fault = |fault: Fault| faults.as_ref().is_some_and(|faults| faults.fires(fault));
        let adapter = adapters().get(options.index).ok_or_else(|| absent(options.index))?;
        let adapter_info = adapter.get_info();
        let info = info(&adapter_info);
        let vulkan = adapter_info.backend == wgpu::Backend::Vulkan;
        let wanted = wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_F64;
        let mut wanted = wanted & adapter.features();
        let passthrough = vulkan && options.at_most.as_written;
        if passthrough {
            wanted |= wgpu::Features::PASSTHROUGH_SHADERS & adapter.features();
        }
        let limits = adapter.limits();
        let mut asked = limits.clone();
        if fault(Fault::Limits) {
            asked.max_compute_workgroup_storage_size = u32::MAX;
        }
        if fault(Fault::ShortLimits) {
            asked.max_buffer_size = 1024;
        }
        if fault(Fault::ShortLimits) {
            asked.max_storage_buffer_binding_size = 1024;
        }
        if fault(Fault::ShortLimits) {
            asked.max_storage_buffers_per_shader_stage = 1;
        }
        if fault(Fault::ShortLimits) {
            asked.max_compute_workgroups_per_dimension = 1;
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("ndjit"),
            required_features: wanted,
            required_limits: asked,
            // SAFETY: the experimental feature is loading of SPIR-V shaders; its conditions are justified where they are loaded.
            experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            trace: wgpu::Trace::Off,
        };
        let refused = |why: &dyn fmt::Display| {
            Error::new(ErrorCode::Device, format!("{} cannot be opened", info.name)).of("gpu").fact(why)
        };
        let opened = caught(|| pollster::block_on(adapter.request_device(&descriptor))).map_err(|e| refused(&e))?;
        let (device, queue) = opened.map_err(|e| refused(&e))?;
        let lost: Arc<OnceLock<String>> = Arc::default();
        let noted = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, message| {
            let _ = noted.set(format!("{reason:?}: {message}"));
        });
        let stray: Arc<Mutex<Option<String>>> = Arc::default();
        let noted = Arc::clone(&stray);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
        }));
        let features = device.features();
        let as_written = features.contains(wgpu::Features::PASSTHROUGH_SHADERS);
        let int64 = features.contains(wgpu::Features::SHADER_INT64) && options.at_most.int64;
        let software = info.kind == GpuKind::Software;
        let most = limits.max_storage_buffer_binding_size.min(options.max_binding.unwrap_or(u64::MAX));
        let gpu = Arc::new(Gpu {
            number,
            pool: GpuPool::new(
                options.budget.or_else(|| software.then(system::memory).flatten().map(|total| total as u64 / 2)),
            ),
            device: device.into(),
            queue: ManuallyDrop::new(queue.into()),
            info,
            max_binding: most & !0xff,
            max_arrays: options.max_arrays,
            limits,
            claimed: wgsl::Features {
                int64,
                float64: int64 && features.contains(wgpu::Features::SHADER_F64) && options.at_most.float64,
                as_written,
                ..wgsl::Features::ALL
            },
            probed: OnceLock::new(),
            controls: as_written.then(|| float_controls(adapter)),
            pipelines: Cache::new(PIPELINES),
            lost,
            stray,
            reading: RwLock::new(()),
            patience: options.patience,
            faults,
        });
        let probed = if options.probe { probed(options.index, &gpu)? } else { gpu.features() };
        let most = options.at_most;
        let _ = gpu.probed.set(wgsl::Features {
            fma: probed.fma && most.fma,
            division: probed.division && most.division,
            sqrt: probed.sqrt && most.sqrt,
            subnormals: probed.subnormals && most.subnormals,
            ..probed
        });
        Ok(gpu)
    }
}

/// The error for a missing adapter.
fn absent(index: usize) -> Error {
    let list = Gpu::list();
    if list.is_empty() {
        return Error::new(ErrorCode::Device, "there is none on this machine").of("gpu")
            .help("install a Vulkan driver; Mesa's lavapipe computes on the processor (Debian: `apt install libvulkan1 mesa-vulkan-drivers`)");
    }
    let error = Error::new(ErrorCode::Device, format!("there is no device {index}")).of("gpu");
    let error = list.iter().enumerate().fold(error, |error, (n, info)| error.fact(format_args!("device {n}: {info}")));
    error.help("`Device::gpu()` is device 0, `Device::gpus(n)` device n of those that `ndjit::gpu::list()` gives")
}

/// The confirmed features of a device. Cached: probing takes longer than opening, and its result is the same each time.
fn probed(index: usize, gpu: &Arc<Gpu>) -> Result<wgsl::Features> {
    type Known = Mutex<Vec<(usize, wgsl::Features, wgsl::Features)>>;
    static KNOWN: Known = Mutex::new(Vec::new());
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let claimed = gpu.claimed;
    let known = lock().iter().find(|known| (known.0, known.1) == (index, claimed)).map(|known| known.2);
    if let Some(features) = known {
        return Ok(features);
    }
    let features = probe::features(gpu)?;
    lock().push((index, claimed, features));
    Ok(features)
}

fn adapters() -> &'static [wgpu::Adapter] {
    static ADAPTERS: OnceLock<Vec<wgpu::Adapter>> = OnceLock::new();
    ADAPTERS.get_or_init(|| {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
        descriptor.flags |= wgpu::InstanceFlags::ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER;
        let instance = wgpu::Instance::new(descriptor);
        let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        adapters.retain(|adapter| {
            let flags = adapter.get_downlevel_capabilities().flags;
            flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
        });
        adapters.sort_by_key(|adapter| match info(&adapter.get_info()).kind {
            GpuKind::Discrete => 0,
            GpuKind::Integrated => 1,
            GpuKind::Virtual => 2,
            GpuKind::Other => 3,
            GpuKind::Software => 4,
        });
        adapters
    })
}

fn info(info: &wgpu::AdapterInfo) -> GpuInfo {
    GpuInfo {
        name: info.name.clone(),
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => GpuKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => GpuKind::Integrated,
            wgpu::DeviceType::VirtualGpu => GpuKind::Virtual,
            wgpu::DeviceType::Cpu => GpuKind::Software,
            wgpu::DeviceType::Other => GpuKind::Other,
        },
        api: info.backend.to_string(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
    }
}

/// Apple's machines have no Vulkan of their own.
#[cfg(target_vendor = "apple")]
fn float_controls(_: &wgpu::Adapter) -> FloatControls {
    FloatControls::default()
}

/// The driver's float controls, which wgpu does not expose.
#[cfg(not(target_vendor = "apple"))]
fn float_controls(adapter: &wgpu::Adapter) -> FloatControls {
    // SAFETY: the adapter's properties are queried, and nothing of it is kept.
    let Some(hal) = (unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }) else { return FloatControls::default() };
    let instance = hal.shared_instance().raw_instance();
    let mut controls = ash::vk::PhysicalDeviceFloatControlsProperties::default();
    let mut properties = ash::vk::PhysicalDeviceProperties2::default().push_next(&mut controls);
    // SAFETY: the instance and the device are alive as long as the adapter, and the chain of structures is one the call takes.
    unsafe { instance.get_physical_device_properties2(hal.raw_physical_device(), &mut properties) };
    FloatControls {
        preserve: [
            controls.shader_signed_zero_inf_nan_preserve_float32 != 0,
            controls.shader_signed_zero_inf_nan_preserve_float64 != 0,
        ],
        subnormals: [controls.shader_denorm_preserve_float32 != 0, controls.shader_denorm_preserve_float64 != 0],
    }
}
