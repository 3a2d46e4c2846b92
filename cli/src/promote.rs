//! `ndjit promote`: the join of types, its explanation and its place in the lattice; tables and differences of
//! policies.

use crate::arguments::PromoteArguments;
use crate::outcome::{CommandFailure, Streams};
use crate::replacement::replace;
use ndjit::explain::joining;
use ndjit::promotion::Lattice;
use ndjit::{Error, ErrorCode, Policy, ValueType};
use std::fs;

pub fn run(arguments: &PromoteArguments, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    let PromoteArguments { types, policy, table, diff, svg } = arguments;
    if let [one, other] = diff[..] {
        differences(one, other, streams)?;
    } else if !types.is_empty() {
        join(types, *policy, streams)?;
    } else if !table && svg.is_none() {
        return Err(CommandFailure::Usage(
            Error::new(ErrorCode::Arity, "promote: no dtypes")
                .help("as in `ndjit promote u32 i32`; or ask for `--table`, `--diff P Q` or `--svg FILE`"),
        ));
    }
    if *table {
        writeln!(streams.out, "{policy}: {}\n{}\n{}", policy.doc(), policy.source(), policy.table())?;
    }
    if let Some(path) = svg {
        let Some(lattice) = policy.lattice() else { return Err(no_lattice(*policy).into()) };
        replace(path, |path| {
            fs::write(path, lattice.to_svg()).map_err(|e| Error::new(ErrorCode::Io, format!("promote: {e}")))
        })?;
        writeln!(streams.out, "the Hasse diagram of {policy} is in {}", path.display())?;
    }
    Ok(())
}

fn join(types: &[ValueType], policy: Policy, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    let result = policy.result_type(types)?;
    let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
    writeln!(streams.out, "{} -> {result}", names.join(", "))?;
    for rule in joining(policy, types).unwrap_or_default() {
        writeln!(streams.out, "  {rule}")?;
    }
    writeln!(streams.out, "policy {policy}: {}", policy.doc())?;
    let Some(lattice) = policy.lattice() else {
        return Ok(writeln!(streams.out, "  its joins are those of no lattice, so there is no diagram: see --table")?);
    };
    let mut on_path = Vec::new();
    for ty in types {
        let chain = lattice.chain(ty.name(), result.name()).unwrap_or_default();
        if chain.len() > 1 {
            writeln!(streams.out, "  {}", chain.join(" -> "))?;
        }
        on_path.extend(chain);
    }
    write!(streams.out, "\n{}", lattice.to_text(|node| on_path.contains(&node)))?;
    Ok(())
}

fn differences(one: Policy, other: Policy, streams: &mut Streams<'_>) -> Result<(), CommandFailure> {
    let differing = one.differences(other);
    writeln!(streams.out, "{one}: {}\n{other}: {}", one.doc(), other.doc())?;
    writeln!(streams.out, "{} of {} pairs differ", differing.len(), ValueType::ALL.len() * ValueType::ALL.len())?;
    if differing.is_empty() {
        return Ok(());
    }
    let name = |policy: Policy, (left, right): (ValueType, ValueType)| {
        policy.join(left, right).map_or("error", ValueType::name)
    };
    let width = one.to_string().len().max(5);
    writeln!(streams.out, "{:>11}  {one:<width$}  {other}", "")?;
    for pair in differing {
        let (left, right) = pair;
        writeln!(streams.out, "{left:>5} {right:>5}  {:<width$}  {}", name(one, pair), name(other, pair))?;
    }
    Ok(())
}

fn no_lattice(policy: Policy) -> Error {
    let lattices: Vec<String> = Policy::ALL
        .into_iter()
        .filter(|policy| policy.lattice().is_some_and(has_edges))
        .map(|p| p.to_string())
        .collect();
    Error::new(ErrorCode::Promotion, format!("promote: the joins of {policy} are those of no lattice"))
        .help(format!("there are diagrams of {}; `--table` prints any policy", lattices.join(", ")))
}

fn has_edges(lattice: Lattice) -> bool {
    lattice.edges().next().is_some()
}
