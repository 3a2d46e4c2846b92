//! References of slopes. Their list with error bounds is in `table`.

mod formulas;
mod points;
mod table;

use crate::multi::Real;
use Bound::Slope as Ulp;
use ndjit::Op;
pub use table::how;

/// The comparison of an op's slopes.
pub enum How {
    Measured(Vec<Slope>),
    /// The reason for none, for people.
    NotMeasured(&'static str),
    /// All are 0, or it has no real operands.
    Flat,
}

/// A slope of an op with respect to one operand.
#[derive(Clone, Copy)]
pub struct Slope {
    /// The operand's index.
    pub by: usize,
    /// Whether it is the second slope.
    pub twice: bool,
    pub exact: Reference,
    /// An intermediate value of the slope, such as the function's result: where it is not normal the slope is not
    /// measured.
    pub through: fn(&[f64]) -> f64,
    pub bound: Bound,
}

/// The exact slope; NaN if there is none.
#[derive(Clone, Copy)]
pub enum Reference {
    /// A value of the format, or one that is rounded once.
    Number(fn(&[f64]) -> f64),
    /// In multi-precision, except for operands with a known slope.
    Formula(fn(&[Real]) -> Real, fn(&[f64]) -> Option<f64>),
}

/// The largest error, in units in the last place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// In units of the slope.
    Slope(f64),
    /// In units of the larger of the slope and 1: the slope's terms cancel somewhere.
    OrOne(f64),
}

impl Bound {
    /// Whether the slope's terms cancel.
    pub fn cancels(self) -> bool {
        matches!(self, Bound::OrOne(_))
    }
}

fn nowhere(_: &[f64]) -> Option<f64> {
    None
}

/// A formula with respect to an operand.
const fn by(by: usize, exact: fn(&[Real]) -> Real, bound: Bound) -> Slope {
    Slope { by, twice: false, exact: Reference::Formula(exact, nowhere), through: |_| 1.0, bound }
}

/// A known value with respect to an operand.
const fn number(by: usize, exact: fn(&[f64]) -> f64) -> Slope {
    Slope { by, twice: false, exact: Reference::Number(exact), through: |_| 1.0, bound: Ulp(0.5) }
}

impl Slope {
    /// Adds operands with a known slope.
    const fn but(self, known: fn(&[f64]) -> Option<f64>) -> Slope {
        match self.exact {
            Reference::Formula(exact, _) => Slope { exact: Reference::Formula(exact, known), ..self },
            Reference::Number(_) => self,
        }
    }

    const fn twice(self) -> Slope {
        Slope { twice: true, ..self }
    }

    /// Its suffix after the op's name: `/x`, `/x/x`.
    pub fn suffix(&self, op: Op) -> String {
        let operand = op.row().operands[self.by];
        if self.twice { format!("/{operand}/{operand}") } else { format!("/{operand}") }
    }
}

impl How {
    /// Slopes with an intermediate value that may not be normal.
    fn through(self, through: fn(&[f64]) -> f64) -> How {
        match self {
            How::Measured(all) => How::Measured(all.into_iter().map(|slope| Slope { through, ..slope }).collect()),
            other => other,
        }
    }
}

fn of<const N: usize>(slopes: [Slope; N]) -> How {
    How::Measured(slopes.to_vec())
}

/// The first and second slope of a unary function.
fn curve(first: (fn(&[Real]) -> Real, Bound), second: (fn(&[Real]) -> Real, Bound)) -> How {
    curve_but(nowhere, first, second, nowhere)
}

/// As [`curve`], with points of known slopes.
fn curve_but(
    at: fn(&[f64]) -> Option<f64>,
    first: (fn(&[Real]) -> Real, Bound),
    second: (fn(&[Real]) -> Real, Bound),
    second_at: fn(&[f64]) -> Option<f64>,
) -> How {
    of([by(0, first.0, first.1).but(at), by(0, second.0, second.1).twice().but(second_at)])
}
