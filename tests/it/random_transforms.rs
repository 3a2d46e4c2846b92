//! Transformations of random programs, nested two deep: equal on every engine, and by their laws. The differentiated value keeps its bits,
//! lanes are a loop, and forward mode is the adjoint of reverse mode.

use ndjit_codegen::Options;
use ndjit_codegen::target::VectorWidth;
use ndjit_engines::{ALL, Matrix, check, lowered};
use ndjit_ir::graph::{Graph, NodeId, NodeKind, RuleKind, SourceLocs, Value};
use ndjit_ir::{DType, DTypeSet, Error, ErrorCode, Policy, Shape, SourceLoc, ValueType};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_random::{Limits, Program, Rng, program, tensor};
use ndjit_transform::access::contiguous;
use ndjit_transform::batching::Batching;
use ndjit_transform::derivative::{DerivativeMode, Linearization, checkpointed, ruled, tangent_type, variable};
use ndjit_transform::{AppendSettings, OpenGraph};
use std::ops::Range;
use std::sync::Arc;

const LANES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transform {
    /// Outputs, and their tangents along the parameters.
    Forward,
    /// Outputs, and the cotangents of the parameters for the outputs themselves.
    Reverse,
    /// All for three lanes.
    Lanes,
    /// In reverse mode, rematerialized.
    Checkpoint,
    /// In reverse mode, by a rule for tangents: those of the forward mode.
    Ruled,
}

pub(crate) const TRANSFORMS: [Transform; 5] =
    [Transform::Forward, Transform::Reverse, Transform::Lanes, Transform::Checkpoint, Transform::Ruled];

fn place() -> SourceLoc {
    SourceLoc::caller()
}

/// A graph that calls a program, its places, the arguments and the results of the call.
type CallGraph = (Graph<ValueType>, SourceLocs, Vec<Value>, Vec<Value>);

/// A graph that calls the program, on other parameters.
fn calling(
    program: &Program,
    shape: impl Fn(&Shape) -> Shape,
    mut argument: impl FnMut(&mut Graph<ValueType>, &mut SourceLocs, Value) -> Result<Value, Error>,
) -> Result<CallGraph, Error> {
    let (mut graph, mut places) = (Graph::new(), SourceLocs::default());
    let own = &program.graph;
    let params: Vec<Value> = own
        .params()
        .iter()
        .enumerate()
        .map(|(n, &param)| graph.param_stored(own.ty(param), own.param_dtype(n).unwrap(), &shape(own.shape(param))))
        .collect();
    let arguments =
        params.iter().map(|&param| argument(&mut graph, &mut places, param)).collect::<Result<Vec<_>, _>>()?;
    let child = graph.child(Arc::new(own.clone()));
    places.add_child(Arc::default());
    let types: Vec<_> = own.outputs().iter().map(|&v| (own.ty(v), graph.intern(own.shape(v)))).collect();
    let first = graph.add(NodeKind::Call(child), &arguments, &types);
    let results = (0..types.len() as u32).map(|n| Value(first.0 + n)).collect();
    Ok((graph, places, arguments, results))
}

pub(crate) fn transformed(program: &Program, transform: Transform, seed: u64) -> Result<Program, Error> {
    if transform == Transform::Lanes {
        let mut batching = Batching::new(LANES);
        let all = |shape: &Shape| Shape::from([LANES].iter().chain(shape.extents()).copied().collect::<Vec<usize>>());
        let (mut graph, mut places, _, results) = calling(program, all, |graph, places, param| {
            batching.lane((graph, places, AppendSettings::default()), param, 0, place())
        })?;
        let outputs = batching.all((&mut graph, &mut places, AppendSettings::default()), &results, place())?;
        graph.set_outputs(outputs);
        let mut rng = Rng::new(seed);
        let params =
            program.params.iter().map(|x| tensor(&mut rng, x.dtype, all(&x.shape))).collect::<Result<_, _>>()?;
        return Ok(Program { graph, params, scalars: program.scalars.clone() });
    }
    let mode = if transform == Transform::Forward { DerivativeMode::Forward } else { DerivativeMode::Reverse };
    let (mut graph, mut places, arguments, results) = calling(program, Shape::clone, |graph, places, param| {
        Ok(match tangent_type(graph, param, Policy::default()) {
            Some(_) => variable((graph, places, AppendSettings::default()), param, place()),
            None => param,
        })
    })?;
    let results = match transform {
        Transform::Checkpoint => {
            let first = NodeId(arguments.len() as u32);
            checkpointed((&mut graph, &mut places, AppendSettings::default()), &arguments, &results, first, place())?
        }
        Transform::Ruled => with_rule((&mut graph, &mut places, AppendSettings::default()), &arguments, &results)?,
        Transform::Forward | Transform::Reverse | Transform::Lanes => results,
    };
    let variables: Vec<Value> =
        arguments.into_iter().filter(|&value| tangent_type(&graph, value, Policy::default()).is_some()).collect();
    let linear =
        Linearization::new((&mut graph, &mut places, AppendSettings::default()), &variables, &results, mode, place())?;
    let outputs = linear.outputs().to_vec();
    let given: Vec<Option<Value>> =
        if mode == DerivativeMode::Forward { variables } else { outputs.clone() }.into_iter().map(Some).collect();
    let graph_and_places = (&mut graph, &mut places, AppendSettings::default());
    let made = match mode {
        DerivativeMode::Forward => linear.forward(graph_and_places, &given, place())?,
        DerivativeMode::Reverse => linear.reverse(graph_and_places, &given, place())?,
    };
    graph.set_outputs(outputs.into_iter().chain(made).collect());
    let params = program.params.iter().map(Tensor::copied).collect::<Result<_, _>>()?;
    Ok(Program { graph, params, scalars: program.scalars.clone() })
}

