//! The text of CLIF, as Cranelift prints it, with the origin of each line.

use super::{ClifKernel, Located};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Inst, Value};
use cranelift_codegen::write::{self, FuncWriter, PlainWriter};
use ndjit_ir::lines::{LineSink, TextLine, lines};
use std::cell::RefCell;
use std::fmt;

impl fmt::Display for ClifKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_heading(f)?;
        write!(f, "{}", self.function.display())
    }
}

impl ClifKernel {
    /// The lines of the text, each with the origin of its instruction. Locations are not printed.
    pub(crate) fn lines(&self) -> Vec<TextLine<Located>> {
        let mut plain = self.function.clone();
        plain.srclocs.clear();
        lines(|sink| {
            self.write_heading(sink)?;
            let sink = RefCell::new(sink);
            let mut printer = LocatedPrinter { located: &self.function, sink: &sink };
            write::decorate_function(&mut printer, &mut SharedSink(&sink), &plain)
        })
    }

    fn write_heading(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        writeln!(f, "; {} lanes, {} constant cells", self.lanes, self.constants.len())
    }
}

type LocatedSink<'s> = RefCell<&'s mut (dyn LineSink<Located> + 's)>;

/// The output of Cranelift's printer.
struct SharedSink<'a, 's>(&'a LocatedSink<'s>);

impl fmt::Write for SharedSink<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.borrow_mut().write_str(text)
    }
}

/// Prints like Cranelift, and records the origin of each instruction.
struct LocatedPrinter<'a, 's> {
    located: &'a Function,
    sink: &'a LocatedSink<'s>,
}

impl FuncWriter for LocatedPrinter<'_, '_> {
    fn write_block_header(
        &mut self,
        w: &mut dyn fmt::Write,
        function: &Function,
        block: Block,
        indent: usize,
    ) -> fmt::Result {
        PlainWriter.write_block_header(w, function, block, indent)
    }

    fn write_instruction(
        &mut self,
        w: &mut dyn fmt::Write,
        function: &Function,
        aliases: &SecondaryMap<Value, Vec<Value>>,
        inst: Inst,
        indent: usize,
    ) -> fmt::Result {
        self.sink.borrow_mut().of(Some(Located::of(self.located.srcloc(inst))));
        PlainWriter.write_instruction(w, function, aliases, inst, indent)?;
        self.sink.borrow_mut().of(None);
        Ok(())
    }
}
