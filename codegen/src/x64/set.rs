//! Instruction sets, and those of this machine.

use crate::target::VectorWidth;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Set {
    /// AVX2 and FMA: 16 registers of 256 bits. Bools are lanes of ones or zeros.
    Avx2,
    /// F, BW, DQ and VL of AVX-512, and BMI2: 32 registers of 512 bits. Bools are bits of mask registers.
    Avx512,
}

impl Set {
    /// All sets, from narrow to wide.
    pub const ALL: [Set; 2] = [Set::Avx2, Set::Avx512];

    /// Bits of a register.
    pub const fn bits(self) -> u32 {
        match self {
            Set::Avx2 => 256,
            Set::Avx512 => 512,
        }
    }

    /// Bytes of a register.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// The number of vector registers.
    pub(super) const fn registers(self) -> u8 {
        match self {
            Set::Avx2 => 16,
            Set::Avx512 => 32,
        }
    }

    /// The common name.
    pub const fn name(self) -> &'static str {
        match self {
            Set::Avx2 => "AVX2",
            Set::Avx512 => "AVX-512",
        }
    }

    /// The vector width of its code.
    pub const fn width(self) -> VectorWidth {
        match self {
            Set::Avx2 => VectorWidth::Bits256,
            Set::Avx512 => VectorWidth::Widest,
        }
    }

    /// Returns `true` if this machine runs its code.
    pub fn is_supported(self) -> bool {
        #[cfg(all(target_arch = "x86_64", not(windows)))]
        {
            use std::arch::is_x86_feature_detected as has;
            match self {
                Set::Avx2 => has!("avx2") && has!("fma"),
                Set::Avx512 => {
                    has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("bmi2")
                }
            }
        }
        #[cfg(not(all(target_arch = "x86_64", not(windows))))]
        false
    }

    /// The widest set of this machine within a width; `None` for Cranelift's code.
    pub fn of(width: VectorWidth) -> Option<Set> {
        let most = match width {
            VectorWidth::Scalar | VectorWidth::Bits128 => return None,
            VectorWidth::Bits256 => Set::Avx2.bits(),
            VectorWidth::Widest => Set::Avx512.bits(),
        };
        Set::ALL.into_iter().rev().find(|set| set.bits() <= most && set.is_supported())
    }
}
