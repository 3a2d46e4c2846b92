//! Calls of public functions with hostile arguments, on every way to run them: a call gives a value or an error, and every way gives the same.

pub mod calls;
pub mod doors;
pub mod pool;
pub mod value;
pub mod values;

use crate::Outcome;
use crate::choices::Choices;
use ndjit::debug::{collect_debug_output, with_jit_disabled};
use ndjit::operand::Computed;
use ndjit::{Array, Error, ErrorCode, Expr, Policy, Program, Result, Spec, Stage, VectorWidth, jit, with_policy};
use ndjit_math::interp::Tensor;
use pool::{Pool, Size};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use value::Value;

/// Whether calls are printed as they come: of an input that ends the process nothing else is left.
pub static ALOUD: AtomicBool = AtomicBool::new(false);

fn tell(line: String) {
    if ALOUD.load(Relaxed) {
        println!("  {line}");
    }
}

/// Some calls one after the other.
#[derive(Clone)]
struct Case {
    choices: Choices,
    inputs: [Array; 3],
}

/// What became of the calls.
struct Ran<R> {
    pool: Pool<R>,
    /// Calls that gave values.
    steps: usize,
    /// The call that gave none.
    failed: Option<(&'static str, Error)>,
}

impl Case {
    /// Runs up to so many calls; `look` sees each value, and may say that it is none.
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

    /// The values that are computed, of the last calls.
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

/// The same types, and the same elements if the way is to have them `exact`.
fn alike(way: &str, expected: &[(bool, Tensor)], found: Result<Vec<(bool, Tensor)>>, exact: bool) {
    let found = match found {
        Ok(found) => found,
        // Indices may be made of elements.
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

/// Errors that say that the library is wrong, or the machine too small.
fn is_fault(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::Panic | ErrorCode::Verify | ErrorCode::Backend | ErrorCode::Allocation)
}

/// Calls that may stand in traced functions: step by step, at once, traced, and interpreted.
pub fn api(data: &[u8]) -> Outcome {
    let mut c = Choices::new(data);
    let policy = if c.one_in(4) { c.pick(&Policy::ALL) } else { Policy::default() };
    let steps = 1 + c.below(5);
    let (way, width, threads) = (c.below(8), c.pick(&VectorWidth::ALL), c.pick(&[1, 2, 8]));
    let inputs: [Array; 3] = std::array::from_fn(|_| values::array(&mut c));
    inputs.iter().for_each(|x| tell(format!("{}{}: {x:?}", x.value_type(), x.shape())));
    tell(format!("policy {policy}, way {way}, {width:?}, threads {threads}"));
    let case = Case { choices: c, inputs };
    // What is printed is kept, and not written to the terminal.
    collect_debug_output(|| with_policy(policy, || case.check(steps, way, width, threads))).0
}

/// Calls that stand in no traced function.
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
                    // Creation asks for the memory of what is created.
                    assert!(!is_fault(&error) || error.code() == ErrorCode::Allocation, "{}: {error}", door.name);
                    outcome = format!("{} {}", door.name, error.code());
                }
            }
        }
    });
    outcome
}

/// Looks at an array that was made; gives it if it is small.
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
        // Large products of matrices may round otherwise where they are summed like every sum: docs/numerics.md.
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
        // What fails eagerly fails when traced, but for what depends on elements: positions that are not there.
        if error.code() != ErrorCode::Index {
            match jit(self.traced(steps + 1)).call((x, y, z)).and_then(|all| read(&all)) {
                Ok(_) => panic!("{name}: an error of arrays is none in a traced function: {error}"),
                // Of several errors of one call the first that is made is the traced function's.
                Err(traced) => assert!(!is_fault(&traced), "{name}: traced: {traced}"),
            }
        }
        format!("{name} {}", error.code())
    }
}
