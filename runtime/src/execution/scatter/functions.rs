//! The functions of scatters for each dtype, with the semantics of the ops of [`Scatter::combine`], and those that may be reordered.

use half::{bf16, f16};
use ndjit_ir::DType;
use ndjit_ir::graph::Scatter;

/// What a function of any order needs to begin in a copy of the array and to go on in the array.
#[derive(Clone, Copy, Debug)]
pub struct Reordered<T> {
    /// Each element of the copy before any update.
    pub identity: T,
    /// The element of an array and that of a copy, which are then one.
    pub merge: fn(T, T) -> T,
}

/// A use of a function, for elements of any type.
pub trait FunctionVisitor {
    /// The result.
    type Out;

    /// `combine` has an existing element and an update. Without `reordered`, the result depends on the order of updates.
    fn visit<T: Copy>(self, combine: impl Fn(T, T) -> T, reordered: Option<Reordered<T>>) -> Self::Out;
}

/// Whether updates in any order give the same bits, so that a copy may take some of them. Integers wrap. Of floats the minimum and the
/// maximum are ordered totally (except NaN, which has no defined bits); sums and products round.
pub fn reorders(scatter: Scatter, dtype: DType) -> bool {
    struct ReorderQuery;
    impl FunctionVisitor for ReorderQuery {
        type Out = bool;

        fn visit<T: Copy>(self, _: impl Fn(T, T) -> T, reordered: Option<Reordered<T>>) -> bool {
            reordered.is_some()
        }
    }
    with_function(scatter, dtype, ReorderQuery).unwrap_or(false)
}

/// Visits the function for elements of a dtype; `None` if it does not take them.
pub fn with_function<V: FunctionVisitor>(scatter: Scatter, dtype: DType, visitor: V) -> Option<V::Out> {
    macro_rules! numbers {
        ($t:ty, $($name:ident => $f:expr $(, from $identity:expr, by $merge:expr)?;)*) => {
            match scatter {
                Scatter::Set => Some(visitor.visit::<$t>(|_, update| update, None)),
                $(Scatter::$name => {
                    let reordered: Option<Reordered<$t>> =
                        None$(.or(Some(Reordered { identity: $identity, merge: $merge })))?;
                    Some(visitor.visit::<$t>($f, reordered))
                })*
                #[allow(unreachable_patterns, reason = "some dtypes take all")]
                _ => None,
            }
        };
    }
    macro_rules! integers {
        ($t:ty) => {
            numbers!(
                $t,
                Add => <$t>::wrapping_add, from 0, by <$t>::wrapping_add;
                // A copy has minus the sum of its updates.
                Subtract => <$t>::wrapping_sub, from 0, by <$t>::wrapping_add;
                Multiply => <$t>::wrapping_mul, from 1, by <$t>::wrapping_mul;
                Min => <$t>::min, from <$t>::MAX, by <$t>::min;
                Max => <$t>::max, from <$t>::MIN, by <$t>::max;
            )
        };
    }
    macro_rules! halves {
        ($t:ty) => {
            // An `f32` operation on two halves rounds correctly: it has more than twice their digits, plus two.
            numbers!(
                $t,
                Add => |a, b| <$t>::from_f32(a.to_f32() + b.to_f32());
                Subtract => |a, b| <$t>::from_f32(a.to_f32() - b.to_f32());
                Multiply => |a, b| <$t>::from_f32(a.to_f32() * b.to_f32());
                Divide => |a, b| <$t>::from_f32(a.to_f32() / b.to_f32());
                Min => |a, b| <$t>::from_f32(minimum(a.to_f32().into(), b.to_f32().into()) as f32),
                    from <$t>::INFINITY,
                    by |a, b| <$t>::from_f32(minimum(a.to_f32().into(), b.to_f32().into()) as f32);
                Max => |a, b| <$t>::from_f32(maximum(a.to_f32().into(), b.to_f32().into()) as f32),
                    from <$t>::NEG_INFINITY,
                    by |a, b| <$t>::from_f32(maximum(a.to_f32().into(), b.to_f32().into()) as f32);
            )
        };
    }
    macro_rules! floats {
        ($t:ty) => {
            numbers!(
                $t,
                Add => |a, b| a + b;
                Subtract => |a, b| a - b;
                Multiply => |a, b| a * b;
                Divide => |a, b| a / b;
                Min => |a, b| minimum(a.into(), b.into()) as $t,
                    from <$t>::INFINITY, by |a, b| minimum(a.into(), b.into()) as $t;
                Max => |a, b| maximum(a.into(), b.into()) as $t,
                    from <$t>::NEG_INFINITY, by |a, b| maximum(a.into(), b.into()) as $t;
            )
        };
    }
    macro_rules! complex {
        ($t:ty) => {
            numbers!(
                [$t; 2],
                Add => |a, b| [a[0] + b[0], a[1] + b[1]];
                Subtract => |a, b| [a[0] - b[0], a[1] - b[1]];
                Min => |a, b| extreme(a, b, <$t>::lt, |a, b| minimum(a.into(), b.into()) as $t);
                Max => |a, b| extreme(a, b, <$t>::gt, |a, b| maximum(a.into(), b.into()) as $t);
            )
        };
    }
    match dtype {
        DType::Bool => numbers!(
            u8,
            Add => |a, b| a | b, from 0, by |a, b| a | b;
            Multiply => |a, b| a & b, from 1, by |a, b| a & b;
            Min => |a, b| a & b, from 1, by |a, b| a & b;
            Max => |a, b| a | b, from 0, by |a, b| a | b;
        ),
        DType::U8 => integers!(u8),
        DType::U16 => integers!(u16),
        DType::U32 => integers!(u32),
        DType::U64 => integers!(u64),
        DType::I8 => integers!(i8),
        DType::I16 => integers!(i16),
        DType::I32 => integers!(i32),
        DType::I64 => integers!(i64),
        DType::Bf16 => halves!(bf16),
        DType::F16 => halves!(f16),
        DType::F32 => floats!(f32),
        DType::F64 => floats!(f64),
        DType::C64 => complex!(f32),
        DType::C128 => complex!(f64),
    }
}

/// IEEE-754-2019 minimum.
fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        if a.is_sign_negative() { a } else { b }
    } else {
        a.min(b)
    }
}

fn maximum(a: f64, b: f64) -> f64 {
    -minimum(-a, -b)
}

/// The first of two complex numbers by real, then imaginary part. If only one has a NaN, it is the result; part by part if they are
/// unordered.
fn extreme<T: PartialOrd + Copy>(a: [T; 2], b: [T; 2], before: fn(&T, &T) -> bool, part: impl Fn(T, T) -> T) -> [T; 2] {
    // Only NaN is unordered with itself.
    let nan = |z: [T; 2]| z.iter().any(|part| part.partial_cmp(part).is_none());
    let first = |a: [T; 2], b: [T; 2]| before(&a[0], &b[0]) || a[0] == b[0] && before(&a[1], &b[1]);
    if first(a, b) && !nan(b) || nan(a) && !nan(b) {
        a
    } else if first(b, a) && !nan(a) || nan(b) && !nan(a) {
        b
    } else {
        [part(a[0], b[0]), part(a[1], b[1])]
    }
}
