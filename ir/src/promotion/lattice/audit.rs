//! [`Audit`]: the criteria of a promotion system that a lattice or a table meets, with all violations.
//!
//! The criteria are the five of
//! [JEP 9407](https://docs.jax.dev/en/latest/jep/9407-type-promotion.html#combining-lattices). They are checked for
//! types, by the numbers that a format can represent, without samples of values.

use super::value::{Lattice, value_type};
use crate::dtype::{DType, Kind, finfo};
use crate::promotion::laws;
use crate::promotion::system::Defaults;
use crate::value_type::ValueType;
use std::fmt::{self, Display, Formatter};

/// A pair of operands with its result: `left ∨ right = result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The left operand.
    pub left: ValueType,
    /// The right operand.
    pub right: ValueType,
    /// The promoted type.
    pub result: ValueType,
}

/// An audit of a promotion system against the criteria of JEP 9407. Created by [`Lattice::audit`],
/// [`Policy::audit`](crate::Policy::audit) and [`Audit::of`].
///
/// Where `a ∨ b` and `b ∨ a` agree, only the one whose left operand stands first in [`ValueType::ALL`] is listed, so
/// the number of findings is the number of unordered pairs.
///
/// Weak types have no width of their own. As operands they adapt by design: they can lose only components, and a result
/// is wider than both inputs if it is wider than the one with a width, or has a width when neither of them does. As a
/// result a weak type counts as the widest of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Audit {
    /// The name of the system.
    pub name: String,
    /// The system's types: those with some defined result.
    pub types: Vec<ValueType>,
    /// Nodes of a lattice that are not value types; the audit ignores them.
    pub unjudged: Vec<String>,
    /// Ordered pairs of known types without a result.
    pub undefined: Vec<(ValueType, ValueType)>,
    /// Criterion 1: pairs where the order of operands changes the result, undefined results included.
    pub non_commutative: Vec<(ValueType, ValueType)>,
    /// Criterion 1: ordered triples with `(a ∨ b) ∨ c ≠ a ∨ (b ∨ c)`, where an undefined result anywhere makes a side
    /// undefined.
    pub non_associative: Vec<[ValueType; 3]>,
    /// Criterion 2: results that lack an operand's imaginary part.
    pub dropped_component: Vec<Finding>,
    /// Criterion 3: results in which an operand's largest or smallest finite number overflows.
    pub lost_magnitude: Vec<Finding>,
    /// Criterion 4: results in which some operand's numbers are rounded: fewer significant bits, or no fraction.
    pub lost_precision: Vec<Finding>,
    /// Criterion 5: results wider than both operands. A complex number is as wide as its real part.
    pub wider: Vec<Finding>,
}

impl Audit {
    /// Audits a table over the value types; `join` returns the result of its operands, `None` if undefined.
    ///
    /// ```
    /// use ndjit_ir::promotion::{Audit, lattice::join};
    ///
    /// let audit = Audit::of("jax", &|a, b| Some(join(a, b)));
    /// assert!(audit.non_associative.is_empty());
    /// ```
    pub fn of(name: &str, join: &dyn Fn(ValueType, ValueType) -> Option<ValueType>) -> Audit {
        let defined = |a: ValueType| ValueType::ALL.into_iter().any(|b| join(a, b).or(join(b, a)).is_some());
        let types: Vec<ValueType> = ValueType::ALL.into_iter().filter(|&ty| defined(ty)).collect();
        let mut audit = Audit {
            name: name.to_owned(),
            types: types.clone(),
            unjudged: Vec::new(),
            undefined: laws::undefined(&types, join).map(tuple).collect(),
            non_commutative: laws::asymmetric(&types, join).map(tuple).collect(),
            non_associative: laws::non_associative(&types, join).collect(),
            dropped_component: Vec::new(),
            lost_magnitude: Vec::new(),
            lost_precision: Vec::new(),
            wider: Vec::new(),
        };
        for [left, right] in laws::pairs(&types) {
            let there = join(left, right);
            let is_listed = left.index() > right.index() && there == join(right, left);
            if let Some(result) = there.filter(|_| !is_listed) {
                audit.judge(Finding { left, right, result });
            }
        }
        audit
    }

    fn judge(&mut self, finding: Finding) {
        let Finding { left, right, result } = finding;
        let operands = [left, right];
        let complex = |ty: ValueType| ty.kind() == Kind::Complex;
        if operands.into_iter().any(complex) && !complex(result) {
            self.dropped_component.push(finding);
        }
        let to = NumberRange::of(widest(result));
        let strong = operands.into_iter().filter_map(strong).map(NumberRange::of);
        if strong.clone().any(|from| from.min < to.min || from.max > to.max) {
            self.lost_magnitude.push(finding);
        }
        if strong.clone().any(|from| from.digits > to.digits || from.fraction && !to.fraction) {
            self.lost_precision.push(finding);
        }
        let width = |ty: ValueType| strong_width(ty).unwrap_or(0);
        if width(result) > width(left).max(width(right)) {
            self.wider.push(finding);
        }
    }

