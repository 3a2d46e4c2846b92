//! The primitives, which devices implement. One table row each; builder methods, names and the parser derive from it.
//!
//! Every primitive is total: no operand value traps, and the result is defined for all of them (NaN sign and payload
//! excepted). Code generators guard instructions that trap.

use crate::dtype::PrimType;
use std::fmt;

/// The operand and result types of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimSignature {
    /// `n` operands of one type in the class, a result of the same type.
    Same(usize),
    /// Two operands of one type in the class, a `Bool` result.
    Compare,
    /// A `Bool`, then two operands of one type in the class, a result of that type.
    Select,
    /// One operand, with the operand and result types of [`Prim::converts`].
    Convert,
}

/// The class of operand types of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `F32`, `F64`.
    Float,
    /// `I8` to `I64`.
    Int,
    /// Integers and `Bool`.
    Bits,
    /// Any type.
    Any,
}

impl Class {
    /// Returns `true` if `ty` belongs to the class.
    pub const fn contains(self, ty: PrimType) -> bool {
        match self {
            Class::Float => ty.is_float(),
            Class::Int => ty.is_int(),
            Class::Bits => !ty.is_float(),
            Class::Any => true,
        }
    }
}

macro_rules! prims {
    ($($variant:ident $method:ident [$sig:ident $(($n:literal))?] $class:ident $doc:literal;)*) => {
        /// A primitive operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Prim { $(#[doc = $doc] $variant,)* }

        impl Prim {
            /// All primitives, in table order.
            pub const ALL: &'static [Prim] = &[$(Prim::$variant),*];

            /// The name in IR text.
            pub const fn name(self) -> &'static str {
                match self { $(Prim::$variant => stringify!($method),)* }
            }

            /// Operand count and type relation.
            pub const fn signature(self) -> PrimSignature {
                match self { $(Prim::$variant => PrimSignature::$sig $(($n))?,)* }
            }

            /// The class of operand types (the first operand's for a conversion, the second's for a select).
            pub const fn class(self) -> Class {
                match self { $(Prim::$variant => Class::$class,)* }
            }

            /// The definition in one sentence.
            pub const fn doc(self) -> &'static str {
                match self { $(Prim::$variant => $doc,)* }
            }
        }
    };
}

