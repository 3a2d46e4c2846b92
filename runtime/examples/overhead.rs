//! What a call costs: `x + y * 2` on 8 elements, where the call is nearly all there is, and on sizes up to 10 million.

use ndjit_codegen::passes::schedule::contiguous;
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{Graph, Places};
use ndjit_ir::{DType, Result, ValueType};
use ndjit_runtime::{Argument, Buffer, Executable, Output, RunOptions, kernels, pool};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> Result<()> {
    println!("{:>10} {:>14} {:>14} {:>14}", "elements", "fresh", "into", "donated");
    for n in [8usize, 1_000, 100_000, 10_000_000] {
        let executable = compile(n)?;
        let (x, y) = (Arc::new(Buffer::from_vec(vec![1.0f32; n])), Arc::new(Buffer::from_vec(vec![2.0f32; n])));
        let mut out = vec![0u8; 4 * n];
        let rounds = (20_000_000 / (n + 200)).max(5);
        let fresh = best(rounds, || {
            let mut outputs = [Output::Fresh(None)];
            executable.run(vec![Argument::Shared(&x), Argument::Shared(&y)], &[], &mut outputs)
        })?;
        let into = best(rounds, || {
            let mut outputs = [Output::Into(&mut out)];
            executable.run(vec![Argument::Shared(&x), Argument::Shared(&y)], &[], &mut outputs)
        })?;
        let mut given = Some(Arc::new(Buffer::from_vec(vec![1.0f32; n])));
        let donated = best(rounds, || {
            let mut outputs = [Output::Fresh(None)];
            let arguments = given.take().map(Argument::Donated).into_iter().chain([Argument::Shared(&y)]).collect();
            executable.run(arguments, &[], &mut outputs)?;
            if let [Output::Fresh(result)] = outputs {
                given = result;
            }
            Ok(())
        })?;
        println!("{n:>10} {fresh:>14.1?} {into:>14.1?} {donated:>14.1?}");
    }
    println!("kernels: {:?}\npool: {:?}", kernels::stats(), pool::stats());
    Ok(())
}

fn compile(n: usize) -> Result<Executable> {
    let text = format!(
        "graph (%0: f32[{n}], %1: f32[{n}]) {{
  %2 = literal #0 2 : i*[]
  %3 = multiply %1, %2 : f32[{n}]
  %4 = add %0, %3 : f32[{n}]
  return %4
}}"
    );
    let graph: Graph<ValueType> = text.parse()?;
    let layouts = graph.params().iter().map(|&p| contiguous(graph.shape(p), DType::F32)).collect::<Result<Vec<_>>>()?;
    Executable::new(&lower(&graph, &Places::default(), &layouts, &Options::default())?, &RunOptions::default())
}

/// The shortest time of one call, over batches.
fn best(rounds: usize, mut call: impl FnMut() -> Result<()>) -> Result<Duration> {
    let batch = (rounds / 20).max(1);
    let mut best = Duration::MAX;
    for _ in 0..rounds.div_ceil(batch) {
        let start = Instant::now();
        for _ in 0..batch {
            call()?;
        }
        best = best.min(start.elapsed() / batch as u32);
    }
    Ok(best)
}
