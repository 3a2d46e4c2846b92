//! The GPUs of the process: each opened at its first use, and again after a loss.

#[cfg(unix)]
use super::device::GpuKind;
use super::device::{Gpu, GpuOptions, device};
use ndjit_codegen::passes::legalize::does;
use ndjit_ir::support::device::{GPUS, OPTIONED};
use ndjit_ir::support::{Device, Gap};
use ndjit_ir::{DType, DTypeSet, Error, ErrorCode, Op, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[cfg(unix)]
use std::{sync::Once, thread};

/// The options of a GPU, and the open device.
#[derive(Clone, Debug, Default)]
struct GpuSlot {
    options: Option<GpuOptions>,
    gpu: Option<Arc<Gpu>>,
}

/// By number: the GPUs of the machine, then those with options.
type Slots = [Option<GpuSlot>; GPUS + OPTIONED];

static SLOTS: Mutex<Slots> = Mutex::new([const { None }; GPUS + OPTIONED]);

fn slots() -> MutexGuard<'static, Slots> {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The GPU of this number, opened if need be.
///
/// # Errors
/// `Device` if there is none or it cannot be opened.
pub fn opened(number: usize) -> Result<Arc<Gpu>> {
    let mut slots = slots();
    let Some(slot) = slots.get_mut(number) else {
        return Err(Error::new(ErrorCode::Device, format!("there is no device {number}")).of("gpu"));
    };
    let slot = slot.get_or_insert_default();
    if let Some(gpu) = slot.gpu.as_ref().filter(|gpu| gpu.alive().is_ok()) {
        return Ok(Arc::clone(gpu));
    }
    let options = slot.options.unwrap_or(GpuOptions { index: number, ..GpuOptions::default() });
    let gpu = Gpu::open_as(number, options, None)?;
    if let Some(device) = device(number) {
        device.set_gaps(gaps(&gpu, false));
        device.emulating().set_gaps(gaps(&gpu, true));
    }
    slot.gpu = Some(Arc::clone(&gpu));
    #[cfg(unix)]
    if gpu.info().kind == GpuKind::Software {
        wait_at_exit();
    }
    Ok(gpu)
}

/// At process exit, waits for pending work of software devices. They compute in threads of the process and compile with a library that exit
/// handlers unload: without this Mesa's lavapipe ended one in 200 runs of a test with a segmentation fault.
#[cfg(unix)]
fn wait_at_exit() {
    extern "C" fn wait() {
        // A holder of the lock may never release it.
        let Ok(slots) = SLOTS.try_lock() else { return };
        let software = slots.iter().flatten().filter_map(|slot| slot.gpu.as_ref());
        for gpu in software.filter(|gpu| gpu.info().kind == GpuKind::Software && gpu.alive().is_ok()) {
            // Debug builds of wgpu track held locks in thread locals; those of the main thread are gone.
            thread::scope(|scope| drop(thread::Builder::new().spawn_scoped(scope, || gpu.idle())));
        }
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: a plain call. Its callback takes no lock that a thread may hold forever, and no panic leaves `poll`.
        unsafe { libc::atexit(wait) };
    });
}

/// Another GPU of the process, opened with these options: the same device with fewer features, or another budget. Equal options return the
/// same device.
///
/// # Errors
/// `Argument` if the options are below the minimum; `Device` if it cannot be opened, or the process has the maximum number of devices.
pub fn with_options(options: GpuOptions) -> Result<Device> {
    let (number, new) = {
        let mut slots = slots();
        let with_these = |slot: &Option<GpuSlot>| slot.as_ref().is_some_and(|slot| slot.options == Some(options));
        let known = (GPUS..slots.len()).find(|&n| with_these(&slots[n]));
        let Some(number) = known.or_else(|| (GPUS..slots.len()).find(|&n| slots[n].is_none())) else {
            return Err(Error::new(ErrorCode::Device, format!("{OPTIONED} were opened with options, no more fit"))
                .of("gpu")
                .help("a device stays for the life of the process: open each once and keep it"));
        };
        slots[number].get_or_insert(GpuSlot { options: Some(options), gpu: None });
        (number, known.is_none())
    };
    match (opened(number), device(number)) {
        (Ok(_), Some(device)) => Ok(device),
        (Err(error), _) => {
            if new {
                slots()[number] = None;
            }
            Err(error)
        }
        (Ok(_), None) => Err(Error::new(ErrorCode::Verify, "a GPU without a number").of("gpu")),
    }
}

/// The missing dtypes of a GPU, without those that can be emulated.
fn gaps(gpu: &Gpu, emulated: bool) -> Vec<Gap> {
    let (features, name) = (gpu.features(), &gpu.info().name);
    let gap = |dtypes: DTypeSet, what: &str| Gap {
        ops: Vec::new(),
        dtypes,
        reason: format!("{name} has no {what}"),
        link: "https://docs.rs/wgpu/30/wgpu/struct.Features.html".to_owned(),
    };
    let mut gaps = Vec::new();
    if !features.float64 {
        // Such arrays are moved, cast and compared as integers.
        let target = features.target();
        for dtype in [DType::F64, DType::C128] {
            let ops =
                Op::ALL.iter().copied().filter(|&op| op.row().domain.contains(dtype) && !does(op, dtype, &target));
            gaps.push(Gap { ops: ops.collect(), ..gap(dtype.into(), "floats of 64 bits") });
        }
    }
    if !features.int64 && !emulated {
        gaps.push(gap(DTypeSet::from(DType::I64) | DTypeSet::from(DType::U64), "integers of 64 bits"));
    }
    gaps
}
