//! Where functions mean to return another dtype than a library's, or take other operands.

use crate::ops::Call;
use ndjit_ir::op::{Operands, ResultRule};
use ndjit_ir::reduction::Rule;
use ndjit_ir::{DType, Kind, Op, Policy, Reduction, ValueType};

/// One cell.
pub struct Outcome<'a> {
    pub policy: Policy,
    pub call: Call,
    pub operands: &'a [ValueType],
    pub theirs: Option<&'a str>,
    pub ours: Option<ValueType>,
}

impl Outcome<'_> {
    fn has(&self, test: impl Fn(&ValueType) -> bool) -> bool {
        self.operands.iter().any(test)
    }

    fn has_kind(&self, kind: Kind) -> bool {
        self.has(|ty| ty.kind() == kind)
    }

    /// The operands, without a condition.
    fn joined(&self) -> &[ValueType] {
        if self.call == Call::Op(Op::Where) { &self.operands[1..] } else { self.operands }
    }

    /// The library refuses, ndjit computes.
    fn refused(&self) -> bool {
        self.theirs.is_none() && self.ours.is_some()
    }

    /// The library computes, ndjit refuses.
    fn missing(&self) -> bool {
        self.theirs.is_some() && self.ours.is_none()
    }

    /// Both compute.
    fn other(&self) -> bool {
        self.theirs.is_some() && self.ours.is_some()
    }
}

/// Cells that differ on purpose.
pub struct Difference {
    /// The reports it belongs to.
    pub libraries: &'static [&'static str],
    /// Function names; empty for all.
    pub calls: &'static [&'static str],
    /// Which cells.
    pub cells: fn(&Outcome) -> bool,
    /// What ndjit returns in them.
    pub ours: fn(&Outcome) -> Option<ValueType>,
    pub reason: &'static str,
}

impl Difference {
    pub fn explains(&self, outcome: &Outcome) -> bool {
        (self.calls.is_empty() || self.calls.contains(&outcome.call.name()))
            && (self.cells)(outcome)
            && (self.ours)(outcome) == outcome.ours
    }
}

fn nothing(_: &Outcome) -> Option<ValueType> {
    None
}

fn bool_result(_: &Outcome) -> Option<ValueType> {
    Some(DType::Bool.into())
}

fn i64_result(_: &Outcome) -> Option<ValueType> {
    Some(DType::I64.into())
}

fn c64(_: &Outcome) -> Option<ValueType> {
    Some(DType::C64.into())
}

/// The type that the operands meet in, by the policy's table, as a float where the call asks for one; bool where the call asks a question, i64 where it asks for an
/// index or a count (no library whose differences are listed has another).
fn meets(o: &Outcome) -> Option<ValueType> {
    let rule = match o.call {
        Call::Op(op) if op.row().rule == Operands::Inexact => Operands::Inexact,
        _ => Operands::Join,
    };
    let met = o.policy.resolve(rule, o.joined()).ok().map(|resolution| resolution.compute);
    match o.call {
        Call::Op(op) if op.row().rule == Operands::Logical => bool_result(o),
        Call::Op(op) if op.row().result == ResultRule::Bool => met.and(bool_result(o)),
        Call::Reduction(reduction) if reduction.row().rule == Rule::Bool => bool_result(o),
        Call::Reduction(reduction) if reduction.row().rule == Rule::Index => i64_result(o),
        _ => met,
    }
}

/// The type that the operands meet in, bool as a number.
fn number(o: &Outcome) -> Option<ValueType> {
    o.policy.resolve(Operands::Number, o.operands).ok().map(|resolution| resolution.compute)
}

/// As for arrays of the default dtypes in place of the numbers.
fn of_defaults(o: &Outcome) -> Option<ValueType> {
    let operands: Vec<ValueType> = o.operands.iter().map(|&ty| o.policy.commit(ty).into()).collect();
    o.call.resolve(o.policy, &operands)
}

/// As the square root.
fn as_sqrt(o: &Outcome) -> Option<ValueType> {
    Call::Op(Op::Sqrt).resolve(o.policy, o.operands)
}

/// As the standard deviation.
fn as_std(o: &Outcome) -> Option<ValueType> {
    Call::Reduction(Reduction::Std).resolve(o.policy, o.operands)
}

