//! Parser of fused kernels (see [`text`](super::text) for the form), and of statements, which loop nests also have.

use super::{
    ControlText, FusedKernel, KernelInput, KernelKind, KernelReduce, KernelScan, KernelScatter, OpBody, Part, Reads,
    ScalarId, Statements, StepText, StmtKind,
};
use crate::error::{Error, Result};
use crate::graph::parse::affine_map;
use crate::graph::{ControlKind, Scatter, SlotId, Value};
use crate::op::Op;
use crate::origin::StatementOrigin;
use crate::reduction::{AxisFunction, AxisSet, MAX_RANK};
use crate::text::{Line, Lines, axes, dtype_of, shape};
use smallvec::SmallVec;
use std::str::FromStr;
use std::sync::Arc;

impl FromStr for FusedKernel {
    type Err = Error;

    /// Parses the text of one kernel and verifies it by itself.
    ///
    /// ```
    /// use ndjit_ir::kernel::FusedKernel;
    ///
    /// let text = "kernel [8, 3] {\n  in0 = %0 : f32[8, 3]\n  t0 = load in0 : f32\n  t1 = sin t0 : f32\n  out0 = t1 -> %2\n}";
    /// let kernel: FusedKernel = text.parse()?;
    /// assert_eq!(kernel.to_string(), text);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// `Parse`, with line, column and the expected text; `Verify` for an invalid kernel.
    /// `Parse`, with line, column and what was expected there; `Verify` for a kernel that is not well-formed.
    fn from_str(text: &str) -> Result<FusedKernel> {
        let mut lines = Lines::new("kernel text", text);
        let header = lines.expect(HEADER)?;
        let kernel = read(header, &mut lines)?;
        lines.end()?;
        Ok(kernel)
    }
}

/// Parses the kernels of a program, as the stage `kernels` prints them, and verifies each by itself;
/// [`verify_steps`](super::verify_steps) checks them with their graph. Control flow is skipped: [`parse_steps`] returns it.
///
/// # Errors
/// `Parse`, with line, column and the expected text; `Verify` for an invalid kernel.
pub fn parse_kernels(text: &str) -> Result<Vec<FusedKernel>> {
    let kernel = |step| match step {
        StepText::Kernel(kernel) => Some(*kernel),
        StepText::Control(_) => None,
    };
    Ok(parse_steps(text)?.into_iter().filter_map(kernel).collect())
}

/// Parses the steps of a program, as the stage `kernels` prints them. The steps of control flow's graphs come after it.
///
/// ```
/// use ndjit_ir::kernel::{StepText, parse_steps};
///
/// let text = "while {\n  in0 = %0\n  out0 = result 0 -> %4\n}";
/// let steps = parse_steps(text)?;
/// assert!(matches!(&steps[..], [StepText::Control(_)]));
/// assert_eq!(steps[0].to_string(), text);
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
///
/// # Errors
/// As [`parse_kernels`].
pub fn parse_steps(text: &str) -> Result<Vec<StepText>> {
    let mut lines = Lines::new("kernel text", text);
    let mut steps = Vec::new();
    while let Some(mut header) = lines.next() {
        steps.push(match read_control(&mut header, &mut lines)? {
            Some(control) => StepText::Control(control),
            None => StepText::Kernel(Box::new(read(header, &mut lines)?)),
        });
    }
    Ok(steps)
}

/// Control flow's operands and results, if the header is one of control flow.
pub(crate) fn read_control(header: &mut Line<'_>, lines: &mut Lines<'_>) -> Result<Option<ControlText>> {
    let Some(kind) = ControlKind::ALL.into_iter().find(|kind| header.eat(kind.name())) else { return Ok(None) };
    header.expect("{")?;
    header.end()?;
    let mut control = ControlText { name: kind.name(), operands: Vec::new(), results: SmallVec::new() };
    loop {
        let mut line = lines.expect("`in0 = …`, `out0 = …` or `}`")?;
        if line.eat("}") {
            line.end()?;
            return Ok(Some(control));
        }
        if control.results.is_empty() && line.peek_word().starts_with('i') {
            line.numbered("in", control.operands.len())?;
            line.expect("=")?;
            control.operands.push(Value(line.id("%", "a value, as in `%0`")?));
        } else {
            line.numbered("out", control.results.len())?;
            line.expect("=")?;
            line.expect("result")?;
            let result: u32 = line.number_of("the number of a result")?;
            line.expect("->")?;
            control.results.push((result, Value(line.id("%", "a value, as in `%0`")?)));
        }
        line.end()?;
    }
}

const HEADER: &str = "`kernel […] {`";

