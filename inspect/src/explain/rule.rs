//! The type rules of one op, rederived from its operands' types and its policy.

use ndjit_ir::dtype::DType;
use ndjit_ir::graph::NodeKind;
use ndjit_ir::infer::Operation;
use ndjit_ir::op::{Op, ResultRule, TypeRule};
use ndjit_ir::promotion::system::Order;
use ndjit_ir::promotion::{Policy, Types};
use ndjit_ir::reduction::{AxisFunction, TypeRequest};
use ndjit_ir::support::CastReason;
use ndjit_ir::value_type::{ValueType, Weak};
use smallvec::SmallVec;
use std::fmt;

/// One rule, applied to the types of one node. A node's rules are applied in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// All operands already have this type.
    Same {
        /// Their type.
        ty: ValueType,
        /// The number of operands.
        operands: usize,
    },
    /// The operands are promoted to a common type.
    Join {
        /// Their types, in the order of promotion.
        operands: Vec<ValueType>,
        /// The common type.
        result: ValueType,
        /// The policy.
        policy: Policy,
        /// Whether the policy's common types are least upper bounds of a (partial) lattice.
        lattice: bool,
    },
    /// A 64-bit type becomes one of 32 bits, because the policy disables 64-bit types.
    Narrow {
        /// The common type of the operands.
        from: ValueType,
        /// The narrowed type.
        to: ValueType,
        /// The policy.
        policy: Policy,
    },
    /// Bool becomes an integer or a float.
    Number {
        /// The new dtype.
        to: ValueType,
    },
    /// An integer becomes a float.
    Inexact {
        /// The integer's type, or bool.
        from: ValueType,
        /// The float's type.
        to: ValueType,
    },
    /// The op computes in another dtype, by a rule that the policy has for it.
    Own {
        /// The op.
        op: Op,
        /// The common type of its operands.
        from: ValueType,
        /// The dtype that it computes in.
        to: ValueType,
        /// The policy.
        policy: Policy,
    },
    /// A weak result takes the default dtype of its kind.
    Default {
        /// Its kind.
        weak: Weak,
        /// The default.
        to: ValueType,
        /// The policy with this default.
        policy: Policy,
    },
    /// A weak operand is the result of operations on bare numbers, which have the default dtype; the strong type that it takes here has
    /// other values.
    Before {
        /// The operand.
        name: String,
        /// The default dtype.
        dtype: DType,
    },
    /// Every operand becomes a bool, as does the result.
    Truth,
    /// The op has this result dtype for any operands.
    Gives(Op, DType),
    /// The result has the real part's dtype.
    Real {
        /// The complex type.
        from: ValueType,
        /// The type of its real part.
        to: ValueType,
    },
    /// The result has the complex dtype with such parts.
    Complex {
        /// The parts' type.
        from: ValueType,
        /// The complex type.
        to: ValueType,
    },
    /// A reduction has this result dtype.
    Reduced {
        /// The reduction, the scan or the sort.
        reduction: AxisFunction,
        /// The operand's type.
        from: ValueType,
        /// The result's dtype.
        to: DType,
        /// The policy.
        policy: Policy,
    },
    /// A dtype was requested.
    Asked(DType),
    /// A cast.
    Cast {
        /// The dtype cast to.
        to: DType,
        /// Whether the user wrote it, a casting mode inserted it, or a weak value took the dtype of a state.
        reason: CastReason,
    },
    /// The type of the called function's result.
    Call(ValueType),
    /// The type of the result of a loop's body, or of both branches.
    Control(ValueType),
}

/// The derivation of an op's type.
pub(super) struct Deduction {
    pub rules: Vec<Rule>,
    /// The minimal set of operands that determine the type; empty if it does not depend on operands.
    pub deciding: SmallVec<[usize; 3]>,
}

/// Derives the type of `op` from operands of these types. `None` if the policy rejects them, which no verified graph contains.
pub(super) fn deduce(op: Op, policy: Policy, types: &[ValueType]) -> Option<Deduction> {
    let operation = Operation::op(op, policy);
    let Types { compute, result } = operation.types(types).ok()?;
    let mut rules = promotion(&operation, types)?;
    match op.row().result {
        ResultRule::Bool | ResultRule::Int32 => {
            let rules = vec![Rule::Gives(op, policy.commit(result))];
            return Some(Deduction { rules, deciding: SmallVec::new() });
        }
        ResultRule::Real if result != compute => rules.push(Rule::Real { from: compute, to: result }),
        ResultRule::Complex => rules.push(Rule::Complex { from: compute, to: result }),
        ResultRule::Real | ResultRule::Same => {}
    }
    Some(Deduction { rules, deciding: deciding(op, policy, types, compute) })
}

