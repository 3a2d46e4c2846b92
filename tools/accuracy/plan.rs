//! The list of all measurements, generated from the op table and the dtypes: it contains everything that rounds.

use crate::complex_functions::{self, Bound};
use crate::figures::Figures;
use crate::format::{F64, Format};
use crate::functions::{self, How, Reference};
use crate::inputs::Inputs;
use crate::kernel::{Columns, Kernel};
use crate::measure::Operand;
use crate::operands::operands;
use crate::slopes::{self, Slope};
use crate::{casts, measure};
use ndjit::{DType, Op, Result};
use ndjit_ir::op::Accuracy;

const REALS: [DType; 4] = [DType::F16, DType::Bf16, DType::F32, DType::F64];
const COMPLEX: [DType; 2] = [DType::C64, DType::C128];

/// The number of operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The stride over all 32-bit operands.
    stride: u64,
    /// Whether all pairs of halves.
    pairs: bool,
    /// Random operands.
    count: u64,
    /// Random operands with a multi-precision reference for each.
    precise: u64,
    /// Random operands of a slope, and values of a half.
    slopes: u64,
}

/// Some of everything, in minutes.
pub const STRIDED: Scale = Scale { stride: 1009, pairs: false, count: 2_000_000, precise: 10_000, slopes: 8_000 };
/// Less of everything, in two minutes: for CI.
pub const CHECKED: Scale = Scale { stride: 2503, pairs: false, count: 800_000, precise: 4_000, slopes: 3_200 };
/// In hours.
pub const FULL: Scale = Scale { stride: 1, pairs: true, count: 100_000_000, precise: 1_000_000, slopes: 500_000 };

/// A function in one dtype, or the casts from one.
pub struct Measurement {
    pub name: String,
    pub inputs: Inputs,
    /// Operands per call.
    chunk: u64,
    subject: Subject,
}

enum Subject {
    Real(Op, Format, Vec<Operand>, functions::Function),
    Complex(Op, DType, Format, complex_functions::Function),
    Slope(Op, Format, Vec<Operand>, Slope),
    Casts(DType),
}

/// A measurement with its compiled kernels.
pub struct Compiled<'a> {
    measurement: &'a Measurement,
    /// With the result dtypes of casts.
    kernels: Vec<(DType, Kernel)>,
}

/// All measurements.
///
/// # Errors
/// The name of a complex function without a reference.
pub fn plan(scale: Scale) -> std::result::Result<Vec<Measurement>, String> {
    let mut all = Vec::new();
    for op in Op::ALL {
        let domain = op.row().domain;
        for dtype in REALS.into_iter().filter(|&dtype| domain.contains(dtype)) {
            match functions::how(op) {
                How::Measured(function) => all.extend(real(op, dtype, function, scale)),
                How::MeasuredInParts(function) => all.extend(complex(op, dtype, function, scale)),
                How::Exact(_) => {}
            }
            all.extend(slopes_of(op, dtype, scale));
        }
        for dtype in COMPLEX.into_iter().filter(|&dtype| domain.contains(dtype)) {
            match complex_functions::how(op) {
                Some(complex_functions::How::Measured(function)) => all.extend(complex(op, dtype, function, scale)),
                Some(complex_functions::How::NotMeasured(_)) => {}
                None => {
                    return Err(format!("tools/accuracy/complex_functions.rs says nothing about {op} in {dtype}"));
                }
            }
        }
    }
    all.extend(DType::ALL.map(|from| Measurement {
        name: format!("cast {from}"),
        inputs: Inputs::of_casts(from, scale.stride, scale.count),
        chunk: 1 << 16,
        subject: Subject::Casts(from),
    }));
    Ok(all)
}

fn real(op: Op, dtype: DType, function: functions::Function, scale: Scale) -> Option<Measurement> {
    let format = Format::of(dtype)?;
    let operands = columns_of(op, dtype);
    let precise = format == F64 && function.precise.is_some_and(|precise| !precise.refines);
    let count = if precise { scale.precise } else { scale.count };
    let inputs = match function.reference {
        Reference::Unary(_) if format != F64 => {
            Inputs::Every { bits: format.width(), stride: if dtype == DType::F32 { scale.stride } else { 1 } }
        }
        Reference::Unary(_) => Inputs::Random { format, arity: 1, count },
        Reference::Ordered(_) => Inputs::Orders { format, count },
        Reference::Binary(_) if operands.contains(&Operand::Int32) => Inputs::Exponents { format, count },
        Reference::Binary(_) | Reference::BinaryIn(_) if scale.pairs && dtype.is_half() => Inputs::Pairs,
        Reference::Binary(_) | Reference::BinaryIn(_) => Inputs::Random { format, arity: 2, count },
        Reference::TernaryIn(_) => Inputs::Random { format, arity: 3, count },
    };
    let chunk = if precise { 1 << 10 } else { 1 << 16 };
    Some(Measurement {
        name: format!("{op} {dtype}"),
        inputs,
        chunk,
        subject: Subject::Real(op, format, operands, function),
    })
}

/// The columns of an op's operands.
fn columns_of(op: Op, dtype: DType) -> Vec<Operand> {
    operands(op, dtype).into_iter().map(|dtype| Format::of(dtype).map_or(Operand::Int32, Operand::Float)).collect()
}