/// The expected line between the header and the outputs.
const LINES: &str = "`in0 = …`, `l0 = …`, `t0 = …` or `out0 = …`, numbered in order";

fn read(mut header: Line<'_>, lines: &mut Lines<'_>) -> Result<FusedKernel> {
    if !header.eat("kernel") {
        return Err(header.expected(HEADER));
    }
    let shape_of_all = shape(&mut header)?;
    let verb = ["reduces", "contracts", "scans", "sorts"].into_iter().find(|verb| header.eat(verb));
    let reduce = verb.is_some();
    let axes = if reduce { Some(axes(&mut header)?) } else { None };
    header.expect("{")?;
    header.end()?;
    let (mut inputs, mut literals, mut body) = (Vec::new(), Vec::new(), OpBody::default());
    let mut stored = ParsedOutputs::default();
    loop {
        let mut line = lines.expect("`out0 = …` and `}`")?;
        if !stored.values.is_empty() {
            if line.eat("}") {
                line.end()?;
                break;
            }
            stored.read(&mut line, &mut body, reduce)?;
        } else if line.peek_word().starts_with('i') {
            line.numbered("in", inputs.len())?;
            line.expect("=")?;
            let reads = read_reads(&mut line)?;
            let value = Value(line.id("%", "a value, as in `%0`")?);
            line.expect(":")?;
            body.inputs.push(dtype_of(&mut line, "the dtype of what is read")?);
            inputs.push(KernelInput { value, shape: shape(&mut line)?, reads });
        } else if line.peek_word().starts_with('l') {
            line.numbered("l", literals.len())?;
            line.expect("=")?;
            literals.push(SlotId(line.id("#", "a slot, as in `#0`")?));
            line.expect(":")?;
            body.literals.push(dtype_of(&mut line, "the dtype of the literal")?);
        } else if line.peek_word().starts_with('t') {
            read_stmt(&mut line, &mut body)?;
        } else if line.peek_word().starts_with('o') {
            stored.read(&mut line, &mut body, reduce)?;
        } else {
            return Err(line.expected(LINES));
        }
        line.end()?;
    }
    let kind =
        stored.kind(verb.zip(axes)).map_err(|verb| header.error(format_args!("the kernel {verb}, by its outputs")))?;
    let (outputs, statements) = (stored.values, Statements::default());
    let kernel = FusedKernel { shape: shape_of_all, inputs, literals, body: Arc::new(body), outputs, kind, statements };
    kernel.verify()?;
    Ok(kernel)
}

/// The contents of the output lines.
#[derive(Default)]
struct ParsedOutputs {
    values: Vec<Value>,
    part: Option<Part>,
    functions: SmallVec<[AxisFunction; 1]>,
    scatter: Option<KernelScatter>,
}

