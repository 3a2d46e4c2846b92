//! The fifteen data types, one table row each, and the machine types their elements are made of.
//!
//! Everything that is a fact about a dtype alone stands in [`DType::row`]'s table: names, kind, size, `.npy` and WGSL
//! spellings, the primitive types of its value and of its stored form. Nothing here knows of promotion.

use std::fmt;
use std::str::FromStr;

/// The kind of numbers a dtype holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `true` and `false`.
    Bool,
    /// Unsigned integers.
    UInt,
    /// Two's-complement integers.
    Int,
    /// Binary floating point: IEEE-754 formats and bfloat16.
    Float,
    /// Pairs of floats, real part first.
    Complex,
}

/// The type of one register of a scalar body: what a processor computes with.
///
/// Integers carry no sign; the primitive that uses them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrimType {
    /// A truth value (a mask lane in vector code).
    Bool,
    /// 8 bits.
    I8,
    /// 16 bits.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl PrimType {
    /// All primitive types.
    pub const ALL: [PrimType; 7] = {
        use PrimType::*;
        [Bool, I8, I16, I32, I64, F32, F64]
    };

    /// Size in bits; a `Bool` counts as 1.
    pub const fn bits(self) -> u32 {
        match self {
            PrimType::Bool => 1,
            PrimType::I8 => 8,
            PrimType::I16 => 16,
            PrimType::I32 | PrimType::F32 => 32,
            PrimType::I64 | PrimType::F64 => 64,
        }
    }

    /// Size in bytes of the stored form; a `Bool` is never stored (its dtype is stored as `I8`).
    pub const fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }

    /// Whether this is `F32` or `F64`.
    pub const fn is_float(self) -> bool {
        matches!(self, PrimType::F32 | PrimType::F64)
    }

    /// Whether this is one of the integer types (not `Bool`).
    pub const fn is_int(self) -> bool {
        matches!(self, PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64)
    }

    /// The integer type of the same width (`Bool` is its own).
    pub const fn as_int(self) -> PrimType {
        match self {
            PrimType::F32 => PrimType::I32,
            PrimType::F64 => PrimType::I64,
            other => other,
        }
    }

    /// The bits a value of this type can hold, as a mask of the low bits of a `u64`.
    pub const fn mask(self) -> u64 {
        if self.bits() == 64 { u64::MAX } else { (1 << self.bits()) - 1 }
    }

    /// The name in IR text: `bool`, `i32`, `f64` …
    pub const fn name(self) -> &'static str {
        match self {
            PrimType::Bool => "bool",
            PrimType::I8 => "i8",
            PrimType::I16 => "i16",
            PrimType::I32 => "i32",
            PrimType::I64 => "i64",
            PrimType::F32 => "f32",
            PrimType::F64 => "f64",
        }
    }
}

impl fmt::Display for PrimType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One row of the dtype table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The dtype this row describes.
    pub dtype: DType,
    /// Short name, as printed: `f32`.
    pub name: &'static str,
    /// Long name, as in NumPy: `float32`.
    pub long: &'static str,
    /// Kind of numbers.
    pub kind: Kind,
    /// Bytes of one stored element.
    pub bytes: usize,
    /// Type descriptor in `.npy` files on a little-endian host; `None` where NumPy has no such type.
    pub npy: Option<&'static str>,
    /// Rust type of one element.
    pub rust: &'static str,
    /// WGSL type; `None` where WGSL has none without an extension.
    pub wgsl: Option<&'static str>,
    /// Registers that hold one value while computing. Halves live as an `f32` that the half format can represent
    /// exactly; complex values as real and imaginary part.
    pub repr: &'static [PrimType],
    /// Machine words of one stored element.
    pub storage: &'static [PrimType],
}

