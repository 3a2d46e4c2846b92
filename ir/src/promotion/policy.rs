//! Policies: the rules that determine an op's computing type from the types of its operands.
//!
//! A policy is a [`System`] with default dtypes. It receives the types of all operands at once and in order, because
//! not every library's system is a fold over pairs. It is a small value that each node stores. It depends only on
//! types: no value ever changes a dtype.

use super::lattice::Lattice;
use super::registry;
use super::system::{BoolNumber, Defaults, Inexact, Order, Rules, System, Table, WeakResult};
use super::systems;
use crate::dtype::{DType, Kind};
use crate::error::{Error, ErrorCode, Result};
use crate::op::{Op, TypeRule};
use crate::value_type::{ValueType, Weak};
use smallvec::SmallVec;
use std::fmt;
use std::str::FromStr;

/// A promotion system with its default dtypes. `Copy` and four bytes, so that every node can store its own.
///
/// The constants are named after their origin; [`Policy::doc`] describes each and [`Policy::source`] links its
/// definition.
///
/// ```
/// use ndjit_ir::{DType, Policy, ValueType, Weak};
/// let (u8, i32) = (ValueType::from(DType::U8), ValueType::from(DType::I32));
/// assert_eq!(Policy::Standard.join(u8, i32), Some(i32));
/// assert_eq!(Policy::Strict.join(u8, i32), None);
/// assert_eq!("standard".parse(), Ok(Policy::Standard));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Policy {
    pub(super) system: u8,
    defaults: Defaults,
}

const _: () = assert!(size_of::<Policy>() == 4, "every node holds a policy");

macro_rules! policies {
    ($($name:ident $system:ident $doc:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum SystemNumber { $($system),* }

        /// The built-in systems, by number.
        pub(super) static BUILT_IN: &[&System] = &[$(&systems::$system),*];
        const DOCS: &[&str] = &[$($doc),*];

        #[allow(non_upper_case_globals)]
        impl Policy {
            $(
                #[doc = $doc]
                pub const $name: Policy =
                    Policy { system: SystemNumber::$system as u8, defaults: systems::$system.rules.defaults };
            )*

            /// The built-in policies, each with its own defaults.
            pub const ALL: [Policy; DOCS.len()] = [$(Policy::$name),*];
        }
    };
}

policies! {
    Standard STANDARD "JAX's lattice: every pair of types has a join. 64-bit types exist; defaults have 32 bits. The default policy.";
    Strict STRICT "JAX's strict mode: operands have one dtype, and weak ones adapt within their kind or upwards. All else is an error.";
    Jax32 JAX_32 "JAX with 64-bit types off: they become 32-bit ones wherever they appear.";
    Jax32Explicit JAX_32_EXPLICIT "JAX with 64-bit types only where asked for: operands of 32 bits never widen to 64.";
    Jax2019 JAX_2019 "JAX's table of 2019: `u64` with a signed integer gives `f64`; bare numbers have no place in it.";
    NumPy2 NUMPY_2 "NumPy 2: the smallest type that both cast to safely; bare numbers are weak, results never. No bf16.";
    NumPy2MlDtypes NUMPY_2_ML_DTYPES "NumPy 2 with the bf16 of ml_dtypes.";
    NumPy1 NUMPY_1 "NumPy 1, without what depended on values: bare numbers count as small ones.";
    Torch TORCH "PyTorch: category first, then width; of `u16`, `u32`, `u64` little is defined.";
    TensorFlow TENSORFLOW "TensorFlow's functions: one dtype; the first operand decides which a bare number takes.";
    TensorFlowNumpyAll TENSORFLOW_NP_ALL "TensorFlow's NumPy behaviour, mode `all`: JAX's lattice.";
    TensorFlowNumpySafe TENSORFLOW_NP_SAFE "TensorFlow's NumPy behaviour, mode `safe`: neither wider nor less precise.";
    TensorFlowNumpyLegacy TENSORFLOW_NP_LEGACY "TensorFlow's NumPy behaviour, mode `legacy`: NumPy's rule with 32-bit defaults.";
    IvyPrecise IVY_PRECISE "Ivy in precise mode: no integer loses precision in a float.";
    IvyImprecise IVY_IMPRECISE "Ivy in imprecise mode: no float widens because of an integer.";
    ArrayApi ARRAY_API "The Array API standard: what it leaves undefined is an error.";
    Lax LAX "JAX's `lax`: no promotion.";
    NumExpr NUMEXPR "NumExpr: the greatest of the kinds bool, i32, i64, f32, f64 and c128; bare numbers are i32, f64 and c128.";
}

#[allow(non_upper_case_globals)]
impl Policy {
    /// Another name of [`Policy::Standard`].
    pub const Jax: Policy = Policy::Standard;
    /// Another name of [`Policy::Strict`].
    pub const JaxStrict: Policy = Policy::Strict;
}

/// The result of a policy for an op's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The operands' common type.
    pub joined: ValueType,
    /// The common type after the op's own rule: bool as a number, an integer as a float.
    pub adapted: ValueType,
    /// The op's computing type. Weak if all operands are (or if the join is weak, as of `u64` and `i64`).
    pub compute: ValueType,
}

