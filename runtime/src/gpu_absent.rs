//! What stands for GPUs in a program that was built without the feature `gpu`: types of which there are no values.

use crate::devices::{Fallback, KernelCode, OnGpu};
use crate::executable::{Argument, Output, RunOptions};
use crate::planned;
use ndjit_codegen::Lowered;
use ndjit_ir::literal::Literal;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use std::sync::Arc;

/// An open GPU.
#[derive(Debug)]
pub enum Gpu {}

/// Memory of a GPU.
#[derive(Debug)]
pub enum Memory {}

/// A program on a GPU.
#[derive(Debug)]
pub enum Program {}

/// Elements on their way to the host.
#[derive(Debug)]
pub enum Reading {}

impl Reading {
    /// Waits for the elements.
    ///
    /// # Errors
    /// Never: there are none.
    pub fn finish(self, _: &mut [u8]) -> Result<()> {
        match self {}
    }
}

impl Gpu {
    /// The device.
    pub fn device(&self) -> Device {
        match *self {}
    }

    /// Arrays a kernel may use at once.
    pub fn max_arrays(&self) -> usize {
        match *self {}
    }
}

impl Memory {
    /// Memory with a copy of the host's bytes.
    ///
    /// # Errors
    /// Never: there is no GPU to be asked.
    pub fn upload(gpu: &Arc<Gpu>, _: &[u8]) -> Result<Memory> {
        match **gpu {}
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        match *self {}
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        match *self {}
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        match *self {}
    }

    /// Waits for the elements.
    ///
    /// # Errors
    /// Never: there is no such memory.
    pub fn wait(&self) -> Result<()> {
        match *self {}
    }

    /// Asks for the elements.
    ///
    /// # Errors
    /// Never: there is no such memory.
    pub fn reading(self: &Arc<Memory>) -> Result<Reading> {
        match **self {}
    }

    /// Copies the elements to the host.
    ///
    /// # Errors
    /// Never: there is no such memory.
    pub fn download(&self, _: &mut [u8]) -> Result<()> {
        match *self {}
    }
}

impl Program {
    /// Compiles a program.
    ///
    /// # Errors
    /// Never: there is no GPU to be asked.
    pub fn new(gpu: &Arc<Gpu>, _: &Lowered, _: Fallback, _: &RunOptions) -> Result<Program> {
        match **gpu {}
    }

    /// Runs the program.
    ///
    /// # Errors
    /// Never: there is no such program.
    pub fn run(&self, _: &[Argument<'_>], _: &[(usize, Literal)], _: &mut [Output<'_>]) -> Result<()> {
        match *self {}
    }

    /// The memory of the device that a run takes.
    pub fn memory(&self) -> planned::Memory {
        match *self {}
    }

    /// Whether the device is not lost.
    pub fn is_alive(&self) -> bool {
        match *self {}
    }

    /// The dtypes for want of which loop nests run on the processor.
    pub fn on_processor(&self) -> Vec<DType> {
        match *self {}
    }

    /// The kernels of each loop nest.
    pub fn kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>> {
        match *self {}
    }

    /// What it consists of.
    pub fn on_gpu(&self) -> OnGpu {
        match *self {}
    }
}

/// A module as SPIR-V.
///
/// # Errors
/// `Device`, always.
pub fn spirv(_: &str, _: Option<Device>) -> Result<String> {
    absent()
}

/// The GPU of this number.
///
/// # Errors
/// `Device`, always.
pub fn opened(_: usize) -> Result<Arc<Gpu>> {
    absent()
}

fn absent<T>() -> Result<T> {
    Err(Error::new(ErrorCode::Device, "gpu: this program was built without GPUs")
        .help("enable the feature: `ndjit = { features = [\"gpu\"] }`"))
}
