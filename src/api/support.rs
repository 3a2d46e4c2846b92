//! Support settings for a scope or globally: the device, declarations, and casting modes. `ndjit_ir::support` defines them.
//! An operation keeps the settings of its creation.

use crate::api::config::{Settings, change_global, settings, with_settings};
use ndjit_ir::support::{CastingModes, Device, Restriction, Support};
use ndjit_runtime::Fallback;

/// Returns the casting modes of this thread: those of the innermost [`with_casting`], or the [global](set_casting) ones. The
/// default is [`CastingModes::ERROR`].
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

/// Runs `body` with these casting modes. They cast operands where an op, the [device](with_device) or a
/// [declaration](restrict_dtypes) does not support their dtype. The default is an error.
///
/// The traced graph records each cast with its mode. Casts may lose precision, or take more memory. Results keep the dtype
/// of the computation. An explicit cast or the dtype of a creation function is never replaced. Integer literals must fit, as
/// without a cast.
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

/// Like [`with_casting`], for all threads. Functions are retraced.
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

/// Returns the device that restricts the dtypes of this thread's operations, if any. Without one all dtypes are valid.
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

/// Runs `body` with the dtypes of a device. Operations still run where they did: [`Array::on`](crate::Array::on) and
/// [`Jitted::on`](crate::Jitted::on) choose that.
///
/// Operands, computing dtypes and results of a dtype that the device lacks are errors, unless a [mode](with_casting) casts
/// them. Explicit casts and creation functions of such a dtype are always errors.
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

/// Like [`with_device`], for all threads. Functions are retraced.
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

/// Returns the fallback of this thread for dtypes that a GPU lacks: that of the innermost [`with_fallback`], or the
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

/// Runs `body` with another fallback for dtypes that a GPU lacks: an error with the line of the operation, 64-bit integers
/// as pairs of words, or kernels on the processor. A [casting mode](with_casting) takes precedence if it finds another
/// dtype. `explain` shows the decision in the code.
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

/// Like [`with_fallback`], for all threads.
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

/// Runs `body` with a declaration: all operands, computing dtypes and results of its operations must be supported. Enclosing
/// declarations still hold. Conditions of [`where_`](crate::where_), the bools of predicates, literals and weak arrays are
/// exempt.
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