/// Operands without a common type in a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The policy.
    pub policy: Policy,
    /// The refusal.
    pub refusal: Refusal,
}

/// The refusal of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Two types without a common type.
    Pair {
        /// The common type of the preceding operands.
        joined: ValueType,
        /// The first operand without a common type with them.
        with: ValueType,
    },
    /// This type as a float.
    Inexact(ValueType),
    /// Bool as a number.
    Number,
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Clash { policy, refusal } = self;
        match refusal {
            Refusal::Pair { joined, with } if joined == with => write!(f, "the {policy} policy does not take {joined}"),
            Refusal::Pair { joined, with } => write!(f, "the {policy} policy does not promote {joined} and {with}"),
            Refusal::Inexact(ty) => write!(f, "the {policy} policy does not turn {ty} into a float"),
            Refusal::Number => write!(f, "the {policy} policy does not compute with bool as a number"),
        }
    }
}

impl std::error::Error for Clash {}

impl Clash {
    /// Returns the reason for the refusal, if the system has one.
    pub fn reason(&self) -> Option<&'static str> {
        let system = self.policy.system();
        match self.refusal {
            Refusal::Pair { joined, with } => system.lack(joined).or_else(|| system.lack(with)),
            Refusal::Inexact(ty) => system.lack(ty),
            Refusal::Number => None,
        }
    }
}

impl Policy {
    /// Creates a custom policy from its name (one word), joins and rules. Policies with equal arguments are the same
    /// policy. A policy lives for the whole process.
    ///
    /// ```
    /// use ndjit_ir::{DType, Policy, ValueType, promotion::Table};
    /// // Nothing is promoted but bool.
    /// let bool = ValueType::from(DType::Bool);
    /// let joins = Table::from_fn(|a, b| match (a, b) {
    ///     _ if a == b || b == bool => Some(a),
    ///     _ if a == bool => Some(b),
    ///     _ => None,
    /// });
    /// let policy = Policy::new("bool_only", joins, Policy::Standard.rules())?;
    /// assert_eq!(policy.join(bool, DType::F16.into()), Some(DType::F16.into()));
    /// assert_eq!(policy.join(DType::F32.into(), DType::F16.into()), None);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Promotion` if the name is not one word, if another policy has it, if a default is not of its kind, or if 128
    /// policies have been added.
    pub fn new(name: &str, joins: Table, rules: Rules) -> Result<Policy> {
        rules.defaults.check()?;
        let defaults = rules.defaults.within(rules.width);
        Ok(Policy { system: registry::add(name, joins, Rules { defaults, ..rules })?, defaults })
    }

