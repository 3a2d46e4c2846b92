//! Parser of bodies (see [`text`](super::text) for the form), and of instructions, which expanded loop nests also have.
//!
//! The text has no result types: they follow from the primitive's suffix, the table's type, or the inner body's results.

use super::{Body, Inst, InstKind, LookupTable, MAX_DEPTH, Prim, PrimSignature, Reg};
use crate::dtype::PrimType;
use crate::error::{Error, Result};
use crate::origin::StatementOrigin;
use crate::text::{Line, Lines};
use smallvec::SmallVec;
use std::str::FromStr;
use std::sync::Arc;

impl FromStr for Body {
    type Err = Error;

    /// Parses the text of a body and verifies it.
    ///
    /// ```
    /// use ndjit_ir::body::Body;
    ///
    /// let text = "body(r0: f32) {\n  r1 = const.f32 1.5\n  r2 = fmul.f32 r0, r1\n  return r2\n}";
    /// let body: Body = text.parse()?;
    /// assert_eq!(body.to_string(), text);
    /// # Ok::<(), ndjit_ir::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Parse`, with line, column and the expected text; `Verify` for an invalid body.
    fn from_str(text: &str) -> Result<Body> {
        let mut lines = Lines::new("body text", text);
        let mut header = lines.expect("`body(…) {`")?;
        header.expect("body")?;
        let body = read_block(&mut header, &mut lines, 0)?;
        lines.end()?;
        body.verify()?;
        Ok(body)
    }
}

/// Parameters, instructions, `return` and the closing brace, after `body`, `then` or `step`.
fn read_block(header: &mut Line<'_>, lines: &mut Lines<'_>, depth: usize) -> Result<Body> {
    if depth > MAX_DEPTH {
        return Err(header.error(format_args!("bodies nest deeper than {MAX_DEPTH}")));
    }
    let mut body = Body::default();
    header.expect("(")?;
    header.list(")", |line| {
        line.numbered("r", body.types.len())?;
        line.expect(":")?;
        body.types.push(read_type(line)?);
        Ok(())
    })?;
    body.inputs = body.types.len();
    header.expect("{")?;
    header.end()?;
    loop {
        let mut line = lines.expect("`return`")?;
        if line.eat("return") {
            if !line.is_empty() {
                body.outputs = line.items(|line| read_reg(line, &body))?;
            }
            line.end()?;
            lines.expect_only("}")?;
            return Ok(body);
        }
        read_inst(&mut line, lines, &mut body, depth)?;
    }
}

/// `r3 = fmul.f32 r0, r2`, the next instruction of the body, with its inner body's lines if it has one.
pub(crate) fn read_inst(line: &mut Line<'_>, lines: &mut Lines<'_>, body: &mut Body, depth: usize) -> Result<()> {
    let first = body.types.len();
    let mut results: u32 = 0;
    line.items(|line| {
        line.numbered("r", first + results as usize)?;
        results += 1;
        Ok(())
    })?;
    line.expect("=")?;
    let (kind, args, types) = read_operation(line, lines, body, depth)?;
    if types.len() != results as usize {
        return Err(line.error(format_args!("{results} results on the left, {} on the right", types.len())));
    }
    body.types.extend(types);
    body.insts.push(Inst { kind, args, first: Reg::from_index(first), results, origin: StatementOrigin::Own });
    Ok(())
}

/// Kind, operands and result types of an instruction.
type ParsedInst = (InstKind, SmallVec<[Reg; 3]>, Vec<PrimType>);

