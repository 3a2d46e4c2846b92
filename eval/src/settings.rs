//! The settings under which operations are made: for a scope, or globally. Part of every plan's key.

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

/// Everything outside an operation that its types depend on. Part of every plan's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The promotion policy, with the default dtype of each kind.
    pub policy: Policy,
    /// The dtype of new arrays of which nothing else is known; `None` is the default float.
    pub default_dtype: Option<DType>,
    /// What is supported, and what happens to the rest.
    pub support: Support,
    /// Where programs run.
    pub device: Device,
    /// What is done about dtypes that a GPU lacks.
    pub fallback: Fallback,
    /// Whether the reference interpreter runs programs.
    pub interpreted: bool,
    /// Bytes that the reverse mode of a loop keeps of its states.
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
    /// Those of a process in which nothing was set but by its environment.
    fn initial() -> Settings {
        static INTERPRETED: LazyLock<bool> = LazyLock::new(|| environment::is_on("NDJIT_DISABLE_JIT"));
        Settings { interpreted: *INTERPRETED, ..Settings::default() }
    }

    /// The same for operations on arrays of a device: what a GPU lacks is not supported, unless it is done without.
    ///
    /// # Errors
    /// `Device` if there is no such device.
    #[inline]
    pub fn on(self, device: Device) -> Result<Settings> {
        if device == self.device && device == Device::CPU {
            return Ok(self);
        }
        // What a GPU lacks is known once it is open.
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
/// How often `GLOBAL` was set: threads lock it only to see what is new.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static SCOPE: Cell<Option<Settings>> = const { Cell::new(None) };
    /// The global settings as this thread saw them last, after so many changes.
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

/// Changes the settings of all threads, where no scope says otherwise.
pub fn change_global(change: impl FnOnce(&mut Settings)) {
    let mut global = GLOBAL.lock();
    change(global.get_or_insert_with(Settings::initial));
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Runs `body` under these settings.
pub fn with_settings<R>(settings: Settings, body: impl FnOnce() -> R) -> R {
    with_value(&SCOPE, Some(settings), body)
}

/// Runs `body`, which makes the parts of a function that is several operations, under a policy that leaves operands of one dtype
/// alone, with nothing declared unsupported: what the function may be used on is looked at before, once, and not by its parts.
pub fn with_parts<R>(body: impl FnOnce() -> R) -> R {
    let settings = settings();
    let policy = Policy::Standard.with_defaults(settings.policy.defaults()).unwrap_or(Policy::Standard);
    with_settings(Settings { policy, support: Support::default(), ..settings }, body)
}

/// Whether values of a dtype may be made, as by a cast or a creation function that asks for it.
///
/// # Errors
/// `DType` if it is not supported.
pub fn check_value(settings: Settings, what: &str, dtype: DType) -> Result<()> {
    or_falling_back(settings, |settings| settings.support.check_value(what, dtype))
}

/// What `attempt` gives under these settings. Where a GPU lacks a dtype, the error says with which fallback there would
/// be none.
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
