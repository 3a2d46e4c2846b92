//! House rules: dependencies of each crate, the location of `unsafe`, headers of files, and ARCHITECTURE.md's consistency with
//! them.

use ndjit_tests::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file of the workspace's own folders.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = [
        "src",
        "drawing",
        "ir",
        "math",
        "transform",
        "codegen",
        "runtime",
        "inspect",
        "eval",
        "formats",
        "expressions",
        "engines",
        "cli",
        "fuzz",
        "tests",
        "benches",
        "tools",
        "examples",
        "python",
    ]
    .iter()
    .map(|f| root().join(f))
    .collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            // What is built or installed there is not the project's.
            let built = ["target", ".venv"].iter().any(|folder| path.ends_with(folder));
            if path.is_dir() && !built {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 40, "found only {} files", found.len());
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The crates in a manifest's `[dependencies]`.
pub(crate) fn dependencies(manifest: &str) -> Vec<String> {
    let text = read(&root().join(manifest));
    let section = text.split("\n[").find(|s| s.starts_with("dependencies]")).unwrap_or_default();
    let lines = section.lines().skip(1).filter(|l| !l.starts_with('#') && l.contains('='));
    lines.map(|l| l.split(['.', ' ', '=']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn nothing_points_back() {
    let allowed: &[(&str, &[&str])] = &[
        ("drawing/Cargo.toml", &[]),
        (
            "ir/Cargo.toml",
            &["ndjit-drawing", "half", "num-complex", "smallvec", "rustc-hash", "hashbrown", "serde_core"],
        ),
        ("math/Cargo.toml", &["ndjit-ir", "half", "smallvec", "rustc-hash"]),
        ("transform/Cargo.toml", &["ndjit-ir", "ndjit-math", "smallvec", "rustc-hash"]),
        (
            "codegen/Cargo.toml",
            &[
                "ndjit-ir",
                "ndjit-math",
                "ndjit-transform",
                "cranelift-codegen",
                "cranelift-frontend",
                "cranelift-native",
                "iced-x86",
                "smallvec",
                "rustc-hash",
            ],
        ),
        (
            "runtime/Cargo.toml",
            &[
                "ndjit-ir",
                "ndjit-math",
                "ndjit-codegen",
                "cranelift-codegen",
                "icache-coherence",
                "rustc-hash",
                "smallvec",
                "half",
                "num-complex",
                "wgpu",
                "naga",
                "pollster",
                "rspirv",
                "memmap2",
                "ash",
                "tracing",
                "arc-swap",
            ],
        ),
        (
            "inspect/Cargo.toml",
            &[
                "ndjit-drawing",
                "ndjit-ir",
                "ndjit-math",
                "ndjit-transform",
                "ndjit-codegen",
                "ndjit-runtime",
                "half",
                "num-complex",
                "rustc-hash",
                "smallvec",
                "similar",
                "serde_json",
            ],
        ),
        (
            "eval/Cargo.toml",
            &[
                "ndjit-ir",
                "ndjit-math",
                "ndjit-transform",
                "ndjit-codegen",
                "ndjit-runtime",
                "ndjit-inspect",
                "half",
                "rustc-hash",
                "smallvec",
            ],
        ),
        ("formats/Cargo.toml", &["ndjit-ir", "sha2"]),
        (
            "engines/Cargo.toml",
            &["ndjit-ir", "ndjit-math", "ndjit-transform", "ndjit-codegen", "ndjit-runtime", "ndjit-random"],
        ),
        ("tests/random/Cargo.toml", &["ndjit-ir", "ndjit-math", "ndjit-transform", "rustc-hash"]),
        ("expressions/Cargo.toml", &["ndjit"]),
        ("cli/Cargo.toml", &["ndjit", "ndjit-expressions", "clap", "indicatif", "rustix", "signal-hook"]),
        (
            "Cargo.toml",
            &[
                "ndjit-ir",
                "ndjit-math",
                "ndjit-transform",
                "ndjit-codegen",
                "ndjit-runtime",
                "ndjit-inspect",
                "ndjit-eval",
                "ndjit-formats",
                "half",
                "num-complex",
                "smallvec",
                "rustc-hash",
                "ndarray",
            ],
        ),
    ];
    for (manifest, allowed) in allowed {
        for dependency in dependencies(manifest) {
            assert!(allowed.contains(&dependency.as_str()), "{manifest} may not depend on {dependency}");
        }
    }
    assert!(!dependencies("ir/Cargo.toml").is_empty(), "the manifest reader finds dependencies");
}

#[test]
fn files_open_with_their_subject() {
    for path in sources() {
        let text = read(&path);
        assert!(text.starts_with("//!"), "{} does not open with //!", name(&path));
    }
}

#[test]
fn unsafe_stays_in_the_runtime() {
    for path in sources() {
        let file = name(&path);
        let may = file.starts_with("runtime/") || ["python/src/capsule.rs", "tests/it/house.rs"].contains(&&*file);
        let text = read(&path);
        let found = text.lines().find(|l| {
            let code = l.split("//").next().unwrap_or_default();
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|u| code.contains(u))
        });
        assert!(may || found.is_none(), "{file}: {}", found.unwrap_or_default());
    }
    for library in [
        "drawing/src/lib.rs",
        "ir/src/lib.rs",
        "math/src/lib.rs",
        "transform/src/lib.rs",
        "codegen/src/lib.rs",
        "inspect/src/lib.rs",
        "eval/src/lib.rs",
        "formats/src/lib.rs",
        "src/lib.rs",
        "expressions/src/lib.rs",
        "cli/src/lib.rs",
    ] {
        assert!(read(&root().join(library)).contains("#![forbid(unsafe_code)]"), "{library} forbids unsafe");
    }
    // One file of the Python package, whose other code is generated by macros that allow it.
    assert!(read(&root().join("python/src/lib.rs")).contains("#![deny(unsafe_code)]"));
}

/// The sources of the published crates, except the command line's.
const LIBRARIES: [&str; 11] = [
    "src/",
    "drawing/src/",
    "ir/src/",
    "math/src/",
    "transform/src/",
    "codegen/src/",
    "runtime/src/",
    "inspect/src/",
    "eval/src/",
    "formats/src/",
    "expressions/src/",
];

/// All locks are counted, except those around GPU drivers.
#[test]
fn every_lock_is_counted() {
    let counted = "ir/src/lock.rs";
    let mut seen = 0;
    for path in sources() {
        let file = name(&path);
        if !LIBRARIES.iter().any(|library| file.starts_with(library)) || file.starts_with("runtime/src/devices/gpu/") {
            continue;
        }
        let words = |line: &str| line.split(|c: char| !c.is_alphanumeric()).any(|w| ["Mutex", "RwLock"].contains(&w));
        let others = |line: &&str| {
            line.contains("sync::") && !line.contains("crate::sync::") && words(line) || line.contains("RwLock")
        };
        match read(&path).lines().find(others) {
            Some(line) if file != counted => panic!("{file}: {line}"),
            found => seen += usize::from(found.is_some()),
        }
    }
    assert_eq!(seen, 1, "the reader finds the one of {counted}");
}

/// Each storey of the runtime uses only those before it; devices, above them, use all.
#[test]
fn storeys_of_the_runtime_use_those_below() {
    const STOREYS: [&str; 4] = ["memory", "execution", "programs", "devices"];
    // Files beside the storeys, which use none.
    const COMMON: [&str; 9] =
        ["cache", "cancellation", "environment", "panics", "recent", "spans", "stderr", "sync", "system"];
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut uses = [0; STOREYS.len()];
    for path in sources() {
        let file = name(&path);
        let Some(own) = file.strip_prefix("runtime/src/").map(word) else { continue };
        let storey = STOREYS.iter().position(|storey| *storey == own);
        if storey.is_none() && !COMMON.contains(&&*own) {
            continue;
        }
        let below = &STOREYS[..storey.map_or(0, |storey| storey + 1)];
        let text = read(&path);
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let after = |prefix: &str| line.split(prefix).skip(1).map(word).collect::<Vec<String>>();
            for used in after("crate::") {
                assert!(below.contains(&&*used) || COMMON.contains(&&*used), "{file} may not use `{used}`: {line}");
                uses[storey.unwrap_or(0)] += 1;
            }
            let up = after("super::").into_iter().find(|used| STOREYS.contains(&&**used) && !below.contains(&&**used));
            assert_eq!(up, None, "{file}: {line}");
        }
    }
    assert!(uses.iter().all(|&uses| uses > 10), "found only so many uses in each storey: {uses:?}");
}

/// Only inference asks policies for the types of operations: all others ask inference, so that they agree.
#[test]
fn types_of_operations_are_inferred_in_one_place() {
    const RULES: [&str; 5] =
        [".op_types(", "policy.reduction_types(", ".resolve_op(", ".resolve_reduction(", "policy.resolve("];
    let own = ["ir/src/promotion/", "ir/src/infer/"];
    let others = sources().into_iter().filter(|path| {
        let file = name(path);
        LIBRARIES.iter().any(|library| file.starts_with(library)) && !own.iter().any(|folder| file.starts_with(folder))
    });
    for path in others {
        let asks = |line: &&str| !line.trim_start().starts_with("//") && RULES.iter().any(|rule| line.contains(rule));
        assert_eq!(read(&path).lines().find(asks), None, "{} asks a policy", name(&path));
    }
}

#[test]
fn nothing_is_left_to_do() {
    for path in sources() {
        let file = name(&path);
        if file == "tests/it/house.rs" {
            continue;
        }
        let text = read(&path);
        for word in ["todo!(", "unimplemented!(", "dbg!(", "#[ignore", "allow(dead_code", "allow(unused"] {
            assert!(!text.contains(word), "{file} contains {word}");
        }
    }
}

/// Errors are values: no code looks for words in their headlines and helps, or takes them apart.
#[test]
fn errors_are_not_read() {
    const TEXTS: [&str; 3] = ["headline()", "help_text()", "in_notation("];
    const READS: [&str; 9] =
        [".contains(", ".starts_with(", ".ends_with(", ".find(", ".replace(", ".lines()", ".split", ".strip_", ".trim"];
    let read_by = |line: &str| {
        let after = TEXTS.iter().filter_map(|text| line.split_once(text)).map(|(_, after)| after);
        after.flat_map(|after| READS.iter().filter(move |read| after.contains(**read))).next().copied()
    };
    assert_eq!(read_by("if error.headline().contains(word) {"), Some(".contains("));
    for path in sources() {
        let file = name(&path);
        if LIBRARIES.iter().chain(&["cli/src/", "python/src/"]).any(|library| file.starts_with(library)) {
            let text = read(&path);
            let own = text.lines().take_while(|line| !line.starts_with("mod tests {"));
            let found = own.filter(|line| !line.trim_start().starts_with("//")).find(|line| read_by(line).is_some());
            assert_eq!(found, None, "{file} reads an error's text: give the error a value for it");
        }
    }
}

#[test]
fn long_files_have_a_reason() {
    // File and why it is one file.
    const LONG: &[(&str, &str)] = &[("benches/src/llvm/generated.rs", "written by `ndjit-bench llvm --write`")];
    for path in sources() {
        let (file, lines) = (name(&path), read(&path).lines().count());
        let reason = LONG.iter().any(|(f, _)| *f == file);
        assert!(lines <= 600 || reason, "{file} has {lines} lines and no listed reason");
    }
}

/// Lines of code: neither blank nor comments, of which examples of public items are parts.
fn lines_of_code(text: &str) -> usize {
    text.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// CONTRIBUTING.md has the reason of the definition.
#[test]
fn no_crate_is_large() {
    const LARGEST: usize = 20_000;
    assert_eq!(lines_of_code("//! A subject.\n\nfn f() {} // why\n    /// ```\n    /// f();\n    fn g() {}\n"), 2);
    let sources = sources();
    for library in LIBRARIES.iter().chain(&["cli/src/", "engines/src/"]) {
        let own = sources.iter().filter(|path| name(path).starts_with(library));
        let lines: usize = own.map(|path| lines_of_code(&read(path))).sum();
        assert!((100..=LARGEST).contains(&lines), "{library} has {lines} lines of code");
    }
}

/// Diagnostics observe calls: the files that run plans name none.
#[test]
fn calls_name_no_diagnostic() {
    const DIAGNOSTICS: [&str; 6] = ["diagnostics", "nonfinite", "print", "counts", "misses", "check_nans"];
    for file in ["src/jit/run.rs", "eval/src/lazy/evaluate.rs"] {
        let text = read(&root().join(file));
        assert!(text.contains("Observers::of("), "{file} does not run plans");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            let named = DIAGNOSTICS.iter().find(|diagnostic| line.contains(*diagnostic));
            assert_eq!(named, None, "{file}: {line}");
        }
    }
}

#[test]
fn the_architecture_page_is_short() {
    let page = read(&root().join("ARCHITECTURE.md"));
    let lines = page.lines().count();
    assert!(lines <= 120, "ARCHITECTURE.md has {lines} lines");
    for (n, line) in page.lines().enumerate() {
        let length = line.chars().count();
        assert!(length <= 120, "line {} of ARCHITECTURE.md has {length} characters", n + 1);
    }
}

/// Paths are between backquotes.
#[test]
fn pages_for_contributors_name_what_exists() {
    for (name, least) in [("ARCHITECTURE.md", 40), ("docs/journey.md", 15)] {
        let page = read(&root().join(name));
        let mut checked = 0;
        for word in page.split('`').skip(1).step_by(2) {
            let looks_like_a_path = word.contains('/') && !word.contains([' ', '*', '<', ':', '\n', '|']);
            if looks_like_a_path {
                checked += 1;
                assert!(root().join(word).exists(), "{name} names `{word}`, which does not exist");
            }
        }
        assert!(checked >= least, "only {checked} paths of {name} checked");
    }
}

#[test]
fn the_architecture_page_has_every_pass() {
    let page = read(&root().join("ARCHITECTURE.md"));
    for (pass, stage) in ndjit_codegen::pipeline::passes() {
        assert!(page.contains(&format!("*{pass}*")), "ARCHITECTURE.md does not name the pass {pass}");
        assert!(page.contains(&format!("| {stage} |")), "ARCHITECTURE.md does not name the stage {stage}");
    }
}

/// The last names of the paths under `prefix` in a file, also in lists of `use`.
fn paths_under<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let rest = &text[at + prefix.len()..];
        let list = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').next().unwrap_or_default(),
        };
        let names = list.split([',', '\n']).map(|path| path.trim().rsplit("::").next().unwrap_or_default());
        found.extend(names.map(|name| name.split(" as ").next().unwrap_or_default()));
    }
    found
}

