//! Split: a nest that reduces, [scans](ScanParts) or [sorts](SortParts) becomes several nests for code generation,
//! depending on [how the target combines](Combining) elements. The driver of a reduction has accumulators, one per
//! output for each lane of each block of [`fold`](ndjit_ir::reduction::fold), and calls
//!
//! - *accumulate* to combine accumulators with elements, *accumulate unrolled* to do so with several in sequence, and *accumulate
//!   jammed* to do so for several results or blocks side by side;
//! - *start* to store elements as the accumulators, if there is no [identity](ndjit_ir::reduction::Reduction::identity)
//!   for their initial value;
//! - *combine* to combine accumulators with others;
//! - *blocks* and *blocks jammed*, if supported, instead of all these: the same bodies, with the accumulators of a block in registers
//!   and its lanes combined, which store one element per block; and *tree*, the same for up to
//!   [`LANES`](ndjit_ir::reduction::LANES) results of blocks.
//!
//! Accumulators are the first inputs and the outputs, in the same memory. Unlike outputs of other nests they do not
//! move along the loop over steps. So [`IterationDomain::verify`](ndjit_ir::loops::IterationDomain::verify) does not apply to them,
//! and the steps are taken in order.

mod part;
mod scan;
mod sort;

pub use part::NestPart;
pub use scan::{JAM, SCAN_LOOPS, ScanLoop, ScanParts};
pub use sort::{SORT_LOOPS, SortLoop, SortParts};

use crate::clif::AccumulatorLayout;
use crate::target::Combining;
use crate::x64::Pairs;
use ndjit_ir::kernel::{OpBody, ScalarId, StmtKind};
use ndjit_ir::loops::{Access, LoopBody, LoopNest, NestKind, NestReduce, Role, Stride, VectorLoop};
use ndjit_ir::{DType, Error, ErrorCode, Op, Reduction, Result, StatementOrigin};
use part::{append, combining, loading};
use smallvec::SmallVec;
use std::fmt;
use std::iter;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Loops of [`ReduceParts::accumulate`] and [`ReduceParts::start`]: two parallel ones, blocks, steps and lanes, in the
/// order of [`ReduceParts::order`].
pub const ACCUMULATE_LOOPS: usize = 5;
/// Loops of [`ReduceParts::combine`]; the accumulators are contiguous along the last.
pub const COMBINE_LOOPS: usize = 3;

/// Steps of [`ReduceParts::accumulate_unrolled`] per trip: accumulators are loaded and stored a [`UNROLL`]th as often.
pub const UNROLL: usize = 4;
/// Streams that [`ReduceParts::accumulate_jammed`] reads at once. With more, cache lines of blocks of `f32` evict each
/// other from the first cache: sums of products were slower with eight than with two.
const STREAMS: usize = 4;
/// The maximum number of statements of a jammed body. Those of mean and variance have 4; longer ones were not measured.
pub(super) const SHORT: usize = 12;

/// A loop of [`ReduceParts::accumulate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// The last but one of the parallel loops.
    Outer,
    /// The last of the parallel loops.
    Parallel,
    /// Blocks of elements.
    Block,
    /// The elements of a lane.
    Step,
    /// Lanes.
    Lane,
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loop::Outer => "outer",
            Loop::Parallel => "parallel",
            Loop::Block => "block",
            Loop::Step => "step",
            Loop::Lane => "lane",
        })
    }
}

/// A kernel for a target: its nests for code generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKernel {
    /// The nest itself: it neither reduces nor scans nor sorts nor scatters.
    Map(Box<NestPart>),
    /// The parts of a reduction or contraction.
    Reduce(Box<ReduceParts>),
    /// The parts of a scan.
    Scan(Box<ScanParts>),
    /// The generated part of a sort.
    Sort(Box<SortParts>),
    /// The updates and then their indices, for a scatter.
    Scatter(Box<NestPart>),
    /// A reduction or scan whose [code combines](Combining::Code) elements.
    Combine {
        /// Computes the elements.
        element: Box<NestPart>,
        /// Combines two elements.
        combine: Box<NestPart>,
    },
}