macro_rules! dtypes {
    ($($variant:ident $name:literal $long:literal $kind:ident $bytes:literal $npy:expr, $rust:literal, $wgsl:expr,
       [$($repr:ident)*] [$($storage:ident)*] $doc:literal;)*) => {
        /// An element type. Closed and `Copy`; facts about each are in its table [row](DType::row).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType { $(#[doc = $doc] $variant,)* }

        const ROWS: &[Row] = &[$(Row {
            dtype: DType::$variant, name: $name, long: $long, kind: Kind::$kind, bytes: $bytes, npy: $npy, rust: $rust,
            wgsl: $wgsl, repr: &[$(PrimType::$repr),*], storage: &[$(PrimType::$storage),*],
        }),*];

        impl DType {
            /// All dtypes, in the order of the promotion tables.
            pub const ALL: [DType; ROWS.len()] = [$(DType::$variant),*];
        }
    };
}

dtypes! {
    Bool "bool" "bool"       Bool    1  Some("|b1"),  "bool",           Some("bool"),      [Bool]    [I8]      "Truth values, one byte each, 0 or 1.";
    U8   "u8"   "uint8"      UInt    1  Some("|u1"),  "u8",             None,              [I8]      [I8]      "8-bit unsigned integers.";
    U16  "u16"  "uint16"     UInt    2  Some("<u2"),  "u16",            None,              [I16]     [I16]     "16-bit unsigned integers.";
    U32  "u32"  "uint32"     UInt    4  Some("<u4"),  "u32",            Some("u32"),       [I32]     [I32]     "32-bit unsigned integers.";
    U64  "u64"  "uint64"     UInt    8  Some("<u8"),  "u64",            None,              [I64]     [I64]     "64-bit unsigned integers.";
    I8   "i8"   "int8"       Int     1  Some("|i1"),  "i8",             None,              [I8]      [I8]      "8-bit signed integers.";
    I16  "i16"  "int16"      Int     2  Some("<i2"),  "i16",            None,              [I16]     [I16]     "16-bit signed integers.";
    I32  "i32"  "int32"      Int     4  Some("<i4"),  "i32",            Some("i32"),       [I32]     [I32]     "32-bit signed integers.";
    I64  "i64"  "int64"      Int     8  Some("<i8"),  "i64",            None,              [I64]     [I64]     "64-bit signed integers.";
    Bf16 "bf16" "bfloat16"   Float   2  None,         "half::bf16",     None,              [F32]     [I16]     "bfloat16: 8 exponent bits, 8 bits of precision.";
    F16  "f16"  "float16"    Float   2  Some("<f2"),  "half::f16",      Some("f16"),       [F32]     [I16]     "IEEE binary16: 5 exponent bits, 11 bits of precision.";
    F32  "f32"  "float32"    Float   4  Some("<f4"),  "f32",            Some("f32"),       [F32]     [F32]     "IEEE binary32.";
    F64  "f64"  "float64"    Float   8  Some("<f8"),  "f64",            None,              [F64]     [F64]     "IEEE binary64.";
    C64  "c64"  "complex64"  Complex 8  Some("<c8"),  "Complex<f32>",   Some("vec2<f32>"), [F32 F32] [F32 F32] "Pairs of f32.";
    C128 "c128" "complex128" Complex 16 Some("<c16"), "Complex<f64>",   None,              [F64 F64] [F64 F64] "Pairs of f64.";
}

impl DType {
    /// This dtype's table row.
    pub const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Short name: `f32`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Kind of numbers.
    pub const fn kind(self) -> Kind {
        self.row().kind
    }

    /// Bytes of one stored element.
    pub const fn bytes(self) -> usize {
        self.row().bytes
    }

