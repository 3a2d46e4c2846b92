//! What arrays are made of: elements in memory, or how to get them.

use crate::array::lazy::{self, Kept, Recipe};
use ndjit_ir::graph::Graph;
use ndjit_ir::lock::Mutex;
use ndjit_ir::loops::Layout;
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Result, Shape, ValueType};
use ndjit_runtime::{Memory, Reading};
use std::sync::{Arc, OnceLock};

/// What an [`Array`](super::Array) points to.
pub(crate) struct Node {
    pub ty: ValueType,
    /// The dtype of the elements: of a weak array one of its kind.
    pub dtype: DType,
    pub shape: Shape,
    /// Where the elements are, or will be computed.
    pub device: Device,
    pub state: State,
    /// How to get the elements, while there are none.
    pub source: Mutex<Source>,
    /// How many operations wait below, at most.
    pub waiting: usize,
    /// How a kernel computes the elements instead of reading them: a program without arguments, of one result.
    pub formula: Option<Box<Graph<ValueType>>>,
    /// Whether it waits for its elements since a function was traced, which computes them itself if it can.
    pub traced: bool,
}

/// How to get the elements of an array. Behind pointers: most arrays that calls make are not computed, and are moved as they are made.
pub(crate) enum Source {
    Nothing,
    /// By an operation.
    Recipe(Arc<Recipe>),
    /// They were kept when others were read. Nobody has asked for them, and they may be given back.
    Kept(Arc<Kept>),
}

impl Source {
    pub(crate) fn recipe(&self) -> Option<&Arc<Recipe>> {
        match self {
            Source::Recipe(recipe) => Some(recipe),
            Source::Nothing | Source::Kept(_) => None,
        }
    }

    /// Lets go of the source, and gives its operation.
    pub(crate) fn take_recipe(&mut self) -> Option<Arc<Recipe>> {
        match std::mem::replace(self, Source::Nothing) {
            Source::Recipe(recipe) => Some(recipe),
            Source::Nothing | Source::Kept(_) => None,
        }
    }
}

/// The elements, or why there are none.
pub(crate) enum State {
    /// Known when the array was made.
    Made(Result<Elements>),
    /// Computed when they are wanted. (To fill a lock for those that are there took 15 ns of a call.)
    Waiting(OnceLock<Result<Elements>>),
}

impl State {
    /// What is there by now.
    pub(crate) fn get(&self) -> Option<&Result<Elements>> {
        match self {
            State::Made(elements) => Some(elements),
            State::Waiting(elements) => elements.get(),
        }
    }

    /// Keeps what was computed; the first counts.
    pub(crate) fn set(&self, computed: Result<Elements>) {
        if let State::Waiting(elements) = self {
            let _ = elements.set(computed);
        }
    }
}

/// Elements in memory.
pub(crate) struct Elements {
    pub memory: Memory,
    /// Where they are in the memory; `None` where they are all of it, in row-major order.
    pub layout: Option<Layout>,
    /// A copy in row-major order, once one was needed.
    pub dense: OnceLock<Memory>,
    /// Elements on their way to the host, for whoever reads them next.
    pub coming: Mutex<Option<Box<dyn Reading>>>,
}

impl Elements {
    /// All of some memory, in row-major order.
    pub(crate) fn dense(memory: Memory) -> Elements {
        Elements { memory, layout: None, dense: OnceLock::new(), coming: Mutex::new(None) }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(recipe) = self.source.get_mut().take_recipe() {
            lazy::dismantle(recipe);
        }
    }
}

impl Node {
    /// Stores elements that were computed. A second thread may have been first: its elements are the same.
    pub(crate) fn store(&self, elements: Elements) {
        self.state.set(Ok(elements));
        self.change_source(|_| true, Source::Nothing);
    }

    /// Whether the source is one that is to be changed; it is changed then.
    pub(crate) fn change_source(&self, is_meant: impl FnOnce(&Source) -> bool, new: Source) -> bool {
        let mut source = self.source.lock();
        let changed = is_meant(&source);
        let old = if changed { std::mem::replace(&mut *source, new) } else { new };
        // What it holds goes where the lock is not held: memory of others runs code of theirs.
        drop(source);
        if let Source::Recipe(recipe) = old {
            lazy::dismantle(recipe);
        }
        changed
    }
}
