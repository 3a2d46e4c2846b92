//! Casting modes: the dtype chosen instead of an unsupported one, and the reasons of casts in graphs.
//!
//! The rules are [Ivy's](https://docs.ivy.dev/overview/deep_dive/data_types.html#casting-modes), with these differences:
//! - modes are independent: each enabled one is tried, in the order cross, up, down. (Ivy tries all of them only if all are
//!   enabled; with two of them it uses one.)
//! - `bf16` and `f16` are not ordered: neither replaces the other. (Ivy's order is `bf16 < f16`, so that up loses range.)
//! - cross depends on the kind of the dtype it replaces, and its result is supported; a complex number never loses a part. (Ivy
//!   uses only the unsupported dtypes, so complex numbers become integers.)
//!
//! Modes cast operands and arguments. Nothing is cast back:
//!
//! | result | dtype |
//! |---|---|
//! | of a predicate | bool, for every computing dtype |
//! | of any other op | the op's for its computing dtype |
//! | of an explicit cast, or a creation function | the requested one, or an error: no mode replaces it |

use crate::dtype::{DType, DTypeSet, Kind};
use crate::promotion::Defaults;
use std::fmt;
use std::ops::BitOr;
use std::str::FromStr;

/// One casting mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// From integers to the default float where no integer is supported, from floats to the default integer where no float is,
    /// and from bool to the default integer, or else the default float.
    Cross,
    /// To the next wider supported dtype of the same kind.
    Up,
    /// To the next narrower supported dtype of the same kind.
    Down,
}

impl Mode {
    /// All modes, in the order they are tried.
    pub const ALL: [Mode; 3] = [Mode::Cross, Mode::Up, Mode::Down];

    /// Name in IR text.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Cross => "cross",
            Mode::Up => "up",
            Mode::Down => "down",
        }
    }

    /// The dtype of this mode for `dtype`, which is not in `supported`.
    fn candidate(self, dtype: DType, supported: DTypeSet, defaults: Defaults) -> Option<DType> {
        match self {
            Mode::Cross => crosses(dtype, supported, defaults),
            Mode::Up => wider(dtype).find(|&to| supported.contains(to)),
            Mode::Down => narrower(dtype).find(|&to| supported.contains(to)),
        }
    }
}

/// The dtypes of the same kind with more bits, narrowest first: `f32 f64` for both `bf16` and `f16`.
pub fn wider(dtype: DType) -> impl Iterator<Item = DType> {
    DType::ALL.into_iter().filter(move |to| to.kind() == dtype.kind() && to.bytes() > dtype.bytes())
}

/// The dtypes of the same kind with fewer bits, widest first; `f16`, which is more precise, before `bf16`.
pub fn narrower(dtype: DType) -> impl Iterator<Item = DType> {
    DType::ALL.into_iter().rev().filter(move |to| to.kind() == dtype.kind() && to.bytes() < dtype.bytes())
}

fn crosses(dtype: DType, supported: DTypeSet, defaults: Defaults) -> Option<DType> {
    let none_of = |class: DTypeSet| supported.intersection(class).is_empty();
    let to = |dtype: DType| Some(dtype).filter(|&dtype| supported.contains(dtype));
    match dtype.kind() {
        Kind::UInt | Kind::Int if none_of(DTypeSet::INT) => to(defaults.float),
        Kind::Float if none_of(DTypeSet::FLOAT) => to(defaults.int),
        Kind::Bool => to(defaults.int).or(to(defaults.float)),
        Kind::UInt | Kind::Int | Kind::Float | Kind::Complex => None,
    }
}

/// The enabled casting modes. The default, [`ERROR`](CastingModes::ERROR), is none: unsupported dtypes are errors.
///
/// ```
/// use ndjit_ir::support::{CastingModes, Mode};
/// use ndjit_ir::{DType, DTypeSet, Policy};
///
/// let (supported, defaults) = (DTypeSet::FLOAT.difference(DType::F16.into()), Policy::Standard.defaults());
/// let modes = CastingModes::UP | CastingModes::CROSS;
/// assert_eq!(modes.candidate(DType::F16, supported, defaults), Some((DType::F32, Mode::Up)));
/// assert_eq!(modes.to_string(), "cross+up");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CastingModes {
    cross: bool,
    up: bool,
    down: bool,
}