/// The rule for the type of a reduction, or of a scan, from its operand's.
pub(super) fn reducing(reduction: AxisFunction, request: TypeRequest, [from, to]: [ValueType; 2]) -> Rule {
    let TypeRequest { dtype, policy } = request;
    match dtype {
        Some(asked) => Rule::Asked(policy.width(asked)),
        None => Rule::Reduced { reduction, from, to: policy.commit(to), policy },
    }
}

/// Whether a reduction's type depends on its operand's.
pub(super) fn depends(reduction: AxisFunction, dtype: Option<DType>) -> bool {
    use ndjit_ir::reduction::ReductionRule::{Bool, Index};
    dtype.is_none() && !matches!(reduction.row().rule, Bool | Index)
}

/// The rules of promotion under a policy, and of a weak result's stored dtype; `None` if it rejects the types.
///
/// ```
/// use ndjit_inspect::explain::joining;
/// use ndjit_ir::{DType, Policy};
///
/// let rules = joining(Policy::Standard, &[DType::U32.into(), DType::I32.into()]).unwrap();
/// assert_eq!(rules[0].to_string(), "join u32 ∨ i32 = i64");
/// ```
pub fn joining(policy: Policy, types: &[ValueType]) -> Option<Vec<Rule>> {
    committed(&Operation::concat(0, policy), types)
}

/// The rules for the dtype in which an op or a concatenation computes; `None` if its policy rejects the types.
pub(super) fn committed(operation: &Operation<'_>, types: &[ValueType]) -> Option<Vec<Rule>> {
    let (rule, policy) = promoting(operation)?;
    let mut rules = promotion(operation, types)?;
    if let ValueType::Weak(weak) = operation.promotion(&types[rule.joined(types.len())]).ok()?.compute {
        rules.push(Rule::Default { weak, to: policy.default_dtype(weak).into(), policy });
    }
    Some(rules)
}

/// How the operands of an op or a concatenation are promoted.
fn promoting(operation: &Operation<'_>) -> Option<(TypeRule, Policy)> {
    match operation.kind {
        NodeKind::Op(op, policy) => Some((op.row().rule, policy)),
        NodeKind::Concat(_, policy) => Some((TypeRule::Join, policy)),
        _ => None,
    }
}

/// The rules for the type in which an op or a concatenation computes; `None` if its policy rejects the types.
pub(super) fn promotion(operation: &Operation<'_>, types: &[ValueType]) -> Option<Vec<Rule>> {
    let (rule, policy) = promoting(operation)?;
    let met = &types[rule.joined(types.len())];
    let resolution = operation.promotion(met).ok()?;
    if rule == TypeRule::Logical {
        return Some(vec![Rule::Truth]);
    }
    let mut rules = Vec::new();
    match met {
        [first, rest @ ..] if rest.iter().all(|ty| ty == first) && resolution.joined == *first => {
            rules.push(Rule::Same { ty: *first, operands: met.len() });
        }
        [first, rest @ ..] if rest.iter().all(|ty| ty == first) && is_narrowed(policy, *first, resolution.joined) => {
            rules.push(Rule::Same { ty: *first, operands: met.len() });
            rules.push(Rule::Narrow { from: *first, to: resolution.joined, policy });
        }
        _ => {
            let (mut operands, lattice) = (met.to_vec(), policy.is_partial_lattice());
            // For two operands, or in a lattice, the order is irrelevant.
            if operands.len() > 2 && !lattice {
                policy.order(&mut operands);
            }
            rules.push(Rule::Join { operands, result: resolution.joined, policy, lattice });
        }
    }
    if resolution.adapted != resolution.joined {
        let (from, to) = (resolution.joined, resolution.adapted);
        rules.push(match (&operation.kind, rule.of_joined()) {
            (&NodeKind::Op(op, _), _) if policy.system().own_rule(op).is_some() => Rule::Own { op, from, to, policy },
            (_, TypeRule::Number) => Rule::Number { to },
            _ => Rule::Inexact { from, to },
        });
    }
    if let (ValueType::Weak(weak), ValueType::Strong(_)) = (resolution.adapted, resolution.compute) {
        rules.push(Rule::Default { weak, to: resolution.compute, policy });
    }
    Some(rules)
}

