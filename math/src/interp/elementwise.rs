//! Evaluation of one op or cast on tensors: index arithmetic for broadcasting, and one evaluation of the body per
//! element.

use super::tensor::Tensor;
use crate::{cast_body, load_body, store_body};
use ndjit_ir::body::{Body, BodyBuilder, Reg};
use ndjit_ir::dtype::DType;
use ndjit_ir::error::Result;
use ndjit_ir::op::Op;
use ndjit_ir::shape::Shape;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An elementwise function: an op in its computing dtype, or a cast between dtypes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Function {
    Op(Op, DType),
    Cast(DType, DType),
}

impl Function {
    fn result_dtype(self) -> DType {
        match self {
            Function::Op(op, compute) => op.result_dtype(compute),
            Function::Cast(_, to) => to,
        }
    }

    /// Creates the body from the operands' storage words to the result's: load, compute, store.
    fn body(self) -> Body {
        let (operands, inner): (Vec<DType>, Body) = match self {
            Function::Op(op, compute) => {
                ((0..op.arity()).map(|i| op.operand_dtype(i, compute)).collect(), crate::body(op, compute))
            }
            Function::Cast(from, to) => (vec![from], cast_body(from, to)),
        };
        let words: Vec<_> = operands.iter().flat_map(|dtype| dtype.storage()).copied().collect();
        let mut builder = BodyBuilder::new(&words);
        let mut words: &[Reg] = &builder.inputs();
        let mut registers = Vec::new();
        for dtype in operands {
            let (own, rest) = words.split_at(dtype.storage().len());
            registers.extend(builder.inline(&load_body(dtype), own));
            words = rest;
        }
        let results = builder.inline(&inner, &registers);
        let stored = builder.inline(&store_body(self.result_dtype()), &results);
        builder.finish(&stored)
    }
}

/// Bodies built so far.
#[derive(Default)]
pub(super) struct Functions(FxHashMap<Function, Body>);

impl Functions {
    /// Returns the body of a function, from the operands' storage words to the result's.
    pub(super) fn body(&mut self, function: Function) -> &Body {
        self.0.entry(function).or_insert_with(|| function.body())
    }

    /// Applies `function` to operands that broadcast to `shape`.
    pub(super) fn apply(&mut self, function: Function, operands: &[&Tensor], shape: &Shape) -> Result<Tensor> {
        let body = self.body(function);
        let steps: Vec<SmallVec<[usize; 4]>> = operands.iter().map(|operand| steps(&operand.shape, shape)).collect();
        let mut result = Tensor::zeros(function.result_dtype(), shape.clone())?;
        let (mut words, mut registers) = (Vec::new(), Vec::new());
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, shape.rank());
        for position in 0..result.len() {
            words.clear();
            for (operand, steps) in operands.iter().zip(&steps) {
                let at: usize = index.iter().zip(steps).map(|(i, step)| i * step).sum();
                words.extend(operand.get(at));
            }
            body.eval_in(&words, &mut registers);
            let outputs: SmallVec<[u64; 2]> = body.outputs.iter().map(|reg| registers[reg.index()]).collect();
            result.set(position, &outputs);
            advance(&mut index, shape.extents());
        }
        Ok(result)
    }
}

/// Returns the strides of a C-contiguous operand along each axis of `shape`, in elements: 0 along broadcast axes.
fn steps(operand: &Shape, shape: &Shape) -> SmallVec<[usize; 4]> {
    let strides = operand.contiguous_strides();
    let new = shape.rank() - operand.rank();
    (0..shape.rank())
        .map(|axis| match axis.checked_sub(new) {
            Some(own) if operand.extents()[own] != 1 => strides[own] as usize,
            _ => 0,
        })
        .collect()
}

/// Advances to the next index in C order; wraps to zeros after the last.
pub(super) fn advance(index: &mut [usize], extents: &[usize]) {
    for (i, &extent) in index.iter_mut().zip(extents).rev() {
        *i += 1;
        if *i < extent {
            return;
        }
        *i = 0;
    }
}
