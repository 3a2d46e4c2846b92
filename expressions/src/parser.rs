//! Parses expressions by precedence climbing with an explicit stack: nesting takes memory proportional to the text, and
//! no call stack.

use crate::error::Problem;
use crate::lexer::{PlacedToken, Token, words};
use crate::names::function;
use crate::node::{ExprNode, ExprNodeKind, ExprNumber, Expression, Id, IndexPart};
use ndjit::{Op, nearest};

/// Maximum length of an expression in characters.
pub const LONGEST: usize = 16 << 10;

/// Maximum number of nodes, which bounds the compile time.
pub const MOST_NODES: usize = 2000;

/// Precedences of operators, as in Python; a larger number binds tighter.
const COMPARISON: u8 = 4;
const UNARY: u8 = 11;
const POWER: u8 = 12;

/// The binary operators.
pub(crate) const BINARY: [(&str, Op, u8); 18] = [
    ("<", Op::Less, COMPARISON),
    ("<=", Op::LessEqual, COMPARISON),
    (">", Op::Greater, COMPARISON),
    (">=", Op::GreaterEqual, COMPARISON),
    ("==", Op::Equal, COMPARISON),
    ("!=", Op::NotEqual, COMPARISON),
    ("|", Op::BitwiseOr, 5),
    ("^", Op::BitwiseXor, 6),
    ("&", Op::BitwiseAnd, 7),
    ("<<", Op::BitwiseLeftShift, 8),
    (">>", Op::BitwiseRightShift, 8),
    ("+", Op::Add, 9),
    ("-", Op::Subtract, 9),
    ("*", Op::Multiply, 10),
    ("/", Op::Divide, 10),
    ("//", Op::FloorDivide, 10),
    ("%", Op::Remainder, 10),
    ("**", Op::Pow, POWER),
];

/// The unary operators; a plus has no op.
pub(crate) const UNARIES: [(&str, Option<Op>); 3] =
    [("-", Some(Op::Negative)), ("+", None), ("~", Some(Op::BitwiseInvert))];

/// Parses an expression.
///
/// ```
/// use ndjit_expressions::parse;
///
/// assert_eq!(parse("-x ** 2 + y")?.to_string(), "((-(x ** 2)) + y)");
/// assert_eq!(parse("x +").unwrap_err().column, 4);
/// # Ok::<(), ndjit_expressions::Problem>(())
/// ```
///
/// # Errors
/// The first syntax error, with its column.
pub fn parse(text: &str) -> Result<Expression, Problem> {
    if text.len() > LONGEST {
        return Err(Problem::new(1, format!("an expression of {} bytes", text.len()))
            .help(format!("the limit is {LONGEST}; split it up")));
    }
    let words = words(text)?;
    let mut parser = ExprParser { words: &words, at: 0, stack: Vec::new(), nodes: Vec::new(), grouped: None };
    let mut value = parser.operand()?;
    loop {
        value = match parser.after(value)? {
            Next::Operand => parser.operand()?,
            Next::Value(value) => value,
            Next::Done => return Ok(Expression { nodes: parser.nodes }),
        };
    }
}

/// An open construct around the current operand.
enum OpenConstruct {
    Unary {
        op: Option<Op>,
        column: u32,
    },
    Binary {
        op: Op,
        left: Id,
        binds: u8,
        column: u32,
    },
    /// `(`: an expression, or with commas a list.
    Group {
        items: Vec<Id>,
        comma: bool,
        column: u32,
    },
    /// `[`: a list.
    List {
        items: Vec<Id>,
        column: u32,
    },
    Call {
        name: String,
        arguments: Vec<Id>,
        named: Vec<(String, Id)>,
        keyword: Option<String>,
        column: u32,
    },
    Index {
        of: Id,
        parts: Vec<IndexPart>,
        range: Option<Vec<Option<Id>>>,
        column: u32,
    },
}

