//! The golden table of each policy, and the deliberate differences.

use crate::golden;
use crate::report::Report;
use ndjit_ir::op::TypeRule;
use ndjit_ir::{DType, Kind, Policy, ValueType, Weak};
use serde_json::Value;
use std::collections::BTreeSet;

/// A table and its policy: file, key of the table in it, policy.
pub const TABLES: &[(&str, &str, Policy)] = &[
    ("array_api", "table", Policy::ArrayApi),
    ("array_api", "operator_add_table", Policy::ArrayApi),
    ("array_api", "add_function_table", Policy::ArrayApi),
    ("ivy_imprecise", "table", Policy::IvyImprecise),
    ("ivy_precise", "table", Policy::IvyPrecise),
    ("jax_2019_seed003", "table", Policy::Jax2019),
    ("jax_lax", "table", Policy::Lax),
    ("jax_seed001", "table", Policy::Standard),
    ("jax_seed002", "table", Policy::Standard),
    ("jax_standard", "table", Policy::Standard),
    ("jax_strict", "table", Policy::Strict),
    ("jax_x64off", "table", Policy::Jax32),
    ("jax_x64off_explicit", "table", Policy::Jax32Explicit),
    ("numexpr", "table", Policy::NumExpr),
    ("numpy1", "table", Policy::NumPy1),
    ("numpy1", "promote_types_table", Policy::NumPy1),
    ("numpy1_seed002", "table", Policy::NumPy1),
    ("numpy2", "table", Policy::NumPy2),
    ("numpy2", "promote_types_table", Policy::NumPy2),
    ("numpy2_ml_dtypes", "table", Policy::NumPy2MlDtypes),
    ("numpy2_ml_dtypes", "promote_types_table", Policy::NumPy2MlDtypes),
    ("tensorflow", "table", Policy::TensorFlow),
    ("tensorflow", "operator_table", Policy::TensorFlow),
    ("tensorflow_np_all", "table", Policy::TensorFlowNumpyAll),
    ("tensorflow_np_legacy", "table", Policy::TensorFlowNumpyLegacy),
    ("tensorflow_np_safe", "table", Policy::TensorFlowNumpySafe),
    ("tensorflow_seed002", "table", Policy::TensorFlow),
    ("torch", "table", Policy::Torch),
    ("torch", "result_type_table", Policy::Torch),
    ("torch", "promote_types_table_concrete", Policy::Torch),
    ("torch", "zero_dim_table", Policy::Torch),
    ("torch_seed002", "table", Policy::Torch),
];

/// Golden files that are neither compared here nor lattices over other nodes, which have tests of their own.
pub fn files_without_policy() -> impl Iterator<Item = String> {
    let folder = format!("{}/promotion", golden::folder());
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder}: {e}"));
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()));
    let is_lattice = |name: &str| name.starts_with("jep_") || name.ends_with("_lattice");
    let left = names.filter(move |name| !is_lattice(name) && !TABLES.iter().any(|(file, ..)| file == name));
    left.map(|name| format!("{name}.json: no policy is compared with it"))
}

/// One cell: the operands, the library's entry, and the policy's.
pub struct Cell<'a> {
    pub a: ValueType,
    pub b: ValueType,
    pub theirs: Option<&'a str>,
    pub ours: Option<ValueType>,
}

impl Cell<'_> {
    fn any(&self, test: impl Fn(ValueType) -> bool) -> bool {
        test(self.a) || test(self.b)
    }

    fn has(&self, dtypes: &[DType]) -> bool {
        self.any(|ty| dtypes.iter().any(|&dtype| ty == dtype.into()))
    }

    fn refused(&self) -> bool {
        self.theirs.is_none() && self.ours.is_some()
    }

    fn weak(&self) -> bool {
        self.any(ValueType::is_weak)
    }
}

/// Cells with deliberate differences.
pub struct Difference {
    /// Tables `file/key`.
    pub tables: &'static [&'static str],
    /// The cells; all of them must differ.
    pub cells: fn(&Cell) -> bool,
    pub reason: &'static str,
}

const WIDE_UNSIGNED: &[DType] = &[DType::U16, DType::U32, DType::U64];

