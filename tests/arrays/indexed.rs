//! Cases of indexing: gathers, scatters, masks and searches. Indices and masks are operands after the others.

use crate::call::{Case, numbers};
use crate::data::words;
use ndjit::operand::{BinaryOperand, UnaryOperand};
use ndjit::{Array, DType, Expr, Shape, Side, searchsorted, sort, take, take_along_axis};
use ndjit_math::interp::Tensor;
use serde_json::Value;

/// `x.at(index)`, of arrays and in traced functions.
pub trait At: Sized {
    fn get_at(&self, index: &[Self]) -> Self;
    /// Gathers, with one for indices out of bounds.
    fn get_or_one_at(&self, index: &[Self]) -> Self;
    /// The scatter with this name.
    fn put_at(&self, index: &[Self], what: &str, other: &Self) -> Self;
}

macro_rules! at {
    ($($of:ty)*) => {$(
        impl At for $of {
            fn get_at(&self, index: &[Self]) -> Self {
                let x = self.clone();
                match index {
                    [i] => x.at(i.clone()).get(),
                    [i, j] => x.at((i.clone(), j.clone())).get(),
                    [i, j, k] => x.at((i.clone(), j.clone(), k.clone())).get(),
                    _ => panic!("{} arrays of indices", index.len()),
                }
            }

            fn get_or_one_at(&self, index: &[Self]) -> Self {
                let x = self.clone();
                // One, in every dtype.
                match index {
                    [i] => x.at(i.clone()).get_or(true),
                    [i, j] => x.at((i.clone(), j.clone())).get_or(true),
                    [i, j, k] => x.at((i.clone(), j.clone(), k.clone())).get_or(true),
                    _ => panic!("{} arrays of indices", index.len()),
                }
            }

            fn put_at(&self, index: &[Self], what: &str, other: &Self) -> Self {
                let (x, y) = (self.clone(), other.clone());
                let at = match index {
                    [i] => x.at(i.clone()),
                    [i, j] => x.at((i.clone(), j.clone())),
                    [i, j, k] => x.at((i.clone(), j.clone(), k.clone())),
                    _ => panic!("{} arrays of indices", index.len()),
                };
                match what {
                    "at.set" => at.set(y),
                    "at.add" => at.add(y),
                    "at.min" => at.min(y),
                    "at.max" => at.max(y),
                    _ => panic!("no function {what}"),
                }
            }
        }
    )*};
}

at! { Array Expr }

/// The indices and masks of a row.
pub fn index(row: &Value) -> Vec<Tensor> {
    let read = |given: &Value| {
        let dtype: DType = given["dtype"].as_str().expect("a dtype").parse().unwrap_or_else(|e| panic!("{e}"));
        let texts: Vec<&str> = given["at"].as_str().expect("positions").split_whitespace().collect();
        let shape = Shape::from(numbers::<usize>(&given["shape"]));
        assert_eq!(shape.size().ok(), Some(texts.len()));
        Tensor::from_words(dtype, shape, |at| words(dtype, texts[at])).expect("a small array")
    };
    row["index"].as_array().into_iter().flatten().map(read).collect()
}

impl Case {
    /// Whether the function indexes.
    pub fn indexes(&self) -> bool {
        self.function.starts_with("at.")
            || ["take", "take_along_axis", "searchsorted"].contains(&self.function.as_str())
    }

    /// The indexing function, of its operands and the indices.
    pub fn indexed<X: UnaryOperand<Out = X> + BinaryOperand<X, Out = X> + Clone + At>(&self, xs: &[X]) -> X {
        let (operands, index) = xs.split_at(self.shapes.len());
        let (x, axis) = (operands[0].clone(), || numbers::<isize>(&self.arguments[0])[0]);
        match self.function.as_str() {
            "take" => take(x, index[0].clone(), axis()),
            "take_along_axis" => take_along_axis(x, index[0].clone(), axis()),
            "at.get" => x.get_at(index),
            "at.get_or" => x.get_or_one_at(index),
            "searchsorted" => {
                let values = match (operands, index) {
                    ([_, values], []) => values.clone(),
                    (_, own) => take(x.clone(), own[0].clone(), 0),
                };
                searchsorted(sort(x, 0), values, self.side)
            }
            put => x.put_at(index, put, &operands[1]),
        }
    }

    /// Reads a side.
    pub fn side(row: &Value) -> Side {
        if row["side"] == "right" { Side::Right } else { Side::Left }
    }
}