/// The parts of a reduction, by shared or exclusive reference.
macro_rules! each_part {
    ($parts:expr) => {{
        let ReduceParts {
            accumulate,
            accumulate_unrolled,
            accumulate_jammed,
            outputs: _,
            jam: _,
            blocks,
            blocks_jammed,
            tree,
            start,
            combine,
        } = $parts;
        let more = [accumulate_unrolled, accumulate_jammed, blocks, blocks_jammed, tree, start].into_iter().flatten();
        iter::once(accumulate).chain(more).chain([combine]).collect()
    }};
}

impl TargetKernel {
    /// Returns the nests for code generation.
    pub fn parts(&self) -> Vec<&NestPart> {
        match self {
            TargetKernel::Map(part) | TargetKernel::Scatter(part) => vec![part],
            TargetKernel::Reduce(parts) => each_part!(&**parts),
            TargetKernel::Scan(parts) => {
                [&parts.step, &parts.carry].into_iter().chain(&parts.step_jammed).chain(&parts.rows).collect()
            }
            TargetKernel::Sort(parts) => vec![&parts.elements],
            TargetKernel::Combine { element, combine } => vec![element, combine],
        }
    }

    pub(crate) fn parts_mut(&mut self) -> Vec<&mut NestPart> {
        match self {
            TargetKernel::Map(part) | TargetKernel::Scatter(part) => vec![part],
            TargetKernel::Reduce(parts) => each_part!(&mut **parts),
            TargetKernel::Scan(parts) => {
                let ScanParts { step, carry, step_jammed, rows, .. } = &mut **parts;
                [step, carry].into_iter().chain(step_jammed).chain(rows).collect()
            }
            TargetKernel::Sort(parts) => vec![&mut parts.elements],
            TargetKernel::Combine { element, combine } => vec![element, combine],
        }
    }
}

/// The nests of a nest that reduces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReduceParts {
    /// The elementary reduction of each output.
    pub outputs: SmallVec<[Reduction; 1]>,
    /// `accumulator = combine(accumulator, element)`. Inputs: accumulators, then the nest's; outputs: accumulators.
    pub accumulate: NestPart,
    /// The same for [`UNROLL`] elements in sequence, if accumulators are in memory. Inputs: accumulators, then the
    /// nest's inputs for each step.
    pub accumulate_unrolled: Option<NestPart>,
    /// The same for elements of [`jam`](ReduceParts::jam) blocks or results side by side, with an accumulator each
    /// ("unroll and jam"): each addition waits for the previous one, and if a block's lanes fit one register there is
    /// no other work meanwhile. Inputs: the accumulators of each, then the nest's inputs of each; outputs: the
    /// accumulators.
    pub accumulate_jammed: Option<NestPart>,
    /// The number of jammed blocks or results: one if the nest has too many streams.
    pub jam: NonZeroUsize,
    /// Like `accumulate`, for whole blocks: if elements are contiguous and there is an identity. Inputs: identities,
    /// then the nest's.
    pub blocks: Option<NestPart>,
    /// Like `accumulate_jammed`, for whole blocks.
    pub blocks_jammed: Option<NestPart>,
    /// Combines the results of blocks, up to the number of lanes. Inputs: identities, then the results.
    pub tree: Option<NestPart>,
    /// `accumulator = element`, for the first step, if accumulators cannot begin with an identity.
    pub start: Option<NestPart>,
    /// `a = combine(a, b)`. Inputs: `a` of all outputs, then `b` of all; outputs: `a`.
    pub combine: NestPart,
}

impl ReduceParts {
    /// Returns the order of the loops, outermost first. The innermost is vectorized.
    pub const fn order(along: VectorLoop) -> [Loop; ACCUMULATE_LOOPS] {
        match along {
            VectorLoop::Reduction => [Loop::Outer, Loop::Parallel, Loop::Block, Loop::Step, Loop::Lane],
            VectorLoop::Parallel => [Loop::Outer, Loop::Block, Loop::Step, Loop::Lane, Loop::Parallel],
        }
    }
}

