//! The error type: a code, a headline, a place, facts and help.
//!
//! All stages report failures with it. One table lists the codes. A code names the kind of failure, not its place.

use crate::help::Help;
use crate::source_loc::SourceLoc;
use crate::watch::{PanicWatch, Watched};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

macro_rules! codes {
    ($($variant:ident $text:literal $doc:literal;)*) => {
        /// The kind of an error, for programs that match on it. The text form is stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode { $(#[doc = $doc] $variant,)* }

        impl ErrorCode {
            /// All codes.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant),*];

            /// The stable text form.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $text,)* }
            }
        }
    };
}

codes! {
    Shape "shape" "Shapes that do not broadcast, or data that does not fill its shape.";
    DType "dtype" "A dtype that an op or a query does not take, or text that names none.";
    Promotion "promotion" "The policy defines no common type for the operands.";
    Literal "literal" "A literal does not fit the dtype it is used in.";
    Index "index" "An index that an axis does not have.";
    Size "size" "A product of extents or a byte count is larger than the address space allows.";
    Arity "arity" "Wrong number of arguments or results.";
    Argument "argument" "An argument of a compiled function has the wrong dtype, shape or layout.";
    Compile "compile" "Something would be traced or compiled where that is forbidden.";
    Nan "nan" "A result is NaN where that is looked for.";
    Traced "traced" "A traced value was read, or used outside its trace.";
    Allocation "allocation" "The system refused memory.";
    Io "io" "A file could not be read or written, or is not what it claims to be.";
    Parse "parse" "Text that is not a program.";
    Verify "verify" "A stage's invariants do not hold: a bug in ndjit, or a hand-written program that is wrong.";
    Device "device" "There is no such device, it was lost, or arrays are on several.";
    Backend "backend" "Code generation or the device failed.";
    Panic "panic" "A worker thread or a user closure panicked.";
    Cancelled "cancelled" "The run was cancelled.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The origin of an operand in a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OperandOrigin {
    /// Its place in the fact; empty without an origin.
    range: Range<usize>,
    /// The argument that the operand is.
    argument: Option<usize>,
}

impl OperandOrigin {
    fn replace(&mut self, fact: &mut String, origin: &str) {
        fact.replace_range(self.range.clone(), origin);
        self.range.end = self.range.start + origin.len();
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorData {
    code: ErrorCode,
    headline: String,
    /// The length in bytes of the headline's prefix: the name of the op or stage.
    named: usize,
    place: Option<SourceLoc>,
    facts: Vec<String>,
    /// The origins in the leading facts, which describe operands.
    operands: Vec<OperandOrigin>,
    /// Whether an axis is at fault.
    about_axis: bool,
    /// The file that a fact names.
    file: Option<PathBuf>,
    help: Option<Help>,
    watched: Option<Watched>,
}

/// An error: one pointer wide.
///
/// `Debug` prints the same text as `Display`, for `unwrap` and for `main` that returns it:
///
/// ```text
/// error[shape]: add: shapes [2, 3] and [4] do not broadcast
///   at src/main.rs:10:9
///   left:  f32[2, 3]
///   right: f32[4]
///   help: …
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<ErrorData>);

/// Shorthand for results with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Creates an error. `headline` is one line without a full stop; [`of`](Error::of) prefixes the op or stage.
    pub fn new(code: ErrorCode, headline: impl Into<String>) -> Error {
        Error(Box::new(ErrorData {
            code,
            headline: headline.into(),
            named: 0,
            place: None,
            facts: Vec::new(),
            operands: Vec::new(),
            about_axis: false,
            file: None,
            help: None,
            watched: None,
        }))
    }

    /// Prefixes the headline with the op or stage that failed.
    #[must_use]
    pub fn of(mut self, what: impl fmt::Display) -> Error {
        let name = format!("{what}: ");
        self.0.headline.insert_str(0, &name);
        self.0.named = name.len();
        self
    }

    /// Removes the last prefix of [`of`](Error::of), for a caller that adds its own.
    #[must_use]
    pub fn unnamed(mut self) -> Error {
        self.0.headline.drain(..self.0.named);
        self.0.named = 0;
        self
    }

