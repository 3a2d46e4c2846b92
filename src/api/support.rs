//! What is supported where operations are made, for a scope or globally: the device, declarations, and casting modes. What
//! these mean stands in `ndjit_ir::support`; an operation keeps what it was made under.

use crate::api::config::{Settings, change_global, settings, with_settings};
use ndjit_ir::support::{CastingModes, Device, Restriction, Support};
use ndjit_runtime::Fallback;

/// The casting modes under which this thread makes operations: those of the innermost [`with_casting`], or the
/// [global](set_casting) ones. The default is [`CastingModes::ERROR`].
///
/// ```
/// use ndjit::{CastingModes, casting, with_casting};
///
/// assert_eq!(casting(), CastingModes::ERROR);
/// assert_eq!(with_casting(CastingModes::UP, casting), CastingModes::UP);
/// ```
pub fn casting() -> CastingModes {
    settings().support.casting
}

/// Runs `body` with these casting modes: where an op, the [device](with_device) or a [declaration](restrict_dtypes) does not
/// take a dtype, operands are cast to one that is taken, instead of an error. Each cast stands in the traced graph with its
/// mode. Casts may lose precision, or take more memory. Results keep the dtype they were computed in; the dtype that a written
/// cast or a creation function asks for is never replaced. Integers written as numbers must fit, as without a cast.
///
/// ```
/// use ndjit::{Array, CastingModes, DType, f16, with_casting};
///
/// let x = Array::from([f16::from_f32(5.5)]);
/// assert!((&x ^ &x).eval().is_err());
/// let y = with_casting(CastingModes::CROSS, || &x ^ 1);
/// assert_eq!((y.dtype(), y.to_vec::<i32>()?), (DType::I32, vec![4]));
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn with_casting<R>(modes: CastingModes, body: impl FnOnce() -> R) -> R {
    with_support(|support| support.casting = modes, body)
}

/// As [`with_casting`], for all threads. Functions are traced anew for it.
///
/// ```
/// use ndjit::{Array, CastingModes, f16, set_casting};
///
/// set_casting(CastingModes::CROSS);
/// assert!((Array::from([f16::ONE]) ^ 1).eval().is_ok());
/// # set_casting(CastingModes::ERROR);
/// ```
pub fn set_casting(modes: CastingModes) {
    change_global(|settings| settings.support.casting = modes);
}

/// The device whose dtypes count for operations of this thread, if one is chosen. Where none is, all dtypes are valid.
///
/// ```
/// use ndjit::{Device, device, with_device};
///
/// assert_eq!(device(), None);
/// assert_eq!(with_device(Device::CPU, device), Some(Device::CPU));
/// ```
pub fn device() -> Option<Device> {
    settings().support.device
}

/// Runs `body` with the dtypes of a device, and changes nothing of where operations run: that is for [`Array::on`](crate::Array::on) and
/// [`Jitted::on`](crate::Jitted::on). Operands and computing dtypes that the device does not take, and results that it has no dtype for,
/// are an error, or are avoided by casts of a [mode](with_casting). Written casts and creation functions that ask for a dtype it lacks
/// are errors in any case.
///
/// ```
/// use ndjit::{Array, DType, Device, ErrorCode, Op, exp, f16, with_device};
///
/// let device = Device::describe("halfless").unsupported([Op::Exp], DType::F16, "not written yet", "").register()?;
/// let x = Array::from([f16::from_f32(1.0)]);
/// let y = with_device(device, || exp(&x));
/// assert_eq!(y.eval().unwrap_err().code(), ErrorCode::DType);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn with_device<R>(device: impl Into<Option<Device>>, body: impl FnOnce() -> R) -> R {
    with_support(|support| support.device = device.into(), body)
}

/// As [`with_device`], for all threads. Functions are traced anew for it.
///
/// ```
/// use ndjit::{Device, device, set_device};
///
/// set_device(Device::CPU);
/// assert_eq!(device(), Some(Device::CPU));
/// set_device(None);
/// ```
pub fn set_device(device: impl Into<Option<Device>>) {
    let device = device.into();
    change_global(|settings| settings.support.device = device);
}

/// What is done about dtypes that a GPU lacks, where this thread makes operations: what the innermost [`with_fallback`] says, or the
/// [global](set_fallback) setting. The default is [`Fallback::Error`].
///
/// ```
/// use ndjit::{Fallback, fallback};
///
/// assert_eq!(fallback(), Fallback::Error);
/// ```
pub fn fallback() -> Fallback {
    settings().fallback
}

/// Runs `body` with another way to do without dtypes that a GPU lacks: an error, with the line of the operation; 64-bit integers as
/// pairs of words; or the processor for kernels that use them. A [casting mode](with_casting) avoids them before, where it finds another
/// dtype. What was decided stands in the code that `explain` shows.
///
/// ```
/// use ndjit::{Fallback, fallback, with_fallback};
///
/// assert_eq!(fallback(), Fallback::Error);
/// assert_eq!(with_fallback(Fallback::Cpu, fallback), Fallback::Cpu);
/// ```
pub fn with_fallback<R>(fallback: Fallback, body: impl FnOnce() -> R) -> R {
    with_settings(Settings { fallback, ..settings() }, body)
}

/// As [`with_fallback`], for all threads.
///
/// ```
/// use ndjit::{Fallback, fallback, set_fallback};
///
/// set_fallback(Fallback::Cpu);
/// assert_eq!(fallback(), Fallback::Cpu);
/// # set_fallback(Fallback::Error);
/// ```
pub fn set_fallback(fallback: Fallback) {
    change_global(|settings| settings.fallback = fallback);
}

/// Runs `body` with a declaration: every operand of the operations in it, and every dtype they compute in or give, must be
/// supported. It holds besides those around it. Conditions of [`where_`](crate::where_), the bools that predicates give,
/// bare numbers and weak arrays are taken as ever.
///
/// ```
/// use ndjit::{Array, DTypeSet, ErrorCode, Restriction, restrict_dtypes};
///
/// let x = Array::from([1.0f64]);
/// let y = restrict_dtypes(Restriction::supported(DTypeSet::INT)?, || &x + 1);
/// assert_eq!(y.eval().unwrap_err().code(), ErrorCode::DType);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn restrict_dtypes<R>(restriction: Restriction, body: impl FnOnce() -> R) -> R {
    with_support(|support| support.restrictions = support.restrictions.with(restriction), body)
}

fn with_support<R>(change: impl FnOnce(&mut Support), body: impl FnOnce() -> R) -> R {
    let mut settings: Settings = settings();
    change(&mut settings.support);
    with_settings(settings, body)
}