/// The parser's state after a value.
enum Next {
    Operand,
    Value(Id),
    Done,
}

struct ExprParser<'a> {
    words: &'a [PlacedToken],
    at: usize,
    stack: Vec<OpenConstruct>,
    nodes: Vec<ExprNode>,
    /// The last parenthesized value.
    grouped: Option<Id>,
}

impl ExprParser<'_> {
    fn word(&self) -> &PlacedToken {
        // The last token is the end; nothing moves beyond it.
        &self.words[self.at.min(self.words.len() - 1)]
    }

    fn next_is(&self, symbol: &str) -> bool {
        let next = self.words.get(self.at + 1);
        next.is_some_and(|word| matches!(&word.token, Token::Symbol(s) if *s == symbol))
    }

    fn symbol(&self) -> Option<&'static str> {
        match self.word().token {
            Token::Symbol(symbol) => Some(symbol),
            Token::Number(_) | Token::Name(_) | Token::Text(_) | Token::End => None,
        }
    }

    fn node(&mut self, kind: ExprNodeKind, column: u32) -> Result<Id, Problem> {
        if self.nodes.len() >= MOST_NODES {
            return Err(Problem::new(column, format!("more than {MOST_NODES} operations, names and numbers"))
                .help("compute it in several steps"));
        }
        self.nodes.push(ExprNode { kind, column });
        Ok(Id(self.nodes.len() as u32 - 1))
    }

    /// Parses up to the next value: a number, a name, or an empty bracket.
    fn operand(&mut self) -> Result<Id, Problem> {
        loop {
            let PlacedToken { token, column } = self.word().clone();
            match token {
                Token::Number(number) => {
                    self.at += 1;
                    return self.node(ExprNodeKind::Number(number), column);
                }
                Token::Text(text) => {
                    self.at += 1;
                    return self.node(ExprNodeKind::Text(text), column);
                }
                Token::Name(name) => match self.name(name, column)? {
                    Some(value) => return Ok(value),
                    None => continue,
                },
                Token::Symbol(symbol) => {
                    if let Some((_, op)) = UNARIES.iter().find(|(unary, _)| *unary == symbol) {
                        self.at += 1;
                        self.stack.push(OpenConstruct::Unary { op: *op, column });
                        continue;
                    }
                    if let Some(value) = self.bracket(symbol, column)? {
                        return Ok(value);
                    }
                }
                Token::End => return Err(self.expected(column, "the end")),
            }
        }
    }

    /// Parses a name in the place of an operand: a value, or the start of a call.
    fn name(&mut self, name: String, column: u32) -> Result<Option<Id>, Problem> {
        if let Some(problem) = keyword(&name, column) {
            return Err(problem);
        }
        if let Some(OpenConstruct::Call { keyword, arguments: _, .. }) = self.stack.last_mut()
            && keyword.is_none()
            && matches!(self.words.get(self.at + 1).map(|w| &w.token), Some(Token::Symbol("=")))
        {
            *keyword = Some(name);
            self.at += 2;
            return Ok(None);
        }
        if self.next_is("(") {
            self.at += 2;
            return self.call(name, Vec::new(), column);
        }
        self.at += 1;
        let kind = match name.as_str() {
            "True" => ExprNodeKind::Number(ExprNumber::Bool(true)),
            "False" => ExprNodeKind::Number(ExprNumber::Bool(false)),
            "None" => ExprNodeKind::None,
            _ => ExprNodeKind::Name(name),
        };
        self.node(kind, column).map(Some)
    }

    /// Starts a call after its parenthesis; an empty one ends at once.
    fn call(&mut self, name: String, arguments: Vec<Id>, column: u32) -> Result<Option<Id>, Problem> {
        if self.symbol() == Some(")") {
            self.at += 1;
            return self.node(ExprNodeKind::Call(name, arguments, Vec::new()), column).map(Some);
        }
        self.stack.push(OpenConstruct::Call { name, arguments, named: Vec::new(), keyword: None, column });
        Ok(None)
    }

    /// Parses a symbol other than an operator in the place of an operand.
    fn bracket(&mut self, symbol: &'static str, column: u32) -> Result<Option<Id>, Problem> {
        let empty = match self.stack.last() {
            Some(OpenConstruct::Group { comma: true, .. } | OpenConstruct::List { .. }) => true,
            Some(OpenConstruct::Call { keyword: None, arguments, named, .. }) => {
                !arguments.is_empty() || !named.is_empty()
            }
            Some(OpenConstruct::Index { parts, range: None, .. }) => !parts.is_empty(),
            _ => false,
        };
        match (symbol, self.stack.last_mut()) {
            ("(", _) => {
                self.at += 1;
                if self.symbol() == Some(")") {
                    self.at += 1;
                    return self.node(ExprNodeKind::List(Vec::new()), column).map(Some);
                }
                self.stack.push(OpenConstruct::Group { items: Vec::new(), comma: false, column });
                Ok(None)
            }
            ("[", _) => {
                self.at += 1;
                self.stack.push(OpenConstruct::List { items: Vec::new(), column });
                Ok(None)
            }
            // After a comma, or in an empty list.
            (")", Some(OpenConstruct::Group { .. } | OpenConstruct::Call { .. })) if empty => {
                self.close(column).map(Some)
            }
            ("]", Some(OpenConstruct::List { .. } | OpenConstruct::Index { .. })) if empty => {
                self.close(column).map(Some)
            }
            (":", Some(OpenConstruct::Index { range, .. })) => {
                let range = range.get_or_insert_default();
                if range.len() == 2 {
                    return Err(Problem::new(column, "a range has three parts at most").help("write `start:end:step`"));
                }
                range.push(None);
                self.at += 1;
                Ok(None)
            }
            ("]" | ",", Some(OpenConstruct::Index { range: Some(_), .. })) => self.part(None, column),
            ("...", Some(OpenConstruct::Index { range: None, parts, .. })) => {
                parts.push(IndexPart::Ellipsis);
                self.at += 1;
                self.after_part()
            }
            _ => Err(self.expected(column, &format!("`{symbol}`"))),
        }
    }

    fn expected(&self, column: u32, found: &str) -> Problem {
        let problem = Problem::new(column, format!("expected a number, a name or `(`, found {found}"));
        match self.stack.last() {
            Some(OpenConstruct::Binary { op, column, .. }) => {
                let symbol = BINARY.iter().find(|(_, other, _)| other == op).map_or("", |(symbol, ..)| symbol);
                problem.help(format!("the `{symbol}` at column {column} has no right operand"))
            }
            Some(OpenConstruct::Index { parts, range: None, .. }) if parts.is_empty() => {
                problem.help("an index is a number, a range `1:3`, `...` or `None`")
            }
            _ => match found {
                "`*`" | "`**`" | "`/`" | "`=`" => problem.help("an operator stands between its operands"),
                "the end" => problem.help("write an expression, as `x + 1`"),
                _ => problem,
            },
        }
    }

    /// Parses after a value: an operator, an opening or closing bracket, the end.
    fn after(&mut self, value: Id) -> Result<Next, Problem> {
        let PlacedToken { token, column } = self.word().clone();
        let symbol = match token {
            Token::Symbol(symbol) => symbol,
            Token::End => {
                let value = self.reduce(value, 0)?;
                return match self.stack.last() {
                    None => {
                        debug_assert_eq!(value.index() + 1, self.nodes.len());
                        Ok(Next::Done)
                    }
                    Some(open) => Err(unclosed(open, column)),
                };
            }
            Token::Name(name) => {
                return Err(keyword(&name, column).unwrap_or_else(|| {
                    Problem::new(column, format!("expected an operator before `{name}`"))
                        .help(self.missing(value, &name))
                }));
            }
            Token::Text(_) => {
                return Err(Problem::new(column, "expected an operator before a text")
                    .help("texts stand for dtypes and modes: `astype(x, 'float32')`"));
            }
            Token::Number(_) => {
                return Err(Problem::new(column, "expected an operator before a number")
                    .help("operators are written: `2 * x`, `x ** 2`"));
            }
        };
        if let Some((symbol, op, binds)) = BINARY.iter().copied().find(|(binary, ..)| *binary == symbol) {
            self.at += 1;
            // Equal precedence associates to the left, except for powers.
            let left = self.reduce(value, if binds == POWER { binds + 1 } else { binds })?;
            if let (COMPARISON, ExprNodeKind::Binary(before, ..)) = (binds, &self.nodes[left.index()].kind)
                && BINARY.iter().any(|(_, op, binds)| op == before && *binds == COMPARISON)
                && self.grouped != Some(left)
            {
                return Err(chained(column, symbol));
            }
            self.stack.push(OpenConstruct::Binary { op, left, binds, column });
            return Ok(Next::Operand);
        }
        match symbol {
            "." => self.attribute(value),
            "(" => self.method(value, column),
            "[" => {
                self.at += 1;
                self.stack.push(OpenConstruct::Index { of: value, parts: Vec::new(), range: None, column });
                Ok(Next::Operand)
            }
            "," | ")" | "]" | ":" => {
                let value = self.reduce(value, 0)?;
                self.delimiter(symbol, value, column)
            }
            _ => Err(no_operator(symbol, column)),
        }
    }

    /// Applies the pending operators that bind at least as tight.
    fn reduce(&mut self, mut value: Id, binds: u8) -> Result<Id, Problem> {
        loop {
            let (kind, column) = match self.stack.last() {
                Some(&OpenConstruct::Unary { op, column }) if UNARY >= binds => {
                    (ExprNodeKind::Unary(op, value), column)
                }
                Some(&OpenConstruct::Binary { op, left, binds: own, column }) if own >= binds => {
                    (ExprNodeKind::Binary(op, left, value), column)
                }
                _ => return Ok(value),
            };
            self.stack.pop();
            value = self.node(kind, column)?;
        }
    }

    fn attribute(&mut self, value: Id) -> Result<Next, Problem> {
        self.at += 1;
        let PlacedToken { token, column } = self.word().clone();
        let Token::Name(name) = token else {
            return Err(Problem::new(column, "expected a method after `.`").help("as in `x.sum(axis=0)` or `x.T`"));
        };
        if let Some(problem) = keyword(&name, column) {
            return Err(problem);
        }
        self.at += 1;
        if self.symbol() == Some("(") {
            self.at += 1;
            return Ok(match self.call(name, vec![value], column)? {
                Some(value) => Next::Value(value),
                None => Next::Operand,
            });
        }
        self.node(ExprNodeKind::Attribute(value, name), column).map(Next::Value)
    }

    /// Rejects a call of a value that is not a name.
    fn method(&mut self, value: Id, column: u32) -> Result<Next, Problem> {
        let help = match &self.nodes[value.index()].kind {
            ExprNodeKind::Number(_) => "a product is written with `*`",
            _ => "functions are called by name: `sin(x)`; a product is written with `*`",
        };
        Err(Problem::new(column, "what stands before `(` is not a function").help(help))
    }

    /// Parses a comma, colon or closing bracket after a value.
    fn delimiter(&mut self, symbol: &'static str, value: Id, column: u32) -> Result<Next, Problem> {
        match (symbol, self.stack.last_mut()) {
            ("," | ")", Some(OpenConstruct::Group { items, comma, .. })) => {
                items.push(value);
                *comma |= symbol == ",";
            }
            ("," | "]", Some(OpenConstruct::List { items, .. })) => items.push(value),
            ("," | ")", Some(OpenConstruct::Call { arguments, named, keyword, .. })) => match keyword.take() {
                Some(name) if named.iter().any(|(other, _)| *other == name) => {
                    return Err(Problem::new(column, format!("`{name}` is given twice")));
                }
                Some(name) => named.push((name, value)),
                None if !named.is_empty() => {
                    return Err(Problem::new(column, "an argument without a name after one with a name")
                        .help("arguments by position come first"));
                }
                None => arguments.push(value),
            },
            (":", Some(OpenConstruct::Index { range, .. })) => {
                let range = range.get_or_insert_default();
                if range.len() == 2 {
                    return Err(Problem::new(column, "a range has three parts at most").help("write `start:end:step`"));
                }
                range.push(Some(value));
                self.at += 1;
                return Ok(Next::Operand);
            }
            ("," | "]", Some(OpenConstruct::Index { .. })) => {
                return Ok(match self.part(Some(value), column)? {
                    Some(value) => Next::Value(value),
                    None => Next::Operand,
                });
            }
            (_, Some(open)) => return Err(mismatched(symbol, open, column)),
            (_, None) => {
                return Err(match symbol {
                    "," => Problem::new(column, "one expression is computed")
                        .help("for several results run `ndjit` for each, or `stack` them"),
                    ":" => Problem::new(column, "`:` outside of an index").help("ranges stand in brackets: `x[1:3]`"),
                    _ => Problem::new(column, format!("unmatched `{symbol}`")).help("take it away, or open it before"),
                });
            }
        }
        self.at += 1;
        match symbol {
            "," => Ok(Next::Operand),
            _ => self.close_read(column).map(Next::Value),
        }
    }

    /// Ends an item of an index, at a comma or the bracket.
    fn part(&mut self, value: Option<Id>, column: u32) -> Result<Option<Id>, Problem> {
        let is_new_axis = value.is_some_and(|id| self.is_new_axis(id));
        let Some(OpenConstruct::Index { parts, range, .. }) = self.stack.last_mut() else {
            return Err(Problem::new(column, "a part of an index outside of brackets"));
        };
        parts.push(match (range.take(), value) {
            (None, Some(_)) if is_new_axis => IndexPart::NewAxis,
            (None, Some(value)) => IndexPart::Index(value),
            (None, None) => IndexPart::Range { start: None, end: None, step: None },
            (Some(mut given), value) => {
                given.push(value);
                let mut given = given.into_iter();
                let mut next = || given.next().flatten();
                IndexPart::Range { start: next(), end: next(), step: next() }
            }
        });
        self.after_part()
    }

    /// Continues after an item of an index: with the next item, or the end of the index.
    fn after_part(&mut self) -> Result<Option<Id>, Problem> {
        let PlacedToken { token, column } = self.word().clone();
        match token {
            Token::Symbol(",") => {
                self.at += 1;
                Ok(None)
            }
            Token::Symbol("]") => self.close(column).map(Some),
            _ => Err(Problem::new(column, "expected `,` or `]`")
                .help("parts of an index are numbers, ranges `1:3`, `...` and `None`")),
        }
    }

    fn is_new_axis(&self, id: Id) -> bool {
        match &self.nodes[id.index()].kind {
            ExprNodeKind::None => true,
            ExprNodeKind::Name(name) => name == "newaxis",
            _ => false,
        }
    }

    /// Closes the innermost bracket at the next token.
    fn close(&mut self, column: u32) -> Result<Id, Problem> {
        self.at += 1;
        self.close_read(column)
    }

    fn close_read(&mut self, at: u32) -> Result<Id, Problem> {
        match self.stack.pop() {
            Some(OpenConstruct::Group { items, comma: false, .. }) if items.len() == 1 => {
                self.grouped = items.first().copied();
                Ok(items[0])
            }
            Some(OpenConstruct::Group { items, column, .. } | OpenConstruct::List { items, column }) => {
                self.node(ExprNodeKind::List(items), column)
            }
            Some(OpenConstruct::Call { name, arguments, named, column, .. }) => {
                self.node(ExprNodeKind::Call(name, arguments, named), column)
            }
            Some(OpenConstruct::Index { of, parts, column, .. }) => self.node(ExprNodeKind::Index(of, parts), column),
            Some(OpenConstruct::Unary { .. } | OpenConstruct::Binary { .. }) | None => {
                Err(Problem::new(at, "unmatched closing bracket"))
            }
        }
    }

    /// Suggests the missing token between a value and a name.
    fn missing(&self, value: Id, name: &str) -> String {
        match &self.nodes[value.index()].kind {
            ExprNodeKind::Name(before) if function(before, 0).is_ok() => {
                format!("a function is called: `{before}({name})`")
            }
            ExprNodeKind::Name(before) => format!("a product is written `{before} * {name}`"),
            _ => format!("write `* {name}` for a product"),
        }
    }
}

