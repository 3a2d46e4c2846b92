//! Parser of loop nests and geometries (see [`text`](super::text) for the form).

use super::text::InputRegister;
use super::{
    Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, NestReduce, NestScan, Role, Stride, VectorLoop,
};
use crate::body::{Body, read_inst, read_reg};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::{OpBody, read_control, read_function, read_scalar, read_scatter, read_stmt};
use crate::reduction::AxisFunction;
use crate::text::{Line, Lines, dtype_of};
use smallvec::SmallVec;
use std::str::FromStr;
use std::sync::Arc;

impl FromStr for LoopNest {
    type Err = Error;

    /// Parses the text of a nest over ops or over primitives, and verifies it.
    ///
    /// ```
    /// use ndjit_ir::loops::LoopNest;
    ///
    /// let text = "nest rank 1 {
    ///   in0: f32 contiguous
    ///   out0: f32 contiguous
    ///   for i0 {
    ///     t0 = load in0 : f32
    ///     t1 = sin t0 : f32
    ///     store out0, t1
    ///   }
    /// }";
    /// let nest: LoopNest = text.parse()?;
    /// assert_eq!(nest.to_string(), text);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Parse`, with line, column and the expected text; `Verify` for an invalid nest.
    fn from_str(text: &str) -> Result<LoopNest> {
        let mut lines = Lines::new(FORM, text);
        let header = lines.expect(HEADER)?;
        let nest = read_nest(header, &mut lines)?;
        lines.end()?;
        Ok(nest)
    }
}

impl FromStr for IterationDomain {
    type Err = Error;

    /// Parses the text of a domain. [`IterationDomain::verify`] checks it against a nest and its buffers.
    ///
    /// ```
    /// use ndjit_ir::loops::IterationDomain;
    ///
    /// let text = "domain [8, 3] {\n  in0: offset 0, strides [12, 4]\n  out0: offset 0, strides [12, 4]\n}";
    /// assert_eq!(text.parse::<IterationDomain>()?.to_string(), text);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Parse`, with line, column and the expected text.
    fn from_str(text: &str) -> Result<IterationDomain> {
        let mut lines = Lines::new(FORM, text);
        let mut header = lines.expect("`domain […] {`")?;
        header.expect("domain")?;
        let domain = read_geometry(header, &mut lines)?;
        lines.end()?;
        Ok(domain)
    }
}

/// Parses the nests of a program, as the stages `loops` and `expanded` print them: each with its domain, if one follows it. Control
/// flow is skipped; the nests of its graphs follow it.
///
/// # Errors
/// `Parse`, with line, column and the expected text; `Verify` for an invalid nest.
pub fn parse_nests(text: &str) -> Result<Vec<(LoopNest, Option<IterationDomain>)>> {
    let mut lines = Lines::new(FORM, text);
    let mut nests: Vec<(LoopNest, Option<IterationDomain>)> = Vec::new();
    while let Some(mut header) = lines.next() {
        if read_control(&mut header, &mut lines)?.is_some() {
            continue;
        }
        match nests.last_mut() {
            Some((_, domain @ None)) if header.eat("domain") => {
                *domain = Some(read_geometry(header, &mut lines)?);
            }
            _ => nests.push((read_nest(header, &mut lines)?, None)),
        }
    }
    Ok(nests)
}

const FORM: &str = "loop text";
const HEADER: &str = "`nest rank … {`";

