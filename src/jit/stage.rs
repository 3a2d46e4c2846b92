//! Looking into a program: the text of each stage of the pipeline.

use ndjit_codegen::Lowered;
use std::fmt::Write;
use std::str::FromStr;
use std::sync::OnceLock;

macro_rules! stages {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// A stage of the pipeline, from the traced graph to machine code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Stage { $(#[doc = $doc] $variant,)* }

        impl Stage {
            /// All stages, in the order programs pass them.
            pub const ALL: &'static [Stage] = &[$(Stage::$variant),*];

            /// The name in `NDJIT_DUMP`.
            pub const fn name(self) -> &'static str {
                match self { $(Stage::$variant => $name,)* }
            }
        }
    };
}

stages! {
    Graph "graph" "The graph as traced, with weak types and the places of nodes.";
    Typed "typed" "Every dtype resolved, every cast explicit.";
    Simplified "simplified" "After the rewrite rules.";
    Kernels "kernels" "What is computed in one loop nest.";
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

/// The text of one stage.
pub(crate) fn text(lowered: &Lowered, stage: Stage) -> String {
    let mut text = String::new();
    match stage {
        Stage::Graph => text = format!("{:?}", lowered.traced),
        Stage::Typed => text = format!("{:?}", lowered.typed),
        Stage::Simplified => text = format!("{:?}", lowered.simplified),
        Stage::Kernels => {
            for kernel in &lowered.kernels {
                let _ = writeln!(text, "{kernel:?}");
            }
        }
        Stage::Loops | Stage::Expanded | Stage::Code => {
            for scheduled in &lowered.scheduled {
                let _ = writeln!(text, "{:?}", scheduled.nest);
            }
        }
    }
    text
}

/// Prints the stages that the environment variable `NDJIT_DUMP` names, separated by commas, or `all`.
pub(crate) fn dump(lowered: &Lowered) {
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
        eprintln!("== {} ==\n{}", stage.name(), text(lowered, stage).trim_end());
    }
}
