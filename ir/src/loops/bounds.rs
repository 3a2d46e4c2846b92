//! Bounds checks of a nest with a domain, once before a kernel runs: the kernel itself has none. Success allocates nothing. Sums are
//! taken in `i128` and saturate.
//!
//! A domain is valid for a nest if
//!
//! - it has the nest's numbers of loops and operands;
//! - the number of indices is at most `isize::MAX`;
//! - a contiguous or broadcast operand has that stride along the innermost loop;
//! - every byte read or written lies in its buffer, for gathered operands, and outputs at addresses, those of all rows (no byte is, if an
//!   extent is 0);
//! - bounds and strides of rows are broadcast along all loops;
//! - no two indices write the same byte of an output without an address, so stores may be in any order, or parallel. The check is stricter: ordered by
//!   size, each stride is at least the span of all smaller axes.
//!
//! Not checked: overlapping buffers of different operands.

use super::{Access, IterationDomain, Layout, LoopNest, NestKind, Role, Stride};
use crate::error::Result;
use crate::problems::Problems;
use smallvec::SmallVec;

impl IterationDomain {
    /// Checks that `nest` with this domain stays inside buffers of these sizes in bytes, and writes no byte twice.
    ///
    /// # Errors
    /// `Verify`, one fact per problem.
    pub fn verify(&self, nest: &LoopNest, input_bytes: &[usize], output_bytes: &[usize]) -> Result<()> {
        let mut problems = Problems::default();
        if self.extents.len() != nest.rank {
            problems.note(format!("{} extents for {} loops", self.extents.len(), nest.rank));
        }
        // Extents beyond addressable memory are an error even if another extent is 0.
        let size = self.extents.iter().filter(|&&e| e != 0).try_fold(1usize, |n, &e| n.checked_mul(e));
        if size.is_none_or(|n| n > isize::MAX as usize) {
            problems.note(format!("extents {:?} have more indices than memory can address", self.extents));
        }
        for (prefix, accesses, layouts, buffers) in
            [("in", &nest.inputs, &self.inputs, input_bytes), ("out", &nest.outputs, &self.outputs, output_bytes)]
        {
            if layouts.len() != accesses.len() || buffers.len() != accesses.len() {
                let (accesses, layouts, buffers) = (accesses.len(), layouts.len(), buffers.len());
                problems.note(format!("{accesses} {prefix}puts have {layouts} layouts and {buffers} buffers"));
                continue;
            }
            for (n, ((access, layout), &bytes)) in accesses.iter().zip(layouts).zip(buffers).enumerate() {
                let checked = if let ("out", NestKind::Scatter(scatter)) = (prefix, &nest.kind) {
                    self.check_class(nest, access, layout).and_then(|()| {
                        let (all, layout) = self.with_rows_of_output(access, layout, scatter.into)?;
                        all.check_reach(access, &layout, bytes)
                    })
                } else if prefix == "out" && nest.kind.reduction().is_some() {
                    self.parallel(nest, layout).and_then(|(parallel, layout)| {
                        parallel.check_reach(access, &layout, bytes)?;
                        parallel.check_writes(access, &layout)
                    })
                } else {
                    let reach = self.check_class(nest, access, layout);
                    let reach = reach.and_then(|()| match access.role {
                        Role::Rows => {
                            // Those of an output are an input's, where the body takes the address.
                            let rows = if prefix == "out" { nest.address_of(n).map(|n| n as usize) } else { Some(n) };
                            rows.map_or(Ok(()), |rows| {
                                self.with_rows(rows).and_then(|(all, layout)| all.check_reach(access, &layout, bytes))
                            })
                        }
                        Role::Memory | Role::Index => self.check_reach(access, layout, bytes),
                    });
                    match access.role {
                        Role::Memory if prefix == "out" => reach.and_then(|()| self.check_writes(access, layout)),
                        Role::Memory | Role::Rows | Role::Index => reach,
                    }
                };
                problems.check(checked, || format!("{prefix}{n}: {access}, {layout}"));
            }
        }
        problems.verdict("domain")
    }

    /// The loops with one more over the rows of input `n`, and its layout along them.
    ///
    /// # Errors
    /// The problem of the operands that describe its rows.
    pub fn with_rows(&self, n: usize) -> Result<(IterationDomain, Layout), String> {
        let told = |n: usize| match self.inputs.get(n) {
            Some(layout) if layout.strides.iter().all(|&stride| stride == 0) => Ok(layout.offset as isize),
            Some(_) => Err(format!("in{n} tells of rows and moves")),
            None => Err(format!("in{n}, which tells of rows, is missing")),
        };
        let (last, step) = (told(n + 1)?, told(n + 2)?);
        let Some(mut layout) = self.inputs.get(n).cloned() else { return Err(format!("in{n} is missing")) };
        let mut extents = self.extents.clone();
        extents.push(usize::try_from(last.saturating_add(1)).unwrap_or(0));
        layout.strides.push(step);
        Ok((IterationDomain { extents, ..IterationDomain::default() }, layout))
    }

