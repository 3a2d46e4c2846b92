//! Arrays and traced values, as the values of calls.

use crate::api::calls;
use crate::api::pool::Call;
use crate::api::value::{Body, Value};
use crate::api::values::to_tensor;
use crate::choices::Choices;
use ndjit::{Array, DType, Ellipsis, Expr, Result, Shape, Slice, ValueType, dynamic_range, jit};
use std::sync::OnceLock;

macro_rules! values {
    ($($t:ty, $x:ident => $reference:expr, $of:expr;)*) => {$(
        impl Value for $t {
            fn facts(&self) -> (ValueType, DType, Shape) {
                let $x = self;
                ($reference.value_type(), $reference.dtype(), $reference.shape().clone())
            }

            fn cast_to(&self, dtype: DType) -> $t {
                let $x = self;
                $reference.cast(dtype)
            }

            fn of(array: Array) -> $t {
                ($of)(array)
            }

            fn within(x: $t, y: $t, f: Body) -> Result<Vec<$t>> {
                Within::within(x, y, f)
            }

            fn same(one: &$t, other: &$t) -> Result<()> {
                Within::same(one, other)
            }

            fn refused(made: &Result<Vec<$t>>) {
                Within::refused(made)
            }

            fn at_indices(&self, c: &mut Choices, index: $t, other: $t, part: Slice) -> $t {
                let $x = self;
                let at = match c.below(7) {
                    0 => $reference.at(index),
                    1 => $reference.at((index, other.clone())),
                    2 => $reference.at((part, index)),
                    3 => $reference.at((index, part)),
                    4 => $reference.at(dynamic_range(index, c.below(4))),
                    5 => $reference.at((part, dynamic_range(index, c.below(4)))),
                    _ => $reference.at((Ellipsis, index)),
                };
                match c.below(9) {
                    6 => at.subtract(other),
                    7 => at.multiply(other),
                    8 => at.divide(other),
                    0 => at.get(),
                    1 => at.get_or(crate::api::values::number(c)),
                    2 => at.set(other),
                    3 => at.add(other),
                    4 => at.min(other),
                    _ => at.max(other),
                }
            }

            fn calls() -> &'static [Call<$t>] {
                static CALLS: OnceLock<Vec<Call<$t>>> = OnceLock::new();
                CALLS.get_or_init(calls::all)
            }
        }
    )*};
}

values! {
    Array, x => x, |array| array;
    Expr, x => (*x), Expr::from;
}

trait Within: Sized {
    fn within(x: Self, y: Self, f: Body) -> Result<Vec<Self>>;
    fn same(one: &Self, other: &Self) -> Result<()>;
    fn refused(made: &Result<Vec<Self>>);
}

impl Within for Array {
    fn within(x: Array, y: Array, f: Body) -> Result<Vec<Array>> {
        jit(f).call((&x, &y))
    }

    fn same(one: &Array, other: &Array) -> Result<()> {
        let (own, tensor) = (to_tensor(one)?, to_tensor(other)?);
        assert!(own.dtype == tensor.dtype && own.shape == tensor.shape, "{one:?} and {other:?} are to be the same");
        assert!(own.first_difference(&tensor).is_none(), "{one} and {other} are to be the same");
        Ok(())
    }

    fn refused(made: &Result<Vec<Array>>) {
        assert!(made.is_err(), "{made:?} for an error");
    }
}

impl Within for Expr {
    fn within(x: Expr, y: Expr, f: Body) -> Result<Vec<Expr>> {
        Ok(jit(f).inline((x, y)))
    }

    fn same(_: &Expr, _: &Expr) -> Result<()> {
        Ok(())
    }

    fn refused(_: &Result<Vec<Expr>>) {}
}
