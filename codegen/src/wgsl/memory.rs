//! Arrays in storage buffers: binding, loading and storing of elements.
//!
//! Elements of one or two bytes are packed in words, as on the CPU. Small partial results have a word each.

use super::prim::register;
use super::{Features, params};
use ndjit_ir::loops::LoopNest;
use ndjit_ir::{DType, PrimType};

/// The layout of an array's elements in bound words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// As on the CPU, read-only.
    Dense,
    /// As on the CPU; invocations share words and write parts of them atomically.
    Shared,
    /// One element per word, or per several words.
    Loose,
}

/// An array of a module.
#[derive(Clone, Copy, Debug)]
pub struct ModuleArray<'a> {
    /// The name of its variable.
    pub name: &'a str,
    /// The dtype of its elements.
    pub dtype: DType,
    /// The layout.
    pub packing: Packing,
    /// The device's features.
    pub features: Features,
}

impl ModuleArray<'_> {
    /// Returns the number of elements per word, if they are smaller than a word.
    fn elements(self) -> Option<u32> {
        match (self.dtype.bytes(), self.packing) {
            (1, Packing::Dense | Packing::Shared) => Some(4),
            (2, Packing::Dense | Packing::Shared) => Some(2),
            _ => None,
        }
    }

    /// Returns the type of two floats of 64 bits.
    fn double_pair(self) -> &'static str {
        match (self.features.float64, self.features.int64) {
            (true, _) => "vec2<f64>",
            (false, true) => "vec2<u64>",
            (false, false) => "vec4<u32>",
        }
    }

    /// Returns the declaration, bound at `binding`.
    pub fn declaration(self, binding: usize, writes: bool) -> String {
        let mode = if writes { "read_write" } else { "read" };
        let word = match self.dtype.storage() {
            _ if self.elements().is_some() && self.packing == Packing::Shared => "atomic<u32>".to_owned(),
            [PrimType::F32, PrimType::F32] => "vec2<f32>".to_owned(),
            [PrimType::F64, PrimType::F64] => self.double_pair().to_owned(),
            words => register(self.features.held(words[0])).to_owned(),
        };
        format!("@group(0) @binding({binding}) var<storage, {mode}> {}: array<{word}>;", self.name)
    }

    /// Returns the storage words of an element, as expressions.
    pub fn load(self, at: &str) -> Vec<String> {
        let ModuleArray { name, .. } = self;
        if let Some(elements) = self.elements() {
            let (shift, bits, mask) = shifts(elements);
            let word = format!("{name}[{at} >> {shift}u]");
            let word = if self.packing == Packing::Shared { format!("atomicLoad(&{word})") } else { word };
            return vec![format!("(({word} >> (({at} & {}u) * {bits}u)) & {mask:#x}u)", elements - 1)];
        }
        match self.dtype.storage() {
            [_] => vec![format!("{name}[{at}]")],
            [PrimType::F64, ..] if !self.features.int64 => vec![format!("{name}[{at}].xy"), format!("{name}[{at}].zw")],
            words => ["x", "y"][..words.len()].iter().map(|part| format!("{name}[{at}].{part}")).collect(),
        }
    }

    /// Returns the statements that store an element of these words.
    pub fn store(self, at: &str, words: &[String]) -> Vec<String> {
        let ModuleArray { name, .. } = self;
        if let Some(elements) = self.elements() {
            let (shift, bits, mask) = shifts(elements);
            let word = format!("&{name}[{at} >> {shift}u]");
            let by = format!("(({at} & {}u) * {bits}u)", elements - 1);
            return vec![
                format!("atomicAnd({word}, ~({mask:#x}u << {by}));"),
                format!("atomicOr({word}, {} << {by});", words[0]),
            ];
        }
        match words {
            [word] => vec![format!("{name}[{at}] = {word};")],
            words => {
                let ty = if self.dtype == DType::C128 { self.double_pair() } else { "vec2<f32>" };
                vec![format!("{name}[{at}] = {ty}({});", words.join(", "))]
            }
        }
    }
}

/// Returns, for packed elements, the shift of an index to a word's, an element's bits, and its mask.
pub fn shifts(elements: u32) -> (u32, u32, u32) {
    match elements {
        4 => (2, 8, 0xff),
        _ => (1, 16, 0xffff),
    }
}

/// Returns the words of an index: its offset and strides times the loops' indices, as a 64-bit integer.
pub fn index(nest: &LoopNest, operand: usize, loops: &[String]) -> String {
    let at = params::offset(nest, operand);
    let term = |n: usize| format!("nd64_make({}, {})", params::word(at + 2 * n), params::word(at + 2 * n + 1));
    loops.iter().enumerate().fold(term(0), |sum, (n, index)| {
        format!("nd64_iadd({sum}, nd64_imul({}, nd64_make({index}, 0u)))", term(n + 1))
    })
}
