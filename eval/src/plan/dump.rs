//! Printing of stages at compilation, selected by the environment variable `NDJIT_DUMP`.

use crate::scope::with_value;
use ndjit_inspect::listing::Inspection;
use ndjit_inspect::stage::{ALL, ProgramStage};
use ndjit_runtime::{environment, stderr};
use std::cell::Cell;
use std::sync::OnceLock;

/// The stages in a comma-separated list, each once and in pipeline order, and messages about invalid names.
fn named(list: &str) -> (Vec<ProgramStage>, Vec<String>) {
    let (mut wanted, mut wrong) = (Vec::new(), Vec::new());
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name.parse() {
            _ if name == ALL => wanted.extend(ProgramStage::ALL),
            Ok(stage) => wanted.push(stage),
            Err(message) => wrong.push(message),
        }
    }
    (ProgramStage::ALL.iter().copied().filter(|stage| wanted.contains(stage)).collect(), wrong)
}

thread_local! {
    static UNASKED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, whose programs are internal reads of elements. They are not printed.
pub fn unasked<R>(body: impl FnOnce() -> R) -> R {
    with_value(&UNASKED, true, body)
}

/// Prints the stages in the environment variable `NDJIT_DUMP`, separated by commas, or `all`.
pub fn dump<'a>(inspection: impl Fn() -> Inspection<'a>) {
    static STAGES: OnceLock<Vec<ProgramStage>> = OnceLock::new();
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
        stderr::line(format_args!("== {} ==\n{}", stage.name(), inspection().listing(stage).to_string().trim_end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_stages() {
        for list in ["all", "all,all", " all , graph,", "loops,all"] {
            assert_eq!(named(list), (ProgramStage::ALL.to_vec(), Vec::new()), "{list}");
        }
        assert_eq!(named("loops,graph,,loops"), (vec![ProgramStage::Graph, ProgramStage::Loops], Vec::new()));
        let (stages, wrong) = named("graph,kernel");
        assert_eq!((stages, wrong.len()), (vec![ProgramStage::Graph], 1));
        assert!(wrong[0].starts_with("unknown stage `kernel`; known are graph typed"), "{wrong:?}");
        assert!(wrong[0].ends_with("; did you mean `kernels`?"), "{wrong:?}");
    }
}