fn read_operation(line: &mut Line<'_>, lines: &mut Lines<'_>, body: &Body, depth: usize) -> Result<ParsedInst> {
    let args = |line: &mut Line<'_>| line.items(|line| read_reg(line, body)).map(SmallVec::from_vec);
    if line.eat("const") {
        let ty = read_suffix(line)?;
        let kind = InstKind::Const(read_bits(line, ty)?);
        line.end()?;
        return Ok((kind, SmallVec::new(), vec![ty]));
    }
    if line.eat("table") {
        let args = args(line)?;
        line.expect("of")?;
        let ty = read_type(line)?;
        line.expect("[")?;
        let values = line.list("]", |line| read_bits(line, ty))?;
        line.end()?;
        return Ok((InstKind::Table(Arc::new(LookupTable { ty, values })), args, vec![ty]));
    }
    if line.eat("gather") {
        let input = line.id("in", "an input, as in `in0`")?;
        line.expect(".")?;
        let word = line.number_of("which word of an element")?;
        line.expect(",")?;
        let args = args(line)?;
        line.expect(":")?;
        let ty = read_type(line)?;
        line.end()?;
        return Ok((InstKind::Gather { input, word }, args, vec![ty]));
    }
    if line.eat("if") {
        let args = args(line)?;
        line.expect("then")?;
        let inner = read_block(line, lines, depth + 1)?;
        let types = inner.output_types().collect();
        return Ok((InstKind::If(Arc::new(inner)), args, types));
    }
    if line.eat("repeat") {
        let max = line.number_of("the largest number of trips")?;
        line.expect("state")?;
        let state = line.number_of("the number of state registers")?;
        let args = args(line)?;
        line.expect("step")?;
        let inner = read_block(line, lines, depth + 1)?;
        let types = inner.output_types().skip(1).collect();
        return Ok((InstKind::Repeat { max, state, body: Arc::new(inner) }, args, types));
    }
    let known = |word: &str| Prim::ALL.iter().copied().find(|prim| prim.name() == word);
    let prim = line.word("a primitive, `const`, `table`, `gather`, `if` or `repeat`", known)?;
    let ty = read_suffix(line)?;
    // Operand type of the suffix, and the result type.
    let (operand, result) = match prim.signature() {
        PrimSignature::Same(_) | PrimSignature::Select => (None, ty),
        PrimSignature::Compare => (Some(ty), PrimType::Bool),
        PrimSignature::Convert => (Some(ty), read_suffix(line)?),
    };
    let args: SmallVec<[Reg; 3]> = args(line)?;
    if let (Some(ty), Some(&first)) = (operand, args.first())
        && body.ty(first) != ty
    {
        return Err(line.error(format_args!("{first} is {}, not {ty}", body.ty(first))));
    }
    line.end()?;
    Ok((InstKind::Prim(prim), args, vec![result]))
}

/// `r0`, defined above.
pub(crate) fn read_reg(line: &mut Line<'_>, body: &Body) -> Result<Reg> {
    let reg = Reg(line.id("r", "a register, as in `r0`")?);
    if reg.index() >= body.types.len() {
        return Err(line.error(format_args!("{reg} is not defined above this line")));
    }
    Ok(reg)
}

/// `.f32`.
fn read_suffix(line: &mut Line<'_>) -> Result<PrimType> {
    line.expect(".")?;
    read_type(line)
}

/// `f32`.
fn read_type(line: &mut Line<'_>) -> Result<PrimType> {
    let known = |word: &str| PrimType::ALL.into_iter().find(|ty| ty.name() == word);
    line.word("a type: bool i8 i16 i32 i64 f32 f64", known)
}

/// A constant's bits, in the low bits of a word.
fn read_bits(line: &mut Line<'_>, ty: PrimType) -> Result<u64> {
    let text = line.peek_while(|c| !c.is_whitespace() && !matches!(c, ',' | ']'));
    let bits = match ty {
        PrimType::Bool => text.parse::<bool>().ok().map(u64::from),
        PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => integer(text, ty),
        PrimType::F32 => {
            let nan = || nan(text).filter(|&bits| f32::from_bits(bits as u32).is_nan());
            float(text, f32::is_finite).map(|value| value.to_bits().into()).or_else(nan)
        }
        PrimType::F64 => {
            let nan = || nan(text).filter(|&bits| f64::from_bits(bits).is_nan());
            float(text, f64::is_finite).map(f64::to_bits).or_else(nan)
        }
    };
    let bits = bits.filter(|bits| bits & !ty.mask() == 0);
    let bits = bits.ok_or_else(|| line.expected(format_args!("a constant of type {ty}")))?;
    line.skip(text);
    Ok(bits)
}

/// `-3`, `0xffff0000`.
fn integer(text: &str, ty: PrimType) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return hexadecimal(digits);
    }
    let value: i64 = text.parse().ok()?;
    let unused = 64 - ty.bits();
    (value << unused >> unused == value).then_some(value as u64 & ty.mask())
}

/// A decimal number, or `inf`; `None` if it is too large to be finite.
fn float<T: FromStr + Copy>(text: &str, is_finite: fn(T) -> bool) -> Option<T> {
    let value: T = text.parse().ok()?;
    (is_finite(value) || matches!(text, "inf" | "-inf")).then_some(value)
}

/// `nan:0x7fc00000`.
fn nan(text: &str) -> Option<u64> {
    hexadecimal(text.strip_prefix("nan:0x")?)
}

fn hexadecimal(digits: &str) -> Option<u64> {
    // `from_str_radix` accepts a sign.
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u64::from_str_radix(digits, 16).ok())?
}
