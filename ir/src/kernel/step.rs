//! The steps of a program after fusion: kernels, and control flow, whose graphs are separate programs.

use super::{FusedKernel, StepLine};
use crate::dtype::DType;
use crate::graph::{Control, Value};
use crate::lines::{LineSink, TextLine, lines};
use smallvec::SmallVec;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// A step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FusedStep {
    /// One loop nest.
    Kernel(FusedKernel),
    /// A loop or a branch over programs.
    Control(FusedControl),
}

/// Control flow, on whole arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusedControl {
    /// The control flow.
    pub control: ControlRef,
    /// The graph's values of its operands, in order.
    pub operands: Vec<Value>,
    /// The indices of the used results, and the graph's value of each.
    pub results: SmallVec<[(u32, Value); 2]>,
}

/// Control flow, compared by address.
#[derive(Clone, Debug)]
pub struct ControlRef(pub Arc<Control<DType>>);

impl PartialEq for ControlRef {
    fn eq(&self, other: &ControlRef) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ControlRef {}

impl FusedStep {
    /// The kernel, if the step is one.
    pub fn kernel(&self) -> Option<&FusedKernel> {
        match self {
            FusedStep::Kernel(kernel) => Some(kernel),
            FusedStep::Control(_) => None,
        }
    }

    /// The graph's values that the step reads.
    pub fn reads(&self) -> impl Iterator<Item = Value> {
        let (inputs, part, operands) = match self {
            FusedStep::Kernel(kernel) => (&kernel.inputs[..], kernel.kind.part(), &[][..]),
            FusedStep::Control(control) => (&[][..], None, &control.operands[..]),
        };
        let part = part.into_iter().flat_map(|part| part.into.into_iter().chain(part.starts.iter().copied()));
        inputs.iter().map(|input| input.value).chain(part).chain(operands.iter().copied())
    }

    /// The graph's values that the step stores, whole or in part.
    pub fn makes(&self) -> impl Iterator<Item = Value> {
        let (outputs, results) = match self {
            FusedStep::Kernel(kernel) => (&kernel.outputs[..], &[][..]),
            FusedStep::Control(control) => (&[][..], &control.results[..]),
        };
        outputs.iter().copied().chain(results.iter().map(|&(_, value)| value))
    }
}

impl Display for FusedStep {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FusedStep::Kernel(kernel) => kernel.fmt(f),
            FusedStep::Control(control) => control.fmt(f),
        }
    }
}

impl Display for FusedControl {
    /// ```text
    /// while {
    ///   in0 = %0
    ///   out0 = result 0 -> %4
    /// }
    /// ```
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl FusedControl {
    /// The lines of the text.
    pub fn lines(&self) -> Vec<TextLine<StepLine>> {
        lines(|f| self.write(f))
    }

    fn write(&self, f: &mut dyn LineSink<StepLine>) -> fmt::Result {
        write(f, self.control.0.kind.name(), &self.operands, &self.results)
    }
}

fn write(f: &mut dyn LineSink<StepLine>, name: &str, operands: &[Value], results: &[(u32, Value)]) -> fmt::Result {
    writeln!(f, "{name} {{")?;
    for (n, value) in operands.iter().enumerate() {
        f.of(Some(StepLine::Input(n)));
        writeln!(f, "  in{n} = {value}")?;
    }
    for (n, (result, value)) in results.iter().enumerate() {
        f.of(Some(StepLine::Output(n)));
        writeln!(f, "  out{n} = result {result} -> {value}")?;
    }
    f.of(None);
    f.write_str("}")
}

/// A parsed step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepText {
    /// One loop nest.
    Kernel(Box<FusedKernel>),
    /// A loop or a branch, whose steps are separate texts.
    Control(ControlText),
}

/// Control flow without its graphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlText {
    /// The kind's [name](crate::graph::ControlKind::name).
    pub name: &'static str,
    /// The graph's values of its operands.
    pub operands: Vec<Value>,
    /// The indices of the used results, and the graph's value of each.
    pub results: SmallVec<[(u32, Value); 2]>,
}

impl Display for StepText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            StepText::Kernel(kernel) => kernel.fmt(f),
            StepText::Control(control) => control.fmt(f),
        }
    }
}

impl Display for ControlText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(f, self.name, &self.operands, &self.results)
    }
}
