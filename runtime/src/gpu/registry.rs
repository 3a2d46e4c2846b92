//! The GPUs of the process: each opened once, when it is first used, and anew after it was lost.

use super::device::{Gpu, GpuOptions};
use ndjit_ir::support::device::GPUS;
use ndjit_ir::support::{Device, Gap};
use ndjit_ir::{DType, DTypeSet, Error, ErrorCode, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a GPU is opened, and the open one.
#[derive(Clone, Debug, Default)]
struct Slot {
    options: Option<GpuOptions>,
    gpu: Option<Arc<Gpu>>,
}

static SLOTS: Mutex<[Option<Slot>; GPUS]> = Mutex::new([const { None }; GPUS]);

fn slots() -> MutexGuard<'static, [Option<Slot>; GPUS]> {
    SLOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The GPU of this number, opened if need be.
///
/// # Errors
/// `Device` if there is none or it cannot be opened.
pub fn opened(number: usize) -> Result<Arc<Gpu>> {
    let mut slots = slots();
    let Some(slot) = slots.get_mut(number) else {
        return Err(Error::new(ErrorCode::Device, format!("gpu: there is no device {number}")));
    };
    let slot = slot.get_or_insert_default();
    if let Some(gpu) = slot.gpu.as_ref().filter(|gpu| gpu.alive().is_ok()) {
        return Ok(Arc::clone(gpu));
    }
    let options = slot.options.unwrap_or(GpuOptions { index: number, ..GpuOptions::default() });
    let gpu = Gpu::open_as(number, options, None)?;
    if let Some(device) = Device::gpus(number) {
        device.set_gaps(gaps(&gpu, false));
        device.emulating().set_gaps(gaps(&gpu, true));
    }
    slot.gpu = Some(Arc::clone(&gpu));
    Ok(gpu)
}

/// A further GPU of the process, opened with options of its own: the same device with fewer features, or another budget.
///
/// # Errors
/// `Device` if it cannot be opened, or the process has eight GPUs.
pub fn with_options(options: GpuOptions) -> Result<Device> {
    let number = {
        let mut slots = slots();
        // The first ones are the adapters'.
        let Some(number) = (0..GPUS).rev().find(|&n| slots[n].is_none()) else {
            return Err(Error::new(ErrorCode::Device, format!("gpu: the process has {GPUS} GPUs, no more fit")));
        };
        slots[number] = Some(Slot { options: Some(options), gpu: None });
        number
    };
    match (opened(number), Device::gpus(number)) {
        (Ok(_), Some(device)) => Ok(device),
        (Err(error), _) => {
            slots()[number] = None;
            Err(error)
        }
        (Ok(_), None) => Err(Error::new(ErrorCode::Verify, "gpu: a GPU without a number")),
    }
}

/// What a GPU lacks, and what of it cannot be emulated.
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
        gaps.push(gap(DTypeSet::from(DType::F64) | DTypeSet::from(DType::C128), "floats of 64 bits"));
    }
    if !features.int64 && !emulated {
        gaps.push(gap(DTypeSet::from(DType::I64) | DTypeSet::from(DType::U64), "integers of 64 bits"));
    }
    gaps
}
