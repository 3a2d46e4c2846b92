//! `docs/accuracy.md`, the page of the measurements.

use crate::complex_functions;
use crate::figures::{Figures, Worst};
use crate::functions::{self, How};
use crate::results::Results;
use crate::slopes;
use ndjit::{DType, Op};
use ndjit_ir::Kind;
use serde_json::Value;
use std::fmt::Write;

/// The largest errors of other libraries, for comparison.
const OTHERS: &str = include_str!("../../tests/goldens/values/ulp_summary.json");

/// The section of a measurement, in the order of the page.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Section {
    Operands(usize),
    Complex,
    Slopes,
    Casts,
}

const SECTIONS: [(Section, &str); 6] = [
    (Section::Operands(1), UNARY),
    (Section::Operands(2), BINARY),
    (Section::Operands(3), TERNARY),
    (Section::Complex, COMPLEX),
    (Section::Slopes, SLOPES),
    (Section::Casts, CASTS),
];

/// The page.
pub fn page(results: &Results) -> String {
    let others: Value = serde_json::from_str(OTHERS).unwrap_or_default();
    let mut rows: Vec<(Section, &str, DType, Figures)> =
        results.names().filter_map(|name| read(results, name)).collect();
    rows.sort_by_key(|(_, function, dtype, _)| (*function, *dtype as u8));
    let mut page = String::from(HEAD);
    for (section, head) in SECTIONS {
        page.push_str(head);
        for (_, function, dtype, figures) in rows.iter().filter(|row| row.0 == section) {
            page.push_str(&match section {
                Section::Operands(_) => real(function, *dtype, figures, &others),
                Section::Complex => complex(function, *dtype, figures),
                Section::Slopes => slope(function, *dtype, figures),
                Section::Casts => cast(*dtype, figures),
            });
        }
    }
    page.push_str(&not_measured());
    page
}

fn read<'a>(results: &'a Results, name: &'a str) -> Option<(Section, &'a str, DType, Figures)> {
    let (function, dtype) = name.split_once(' ')?;
    let dtype: DType = dtype.parse().ok()?;
    let section = match function.parse::<Op>() {
        _ if function.contains('/') => Section::Slopes,
        Ok(_) if dtype.kind() == Kind::Complex => Section::Complex,
        Ok(op) if matches!(functions::how(op), How::MeasuredInParts(_)) => Section::Complex,
        Ok(op) => Section::Operands(op.arity()),
        Err(()) => Section::Casts,
    };
    Some((section, function, dtype, Figures::from_json(results.get(name)?)?))
}

fn real(function: &str, dtype: DType, figures: &Figures, others: &Value) -> String {
    let Figures { part: Worst { error, at }, not_nearest, wrong, .. } = figures;
    // Without errors there is no worst input, or in `f64` none is known.
    let at =
        if at.is_empty() || *not_nearest == 0 && dtype == DType::F64 { "–".to_owned() } else { format!("`{at}`") };
    let [numpy, jax] = others_of(others, function, dtype);
    let tried = tried(function, dtype, figures.inputs);
    let share = share(*not_nearest, figures.inputs);
    format!("| `{function}` | {dtype} | {error:.3} | {at} | {tried} | {share} | {wrong} | {numpy} | {jax} |\n")
}

fn complex(function: &str, dtype: DType, figures: &Figures) -> String {
    let Figures { inputs, part, modulus, not_nearest, wrong, .. } = figures;
    let (tried, share) = (count(*inputs), share(*not_nearest, *inputs));
    let apart = if part.error < 1e6 { format!("{:.3}", part.error) } else { format!("{:.1e}", part.error) };
    let at = &part.at;
    if *modulus == Worst::default() {
        return format!("| `{function}` | {dtype} | {apart} | `{at}` | – | – | {tried} | {share} | {wrong} |\n");
    }
    let (error, worst) = (modulus.error, &modulus.at);
    format!("| `{function}` | {dtype} | {apart} | `{at}` | {error:.3} | `{worst}` | {tried} | {share} | {wrong} |\n")
}

