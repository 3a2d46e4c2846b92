//! The C structures of DLPack, version 1.1, and their codes. Names are those of
//! [dlpack.h](https://github.com/dmlc/dlpack/blob/main/include/dlpack/dlpack.h).

use ndjit_ir::{DType, Kind};
use std::ffi::c_void;
use std::fmt;

/// A version of DLPack. Structures of one major version have one layout in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// Incremented when the layout of structures changes.
    pub major: u32,
    /// Incremented when codes are added.
    pub minor: u32,
}

impl DLPackVersion {
    /// The version of the structures here.
    pub const CURRENT: DLPackVersion = DLPackVersion { major: 1, minor: 1 };
}

/// The device of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// The device type: a constant of this type.
    pub device_type: i32,
    /// The index of the device; 0 for host memory.
    pub device_id: i32,
}

/// Device types, with their names in errors.
const DEVICES: [(i32, &str); 16] = [
    (DLDevice::CPU, "cpu"),
    (2, "cuda"),
    (DLDevice::CUDA_HOST, "cuda_host"),
    (4, "opencl"),
    (7, "vulkan"),
    (8, "metal"),
    (9, "vpi"),
    (10, "rocm"),
    (DLDevice::ROCM_HOST, "rocm_host"),
    (12, "ext_dev"),
    (13, "cuda_managed"),
    (14, "oneapi"),
    (15, "webgpu"),
    (16, "hexagon"),
    (17, "maia"),
    (18, "trn"),
];

impl DLDevice {
    /// `kDLCPU`: host memory.
    pub const CPU: i32 = 1;
    /// `kDLCUDAHost`: host memory, pinned for CUDA.
    pub const CUDA_HOST: i32 = 3;
    /// `kDLROCMHost`: host memory, pinned for ROCm.
    pub const ROCM_HOST: i32 = 11;

    /// Whether the processor can read the memory directly.
    pub fn is_host(self) -> bool {
        [DLDevice::CPU, DLDevice::CUDA_HOST, DLDevice::ROCM_HOST].contains(&self.device_type)
    }
}

impl fmt::Display for DLDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DLDevice { device_type, device_id } = self;
        match DEVICES.iter().find(|(code, _)| code == device_type) {
            Some((_, name)) => write!(f, "{name}:{device_id}"),
            None => write!(f, "device type {device_type}:{device_id}"),
        }
    }
}

/// Type of elements.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// The kind of type: `DLDataTypeCode`.
    pub code: u8,
    /// Bits per lane; for complex types of both parts.
    pub bits: u8,
    /// Lanes per element.
    pub lanes: u16,
}

/// Kinds of types by code, with their names in errors.
const KINDS: [&str; 18] = [
    "int",
    "uint",
    "float",
    "opaque_handle",
    "bfloat",
    "complex",
    "bool",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
];

impl From<DType> for DLDataType {
    fn from(dtype: DType) -> DLDataType {
        let code = match dtype.kind() {
            Kind::Int => 0,
            Kind::UInt => 1,
            Kind::Float if dtype == DType::Bf16 => 4,
            Kind::Float => 2,
            Kind::Complex => 5,
            Kind::Bool => 6,
        };
        // No element has more than 128 bits.
        DLDataType { code, bits: dtype.bits() as u8, lanes: 1 }
    }
}

impl DLDataType {
    /// The dtype of these elements, if there is one.
    pub fn dtype(self) -> Option<DType> {
        DType::ALL.into_iter().find(|&dtype| DLDataType::from(dtype) == self)
    }
}

impl fmt::Display for DLDataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DLDataType { code, bits, lanes } = *self;
        match KINDS.get(usize::from(code)) {
            // Names of narrow floats include their width.
            Some(name) if code > 6 => f.write_str(name)?,
            Some(name) => write!(f, "{name}{bits}")?,
            None => write!(f, "type code {code} of {bits} bits")?,
        }
        if lanes == 1 { Ok(()) } else { write!(f, "x{lanes}") }
    }
}

/// An array somewhere in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// The start of memory; null without elements.
    pub data: *mut c_void,
    /// Its device.
    pub device: DLDevice,
    /// The number of axes.
    pub ndim: i32,
    /// The type of elements, in the host's byte order.
    pub dtype: DLDataType,
    /// The extent of each axis, outermost first.
    pub shape: *mut i64,
    /// The stride of each axis, in elements; null for row-major order without gaps.
    pub strides: *mut i64,
    /// The offset of the first element from `data`, in bytes.
    pub byte_offset: u64,
}

/// A tensor with its deleter, of DLPack 1.0 and later.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// The version of the structure.
    pub version: DLPackVersion,
    /// The context of `deleter`.
    pub manager_ctx: *mut c_void,
    /// Frees the memory and the structure.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// Bits: [`READ_ONLY`], [`IS_COPIED`].
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// `DLPACK_FLAG_BITMASK_READ_ONLY`: the memory is read-only.
pub const READ_ONLY: u64 = 1 << 0;
/// `DLPACK_FLAG_BITMASK_IS_COPIED`: the memory is an unshared copy.
pub const IS_COPIED: u64 = 1 << 1;

/// A tensor with its deleter, as before DLPack 1.0: without version and flags.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The context of `deleter`.
    pub manager_ctx: *mut c_void,
    /// Frees the memory and the structure.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// Offsets computed by a C compiler from the header on 64-bit hosts.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn structures_are_laid_out_as_in_c() {
        assert_eq!(
            (size_of::<DLTensor>(), size_of::<DLManagedTensor>(), size_of::<DLManagedTensorVersioned>()),
            (48, 64, 80)
        );
        assert_eq!(
            (offset_of!(DLTensor, ndim), offset_of!(DLTensor, dtype), offset_of!(DLTensor, shape)),
            (16, 20, 24)
        );
        assert_eq!((offset_of!(DLTensor, strides), offset_of!(DLTensor, byte_offset)), (32, 40));
        assert_eq!((offset_of!(DLManagedTensor, manager_ctx), offset_of!(DLManagedTensor, deleter)), (48, 56));
        type Versioned = DLManagedTensorVersioned;
        assert_eq!((offset_of!(Versioned, manager_ctx), offset_of!(Versioned, deleter)), (8, 16));
        assert_eq!((offset_of!(Versioned, flags), offset_of!(Versioned, dl_tensor)), (24, 32));
    }

    #[test]
    fn dtypes_have_codes() {
        let all = DType::ALL.map(|dtype| format!("{dtype}: {}", DLDataType::from(dtype)));
        insta::assert_snapshot!(all.join(", "), @"bool: bool8, u8: uint8, u16: uint16, u32: uint32, u64: uint64, i8: int8, i16: int16, i32: int32, i64: int64, bf16: bfloat16, f16: float16, f32: float32, f64: float64, c64: complex64, c128: complex128");
        assert!(DType::ALL.into_iter().all(|dtype| DLDataType::from(dtype).dtype() == Some(dtype)));
        let others = [(2, 32, 4), (0, 4, 1), (10, 8, 1), (2, 128, 1), (40, 8, 1), (6, 1, 1)];
        let others = others.map(|(code, bits, lanes)| DLDataType { code, bits, lanes });
        assert!(others.iter().all(|other| other.dtype().is_none()));
        insta::assert_snapshot!(others.map(|other| other.to_string()).join(", "), @"float32x4, int4, float8_e4m3fn, float128, type code 40 of 8 bits, bool1");
    }
}
