//! Which public functions the fuzzer calls: all of them, but for a few with reasons.

use ndjit::{Array, Op, Reduction, Scan, Sort};
use ndjit_fuzz::api::calls;
use ndjit_fuzz::api::doors::DOORS;
use ndjit_fuzz::api::pool::Call;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files whose public functions are no part of the public API: their modules or types are private.
const PRIVATE: &[&str] = &["src/jit/erased.rs", "src/api/random/draw.rs"];

/// Public functions that are not called, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("divergence", "the former name of `first_mismatch`"),
    ("allocated", "an assertion, which panics on purpose"),
    ("in_place", "an assertion, which panics on purpose"),
    ("here", "an assertion, which panics on purpose"),
    ("kernels", "an assertion, which panics on purpose"),
    ("nothing_allocated", "an assertion, which panics on purpose"),
    ("nothing_compiled", "an assertion, which panics on purpose"),
    ("nothing_made", "an assertion, which panics on purpose"),
    ("set_casting", "a setting of all threads: tests/global_settings.rs"),
    ("set_default_dtype", "a setting of all threads: tests/global_settings.rs"),
    ("set_defaults", "a setting of all threads: tests/global_settings.rs"),
    ("set_device", "a setting of all threads: tests/global_settings.rs"),
    ("set_fallback", "a setting of all threads: tests/global_settings.rs"),
    ("set_pool_limit", "a setting of all threads: cli/tests/cli/memory.rs"),
    ("set_policy", "a setting of all threads: tests/global_settings.rs"),
    ("donated", "what `outputs!` expands to"),
    ("field_arrays", "what `outputs!` expands to"),
    ("only_array", "what `outputs!` expands to"),
    ("only_leaf", "what `outputs!` expands to"),
    ("tree", "what `outputs!` expands to"),
    ("asked", "of a private type"),
    ("add", "of a private type; `At::add` is called"),
    ("capabilities", "needs a GPU: tests/gpu/"),
    ("has", "needs a GPU: tests/gpu/"),
    ("list", "needs a GPU: tests/gpu/"),
    ("memory_taken", "needs a GPU: tests/gpu/"),
    ("release", "needs a GPU: tests/gpu/"),
    ("with_options", "needs a GPU: tests/gpu/"),
];

/// Functions that are called where another has the name of the row: in the source of the lists.
fn called_beside() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api");
    ["calls.rs", "doors.rs", "mod.rs", "value.rs", "values.rs"]
        .iter()
        .map(|file| std::fs::read_to_string(folder.join(file)).unwrap())
        .collect()
}

/// The public functions of the public API: name, and a file where it is.
fn public() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.join("src")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let file = path.strip_prefix(&root).unwrap().display().to_string();
            if PRIVATE.contains(&file.as_str()) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for line in text.lines().map(str::trim_start) {
                let function = line.strip_prefix("pub fn ").or(line.strip_prefix("pub const fn "));
                let name: String =
                    function.unwrap_or("").chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if !name.is_empty() {
                    found.insert(name, file.clone());
                }
            }
            if file == "src/lib.rs" {
                // Functions that macros make are named where they are exported.
                let used = text.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
                // Modules have one path in front of them, the room they stand in.
                let modules = |used: &&str| {
                    let (room, rest) = used.split_once("::").unwrap_or_default();
                    ["api", "diagnostics", "interop"].contains(&room) && !rest.contains("::") || rest == "operand"
                };
                for used in used.filter(|used| !modules(used)) {
                    let names = used.rsplit("::").next().unwrap_or("");
                    let names = names.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                    let functions = names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
                    let reexported = used.starts_with("half") || used.contains("promotion::{");
                    found.extend(functions.filter(|_| !reexported).map(|name| (name.to_owned(), file.clone())));
                }
            }
        }
    }
    found
}

#[test]
fn every_public_function_is_called() {
    let calls: Vec<Call<Array>> = calls::all();
    let mut called: BTreeSet<String> = calls.iter().map(|call| call.name.to_owned()).collect();
    called.extend(DOORS.iter().map(|door| door.name.to_owned()));
    let source = called_beside();
    let word =
        |before: &str| before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("").to_owned();
    called.extend(["(", "::<"].iter().flat_map(|after| source.match_indices(after)).map(|(at, _)| word(&source[..at])));
    called.extend(Op::ALL.map(|op| op.name().to_owned()));
    called.extend(Reduction::ALL.map(|reduction| reduction.name().to_owned()));
    called.extend(Scan::ALL.map(|scan| scan.name().to_owned()));
    called.extend(Sort::ALL.map(|sort| sort.name().to_owned()));
    let public = public();
    assert!(public.len() > 200, "only {} public functions are found", public.len());
    let missing: Vec<String> = public
        .iter()
        .filter(|(name, _)| !called.contains(*name) && !LEFT_OUT.iter().any(|(left, _)| left == name))
        .map(|(name, file)| format!("{name} of {file}"))
        .collect();
    assert!(missing.is_empty(), "call them in fuzz/src/api/, or say why not: {missing:#?}");
    for (name, why) in LEFT_OUT {
        assert!(public.contains_key(*name) && !why.is_empty(), "{name} is no public function");
    }
}
