//! Bodies as WGSL statements: one `let` per instruction, without nested expressions.

use super::Features;
use super::prim::{self, register};
use ndjit_ir::body::{Body, Inst, InstKind, LookupTable};
use ndjit_ir::{PrimType, Result, StatementOrigin};
use std::fmt::Write;
use std::sync::Arc;

/// The text of a module's functions under construction.
pub struct ModuleWriter {
    pub features: Features,
    pub text: String,
    /// The origin of each line.
    pub origins: Vec<Option<StatementOrigin>>,
    /// The origin of the next lines.
    pub current: Option<StatementOrigin>,
    /// The kernel's statements, for comments.
    pub statements: Vec<String>,
    /// Tables of look-ups, declared before the functions.
    tables: Vec<Arc<LookupTable>>,
    indent: usize,
    /// The number of unique names so far.
    names: usize,
}

impl ModuleWriter {
    pub fn new(features: Features) -> ModuleWriter {
        ModuleWriter {
            features,
            text: String::new(),
            origins: Vec::new(),
            current: None,
            statements: Vec::new(),
            tables: Vec::new(),
            indent: 0,
            names: 0,
        }
    }

    pub fn line(&mut self, statement: impl AsRef<str>) {
        let _ = writeln!(self.text, "{:1$}{2}", "", 4 * self.indent, statement.as_ref());
        self.origins.push(self.current);
    }

    pub fn lines(&mut self, statements: &[String]) {
        statements.iter().for_each(|statement| self.line(statement));
    }

    /// Writes a line that opens a block, with the text of `inner` in it.
    pub fn block<R>(&mut self, head: impl AsRef<str>, inner: impl FnOnce(&mut ModuleWriter) -> R) -> R {
        self.line(format!("{} {{", head.as_ref()));
        self.indent += 1;
        let result = inner(self);
        self.indent -= 1;
        self.current = self.current.filter(|_| self.indent > 0);
        self.line("}");
        result
    }

    /// Writes an empty line between functions.
    pub fn separate(&mut self) {
        if !self.text.is_empty() {
            self.line("");
        }
    }

    /// Writes the return statement of a function.
    pub fn returns(&mut self, words: &[String]) {
        self.current = None;
        self.line(format!("return Words({});", words.join(", ")));
    }