impl ParsedOutputs {
    /// The kind of kernel, from the header.
    ///
    /// # Errors
    /// The verb of the outputs, if the header has another.
    fn kind(&self, header: Option<(&'static str, AxisSet)>) -> std::result::Result<KernelKind, &'static str> {
        let Some((verb, axes)) = header else {
            return Ok(match (self.part.clone(), self.scatter) {
                (_, Some(scatter)) => KernelKind::Scatter(scatter),
                (Some(part), None) => KernelKind::Part(Box::new(part)),
                (None, None) => KernelKind::Map,
            });
        };
        let mut all = axes.iter();
        // More than one axis is `None`; the verifier reports it.
        let axis = all.next().filter(|_| all.next().is_none()).unwrap_or(MAX_RANK);
        let kind = match verb {
            "sorts" => self.functions().map(|outputs| KernelKind::Sort(KernelScan { axis, outputs })),
            "scans" => self.functions().map(|outputs| KernelKind::Scan(KernelScan { axis, outputs })),
            "contracts" => self.functions().map(|outputs| KernelKind::Contract(KernelReduce { axes, outputs })),
            _ => self.functions().map(|outputs| KernelKind::Reduce(KernelReduce { axes, outputs })),
        };
        kind.map_err(|other| match other {
            AxisFunction::Reduction(_) => "reduces",
            AxisFunction::Scan(_) => "scans",
            AxisFunction::Sort(_) => "sorts",
        })
    }

    fn functions<F: TryFrom<AxisFunction, Error = AxisFunction>>(
        &self,
    ) -> std::result::Result<SmallVec<[F; 1]>, AxisFunction> {
        self.functions.iter().map(|&function| F::try_from(function)).collect()
    }

    /// `out0 = t2 -> %4`, `out0 = sum t2 -> %4`, `out0 = t2 -> %4 at (d0) -> (d0 + 3)`.
    fn read(&mut self, line: &mut Line<'_>, body: &mut OpBody, reduce: bool) -> Result<()> {
        line.numbered("out", self.values.len())?;
        line.expect("=")?;
        if line.eat("scatter") {
            let (scatter, updates) = read_scatter(line, body)?;
            self.scatter = Some(scatter);
            body.outputs.extend(updates);
            line.expect("->")?;
            self.values.push(Value(line.id("%", "the value that is stored, as in `%4`")?));
            return line.end();
        }
        if reduce {
            self.functions.push(read_function(line)?);
        }
        body.outputs.push(read_scalar(line, body)?);
        line.expect("->")?;
        let value = Value(line.id("%", "the value that is stored, as in `%4`")?);
        let mut part = None;
        if line.eat("at") {
            let view = affine_map(line)?;
            let mut value = |word| match line.eat(word) {
                true => line.id("%", "a value, as in `%0`").map(|id| Some(Value(id))),
                false => Ok(None),
            };
            let mut starts = SmallVec::new();
            while let Some(start) = value("start")? {
                starts.push(start);
            }
            part = Some(Part { view, into: value("rest")?, starts });
        }
        if !self.values.is_empty() && part != self.part {
            return Err(line.error("all outputs of a kernel are the same part"));
        }
        self.part = part;
        self.values.push(value);
        line.end()
    }
}

/// The part of a value that is read: nothing, or `rows of`.
fn read_reads(line: &mut Line<'_>) -> Result<Reads> {
    let word = line.peek_word();
    let found = Reads::ALL.into_iter().find(|reads| reads.prefix().split(' ').next() == Some(word) && !word.is_empty());
    let Some(reads) = found else { return Ok(Reads::Elements) };
    reads.prefix().split_whitespace().try_for_each(|word| line.expect(word))?;
    Ok(reads)
}

/// `add t2 at t1 into in3`, after `scatter`: the function, the element, the index and the array.
pub(crate) fn read_scatter(line: &mut Line<'_>, body: &OpBody) -> Result<(KernelScatter, [ScalarId; 2])> {
    let scatter = line.word("`set`, `add`, `min` or `max`", Scatter::named)?;
    let updates = read_scalar(line, body)?;
    line.expect("at")?;
    let index = read_scalar(line, body)?;
    line.expect("into")?;
    let into = line.id("in", "an input, as in `in0`")?;
    Ok((KernelScatter { scatter, into }, [updates, index]))
}

/// An elementary reduction, a scan, or a sort.
pub(crate) fn read_function(line: &mut Line<'_>) -> Result<AxisFunction> {
    line.word("a reduction or a scan, as in `sum`", |word| word.parse().ok())
}

/// `t2 = add t0, t1 : f32`, the next statement of the body.
pub(crate) fn read_stmt(line: &mut Line<'_>, body: &mut OpBody) -> Result<()> {
    line.numbered("t", body.stmts.len())?;
    line.expect("=")?;
    let (mut kind, mut args) = (StmtKind::Cast, SmallVec::new());
    if line.eat("load") {
        kind = StmtKind::Load(line.id("in", "an input, as in `in0`")?);
    } else if line.eat("gather") {
        kind = StmtKind::Gather(line.id("in", "an input, as in `in0`")?);
        line.expect(",")?;
        args.push(read_scalar(line, body)?);
    } else if line.eat("address") {
        kind = StmtKind::Address(line.id("in", "an input, as in `in0`")?);
        line.expect(",")?;
        args.push(read_scalar(line, body)?);
    } else if line.eat("literal") {
        kind = StmtKind::Literal(line.id("l", "a literal, as in `l0`")?);
    } else {
        if !line.eat("cast") {
            let op =
                line.word("an op, `load`, `gather`, `address`, `literal` or `cast`", |word| word.parse::<Op>().ok())?;
            kind = StmtKind::Op(op);
        }
        args = SmallVec::from_vec(line.items(|line| read_scalar(line, body))?);
    }
    line.expect(":")?;
    let dtype = dtype_of(line, "the dtype of the result")?;
    line.end()?;
    body.stmts.push(super::Stmt { kind, args, dtype, origin: StatementOrigin::Own });
    Ok(())
}

/// `t0`, defined above.
pub(crate) fn read_scalar(line: &mut Line<'_>, body: &OpBody) -> Result<ScalarId> {
    let scalar = ScalarId(line.id("t", "a scalar, as in `t0`")?);
    if scalar.index() >= body.stmts.len() {
        return Err(line.error(format_args!("{scalar} is not defined above this line")));
    }
    Ok(scalar)
}
