//! A case of a golden file, and the table of functions by name.

use crate::indexed::{At, index};
use ndjit::operand::{BinaryOperand, UnaryOperand};
use ndjit::*;
use ndjit_ir::view::Slice;
use ndjit_math::interp::Tensor;
use serde_json::Value;
use std::sync::Arc;

/// One call of one function.
pub struct Case {
    pub function: String,
    pub dtypes: Vec<DType>,
    pub shapes: Vec<Vec<usize>>,
    /// The pool of elements that the operands repeat.
    pub pool: &'static str,
    /// Arguments of a function that moves or joins.
    pub arguments: Vec<Value>,
    /// Indices or a mask, as further operands.
    pub index: Vec<Tensor>,
    /// The side of a search.
    pub side: Side,
    /// The axes of a reduction; `None` for all axes. For a scan its one axis.
    axes: Option<Vec<isize>>,
    keepdims: bool,
    asked: Option<DType>,
    correction: Option<f64>,
    /// The order of `vector_norm`.
    pub order: f64,
    /// Whether a scan includes the initial value.
    initial: bool,
    /// The order of a difference, or the number of a diagonal.
    n: isize,
    /// The ends of further operands.
    ends: Vec<String>,
    /// Whether a sort is descending.
    descending: bool,
    /// The fraction of a quantile, and the method between two elements.
    q: f64,
    method: Interpolation,
    /// The subscripts of `einsum`.
    subscripts: String,
    /// The axes of `tensordot`.
    pairs: Value,
    /// The number of summed products, if given.
    products: Option<usize>,
}

/// The distance of adjacent values in trapezoids.
const APART: f64 = 0.75;

impl Case {
    /// The cases of a row: one for each dtype.
    pub fn read(row: &Value) -> Vec<Case> {
        let named = |name: &str| name.parse::<DType>().unwrap_or_else(|e| panic!("{name}: {e}"));
        let shapes: Vec<Vec<usize>> = row["in"].as_array().expect("shapes").iter().map(numbers).collect();
        let all_dtypes: Vec<Vec<DType>> = match (&row["dtypes"], row["out"].as_object()) {
            (Value::Array(names), _) => vec![names.iter().map(|n| named(n.as_str().expect("a dtype"))).collect()],
            (_, Some(by_dtype)) => by_dtype.keys().map(|name| vec![named(name); shapes.len()]).collect(),
            // Moves of elements were measured with every dtype.
            _ => DType::ALL.map(|dtype| vec![dtype; shapes.len()]).into(),
        };
        let moves = row["args"].is_array() && row["dtypes"].is_null();
        let special = moves || row["special"] == true;
        let of = |dtypes| Case {
            function: row["fn"].as_str().expect("a function").to_owned(),
            dtypes,
            shapes: shapes.clone(),
            pool: if special { "special" } else { "plain" },
            arguments: row["args"].as_array().cloned().unwrap_or_default(),
            index: index(row),
            side: Case::side(row),
            axes: row["axes"].as_array().map(|_| numbers(&row["axes"])),
            keepdims: row["keepdims"] == true,
            asked: row["dtype"].as_str().map(named),
            correction: row["correction"].as_f64(),
            order: row["order"].as_str().map_or(2.0, |order| order.parse().expect("an order")),
            initial: row["initial"] == true,
            n: row["n"].as_i64().unwrap_or(0) as isize,
            ends: row["ends"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|end| end.as_str().expect("an end").into())
                .collect(),
            descending: row["descending"] == true,
            q: row["q"].as_f64().unwrap_or(0.5),
            method: match row["method"].as_str() {
                Some("lower") => Interpolation::Lower,
                Some("higher") => Interpolation::Higher,
                Some("midpoint") => Interpolation::Midpoint,
                Some("nearest") => Interpolation::Nearest,
                _ => Interpolation::Linear,
            },
            subscripts: row["subscripts"].as_str().unwrap_or_default().to_owned(),
            pairs: row["pairs"].clone(),
            products: row["count"].as_u64().map(|count| count as usize),
        };
        all_dtypes.into_iter().map(of).collect()
    }

    /// Whether NumPy needs the bf16 extension.
    pub fn has_bf16(&self) -> bool {
        self.dtypes.contains(&DType::Bf16) || self.asked == Some(DType::Bf16)
    }

    /// Whether the values of an integral have positions.
    pub fn has_positions(&self) -> bool {
        self.function == "trapezoid" && self.shapes.len() == 2
    }

    /// The number of elements per result of a reduction.
    pub fn count(&self) -> usize {
        if let Some(products) = self.products {
            return products;
        }
        let shape = &self.shapes[0];
        let all = (0..shape.len() as isize).collect();
        let axes = self.axes.as_ref().unwrap_or(&all);
        axes.iter().map(|&axis| shape[axis.rem_euclid(shape.len() as isize) as usize]).product()
    }