fn read_nest(mut header: Line<'_>, lines: &mut Lines<'_>) -> Result<LoopNest> {
    if !header.eat("nest") {
        return Err(header.expected(HEADER));
    }
    header.expect("rank")?;
    let rank = header.number_of("the number of loops")?;
    let vectors = if header.eat(",") {
        header.expect("vectors")?;
        header.expect("along")?;
        Some(header.id("i", "the loop that vectors lie along, as in `i1`")? as usize)
    } else {
        None
    };
    header.expect("{")?;
    header.end()?;
    let mut nest = LoopNest {
        rank,
        inputs: Vec::new(),
        literals: Vec::new(),
        outputs: Vec::new(),
        body: LoopBody::Ops(Arc::default()),
        kind: NestKind::Map,
    };
    let mut line = lines.expect("`out0: …`")?;
    if line.peek_word().starts_with("in") {
        nest.inputs = numbered_list(&mut line, "in", read_access)?;
        line = lines.expect("`out0: …`")?;
    }
    if line.eat("literals") {
        line.expect(":")?;
        nest.literals = read_literals(&mut line)?;
        line = lines.expect("`out0: …`")?;
    }
    let outputs = numbered_list(&mut line, "out", read_output)?;
    nest.outputs = outputs.iter().map(|(access, _)| *access).collect();
    let functions: SmallVec<[AxisFunction; 1]> = outputs.iter().filter_map(|(_, function)| *function).collect();
    let mut mixed = || line.error("either every output is reduced, or each scanned, or sorted, or none is");
    if ![0, outputs.len()].contains(&functions.len()) {
        return Err(mixed());
    }
    // The next lines have the number of loops and the vector loop.
    let along = VectorLoop::Reduction;
    nest.kind = match functions.first() {
        None => NestKind::Map,
        Some(AxisFunction::Sort(_)) => NestKind::Sort(all_of(&functions).ok_or_else(&mut mixed)?),
        Some(AxisFunction::Scan(_)) => {
            NestKind::Scan(NestScan { outputs: all_of(&functions).ok_or_else(&mut mixed)?, along })
        }
        Some(AxisFunction::Reduction(_)) => {
            NestKind::Reduce(NestReduce { loops: 0, outputs: all_of(&functions).ok_or_else(&mut mixed)?, along })
        }
    };
    read_loops(&mut nest, lines)?;
    lines.expect_only("}")?;
    read_along(&mut nest, vectors, &mut header)?;
    nest.verify()?;
    Ok(nest)
}

/// `in0: f32 contiguous, in1: i8 broadcast`.
fn numbered_list<T>(line: &mut Line<'_>, prefix: &str, read: fn(&mut Line<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut number = 0;
    let items = line.items(|line| {
        line.numbered(prefix, number)?;
        number += 1;
        line.expect(":")?;
        read(line)
    })?;
    line.end()?;
    Ok(items)
}

/// `l0 f32, l1 i64`.
fn read_literals(line: &mut Line<'_>) -> Result<Vec<DType>> {
    let mut number = 0;
    let literals = line.items(|line| {
        line.numbered("l", number)?;
        number += 1;
        dtype_of(line, "the dtype of the literal")
    })?;
    line.end()?;
    Ok(literals)
}

/// `f32 contiguous`, `i64 index strided`.
fn read_access(line: &mut Line<'_>) -> Result<Access> {
    let dtype = dtype_of(line, "the dtype of the elements")?;
    let word = line.peek_word();
    let role = Role::ALL.into_iter().find(|role| !word.is_empty() && role.prefix().trim_end() == word);
    if role.is_some() {
        line.skip(word);
    }
    let known = |word: &str| Stride::ALL.into_iter().find(|stride| stride.name() == word);
    let inner = line.word("`contiguous`, `broadcast` or `strided`", known)?;
    Ok(Access { dtype, inner, role: role.unwrap_or(Role::Memory) })
}

/// The functions, if all are of one kind.
fn all_of<F: TryFrom<AxisFunction>>(functions: &[AxisFunction]) -> Option<SmallVec<[F; 1]>> {
    functions.iter().map(|&function| F::try_from(function).ok()).collect()
}

/// `f32 contiguous`; `f32 contiguous cumulative_sum` of a scan; `f32 sum` of a reduction, whose results are contiguous.
fn read_output(line: &mut Line<'_>) -> Result<(Access, Option<AxisFunction>)> {
    let mut ahead = line.clone();
    let dtype = dtype_of(&mut ahead, "the dtype of the elements")?;
    if let Ok(function @ AxisFunction::Reduction(_)) = read_function(&mut ahead) {
        *line = ahead;
        return Ok((Access::memory(dtype, Stride::Contiguous), Some(function)));
    }
    let access = read_access(line)?;
    if line.peek_word().is_empty() {
        return Ok((access, None));
    }
    let scan = line.word("a scan, as in `cumulative_sum`", |word| {
        word.parse().ok().filter(|function| !matches!(function, AxisFunction::Reduction(_)))
    })?;
    Ok((access, Some(scan)))
}

