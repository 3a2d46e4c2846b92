//! Types of inputs: `x:f32[n,3]`.

use crate::outcome::CommandFailure;
use ndjit::{Error, ErrorCode, Shape, Spec, ValueType, spec};
use std::collections::BTreeMap;

/// Values of named extents, in order of the names: distinct, to prevent accidental broadcasting.
const EXAMPLES: [usize; 6] = [1000, 700, 300, 50, 20, 6];

/// Inputs with their types, and the values of named extents.
pub struct InputSpecs {
    pub specs: Vec<(String, Spec)>,
    pub extents: BTreeMap<String, usize>,
}

/// Parses inputs.
///
/// # Errors
/// The first invalid input.
pub fn parse(texts: &[String]) -> Result<InputSpecs, CommandFailure> {
    read(texts).map_err(CommandFailure::Usage)
}

fn read(texts: &[String]) -> Result<InputSpecs, Error> {
    let mut inputs = InputSpecs { specs: Vec::new(), extents: BTreeMap::new() };
    for text in texts {
        let (name, ty) = text.split_once(':').ok_or_else(|| {
            wrong(text, "no `:` after the name")
                .help("inputs are written `x:f32[2,3]`; `ndjit eval` takes files and numbers")
        })?;
        check_name(name)?;
        if inputs.specs.iter().any(|(other, _)| other == name) {
            return Err(wrong(text, "an input of this name was given before"));
        }
        let (ty, extents) = match ty.split_once('[') {
            None => (ty, None),
            Some((ty, rest)) => {
                let extents = rest.strip_suffix(']').ok_or_else(|| wrong(text, "no `]` after the extents"))?;
                (ty, Some(extents))
            }
        };
        let ty: ValueType = ty.trim().parse().map_err(|error: Error| error.of(format!("input `{text}`")))?;
        let extents = extents.unwrap_or_default().split(',').map(str::trim).filter(|extent| !extent.is_empty());
        let shape: Vec<usize> = extents.map(|extent| inputs.extent(text, extent)).collect::<Result<_, Error>>()?;
        inputs.specs.push((name.to_owned(), spec(ty, Shape::from(shape))));
    }
    Ok(inputs)
}

impl InputSpecs {
    fn extent(&mut self, text: &str, extent: &str) -> Result<usize, Error> {
        if let Ok(number) = extent.parse() {
            return Ok(number);
        }
        if !is_name(extent) {
            return Err(
                wrong(text, &format!("`{extent}` is not an extent")).help("extents are numbers, or names: `f32[n,3]`")
            );
        }
        let next = EXAMPLES[self.extents.len() % EXAMPLES.len()];
        Ok(*self.extents.entry(extent.to_owned()).or_insert(next))
    }
}

/// Rejects names that are invalid in expressions.
///
/// # Errors
/// `Parse` for an invalid name.
pub fn check_name(name: &str) -> Result<(), Error> {
    if is_name(name) && !["True", "False", "None"].contains(&name) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::Parse, format!("input: `{name}` is not a name"))
        .help("names are letters, digits and `_`, as in `x1`"))
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_alphabetic() || c == '_') && letters.all(|c| c.is_alphanumeric() || c == '_')
}

fn wrong(text: &str, what: &str) -> Error {
    Error::new(ErrorCode::Parse, format!("input `{text}`: {what}"))
}
