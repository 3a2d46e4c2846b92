//! The memory plan of a call: its arrays, their places and lifetimes, and the peak.

use crate::jit::compiled::Compiled;
use crate::jit::function::JitFn;
use crate::jit::jitted::Jitted;
use crate::jit::staged::Lowered;
use ndjit_eval::plan::compiled::Plan;
use ndjit_inspect::table;
use ndjit_ir::{DType, Result, Shape};
use ndjit_runtime::planned::{Allocation, BufferSlice, MemoryFootprint, PlannedArray, planned};
use std::fmt;

/// The place of an array during a call.
///
/// ```
/// use ndjit::{ArrayPlace, DType, exp, jit, spec};
///
/// let f = jit(|x| exp(x)).trace(&[spec(DType::F32, [10])])?.lower()?.compile()?;
/// assert_eq!(f.memory_plan()?.arrays[0].place, ArrayPlace::Result(0, 0));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayPlace {
    /// At this byte offset in the buffer of the result with this index: the result itself, or a temporary with an
    /// earlier lifetime. With [`call_into`](Jitted::call_into) the buffer is the caller's memory.
    Result(usize, usize),
    /// At this byte offset in the arena, the buffer that temporaries share.
    Arena(usize),
    /// At this byte offset in the memory of a tile. Each tile of the launch has its own memory, for as many rows of the
    /// array as the tile has.
    Tile(usize),
}

/// An array created by a call. Launches are numbered from 0 in execution order, as in [`Jitted::kernels`].
///
/// ```
/// use ndjit::{DType, exp, jit, spec};
///
/// let f = jit(|x| exp(x)).trace(&[spec(DType::F32, [10])])?.lower()?.compile()?;
/// let array = &f.memory_plan()?.arrays[0];
/// assert_eq!((array.bytes, array.first, array.last), (40, 0, None));
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayPlan {
    /// Its name in the stage [`simplified`](crate::Stage::Simplified).
    pub name: String,
    /// Its dtype.
    pub dtype: DType,
    /// Its shape.
    pub shape: Shape,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its place in memory.
    pub place: ArrayPlace,
    /// The first launch that writes it.
    pub first: usize,
    /// The last launch that uses it; `None` for a result.
    pub last: Option<usize>,
    /// The indices of its possible donors among the array arguments. It reuses the memory of one that is
    /// [donated](crate::Array::donate) and has no other user.
    pub donors: Vec<usize>,
}

/// The planned memory of a call, without its arguments. See [`Compiled::memory_plan`].
///
/// ```
/// use ndjit::{DType, exp, jit, spec};
///
/// let f = jit(|x| exp(x) * 2).trace(&[spec(DType::F32, [1000])])?.lower()?.compile()?;
/// let plan = f.memory_plan()?;
/// assert_eq!((plan.peak_bytes, plan.arrays.len()), (4000, 1));
/// assert_eq!(plan.arrays[0].donors, [0], "x, if it is donated");
/// println!("{plan}");
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryPlan {
    /// The arrays created, in order.
    pub arrays: Vec<ArrayPlan>,
    /// The size of the results in bytes.
    pub result_bytes: u64,
    /// The total size of temporaries in bytes, as if none shared memory.
    pub intermediate_bytes: u64,
    /// The size in bytes of the arena, for temporaries outside of result buffers.
    pub arena_bytes: u64,
    /// The maximum temporary memory of kernels in bytes: accumulators of reductions and scans, tiles of arrays, and the
    /// memory of branches and loops, including loop states.
    pub scratch_bytes: u64,
    /// The peak memory in bytes. It is less if results are written to memory of the caller, or of donated arguments.
    pub peak_bytes: u64,
}

impl MemoryPlan {
    fn new(lowered: &ndjit_codegen::Lowered, memory: MemoryFootprint, all: &[PlannedArray]) -> MemoryPlan {
        let graph = &lowered.simplified;
        // Kernels are numbered as in statistics.
        let numbers = lowered.launch_numbers();
        let launch = |kernel: usize| {
            let launch = lowered.launches.iter().position(|launch| launch.steps.contains(&kernel)).unwrap_or(0);
            numbers.get(launch).copied().unwrap_or(0)
        };
        let array = |array: &PlannedArray| {
            let (BufferSlice { allocation, offset, .. }, first) = (array.slice?, launch(array.made?));
            let (place, lasting) = match allocation {
                Allocation::Arena => (ArrayPlace::Arena(offset), false),
                Allocation::Result(result) => (ArrayPlace::Result(result, offset), true),
                Allocation::Tile(_) => (ArrayPlace::Tile(offset), false),
            };
            let donors = array.takes.iter().copied().filter(|&taken| lasting && all[taken].made.is_none());
            Some(ArrayPlan {
                name: array.value.to_string(),
                dtype: graph.ty(array.value),
                shape: graph.shape(array.value).clone(),
                bytes: array.bytes as u64,
                place,
                first,
                last: array.last.filter(|_| array.result.is_none()).map(launch),
                donors: donors.collect(),
            })
        };
        MemoryPlan {
            arrays: all.iter().filter_map(array).collect(),
            result_bytes: memory.results,
            intermediate_bytes: memory.temporaries,
            arena_bytes: memory.arena,
            scratch_bytes: memory.scratch,
            peak_bytes: memory.peak,
        }
    }

