//! Machine code for aarch64, executed by the emulator [Unicorn](https://www.unicorn-engine.org), for tests on other machines.
//!
//! The emulator is a shared library (`pip install unicorn` has one), opened at run time and not linked. Guest addresses are those of this
//! process: accessed pages are mapped to themselves, so operands are read and written in place. Slow, and only for tests.

use cranelift_codegen::isa::OwnedTargetIsa;
use ndjit_codegen::clif::{AccumulatorLayout, Cell, ClifKernel, aarch64_isa};
use ndjit_ir::{Error, ErrorCode, Result};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

type Open = unsafe extern "C" fn(c_int, c_int, *mut *mut c_void) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void) -> c_int;
type MapPtr = unsafe extern "C" fn(*mut c_void, u64, u64, u32, *mut c_void) -> c_int;
type Unmap = unsafe extern "C" fn(*mut c_void, u64, u64) -> c_int;
type RegWrite = unsafe extern "C" fn(*mut c_void, c_int, *const c_void) -> c_int;
type RegRead = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void) -> c_int;
type Start = unsafe extern "C" fn(*mut c_void, u64, u64, u64, usize) -> c_int;
type Hook = unsafe extern "C" fn(*mut c_void, *mut usize, c_int, *const c_void, *mut c_void, u64, u64, ...) -> c_int;

/// Functions of the library, as `unicorn.h` declares them.
struct Library {
    open: Open,
    close: Close,
    map_ptr: MapPtr,
    unmap: Unmap,
    reg_write: RegWrite,
    reg_read: RegRead,
    start: Start,
    hook: Hook,
}

static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Constants of `unicorn.h` and `arm64.h`, version 2.
const ARCH_ARM64: c_int = 2;
const ALL_ACCESS: u32 = 7;
const UNMAPPED_READ_OR_WRITE: c_int = 16 | 32;
const X0: c_int = 199;
const LR: c_int = 2;
const SP: c_int = 4;
const PC: c_int = 260;
const CPACR: c_int = 261;

/// Bytes mapped at once: whole pages.
const CHUNK: u64 = 1 << 16;
/// Bytes of the stack.
const STACK: usize = 1 << 20;
/// The return address of functions, unmapped.
const RETURN: u64 = 0x1000;
/// Mapped functions of an emulator before it is recreated.
const KEPT: usize = 256;

/// Opens the emulator's library; later calls have no effect.
///
/// # Errors
/// `Backend` if it cannot be opened or lacks a function.
pub fn open(library: &Path) -> Result<()> {
    if LIBRARY.get().is_none() {
        let opened = load(library)?;
        let _ = LIBRARY.set(opened);
    }
    Ok(())
}

#[cfg(not(unix))]
fn load(_: &Path) -> Result<Library> {
    Err(failed("no such library on this system", 0))
}

#[cfg(unix)]
fn load(library: &Path) -> Result<Library> {
    let missing = |what: &str| {
        Error::new(ErrorCode::Backend, format!("emulator: {what}: {}", library.display()))
            .help("`pip install unicorn` brings the library, as lib/libunicorn.so.2 in its folder")
    };
    let path = CString::new(library.as_os_str().as_encoded_bytes()).map_err(|_| missing("no path"))?;
    // SAFETY: a NUL-terminated path; the initialisers of Unicorn do not affect this process.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    let handle = NonNull::new(handle).ok_or_else(|| missing("it cannot be opened"))?;
    let symbol = |name: &'static [u8]| {
        // SAFETY: the handle is an open library's, and the name is NUL-terminated.
        let found = unsafe { libc::dlsym(handle.as_ptr(), name.as_ptr().cast::<c_char>()) };
        NonNull::new(found).ok_or_else(|| missing("it lacks a function"))
    };
    // SAFETY: these functions have these types in version 2 of the library, which is never closed.
    unsafe {
        Ok(Library {
            open: std::mem::transmute::<*mut c_void, Open>(symbol(b"uc_open\0")?.as_ptr()),
            close: std::mem::transmute::<*mut c_void, Close>(symbol(b"uc_close\0")?.as_ptr()),
            map_ptr: std::mem::transmute::<*mut c_void, MapPtr>(symbol(b"uc_mem_map_ptr\0")?.as_ptr()),
            unmap: std::mem::transmute::<*mut c_void, Unmap>(symbol(b"uc_mem_unmap\0")?.as_ptr()),
            reg_write: std::mem::transmute::<*mut c_void, RegWrite>(symbol(b"uc_reg_write\0")?.as_ptr()),
            reg_read: std::mem::transmute::<*mut c_void, RegRead>(symbol(b"uc_reg_read\0")?.as_ptr()),
            start: std::mem::transmute::<*mut c_void, Start>(symbol(b"uc_emu_start\0")?.as_ptr()),
            hook: std::mem::transmute::<*mut c_void, Hook>(symbol(b"uc_hook_add\0")?.as_ptr()),
        })
    }
}