    /// Registers that hold one value while computing.
    pub const fn repr(self) -> &'static [PrimType] {
        self.row().repr
    }

    /// Machine words of one stored element.
    pub const fn storage(self) -> &'static [PrimType] {
        self.row().storage
    }

    /// Whether elements are signed or unsigned integers (not bool).
    pub const fn is_int(self) -> bool {
        matches!(self.kind(), Kind::Int | Kind::UInt)
    }

    /// Whether elements are signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Int)
    }

    /// Whether elements are real floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether elements are complex numbers.
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// Whether this is `f16` or `bf16`: stored in 16 bits, computed in `f32`, rounded after every op.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::Bf16)
    }

    /// The dtype of the real part: `c64` gives `f32`, `c128` gives `f64`, others give themselves.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The unsigned integer dtype of the same width; of other kinds than integers the dtype itself.
    pub const fn unsigned(self) -> DType {
        match self {
            DType::I8 => DType::U8,
            DType::I16 => DType::U16,
            DType::I32 => DType::U32,
            DType::I64 => DType::U64,
            other => other,
        }
    }

    /// The smallest and largest value of an integer dtype (bool: 0 and 1); `None` for the others.
    pub const fn int_range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes() as u32;
        match self.kind() {
            Kind::Bool => Some((0, 1)),
            Kind::UInt => Some((0, (1 << bits) - 1)),
            Kind::Int => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Kind::Float | Kind::Complex => None,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A dtype name that is not known, or is ambiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDType(pub String);

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown dtype `{}`; known are", self.0)?;
        for row in ROWS {
            write!(f, " {}", row.name)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownDType {}

impl FromStr for DType {
    type Err = UnknownDType;

    /// Reads a short (`f32`) or long (`float32`) name.
    fn from_str(text: &str) -> Result<DType, UnknownDType> {
        ROWS.iter()
            .find(|row| row.name == text || row.long == text)
            .map(|row| row.dtype)
            .ok_or_else(|| UnknownDType(text.to_owned()))
    }
}

/// A set of dtypes, for domains of ops.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DTypeSet(u16);

impl DTypeSet {
    /// The empty set.
    pub const EMPTY: DTypeSet = DTypeSet(0);
    /// Bool alone.
    pub const BOOL: DTypeSet = DTypeSet(1 << DType::Bool as u16);
    /// All integer dtypes.
    pub const INT: DTypeSet = DTypeSet::of_kind(Kind::UInt).union(DTypeSet::of_kind(Kind::Int));
    /// All real floating-point dtypes.
    pub const FLOAT: DTypeSet = DTypeSet::of_kind(Kind::Float);
    /// Both complex dtypes.
    pub const COMPLEX: DTypeSet = DTypeSet::of_kind(Kind::Complex);
    /// Integers and floats.
    pub const REAL: DTypeSet = DTypeSet::INT.union(DTypeSet::FLOAT);
    /// Integers, floats and complex numbers.
    pub const NUMERIC: DTypeSet = DTypeSet::REAL.union(DTypeSet::COMPLEX);
    /// All dtypes.
    pub const ALL: DTypeSet = DTypeSet::NUMERIC.union(DTypeSet::BOOL);

    /// The dtypes of one kind.
    pub const fn of_kind(kind: Kind) -> DTypeSet {
        let mut bits = 0;
        let mut i = 0;
        while i < ROWS.len() {
            if ROWS[i].kind as u8 == kind as u8 {
                bits |= 1 << i;
            }
            i += 1;
        }
        DTypeSet(bits)
    }

    /// The dtypes in either set.
    pub const fn union(self, other: DTypeSet) -> DTypeSet {
        DTypeSet(self.0 | other.0)
    }

    /// Whether `dtype` is in the set.
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 >> dtype as u16 & 1 == 1
    }

    /// The members, in table order.
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&d| self.contains(d))
    }
}

impl fmt::Display for DTypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, dtype) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            f.write_str(dtype.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for DTypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_consistent() {
        for dtype in DType::ALL {
            let row = dtype.row();
            assert_eq!(row.dtype, dtype);
            assert_eq!(row.bytes, row.storage.iter().map(|p| p.bytes()).sum::<usize>());
            assert_eq!(row.repr.len(), row.storage.len());
            assert_eq!(row.name.parse(), Ok(dtype));
            assert_eq!(row.long.parse(), Ok(dtype));
        }
        assert!("c8".parse::<DType>().is_err());
    }
}
