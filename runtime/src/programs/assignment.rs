//! Buffer assignment: the location of each array that kernels store. Arrays with disjoint live ranges share memory.
//!
//! Each result has a buffer; temporaries share one, the *arena*. An output that may take the memory of a dying operand (the plan decides)
//! lies where the operand does: both are one *storage*. Storages are assigned in the order in which they become live, each to the smallest
//! gap that fits: in the buffer of a result that becomes live after they are dead, or in the arena. Time is counted in launches, because
//! the kernels of one launch run tile by tile. Temporaries that live within one such launch have memory for one tile only, which each tile
//! reuses.

use crate::memory::block::ALIGN;
use crate::programs::plan::BufferPlan;
use crate::programs::step_plan::{Location, StepPlan, wrong};
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// The number of result buffers tried for a temporary: those of the last results. It bounds the time for programs of many results.
const TRIED: usize = 64;

/// A buffer of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allocation {
    /// The arena of temporaries.
    Arena,
    /// The buffer of the result with this number.
    Result(usize),
    /// The memory of each tile of the launch with this number.
    Tile(usize),
}

/// The location of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSlice {
    /// The buffer.
    pub allocation: Allocation,
    /// Its first byte there.
    pub offset: usize,
    /// In tile memory, the bytes of each index.
    pub row: usize,
    /// The operand whose memory it takes.
    pub takes: Option<Location>,
}

/// The locations of a program's arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// One per location; parameters lie where their arguments do.
    pub slices: Vec<Option<BufferSlice>>,
    /// Bytes of the arena.
    pub arena: usize,
    /// The last launch that uses the arena.
    pub arena_until: Option<usize>,
    /// The tile memory of each tiled launch.
    pub tiles: Vec<TileMemory>,
}

/// The memory of a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileMemory {
    /// Indices per tile.
    pub indices: usize,
    /// Bytes.
    pub bytes: usize,
}

/// Arrays at the same address, each taking the memory of the previous one.
#[derive(Clone, Copy, Debug)]
struct SharedStorage {
    bytes: usize,
    /// The launch that stores the first array, and the last launch that uses one; results live to the end.
    first: usize,
    last: usize,
    result: Option<usize>,
    /// The launch with the storage in tile memory, and the bytes of each index.
    tile: Option<(usize, usize)>,
}

/// The storages of a plan.
struct Storages {
    all: Vec<SharedStorage>,
    /// For each location its storage, and the operand whose memory it takes.
    of: Vec<Option<(usize, Option<Location>)>>,
}

impl Assignment {
    /// Assigns the arrays of a plan with known steps, launches and results.
    ///
    /// # Errors
    /// `Size` if the temporaries exceed the address space.
    pub fn new(plan: &BufferPlan, tiles: &[Option<usize>]) -> Result<Assignment> {
        let mut storages = Storages::new(plan);
        let mut assignment = Assignment { slices: Vec::with_capacity(plan.locations), ..Assignment::default() };
        assignment.tiles = tiles.iter().map(|len| TileMemory { indices: len.unwrap_or(0), bytes: 0 }).collect();
        let mut allocations = vec![(Allocation::Arena, 0); storages.all.len()];
        storages.cut(plan, &mut assignment.tiles, &mut allocations);
        place(&storages.all, plan, &mut allocations)?;
        for (storage, &(allocation, offset)) in storages.all.iter().zip(&allocations) {
            if allocation == Allocation::Arena {
                assignment.arena = assignment.arena.max(offset + storage.bytes);
                assignment.arena_until = assignment.arena_until.max(Some(storage.last));
            }
        }
        assignment.slices.extend(storages.of.iter().map(|of| {
            of.map(|(storage, takes)| {
                let ((allocation, offset), tile) = (allocations[storage], storages.all[storage].tile);
                BufferSlice { allocation, offset, row: tile.map_or(0, |(_, row)| row), takes }
            })
        }));
        Ok(assignment)
    }

