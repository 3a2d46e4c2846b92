//! Fuzz targets: plain functions of bytes, with seed inputs. Parsers, public functions with hostile arguments, and random programs on all
//! engines.
//!
//! A target panics on a broken invariant: parsed input must verify or give an error, print, and parse back to the same text. The driver
//! (`main.rs`) watches time and memory. Another driver, such as cargo-fuzz's, needs one line per target: `fuzz_target!(|data: &[u8]| {
//! ndjit_fuzz::graph(data); })`.

#![forbid(unsafe_code)]

pub mod api;
pub mod choices;
pub mod counts;
pub mod mutate;
pub mod outcome;
pub mod programs;
pub mod refusals;
pub mod saved;
pub mod seeds;
pub mod soak;

use ndjit_ir::body::Body;
use ndjit_ir::graph::{Graph, SourceLocs, Type};
use ndjit_ir::kernel::parse_kernels;
use ndjit_ir::loops::parse_nests;
use ndjit_ir::{DType, Error, Shape, ValueType};
use ndjit_transform::contraction::{Subscripts, order};
use ndjit_transform::inline;
use outcome::Outcome;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// The maximum number of nodes of programs tested with inlined calls.
const MOST_WRITTEN_OUT: usize = 20_000;

/// A fuzz target.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&[u8]) -> Outcome,
    /// Valid inputs, as seeds of mutations.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Whether its inputs are numbers, as eight bytes: each is tried once.
    pub numbered: bool,
    /// The maximum number of bytes that one input may allocate in all.
    pub most_bytes: u64,
    /// The maximum processor time of one input.
    pub most_time: Duration,
}

/// The default of that maximum.
const MOST_BYTES: u64 = 256 << 20;
/// The maximum for programs: interpreted loops allocate some small blocks per element, two million, of 300 MB, for forty operations on 5000
/// elements without fusion; 2 GB in all for the largest of 35,000 programs.
const MOST_BYTES_OF_PROGRAMS: u64 = 4 << 30;

/// The default of the maximum time.
const MOST_TIME: Duration = Duration::from_secs(1);
/// The maximum for programs, which are interpreted several times: the longest of 35,000 took 1.2 s with the checks of a debug build.
const MOST_TIME_OF_PROGRAMS: Duration = Duration::from_secs(4);

/// All targets.
pub const TARGETS: &[Target] = &[
    changing("graph", graph, seeds::graphs),
    changing("kernels", kernels, seeds::kernels),
    changing("loops", loops, seeds::loops),
    changing("body", body, seeds::bodies),
    changing("npy", npy, seeds::npy_files),
    changing("saved", saved::saved, seeds::saved_files),
    changing("sealed", saved::sealed, seeds::saved_files),
    changing("table", table, seeds::tables),
    changing("subscripts", subscripts, seeds::subscripts),
    changing("expression", expression, seeds::expressions),
    changing("api", api::api, seeds::choices),
    changing("doors", api::doors, seeds::choices),
    Target {
        name: "programs",
        run: programs::programs,
        seeds: seeds::numbers,
        numbered: true,
        most_bytes: MOST_BYTES_OF_PROGRAMS,
        most_time: MOST_TIME_OF_PROGRAMS,
    },
];

const fn changing(name: &'static str, run: fn(&[u8]) -> Outcome, seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds, numbered: false, most_bytes: MOST_BYTES, most_time: MOST_TIME }
}

/// Expressions.
pub fn expression(data: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(data) else { return String::new() };
    match ndjit_expressions::parse(text) {
        Ok(expression) => {
            let printed = expression.to_string();
            match ndjit_expressions::parse(&printed) {
                Ok(again) => assert_eq!(again.to_string(), printed, "an expression reads back as another"),
                Err(problem) => panic!("an expression does not read back: {problem}"),
            }
            "an expression".to_owned()
        }
        Err(problem) => outcome(&problem.into()),
    }
}

/// Subscripts of `einsum`, and their meaning for arrays with some axes.
pub fn subscripts(data: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(data) else { return String::new() };
    let subscripts = match text.parse::<Subscripts>() {
        Ok(subscripts) => subscripts,
        Err(error) => return outcome(&error),
    };
    prints_back(&subscripts);
    let arity = subscripts.arity().min(64);
    let outcomes = (0..5).map(|rank| match subscripts.contraction(&vec![rank; arity]) {
        Ok(contraction) => match contraction.extents(&vec![Shape::from(vec![2; rank]); arity]) {
            Ok(extents) => format!("{} products ", order::order(&contraction, &extents).len()),
            Err(mismatch) => panic!("equal extents do not meet: {mismatch}"),
        },
        Err(error) => error.code().name().to_owned(),
    });
    format!("subscripts {}", outcomes.collect::<String>())
}

