//! TensorFlow's systems: plain, and the three modes of its NumPy behaviour.
//!
//! Sources: <https://www.tensorflow.org/guide/tf_numpy_type_promotion> and, for supported dtypes,
//! <https://www.tensorflow.org/api_docs/python/tf/math/add>.

use super::jax::total;
use super::numpy::smallest_safe;
use crate::dtype::DTypeSet;
use crate::dtype::{DType, Kind};
use crate::promotion::lattice;
use crate::promotion::system::{
    Accumulate, BoolNumber, Defaults, FloorDivision, Inexact, Lack, Order, Rules, System, WeakResult, Width, tabulate,
};
use crate::value_type::ValueType::{self, Strong};
use crate::value_type::Weak;

/// A Python complex number is `c128` where a float is `f32`.
const DEFAULTS: Defaults = Defaults { int: DType::I32, float: DType::F32, complex: DType::C128 };

const RULES: Rules = Rules {
    order: Order::Left,
    inexact: Inexact::Refused,
    quotient: Inexact::SmallestFromF32,
    mean: Inexact::Unchanged,
    variance: Inexact::Refused,
    floor: FloorDivision::Paired,
    number: BoolNumber::Refused,
    sum: Accumulate::Same,
    product: Accumulate::Same,
    index: Some(DType::I64),
    weak: WeakResult::Default,
    width: Width::Any,
    defaults: DEFAULTS,
};

/// TensorFlow's functions, such as `tf.add`. They are not symmetric: the first operand determines the result.
pub const TENSORFLOW: System = System {
    name: "tensorflow",
    source: "https://www.tensorflow.org/api_docs/python/tf/math/add",
    joins: tabulate!(first_decides, DEFAULTS),
    joins_under: Some(first_decides),
    rules: RULES,
    lacks: &[],
    ops: &[],
};

/// NumPy behaviour, `dtype_conversion_mode="all"`: JAX's lattice.
pub const TENSORFLOW_NP_ALL: System = System {
    name: "tensorflow_np_all",
    source: "https://www.tensorflow.org/guide/tf_numpy_type_promotion#all_mode",
    joins: tabulate!(total),
    joins_under: None,
    rules: Rules { weak: WeakResult::Weak, ..RULES },
    lacks: &[],
    ops: &[],
};

/// NumPy behaviour, `dtype_conversion_mode="safe"`.
pub const TENSORFLOW_NP_SAFE: System = System {
    name: "tensorflow_np_safe",
    source: "https://www.tensorflow.org/guide/tf_numpy_type_promotion#safe_mode",
    joins: tabulate!(safe, DEFAULTS),
    joins_under: Some(safe),
    rules: Rules { weak: WeakResult::Weak, ..RULES },
    lacks: &[],
    ops: &[],
};

/// NumPy behaviour, `dtype_conversion_mode="legacy"`.
pub const TENSORFLOW_NP_LEGACY: System = System {
    name: "tensorflow_np_legacy",
    source: "https://www.tensorflow.org/guide/tf_numpy_type_promotion#setup",
    joins: tabulate!(legacy),
    joins_under: None,
    rules: RULES,
    lacks: &[Lack {
        dtypes: DTypeSet::of(DType::Bf16),
        weak: false,
        reason: "the legacy mode promotes bf16 with 8-bit integers and wider floats only",
    }],
    ops: &[],
};

/// Returns the first operand's dtype, or the default dtype of a bare number. A second operand must have that dtype, or
/// be a bare number of its kind or a lower one.
const fn first_decides(defaults: Defaults, a: ValueType, b: ValueType) -> Option<ValueType> {
    let first = defaults.commit(a);
    match b {
        Strong(second) if first as u8 == second as u8 => Some(b),
        ValueType::Weak(weak) if takes(first.kind(), weak) => Some(a),
        _ => None,
    }
}

/// Returns `true` if a bare number can have a dtype of kind `kind`.
const fn takes(kind: Kind, weak: Weak) -> bool {
    match weak {
        Weak::Int => !matches!(kind, Kind::Bool),
        Weak::Float => matches!(kind, Kind::Float | Kind::Complex),
        Weak::Complex => matches!(kind, Kind::Complex),
    }
}

/// Returns the lattice's join, if it has no more bits than both operands and loses nothing of them.
const fn safe(defaults: Defaults, a: ValueType, b: ValueType) -> Option<ValueType> {
    let joined = lattice::join(a, b);
    match (joined, a, b) {
        // An integer would make the bare float a weak f64, wider than both.
        (ValueType::Weak(Weak::Float), Strong(dtype), _) | (ValueType::Weak(Weak::Float), _, Strong(dtype))
            if dtype.is_int() =>
        {
            None
        }
        _ if is_operand(defaults, joined, a, b) && keeps(defaults, joined, a) && keeps(defaults, joined, b) => {
            Some(joined)
        }
        _ => None,
    }
}

/// Returns `true` if `joined` is the dtype of one of the operands.
const fn is_operand(defaults: Defaults, joined: ValueType, a: ValueType, b: ValueType) -> bool {
    let dtype = defaults.commit(joined) as u8;
    dtype == defaults.commit(a) as u8 || dtype == defaults.commit(b) as u8
}

/// Returns `true` if an operand loses nothing. Bare numbers are exempt.
const fn keeps(defaults: Defaults, joined: ValueType, operand: ValueType) -> bool {
    match operand {
        Strong(dtype) => defaults.commit(joined).holds(dtype),
        ValueType::Weak(_) => true,
    }
}

/// Applies NumPy's rule, with NumPy's dtypes of bare numbers: 64 bits beside a bool or an integer, but TensorFlow's
/// defaults otherwise. Pairs of bare numbers are those of plain TensorFlow.
const fn legacy(a: ValueType, b: ValueType) -> Option<ValueType> {
    match (a, b) {
        (ValueType::Weak(_), ValueType::Weak(_)) => first_decides(DEFAULTS, a, b),
        (Strong(DType::Bf16), other) | (other, Strong(DType::Bf16)) => legacy_bf16(other),
        (Strong(a), Strong(b)) => Some(Strong(smallest_safe(a, b))),
        _ => Some(match lattice::join(a, b) {
            ValueType::Weak(weak) => Strong(Defaults::BITS_64.of(weak)),
            joined => joined,
        }),
    }
}

/// Joins bf16 with another type. NumPy has no bf16, so `np.result_type` fails unless one of the two holds the other.
const fn legacy_bf16(other: ValueType) -> Option<ValueType> {
    let bf16 = DType::Bf16;
    match other {
        Strong(dtype) if dtype.holds(bf16) => Some(other),
        Strong(dtype) if bf16.holds(dtype) => Some(Strong(bf16)),
        Strong(_) => None,
        // A Python float is NumPy's f64 there, which holds bf16, a Python int small enough for it.
        ValueType::Weak(Weak::Float) => Some(Strong(DType::F64)),
        ValueType::Weak(_) => Some(lattice::join(Strong(bf16), other)),
    }
}
