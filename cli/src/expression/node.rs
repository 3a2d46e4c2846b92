//! What an expression is: a list of nodes, operands before what uses them.

use ndjit::Op;

/// The position of a node in its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

impl Id {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// `2`; of 64 bits, with or without a sign.
    Int(i128),
    /// `2.0`, `1e-3`, `inf`, `nan`.
    Float(f64),
    /// `2j`: times the imaginary unit.
    Imaginary(f64),
    /// `1 + 2j`, once it is computed.
    Complex(f64, f64),
    /// `True`, `False`.
    Bool(bool),
}

/// What stands between the commas of an index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// One index.
    Index(Id),
    /// `start:end:step`, each of which may be left out.
    Range {
        /// The first index.
        start: Option<Id>,
        /// The index after the last.
        end: Option<Id>,
        /// The distance of neighbours.
        step: Option<Id>,
    },
    /// `None`: a new axis of extent 1.
    NewAxis,
    /// `...`: as many whole axes as the others leave.
    Ellipsis,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A number.
    Number(Number),
    /// A name that is no function: an input, a dtype, a constant.
    Name(String),
    /// An operator with one operand: `-x`, `+x`, `~x`. A plus is none.
    Unary(Option<Op>, Id),
    /// An operator with two operands.
    Binary(Op, Id, Id),
    /// A function's call: its name, arguments by position, arguments by name.
    Call(String, Vec<Id>, Vec<(String, Id)>),
    /// A method's call, or an attribute where there are no parentheses: `x.sum(axis=0)`, `x.T`.
    Attribute(Id, String),
    /// `x[1:, ::-1]`.
    Index(Id, Vec<Part>),
    /// `[2, -1]` or `(0, 1)`.
    List(Vec<Id>),
    /// `'float32'`: a dtype or a mode.
    Text(String),
    /// `None`.
    None,
}

impl NodeKind {
    /// The nodes that it uses.
    pub fn operands(&self) -> Vec<Id> {
        match self {
            NodeKind::Number(_) | NodeKind::Name(_) | NodeKind::Text(_) | NodeKind::None => Vec::new(),
            NodeKind::Unary(_, x) | NodeKind::Attribute(x, _) => vec![*x],
            NodeKind::Binary(_, x, y) => vec![*x, *y],
            NodeKind::Call(_, positional, named) => {
                positional.iter().copied().chain(named.iter().map(|(_, id)| *id)).collect()
            }
            NodeKind::List(items) => items.clone(),
            NodeKind::Index(x, parts) => {
                let of = |part: &Part| match part {
                    Part::Index(id) => [Some(*id), None, None],
                    Part::Range { start, end, step } => [*start, *end, *step],
                    Part::NewAxis | Part::Ellipsis => [None; 3],
                };
                [*x].into_iter().chain(parts.iter().flat_map(of).flatten()).collect()
            }
        }
    }
}

/// A node: what it is, and the columns of the text it is about.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where an error of it is shown: the column of its operator or name, from 1.
    pub column: u32,
}

impl PartialEq for Node {
    /// Columns do not count.
    fn eq(&self, other: &Node) -> bool {
        self.kind == other.kind
    }
}

/// An expression: its nodes, the last of which is the whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    pub(super) nodes: Vec<Node>,
}

impl Expression {
    /// The nodes, operands before what uses them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node.
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node that is the whole; none of an expression that was not parsed.
    pub fn root(&self) -> Option<Id> {
        self.nodes.len().checked_sub(1).map(|last| Id(last as u32))
    }

    /// The names that are not called, each once, in the order in which they stand: inputs, and whatever else is known by name.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for node in &self.nodes {
            if let NodeKind::Name(name) = &node.kind
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }
}
