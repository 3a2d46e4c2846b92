//! Children of the node's own type, such as the callees of a graph, freed iteratively at any depth.

use std::sync::Arc;

/// A node with children of its own type.
pub(crate) trait TreeNode: Sized {
    /// The children; the caller may take them.
    fn children(&mut self) -> &mut Nested<Self>;
}

/// Shared children. Dropping them does not recurse.
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
            // Other owners free the shared ones.
            if let Some(mut child) = Arc::into_inner(child) {
                waiting.append(&mut child.children().0);
            }
        }
    }
}