/// The loops and their inside, without the last closing brace.
fn read_loops(nest: &mut LoopNest, lines: &mut Lines<'_>) -> Result<()> {
    let mut line = lines.expect("`for i0 {`")?;
    if line.eat("preheader") {
        line.expect(":")?;
        line.end()?;
        if nest.rank != 1 || nest.kind.loops() > 0 || nest.kind.functions() > 0 {
            return Err(
                line.error("only in a nest of one loop, which neither reduces nor scans, no loop is around this")
            );
        }
        return read_prims(nest, lines, 0);
    }
    let mut loops = 0;
    if line.eat("for") {
        loops = read_axes(&mut line, 0)?;
    }
    let meets = nest.kind.functions() > 0;
    if meets {
        let contracts = matches!(nest.kind, NestKind::Reduce(_)) && line.eat("contract");
        if !contracts {
            line.expect(nest.kind.stores())?;
        }
        let reduced = read_axes(&mut line, loops)?;
        loops += reduced;
        match &mut nest.kind {
            NestKind::Reduce(reduce) => {
                reduce.loops = reduced;
                if contracts {
                    nest.kind = NestKind::Contract(reduce.clone());
                }
            }
            _ if reduced != 1 => return Err(line.error("a nest scans or sorts along one loop")),
            _ => {}
        }
    }
    line.expect("{")?;
    line.end()?;
    if loops != nest.rank && (meets || nest.rank.checked_sub(1) != Some(loops)) {
        return Err(line.error(format_args!("{loops} loops in a nest of rank {}", nest.rank)));
    }
    if loops != nest.rank {
        lines.expect_only("preheader:")?;
        return read_prims(nest, lines, loops);
    }
    read_innermost(nest, lines)
}

/// `i0, i1`, the first of them `i{from}`; returns their number.
fn read_axes(line: &mut Line<'_>, from: usize) -> Result<usize> {
    let mut axes = 0;
    line.items(|line| {
        line.numbered("i", from + axes)?;
        axes += 1;
        Ok(())
    })?;
    Ok(axes)
}

/// The inside of the innermost loop with its closing brace: ops, or primitives of a nest that reduces or scans.
fn read_innermost(nest: &mut LoopNest, lines: &mut Lines<'_>) -> Result<()> {
    let mut line = lines.expect("`t0 = …` or `r0 = …`")?;
    if nest.kind.functions() == 0 || !(line.peek_word() == "preheader" || is_register(&mut line)) {
        lines.put_back(line);
        nest.body = read_ops(nest, lines)?;
        return Ok(());
    }
    let mut prims = Prims::new(nest);
    if line.eat("preheader") {
        line.expect(":")?;
        line.end()?;
        prims.read(lines, Some(true))?;
        prims.hoisted = prims.body.insts.len();
        lines.expect_only("loop:")?;
        prims.read(lines, Some(false))?;
    } else {
        lines.put_back(line);
        prims.read(lines, None)?;
    }
    nest.body = prims.finish(nest, lines)?;
    Ok(())
}

/// Statements, stores, and the closing brace.
fn read_ops(nest: &mut LoopNest, lines: &mut Lines<'_>) -> Result<LoopBody> {
    let inputs = nest.inputs.iter().map(|access| access.dtype).collect();
    let mut body = OpBody { inputs, literals: nest.literals.clone(), ..OpBody::default() };
    loop {
        let mut line = lines.expect("a store")?;
        if !line.peek_word().starts_with('t') {
            lines.put_back(line);
            break;
        }
        read_stmt(&mut line, &mut body)?;
    }
    for output in 0..nest.outputs.len() {
        let mut line = lines.expect("a store")?;
        if line.eat("scatter") {
            let (scatter, outputs) = read_scatter(&mut line, &body)?;
            nest.kind = NestKind::Scatter(scatter);
            body.outputs.extend(outputs);
            line.end()?;
            continue;
        }
        line.expect(nest.kind.stores())?;
        line.numbered("out", output)?;
        line.expect(",")?;
        let scalar = read_scalar(&mut line, &body)?;
        line.end()?;
        body.outputs.push(scalar);
    }
    lines.expect_only("}")?;
    Ok(LoopBody::Ops(Arc::new(body)))
}

/// After `preheader:` of a nest that neither reduces nor scans, in `outer` loops, with the closing braces of all loops.
fn read_prims(nest: &mut LoopNest, lines: &mut Lines<'_>, outer: usize) -> Result<()> {
    let mut prims = Prims::new(nest);
    prims.read(lines, Some(true))?;
    prims.hoisted = prims.body.insts.len();
    let mut line = lines.expect("`loop: for i… {`")?;
    line.expect("loop")?;
    line.expect(":")?;
    line.expect("for")?;
    line.numbered("i", outer)?;
    line.expect("{")?;
    line.end()?;
    prims.read(lines, Some(false))?;
    nest.body = prims.finish(nest, lines)?;
    if outer > 0 { lines.expect_only("}") } else { Ok(()) }
}

/// A body of primitives being parsed.
struct Prims {
    body: Body,
    hoisted: usize,
    /// The registers of inputs and literals, and whether each has appeared.
    given: Vec<(InputRegister, bool)>,
}

impl Prims {
    fn new(nest: &LoopNest) -> Prims {
        let given: Vec<(InputRegister, bool)> = nest.given_registers().map(|given| (given, false)).collect();
        let types = given.iter().map(|(given, _)| given.ty).collect();
        Prims { body: Body { inputs: given.len(), types, ..Body::default() }, hoisted: 0, given }
    }