fn slope(name: &str, dtype: DType, figures: &Figures) -> String {
    let Figures { inputs, part, modulus, not_nearest, wrong, wrong_at } = figures;
    let error = |worst: &Worst| match worst.error {
        error if error < 1e4 => format!("{error:.3}"),
        // Next to a non-finite value.
        f64::MAX => "∞".to_owned(),
        error => format!("{error:.1e}"),
    };
    let at = if part.at.is_empty() { "–".to_owned() } else { format!("`{}`", part.at) };
    let wrong = match wrong_at {
        Some(at) => format!("{wrong}, at `{at}`"),
        None => wrong.to_string(),
    };
    let (own, or_one, tried, share) = (error(part), error(modulus), count(*inputs), share(*not_nearest, *inputs));
    format!("| `{name}` | {dtype} | {own} | {at} | {or_one} | {tried} | {share} | {wrong} |\n")
}

fn cast(dtype: DType, figures: &Figures) -> String {
    let each = figures.inputs / (DType::ALL.len() as u64 - 1);
    let all = dtype.kind() != Kind::Complex && (dtype.bytes() <= 2 || dtype.bytes() == 4 && each > 1 << 31);
    let tried = if all { "all".to_owned() } else { count(each) };
    let first = figures.wrong_at.as_deref().unwrap_or("–");
    format!("| {dtype} | {tried} | {} | {first} |\n", figures.wrong)
}

/// The ops without measurements, by reason.
fn not_measured() -> String {
    let reasons = |op: Op| {
        let real = match functions::how(op) {
            How::Exact(reason) => Some(reason),
            How::Measured(_) | How::MeasuredInParts(_) => None,
        };
        let complex = match complex_functions::how(op) {
            Some(complex_functions::How::NotMeasured(reason)) if real.is_none() => Some(reason),
            _ => None,
        };
        let slope = match slopes::how(op) {
            slopes::How::NotMeasured(reason) => Some(reason),
            slopes::How::Measured(_) | slopes::How::Flat => None,
        };
        [("", real), ("of complex numbers ", complex), ("its slope ", slope)].map(|(of, reason)| Some((of, reason?)))
    };
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for (op, (of, reason)) in Op::ALL.into_iter().flat_map(|op| reasons(op).into_iter().flatten().map(move |r| (op, r)))
    {
        let reason = format!("{of}{reason}");
        match lines.iter_mut().find(|line| line.0 == reason) {
            Some(line) => line.1.push(op.name()),
            None => lines.push((reason, vec![op.name()])),
        }
    }
    lines.iter().fold(String::from(NOT_MEASURED), |mut text, (reason, names)| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- `{}`: {reason}.", names.join("` `"));
        text
    })
}

/// NumPy's and JAX's largest errors, if measured.
fn others_of(summary: &Value, function: &str, dtype: DType) -> [String; 2] {
    let mut rows = summary["rows"].as_array().into_iter().flatten();
    let row = rows.find(|row| row[0] == function && row[1] == dtype.name());
    [0, 1].map(|library| match row.and_then(|row| row[2][library].as_u64()) {
        Some(floats) => floats.to_string(),
        None => "–".to_owned(),
    })
}

fn tried(function: &str, dtype: DType, inputs: u64) -> String {
    let arity = function.parse::<Op>().map_or(1, Op::arity);
    let all = match arity {
        1 => dtype.is_half() || dtype == DType::F32 && inputs > 1 << 31,
        2 => dtype.is_half() && inputs > 1 << 31,
        _ => false,
    };
    if all { "all".to_owned() } else { count(inputs) }
}

fn share(part: u64, inputs: u64) -> String {
    format!("{:.2} %", 100.0 * part as f64 / inputs.max(1) as f64)
}