/// Results of arguments with a rule for their tangents.
fn with_rule(
    (graph, places, settings): OpenGraph<'_>,
    arguments: &[Value],
    results: &[Value],
) -> Result<Vec<Value>, Error> {
    let mode = DerivativeMode::Forward;
    let linear = Linearization::new((graph, places, settings), arguments, results, mode, place())?;
    let results = linear.outputs();
    let [outputs, tangents] = [results, arguments]
        .map(|of| of.iter().map(|&v| variable((graph, places, settings), v, place())).collect::<Vec<_>>());
    let given: Vec<Option<Value>> =
        tangents.iter().map(|&value| tangent_type(graph, value, settings.policy).map(|_| value)).collect();
    let mapped = linear.forward((graph, places, settings), &given, place())?;
    ruled((graph, places, settings), RuleKind::Jvp, results, &[outputs, tangents, mapped].concat(), place())
}

/// The results by the interpreter.
fn results(program: &Program) -> Vec<Tensor> {
    let layouts: Vec<_> = program.params.iter().map(|x| contiguous(&x.shape, x.dtype).unwrap()).collect();
    let plain = lowered(&program.graph, &layouts, Options { simplify: false, ..Options::default() });
    let plain = plain.unwrap_or_else(|error| panic!("{error:#}\n{program}"));
    eval_graph(&plain.typed, &program.params, &program.scalars).unwrap_or_else(|error| panic!("{error:#}\n{program}"))
}

/// The transformed program, if it exists.
fn made(program: &Program, transform: Transform, seed: u64) -> Option<Program> {
    match transformed(program, transform, seed) {
        Ok(made) => Some(made),
        // Too large, or of too high a rank.
        Err(error) if matches!(error.code(), ErrorCode::Size | ErrorCode::Shape) => None,
        Err(error) => panic!("seed {seed}, {transform:?}: {error:#}\n{program}"),
    }
}

fn laws(seed: u64, program: &Program, transform: Transform, new: &Program) {
    let (before, after) = (results(program), results(new));
    match transform {
        Transform::Forward | Transform::Reverse | Transform::Checkpoint | Transform::Ruled => {
            for (n, (old, new_result)) in before.iter().zip(&after).enumerate() {
                assert!(old.same_bits(new_result), "seed {seed}, {transform:?}: value {n} changed\n{program}\n{new}");
            }
        }
        Transform::Lanes => {
            for lane in 0..LANES {
                let params = new.params.iter().map(|x| x.slice(lane).unwrap()).collect();
                let one = Program { graph: program.graph.clone(), params, scalars: program.scalars.clone() };
                for (n, (own, all)) in results(&one).iter().zip(&after).enumerate() {
                    let all = all.slice(lane).unwrap();
                    assert!(
                        own.same_bits(&all),
                        "seed {seed}: result {n} of lane {lane}: {own:?} {all:?}\n{program}\n{new}"
                    );
                }
            }
        }
    }
}

/// The tested seeds: the first ones, or the range `FROM..TO` of `NDJIT_SEEDS`.
fn seeds(usual: u64) -> Range<u64> {
    let Ok(text) = std::env::var("NDJIT_SEEDS") else { return 0..usual };
    let ends = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    ends.unwrap_or_else(|| panic!("NDJIT_SEEDS is {text:?}, not a range of numbers"))
}

/// Seeds that found a fault: a weak state that no step reads, a scatter into an array without rows.
const FOUND: [u64; 2] = [2174, 1_002_004];

fn limits(control: bool) -> Limits {
    Limits { nodes: 8, elements: 40, params: 3, many: 0, control, ..Limits::default() }
}

