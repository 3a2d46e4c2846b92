//! The fifteen dtypes, one table row each.
//!
//! [`DType::row`]'s table has all properties of a dtype: names, kind, size, precision, its types in Rust, CLIF, WGSL and `.npy`
//! files. Methods derive the others.

use super::prim_type::PrimType;
use super::set::DTypeSet;

/// The kind of numbers of a dtype.
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
    /// Binary digits: every number below `2^digits` is exact, as in C++'s `numeric_limits::digits`. A float's significand with its
    /// leading bit, an integer's bits without its sign, for complex numbers those of each part.
    pub digits: u32,
    /// Type descriptor in `.npy` files on a little-endian host; `None` if NumPy has no such type.
    pub npy: Option<&'static str>,
    /// Rust type of one element.
    pub rust: &'static str,
    /// WGSL type; `None` if WGSL has none. `f16` needs `enable f16;`.
    pub wgsl: Option<&'static str>,
    /// Registers of one value in computations. A half is an `f32` that is exact in the half format; a complex value is its real
    /// and imaginary part.
    pub repr: &'static [PrimType],
    /// Machine words of one stored element: its CLIF types, named by [`PrimType::name`].
    pub storage: &'static [PrimType],
}

macro_rules! dtypes {
    ($($variant:ident $name:literal $long:literal $kind:ident $bytes:literal $digits:literal $npy:expr, $rust:literal, $wgsl:expr,
       [$($repr:ident)*] [$($storage:ident)*] $doc:literal;)*) => {
        /// A dtype: the type of elements. Its table [row](DType::row) has its properties.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType { $(#[doc = $doc] $variant,)* }

        pub(super) static ROWS: &[Row] = &[$(Row {
            dtype: DType::$variant, name: $name, long: $long, kind: Kind::$kind, bytes: $bytes, digits: $digits, npy: $npy, rust: $rust,
            wgsl: $wgsl, repr: &[$(PrimType::$repr),*], storage: &[$(PrimType::$storage),*],
        }),*];

        impl DType {
            /// All dtypes, in the order of the promotion tables.
            ///
            /// The other lists (`ALL_INT` …) keep this order. The sets of the same dtypes are constants of [`DTypeSet`].
            pub const ALL: [DType; ROWS.len()] = [$(DType::$variant),*];
        }
    };
}

dtypes! {
    Bool "bool" "bool"       Bool    1     1   Some("|b1"),  "bool",           Some("bool"),      [Bool]    [I8]      "Truth values, one byte each, 0 or 1.";
    U8   "u8"   "uint8"      UInt    1     8   Some("|u1"),  "u8",             None,              [I8]      [I8]      "8-bit unsigned integers.";
    U16  "u16"  "uint16"     UInt    2     16  Some("<u2"),  "u16",            None,              [I16]     [I16]     "16-bit unsigned integers.";
    U32  "u32"  "uint32"     UInt    4     32  Some("<u4"),  "u32",            Some("u32"),       [I32]     [I32]     "32-bit unsigned integers.";
    U64  "u64"  "uint64"     UInt    8     64  Some("<u8"),  "u64",            None,              [I64]     [I64]     "64-bit unsigned integers.";
    I8   "i8"   "int8"       Int     1     7   Some("|i1"),  "i8",             None,              [I8]      [I8]      "8-bit signed integers.";
    I16  "i16"  "int16"      Int     2     15  Some("<i2"),  "i16",            None,              [I16]     [I16]     "16-bit signed integers.";
    I32  "i32"  "int32"      Int     4     31  Some("<i4"),  "i32",            Some("i32"),       [I32]     [I32]     "32-bit signed integers.";
    I64  "i64"  "int64"      Int     8     63  Some("<i8"),  "i64",            None,              [I64]     [I64]     "64-bit signed integers.";
    Bf16 "bf16" "bfloat16"   Float   2     8   None,         "half::bf16",     None,              [F32]     [I16]     "bfloat16: 8 exponent bits, 8 bits of precision.";
    F16  "f16"  "float16"    Float   2     11  Some("<f2"),  "half::f16",      Some("f16"),       [F32]     [I16]     "IEEE binary16: 5 exponent bits, 11 bits of precision.";
    F32  "f32"  "float32"    Float   4     24  Some("<f4"),  "f32",            Some("f32"),       [F32]     [F32]     "IEEE binary32.";
    F64  "f64"  "float64"    Float   8     53  Some("<f8"),  "f64",            None,              [F64]     [F64]     "IEEE binary64.";
    C64  "c64"  "complex64"  Complex 8     24  Some("<c8"),  "Complex<f32>",   Some("vec2<f32>"), [F32 F32] [F32 F32] "Pairs of f32.";
    C128 "c128" "complex128" Complex 16    53 Some("<c16"), "Complex<f64>",   None,              [F64 F64] [F64 F64] "Pairs of f64.";
}

