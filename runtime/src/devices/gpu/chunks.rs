//! The bound windows of arrays, and cuts of loops that keep bindings within the device's limit.
//!
//! A kernel's loops are halved until each operand's window is small enough, where that helps. Loops that are reduced or scanned are
//! not cut; their blocks of elements are.

use ndjit_ir::loops::{IterationDomain, Layout, LoopNest, Role};
use ndjit_ir::reduction::BLOCK;
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::ops::Range;

/// Alignment of bindings: the largest that WebGPU allows devices to require.
const ALIGNMENT: usize = 256;
/// The maximum number of elements per dispatch: invocations have 32-bit numbers.
const MAX_COUNT: usize = 1 << 30;

/// Advice for kernels whose elements are too far apart.
pub const WAYS_OUT: &str = "reduce or scan the last axis of a transposed copy, as `x.mt().reshape([-1]).reshape([columns, rows])` makes one; \
    let more be bound, `GpuOptions { max_binding: None, .. }`; or compute it on the processor: `x.on(Device::CPU)`";

/// The bound window of an operand's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first byte.
    pub start: usize,
    /// Bytes, a multiple of 16.
    pub size: usize,
}

/// A part of a kernel's indices.
#[derive(Clone, Debug)]
pub struct DispatchChunk {
    /// The loops, with offsets from the start of the operands' memory.
    pub domain: IterationDomain,
    /// The blocks of elements, if reduced or scanned.
    pub blocks: Range<usize>,
    /// The window of each operand (inputs, then outputs); empty for an index.
    pub windows: SmallVec<[Window; 4]>,
}

/// Cuts a nest's indices into parts whose windows have at most `max` bytes, where cutting helps: larger inputs are bound in pieces.
///
/// # Errors
/// `Size` if the output of one index, or of one block of elements, needs more.
pub fn cut(nest: &LoopNest, domain: &IterationDomain, max: u64) -> Result<Vec<DispatchChunk>> {
    let elements = reduced(nest, domain);
    let blocks = if nest.kind.loops() > 0 { 0..elements.div_ceil(BLOCK) } else { 0..1 };
    let mut open = vec![(domain.clone(), blocks)];
    let mut chunks = Vec::new();
    while let Some((domain, blocks)) = open.pop() {
        let windows = windows(nest, &domain, &blocks)?;
        let many = count(nest, &domain, &blocks).is_none_or(|count| count > MAX_COUNT);
        match where_to_cut(nest, &domain, &blocks, &windows, max, many) {
            // The second half comes later.
            Some(SplitDimension::Loop(axis)) => {
                let extent = domain.extents[axis];
                let half = extent / 2;
                let middle = if half >= 64 { half.next_multiple_of(64) } else { half };
                open.push((part(nest, &domain, axis, middle..extent), blocks.clone()));
                open.push((part(nest, &domain, axis, 0..middle), blocks));
            }
            Some(SplitDimension::Blocks) => {
                let middle = blocks.start + blocks.len() / 2;
                open.push((domain.clone(), middle..blocks.end));
                open.push((domain, blocks.start..middle));
            }
            None if many || windows[nest.inputs.len()..].iter().any(|window| window.size as u64 > max) => {
                return Err(Error::new(
                    ErrorCode::Size,
                    "a result is spread over more memory than the device can bind at once",
                )
                .of("gpu")
                .fact(format_args!("the device binds {max} bytes"))
                .help(WAYS_OUT));
            }
            None => chunks.push(DispatchChunk { domain, blocks, windows }),
        }
    }
    Ok(chunks)
}

/// The halved part: a loop, or the blocks of elements.
enum SplitDimension {
    Loop(usize),
    Blocks,
}

/// The best cut, if one is needed and helps: along the axis with the largest stride of the largest window.
fn where_to_cut(
    nest: &LoopNest,
    domain: &IterationDomain,
    blocks: &Range<usize>,
    windows: &[Window],
    max: u64,
    many: bool,
) -> Option<SplitDimension> {
    let parallel_rank = nest.parallel_rank();
    let layouts = domain.inputs.iter().chain(&domain.outputs);
    let too_large = windows.iter().zip(layouts).enumerate().filter(|(n, (window, _))| {
        // An input that stays as large is bound in pieces instead, as many for the whole as for a part.
        window.size as u64 > max && (*n >= nest.inputs.len() || lessens(nest, domain, blocks, window, *n, max))
    });
    let too_large = too_large.map(|(_, operand)| operand);
    // Operands that a cut makes smaller, the largest first.
    let mut large: Vec<(&Window, &Layout)> = too_large.collect();
    large.sort_by_key(|(window, _)| std::cmp::Reverse(window.size));
    for (_, layout) in large {
        let span = |axis: usize| (domain.extents[axis] as u128 - 1) * layout.strides[axis].unsigned_abs() as u128;
        let along = (0..parallel_rank).max_by_key(|&axis| span(axis)).filter(|&axis| span(axis) > 0);
        let elements = if blocks.len() > 1 {
            let (low, high) = reach(layout, &domain.extents, domain.extents.len(), 0..0);
            let (own_low, own_high) = reach(layout, &domain.extents[..parallel_rank], parallel_rank, 0..0);
            ((high - low) - (own_high - own_low)) as u128
        } else {
            0
        };
        match along {
            Some(axis) if span(axis) >= elements => return Some(SplitDimension::Loop(axis)),
            _ if elements > 0 => return Some(SplitDimension::Blocks),
            _ => {}
        }
    }
    if !many {
        return None;
    }
    let longest = (0..parallel_rank).max_by_key(|&axis| domain.extents[axis]).filter(|&axis| domain.extents[axis] > 1);
    longest.map(SplitDimension::Loop).or((blocks.len() > 1).then_some(SplitDimension::Blocks))
}

