//! What [`ndjit_ir::infer`] says of an operation, or the error that the user reads: which operands do not fit, where they come from, and what to
//! write. Both traced and lazy operations ask here. Numbers have to fit the dtypes in which they are used, and arrays memory.

use crate::api::config::Settings;
use crate::api::support::or_falling_back;
use crate::trace::asked::Asked;
use ndjit_inspect::explain::{Origin, Site};
use ndjit_inspect::source;
use ndjit_ir::axes::Axes;
use ndjit_ir::graph::{Graph, NodeKind, Places, Slot, Value};
use ndjit_ir::infer::{Mismatch, Operation};
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::{Reduce, Reduction, Rule, Scan};
use ndjit_ir::shape::ShapeMismatch;
use ndjit_ir::support::adapt::{Adapted, OperandCast};
use ndjit_ir::support::{CastReason, Support};
use ndjit_ir::{DType, Error, ErrorCode, Kind, LiteralValue, Place, Policy, Result, Shape, ValueType};
use smallvec::SmallVec;

/// What is known of an operand before anything is computed.
pub(crate) struct Known<'a> {
    pub ty: ValueType,
    pub shape: &'a Shape,
    pub literal: Option<Literal>,
}

/// Where each operand comes from, asked when an error is to be worded.
pub(crate) type Origins<'a> = &'a dyn Fn(usize) -> Origin;

