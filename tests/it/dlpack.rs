//! Arrays from and to DLPack tensors, in the public API: sharing, lifetimes, and read-only memory. Tensors of other libraries are tested in
//! `runtime/tests/it/dlpack.rs`.

use ndjit::dlpack::ManagedTensor;
use ndjit::{Array, DType, Device, Element, ErrorCode, Expr, Result, arange, from_dlpack, jit, zeros};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Elements that report their drop.
struct Owner<T>(Vec<T>, Arc<AtomicUsize>);

impl<T> AsRef<[T]> for Owner<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Drop for Owner<T> {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

/// An array of foreign memory, and the count of its releases.
fn foreign<T: Element>(elements: Vec<T>) -> Result<(Array, Arc<AtomicUsize>)> {
    let (shape, dropped) = ([elements.len()], Arc::new(AtomicUsize::new(0)));
    let tensor = ManagedTensor::from_owner(Owner(elements, Arc::clone(&dropped)), shape)?;
    Ok((from_dlpack(tensor, None, false)?, dropped))
}

fn dropped(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

/// The address of an array's elements.
fn address(x: &Array) -> Result<usize> {
    Ok(x.to_dlpack(false)?.dl_tensor().data.addr())
}

#[test]
fn memory_lives_as_long_as_the_last_array_that_sees_it() -> Result<()> {
    let (x, count) = foreign(vec![1.0f32, 2.0, 3.0, 4.0])?;
    let (clone, view, lazy) = (x.clone(), x.reshape([2, 2]).mt(), &x * 2);
    let tensor = x.to_dlpack(None)?;
    drop(x);
    drop(clone);
    assert_eq!((view.to_vec::<f32>()?, dropped(&count)), (vec![1.0, 3.0, 2.0, 4.0], 0));
    drop(view);
    assert_eq!((lazy.to_vec::<f32>()?, dropped(&count)), (vec![2.0, 4.0, 6.0, 8.0], 0));
    drop(lazy);
    // The memory taken by another library is still valid.
    let again = from_dlpack(tensor, None, false)?;
    assert_eq!((again.to_vec::<f32>()?, dropped(&count)), (vec![1.0, 2.0, 3.0, 4.0], 0));
    drop(again);
    assert_eq!(dropped(&count), 1);
    // A copy does not need it.
    let (x, count) = foreign(vec![1u8, 2])?;
    let copy = from_dlpack(x.to_dlpack(None)?, None, true)?;
    assert_ne!(address(&copy)?, address(&x)?);
    drop(x);
    assert_eq!((dropped(&count), copy.to_vec::<u8>()?), (1, vec![1, 2]));
    Ok(())
}

#[test]
fn foreign_memory_given_to_a_call_is_not_written() -> Result<()> {
    let add = jit(|x: Expr, y: Expr| x + y);
    let put = jit(|x: Expr, i: Expr| x.at(i).set(9.0));
    let elements = Arc::<[f32]>::from([1.0, 2.0, 3.0]);
    let tensor = || ManagedTensor::from_owner(Arc::clone(&elements), [3]);
    let sum = add.call((from_dlpack(tensor()?, None, false)?.donate(), &[1.0f32, 1.0, 1.0]))?;
    let other = put.call((from_dlpack(tensor()?, None, false)?, &[1i32]))?;
    assert_eq!((sum.to_vec::<f32>()?, other.to_vec::<f32>()?), (vec![2.0, 3.0, 4.0], vec![1.0, 9.0, 3.0]));
    assert_eq!((&elements[..], Arc::strong_count(&elements)), (&[1.0, 2.0, 3.0][..], 1));
    assert_eq!((add.stats().donated, add.stats().donations_taken), (1, 0));
    // Its own elements, moved out, are a copy as well.
    assert_eq!(from_dlpack(tensor()?, None, false)?.into_vec::<f32>()?, [1.0, 2.0, 3.0]);
    assert_eq!(Arc::strong_count(&elements), 1);
    Ok(())
}

#[test]
fn views_go_out_and_in() -> Result<()> {
    let x = arange(24).reshape([2, 3, 4]);
    let windows = ndjit::sliding_window(arange(6), 3, 0);
    let views = [
        x.clone(),
        x.permute_dims([2, 0, 1]),
        x.flip(1),
        x.slice((1, ndjit::Ellipsis)),
        x.slice(1..).expand_dims(0),
        ndjit::broadcast_to(arange(3), [4, 3]),
        windows,
        x.slice((0, 0, 0)),
        zeros([2, 0, 3]),
        Array::scalar(2.5f64),
    ];
    for (n, view) in views.iter().enumerate() {
        let tensor = view.to_dlpack(false)?;
        let (at, ndim) = (tensor.dl_tensor().data.addr(), tensor.dl_tensor().ndim);
        assert!(tensor.is_read_only() && !tensor.is_copied());
        let back = from_dlpack(tensor, None, false)?;
        assert_eq!(
            (back.shape(), back.dtype(), ndim as usize),
            (view.shape(), view.dtype(), view.shape().rank()),
            "{n}"
        );
        assert_eq!(back.to_string(), view.to_string(), "{n}");
        assert_eq!(address(&back)?, at, "{n}");
        let copy = view.to_dlpack(true)?;
        assert!(copy.is_copied() && !copy.is_read_only());
        assert!(view.is_empty() || copy.dl_tensor().data.addr() != at, "{n}");
        assert_eq!(from_dlpack(copy, Device::CPU, None)?.to_string(), view.to_string(), "{n}");
    }
    // The gaps between every second element may belong to another library.
    let gaps = x.slice((.., .., ndjit::step(2)));
    assert_eq!(from_dlpack(gaps.to_dlpack(false)?, None, false).unwrap_err().code(), ErrorCode::Argument);
    assert_eq!(from_dlpack(gaps.to_dlpack(None)?, None, None)?.to_string(), gaps.to_string());
    Ok(())
}

#[test]
fn every_dtype_goes_out_and_in() -> Result<()> {
    for dtype in DType::ALL {
        let x = ndjit::cast(arange(7) % 2, dtype);
        let back = from_dlpack(x.to_dlpack(None)?, None, None)?;
        assert_eq!((back.dtype(), back.is_weak(), back.to_string()), (dtype, false, x.to_string()));
        let f = jit(|x: Expr| x.flip(0));
        assert_eq!(f(&back).to_string(), f(&x).to_string());
    }
    // A pending array is evaluated, and a weak one has its stored dtype.
    let weak = ndjit::full([2], 3) + 1;
    assert_eq!(from_dlpack(weak.to_dlpack(None)?, None, None)?.to_vec::<i32>()?, [4, 4]);
    Ok(())
}

#[test]
fn tensors_are_in_the_memory_of_the_host() -> Result<()> {
    let tensor = || arange(6).reshape([2, 3]).to_dlpack(None);
    let x = match from_dlpack(tensor()?, Device::gpu(), None) {
        Err(error) if error.code() == ErrorCode::Device => {
            eprintln!("SKIPPED, there is no GPU: {error}");
            return Ok(());
        }
        x => x?,
    };
    assert_eq!((x.device(), x.to_vec::<i32>()?), (Device::gpu(), vec![0, 1, 2, 3, 4, 5]));
    let error = x.to_dlpack(false).unwrap_err();
    assert_eq!(error.headline(), "to_dlpack: elements must be copied to another device");
    for copy in [None, Some(true)] {
        let tensor = x.to_dlpack(copy)?;
        assert!(tensor.is_copied());
        assert_eq!(from_dlpack(tensor, None, false)?.to_string(), x.to_string());
    }
    Ok(())
}

#[test]
fn errors_have_the_line_and_a_way_out() {
    let gaps = arange(6).slice(ndjit::step(2)).to_dlpack(None).unwrap();
    let failed = zeros([2]) + zeros([3]);
    let errors = [
        from_dlpack(gaps, None, false).unwrap_err(),
        from_dlpack(arange(3).to_dlpack(None).unwrap(), Device::gpu(), false).unwrap_err(),
        ManagedTensor::from_owner(vec![1u8, 2], [3]).unwrap_err(),
        failed.to_dlpack(None).unwrap_err(),
    ];
    for error in &errors {
        assert_eq!(error.place().unwrap().file, file!(), "{error}");
    }
    let shown = |error: &ndjit::Error| {
        let (facts, help) = (error.facts().join(", "), error.help_text().unwrap_or("-"));
        format!("{}: {}; {facts}; {help}", error.code(), error.headline())
    };
    insta::assert_snapshot!(errors.iter().map(shown).collect::<Vec<_>>().join("\n"), @r"
    argument: from_dlpack: there are gaps between the elements, so that they must be copied; the tensor: i32[3], strides of [8] bytes; ask for a copy where one is needed, with `None`
    argument: from_dlpack: elements must be copied to another device; the tensor is in the host's memory, and gpu is asked for; ask for a copy where one is needed, with `None`
    shape: dlpack: shape [3] does not hold the data; the shape has 3 elements, the data 2; give as many elements as the shape has
    shape: add: shapes [2] and [3] do not broadcast; x: f32[2] held as data, y: f32[3] held as data; axes are matched from the last; axis -1 is 2 and 3, and neither is 1
    ");
}
