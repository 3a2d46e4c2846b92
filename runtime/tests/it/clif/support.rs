//! Execution of kernels for tests: compiles a nest in this process, calls it on arrays with any layouts, and compares every byte of
//! memory with the reference evaluation of the body.

use ndjit_codegen::clif::{AccumulatorLayout, Cell, ClifOptions, emit, host_isa, literal_cells};
use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::x64;
use ndjit_ir::body::Body;
use ndjit_ir::loops::{Access, LoopBody, LoopNest, NestKind, Stride};
use ndjit_ir::{DType, PrimType};
use ndjit_runtime::code_memory::CodeMemory;

/// Machine code of one nest.
pub struct Compiled {
    code: Code,
    pub lanes: usize,
}

enum Code {
    Host(Box<Host>),
    #[cfg(feature = "emulated")]
    Emulated(ndjit_runtime::emulated::EmulatedFunction),
}

struct Host {
    code: CodeMemory,
    constants: Vec<Cell>,
}

type Entry = unsafe extern "C" fn(*const *mut u8, *const usize, *const isize, *const Cell, *const Cell);

/// Compiles an expanded nest in all widths of this machine, and for aarch64 if `NDJIT_UNICORN` is the path of the emulator.
pub fn compile(nest: &LoopNest) -> Vec<Compiled> {
    let host = VectorWidth::ALL.into_iter().filter_map(|width| compile_for(nest, width));
    host.chain(emulated(nest)).collect()
}

#[cfg(not(feature = "emulated"))]
fn emulated(_: &LoopNest) -> Option<Compiled> {
    None
}

#[cfg(feature = "emulated")]
fn emulated(nest: &LoopNest) -> impl Iterator<Item = Compiled> {
    let library = std::env::var_os("NDJIT_UNICORN");
    let isa = library.map(|library| {
        ndjit_runtime::emulated::open(library.as_ref()).unwrap_or_else(|e| panic!("{e}"));
        ndjit_runtime::emulated::isa(AccumulatorLayout::Plain).unwrap_or_else(|e| panic!("{e}"))
    });
    isa.into_iter().flat_map(move |isa| {
        [false, true].map(|vector| {
            let kernel = emit(nest, &*isa, ClifOptions { vector, ..ClifOptions::default() });
            let kernel = kernel.unwrap_or_else(|e| panic!("{e}"));
            let lanes = kernel.lanes;
            let function =
                ndjit_runtime::emulated::EmulatedFunction::new(kernel, &isa).unwrap_or_else(|e| panic!("{e}"));
            Compiled { code: Code::Emulated(function), lanes }
        })
    })
}

/// Compiles an expanded nest; `None` if it has no wider code.
pub fn compile_for(nest: &LoopNest, width: VectorWidth) -> Option<Compiled> {
    let isa = host_isa().unwrap();
    let options = ClifOptions { vector: width.is_vector(), ..ClifOptions::default() };
    if let Some(set) = x64::Set::ALL.into_iter().find(|set| set.width() == width) {
        let code = set
            .is_supported()
            .then(|| x64::emit(nest, AccumulatorLayout::Plain, set).unwrap_or_else(|e| panic!("{e}")))??;
        return Some(finish(&code.bytes, code.constants, code.lanes));
    }
    let kernel = emit(nest, &*isa, options).unwrap_or_else(|e| panic!("{e}"));
    let (text, lanes) = (kernel.to_string(), kernel.lanes);
    let (code, constants) = kernel.into_code(&*isa).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Some(finish(&code, constants, lanes))
}

fn finish(code: &[u8], constants: Vec<Cell>, lanes: usize) -> Compiled {
    let host = Host { code: CodeMemory::new(code).unwrap(), constants };
    Compiled { code: Code::Host(Box::new(host)), lanes }
}