prims! {
    Fadd     fadd      [Same(2)] Float "IEEE-754 addition, round to nearest even.";
    Fsub     fsub      [Same(2)] Float "IEEE-754 subtraction, round to nearest even.";
    Fmul     fmul      [Same(2)] Float "IEEE-754 multiplication, round to nearest even.";
    Fdiv     fdiv      [Same(2)] Float "IEEE-754 division, round to nearest even.";
    Fsqrt    fsqrt     [Same(1)] Float "IEEE-754 square root, round to nearest even.";
    Fma      fma       [Same(3)] Float "IEEE-754 fusedMultiplyAdd: a * b + c rounded once.";
    Fneg     fneg      [Same(1)] Float "Flips the sign bit, also of NaN.";
    Fabs     fabs      [Same(1)] Float "Clears the sign bit, also of NaN.";
    Fmin     fmin      [Same(2)] Float "IEEE-754-2019 minimum: NaN if either is NaN; -0 < +0.";
    Fmax     fmax      [Same(2)] Float "IEEE-754-2019 maximum: NaN if either is NaN; -0 < +0.";
    Ffloor   ffloor    [Same(1)] Float "Largest integral value not above the operand.";
    Fceil    fceil     [Same(1)] Float "Smallest integral value not below the operand.";
    Ftrunc   ftrunc    [Same(1)] Float "Integral value nearest to and not larger in magnitude.";
    Fround   fround    [Same(1)] Float "Nearest integral value, ties to even.";
    Feq      feq       [Compare] Float "a = b; false if either is NaN.";
    Fne      fne       [Compare] Float "Not (a = b); true if either is NaN.";
    Flt      flt       [Compare] Float "a < b; false if either is NaN.";
    Fle      fle       [Compare] Float "a <= b; false if either is NaN.";

    Iadd     iadd      [Same(2)] Int   "Wrapping addition.";
    Isub     isub      [Same(2)] Int   "Wrapping subtraction.";
    Imul     imul      [Same(2)] Int   "Wrapping multiplication, low half.";
    Smulhi   smulhi    [Same(2)] Int   "High half of the signed double-width product.";
    Umulhi   umulhi    [Same(2)] Int   "High half of the unsigned double-width product.";
    Sdiv     sdiv      [Same(2)] Int   "Signed division, truncated; x / 0 = 0, MIN / -1 = MIN.";
    Udiv     udiv      [Same(2)] Int   "Unsigned division; x / 0 = 0.";
    Srem     srem      [Same(2)] Int   "Signed remainder with the sign of a; x rem 0 = 0, MIN rem -1 = 0.";
    Urem     urem      [Same(2)] Int   "Unsigned remainder; x rem 0 = 0.";
    Smin     smin      [Same(2)] Int   "Signed minimum.";
    Smax     smax      [Same(2)] Int   "Signed maximum.";
    Umin     umin      [Same(2)] Int   "Unsigned minimum.";
    Umax     umax      [Same(2)] Int   "Unsigned maximum.";
    Shl      shl       [Same(2)] Int   "Shift left; b is unsigned, b >= width gives 0.";
    Ushr     ushr      [Same(2)] Int   "Logical shift right; b is unsigned, b >= width gives 0.";
    Sshr     sshr      [Same(2)] Int   "Arithmetic shift right; b is unsigned, b >= width gives the sign in every bit.";
    Ieq      ieq       [Compare] Int   "a = b.";
    Ine      ine       [Compare] Int   "a differs from b.";
    Slt      slt       [Compare] Int   "Signed a < b.";
    Sle      sle       [Compare] Int   "Signed a <= b.";
    Ult      ult       [Compare] Int   "Unsigned a < b.";
    Ule      ule       [Compare] Int   "Unsigned a <= b.";

    And      and       [Same(2)] Bits  "Bitwise and.";
    Or       or        [Same(2)] Bits  "Bitwise or.";
    Xor      xor       [Same(2)] Bits  "Bitwise exclusive or.";
    Not      not       [Same(1)] Bits  "Bitwise complement.";

    Select   select    [Select]  Any   "The second operand where the first is true, else the third.";

    Bitcast  bitcast   [Convert] Any   "The same bits as the float or integer type of equal width.";
    Sext     sext      [Convert] Int   "Sign extension to a wider integer.";
    Zext     zext      [Convert] Int   "Zero extension to a wider integer.";
    Itrunc   itrunc    [Convert] Int   "The low bits, as a narrower integer.";
    Mask     mask      [Convert] Any   "From Bool: 1 or 0 as an integer.";
    Fpromote fpromote  [Convert] Float "F32 to F64, exact.";
    Fdemote  fdemote   [Convert] Float "F64 to F32, round to nearest even.";
    FromSint fromsint  [Convert] Int   "Signed I32 or I64 to a float, round to nearest even.";
    FromUint fromuint  [Convert] Int   "Unsigned I32 or I64 to a float, round to nearest even.";
    ToSint   tosint    [Convert] Float "Float to signed I32 or I64: truncates, saturates, NaN gives 0.";
    ToUint   touint    [Convert] Float "Float to unsigned I32 or I64: truncates, saturates, NaN gives 0.";
}

impl Prim {
    /// The number of operands.
    pub const fn arity(self) -> usize {
        match self.signature() {
            PrimSignature::Same(n) => n,
            PrimSignature::Compare => 2,
            PrimSignature::Select => 3,
            PrimSignature::Convert => 1,
        }
    }

    /// Returns `true` for a conversion from type `from` to type `to`.
    pub fn converts(self, from: PrimType, to: PrimType) -> bool {
        let wide = |t: PrimType| matches!(t, PrimType::I32 | PrimType::I64);
        match self {
            Prim::Bitcast => from != to && from.bits() == to.bits() && from.bits() > 1,
            Prim::Sext | Prim::Zext => from.is_int() && to.is_int() && from.bits() < to.bits(),
            Prim::Itrunc => from.is_int() && to.is_int() && from.bits() > to.bits(),
            Prim::Mask => from == PrimType::Bool && to.is_int(),
            Prim::Fpromote => from == PrimType::F32 && to == PrimType::F64,
            Prim::Fdemote => from == PrimType::F64 && to == PrimType::F32,
            Prim::FromSint | Prim::FromUint => wide(from) && to.is_float(),
            Prim::ToSint | Prim::ToUint => from.is_float() && wide(to),
            _ => false,
        }
    }

    /// The result type for operands of types `args`, where `to` is the result type of a conversion. `None` for unsupported
    /// operands.
    pub fn result(self, args: &[PrimType], to: Option<PrimType>) -> Option<PrimType> {
        if args.len() != self.arity() {
            return None;
        }
        let same = |args: &[PrimType]| {
            let ty = args[0];
            (args.iter().all(|&a| a == ty) && self.class().contains(ty)).then_some(ty)
        };
        match self.signature() {
            PrimSignature::Same(_) => same(args),
            PrimSignature::Compare => same(args).map(|_| PrimType::Bool),
            PrimSignature::Select => (args[0] == PrimType::Bool).then(|| same(&args[1..]))?,
            PrimSignature::Convert => to.filter(|&to| self.converts(args[0], to)),
        }
    }
}

impl fmt::Display for Prim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