/// Whether `to` is `from` narrowed by disabled 64-bit types.
fn is_narrowed(policy: Policy, from: ValueType, to: ValueType) -> bool {
    from != to && matches!(from, ValueType::Strong(dtype) if ValueType::Strong(policy.width(dtype)) == to)
}

/// The minimal set of operands, the first such, that determine the type.
fn deciding(op: Op, policy: Policy, types: &[ValueType], compute: ValueType) -> SmallVec<[usize; 3]> {
    if op.row().rule == TypeRule::Logical {
        return SmallVec::new();
    }
    let all: SmallVec<[usize; 3]> = op.joined().collect();
    let gives = |chosen: &[usize]| {
        let chosen: SmallVec<[ValueType; 3]> = chosen.iter().map(|&i| types[i]).collect();
        Operation::op(op, policy).promotion(&chosen).is_ok_and(|resolution| resolution.compute == compute)
    };
    if let Some(&one) = all.iter().find(|&&i| gives(&[i])) {
        return SmallVec::from_slice(&[one]);
    }
    for (n, &i) in all.iter().enumerate() {
        if let Some(&j) = all[n + 1..].iter().find(|&&j| gives(&[i, j])) {
            return SmallVec::from_slice(&[i, j]);
        }
    }
    all
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Same { ty, operands: 1 } => write!(f, "the operand is {ty}"),
            Rule::Same { ty, .. } => write!(f, "all operands are {ty}"),
            Rule::Join { operands, result, policy, lattice: true } => {
                write!(f, "join {} = {result}", list(operands, " ∨ "))?;
                if *policy != Policy::default() {
                    write!(f, " under {policy}")?;
                }
                Ok(())
            }
            Rule::Join { operands, result, policy, lattice: false } => {
                let order = if operands.len() > 2 { order(policy.rules().order) } else { "" };
                write!(f, "{policy}{order}: {} = {result}", list(operands, " with "))
            }
            Rule::Narrow { from, to, policy } => {
                write!(f, "64-bit types are off under {policy}, so {from} becomes {to}")
            }
            Rule::Number { to } => write!(f, "bool counts as a number, {to}"),
            Rule::Inexact { from, to } => write!(f, "{from} becomes the float {to}"),
            Rule::Own { op, from, to, policy } => write!(f, "{op} of {from} computes in {to} under {policy}"),
            Rule::Default { weak, to, policy } => write!(f, "{weak} takes {to}, the default of policy {policy}"),
            Rule::Before { name, dtype } => write!(f, "{name} was computed in {dtype}"),
            Rule::Truth => f.write_str("operands become bool"),
            Rule::Gives(op, dtype) => write!(f, "{op} gives {dtype}"),
            Rule::Real { from, to } => write!(f, "{to} is the real part of {from}"),
            Rule::Complex { from, to } => write!(f, "{to} has parts of {from}"),
            Rule::Reduced { reduction, from, to, policy } => {
                write!(f, "{reduction} of {from} gives {to}")?;
                if *policy != Policy::default() {
                    write!(f, " under {policy}")?;
                }
                Ok(())
            }
            Rule::Asked(dtype) => write!(f, "{dtype} was asked for"),
            Rule::Cast { to, reason: CastReason::Explicit } => write!(f, "cast to {to}"),
            Rule::Cast { to, reason: CastReason::Mode(mode) } => write!(f, "casting mode {} gives {to}", mode.name()),
            Rule::Cast { to, reason: CastReason::Promotion } => write!(f, "the state of the loop is {to}"),
            Rule::Call(ty) => write!(f, "the called function gives {ty}"),
            Rule::Control(ty) => write!(f, "its body gives {ty}"),
        }
    }
}

/// The order of promotion of several operands.
fn order(order: Order) -> &'static str {
    match order {
        Order::Left => ", from the left",
        Order::StrongFirst => ", strong types first",
        Order::KindFirst => ", highest kind first",
    }
}

fn list(types: &[ValueType], between: &str) -> String {
    types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(between)
}
