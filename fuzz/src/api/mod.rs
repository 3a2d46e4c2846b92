//! Calls of public functions with hostile arguments, in every mode of execution: a call returns a value or an error, the same in every
//! mode.

pub mod bodies;
pub mod calls;
pub mod doors;
mod modes;
pub mod pool;
pub mod value;
pub mod values;

use crate::choices::Choices;
use crate::outcome::Outcome;
use ndjit::debug::{collect_debug_output, with_jit_disabled};
use ndjit::operand::ArrayLike;
use ndjit::{Array, Error, ErrorCode, Expr, Policy, Program, Result, Spec, Stage, VectorWidth, jit, with_policy};
use ndjit_math::interp::Tensor;
use pool::{Pool, Size};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use value::Value;

/// Whether calls are printed as they run: an input that ends the process leaves nothing else.
pub static ALOUD: AtomicBool = AtomicBool::new(false);

fn tell(line: String) {
    if ALOUD.load(Relaxed) {
        println!("  {line}");
    }
}

/// A sequence of calls.
#[derive(Clone)]
struct Case {
    choices: Choices,
    inputs: [Array; 3],
}

/// The outcome of the calls.
struct Ran<R> {
    pool: Pool<R>,
    /// The number of successful calls.
    steps: usize,
    /// The failed call.
    failed: Option<(&'static str, Error)>,
}

impl Case {
    /// Runs up to so many calls; `look` checks each value, and may reject it.
    fn run<R: Value>(&self, inputs: Vec<R>, most: usize, look: impl Fn(&R, Size) -> Result<()>) -> Ran<R> {
        let (mut c, mut pool) = (self.choices.clone(), Pool::new(inputs));
        for step in 0..most {
            let calls = R::calls();
            let call = &calls[c.below(calls.len())];
            tell(format!("{} of {}", call.name, std::any::type_name::<R>()));
            let before = pool.entries.len();
            let made = pool
                .step(call, &mut c)
                .and_then(|entries| entries.iter().try_for_each(|entry| look(&entry.value, entry.size)));
            if let Err(error) = made {
                pool.entries.truncate(before);
                return Ran { pool, steps: step, failed: Some((call.name, error)) };
            }
        }
        Ran { pool, steps: most, failed: None }
    }

    /// The computed values, from the last calls.
    fn results<R: Value>(ran: Ran<R>) -> Vec<R> {
        let small = ran.pool.entries.into_iter().skip(3).filter(|entry| entry.size == Size::Small);
        let mut results: Vec<R> = small.map(|entry| entry.value).collect();
        results.drain(..results.len().saturating_sub(6));
        results
    }

    /// The same calls in a traced function.
    fn traced(&self, steps: usize) -> impl Fn(Expr, Expr, Expr) -> Vec<Expr> + Send + Sync + 'static {
        let case = self.clone();
        move |x, y, z| {
            let ran = case.run(vec![x, y, z], steps, |_, _| Ok(()));
            let failed = ran.failed.as_ref().map(|(_, error)| Expr::failed(error.clone()));
            Case::results(ran).into_iter().chain(failed).collect()
        }
    }
}

/// Arrays, evaluated.
fn read(arrays: &[Array]) -> Result<Vec<(bool, Tensor)>> {
    arrays.iter().map(|array| Ok((array.is_weak(), values::to_tensor(array)?))).collect()
}

/// Checks for equal types, and for equal elements if the mode is `exact`.
fn alike(way: &str, expected: &[(bool, Tensor)], found: Result<Vec<(bool, Tensor)>>, exact: bool) {
    let found = match found {
        Ok(found) => found,
        // Indices may depend on elements.
        Err(error) if !exact && error.code() == ErrorCode::Index => return,
        Err(error) => panic!("{way}: an error where another way has values: {error}"),
    };
    assert_eq!(found.len(), expected.len(), "{way}: so many results");
    for ((weak, own), (expected_weak, tensor)) in found.iter().zip(expected) {
        assert_eq!(weak, expected_weak, "{way}: weakness");
        assert!(
            own.dtype == tensor.dtype && own.shape == tensor.shape,
            "{way}: {}{} for {}{}",
            own.dtype,
            own.shape,
            tensor.dtype,
            tensor.shape
        );
        if exact && let Some(at) = own.first_difference(tensor) {
            panic!(
                "{way}: another element: of {}{} at {at} {:x?} for {:x?}",
                own.dtype,
                own.shape,
                own.get(at),
                tensor.get(at)
            );
        }
    }
}

/// Errors that indicate a bug of the library, or insufficient memory.
fn is_fault(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::Panic | ErrorCode::Verify | ErrorCode::Backend | ErrorCode::Allocation)
}

/// Calls for traced functions: step by step, at once, traced, and interpreted.
pub fn api(data: &[u8]) -> Outcome {
    let mut c = Choices::new(data);
    let policy = if c.one_in(4) { c.pick(&Policy::ALL) } else { Policy::default() };
    let steps = 1 + c.below(5);
    let (way, width, threads) = (c.below(8), c.pick(&VectorWidth::ALL), c.pick(&[1, 2, 8]));
    let inputs: [Array; 3] = std::array::from_fn(|_| values::array(&mut c));
    inputs.iter().for_each(|x| tell(format!("{}{}: {x:?}", x.value_type(), x.shape())));
    tell(format!("policy {policy}, way {way}, {width:?}, threads {threads}"));
    let case = Case { choices: c, inputs };
    // Printed output is collected, and not written to the terminal.
    collect_debug_output(|| with_policy(policy, || case.check(steps, way, width, threads))).0
}

