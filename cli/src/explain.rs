//! `ndjit explain`: shows the compilation of an expression.

use crate::arguments::{ExplainArguments, Stages};
use crate::outcome::{CommandFailure, Streams};
use crate::replacement::replace;
use crate::{memory, saved, specs};
use ndjit::{Error, Program, Spec, with_policy};
use ndjit_expressions::{explanation, parse, trace};

pub fn run(arguments: &ExplainArguments, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    if saved::is_program(&arguments.expression) {
        return saved::explain(arguments, &memory::budget(memory::default_limit()), streams);
    }
    let inputs = specs::parse(&arguments.inputs)?;
    let named: Vec<(&str, Spec)> = inputs.specs.iter().map(|(name, spec)| (name.as_str(), spec.clone())).collect();
    let names = || named.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<String>>();
    let failed = |error: Error| CommandFailure::Expression(error, arguments.expression.clone(), names());
    let expression = parse(&arguments.expression).map_err(|problem| failed(problem.into()))?;
    let budget = memory::budget(memory::default_limit());
    let program = with_policy(arguments.policy, || trace(&expression, &named, &budget)).map_err(failed)?;
    let examples: Vec<String> = inputs.extents.iter().map(|(name, extent)| format!("{name} = {extent}")).collect();
    if !examples.is_empty() {
        writeln!(streams.err, "extents with names are examples here: {}", examples.join(", "))?;
    }
    if let Some(path) = &arguments.html {
        replace(path, |path| program.explain_html(path, Some(&arguments.expression))).map_err(failed)?;
        writeln!(streams.err, "written: {}", path.display())?;
        return Ok(());
    }
    match &arguments.stage {
        Some(stages) => stages_of(&program, stages, streams).map_err(|failure| match failure {
            CommandFailure::Other(error) => failed(error),
            other => other,
        }),
        None => summary(&program, &expression.to_string(), &names(), streams),
    }
}

/// Prints stages; several have headings.
pub fn stages_of(program: &Program, stages: &Stages, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    for (n, stage) in stages.0.iter().enumerate() {
        if stages.0.len() > 1 {
            let gap = if n == 0 { "" } else { "\n" };
            writeln!(streams.out, "{gap}== {} ==", stage.name())?;
        }
        writeln!(streams.out, "{}", program.explain(*stage)?.trim_end())?;
    }
    Ok(())
}

/// Prints the expression as parsed, its type, and the explanation.
fn summary(
    program: &Program,
    read_as: &str,
    inputs: &[String],
    streams: &mut Streams<'_>,
) -> Result<(), CommandFailure> {
    writeln!(streams.out, "{read_as}")?;
    for (n, result) in program.results().iter().enumerate() {
        writeln!(streams.out, "gives {result}")?;
        if let Some(why) = program.explain_dtype(n) {
            writeln!(streams.out, "{}", explanation(why, inputs))?;
        }
    }
    Ok(())
}
