//! The statistics of a function in one dtype, and the counting of single results.

use crate::exact::Exact;
use crate::format::Format;
use serde_json::{Value, json};

/// An error in ULP, with its operands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worst {
    pub error: f64,
    pub at: String,
}

impl Worst {
    fn note(&mut self, error: f64, at: impl FnOnce() -> String) {
        if error > self.error {
            (self.error, self.at) = (error, at());
        }
    }

    fn add(&mut self, other: &Worst) {
        self.note(other.error, || other.at.clone());
    }
}

/// The statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    pub inputs: u64,
    /// The largest error in units in the last place of the result; for complex results, of the part.
    pub part: Worst,
    /// For complex results: the distance in units in the last place of the modulus. For slopes: in those of the larger of the
    /// slope and 1.
    pub modulus: Worst,
    /// Results that are not correctly rounded.
    pub not_nearest: u64,
    /// Results that are NaN, infinite, or of another sign while the exact one is not, or vice versa.
    pub wrong: u64,
    /// The operands of one.
    pub wrong_at: Option<String>,
}

impl Figures {
    pub fn add(&mut self, other: &Figures) {
        self.inputs += other.inputs;
        self.part.add(&other.part);
        self.modulus.add(&other.modulus);
        self.not_nearest += other.not_nearest;
        self.wrong += other.wrong;
        self.wrong_at = self.wrong_at.take().or_else(|| other.wrong_at.clone());
    }

    pub fn to_json(&self) -> Value {
        let Figures { inputs, part, modulus, not_nearest, wrong, wrong_at } = self;
        // JSON has no infinity.
        let finite = |error: f64| error.min(f64::MAX);
        let mut value = json!({ "inputs": inputs, "error": finite(part.error), "at": part.at, "not_nearest": not_nearest, "wrong": wrong });
        if *modulus != Worst::default() {
            value["modulus_error"] = json!(finite(modulus.error));
            value["modulus_at"] = json!(modulus.at);
        }
        if let Some(at) = wrong_at {
            value["wrong_at"] = json!(at);
        }
        value
    }

    pub fn from_json(value: &Value) -> Option<Figures> {
        let worst =
            |error: &str, at: &str| Some(Worst { error: value[error].as_f64()?, at: value[at].as_str()?.to_owned() });
        Some(Figures {
            inputs: value["inputs"].as_u64()?,
            part: worst("error", "at")?,
            modulus: worst("modulus_error", "modulus_at").unwrap_or_default(),
            not_nearest: value["not_nearest"].as_u64()?,
            wrong: value["wrong"].as_u64()?,
            wrong_at: value["wrong_at"].as_str().map(str::to_owned),
        })
    }

    /// For a terminal.
    pub fn line(&self) -> String {
        let Figures { inputs, part, modulus, not_nearest, wrong, .. } = self;
        let modulus = match *modulus == Worst::default() {
            true => String::new(),
            false => format!(", of the modulus {:.3} at {}", modulus.error, modulus.at),
        };
        let Worst { error, at } = part;
        format!("{error:.3} ULP at {at}{modulus}; {not_nearest} not nearest, {wrong} wrong of {inputs}")
    }

    /// Counts a result that must be right, without an error in ULP.
    pub fn count(&mut self, right: bool, at: impl FnOnce() -> String) {
        self.inputs += 1;
        if !right {
            self.not_nearest += 1;
            self.is_wrong(at);
        }
    }

    /// Counts a real result, with its error in ULP of `unit`. The sign of a far smaller result is ignored.
    pub fn real(&mut self, got: f64, exact: &impl Exact, format: Format, unit: f64, at: impl Fn() -> String) {
        let nearest = exact.nearest(format);
        self.compare(got, nearest, unit, &at);
        self.part.note(distance(got, nearest, exact, format, unit), at);
    }

    /// Counts a slope. If its terms cancel, the sign counts only for results not far smaller than 1.
    pub fn slope(&mut self, got: f64, exact: &impl Exact, format: Format, cancels: bool, at: impl Fn() -> String) {
        let nearest = exact.nearest(format);
        let larger = nearest.abs().max(1.0);
        self.compare(got, nearest, if cancels { larger } else { nearest }, &at);
        self.part.note(distance(got, nearest, exact, format, nearest), &at);
        self.modulus.note(distance(got, nearest, exact, format, larger), at);
    }

    /// Whether a result is correctly rounded, and whether it is right up to rounding.
    fn compare(&mut self, got: f64, nearest: f64, unit: f64, at: impl Fn() -> String) {
        self.inputs += 1;
        let same = got.to_bits() == nearest.to_bits() || got.is_nan() && nearest.is_nan();
        self.not_nearest += u64::from(!same);
        let cancels = unit.abs() > 2.0 * nearest.abs();
        if got.is_nan() != nearest.is_nan()
            || got.is_infinite() != nearest.is_infinite()
            || !nearest.is_nan() && !cancels && got.is_sign_negative() != nearest.is_sign_negative()
        {
            self.is_wrong(at);
        }
    }

    /// Counts a complex result. The sign of cancelling parts counts only if `signs`; otherwise, if the modulus overflows, only
    /// an infinite part without NaN is required.
    pub fn complex(
        &mut self,
        got: [f64; 2],
        exact: &[impl Exact; 2],
        format: Format,
        signs: bool,
        at: impl Fn() -> String,
    ) {
        self.inputs += 1;
        let nearest = [exact[0].nearest(format), exact[1].nearest(format)];
        let parts = [0, 1].map(|i| (got[i], nearest[i], &exact[i]));
        let same = parts
            .iter()
            .all(|(got, nearest, _)| got.to_bits() == nearest.to_bits() || got.is_nan() && nearest.is_nan());
        self.not_nearest += u64::from(!same);
        if !signs && nearest.iter().any(|part| part.is_infinite()) {
            if got.iter().any(|part| part.is_nan()) || !got.iter().any(|part| part.is_infinite()) {
                self.is_wrong(&at);
            }
            return;
        }
        if parts.iter().any(|(got, nearest, _)| {
            got.is_nan() != nearest.is_nan()
                || got.is_infinite() != nearest.is_infinite()
                || signs && !nearest.is_nan() && got.is_sign_negative() != nearest.is_sign_negative()
        }) {
            self.is_wrong(&at);
        }
        let errors = parts.map(|(got, nearest, exact)| distance(got, nearest, exact, format, nearest));
        self.part.note(errors[0].max(errors[1]), &at);
        let modulus = nearest[0].hypot(nearest[1]);
        let errors = parts.map(|(got, nearest, exact)| distance(got, nearest, exact, format, modulus));
        self.modulus.note(errors[0].hypot(errors[1]), &at);
    }

    fn is_wrong(&mut self, at: impl FnOnce() -> String) {
        self.wrong += 1;
        self.wrong_at.get_or_insert_with(at);
    }
}

/// The error in ULP of `unit`.
fn distance(got: f64, nearest: f64, exact: &impl Exact, format: Format, unit: f64) -> f64 {
    match (got.is_finite() && nearest.is_finite(), got == nearest || got.is_nan() && nearest.is_nan()) {
        (true, _) => exact.error(got, format, unit),
        (false, true) => 0.0,
        (false, false) => f64::INFINITY,
    }
}