/// The modules of `codegen/src/passes/`, each with its pass.
const PASSES_OF_LOOPS: [(&str, &str); 8] = [
    ("expand", "expand"),
    ("fuse", "fuse"),
    ("legalize", "legalize"),
    ("loops", "loop_kernels"),
    ("ranges", "ranges"),
    ("schedule", "schedule"),
    ("split", "split"),
    ("tile", "tile"),
];

/// Tests may: they take a pass by itself.
#[test]
fn only_the_pipeline_calls_passes() {
    let mut passes: Vec<&str> = ndjit_codegen::pipeline::passes().map(|(pass, _)| pass).collect();
    // An analysis: its type has another name.
    passes.retain(|pass| *pass != "accesses");
    let modules = read(&root().join("codegen/src/passes/mod.rs"));
    assert_eq!(modules.matches("mod ").count(), PASSES_OF_LOOPS.len(), "each module of a pass is listed");
    let libraries = || LIBRARIES.iter().chain(&["cli/src/", "engines/src/", "benches/src/"]);
    let (mut seen, mut taken, mut called) = (0, Vec::new(), Vec::new());
    for path in sources() {
        let file = name(&path);
        if !libraries().any(|library| file.starts_with(library)) {
            continue;
        }
        seen += 1;
        let text = read(&path);
        let text = text.split("\nmod tests {").next().unwrap_or_default();
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let code = code.join("\n");
        let mut found = [paths_under(&code, "ndjit_transform::"), paths_under(&code, "passes::")].concat();
        if file.starts_with("transform/src/") && file != "transform/src/lib.rs" {
            let inside = passes.iter().flat_map(|pass| [format!("crate::{pass}::"), format!("super::{pass}::")]);
            found
                .extend(inside.flat_map(|prefix| paths_under(&code, &prefix)).chain(paths_under(&code, "use crate::")));
        }
        found.retain(|name| passes.contains(name));
        for (module, pass) in PASSES_OF_LOOPS {
            let inside = file.starts_with("codegen/src/passes/").then(|| format!("super::{module}::"));
            let prefixes = [format!("passes::{module}::")].into_iter().chain(inside);
            found.extend(prefixes.flat_map(|prefix| paths_under(&code, &prefix)).filter(|name| *name == pass));
        }
        match file == "codegen/src/pipeline.rs" || file.starts_with("codegen/src/pipeline/") {
            true => taken.extend(found.into_iter().map(str::to_owned)),
            false => called.extend(found.into_iter().map(|pass| format!("{file}: {pass}"))),
        }
    }
    assert!(seen > 200, "found only {seen} files");
    for pass in passes {
        assert!(taken.iter().any(|name| name == pass), "the pipeline takes `{pass}` from no module: {taken:?}");
    }
    assert!(called.is_empty(), "only the pipeline calls passes: {called:?}");
}