    /// The function on these operands.
    pub fn call<X: UnaryOperand<Out = X> + BinaryOperand<X, Out = X> + Clone + At>(&self, xs: &[X]) -> Vec<X> {
        let (x, all) = (xs[0].clone(), || xs.iter().cloned());
        let int = |n: usize| numbers::<isize>(&self.arguments[n])[0];
        let ints = |n: usize| numbers::<isize>(&self.arguments[n]);
        vec![match self.function.as_str() {
            "reshape" => reshape(x, ints(0)),
            "permute_dims" => permute_dims(x, ints(0)),
            "moveaxis" => moveaxis(x, ints(0), ints(1)),
            "matrix_transpose" => matrix_transpose(x),
            "swapaxes" => swapaxes(x, int(0), int(1)),
            "expand_dims" => expand_dims(x, ints(0)),
            "squeeze" => squeeze(x, ints(0)),
            "flip" => flip(x, ints(0)),
            "broadcast_to" => broadcast_to(x, numbers::<usize>(&self.arguments[0])),
            "slice" => slice(x, &parts(&self.arguments[0])[..]),
            "diagonal" => diagonal(x, int(0), [ints(1)[0], ints(1)[1]]),
            "sliding_window" => sliding_window(x, ints(0), ints(1)),
            "concat" => concat(all(), int(0)),
            "stack" => stack(all(), int(0)),
            "tile" => tile(x, ints(0)),
            "repeat" => repeat(x, ints(0), int(1)),
            "roll" => roll(x, ints(0), ints(1)),
            "pad" => pad(x, widths(&self.arguments[0]), padding(&self.arguments[1])),
            "tril" => tril(x, int(0)),
            "triu" => triu(x, int(0)),
            "broadcast_arrays" => return broadcast_arrays(all()),
            "unstack" => return unstack(x, int(0)).unwrap_or_else(|e| panic!("{e}")),
            "sort" => sort(x, self.sorting()),
            "argsort" => argsort(x, self.sorting()),
            "cumulative_sum" | "cumulative_prod" | "cummax" | "cummin" | "diff" | "trapezoid" => self.scanned(xs),
            "matmul" | "vecdot" | "tensordot" | "outer" | "kron" | "trace" | "einsum" => self.contracted(xs),
            _ if self.indexes() => self.indexed(xs),
            _ => self.reduced(x),
        }]
    }

    fn sorting(&self) -> Sorting {
        let axis = self.axes.as_ref().expect("an axis")[0];
        if self.descending { descending(axis) } else { axis.sorting() }
    }

    fn contracted<X: UnaryOperand<Out = X> + BinaryOperand<X, Out = X> + Clone>(&self, xs: &[X]) -> X {
        let operand = |n: usize| xs[n].clone();
        let axes = || self.axes.as_ref().expect("axes");
        match self.function.as_str() {
            "matmul" => matmul(operand(0), operand(1)),
            "vecdot" => vecdot(operand(0), operand(1), axes()[0]),
            "outer" => outer(operand(0), operand(1)),
            "kron" => kron(operand(0), operand(1)),
            "trace" => trace(operand(0), self.n, [axes()[0], axes()[1]]),
            "einsum" => einsum(&self.subscripts, xs.iter().cloned()),
            _ => match &self.pairs {
                Value::Array(both) => {
                    tensordot(operand(0), operand(1), (numbers::<isize>(&both[0]), numbers::<isize>(&both[1])))
                }
                count => tensordot(operand(0), operand(1), numbers::<usize>(count)[0]),
            },
        }
    }

