//! Printing of stages and of what passes make, selected by the environment variable `NDJIT_DUMP`.

use crate::scope::with_value;
use ndjit_codegen::pipeline::{PassObserver, passes, target_passes};
use ndjit_inspect::clock::Clock;
use ndjit_inspect::listing::Inspection;
use ndjit_inspect::stage::{ALL, ProgramStage};
use ndjit_ir::nearest;
use ndjit_runtime::{environment, stderr};
use std::cell::Cell;
use std::fmt::Display;
use std::sync::OnceLock;

/// What is printed, each once and in pipeline order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Dumped {
    stages: Vec<ProgramStage>,
    /// Passes after which the program is printed.
    passes: Vec<&'static str>,
}

/// The stages and passes in a comma-separated list, and messages about invalid names.
fn named(list: &str) -> (Dumped, Vec<String>) {
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let stage = |stage: &ProgramStage| names.contains(&stage.name()) || names.contains(&ALL);
    let passes = || passes().map(|(pass, _)| pass);
    let dumped = Dumped {
        stages: ProgramStage::ALL.iter().copied().filter(stage).collect(),
        passes: passes().filter(|pass| names.contains(pass)).collect(),
    };
    let stages = || ProgramStage::ALL.iter().map(|stage| stage.name());
    let known: Vec<&str> = stages().chain(passes()).chain([ALL]).collect();
    let wrong = names.iter().filter(|name| !known.contains(name)).map(|name| {
        let near = nearest(name, known.iter().copied());
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let (stages, passes) = (stages().collect::<Vec<_>>().join(" "), passes().collect::<Vec<_>>().join(" "));
        format!("`{name}` is neither a stage nor a pass; stages are {stages}; passes are {passes}{near}")
    });
    let wrong = wrong.collect();
    (dumped, wrong)
}

thread_local! {
    static UNASKED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, whose programs are internal reads of elements. They are not printed.
pub fn unasked<R>(body: impl FnOnce() -> R) -> R {
    with_value(&UNASKED, true, body)
}

/// What the environment variable `NDJIT_DUMP` names, separated by commas; `None` in internal programs.
fn dumped() -> Option<&'static Dumped> {
    static DUMPED: OnceLock<Dumped> = OnceLock::new();
    if UNASKED.get() {
        return None;
    }
    Some(DUMPED.get_or_init(|| {
        const NAME: &str = "NDJIT_DUMP";
        let (dumped, wrong) = environment::read(NAME, |list| Ok(named(list))).unwrap_or_default();
        wrong.iter().for_each(|message| environment::tell(NAME, message));
        dumped
    }))
}

/// Prints a text under a heading.
fn print(heading: impl Display, text: impl Display) {
    stderr::line(format_args!("== {heading} ==\n{}", text.to_string().trim_end()));
}

/// Prints the selected stages of a compiled program, and its nests after the selected passes of the target half.
pub fn dump<'a>(inspection: impl Fn() -> Inspection<'a>) {
    let Some(Dumped { stages, passes }) = dumped() else { return };
    for (pass, _) in target_passes().filter(|(pass, _)| passes.contains(pass)) {
        print(format_args!("after {pass}"), inspection().after(pass));
    }
    for &stage in stages {
        print(stage.name(), inspection().listing(stage));
    }
}

/// Times the passes of the portable half, and prints the program after those that are selected.
pub struct PassReport<'a> {
    /// The clock of the program's stages.
    pub clock: &'a mut Clock,
    /// The graph of control flow in each enclosing one, as `for body`.
    pub within: Vec<String>,
}

impl PassObserver for PassReport<'_> {
    fn begins(&mut self, pass: &'static str) {
        self.clock.pass(pass);
    }

    fn ends(&mut self, pass: &'static str, made: &dyn Display) {
        self.clock.stop();
        if dumped().is_some_and(|dumped| dumped.passes.contains(&pass)) {
            let within: String = self.within.iter().map(|graph| format!(", {graph}")).collect();
            print(format_args!("after {pass}{within}"), made);
        }
    }

    fn enters(&mut self, control: &'static str, graph: &'static str) {
        self.within.push(format!("{control} {graph}"));
    }

    fn leaves(&mut self) {
        self.within.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_stages_and_passes() {
        for list in ["all", "all,all", " all , graph,", "loops,all"] {
            let all = Dumped { stages: ProgramStage::ALL.to_vec(), passes: Vec::new() };
            assert_eq!(named(list), (all, Vec::new()), "{list}");
        }
        let expected =
            Dumped { stages: vec![ProgramStage::Graph, ProgramStage::Loops], passes: vec!["views", "legalize"] };
        assert_eq!(named("loops,legalize,graph,,loops, views,legalize"), (expected, Vec::new()));
        for (pass, _) in passes() {
            assert_eq!(named(pass), (Dumped { stages: Vec::new(), passes: vec![pass] }, Vec::new()));
            assert!(
                ProgramStage::ALL.iter().all(|stage| stage.name() != pass) && pass != ALL,
                "{pass} has two meanings"
            );
        }
        let (dumped, wrong) = named("graph,kernel,legalise");
        assert_eq!((dumped.stages, dumped.passes, wrong.len()), (vec![ProgramStage::Graph], Vec::new(), 2));
        assert!(wrong[0].starts_with("`kernel` is neither a stage nor a pass; stages are graph typed"), "{wrong:?}");
        assert!(
            wrong[0].contains(" spirv; passes are inline ") && wrong[0].contains(" legalize; did you"),
            "{wrong:?}"
        );
        assert!(wrong[0].ends_with("; did you mean `kernels`?"), "{wrong:?}");
        assert!(wrong[1].ends_with("; did you mean `legalize`?"), "{wrong:?}");
    }
}