const COMPARISONS: &[&str] =
    &["less", "less_equal", "greater", "greater_equal", "minimum", "maximum", "max", "min", "argmax", "argmin"];
const LOGICAL: &[&str] = &["logical_and", "logical_or", "logical_xor", "logical_not", "any", "all"];
const NUMPY: &[&str] = &["numpy2", "numpy1"];
const IVY: &[&str] = &["ivy_precise", "ivy_imprecise"];

/// All deliberate differences, the first that fits a cell being its reason. Each is needed by a cell of each library it names.
pub const DIFFERENCES: &[Difference] = &[
    // Every library.
    Difference {
        libraries: &[
            "jax x64",
            "jax x32",
            "numpy2",
            "numpy1",
            "torch",
            "tensorflow",
            "ivy_precise",
            "ivy_imprecise",
            "array_api",
        ],
        calls: &[
            "exp",
            "log",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "tanh",
            "pow",
            "rsqrt",
            "log1p",
            "expm1",
            "log2",
            "log10",
            "exp2",
            "cosh",
            "sinh",
            "asinh",
            "acosh",
            "atanh",
            "logaddexp",
        ],
        cells: |o| o.missing() && o.has_kind(Kind::Complex),
        ours: nothing,
        reason: "these take real dtypes only so far",
    },
    Difference {
        libraries: &["jax x64", "jax x32"],
        calls: &[],
        cells: |o| o.theirs == Some("bool/w"),
        ours: bool_result,
        reason: "bool is always strong; JAX leaves a weak flag on some",
    },
    Difference {
        libraries: &["jax x64", "jax x32"],
        calls: &["atan2"],
        cells: |o| o.missing() && o.has_kind(Kind::Complex),
        ours: nothing,
        reason: "JAX's atan2 takes complex numbers; here real ones, as in the Array API",
    },
    Difference {
        libraries: &["jax x64", "jax x32"],
        calls: &["pow"],
        cells: |o| o.other() && o.ours.is_some_and(|ty| ty.is_weak()),
        ours: number,
        reason: "JAX's pow drops the weak flag beside bool, weak integers and integer exponents; here it stays",
    },
    Difference {
        libraries: &["jax x64", "jax x32"],
        calls: &["log2", "log10"],
        cells: |o| o.other() && o.operands[0].is_weak(),
        ours: as_sqrt,
        reason: "JAX's log2 and log10 drop the weak flag, alone of its float functions; here it stays",
    },
    // NumPy.
    Difference {
        libraries: &["numpy2", "numpy1", "ivy_precise", "ivy_imprecise"],
        calls: &["positive"],
        cells: |o| o.refused() && o.has_kind(Kind::Bool),
        ours: bool_result,
        reason: "NumPy's positive refuses bool; here it gives itself, as in JAX",
    },
    Difference {
        libraries: NUMPY,
        calls: &["copysign", "nextafter", "hypot", "logaddexp", "atan2"],
        cells: |o| o.other() && !o.has_kind(Kind::Float),
        ours: meets,
        reason: "NumPy looks for the smallest float that holds both integers; here the integers promote first",
    },
    Difference {
        libraries: NUMPY,
        calls: &["conj"],
        cells: |o| o.other() && o.has_kind(Kind::Bool),
        ours: bool_result,
        reason: "NumPy's conj counts bool as a number, i8; here it stays bool, as its real does",
    },
    Difference {
        libraries: NUMPY,
        calls: &["real", "imag"],
        cells: |o| o.theirs.is_some_and(|ty| ty.starts_with("python")),
        ours: of_defaults,
        reason: "NumPy's real and imag of a Python number are Python numbers",
    },
    Difference {
        libraries: &["torch", "array_api"],
        calls: &["imag"],
        cells: |o| o.refused() && !o.has_kind(Kind::Complex),
        ours: |o| Some(o.policy.commit(o.operands[0]).into()),
        reason: "imag takes complex numbers only there; here it is 0 of real ones, as in NumPy and JAX",
    },
    Difference {
        libraries: NUMPY,
        calls: &["reciprocal"],
        cells: |o| o.other() && !o.has_kind(Kind::Float),
        ours: as_sqrt,
        reason: "NumPy's reciprocal of an integer is an integer, 0 or 1 mostly; here it is a float",
    },
    Difference {
        libraries: &["numpy2"],
        calls: &["clip"],
        cells: |o| o.other() && o.operands[0].is_weak(),
        ours: meets,
        reason: "`np.clip` makes its first operand an array, so a number there has its default dtype; here it stays weak",
    },
    Difference {
        libraries: &["numpy1"],
        calls: &["floor", "ceil", "trunc"],
        cells: |o| o.other() && !o.has_kind(Kind::Float),
        ours: meets,
        reason: "NumPy 1 makes integers floats before rounding them; here they stay, as in NumPy 2",
    },
    Difference {
        libraries: &["numpy2", "numpy1", "ivy_precise", "ivy_imprecise"],
        calls: &["clip"],
        cells: |o| o.missing() && o.has_kind(Kind::Complex),
        ours: nothing,
        reason: "clip takes no complex numbers here, as in the Array API",
    },
    Difference {
        libraries: &["numpy2", "numpy1", "ivy_precise", "ivy_imprecise"],
        calls: &["round"],
        cells: |o| o.missing() && o.has_kind(Kind::Bool),
        ours: nothing,
        reason: "round takes no bool here, as in the Array API",
    },
    Difference {
        libraries: &["numpy1"],
        calls: &["count_nonzero"],
        cells: |o| o.theirs == Some("python int"),
        ours: i64_result,
        reason: "NumPy 1 counts in a Python int, without a dtype; here in i64, as NumPy 2",
    },
    // PyTorch.
    Difference {
        libraries: &["torch"],
        calls: &[],
        cells: |o| o.theirs.is_some_and(|ty| ty.ends_with("c32")),
        ours: c64,
        reason: "no complex32 here: f16 and bf16 with a complex number make c64",
    },
    Difference {
        libraries: &["torch"],
        calls: &["add", "subtract", "multiply", "divide"],
        cells: |o| o.refused() && o.has(|ty| ty.name() == "c*") && o.has(|ty| matches!(ty.name(), "f16" | "bf16")),
        ours: c64,
        reason: "PyTorch's complex32 lacks kernels; here f16 and bf16 with a complex number make c64",
    },
    Difference {
        libraries: &["torch"],
        calls: &["sign", "square"],
        cells: |o| o.missing() && o.has_kind(Kind::Bool),
        ours: nothing,
        reason: "square of bool is refused as other arithmetic on bool alone is; sign takes no bool, as in NumPy",
    },
    Difference {
        libraries: &["torch"],
        calls: &[],
        cells: |o| o.refused() && o.operands.iter().all(|ty| ty.is_weak()),
        ours: of_defaults,
        reason: "PyTorch's functions take a tensor at least; here numbers alone have a type too",
    },
    Difference {
        libraries: &["torch"],
        calls: &[
            "minimum",
            "maximum",
            "logical_and",
            "logical_or",
            "logical_xor",
            "clip",
            "copysign",
            "nextafter",
            "hypot",
            "logaddexp",
            "atan2",
            "gcd",
            "lcm",
        ],
        cells: |o| o.refused() && o.has(|ty| ty.is_weak()),
        ours: meets,
        reason: "these functions of PyTorch take tensors only, clip as its first operand",
    },
    Difference {
        libraries: &["torch"],
        calls: &["nextafter", "hypot", "logaddexp"],
        cells: |o| o.refused() && !o.has_kind(Kind::Float),
        ours: meets,
        reason: "PyTorch's nextafter, hypot and logaddexp lack kernels for integers; here they are floats first",
    },
    Difference {
        libraries: &["torch"],
        calls: COMPARISONS,
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        ours: meets,
        reason: "PyTorch does not order complex numbers",
    },
    Difference {
        libraries: &["torch"],
        calls: &["sign", "round"],
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        ours: meets,
        reason: "PyTorch's sign and round take no complex numbers",
    },
    Difference {
        libraries: &["torch"],
        calls: &["where"],
        cells: |o| o.refused() && o.operands[0] != DType::Bool.into(),
        ours: meets,
        reason: "PyTorch's where takes a condition of bool only",
    },
    Difference {
        libraries: &["torch"],
        calls: &["subtract", "positive", "abs", "floor", "ceil", "trunc", "clip", "argmax", "argmin"],
        cells: |o| o.refused() && o.has_kind(Kind::Bool),
        ours: meets,
        reason: "PyTorch refuses bool in these functions, in subtract even beside numbers",
    },
    Difference {
        libraries: &["torch"],
        calls: &[],
        cells: |o| o.refused() && o.has(|ty| matches!(ty.name(), "u16" | "u32" | "u64")),
        ours: meets,
        reason: "PyTorch lacks many kernels for u16, u32, u64; `result_type` defines the dtype",
    },
    Difference {
        libraries: &["torch"],
        calls: &["any", "all"],
        cells: |o| o.theirs == Some("u8"),
        ours: bool_result,
        reason: "PyTorch's any and all of u8 are u8, from the time before it had bool; here they are bool",
    },
    // TensorFlow.
    Difference {
        libraries: &["tensorflow"],
        calls: &[],
        cells: |o| match *o.joined() {
            // The first does not take the second: another dtype than its default, or a number of a higher kind.
            [a, b @ ValueType::Strong(_), ..] => o.missing() && a.is_weak() && b != o.policy.commit(a).into(),
            [a, b, ..] => o.missing() && a.is_weak() && b.kind() > a.kind(),
            _ => false,
        },
        ours: nothing,
        reason: "measured with operators, where `1 + x` asks x first; the policy lets the first operand decide",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &["multiply"],
        cells: |o| o.missing() && o.theirs == Some("bool") && o.has_kind(Kind::Bool),
        ours: nothing,
        reason: "TensorFlow's `*` turns a number beside a bool tensor into bool",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: LOGICAL,
        cells: |o| o.refused(),
        ours: bool_result,
        reason: "TensorFlow's logical functions take bool only; here nonzero is true under every policy",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &[],
        cells: |o| o.refused() && o.operands.iter().all(|ty| ty.kind() == Kind::Bool),
        ours: |o| if o.call.name() == "divide" { Some(DType::F32.into()) } else { bool_result(o) },
        reason: "TensorFlow's functions of numbers and bits take no bool",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &["negative", "abs", "sign", "pow"],
        cells: |o| o.refused() && o.has_kind(Kind::UInt),
        ours: meets,
        reason: "TensorFlow's negative, abs, sign and pow take no unsigned integers",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &["nextafter"],
        cells: |o| o.refused() && o.has(|ty| matches!(ty.name(), "f16" | "bf16")),
        ours: meets,
        reason: "TensorFlow's nextafter takes no halves",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &["nextafter"],
        cells: |o| o.missing() && o.operands.iter().all(|ty| ty.is_weak()),
        ours: nothing,
        reason: "TensorFlow's nextafter makes two Python integers f32; here floats are asked for, as in its other functions",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: COMPARISONS,
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        ours: meets,
        reason: "TensorFlow does not order complex numbers",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &["floor", "ceil", "round", "isnan", "isinf", "isfinite"],
        cells: |o| o.refused() && !o.has_kind(Kind::Float),
        ours: meets,
        reason: "TensorFlow rounds and classifies floats only (round also integers)",
    },
    // Ivy.
    Difference {
        libraries: IVY,
        calls: &["reciprocal"],
        cells: |o| o.other(),
        ours: as_sqrt,
        reason: "Ivy's reciprocal divides a Python float by its operand; here it is a float function like the others",
    },
    Difference {
        libraries: IVY,
        calls: &["negative", "positive", "abs", "bitwise_invert", "exp2"],
        cells: |o| o.other() && o.operands[0].is_weak(),
        ours: of_defaults,
        reason: "Ivy hands numbers on to NumPy here, which gives them 64 bits; the policy's defaults have 32",
    },
    Difference {
        libraries: IVY,
        calls: &["where", "clip"],
        cells: |o| o.other() && o.has(|ty| ty.is_weak()),
        ours: meets,
        reason: "Ivy gives numbers in where and clip their default dtype before promoting; here they stay weak",
    },
    Difference {
        libraries: IVY,
        calls: &["clip"],
        cells: |o| o.refused() && o.operands[0].is_weak(),
        ours: meets,
        reason: "Ivy's clip takes an array as its first operand",
    },
    Difference {
        libraries: &["ivy_imprecise"],
        calls: &["clip"],
        cells: |o| o.other() && !o.has(|ty| ty.is_weak()),
        ours: meets,
        reason: "Ivy's clip ends in `np.clip`, which knows no imprecise mode",
    },
    Difference {
        libraries: IVY,
        calls: &["floor", "ceil", "trunc"],
        cells: |o| o.other() && o.has_kind(Kind::Bool),
        ours: bool_result,
        reason: "NumPy 1, under Ivy, makes bool f16 before rounding; here it stays bool",
    },
    Difference {
        libraries: IVY,
        calls: &["floor_divide"],
        cells: |o| o.other() && o.operands.iter().all(|ty| ty.kind() == Kind::Bool),
        ours: |_| Some(DType::I8.into()),
        reason: "Ivy casts `bool // bool` back to bool, alone of all arithmetic on bool; here it is i8 as the rest",
    },
    Difference {
        libraries: IVY,
        calls: &["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"],
        cells: |o| o.refused() && o.has_kind(Kind::Bool),
        ours: meets,
        reason: "Ivy's bit functions promote by the Array API's rules, where bool meets no integer",
    },
    Difference {
        libraries: IVY,
        calls: &["var"],
        cells: |o| o.other() && !o.has_kind(Kind::Float),
        ours: as_std,
        reason: "Ivy casts a variance back to the operand's dtype, integers and complex numbers too; here it has its std's",
    },
    Difference {
        libraries: IVY,
        calls: &["count_nonzero"],
        cells: |o| o.other(),
        ours: i64_result,
        reason: "Ivy counts in the operand's dtype, up to 1 in bool; here in i64, as argmax",
    },
    Difference {
        libraries: IVY,
        calls: &["copysign"],
        cells: |o| !o.refused() && o.has(|ty| ty.kind() != Kind::Float),
        ours: |o| meets(o).filter(|_| !o.has_kind(Kind::Complex)),
        reason: "Ivy's copysign casts what is no float to the default float, complex numbers too",
    },
    Difference {
        libraries: IVY,
        calls: &["nextafter", "hypot"],
        cells: |o| o.other(),
        ours: meets,
        reason: "Ivy hands the operands of nextafter and hypot to NumPy, which promotes by its own rules",
    },
    // The Array API.
    Difference {
        libraries: &["array_api"],
        calls: &["signbit"],
        cells: |o| o.refused() && o.has(|ty| matches!(ty.kind(), Kind::UInt | Kind::Int)),
        ours: bool_result,
        reason: "the standard's signbit takes floats only; here integers too, as in JAX",
    },
    Difference {
        libraries: &["array_api"],
        calls: &[],
        cells: |o| o.refused() && o.operands[0].is_weak() && matches!(o.call, Call::Reduction(_) | Call::Op(Op::Clip)),
        ours: |o| if o.call == Call::Op(Op::Clip) { meets(o) } else { of_defaults(o) },
        reason: "the standard's functions take an array first; here a number reduces as an array of its default dtype",
    },
    Difference {
        libraries: &["array_api"],
        calls: &["clip"],
        cells: |o| o.theirs.is_some(),
        ours: meets,
        reason: "the standard's clip has its first operand's dtype, whatever the bounds are; here all three promote",
    },
    Difference {
        libraries: &["array_api"],
        calls: LOGICAL,
        cells: |o| o.refused(),
        ours: bool_result,
        reason: "the standard's logical functions take bool only; here nonzero is true under every policy",
    },
    Difference {
        libraries: &["array_api"],
        calls: COMPARISONS,
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        ours: meets,
        reason: "the standard does not order complex numbers",
    },
    Difference {
        libraries: &["array_api"],
        calls: &[],
        cells: |o| o.refused() && o.operands.iter().all(|ty| ty.kind() == Kind::Bool),
        ours: meets,
        reason: "the standard leaves arithmetic, order and classes of bool undefined",
    },
    Difference {
        libraries: &["array_api"],
        calls: &["var", "std"],
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        ours: |o| Some(o.policy.commit(o.operands[0]).real().into()),
        reason: "the standard's var and std take real numbers only; here those of complex numbers are real",
    },
];