    /// Adds the place in the user's source, unless the error has one (the innermost wins).
    #[must_use]
    pub fn at(mut self, place: impl Into<Option<SourceLoc>>) -> Error {
        if self.0.place.is_none() {
            self.0.place = place.into();
        }
        self
    }

    /// Replaces the place, for front ends of other languages.
    #[must_use]
    pub fn moved(mut self, place: SourceLoc) -> Error {
        self.0.place = Some(place);
        self
    }

    /// Adds a fact, one line: an operand, a limit, a value.
    #[must_use]
    pub fn fact(mut self, fact: impl fmt::Display) -> Error {
        self.0.facts.push(fact.to_string());
        self
    }

    /// Adds a fact about an operand, before all other facts.
    #[must_use]
    pub fn operand(self, fact: impl fmt::Display) -> Error {
        self.operand_from(fact, "", "")
    }

    /// Adds a fact about an operand with its origin, which front ends may [replace](Error::with_origins): the text before the origin,
    /// the origin, and the text after it.
    ///
    /// ```
    /// use ndjit_ir::{Error, ErrorCode};
    ///
    /// let error = Error::new(ErrorCode::Shape, "shapes do not broadcast").operand_from("x: f32[3] ", "from argument 0", "");
    /// assert_eq!(error.facts(), ["x: f32[3] from argument 0"]);
    /// ```
    #[must_use]
    pub fn operand_from(mut self, before: impl fmt::Display, origin: &str, after: &str) -> Error {
        let before = before.to_string();
        let (at, start) = (self.0.operands.len(), before.len());
        self.0.facts.insert(at, before + origin + after);
        self.0.operands.push(OperandOrigin { range: start..start + origin.len(), argument: None });
        self
    }

    /// Says that the last operand added is the argument with this index, whose name front ends may [insert](Error::with_arguments).
    #[must_use]
    pub fn is_argument(mut self, index: usize) -> Error {
        if let Some(last) = self.0.operands.last_mut() {
            last.argument = Some(index);
        }
        self
    }

    /// Replaces the origins of operands that are arguments by their names, for front ends whose arguments have names.
    ///
    /// ```
    /// use ndjit_ir::{Error, ErrorCode};
    ///
    /// let error = Error::new(ErrorCode::Shape, "shapes do not broadcast").operand_from("x: f32[3] ", "from argument 0", "");
    /// let named = error.is_argument(0).with_arguments(|_| Some("the input k".to_owned()));
    /// assert_eq!(named.facts(), ["x: f32[3] from the input k"]);
    /// ```
    #[must_use]
    pub fn with_arguments(mut self, name: impl Fn(usize) -> Option<String>) -> Error {
        for (operand, fact) in self.0.operands.iter_mut().zip(&mut self.0.facts) {
            if let Some(name) = operand.argument.and_then(&name) {
                operand.replace(fact, &format!("from {name}"));
            }
        }
        self
    }

    /// Replaces the origins of operands, for front ends of other languages: `origin` is called with the operand's index among the facts.
    ///
    /// ```
    /// use ndjit_ir::{Error, ErrorCode};
    ///
    /// let error = Error::new(ErrorCode::Shape, "shapes do not broadcast").operand_from("x: f32[3] ", "from argument 0", "");
    /// let moved = error.with_origins(|_| Some("from the input k".to_owned()));
    /// assert_eq!(moved.facts(), ["x: f32[3] from the input k"]);
    /// ```
    #[must_use]
    pub fn with_origins(mut self, origin: impl Fn(usize) -> Option<String>) -> Error {
        for (n, (operand, fact)) in self.0.operands.iter_mut().zip(&mut self.0.facts).enumerate() {
            if let Some(origin) = Some(n).filter(|_| !operand.range.is_empty()).and_then(&origin) {
                operand.replace(fact, &origin);
            }
        }
        self
    }

