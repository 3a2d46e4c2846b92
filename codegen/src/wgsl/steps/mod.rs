//! The modules of a nest's steps: the code of an invocation around the nest's body.

mod reduce;
mod scan;

use crate::passes::split::{NestPart, TargetKernel};
use crate::wgsl::body::ModuleWriter;
use crate::wgsl::index::{indices, position};
use crate::wgsl::memory::{ModuleArray, Packing, index};
use crate::wgsl::params;
use crate::wgsl::prim::register;
use crate::wgsl::{Binding, DispatchKind, Features, Pieces, WORKGROUP, WgslModule, library};
use ndjit_ir::body::Body;
use ndjit_ir::kernel::StmtKind;
use ndjit_ir::loops::{LoopBody, LoopNest, NestKind, Role};
use ndjit_ir::{DType, Error, ErrorCode, PrimType, Result, StatementOrigin};
use std::fmt::Write;

/// Emits the module of one step of a nest of ops, which is [lowered](crate::pipeline::lower_for) for the [target](Features::target).
///
/// # Errors
/// `Verify` if the step is not one of the nest's, or the nest is lowered for a driver of kernels.
pub fn emit(
    (nest, kernel): (&LoopNest, &TargetKernel),
    step: DispatchKind,
    features: &Features,
    pieces: &Pieces,
) -> Result<WgslModule> {
    let fits = match step {
        DispatchKind::Elements { .. } => nest.kind == NestKind::Map,
        DispatchKind::Lanes { .. } | DispatchKind::Tree { .. } => nest.kind.reduction().is_some(),
        DispatchKind::Local { .. } | DispatchKind::Carries | DispatchKind::Carried => {
            matches!(nest.kind, NestKind::Scan(_))
        }
    };
    if !fits {
        return Err(Error::new(ErrorCode::Verify, format!("wgsl: the nest has no step `{step}`")));
    }
    let mut module = Module::new(nest, step, *features, pieces);
    let (element, combine) = match kernel {
        TargetKernel::Map(element) => (element, None),
        TargetKernel::Combine { element, combine } => (element, Some(combine)),
        TargetKernel::Reduce(_) | TargetKernel::Scan(_) | TargetKernel::Sort(_) | TargetKernel::Scatter(_) => {
            return Err(Error::new(ErrorCode::Verify, "wgsl: a driver runs the nest"));
        }
    };
    if matches!(step, DispatchKind::Elements { .. } | DispatchKind::Lanes { .. } | DispatchKind::Local { .. }) {
        module.element(element)?;
    }
    if let Some(combine) = combine {
        module.combine(combine)?;
    }
    match step {
        DispatchKind::Elements { .. } => module.elements(),
        DispatchKind::Lanes { last } => module.lanes(last),
        DispatchKind::Tree { last } => module.tree(last),
        DispatchKind::Local { last } => module.local(last),
        DispatchKind::Carries => module.carries(),
        DispatchKind::Carried => module.carried(),
    }
    Ok(module.finish())
}

/// Returns the bindings of a step's module, in order.
pub fn bindings(nest: &LoopNest, step: DispatchKind, pieces: &Pieces) -> Vec<Binding> {
    let (inputs, outputs) = (nest.inputs.len(), nest.outputs.len());
    let mut bindings = Vec::new();
    let mut bind = |count: usize, binding: fn(usize) -> Binding| bindings.extend((0..count).map(binding));
    match step {
        DispatchKind::Elements { .. } | DispatchKind::Lanes { .. } | DispatchKind::Local { .. } => {
            bind(inputs, Binding::Input)
        }
        DispatchKind::Tree { .. } | DispatchKind::Carries | DispatchKind::Carried => bind(outputs, Binding::PartialIn),
    }
    match step {
        DispatchKind::Lanes { last: false } | DispatchKind::Tree { last: false } | DispatchKind::Carries => {
            bind(outputs, Binding::PartialOut);
        }
        DispatchKind::Local { last: false } => {
            bind(outputs, Binding::Output);
            bind(outputs, Binding::PartialOut);
        }
        DispatchKind::Elements { .. }
        | DispatchKind::Lanes { .. }
        | DispatchKind::Tree { .. }
        | DispatchKind::Local { .. }
        | DispatchKind::Carried => {
            bind(outputs, Binding::Output);
        }
    }
    if bindings.iter().any(|binding| matches!(binding, Binding::Input(_))) {
        for n in 0..inputs {
            bindings.extend((1..pieces.of(n)).map(|piece| Binding::Piece(n, piece)));
        }
    }
    // Indices have no memory.
    bindings.retain(|binding| !matches!(binding, Binding::Input(n) if nest.inputs[*n].is_index()));
    bindings
}

