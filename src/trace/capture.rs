//! Arrays captured by traced functions: pending operations are traced; evaluated arrays become closed-over constants.

use super::arrange;
use super::arrange::Arguments;
use super::recorder::Trace;
use crate::api::config;
use crate::array::node::Array;
use ndjit_eval::lazy::evaluate;
use ndjit_inspect::explain::ParamSource;
use ndjit_ir::SourceLoc;
use ndjit_ir::graph::{SourceLocs, Value};

impl Trace {
    /// Adds an array to the trace. All uses share its value.
    pub(super) fn capture(&mut self, array: &Array, place: SourceLoc) -> std::result::Result<Value, u32> {
        if let Some((_, value)) = self.formulas.get(&array.identity()) {
            return Ok(*value);
        }
        if let Some(&at) = self.closed_over_at.get(&array.identity()) {
            return Ok(self.closed_over[at].1);
        }
        if let Some(error) = array.error() {
            return Err(self.fail(error.clone()));
        }
        // A trace stores numbers in the dtype of its policy; an array keeps the dtype of its creation.
        let as_usual = array.dtype() == config::policy().commit(array.value_type());
        if let Some(symbolic) = array.0.own_symbolic().filter(|_| as_usual) {
            let program = (symbolic, &SourceLocs::default());
            let arguments = Arguments::default();
            let value = arrange::computed(&mut self.graph, &mut self.places, program, arguments, Some(place))[0];
            self.formulas.insert(array.identity(), (array.clone(), value));
            return Ok(value);
        }
        if let Some((symbolic, own, leaves)) = evaluate::symbolic(&array.0) {
            let mut arrays = Vec::with_capacity(leaves.len());
            for leaf in &leaves {
                arrays.push(self.capture(&Array(leaf.clone()), place)?);
            }
            let program = (&symbolic, &own);
            let arguments = Arguments { arrays: &arrays, numbers: &[] };
            let value = arrange::computed(&mut self.graph, &mut self.places, program, arguments, Some(place))[0];
            self.formulas.insert(array.identity(), (array.clone(), value));
            return Ok(value);
        }
        if let Some(value) = self.captured_array(array) {
            self.places.note(self.graph.producer(value), place);
            return Ok(value);
        }
        let value = self.graph.param_stored(array.value_type(), array.dtype(), array.shape());
        self.places.note(self.graph.producer(value), place);
        self.inputs.push(ParamSource::Captured);
        self.closed_over_at.insert(array.identity(), self.closed_over.len());
        self.closed_over.push((array.clone(), value));
        Ok(value)
    }
}