    fn scanned<X: UnaryOperand<Out = X> + BinaryOperand<X, Out = X> + Clone>(&self, xs: &[X]) -> X {
        let (x, other) = (xs[0].clone(), |n: usize| xs[n].clone());
        let axis = self.axes.as_ref().expect("an axis")[0];
        let along = if self.initial { include_initial(axis) } else { axis.along() };
        match (self.function.as_str(), self.asked) {
            ("cumulative_sum", None) => cumulative_sum(x, along),
            ("cumulative_sum", Some(asked)) => dtype(asked).cumulative_sum(x, along),
            ("cumulative_prod", None) => cumulative_prod(x, along),
            ("cumulative_prod", Some(asked)) => dtype(asked).cumulative_prod(x, along),
            ("cummax", None) => cummax(x, axis),
            ("cummin", None) => cummin(x, axis),
            ("diff", None) => match &self.ends.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                [] => diff(x, self.n as usize, axis),
                ["prepend"] => prepend(other(1)).diff(x, self.n as usize, axis),
                ["append"] => append(other(1)).diff(x, self.n as usize, axis),
                ["prepend", "append"] => prepend(other(1)).append(other(2)).diff(x, self.n as usize, axis),
                ["append", "prepend"] => append(other(1)).prepend(other(2)).diff(x, self.n as usize, axis),
                ends => panic!("no ends {ends:?}"),
            },
            ("trapezoid", None) if self.has_positions() => positions(other(1)).trapezoid(x, axis),
            ("trapezoid", None) => trapezoid(x, APART, axis),
            (name, _) => panic!("no function {name} of these arguments"),
        }
    }

    fn reduced<X: UnaryOperand<Out = X>>(&self, x: X) -> X {
        let axes = match &self.axes {
            None => (..).axes(),
            Some(axes) => axes.axes(),
        };
        let axes = if self.keepdims { keepdims(axes) } else { axes };
        if self.function == "vector_norm" {
            return vector_norm(x, self.order, axes);
        }
        match (self.function.as_str(), self.method) {
            ("median", _) => return median(x, axes),
            ("quantile", Interpolation::Linear) => return quantile(x, self.q, axes),
            ("quantile", method) => return method.quantile(x, self.q, axes),
            _ => {}
        }
        macro_rules! table {
            ($($name:ident)*; $($typed:ident)*; $($corrected:ident)*) => {
                match (self.function.as_str(), self.asked, self.correction) {
                    $((stringify!($name), None, None) => $name(x, axes),)*
                    $((stringify!($typed), Some(asked), None) => dtype(asked).$typed(x, axes),)*
                    $((stringify!($corrected), None, Some(by)) => correction(by).$corrected(x, axes),)*
                    (name, ..) => panic!("no function {name} of these arguments"),
                }
            };
        }
        table! {
            sum prod mean var std max min any all argmax argmin count_nonzero ptp logsumexp norm;
            sum prod mean var std argmax argmin count_nonzero logsumexp norm;
            var std
        }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { function, dtypes, shapes, arguments, axes, keepdims, asked, correction, pool, .. } = self;
        let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
        write!(f, "{function} of {names:?}{shapes:?} ({pool})")?;
        match &arguments[..] {
            [] => {
                write!(f, " axes {axes:?} keepdims {keepdims} dtype {asked:?} correction {correction:?}")?;
                write!(f, " order {} initial {} n {}", self.order, self.initial, self.n)?;
                write!(f, " descending {} q {} {:?}", self.descending, self.q, self.method)?;
                write!(f, " subscripts {:?} pairs {}", self.subscripts, self.pairs)
            }
            arguments => write!(f, " {arguments:?}"),
        }?;
        match &self.index[..] {
            [] => Ok(()),
            index => write!(f, " at {index:?} {:?}", self.side),
        }
    }
}

/// The same call inside a traced function, compiled or interpreted.
pub fn traced(case: &Arc<Case>, xs: &[Array], interpreted: bool) -> Result<Vec<Array>> {
    let case = Arc::clone(case);
    macro_rules! called {
        ($($x:ident)*) => {
            jit(move |$($x: Expr),*| case.call(&[$($x),*])).interpreted(interpreted).call(($($x,)*))
        };
    }
    match xs {
        [x] => called!(x),
        [x, y] => called!(x y),
        [x, y, z] => called!(x y z),
        [x, y, z, w] => called!(x y z w),
        [x, y, z, w, v] => called!(x y z w v),
        _ => panic!("{} operands", xs.len()),
    }
}

/// An integer, or a list of them.
pub fn numbers<N: TryFrom<i64>>(given: &Value) -> Vec<N> {
    let number = |value: &Value| value.as_i64().and_then(|n| N::try_from(n).ok()).expect("a number");
    given.as_array().map_or_else(|| vec![number(given)], |list| list.iter().map(number).collect())
}

fn widths(given: &Value) -> Vec<(usize, usize)> {
    let pair = |pair: &Value| (numbers(pair)[0], numbers(pair)[1]);
    given.as_array().expect("widths").iter().map(pair).collect()
}

fn padding(mode: &Value) -> Pad {
    match mode.as_str() {
        // One, in every dtype.
        Some("constant") => true.into(),
        Some("edge") => Pad::Edge,
        Some("reflect") => Pad::Reflect,
        Some("symmetric") => Pad::Symmetric,
        Some("wrap") => Pad::Wrap,
        _ => panic!("padded with {mode}"),
    }
}

fn parts(given: &Value) -> Vec<Slice> {
    let index = |value: &Value| value.as_i64().map(|n| n as isize);
    let part = |part: &Value| match part {
        Value::Array(range) => {
            Slice::Range { start: index(&range[0]), end: index(&range[1]), step: index(&range[2]).expect("a step") }
        }
        Value::String(name) if name == "new" => Slice::NewAxis,
        Value::String(_) => Slice::Ellipsis,
        number => Slice::Index(index(number).expect("an index")),
    };
    given.as_array().expect("parts").iter().map(part).collect()
}
