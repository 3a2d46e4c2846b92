//! A task's scope is invisible to other tasks that run on its thread while ndjit waits.

use crate::{in_time, pool};
use ndjit::debug::{collect_debug_output, debug_print, with_jit_disabled, with_nan_check};
use ndjit::{Array, DType, ErrorCode, Policy, exp, jit, log, no_recompile, policy, with_policy};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const POLICIES: [Policy; 3] = [Policy::Standard, Policy::Torch, Policy::NumPy2];

/// The common dtype of `f32` and `i32`.
fn joined(policy: Policy) -> DType {
    if policy == Policy::NumPy2 { DType::F64 } else { DType::F32 }
}

/// An array whose evaluation waits for other threads.
fn large() -> Array {
    Array::from(vec![0.5f32; 1 << 16])
}

#[test]
fn tasks_meet_no_scope_of_others() {
    let wrong = in_time(|| {
        let wrong = AtomicUsize::new(0);
        let note = |right: bool| _ = wrong.fetch_add(usize::from(!right), SeqCst);
        let (x, n) = (large(), Array::from([1i32]));
        let f = jit(|x| exp(exp(x)) * 2).threads(4);
        let prints = jit(|x| debug_print("sum", ndjit::sum(exp(x), ..))).threads(4);
        let (call, call_printing) = (|| drop(f.call((&x,)).unwrap()), || drop(prints.call((&x,)).unwrap()));
        call();
        call_printing();
        with_policy(Policy::Torch, call);
        with_policy(Policy::NumPy2, call);
        with_jit_disabled(|| drop(f.call((&[1.0f32],))));
        let task = |i: usize| {
            // A task begins without scopes.
            note(policy() == Policy::Standard);
            note((&x + &n).dtype() == DType::F32);
            let own = POLICIES[i % 3];
            with_policy(own, || {
                call();
                note(policy() == own && (&x + &n).dtype() == joined(own));
                exp(&x).eval().unwrap();
                note(policy() == own);
            });
            match i % 5 {
                0 => no_recompile(call),
                1 => {
                    let (_, printed) = collect_debug_output(call_printing);
                    note(printed.len() == 1);
                }
                2 => with_nan_check(call),
                // Neither NaN nor compilation is an error here.
                3 => note(log(Array::from([-1.0f32])).eval().is_ok()),
                _ => note(jit(move |x| x + (i as f64)).call((&[1.0f32],)).is_ok()),
            }
        };
        pool(4).install(|| (0..1500usize).into_par_iter().for_each(task));
        wrong.into_inner()
    });
    assert_eq!(wrong, 0);
}

/// If code in a scope waits in rayon itself, other tasks run in the scope; a function with its own options keeps those.
#[test]
fn options_of_a_function_hold_in_scopes_of_others() {
    in_time(|| {
        let own = jit(|x, n| x + n).with_policy(Policy::NumPy2);
        let call = || own.call((&[1.0f32], &[1i32])).unwrap().dtype();
        pool(1).scope(|scope| {
            scope.spawn(|_| {
                with_policy(Policy::Strict, || {
                    rayon::yield_now();
                    let error = jit(|x, n| x + n).call((&[1.0f32], &[1i32])).unwrap_err();
                    assert_eq!((policy(), error.code()), (Policy::Strict, ErrorCode::Promotion));
                });
            });
            (0..4).for_each(|_| scope.spawn(|_| assert_eq!(call(), DType::F64)));
        });
    });
}
