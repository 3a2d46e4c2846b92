//! The verifier of loop nests. It checks that
//!
//! - there is at least one loop, and at least one output;
//! - outputs move along the innermost loop, and have memory; what a map stores in rows has an address after it, in rows of its dtype;
//! - a nest that reduces has reduced loops, an elementary reduction of each output's dtype, and vectors along a parallel loop only if it
//!   has one; a nest that scans has a scan for each output, along one loop; a nest that sorts has a sort for each, vectors along that
//!   loop and a body of ops;
//! - indices are `i64`; two of them follow a gathered input;
//! - a body of ops is valid, with the nest's inputs, literals and outputs;
//! - a body of primitives is valid, takes the storage words of each input and the registers of each literal, in
//!   order, and gives the storage words of each output;
//! - hoisted instructions use only literals, inputs broadcast along the innermost loop, and other hoisted ones; they gather nothing if the
//!   nest stores at addresses.
//!
//! [`IterationDomain`](super::IterationDomain) has the checks of bounds.

use super::{Access, LoopBody, LoopNest, NestKind, NestReduce, Role, Stride, VectorLoop};
use crate::body::{Body, Inst, InstKind};
use crate::dtype::{DType, PrimType};
use crate::error::{Error, ErrorCode, Result};
use crate::kernel::{KernelScatter, OpBody, StmtKind, check_body, output_dtype};
use crate::problems::Problems;
use crate::reduction::{AxisFunction, Reduction};

impl LoopNest {
    /// Checks the nest's invariants.
    ///
    /// # Errors
    /// `Verify`, one fact per problem.
    pub fn verify(&self) -> Result<()> {
        let mut problems = Problems::default();
        if self.rank == 0 {
            problems.note("a nest has at least one loop".to_owned());
        }
        if self.outputs.is_empty() {
            problems.note("a nest has at least one output".to_owned());
        }
        let scatters = matches!(self.kind, NestKind::Scatter(_));
        let still = |access: &Access| access.inner == Stride::Broadcast && access.role == Role::Memory;
        for (n, _) in self.outputs.iter().enumerate().filter(|(_, access)| still(access)) {
            problems.note(format!("out{n} does not move along the innermost loop"));
        }
        let is_index = |access: &&Access| access.is_index();
        if self.inputs.iter().chain(&self.outputs).filter(is_index).any(|access| access.dtype != DType::I64) {
            problems.note("indices are i64".to_owned());
        }
        self.check_roles(&mut problems);
        for (n, _) in self.inputs.iter().enumerate().filter(|(_, access)| access.role == Role::Rows) {
            let told = |n: usize| self.inputs.get(n).is_some_and(|access| access.is_index());
            if !told(n + 1) || !told(n + 2) {
                problems.note(format!("in{n}: the last row and the step between rows do not follow"));
            }
        }
        match &self.kind {
            NestKind::Map => {}
            NestKind::Reduce(reduce) => self.check_reduce(reduce, &mut problems),
            NestKind::Contract(reduce) => {
                self.check_reduce(reduce, &mut problems);
                let product = matches!(&self.body, LoopBody::Ops(body) if body.is_product());
                if reduce.outputs[..] != [Reduction::Sum] || !product {
                    problems.note(
                        "a nest that contracts sums the products of two arrays, and does nothing else".to_owned(),
                    );
                }
            }
            NestKind::Scan(_) => self.check_accumulates(&mut problems),
            NestKind::Sort(_) => {
                if let LoopBody::Prims { .. } = self.body {
                    problems.note("a nest that sorts has a body of ops: its elements' dtypes are known".to_owned());
                }
                self.check_accumulates(&mut problems);
            }
            NestKind::Scatter(KernelScatter { scatter, into }) => {
                let of = self.inputs.get(*into as usize).filter(|access| access.role == Role::Rows).map(|a| a.dtype);
                let [Access { dtype, .. }] = self.outputs[..] else {
                    return problems
                        .verdict("loop nest")
                        .and(Err(Error::new(ErrorCode::Verify, "a scatter has one output")));
                };
                if of != Some(dtype) || !scatter.takes(dtype) || !matches!(self.body, LoopBody::Ops(_)) {
                    problems.note(format!("scatter {} of {dtype} into in{into}", scatter.name()));
                }
            }
        }
        if self.kind.along() == VectorLoop::Parallel && self.parallel_rank() == 0 {
            problems.note("vectors lie along a loop that is kept, and none is".to_owned());
        }
        match &self.body {
            LoopBody::Ops(body) => {
                check_body(body, &mut problems);
                let inputs: Vec<DType> = self.inputs.iter().map(|access| access.dtype).collect();
                let outputs: Vec<Option<DType>> = self.outputs.iter().map(|access| Some(access.dtype)).collect();
                let mut stored: Vec<Option<DType>> = (0..body.outputs.len()).map(|n| output_dtype(body, n)).collect();
                if let NestKind::Sort(sorts) = &self.kind {
                    for ((stored, access), sort) in stored.iter_mut().zip(&self.outputs).zip(sorts) {
                        // Sorted elements have a dtype of their own.
                        if stored.is_some_and(|element| AxisFunction::Sort(*sort).stores(element, access.dtype)) {
                            *stored = Some(access.dtype);
                        }
                    }
                }
                if scatters && stored.pop() != Some(Some(DType::I64)) {
                    problems.note("a scatter's indices are no i64".to_owned());
                }
                same_types("inputs", &inputs, &body.inputs, &mut problems);
                self.check_gathers(body, &mut problems);
                same_types("literals", &self.literals, &body.literals, &mut problems);
                same_types("outputs", &outputs, &stored, &mut problems);
            }
            LoopBody::Prims { body, hoisted } => self.check_prims(body, *hoisted, &mut problems),
        }
        problems.verdict("loop nest")
    }

