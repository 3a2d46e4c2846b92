//! The state of a loop. Recording the body determines its types: a weak leaf takes the dtype of the body's result. Any other
//! change of type is an error that names the leaf.

use crate::trace::captures::Known;
use crate::trace::cast;
use crate::trace::expr::Expr;
use crate::trace::inner::{RecordedGraph, again, may_restart, params, record_inner};
use crate::trace::recorder;
use crate::trace::recording::Param;
use ndjit_ir::{CastAdvice, DType, Error, ErrorCode, Help, Kind, LiteralValue, Result, SourceLoc, ValueType};
use std::fmt::Display;

/// A loop body: the state, and slices if any, to the next state and the further results.
pub(super) type BodyFn<'a> = dyn Fn(&[Expr]) -> (Vec<Expr>, Vec<Expr>) + 'a;

/// A loop as written by the caller.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub(super) what: &'static str,
    pub(super) place: SourceLoc,
}

impl Written {
    fn differs(&self, code: ErrorCode, leaf: usize, before: impl Display, after: impl Display) -> Error {
        let what = self.what;
        Error::new(code, format!("{what}: leaf {leaf} of the state is {before}, the body gives {after}"))
    }
}

/// Limit of the leaves traced to find the types of a state, summed over all traces of the body.
const MAX_LEAVES: usize = 1 << 20;

/// The state with its final types, and its recorded body, which returns the next state and then the further results. A weak
/// leaf takes the dtype of the body's result, which may make other leaves strong.
pub(super) fn settled(
    written: Written,
    init: &[Expr],
    slices: &[Param],
    known: &mut Known,
    body: &BodyFn<'_>,
) -> Result<(Vec<Expr>, RecordedGraph)> {
    let Written { what, place } = written;
    let given = params(init, what)?;
    let mut inner = known.graph(0);
    if let Some(guessed) = guessed(&given, &known.types) {
        match written.traced(&guessed, slices, inner, body) {
            Ok(mut made) => {
                if written.kept(init, &guessed, &made).is_ok_and(|next| next.is_none())
                    && let Ok(state) = written.promoted(init, &given, &guessed)
                {
                    return Ok((state, made));
                }
                inner = made.learned();
            }
            // The guess may be the cause of the error.
            Err(error) if !may_restart() => return Err(error),
            Err(_) => inner = Vec::new(),
        }
        again(what, place)?;
    }
    let mut types = given.clone();
    // Each leaf is promoted at most once.
    for times in 0..=init.len() {
        if times > 0 {
            again(what, place)?;
        }
        if times.saturating_mul(init.len()) > MAX_LEAVES {
            let headline = format!("{what}: the body was traced {times} times for the types of {} leaves", init.len());
            return Err(Error::new(ErrorCode::Size, headline)
                .fact(format_args!("limit: {MAX_LEAVES} leaves, those of each time counted"))
                .help("begin the leaves with values of the dtypes that they keep, as `zeros_like(x)`, in place of numbers"));
        }
        let mut made = written.traced(&types, slices, inner, body)?;
        match written.kept(init, &types, &made)? {
            Some(next) => (types, inner) = (next, made.learned()),
            None => return Ok((written.promoted(init, &given, &types)?, made)),
        }
    }
    Err(Error::new(ErrorCode::DType, format!("{what}: the types of the state do not come to rest"))
        .help(Help::from("cast what the loop begins with, as in ").casts([CastAdvice::NamedOperand("x", DType::F32)])))
}

/// Returns the types of a state with the dtypes of its weak leaves in the previous trace; `None` without one.
fn guessed(given: &[Param], known: &[ValueType]) -> Option<Vec<Param>> {
    let guess = |(param, known): (&Param, &ValueType)| match (param, known) {
        (Param::Array(ValueType::Weak(weak), _, shape), ValueType::Strong(to)) if weak.promotes_to(*to) => {
            Param::Array(ValueType::Strong(*to), *to, shape.clone())
        }
        (param, _) => param.clone(),
    };
    (!known.is_empty() && known.len() == given.len()).then(|| given.iter().zip(known).map(guess).collect())
}

/// The types of leaves.
pub(super) fn types(state: &[Expr]) -> Vec<ValueType> {
    state.iter().map(|leaf| leaf.value_type()).collect()
}