    /// Checks that no array overlaps a live one, and that all lie within their buffers.
    ///
    /// # Errors
    /// `Verify`, with the step of the misplaced array.
    pub fn verify(&self, plan: &BufferPlan) -> Result<()> {
        let uses = Uses::new(plan);
        let mut chains: Vec<LiveRange> = Vec::new();
        let mut of: BTreeMap<Location, usize> = BTreeMap::new();
        for (index, step) in plan.steps.iter().enumerate() {
            for output in step.outputs.iter().filter(|output| uses.made[output.location as usize] == Some(index)) {
                let location = output.location as usize;
                let Some(slice) = self.slices.get(location).copied().flatten() else {
                    return Err(wrong(index, format_args!("what it makes has no place")));
                };
                let size = self.size(slice, output.bytes);
                let end = slice.offset.checked_add(size).filter(|&end| end <= self.bytes(plan, slice.allocation));
                let own = match slice.allocation {
                    // Tile memory is private to its launch and its tile.
                    Allocation::Tile(own) => {
                        let rows = &plan.launches[uses.launch[index]].cut.rows;
                        own == uses.launch[index]
                            && own == uses.last[location]
                            && rows.get(&output.location) == Some(&slice.row)
                    }
                    Allocation::Arena | Allocation::Result(_) => true,
                };
                let result =
                    output.result.is_none_or(|own| slice.allocation == Allocation::Result(own) && slice.offset == 0);
                if end.is_none() || !own || !result {
                    return Err(wrong(index, format_args!("what it makes leaves its buffer: {slice:?}")));
                }
                let last = if output.result.is_some() { usize::MAX } else { uses.last[location] };
                let Some(operand) = slice.takes else {
                    of.insert(output.location, chains.len());
                    let (first, (allocation, offset)) = (uses.launch[index], (slice.allocation, slice.offset));
                    chains.push(LiveRange { allocation, offset, end: offset + size, first, last, step: index });
                    continue;
                };
                // An operand's memory is taken once: the next taker takes it from its new owner.
                let chain = of.remove(&operand).filter(|&chain| {
                    let LiveRange { allocation, offset, end, .. } = chains[chain];
                    (allocation, offset, end) == (slice.allocation, slice.offset, slice.offset + size)
                });
                let (Some(chain), true) = (chain, output.reuse.contains(&operand) && step.last_used.contains(&operand))
                else {
                    return Err(wrong(index, format_args!("it takes memory that is not free: {slice:?}")));
                };
                chains[chain].last = chains[chain].last.max(last);
                of.insert(output.location, chain);
            }
        }
        apart(chains)
    }

    /// The operands of a step in tile memory, each with the bytes of an index.
    pub fn local(&self, step: &StepPlan) -> SmallVec<[(usize, usize); 2]> {
        let inputs = step.inputs.iter().map(|input| input.0);
        let locations = inputs.chain(step.outputs.iter().map(|output| Some(output.location)));
        let row = |(operand, location): (usize, Option<Location>)| {
            let slice = self.slices[location? as usize]?;
            matches!(slice.allocation, Allocation::Tile(_)).then_some((operand, slice.row))
        };
        locations.enumerate().filter_map(row).collect()
    }

    /// The bytes of an array at its location.
    fn size(&self, slice: BufferSlice, bytes: usize) -> usize {
        match slice.allocation {
            Allocation::Tile(launch) => self.tiles.get(launch).map_or(0, |tile| tile.indices.saturating_mul(slice.row)),
            Allocation::Arena | Allocation::Result(_) => bytes,
        }
    }

    /// The size of a buffer.
    pub fn bytes(&self, plan: &BufferPlan, allocation: Allocation) -> usize {
        match allocation {
            Allocation::Arena => self.arena,
            Allocation::Result(result) => plan.results[result].bytes,
            Allocation::Tile(launch) => self.tiles.get(launch).map_or(0, |tile| tile.bytes),
        }
    }
}

