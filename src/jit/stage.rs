//! The stages of the pipeline by name, and the environment variable that prints them.

use crate::diagnostics::inspect::Looked;
use ndjit_ir::nearest;
use ndjit_runtime::{environment, stderr};
use std::cell::Cell;
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
    Clif "clif" "The functions that Cranelift compiles for the processor.";
    Assembly "assembly" "The processor's instructions, under the lines of `expanded` that they do. Those of x86-64 with the feature `disassembler`.";
    Wgsl "wgsl" "The modules that a GPU runs.";
    Spirv "spirv" "The same as SPIR-V, where the feature `gpu` is on.";
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Stage, String> {
        Stage::ALL.iter().copied().find(|s| s.name() == text).ok_or_else(|| {
            let known: Vec<&str> = Stage::ALL.iter().map(|s| s.name()).collect();
            let near = nearest(text, known.iter().copied().chain([ALL]));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            format!("unknown stage `{text}`; known are {}{near}", known.join(" "))
        })
    }
}

/// The name of every stage at once.
const ALL: &str = "all";

/// The stages that a list separated by commas names, each once and in the order of programs, and what is wrong with other names.
fn named(list: &str) -> (Vec<Stage>, Vec<String>) {
    let (mut wanted, mut wrong) = (Vec::new(), Vec::new());
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name.parse() {
            _ if name == ALL => wanted.extend(Stage::ALL),
            Ok(stage) => wanted.push(stage),
            Err(message) => wrong.push(message),
        }
    }
    (Stage::ALL.iter().copied().filter(|stage| wanted.contains(stage)).collect(), wrong)
}

thread_local! {
    static UNASKED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, whose programs nobody wrote: the library looks at elements with them. They are not printed.
pub(crate) fn unasked<R>(body: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            UNASKED.set(self.0);
        }
    }
    let _restore = Restore(UNASKED.replace(true));
    body()
}

/// Prints the stages that the environment variable `NDJIT_DUMP` names, separated by commas, or `all`.
pub(crate) fn dump<'a>(looked: impl Fn() -> Looked<'a>) {
    static STAGES: OnceLock<Vec<Stage>> = OnceLock::new();
    if UNASKED.get() {
        return;
    }
    let stages = STAGES.get_or_init(|| {
        const NAME: &str = "NDJIT_DUMP";
        let (stages, wrong) = environment::read(NAME, |list| Ok(named(list))).unwrap_or_default();
        wrong.iter().for_each(|message| environment::tell(NAME, message));
        stages
    });
    for &stage in stages {
        stderr::line(format_args!("== {} ==\n{}", stage.name(), looked().listing(stage).to_string().trim_end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_stages() {
        for list in ["all", "all,all", " all , graph,", "loops,all"] {
            assert_eq!(named(list), (Stage::ALL.to_vec(), Vec::new()), "{list}");
        }
        assert_eq!(named("loops,graph,,loops"), (vec![Stage::Graph, Stage::Loops], Vec::new()));
        let (stages, wrong) = named("graph,kernel");
        assert_eq!((stages, wrong.len()), (vec![Stage::Graph], 1));
        assert!(wrong[0].starts_with("unknown stage `kernel`; known are graph typed"), "{wrong:?}");
        assert!(wrong[0].ends_with("; did you mean `kernels`?"), "{wrong:?}");
    }
}