    /// Creates a custom policy with a lattice's joins, by the names of its nodes: dtypes (`f32`, `float32`), `i*`, `f*`
    /// and `c*`. Operands of other types are refused, including bare numbers, whose types are `i*`, `f*` and `c*`.
    ///
    /// ```
    /// use ndjit_ir::{DType, Policy, promotion::Lattice};
    /// let lattice = Lattice::new("floats", [("bf16", ["f32"]), ("f16", ["f32"]), ("f32", ["f64"])])?;
    /// let policy = Policy::from_lattice(&lattice, Policy::Standard.rules())?;
    /// assert_eq!(policy.join(DType::Bf16.into(), DType::F16.into()), Some(DType::F32.into()));
    /// let misspelled = Lattice::new("typo", [("f16", ["f23"])])?;
    /// assert!(Policy::from_lattice(&misspelled, Policy::Standard.rules()).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Policy::new`], and `Promotion` if a node is not a type, two nodes are the same type, or there are no
    /// nodes.
    pub fn from_lattice(lattice: &Lattice, rules: Rules) -> Result<Policy> {
        let name = lattice.name();
        let types: Vec<ValueType> = lattice.nodes().iter().map(|node| node_type(name, node)).collect::<Result<_>>()?;
        if types.is_empty() {
            return Err(Error::new(ErrorCode::Promotion, format!("policy: lattice `{name}` has no nodes"))
                .help("name nodes after dtypes (`f32` or `float32`) and weak types (`i*` `f*` `c*`)"));
        }
        if let Some(ty) = types.iter().enumerate().find_map(|(i, ty)| types[..i].contains(ty).then_some(ty)) {
            return Err(Error::new(ErrorCode::Promotion, format!("policy: two nodes of lattice `{name}` are {ty}"))
                .fact(format_args!("the nodes: {}", lattice.nodes().join(" ")))
                .help("name each dtype once, by its short or its long name"));
        }
        Policy::new(name, lattice.type_table(), rules)
    }