/// A file's types, outside of tests: those of modules, functions and macros too.
fn types(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut lines = text.lines().take_while(|line| !line.starts_with("mod tests {")).peekable();
    while let Some(whole) = lines.next() {
        let line = whole.trim_start();
        // A macro of ids defines a type of the name after its comment.
        if line == "entity! {" {
            while lines.next_if(|line| line.trim_start().starts_with("//")).is_some() {}
            found.extend(lines.peek().and_then(|line| line.split_whitespace().next()));
        }
        let definition = match line.strip_prefix("pub(") {
            Some(rest) => rest.split_once(") ").map_or("", |(_, rest)| rest),
            None => line.strip_prefix("pub ").unwrap_or(line),
        };
        let definition = definition.strip_prefix("unsafe ").unwrap_or(definition);
        let ty = ["struct ", "enum ", "trait ", "union "].iter().find_map(|kind| definition.strip_prefix(kind));
        // Aliases at top level are types as well; deeper ones belong to traits.
        let alias = definition.strip_prefix("type ").filter(|_| line == whole);
        let name = ty.or(alias).and_then(|ty| ty.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        // A macro's variable has no name.
        found.extend(name.filter(|name| !name.is_empty()));
    }
    found
}

#[test]
fn types_of_modules_functions_and_macros_are_found() {
    let text = "pub struct A;\nmod m {\n    pub(crate) trait B {\n        type Not;\n    }\n}\nfn f() {\n    enum C {}\n}\n\
        entity! {\n    /// An id.\n    D \"%\"\n}\nmacro_rules! m {\n    () => {\n        pub enum E {}\n        struct $name;\n    };\n}\n\
        type F = A;\nmod tests {\n    struct Not;\n}\n";
    assert_eq!(types(text), ["A", "B", "C", "D", "E", "F"]);
}

/// A type's name identifies its part of the libraries and of the command line. Exceptions are in the glossary.
#[test]
fn no_type_name_is_defined_twice() {
    let glossary = read(&root().join("docs/glossary.md"));
    let listed: Vec<&str> = glossary.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next()).collect();
    let mut defined: Vec<(String, String)> = Vec::new();
    for path in sources() {
        let file = name(&path);
        if LIBRARIES.iter().chain(&["cli/src/", "python/src/"]).any(|library| file.starts_with(library)) {
            let text = read(&path);
            defined.extend(types(&text).into_iter().map(|ty| (ty.to_owned(), file.clone())));
        }
    }
    assert!(defined.len() > 500, "found only {} types", defined.len());
    // Variants of one type for several systems are in one file.
    defined.sort();
    defined.dedup();
    let twice: Vec<&[(String, String)]> = defined.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1).collect();
    let unlisted: Vec<&&[(String, String)]> = twice.iter().filter(|same| !listed.contains(&&*same[0].0)).collect();
    assert!(
        unlisted.is_empty(),
        "name each after what it is there, or list the name in docs/glossary.md: {unlisted:#?}"
    );
    for ty in listed {
        assert!(twice.iter().any(|same| same[0].0 == ty), "docs/glossary.md lists {ty}, which is defined once at most");
    }
}
