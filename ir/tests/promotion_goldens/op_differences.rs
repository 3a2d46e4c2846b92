//! Where functions mean to return another dtype than a library's, or take other operands.

use crate::ops::Call;
use ndjit_ir::{DType, Kind, ValueType};

/// One cell.
pub struct Outcome<'a> {
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
    pub reason: &'static str,
}

impl Difference {
    pub fn explains(&self, outcome: &Outcome) -> bool {
        (self.calls.is_empty() || self.calls.contains(&outcome.call.name())) && (self.cells)(outcome)
    }
}

const COMPARISONS: &[&str] = &["less", "less_equal", "greater", "greater_equal", "minimum", "maximum"];
const LOGICAL: &[&str] = &["logical_and", "logical_or", "logical_xor", "logical_not"];
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
        calls: &["exp", "log", "sin", "cos", "tanh"],
        cells: |o| o.missing() && o.has_kind(Kind::Complex),
        reason: "exp log sin cos tanh take real dtypes only so far",
    },
    Difference {
        libraries: &["jax x64", "jax x32"],
        calls: &[],
        cells: |o| o.theirs == Some("bool/w") && o.ours == Some(DType::Bool.into()),
        reason: "bool is always strong; JAX leaves a weak flag on some",
    },
    // NumPy.
    Difference {
        libraries: NUMPY,
        calls: &["reciprocal"],
        cells: |o| o.other() && !o.has_kind(Kind::Float),
        reason: "NumPy's reciprocal of an integer is an integer, 0 or 1 mostly; here it is a float",
    },
    Difference {
        libraries: &["numpy2"],
        calls: &["clip"],
        cells: |o| o.other() && o.operands[0].is_weak(),
        reason: "`np.clip` makes its first operand an array, so a number there has its default dtype; here it stays weak",
    },
    Difference {
        libraries: &["numpy1"],
        calls: &["floor", "ceil", "trunc"],
        cells: |o| o.other() && !o.has_kind(Kind::Float),
        reason: "NumPy 1 makes integers floats before rounding them; here they stay, as in NumPy 2",
    },
    Difference {
        libraries: &["numpy2", "numpy1", "ivy_precise", "ivy_imprecise"],
        calls: &["clip"],
        cells: |o| o.missing() && o.has_kind(Kind::Complex),
        reason: "clip takes no complex numbers here, as in the Array API",
    },
    Difference {
        libraries: &["numpy2", "numpy1", "ivy_precise", "ivy_imprecise"],
        calls: &["round"],
        cells: |o| o.missing() && o.has_kind(Kind::Bool),
        reason: "round takes no bool here, as in the Array API",
    },
    // PyTorch.
    Difference {
        libraries: &["torch"],
        calls: &[],
        cells: |o| o.theirs.is_some_and(|ty| ty.ends_with("c32")) && o.ours == Some(DType::C64.into()),
        reason: "no complex32 here: f16 and bf16 with a complex number make c64",
    },
    Difference {
        libraries: &["torch"],
        calls: &["add", "subtract", "multiply", "divide"],
        cells: |o| o.refused() && o.has(|ty| ty.name() == "c*") && o.has(|ty| matches!(ty.name(), "f16" | "bf16")),
        reason: "PyTorch's complex32 lacks kernels; here f16 and bf16 with a complex number make c64",
    },
    Difference {
        libraries: &["torch"],
        calls: &["sign", "square"],
        cells: |o| o.missing() && o.has_kind(Kind::Bool),
        reason: "square of bool is refused as other arithmetic on bool alone is; sign takes no bool, as in NumPy",
    },
    Difference {
        libraries: &["torch"],
        calls: &[],
        cells: |o| o.refused() && o.operands.iter().all(|ty| ty.is_weak()),
        reason: "PyTorch's functions take a tensor at least; here numbers alone have a type too",
    },
    Difference {
        libraries: &["torch"],
        calls: &["minimum", "maximum", "logical_and", "logical_or", "logical_xor", "clip"],
        cells: |o| o.refused() && o.has(|ty| ty.is_weak()),
        reason: "these functions of PyTorch take tensors only, clip as its first operand",
    },
    Difference {
        libraries: &["torch"],
        calls: COMPARISONS,
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        reason: "PyTorch does not order complex numbers",
    },
    Difference {
        libraries: &["torch"],
        calls: &["sign", "round"],
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        reason: "PyTorch's sign and round take no complex numbers",
    },
    Difference {
        libraries: &["torch"],
        calls: &["where"],
        cells: |o| o.refused() && o.operands[0] != DType::Bool.into(),
        reason: "PyTorch's where takes a condition of bool only",
    },
    Difference {
        libraries: &["torch"],
        calls: &["subtract", "abs", "floor", "ceil", "trunc", "clip"],
        cells: |o| o.refused() && o.has_kind(Kind::Bool),
        reason: "PyTorch refuses bool in these functions, in subtract even beside numbers",
    },
    Difference {
        libraries: &["torch"],
        calls: &[],
        cells: |o| o.refused() && o.has(|ty| matches!(ty.name(), "u16" | "u32" | "u64")),
        reason: "PyTorch lacks many kernels for u16, u32, u64; `result_type` defines the dtype",
    },
    // TensorFlow.
    Difference {
        libraries: &["tensorflow"],
        calls: &[],
        cells: |o| o.missing() && o.operands.iter().rev().nth(1).is_some_and(|first| first.is_weak()),
        reason: "measured with operators, where `1 + x` asks x first; the policy lets the first operand decide",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &["multiply"],
        cells: |o| o.missing() && o.has_kind(Kind::Bool),
        reason: "TensorFlow's `*` turns a number beside a bool tensor into bool",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: LOGICAL,
        cells: |o| o.refused(),
        reason: "TensorFlow's logical functions take bool only; here nonzero is true under every policy",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &[],
        cells: |o| o.refused() && o.operands.iter().all(|ty| ty.kind() == Kind::Bool),
        reason: "TensorFlow's functions of numbers and bits take no bool",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &["negative", "abs", "sign"],
        cells: |o| o.refused() && o.has_kind(Kind::UInt),
        reason: "TensorFlow's negative, abs and sign take no unsigned integers",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: COMPARISONS,
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        reason: "TensorFlow does not order complex numbers",
    },
    Difference {
        libraries: &["tensorflow"],
        calls: &["floor", "ceil", "round", "isnan", "isinf", "isfinite"],
        cells: |o| o.refused() && !o.has_kind(Kind::Float),
        reason: "TensorFlow rounds and classifies floats only (round also integers)",
    },
    // Ivy.
    Difference {
        libraries: IVY,
        calls: &["reciprocal"],
        cells: |o| o.other(),
        reason: "Ivy's reciprocal divides a Python float by its operand; here it is a float function like the others",
    },
    Difference {
        libraries: IVY,
        calls: &["negative", "abs", "bitwise_invert"],
        cells: |o| o.other() && o.operands[0].is_weak(),
        reason: "Ivy hands numbers on to NumPy here, which gives them 64 bits; the policy's defaults have 32",
    },
    Difference {
        libraries: IVY,
        calls: &["where", "clip"],
        cells: |o| o.other() && o.has(|ty| ty.is_weak()),
        reason: "Ivy gives numbers in where and clip their default dtype before promoting; here they stay weak",
    },
    Difference {
        libraries: IVY,
        calls: &["clip"],
        cells: |o| o.refused() && o.operands[0].is_weak(),
        reason: "Ivy's clip takes an array as its first operand",
    },
    Difference {
        libraries: &["ivy_imprecise"],
        calls: &["clip"],
        cells: |o| o.other() && !o.has(|ty| ty.is_weak()),
        reason: "Ivy's clip ends in `np.clip`, which knows no imprecise mode",
    },
    Difference {
        libraries: IVY,
        calls: &["floor", "ceil", "trunc"],
        cells: |o| o.other() && o.has_kind(Kind::Bool),
        reason: "NumPy 1, under Ivy, makes bool f16 before rounding; here it stays bool",
    },
    Difference {
        libraries: IVY,
        calls: &["floor_divide"],
        cells: |o| o.other() && o.operands.iter().all(|ty| ty.kind() == Kind::Bool),
        reason: "Ivy casts `bool // bool` back to bool, alone of all arithmetic on bool; here it is i8 as the rest",
    },
    Difference {
        libraries: IVY,
        calls: &["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"],
        cells: |o| o.refused() && o.has_kind(Kind::Bool),
        reason: "Ivy's bit functions promote by the Array API's rules, where bool meets no integer",
    },
    Difference {
        libraries: IVY,
        calls: &["sum"],
        cells: |o| o.missing() && o.has_kind(Kind::Bool),
        reason: "Ivy sums bool in NumPy's i64, whatever its defaults; the policy asks for a dtype",
    },
    // The Array API.
    Difference {
        libraries: &["array_api"],
        calls: &["clip"],
        cells: |o| o.other() || o.missing(),
        reason: "the standard's clip has its first operand's dtype, whatever the bounds are; here all three promote",
    },
    Difference {
        libraries: &["array_api"],
        calls: LOGICAL,
        cells: |o| o.refused(),
        reason: "the standard's logical functions take bool only; here nonzero is true under every policy",
    },
    Difference {
        libraries: &["array_api"],
        calls: COMPARISONS,
        cells: |o| o.refused() && o.has_kind(Kind::Complex),
        reason: "the standard does not order complex numbers",
    },
    Difference {
        libraries: &["array_api"],
        calls: &[],
        cells: |o| o.refused() && o.operands.iter().all(|ty| ty.kind() == Kind::Bool),
        reason: "the standard leaves arithmetic, order and classes of bool undefined",
    },
    Difference {
        libraries: &["array_api"],
        calls: &["sum", "prod", "mean", "clip"],
        cells: |o| o.refused() && o.operands[0].is_weak(),
        reason: "the standard's functions take an array first; here a number reduces as an array of its default dtype",
    },
];
