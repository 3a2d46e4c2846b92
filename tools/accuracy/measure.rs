//! Comparison of a kernel's results with exact ones.

use crate::complex_functions;
use crate::exact::Exact;
use crate::figures::Figures;
use crate::format::{F64, Format, power_of_two};
use crate::functions::{Function, Precise, Reference};
use crate::kernel::{Columns, Kernel};
use crate::multi::{Complex, Real};
use crate::slopes::{self, Slope};
use ndjit::Result;

/// The content of an operand's column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    Float(Format),
    Int32,
}

impl Operand {
    fn decode(self, bits: u64) -> f64 {
        match self {
            Operand::Float(format) => format.decode(bits),
            Operand::Int32 => (bits as u32).cast_signed().into(),
        }
    }
}

/// Compares the results for some operands with a real function.
///
/// # Errors
/// Those of the kernel.
pub fn real(
    kernel: &Kernel,
    function: &Function,
    format: Format,
    operands: &[Operand],
    columns: &Columns,
) -> Result<Figures> {
    let results = kernel.run(columns)?;
    let got = results[0].iter().map(|&bits| format.decode(bits));
    let value = |column: usize, i: usize| operands[column].decode(columns[column][i]);
    let mut found = Comparison { function, format, figures: Figures::default() };
    match function.reference {
        Reference::Unary(f) => got.enumerate().for_each(|(i, got)| {
            let x = value(0, i);
            found.add(&[x], got, f(x));
        }),
        Reference::Binary(f) | Reference::Ordered(f) => got.enumerate().for_each(|(i, got)| {
            let (x, y) = (value(0, i), value(1, i));
            found.add(&[x, y], got, f(x, y));
        }),
        Reference::BinaryIn(f) => got.enumerate().for_each(|(i, got)| {
            let (x, y) = (value(0, i), value(1, i));
            found.add(&[x, y], got, f(format, x, y));
        }),
        Reference::TernaryIn(f) => got.enumerate().for_each(|(i, got)| {
            let (x, y, z) = (value(0, i), value(1, i), value(2, i));
            found.add(&[x, y, z], got, f(format, x, y, z));
        }),
    }
    Ok(found.figures)
}

/// A comparison in progress.
struct Comparison<'a> {
    function: &'a Function,
    format: Format,
    figures: Figures,
}

impl Comparison<'_> {
    fn add(&mut self, operands: &[f64], got: f64, exact: f64) {
        let (format, unit) = (self.format, (self.function.unit)(operands, exact));
        if let Some(precise) = self.precise(operands, got, exact) {
            self.figures.real(got, &precise, format, unit, || text(operands));
        } else {
            self.figures.real(got, &exact, format, unit, || text(operands));
        }
    }

    /// The result in multi-precision, if needed and finite.
    fn precise(&self, operands: &[f64], got: f64, exact: f64) -> Option<Real> {
        let Precise { function, refines } = self.function.precise?;
        let finite = exact.is_finite() && exact != 0.0 && operands.iter().all(|x| x.is_finite());
        if self.format != F64 || !finite || refines && got == exact {
            return None;
        }
        let operands: Vec<Real> = operands.iter().map(|&x| Real::from(x)).collect();
        Some(function(&operands))
    }
}

/// Compares the results for some operands with a complex function.
///
/// # Errors
/// Those of the kernel.
pub fn complex(
    kernel: &Kernel,
    function: &complex_functions::Function,
    format: Format,
    columns: &Columns,
) -> Result<Figures> {
    use complex_functions::{Bound, Reference};
    let results = kernel.run(columns)?;
    let mut figures = Figures::default();
    for i in 0..results[0].len() {
        let operands: Vec<f64> = columns.iter().map(|column| format.decode(column[i])).collect();
        let got: Vec<f64> = results.iter().map(|column| format.decode(column[i])).collect();
        let number = |k: usize| -> Complex { [operands[2 * k].into(), operands[2 * k + 1].into()] };
        let exact = match function.reference {
            Reference::Real(f) => {
                let exact = f(&number(0));
                figures.real(got[0], &exact, format, Real::nearest(&exact, format), || text(&operands));
                continue;
            }
            Reference::Unary(f) => f(&number(0)),
            Reference::Binary(f) => f(&number(0), &number(1)),
            Reference::Parts(f) => f(&operands[0].into(), &operands[1].into()),
        };
        let nearest = [exact[0].nearest(format), exact[1].nearest(format)];
        let known = !nearest[0].is_nan() && !nearest[1].is_nan();
        let near_overflow = nearest[0].abs().max(nearest[1].abs()) >= format.max() / 2.0;
        if known && !(function.plain && near_overflow) {
            // A zero from two operands has the sign of their formula.
            let signs = matches!(function.bound, Bound::Part(_)) && !matches!(function.reference, Reference::Binary(_));
            figures.complex([got[0], got[1]], &exact, format, signs, || text(&operands));
        }
    }
    Ok(figures)
}

/// Compares slopes for some operands with exact ones.
///
/// # Errors
/// Those of the kernel.
pub fn slopes(
    kernel: &Kernel,
    slope: &Slope,
    format: Format,
    operands: &[Operand],
    columns: &Columns,
) -> Result<Figures> {
    let results = kernel.run(columns)?;
    let mut figures = Figures::default();
    for (i, &bits) in results[0].iter().enumerate() {
        let got = format.decode(bits);
        let at: Vec<f64> = operands.iter().zip(columns).map(|(operand, column)| operand.decode(column[i])).collect();
        let through = format.nearest((slope.through)(&at)).abs();
        let normal = (power_of_two(format.least)..f64::INFINITY).contains(&through);
        if at.iter().any(|x| x.is_nan()) || !normal && at.iter().all(|x| x.is_finite() && *x != 0.0) {
            continue;
        }
        match slope.exact {
            slopes::Reference::Number(f) => add_slope(&mut figures, slope, format, &at, got, &f(&at)),
            slopes::Reference::Formula(f, known) => match known(&at) {
                Some(exact) => add_slope(&mut figures, slope, format, &at, got, &exact),
                None => {
                    let at_reals: Vec<Real> = at.iter().map(|&x| Real::from(x)).collect();
                    add_slope(&mut figures, slope, format, &at, got, &f(&at_reals));
                }
            },
        }
    }
    Ok(figures)
}

/// Counts a slope, if one exists. Below the smallest normal value it need only be small, and near the largest one it may
/// overflow.
fn add_slope(figures: &mut Figures, slope: &Slope, format: Format, at: &[f64], got: f64, exact: &impl Exact) {
    let (nearest, least) = (exact.nearest(format), power_of_two(format.least));
    let overflows = |x: f64| x.abs() >= format.max() * (1.0 - power_of_two(4 - format.digits));
    match nearest.abs() {
        m if m.is_nan() => {}
        m if m < least => figures.count(got.abs() <= 2.0 * least, || text(at)),
        m if overflows(m) && overflows(got) => figures.count(got * nearest > 0.0, || text(at)),
        _ => figures.slope(got, exact, format, slope.bound.cancels(), || text(at)),
    }
}

fn text(operands: &[f64]) -> String {
    let words: Vec<String> = operands.iter().map(|x| format!("{x:e}")).collect();
    words.join(", ")
}
