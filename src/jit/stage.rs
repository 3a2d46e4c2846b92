//! The names of the pipeline stages.

use ndjit_inspect::stage::ProgramStage;
use std::str::FromStr;

macro_rules! stages {
    ($($variant:ident $doc:literal;)*) => {
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
            /// All stages, in pipeline order.
            ///
            /// ```
            /// use ndjit::Stage;
            ///
            /// assert_eq!(Stage::ALL[0], Stage::Graph);
            /// ```
            pub const ALL: &'static [Stage] = &[$(Stage::$variant),*];

            /// Returns the name in `NDJIT_DUMP`.
            ///
            /// ```
            /// use ndjit::Stage;
            ///
            /// assert_eq!(Stage::Loops.name(), "loops");
            /// ```
            pub const fn name(self) -> &'static str {
                self.of_program().name()
            }

            /// Returns the stage in listings and drawings of programs.
            pub(crate) const fn of_program(self) -> ProgramStage {
                match self { $(Stage::$variant => ProgramStage::$variant,)* }
            }

            fn named(stage: ProgramStage) -> Stage {
                match stage { $(ProgramStage::$variant => Stage::$variant,)* }
            }
        }
    };
}

stages! {
    Graph "The graph as traced, with weak types and the places of nodes.";
    Typed "Every dtype resolved, every cast explicit, with its reason.";
    Simplified "After the rewrite rules.";
    Kernels "What is computed in one loop nest, and which nests run as one kernel, tile by tile.";
    Loops "The loop nests over ops.";
    Expanded "The loop nests over primitives.";
    Clif "The functions that Cranelift compiles for the processor.";
    Assembly "The processor's instructions, under the lines of `expanded` that they do. Those of x86-64 with the feature `disassembler`.";
    Wgsl "The modules that a GPU runs.";
    Spirv "The same as SPIR-V, where the feature `gpu` is on.";
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Stage, String> {
        text.parse().map(Stage::named)
    }
}