    /// Returns `true` if the order and grouping of operands never matters, criterion 1.
    pub fn is_lawful(&self) -> bool {
        self.non_commutative.is_empty() && self.non_associative.is_empty()
    }

    /// Returns the non-associative triples of dtypes, without weak types.
    pub fn non_associative_dtypes(&self) -> impl Iterator<Item = [DType; 3]> {
        self.non_associative.iter().filter_map(|&[a, b, c]| Some([strong(a)?, strong(b)?, strong(c)?]))
    }
}

impl Lattice {
    /// Audits the joins of nodes with names of value types (`u8`, `uint8`, `f*`); other nodes are listed as unjudged.
    pub fn audit(&self) -> Audit {
        let table = self.type_table();
        let mut audit = Audit::of(self.name(), &|a, b| table.get(a, b));
        audit.unjudged = self.nodes().iter().filter(|node| value_type(node).is_none()).cloned().collect();
        audit
    }
}

/// The range of a real dtype's numbers.
#[derive(Clone, Copy)]
struct NumberRange {
    min: f64,
    max: f64,
    digits: u32,
    /// True if there are numbers between the integers.
    fraction: bool,
}

impl NumberRange {
    /// Returns the format of `dtype`, or of its real part if it is complex.
    fn of(dtype: DType) -> NumberRange {
        let (min, max) = match (dtype.int_range(), finfo(dtype)) {
            (Some((min, max)), _) => (min as f64, max as f64),
            (None, Ok(info)) => (info.min, info.max),
            // Every dtype has one of the two ranges.
            (None, Err(_)) => (f64::NEG_INFINITY, f64::INFINITY),
        };
        NumberRange { min, max, digits: dtype.digits(), fraction: dtype.int_range().is_none() }
    }
}

fn tuple([left, right]: [ValueType; 2]) -> (ValueType, ValueType) {
    (left, right)
}

fn strong(ty: ValueType) -> Option<DType> {
    match ty {
        ValueType::Strong(dtype) => Some(dtype),
        ValueType::Weak(_) => None,
    }
}

/// Returns the widest dtype that a type can promote to.
fn widest(ty: ValueType) -> DType {
    match ty {
        ValueType::Strong(dtype) => dtype,
        ValueType::Weak(weak) => Defaults::BITS_64.of(weak),
    }
}

/// Returns the number of bytes of a dtype's real part; `None` for a weak type.
fn strong_width(ty: ValueType) -> Option<usize> {
    strong(ty).map(|dtype| dtype.real().bytes())
}

/// The maximum number of findings printed for a criterion.
const EXAMPLES: usize = 6;

impl Display for Audit {
    /// Writes one line per criterion: the number of violations, and the first ones.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (types, pairs) = (self.types.len(), self.types.len() * self.types.len());
        writeln!(
            f,
            "audit of {}: {types} types, {} of {pairs} pairs defined",
            self.name,
            pairs - self.undefined.len()
        )?;
        let pair = |(a, b): &(ValueType, ValueType)| format!("{a} ∨ {b}");
        let triple = |[a, b, c]: &[ValueType; 3]| format!("({a} {b} {c})");
        let finding = |&Finding { left, right, result }: &Finding| format!("{left} ∨ {right} = {result}");
        line(f, "1 commutative", "pair", &self.non_commutative, pair)?;
        let of_dtypes: Vec<[ValueType; 3]> =
            self.non_associative_dtypes().map(|triple| triple.map(Into::into)).collect();
        line(f, "1 associative over dtypes", "triple", &of_dtypes, triple)?;
        line(f, "1 associative over all types", "triple", &self.non_associative, triple)?;
        line(f, "2 keeps components", "pair", &self.dropped_component, finding)?;
        line(f, "3 keeps magnitude", "pair", &self.lost_magnitude, finding)?;
        line(f, "4 keeps precision", "pair", &self.lost_precision, finding)?;
        line(f, "5 no wider than the inputs", "pair", &self.wider, finding)?;
        if !self.unjudged.is_empty() {
            writeln!(f, "not judged, being no value types: {}", self.unjudged.join(" "))?;
        }
        Ok(())
    }
}

fn line<T>(
    f: &mut Formatter<'_>,
    criterion: &str,
    unit: &str,
    findings: &[T],
    show: impl Fn(&T) -> String,
) -> fmt::Result {
    if findings.is_empty() {
        return writeln!(f, "{criterion}: yes");
    }
    let plural = if findings.len() == 1 { "" } else { "s" };
    let examples: Vec<String> = findings.iter().take(EXAMPLES).map(show).collect();
    let more = if findings.len() > EXAMPLES { ", …" } else { "" };
    writeln!(f, "{criterion}: not in {} {unit}{plural}: {}{more}", findings.len(), examples.join(", "))
}