/// The live ranges of arrays.
struct Uses {
    /// The launch of each step.
    launch: Vec<usize>,
    /// For each location the step that stores it, or its first part.
    made: Vec<Option<usize>>,
    /// The last launch that uses it.
    last: Vec<usize>,
}

impl Uses {
    fn new(plan: &BufferPlan) -> Uses {
        let mut launch = vec![0; plan.steps.len()];
        for (number, own) in plan.launches.iter().enumerate() {
            launch[own.steps.clone()].fill(number);
        }
        let (mut made, mut last) = (vec![None; plan.locations], vec![0; plan.locations]);
        for (index, step) in plan.steps.iter().enumerate() {
            for output in &step.outputs {
                made[output.location as usize].get_or_insert(index);
            }
            step.reads()
                .chain(step.outputs.iter().map(|output| output.location))
                .for_each(|location| last[location as usize] = launch[index]);
        }
        Uses { launch, made, last }
    }
}

impl Storages {
    fn new(plan: &BufferPlan) -> Storages {
        let uses = Uses::new(plan);
        let mut storages = Storages { all: Vec::new(), of: vec![None; plan.locations] };
        // The current owner of each storage.
        let mut owner: Vec<Location> = Vec::new();
        for (index, step) in plan.steps.iter().enumerate() {
            for output in step.outputs.iter().filter(|output| uses.made[output.location as usize] == Some(index)) {
                let last = if output.result.is_some() { usize::MAX } else { uses.last[output.location as usize] };
                let free = output.reuse.iter().find_map(|&operand| {
                    let (storage, _) = storages.of[operand as usize]?;
                    (owner[storage] == operand && storages.all[storage].bytes == output.bytes)
                        .then_some((storage, operand))
                });
                let (storage, takes) =
                    free.map_or((storages.all.len(), None), |(storage, operand)| (storage, Some(operand)));
                if takes.is_none() {
                    let first = uses.launch[index];
                    storages.all.push(SharedStorage { bytes: output.bytes, first, last, result: None, tile: None });
                    owner.push(output.location);
                }
                owner[storage] = output.location;
                let own = &mut storages.all[storage];
                (own.last, own.result) = (own.last.max(last), output.result);
                storages.of[output.location as usize] = Some((storage, takes));
            }
        }
        storages
    }
}

impl Storages {
    /// Moves storages that live within one tiled launch to tile memory, where each tile has bytes of its own.
    fn cut(&mut self, plan: &BufferPlan, tiles: &mut [TileMemory], allocations: &mut [(Allocation, usize)]) {
        let mut rows: Vec<Vec<Option<usize>>> = vec![Vec::new(); self.all.len()];
        for (location, of) in self.of.iter().enumerate() {
            let Some((storage, _)) = *of else { continue };
            let cut = plan.launches.get(self.all[storage].first).map(|launch| &launch.cut);
            rows[storage].push(cut.and_then(|cut| cut.rows.get(&(location as Location)).copied()));
        }
        for ((storage, rows), allocation) in self.all.iter_mut().zip(rows).zip(allocations) {
            let launch = storage.first;
            let whole = plan.launches[launch].cut.indices;
            let Some(tile) = tiles.get_mut(launch).filter(|tile| tile.indices > 0 && tile.indices < whole) else {
                continue;
            };
            let Some(&Some(row)) = rows.first() else { continue };
            if storage.result.is_none() && storage.last == launch && rows.iter().all(|own| *own == Some(row)) {
                storage.tile = Some((launch, row));
                *allocation = (Allocation::Tile(launch), tile.bytes);
                // A tile that requests more than the machine's memory is refused.
                tile.bytes = tile.bytes.saturating_add((row * tile.indices).next_multiple_of(ALIGN));
            }
        }
    }
}

