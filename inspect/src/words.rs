//! Errors of operations for users: the mismatched operands, their origins, and a fix.

use crate::explain::{Origin, Site};
use crate::source;
use ndjit_ir::graph::NodeKind;
use ndjit_ir::infer::{InferenceError, Operation};
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::Reduction;
use ndjit_ir::shape::ShapeMismatch;
use ndjit_ir::{CastAdvice, Code, DType, Error, ErrorCode, Help, HelpPart, LiteralValue, Shape, SourceLoc, ValueType};

/// The known properties of an operand before computation.
pub struct KnownOperand<'a> {
    /// Its type.
    pub ty: ValueType,
    /// Its shape.
    pub shape: &'a Shape,
    /// Its value, if it is a known scalar.
    pub literal: Option<Literal>,
}

/// The origin of each operand, for error messages.
pub type Origins<'a> = &'a dyn Fn(usize) -> Origin;

/// An operation, for error messages.
#[derive(Clone, Copy)]
pub struct What<'a> {
    /// The operands' names.
    pub names: &'a [&'static str],
    /// The operation's source location.
    pub site: Site,
}

/// Names of operands without a name.
pub const NUMBERED: &[&str] = &["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"];

/// A mismatch, as an error of the function `what`.
pub fn worded(mismatch: InferenceError, operation: &Operation<'_>, what: &str) -> Error {
    match mismatch {
        InferenceError::NoElements { axes, shape, .. } => Error::new(ErrorCode::Shape, "there are no elements")
            .of(what)
            .fact(format_args!("along axes {axes} of shape {shape}"))
            .help("give the array elements, or do not reduce it when it is empty"),
        InferenceError::Count(..) => {
            let ask = Code::WithDType(what.to_owned().into(), DType::I64);
            mismatch.error().of(what).help(Help::from("ask for a wider dtype, as in ").code(ask))
        }
        InferenceError::Correction(_) => mismatch.error().of(what).help("give a real number"),
        InferenceError::Clash(_) => {
            let cast = CastAdvice::NamedOperand("x", DType::F64);
            mismatch.error().of(what).help(Help::from("cast the arrays to a common dtype, as in ").casts([cast]))
        }
        InferenceError::Shape(ref shapes) => {
            let help = match (shapes, &operation.kind) {
                (ShapeMismatch::Broadcast(a, b), _) => unequal(a, b),
                (_, NodeKind::Concat(axis, _)) => format!(
                    "arrays joined along axis {axis} have the same number of axes, and the same extents along all others"
                ),
                _ => "indices and what is taken broadcast, and the axis has elements".to_owned(),
            };
            mismatch.error().of(what).help(help)
        }
        _ => mismatch.error().of(what),
    }
}

/// The error of a scalar that does not fit a dtype, in an operation without arrays, with a way to another dtype.
pub fn without_array(error: Error, literal: Literal, dtype: DType) -> Error {
    let wider =
        [DType::I16, DType::I32, DType::I64, DType::U64].into_iter().find(|wider| literal.to_repr(*wider).is_ok());
    let strong = wider.and_then(|wider| number_of_dtype(literal, wider));
    match strong.filter(|_| dtype.is_int() && literal.ty().is_weak()) {
        Some(strong) => error.help(
            Help::from("no array gives it a dtype, so it has the default: give it one, ")
                .casts([strong])
                .rust(", or have numbers be wider, as in `with_defaults(Defaults::BITS_64, || …)`"),
        ),
        None => error,
    }
}

/// The first axis, from the last, where two shapes disagree.
fn unequal(a: &Shape, b: &Shape) -> String {
    let pairs = a.extents().iter().rev().zip(b.extents().iter().rev()).enumerate();
    for (back, (&a, &b)) in pairs {
        if a != b && a != 1 && b != 1 {
            return format!("axes are matched from the last; axis -{} is {a} and {b}, and neither is 1", back + 1);
        }
    }
    "axes are matched from the last; extents must be equal or 1".to_owned()
}

