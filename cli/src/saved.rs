//! Saved programs, files that end in `.ndjit`: written by `eval -o`, read by `run` and `explain`.

use crate::arguments::{EvalArguments, ExplainArguments, How};
use crate::eval::device;
use crate::explain::stages_of;
use crate::inputs::{named, present};
use crate::outcome::{CommandFailure, Streams};
use crate::specs;
use ndjit::{Error, ErrorCode, LoadLimits, Program, Spec, ValueType, with_device, with_policy};
use ndjit_expressions::{Budget, Reservation, explanation, parse, trace};
use std::path::Path;

/// Returns `true` for the name of a saved program.
pub fn is_program(name: impl AsRef<Path>) -> bool {
    name.as_ref().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ndjit"))
}

/// Saves the expression as a program for inputs of these types: files, numbers, or types as for `explain`.
pub fn save(
    arguments: &EvalArguments,
    path: &Path,
    budget: &Budget,
    streams: &mut Streams<'_>,
) -> Result<(), CommandFailure> {
    let mut inputs: Vec<(String, Spec)> = Vec::new();
    for text in &arguments.inputs {
        let one = std::slice::from_ref(text);
        // A type has a colon before any `=`; a column of a table has it after.
        let is_type = text.find(':').is_some_and(|colon| text.find('=').is_none_or(|equals| colon < equals));
        let (name, spec) = match is_type {
            true => {
                let read = specs::parse(one)?;
                if let Some(extent) = read.extents.keys().next() {
                    let what = format!("input `{text}`: the extent `{extent}` is no number");
                    return Err(CommandFailure::Usage(
                        Error::new(ErrorCode::Parse, what).help("a saved program is for one shape: write numbers"),
                    ));
                }
                read.specs.into_iter().next().map(|(name, spec)| (name, number(spec)))
            }
            false => named(one, budget)?.into_iter().next().map(|(name, input)| (name, input.spec())),
        }
        .ok_or_else(|| Error::new(ErrorCode::Parse, format!("input `{text}`")))?;
        if inputs.iter().any(|(other, _)| *other == name) {
            let what = format!("input `{text}`: one of this name was given before");
            return Err(CommandFailure::Usage(Error::new(ErrorCode::Parse, what)));
        }
        inputs.push((name, spec));
    }
    let names: Vec<String> = inputs.iter().map(|(name, _)| name.clone()).collect();
    let failed = |error: Error| CommandFailure::Expression(error, arguments.expression.clone(), names.clone());
    let expression = parse(&arguments.expression).map_err(|problem| failed(problem.into()))?;
    let specs: Vec<(&str, Spec)> = inputs.iter().map(|(name, spec)| (name.as_str(), spec.clone())).collect();
    let device = device(&arguments.how)?;
    let program = with_policy(arguments.how.policy, || with_device(device, || trace(&expression, &specs, budget)));
    let program = program.and_then(|program| program.with_names(names.clone())).map_err(failed)?;
    program.save(path)?;
    let results: Vec<String> = program.results().iter().map(Spec::to_string).collect();
    Ok(writeln!(streams.err, "the program of {} is in {}", results.join(", "), path.display())?)
}

/// The spec of a number that is given at each run, for a weak type without axes.
fn number(spec: Spec) -> Spec {
    match spec.value_type() {
        ValueType::Weak(kind) if spec.shape().rank() == 0 => Spec::number(kind),
        _ => spec,
    }
}

/// Loads a program. The file takes memory of the budget; that of a call is reserved before it runs.
///
/// # Errors
/// Those of [`Program::load`].
pub fn load(path: &Path, budget: &Budget) -> Result<(Program, Reservation), Error> {
    present(path)?;
    let most = budget.left() / LOADED;
    let program = Program::load_within(path, LoadLimits::default().file(most).memory(u64::MAX))?;
    let length = path.metadata().map_or(0, |metadata| usize::try_from(metadata.len()).unwrap_or(usize::MAX));
    let reserved = budget.reserve("the saved program", length.saturating_mul(LOADED))?;
    Ok((program, reserved))
}

/// Upper bound on bytes of a loaded program, per byte of its file.
const LOADED: usize = 12;

/// Shows a saved program.
pub fn explain(arguments: &ExplainArguments, budget: &Budget, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    let path = Path::new(&arguments.expression);
    if !arguments.inputs.is_empty() {
        let what = "explain: a saved program has its inputs".to_owned();
        return Err(CommandFailure::Usage(Error::new(ErrorCode::Arity, what).help("give the file alone")));
    }
    let (program, _reserved) = load(path, budget)?;
    if let Some(html) = &arguments.html {
        crate::replacement::replace(html, |html| program.explain_html(html, None))?;
        return Ok(writeln!(streams.err, "written: {}", html.display())?);
    }
    if let Some(stages) = &arguments.stage {
        return stages_of(&program, stages, streams);
    }
    let names = program.argument_names();
    for (n, spec) in program.inputs().iter().enumerate() {
        let name = names.get(n).map_or_else(|| format!("argument {n}"), String::clone);
        writeln!(streams.out, "{name}: {}{spec}", if spec.is_number() { "a number " } else { "" })?;
    }
    for (n, result) in program.results().iter().enumerate() {
        writeln!(streams.out, "gives {result}")?;
        if let Some(why) = program.explain_dtype(n) {
            writeln!(streams.out, "{}", explanation(why, names))?;
        }
    }
    Ok(())
}

/// The inputs of a run by argument, from `NAME=INPUT` for programs with names, and others in order.
///
/// # Errors
/// `Arity` for an unknown or repeated name, and for an input after the last argument.
pub fn in_order<'a>(inputs: &'a [String], names: &[String], takes: usize) -> Result<Vec<Option<&'a str>>, Error> {
    let mut ordered: Vec<Option<&str>> = vec![None; takes];
    let mut next = 0;
    for text in inputs {
        let name = text.split_once('=').map(|(name, _)| name).filter(|_| !names.is_empty());
        let at = match name {
            Some(name) => names.iter().position(|known| known == name),
            None => Some(next),
        };
        next = at.map_or(next, |at| at + 1);
        match at.and_then(|at| ordered.get_mut(at)) {
            Some(free @ None) => *free = Some(text),
            _ => {
                let error = Error::new(ErrorCode::Arity, format!("run: `{text}` is for no free argument"));
                return Err(match names {
                    [] => error.fact(format_args!("the program takes {takes}")),
                    names => error.fact(format_args!("arguments: {}", names.join(", "))),
                }
                .help("name each argument once: `x=a.npy`"));
            }
        }
    }
    Ok(ordered)
}

/// The settings of a run that a saved program has of its own.
///
/// # Errors
/// None of them may be given.
pub fn check_how(how: &How) -> Result<(), CommandFailure> {
    if how.policy == ndjit::Policy::Standard {
        return Ok(());
    }
    Err(CommandFailure::Usage(
        Error::new(ErrorCode::Promotion, "run: a saved program has its policy").help("leave out `--policy`"),
    ))
}