    /// Sets the origin of the next lines to a statement of the kernel.
    pub fn note(&mut self, statement: u32) {
        if let Some(text) = self.statements.get(statement as usize).cloned() {
            self.current = Some(StatementOrigin::Statement(statement));
            self.line(format!("// {text}"));
        }
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Writes the statements of a body for inputs of these names. Returns the names of its outputs.
    pub fn body(&mut self, body: &Body, inputs: &[String]) -> Result<Vec<String>> {
        let mut names: Vec<String> = inputs.to_vec();
        let mut noted = None;
        for inst in &body.insts {
            if let StatementOrigin::Statement(statement) = inst.origin
                && noted.replace(statement) != Some(statement)
            {
                self.note(statement);
            }
            let results = self.inst(body, inst, &names)?;
            names.extend(results);
        }
        Ok(body.outputs.iter().map(|reg| names[reg.index()].clone()).collect())
    }

    fn inst(&mut self, body: &Body, inst: &Inst, names: &[String]) -> Result<Vec<String>> {
        let args: Vec<&str> = inst.args.iter().map(|arg| names[arg.index()].as_str()).collect();
        let value = match &inst.kind {
            InstKind::Const(bits) => prim::constant(self.features.held(body.ty(inst.first)), *bits),
            InstKind::Prim(prim) => {
                let (from, to) = (body.ty(inst.args[inst.args.len() - 1]), body.ty(inst.first));
                prim::expression(*prim, from, to, &args, &self.features)?
            }
            InstKind::Table(table) => self.look_up(table, args[0]),
            InstKind::Gather { input, word } => format!("row{input}({}).w{word}", args.join(", ")),
            InstKind::If(inner) => return self.branch(inner, &args),
            InstKind::Repeat { max, state, body } => return self.repeat(*max, *state, body, &args),
        };
        let name = self.fresh();
        self.line(format!("let {name} = {value};"));
        Ok(vec![name])
    }

    fn look_up(&mut self, table: &Arc<LookupTable>, index: &str) -> String {
        let number = self.tables.iter().position(|known| known == table).unwrap_or_else(|| {
            self.tables.push(Arc::clone(table));
            self.tables.len() - 1
        });
        let at = format!("min({index}, {}u)", table.values.len().saturating_sub(1));
        match self.features.held(table.ty) {
            PrimType::F32 => format!("bitcast<f32>(table{number}[{at}])"),
            PrimType::Bool => format!("(table{number}[{at}] != 0u)"),
            PrimType::I64 => format!("nd64_make(table{number}[{at}].x, table{number}[{at}].y)"),
            PrimType::F64 => format!("bitcast<f64>(nd64_make(table{number}[{at}].x, table{number}[{at}].y))"),
            PrimType::I8 | PrimType::I16 | PrimType::I32 => format!("table{number}[{at}]"),
        }
    }

    /// Writes an `If`: a condition, defaults, then the inner body's inputs.
    fn branch(&mut self, inner: &Body, args: &[&str]) -> Result<Vec<String>> {
        let count = inner.outputs.len();
        let (condition, rest) = (args[0], &args[1..]);
        let results = self.variables(&rest[..count], inner.output_types());
        let inputs: Vec<String> = rest[count..].iter().map(|&arg| arg.to_owned()).collect();
        self.block(format!("if ({condition})"), |code| {
            let outputs = code.body(inner, &inputs)?;
            for (result, output) in results.iter().zip(outputs) {
                code.line(format!("{result} = {output};"));
            }
            Ok(())
        })?;
        Ok(results)
    }

    /// Writes a `Repeat`: the state, then invariants. The inner body gives the condition and the next state.
    fn repeat(&mut self, max: u32, state: usize, inner: &Body, args: &[&str]) -> Result<Vec<String>> {
        let results = self.variables(&args[..state], inner.output_types().skip(1));
        let invariants = args[state..].iter().map(|&arg| arg.to_owned());
        let inputs: Vec<String> = results.iter().cloned().chain(invariants).collect();
        let trip = self.fresh();
        self.block(format!("for (var {trip} = 0u; {trip} < {max}u; {trip}++)"), |code| {
            // The state changes at the end of a trip, since the body reads the old one throughout.
            let outputs = code.body(inner, &inputs)?;
            code.line(format!("if (!{}) {{ break; }}", outputs[0]));
            let next: Vec<String> = outputs[1..].iter().map(|_| code.fresh()).collect();
            for (next, output) in next.iter().zip(&outputs[1..]) {
                code.line(format!("let {next} = {output};"));
            }
            for (result, next) in results.iter().zip(next) {
                code.line(format!("{result} = {next};"));
            }
            Ok(())
        })?;
        Ok(results)
    }

    fn variables(&mut self, values: &[&str], types: impl Iterator<Item = PrimType>) -> Vec<String> {
        let mut names = Vec::new();
        for (value, ty) in values.iter().zip(types) {
            let name = self.fresh();
            self.line(format!("var {name}: {} = {value};", register(self.features.held(ty))));
            names.push(name);
        }
        names
    }

    /// Returns the declarations of the tables.
    pub fn tables(&self) -> String {
        let mut out = String::new();
        for (n, table) in self.tables.iter().enumerate() {
            let (ty, entries): (&str, Vec<String>) = match table.ty {
                PrimType::I64 | PrimType::F64 => {
                    let entry = |&bits: &u64| format!("vec2<u32>({:#x}u, {:#x}u)", bits as u32, bits >> 32);
                    ("vec2<u32>", table.values.iter().map(entry).collect())
                }
                PrimType::Bool | PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::F32 => {
                    ("u32", table.values.iter().map(|bits| format!("{bits:#x}u")).collect())
                }
            };
            let (len, entries) = (entries.len(), entries.join(", "));
            let _ = writeln!(out, "const table{n} = array<{ty}, {len}>({entries});\n");
        }
        out
    }
}
