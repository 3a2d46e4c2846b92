//! Errors of operations as the user reads them: which operands do not fit, where they come from, and what to write instead.

use crate::explain::{Origin, Site};
use crate::source;
use ndjit_ir::infer::{InferenceError, Operation};
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::Reduction;
use ndjit_ir::shape::ShapeMismatch;
use ndjit_ir::{DType, Error, ErrorCode, LiteralValue, Place, Shape, ValueType};

/// What is known of an operand before anything is computed.
pub struct KnownOperand<'a> {
    /// Its type.
    pub ty: ValueType,
    /// Its shape.
    pub shape: &'a Shape,
    /// The number it is, if it is one that is known.
    pub literal: Option<Literal>,
}

/// Where each operand comes from, asked when an error is to be worded.
pub type Origins<'a> = &'a dyn Fn(usize) -> Origin;

/// What is asked for, where an error is to be worded.
#[derive(Clone, Copy)]
pub struct What {
    /// The operands' names.
    pub names: &'static [&'static str],
    /// The operation, where it is written.
    pub site: Site,
}

/// Operands without names of their own.
pub const NUMBERED: &[&str] = &["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"];

/// What does not fit, as an error of the function `what`.
pub fn worded(mismatch: InferenceError, operation: &Operation<'_>, what: &str) -> Error {
    match mismatch {
        InferenceError::NoElements { axes, shape, .. } => Error::new(ErrorCode::Shape, "there are no elements")
            .of(what)
            .fact(format_args!("along axes {axes} of shape {shape}"))
            .help("give the array elements, or do not reduce it when it is empty"),
        InferenceError::Clash(_) => {
            mismatch.error().of(what).help("cast the arrays to a common dtype, as in `cast(x, DType::F64)`")
        }
        InferenceError::Shape(ref shapes) => {
            let help = match (shapes, operation) {
                (ShapeMismatch::Broadcast(a, b), _) => unequal(a, b),
                (_, Operation::Concat(axis, _)) => format!(
                    "arrays joined along axis {axis} have the same number of axes, and the same extents along all others"
                ),
                _ => "indices and what is taken broadcast, and the axis has elements".to_owned(),
            };
            mismatch.error().of(what).help(help)
        }
        _ => mismatch.error().of(what),
    }
}

/// The error of a number that does not fit a dtype which no array gave it, with how it is given another.
pub fn without_array(error: Error, literal: Literal, dtype: DType) -> Error {
    let wider =
        [DType::I16, DType::I32, DType::I64, DType::U64].into_iter().find(|wider| literal.to_repr(*wider).is_ok());
    let strong = wider.and_then(|wider| number_of_dtype(literal, &format!("{wider:?}")));
    match strong.filter(|_| dtype.is_int() && literal.ty().is_weak()) {
        Some(strong) => error.help(format!(
            "no array gives it a dtype, so it has the default: give it one, `{strong}`, or have numbers be wider, as in \
             `with_defaults(Defaults::BITS_64, || …)`"
        )),
        None => error,
    }
}

/// The first axis, from the last, in which two shapes disagree.
fn unequal(a: &Shape, b: &Shape) -> String {
    let pairs = a.extents().iter().rev().zip(b.extents().iter().rev()).enumerate();
    for (back, (&a, &b)) in pairs {
        if a != b && a != 1 && b != 1 {
            return format!("axes are matched from the last; axis -{} is {a} and {b}, and neither is 1", back + 1);
        }
    }
    "axes are matched from the last; extents must be equal or 1".to_owned()
}

/// The error with its place and every operand's type, shape and origin as facts, before the facts it has.
pub fn explained(error: Error, what: What, operands: &[KnownOperand<'_>], place: Place, origins: Origins<'_>) -> Error {
    let names = &what.names[..operands.len().min(what.names.len())];
    let width = names.iter().map(|n| n.len()).max().unwrap_or(0) + 1;
    let mut full = error.clone().without_operands().moved(place);
    for (i, (name, operand)) in names.iter().zip(operands).enumerate() {
        let label = format!("{name}:");
        let from = origins(i);
        let origin = from.text(Some(place));
        full = match (operand.literal, from) {
            (Some(literal), Origin::Argument(_)) => {
                full.operand(format_args!("{label:width$} {} ({} {origin})", operand.ty, literal.value()))
            }
            (Some(_), _) => full.operand(format_args!("{label:width$} {} ({origin})", operand.ty)),
            (None, _) => full.operand(format_args!("{label:width$} {}{} {origin}", operand.ty, operand.shape)),
        };
    }
    // Axes that a reduction left out are what most often does not fit.
    let reduced = (0..operands.len()).find_map(|i| match origins(i) {
        Origin::Computed { what, .. } if what.parse::<Reduction>().is_ok() => Some(what),
        _ => None,
    });
    if let (ErrorCode::Shape, Some(_), Some(reduction), Some(help)) =
        (error.code(), what.site.op, reduced, error.help_text())
    {
        return full
            .help(format!("{help}; to keep the axes of a reduction, reduce as in `{reduction}(…, keepdims(-1))`"));
    }
    match error.help_text() {
        Some(help) => full.help(as_written(help, what, operands)),
        None => full,
    }
}

/// Advice that names operands as the op does, `` `cast(x, DType::F32)` ``, with what the user wrote in their place.
fn as_written(help: &str, what: What, operands: &[KnownOperand<'_>]) -> String {
    let written = source::operands(what.site).unwrap_or_default();
    let cast = |quoted: &str| -> Option<String> {
        let (name, rest) = quoted.strip_prefix("cast(")?.split_once(", DType::")?;
        let variant = rest.strip_suffix(')')?;
        let i = what.names.iter().position(|operand| *operand == name)?;
        match (operands.get(i)?.literal, written.get(i)) {
            (Some(literal), _) => number_of_dtype(literal, variant),
            (None, Some(text)) => Some(format!("cast({}, DType::{variant})", source::argument_of(text))),
            (None, None) => None,
        }
    };
    // Every second part stands between backticks.
    let parts = help.split('`').enumerate();
    let mut parts: Vec<String> =
        parts.map(|(i, part)| (i % 2 == 1).then(|| cast(part)).flatten().unwrap_or_else(|| part.to_owned())).collect();
    // Both are cast, even where one text, or one value, stands for both.
    let twice = parts.windows(3).position(|part| part[0] == part[2] && part[1] == " and ");
    if let Some(at) = twice.filter(|_| operands.len() == 2) {
        parts.drain(at + 1..at + 3);
        if let Some(rest) = parts.get_mut(at + 1) {
            rest.insert_str(0, " for both operands");
        }
    }
    parts.join("`")
}

/// How a number of a dtype is written, if Rust has a literal for it.
fn number_of_dtype(literal: Literal, variant: &str) -> Option<String> {
    let value = literal.value();
    let suffix = variant.to_lowercase();
    let is_float = matches!(variant, "F32" | "F64");
    match value {
        LiteralValue::Int(_) if is_float => Some(format!("strong({value}.0{suffix})")),
        LiteralValue::Float(x) if is_float && x.is_finite() => Some(format!("strong({value}{suffix})")),
        LiteralValue::Int(_) if variant.starts_with(['U', 'I']) => Some(format!("strong({value}{suffix})")),
        LiteralValue::Int(_) | LiteralValue::Bool(_) => Some(format!("asarray({value}).cast(DType::{variant})")),
        LiteralValue::Float(x) if x.is_finite() => Some(format!("asarray({value}).cast(DType::{variant})")),
        LiteralValue::Float(_) | LiteralValue::Complex(..) => None,
    }
}