/// Splits a nest of ops.
///
/// # Errors
/// `Verify` if its body is not one of ops, or a reduction is not elementary; `Backend` if the target does not support
/// the nest.
pub(crate) fn split(nest: &LoopNest, combining: Combining) -> Result<TargetKernel> {
    let plain = || NestPart { name: None, ..NestPart::new("", nest.clone(), AccumulatorLayout::Plain) };
    let LoopBody::Ops(body) = &nest.body else {
        return match nest.kind {
            NestKind::Map => Ok(TargetKernel::Map(Box::new(plain()))),
            NestKind::Reduce(_)
            | NestKind::Contract(_)
            | NestKind::Scan(_)
            | NestKind::Sort(_)
            | NestKind::Scatter(_) => {
                Err(Error::new(ErrorCode::Verify, "split: a nest that reduces is split before it is expanded"))
            }
        };
    };
    let dtypes: Vec<DType> = nest.outputs.iter().map(|access| access.dtype).collect();
    if nest.kind.functions() > 0 && body.outputs.len() != dtypes.len() {
        return Err(Error::new(ErrorCode::Verify, "split: the nest's outputs are not those of its body"));
    }
    let by_code = |combine: NestPart| TargetKernel::Combine {
        element: Box::new(NestPart { name: Some("element"), ..plain() }),
        combine: Box::new(NestPart { name: Some("combine"), ..combine }),
    };
    let no_code = |does: &str, help: &str| {
        let headline = format!("split: the target has no code that {does}");
        Err(Error::new(ErrorCode::Backend, headline)
            .help(format!("{help} on the processor: a program of a GPU does so by itself")))
    };
    Ok(match &nest.kind {
        NestKind::Map => TargetKernel::Map(Box::new(plain())),
        NestKind::Scatter(_) if combining == Combining::Code => return no_code("scatters", "scatter"),
        NestKind::Sort(_) if combining == Combining::Code => return no_code("sorts", "sort"),
        NestKind::Scatter(scatter) => {
            let values = dtypes.into_iter().chain([DType::I64]);
            let outputs = values.map(|dtype| Access::memory(dtype, Stride::Contiguous)).collect();
            let mut values = LoopNest { outputs, kind: NestKind::Map, ..nest.clone() };
            let into = scatter.into as usize;
            let reads = |kind: StmtKind| [StmtKind::Load(scatter.into), StmtKind::Gather(scatter.into)].contains(&kind);
            // Only code that reads rows needs them: not all code generators do.
            if let Some(access) = values.inputs.get_mut(into).filter(|_| !body.stmts.iter().any(|s| reads(s.kind))) {
                *access = Access { dtype: DType::I64, inner: Stride::Broadcast, role: Role::Index };
                let mut body = body.as_ref().clone();
                body.inputs[into] = DType::I64;
                values.body = LoopBody::Ops(Arc::new(body));
            }
            TargetKernel::Scatter(Box::new(NestPart::new("values", values, AccumulatorLayout::Plain)))
        }
        NestKind::Sort(sorts) => TargetKernel::Sort(Box::new(sort::split(nest, sorts, body))),
        NestKind::Scan(scan) => {
            let ops = ops(scan.outputs.iter().map(|scan| Some(scan.combine())), dtypes.len())?;
            let parts = scan::split(nest, scan, body, &dtypes, &ops);
            match combining {
                Combining::Driver => TargetKernel::Scan(Box::new(parts)),
                Combining::Code => by_code(parts.carry),
            }
        }
        NestKind::Reduce(reduce) | NestKind::Contract(reduce) => {
            let parts = reduction(nest, reduce, body)?;
            match combining {
                Combining::Driver => TargetKernel::Reduce(Box::new(parts)),
                Combining::Code => by_code(parts.combine),
            }
        }
    })
}

