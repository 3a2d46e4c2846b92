//! What a [`Program`] has beside its graph: names of arguments, the tree of a front end, places.

use crate::jit::program::Program;
use crate::trace::recording::Recording;
use ndjit_ir::graph::SourceLocs;
use ndjit_ir::support::Supports;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};

impl Program {
    /// Names the arguments, for front ends and for [saved](Program::save) programs.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?.with_names(["x"])?;
    /// assert_eq!(program.argument_names(), ["x"]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Arity` for another number of names than arguments; `Argument` for two equal names, an empty one, or one with
    /// control characters.
    #[track_caller]
    pub fn with_names(self, names: impl IntoIterator<Item = impl Into<String>>) -> Result<Program> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (takes, given, place) = (self.arguments.len(), names.len(), SourceLoc::caller());
        let wrong = |code, what: String| Error::new(code, what).of("names").at(place);
        if takes != given {
            return Err(wrong(ErrorCode::Arity, format!("the program takes {takes} arguments, {given} names given"))
                .help("give one for each of `Program::inputs`"));
        }
        let mut known = rustc_hash::FxHashSet::default();
        match names.iter().find(|name| name.is_empty() || name.contains(char::is_control) || !known.insert(*name)) {
            Some(name) => Err(wrong(ErrorCode::Argument, format!("`{}` is not a new name", name.escape_debug()))
                .help("names differ, and have at least a letter and no control characters")),
            None => Ok(Program { names: names.into(), ..self }),
        }
    }

    /// Returns the [names](Program::with_names) of the arguments; empty if they have none.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert!(program.argument_names().is_empty());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn argument_names(&self) -> &[String] {
        &self.names
    }

    /// Adds a text that is saved with the program: the structure of its arguments and results, in the words of a front end
    /// whose functions take trees. The library does not read it.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?.with_tree("{x: *} -> *");
    /// assert_eq!(program.tree(), "{x: *} -> *");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn with_tree(self, tree: impl AsRef<str>) -> Program {
        Program { tree: tree.as_ref().into(), ..self }
    }

    /// Returns the text of [`with_tree`](Program::with_tree); empty without one.
    ///
    /// ```
    /// use ndjit::{DType, Program, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?;
    /// assert_eq!(program.tree(), "");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// Returns the program without the [places](crate::with_place) of its operations: [saved](Program::save) files do not
    /// depend on lines and folders then, and errors name none.
    ///
    /// ```
    /// use ndjit::{DType, Program, Stage, spec};
    ///
    /// let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2])?.without_places();
    /// assert_eq!(program.explain(Stage::Graph)?.trim_end(), program.to_string());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn without_places(self) -> Program {
        let Recording { graph, closed_over, printed, .. } = &*self.recording;
        let recording = Recording {
            graph: graph.clone(),
            places: SourceLocs::default(),
            supports: Supports::default(),
            closed_over: closed_over.clone(),
            printed: printed.clone(),
        };
        self.named_as(Program::new(self.arguments.to_vec(), recording, self.core.config))
    }
}
