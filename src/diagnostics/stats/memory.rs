//! The memory plan of a call: its arrays, their places and lifetimes, those of loops and branches, and the peak.

use crate::jit::compiled::Compiled;
use crate::jit::function::JitFn;
use crate::jit::jitted::Jitted;
use crate::jit::staged::Lowered;
use ndjit_codegen::NumberedControl;
use ndjit_inspect::table;
use ndjit_ir::{DType, Result, Shape};
use ndjit_runtime::planned::{Allocation, BufferSlice, MemoryFootprint, PlannedArray, PlannedControl, PlannedProgram};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

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
    /// Its name in the stage [`simplified`](crate::Stage::Simplified), and in [`kernels`](crate::Stage::Kernels), which
    /// has the arrays of loops and branches too.
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
    /// [donated](crate::Array::donate) and has no other user. In the plan of a [body](BodyPlan) they are parameters of
    /// its graph: those for the state of the loop, which each step donates.
    pub donors: Vec<usize>,
}

/// The memory of a loop or a branch in a program.
///
/// ```
/// use ndjit::{DType, flip, fori_loop, jit, spec};
///
/// let f = jit(|x| fori_loop(0, 3, x, |_, x| flip(x, 0) + 1)).trace(&[spec(DType::F32, [1000])])?.lower()?.compile()?;
/// let plan = f.memory_plan()?;
/// let [control] = &plan.control_flow[..] else { panic!("one loop") };
/// assert_eq!((control.name, control.state_bytes, control.bodies.len()), ("for", 4000, 1));
/// assert_eq!(plan.scratch_bytes, control.state_bytes + control.bodies[0].plan.peak_bytes);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlPlan {
    /// The number of its launch, as in [`Jitted::kernels`].
    pub launch: usize,
    /// `for`, `while`, `scan` or `cond`.
    pub name: &'static str,
    /// The size in bytes of the state of a loop, with the arrays that a scan stacks. 0 for a branch.
    pub state_bytes: u64,
    /// Its graphs. A compiled loop has none: one kernel runs its steps, and only the state is in memory, that of its results.
    pub bodies: Vec<BodyPlan>,
}

/// The memory of a graph of a loop or a branch. Each run of it uses the same memory again.
///
/// ```
/// use ndjit::{DType, flip, fori_loop, jit, spec};
///
/// let f = jit(|x| fori_loop(0, 3, x, |_, x| flip(x, 0) + 1)).trace(&[spec(DType::F32, [1000])])?.lower()?.compile()?;
/// let body = &f.memory_plan()?.control_flow[0].bodies[0];
/// assert_eq!((body.name, body.same_as.as_deref()), ("body", None));
/// assert_eq!((body.plan.arrays.len(), body.plan.result_bytes), (1, 4000), "the next state");
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyPlan {
    /// `body`, `condition`, `true` or `false`.
    pub name: &'static str,
    /// The title of an earlier graph with the same program, such as `kernel 3, for body`. The arrays and the control
    /// flow are listed there; the plan here has the other fields.
    pub same_as: Option<String>,
    /// Its memory in one run. The results of a loop's body are the next state, and what a step of a scan stacks.
    pub plan: MemoryPlan,
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
    /// The arrays created, in order, without those of loops and branches.
    pub arrays: Vec<ArrayPlan>,
    /// The loops and branches, in order. Their memory is part of `scratch_bytes`.
    pub control_flow: Vec<ControlPlan>,
    /// The size of the results in bytes.
    pub result_bytes: u64,
    /// The total size of temporaries in bytes, as if none shared memory.
    pub intermediate_bytes: u64,
    /// The size in bytes of the arena, for temporaries outside of result buffers.
    pub arena_bytes: u64,
    /// The maximum temporary memory of kernels in bytes: accumulators of reductions and scans, tiles of arrays, and the
    /// memory of branches and loops, including states of loops that are not compiled.
    pub scratch_bytes: u64,
    /// The peak memory in bytes. It is less if results are written to memory of the caller, or of donated arguments.
    pub peak_bytes: u64,
}

/// The titles of the programs planned so far, by address.
type Titles = FxHashMap<*const PlannedProgram, String>;