/// Calls outside of traced functions.
pub fn doors(data: &[u8]) -> Outcome {
    let mut c = Choices::new(data);
    let policy = if c.one_in(4) { c.pick(&Policy::ALL) } else { Policy::default() };
    let mut outcome = String::new();
    let mut x = values::array(&mut c);
    with_policy(policy, || {
        for _ in 0..=c.below(3) {
            let door = &doors::DOORS[c.below(doors::DOORS.len())];
            tell(format!("{} policy {policy} {}{}: {x:?}", door.name, x.value_type(), x.shape()));
            let made =
                (door.run)(&mut c, &x).and_then(|arrays| arrays.into_iter().map(described).collect::<Result<Vec<_>>>());
            match made {
                Ok(arrays) => {
                    outcome = door.name.to_owned();
                    x = arrays.into_iter().flatten().next().unwrap_or(x.clone());
                }
                Err(error) => {
                    tell(error.to_string());
                    // Creation allocates the requested array.
                    assert!(!is_fault(&error) || error.code() == ErrorCode::Allocation, "{}: {error}", door.name);
                    outcome = format!("{} {}", door.name, error.code());
                }
            }
        }
    });
    outcome
}

/// Describes an array; returns it if it is small.
fn described(array: Array) -> Result<Option<Array>> {
    if let Some(error) = array.error() {
        return Err(error.clone());
    }
    tell(format!("  {}{}", array.value_type(), array.shape()));
    std::hint::black_box((array.len(), array.is_empty(), array.is_weak(), array.device(), array.explain_dtype()).0);
    if array.shape().size()? > 1 << 11 {
        return Ok(None);
    }
    let tensor = values::to_tensor(&array)?;
    assert!(tensor.dtype == array.dtype() && tensor.shape == *array.shape(), "what is read is what was said");
    std::hint::black_box(format!("{array} {array:?}").len());
    Ok(Some(array))
}

impl Case {
    fn check(&self, most: usize, way: usize, width: VectorWidth, threads: usize) -> Outcome {
        let evaluated = |array: &Array, size: Size| {
            if let Some(error) = array.error() {
                return Err(error.clone());
            }
            if size == Size::Small {
                array.eval()?;
            }
            tell(format!("{}{} {size:?}", array.value_type(), array.shape()));
            Ok(())
        };
        let ran = self.run(self.inputs.to_vec(), most, evaluated);
        let (steps, failed) = (ran.steps, ran.failed.as_ref().map(|(name, error)| (*name, error.clone())));
        let hollow = ran.pool.has_hollow();
        let expected = match read(&Case::results(ran)) {
            Ok(expected) => expected,
            Err(error) => panic!("values that were evaluated are not read: {error}"),
        };
        if let Some((name, error)) = &failed {
            tell(format!("{name}: {error}"));
            assert!(!is_fault(error), "{name}: {error}");
        }
        let [x, y, z] = &self.inputs;
        let lazy = || read(&Case::results(self.run(self.inputs.to_vec(), steps, |_, _| Ok(()))));
        let f = jit(self.traced(steps));
        let same = |way: &str, found: Result<Vec<(bool, Tensor)>>| alike(way, &expected, found, true);
        let called = f.call((x, y, z)).and_then(|arrays| read(&arrays));
        if ALOUD.load(Relaxed) {
            println!("{}", f.explain(Stage::Graph));
        }
        same("jit", called);
        // Large matrix products may round differently from other sums: docs/numerics.md.
        let exact = !f.explain(Stage::Kernels).contains("contracts");
        let summed = |way: &str, found: Result<Vec<(bool, Tensor)>>| alike(way, &expected, found, exact);
        match way {
            1 | 2 | 6.. if hollow => {}
            0 => same("lazy", lazy()),
            1 => summed("interpreted lazy", with_jit_disabled(lazy)),
            2 => {
                summed("fuse(false)", f.fuse(false).threads(threads).call((x, y, z)).and_then(|all| read(&all)));
            }
            3 => same("vector", f.vector(width).threads(threads).call((x, y, z)).and_then(|all| read(&all))),
            4 => same("inline", jit(move |x, y, z| f.inline((x, y, z))).call((x, y, z)).and_then(|all| read(&all))),
            5 => {
                let specs: Vec<Spec> = self.inputs.iter().map(Spec::of).collect();
                let program = Program::trace(&specs, |params| self.traced(steps)(params[0], params[1], params[2]));
                same("Program", program.and_then(|program| read(&program.call(&self.inputs)?)));
            }
            _ => summed("interpreted", f.interpreted(true).call((x, y, z)).and_then(|all| read(&all))),
        }
        let Some((name, error)) = failed else { return "values".to_owned() };
        // Eager errors are also traced errors, except those that depend on elements: indices out of bounds.
        if error.code() != ErrorCode::Index {
            match jit(self.traced(steps + 1)).call((x, y, z)).and_then(|all| read(&all)) {
                Ok(_) => panic!("{name}: an error of arrays is none in a traced function: {error}"),
                // Of several errors in a call the traced function has the first.
                Err(traced) => assert!(!is_fault(&traced), "{name}: traced: {traced}"),
            }
        }
        format!("{name} {}", error.code())
    }
}