fn library() -> Result<&'static Library> {
    LIBRARY.get().ok_or_else(|| Error::new(ErrorCode::Backend, "emulator: it is not open"))
}

fn failed(what: &str, code: c_int) -> Error {
    Error::new(ErrorCode::Backend, format!("emulator: {what}: error {code}"))
}

fn done(what: &str, code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(failed(what, code)) }
}

/// A function for aarch64 with its constants.
pub struct EmulatedFunction {
    code: Box<[MappedPage]>,
    /// The guest address: unique among all functions, to keep translations valid.
    address: u64,
    bytes: usize,
    constants: Box<[Cell]>,
}

/// Memory in mappable pages.
#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct MappedPage([u8; 4096]);

impl EmulatedFunction {
    /// Compiles emitted code for this target.
    ///
    /// # Errors
    /// `Backend` if Cranelift cannot compile the code, or the code calls functions.
    pub fn new(kernel: ClifKernel, isa: &OwnedTargetIsa) -> Result<EmulatedFunction> {
        static NEXT: AtomicU64 = AtomicU64::new(1 << 36);
        let (bytes, constants) = kernel.into_code(&**isa)?;
        let mut code = vec![MappedPage([0; 4096]); bytes.len().div_ceil(4096)];
        for (page, part) in code.iter_mut().zip(bytes.chunks(4096)) {
            page.0[..part.len()].copy_from_slice(part);
        }
        let address = NEXT.fetch_add(size_of_val(&*code) as u64, Ordering::Relaxed);
        Ok(EmulatedFunction { address, bytes: bytes.len(), code: code.into(), constants: constants.into() })
    }

    /// Bytes of its code.
    pub fn code_bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of memory: code in whole pages, and constants.
    pub fn weight(&self) -> usize {
        size_of_val(&*self.code) + size_of_val(&*self.constants)
    }

    /// Runs it. Strides are in bytes, `[operand][loop]`, inputs before outputs; literals as cells.
    ///
    /// # Errors
    /// `Backend` if the emulator is not open, or the code traps or does not return.
    ///
    /// # Safety
    /// - `pointers` has one entry per operand, `extents` one per loop, `strides` one per operand and loop, `literals` one per register of
    ///   each literal.
    /// - For every index of the extents, each input's element is initialised, readable memory, and each output's writable memory, during
    ///   the call. Strides of the innermost loop agree with the operands' classes.
    /// - Nobody else writes the inputs or accesses the outputs meanwhile. An output overlaps an input only if every index has the same
    ///   address in both.
    pub unsafe fn call(
        &self,
        pointers: &[*mut u8],
        extents: &[usize],
        strides: &[isize],
        literals: &[Cell],
    ) -> Result<()> {
        EMULATOR.with_borrow_mut(|emulator| {
            if emulator.as_ref().is_none_or(|emulator| emulator.functions.len() >= KEPT) {
                *emulator = None;
                *emulator = Some(Emulator::new()?);
            }
            let emulator = emulator.as_mut().ok_or_else(|| failed("it is not open", 0))?;
            let tables = [
                extents.as_ptr().expose_provenance(),
                strides.as_ptr().expose_provenance(),
                literals.as_ptr().expose_provenance(),
            ];
            // SAFETY: the caller's promise.
            unsafe { emulator.call(self, pointers, tables) }
        })
    }
}

thread_local! {
    static EMULATOR: RefCell<Option<Emulator>> = const { RefCell::new(None) };
}

/// The emulator of one thread.
struct Emulator {
    library: &'static Library,
    handle: NonNull<c_void>,
    stack: Box<[MappedPage]>,
    /// Addresses of mapped functions, whose translations are kept.
    functions: Vec<u64>,
    mapped: Box<Mapped>,
}

/// Mappings of a run.
struct Mapped {
    map_ptr: MapPtr,
    chunks: Vec<u64>,
}