impl ControlPlan {
    fn new(numbered: &NumberedControl<'_>, planned: &PlannedControl, titles: &mut Titles) -> ControlPlan {
        let NumberedControl { launch, control, bodies, .. } = numbered;
        let kind = control.fused.control.0.kind;
        let mut all = Vec::new();
        for ((&name, &(body, first)), planned) in kind.graphs().iter().zip(bodies).zip(&planned.bodies) {
            let same_as = titles.get(&Arc::as_ptr(planned)).cloned();
            let plan = match same_as {
                Some(_) => MemoryPlan::totals(planned.memory),
                None => {
                    titles.insert(Arc::as_ptr(planned), table::title(*launch, kind.name(), name));
                    MemoryPlan::new(body, planned, first, titles)
                }
            };
            all.push(BodyPlan { name, same_as, plan });
        }
        ControlPlan { launch: *launch, name: kind.name(), state_bytes: planned.state, bodies: all }
    }
}

impl MemoryPlan {
    fn of(lowered: &ndjit_codegen::Lowered, planned: &PlannedProgram) -> MemoryPlan {
        MemoryPlan::new(lowered, planned, 0, &mut Titles::default())
    }

    /// A plan without its arrays.
    fn totals(memory: MemoryFootprint) -> MemoryPlan {
        MemoryPlan {
            arrays: Vec::new(),
            control_flow: Vec::new(),
            result_bytes: memory.results,
            intermediate_bytes: memory.temporaries,
            arena_bytes: memory.arena,
            scratch_bytes: memory.scratch,
            peak_bytes: memory.peak,
        }
    }

    /// The plan of a program whose first launch has this number. Recursion is bounded by the nesting of control flow.
    fn new(
        lowered: &ndjit_codegen::Lowered,
        planned: &PlannedProgram,
        first_launch: usize,
        titles: &mut Titles,
    ) -> MemoryPlan {
        let (graph, all) = (&lowered.simplified, &planned.arrays);
        // Kernels are numbered as in statistics.
        let numbers = lowered.launch_numbers();
        let launch = |kernel: usize| {
            let launch = lowered.launches.iter().position(|launch| launch.steps.contains(&kernel)).unwrap_or(0);
            first_launch.saturating_add(numbers.get(launch).copied().unwrap_or(0))
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
        let controls = lowered.numbered_controls(first_launch);
        let controls = controls.iter().zip(&planned.controls);
        MemoryPlan {
            arrays: all.iter().filter_map(array).collect(),
            control_flow: controls.map(|(control, planned)| ControlPlan::new(control, planned, titles)).collect(),
            ..MemoryPlan::totals(planned.memory)
        }
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
    /// Prints a table of arrays, and the totals; then the plans of loops and branches, indented.
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
        write!(f, "peak {peak}: results {results}, arena {arena} for {between} of temporaries, scratch {scratch}")?;
        self.control_flow.iter().try_for_each(|control| write!(f, "\n{control}"))
    }
}

impl fmt::Display for ControlPlan {
    /// Prints the size of a loop's state, and the plan of each graph, indented.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &ControlPlan { launch, name, state_bytes, .. } = self;
        if self.bodies.is_empty() {
            return f.write_str(&table::compiled_loop(launch, name, state_bytes));
        }
        f.write_str(&table::with_state(launch, name, state_bytes))?;
        for body in &self.bodies {
            let title = table::title(launch, name, body.name);
            match &body.same_as {
                Some(before) => write!(f, "\n  {title}: {}", table::program_of(before))?,
                None => {
                    write!(f, "\n  {title}")?;
                    body.plan.to_string().lines().try_for_each(|line| write!(f, "\n    {line}"))?;
                }
            }
        }
        Ok(())
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
        Ok(MemoryPlan::of(&self.plan.lowered, &self.plan.planned()?))
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
        Ok(MemoryPlan::of(&self.lowered, &PlannedProgram::of(&self.lowered)?))
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
        let plan = self.core.plans.last()?;
        Some(MemoryPlan::of(&plan.lowered, &plan.planned().ok()?))
    }
}
