//! The type and shape of an operation's result, or the error that the user reads. The one place both traced and lazy
//! operations ask; the rules themselves are the policy's, the shape's and the view's.

use crate::config::Settings;
use crate::manipulation::{Move, Movement};
use crate::reductions::Request;
use crate::source;
use crate::support::or_falling_back;
use ndjit_ir::explain::{Origin, Site};
use ndjit_ir::graph::{Graph, NodeKind, Places, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::op::Operands;
use ndjit_ir::reduction::{Reduce, Reduction, Rule, Scan};
use ndjit_ir::support::adapt::OperandCast;
use ndjit_ir::support::{CastReason, Support};
use ndjit_ir::{DType, Error, ErrorCode, Kind, LiteralValue, Op, Place, Result, Shape, ValueType};
use smallvec::SmallVec;

/// What is known of an operand before anything is computed.
pub(crate) struct Known<'a> {
    pub ty: ValueType,
    pub shape: &'a Shape,
    pub literal: Option<Literal>,
}

/// Where each operand comes from, asked when an error is to be worded.
pub(crate) type Origins<'a> = &'a dyn Fn(usize) -> Origin;

/// How an operation is done.
pub(crate) struct Inferred {
    pub ty: ValueType,
    pub shape: Shape,
    /// For each operand the cast that a casting mode inserts before; empty if there are none.
    pub casts: SmallVec<[OperandCast; 3]>,
}