/// A count, in powers of ten if large.
fn count(inputs: u64) -> String {
    match inputs {
        0..100_000 => inputs.to_string(),
        _ => format!("{:.1e}", inputs as f64),
    }
}

const HEAD: &str = "# Accuracy
The largest measured errors of compiled functions, in units in the last place (ULP) of the result; 0.5 is correctly rounded.
*Wrong* counts results that are NaN, infinite or of the opposite sign, unlike the exact result. The references are
[CORE-MATH](https://core-math.gitlabpages.inria.fr/), correctly rounded in `f64`, and 256-bit numbers where more precision is needed. Results in `f64`
that are the nearest number count as 0.5. Without a more precise reference (`lgamma`, `tgamma`), half a unit is added to the distance from the
reference; the true error is smaller. NumPy's and JAX's errors were measured on about 500 inputs each, counted in floats from the correctly
rounded result.

Written by `cargo run --release -p ndjit-tools --bin accuracy`. `-- --full` takes hours, and can be stopped and resumed. `-- --check` fails if a
promised bound is exceeded, and writes nothing. `-- --slopes` measures only slopes.
";

const UNARY: &str = "
## Functions of one operand
Inputs: *all* values of the 16-bit floats, and of `f32` where noted; of `f64`, random values with every exponent and in ranges where the functions
change.

| function | dtype | max ULP | at | inputs | not nearest | wrong | NumPy | JAX |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

const BINARY: &str = "
## Functions of two operands
Inputs: *all* pairs of 16-bit floats where noted; otherwise all pairs of about a hundred edge cases, and random pairs with arbitrary exponents, with
similar exponents, in ranges, and with powers in range. Errors of `logaddexp` are in ULP of the largest of operands and result. `polygamma` is measured
for integer `n`, mostly small.

| function | dtype | max ULP | at | inputs | not nearest | wrong | NumPy | JAX |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

const TERNARY: &str = "
## Functions of three operands

| function | dtype | max ULP | at | inputs | not nearest | wrong | NumPy | JAX |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

const COMPLEX: &str = "
## Functions of complex numbers
The reference has 256 bits. Operands are random, with parts of arbitrary exponents, of similar exponents and in ranges. A quarter are near the unit
circle, branch points, branch cuts (with zeros of both signs), zeros and poles. *Part* is the larger error of the two parts in ULP of the part; it
is large where a part cancels. *Modulus* is the distance from the exact number in ULP of its modulus. Powers with a logarithm beyond 1024 are
not counted, nor are products within a factor of 2 of overflow, where terms of the formula may overflow.

| function | dtype | part | at | modulus | at | inputs | not nearest | wrong |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

const SLOPES: &str = "
## Slopes
The derivatives of real functions from `grad`, compared with formulas in 256-bit numbers: `atan2/y` is the slope of `atan2` with respect to its operand
`y`, `tanh/x/x` the slope of `tanh/x`. Operands are random, with arbitrary exponents and in ranges where the functions change, and about a hundred edge
cases: zeros, infinities, subnormal numbers, ends of ranges. [Conventions](transforms.md#conventions) defines the exact slope at kinks, poles and ends.
*Or 1* is the largest error in ULP of the larger of the slope and 1: near a zero of the slope, as of `gelu`, its terms cancel and leave rounding errors.
Operands without a slope are not counted, nor are those where the value of the function, used by the slope, overflows or is subnormal. A slope below
the smallest normal number need only be that small. Slopes of complex functions are not measured.

| slope | dtype | max ULP | at | or 1 | inputs | not nearest | wrong |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

const CASTS: &str = "
## Casts
Each value is cast to every other dtype. The correct result is the exact value rounded once, to nearest, ties to even. Casts to integers truncate and
saturate floats, and wrap integers.

| from | values | wrong | example |
| --- | --- | --- | --- |
";

const NOT_MEASURED: &str = "
## Not measured
Integers: `math/tests/it/bodies/int.rs` compares all pairs of 8-bit integers, and edge cases of wider integers, for every op. Floats:

";
