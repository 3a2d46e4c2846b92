//! The names of the pipeline's stages, for listings, pictures and `NDJIT_DUMP`.

use ndjit_ir::nearest;
use std::str::FromStr;

macro_rules! stages {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// A stage of the pipeline, from the traced graph to machine code.
        ///
        /// ```
        /// use ndjit_inspect::stage::ProgramStage;
        ///
        /// for stage in ProgramStage::ALL {
        ///     assert_eq!(stage.name().parse(), Ok(*stage));
        /// }
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ProgramStage { $(#[doc = $doc] $variant,)* }

        impl ProgramStage {
            /// All stages, in pipeline order.
            pub const ALL: &'static [ProgramStage] = &[$(ProgramStage::$variant),*];

            /// The name in `NDJIT_DUMP`.
            pub const fn name(self) -> &'static str {
                match self { $(ProgramStage::$variant => $name,)* }
            }
        }
    };
}

stages! {
    Graph "graph" "The graph as traced, with weak types and the places of nodes.";
    Typed "typed" "Every dtype resolved, every cast explicit, with its reason.";
    Simplified "simplified" "After the rewrite rules.";
    Kernels "kernels" "What is computed in one loop nest, and which nests run as one kernel, tile by tile.";
    Loops "loops" "The loop nests over ops.";
    Expanded "expanded" "The loop nests over primitives.";
    Clif "clif" "The functions that Cranelift compiles for the processor.";
    Assembly "assembly" "The processor's instructions, under the lines of `expanded` that they do. Those of x86-64 with the feature `disassembler`.";
    Wgsl "wgsl" "The modules that a GPU runs.";
    Spirv "spirv" "The same as SPIR-V, where the feature `gpu` is on.";
}

impl FromStr for ProgramStage {
    type Err = String;

    fn from_str(text: &str) -> Result<ProgramStage, String> {
        ProgramStage::ALL.iter().copied().find(|s| s.name() == text).ok_or_else(|| {
            let known: Vec<&str> = ProgramStage::ALL.iter().map(|s| s.name()).collect();
            let near = nearest(text, known.iter().copied().chain([ALL]));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            format!("unknown stage `{text}`; known are {}{near}", known.join(" "))
        })
    }
}

/// The name of all stages.
pub const ALL: &str = "all";