    /// Returns the policy's system.
    pub fn system(self) -> &'static System {
        registry::system(self.system)
    }

    /// Returns the system's name.
    pub fn name(self) -> &'static str {
        self.system().name
    }

    /// Checks whether its system is built in: every process has it, with the same rules.
    ///
    /// ```
    /// # use ndjit_ir::Policy;
    /// assert!(Policy::NumPy2.is_built_in());
    /// ```
    pub fn is_built_in(self) -> bool {
        usize::from(self.system) < BUILT_IN.len()
    }

    /// Returns the description, in a sentence.
    pub fn doc(self) -> &'static str {
        DOCS.get(usize::from(self.system)).copied().unwrap_or("A policy added by its user.")
    }

    /// Returns the source of its rules.
    pub fn source(self) -> &'static str {
        self.system().source
    }

    /// Returns the rules other than the joins, with the policy's defaults.
    pub fn rules(self) -> Rules {
        Rules { defaults: self.defaults, ..self.system().rules }
    }

    /// Returns the default dtypes of weak types.
    pub const fn defaults(self) -> Defaults {
        self.defaults
    }

    /// Returns the same policy with other defaults, which are narrowed to the policy's [widths](Policy::width): with
    /// 64-bit types off, `i32` instead of `i64`. If bare numbers count as their default dtype beside others, as under
    /// [`Policy::Lax`], joins change too.
    ///
    /// # Errors
    /// `Promotion` if a default is not of its kind.
    pub fn with_defaults(self, defaults: Defaults) -> Result<Policy> {
        defaults.check()?;
        Ok(Policy { defaults: defaults.within(self.system().rules.width), ..self })
    }

    /// Resolves the computing type of an op with the operand rule `rule`.
    ///
    /// `operands` are the types of all operands in order, including those that are [not joined](TypeRule::joined).
    /// Without operands the result is bool, the least type.
    ///
    /// # Errors
    /// The refusal.
    pub fn resolve(self, rule: TypeRule, operands: &[ValueType]) -> Result<Resolution, Clash> {
        let rules = self.rules();
        let joined = match rule {
            TypeRule::Logical => ValueType::Strong(DType::Bool),
            rule => self.join_all(&operands[rule.joined(operands.len())])?,
        };
        let adapted = match rule.of_joined() {
            TypeRule::Number => self.number(joined)?,
            TypeRule::Inexact => self.inexact(rules.inexact, joined)?,
            TypeRule::TrueDivide => self.inexact(rules.quotient, joined)?,
            TypeRule::Join | TypeRule::Logical | TypeRule::Select | TypeRule::Ldexp | TypeRule::Shift => joined,
        };
        Ok(Resolution { joined, adapted, compute: self.weak_result(adapted) })
    }

    /// [Resolves](Policy::resolve) the computing type of `op`, by the system's own rule for it if there is one.
    pub(crate) fn resolve_for(self, op: Op, rule: TypeRule, operands: &[ValueType]) -> Result<Resolution, Clash> {
        let Some(own) = self.system().own_rule(op) else { return self.resolve(rule, operands) };
        let joined = self.resolve(TypeRule::Join, operands)?.joined;
        let adapted = ValueType::Strong(own.of(self.commit(joined)));
        Ok(Resolution { joined, adapted, compute: adapted })
    }

    /// Returns the common type of two operands; `None` if the policy defines none.
    pub fn join(self, left: ValueType, right: ValueType) -> Option<ValueType> {
        Some(self.weak_result(self.pair(left, right)?))
    }

    /// Returns the default dtype of a weak type: in storage, or without a stronger operand.
    pub const fn default_dtype(self, weak: Weak) -> DType {
        self.defaults.of(weak)
    }

    /// Returns the dtype of indices and counts.
    pub fn index_dtype(self) -> DType {
        self.width(self.rules().index.unwrap_or(self.default_dtype(Weak::Int)))
    }

    /// Returns the dtype in which values of this type are stored and computed.
    pub const fn commit(self, ty: ValueType) -> DType {
        self.defaults.commit(ty)
    }

    /// Returns the dtype that the policy uses for a requested `dtype`, which differs only with 64-bit types off.
    pub fn width(self, dtype: DType) -> DType {
        self.system().width(dtype)
    }

    /// Returns the type of a result of only weak operands: `ty`, or its default dtype if the policy keeps no weak
    /// results.
    pub fn weak_result(self, ty: ValueType) -> ValueType {
        match (self.system().rules.weak, ty) {
            (WeakResult::Default, ValueType::Weak(weak)) => ValueType::Strong(self.default_dtype(weak)),
            (WeakResult::Weak | WeakResult::Default, _) => ty,
        }
    }

    /// Returns the type of bool as a number.
    pub(super) fn number(self, ty: ValueType) -> Result<ValueType, Clash> {
        let dtype = match (ty, self.rules().number) {
            (ValueType::Strong(DType::Bool), BoolNumber::Default) => self.defaults.int,
            (ValueType::Strong(DType::Bool), BoolNumber::To(dtype)) => dtype,
            (ValueType::Strong(DType::Bool), BoolNumber::Refused) => {
                return Err(Clash { policy: self, refusal: Refusal::Number });
            }
            _ => return Ok(ty),
        };
        Ok(ValueType::Strong(dtype))
    }

    /// Returns the type of bool and integers as floats. If no result is weak, a weak integer counts as the default
    /// integer.
    pub(super) fn inexact(self, rule: Inexact, ty: ValueType) -> Result<ValueType, Clash> {
        let width = match self.weak_result(ty) {
            _ if matches!(ty.kind(), Kind::Float | Kind::Complex) => return Ok(ty),
            ValueType::Weak(_) => None,
            ValueType::Strong(dtype) => Some(dtype.bytes()),
        };
        let dtype = match (rule, width) {
            (Inexact::Refused, _) => return Err(Clash { policy: self, refusal: Refusal::Inexact(ty) }),
            (Inexact::Unchanged, _) => return Ok(ty),
            (_, None) => return Ok(ValueType::Weak(Weak::Float)),
            (Inexact::Default, _) => self.defaults.float,
            (Inexact::To(dtype), _) => dtype,
            (Inexact::ByWidth, Some(8)) => DType::F64,
            (Inexact::ByWidth, Some(_)) => DType::F32,
            (Inexact::SmallestFromF32, Some(1 | 2)) => DType::F32,
            (Inexact::SmallestFromF32, Some(_)) => DType::F64,
            (Inexact::Smallest, Some(1)) => DType::F16,
            (Inexact::Smallest, Some(2)) => DType::F32,
            (Inexact::Smallest, Some(_)) => DType::F64,
        };
        Ok(ValueType::Strong(dtype))
    }

    fn join_all(self, operands: &[ValueType]) -> Result<ValueType, Clash> {
        let mut operands: SmallVec<[ValueType; 3]> = operands.into();
        self.order(&mut operands);
        self.fold(operands.into_iter())
    }

    /// Sorts operands into the order of joining.
    #[doc(hidden)]
    pub fn order(self, operands: &mut [ValueType]) {
        match self.system().rules.order {
            Order::Left => {}
            Order::StrongFirst => operands.sort_by_key(|ty| ty.is_weak()),
            Order::KindFirst => operands.sort_by_key(|ty| kind_rank(*ty)),
        }
    }

    /// Returns the common type of a pair, before a weak one takes a default dtype.
    pub(super) fn pair(self, left: ValueType, right: ValueType) -> Option<ValueType> {
        let system = self.system();
        match system.joins_under {
            Some(join) => join(self.defaults, left, right),
            None => system.joins.get(left, right),
        }
    }

    /// Joins operands from the left. A single operand is joined with itself, so that unsupported types are refused.
    pub(super) fn fold(self, mut operands: impl Iterator<Item = ValueType>) -> Result<ValueType, Clash> {
        let join = |joined, with| {
            self.pair(joined, with).ok_or(Clash { policy: self, refusal: Refusal::Pair { joined, with } })
        };
        let Some(first) = operands.next() else { return Ok(ValueType::Strong(DType::Bool)) };
        operands.try_fold(join(first, first)?, join)
    }
}

