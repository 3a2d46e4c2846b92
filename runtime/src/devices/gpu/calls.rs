//! Calls of wgpu, with failures as values.
//!
//! wgpu reports failures in five ways: through error scopes, per thread; to a handler of uncaptured errors; as results of single calls;
//! to a handler of lost devices; and by panicking, when the driver loses the device during a wait, or for unimplemented parts of naga.
//! For a destroyed device the fourth handler runs only after its work is done; calls before that fail silently.

use super::caught::caught;
use super::device::Gpu;
use super::faults::Fault;
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// The longest single wait: a lost device is noticed between waits.
const SLICE: Duration = Duration::from_secs(1);

impl Gpu {
    /// Whether a test makes this event fail.
    pub(super) fn fault(&self, fault: Fault) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.fires(fault))
    }

    /// # Errors
    /// `Device` if the device is lost.
    pub(super) fn alive(&self) -> Result<()> {
        match self.lost.get() {
            None => Ok(()),
            Some(why) => Err(self.lose(why)),
        }
    }

    /// Marks the device as lost, for the first known reason, and returns the error.
    pub(super) fn lose(&self, why: &str) -> Error {
        let why = self.lost.get_or_init(|| why.to_owned());
        Error::new(ErrorCode::Device, format!("{} was lost", self.info().name))
            .of("gpu")
            .fact(why)
            .help("arrays on it are gone; arrays in host memory are not, and can be moved to a device opened anew")
    }

    /// Calls wgpu, and returns the error it reports.
    ///
    /// # Errors
    /// `Device` if the device is lost, `Allocation` if it has no memory left, `Backend` otherwise.
    pub(super) fn scoped<R>(&self, what: &str, body: impl FnOnce() -> Result<R>) -> Result<R> {
        self.alive()?;
        if self.fault(Fault::Destroy) {
            self.end();
        }
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let result = caught(body);
        if self.fault(Fault::DestroyLate) {
            self.end();
        }
        let errors = [internal.pop_now(), validation.pop_now(), memory.pop_now()];
        self.alive()?;
        let claimed = || self.fault(Fault::Memory).then(|| wgpu::Error::OutOfMemory { source: "claimed".into() });
        let stray = || self.stray.lock().unwrap_or_else(PoisonError::into_inner).take();
        let error = match errors.into_iter().flatten().next().or_else(claimed) {
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Error::new(ErrorCode::Allocation, format!("{what}: {} has no memory left", self.info().name)).of("gpu")
            }
            Some(error) => self.failed(what, error),
            None => match (result, stray()) {
                (Ok(Ok(result)), None) => return Ok(result),
                (Ok(Ok(_)), Some(stray)) => self.failed(what, format_args!("{stray} (reported of an earlier call)")),
                (Ok(Err(error)), _) => error,
                (Err(panic), _) => self.failed(what, format_args!("it panicked: {panic}")),
            },
        };
        // A refusal because of a lost device looks like a validation error.
        self.noticed()?;
        Err(error)
    }

    fn failed(&self, what: &str, why: impl std::fmt::Display) -> Error {
        Error::new(ErrorCode::Backend, format!("{what} failed on {}", self.info().name)).of("gpu").fact(why)
    }

    /// Checks for a silent loss of the device: a lost device silently accepts an invalid call.
    ///
    /// # Errors
    /// `Device` if it is.
    pub(super) fn noticed(&self) -> Result<()> {
        self.alive()?;
        let refused = caught(|| {
            let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
            let usage = wgpu::BufferUsages::empty();
            let _ = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 4,
                usage,
                mapped_at_creation: false,
            });
            scope.pop_now().is_some()
        });
        match refused {
            Ok(true) => self.alive(),
            Ok(false) => Err(self.lose("it no longer answers to calls")),
            Err(panic) => Err(self.lose(&panic)),
        }
    }

    /// Waits for a submission.
    ///
    /// # Errors
    /// `Device` if the device is lost or does not answer.
    pub(super) fn wait(&self, submission: &wgpu::SubmissionIndex) -> Result<()> {
        let start = Instant::now();
        loop {
            self.alive()?;
            if self.fault(Fault::Destroy) {
                self.end();
            }
            let silent = self.fault(Fault::Silence);
            let left = if silent { Duration::ZERO } else { self.patience.saturating_sub(start.elapsed()) };
            let wait =
                wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout: Some(left.min(SLICE)) };
            let answer = if silent { Err(wgpu::PollError::Timeout) } else { self.poll(wait)? };
            match answer {
                Ok(_) => return self.alive(),
                Err(wgpu::PollError::WrongSubmissionIndex(..)) => return Err(self.lose("it refuses all work")),
                Err(wgpu::PollError::Timeout) if left > SLICE => {}
                Err(wgpu::PollError::Timeout) => {
                    self.alive()?;
                    return Err(Error::new(ErrorCode::Device, format!("{} does not answer", self.info().name))
                        .of("gpu")
                        .fact(format_args!("waited for {:.1?}", start.elapsed())));
                }
            }
        }
    }

    /// Processes finished work, and waits on request.
    ///
    /// # Errors
    /// `Device` if the device is lost meanwhile.
    pub(super) fn poll(&self, wait: wgpu::PollType) -> Result<std::result::Result<wgpu::PollStatus, wgpu::PollError>> {
        let answer = caught(|| {
            if self.fault(Fault::Fatal) {
                let _ = self.lose("claimed");
                panic!("claimed: the driver lost the device");
            }
            self.device.poll(wait)
        });
        // wgpu asserts when a wait ends early while another thread polls; this is harmless.
        answer.or_else(|_| self.alive().map(|()| Err(wgpu::PollError::Timeout)))
    }

    /// Destroys the device once nobody reads its mapped memory, which it invalidates.
    pub(super) fn end(&self) {
        let _nobody = self.reading.write().unwrap_or_else(PoisonError::into_inner);
        self.device.destroy();
    }
}

/// A scope with an immediate result.
trait PopNow {
    fn pop_now(self) -> Option<wgpu::Error>;
}

impl PopNow for wgpu::ErrorScopeGuard {
    fn pop_now(self) -> Option<wgpu::Error> {
        pollster::block_on(self.pop())
    }
}
