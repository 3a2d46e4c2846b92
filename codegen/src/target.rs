//! Capabilities of code generators, as data: for each primitive on each machine type whether there is a vector form, a form
//! for one lane, or none, and for every unsupported primitive the reason and a link.
//!
//! Every other primitive has a vector form. Passes and emitters use only this data.

use cranelift_codegen::isa::TargetIsa;
use ndjit_ir::PrimType;
use ndjit_ir::body::{Prim, PrimSignature};
use std::fmt;

/// The register width of the innermost loops. Results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VectorWidth {
    /// One lane: no vector instructions.
    Scalar,
    /// Registers of 128 bits, which every machine has.
    Bits128,
    /// Registers of 256 bits, if supported: on x86-64 with AVX2 and FMA.
    Bits256,
    /// The machine's widest registers, if faster and supported: AVX-512, else AVX2, else 128 bits.
    #[default]
    Widest,
}

impl VectorWidth {
    /// All, from narrow to wide.
    pub const ALL: [VectorWidth; 4] =
        [VectorWidth::Scalar, VectorWidth::Bits128, VectorWidth::Bits256, VectorWidth::Widest];

    /// Returns `true` if there are vector instructions.
    pub const fn is_vector(self) -> bool {
        !matches!(self, VectorWidth::Scalar)
    }
}

/// `true` is the widest vector instructions, `false` none.
impl From<bool> for VectorWidth {
    fn from(vector: bool) -> VectorWidth {
        if vector { VectorWidth::Widest } else { VectorWidth::Scalar }
    }
}

/// A target's support of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PrimSupport {
    /// Unsupported: [`legalize`](crate::passes::legalize) must rewrite it.
    None,
    /// One lane at a time.
    Scalar,
    /// On all lanes of a register at once.
    Vector,
}

/// A primitive on types without vector instructions of a target.
#[derive(Clone, Copy, Debug)]
pub struct UnsupportedPrim {
    /// The primitives.
    pub prims: &'static [Prim],
    /// Operand types (for a select: of the chosen values).
    pub from: &'static [PrimType],
    /// Result types; empty for any.
    pub to: &'static [PrimType],
    /// The target's best support.
    pub support: PrimSupport,
    /// The reason.
    pub reason: &'static str,
    /// Its documentation or issue.
    pub link: &'static str,
}

impl UnsupportedPrim {
    fn covers(&self, prim: Prim, from: PrimType, to: PrimType) -> bool {
        self.prims.contains(&prim) && self.from.contains(&from) && (self.to.is_empty() || self.to.contains(&to))
    }
}

/// The code that combines the elements of reductions and scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining {
    /// A driver on the processor, which calls code with accumulators in memory.
    Driver,
    /// The generated code, in the invocations of a workgroup.
    Code,
}

/// The capabilities of one code generator on one machine.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name, for messages and keys.
    pub name: String,
    /// True if there is a byte blend by the sign of a mask (x86 `pblendvb`).
    pub blend: bool,
    /// True if integer divisions take other [methods](ndjit_math::DivisionMethod): hoisted instructions run once for all elements, and
    /// vectors have only divisions of floats.
    pub replaces_division: bool,
    /// The code that combines elements.
    pub combining: Combining,
    /// Primitives without vector instructions. The weakest entry for a primitive counts.
    pub unsupported: Vec<UnsupportedPrim>,
}

const CLIF_DOC: &str = "https://docs.rs/cranelift-codegen/0.135.8/cranelift_codegen/ir/trait.InstBuilder.html";

const INTS: &[PrimType] = &[PrimType::I8, PrimType::I16, PrimType::I32, PrimType::I64];
const FLOATS: &[PrimType] = &[PrimType::F32, PrimType::F64];
const I64: &[PrimType] = &[PrimType::I64];
const WIDE: &[PrimType] = &[PrimType::I32, PrimType::I64];

/// Gaps of Cranelift on every machine.
const CLIF: &[UnsupportedPrim] = &[
    UnsupportedPrim {
        prims: &[Prim::Sdiv, Prim::Udiv, Prim::Srem, Prim::Urem],
        from: INTS,
        to: &[],
        support: PrimSupport::Scalar,
        reason: "integer division is defined on scalars only",
        link: CLIF_DOC,
    },
    UnsupportedPrim {
        prims: &[Prim::Shl, Prim::Ushr, Prim::Sshr],
        from: INTS,
        to: &[],
        support: PrimSupport::Scalar,
        reason: "vector shifts take one count for all lanes; where the count is a constant or the same for all they are used nevertheless",
        link: CLIF_DOC,
    },
    UnsupportedPrim {
        prims: &[Prim::Smulhi, Prim::Umulhi],
        from: I64,
        to: &[],
        support: PrimSupport::Scalar,
        reason: "high multiplication is defined on scalars only; narrower lanes are widened",
        link: CLIF_DOC,
    },
    UnsupportedPrim {
        prims: &[Prim::FromSint, Prim::FromUint],
        from: I64,
        to: &[PrimType::F32],
        support: PrimSupport::Scalar,
        reason: "lanes of a vector conversion keep their width, and rounding twice would differ",
        link: CLIF_DOC,
    },
    UnsupportedPrim {
        prims: &[Prim::ToSint, Prim::ToUint],
        from: &[PrimType::F32],
        to: I64,
        support: PrimSupport::Scalar,
        reason: "lanes of a vector conversion keep their width",
        link: CLIF_DOC,
    },
    UnsupportedPrim {
        prims: &[Prim::ToSint, Prim::ToUint],
        from: &[PrimType::F64],
        to: WIDE,
        support: PrimSupport::Scalar,
        reason: "x64 has no saturating conversion of F64X2 to I64X2",
        link: "https://github.com/bytecodealliance/wasmtime/issues/4734",
    },
];

