//! The chain of steps from a value back to the arguments and scalars that determined its dtype.

use super::explainer::Explainer;
use super::origin::{Origin, Term};
use super::rule::{Rule, deduce, depends, promotion, reducing};
use super::site::Snippet;
use ndjit_ir::SourceLoc;
use ndjit_ir::dtype::DType;
use ndjit_ir::graph::{NodeKind, TypeOf, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::CastReason;
use ndjit_ir::value_type::ValueType;
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

/// An operation that contributed to a value's dtype.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// Its result, as in the text of the graph stage.
    pub value: Value,
    /// The op's name, `cast` or `call`.
    pub what: &'static str,
    /// Its source text, if known.
    pub written: Option<String>,
    /// The differentiated operation, if the step is part of a derivative; `written` is its text.
    pub slope_of: Option<&'static str>,
    /// Its places: several if equal operations were merged.
    pub places: Vec<SourceLoc>,
    /// The operands.
    pub operands: Vec<Term>,
    /// The type rules, in order.
    pub rules: Vec<Rule>,
    /// The type of its result.
    pub ty: ValueType,
    /// Whether it only propagates the type of one operand.
    pub keeps: bool,
}

/// The explanation of a value's dtype. Displays as one sentence, followed by the chain if that has more than one step:
///
/// ```text
/// f64 because `x * k` at src/a.rs:12:9: x f32 from argument 0, k f64 strong from line 9; join f32 ∨ f64 = f64
///   %4 f64: `y + 1` at src/a.rs:13:9: y f64 from %3, 1 i* literal; join f64 ∨ i* = f64
///   %3 f64: `x * k`, as above
/// ```
///
/// The sentence describes the first step, from the value back, that determined the dtype rather than propagated it. The
/// chain refers to it without repetition.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The value's type.
    pub ty: ValueType,
    /// The dtype of its computation and storage.
    pub stored: DType,
    /// The policy of the default dtype, if the type is weak and no other rule applies.
    pub default_of: Option<Policy>,
    /// The origin of the value.
    pub origin: Origin,
    /// The steps, from the value back, each node once. Empty for an argument or a scalar.
    pub steps: Vec<Step>,
}

impl Explanation {
    /// The explanation of an array or a scalar without an operation.
    pub fn given(ty: ValueType, stored: DType, origin: Origin) -> Explanation {
        Explanation { ty, stored, default_of: None, origin, steps: Vec::new() }
    }

    /// The explanation of a single scalar, under a policy.
    pub fn number(literal: Literal, place: Option<SourceLoc>, policy: Policy) -> Explanation {
        let (ty, origin) = (literal.ty(), Origin::Literal(literal, place));
        let default_of = ty.is_weak().then_some(policy);
        Explanation { default_of, ..Explanation::given(ty, policy.commit(ty), origin) }
    }

    /// The step that determined the dtype: the first that does more than propagate it, or else the last.
    pub fn cause(&self) -> Option<&Step> {
        self.steps.iter().find(|step| !step.keeps).or(self.steps.last())
    }
}

impl Explainer<'_> {
    /// Explains a value's dtype.
    pub fn explain(&self, value: Value) -> Explanation {
        let graph = self.graph;
        let mut steps: Vec<Step> = Vec::new();
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            let Some(step) = self.step(value) else { continue };
            let operands = graph.operands(graph.producer(value));
            let deciding = step.operands.iter().zip(operands).filter(|(term, _)| term.deciding);
            stack.extend(deciding.map(|(_, &operand)| operand).rev());
            steps.push(step);
        }
        let ty = graph.ty(value);
        let default_of = match graph.node(graph.producer(value)).kind {
            NodeKind::Literal(_) => Some(self.policy),
            kind => kind.policy(),
        };
        Explanation {
            ty,
            stored: graph.storage_dtype(value, self.policy),
            default_of: default_of.filter(|_| ty.is_weak()),
            origin: self.origin(value),
            steps,
        }
    }

    /// The operation of a value; `None` for arguments and scalars.
    pub(super) fn step(&self, value: Value) -> Option<Step> {
        let graph = self.graph;
        let id = graph.producer(value);
        let (kind, ty) = (graph.node(id).kind, graph.ty(value));
        let types: Vec<ValueType> = graph.operands(id).iter().map(|&o| graph.ty(o)).collect();
        let (names, mut rules, deciding) = match kind {
            _ if kind.row().ty == TypeOf::Given => return None,
            _ if let Some((function, request)) = kind.type_request() => {
                let deciding = if depends(function, request.dtype) { smallvec![0] } else { SmallVec::new() };
                (function.row().operands, vec![reducing(function, request, [types[0], ty])], deciding)
            }
            NodeKind::Op(op, policy) => {
                let (rules, deciding) = deduce(op, policy, &types).map(|d| (d.rules, d.deciding)).unwrap_or_default();
                (op.row().operands, rules, deciding)
            }
            NodeKind::Cast(reason) => {
                // An explicit cast does not depend on its operand.
                let deciding = if reason == CastReason::Explicit { SmallVec::new() } else { smallvec![0] };
                (kind.row().operands, vec![Rule::Cast { to: self.policy.commit(ty), reason }], deciding)
            }
            NodeKind::Concat(axis, policy) => {
                let rules = promotion(&Operation::concat(axis, policy), &types).unwrap_or_default();
                (&[][..], rules, (0..types.len()).collect())
            }
            NodeKind::Call(_) => (&[][..], vec![Rule::Call(ty)], Default::default()),
            NodeKind::Control(..) => (&[][..], vec![Rule::Control(ty)], Default::default()),
            _ => (kind.row().operands, vec![Rule::Same { ty, operands: 1 }], smallvec![0]),
        };
        let slope_of = self.places.slope_of(id);
        let snippet = self.places.first(id).and_then(|place| match slope_of {
            Some(of) => self.written_as(of, place),
            None => self.written(id, place),
        });
        let (written, parts) = match snippet {
            // Its operands are not those of the derivative.
            Some(Snippet { text, .. }) if slope_of.is_some() => (Some(text), None),
            Some(Snippet { text, operands }) => (Some(text), Some(operands)),
            None => (None, None),
        };
        let operands = self.terms(id, names, parts.as_deref(), &deciding);
        if let NodeKind::Op(op, policy) = kind {
            rules.extend(computed_before(&operands, Operation::op(op, policy).types(&types).ok()?.compute, policy));
        }
        let keeps = deciding.len() == 1 && types[deciding[0]] == ty;
        let places = self.places.all(id).collect();
        Some(Step { value, what: kind.name(), written, slope_of, places, operands, rules, ty, keeps })
    }
}

/// The weak operands that are results of operations, in a default dtype narrower than that of their use.
fn computed_before(operands: &[Term], compute: ValueType, policy: Policy) -> Vec<Rule> {
    let ValueType::Strong(used) = compute else { return Vec::new() };
    let before = |term: &Term| {
        let (ValueType::Weak(weak), Origin::Computed { .. }) = (term.ty, &term.origin) else { return None };
        let dtype = policy.default_dtype(weak);
        let narrower = used.real().bytes() > dtype.real().bytes();
        narrower.then(|| Rule::Before { name: term.name.clone(), dtype })
    };
    operands.iter().filter_map(before).collect()
}
