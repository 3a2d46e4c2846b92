//! Checks of results against `f64`, before timing.

use crate::inputs::Made;
use crate::kernels::Kernel;
use ndjit::{Array, Complex, DType, Error, ErrorCode, Result};

/// The definition of a kernel, in `f64`.
pub enum Reference {
    /// Elementwise.
    Elements(fn(&[f64]) -> f64),
    /// The sum over all elements.
    Sum(fn(&[f64]) -> f64),
    /// Rows of so many columns.
    Softmax(usize),
    /// A column with a row.
    Outer(fn(f64, f64) -> f64),
    /// Elementwise, complex.
    Complex(fn(Complex<f64>) -> Complex<f64>),
}

/// Compares a result.
///
/// # Errors
/// `Verify` if an element is further from the reference than the kernel's tolerance.
pub fn check(kernel: &Kernel, dtype: DType, made: &[Made], result: &Array) -> Result<()> {
    let expected = reference(kernel, made);
    let given: Vec<f64> = match result.dtype() {
        DType::F64 => result.to_vec::<f64>()?,
        DType::C64 => {
            result.to_vec::<Complex<f32>>()?.iter().flat_map(|z| [f64::from(z.re), f64::from(z.im)]).collect()
        }
        _ => result.to_vec::<f32>()?.into_iter().map(f64::from).collect(),
    };
    let largest = expected.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    let allowed = largest * if dtype == DType::F64 { 1e-13 } else { kernel.tolerance };
    let wrong = expected.iter().zip(&given).position(|(a, b)| (a - b).abs() > allowed || b.is_nan());
    match wrong {
        None if expected.len() == given.len() => Ok(()),
        _ => {
            let at = wrong.unwrap_or(0);
            Err(Error::new(ErrorCode::Verify, format!("{}: a wrong result", kernel.name))
                .fact(format_args!("elements: {}, expected {}", given.len(), expected.len()))
                .fact(format_args!("element {at}: {:?}, expected {:?}", given.get(at), expected.get(at))))
        }
    }
}

fn reference(kernel: &Kernel, made: &[Made]) -> Vec<f64> {
    let len = made.iter().map(|made| made.exact.len()).max().unwrap_or(0);
    let at = |n: usize| made.iter().map(|made| made.exact[n]).collect::<Vec<f64>>();
    match kernel.reference {
        Reference::Elements(function) => (0..len).map(|n| function(&at(n))).collect(),
        Reference::Sum(function) => vec![compensated_sum((0..len).map(|n| function(&at(n))))],
        Reference::Softmax(columns) => made[0]
            .exact
            .chunks(columns)
            .flat_map(|row| {
                let most = row.iter().fold(f64::NEG_INFINITY, |most, &x| most.max(x));
                let sum: f64 = row.iter().map(|x| (x - most).exp()).sum();
                row.iter().map(move |x| (x - most).exp() / sum)
            })
            .collect(),
        Reference::Outer(function) => {
            made[0].exact.iter().flat_map(|&a| made[1].exact.iter().map(move |&b| function(a, b))).collect()
        }
        Reference::Complex(function) => made[0]
            .exact
            .chunks(2)
            .flat_map(|parts| {
                let z = function(Complex::new(parts[0], parts[1]));
                [z.re, z.im]
            })
            .collect(),
    }
}

/// A sum whose error does not grow with the number of terms, unlike a sequential one (Neumaier 1974).
fn compensated_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        let (large, small) = if sum.abs() >= term.abs() { (sum, term) } else { (term, sum) };
        lost += (large - next) + small;
        sum = next;
    }
    sum + lost
}
