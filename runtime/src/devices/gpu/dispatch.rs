//! The dispatches of a kernel: its steps, with their bindings and parameters.

use super::chunks::{self, DispatchChunk, Window};
use super::device::Gpu;
use super::pipeline::Pipeline;
use ndjit_codegen::wgsl::{self, Binding, DispatchHeader, DispatchKind, LEAVES, Pieces, WORKGROUP};
use ndjit_ir::loops::{IterationDomain, LoopNest, NestKind};
use ndjit_ir::reduction::{BLOCK, LANES};
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// Memory bound by a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundMemory {
    /// The kernel's input of this number.
    Input(usize),
    /// The kernel's output of this number.
    Output(usize),
    /// Partial results of the kernel, by number.
    Partial(usize),
}

/// One dispatch.
#[derive(Debug)]
pub struct Dispatch {
    pub step: DispatchKind,
    pub pipeline: Arc<Pipeline>,
    /// The bindings 1, 2, ….
    pub bound: SmallVec<[(BoundMemory, Window); 4]>,
    /// Workgroups along x and y.
    pub groups: (u32, u32),
    header: DispatchHeader,
    domain: IterationDomain,
    before: SmallVec<[usize; 4]>,
}

impl Dispatch {
    /// The parameters, with the bits of the literals' registers.
    ///
    /// # Errors
    /// `Verify` if they do not fit the nest.
    pub fn params(&self, nest: &LoopNest, literals: &[u64]) -> Result<Vec<u32>> {
        wgsl::params(nest, self.header, &self.domain, &self.before, literals)
    }
}

/// The dispatches of a kernel.
#[derive(Debug, Default)]
pub struct Dispatches {
    pub all: Vec<Dispatch>,
    /// Bytes of partial results, multiples of 16.
    pub partials: Vec<usize>,
}

impl Dispatches {
    /// Cuts a kernel and compiles its steps. `sizes` are the bytes of its outputs.
    ///
    /// # Errors
    /// `Size` if the device cannot bind the memory of one index; those of [`Gpu::pipeline`].
    pub fn new(gpu: &Gpu, nest: &LoopNest, domain: &IterationDomain, sizes: &[usize]) -> Result<Dispatches> {
        let mut dispatches = Dispatches::default();
        if domain.extents.contains(&0) {
            return Ok(dispatches);
        }
        let chunks = chunks::cut(nest, domain, gpu.max_binding)?;
        let mut builder = Builder { gpu, nest, dispatches: &mut dispatches };
        // Parts of the same rows are adjacent.
        let rows = |a: &DispatchChunk, b: &DispatchChunk| a.blocks.end == b.blocks.start && b.blocks.start > 0;
        match &nest.kind {
            NestKind::Map => chunks.into_iter().try_for_each(|chunk| builder.elements(chunk, sizes))?,
            NestKind::Reduce(_) | NestKind::Contract(_) => {
                chunks.chunk_by(rows).try_for_each(|rows| builder.reduce(rows))?;
            }
            NestKind::Scan(_) => chunks.chunk_by(rows).try_for_each(|rows| builder.scan(rows))?,
            NestKind::Sort(_) | NestKind::Scatter(_) => {
                return Err(Error::new(ErrorCode::Verify, "gpu: there is no shader that sorts or scatters"));
            }
        }
        Ok(dispatches)
    }
}

struct Builder<'a> {
    gpu: &'a Gpu,
    nest: &'a LoopNest,
    dispatches: &'a mut Dispatches,
}

