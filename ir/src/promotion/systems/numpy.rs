//! NumPy's systems: version 2, the same with ml_dtypes' bfloat16, and the value-independent part of version 1.
//!
//! Sources: <https://numpy.org/doc/stable/reference/arrays.promotion.html>, NEP 50
//! <https://numpy.org/neps/nep-0050-scalar-promotion.html>, and for the order of many operands
//! <https://github.com/numpy/numpy/blob/v2.4.6/numpy/_core/src/multiarray/common_dtype.c>.

use crate::dtype::{DType, DTypeSet, Kind};
use crate::promotion::lattice;
use crate::promotion::system::{
    Accumulate, BoolNumber, Defaults, FloorDivision, Inexact, Lack, Order, Rules, System, WeakResult, Width, tabulate,
};
use crate::value_type::ValueType::{self, Strong};
use crate::value_type::Weak;

pub(super) const RULES: Rules = Rules {
    order: Order::KindFirst,
    inexact: Inexact::Smallest,
    quotient: Inexact::To(DType::F64),
    mean: Inexact::To(DType::F64),
    variance: Inexact::To(DType::F64),
    floor: FloorDivision::Paired,
    number: BoolNumber::To(DType::I8),
    sum: Accumulate::Widen,
    product: Accumulate::Widen,
    index: Some(DType::I64),
    weak: WeakResult::Default,
    width: Width::Any,
    defaults: Defaults::BITS_64,
};

const NO_BF16: &[Lack] =
    &[Lack { dtypes: DTypeSet::of(DType::Bf16), weak: false, reason: "NumPy itself has no bf16; ml_dtypes adds one" }];

/// NumPy 2 (NEP 50): Python scalars are weak by kind, and results are strong.
pub const NUMPY_2: System = System {
    name: "numpy2",
    source: "https://numpy.org/doc/stable/reference/arrays.promotion.html",
    joins: tabulate!(without_bf16),
    joins_under: None,
    rules: RULES,
    lacks: NO_BF16,
    ops: &[],
};

/// NumPy 2 with the bfloat16 of ml_dtypes.
pub const NUMPY_2_ML_DTYPES: System = System {
    name: "numpy2_ml_dtypes",
    source: "https://github.com/jax-ml/ml_dtypes",
    joins: tabulate!(with_bf16),
    joins_under: None,
    rules: RULES,
    lacks: &[],
    ops: &[],
};

/// NumPy 1 without its value-based rules. Dtypes and small Python scalars join as in NumPy 2.
pub const NUMPY_1: System = System {
    name: "numpy1",
    source: "https://numpy.org/doc/1.26/reference/generated/numpy.result_type.html",
    joins: tabulate!(without_bf16),
    joins_under: None,
    rules: RULES,
    lacks: NO_BF16,
    ops: &[],
};

/// Returns the smallest dtype to which both cast safely: 8-bit integers fit in all floats, 16-bit ones in `f32`. In
/// NumPy 64-bit integers also cast safely to `f64`, so `u64` with a signed integer is `f64`. bf16 (ml_dtypes) follows
/// the same rule.
pub(super) const fn smallest_safe(a: DType, b: DType) -> DType {
    let (a, b) = match (is_inexact(a), is_inexact(b)) {
        (true, false) => (a, float_beside(b, a)),
        (false, true) => (float_beside(a, b), b),
        _ => (a, b),
    };
    match lattice::join(Strong(a), Strong(b)) {
        Strong(dtype) => dtype,
        // Of all pairs of integers, only these have no integer join.
        ValueType::Weak(_) => DType::F64,
    }
}

/// Returns the dtype of an integer beside the float or complex `other`: `other` itself if it holds all of the integer's
/// values.
const fn float_beside(int: DType, other: DType) -> DType {
    match int.bytes() {
        1 => other,
        2 => DType::F32,
        _ => DType::F64,
    }
}

const fn is_inexact(dtype: DType) -> bool {
    matches!(dtype.kind(), Kind::Float | Kind::Complex)
}

/// Joins two dtypes to the smallest safe one. A Python scalar takes the other's dtype, if that is of its kind or a
/// higher one; otherwise it becomes the default dtype of its kind, or the complex dtype as precise as the float.
const fn numpy(a: ValueType, b: ValueType) -> ValueType {
    match (a, b) {
        (Strong(a), Strong(b)) => Strong(smallest_safe(a, b)),
        _ => lattice::join(a, b),
    }
}

const fn without_bf16(a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        (Strong(DType::Bf16), _) | (_, Strong(DType::Bf16)) => None,
        _ => Some(numpy(a, b)),
    }
}

const fn with_bf16(a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        // ml_dtypes registers no weak float: a Python float casts to half at best, which joins bf16 in f32.
        (Strong(DType::Bf16), ValueType::Weak(Weak::Float)) | (ValueType::Weak(Weak::Float), Strong(DType::Bf16)) => {
            Some(Strong(DType::F32))
        }
        _ => Some(numpy(a, b)),
    }
}