impl Compiled {
    /// Calls the kernel on arrays of `memory`, operands in order, at the layouts given.
    pub fn call(&self, memory: &mut [Vec<u8>], layouts: &[Layout], extents: &[usize], literals: &[Cell]) {
        let pointers: Vec<*mut u8> =
            memory.iter_mut().zip(layouts).map(|(m, l)| m.as_mut_ptr().wrapping_add(l.offset)).collect();
        let strides: Vec<isize> = layouts.iter().flat_map(|l| l.strides.iter().copied()).collect();
        match &self.code {
            // SAFETY: `code` is a finished function of this signature, and the layouts stay within `memory`.
            Code::Host(host) => unsafe {
                let entry: Entry = std::mem::transmute::<*const u8, Entry>(host.code.as_ptr());
                let constants = host.constants.as_ptr();
                entry(pointers.as_ptr(), extents.as_ptr(), strides.as_ptr(), literals.as_ptr(), constants);
            },
            #[cfg(feature = "emulated")]
            // SAFETY: the layouts stay within `memory`.
            Code::Emulated(function) => unsafe {
                function.call(&pointers, extents, &strides, literals).unwrap_or_else(|e| panic!("{e}"));
            },
        }
    }
}

/// Byte offset of the first element and byte strides, as the nest's loops.
#[derive(Clone, Debug)]
pub struct Layout {
    pub offset: usize,
    pub strides: Vec<isize>,
}

/// A reproducible stream of random values.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A special value or any bits.
    pub fn value(&mut self, ty: PrimType) -> u64 {
        let specials = specials(ty);
        if self.next() % 8 < 5 { specials[self.next() as usize % specials.len()] } else { self.next() & ty.mask() }
    }
}

/// Values at the edges of a type.
pub fn specials(ty: PrimType) -> Vec<u64> {
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        0.49999997,
        3.7,
        8388609.0,
        2147483647.0,
        2147483648.0,
        -2147483648.0,
        -2147483904.0,
        4294967295.0,
        4294967296.0,
        9.223372036854776e18,
        -9.223372036854776e18,
        1.8446744073709552e19,
        1e-40,
        1e-310,
        1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    match ty {
        PrimType::F32 => numbers
            .iter()
            .map(|&x| u64::from((x as f32).to_bits()))
            .chain([1, 0x7f7f_ffff, 0x7f80_0001, 0xffc0_0000])
            .collect(),
        PrimType::F64 => numbers
            .iter()
            .map(|&x: &f64| x.to_bits())
            .chain([1, 0x7fef_ffff_ffff_ffff, 0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0000])
            .collect(),
        PrimType::Bool => vec![0, 1],
        PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => {
            let edge = 1u64 << (ty.bits() - 1);
            let near = [0, 1, 2, 3, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100];
            near.into_iter().chain([u64::MAX, u64::MAX - 1, edge, edge - 1, edge + 1]).map(|x| x & ty.mask()).collect()
        }
    }
}

/// A nest of a body whose operands are as given.
pub fn nest(
    rank: usize,
    inputs: &[(DType, Stride)],
    literals: &[DType],
    outputs: &[(DType, Stride)],
    body: Body,
) -> LoopNest {
    let access = |&(dtype, inner): &(DType, Stride)| Access::memory(dtype, inner);
    LoopNest {
        rank,
        inputs: inputs.iter().map(access).collect(),
        literals: literals.to_vec(),
        outputs: outputs.iter().map(access).collect(),
        body: LoopBody::Prims { body, hoisted: 0 },
        kind: NestKind::Map,
    }
}

/// Arrays for a nest: memory filled with values, and a layout of each operand that fits its class. `twist` gives outer and strided axes
/// reversed order or gaps.
pub fn arrays(nest: &LoopNest, extents: &[usize], random: &mut Random, twist: bool) -> (Vec<Vec<u8>>, Vec<Layout>) {
    let (mut memory, mut layouts) = (Vec::new(), Vec::new());
    for access in nest.inputs.iter().chain(&nest.outputs) {
        let size = access.dtype.bytes() as isize;
        let mut strides = vec![0; extents.len()];
        let (mut step, mut low) = (size, 0);
        for axis in (0..extents.len()).rev() {
            let innermost = axis == extents.len() - 1;
            let stride = match access.inner {
                Stride::Broadcast if innermost => 0,
                Stride::Strided if innermost => {
                    let step = step * (1 + random.next() as isize % 3).abs().max(1);
                    if twist { -step } else { step }
                }
                _ if twist && !innermost && random.next().is_multiple_of(2) => -step,
                _ => step,
            };
            strides[axis] = stride;
            let reach = stride * (extents[axis].max(1) as isize - 1);
            low += reach.min(0);
            step = (stride.abs() * extents[axis].max(1) as isize).max(step);
        }
        // An odd offset: no alignment is guaranteed.
        let offset = 33 - low;
        let high: isize = strides.iter().zip(extents).map(|(s, &e)| (s * (e.max(1) as isize - 1)).max(0)).sum();
        let bytes = (offset + high + size + 37) as usize;
        let ty = access.dtype.storage()[0];
        let mut data = Vec::with_capacity(bytes + 8);
        data.resize(33 % ty.bytes(), 0x5a);
        while data.len() < bytes {
            data.extend_from_slice(&random.value(ty).to_le_bytes()[..ty.bytes()]);
        }
        memory.push(data);
        layouts.push(Layout { offset: offset as usize, strides });
    }
    (memory, layouts)
}