impl Builder<'_> {
    fn elements(&mut self, chunk: DispatchChunk, sizes: &[usize]) -> Result<()> {
        let packed = packed(self.nest, &chunk, sizes);
        let count = chunks::rows(self.nest, &chunk.domain);
        let header = DispatchHeader { len: count as u32, ..DispatchHeader::default() };
        self.add(DispatchKind::Elements { packed }, &chunk, header, count, &[], &[])
    }

    /// Blocks are reduced per lane, then combined in a tree.
    fn reduce(&mut self, chunks: &[DispatchChunk]) -> Result<()> {
        let Some(DispatchChunk { domain, .. }) = chunks.first() else { return Ok(()) };
        let elements = self.length(domain)?;
        let (rows, blocks) = (chunks::rows(self.nest, domain), (elements as usize).div_ceil(BLOCK));
        let last = blocks == 1;
        let mut partial = if last { Vec::new() } else { self.partial(rows, blocks)? };
        for chunk in chunks {
            let header = DispatchHeader {
                rows: rows as u32,
                blocks: chunk.blocks.len() as u32,
                len: elements,
                first: chunk.blocks.start as u32,
                all: blocks as u32,
                ..DispatchHeader::default()
            };
            let count = rows * chunk.blocks.len();
            self.add(DispatchKind::Lanes { last }, chunk, header, count, &[], &partial)?;
        }
        let mut leaves = blocks;
        while leaves > 1 {
            let groups = leaves.div_ceil(LEAVES);
            let last = groups == 1;
            let next = if last { Vec::new() } else { self.partial(rows, groups)? };
            let header = DispatchHeader { rows: rows as u32, blocks: leaves as u32, ..DispatchHeader::default() };
            self.add(DispatchKind::Tree { last }, &chunks[0], header, rows * groups, &partial, &next)?;
            (partial, leaves) = (next, groups);
        }
        Ok(())
    }

    /// Blocks are scanned, then their totals, which are then combined with all but the first block.
    fn scan(&mut self, chunks: &[DispatchChunk]) -> Result<()> {
        let Some(DispatchChunk { domain, .. }) = chunks.first() else { return Ok(()) };
        let len = self.length(domain)?;
        let (rows, blocks) = (chunks::rows(self.nest, domain), (len as usize).div_ceil(BLOCK));
        let last = blocks == 1;
        let totals = if last { Vec::new() } else { self.partial(rows, blocks)? };
        let header = DispatchHeader { rows: rows as u32, blocks: blocks as u32, len, ..DispatchHeader::default() };
        for chunk in chunks {
            let header = DispatchHeader { first: chunk.blocks.start as u32, ..header };
            self.add(DispatchKind::Local { last }, chunk, header, rows * chunk.blocks.len(), &[], &totals)?;
        }
        if last {
            return Ok(());
        }
        let carries = self.partial(rows, blocks)?;
        self.add(DispatchKind::Carries, &chunks[0], header, rows, &totals, &carries)?;
        for chunk in chunks {
            // The first block has no carry.
            let first = chunk.blocks.start.max(1);
            let elements = (chunk.blocks.end * BLOCK).min(len as usize).saturating_sub(first * BLOCK);
            let header = DispatchHeader { first: first as u32, ..header };
            self.add(DispatchKind::Carried, chunk, header, rows * elements, &carries, &[])?;
        }
        Ok(())
    }

    /// The number of elements of a row, as a 32-bit counter.
    fn length(&self, domain: &IterationDomain) -> Result<u32> {
        let elements = chunks::reduced(self.nest, domain);
        u32::try_from(elements).ok().filter(|&n| n <= u32::MAX - BLOCK as u32).ok_or_else(|| {
            Error::new(ErrorCode::Size, "gpu: a reduction or a scan of more than 2^32 - 1024 elements to one")
                .fact(format_args!("elements: {elements}"))
                .help("reduce along one axis after the other, or on the CPU")
        })
    }

    /// Partial results of all outputs.
    fn partial(&mut self, rows: usize, blocks: usize) -> Result<Vec<usize>> {
        let first = self.dispatches.partials.len();
        for access in &self.nest.outputs {
            let bytes = rows.checked_mul(blocks).and_then(|count| count.checked_mul(access.dtype.bytes().max(4)));
            let bytes = bytes.and_then(|bytes| bytes.checked_next_multiple_of(16)).ok_or_else(|| {
                Error::new(ErrorCode::Size, "gpu: partial results have more bytes than there are addresses")
            })?;
            self.dispatches.partials.push(bytes);
        }
        Ok((first..self.dispatches.partials.len()).collect())
    }

    fn add(
        &mut self,
        step: DispatchKind,
        chunk: &DispatchChunk,
        header: DispatchHeader,
        count: usize,
        from: &[usize],
        to: &[usize],
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let max = self.gpu.max_binding as usize;
        let inputs = self.nest.inputs.len();
        let counts: Vec<u32> = match step {
            DispatchKind::Elements { .. } | DispatchKind::Lanes { .. } | DispatchKind::Local { .. } => {
                chunk.windows[..inputs].iter().map(|window| window.size.div_ceil(max).max(1) as u32).collect()
            }
            DispatchKind::Tree { .. } | DispatchKind::Carries | DispatchKind::Carried => Vec::new(),
        };
        let pieces = match counts.iter().all(|&count| count == 1) {
            true => Pieces::default(),
            false => Pieces { bytes: max as u64, counts },
        };
        // The driver's message would have internal numbers.
        let bindings = wgsl::bindings(self.nest, step, &pieces).len();
        if bindings > self.gpu.max_arrays() {
            return Err(self.too_many(bindings, chunk));
        }
        let pipeline = self.gpu.pipeline(self.nest, step, &pieces)?;
        let count = count.div_ceil(pipeline.elements as usize);
        let per_group =
            if let DispatchKind::Lanes { .. } = step { WORKGROUP as usize / LANES } else { WORKGROUP as usize };
        let groups = count.div_ceil(per_group);
        let x = groups.min(self.gpu.limits.max_compute_workgroups_per_dimension as usize);
        let y = groups.div_ceil(x);
        let whole = |n: usize| Window { start: 0, size: self.dispatches.partials[n] };
        let piece = |window: Window, n: u32| {
            let start = n as usize * max;
            Window { start: window.start + start, size: (window.size - start).min(max) }
        };
        let bound: SmallVec<[(BoundMemory, Window); 4]> = pipeline
            .bindings
            .iter()
            .map(|&binding| match binding {
                Binding::Input(n) => (BoundMemory::Input(n), piece(chunk.windows[n], 0)),
                Binding::Piece(n, k) => (BoundMemory::Input(n), piece(chunk.windows[n], k)),
                Binding::Output(n) => (BoundMemory::Output(n), chunk.windows[inputs + n]),
                Binding::PartialIn(n) => (BoundMemory::Partial(from[n]), whole(from[n])),
                Binding::PartialOut(n) => (BoundMemory::Partial(to[n]), whole(to[n])),
            })
            .collect();
        if let Some((_, window)) = bound.iter().find(|(_, window)| window.size as u64 > self.gpu.max_binding) {
            return Err(Error::new(
                ErrorCode::Size,
                "gpu: partial results have more bytes than the device binds at once",
            )
            .fact(format_args!("{} bytes, at most {}", window.size, self.gpu.max_binding))
            .help(chunks::WAYS_OUT));
        }
        let before = chunk.windows.iter().map(|window| window.start).collect();
        let header = DispatchHeader { count: count as u32, ..header };
        let domain = chunk.domain.clone();
        self.dispatches.all.push(Dispatch {
            step,
            pipeline,
            bound,
            groups: (x as u32, y as u32),
            header,
            domain,
            before,
        });
        Ok(())
    }
}