    /// Checks that outputs are stored at their index; or a scatter's in its rows; or a map's at the address that the next output is.
    fn check_roles(&self, problems: &mut Problems) {
        let scatters = matches!(self.kind, NestKind::Scatter(_));
        let mut outputs = self.outputs.iter().enumerate();
        while let Some((n, access)) = outputs.next() {
            let sound = match access.role {
                Role::Memory => !scatters,
                Role::Rows if scatters => true,
                Role::Rows => {
                    let address = outputs.next().filter(|(_, next)| next.is_index() && self.kind == NestKind::Map);
                    let of = self.address_of(n).and_then(|input| self.inputs.get(input as usize));
                    let ops = matches!(self.body, LoopBody::Ops(_));
                    address.is_some()
                        && (!ops || of.is_some_and(|of| (of.role, of.dtype) == (Role::Rows, access.dtype)))
                }
                Role::Index => false,
            };
            if !sound {
                problems.note(format!("out{n}: {access} is stored neither at its index nor at an address"));
            }
        }
    }

    fn check_reduce(&self, reduce: &NestReduce, problems: &mut Problems) {
        if !(1..=self.rank).contains(&reduce.loops) {
            problems.note(format!("{} of {} loops are reduced", reduce.loops, self.rank));
        }
        for (n, access) in self.outputs.iter().enumerate().filter(|(_, access)| access.inner != Stride::Contiguous) {
            problems.note(format!("out{n}: a reduction's results are contiguous, not {}", access.inner));
        }
        self.check_accumulates(problems);
    }

    /// Checks that each output has an elementary reduction, a scan or a sort of its dtype.
    fn check_accumulates(&self, problems: &mut Problems) {
        let functions = self.kind.functions();
        if functions != self.outputs.len() {
            problems.note(format!("{functions} reductions of {} outputs", self.outputs.len()));
        }
        for (n, access) in self.outputs.iter().enumerate() {
            if let Some(function) = self.kind.function(n).filter(|function| !function.accumulates(access.dtype)) {
                problems.note(format!("out{n}: {function} does not accumulate {}", access.dtype));
            }
        }
    }

