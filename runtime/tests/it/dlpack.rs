//! Tensors of other libraries, built here as in C: sharing and copies, calls of deleters, and errors.

use ndjit_ir::{DType, ErrorCode, Result};
use ndjit_runtime::dlpack::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, Imported, ManagedTensor,
    READ_ONLY,
};
use ndjit_runtime::{Buffer, Element, bytes_of};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The fields of a test's tensor.
#[derive(Clone)]
struct Said {
    data: *mut c_void,
    dtype: DLDataType,
    device: i32,
    ndim: i32,
    shape: Option<Vec<i64>>,
    strides: Option<Vec<i64>>,
    byte_offset: u64,
    version: DLPackVersion,
}

/// The context of a tensor.
struct Context {
    shape: Vec<i64>,
    strides: Vec<i64>,
    deleted: Arc<AtomicUsize>,
}

impl Said {
    /// Row-major elements from `data` on.
    fn of<T: Element>(data: &[T], shape: &[i64]) -> Said {
        Said {
            data: data.as_ptr().cast_mut().cast(),
            dtype: DLDataType::from(T::DTYPE),
            device: DLDevice::CPU,
            ndim: shape.len() as i32,
            shape: Some(shape.to_vec()),
            strides: None,
            byte_offset: 0,
            version: DLPackVersion::CURRENT,
        }
    }

    fn strides(self, strides: &[i64]) -> Said {
        Said { strides: Some(strides.to_vec()), ..self }
    }

    fn offset(self, byte_offset: u64) -> Said {
        Said { byte_offset, ..self }
    }

    fn context(&self, deleted: &Arc<AtomicUsize>) -> (DLTensor, *mut c_void) {
        let (shape, strides) = (self.shape.clone().unwrap_or_default(), self.strides.clone().unwrap_or_default());
        let mut context = Box::new(Context { shape, strides, deleted: Arc::clone(deleted) });
        let pointer =
            |given: bool, numbers: &mut Vec<i64>| if given { numbers.as_mut_ptr() } else { std::ptr::null_mut() };
        let tensor = DLTensor {
            data: self.data,
            device: DLDevice { device_type: self.device, device_id: 0 },
            ndim: self.ndim,
            dtype: self.dtype,
            shape: pointer(self.shape.is_some(), &mut context.shape),
            strides: pointer(self.strides.is_some(), &mut context.strides),
            byte_offset: self.byte_offset,
        };
        (tensor, Box::into_raw(context).cast())
    }

    /// The tensor, with a counting deleter.
    fn managed(&self, deleted: &Arc<AtomicUsize>) -> Result<ManagedTensor> {
        unsafe extern "C" fn delete(managed: *mut DLManagedTensorVersioned) {
            // SAFETY: both come from boxes, and are deleted once.
            let context = unsafe { Box::from_raw(Box::from_raw(managed).manager_ctx.cast::<Context>()) };
            context.deleted.fetch_add(1, Ordering::SeqCst);
        }
        let (dl_tensor, manager_ctx) = self.context(deleted);
        let (version, flags) = (self.version, READ_ONLY);
        let managed = DLManagedTensorVersioned { version, manager_ctx, deleter: Some(delete), flags, dl_tensor };
        // SAFETY: a tensor whose memory lives as long as the test, and is not written.
        unsafe { ManagedTensor::from_raw(Box::into_raw(Box::new(managed))) }
    }

    /// The same without a version.
    fn unversioned(&self, deleted: &Arc<AtomicUsize>) -> Result<ManagedTensor> {
        unsafe extern "C" fn delete(managed: *mut DLManagedTensor) {
            // SAFETY: both come from boxes, and are deleted once.
            let context = unsafe { Box::from_raw(Box::from_raw(managed).manager_ctx.cast::<Context>()) };
            context.deleted.fetch_add(1, Ordering::SeqCst);
        }
        let (dl_tensor, manager_ctx) = self.context(deleted);
        let managed = DLManagedTensor { dl_tensor, manager_ctx, deleter: Some(delete) };
        // SAFETY: a tensor whose memory lives as long as the test, and is not written.
        unsafe { ManagedTensor::from_raw_unversioned(Box::into_raw(Box::new(managed))) }
    }

    /// The result of an import. In any case the deleter has run once after its drop.
    fn check<R>(&self, copy: Option<bool>, look: impl Fn(Result<Imported>) -> R) -> R {
        let deleted = Arc::new(AtomicUsize::new(0));
        let found = look(self.managed(&deleted).and_then(|tensor| tensor.import(copy)));
        assert_eq!(deleted.load(Ordering::SeqCst), 1);
        if self.version == DLPackVersion::CURRENT {
            look(self.unversioned(&deleted).and_then(|tensor| tensor.import(copy)));
            assert_eq!(deleted.load(Ordering::SeqCst), 2);
        }
        found
    }