impl Builder<'_> {
    fn too_many(&self, bindings: usize, chunk: &DispatchChunk) -> Error {
        let (max, most) = (self.gpu.max_binding as usize, self.gpu.max_arrays());
        let headline = format!("gpu: a kernel needs {bindings} bindings, the device has {most}");
        let error = Error::new(ErrorCode::Size, headline);
        let large = chunk.windows[..self.nest.inputs.len()].iter().enumerate().filter(|(_, window)| window.size > max);
        let error = large.fold(error, |error, (n, &Window { size, .. })| {
            let pieces = size.div_ceil(max);
            error.fact(format_args!(
                "in{n}: what is read at once lies within {size} bytes, {pieces} pieces of {max} bytes"
            ))
        });
        error.help(chunks::WAYS_OUT)
    }
}

/// Whether subword results fill whole words: dense, from the start of a word to the end of one or of the memory.
fn packed(nest: &LoopNest, chunk: &DispatchChunk, sizes: &[usize]) -> bool {
    let outputs = nest.outputs.iter().zip(&chunk.domain.outputs).zip(sizes);
    if outputs.clone().all(|((access, _), _)| access.dtype.bytes() >= 4) {
        return false;
    }
    let mut all = outputs;
    all.all(|((access, layout), &size)| {
        let mut step = access.dtype.bytes();
        let dense = chunk.domain.extents.iter().zip(&layout.strides).rev().all(|(&extent, &stride)| {
            let fits = extent == 1 || usize::try_from(stride) == Ok(step);
            step *= extent;
            fits
        });
        let end = layout.offset + step;
        dense && (access.dtype.bytes() >= 4 || layout.offset % 4 == 0 && (end % 4 == 0 || end == size))
    })
}
