//! What the passes of the portable half change: a traced program up to commit, then one graph up to its loops.

use super::{PassProgram, after};
use crate::lower::{Lowered, LoweredControl, LoweredKernel, LoweredStep, Options};
use crate::passes::fuse::{arrays, fuse};
use crate::passes::loops::loop_kernels;
use crate::passes::ranges::ranges;
use crate::passes::schedule::schedule;
use crate::passes::tile::{Launch, one_by_one, tile, verify_launches};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::kernel::{FusedStep, verify_steps};
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Error, ErrorCode, Result, ValueType};
use ndjit_transform::access::Accesses;
use ndjit_transform::{
    TypedGraph, commit, fp_contract, gathers, hoist, inline, joins, networks, simplify, sink, starts, views, windows,
};
use std::fmt::{self, Formatter};
use std::sync::Arc;

/// Runs the pass `inline` alone: programs that are read from text and explanations need no other.
///
/// # Errors
/// `Size` if calls make the program too large; `Verify` if control flow nests too deep, or the result is not well-formed.
pub fn inlined(graph: &Graph<ValueType>, places: &SourceLocs) -> Result<(Graph<ValueType>, SourceLocs)> {
    let (graph, places) = inline(graph, places)?;
    if Options::default().verify {
        graph.verify().map_err(|error| after("inline", &graph, error))?;
    }
    Ok((graph, places))
}

/// A program up to commit.
pub(super) struct TracedProgram {
    pub graph: Graph<ValueType>,
    pub places: SourceLocs,
    pub typed: Option<TypedGraph>,
}

impl TracedProgram {
    pub fn inline(&mut self, _: &Options) -> Result<()> {
        (self.graph, self.places) = inline(&self.graph, &self.places)?;
        self.graph.seal();
        Ok(())
    }

    pub fn fp_contract(&mut self, options: &Options) -> Result<()> {
        if options.fp_contract {
            (self.graph, self.places) = fp_contract(&self.graph, &self.places);
            self.graph.seal();
        }
        Ok(())
    }

    pub fn sink(&mut self, options: &Options) -> Result<()> {
        if options.simplify
            && let Some((graph, places)) = sink(&self.graph, &self.places)
        {
            (self.graph, self.places) = (graph, places);
            self.graph.seal();
        }
        Ok(())
    }

    pub fn hoist(&mut self, options: &Options) -> Result<()> {
        if options.simplify
            && let Some((graph, places)) = hoist(&self.graph, &self.places, options.policy)
        {
            (self.graph, self.places) = (graph, places);
            self.graph.seal();
        }
        Ok(())
    }

    pub fn commit(&mut self, options: &Options) -> Result<()> {
        let (graph, places) = (std::mem::take(&mut self.graph), std::mem::take(&mut self.places));
        self.typed = Some(commit(Arc::new(graph), Arc::new(places), options.policy)?);
        Ok(())
    }
}

impl PassProgram for TracedProgram {
    fn verify(&self, _: &str) -> Result<()> {
        match &self.typed {
            None => self.graph.verify(),
            Some(typed) => typed.graph.verify(),
        }
    }

    fn write(&self, _: &str, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.typed {
            None => write!(f, "{}", self.graph),
            Some(typed) => write!(f, "{}", typed.graph),
        }
    }
}

/// A graph from commit to its loops.
pub(super) struct GraphProgram {
    typed: Arc<Graph<DType>>,
    layouts: Vec<Layout>,
    simplified: Graph<DType>,
    accesses: Accesses,
    /// The steps, until they are scheduled.
    pub fused: Vec<FusedStep>,
    /// True if ops are fused.
    together: bool,
    /// The launches, once there are any.
    launches: Option<Vec<Launch>>,
    /// The lowered graphs of each step that is control flow, in order, until it is scheduled.
    pub bodies: Vec<Vec<Arc<Lowered>>>,
    steps: Vec<LoweredStep>,
}

