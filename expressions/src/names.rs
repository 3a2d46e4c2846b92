//! Names in expressions: functions with their parameters, from the tables of ops and reductions and from a list of
//! others; and constants.

use crate::error::Problem;
use crate::node::ExprNumber;
use crate::numpy;
use ndjit::{DType, Op, Reduction, Scan, Sort, nearest};

/// A function that an expression can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExprFunction {
    /// An elementwise op.
    Op(Op),
    /// A reduction.
    Reduction(Reduction),
    /// A scan.
    Scan(Scan),
    /// A sort.
    Sort(Sort),
    /// A function that creates, moves or casts.
    Other(Other),
}

macro_rules! others {
    ($($variant:ident $name:ident($($parameter:ident)*) $required:literal;)*) => {
        /// A function outside the tables.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Other { $($variant,)* }

        /// Name, parameters, and number of required parameters of each function.
        const OTHERS: &[(Other, &str, &[&str], usize)] =
            &[$((Other::$variant, stringify!($name), &[$(stringify!($parameter)),*], $required)),*];
    };
}

others! {
    Arange arange(start stop step dtype) 1;
    Astype astype(x dtype) 2;
    BroadcastTo broadcast_to(x shape) 2;
    Concat concat(arrays axis) 1;
    Diagonal diagonal(x offset axis1 axis2) 1;
    Diff diff(x n axis) 1;
    ExpandDims expand_dims(x axis) 2;
    Eye eye(n_rows n_cols k dtype) 1;
    Flip flip(x axis) 1;
    Full full(shape fill_value dtype) 2;
    FullLike full_like(x fill_value dtype) 2;
    Grad grad(x by) 2;
    Linspace linspace(start stop num dtype endpoint) 2;
    LogSoftmax log_softmax(x axis) 1;
    Logspace logspace(start stop num dtype endpoint) 2;
    MatrixTranspose matrix_transpose(x) 1;
    Median median(x axis keepdims) 1;
    Moveaxis moveaxis(x source destination) 3;
    Ones ones(shape dtype) 1;
    OnesLike ones_like(x dtype) 1;
    Pad pad(x pad_width mode constant_values) 2;
    PermuteDims permute_dims(x axes) 1;
    Quantile quantile(x q axis keepdims) 2;
    Repeat repeat(x repeats axis) 2;
    Reshape reshape(x shape) 2;
    Roll roll(x shift axis) 2;
    SlidingWindow sliding_window(x window_shape axis) 2;
    Softmax softmax(x axis) 1;
    Squeeze squeeze(x axis) 1;
    Stack stack(arrays axis) 1;
    Swapaxes swapaxes(x axis1 axis2) 3;
    Tile tile(x repetitions) 2;
    Trapezoid trapezoid(y x dx axis) 1;
    Tril tril(x k) 1;
    Triu triu(x k) 1;
    Zeros zeros(shape dtype) 1;
    ZerosLike zeros_like(x dtype) 1;
}