/// Places each storage.
///
/// # Errors
/// `Size` if the arena is larger than memory.
fn place(storages: &[SharedStorage], plan: &BufferPlan, allocations: &mut [(Allocation, usize)]) -> Result<()> {
    for (allocation, storage) in allocations.iter_mut().zip(storages) {
        if let Some(result) = storage.result {
            *allocation = (Allocation::Result(result), 0);
        }
    }
    // The buffers of later results, each with its launch.
    let later = storages.iter().filter(|storage| storage.first > 0);
    let mut results: Vec<(usize, usize, Gaps)> =
        later.filter_map(|storage| Some((storage.result?, storage.first, Gaps::new(storage.bytes)))).collect();
    let mut latest: Vec<usize> = (0..results.len()).collect();
    latest.sort_by_key(|&n| std::cmp::Reverse(results[n].1));
    let mut arena = Gaps::new(isize::MAX as usize);
    let mut starting: Vec<Vec<usize>> = vec![Vec::new(); plan.launches.len()];
    let temporary = |storage: &SharedStorage| storage.result.is_none() && storage.tile.is_none();
    for (index, storage) in storages.iter().enumerate().filter(|(_, storage)| temporary(storage)) {
        starting[storage.first].push(index);
    }
    let mut ending: Vec<Vec<(usize, usize, Option<usize>)>> = vec![Vec::new(); plan.launches.len()];
    for (launch, mut starting) in starting.into_iter().enumerate() {
        // Large ones first: small ones fit into the remaining gaps.
        starting.sort_by_key(|&index| std::cmp::Reverse(storages[index].bytes));
        for index in starting {
            let SharedStorage { bytes, last, .. } = storages[index];
            let fitting = latest.iter().take_while(|&&n| results[n].1 > last).take(TRIED);
            let best = fitting.filter_map(|&n| Some((results[n].2.fit(bytes)?.0, n))).min().map(|(_, n)| n);
            let (allocation, gaps) = match best {
                Some(n) => (Allocation::Result(results[n].0), &mut results[n].2),
                None => (Allocation::Arena, &mut arena),
            };
            let Some((offset, len)) = gaps.take(bytes) else {
                return Err(Error::new(ErrorCode::Size, "plan: temporaries of more bytes than memory can address"));
            };
            allocations[index] = (allocation, offset);
            ending[last].push((offset, len, best));
        }
        for (offset, len, result) in std::mem::take(&mut ending[launch]) {
            result.map_or(&mut arena, |n| &mut results[n].2).give(offset, len);
        }
    }
    Ok(())
}

/// The free parts of a buffer.
struct Gaps {
    /// By offset, with their lengths, and by length.
    by_offset: BTreeMap<usize, usize>,
    by_len: BTreeSet<(usize, usize)>,
}

impl Gaps {
    fn new(bytes: usize) -> Gaps {
        let mut gaps = Gaps { by_offset: BTreeMap::new(), by_len: BTreeSet::new() };
        gaps.add(0, bytes);
        gaps
    }

    /// Length and offset of the smallest gap of at least so many bytes.
    fn fit(&self, bytes: usize) -> Option<(usize, usize)> {
        self.by_len.range((bytes, 0)..).next().copied()
    }

    /// Takes bytes, rounded up to whole cache lines: their offset and number. `None` without such a gap.
    fn take(&mut self, bytes: usize) -> Option<(usize, usize)> {
        let (len, offset) = self.fit(bytes)?;
        self.remove(offset, len);
        let taken = bytes.next_multiple_of(ALIGN).min(len);
        self.add(offset + taken, len - taken);
        Some((offset, taken))
    }

    fn give(&mut self, offset: usize, len: usize) {
        let (mut from, mut end) = (offset, offset + len);
        if let Some((&before, &len)) = self.by_offset.range(..offset).next_back()
            && before + len == offset
        {
            self.remove(before, len);
            from = before;
        }
        if let Some(&len) = self.by_offset.get(&end) {
            self.remove(end, len);
            end += len;
        }
        self.add(from, end - from);
    }

    fn add(&mut self, offset: usize, len: usize) {
        if len > 0 {
            self.by_offset.insert(offset, len);
            self.by_len.insert((len, offset));
        }
    }

    fn remove(&mut self, offset: usize, len: usize) {
        self.by_offset.remove(&offset);
        self.by_len.remove(&(len, offset));
    }
}