impl GraphProgram {
    pub fn new(typed: &TypedGraph, layouts: &[Layout]) -> GraphProgram {
        GraphProgram {
            typed: Arc::clone(&typed.graph),
            layouts: layouts.to_vec(),
            simplified: Graph::clone(&typed.graph),
            accesses: Accesses::default(),
            fused: Vec::new(),
            together: false,
            launches: None,
            bodies: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// The lowered program.
    pub fn finish(self, typed: &TypedGraph, options: &Options) -> Lowered {
        let GraphProgram { simplified, accesses, launches, steps, .. } = self;
        let stored = simplified.outputs().iter().map(|&output| accesses.result(&simplified, output)).collect();
        let TypedGraph { traced, places, graph, conversions, .. } = typed;
        let (traced, places, typed) = (Arc::clone(traced), Arc::clone(places), Arc::clone(graph));
        let (conversions, policy, launches) = (conversions.clone(), options.policy, launches.unwrap_or_default());
        Lowered { traced, places, typed, conversions, policy, simplified, steps, stored, launches }
    }

    pub fn simplify(&mut self, options: &Options) -> Result<()> {
        if options.simplify {
            self.simplified = simplify(&self.typed)?;
        }
        self.simplified.seal();
        Ok(())
    }

    pub fn networks(&mut self, options: &Options) -> Result<()> {
        let new = if options.simplify { networks(&self.simplified)? } else { None };
        self.replace(new);
        Ok(())
    }

    pub fn gathers(&mut self, options: &Options) -> Result<()> {
        let new = if options.simplify { gathers(&self.simplified)? } else { None };
        self.replace(new);
        Ok(())
    }

    pub fn windows(&mut self, options: &Options) -> Result<()> {
        let new = if options.simplify { windows(&self.simplified)? } else { None };
        self.replace(new);
        Ok(())
    }

    pub fn views(&mut self, options: &Options) -> Result<()> {
        let new = if options.simplify { views(&self.simplified, &self.layouts)? } else { None };
        self.replace(new);
        Ok(())
    }

    pub fn joins(&mut self, options: &Options) -> Result<()> {
        let new = if options.simplify && options.fuse { joins(&self.simplified)? } else { None };
        self.replace(new);
        Ok(())
    }

    fn replace(&mut self, new: Option<Graph<DType>>) {
        if let Some(new) = new {
            self.simplified = new;
            self.simplified.seal();
        }
    }

    pub fn starts(&mut self, options: &Options) -> Result<()> {
        let new = starts(&self.simplified, options.computes_addresses())?;
        self.replace(new);
        Ok(())
    }

    pub fn accesses(&mut self, options: &Options) -> Result<()> {
        self.accesses = Accesses::new(&self.simplified, &self.layouts, options.computes_addresses())?;
        Ok(())
    }

    pub fn fuse(&mut self, options: &Options) -> Result<()> {
        let Options { fuse: together, max_arrays, device_arrays, .. } = *options;
        let most = device_arrays.map_or(max_arrays, |most| most.min(max_arrays));
        let fused = |together| fuse(&self.simplified, &self.accesses, &self.layouts, together, most);
        self.fused = fused(together)?;
        self.together = together;
        if device_arrays
            .is_some_and(|most| self.fused.iter().any(|step| arrays(step, &self.simplified, &self.accesses) > most))
        {
            self.together = false;
            self.fused = fused(false)?;
        }
        Ok(())
    }

    pub fn tile(&mut self, _: &Options) -> Result<()> {
        self.launches = Some(match self.together {
            true => tile(&self.fused, &self.simplified, &self.accesses),
            false => one_by_one(self.fused.len()),
        });
        Ok(())
    }

    pub fn schedule(&mut self, _: &Options) -> Result<()> {
        let launches = self.launches.iter().flatten();
        let axes = launches.flat_map(|launch| launch.steps.clone().map(|n| launch.axis(n)));
        let mut bodies = std::mem::take(&mut self.bodies).into_iter();
        for (step, axis) in std::mem::take(&mut self.fused).into_iter().zip(axes) {
            self.steps.push(match step {
                FusedStep::Kernel(fused) => {
                    let scheduled = schedule(&fused, &self.simplified, &self.layouts, &self.accesses, axis)?;
                    LoweredStep::Kernel(LoweredKernel { fused, scheduled })
                }
                FusedStep::Control(fused) => {
                    let Some(bodies) = bodies.next() else {
                        return Err(Error::new(
                            ErrorCode::Verify,
                            "schedule: control flow whose graphs are not lowered",
                        ));
                    };
                    LoweredStep::Control(LoweredControl { fused, bodies, compiled: None })
                }
            });
        }
        Ok(())
    }

    pub fn ranges(&mut self, _: &Options) -> Result<()> {
        ranges(&mut self.steps, &self.simplified, &self.accesses);
        Ok(())
    }

    pub fn loop_kernels(&mut self, options: &Options) -> Result<()> {
        if options.fuse { loop_kernels(&mut self.steps) } else { Ok(()) }
    }
}

impl PassProgram for GraphProgram {
    fn verify(&self, stage: &str) -> Result<()> {
        match stage {
            "simplified" => self.simplified.verify(),
            "kernels" => {
                verify_steps(&self.fused, &self.simplified)?;
                self.launches.as_ref().map_or(Ok(()), |launches| verify_launches(launches, &self.fused))
            }
            _ => self.steps.iter().try_for_each(|step| match step {
                LoweredStep::Kernel(kernel) => kernel.scheduled.nest.verify(),
                LoweredStep::Control(control) => control.compiled.as_ref().map_or(Ok(()), |steps| steps.nest.verify()),
            }),
        }
    }

    fn write(&self, stage: &str, f: &mut Formatter<'_>) -> fmt::Result {
        match stage {
            "simplified" => write!(f, "{}{}", self.simplified, self.accesses),
            "kernels" => {
                for launch in self.launches.iter().flatten().filter(|launch| !launch.axes.is_empty()) {
                    writeln!(f, "; {launch} along axes {:?}", launch.axes)?;
                }
                self.fused.iter().try_for_each(|step| writeln!(f, "{step}"))
            }
            _ => self.steps.iter().enumerate().try_for_each(|(n, step)| match step {
                LoweredStep::Kernel(kernel) => writeln!(f, "{}", kernel.scheduled),
                LoweredStep::Control(LoweredControl { compiled: Some(steps), .. }) => {
                    writeln!(f, "; the steps of control flow\n{}\n{}", steps.nest, steps.domain)
                }
                LoweredStep::Control(LoweredControl { fused, .. }) => {
                    writeln!(f, "; step {n}: the graphs of the `{}` are programs", fused.control.0.kind.name())
                }
            }),
        }
    }
}
