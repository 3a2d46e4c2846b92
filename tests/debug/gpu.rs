//! The same on a GPU, if available.

use ndjit::debug::{collect_debug_output, debug_print, first_nan};
use ndjit::{Array, Device, ErrorCode, jit, sqrt};

/// An array on a GPU; `None` without one.
fn there(array: &Array) -> Option<Array> {
    let moved = array.on(Device::gpu());
    match moved.error() {
        None => Some(moved),
        Some(error) => {
            assert_eq!(error.code(), ErrorCode::Device);
            eprintln!("SKIPPED, there is no GPU: {error}");
            None
        }
    }
}

#[test]
fn functions_print_and_are_checked() {
    let Some(x) = there(&Array::from([4.0f32, -1.0])) else { return };
    let f = jit(|x| debug_print("root", sqrt(x)) + 1);
    let (z, printed) = collect_debug_output(|| f.call((&x,)).unwrap());
    assert_eq!((z.device(), printed[0].value.device()), (Device::gpu(), Device::gpu()));
    assert_eq!(printed[0].value.to_string(), "[ 2. nan]");
    let mut out = [0.0f32; 2];
    let (_, printed) = collect_debug_output(|| f.call_into((&x,), &mut out).unwrap());
    assert_eq!((printed.len(), out[0]), (1, 3.0));
    let found = first_nan(&f, (&x,)).unwrap().unwrap();
    assert_eq!((found.operation.as_str(), &found.index[..]), ("%1 = sqrt %0 : f32[2]", &[1][..]));
    let checked = jit(|x| sqrt(x) + 1).check_nans(true);
    assert_eq!(checked.call((&x,)).unwrap_err().code(), ErrorCode::Nan);
    let host = jit(|x| sqrt(x) + 1).check_nans(true).on(Device::gpu());
    assert_eq!(host.call((&[-1.0f32],)).unwrap_err().code(), ErrorCode::Nan);
    let others = f.explain_cache_misses().pop().unwrap();
    f.call((&[1.0f32, 2.0],)).unwrap();
    assert_eq!(others.nearest, None);
    assert_eq!(f.explain_cache_misses().pop().unwrap().differences[0], "device: cpu, known gpu");
}

#[test]
fn the_interpreter_runs_for_it_and_profiles_are_of_the_whole() {
    let Some(x) = there(&Array::from([4.0f32, 9.0])) else { return };
    let f = jit(|x| sqrt(x) + 1).interpreted(true);
    let z = f.call((&x,)).unwrap();
    assert_eq!((z.device(), z.to_vec::<f32>().unwrap()), (Device::gpu(), vec![3.0, 4.0]));
    assert_eq!(f.compile_count(), 0);
    let profile = jit(|x| sqrt(x) + 1).profile((&x,)).unwrap();
    assert!(profile.kernels.is_empty() && profile.runs >= 5 && !profile.best.is_zero());
}

/// Control flow runs on the processor: a view at the start of its memory has the view's elements.
#[test]
fn a_loop_that_does_not_run_gives_back_a_view() {
    let Some(x) = there(&Array::from(vec![1.5f32; 1000])) else { return };
    x.eval().unwrap();
    let f = jit(|y: ndjit::Expr| ndjit::while_loop(y, |y| ndjit::sum(y, ..).lt(0), |y| y * 2));
    assert_eq!(f.call((&x.slice(..10),)).unwrap().to_vec::<f32>().unwrap(), [1.5; 10]);
}