/// Whether cuts make an input's window fit, or need fewer pieces.
fn lessens(
    nest: &LoopNest,
    domain: &IterationDomain,
    blocks: &Range<usize>,
    window: &Window,
    input: usize,
    max: u64,
) -> bool {
    let extents = &domain.extents;
    let elements = if nest.kind.loops() > 0 { 0..BLOCK.min(reduced_of(nest, extents)) } else { 0..1 };
    let one: SmallVec<[usize; 4]> =
        extents.iter().enumerate().map(|(n, &e)| if n < nest.parallel_rank() { 1 } else { e }).collect();
    let (low, high) = reach(&domain.inputs[input], &one, nest.parallel_rank(), elements);
    let (low, high) = with_rows(nest, domain, input, (low, high));
    // A window begins at an aligned offset, and ends after the last element.
    let least = (high - low) as u128 + ALIGNMENT as u128 + 16;
    let pieces = |bytes: u128| bytes.div_ceil(u128::from(max));
    blocks.len() > 1 || pieces(least) < pieces(window.size as u128)
}

/// The number of elements reduced to one, or scanned.
pub fn reduced(nest: &LoopNest, domain: &IterationDomain) -> usize {
    reduced_of(nest, &domain.extents)
}

fn reduced_of(nest: &LoopNest, extents: &[usize]) -> usize {
    extents[nest.parallel_rank()..].iter().fold(1, |n: usize, &extent| n.saturating_mul(extent))
}

/// The number of results or rows.
pub fn rows(nest: &LoopNest, domain: &IterationDomain) -> usize {
    domain.extents[..nest.parallel_rank()].iter().fold(1, |n: usize, &extent| n.saturating_mul(extent))
}

/// The number of indices.
fn count(nest: &LoopNest, domain: &IterationDomain, blocks: &Range<usize>) -> Option<usize> {
    let inner = if nest.kind.loops() > 0 { blocks.len().checked_mul(BLOCK)? } else { 1 };
    rows(nest, domain).checked_mul(inner)
}

/// Some indices of one loop.
fn part(nest: &LoopNest, domain: &IterationDomain, axis: usize, range: Range<usize>) -> IterationDomain {
    let mut domain = domain.clone();
    domain.extents[axis] = range.len();
    debug_assert_eq!(domain.inputs.len(), nest.inputs.len());
    for layout in domain.inputs.iter_mut().chain(&mut domain.outputs) {
        let step = layout.strides[axis].wrapping_mul(range.start as isize);
        layout.offset = layout.offset.wrapping_add_signed(step);
    }
    domain
}

fn windows(nest: &LoopNest, domain: &IterationDomain, blocks: &Range<usize>) -> Result<SmallVec<[Window; 4]>> {
    // A reduced output has strides for the parallel loops only.
    let elements = match nest.kind.loops() {
        0 => 0..1,
        _ => blocks.start * BLOCK..(blocks.end * BLOCK).min(reduced(nest, domain)),
    };
    let operands = nest.inputs.iter().zip(&domain.inputs).chain(nest.outputs.iter().zip(&domain.outputs));
    let window = |(n, (access, layout)): (usize, (&ndjit_ir::loops::Access, &Layout))| {
        if access.is_index() {
            return Ok(Window::default());
        }
        let first = reach(layout, &domain.extents, nest.parallel_rank(), elements.clone());
        let (low, high) = with_rows(nest, domain, n, first);
        let high = high.saturating_add(access.dtype.bytes() as i128);
        let outside = || Error::new(ErrorCode::Verify, "a kernel leaves its memory").of("gpu");
        let start = usize::try_from(low).map_err(|_| outside())? / ALIGNMENT * ALIGNMENT;
        let end = usize::try_from(high).map_err(|_| outside())?;
        Ok(Window { start, size: (end - start).next_multiple_of(16) })
    };
    operands.enumerate().map(window).collect()
}

/// The range of the first row, extended to all rows of a gathered input.
fn with_rows(nest: &LoopNest, domain: &IterationDomain, operand: usize, (low, high): (i128, i128)) -> (i128, i128) {
    if nest.inputs.get(operand).is_none_or(|access| access.role != Role::Rows) {
        return (low, high);
    }
    // The last row and the row stride in bytes follow it.
    let [last, step] =
        [1, 2].map(|n| domain.inputs.get(operand + n).map_or(0, |layout| layout.offset as isize as i128));
    // Without rows the last is before the first.
    let far = last.max(0) * step;
    (low + far.min(0), high + far.max(0))
}

/// The lowest and the highest byte offset of an element, over the parallel loops, and some elements of the others in row-major order.
fn reach(layout: &Layout, extents: &[usize], parallel_rank: usize, elements: Range<usize>) -> (i128, i128) {
    let (mut low, mut high) = (layout.offset as i128, layout.offset as i128);
    let mut along = |axis: usize, range: Range<usize>| {
        let stride = layout.strides[axis] as i128;
        let ends = [range.start as i128 * stride, (range.end as i128 - 1) * stride];
        low += ends[0].min(ends[1]);
        high += ends[0].max(ends[1]);
    };
    for (axis, &extent) in extents.iter().enumerate().take(parallel_rank) {
        along(axis, 0..extent);
    }
    let mut elements = elements;
    for axis in parallel_rank..extents.len() {
        let inner: usize = extents[axis + 1..].iter().product();
        let range = elements.start / inner.max(1)..elements.end.div_ceil(inner.max(1)).max(1);
        // Within one index of this loop the range covers some inner elements, across several any.
        elements = match range.len() {
            1 => elements.start - range.start * inner..elements.end - range.start * inner,
            _ => 0..inner,
        };
        along(axis, range);
    }
    (low, high)
}