impl Asked<'_> {
    /// The function's name.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Asked::Op(op) => op.name(),
            Asked::Reduction(request) => request.reduction.name(),
            Asked::Movement(movement) => movement.what,
        }
    }

    /// As it stands in errors, of so many operands.
    fn site(self, operands: usize, place: Place) -> What {
        let names = match self {
            Asked::Op(op) => op.row().operands,
            Asked::Reduction(request) => request.reduction.row().operands,
            Asked::Movement(_) if operands == 1 => &["x"],
            Asked::Movement(_) => NUMBERED,
        };
        let site = match self {
            Asked::Op(op) => Site::of_op(op, place),
            Asked::Reduction(_) | Asked::Movement(_) => Site::of(self.what(), place),
        };
        What { names, site }
    }

    /// What is done to operands of these shapes.
    fn operation(self, operands: &[Known<'_>], policy: Policy) -> Result<Operation<'static>> {
        match self {
            Asked::Op(op) => Ok(Operation::Op(op, policy)),
            Asked::Reduction(request) => request.operation(operands[0].shape, policy),
            Asked::Movement(movement) => {
                let shapes: SmallVec<[&Shape; 3]> = operands.iter().map(|operand| operand.shape).collect();
                (movement.of)(&shapes).map_err(|error| error.of(movement.what))
            }
        }
    }
}

/// How an operation is done.
pub(crate) struct Inferred {
    pub operation: Operation<'static>,
    pub ty: ValueType,
    pub shape: Shape,
    /// For each operand the cast that a casting mode inserts before; empty if there are none.
    pub casts: SmallVec<[OperandCast; 3]>,
}

/// What is done, type and shape of its result, and the casts before it.
pub(crate) fn infer(
    asked: Asked<'_>,
    settings: Settings,
    operands: &[Known<'_>],
    place: Place,
    origins: Origins<'_>,
) -> Result<Inferred> {
    let in_words = |error| explained(error, asked.site(operands.len(), place), operands, place, origins);
    // An operation is as large as a view: it is not handed through closures.
    let operation = match asked.operation(operands, settings.policy) {
        Ok(operation) => operation,
        Err(error) => return Err(in_words(error)),
    };
    match or_falling_back(settings, |settings| inferred(&operation, asked.what(), settings, operands)) {
        Ok((ty, shape, casts)) => Ok(Inferred { operation, ty, shape, casts }),
        Err(error) => Err(in_words(error)),
    }
}

/// What is asked for, where an error is to be worded.
#[derive(Clone, Copy)]
struct What {
    /// The operands' names.
    names: &'static [&'static str],
    site: Site,
}

fn inferred(
    operation: &Operation<'_>,
    what: &str,
    settings: Settings,
    operands: &[Known<'_>],
) -> Result<(ValueType, Shape, SmallVec<[OperandCast; 3]>)> {
    let policy = settings.policy;
    // Positions are made of nothing; an operand says no more than where they are wanted.
    let own = if let Operation::Iota(..) = operation { &[] } else { operands };
    let types: SmallVec<[ValueType; 3]> = own.iter().map(|operand| operand.ty).collect();
    let Adapted { types, casts } = match operation {
        Operation::Op(..) | Operation::Reduce(_) | Operation::Scan(..) => {
            settings.support.resolve(operation, &types)?
        }
        _ => Adapted {
            types: operation.types(&types).map_err(|clash| worded(clash, operation, what))?,
            casts: SmallVec::new(),
        },
    };
    let compute = policy.commit(types.compute);
    let reduced = match *operation {
        Operation::Reduce(Reduce { reduction, axes, .. }) => Some((reduction, axes)),
        Operation::Scan(Scan { reduction, axis, .. }, _) => Some((reduction, Axes::one(axis as usize))),
        _ => None,
    };
    if let Some((reduction, axes)) = reduced {
        check_reduction(reduction, policy.commit(types.result), axes.count(own[0].shape), own.get(1))?;
    }
    for (i, operand) in own.iter().enumerate() {
        let cast = casts.get(i).copied().flatten();
        if let Some((dtype, _)) = cast {
            operand.shape.bytes(dtype.bytes()).map_err(|e| e.of(what))?;
        }
        let dtype = used_as(operation, i, compute, cast);
        // Numbers become truth values by comparison with zero, not by rounding; a cast of a mode may drop a fraction, but
        // keeps what an integer is.
        if let (Some(dtype), Some(literal)) = (dtype.filter(|dtype| *dtype != DType::Bool), operand.literal)
            && (cast.is_none() || !matches!(operation, Operation::Op(..)) || literal.ty().kind() == Kind::Int)
        {
            fits(literal, dtype, operands).map_err(|e| e.of(what))?;
        }
    }
    let shapes: SmallVec<[&Shape; 3]> = own.iter().map(|operand| operand.shape).collect();
    let shape = operation.shape(&shapes).map_err(|mismatch| worded(mismatch, operation, what))?.into_owned();
    shape.bytes(policy.commit(types.result).bytes()).map_err(|e| e.of(what))?;
    Ok((types.result, shape, casts))
}

/// The dtype in which a number is used that is operand `i`; `None` if it takes any.
fn used_as(operation: &Operation<'_>, i: usize, compute: DType, cast: OperandCast) -> Option<DType> {
    match operation {
        Operation::Op(op, _) => Some(cast.map_or_else(|| op.operand_dtype(i, compute), |(dtype, _)| dtype)),
        // What a dtype was asked for is cast; corrections and indices are what they are.
        Operation::Reduce(Reduce { dtype, .. }) | Operation::Scan(Scan { dtype, .. }, _) => {
            (i == 0 && dtype.is_none()).then_some(compute)
        }
        Operation::Gather | Operation::Scatter(_) => (i != 1).then_some(compute),
        _ => Some(compute),
    }
}

/// What a reduction refuses besides: indices that its dtype does not count, and complex corrections.
fn check_reduction(reduction: Reduction, result: DType, count: usize, correction: Option<&Known<'_>>) -> Result<()> {
    let most = result.int_range().map_or(i128::MAX, |(_, most)| most);
    if reduction.row().rule == Rule::Index && count as i128 > most {
        return Err(Error::new(ErrorCode::DType, format!("{reduction}: {result} cannot count {count} elements"))
            .help(format!("ask for a wider dtype, as in `dtype(DType::I64).{reduction}(…)`")));
    }
    match correction.filter(|correction| correction.ty.kind() == Kind::Complex) {
        Some(Known { ty, .. }) => {
            Err(Error::new(ErrorCode::DType, format!("{reduction}: the correction is {ty}")).help("give a real number"))
        }
        None => Ok(()),
    }
}

/// What does not fit, as an error of the function `what`.
fn worded(mismatch: Mismatch, operation: &Operation<'_>, what: &str) -> Error {
    match mismatch {
        Mismatch::NoElements { axes, shape, .. } => {
            Error::new(ErrorCode::Shape, format!("{what}: there are no elements"))
                .fact(format_args!("along axes {axes} of shape {shape}"))
                .help("give the array elements, or do not reduce it when it is empty")
        }
        Mismatch::Clash(_) => {
            mismatch.error().of(what).help("cast the arrays to a common dtype, as in `cast(x, DType::F64)`")
        }
        Mismatch::Shape(ref shapes) => {
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

/// Whether a number among these operands fits the dtype that it is used in. Where numbers are all there is, nothing else can be cast.
fn fits(literal: Literal, dtype: DType, operands: &[Known<'_>]) -> Result<()> {
    literal.to_repr(dtype).map(drop).map_err(|error| {
        let alone = operands.iter().all(|operand| operand.literal.is_some());
        if alone { without_array(error, literal, dtype) } else { error }
    })
}

/// The error of a number that does not fit a dtype which no array gave it, with how it is given another.
pub(crate) fn without_array(error: Error, literal: Literal, dtype: DType) -> Error {
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

/// The operation of a traced graph which the numbers `passed` at a call do not fit, as the error that it had been with the number written there.
pub(crate) fn misfit(
    (graph, places): (&Graph<ValueType>, &Places),
    settings: Settings,
    passed: &[(usize, Literal)],
    origin: &dyn Fn(Value) -> Origin,
) -> Option<Error> {
    // What the function may be used on was looked at when it was traced; casts of modes are operations of the graph.
    let settings = Settings { support: Support::default(), ..settings };
    let slot = |value: Value| match graph.node(graph.producer(value)).kind {
        NodeKind::Literal(slot) => graph.slots().get(slot.index()),
        _ => None,
    };
    let number = |value: Value| match slot(value)? {
        Slot::Value(literal) => Some(*literal),
        Slot::Argument { index, .. } => passed.iter().find(|(n, _)| n == index).map(|(_, literal)| *literal),
    };
    let is_passed = |value: &Value| matches!(slot(*value), Some(Slot::Argument { .. }));
    let operands_of = |id| graph.operands(id).iter().copied();
    let found = graph.node_ids().filter(|&id| operands_of(id).any(|value| is_passed(&value))).find_map(|id| {
        let place = places.first(id)?;
        let known = |value| Known { ty: graph.ty(value), shape: graph.shape(value), literal: number(value) };
        let known: SmallVec<[Known<'_>; 3]> = operands_of(id).map(known).collect();
        let all = |name: &'static str, dtype: DType| {
            let mut numbers = known.iter().filter_map(|operand| operand.literal);
            numbers.find_map(|literal| fits(literal, dtype, &known).err()).map(|error| error.of(name))
        };
        let policy = settings.policy;
        let (what, error) = match graph.node(id).kind {
            NodeKind::Op(op, policy) => {
                let what = What { names: op.row().operands, site: Site::of_op(op, place) };
                let settings = Settings { policy, ..settings };
                (what, inferred(&Operation::Op(op, policy), op.name(), settings, &known).err()?)
            }
            NodeKind::Reduce(Reduce { reduction, dtype, policy, .. })
            | NodeKind::Scan(Scan { reduction, dtype, policy, .. }) => {
                let adapted = settings.support.resolve_reduction(policy, reduction, dtype, known[0].ty).ok()?;
                let what = What { names: reduction.row().operands, site: Site::of(reduction.name(), place) };
                // As when it was traced: what a dtype was asked for is cast, and truth values are comparisons with zero.
                let used = Some(adapted.types.compute).filter(|used| dtype.is_none() && *used != DType::Bool);
                (what, all(reduction.name(), used.unwrap_or(policy.commit(known[0].ty)))?)
            }
            NodeKind::Concat(..) => {
                let what = What { names: NUMBERED, site: Site::of("concat", place) };
                (what, all("concat", policy.commit(graph.ty(graph.node(id).first())))?)
            }
            // What is written converts whatever it is given.
            NodeKind::Cast(CastReason::Explicit) => return None,
            // A fraction may be dropped; an integer stays what it is.
            NodeKind::Cast(CastReason::Mode(_)) => {
                let to = policy.commit(graph.ty(graph.node(id).first()));
                let error = known[0].literal.filter(|literal| literal.ty().kind() == Kind::Int)?.to_repr(to).err()?;
                (What { names: &["number"], site: Site::of("call", place) }, error.of("call"))
            }
            NodeKind::Cast(CastReason::Promotion) => {
                let to = policy.commit(graph.ty(graph.node(id).first()));
                let error = known[0].literal?.to_repr(to).err()?.of("call");
                let error = error.fact(format_args!("it becomes {to} there: where a loop begins or ends, or in an array that it is put into"));
                let what = What { names: &["number"], site: Site::of("call", place) };
                (
                    what,
                    error.help(format!(
                        "pass a number that {to} holds, or give the array, what the body gives, or the other bound a wider dtype"
                    )),
                )
            }
            // These take the number as it is.
            _ => {
                let misfits = |operand: &Known<'_>| {
                    let (literal, dtype) = (operand.literal?, policy.commit(operand.ty));
                    Some(without_array(literal.to_repr(dtype).err()?, literal, dtype).of("call"))
                };
                let (n, error) = known.iter().enumerate().find_map(|(n, operand)| Some((n, misfits(operand)?)))?;
                let what = What { names: &["number"], site: Site::of("call", place) };
                let value = operands_of(id).nth(n)?;
                return Some(explained(error, what, &known[n..=n], place, &|_| origin(value)));
            }
        };
        let operands: SmallVec<[Value; 3]> = operands_of(id).collect();
        let error = (error.code() == ErrorCode::Literal).then_some(error)?;
        Some(explained(error, what, &known, place, &|n| origin(operands[n])))
    });
    found.or_else(|| {
        // What meets nothing is a result in its default dtype.
        graph.outputs().iter().filter(|value| is_passed(value)).find_map(|&value| {
            let (literal, dtype) = (number(value)?, settings.policy.commit(graph.ty(value)));
            let error = without_array(literal.to_repr(dtype).err()?, literal, dtype).of("call");
            Some(error.fact(format_args!("the number: {} ({} {})", graph.ty(value), literal.value(), origin(value))))
        })
    })
}

/// Operands without names of their own.
const NUMBERED: &[&str] = &["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"];

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
fn explained(error: Error, what: What, operands: &[Known<'_>], place: Place, origins: Origins<'_>) -> Error {
    let names = &what.names[..operands.len().min(what.names.len())];
    let width = names.iter().map(|n| n.len()).max().unwrap_or(0) + 1;
    let mut full = Error::new(error.code(), error.headline()).at(place);
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
    let is_operand = |fact: &str| names.iter().any(|n| fact.strip_prefix(n).is_some_and(|rest| rest.starts_with(':')));
    for fact in error.facts().iter().filter(|f| !is_operand(f)) {
        full = full.fact(fact);
    }
    // Axes that a reduction left out are what most often does not fit.
    let reduced = (0..operands.len()).find_map(|i| match origins(i) {
        Origin::Computed { what, .. } if what.parse::<Reduction>().is_ok_and(|reduction| !reduction.scans()) => {
            Some(what)
        }
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
fn as_written(help: &str, what: What, operands: &[Known<'_>]) -> String {
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
