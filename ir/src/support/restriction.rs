//! Declarations of the dtypes that user functions and scopes support.
//!
//! A declaration names either the supported dtypes or the unsupported ones, like
//! [Ivy's](https://docs.ivy.dev/overview/deep_dive/data_types.html#supported-and-unsupported-data-types) decorators; its type excludes
//! both. Nested declarations all apply.

use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, ErrorCode, Result};
use crate::lock::Mutex;
use crate::source_loc::SourceLoc;
use std::fmt;

/// A declaration of the dtypes that a function or a scope supports, with its place.
///
/// ```
/// use ndjit_ir::support::Restriction;
/// use ndjit_ir::{DType, DTypeSet};
///
/// let no_halves = Restriction::unsupported([DType::F16, DType::Bf16]);
/// assert!(!no_halves.dtypes().contains(DType::F16));
/// assert!(Restriction::supported(DTypeSet::EMPTY).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Restriction {
    dtypes: DTypeSet,
    /// True if it names the supported dtypes.
    named_supported: bool,
    place: SourceLoc,
}

impl Restriction {
    /// Only these dtypes are supported: classes and dtypes, joined by `|`.
    ///
    /// # Errors
    /// `DType` if there are none.
    #[track_caller]
    pub fn supported(dtypes: impl Into<DTypeSet>) -> Result<Restriction> {
        let (dtypes, place) = (dtypes.into(), SourceLoc::caller());
        if dtypes.is_empty() {
            return Err(Error::new(ErrorCode::DType, "restrict_dtypes: no dtype is supported")
                .at(place)
                .help("name at least one dtype, or those that are unsupported: `Restriction::unsupported(…)`"));
        }
        Ok(Restriction { dtypes, named_supported: true, place })
    }

    /// All dtypes except these are supported. The set may be empty.
    #[track_caller]
    pub fn unsupported(dtypes: impl Into<DTypeSet>) -> Restriction {
        let dtypes = DTypeSet::ALL.difference(dtypes.into());
        Restriction { dtypes, named_supported: false, place: SourceLoc::caller() }
    }

    /// The supported dtypes.
    pub fn dtypes(self) -> DTypeSet {
        self.dtypes
    }

    /// The place of the declaration.
    pub fn place(self) -> SourceLoc {
        self.place
    }
}

impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.named_supported {
            true => write!(f, "supported {}", self.dtypes)?,
            false => write!(f, "unsupported {}", DTypeSet::ALL.difference(self.dtypes))?,
        }
        write!(f, ", at {}", self.place)
    }
}

/// Nested declarations, innermost last. A declaration that excludes nothing more is dropped, so there are never more than
/// dtypes. They live for the whole process, each chain once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Restrictions(Option<&'static Chain>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Chain {
    restriction: Restriction,
    /// The dtypes that all support.
    dtypes: DTypeSet,
    outer: Restrictions,
}

static CHAINS: Mutex<Vec<&'static Chain>> = Mutex::new(Vec::new());

impl Restrictions {
    /// No declaration.
    pub const NONE: Restrictions = Restrictions(None);

    /// These declarations with one more inside.
    #[must_use]
    pub fn with(self, restriction: Restriction) -> Restrictions {
        let dtypes = self.dtypes().intersection(restriction.dtypes);
        if dtypes == self.dtypes() {
            return self;
        }
        let chain = Chain { restriction, dtypes, outer: self };
        let mut chains = CHAINS.lock();
        if let Some(known) = chains.iter().find(|known| ***known == chain) {
            return Restrictions(Some(known));
        }
        let chain = &*Box::leak(Box::new(chain));
        chains.push(chain);
        Restrictions(Some(chain))
    }

    /// The dtypes that all declarations support.
    pub fn dtypes(self) -> DTypeSet {
        self.0.map_or(DTypeSet::ALL, |chain| chain.dtypes)
    }

    /// The outermost declaration that excludes `dtype`.
    pub fn excluding(self, dtype: DType) -> Option<Restriction> {
        let chains = std::iter::successors(self.0, |chain| chain.outer.0);
        chains.map(|chain| chain.restriction).filter(|r| !r.dtypes.contains(dtype)).last()
    }
}