/// Maps the chunk around an accessed address to itself.
unsafe extern "C" fn on_unmapped(
    handle: *mut c_void,
    _access: c_int,
    address: u64,
    size: c_int,
    _value: i64,
    mapped: *mut c_void,
) -> bool {
    // SAFETY: the hook was added with the emulator's own `Mapped`, which outlives it. It runs on the thread that has borrowed the emulator,
    // which does not access it meanwhile.
    let mapped = unsafe { &mut *mapped.cast::<Mapped>() };
    let last = address.wrapping_add(size.max(1) as u64 - 1);
    for chunk in [address & !(CHUNK - 1), last & !(CHUNK - 1)] {
        if chunk < CHUNK || mapped.chunks.contains(&chunk) {
            continue;
        }
        let memory = ptr::with_exposed_provenance_mut::<c_void>(chunk as usize);
        // SAFETY: mapping does not access the memory. Guest code accesses it, as the kernel's caller promises.
        if unsafe { (mapped.map_ptr)(handle, chunk, CHUNK, ALL_ACCESS, memory) } != 0 {
            return false;
        }
        mapped.chunks.push(chunk);
    }
    mapped.chunks.contains(&(address & !(CHUNK - 1)))
}

impl Emulator {
    fn new() -> Result<Emulator> {
        let library = library()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the library's functions, as declared; the hook's data lives as long as the emulator, which `Drop` closes.
        unsafe {
            done("open", (library.open)(ARCH_ARM64, 0, &raw mut handle))?;
            let handle = NonNull::new(handle).ok_or_else(|| failed("open", 0))?;
            let stack = vec![MappedPage([0; 4096]); STACK / 4096].into();
            let mapped = Box::new(Mapped { map_ptr: library.map_ptr, chunks: Vec::new() });
            let mut emulator = Emulator { library, handle, stack, functions: Vec::new(), mapped };
            let data = (&raw mut *emulator.mapped).cast::<c_void>();
            let mut number = 0;
            let callback = on_unmapped as *const c_void;
            let hook = library.hook;
            done("hook", hook(handle.as_ptr(), &raw mut number, UNMAPPED_READ_OR_WRITE, callback, data, 1, 0))?;
            // Floating point is enabled.
            emulator.write(CPACR, 3 << 20)?;
            Ok(emulator)
        }
    }

    fn write(&mut self, register: c_int, value: u64) -> Result<()> {
        // SAFETY: a 64-bit register and a 64-bit value.
        let code = unsafe { (self.library.reg_write)(self.handle.as_ptr(), register, (&raw const value).cast()) };
        done("a register", code)
    }

    /// # Safety
    /// As [`EmulatedFunction::call`].
    unsafe fn call(&mut self, function: &EmulatedFunction, pointers: &[*mut u8], tables: [usize; 3]) -> Result<()> {
        if !self.functions.contains(&function.address) {
            let (memory, bytes) = (function.code.as_ptr(), size_of_val(&*function.code) as u64);
            // SAFETY: pages of the function. After its drop they stay mapped, at an address without callers.
            let code = unsafe {
                (self.library.map_ptr)(
                    self.handle.as_ptr(),
                    function.address,
                    bytes,
                    ALL_ACCESS,
                    memory.cast_mut().cast(),
                )
            };
            done("code", code)?;
            self.functions.push(function.address);
        }
        let [extents, strides, literals] = tables;
        let (pointers_at, constants) =
            (pointers.as_ptr().expose_provenance(), function.constants.as_ptr().expose_provenance());
        let arguments = [pointers_at, extents, strides, literals, constants];
        for (n, argument) in (0..).zip(arguments) {
            self.write(X0 + n, argument as u64)?;
        }
        for &pointer in pointers {
            pointer.expose_provenance();
        }
        let top = self.stack.as_mut_ptr_range().end.expose_provenance() as u64;
        self.write(SP, top - 64)?;
        self.write(LR, RETURN)?;
        // SAFETY: the function accesses its operands, as promised by the caller, its constants and its stack.
        let ran = unsafe { (self.library.start)(self.handle.as_ptr(), function.address, RETURN, 0, 0) };
        let mut at = 0u64;
        // SAFETY: a 64-bit register and a 64-bit value.
        unsafe { (self.library.reg_read)(self.handle.as_ptr(), PC, (&raw mut at).cast()) };
        for chunk in self.mapped.chunks.drain(..) {
            // SAFETY: it was mapped in this run.
            done("memory", unsafe { (self.library.unmap)(self.handle.as_ptr(), chunk, CHUNK) })?;
        }
        if ran != 0 || at != RETURN {
            let offset = at.wrapping_sub(function.address);
            return Err(failed("code for aarch64 did not return", ran).fact(format_args!("it was at byte {offset}")));
        }
        Ok(())
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // SAFETY: it is open, and this is its last use.
        unsafe { (self.library.close)(self.handle.as_ptr()) };
    }
}

/// Code generation for aarch64, for kernels with the form's accumulators, if the emulator is open.
///
/// # Errors
/// `Backend` if it is not open.
pub fn isa(form: AccumulatorLayout) -> Result<OwnedTargetIsa> {
    library()?;
    aarch64_isa(form)
}
