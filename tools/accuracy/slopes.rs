//! What slopes are compared with. Which slopes of which ops, and how far they may be off, stands in `table`.

mod formulas;
mod points;
mod table;

use crate::multi::Real;
use Bound::Slope as Ulp;
use ndjit::Op;
pub use table::how;

/// What is compared of an op.
pub enum How {
    Measured(Vec<Slope>),
    /// The reason why nothing is, for people.
    NotMeasured(&'static str),
    /// All are 0, or it takes no real numbers.
    Flat,
}

/// A slope of an op, by one operand.
#[derive(Clone, Copy)]
pub struct Slope {
    /// The operand's number.
    pub by: usize,
    /// Whether it is the slope of the slope.
    pub twice: bool,
    pub exact: Reference,
    /// What the slope is made of, as the function's value: where it is not a normal number the slope is not measured.
    pub through: fn(&[f64]) -> f64,
    pub bound: Bound,
}

/// The exact slope; NaN where there is none.
#[derive(Clone, Copy)]
pub enum Reference {
    /// A number of the format, or one that is rounded once.
    Number(fn(&[f64]) -> f64),
    /// In multi-precision but for the operands whose slope is a known number.
    Formula(fn(&[Real]) -> Real, fn(&[f64]) -> Option<f64>),
}

/// The largest error, in units in the last place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Of the slope.
    Slope(f64),
    /// Of the larger of the slope and 1: the slope's terms cancel somewhere.
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

/// A formula by an operand.
const fn by(by: usize, exact: fn(&[Real]) -> Real, bound: Bound) -> Slope {
    Slope { by, twice: false, exact: Reference::Formula(exact, nowhere), through: |_| 1.0, bound }
}

/// A known number by an operand.
const fn number(by: usize, exact: fn(&[f64]) -> f64) -> Slope {
    Slope { by, twice: false, exact: Reference::Number(exact), through: |_| 1.0, bound: Ulp(0.5) }
}

impl Slope {
    /// Where the slope is a known number.
    const fn but(self, known: fn(&[f64]) -> Option<f64>) -> Slope {
        match self.exact {
            Reference::Formula(exact, _) => Slope { exact: Reference::Formula(exact, known), ..self },
            Reference::Number(_) => self,
        }
    }

    const fn twice(self) -> Slope {
        Slope { twice: true, ..self }
    }

    /// Its name after the op's: `/x`, `/x/x`.
    pub fn suffix(&self, op: Op) -> String {
        let operand = op.row().operands[self.by];
        if self.twice { format!("/{operand}/{operand}") } else { format!("/{operand}") }
    }
}

impl How {
    /// Slopes that are made of what may not be a normal number.
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

/// The slope of a function of one operand, and the slope of that.
fn curve(first: (fn(&[Real]) -> Real, Bound), second: (fn(&[Real]) -> Real, Bound)) -> How {
    curve_but(nowhere, first, second, nowhere)
}

/// As [`curve`], with points where the slopes are known numbers.
fn curve_but(
    at: fn(&[f64]) -> Option<f64>,
    first: (fn(&[Real]) -> Real, Bound),
    second: (fn(&[Real]) -> Real, Bound),
    second_at: fn(&[f64]) -> Option<f64>,
) -> How {
    of([by(0, first.0, first.1).but(at), by(0, second.0, second.1).twice().but(second_at)])
}