/// Splits a nest that reduces.
fn reduction(nest: &LoopNest, reduce: &NestReduce, body: &Arc<OpBody>) -> Result<ReduceParts> {
    let dtypes: Vec<DType> = nest.outputs.iter().map(|access| access.dtype).collect();
    let ops = ops(reduce.outputs.iter().map(|reduction| reduction.combine()), dtypes.len())?;
    let accumulators: Vec<Access> = dtypes.iter().map(|&dtype| Access::memory(dtype, Stride::Contiguous)).collect();
    let nest_of = |rank: usize, inputs: Vec<Access>, literals: &[DType], body: OpBody| {
        let outputs = accumulators.repeat(body.outputs.len() / dtypes.len().max(1));
        LoopNest::map(rank, inputs, literals, outputs, body)
    };
    let all = [accumulators.clone(), nest.inputs.clone()].concat();
    let accumulate = nest_of(ACCUMULATE_LOOPS, all, &nest.literals, accumulating(body, &dtypes, &ops, 1, 1));
    let unrolled = (reduce.along == VectorLoop::Parallel && body.stmts.len() <= SHORT).then(|| {
        let all = [accumulators.clone(), nest.inputs.repeat(UNROLL)].concat();
        nest_of(ACCUMULATE_LOOPS, all, &nest.literals, accumulating(body, &dtypes, &ops, 1, UNROLL))
    });
    let streams = nest.inputs.iter().filter(|access| access.inner != Stride::Broadcast && !access.is_index()).count();
    let jam = NonZeroUsize::new(STREAMS / streams.max(1)).unwrap_or(NonZeroUsize::MIN);
    let jammed = (jam.get() > 1 && reduce.along == VectorLoop::Reduction && body.stmts.len() <= SHORT).then(|| {
        let all = [accumulators.repeat(jam.get()), nest.inputs.repeat(jam.get())].concat();
        nest_of(ACCUMULATE_LOOPS, all, &nest.literals, accumulating(body, &dtypes, &ops, jam.get(), 1))
    });
    let begins = reduce.outputs.iter().zip(&dtypes).all(|(reduction, &dtype)| reduction.identity(dtype).is_some());
    let start = || nest_of(ACCUMULATE_LOOPS, nest.inputs.clone(), &nest.literals, body.as_ref().clone());
    let combine = nest_of(COMBINE_LOOPS, accumulators.repeat(2), &[], combining(&dtypes, &ops));
    let (form, combining_form) = match reduce.along {
        VectorLoop::Reduction => (AccumulatorLayout::Rows, AccumulatorLayout::Pairs),
        VectorLoop::Parallel => (AccumulatorLayout::Columns, AccumulatorLayout::Plain),
    };
    let whole = |name: &'static str, nest: &LoopNest, pairs: Pairs| {
        let beside = nest.inputs.iter().all(|access| match access.role {
            Role::Memory => access.inner != Stride::Strided,
            Role::Index => true,
            Role::Rows => false,
        });
        (begins && beside && reduce.along == VectorLoop::Reduction).then(|| NestPart {
            wide: true,
            pairs: Some(pairs),
            ..NestPart::new(name, nest.clone(), form)
        })
    };
    Ok(ReduceParts {
        outputs: reduce.outputs.clone(),
        blocks: whole("blocks", &accumulate, Pairs::Halves),
        blocks_jammed: jammed.as_ref().and_then(|nest| whole("blocks jammed", nest, Pairs::Halves)),
        tree: whole("tree", &LoopNest { rank: ACCUMULATE_LOOPS, ..combine.clone() }, Pairs::Neighbours),
        accumulate: NestPart::new("accumulate", accumulate, form),
        accumulate_unrolled: unrolled.map(|nest| NestPart::new("accumulate unrolled", nest, form)),
        accumulate_jammed: jammed.map(|nest| NestPart { wide: true, ..NestPart::new("accumulate jammed", nest, form) }),
        jam,
        start: (!begins).then(|| NestPart::new("start", start(), AccumulatorLayout::Plain)),
        combine: NestPart::new("combine", combine, combining_form),
    })
}

fn ops(ops: impl Iterator<Item = Option<Op>>, outputs: usize) -> Result<Vec<Op>> {
    let ops: Option<Vec<Op>> = ops.collect();
    ops.filter(|ops| ops.len() == outputs)
        .ok_or_else(|| Error::new(ErrorCode::Verify, "split: a nest has an elementary reduction for each output"))
}

/// Returns the body with `beside` sets of accumulators before its inputs. Each is combined with the body's outputs, for
/// `times` sets of inputs.
fn accumulating(body: &OpBody, dtypes: &[DType], ops: &[Op], beside: usize, times: usize) -> OpBody {
    let mut out = loading(&dtypes.repeat(beside));
    let mut accumulators: Vec<ScalarId> = (0..beside * dtypes.len()).map(ScalarId::from_index).collect();
    for own in accumulators.chunks_mut(dtypes.len().max(1)) {
        for _ in 0..times {
            let elements = append(&mut out, body);
            let combined = own.iter_mut().zip(elements).zip(ops.iter().zip(dtypes));
            for (n, ((accumulator, element), (&op, &dtype))) in combined.enumerate() {
                *accumulator =
                    out.push_from(StatementOrigin::Result(n as u32), StmtKind::Op(op), &[*accumulator, element], dtype);
            }
        }
    }
    out.outputs = accumulators;
    out
}
