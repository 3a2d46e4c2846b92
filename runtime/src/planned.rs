//! What a program's arrays are in memory, for those who look.

use crate::plan::Plan;
use ndjit_codegen::Lowered;
use ndjit_ir::Result;
use ndjit_ir::graph::Value;

/// An array of a program, as its memory is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedArray {
    /// The simplified graph's value.
    pub value: Value,
    /// Its size in bytes; of a parameter, of those that are read.
    pub bytes: usize,
    /// The first kernel that makes it; `None` of a parameter.
    pub made: Option<usize>,
    /// The last kernel that reads it, or makes it if none reads it; `None` of a parameter that none reads.
    pub last: Option<usize>,
    /// Arrays, as positions in the list, whose memory it takes if nobody else has them.
    pub takes: Vec<usize>,
    /// The result that it is.
    pub result: Option<usize>,
}

/// The arrays of a program: its parameters, then what kernels make.
///
/// # Errors
/// Those of making a plan: `Verify`, `Size`.
pub fn planned(lowered: &Lowered) -> Result<Vec<PlannedArray>> {
    let plan = Plan::new(lowered)?;
    let params = lowered.simplified.params().iter().zip(&plan.params);
    let param =
        |(&value, &bytes)| PlannedArray { value, bytes, made: None, last: None, takes: Vec::new(), result: None };
    let mut arrays: Vec<PlannedArray> = params.map(param).collect();
    for (kernel, (step, scheduled)) in plan.steps.iter().zip(&lowered.scheduled).enumerate() {
        for (output, &value) in step.outputs.iter().zip(&scheduled.outputs) {
            // Several kernels make the parts of one array.
            if output.location as usize == arrays.len() {
                let takes = output.reuse.iter().map(|&location| location as usize).collect();
                let (made, last, result) = (Some(kernel), Some(kernel), output.result);
                arrays.push(PlannedArray { value, bytes: output.bytes, made, last, takes, result });
            }
        }
        let read = step.inputs.iter().filter_map(|(location, _)| *location);
        for location in read.chain(step.outputs.iter().map(|output| output.location)) {
            if let Some(array) = arrays.get_mut(location as usize) {
                array.last = Some(kernel);
            }
        }
    }
    Ok(arrays)
}