/// Python keywords, which are not supported.
fn keyword(name: &str, column: u32) -> Option<Problem> {
    let help = match name {
        "and" => "of arrays write `&`, with parentheses around comparisons: `(x > 0) & (y < 1)`",
        "or" => "of arrays write `|`, with parentheses around comparisons: `(x > 0) | (y < 1)`",
        "not" => "of arrays write `~x`, or `logical_not(x)`",
        "if" | "else" => "element by element that is `where(condition, x, y)`",
        "in" | "is" => "elements are compared with `==`",
        "lambda" | "for" | "import" | "def" | "return" | "while" | "class" | "with" | "yield" | "await" => {
            "one expression is computed: names, numbers, operators and calls"
        }
        _ => return None,
    };
    Some(Problem::new(column, format!("`{name}` has no meaning for arrays")).help(help))
}

fn chained(column: u32, symbol: &str) -> Problem {
    Problem::new(column, format!("a comparison of a comparison: `{symbol}`"))
        .help("write `(a < b) & (b < c)`; `&` and `|` bind tighter than comparisons, so these need parentheses")
}

fn no_operator(symbol: &str, column: u32) -> Problem {
    let problem = Problem::new(column, format!("`{symbol}` is not an operator"));
    match symbol {
        "&&" => problem.help("write `&`, with parentheses around comparisons"),
        "||" => problem.help("write `|`, with parentheses around comparisons"),
        "=" | ":=" => problem.help("equality is `==`; inputs are given after the expression: `x=a.npy`"),
        "@" => problem.help("there are no matrix products yet"),
        _ => match nearest(symbol, BINARY.iter().map(|(symbol, ..)| *symbol)) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        },
    }
}