impl DType {
    /// All dtypes except `bool`.
    pub const ALL_NUMERIC: [DType; DTypeSet::NUMERIC.len()] = DTypeSet::NUMERIC.to_array();
    /// All integer dtypes, unsigned first.
    pub const ALL_INT: [DType; DTypeSet::INT.len()] = DTypeSet::INT.to_array();
    /// The unsigned integer dtypes.
    pub const ALL_UNSIGNED: [DType; DTypeSet::UNSIGNED.len()] = DTypeSet::UNSIGNED.to_array();
    /// The signed integer dtypes.
    pub const ALL_SIGNED: [DType; DTypeSet::SIGNED.len()] = DTypeSet::SIGNED.to_array();
    /// The real floating-point dtypes.
    pub const ALL_FLOAT: [DType; DTypeSet::FLOAT.len()] = DTypeSet::FLOAT.to_array();
    /// The complex dtypes.
    pub const ALL_COMPLEX: [DType; DTypeSet::COMPLEX.len()] = DTypeSet::COMPLEX.to_array();

    /// This dtype's table row: names, size, precision, and its types in Rust, CLIF, WGSL and `.npy` files.
    ///
    /// ```
    /// use ndjit_ir::{DType, PrimType};
    ///
    /// let row = DType::F16.row();
    /// assert_eq!((row.rust, row.wgsl, row.npy), ("half::f16", Some("f16"), Some("<f2")));
    /// assert_eq!(row.storage, [PrimType::I16]);
    /// ```
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

    /// Bits of one stored element. A `bool` is stored in 8.
    pub const fn bits(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// Binary digits of an integer without its sign, or of a float's significand: see [`Row::digits`].
    pub const fn digits(self) -> u32 {
        self.row().digits
    }

    /// Bits of the exponent of a float, or of each part of a complex number; `None` for the others.
    pub const fn exponent_bits(self) -> Option<u32> {
        if self.is_float() || self.is_complex() { Some(self.real().bits() - self.digits()) } else { None }
    }

    /// Registers of one value in computations.
    pub const fn repr(self) -> &'static [PrimType] {
        self.row().repr
    }

    /// Machine words of one stored element.
    pub const fn storage(self) -> &'static [PrimType] {
        self.row().storage
    }

    /// Returns `true` for signed and unsigned integer dtypes (not bool).
    pub const fn is_int(self) -> bool {
        matches!(self.kind(), Kind::Int | Kind::UInt)
    }

    /// Returns `true` for signed integer dtypes.
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Int)
    }

    /// Returns `true` for real floating-point dtypes.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Returns `true` for complex dtypes.
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// Returns `true` for `f16` and `bf16`: stored in 16 bits, computed in `f32`, rounded after every op.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::Bf16)
    }

    /// The bits of positive infinity of a real float. Larger bits without sign are NaNs.
    pub const fn infinity_bits(self) -> Option<u64> {
        match self {
            DType::Bf16 => Some(0x7f80),
            DType::F16 => Some(0x7c00),
            DType::F32 => Some(0x7f80_0000),
            DType::F64 => Some(0x7ff0_0000_0000_0000),
            _ => None,
        }
    }

    /// The dtype of the real part: `c64` gives `f32`, `c128` gives `f64`, others give themselves.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex dtype whose parts are of this float dtype; a complex dtype itself.
    pub const fn complex(self) -> DType {
        match self {
            DType::F64 | DType::C128 => DType::C128,
            _ => DType::C64,
        }
    }

    /// The unsigned integer dtype of the same width; other dtypes themselves.
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
        let end = 1 << self.digits();
        match self.kind() {
            Kind::Bool | Kind::UInt => Some((0, end - 1)),
            Kind::Int => Some((-end, end - 1)),
            Kind::Float | Kind::Complex => None,
        }
    }

    /// Returns `true` if this dtype represents every value of `other` exactly, so casting there and back changes nothing.
    /// `false` and `true` are 0 and 1.
    ///
    /// ```
    /// use ndjit_ir::DType;
    ///
    /// assert!(DType::F32.holds(DType::U16));
    /// assert!(!DType::F64.holds(DType::I64)); // 2^53 + 1
    /// ```
    pub const fn holds(self, other: DType) -> bool {
        // An integer with no more digits than a float is also in its range: 2^digits is below every format's largest value.
        let range = match (other.exponent_bits(), self.exponent_bits()) {
            (Some(narrow), Some(wide)) => narrow <= wide,
            _ => true,
        };
        other.kind() as u8 <= self.kind() as u8 && other.digits() <= self.digits() && range
    }
}