/// Runs `nest` compiled and by reference on the same memory, and compares all of it, NaNs as NaN.
pub fn check(compiled: &Compiled, nest: &LoopNest, extents: &[usize], literals: &[Vec<u64>], seed: u64, twist: bool) {
    let (mut got, layouts) = arrays(nest, extents, &mut Random(seed), twist);
    let mut want = got.clone();
    let cells: Vec<Cell> = nest.literals.iter().zip(literals).flat_map(|(&d, bits)| literal_cells(d, bits)).collect();
    reference(nest, &mut want, &layouts, extents, literals);
    let before = got.clone();
    compiled.call(&mut got, &layouts, extents, &cells);
    for (operand, access) in nest.inputs.iter().chain(&nest.outputs).enumerate() {
        if got[operand] == want[operand] {
            continue;
        }
        let ty = access.dtype.storage()[0];
        let size = ty.bytes();
        let words = |bytes: &[u8]| -> Vec<u64> {
            bytes[layouts[operand].offset % size..].chunks_exact(size).map(word).collect()
        };
        for (i, (g, w)) in words(&got[operand]).into_iter().zip(words(&want[operand])).enumerate() {
            let inputs: Vec<Vec<u64>> =
                before[..nest.inputs.len()].iter().map(|m| m.chunks(8).map(word).collect()).collect();
            assert!(
                same(ty, g, w),
                "operand {operand} word {i}: got {g:#x}, want {w:#x} ({} lanes, extents {extents:?}, {layouts:?})\n{nest:?}\ninputs {:x?}",
                compiled.lanes,
                inputs.iter().map(|i| &i[..i.len().min(12)]).collect::<Vec<_>>()
            );
        }
    }
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

fn same(ty: PrimType, a: u64, b: u64) -> bool {
    match ty {
        PrimType::F32 => a == b || (f32::from_bits(a as u32).is_nan() && f32::from_bits(b as u32).is_nan()),
        PrimType::F64 => a == b || (f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan()),
        PrimType::Bool | PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => a == b,
    }
}

fn reference(nest: &LoopNest, memory: &mut [Vec<u8>], layouts: &[Layout], extents: &[usize], literals: &[Vec<u64>]) {
    let LoopBody::Prims { body, .. } = &nest.body else { panic!("an expanded nest") };
    let size: usize = extents.iter().product();
    let mut index = vec![0usize; extents.len()];
    for _ in 0..size {
        let at = |operand: usize| {
            let moved = index.iter().zip(&layouts[operand].strides).map(|(&i, s)| i as isize * s).sum::<isize>();
            (layouts[operand].offset as isize + moved) as usize
        };
        let mut inputs = Vec::new();
        for (operand, access) in nest.inputs.iter().enumerate() {
            for (w, ty) in access.dtype.storage().iter().enumerate() {
                let from = at(operand) + w * ty.bytes();
                inputs.push(word(&memory[operand][from..from + ty.bytes()]));
            }
        }
        inputs.extend(literals.iter().flatten());
        let mut outputs = body.eval(&inputs).into_iter();
        for (i, access) in nest.outputs.iter().enumerate() {
            let operand = nest.inputs.len() + i;
            for (w, ty) in access.dtype.storage().iter().enumerate() {
                let to = at(operand) + w * ty.bytes();
                let bits = outputs.next().unwrap().to_le_bytes();
                memory[operand][to..to + ty.bytes()].copy_from_slice(&bits[..ty.bytes()]);
            }
        }
        for axis in (0..extents.len()).rev() {
            index[axis] += 1;
            if index[axis] < extents[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}
