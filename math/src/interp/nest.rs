//! Evaluation of loop nests, of ops or of primitives, on the caller's memory.

use super::elementwise::{Function, Functions, advance};
use super::reduce::empty_result;
use super::tensor::{Tensor, Words};
use crate::{cast_body, load_body, store_body};
use ndjit_ir::body::Body;
use ndjit_ir::dtype::PrimType;
use ndjit_ir::error::{Error, ErrorCode, Result};
use ndjit_ir::kernel::{KernelScatter, OpBody, StmtKind};
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, NestReduce, NestScan, Role};
use ndjit_ir::op::Op;
use ndjit_ir::reduction::{Sort, fold, scan, sorted};
use ndjit_ir::reserve::{collect, filled, reserve};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The memory of a nest. Offsets are in bytes from the start of an operand's buffer.
pub trait NestMemory {
    /// Loads a word of type `ty` at `offset` in the buffer of input `input`, in the low bits.
    fn load(&mut self, input: usize, offset: usize, ty: PrimType) -> u64;

    /// Stores the low bits of `bits` as a word of type `ty` at `offset` in the buffer of output `output`.
    fn store(&mut self, output: usize, offset: usize, ty: PrimType, bits: u64);
}

/// Runs a nest: for each index in C order it loads all inputs, evaluates the body, and stores all outputs; or it
/// reduces, scans or sorts the body's values, and stores the results. `literals` are the bits of the registers of each
/// literal in order (see [`Literal::to_repr`](ndjit_ir::Literal::to_repr)). Instructions hoisted out of the innermost
/// loop are evaluated inside it, which is equivalent in a valid nest.
///
/// The domain is not checked against the memory, which must refuse out-of-bounds offsets itself;
/// [`IterationDomain::verify`] checks it beforehand.
///
/// # Errors
/// `Verify` if the nest is not valid; `Argument` if domain or literals do not match it.
pub fn eval_nest(
    nest: &LoopNest,
    domain: &IterationDomain,
    literals: &[u64],
    memory: &mut impl NestMemory,
) -> Result<()> {
    nest.verify()?;
    check_form(nest, domain, literals)?;
    let body = match &nest.body {
        LoopBody::Ops(body) => {
            let statements = body.stmts.iter().map(|stmt| stmt_body(body, stmt)).collect();
            let stores = body.outputs.iter().map(|&scalar| store_body(body.dtype(scalar))).collect();
            Evaluator::Ops(body, statements, stores)
        }
        LoopBody::Prims { body, .. } => Evaluator::Prims(body),
    };
    let parallel_rank = nest.parallel_rank();
    if domain.extents[..nest.output_rank()].contains(&0) {
        return Ok(());
    }
    let at = |index: &[usize], memory: &mut _| body.at(nest, domain, literals, index, memory);
    let mut functions = Functions::default();
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, nest.rank);
    if let NestKind::Scatter(scatter) = nest.kind {
        return scattered(nest, domain, scatter, memory, at);
    }
    loop {
        let results: Vec<Vec<u64>> = match &nest.kind {
            NestKind::Map | NestKind::Scatter(_) => vec![at(&index, memory)],
            NestKind::Reduce(reduce) | NestKind::Contract(reduce) => {
                vec![reduced(nest, domain, reduce, &mut functions, &mut index, |index| at(index, memory))?]
            }
            NestKind::Scan(NestScan { outputs, .. }) => {
                let mut results = reserve("interpreter", domain.extents[parallel_rank])?;
                let ops: SmallVec<[Op; 1]> = outputs.iter().map(|scan| scan.combine()).collect();
                let meet = |a: Vec<u64>, b: Vec<u64>| combined(nest, &ops, &mut functions, &a, &b);
                let element = |_: usize| along(&mut index[..], parallel_rank, domain, |index| at(index, memory));
                scan(domain.extents[parallel_rank], element, meet, |_, words| results.push(words));
                results
            }
            NestKind::Sort(outputs) => {
                let element = |_: usize| along(&mut index[..], parallel_rank, domain, |index| at(index, memory));
                let elements = collect("interpreter", (0..domain.extents[parallel_rank]).map(element))?;
                sorted_results(nest, outputs, &elements)?
            }
        };
        let meets = nest.kind.loops() > nest.kind.reduction_loops();
        for words in results {
            store(nest, domain, &index, words, memory);
            if meets {
                advance(&mut index[parallel_rank..], &domain.extents[parallel_rank..]);
            }
        }
        advance(&mut index[..parallel_rank], &domain.extents[..parallel_rank]);
        if index.iter().all(|&i| i == 0) {
            return Ok(());
        }
    }
}