/// All deliberate differences. Each is needed by a cell of every table it names.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        tables: &[
            "tensorflow/table",
            "tensorflow/operator_table",
            "tensorflow_seed002/table",
            "tensorflow_np_all/table",
            "tensorflow_np_safe/table",
            "tensorflow_np_legacy/table",
            "jax_lax/table",
            "array_api/operator_add_table",
            "array_api/add_function_table",
        ],
        cells: |c| c.refused() && c.a == DType::Bool.into() && c.b == DType::Bool.into(),
        reason: "two bools meet in bool; it is addition that takes none there",
    },
    Difference {
        tables: &["tensorflow_np_all/table"],
        cells: |c| c.theirs == Some("f*:f64") && c.ours == Some(Weak::Float.into()),
        reason: "TensorFlow's weak types carry a width (weak f64); ours have none until they take the default dtype",
    },
    Difference {
        tables: &["torch/table", "torch/result_type_table", "torch/zero_dim_table"],
        cells: |c| {
            c.ours == Some(DType::C64.into())
                && (c.theirs.is_none() || c.theirs.is_some_and(|ty| ty.ends_with("c32")))
                && c.has(&[DType::F16, DType::Bf16])
                && c.any(|ty| ty == Weak::Complex.into())
        },
        reason: "no complex32 here: f16 and bf16 with a complex number make c64, the narrowest complex dtype",
    },
    Difference {
        tables: &["torch/table"],
        cells: |c| c.refused() && c.has(WIDE_UNSIGNED) && (c.a == c.b || c.any(|ty| ty == Weak::Int.into())),
        reason: "PyTorch's addition lacks the kernel for u16, u32, u64; its `result_type` defines the dtype",
    },
    Difference {
        tables: &["torch_seed002/table"],
        cells: |c| c.refused() && c.has(WIDE_UNSIGNED),
        reason: "PyTorch of 2021 had no u16, u32, u64",
    },
    Difference {
        tables: &["torch_seed002/table"],
        cells: |c| c.weak() && c.a == c.b && matches!(c.theirs, Some("f64" | "c128")),
        reason: "the table of 2021 added Python's own floats and complex numbers, which are doubles; tensors of them are not",
    },
    Difference {
        tables: &["torch/zero_dim_table"],
        cells: |c| match (c.a, c.b) {
            (ValueType::Strong(a), ValueType::Strong(b)) => {
                category(b) <= category(a) || a.is_float() || c.ours.is_none()
            }
            _ => false,
        },
        reason: "a zero-dimensional tensor widens other operands only across categories; here no rank decides a dtype",
    },
    Difference {
        tables: &["tensorflow/operator_table"],
        cells: |c| c.a.is_weak(),
        reason: "`1 + x` asks x first, as Python's operators do; the policy types the functions, whose first operand decides",
    },
    Difference {
        tables: &["numpy1/promote_types_table", "numpy2/promote_types_table", "numpy2_ml_dtypes/promote_types_table"],
        cells: |c| c.weak() && c.theirs.is_some_and(|ty| matches!(ty, "i64" | "f64" | "c128")),
        reason: "`np.promote_types` takes dtypes, so a Python scalar counts as its default dtype there",
    },
    Difference {
        tables: &["numpy2_ml_dtypes/promote_types_table"],
        cells: |c| c.refused() && c.has(&[DType::Bf16]),
        reason: "`np.promote_types` knows no common dtype for these; `np.add` finds a loop that takes both",
    },
];

/// PyTorch's categories.
fn category(dtype: DType) -> u8 {
    match dtype.kind() {
        Kind::Bool => 0,
        Kind::UInt | Kind::Int => 1,
        Kind::Float => 2,
        Kind::Complex => 3,
    }
}

/// A cell as TensorFlow prints it: `f*:f32` is a weak type with the default width of its kind.
fn is_same(theirs: Option<&str>, ours: Option<ValueType>, policy: Policy) -> bool {
    match (theirs.map(|cell| cell.split_once(':').unwrap_or((cell, ""))), ours) {
        (None, None) => true,
        (Some((theirs, width)), Some(ours)) => {
            theirs == ours.name() && (width.is_empty() || width == policy.commit(ours).name())
        }
        _ => false,
    }
}

/// Compares one table; types without rows are skipped.
pub fn compare(file: &str, key: &str, policy: Policy) -> Report {
    let golden = golden::read(&format!("promotion/{file}.json"));
    let name = format!("{file}/{key}");
    let table: &[Value] = golden[key].as_array().unwrap_or_else(|| panic!("{name}: no such table"));
    let listed: Vec<&Difference> = DIFFERENCES.iter().filter(|d| d.tables.contains(&name.as_str())).collect();
    let mut report = Report::new(if key == "table" { file.to_owned() } else { name }, policy);
    for ([i, j], [a, b]) in golden::pairs() {
        let Some(cell) = table.get(i).and_then(|row| row.get(j)) else { continue };
        let ours = policy.resolve(TypeRule::Join, &[a, b]).ok().map(|resolution| resolution.compute);
        let cell = Cell { a, b, theirs: cell.as_str(), ours };
        let reasons: BTreeSet<&'static str> = listed.iter().filter(|d| (d.cells)(&cell)).map(|d| d.reason).collect();
        let same = is_same(cell.theirs, ours, policy);
        let ours = ours.map_or("-", ValueType::name);
        report.cell(same, reasons.into_iter().next(), || format!("{a} with {b}: {ours}, {file} has {:?}", cell.theirs));
    }
    report.needs_all(listed.iter().map(|difference| difference.reason));
    report
}