/// Returns the primitives of a part.
fn primitives(part: &NestPart) -> Result<&Body> {
    match &part.nest.body {
        LoopBody::Prims { body, .. } => Ok(body),
        LoopBody::Ops(_) => Err(Error::new(ErrorCode::Verify, "wgsl: the nest is not expanded")),
    }
}

/// A line at the beginning of `element`.
enum ElementLine {
    /// The origin of the next lines: this statement.
    Note(u32),
    Line(String),
}

struct Module<'a> {
    nest: &'a LoopNest,
    pieces: &'a Pieces,
    code: ModuleWriter,
    bindings: Vec<Binding>,
    /// Elements per invocation.
    elements: u32,
    /// Variables of the workgroup.
    shared: String,
}

impl<'a> Module<'a> {
    fn new(nest: &'a LoopNest, step: DispatchKind, features: Features, pieces: &'a Pieces) -> Module<'a> {
        let bindings = bindings(nest, step, pieces);
        let packed = matches!(step, DispatchKind::Elements { packed: true });
        let least = nest.outputs.iter().map(|access| access.dtype.bytes()).min().unwrap_or(4);
        let elements = if packed { (4 / least.min(4)) as u32 } else { 1 };
        Module { nest, pieces, code: ModuleWriter::new(features), bindings, elements, shared: String::new() }
    }

    fn name(binding: Binding) -> String {
        match binding {
            Binding::Input(n) => format!("in{n}"),
            Binding::Piece(n, piece) => format!("in{n}_{piece}"),
            Binding::Output(n) => format!("out{n}"),
            Binding::PartialIn(n) => format!("from{n}"),
            Binding::PartialOut(n) => format!("to{n}"),
        }
    }

    fn dtype(&self, binding: Binding) -> DType {
        match binding {
            Binding::Input(n) | Binding::Piece(n, _) => self.nest.inputs[n].dtype,
            Binding::Output(n) | Binding::PartialIn(n) | Binding::PartialOut(n) => self.nest.outputs[n].dtype,
        }
    }

    fn packing(&self, binding: Binding) -> Packing {
        match binding {
            Binding::Input(_) | Binding::Piece(..) => Packing::Dense,
            // Whole words are written explicitly.
            Binding::Output(_) if self.elements > 1 => Packing::Dense,
            Binding::Output(_) => Packing::Shared,
            Binding::PartialIn(_) | Binding::PartialOut(_) => Packing::Loose,
        }
    }

    fn load(&self, binding: Binding, at: &str) -> Vec<String> {
        let (name, features) = (Self::name(binding), self.code.features);
        ModuleArray { name: &name, dtype: self.dtype(binding), packing: self.packing(binding), features }.load(at)
    }

    fn store(&self, binding: Binding, at: &str, words: &[String]) -> Vec<String> {
        let (name, features) = (Self::name(binding), self.code.features);
        ModuleArray { name: &name, dtype: self.dtype(binding), packing: self.packing(binding), features }
            .store(at, words)
    }

    /// Returns the register types of all outputs' words.
    fn words(&self) -> Vec<PrimType> {
        let words = self.nest.outputs.iter().flat_map(|access| access.dtype.storage());
        words.map(|&ty| self.code.features.held(ty)).collect()
    }

    /// Returns the range of one output's words among those of all.
    fn range(&self, output: usize) -> std::ops::Range<usize> {
        let words = |n: usize| self.nest.outputs[n].dtype.storage().len();
        let start = (0..output).map(words).sum();
        start..start + words(output)
    }

    /// Returns the fields of one output in a variable of type `Words`.
    fn fields(&self, variable: &str, output: usize) -> Vec<String> {
        self.range(output).map(|n| format!("{variable}.w{n}")).collect()
    }

    /// Writes `element`: the body's outputs for an index of all loops.
    fn element(&mut self, part: &NestPart) -> Result<()> {
        let (nest, features) = (self.nest, self.code.features);
        let loops: Vec<String> = (0..nest.rank).map(|n| format!("i{n}")).collect();
        let parameters: Vec<String> = loops.iter().map(|index| format!("{index}: u32")).collect();
        let mut inputs: Vec<String> = Vec::new();
        let mut loads = Vec::new();
        let noted = |kind: StmtKind| {
            let LoopBody::Ops(ops) = &nest.body else { return None };
            ops.stmts.iter().position(|statement| statement.kind == kind).map(|n| ElementLine::Note(n as u32))
        };
        let line = ElementLine::Line;
        for (n, access) in nest.inputs.iter().enumerate() {
            let (at, words) = (format!("at{n}"), access.words());
            let names: Vec<String> = (0..words.len()).map(|k| format!("x{}", inputs.len() + k)).collect();
            match access.role {
                Role::Index => loads.push(line(format!("let {} = {};", names[0], index(nest, n, &loops)))),
                Role::Memory => {
                    loads.extend(noted(StmtKind::Load(n as u32)));
                    loads.push(line(format!("let {at} = {};", position(nest, n, &loops))));
                    loads.extend(self.read(n, &at, &names).into_iter().map(line));
                }
                Role::Rows => {
                    self.row(n);
                    // The element in the first row.
                    loads.push(line(format!("let {} = {};", names[0], position(nest, n, &loops))));
                }
            }
            inputs.extend(names);
        }
        let mut at = params::offset(nest, nest.inputs.len() + nest.outputs.len());
        for (n, ty) in
            nest.literals.iter().enumerate().flat_map(|(n, dtype)| dtype.repr().iter().map(move |ty| (n, ty)))
        {
            loads.extend(noted(StmtKind::Literal(n as u32)));
            let value = match features.held(*ty) {
                PrimType::Bool => format!("({} != 0u)", params::word(at)),
                PrimType::I8 | PrimType::I16 | PrimType::I32 => params::word(at),
                PrimType::F32 => format!("bitcast<f32>({})", params::word(at)),
                PrimType::I64 => format!("nd64_make({}, {})", params::word(at), params::word(at + 1)),
                PrimType::F64 => format!("bitcast<f64>(nd64_make({}, {}))", params::word(at), params::word(at + 1)),
            };
            at += params::register_words(*ty);
            loads.push(line(format!("let x{} = {value};", inputs.len())));
            inputs.push(format!("x{}", inputs.len()));
        }
        if let LoopBody::Ops(ops) = &nest.body {
            self.code.statements = (0..ops.stmts.len()).map(|n| ops.statement(n)).collect();
        }
        self.code.separate();
        self.code.block(format!("fn element({}) -> Words", parameters.join(", ")), |code| {
            for load in loads {
                match load {
                    ElementLine::Note(statement) => code.note(statement),
                    ElementLine::Line(text) => code.line(text),
                }
            }
            let outputs = code.body(primitives(part)?, &inputs)?;
            code.returns(&outputs);
            Ok(())
        })
    }

    /// Writes `row0`, and so on, which return the words of an element of an input, in the row nearest to an index.
    /// `first` is the offset of the element in the first row, in elements; `step` the row stride in bytes.
    fn row(&mut self, input: usize) {
        let dtype = self.nest.inputs[input].dtype;
        let names: Vec<String> = (0..dtype.storage().len()).map(|k| format!("x{k}")).collect();
        let reads = self.read(input, "at", &names);
        let (fields, result) = (self.held(dtype), format!("Row{input}"));
        let fields: Vec<String> = fields.iter().enumerate().map(|(k, ty)| format!("w{k}: {ty}")).collect();
        self.code.line(format!("struct {result} {{ {} }}", fields.join(", ")));
        let parameters = "first: u32, position: nd_u64, last: nd_u64, step: nd_u64";
        self.code.block(format!("fn row{input}({parameters}) -> {result}"), |code| {
            code.line("let row = nd64_low(nd64_smin(nd64_smax(position, nd64_make(0u, 0u)), last));");
            code.line(format!(
                "let at = first + row * bitcast<u32>(bitcast<i32>(nd64_low(step)) / {});",
                dtype.bytes()
            ));
            code.lines(&reads);
            code.line(format!("return {result}({});", names.join(", ")));
        });
    }

    /// Returns the WGSL types of an element's words.
    fn held(&self, dtype: DType) -> Vec<&'static str> {
        dtype.storage().iter().map(|&ty| register(self.code.features.held(ty))).collect()
    }

    /// Returns the statements that load and name the words of an element of an input at `at`.
    fn read(&self, input: usize, at: &str, names: &[String]) -> Vec<String> {
        let (pieces, dtype) = (self.pieces.of(input), self.nest.inputs[input].dtype);
        if pieces == 1 {
            let words = self.load(Binding::Input(input), at);
            return names.iter().zip(words).map(|(name, word)| format!("let {name} = {word};")).collect();
        }
        let elements = self.pieces.bytes / dtype.bytes() as u64;
        let mut lines =
            vec![format!("let {at}_piece = {at} / {elements}u;"), format!("let {at}_own = {at} % {elements}u;")];
        for (name, &ty) in names.iter().zip(dtype.storage()) {
            let ty = self.code.features.held(ty);
            lines.push(format!("var {name}: {} = {};", register(ty), zero(ty)));
        }
        for piece in 0..pieces {
            let binding = if piece == 0 { Binding::Input(input) } else { Binding::Piece(input, piece) };
            let words = self.load(binding, &format!("{at}_own"));
            let sets: Vec<String> = names.iter().zip(words).map(|(name, word)| format!("{name} = {word};")).collect();
            lines.push(format!("if ({at}_piece == {piece}u) {{ {} }}", sets.join(" ")));
        }
        lines
    }

    /// Writes `combine`, which combines two values of all outputs.
    fn combine(&mut self, part: &NestPart) -> Result<()> {
        let count = self.words().len();
        let inputs: Vec<String> =
            ["a", "b"].iter().flat_map(|v| (0..count).map(move |n| format!("{v}.w{n}"))).collect();
        // No line comes from the body's statements.
        self.code.statements.clear();
        self.code.separate();
        self.code.current = Some(StatementOrigin::Results);
        self.code.block("fn combine(a: Words, b: Words) -> Words", |code| {
            let outputs = code.body(primitives(part)?, &inputs)?;
            code.returns(&outputs);
            Ok(())
        })
    }

    /// Writes the entry point. Invocations with `id` below the header's count have work.
    fn main(&mut self, inner: impl FnOnce(&mut Module<'a>)) {
        let head = "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, \
                    @builtin(local_invocation_index) local: u32)";
        self.code.separate();
        self.code.line(format!("@compute @workgroup_size({WORKGROUP})"));
        let mut code = std::mem::replace(&mut self.code, ModuleWriter::new(Features::LEAST));
        code.block(head, |code| {
            std::mem::swap(&mut self.code, code);
            self.code.line("let workgroup = group.y * groups.x + group.x;");
            inner(self);
            std::mem::swap(&mut self.code, code);
        });
        self.code = code;
    }

    /// Writes an entry point with one invocation for each of the header's count.
    fn each(&mut self, inner: impl FnOnce(&mut Module<'a>)) {
        self.main(|this| {
            this.code.line(format!("let id = workgroup * {WORKGROUP}u + local;"));
            this.code.line("if (id >= params[0].y) { return; }");
            inner(this);
        });
    }

    /// Splits `flat`, and returns the indices' names.
    fn split(&mut self, range: std::ops::Range<usize>, flat: &str, prefix: &str) -> Vec<String> {
        let (statements, names) = indices(range, flat, prefix);
        self.code.lines(&statements);
        names
    }

    fn store_all(&mut self, variable: &str, position: impl Fn(usize) -> (Binding, String)) {
        for n in 0..self.nest.outputs.len() {
            let (binding, at) = position(n);
            self.code.line(format!("let to_{n} = {at};"));
            let statements = self.store(binding, &format!("to_{n}"), &self.fields(variable, n));
            self.code.lines(&statements);
        }
    }

    fn elements(&mut self) {
        let nest = self.nest;
        if self.elements == 1 {
            self.each(|this| {
                let loops = this.split(0..nest.rank, "id", "i");
                this.code.line(format!("let result = element({});", loops.join(", ")));
                let inputs = nest.inputs.len();
                this.store_all("result", |n| (Binding::Output(n), position(nest, inputs + n, &loops)));
            });
            return;
        }
        let count = self.elements;
        self.each(|this| {
            // The last word may extend past the end: its last element is computed again, and not stored.
            this.code.line(format!("let start = id * {count}u;"));
            for k in 0..count {
                let flat = format!("flat{k}");
                this.code.line(format!("let {flat} = min(start + {k}u, params[1].x - 1u);"));
                let loops = this.split(0..nest.rank, &flat, &format!("i{k}_"));
                this.code.line(format!("let result{k} = element({});", loops.join(", ")));
            }
            for n in 0..nest.outputs.len() {
                let at = params::offset(nest, nest.inputs.len() + n);
                let (name, bytes) = (Self::name(Binding::Output(n)), nest.outputs[n].dtype.bytes() as u32);
                if bytes >= 4 {
                    for k in 0..count {
                        let store = this.store(
                            Binding::Output(n),
                            &format!("({} + start + {k}u)", params::word(at)),
                            &this.fields(&format!("result{k}"), n),
                        );
                        this.code.block(format!("if (start + {k}u < params[1].x)"), |code| code.lines(&store));
                    }
                    continue;
                }
                let word = this.range(n).start;
                for first in (0..count).step_by(4 / bytes as usize) {
                    let parts: Vec<String> = (0..4 / bytes)
                        .map(|k| {
                            let (k, shift) = (first + k, 8 * bytes * k);
                            format!("(select(0u, result{k}.w{word}, start + {k}u < params[1].x) << {shift}u)")
                        })
                        .collect();
                    let index = format!("({} + start + {first}u) / {}u", params::word(at), 4 / bytes);
                    let store = format!("{name}[{index}] = {};", parts.join(" | "));
                    this.code.block(format!("if (start + {first}u < params[1].x)"), |code| code.line(store));
                }
            }
        });
    }

    /// Declares `total`, initially empty.
    fn total(&mut self) {
        let zero: Vec<String> = self.words().iter().map(|&ty| zero(ty)).collect();
        self.code.line(format!("var total = Words({});", zero.join(", ")));
    }

    /// Returns an expression that loads the words of all outputs' elements.
    fn loaded(&self, binding: fn(usize) -> Binding, at: impl Fn(usize) -> String) -> String {
        let words = (0..self.nest.outputs.len()).flat_map(|n| self.load(binding(n), &at(n)));
        format!("Words({})", words.collect::<Vec<String>>().join(", "))
    }

    fn finish(self) -> WgslModule {
        let features = self.code.features;
        let mut code = String::new();
        let _ = writeln!(code, "{}", params::declaration(self.nest));
        for (n, &binding) in self.bindings.iter().enumerate() {
            let name = Self::name(binding);
            let memory =
                ModuleArray { name: &name, dtype: self.dtype(binding), packing: self.packing(binding), features };
            let _ = writeln!(code, "{}", memory.declaration(1 + n, binding.writes()));
        }
        let fields =
            self.words().iter().enumerate().map(|(n, &ty)| format!("w{n}: {}", register(ty))).collect::<Vec<_>>();
        let _ = writeln!(code, "{}\nstruct Words {{ {} }}\n", self.shared, fields.join(", "));
        code += &self.code.tables();
        let functions = library::text(&format!("{code}{}", self.code.text), features.int64);
        let text = functions + &code;
        let origins = text.lines().map(|_| None).chain(self.code.origins).collect();
        WgslModule { text: text + &self.code.text, origins, bindings: self.bindings, elements: self.elements }
    }
}

/// Returns a word of an element without a value yet.
fn zero(ty: PrimType) -> String {
    match ty {
        PrimType::I64 => "nd64_make(0u, 0u)".to_owned(),
        PrimType::F64 => "0.0lf".to_owned(),
        PrimType::F32 => "0.0".to_owned(),
        PrimType::Bool => "false".to_owned(),
        PrimType::I8 | PrimType::I16 | PrimType::I32 => "0u".to_owned(),
    }
}