    /// Says that an axis is at fault, for front ends that mark the argument.
    ///
    /// ```
    /// use ndjit_ir::{Error, ErrorCode};
    ///
    /// assert!(Error::new(ErrorCode::Shape, "there is no axis 2").about_axis().is_about_axis());
    /// ```
    #[must_use]
    pub fn about_axis(mut self) -> Error {
        self.0.about_axis = true;
        self
    }

    /// Names the file, as the last fact, in place of the file that the error names already.
    ///
    /// ```
    /// use ndjit_ir::{Error, ErrorCode};
    /// use std::path::Path;
    ///
    /// let error = Error::new(ErrorCode::Io, "the disk is full").in_file(Path::new("x.npy.part"));
    /// assert_eq!(error.in_file(Path::new("x.npy")).facts(), ["file: x.npy"]);
    /// ```
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Error {
        let fact = |path: &Path| format!("file: {}", path.display());
        if let Some(former) = self.0.file.take().map(|path| fact(&path)) {
            self.0.facts.retain(|fact| *fact != former);
        }
        self.0.facts.push(fact(path));
        self.0.file = Some(path.to_owned());
        self
    }

    /// Removes the facts about operands, for a caller that adds its own.
    #[must_use]
    pub fn without_operands(mut self) -> Error {
        self.0.facts.drain(..self.0.operands.len());
        self.0.operands.clear();
        self
    }

    /// Adds help.
    #[must_use]
    pub fn help(mut self, help: impl Into<Help>) -> Error {
        self.0.help = Some(help.into());
        self
    }

    /// Adds an alternative to the help.
    #[must_use]
    pub fn or_help(mut self, other: impl Into<String>) -> Error {
        self.0.help = Some(match self.0.help.take() {
            Some(help) => help.text("; or ").text(other),
            None => Help::from(other),
        });
        self
    }

    /// Adds an alternative to the help that is [for Rust only](Help::rust). Without other help it is the help.
    #[must_use]
    pub fn or_rust_help(mut self, other: impl Into<String>) -> Error {
        self.0.help = Some(match self.0.help.take() {
            Some(help) => help.rust(format!("; or {}", other.into())),
            None => Help::from(other),
        });
        self
    }

    /// Reports to this watch, and to no other, if a panic drops the error. Equality ignores it.
    #[must_use]
    pub fn watched(mut self, watch: &PanicWatch) -> Error {
        self.0.watched = Some(Watched(watch.clone()));
        self
    }

    /// Whether it is [watched](Error::watched).
    pub fn is_watched(&self) -> bool {
        self.0.watched.is_some()
    }

    /// The kind of the error.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The one-line summary.
    pub fn headline(&self) -> &str {
        &self.0.headline
    }

    /// The place in the user's source, if known.
    pub fn place(&self) -> Option<SourceLoc> {
        self.0.place
    }

    /// The op or stage that failed: the last prefix of [`of`](Error::of), without its colon.
    ///
    /// ```
    /// use ndjit_ir::{Error, ErrorCode};
    ///
    /// let error = Error::new(ErrorCode::Shape, "shapes [2] and [3] do not broadcast").of("add");
    /// assert_eq!((error.name(), error.headline()), (Some("add"), "add: shapes [2] and [3] do not broadcast"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.0.headline.get(..self.0.named.checked_sub(": ".len())?)
    }

    /// Whether an axis is [at fault](Error::about_axis): one that does not exist, is named twice, or has another extent.
    pub fn is_about_axis(&self) -> bool {
        self.0.about_axis
    }

    /// Facts, one line each.
    pub fn facts(&self) -> &[String] {
        &self.0.facts
    }

    /// The text of the help, if there is any.
    pub fn help_text(&self) -> Option<&str> {
        self.way_out().map(Help::as_str)
    }

    /// The help in parts, if there is any.
    pub fn way_out(&self) -> Option<&Help> {
        self.0.help.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.0.code, self.0.headline)?;
        if let Some(place) = self.0.place {
            write!(f, "\n  at {place}")?;
        }
        for fact in &self.0.facts {
            write!(f, "\n  {fact}")?;
        }
        if let Some(help) = self.help_text() {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