/// Returns the words at an index, which then advances along the loops from `parallel_rank` on.
fn along(
    index: &mut [usize],
    parallel_rank: usize,
    domain: &IterationDomain,
    mut at: impl FnMut(&[usize]) -> Vec<u64>,
) -> Vec<u64> {
    let words = at(index);
    advance(&mut index[parallel_rank..], &domain.extents[parallel_rank..]);
    words
}

/// Copies the rows of a scatter's array, and scatters elements into them.
fn scattered<M: NestMemory>(
    nest: &LoopNest,
    domain: &IterationDomain,
    KernelScatter { scatter, into }: KernelScatter,
    memory: &mut M,
    mut at: impl FnMut(&[usize], &mut M) -> Vec<u64>,
) -> Result<()> {
    let wrong = |what: String| Error::new(ErrorCode::Argument, format!("loop interpreter: {what}"));
    let (all, from) = domain.with_rows(into as usize).map_err(wrong)?;
    let access = nest.outputs[0];
    let (_, to) = domain.with_rows_of_output(&access, &domain.outputs[0], into).map_err(wrong)?;
    let words = Access::memory(access.dtype, access.inner);
    let mut elements: FxHashMap<usize, Vec<u64>> = FxHashMap::default();
    let place = |index: &[usize], layout: &Layout| word_offsets(&words, layout, index).collect::<Vec<_>>();
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, nest.rank + 1);
    let rows = all.extents[nest.rank];
    let mut more = rows > 0;
    while more {
        let read: Vec<u64> =
            place(&index, &from).into_iter().map(|(offset, ty)| memory.load(into as usize, offset, ty)).collect();
        elements.insert(place(&index, &to)[0].0, read);
        advance(&mut index, &all.extents);
        more = index.iter().any(|&i| i != 0);
    }
    let mut functions = Functions::default();
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, nest.rank);
    loop {
        let mut made = at(&index, memory);
        let position = made.pop().map_or(-1, |position| position as i64);
        if (0..rows as i64).contains(&position) {
            let own: SmallVec<[usize; 4]> = index.iter().copied().chain([position as usize]).collect();
            let element = elements.entry(place(&own, &to)[0].0).or_default();
            *element = match scatter.combine() {
                None => made,
                Some(op) => functions.body(Function::Op(op, access.dtype)).eval(&[&element[..], &made].concat()),
            };
        }
        advance(&mut index, &domain.extents);
        if index.iter().all(|&i| i == 0) {
            break;
        }
    }
    for (offset, element) in elements {
        let mut offset = offset;
        for (&ty, bits) in access.dtype.storage().iter().zip(element) {
            memory.store(0, offset, ty, bits);
            offset += ty.bytes();
        }
    }
    Ok(())
}

/// Stores the words of all outputs at an index.
fn store(nest: &LoopNest, domain: &IterationDomain, index: &[usize], words: Vec<u64>, memory: &mut impl NestMemory) {
    let mut words = words.into_iter();
    for (n, (access, layout)) in nest.outputs.iter().zip(&domain.outputs).enumerate() {
        let own: SmallVec<[u64; 2]> = words.by_ref().take(access.dtype.storage().len()).collect();
        let at = match access.role {
            Role::Memory => Some(offset(layout, index)),
            Role::Rows => words.as_slice().first().map(|&address| address as usize).filter(|&at| at != usize::MAX),
            Role::Index => None,
        };
        let Some(mut at) = at else { continue };
        for (&ty, bits) in access.dtype.storage().iter().zip(own) {
            memory.store(n, at, ty, bits);
            at = at.wrapping_add(ty.bytes());
        }
    }
}

/// Combines the storage words of all outputs with others.
fn combined(nest: &LoopNest, ops: &[Op], functions: &mut Functions, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut met = Vec::with_capacity(a.len());
    for (&op, access) in ops.iter().zip(&nest.outputs) {
        let words = met.len()..met.len() + access.dtype.storage().len();
        let body = functions.body(Function::Op(op, access.dtype));
        met.extend(body.eval(&[&a[words.clone()], &b[words]].concat()));
    }
    met
}