    /// Checks that rows are gathered, and other operands loaded.
    fn check_gathers(&self, body: &OpBody, problems: &mut Problems) {
        for stmt in &body.stmts {
            let rows = |n: u32| self.inputs.get(n as usize).is_some_and(|access| access.role == Role::Rows);
            match stmt.kind {
                StmtKind::Load(n) if rows(n) => problems.note(format!("in{n} is loaded, not gathered from")),
                StmtKind::Gather(n) | StmtKind::Address(n) if !rows(n) => {
                    problems.note(format!("in{n} is gathered from, or an address is in it, and it has no rows"));
                }
                _ => {}
            }
        }
    }

    fn check_prims(&self, body: &Body, hoisted: usize, problems: &mut Problems) {
        if let Err(error) = body.verify() {
            problems.note(error.headline().to_owned());
            error.facts().iter().for_each(|fact| problems.note(fact.clone()));
            return;
        }
        let words = self.inputs.iter().flat_map(|access| access.words());
        let inputs: Vec<PrimType> = words.chain(self.literals.iter().flat_map(|dtype| dtype.repr())).copied().collect();
        let outputs: Vec<PrimType> = self.outputs.iter().flat_map(|access| access.dtype.storage()).copied().collect();
        let stored: Vec<PrimType> = body.output_types().collect();
        same_types("input registers", &inputs, body.input_types(), problems);
        same_types("output registers", &outputs, &stored, problems);
        if hoisted > body.insts.len() {
            problems.note(format!("{hoisted} instructions are hoisted, the body has {}", body.insts.len()));
        } else if body.inputs == inputs.len() {
            self.check_hoisted(body, &body.insts[..hoisted], problems);
            self.check_rows(body, problems);
        }
    }

    /// Checks that gathers read words of operands with rows, with the registers of their bounds and strides.
    fn check_rows(&self, body: &Body, problems: &mut Problems) {
        let mut first = Vec::with_capacity(self.inputs.len());
        self.inputs.iter().fold(0, |at, access| {
            first.push(at);
            at + access.words().len()
        });
        for inst in &body.insts {
            let InstKind::Gather { input, word } = inst.kind else { continue };
            let n = input as usize;
            let sound = self.inputs.get(n).filter(|access| access.role == Role::Rows).is_some_and(|access| {
                let told = [(0, n), (2, n + 1), (3, n + 2)];
                access.dtype.storage().get(word as usize) == Some(&body.ty(inst.first))
                    && told.iter().all(|&(arg, n)| {
                        inst.args.get(arg).map(|reg| reg.index()) == first.get(n).copied() && first.get(n).is_some()
                    })
            });
            if !sound {
                problems.note(format!("{} gathers from in{input} what that has not", inst.first));
            }
        }
    }

    /// Checks that hoisted instructions depend only on loop invariants.
    fn check_hoisted(&self, body: &Body, hoisted: &[Inst], problems: &mut Problems) {
        let mut invariant = vec![false; body.types.len()];
        let mut reg = 0;
        for access in &self.inputs {
            for _ in access.words() {
                invariant[reg] = access.inner == Stride::Broadcast && self.vector_loop() + 1 == self.rank;
                reg += 1;
            }
        }
        invariant[reg..body.inputs].fill(true);
        for inst in hoisted {
            if self.stores_at_addresses() && matches!(inst.kind, InstKind::Gather { .. }) {
                problems.note(format!("{} is hoisted, but the rows it reads may change", inst.first));
            }
            if let Some(arg) = inst.args.iter().find(|arg| !invariant[arg.index()]) {
                problems.note(format!("{} is hoisted, but {arg} changes in the innermost loop", inst.first));
            }
            inst.result_regs().for_each(|result| invariant[result.index()] = true);
        }
    }
}

fn same_types<T: PartialEq + std::fmt::Debug>(what: &str, nest: &[T], body: &[T], problems: &mut Problems) {
    if nest != body {
        problems.note(format!("the nest's {what} are {nest:?}, the body's {body:?}"));
    }
}
