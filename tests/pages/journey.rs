//! The examples of docs/journey.md: one program in each stage.

use super::{Examples, examples};
use ndjit::Result;

fn journey() -> Result<()> {
    use ndjit::{Array, Stage, fori_loop, jit, keepdims};

    let f = jit!(|x, w| {
        let y = x * w;
        let shares = y / y.sum(keepdims(1));
        fori_loop(0, 3, shares, |_, s| s * (1 - s) * 4)
    });
    let x = Array::from_rows(&[[1.0f32, 2.0, 5.0], [3.0, 1.0, 15.0]]);
    println!("{}", f.call((&x, &Array::from([1i8, 2, 1])))?);
    for stage in Stage::ALL {
        println!("== {} ==\n{}", stage.name(), f.explain(*stage));
    }
    println!("== run ==\n{}\n{}", f.memory_plan().expect("a call was made"), f.stats());
    Ok(())
}

/// The output of `journey` under a heading.
fn under(heading: &str) -> Result<String> {
    journey()?;
    let printed = crate::PRINTED.take();
    let (_, rest) = printed.split_once(&format!("== {heading} ==\n")).unwrap_or_default();
    Ok(rest.split("\n== ").next().unwrap_or_default().trim_end().to_owned())
}

/// The end of a stage, from the line that begins with `mark`.
fn from(stage: &str, mark: &str) -> Result<String> {
    let text = under(stage)?;
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with(mark)).collect();
    Ok(lines.join("\n"))
}

/// The first part of a stage, between empty lines, that contains `mark`.
fn part(stage: &str, mark: &str) -> Result<String> {
    let text = under(stage)?;
    let found = text.split("\n\n").find(|part| part.contains(mark));
    Ok(found.unwrap_or_else(|| panic!("no part of `{stage}` contains `{mark}`")).to_owned())
}

fn journey_result() -> Result<()> {
    journey()?;
    let printed = crate::PRINTED.take();
    println!("{}", printed.split("== ").next().unwrap_or_default().trim_end());
    Ok(())
}

fn journey_graph() -> Result<()> {
    println!("{}", under("graph")?);
    Ok(())
}

fn journey_typed() -> Result<()> {
    println!("{}", from("typed", "child @0")?);
    Ok(())
}

fn journey_simplified() -> Result<()> {
    println!("{}", from("simplified", "graph")?);
    Ok(())
}

fn journey_kernels() -> Result<()> {
    println!("{}\n{}", part("kernels", "tile by tile")?, part("kernels", "for {")?);
    Ok(())
}

fn journey_loops() -> Result<()> {
    println!("{}", part("loops", "cast")?);
    Ok(())
}

fn journey_expanded() -> Result<()> {
    println!("{}", part("expanded", "sext")?);
    Ok(())
}

fn journey_clif() -> Result<()> {
    let block = part("clif", "swiden")?;
    let lines: Vec<&str> = block.lines().take_while(|line| !line.contains("load.f32x4")).collect();
    println!("{}", lines.join("\n"));
    Ok(())
}

/// The memory plan and the kernels, without what differs between machines: scratch memory, bytes of code, times.
fn journey_run() -> Result<()> {
    let text = under("run")?;
    let (plan, stats) = text.split_once("\nkernel  nests").unwrap_or_default();
    let stats = format!("kernel  nests{stats}");
    let flops = stats.find("flops").map_or(usize::MAX, |at| at + "flops".len());
    let arrays = plan.lines().filter(|line| !line.starts_with("peak")).map(str::to_owned);
    let kernels = stats.lines().take_while(|line| !line.starts_with("memory"));
    let kernels = kernels.map(|line| line.chars().take(flops).collect::<String>());
    let lines: Vec<String> = arrays.chain([String::new()]).chain(kernels).collect();
    println!("{}", lines.join("\n"));
    Ok(())
}

examples!(journey journey_result journey_graph journey_typed journey_simplified journey_kernels journey_loops journey_expanded journey_clif journey_run);
