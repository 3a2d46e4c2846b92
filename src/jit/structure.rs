//! The structures of the parameters of functions, and of the arguments of their calls.

use crate::jit::arguments::{CallArgs, TreeArgs, push};
use crate::jit::function::JitFn;
use crate::jit::input::Inputs;
use ndjit_eval::plan::compiled::Lengths;
use ndjit_ir::Result;

impl<'a, const N: usize> CallArgs<'a, N> {
    /// Flattens the inputs of a call for a function.
    ///
    /// # Errors
    /// Those of the inputs; `Arity` for a structure where the function takes an array.
    pub(crate) fn of<M, F: JitFn<M, N>>(inputs: impl Inputs<'a, N>) -> Result<CallArgs<'a, N>> {
        Ok(match inputs.args()? {
            CallArgs::Leaves(leaves) if F::TREES => {
                let mut trees = TreeArgs::default();
                leaves.into_iter().for_each(|leaf| trees.leaf(leaf));
                CallArgs::Trees(trees)
            }
            CallArgs::Trees(trees) if !F::TREES => CallArgs::Leaves(trees.only_leaves()?),
            args => args,
        })
    }
}

/// Returns the structure of the parameters: for each, the number of leaves, the number of lists, and their lengths. It
/// is empty for a function without structures.
pub(crate) fn structure<'a, M, const N: usize, F: JitFn<M, N>>(
    parameters: impl Iterator<Item = (usize, &'a [usize])>,
) -> Lengths {
    let mut structure = Lengths::new();
    for (leaves, lists) in parameters.filter(|_| F::TREES) {
        push(&mut structure, leaves, lists);
    }
    structure
}