/// Type and shape of `op`'s result, and the casts before it.
pub(crate) fn op_result(
    op: Op,
    settings: Settings,
    operands: &[Known<'_>],
    place: Place,
    origins: Origins<'_>,
) -> Result<Inferred> {
    let what = What { names: op.row().operands, site: Site::of_op(op, place) };
    let result = or_falling_back(settings, |settings| inferred(op, settings, operands));
    result.map_err(|error| explained(error, what, operands, place, origins))
}

/// How a reduction or a scan is done.
pub(crate) struct Reducing {
    pub kind: NodeKind,
    pub dtype: DType,
    pub shape: Shape,
    /// The cast that a casting mode inserts before.
    pub cast: OperandCast,
}

/// Type and shape of the result of a reduction or a scan, and the cast before it.
pub(crate) fn reduction_result(
    request: &Request,
    settings: Settings,
    operands: &[Known<'_>],
    place: Place,
    origins: Origins<'_>,
) -> Result<Reducing> {
    let names = request.reduction.row().operands;
    let what = What { names, site: Site::of(request.reduction.name(), place) };
    let result = or_falling_back(settings, |settings| reducing(request, settings, operands));
    result.map_err(|error| explained(error, what, operands, place, origins))
}

/// How elements are moved.
pub(crate) struct Moved {
    pub step: Move,
    pub ty: ValueType,
    pub shape: Shape,
}

/// What a function does that moves elements, and type and shape of its result.
pub(crate) fn movement_result(
    movement: &Movement<'_>,
    settings: Settings,
    operands: &[Known<'_>],
    place: Place,
    origins: Origins<'_>,
) -> Result<Moved> {
    let names = if operands.len() == 1 { &["x"][..] } else { NUMBERED };
    let what = What { names, site: Site::of(movement.what, place) };
    moved(movement, settings, operands).map_err(|error| explained(error, what, operands, place, origins))
}

fn moved(movement: &Movement<'_>, settings: Settings, operands: &[Known<'_>]) -> Result<Moved> {
    let shapes: SmallVec<[&Shape; 3]> = operands.iter().map(|operand| operand.shape).collect();
    let (step, shape) = (movement.of)(&shapes).map_err(|e| e.of(movement.what))?;
    let types: SmallVec<[ValueType; 3]> = operands.iter().map(|operand| operand.ty).collect();
    let ty = match (&step, &types[..]) {
        (Move::View(_) | Move::Reshape, &[ty]) | (Move::Gather | Move::Scatter(_), &[ty, ..]) => ty,
        (Move::Iota(_), _) => DType::I64.into(),
        _ => {
            let resolved = settings.policy.resolve(Operands::Join, &types);
            let clash = |clash| {
                Error::new(ErrorCode::Promotion, format!("{}: {clash}", movement.what))
                    .help("cast the arrays to a common dtype, as in `cast(x, DType::F64)`")
            };
            resolved.map_err(clash)?.compute
        }
    };
    let dtype = settings.policy.commit(ty);
    let positions = matches!(step, Move::Gather | Move::Scatter(_));
    let elements = operands.iter().enumerate().filter(|(n, _)| *n != 1 || !positions).map(|(_, operand)| operand);
    for literal in elements.filter_map(|operand| operand.literal) {
        fits(literal, dtype, operands).map_err(|e| e.of(movement.what))?;
    }
    shape.bytes(dtype.bytes()).map_err(|e| e.of(movement.what))?;
    Ok(Moved { step, ty, shape })
}

fn reducing(request: &Request, settings: Settings, operands: &[Known<'_>]) -> Result<Reducing> {
    let (reduction, policy, x) = (request.reduction, settings.policy, &operands[0]);
    let (axes, keepdims) = request.on(x.shape)?;
    let adapted = settings.support.resolve_reduction(policy, reduction, request.dtype, x.ty)?;
    let result = adapted.types.result;
    let count = axes.count(x.shape);
    if reduction.needs_elements() && count == 0 {
        return Err(Error::new(ErrorCode::Shape, format!("{reduction}: there are no elements"))
            .fact(format_args!("along axes {axes} of shape {}", x.shape))
            .help("give the array elements, or do not reduce it when it is empty"));
    }
    let most = result.int_range().map_or(i128::MAX, |(_, most)| most);
    if reduction.row().rule == Rule::Index && count as i128 > most {
        return Err(Error::new(ErrorCode::DType, format!("{reduction}: {result} cannot count {count} elements"))
            .help(format!("ask for a wider dtype, as in `dtype(DType::I64).{reduction}(…)`")));
    }
    if let Some(correction) = operands.get(1)
        && correction.ty.kind() == Kind::Complex
    {
        return Err(Error::new(ErrorCode::DType, format!("{reduction}: the correction is {}", correction.ty))
            .help("give a real number"));
    }
    if let Some(literal) = x.literal
        && request.dtype.is_none()
        && adapted.types.compute != DType::Bool
    {
        fits(literal, adapted.types.compute, operands).map_err(|e| e.of(reduction))?;
    }
    if let Some((dtype, _)) = adapted.cast {
        x.shape.bytes(dtype.bytes()).map_err(|e| e.of(reduction))?;
    }
    let dtype = request.dtype;
    let (kind, shape) = match axes.iter().next().filter(|_| reduction.scans()) {
        Some(axis) => (NodeKind::Scan(Scan { reduction, axis: axis as u32, dtype, policy }), x.shape.clone()),
        None => {
            let reduced = axes.reduced(x.shape, keepdims);
            (
                NodeKind::Reduce(Reduce { reduction, axes, keepdims, contracts: request.contracts, dtype, policy }),
                reduced,
            )
        }
    };
    shape.bytes(result.bytes()).map_err(|e| e.of(reduction))?;
    Ok(Reducing { kind, dtype: result, shape, cast: adapted.cast })
}

/// What is asked for, where an error is to be worded.
#[derive(Clone, Copy)]
struct What {
    /// The operands' names.
    names: &'static [&'static str],
    site: Site,
}

fn inferred(op: Op, settings: Settings, operands: &[Known<'_>]) -> Result<Inferred> {
    let policy = settings.policy;
    let types: SmallVec<[ValueType; 3]> = operands.iter().map(|o| o.ty).collect();
    let adapted = settings.support.resolve_op(policy, op, &types)?;
    let (resolved, casts) = (adapted.types, adapted.casts);
    let compute = policy.commit(resolved.compute);
    for (i, operand) in operands.iter().enumerate() {
        let cast = casts.get(i).copied().flatten();
        let dtype = match cast {
            Some((dtype, _)) => {
                operand.shape.bytes(dtype.bytes()).map_err(|e| e.of(op))?;
                dtype
            }
            None => op.operand_dtype(i, compute),
        };
        // Numbers become truth values by comparison with zero, not by rounding; a cast of a mode may drop a fraction, but
        // keeps what an integer is.
        if dtype != DType::Bool
            && let Some(literal) = operand.literal
            && (cast.is_none() || literal.ty().kind() == Kind::Int)
        {
            fits(literal, dtype, operands).map_err(|e| e.of(op))?;
        }
    }
    let shape = broadcast(op, operands)?;
    let dtype = policy.commit(resolved.result);
    shape.bytes(dtype.bytes()).map_err(|e| e.of(op))?;
    Ok(Inferred { ty: resolved.result, shape, casts })
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
                (what, inferred(op, Settings { policy, ..settings }, &known).err()?)
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

fn broadcast(op: Op, operands: &[Known<'_>]) -> Result<Shape> {
    let mut shape = Shape::scalar();
    for operand in operands {
        shape = shape.broadcast(operand.shape).ok_or_else(|| {
            let headline = format!("{op}: shapes {shape} and {} do not broadcast", operand.shape);
            Error::new(ErrorCode::Shape, headline).help(mismatch(&shape, operand.shape))
        })?;
    }
    Ok(shape)
}

/// The first axis, from the last, in which two shapes disagree.
fn mismatch(a: &Shape, b: &Shape) -> String {
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