const NO_FMA: UnsupportedPrim = UnsupportedPrim {
    prims: &[Prim::Fma],
    from: FLOATS,
    to: &[],
    support: PrimSupport::Scalar,
    reason: "without the FMA extension Cranelift calls the C library's exact function",
    link: "https://docs.rs/cranelift-codegen/0.135.8/cranelift_codegen/ir/enum.LibCall.html",
};

const NO_ROUND: UnsupportedPrim = UnsupportedPrim {
    prims: &[Prim::Ffloor, Prim::Fceil, Prim::Ftrunc, Prim::Fround],
    from: FLOATS,
    to: &[],
    support: PrimSupport::Scalar,
    reason: "without SSE4.1 Cranelift calls the C library",
    link: "https://docs.rs/cranelift-codegen/0.135.8/cranelift_codegen/ir/enum.LibCall.html",
};

const WGSL_SPEC: &str = "https://www.w3.org/TR/WGSL/#scalar-types";

/// Gaps of WGSL on every device.
const WGSL: &[UnsupportedPrim] = &[UnsupportedPrim {
    prims: &[Prim::Smulhi, Prim::Umulhi],
    from: INTS,
    to: &[],
    support: PrimSupport::None,
    reason: "WGSL has no high multiplication",
    link: "https://www.w3.org/TR/WGSL/#arithmetic-expr",
}];

/// The gaps of devices without `f64`: its bits are moved, cast and compared as integers, without arithmetic.
const NO_F64: UnsupportedPrim = UnsupportedPrim {
    prims: &[
        Prim::Fadd,
        Prim::Fsub,
        Prim::Fmul,
        Prim::Fdiv,
        Prim::Fsqrt,
        Prim::Fma,
        Prim::Ffloor,
        Prim::Fceil,
        Prim::Ftrunc,
        Prim::Fround,
    ],
    from: &[PrimType::F64],
    to: &[],
    support: PrimSupport::None,
    reason: "the device has no f64",
    link: WGSL_SPEC,
};

impl Target {
    /// The interpreter: it has every primitive.
    pub fn interpreter() -> Target {
        Target {
            name: "interpreter".to_owned(),
            blend: false,
            replaces_division: false,
            combining: Combining::Driver,
            unsupported: Vec::new(),
        }
    }

    /// The capabilities of WGSL on a device with or without `f64`.
    pub fn wgsl(float64: bool) -> Target {
        let mut unsupported = WGSL.to_vec();
        if !float64 {
            unsupported.push(NO_F64);
        }
        Target {
            name: "wgsl".to_owned(),
            blend: false,
            replaces_division: false,
            combining: Combining::Code,
            unsupported,
        }
    }

    /// The capabilities of Cranelift for `isa`.
    pub fn host_clif(isa: &dyn TargetIsa) -> Target {
        let flags = isa.isa_flags();
        let has = |name: &str| flags.iter().any(|f| f.name == name && f.as_bool() == Some(true));
        let x64 = isa.name() == "x64";
        let mut unsupported = CLIF.to_vec();
        if x64 && !has("has_fma") {
            unsupported.push(NO_FMA);
        }
        if x64 && !has("has_sse41") {
            unsupported.push(NO_ROUND);
        }
        let (name, blend) = (format!("clif-{}", isa.name()), x64 && has("has_sse41"));
        Target { name, blend, replaces_division: true, combining: Combining::Driver, unsupported }
    }

    /// This target's support of `prim` from operands of type `from` to a result of type `to`.
    pub fn support(&self, prim: Prim, from: PrimType, to: PrimType) -> PrimSupport {
        self.unsupported(prim, from, to).map_or(PrimSupport::Vector, |unsupported| unsupported.support)
    }

    /// The reason why there is no vector instruction, if there is none.
    pub fn unsupported(&self, prim: Prim, from: PrimType, to: PrimType) -> Option<&UnsupportedPrim> {
        self.unsupported
            .iter()
            .filter(|unsupported| unsupported.covers(prim, from, to))
            .min_by_key(|unsupported| unsupported.support)
    }
}

/// Every valid combination of primitive, operand type (for a select: of the chosen values) and result type.
pub fn combinations() -> Vec<(Prim, PrimType, PrimType)> {
    let mut all = Vec::new();
    for &prim in Prim::ALL {
        for from in PrimType::ALL.into_iter().filter(|&ty| prim.class().contains(ty) || prim == Prim::Mask) {
            match prim.signature() {
                PrimSignature::Same(_) | PrimSignature::Select => all.push((prim, from, from)),
                PrimSignature::Compare => all.push((prim, from, PrimType::Bool)),
                PrimSignature::Convert => {
                    all.extend(
                        PrimType::ALL.into_iter().filter(|&to| prim.converts(from, to)).map(|to| (prim, from, to)),
                    );
                }
            }
        }
    }
    all
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "target {}: every primitive on whole registers, except", self.name)?;
        for unsupported in &self.unsupported {
            let prims: Vec<&str> = unsupported.prims.iter().map(|p| p.name()).collect();
            let types = |types: &[PrimType]| types.iter().map(|t| t.name()).collect::<Vec<_>>().join("|");
            let to = if unsupported.to.is_empty() { String::new() } else { format!(" -> {}", types(unsupported.to)) };
            let how = match unsupported.support {
                PrimSupport::None => "none",
                PrimSupport::Scalar => "per lane",
                PrimSupport::Vector => "vector",
            };
            writeln!(
                f,
                "  {} {}{to}: {how}: {} ({})",
                prims.join(" "),
                types(unsupported.from),
                unsupported.reason,
                unsupported.link
            )?;
        }
        Ok(())
    }
}
