//! The nodes of an expression, operands before their users.

use ndjit::Op;

/// The index of a node in its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

impl Id {
    /// The index as an integer.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExprNumber {
    /// `2`: up to 64 bits, with or without a sign.
    Int(i128),
    /// `2.0`, `1e-3`, `inf`, `nan`.
    Float(f64),
    /// `2j`: times the imaginary unit.
    Imaginary(f64),
    /// `1 + 2j`, the result of a computation.
    Complex(f64, f64),
    /// `True`, `False`.
    Bool(bool),
}

/// An item between the commas of an index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IndexPart {
    /// One index.
    Index(Id),
    /// `start:end:step`, each part optional.
    Range {
        /// The first index.
        start: Option<Id>,
        /// The index after the last.
        end: Option<Id>,
        /// The distance between adjacent elements.
        step: Option<Id>,
    },
    /// `None`: a new axis of extent 1.
    NewAxis,
    /// `...`: all remaining axes.
    Ellipsis,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprNodeKind {
    /// A number.
    Number(ExprNumber),
    /// A name that is not called: an input, a dtype, a constant.
    Name(String),
    /// A unary operator: `-x`, `+x`, `~x`. `None` for a plus.
    Unary(Option<Op>, Id),
    /// A binary operator.
    Binary(Op, Id, Id),
    /// A function call: name, positional arguments, keyword arguments.
    Call(String, Vec<Id>, Vec<(String, Id)>),
    /// An attribute, `x.T`, or the callee of a method call, `x.sum(axis=0)`.
    Attribute(Id, String),
    /// `x[1:, ::-1]`.
    Index(Id, Vec<IndexPart>),
    /// `[2, -1]` or `(0, 1)`.
    List(Vec<Id>),
    /// `'float32'`: a dtype or a mode.
    Text(String),
    /// `None`.
    None,
}

impl ExprNodeKind {
    /// The operands of the node.
    pub fn operands(&self) -> Vec<Id> {
        match self {
            ExprNodeKind::Number(_) | ExprNodeKind::Name(_) | ExprNodeKind::Text(_) | ExprNodeKind::None => Vec::new(),
            ExprNodeKind::Unary(_, x) | ExprNodeKind::Attribute(x, _) => vec![*x],
            ExprNodeKind::Binary(_, x, y) => vec![*x, *y],
            ExprNodeKind::Call(_, positional, named) => {
                positional.iter().copied().chain(named.iter().map(|(_, id)| *id)).collect()
            }
            ExprNodeKind::List(items) => items.clone(),
            ExprNodeKind::Index(x, parts) => {
                let of = |part: &IndexPart| match part {
                    IndexPart::Index(id) => [Some(*id), None, None],
                    IndexPart::Range { start, end, step } => [*start, *end, *step],
                    IndexPart::NewAxis | IndexPart::Ellipsis => [None; 3],
                };
                [*x].into_iter().chain(parts.iter().flat_map(of).flatten()).collect()
            }
        }
    }
}

/// A node with its column.
#[derive(Clone, Debug)]
pub struct ExprNode {
    /// Its kind.
    pub kind: ExprNodeKind,
    /// The column of its errors: that of its operator or name, from 1.
    pub column: u32,
}

impl PartialEq for ExprNode {
    /// Ignores columns.
    fn eq(&self, other: &ExprNode) -> bool {
        self.kind == other.kind
    }
}

/// An expression: a list of nodes, the last of which is the root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    pub(crate) nodes: Vec<ExprNode>,
}

impl Expression {
    /// The nodes, operands before their users.
    pub fn nodes(&self) -> &[ExprNode] {
        &self.nodes
    }

    /// A node.
    pub fn node(&self, id: Id) -> &ExprNode {
        &self.nodes[id.index()]
    }

    /// The root; `None` for an expression that was not parsed.
    pub fn root(&self) -> Option<Id> {
        self.nodes.len().checked_sub(1).map(|last| Id(last as u32))
    }

    /// The names that are not called, without duplicates, in order: inputs, constants, dtypes.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for node in &self.nodes {
            if let ExprNodeKind::Name(name) = &node.kind
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }
}