/// Names of NumPy, SciPy and PyTorch that differ from those here.
const ALIASES: &[(&str, &str)] = &[
    ("absolute", "abs"),
    ("amax", "max"),
    ("amin", "min"),
    ("arccos", "acos"),
    ("arccosh", "acosh"),
    ("arcsin", "asin"),
    ("arcsinh", "asinh"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("arctanh", "atanh"),
    ("around", "round"),
    ("bitwise_not", "bitwise_invert"),
    ("bitwise_count", "popcount"),
    ("cat", "concat"),
    ("concatenate", "concat"),
    ("conjugate", "conj"),
    ("copy", "positive"),
    ("cumprod", "cumulative_prod"),
    ("cumsum", "cumulative_sum"),
    ("deg2rad", "radians"),
    ("expit", "sigmoid"),
    ("fabs", "abs"),
    ("fix", "trunc"),
    ("gamma", "tgamma"),
    ("gammaln", "lgamma"),
    ("identity", "eye"),
    ("invert", "bitwise_invert"),
    ("left_shift", "bitwise_left_shift"),
    ("mod", "remainder"),
    ("permute", "permute_dims"),
    ("power", "pow"),
    ("psi", "digamma"),
    ("rad2deg", "degrees"),
    ("right_shift", "bitwise_right_shift"),
    ("sliding_window_view", "sliding_window"),
    ("transpose", "permute_dims"),
    ("trapz", "trapezoid"),
    ("true_divide", "divide"),
    ("unsqueeze", "expand_dims"),
];

/// Attributes of arrays.
pub(crate) const ATTRIBUTES: [&str; 7] = ["T", "mT", "ndim", "shape", "size", "real", "imag"];

/// Named constants.
pub(crate) fn constant(name: &str) -> Option<ExprNumber> {
    Some(ExprNumber::Float(match name {
        "pi" => std::f64::consts::PI,
        "e" => std::f64::consts::E,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => return None,
    }))
}

/// All function names, sorted, with their functions.
///
/// ```
/// use ndjit_expressions::{ExprFunction, functions};
///
/// assert!(functions().contains(&("sin", ExprFunction::Op(ndjit::Op::Sin))));
/// ```
pub fn functions() -> Vec<(&'static str, ExprFunction)> {
    let mut all: Vec<(&'static str, ExprFunction)> =
        Op::ALL.iter().map(|&op| (op.name(), ExprFunction::Op(op))).collect();
    all.extend(Reduction::ALL.map(|reduction| (reduction.name(), ExprFunction::Reduction(reduction))));
    all.extend(Scan::ALL.map(|scan| (scan.name(), ExprFunction::Scan(scan))));
    all.extend(Sort::ALL.map(|sort| (sort.name(), ExprFunction::Sort(sort))));
    all.extend(OTHERS.iter().map(|&(other, name, ..)| (name, ExprFunction::Other(other))));
    for (alias, name) in ALIASES {
        if let Some(&(_, function)) = all.iter().find(|(known, _)| known == name) {
            all.push((alias, function));
        }
    }
    all.sort_by_key(|(name, _)| *name);
    all
}

/// The function of this name, called at a column.
pub(crate) fn function(name: &str, column: u32) -> Result<ExprFunction, Problem> {
    let all = functions();
    if let Some((_, function)) = all.iter().find(|(known, _)| *known == name) {
        return Ok(*function);
    }
    let problem = Problem::new(column, format!("there is no function `{name}`"));
    if let Some(help) = numpy::instead(name) {
        return Err(problem.help(help));
    }
    if let Ok(dtype) = name.parse::<DType>() {
        return Err(problem.help(format!("`astype(x, {dtype})` converts to a dtype")));
    }
    Err(match nearest(name, all.iter().map(|(known, _)| *known)) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("there are {} functions, with NumPy's names{}", all.len(), alike(name, &all))),
    })
}

/// Functions with similar names, or else some common ones.
fn alike(name: &str, all: &[(&'static str, ExprFunction)]) -> String {
    const SHOWN: usize = 6;
    let start: String = name.chars().take(2).collect();
    let mut alike: Vec<&str> = all.iter().map(|(known, _)| *known).filter(|known| known.starts_with(&start)).collect();
    alike.truncate(SHOWN);
    if alike.is_empty() {
        return ", such as `sin`, `where`, `sum`".to_owned();
    }
    format!("; those that begin with `{start}`: {}", alike.join(", "))
}

impl ExprFunction {
    /// The names of the parameters, in order, and the number of required ones.
    pub fn parameters(self) -> (Vec<&'static str>, usize) {
        match self {
            ExprFunction::Op(op) => (op.row().operands.to_vec(), op.arity() - defaults(op).len()),
            ExprFunction::Scan(scan) if scan.takes_dtype() => (vec!["x", "axis", "dtype", "include_initial"], 1),
            ExprFunction::Sort(sort) if sort.takes_dtype() => (vec!["x", "axis", "dtype"], 1),
            ExprFunction::Scan(_) | ExprFunction::Sort(_) => (vec!["x", "axis"], 1),
            ExprFunction::Reduction(reduction) => {
                let mut parameters = vec!["x", "axis"];
                if reduction.takes_dtype() {
                    parameters.push("dtype");
                }
                parameters.push("keepdims");
                parameters.extend(&reduction.row().operands[1..]);
                (parameters, 1)
            }
            ExprFunction::Other(other) => {
                let row = OTHERS.iter().find(|(known, ..)| *known == other);
                row.map_or((Vec::new(), 0), |(_, _, parameters, required)| (parameters.to_vec(), *required))
            }
        }
    }

    /// Checks whether the brackets of a last list argument may be omitted: `x.reshape(2, -1)`.
    pub(crate) fn takes_list(self) -> bool {
        matches!(self, ExprFunction::Other(Other::Reshape | Other::PermuteDims | Other::BroadcastTo))
    }
}

/// The defaults of an op's last operands, as in NumPy.
pub(crate) fn defaults(op: Op) -> &'static [ExprNumber] {
    match op {
        Op::IsClose => &[ExprNumber::Float(1e-5), ExprNumber::Float(1e-8)],
        _ => &[],
    }
}

/// The parameter of a keyword argument; NumPy and PyTorch have other names for some.
pub(crate) fn parameter(name: &str) -> &str {
    match name {
        "ddof" => "correction",
        "a" => "x",
        "dim" => "axis",
        "keepdim" => "keepdims",
        _ => name,
    }
}