    /// The lines that begin with a register: of the preheader, of the loop, or of both.
    fn read(&mut self, lines: &mut Lines<'_>, preheader: Option<bool>) -> Result<()> {
        loop {
            let mut line = lines.expect("a store")?;
            if !is_register(&mut line) {
                lines.put_back(line);
                return Ok(());
            }
            let mut ahead = line.clone();
            let reg = ahead.id("r", "a register")? as usize;
            if !(ahead.eat("=") && matches!(ahead.peek_word(), "load" | "literal")) {
                read_inst(&mut line, lines, &mut self.body, 0)?;
                continue;
            }
            let Some((given, seen)) = self.given.get_mut(reg) else {
                return Err(line.error(format_args!("r{reg} is no register of an input or a literal")));
            };
            if preheader.is_some_and(|preheader| preheader != given.hoisted) {
                let part = if given.hoisted { "preheader" } else { "loop" };
                return Err(line.error(format_args!("r{reg} stands in the {part}")));
            }
            if std::mem::replace(seen, true) {
                return Err(line.error(format_args!("r{reg} is loaded above")));
            }
            given.read(&mut ahead)?;
            ahead.end()?;
        }
    }

    /// Stores and the closing brace.
    fn finish(mut self, nest: &LoopNest, lines: &mut Lines<'_>) -> Result<LoopBody> {
        let mut line = lines.expect("a store")?;
        if let Some(reg) = self.given.iter().position(|(_, seen)| !seen) {
            return Err(line.error(format_args!("`r{reg} = {}` is missing above this line", self.given[reg].0)));
        }
        lines.put_back(line);
        for (output, access) in nest.outputs.iter().enumerate() {
            let words = access.dtype.storage().len();
            for word in 0..words {
                let mut line = lines.expect("a store")?;
                line.expect(nest.kind.stores())?;
                line.numbered("out", output)?;
                if words > 1 {
                    line.numbered(".", word)?;
                }
                line.expect(",")?;
                self.body.outputs.push(read_reg(&mut line, &self.body)?);
                line.end()?;
            }
        }
        lines.expect_only("}")?;
        Ok(LoopBody::Prims { body: self.body, hoisted: self.hoisted })
    }
}

/// Returns `true` if the line begins with a register.
fn is_register(line: &mut Line<'_>) -> bool {
    line.peek_word().strip_prefix('r').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The loop to vectorize, from the header.
fn read_along(nest: &mut LoopNest, vectors: Option<usize>, header: &mut Line<'_>) -> Result<()> {
    for along in [VectorLoop::Reduction, VectorLoop::Parallel] {
        match &mut nest.kind {
            NestKind::Reduce(reduce) | NestKind::Contract(reduce) => reduce.along = along,
            NestKind::Scan(scan) => scan.along = along,
            NestKind::Map | NestKind::Sort(_) | NestKind::Scatter(_) => {}
        }
        if nest.vectors() == vectors {
            return Ok(());
        }
    }
    Err(header.error("vectors lie along the last loop, or in a nest that reduces or scans along the last kept one"))
}

/// The text after `domain`.
fn read_geometry(mut header: Line<'_>, lines: &mut Lines<'_>) -> Result<IterationDomain> {
    header.expect("[")?;
    let extents = header.list("]", |line| line.number_of("an extent"))?;
    header.expect("{")?;
    header.end()?;
    let mut domain = IterationDomain { extents: SmallVec::from_vec(extents), ..IterationDomain::default() };
    loop {
        let mut line = lines.expect("`}`")?;
        if line.eat("}") {
            line.end()?;
            return Ok(domain);
        }
        if domain.outputs.is_empty() && line.peek_word().starts_with("in") {
            line.numbered("in", domain.inputs.len())?;
            domain.inputs.push(read_layout(&mut line)?);
        } else {
            line.numbered("out", domain.outputs.len())?;
            domain.outputs.push(read_layout(&mut line)?);
        }
    }
}

/// `: offset 0, strides [12, 4]`.
fn read_layout(line: &mut Line<'_>) -> Result<Layout> {
    line.expect(":")?;
    line.expect("offset")?;
    let offset = line.number_of("an offset in bytes")?;
    line.expect(",")?;
    line.expect("strides")?;
    line.expect("[")?;
    let strides = line.list("]", |line| line.signed("a stride in bytes"))?;
    line.end()?;
    Ok(Layout { offset, strides: SmallVec::from_vec(strides) })
}
