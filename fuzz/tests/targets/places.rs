//! Places in graphs, explanations and errors are those of user calls: none is in the library's own sources. Facts of errors are about the
//! user's operands, not about intermediate ones of a function.

use ndjit::debug::collect_debug_output;
use ndjit::{Array, Error, Expr, Program, Stage, spec, weak};
use ndjit_fuzz::api::pool::Pool;
use ndjit_fuzz::api::value::Value;
use ndjit_fuzz::choices::Choices;
use std::collections::BTreeSet;
use std::path::Path;

/// The number of calls of each function, with different arguments.
const TIMES: u64 = 12;

/// The places in a text outside of this crate, in which all functions are called.
fn foreign(text: &str) -> impl Iterator<Item = &str> {
    // This file is deeper in the folder of all calls.
    let own = Path::new(file!()).ancestors().nth(3).unwrap();
    let words = text.split(|c: char| c.is_whitespace() || "`,;()".contains(c));
    words.filter(move |word| {
        word.split_once(".rs:")
            .is_some_and(|(file, at)| at.starts_with(|c: char| c.is_ascii_digit()) && !Path::new(file).starts_with(own))
    })
}

/// Bytes for choices.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..256)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

#[derive(Default)]
struct Seen {
    /// Places of the library, each with its call.
    foreign: BTreeSet<String>,
    /// Facts about intermediate operands.
    inner: BTreeSet<String>,
    graphs: usize,
    errors: usize,
}

impl Seen {
    fn look(&mut self, call: &str, text: &str) {
        self.foreign.extend(foreign(text).map(|place| format!("{call}: {place}")));
    }

    fn error(&mut self, call: &str, error: &Error) {
        self.errors += 1;
        // The result of an operation on the same line is not the user's operand, except keys, which calls create at their use, and arrays,
        // which are captured there.
        let here = error.place().map_or(String::new(), |place| format!(" at line {}", place.line));
        let is_inner = |fact: &&String| {
            fact.contains(" from ")
                && fact.ends_with(&here)
                && !["threefry2x32", "captured"].iter().any(|own| fact.contains(own))
        };
        self.inner
            .extend(error.facts().iter().filter(is_inner).map(|fact| format!("{call}: {}: {fact}", error.headline())));
        self.look(call, &error.to_string());
    }
}

fn inputs() -> [Array; 3] {
    let x = Array::from_rows(&[[1.0f32, -2.0, 3.0], [0.5, 2.0, 0.0]]);
    [x, Array::from_rows(&[[1, -2, 3], [0, 2, 0]]), Array::scalar(weak(2))]
}

#[test]
fn no_place_lies_in_the_library() {
    let mut seen = Seen::default();
    for (n, call) in Expr::calls().iter().enumerate() {
        for time in 0..TIMES {
            let bytes = bytes(n as u64 * TIMES + time);
            let specs = inputs().map(|x| spec(x.dtype(), x.shape().clone()));
            let traced = |p: &[Expr]| {
                let (mut pool, mut c) = (Pool::new(p.to_vec()), Choices::new(&bytes));
                match pool.step(call, &mut c) {
                    Ok(made) => made.into_iter().map(|entry| entry.value).collect(),
                    Err(error) => vec![ndjit::operand::ArrayLike::failed(error)],
                }
            };
            match Program::trace(&specs, traced) {
                Err(error) => seen.error(call.name, &error),
                Ok(program) => {
                    seen.graphs += 1;
                    // A program that cannot be lowered gives an error, also a text.
                    let text = program.explain(Stage::Graph).unwrap_or_else(|error| error.to_string());
                    seen.look(call.name, &text);
                    for result in 0..program.results().len() {
                        seen.look(
                            call.name,
                            &program.explain_dtype(result).map_or(String::new(), |why| why.to_string()),
                        );
                    }
                }
            }
        }
    }
    let found: Vec<&String> = seen.foreign.iter().chain(&seen.inner).collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(seen.graphs > 500 && seen.errors > 100, "{} graphs, {} errors", seen.graphs, seen.errors);
}

#[test]
fn nor_those_of_arrays() {
    let mut seen = Seen::default();
    for (n, call) in Array::calls().iter().enumerate() {
        for time in 0..TIMES {
            let bytes = bytes(n as u64 * TIMES + time);
            let (mut pool, mut c) = (Pool::new(inputs().to_vec()), Choices::new(&bytes));
            match collect_debug_output(|| pool.step(call, &mut c)).0 {
                Err(error) => seen.error(call.name, &error),
                Ok(made) => {
                    for entry in made {
                        match entry.value.error() {
                            Some(error) => seen.error(call.name, error),
                            None => {
                                seen.graphs += 1;
                                let why = entry.value.explain_dtype();
                                seen.look(
                                    call.name,
                                    &why.map_or_else(|error| error.to_string(), |why| why.to_string()),
                                );
                            }
                        }
                    }
                }
            }
        }
    }
    let found: Vec<&String> = seen.foreign.iter().chain(&seen.inner).collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(seen.graphs > 500 && seen.errors > 100, "{} graphs, {} errors", seen.graphs, seen.errors);
}