    /// Elements in row-major order according to the layout, and whether they are shared.
    fn elements<T: Element>(&self, copy: Option<bool>) -> (Vec<T>, bool) {
        self.check(copy, |imported| {
            let Imported { dtype, shape, buffer, layout } = imported.unwrap();
            assert_eq!(dtype, T::DTYPE);
            let elements = buffer.as_slice::<T>().unwrap();
            let size = size_of::<T>() as isize;
            let element = |n: usize| match &layout {
                None => elements[n],
                Some(layout) => {
                    let (mut rest, mut at) = (n, layout.offset as isize);
                    for (&extent, stride) in shape.extents().iter().zip(&layout.strides).rev() {
                        at += (rest % extent) as isize * stride;
                        rest /= extent;
                    }
                    assert_eq!(at % size, 0);
                    elements[(at / size) as usize]
                }
            };
            let shared = (self.data.addr()..self.data.addr() + 4096).contains(&elements.as_ptr().addr());
            ((0..shape.size().unwrap()).map(element).collect(), shared)
        })
    }

    fn error(&self, copy: Option<bool>) -> String {
        self.check(copy, |imported| {
            let error = imported.unwrap_err();
            format!("{}: {}", error.code(), error.headline())
        })
    }
}

const TWELVE: [i32; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

#[test]
fn elements_without_gaps_are_shared() {
    let whole = |shape: &[i64]| Said::of(&TWELVE, shape);
    for copy in [None, Some(false), Some(true)] {
        let check = |said: Said, expected: &[i32]| {
            assert_eq!(said.elements::<i32>(copy), (expected.to_vec(), copy != Some(true)));
        };
        check(whole(&[3, 4]), &TWELVE);
        check(whole(&[3, 4]).strides(&[4, 1]), &TWELVE);
        check(whole(&[4, 3]).strides(&[1, 4]), &[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
        check(whole(&[12]).strides(&[-1]).offset(44), &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        check(whole(&[2, 2]).strides(&[-2, 1]).offset(16), &[4, 5, 2, 3]);
        // Strides of axes of extent 1 are ignored.
        check(whole(&[1, 12, 1]).strides(&[i64::MAX, 1, i64::MIN]), &TWELVE);
        // Equal rows, and overlapping windows.
        check(whole(&[2, 3]).strides(&[0, 1]).offset(4), &[1, 2, 3, 1, 2, 3]);
        check(whole(&[3, 2]).strides(&[1, 1]), &[0, 1, 1, 2, 2, 3]);
        check(whole(&[]), &[0]);
        check(whole(&[]).offset(8), &[2]);
        check(whole(&[1]).strides(&[0]), &[0]);
    }
}

#[test]
fn elements_with_gaps_or_out_of_line_are_copied() {
    let columns = Said::of(&TWELVE, &[3, 2]).strides(&[4, 2]).offset(4);
    let backwards = Said::of(&TWELVE, &[2, 3]).strides(&[6, -2]).offset(16);
    let skewed = Said::of(&TWELVE[..11], &[2, 2, 2]).strides(&[5, 1, 3]);
    let bytes = Said { dtype: DLDataType::from(DType::I32), ..Said::of(&bytes_of(&TWELVE)[1..], &[2]) };
    for (said, expected) in [
        (columns, vec![1, 3, 5, 7, 9, 11]),
        (backwards, vec![4, 2, 0, 10, 8, 6]),
        (skewed, vec![0, 3, 1, 4, 5, 8, 6, 9]),
        (bytes, vec![1 << 24, 2 << 24]),
    ] {
        for copy in [None, Some(true)] {
            assert_eq!(said.elements::<i32>(copy), (expected.clone(), false));
        }
        let error = said.error(Some(false));
        let gaps = "argument: dlpack: there are gaps between the elements, so that they must be copied";
        let unaligned = "argument: dlpack: elements are not aligned, so that they must be copied";
        assert!([gaps, unaligned].contains(&&error[..]), "{error}");
    }
}

#[test]
fn every_dtype_is_shared() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(elements: [T; 3]) {
        let said = Said::of(&elements, &[3]).strides(&[1]);
        assert_eq!(said.elements::<T>(None), (elements.to_vec(), true), "{}", T::DTYPE);
        assert_eq!(said.elements::<T>(Some(true)), (elements.to_vec(), false), "{}", T::DTYPE);
        let flipped = said.strides(&[-1]).offset(2 * size_of::<T>() as u64);
        let expected: Vec<T> = elements.into_iter().rev().collect();
        assert_eq!(flipped.elements::<T>(Some(true)), (expected, false), "{}", T::DTYPE);
    }
    use half::{bf16, f16};
    use num_complex::Complex;
    check([true, false, true]);
    check([1u8, 0, 255]);
    check([1u16, 0, u16::MAX]);
    check([1u32, 0, u32::MAX]);
    check([1u64, 0, u64::MAX]);
    check([1i8, -1, i8::MIN]);
    check([1i16, -1, i16::MIN]);
    check([1i32, -1, i32::MIN]);
    check([1i64, -1, i64::MIN]);
    check([bf16::ONE, bf16::INFINITY, bf16::MIN]);
    check([f16::ONE, f16::INFINITY, f16::MIN]);
    check([1.5f32, f32::INFINITY, -0.0]);
    check([1.5f64, f64::INFINITY, -0.0]);
    check([Complex::new(1.0f32, 2.0), Complex::new(0.0, -1.0), Complex::new(f32::MAX, 0.0)]);
    check([Complex::new(1.0f64, 2.0), Complex::new(0.0, -1.0), Complex::new(f64::MAX, 0.0)]);
}

#[test]
fn no_elements_need_no_memory() {
    for copy in [None, Some(false), Some(true)] {
        for strides in [None, Some(vec![7, -3])] {
            let said = Said { data: std::ptr::null_mut(), strides, ..Said::of(&TWELVE, &[0, 3]) };
            said.check(copy, |imported| {
                let Imported { shape, buffer, layout, .. } = imported.unwrap();
                assert_eq!((shape.extents(), buffer.len(), layout), (&[0, 3][..], 0, None));
            });
        }
    }
}

#[test]
fn what_is_wrong_is_an_error_and_given_back() {
    let said = |shape: &[i64]| Said::of(&TWELVE, shape);
    let dtype = |code, bits, lanes| Said { dtype: DLDataType { code, bits, lanes }, ..said(&[2]) };
    let errors = [
        dtype(2, 32, 4),
        dtype(0, 4, 1),
        dtype(8, 8, 1),
        dtype(3, 64, 1),
        dtype(77, 8, 1),
        Said { device: 2, ..said(&[2]) },
        Said { device: 13, ..said(&[2]) },
        Said { device: -5, ..said(&[2]) },
        Said { data: std::ptr::null_mut(), ..said(&[2]) },
        Said { ndim: -1, ..said(&[]) },
        Said { ndim: i32::MAX, ..said(&[]) },
        Said { shape: None, ..said(&[2]) },
        said(&[2, -1]),
        said(&[i64::MIN]),
        said(&[i64::MAX]),
        said(&[1 << 32, 1 << 31]),
        said(&[1 << 40, 0, 1 << 40]),
        said(&[3, 3]).strides(&[i64::MAX, 1]),
        said(&[3, 3]).strides(&[i64::MIN / 4, i64::MIN / 4]),
        said(&[3, 3]).strides(&[1 << 60, 1 << 60]),
        said(&[2]).strides(&[-1 << 60]),
        said(&[2]).offset(u64::MAX),
        said(&[2]).offset(u64::MAX - 64),
        Said { version: DLPackVersion { major: 2, minor: 0 }, ..said(&[2]) },
        Said { version: DLPackVersion { major: 0, minor: 8 }, ..said(&[2]) },
        Said { dtype: DLDataType::from(DType::Bool), ..said(&[12]) },
    ];
    let errors: Vec<String> = errors
        .iter()
        .map(|said| {
            let error = said.error(None);
            assert_eq!(said.error(Some(true)), error);
            error
        })
        .collect();
    insta::assert_snapshot!(errors.join("\n"), @r"
    dtype: dlpack: elements are float32x4
    dtype: dlpack: elements are int4
    dtype: dlpack: elements are float8_e4m3
    dtype: dlpack: elements are opaque_handle64
    dtype: dlpack: elements are type code 77 of 8 bits
    device: dlpack: the memory is on cuda:0
    device: dlpack: the memory is on cuda_managed:0
    device: dlpack: the memory is on device type -5:0
    argument: dlpack: elements without memory: its pointer is null
    shape: dlpack: a tensor of -1 axes
    shape: dlpack: a tensor of 2147483647 axes
    shape: dlpack: a tensor of 1 axes without extents
    shape: dlpack: axis 1 has the extent -1
    shape: dlpack: axis 0 has the extent -9223372036854775808
    size: dlpack: shape [9223372036854775807] needs more bytes than memory can address
    size: dlpack: shape [4294967296, 2147483648] has more elements than memory can address
    size: dlpack: shape [1099511627776, 0, 1099511627776] has more elements than memory can address
    size: dlpack: strides beyond what memory can address
    size: dlpack: elements beyond what memory can address
    size: dlpack: elements beyond what memory can address
    size: dlpack: elements beyond what memory can address
    size: dlpack: elements beyond what memory can address
    size: dlpack: elements beyond what memory can address
    argument: dlpack: a tensor of version 2.0
    argument: dlpack: a tensor of version 0.8
    argument: dlpack: bools that are neither 0 nor 1
    ");
    // A large broadcast array has little memory of its own; a copy of it is refused.
    let wide = said(&[1 << 40, 1 << 16]).strides(&[0, 0]);
    wide.check(None, |imported| assert_eq!(imported.unwrap().buffer.len(), 4));
    assert!(wide.error(Some(true)).starts_with("allocation: "));
    for version in [DLPackVersion { major: 1, minor: 0 }, DLPackVersion { major: 1, minor: 99 }] {
        assert_eq!(Said { version, ..said(&[12]) }.elements::<i32>(None), (TWELVE.to_vec(), true));
    }
    // SAFETY: null is allowed.
    let null = unsafe {
        [ManagedTensor::from_raw(std::ptr::null_mut()), ManagedTensor::from_raw_unversioned(std::ptr::null_mut())]
    };
    assert!(null.iter().all(|tensor| tensor.as_ref().is_err_and(|error| error.code() == ErrorCode::Argument)));
}

#[test]
fn a_tensor_without_deleter_is_kept() {
    let (tensor, context) = Said::of(&TWELVE, &[12]).context(&Arc::default());
    let mut managed = DLManagedTensor { dl_tensor: tensor, manager_ctx: context, deleter: None };
    // SAFETY: the tensor outlives its import.
    let imported = unsafe { ManagedTensor::from_raw_unversioned(&raw mut managed) }.unwrap().import(None).unwrap();
    assert_eq!(imported.buffer.as_slice::<i32>().unwrap(), TWELVE);
    drop(imported);
    // SAFETY: it came from a box.
    drop(unsafe { Box::from_raw(context.cast::<Context>()) });
}

#[test]
fn the_other_structure_wraps_the_one() {
    let deleted = Arc::new(AtomicUsize::new(0));
    let said = Said::of(&TWELVE, &[3, 4]);
    let pointer = said.unversioned(&deleted).unwrap().into_raw();
    // SAFETY: a result of `into_raw`.
    let wrapped = unsafe { ManagedTensor::from_raw(pointer) }.unwrap();
    assert_eq!((wrapped.version(), wrapped.is_read_only()), (Some(DLPackVersion::CURRENT), false));
    let pointer = wrapped.into_raw_unversioned().unwrap();
    // SAFETY: a result of `into_raw_unversioned`.
    let wrapped = unsafe { ManagedTensor::from_raw_unversioned(pointer) }.unwrap();
    assert_eq!((wrapped.version(), deleted.load(Ordering::SeqCst)), (None, 0));
    let imported = wrapped.import(Some(false)).unwrap();
    assert_eq!(imported.buffer.as_slice::<i32>().unwrap(), TWELVE);
    drop(imported);
    assert_eq!(deleted.load(Ordering::SeqCst), 1);
    // Read-only memory is not exported without flags, and is released.
    let error = said.managed(&deleted).unwrap().into_raw_unversioned().unwrap_err();
    assert_eq!((error.code(), deleted.load(Ordering::SeqCst)), (ErrorCode::Argument, 2));
}

#[test]
fn foreign_memory_is_never_written() {
    let deleted = Arc::new(AtomicUsize::new(0));
    let mut buffer = said_buffer(&deleted);
    assert_eq!(Arc::get_mut(&mut buffer).unwrap().as_bytes_mut().unwrap_err().code(), ErrorCode::Argument);
    assert_eq!(format!("{buffer:?}"), "Buffer(48 bytes of ManagedTensor(int32 of 1 axes on cpu:0))");
    let copy: Vec<i32> = buffer.into_vec().unwrap();
    assert_eq!((copy, deleted.load(Ordering::SeqCst)), (TWELVE.to_vec(), 1));
    // Shared memory may be dropped on another thread.
    let buffer = said_buffer(&deleted);
    std::thread::spawn(move || drop(buffer)).join().unwrap();
    assert_eq!(deleted.load(Ordering::SeqCst), 2);
}

fn said_buffer(deleted: &Arc<AtomicUsize>) -> Arc<Buffer> {
    Said::of(&TWELVE, &[12]).managed(deleted).unwrap().import(None).unwrap().buffer
}

#[test]
fn a_panic_of_an_owner_does_not_leave_its_deleter() {
    struct Owner([f32; 2]);
    impl AsRef<[f32]> for Owner {
        fn as_ref(&self) -> &[f32] {
            &self.0
        }
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let imported = ManagedTensor::from_owner(Owner([1.0, 2.0]), [2]).unwrap().import(Some(false)).unwrap();
    assert_eq!(imported.buffer.as_slice::<f32>().unwrap(), [1.0, 2.0]);
    drop(imported);
    let wrong = ManagedTensor::from_owner(vec![1.0f32, 2.0], [3]).unwrap_err();
    assert_eq!(wrong.code(), ErrorCode::Shape);
}
