//! What names mean: functions, with their parameters, from the tables of ops and reductions and from a list of the others; and
//! constants.

use super::error::{Problem, nearest};
use super::node::Number;
use ndjit::{Op, Reduction};

/// A function that an expression can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// An elementwise op.
    Op(Op),
    /// A reduction or a scan.
    Reduction(Reduction),
    /// One that makes, moves or converts.
    Other(Other),
}

macro_rules! others {
    ($($variant:ident $name:ident($($parameter:ident)*) $required:literal;)*) => {
        /// A function that is in no table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Other { $($variant,)* }

        /// Each with its name, its parameters, and how many of them must be given.
        const OTHERS: &[(Other, &str, &[&str], usize)] =
            &[$((Other::$variant, stringify!($name), &[$(stringify!($parameter)),*], $required)),*];
    };
}

others! {
    Arange arange(start stop step dtype) 1;
    Astype astype(x dtype) 2;
    BroadcastTo broadcast_to(x shape) 2;
    Concat concat(arrays axis) 1;
    ExpandDims expand_dims(x axis) 2;
    Eye eye(n_rows n_cols k dtype) 1;
    Flip flip(x axis) 1;
    Full full(shape fill_value dtype) 2;
    Linspace linspace(start stop num dtype endpoint) 2;
    MatrixTranspose matrix_transpose(x) 1;
    Moveaxis moveaxis(x source destination) 3;
    Ones ones(shape dtype) 1;
    PermuteDims permute_dims(x axes) 1;
    Repeat repeat(x repeats axis) 2;
    Reshape reshape(x shape) 2;
    Roll roll(x shift axis) 2;
    Squeeze squeeze(x axis) 2;
    Stack stack(arrays axis) 1;
    Swapaxes swapaxes(x axis1 axis2) 3;
    Tile tile(x repetitions) 2;
    Tril tril(x k) 1;
    Triu triu(x k) 1;
    Zeros zeros(shape dtype) 1;
}

/// NumPy's names of what is called otherwise here.
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
    ("bitwise_not", "bitwise_invert"),
    ("bitwise_count", "popcount"),
    ("concatenate", "concat"),
    ("conjugate", "conj"),
    ("cumprod", "cumulative_prod"),
    ("cumsum", "cumulative_sum"),
    ("deg2rad", "radians"),
    ("fabs", "abs"),
    ("invert", "bitwise_invert"),
    ("left_shift", "bitwise_left_shift"),
    ("mod", "remainder"),
    ("power", "pow"),
    ("rad2deg", "degrees"),
    ("right_shift", "bitwise_right_shift"),
    ("transpose", "permute_dims"),
    ("true_divide", "divide"),
];

/// Attributes of arrays.
pub(super) const ATTRIBUTES: [&str; 7] = ["T", "mT", "ndim", "shape", "size", "real", "imag"];

/// Numbers with names.
pub(super) fn constant(name: &str) -> Option<Number> {
    Some(Number::Float(match name {
        "pi" => std::f64::consts::PI,
        "e" => std::f64::consts::E,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => return None,
    }))
}

/// All names of functions with what they mean, sorted.
///
/// ```
/// use ndjit_cli::expression::{Function, functions};
///
/// assert!(functions().contains(&("sin", Function::Op(ndjit::Op::Sin))));
/// ```
pub fn functions() -> Vec<(&'static str, Function)> {
    let mut all: Vec<(&'static str, Function)> = Op::ALL.iter().map(|&op| (op.name(), Function::Op(op))).collect();
    all.extend(Reduction::ALL.iter().map(|&reduction| (reduction.name(), Function::Reduction(reduction))));
    all.extend(OTHERS.iter().map(|&(other, name, ..)| (name, Function::Other(other))));
    for (alias, name) in ALIASES {
        if let Some(&(_, function)) = all.iter().find(|(known, _)| known == name) {
            all.push((alias, function));
        }
    }
    all.sort_by_key(|(name, _)| *name);
    all
}

/// The function of a name that is called at a column.
pub(super) fn function(name: &str, column: u32) -> Result<Function, Problem> {
    let all = functions();
    if let Some((_, function)) = all.iter().find(|(known, _)| *known == name) {
        return Ok(*function);
    }
    let problem = Problem::new(column, format!("there is no function `{name}`"));
    Err(match name {
        "matmul" | "dot" | "einsum" | "tensordot" => problem.help("there are no matrix products yet"),
        "sort" | "argsort" | "unique" | "median" | "take" | "random" => problem.help("that is not in ndjit yet"),
        _ => match nearest(name, all.iter().map(|(known, _)| *known)) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("functions have the names of the Array API and NumPy: docs/functions.md lists them"),
        },
    })
}

impl Function {
    /// The names of the parameters, in order, and how many must be given.
    pub fn parameters(self) -> (Vec<&'static str>, usize) {
        match self {
            Function::Op(op) => (op.row().operands.to_vec(), op.arity()),
            Function::Reduction(reduction) if reduction.scans() => {
                let mut parameters = vec!["x", "axis"];
                if reduction.takes_dtype() {
                    parameters.extend(["dtype", "include_initial"]);
                }
                (parameters, 1)
            }
            Function::Reduction(reduction) => {
                let mut parameters = vec!["x", "axis"];
                if reduction.takes_dtype() {
                    parameters.push("dtype");
                }
                parameters.push("keepdims");
                parameters.extend(&reduction.row().operands[1..]);
                (parameters, 1)
            }
            Function::Other(other) => {
                let row = OTHERS.iter().find(|(known, ..)| *known == other);
                row.map_or((Vec::new(), 0), |(_, _, parameters, required)| (parameters.to_vec(), *required))
            }
        }
    }

    /// Whether a list as the last argument may be written without its brackets: `x.reshape(2, -1)`.
    pub(super) fn takes_list(self) -> bool {
        matches!(self, Function::Other(Other::Reshape | Other::PermuteDims | Other::BroadcastTo))
    }
}

/// The parameter that a name given with an argument means; NumPy and PyTorch have others for some.
pub(super) fn parameter(name: &str) -> &str {
    match name {
        "ddof" => "correction",
        "a" => "x",
        "dim" => "axis",
        "keepdim" => "keepdims",
        _ => name,
    }
}
