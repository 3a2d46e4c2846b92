//! The result of a comparison: the number of elements with different bits, and the first of them. All NaNs are equal.

use ndjit_ir::DType;

/// Bytes compared at once, before single elements.
const BLOCK: usize = 1 << 16;

/// The results of one subject, compared with the expected ones.
#[derive(Debug, Default)]
pub struct Compared {
    pub name: String,
    pub elements: u64,
    pub differences: u64,
    /// The first difference: operands, expected and given bits.
    pub first: Option<String>,
}

impl Compared {
    pub fn new(name: impl Into<String>) -> Compared {
        Compared { name: name.into(), ..Compared::default() }
    }

    /// Counts a difference.
    pub fn differs(&mut self, what: impl FnOnce() -> String) {
        self.differences += 1;
        self.first.get_or_insert_with(what);
    }

    /// Compares elements; `operands` describes the operands of an element.
    pub fn elements(&mut self, dtype: DType, expected: &[u8], given: &[u8], operands: impl Fn(usize) -> String) {
        let size = dtype.bytes();
        self.elements += (expected.len() / size) as u64;
        if expected.len() != given.len() {
            self.differs(|| format!("{} bytes expected, {} given", expected.len(), given.len()));
            return;
        }
        for (block, (a, b)) in expected.chunks(BLOCK).zip(given.chunks(BLOCK)).enumerate().filter(|(_, (a, b))| a != b)
        {
            for (n, (a, b)) in a.chunks(size).zip(b.chunks(size)).enumerate().filter(|(_, (a, b))| !same(dtype, a, b)) {
                let n = block * (BLOCK / size) + n;
                self.differs(|| format!("{}: {} expected, {} given", operands(n), hex(dtype, a), hex(dtype, b)));
            }
        }
    }
}

/// Whether two elements have equal bits, or NaNs where they differ.
fn same(dtype: DType, a: &[u8], b: &[u8]) -> bool {
    let real = dtype.real();
    let mut parts = a.chunks(real.bytes()).zip(b.chunks(real.bytes()));
    parts.all(|(a, b)| a == b || (is_nan(real, word(a)) && is_nan(real, word(b))))
}

fn is_nan(dtype: DType, word: u64) -> bool {
    let (infinity, magnitude) = match dtype {
        DType::Bf16 => (0x7f80, word & 0x7fff),
        DType::F16 => (0x7c00, word & 0x7fff),
        DType::F32 => (0x7f80_0000, word & 0x7fff_ffff),
        DType::F64 => (0x7ff0_0000_0000_0000, word & (u64::MAX >> 1)),
        _ => return false,
    };
    magnitude > infinity
}

/// The bits of at most eight bytes, the lowest first.
pub fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// An element's bits, part by part.
pub fn hex(dtype: DType, element: &[u8]) -> String {
    let parts: Vec<String> = element.chunks(dtype.real().bytes()).map(|part| format!("{:#x}", word(part))).collect();
    parts.join("+i")
}