/// Graph text, traced and typed. Valid graphs stay valid when their calls are inlined, up to a limit.
pub fn graph(data: &[u8]) -> Outcome {
    fn written_out<T: Type>(graph: &Graph<T>, verify: fn(&Graph<T>) -> ndjit_ir::Result<()>) -> Outcome {
        if let Err(error) = graph.check_expansion() {
            return outcome(&error);
        }
        if graph.expanded() <= MOST_WRITTEN_OUT {
            match inline(graph, &SourceLocs::default()) {
                Ok((flat, _)) => {
                    verify(&flat).unwrap_or_else(|error| panic!("written out it is not well-formed: {error}\n{graph}"))
                }
                Err(error) => panic!("it is not written out: {error}\n{graph}"),
            }
        }
        "a graph".to_owned()
    }
    fn read<T: Type>(text: &str, verify: fn(&Graph<T>) -> ndjit_ir::Result<()>) -> Outcome
    where
        Graph<T>: FromStr<Err = Error>,
    {
        match text.parse::<Graph<T>>() {
            Ok(graph) => {
                prints_back(&graph);
                verify(&graph).map_or_else(|error| outcome(&error), |()| written_out(&graph, verify))
            }
            Err(error) => outcome(&error),
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return String::new() };
    read::<ValueType>(text, Graph::<ValueType>::verify) + &read::<DType>(text, Graph::<DType>::verify)
}

/// The text of fused kernels.
pub fn kernels(data: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(data) else { return String::new() };
    match parse_kernels(text) {
        Ok(kernels) => {
            kernels.iter().for_each(prints_back);
            format!("{} kernels", kernels.len())
        }
        Err(error) => outcome(&error),
    }
}

/// The text of loop nests and geometries.
pub fn loops(data: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(data) else { return String::new() };
    match parse_nests(text) {
        Ok(nests) => {
            for (nest, domain) in &nests {
                prints_back(nest);
                domain.iter().for_each(prints_back);
                if let Some(domain) = domain {
                    // Empty buffers: errors must not panic.
                    let none = |count: usize| vec![0; count];
                    drop(domain.verify(nest, &none(nest.inputs.len()), &none(nest.outputs.len())));
                }
            }
            format!("{} nests", nests.len())
        }
        Err(error) => outcome(&error),
    }
}

/// The text of bodies of primitives.
pub fn body(data: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(data) else { return String::new() };
    match text.parse::<Body>() {
        Ok(body) => {
            prints_back(&body);
            "a body".to_owned()
        }
        Err(error) => outcome(&error),
    }
}

/// `.npy` files in memory.
pub fn npy(data: &[u8]) -> Outcome {
    match ndjit::Array::from_npy(data) {
        Ok(array) => array.dtype().to_string(),
        Err(error) => outcome(&error),
    }
}

/// The memory limit of a fuzzer's tables.
const TABLE: usize = 1 << 20;

/// `.csv` files, all columns and one, within a memory limit that is completely released.
pub fn table(data: &[u8]) -> Outcome {
    let budget = ndjit_expressions::Budget::new(TABLE);
    let columns = [None, Some("a"), Some("1")];
    let outcomes = columns.map(|column| match ndjit_cli::table::parse(data, column, &budget) {
        Ok((array, _memory)) => {
            let taken = TABLE - budget.left();
            assert!(array.len() * 8 <= taken, "{} elements in {taken} bytes", array.len());
            assert_eq!(array.shape().rank(), if column.is_some() { 1 } else { 2 });
            array.dtype().to_string()
        }
        Err(error) => outcome(&error),
    });
    assert_eq!(budget.left(), TABLE, "memory is taken by nothing");
    outcomes.join(" ")
}

/// A parsed value prints as a text that parses to the same.
fn prints_back<T: Display + FromStr<Err = Error>>(value: &T) {
    let text = value.to_string();
    match text.parse::<T>() {
        Ok(read) => assert_eq!(read.to_string(), text, "it prints otherwise after it was read"),
        Err(error) => panic!("its own text does not parse: {error}\n{text}"),
    }
}

/// The message of an error, without names and numbers.
pub(crate) fn outcome(error: &Error) -> Outcome {
    let facts = error.facts().first().map_or("", String::as_str);
    let said = format!("{} {facts}", error.headline());
    let quoted = said.split('`').step_by(2).collect::<String>();
    quoted.chars().filter(|c| !c.is_ascii_digit()).collect()
}
