//! Looking into a program: the text of each stage of the pipeline.

use crate::config::{Config, Settings};
use ndjit_codegen::Lowered;
use ndjit_codegen::clif::{self, ClifOptions};
use ndjit_codegen::passes::split::{self, Part, Parts, ScanParts};
use ndjit_ir::kernel::FusedKernel;
use ndjit_ir::loops::LoopNest;
use ndjit_ir::reduction::{BLOCK, LANES};
use ndjit_runtime::Program;
use std::str::FromStr;
use std::sync::OnceLock;

macro_rules! stages {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// A stage of the pipeline, from the traced graph to machine code.
        ///
        /// ```
        /// use ndjit::Stage;
        ///
        /// for stage in Stage::ALL {
        ///     assert_eq!(stage.name().parse(), Ok(*stage));
        /// }
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Stage { $(#[doc = $doc] $variant,)* }

        impl Stage {
            /// All stages, in the order programs pass them.
            ///
            /// ```
            /// use ndjit::Stage;
            ///
            /// assert_eq!(Stage::ALL[0], Stage::Graph);
            /// ```
            pub const ALL: &'static [Stage] = &[$(Stage::$variant),*];

            /// The name in `NDJIT_DUMP`.
            ///
            /// ```
            /// use ndjit::Stage;
            ///
            /// assert_eq!(Stage::Loops.name(), "loops");
            /// ```
            pub const fn name(self) -> &'static str {
                match self { $(Stage::$variant => $name,)* }
            }
        }
    };
}

stages! {
    Graph "graph" "The graph as traced, with weak types and the places of nodes.";
    Typed "typed" "Every dtype resolved, every cast explicit, with what asked for it.";
    Simplified "simplified" "After the rewrite rules.";
    Kernels "kernels" "What is computed in one loop nest, and which nests run as one kernel, tile by tile.";
    Loops "loops" "The loop nests over ops.";
    Expanded "expanded" "The loop nests over primitives.";
    Code "code" "The code generator's input.";
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Stage, String> {
        Stage::ALL.iter().copied().find(|s| s.name() == text).ok_or_else(|| {
            let known: Vec<&str> = Stage::ALL.iter().map(|s| s.name()).collect();
            format!("unknown stage `{text}`; known are {}", known.join(" "))
        })
    }
}

/// The text of one stage, of a program that runs where the settings say.
pub(crate) fn text(lowered: &Lowered, stage: Stage, config: &Config, settings: Settings) -> String {
    if settings.device.gpu_number().is_some() && matches!(stage, Stage::Expanded | Stage::Code) {
        return match Program::new(lowered, settings.device, settings.fallback, &config.run_options()) {
            Ok(program) => program.texts().map_or(String::new(), |(expanded, code)| match stage {
                Stage::Expanded => expanded,
                _ => code,
            }),
            Err(error) => error.to_string(),
        };
    }
    match stage {
        Stage::Graph => lowered.traced.display_with(&lowered.places).to_string(),
        Stage::Typed => lowered.typed_text(),
        Stage::Simplified => lowered.simplified.to_string(),
        Stage::Kernels => joined(lowered.launches.iter().map(|launch| {
            let nests = lowered.kernels[launch.kernels.clone()].iter().map(FusedKernel::to_string);
            match launch.axes.first() {
                Some(axis) => format!("; {launch} along axis {axis}\n{}", nests.collect::<Vec<_>>().join("\n")),
                None => nests.collect(),
            }
        })),
        Stage::Loops => joined(lowered.scheduled.iter().map(|s| format!("{}\n{}", s.nest, s.geometry))),
        Stage::Expanded => joined(
            lowered
                .scheduled
                .iter()
                .map(|s| generated(&s.nest, |part| Ok(clif::expand_for(&part.nest, &*clif::host_isa()?)?.to_string()))),
        ),
        Stage::Code => joined(lowered.scheduled.iter().map(|s| {
            generated(&s.nest, |part| {
                let isa = clif::host_isa()?;
                let options = ClifOptions { vector: config.vector, form: part.form };
                Ok(clif::emit(&clif::expand_for(&part.nest, &*isa)?, &*isa, options)?.to_string())
            })
        })),
    }
}

/// The texts of the nests that code is generated for, each under what it does in a nest that reduces or scans.
fn generated(nest: &LoopNest, text: impl Fn(&Part) -> ndjit_ir::Result<String>) -> String {
    let parts = match split::generated(nest) {
        Ok(parts) => parts,
        Err(error) => return error.to_string(),
    };
    let texts = parts.iter().map(|part| {
        let heading = part.name.map_or(String::new(), |name| format!("{name}:\n"));
        heading + text(part).unwrap_or_else(|error| error.to_string()).trim_end()
    });
    about(nest) + &texts.collect::<Vec<String>>().join("\n")
}

/// What a reader of the parts of a reduction or a scan needs to know.
fn about(nest: &LoopNest) -> String {
    let Some(reduce) = &nest.reduce else { return String::new() };
    if reduce.scans() {
        let loops: Vec<String> =
            ScanParts::order(reduce.along).iter().enumerate().map(|(i, what)| format!("i{i} {what}")).collect();
        return format!(
            "blocks of {BLOCK} elements; local values in the first {} inputs and outputs, after them carries and results\n\
             loops of step: {}\n",
            reduce.outputs.len(),
            loops.join(", ")
        );
    }
    let loops: Vec<String> =
        Parts::order(reduce.along).iter().enumerate().map(|(i, what)| format!("i{i} {what}")).collect();
    let (loops, count) = (loops.join(", "), reduce.outputs.len());
    format!(
        "accumulators: {LANES} lanes for each block of {BLOCK} elements; in the first {count} inputs, which are the outputs' memory\n\
         loops of accumulate: {loops}\n"
    )
}

/// One text per kernel, with an empty line between.
fn joined(texts: impl Iterator<Item = String>) -> String {
    let texts: Vec<String> = texts.map(|t| t.trim_end().to_owned() + "\n").collect();
    texts.join("\n")
}

/// Prints the stages that the environment variable `NDJIT_DUMP` names, separated by commas, or `all`.
pub(crate) fn dump(lowered: &Lowered, config: &Config, settings: Settings) {
    static STAGES: OnceLock<Vec<Stage>> = OnceLock::new();
    let stages = STAGES.get_or_init(|| {
        let names = std::env::var("NDJIT_DUMP").unwrap_or_default();
        if names.trim() == "all" {
            return Stage::ALL.to_vec();
        }
        let mut stages = Vec::new();
        for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            match name.parse() {
                Ok(stage) => stages.push(stage),
                Err(message) => eprintln!("NDJIT_DUMP: {message}"),
            }
        }
        stages
    });
    for &stage in stages {
        eprintln!("== {} ==\n{}", stage.name(), text(lowered, stage, config, settings).trim_end());
    }
}
