//! Children of the same type, such as the graphs that a graph calls, freed one after the other however deep they nest.

use std::sync::Arc;

/// What has children of its own type.
pub(crate) trait TreeNode: Sized {
    /// Its children, which may be left without.
    fn children(&mut self) -> &mut Nested<Self>;
}

/// Shared children. Freeing them needs no stack of its own depth.
#[derive(Clone, Debug)]
pub(crate) struct Nested<N: TreeNode>(Vec<Arc<N>>);

impl<N: TreeNode> Nested<N> {
    pub fn all(&self) -> &[Arc<N>] {
        &self.0
    }

    pub fn push(&mut self, child: Arc<N>) {
        self.0.push(child);
    }
}

impl<N: TreeNode> Default for Nested<N> {
    fn default() -> Nested<N> {
        Nested(Vec::new())
    }
}

impl<N: TreeNode> Drop for Nested<N> {
    fn drop(&mut self) {
        let mut waiting = std::mem::take(&mut self.0);
        while let Some(child) = waiting.pop() {
            // What others hold they free.
            if let Some(mut child) = Arc::into_inner(child) {
                waiting.append(&mut child.children().0);
            }
        }
    }
}