    /// The loops of a scatter with one more over the rows of its output, which are contiguous, and its layout along them.
    ///
    /// # Errors
    /// The problem of the operands that describe the rows of input `into`.
    pub fn with_rows_of_output(
        &self,
        access: &Access,
        layout: &Layout,
        into: u32,
    ) -> Result<(IterationDomain, Layout), String> {
        let (all, _) = self.with_rows(into as usize)?;
        self.check_rank(layout)?;
        let moving = self.extents.iter().zip(&layout.strides).filter(|(_, stride)| **stride != 0);
        let row = moving.fold(access.dtype.bytes(), |bytes, (&extent, _)| bytes.saturating_mul(extent));
        let mut layout = layout.clone();
        layout.strides.push(isize::try_from(row).unwrap_or(isize::MAX));
        Ok((all, layout))
    }

    /// The parallel loops, which outputs of a reduction move along.
    fn parallel(&self, nest: &LoopNest, layout: &Layout) -> Result<(IterationDomain, Layout), String> {
        let parallel_rank = nest.parallel_rank();
        self.check_rank(layout)?;
        if layout.strides.iter().skip(parallel_rank).any(|&stride| stride != 0) {
            return Err("it moves along a loop that is reduced".to_owned());
        }
        let extents = self.extents.iter().copied().take(parallel_rank).collect();
        let strides = layout.strides.iter().copied().take(parallel_rank).collect();
        Ok((IterationDomain { extents, ..IterationDomain::default() }, Layout { offset: layout.offset, strides }))
    }

    fn check_rank(&self, layout: &Layout) -> Result<(), String> {
        match (layout.strides.len(), self.extents.len()) {
            (strides, loops) if strides == loops => Ok(()),
            (strides, loops) => Err(format!("{strides} strides for {loops} loops")),
        }
    }

    fn check_class(&self, nest: &LoopNest, access: &Access, layout: &Layout) -> Result<(), String> {
        self.check_rank(layout)?;
        let inner = match access.inner {
            Stride::Contiguous => Some(access.dtype.bytes() as isize),
            Stride::Broadcast => Some(0),
            Stride::Strided => None,
        };
        // A stride along a loop of one trip is never used.
        let at = nest.vector_loop();
        if let (Some(inner), Some(&stride), Some(&extent)) = (inner, layout.strides.get(at), self.extents.get(at))
            && extent > 1
            && stride != inner
        {
            return Err(format!("the innermost stride is {stride}, not {inner}"));
        }
        Ok(())
    }

    fn check_reach(&self, access: &Access, layout: &Layout, buffer: usize) -> Result<(), String> {
        if access.is_index() {
            return Ok(());
        }
        let element = access.dtype.bytes();
        let Some((first, end)) = self.span(layout, element) else { return Ok(()) };
        if first < 0 || end > buffer as i128 {
            return Err(format!("bytes {first}..{end} of a buffer of {buffer}"));
        }
        Ok(())
    }

    /// The first byte of an operand and the end; `None` if there are no indices.
    fn span(&self, layout: &Layout, element: usize) -> Option<(i128, i128)> {
        let mut first = layout.offset as i128;
        let mut end = first + element as i128;
        for (&extent, &stride) in self.extents.iter().zip(&layout.strides) {
            let reach = (extent as i128).checked_sub(1).filter(|&n| n >= 0)?.saturating_mul(stride as i128);
            if reach < 0 {
                first = first.saturating_add(reach);
            } else {
                end = end.saturating_add(reach);
            }
        }
        Some((first, end))
    }

    /// Checks that no two indices write the same byte.
    fn check_writes(&self, access: &Access, layout: &Layout) -> Result<(), String> {
        if self.extents.contains(&0) {
            return Ok(());
        }
        let axes = self.extents.iter().zip(&layout.strides).enumerate();
        let mut steps: SmallVec<[(u128, usize, usize); 4]> = axes
            .filter(|(_, (extent, _))| **extent > 1)
            .map(|(axis, (&e, &s))| (s.unsigned_abs() as u128, axis, e))
            .collect();
        steps.sort_unstable();
        let mut span = access.dtype.bytes() as u128;
        for (stride, axis, extent) in steps {
            if stride < span {
                return Err(format!("indices along loop i{axis} write the same bytes: stride {stride}, span {span}"));
            }
            span = span.saturating_add(stride.saturating_mul(extent as u128 - 1));
        }
        Ok(())
    }
}