impl Written {
    /// Records the body on a state of these types. A weak result for a leaf of the same width takes the leaf's dtype.
    fn traced(self, state: &[Param], slices: &[Param], inner: Vec<Known>, body: &BodyFn<'_>) -> Result<RecordedGraph> {
        let Written { what, place } = self;
        let types: Vec<Param> = state.iter().chain(slices).cloned().collect();
        let mut leaves = 0;
        let made = record_inner(&types, place, inner, |own| {
            let (mut next, besides) = body(own);
            leaves = next.len();
            for (next, param) in next.iter_mut().zip(state) {
                if let Param::Array(ValueType::Strong(to), ..) = param
                    && let Ok((ValueType::Weak(_), stored, _)) = recorder::describe(*next, what)
                    && stored == *to
                {
                    *next = cast::promote(*next, *to, what, place);
                }
            }
            next.extend(besides);
            next
        })?;
        if leaves != state.len() {
            let before = state.len();
            let headline = format!("{what}: the state has {before} leaves, the body gives {leaves}");
            return Err(Error::new(ErrorCode::Arity, headline).help("the body gives the structure that it gets"));
        }
        Ok(made)
    }

    /// Returns the next types of the state, where the body gives a weak leaf a dtype; `None` if all are unchanged.
    fn kept(self, init: &[Expr], state: &[Param], made: &RecordedGraph) -> Result<Option<Vec<Param>>> {
        let (mut next, mut changed, mut refused) = (state.to_vec(), false, None);
        for (n, (param, (ty, dtype, shape))) in state.iter().zip(&made.outputs).enumerate() {
            let Param::Array(own, stored, of) = param else { continue };
            if shape != of {
                let (before, after) = (format_args!("shape {of}"), format_args!("shape {shape}"));
                return Err(self
                    .differs(ErrorCode::Shape, n, before, after)
                    .help("a loop keeps the shapes of its state; give it the shape before, as with `broadcast_to`"));
            }
            match (own, ty) {
                _ if own == ty => {}
                (ValueType::Weak(weak), ValueType::Strong(to)) if weak.promotes_to(*to) => {
                    self.check_number(init[n], n, *to)?;
                    next[n] = Param::Array(ValueType::Strong(*to), *to, of.clone());
                    changed = true;
                }
                _ => {
                    let differs = self.differs(ErrorCode::DType, n, own, ty);
                    refused.get_or_insert_with(|| differs.help(other_dtype(init[n], (*own, *stored), (*ty, *dtype))));
                }
            }
        }
        match refused {
            // Promotion of other leaves may change the body's result for this one.
            Some(differs) if !changed => Err(differs),
            _ => Ok(changed.then_some(next)),
        }
    }

    /// Returns the initial state in its final types.
    fn promoted(self, init: &[Expr], given: &[Param], state: &[Param]) -> Result<Vec<Expr>> {
        let promoted = |(n, (&leaf, (given, own))): (usize, (&Expr, (&Param, &Param)))| match (given, own) {
            (Param::Array(ValueType::Weak(_), ..), &Param::Array(ValueType::Strong(to), ..)) => {
                self.check_number(leaf, n, to)?;
                Ok(cast::promote(leaf, to, self.what, self.place))
            }
            _ => Ok(leaf),
        };
        init.iter().zip(given.iter().zip(state)).enumerate().map(promoted).collect()
    }

    /// Checks that a literal of the initial state fits the dtype of the body's result.
    fn check_number(self, leaf: Expr, n: usize, to: DType) -> Result<()> {
        cast::check_number(leaf, to).map_err(|error| {
            error
                .of(self.what)
                .fact(format_args!("the state begins with it as leaf {n}, which the body gives as {to}"))
                .help(format!("begin with a number that {to} holds, or cast what the body gives"))
        })
    }
}

/// Returns advice for a body with another dtype than the state.
fn other_dtype(init: Expr, (own, stored): (ValueType, DType), (ty, dtype): (ValueType, DType)) -> Help {
    const KEEPS: &str = "a loop keeps the dtypes of its state";
    match (own, cast::number(init)) {
        // A whole number stands for a float.
        (ValueType::Weak(_), Some(LiteralValue::Int(n))) if ty.kind() == Kind::Float => {
            Help::from(format!("{KEEPS}; begin with a float"))
                .rust(format!(", `Expr::from({n}.0)`, in place of `Expr::from({n})`"))
        }
        _ => Help::from(format!("{KEEPS}: begin with a leaf of the body's, as in "))
            .casts([CastAdvice::NamedOperand("x", dtype)])
            .text(", or cast what the body gives, as in ")
            .casts([CastAdvice::NamedOperand("y", stored)]),
    }
}