#[test]
fn transformed_programs_obey_their_laws() {
    let mut count = [0; TRANSFORMS.len()];
    for control in [false, true] {
        for seed in seeds(400).chain(FOUND) {
            let program = program(seed, &limits(control)).unwrap();
            for transform in TRANSFORMS {
                let Some(once) = made(&program, transform, seed) else { continue };
                laws(seed, &program, transform, &once);
                count[transform as usize] += 1;
                if let (Transform::Checkpoint, Some(plain)) = (transform, made(&program, Transform::Reverse, seed)) {
                    let same = results(&plain).iter().zip(&results(&once)).all(|(plain, again)| plain.same_bits(again));
                    assert!(same, "seed {seed}: computed once more, cotangents changed\n{program}\n{plain}\n{once}");
                }
                let second = TRANSFORMS[seed as usize % TRANSFORMS.len()];
                if let Some(twice) = made(&once, second, seed) {
                    laws(seed, &once, second, &twice);
                }
            }
        }
    }
    println!("{count:?} of {:?}", TRANSFORMS);
    let tried = 2 * seeds(400).count();
    assert!(count.iter().all(|&count| count > tried * 3 / 4), "{count:?} of {tried}");
}

#[test]
fn transformed_programs_are_alike_on_every_engine() {
    let matrix =
        Matrix { fuse: &[true, false], vector: &[VectorWidth::Scalar, VectorWidth::Widest], threads: &[1, 2], ..ALL };
    for control in [false, true] {
        for seed in seeds(60) {
            let program = program(seed, &limits(control)).unwrap();
            for transform in TRANSFORMS {
                let Some(once) = made(&program, transform, seed) else { continue };
                if let Err(difference) = check(&once, matrix) {
                    panic!("seed {seed}, {transform:?}: {}: {}\n{program}\n{once}", difference.engine, difference.what);
                }
            }
        }
    }
}

/// The inner product of arrays, for complex ones part by part, and the sum of magnitudes.
fn inner(a: &[&Tensor], b: &[&Tensor]) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        for n in 0..a.len() {
            let (x, y) = (a.repr(n), b.repr(n));
            for (x, y) in x.iter().zip(y.iter()) {
                let product = f64::from_bits(*x) * f64::from_bits(*y);
                sums.0 += product;
                sums.1 += product.abs();
            }
        }
    }
    sums
}

#[test]
fn modes_are_adjoint() {
    let (mut compared, mut tried) = (0, 0);
    for control in [false, true] {
        let limits = Limits { dtypes: DTypeSet::of(DType::F64), ..limits(control) };
        for seed in seeds(1500) {
            let mut program = program(seed, &limits).unwrap();
            // Values near 1: others leave the range of meaningful sums of products.
            let mut rng = Rng::new(seed);
            for x in &mut program.params {
                let values: Vec<u64> =
                    (0..x.len()).map(|_| (0.3 + rng.below(1 << 20) as f64 / f64::from(1 << 20)).to_bits()).collect();
                if x.dtype == DType::F64 {
                    *x = Tensor::from_words(DType::F64, x.shape.clone(), |n| [values[n]]).unwrap();
                }
            }
            let backwards = if seed % 2 == 0 { Transform::Reverse } else { Transform::Ruled };
            let [Some(forward), Some(reverse)] =
                [Transform::Forward, backwards].map(|transform| made(&program, transform, seed))
            else {
                continue;
            };
            tried += 1;
            let is_f64 = |x: &&Tensor| x.dtype == DType::F64;
            let outputs = program.graph.outputs().len();
            let (along, back) = (results(&forward), results(&reverse));
            let linear =
                |graph: &Graph<ValueType>, value: Value| graph.storage_dtype(value, Policy::default()) == DType::F64;
            if !program.graph.outputs().iter().all(|&value| linear(&program.graph, value)) {
                continue;
            }
            let values: Vec<&Tensor> = along[..outputs].iter().collect();
            let tangents: Vec<&Tensor> = along[outputs..].iter().collect();
            let variables: Vec<&Tensor> = program.params.iter().filter(is_f64).collect();
            if program.params.iter().any(|x| !is_f64(&x) && x.dtype.is_float()) {
                continue;
            }
            let cotangents: Vec<&Tensor> = back[outputs..].iter().collect();
            let (left, scale) = inner(&values, &tangents);
            let (right, other) = inner(&cotangents, &variables);
            let scale = scale.max(other);
            if !(left.is_finite() && right.is_finite()) || scale > 1e100 {
                continue;
            }
            compared += 1;
            let close = (left - right).abs() <= 1e-9 * scale + 1e-200;
            assert!(close, "seed {seed}: {left} and {right} of {scale}\n{program}\n{forward}\n{reverse}");
        }
    }
    println!("{compared} of {tried}");
    assert!(compared > tried / 5 && tried > seeds(1500).count(), "{compared} of {tried}");
}
