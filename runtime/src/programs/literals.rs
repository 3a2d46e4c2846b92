//! The literals of a kernel: known before a call, except scalar arguments of the call.

use ndjit_codegen::{Lowered, Scheduled};
use ndjit_ir::graph::{Graph, Slot, SlotId};
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Error, ErrorCode, PrimType, Result, ValueType, Weak};
use smallvec::SmallVec;

/// The registers of a kernel's literals, in order.
#[derive(Debug, Default)]
pub struct Literals {
    /// Type and bits; zeros for literals passed at a call.
    pub registers: SmallVec<[(PrimType, u64); 4]>,
    patches: SmallVec<[Patch; 1]>,
}

/// A literal passed at each call.
#[derive(Debug)]
struct Patch {
    /// Its first register.
    register: usize,
    dtype: DType,
    /// Its index among the call's arguments, and its kind.
    argument: usize,
    ty: Weak,
}

impl Literals {
    /// The literals of a program's kernel.
    ///
    /// # Errors
    /// `Literal` if one does not fit its dtype.
    pub fn new(lowered: &Lowered, scheduled: &Scheduled) -> Result<Literals> {
        Literals::of(scheduled.literals.iter().map(|&(slot, dtype)| (&lowered.simplified, slot, dtype)))
    }

    /// The literals of slots of graphs, as dtypes.
    ///
    /// # Errors
    /// `Literal` if one does not fit its dtype.
    pub fn of<'a>(slots: impl Iterator<Item = (&'a Graph<DType>, SlotId, DType)>) -> Result<Literals> {
        let mut literals = Literals::default();
        let registers = &mut literals.registers;
        for (graph, slot, dtype) in slots {
            match graph.slots().get(slot.index()) {
                Some(Slot::Value(literal)) => {
                    registers.extend(dtype.repr().iter().copied().zip(literal.to_repr(dtype)?));
                }
                Some(&Slot::Argument { index, ty }) => {
                    literals.patches.push(Patch { register: registers.len(), dtype, argument: index, ty });
                    registers.extend(dtype.repr().iter().map(|&repr| (repr, 0)));
                }
                None => return Err(Error::new(ErrorCode::Verify, format!("plan: there is no literal {slot}"))),
            }
        }
        Ok(literals)
    }

    /// Whether all are known before a call.
    pub fn known(&self) -> bool {
        self.patches.is_empty()
    }

    /// Sets the registers of literals passed at a call.
    ///
    /// # Errors
    /// `Arity` if a scalar is missing, `Argument` if it is of another kind, `Literal` if it does not fit its dtype.
    pub fn passed(&self, scalars: &[(usize, Literal)], mut set: impl FnMut(usize, PrimType, u64)) -> Result<()> {
        for patch in &self.patches {
            let Some((_, literal)) = scalars.iter().find(|(index, _)| *index == patch.argument) else {
                return Err(Error::new(
                    ErrorCode::Arity,
                    format!("run: no value for scalar argument {}", patch.argument),
                ));
            };
            if literal.ty() != ValueType::Weak(patch.ty) {
                return Err(Error::new(
                    ErrorCode::Argument,
                    format!("run: scalar argument {} is of another kind", patch.argument),
                )
                .fact(format_args!("given: {}", literal.ty()))
                .fact(format_args!("traced as: {}", patch.ty)));
            }
            let bits = literal.to_repr(patch.dtype)?;
            for (n, (&repr, &bits)) in patch.dtype.repr().iter().zip(&bits).enumerate() {
                set(patch.register + n, repr, bits);
            }
        }
        Ok(())
    }
}
