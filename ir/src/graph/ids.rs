//! Ids of the parts of a graph.

use crate::id::entity;

entity! {
    /// One result of one node.
    Value "%"
}

entity! {
    /// A node of a graph.
    NodeId "node"
}

entity! {
    /// An interned shape of a graph.
    ShapeId "shape"
}

entity! {
    /// An interned view of a graph.
    ViewId "view"
}

entity! {
    /// A literal slot of a graph.
    SlotId "#"
}