/// A storage as the verifier sees it.
#[derive(Clone, Copy, Debug)]
struct LiveRange {
    allocation: Allocation,
    offset: usize,
    end: usize,
    first: usize,
    last: usize,
    /// The step of its first array.
    step: usize,
}

/// Checks that storages live at the same time do not overlap: a sweep over time, with the live storages ordered by address.
fn apart(mut chains: Vec<LiveRange>) -> Result<()> {
    chains.retain(|chain| chain.offset < chain.end);
    chains.sort_by_key(|chain| chain.first);
    let mut ends: BTreeSet<(usize, Allocation, usize)> = BTreeSet::new();
    let mut live: BTreeMap<(Allocation, usize), usize> = BTreeMap::new();
    for chain in chains {
        while let Some(&(last, allocation, offset)) = ends.first().filter(|(last, ..)| *last < chain.first) {
            ends.remove(&(last, allocation, offset));
            live.remove(&(allocation, offset));
        }
        let before = live.range(..(chain.allocation, chain.end)).next_back();
        if before.is_some_and(|(&(allocation, _), &end)| allocation == chain.allocation && end > chain.offset) {
            return Err(wrong(chain.step, format_args!("it writes where another array is needed: {chain:?}")));
        }
        live.insert((chain.allocation, chain.offset), chain.end);
        ends.insert((chain.last, chain.allocation, chain.offset));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndjit_codegen::{Options, lower};
    use ndjit_ir::graph::SourceLocs;
    use ndjit_ir::loops::Layout;
    use ndjit_random::{Limits, program};
    use ndjit_transform::access::contiguous;

    /// Plans of random programs: unfused, and fused.
    fn plans(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, BufferPlan)> {
        seeds.flat_map(|seed| {
            let program = program(seed, &Limits { nodes: 24, elements: 200, ..Limits::default() }).unwrap();
            let layouts: Vec<Layout> = program.params.iter().map(|x| contiguous(&x.shape, x.dtype).unwrap()).collect();
            [false, true].map(|fuse| {
                let options = Options { fuse, ..Options::default() };
                (
                    seed,
                    BufferPlan::new(&lower(&program.graph, &SourceLocs::default(), &layouts, &options).unwrap())
                        .unwrap(),
                )
            })
        })
    }

    #[test]
    fn arrays_share_memory_where_they_do_not_meet() {
        let (mut apart, mut shared, mut taken, mut hosted, mut tiled) = (0, 0, 0, 0, 0);
        for (seed, plan) in plans(0..700) {
            let mut plan = plan;
            let lengths: Vec<Option<usize>> =
                plan.launches.iter().map(|launch| (launch.cut.indices > 1).then_some(1 + seed as usize % 3)).collect();
            let whole = plan.assignment.arena;
            plan.assign(&lengths).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            tiled += plan
                .assignment
                .slices
                .iter()
                .flatten()
                .filter(|slice| matches!(slice.allocation, Allocation::Tile(_)))
                .count();
            assert!(plan.assignment.arena <= whole, "seed {seed}");
            plan.assign(&[]).unwrap();
            let assignment = &plan.assignment;
            assignment.verify(&plan).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let mut bytes: BTreeMap<Location, usize> = BTreeMap::new();
            for output in plan.steps.iter().flat_map(|step| &step.outputs) {
                let slice = assignment.slices[output.location as usize].unwrap();
                taken += usize::from(slice.takes.is_some());
                hosted += usize::from(
                    slice.allocation != Allocation::Arena && slice.takes.is_none() && output.result.is_none(),
                );
                if output.result.is_none() {
                    bytes.insert(output.location, output.bytes.next_multiple_of(ALIGN));
                }
            }
            let all: usize = bytes.values().sum();
            assert!(assignment.arena <= all, "seed {seed}");
            (apart, shared) = (apart + all, shared + assignment.arena);
        }
        // Measured: the arenas are 26 per cent of the arrays.
        assert!(shared * 3 < apart, "{shared} of {apart}");
        assert!(
            taken > 100 && hosted > 100 && tiled > 20,
            "{taken} taken, {hosted} in buffers of results, {tiled} in tiles"
        );
    }

    #[test]
    fn arrays_that_lie_wrong_are_found() {
        let (mut moved, mut swapped, mut stolen) = (0, 0, 0);
        for (seed, plan) in plans(0..60) {
            let good = &plan.assignment;
            let places: Vec<usize> = (0..plan.locations).filter(|&n| good.slices[n].is_some()).collect();
            let uses = Uses::new(&plan);
            let (size, result) = sizes(&plan);
            let last = |n: usize| if result[n] { usize::MAX } else { uses.last[n] };
            let first = |n: usize| uses.launch[uses.made[n].unwrap()];
            for (&a, &b) in places.iter().flat_map(|a| places.iter().map(move |b| (a, b))) {
                let (Some(own), Some(other)) = (good.slices[a], good.slices[b]) else { continue };
                let meet = first(a) <= last(b) && first(b) <= last(a) && size[a] > 0 && size[b] > 0;
                let mut wrong = good.clone();
                wrong.slices[a] = Some(BufferSlice { takes: None, ..other });
                if a != b && meet && own.takes != Some(b as Location) && other.takes != Some(a as Location) {
                    // The location of an array live at the same time.
                    if wrong.verify(&plan).is_ok() {
                        // Both are parts of one chain: an operand dies where the next array begins.
                        assert_eq!(
                            (own.allocation, own.offset),
                            (other.allocation, other.offset),
                            "seed {seed}: {a} over {b}"
                        );
                        continue;
                    }
                    moved += 1;
                }
                // Memory that the plan does not release.
                wrong.slices[a] = Some(BufferSlice { takes: Some(b as Location), ..other });
                if own.takes != Some(b as Location) {
                    let step = &plan.steps[uses.made[a].unwrap()];
                    let output = step.outputs.iter().find(|output| output.location as usize == a).unwrap();
                    if !output.reuse.contains(&(b as Location)) {
                        assert!(wrong.verify(&plan).is_err(), "seed {seed}: {a} takes {b}");
                        stolen += 1;
                    }
                }
            }
            for &n in &places {
                let mut wrong = good.clone();
                let Some(slice) = &mut wrong.slices[n] else { continue };
                slice.offset = good.bytes(&plan, slice.allocation) + 1;
                assert!(wrong.verify(&plan).is_err(), "seed {seed}: {n} beyond its buffer");
                swapped += 1;
            }
        }
        assert!(moved > 100 && swapped > 100 && stolen > 100, "{moved} {swapped} {stolen}");
    }

    /// The size of each location, and whether it is a result.
    fn sizes(plan: &BufferPlan) -> (Vec<usize>, Vec<bool>) {
        let (mut sizes, mut results) = (vec![0; plan.locations], vec![false; plan.locations]);
        for output in plan.steps.iter().flat_map(|step| &step.outputs) {
            sizes[output.location as usize] = output.bytes;
            results[output.location as usize] |= output.result.is_some();
        }
        (sizes, results)
    }

    #[test]
    fn gaps_are_joined_again() {
        let mut gaps = Gaps::new(1000);
        let taken: Vec<(usize, usize)> = [100, 64, 300].map(|bytes| gaps.take(bytes).unwrap()).to_vec();
        assert_eq!(taken, [(0, 128), (128, 64), (192, 320)]);
        assert_eq!(gaps.take(600), None);
        // The rest is not a whole number of lines.
        assert_eq!(gaps.take(480), Some((512, 488)));
        for (offset, len) in [taken[1], (512, 488), taken[0], taken[2]] {
            gaps.give(offset, len);
        }
        assert_eq!(gaps.by_offset.into_iter().collect::<Vec<_>>(), [(0, 1000)]);
        assert_eq!(gaps.by_len.into_iter().collect::<Vec<_>>(), [(1000, 0)]);
    }
}