/// The error with its place and every operand's type, shape and origin as facts, before its own facts.
pub fn explained(
    error: Error,
    what: What<'_>,
    operands: &[KnownOperand<'_>],
    place: SourceLoc,
    origins: Origins<'_>,
) -> Error {
    let names = &what.names[..operands.len().min(what.names.len())];
    let width = names.iter().map(|n| n.len()).max().unwrap_or(0) + 1;
    let mut full = error.without_operands().moved(place);
    for (i, (name, operand)) in names.iter().zip(operands).enumerate() {
        let label = format!("{name}:");
        let from = origins(i);
        let (value, origin) = from.parts(Some(place));
        let ty = operand.ty;
        full = match (operand.literal, &from) {
            (Some(literal), Origin::Argument(_)) => {
                full.operand_from(format_args!("{label:width$} {ty} ({} ", literal.value()), &origin, ")")
            }
            (Some(_), _) => full.operand_from(format_args!("{label:width$} {ty} ({value}"), &origin, ")"),
            (None, _) => full.operand_from(format_args!("{label:width$} {ty}{} {value}", operand.shape), &origin, ""),
        };
        if let Origin::Argument(index) = from {
            full = full.is_argument(index);
        }
    }
    // Axes omitted by a reduction are the most frequent mismatch.
    let reduced = (0..operands.len()).find_map(|i| match origins(i) {
        Origin::Computed { what, .. } if what.parse::<Reduction>().is_ok() => Some(what),
        _ => None,
    });
    let Some(help) = full.way_out().cloned() else { return full };
    let help = match reduced.filter(|_| full.code() == ErrorCode::Shape && what.site.op.is_some()) {
        Some(reduction) => {
            help.text("; to keep the axes of a reduction, reduce as in ").code(Code::KeptAxis(reduction))
        }
        None => as_written(&help, what, operands),
    };
    full.help(help)
}

/// Advice to cast operands, with the source text instead of the op's names.
fn as_written(help: &Help, what: What<'_>, operands: &[KnownOperand<'_>]) -> Help {
    let written = source::operands(what.site).unwrap_or_default();
    let as_written = |name: &str, to: DType| {
        let i = what.names.iter().position(|operand| *operand == name)?;
        match (operands.get(i)?.literal, written.get(i)) {
            (Some(literal), _) => number_of_dtype(literal, to),
            (None, Some(text)) => Some(CastAdvice::SourceText(source::argument_of(text).to_string(), to)),
            (None, None) => None,
        }
    };
    let cast = |cast: &CastAdvice| match cast {
        CastAdvice::NamedOperand(name, to) => as_written(name, *to).unwrap_or_else(|| cast.clone()),
        CastAdvice::SourceText(..) | CastAdvice::TypedNumber(..) => cast.clone(),
    };
    help.parts().iter().fold(Help::default(), |help, part| match part {
        HelpPart::Text(_) | HelpPart::Code(_) | HelpPart::Rust(_) => help.part(part.clone()),
        HelpPart::Casts(casts) => match &casts.iter().map(cast).collect::<Vec<CastAdvice>>()[..] {
            // Both are cast, even if they have the same text or value.
            [first, second] if first == second && operands.len() == 2 => {
                help.casts([first.clone()]).text(" for both operands")
            }
            casts => help.casts(casts.iter().cloned()),
        },
    })
}

/// A scalar of a dtype, if there is a literal for it.
fn number_of_dtype(literal: Literal, dtype: DType) -> Option<CastAdvice> {
    match literal.value() {
        LiteralValue::Int(_) | LiteralValue::Bool(_) => Some(CastAdvice::TypedNumber(literal, dtype)),
        LiteralValue::Float(x) if x.is_finite() => Some(CastAdvice::TypedNumber(literal, dtype)),
        LiteralValue::Float(_) | LiteralValue::Complex(..) => None,
    }
}
