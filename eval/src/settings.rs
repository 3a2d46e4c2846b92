//! The settings of operations: for a scope, or global. Part of every plan's key.

use crate::scope::with_value;
use crate::traces;
use ndjit_ir::lock::Mutex;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::{Device, Support};
use ndjit_ir::{DType, ErrorCode, Result};
use ndjit_runtime::{Fallback, devices, environment};
use ndjit_transform::AppendSettings;
use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The external inputs of type inference. Part of every plan's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The promotion policy, with the default dtype of each kind.
    pub policy: Policy,
    /// The default dtype of new arrays; `None` is the default float.
    pub default_dtype: Option<DType>,
    /// Supported dtypes, and the treatment of others.
    pub support: Support,
    /// The device of programs.
    pub device: Device,
    /// The fallback for dtypes that a GPU lacks.
    pub fallback: Fallback,
    /// Whether the reference interpreter runs programs.
    pub interpreted: bool,
    /// Bytes of states kept by the reverse mode of a loop.
    pub state_bytes: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            policy: Policy::default(),
            default_dtype: None,
            support: Support::default(),
            device: Device::default(),
            fallback: Fallback::default(),
            interpreted: false,
            state_bytes: AppendSettings::STATE_BYTES,
        }
    }
}

impl Settings {
    /// The default settings, with those of the environment.
    fn initial() -> Settings {
        static INTERPRETED: LazyLock<bool> = LazyLock::new(|| environment::is_on("NDJIT_DISABLE_JIT"));
        Settings { interpreted: *INTERPRETED, ..Settings::default() }
    }

    /// The settings for operations on arrays of a device: dtypes that a GPU lacks are unsupported, unless a fallback applies.
    ///
    /// # Errors
    /// `Device` if there is no such device.
    #[inline]
    pub fn on(self, device: Device) -> Result<Settings> {
        if device == self.device && device == Device::CPU {
            return Ok(self);
        }
        // A GPU's dtypes are known once it is open.
        let gpu = devices::open(device)?.device() != Device::CPU;
        let lacking = match self.fallback {
            _ if !gpu => self.support.device,
            Fallback::Error => Some(device),
            Fallback::Emulate => Some(device.emulating()),
            Fallback::Cpu => self.support.device,
        };
        Ok(Settings { device, support: Support { device: lacking, ..self.support }, ..self })
    }
}

static GLOBAL: Mutex<Option<Settings>> = Mutex::new(None);
/// The number of changes of `GLOBAL`: threads lock it only after a change.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static SCOPE: Cell<Option<Settings>> = const { Cell::new(None) };
    /// The global settings as last seen by this thread, with their change number.
    static SEEN: Cell<Option<(u64, Settings)>> = const { Cell::new(None) };
}

/// The settings of this thread: those of the innermost scope, or the global ones.
#[inline]
pub fn settings() -> Settings {
    SCOPE.get().unwrap_or_else(global)
}

fn global() -> Settings {
    let changes = CHANGES.load(Ordering::Acquire);
    if changes == 0 {
        return Settings::initial();
    }
    if let Some((seen, settings)) = SEEN.get()
        && seen == changes
    {
        return settings;
    }
    let settings = GLOBAL.lock().unwrap_or_else(Settings::initial);
    SEEN.set(Some((changes, settings)));
    settings
}

/// Changes the settings of all threads, outside of scopes.
pub fn change_global(change: impl FnOnce(&mut Settings)) {
    let mut global = GLOBAL.lock();
    change(global.get_or_insert_with(Settings::initial));
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Runs `body` under these settings.
pub fn with_settings<R>(settings: Settings, body: impl FnOnce() -> R) -> R {
    with_value(&SCOPE, Some(settings), body)
}

/// Runs `body`, the parts of a composite function, under a policy that keeps operands of one dtype unchanged, without support
/// restrictions: support is checked once, for the function.
pub fn with_parts<R>(body: impl FnOnce() -> R) -> R {
    let settings = settings();
    let policy = Policy::Standard.with_defaults(settings.policy.defaults()).unwrap_or(Policy::Standard);
    with_settings(Settings { policy, support: Support::default(), ..settings }, body)
}

/// Checks that values of a dtype are supported, as for a cast or a creation function.
///
/// # Errors
/// `DType` if it is not supported.
pub fn check_value(settings: Settings, what: &str, dtype: DType) -> Result<()> {
    or_falling_back(settings, |settings| settings.support.check_value(what, dtype))
}

/// The result of `attempt` under these settings. If a GPU lacks a dtype, the error names a fallback without it.
///
/// # Errors
/// Those of `attempt`.
pub fn or_falling_back<R>(settings: Settings, attempt: impl Fn(Settings) -> Result<R>) -> Result<R> {
    let error = match attempt(settings) {
        Err(error) if error.code() == ErrorCode::DType && settings.device.gpu_number().is_some() => error,
        result => return result,
    };
    let helps = |device: Option<Device>| {
        let support = Support { device, ..settings.support };
        support.device != settings.support.device && attempt(Settings { support, ..settings }).is_ok()
    };
    let (fallback, what) = match () {
        () if helps(Some(settings.device.emulating())) => {
            ("Emulate", "computes it in pairs of words, with the same bits")
        }
        () if helps(None) => ("Cpu", "runs it on the processor, with copies of its arrays"),
        () => return Err(error),
    };
    let how = if traces::are_open() {
        format!("`f.fallback(Fallback::{fallback})`")
    } else {
        format!("`with_fallback(Fallback::{fallback}, || …)`")
    };
    Err(error.or_help(format!("{how} {what}")))
}