/// Returns the storage words of all outputs at each sorted index, from those of the elements.
fn sorted_results(nest: &LoopNest, sorts: &[Sort], elements: &[Vec<u64>]) -> Result<Vec<Vec<u64>>> {
    let mut results = filled("interpreter", Vec::new(), elements.len())?;
    // Verified sorts have bodies of ops.
    let LoopBody::Ops(body) = &nest.body else { return Ok(results) };
    let mut start = 0;
    for (&sort, &scalar) in sorts.iter().zip(&body.outputs) {
        let dtype = body.dtype(scalar);
        let words = start..start + dtype.storage().len();
        start = words.end;
        let load = load_body(dtype);
        let registers = collect("interpreter", elements.iter().map(|element| load.eval(&element[words.clone()])))?;
        for (result, from) in results.iter_mut().zip(sorted(dtype, &registers)?) {
            match sort {
                Sort::ArgSort => result.push(from as u64),
                Sort::Sort => result.extend(&elements[from][words.clone()]),
            }
        }
    }
    Ok(results)
}

/// Reduces the elements at an index of the parallel loops. Returns the storage words of all outputs.
fn reduced(
    nest: &LoopNest,
    domain: &IterationDomain,
    reduce: &NestReduce,
    functions: &mut Functions,
    index: &mut [usize],
    mut at: impl FnMut(&[usize]) -> Vec<u64>,
) -> Result<Vec<u64>> {
    let parallel_rank = nest.parallel_rank();
    let len: usize = domain.extents[parallel_rank..].iter().product();
    // Verified reductions are elementary.
    let ops: SmallVec<[Op; 1]> = reduce.outputs.iter().filter_map(|reduction| reduction.combine()).collect();
    let meet = |a: Vec<u64>, b: Vec<u64>| combined(nest, &ops, functions, &a, &b);
    // Elements are read in row-major order.
    let element = |_| along(index, parallel_rank, domain, &mut at);
    if let Some(words) = fold(len, element, meet) {
        return Ok(words);
    }
    let mut words = Vec::new();
    for (&reduction, access) in reduce.outputs.iter().zip(&nest.outputs) {
        words.extend(empty_result(reduction, access.dtype)?);
    }
    Ok(words)
}

fn check_form(nest: &LoopNest, domain: &IterationDomain, literals: &[u64]) -> Result<()> {
    let error = |what: String| Err(Error::new(ErrorCode::Argument, format!("loop interpreter: {what}")));
    let registers: usize = nest.literals.iter().map(|dtype| dtype.repr().len()).sum();
    if literals.len() != registers {
        return error(format!("the literals have {registers} registers, {} given", literals.len()));
    }
    if domain.inputs.len() != nest.inputs.len() || domain.outputs.len() != nest.outputs.len() {
        return error("the domain has another number of operands than the nest".to_owned());
    }
    let ranks = domain.inputs.iter().chain(&domain.outputs).map(|layout| layout.strides.len());
    match ranks.chain([domain.extents.len()]).find(|&rank| rank != nest.rank) {
        Some(rank) => error(format!("{rank} extents or strides for {} loops", nest.rank)),
        None => Ok(()),
    }
}

/// Returns the offset of the element at `index`.
fn offset(layout: &Layout, index: &[usize]) -> usize {
    let steps = index.iter().zip(&layout.strides);
    steps.fold(layout.offset, |at, (&i, &stride)| at.wrapping_add(i.wrapping_mul(stride as usize)))
}

/// Returns offset and type of each storage word of the element at `index`.
fn word_offsets(access: &Access, layout: &Layout, index: &[usize]) -> impl Iterator<Item = (usize, PrimType)> + use<> {
    let mut at = offset(layout, index);
    access.words().iter().map(move |&ty| {
        let offset = at;
        at = at.wrapping_add(ty.bytes());
        (offset, ty)
    })
}

