//! What the passes of the target half make of a program's nests. Kernels are cached, so the passes run once more for it.

use crate::listing::Inspection;
use ndjit_codegen::clif;
use ndjit_codegen::pipeline::{PassObserver, lower_for_observed, lower_steps_observed};
use ndjit_codegen::target::Target;
use ndjit_codegen::{LoweredControl, LoweredKernel, LoweredStep};
use ndjit_ir::Result;
use std::fmt::{Display, Write};

impl Inspection<'_> {
    /// The text of the program's nests after a pass of the target half, and of those of its control flow. An error replaces a nest.
    pub fn after(&self, pass: &str) -> String {
        let (here, there) = match self.targets() {
            Ok(targets) => targets,
            Err(error) => return error.to_string(),
        };
        let mut text = PassText { pass, text: String::new() };
        for step in self.lowered.executed().into_iter().flat_map(|lowered| &lowered.steps) {
            let made = match step {
                LoweredStep::Kernel(LoweredKernel { scheduled, .. }) => {
                    lower_for_observed(&scheduled.nest, &there, &mut text).map(|_| ())
                }
                LoweredStep::Control(LoweredControl { compiled: Some(steps), .. }) => {
                    lower_steps_observed(steps, &here, &mut text).map(|_| ())
                }
                LoweredStep::Control(_) => Ok(()),
            };
            if let Err(error) = made {
                // A string takes every text.
                let _ = writeln!(text.text, "{error}");
            }
        }
        text.text
    }

    /// The targets of control flow and of other kernels.
    fn targets(&self) -> Result<(Target, Target)> {
        let here = Target::host_clif(&*clif::host_isa()?);
        let there = match self.on_gpu() {
            Some(there) => there?.features.target(),
            None => here.clone(),
        };
        Ok((here, there))
    }
}

/// The text of what one pass makes.
struct PassText<'a> {
    pass: &'a str,
    text: String,
}

impl PassObserver for PassText<'_> {
    fn begins(&mut self, _: &'static str) {}

    fn ends(&mut self, pass: &'static str, made: &dyn Display) {
        if pass == self.pass {
            // A string takes every text.
            let _ = writeln!(self.text, "{made}");
        }
    }
}
