//! Minimal failing programs: [`shrink`], with [`disagreement`] as a test of failure.

use ndjit_codegen::{Options, lower};
use ndjit_inspect::elements::{indices, shown};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::loops::Layout;
use ndjit_ir::reserve::copy;
use ndjit_ir::{Error, ErrorCode, Policy, Result, ValueType, Weak};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_math::random::{Rng, tensor};
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use ndjit_transform::access::contiguous;
use std::path::Path;

/// Shrinks a graph while `fails` returns true for it. Outputs and operations are removed, their operands replaced by a
/// parameter or the number 1, extents reduced and dtypes simplified. Graphs are text in the format of
/// [`Stage::Graph`](crate::Stage::Graph) and of `.graph` files; each candidate is well-formed. For a graph of a hundred
/// operations, `fails` runs some hundred times.
///
/// ```
/// use ndjit::{Array, Stage, debug, jit, sqrt};
///
/// let f = jit!(|x, y| sqrt(x * y + 1) - y.mt().sum(0) * 2);
/// f.call((&Array::from_rows(&[[1.0f64, 2.0], [3.0, 4.0]]), &Array::from_rows(&[[1.0f64, 2.0], [3.0, 4.0]])))?;
/// let small = debug::shrink(&f.explain(Stage::Graph), |text| text.contains("sqrt"))?;
/// assert_eq!(small, "graph () {\n  %0 = literal #0 1.0_f32 : f32[]\n  %1 = sqrt %0 : f32[]\n  return %1\n}");
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Parse` or `Verify` if the text is not a valid graph; `Argument` if it does not fail.
pub fn shrink(graph: &str, mut fails: impl FnMut(&str) -> bool) -> Result<String> {
    let graph: Graph<ValueType> = graph.parse()?;
    graph.verify()?;
    if !fails(&graph.to_string()) {
        return Err(Error::new(ErrorCode::Argument, "shrink: the graph does not fail as it is")
            .help("`fails` says true of the text it is given; comments and places are left out of it"));
    }
    Ok(ndjit_transform::shrink(&graph, |graph| fails(&graph.to_string())).to_string())
}

/// Compares compiled code with the interpreter, for a graph as text on pseudorandom arrays, rich in special values.
/// Returns the difference, or `None` if all results are equal, bit for bit, as they should be. The same `seed` gives
/// the same arrays. The arrays also determine the steps of loops. With [`shrink`]:
///
/// ```
/// use ndjit::debug::{disagreement, shrink};
///
/// let graph = "graph (%0: f32[7]) {\n  %1 = exp %0 : f32[7]\n  return %1\n}";
/// if disagreement(graph, 1)?.is_some() {
///     let fails = |text: &str| disagreement(text, 1).is_ok_and(|found| found.is_some());
///     println!("{}", shrink(graph, fails)?);
/// }
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Parse` or `Verify` if the text is not a valid graph; those of compiling and running it.
pub fn disagreement(graph: &str, seed: u64) -> Result<Option<String>> {
    let graph: Graph<ValueType> = graph.parse()?;
    graph.verify()?;
    let mut random = Rng::new(seed);
    let (mut params, mut layouts): (Vec<Tensor>, Vec<Layout>) = (Vec::new(), Vec::new());
    for &param in graph.params() {
        let (dtype, shape) = (graph.storage_dtype(param, Policy::default()), graph.shape(param));
        params.push(tensor(&mut random, dtype, shape.clone())?);
        layouts.push(contiguous(shape, dtype)?);
    }
    let numbers = graph.numbers().into_iter();
    let scalars: Vec<(usize, Literal)> = numbers.map(|(index, ty)| (index, number(&mut random, ty))).collect();
    let lowered = lower(&graph, &SourceLocs::default(), &layouts, &Options { verify: true, ..Options::default() })?;
    let expected = eval_graph(&lowered.typed, &params, &scalars)?;
    let executable = Executable::new(&lowered, &RunOptions::default())?;
    let mut outputs: Vec<Output<'_>> = expected.iter().map(|_| Output::Fresh(None)).collect();
    executable.run(params.iter().map(|param| Argument::Borrowed(&param.bytes)), &scalars, &mut outputs)?;
    for (n, (expected, output)) in expected.iter().zip(outputs).enumerate() {
        let Output::Fresh(Some(buffer)) = output else { continue };
        let (dtype, shape) = (expected.dtype, expected.shape.clone());
        let found = Tensor { dtype, shape, bytes: copy("debug", buffer.as_bytes())? };
        if let Some(at) = expected.first_difference(&found) {
            let index = indices(&expected.shape, at);
            let [expected, found] = [expected, &found].map(|tensor| shown(tensor, at));
            return Ok(Some(format!("result {n} at {index:?}: {expected} interpreted, {found} compiled")));
        }
    }
    Ok(None)
}

/// Returns a small number of this kind.
fn number(random: &mut Rng, kind: Weak) -> Literal {
    let small = random.below(16) as i16 - 8;
    Literal::weak(match kind {
        Weak::Int => LiteralValue::Int(small.into()),
        Weak::Float => LiteralValue::Float(f64::from(small) / 4.0),
        Weak::Complex => LiteralValue::Complex(f64::from(small) / 4.0, 0.5),
    })
}

/// Writes the text of a graph to a file, with `about` as a comment above. The usual extension is `.graph`.
///
/// ```no_run
/// let graph = "graph (%0: f32[1]) {\n  %1 = exp %0 : f32[1]\n  return %1\n}";
/// ndjit::debug::write_graph("exp.graph", "Differs on one machine.", graph)?;
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Io` if the file cannot be written.
pub fn write_graph(path: impl AsRef<Path>, about: &str, graph: &str) -> Result<()> {
    let path = path.as_ref();
    let comment: String = about.lines().map(|line| format!("; {line}\n")).collect();
    std::fs::write(path, format!("{comment}{}\n", graph.trim_end())).map_err(|error| {
        Error::new(ErrorCode::Io, format!("write_graph: {} could not be written", path.display()))
            .fact(error)
            .help("the folder must exist and be writable")
    })
}