impl CastingModes {
    /// No mode.
    pub const ERROR: CastingModes = CastingModes { cross: false, up: false, down: false };
    /// Only [`Mode::Cross`].
    pub const CROSS: CastingModes = CastingModes { cross: true, ..CastingModes::ERROR };
    /// Only [`Mode::Up`].
    pub const UP: CastingModes = CastingModes { up: true, ..CastingModes::ERROR };
    /// Only [`Mode::Down`].
    pub const DOWN: CastingModes = CastingModes { down: true, ..CastingModes::ERROR };
    /// All modes.
    pub const ALL: CastingModes = CastingModes { cross: true, up: true, down: true };

    /// Returns `true` if the mode is enabled.
    pub const fn has(self, mode: Mode) -> bool {
        match mode {
            Mode::Cross => self.cross,
            Mode::Up => self.up,
            Mode::Down => self.down,
        }
    }

    /// The same modes with one of them enabled or disabled.
    #[must_use]
    pub const fn with(self, mode: Mode, on: bool) -> CastingModes {
        match mode {
            Mode::Cross => CastingModes { cross: on, ..self },
            Mode::Up => CastingModes { up: on, ..self },
            Mode::Down => CastingModes { down: on, ..self },
        }
    }

    /// The dtype to use instead of `dtype`, and the mode that chose it: the first result of the enabled modes, in the
    /// order cross, up, down. `None` if `dtype` is supported or no mode finds another.
    pub fn candidate(self, dtype: DType, supported: DTypeSet, defaults: Defaults) -> Option<(DType, Mode)> {
        if supported.contains(dtype) {
            return None;
        }
        let mut modes = Mode::ALL.into_iter().filter(|&mode| self.has(mode));
        modes.find_map(|mode| mode.candidate(dtype, supported, defaults).map(|to| (to, mode)))
    }
}

impl From<Mode> for CastingModes {
    fn from(mode: Mode) -> CastingModes {
        CastingModes::ERROR.with(mode, true)
    }
}

impl BitOr for CastingModes {
    type Output = CastingModes;

    fn bitor(self, other: CastingModes) -> CastingModes {
        CastingModes { cross: self.cross | other.cross, up: self.up | other.up, down: self.down | other.down }
    }
}

impl fmt::Display for CastingModes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Mode::ALL.into_iter().filter(|&m| self.has(m)).map(Mode::name).collect();
        f.pad(&if names.is_empty() { "error".to_owned() } else { names.join("+") })
    }
}

/// The reason of a cast in a traced graph. Typed graphs have no reasons: compilation does not depend on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CastReason {
    /// The user wrote it.
    #[default]
    Explicit,
    /// A casting mode inserted it.
    Mode(Mode),
    /// A weak value takes the dtype of a loop's state, as in promotion with an array of it: a literal must fit.
    Promotion,
}

impl CastReason {
    /// All reasons.
    pub const ALL: [CastReason; 5] = [
        CastReason::Explicit,
        CastReason::Mode(Mode::Cross),
        CastReason::Mode(Mode::Up),
        CastReason::Mode(Mode::Down),
        CastReason::Promotion,
    ];

    /// The text in brackets after `cast` in IR text; `None` for explicit casts.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            CastReason::Explicit => None,
            CastReason::Mode(mode) => Some(mode.name()),
            CastReason::Promotion => Some("promotion"),
        }
    }
}

impl FromStr for CastReason {
    type Err = String;

    fn from_str(text: &str) -> Result<CastReason, String> {
        CastReason::ALL.into_iter().find(|reason| reason.name() == Some(text)).ok_or_else(|| {
            let known: Vec<&str> = CastReason::ALL.into_iter().filter_map(CastReason::name).collect();
            format!("unknown reason of a cast `{text}`; known are {}", known.join(" "))
        })
    }
}