enum Evaluator<'a> {
    /// The statements' bodies beside the statements, and those that store the outputs.
    Ops(&'a OpBody, Vec<Body>, Vec<Body>),
    Prims(&'a Body),
}

impl Evaluator<'_> {
    /// Evaluates the body at one index. Returns the storage words of the outputs.
    fn at(
        &self,
        nest: &LoopNest,
        domain: &IterationDomain,
        literals: &[u64],
        index: &[usize],
        memory: &mut impl NestMemory,
    ) -> Vec<u64> {
        let mut words = Vec::new();
        for (n, (access, layout)) in nest.inputs.iter().zip(&domain.inputs).enumerate() {
            for (offset, ty) in word_offsets(access, layout, index) {
                words.push(if access.role == Role::Memory { memory.load(n, offset, ty) } else { offset as u64 });
            }
        }
        self.eval(nest, &words, literals, memory)
    }

    /// Evaluates the body on the inputs' storage words and the literals' registers. Returns the outputs' storage words.
    fn eval(&self, nest: &LoopNest, words: &[u64], literals: &[u64], memory: &mut impl NestMemory) -> Vec<u64> {
        let mut load = |input, offset, ty| memory.load(input, offset, ty);
        match self {
            Evaluator::Prims(body) => {
                let mut regs = Vec::new();
                body.eval_with(&[words, literals].concat(), &mut regs, &mut load);
                body.outputs.iter().map(|output| regs[output.index()]).collect()
            }
            Evaluator::Ops(body, bodies, stores) => {
                let mut scalars: Vec<Words> = Vec::new();
                for (stmt, evaluated) in body.stmts.iter().zip(bodies) {
                    let arguments: Vec<u64> = match stmt.kind {
                        StmtKind::Load(n) => nth(&nest.inputs, Access::words, words, n).to_vec(),
                        StmtKind::Gather(n) => {
                            let told = |n| nth(&nest.inputs, Access::words, words, n)[0];
                            let (last, step) = (told(n + 1) as i64, told(n + 2));
                            let row = (scalars[stmt.args[0].index()][0] as i64).min(last).max(0) as u64;
                            let mut at = told(n).wrapping_add(row.wrapping_mul(step)) as usize;
                            let mut word = |&ty: &PrimType| {
                                let word = load(n as usize, at, ty);
                                at = at.wrapping_add(ty.bytes());
                                word
                            };
                            stmt.dtype.storage().iter().map(&mut word).collect()
                        }
                        StmtKind::Address(n) => {
                            let told = |n| nth(&nest.inputs, Access::words, words, n)[0];
                            let row = scalars[stmt.args[0].index()][0] as i64;
                            let inside = (0..=told(n + 1) as i64).contains(&row);
                            vec![if inside {
                                told(n).wrapping_add((row as u64).wrapping_mul(told(n + 2)))
                            } else {
                                u64::MAX
                            }]
                        }
                        StmtKind::Literal(n) => nth(&nest.literals, |dtype| dtype.repr(), literals, n).to_vec(),
                        StmtKind::Op(_) | StmtKind::Cast => {
                            stmt.args.iter().flat_map(|arg| scalars[arg.index()].iter().copied()).collect()
                        }
                    };
                    scalars.push(Words::from_vec(evaluated.eval(&arguments)));
                }
                let outputs = body.outputs.iter().zip(stores);
                outputs.flat_map(|(scalar, store)| store.eval(&scalars[scalar.index()])).collect()
            }
        }
    }
}

/// Returns the words of operand `n`, where each operand has as many as its `parts`.
fn nth<'a, T>(operands: &[T], parts: fn(&T) -> &'static [PrimType], words: &'a [u64], n: u32) -> &'a [u64] {
    let before: usize = operands[..n as usize].iter().map(|operand| parts(operand).len()).sum();
    &words[before..before + parts(&operands[n as usize]).len()]
}

/// Creates the body of a statement. A literal comes in registers, and is cast to its dtype.
fn stmt_body(body: &OpBody, stmt: &ndjit_ir::kernel::Stmt) -> Body {
    match stmt.kind {
        StmtKind::Load(_) | StmtKind::Gather(_) | StmtKind::Address(_) => load_body(stmt.dtype),
        StmtKind::Literal(_) => cast_body(stmt.dtype, stmt.dtype),
        StmtKind::Op(op) => crate::body(op, body.compute_dtype(stmt, op)),
        StmtKind::Cast => cast_body(body.dtype(stmt.args[0]), stmt.dtype),
    }
}

/// Tensors as memory: input and output `n` is the tensor at that index, for any dtypes of the nest.
pub struct Tensors<'a> {
    /// The inputs.
    pub inputs: &'a [Tensor],
    /// The outputs.
    pub outputs: &'a mut [Tensor],
}

impl NestMemory for Tensors<'_> {
    /// # Panics
    /// If the offset is out of bounds.
    fn load(&mut self, input: usize, offset: usize, ty: PrimType) -> u64 {
        super::tensor::read_word(&self.inputs[input].bytes, offset, ty)
    }

    /// # Panics
    /// If the offset is out of bounds.
    fn store(&mut self, output: usize, offset: usize, ty: PrimType, bits: u64) {
        super::tensor::write_word(&mut self.outputs[output].bytes, offset, ty, bits);
    }
}