/// Few if the reference takes milliseconds. For halves only first slopes: second slopes differ only in the last rounding of `f32`.
fn slopes_of(op: Op, dtype: DType, scale: Scale) -> Vec<Measurement> {
    let (slopes::How::Measured(all), Some(format)) = (slopes::how(op), Format::of(dtype)) else { return Vec::new() };
    let costly = matches!(op, Op::Lgamma | Op::Tgamma | Op::Digamma | Op::Polygamma);
    let (operands, count) = (columns_of(op, dtype), if costly { scale.slopes / 32 } else { scale.slopes });
    let inputs = match op.arity() {
        1 if dtype.is_half() => Inputs::Every { bits: 16, stride: ((1 << 16) / count) | 1 },
        2 if op == Op::Polygamma => Inputs::Orders { format, count },
        2 if operands.contains(&Operand::Int32) => Inputs::Exponents { format, count },
        arity => Inputs::Random { format, arity, count },
    };
    let all = all.into_iter().filter(|slope| !(slope.twice && dtype.is_half()));
    let one = |slope: Slope| Measurement {
        name: format!("{op}{} {dtype}", slope.suffix(op)),
        inputs,
        chunk: 1 << 8,
        subject: Subject::Slope(op, format, operands.clone(), slope),
    };
    all.map(one).collect()
}

fn complex(op: Op, dtype: DType, function: complex_functions::Function, scale: Scale) -> Option<Measurement> {
    let format = Format::of(dtype)?;
    // Two real operands are drawn as one complex value.
    let real = REALS.contains(&dtype);
    let inputs = Inputs::Complex { format, arity: if real { 1 } else { op.arity() }, count: scale.precise };
    let subject = Subject::Complex(op, dtype, format, function);
    Some(Measurement { name: format!("{op} {dtype}"), inputs, chunk: 1 << 8, subject })
}

impl Measurement {
    pub fn chunks(&self) -> u64 {
        self.inputs.len().div_ceil(self.chunk)
    }

    /// # Errors
    /// Those of the compiler.
    pub fn compile(&self) -> Result<Compiled<'_>> {
        let length = self.chunk as usize;
        let kernels = match self.subject {
            Subject::Real(op, Format { dtype, .. }, ..) | Subject::Complex(op, dtype, ..) => {
                vec![(dtype, Kernel::op(op, dtype, length)?)]
            }
            Subject::Slope(op, Format { dtype, .. }, _, Slope { by, twice, .. }) => {
                vec![(dtype, Kernel::slope(op, dtype, by, twice, length)?)]
            }
            Subject::Casts(from) => {
                let others = DType::ALL.into_iter().filter(|&to| to != from);
                others.map(|to| Ok((to, Kernel::cast(from, to, length)?))).collect::<Result<_>>()?
            }
        };
        Ok(Compiled { measurement: self, kernels })
    }

    /// The exceeded bounds of the function.
    pub fn exceeded(&self, figures: &Figures) -> Option<String> {
        let Figures { part, modulus, not_nearest, wrong, .. } = figures;
        let beyond = |worst: &crate::figures::Worst, bound: f64| {
            (worst.error > bound).then(|| format!("{:.3} ULP at {}, more than {bound}", worst.error, worst.at))
        };
        if let (1.., Some(at)) = (*wrong, &figures.wrong_at) {
            return Some(format!("{wrong} wrong, one at {at}"));
        }
        match &self.subject {
            Subject::Casts(_) => None,
            Subject::Real(op, format, _, function) => match op.row().accuracy {
                Accuracy::Exact => (*not_nearest > 0).then(|| format!("{not_nearest} not nearest, one at {}", part.at)),
                // An error known to half a unit may exceed the bound by that much.
                Accuracy::Ulp(n) if *format == F64 && function.precise.is_none() => beyond(part, f64::from(n) + 0.5),
                Accuracy::Ulp(n) => beyond(part, n.into()),
            },
            Subject::Complex(.., function) => match function.bound {
                Bound::Part(bound) => beyond(part, bound),
                Bound::Modulus(bound) => beyond(modulus, bound),
            },
            Subject::Slope(.., slope) => match slope.bound {
                slopes::Bound::Slope(bound) => beyond(part, bound),
                slopes::Bound::OrOne(bound) => beyond(modulus, bound),
            },
        }
    }
}

impl Compiled<'_> {
    /// Measures the `index`th chunk.
    ///
    /// # Errors
    /// Those of the kernels.
    pub fn chunk(&self, index: u64) -> Result<Figures> {
        let Measurement { inputs, chunk, subject, .. } = self.measurement;
        let columns: Columns = inputs.columns(index * chunk, (index + 1) * chunk);
        let mut figures = Figures::default();
        for (dtype, kernel) in &self.kernels {
            figures.add(&match subject {
                Subject::Real(_, format, operands, function) => {
                    measure::real(kernel, function, *format, operands, &columns)?
                }
                Subject::Complex(.., format, function) => measure::complex(kernel, function, *format, &columns)?,
                Subject::Slope(_, format, operands, slope) => {
                    measure::slopes(kernel, slope, *format, operands, &columns)?
                }
                Subject::Casts(from) => casts::compare(kernel, *from, *dtype, &columns)?,
            });
        }
        Ok(figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_is_measured_or_known_to_be_exact() {
        let names: Vec<String> = plan(STRIDED).unwrap().into_iter().map(|measurement| measurement.name).collect();
        for name in [
            "exp f16",
            "pow f64",
            "sqrt c128",
            "mul_add f32",
            "cast bool",
            "cast c128",
            "tanh/x bf16",
            "tanh/x/x f32",
            "pow/y f64",
        ] {
            assert!(names.contains(&name.to_owned()), "{name}");
        }
        let unique: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        // An op with an error bound is not exact.
        for op in Op::ALL {
            let exact = matches!(functions::how(op), How::Exact(_));
            assert!(!exact || op.row().accuracy == Accuracy::Exact, "{op} is not measured");
        }
    }
}