fn unclosed(open: &OpenConstruct, end: u32) -> Problem {
    let (bracket, column) = match open {
        OpenConstruct::Group { column, .. } => ("(", column),
        OpenConstruct::Call { column, .. } => ("(", column),
        OpenConstruct::List { column, .. } | OpenConstruct::Index { column, .. } => ("[", column),
        OpenConstruct::Unary { column, .. } | OpenConstruct::Binary { column, .. } => ("", column),
    };
    let what = if matches!(open, OpenConstruct::Call { .. }) { "the call" } else { "the bracket" };
    Problem::new(end, format!("a `{bracket}` is not closed")).help(format!("{what} at column {column} is still open"))
}

fn mismatched(symbol: &str, open: &OpenConstruct, column: u32) -> Problem {
    let (closes, opened) = match open {
        OpenConstruct::Group { column, .. } | OpenConstruct::Call { column, .. } => (")", column),
        OpenConstruct::List { column, .. } | OpenConstruct::Index { column, .. } => ("]", column),
        OpenConstruct::Unary { column, .. } | OpenConstruct::Binary { column, .. } => ("", column),
    };
    let problem = Problem::new(column, format!("`{symbol}` where `,` or `{closes}` was expected"));
    match symbol {
        ":" => problem.help("ranges stand in the brackets of an index: `x[1:3]`"),
        _ => problem.help(format!("what opened at column {opened} is closed by `{closes}`")),
    }
}