    fn of(plan: &Plan) -> Result<MemoryPlan> {
        Ok(MemoryPlan::new(&plan.lowered, plan.planned_memory()?, &plan.arrays()?))
    }
}

impl fmt::Display for ArrayPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArrayPlace::Result(result, 0) => write!(f, "result {result}"),
            ArrayPlace::Result(result, offset) => write!(f, "result {result} + {offset}"),
            ArrayPlace::Arena(offset) => write!(f, "arena + {offset}"),
            ArrayPlace::Tile(offset) => write!(f, "tile + {offset}"),
        }
    }
}

impl fmt::Display for MemoryPlan {
    /// Prints a table of arrays, and the totals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |array: &ArrayPlan| {
            let until = array.last.map_or_else(|| "end".to_owned(), |last| last.to_string());
            let donors: Vec<String> = array.donors.iter().map(|donor| format!("argument {donor}")).collect();
            vec![
                format!("{} : {}{}", array.name, array.dtype, array.shape),
                table::bytes(array.bytes),
                array.place.to_string(),
                format!("{} to {until}", array.first),
                if donors.is_empty() { "-".to_owned() } else { donors.join(" or ") },
            ]
        };
        let rows: Vec<Vec<String>> = self.arrays.iter().map(row).collect();
        table::write(f, &["array", "size", "where", "launches", "donated"], &rows)?;
        let [results, arena, between, scratch, peak] =
            [self.result_bytes, self.arena_bytes, self.intermediate_bytes, self.scratch_bytes, self.peak_bytes]
                .map(table::bytes);
        write!(f, "peak {peak}: results {results}, arena {arena} for {between} of temporaries, scratch {scratch}")
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Compiled<M, N, F> {
    /// Returns the memory plan of a call, without its arguments.
    ///
    /// ```
    /// use ndjit::{DType, jit, keepdims, spec, sum};
    ///
    /// let f = jit(|x| x / sum(x, keepdims(1))).trace(&[spec(DType::F32, [256, 1024])])?.lower()?.compile()?;
    /// let plan = f.memory_plan()?;
    /// assert_eq!((plan.result_bytes, plan.intermediate_bytes), (256 * 1024 * 4, 256 * 4));
    /// assert_eq!(plan.peak_bytes, plan.result_bytes + plan.arena_bytes + plan.scratch_bytes);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// None for a compiled program.
    pub fn memory_plan(&self) -> Result<MemoryPlan> {
        MemoryPlan::of(&self.plan)
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Lowered<M, N, F> {
    /// Returns the memory plan of a call on the processor, without its arguments. The temporary memory of kernels
    /// (`scratch_bytes`), except for arrays in branches and loops, and the savings of tiles are unknown before
    /// compilation and not included.
    ///
    /// ```
    /// use ndjit::{DType, jit, spec};
    ///
    /// let f = jit(|x| x / 2).trace(&[spec(DType::U8, [3])])?.lower()?;
    /// assert_eq!(f.memory_plan()?.peak_bytes, 12);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Size` if an array is larger than the address space.
    pub fn memory_plan(&self) -> Result<MemoryPlan> {
        Ok(MemoryPlan::new(&self.lowered, MemoryFootprint::of(&self.lowered)?, &planned(&self.lowered)?))
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Jitted<M, N, F> {
    /// Returns the memory plan of the last call's signature; `None` before the first call.
    ///
    /// ```
    /// use ndjit::{Array, jit};
    ///
    /// let f = jit(|x| x * 2.0);
    /// assert!(f.memory_plan().is_none());
    /// f.call((&Array::from([1.0f32, 2.0]),))?;
    /// assert_eq!(f.memory_plan().unwrap().peak_bytes, 8);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn memory_plan(&self) -> Option<MemoryPlan> {
        MemoryPlan::of(&*self.core.plans.last()?).ok()
    }
}
