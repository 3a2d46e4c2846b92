//! The fuzz targets on their seeds, on past findings, and on some mutated inputs; and that every public function is called.

mod counted;
mod places;
mod public;

use ndjit_fuzz::TARGETS;
use ndjit_fuzz::mutate::Mutator;

#[test]
fn seeds_are_read() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(seeds.len() > 5, "{}: {} seeds", target.name, seeds.len());
        let read = |seed: &&Vec<u8>| {
            let outcome = (target.run)(seed);
            !["expected", "error"].iter().any(|word| outcome.contains(word)) || outcome.starts_with("a graph")
        };
        let refused = seeds.iter().filter(|seed| !read(seed)).count();
        assert_eq!(refused, 0, "{}", target.name);
    }
}

/// Past findings: each file is an input of the target in its name's prefix.
#[test]
fn findings_stay_mended() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let mut run = 0;
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        let target = TARGETS.iter().find(|target| name.split('-').next() == Some(target.name));
        (target.unwrap_or_else(|| panic!("{name} names no target")).run)(&std::fs::read(file.path()).unwrap());
        run += 1;
    }
    assert!(run > 0, "there are findings");
}

#[test]
fn mutated_seeds_break_nothing() {
    for target in TARGETS {
        let mut mutator = Mutator::new(7, (target.seeds)());
        for _ in 0..2_000 {
            let input = mutator.next();
            mutator.learn(&input, (target.run)(&input));
        }
        assert!(mutator.outcomes() > 5, "{}: {} outcomes", target.name, mutator.outcomes());
    }
}