/// Returns the type that a lattice's node names. Other names are errors, since they would have no effect.
fn node_type(lattice: &str, node: &str) -> Result<ValueType> {
    node.parse().map_err(|error: Error| {
        let headline = format!("policy: a node of lattice `{lattice}` is no type: {}", error.headline());
        let facts = error.facts().iter().fold(Error::new(ErrorCode::Promotion, headline), Error::fact);
        match error.way_out() {
            Some(help) => facts.help(help.clone()),
            None => facts,
        }
    })
}

/// Returns the rank of a type in [`Order::KindFirst`].
fn kind_rank(ty: ValueType) -> u8 {
    match (ty, ty.kind()) {
        (ValueType::Strong(_), Kind::Float | Kind::Complex) => 0,
        (ValueType::Weak(_), Kind::Complex) => 1,
        (ValueType::Weak(_), Kind::Float) => 2,
        (ValueType::Strong(_), Kind::UInt | Kind::Int) => 3,
        (ValueType::Weak(_), _) => 4,
        (ValueType::Strong(_), Kind::Bool) => 5,
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::Standard
    }
}

impl fmt::Display for Policy {
    /// Writes the system's name, followed by the defaults if they are not the system's own: `numpy2`,
    /// `standard(i64,f64,c128)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Defaults { int, float, complex } = self.defaults;
        if self.defaults == self.system().rules.defaults {
            return f.pad(self.name());
        }
        f.pad(&format!("{}({int},{float},{complex})", self.name()))
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Policy({self})")
    }
}

/// An unknown policy name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy(pub String);

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown promotion policy `{}`; known are", self.0)?;
        for policy in Policy::ALL {
            write!(f, " {policy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPolicy {}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    /// Parses the text of `Display`: a name, or a name and three default dtypes in parentheses. `jax` and `jax_strict`
    /// parse as `standard` and `strict`.
    fn from_str(text: &str) -> Result<Policy, UnknownPolicy> {
        let unknown = || UnknownPolicy(text.to_owned());
        let (name, defaults) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((name, defaults)) => (name, Some(defaults)),
            None => (text, None),
        };
        let system = registry::named(name).ok_or_else(unknown)?;
        let policy = Policy { system, defaults: registry::system(system).rules.defaults };
        match defaults {
            None => Ok(policy),
            Some(defaults) => read_defaults(defaults).and_then(|d| policy.with_defaults(d).ok()).ok_or_else(unknown),
        }
    }
}

fn read_defaults(text: &str) -> Option<Defaults> {
    let mut dtypes = text.split(',').map(|name| name.trim().parse::<DType>().ok());
    let defaults = Defaults { int: dtypes.next()??, float: dtypes.next()??, complex: dtypes.next()?? };
    dtypes.next().is_none().then_some(defaults)
}
