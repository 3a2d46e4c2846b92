//! Emitters of ops with scalar registers.

use ndjit_ir::body::{BodyBuilder, Reg};

/// The emitter of an op whose operands and result are one register each, by the number of operands.
#[derive(Clone, Copy)]
pub(crate) enum ScalarEmitter {
    Unary(fn(&mut BodyBuilder, Reg) -> Reg),
    Binary(fn(&mut BodyBuilder, Reg, Reg) -> Reg),
    Ternary(fn(&mut BodyBuilder, Reg, Reg, Reg) -> Reg),
    Quaternary(fn(&mut BodyBuilder, [Reg; 4]) -> Reg),
}

impl ScalarEmitter {
    /// The register of the result.
    pub fn emit(self, b: &mut BodyBuilder, args: &[Reg]) -> Reg {
        match self {
            ScalarEmitter::Unary(emit) => emit(b, args[0]),
            ScalarEmitter::Binary(emit) => emit(b, args[0], args[1]),
            ScalarEmitter::Ternary(emit) => emit(b, args[0], args[1], args[2]),
            ScalarEmitter::Quaternary(emit) => emit(b, [args[0], args[1], args[2], args[3]]),
        }
    }
}
