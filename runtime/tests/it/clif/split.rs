//! The parts of nests that reduce, scan or scatter, and their errors.

use ndjit_codegen::clif::{AccumulatorLayout, ClifOptions, emit, host_isa};
use ndjit_codegen::passes::split::{NestPart, TargetKernel};
use ndjit_codegen::pipeline::{expanded, lower_for};
use ndjit_codegen::target::Target;
use ndjit_codegen::x64::{self, Set};
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::{LoopNest, NestKind};
use ndjit_ir::{DType, Shape, ValueType};
use ndjit_transform::access::contiguous;
use std::sync::Arc;

/// The last nest that reduces or scatters, or else the last, of a program with one parameter of shape `[3, 50]`.
fn nest(dtype: DType, text: &str) -> LoopNest {
    nest_of_rows(3, dtype, text)
}

fn nest_of_rows(rows: usize, dtype: DType, text: &str) -> LoopNest {
    let graph: Graph<ValueType> =
        format!("graph (%0: {dtype}[{rows}, 50]) {{\n{text}\n}}").parse().unwrap_or_else(|e| panic!("{e}"));
    let layout = contiguous(&Shape::from([rows, 50]), dtype).unwrap();
    let lowered = lower(&graph, &SourceLocs::default(), &[layout], &Options::default()).unwrap();
    let nests: Vec<&LoopNest> = lowered.kernels().rev().map(|kernel| &kernel.scheduled.nest).collect();
    let last = nests.iter().find(|nest| nest.kind.loops() > 0 || matches!(nest.kind, NestKind::Scatter(_)));
    LoopNest::clone(last.unwrap_or(&nests[0]))
}

fn text(nest: &LoopNest) -> String {
    let kernel = lower_for(nest, &Target::interpreter()).unwrap();
    let parts = kernel.parts();
    let all = parts.iter().map(|part| {
        part.ops.verify().unwrap();
        let name = part.name.unwrap_or("itself");
        match part.pairs {
            None => format!("{name}, {:?}: {}\n", part.form, part.ops),
            Some(pairs) => {
                let body = if parts.iter().any(|other| other.pairs.is_none() && other.ops == part.ops) {
                    "the same"
                } else {
                    "of its own"
                };
                format!("{name}, {:?} and {pairs:?}: {body}\n", part.form)
            }
        }
    });
    all.collect()
}

#[test]
fn a_sum_of_squares_is_accumulated_and_combined() {
    let nest = nest(DType::F32, "  %1 = multiply %0, %0 : f32[3, 50]\n  %2 = sum %1 axes [1] : f32[3]\n  return %2");
    insta::assert_snapshot!(text(&nest), @r"
    accumulate, Rows: nest rank 5 {
      in0: f32 contiguous, in1: f32 contiguous
      out0: f32 contiguous
      for i0, i1, i2, i3, i4 {
        t0 = load in0 : f32
        t1 = load in1 : f32
        t2 = multiply t1, t1 : f32
        t3 = add t0, t2 : f32
        store out0, t3
      }
    }
    accumulate jammed, Rows: nest rank 5 {
      in0: f32 contiguous, in1: f32 contiguous, in2: f32 contiguous, in3: f32 contiguous, in4: f32 contiguous, in5: f32 contiguous, in6: f32 contiguous, in7: f32 contiguous
      out0: f32 contiguous, out1: f32 contiguous, out2: f32 contiguous, out3: f32 contiguous
      for i0, i1, i2, i3, i4 {
        t0 = load in0 : f32
        t1 = load in1 : f32
        t2 = load in2 : f32
        t3 = load in3 : f32
        t4 = load in4 : f32
        t5 = multiply t4, t4 : f32
        t6 = add t0, t5 : f32
        t7 = load in5 : f32
        t8 = multiply t7, t7 : f32
        t9 = add t1, t8 : f32
        t10 = load in6 : f32
        t11 = multiply t10, t10 : f32
        t12 = add t2, t11 : f32
        t13 = load in7 : f32
        t14 = multiply t13, t13 : f32
        t15 = add t3, t14 : f32
        store out0, t6
        store out1, t9
        store out2, t12
        store out3, t15
      }
    }
    blocks, Rows and Halves: the same
    blocks jammed, Rows and Halves: the same
    tree, Rows and Neighbours: of its own
    combine, Pairs: nest rank 3 {
      in0: f32 contiguous, in1: f32 contiguous
      out0: f32 contiguous
      for i0, i1, i2 {
        t0 = load in0 : f32
        t1 = load in1 : f32
        t2 = add t0, t1 : f32
        store out0, t2
      }
    }
    ");
}

#[test]
fn a_product_of_complex_numbers_is_started() {
    let nest = nest_of_rows(9, DType::C64, "  %1 = prod %0 axes [0] : c64[50]\n  return %1");
    insta::assert_snapshot!(text(&nest), @r"
    accumulate, Columns: nest rank 5 {
      in0: c64 contiguous, in1: c64 contiguous
      out0: c64 contiguous
      for i0, i1, i2, i3, i4 {
        t0 = load in0 : c64
        t1 = load in1 : c64
        t2 = multiply t0, t1 : c64
        store out0, t2
      }
    }
    accumulate unrolled, Columns: nest rank 5 {
      in0: c64 contiguous, in1: c64 contiguous, in2: c64 contiguous, in3: c64 contiguous, in4: c64 contiguous
      out0: c64 contiguous
      for i0, i1, i2, i3, i4 {
        t0 = load in0 : c64
        t1 = load in1 : c64
        t2 = multiply t0, t1 : c64
        t3 = load in2 : c64
        t4 = multiply t2, t3 : c64
        t5 = load in3 : c64
        t6 = multiply t4, t5 : c64
        t7 = load in4 : c64
        t8 = multiply t6, t7 : c64
        store out0, t8
      }
    }
    start, Plain: nest rank 5 {
      in0: c64 contiguous
      out0: c64 contiguous
      for i0, i1, i2, i3, i4 {
        t0 = load in0 : c64
        store out0, t0
      }
    }
    combine, Plain: nest rank 3 {
      in0: c64 contiguous, in1: c64 contiguous
      out0: c64 contiguous
      for i0, i1, i2 {
        t0 = load in0 : c64
        t1 = load in1 : c64
        t2 = multiply t0, t1 : c64
        store out0, t2
      }
    }
    ");
}

#[test]
fn a_scan_takes_steps_and_carries() {
    let nest = |text| text_of(&nest(DType::F32, text));
    insta::assert_snapshot!(nest("  %1 = cumulative_sum %0 axis 1 : f32[3, 50]\n  return %1"));
    insta::assert_snapshot!(nest("  %1 = square %0 : f32[3, 50]\n  %2 = cummax %1 axis 0 : f32[3, 50]\n  return %2"));
}

#[test]
fn a_scan_without_an_identity_is_told_where_blocks_begin() {
    let nest = nest(DType::C64, "  %1 = cumulative_prod %0 axis 0 : c64[3, 50]\n  return %1");
    insta::assert_snapshot!(text_of(&nest));
}

fn text_of(nest: &LoopNest) -> String {
    nest.verify().unwrap();
    format!("{nest}\n{}", text(nest))
}

#[test]
fn values_of_a_scatter_have_wide_code() {
    let wide = |text: &str| {
        let nest = nest(DType::F32, text);
        let TargetKernel::Scatter(part) = lower_for(&nest, &Target::interpreter()).unwrap() else { panic!("{nest}") };
        part.ops.verify().unwrap();
        Set::ALL.map(|set| x64::emit(&part.nest, part.form, set).unwrap().is_some())
    };
    let bins = "  %1 = sum %0 axes [0] : f32[50]\n  %2 = cast %0 : i64[3, 50]\n  %3 = reshape %2 : i64[150]\n  %4 = reshape %0 : f32[150]";
    assert_eq!(wide(&format!("{bins}\n  %5 = scatter add %1, %3, %4 : f32[50]\n  return %5")), [true; 2]);
}

#[test]
fn what_does_not_reduce_is_itself() {
    let nest = nest(DType::F32, "  %1 = sin %0 : f32[3, 50]\n  return %1");
    let TargetKernel::Map(part) = lower_for(&nest, &Target::interpreter()).unwrap() else { panic!("it reduces") };
    let own = Arc::new(expanded(&nest, &Target::interpreter()).unwrap());
    let ops = Arc::new(nest);
    assert_eq!(
        *part,
        NestPart { name: None, ops, nest: own, form: AccumulatorLayout::Plain, wide: false, pairs: None }
    );
}

#[test]
fn code_is_generated_for_parts_alone() {
    let isa = host_isa().unwrap();
    let sum = nest(DType::F32, "  %1 = sum %0 axes [1] : f32[3]\n  return %1");
    let prims = expanded(&sum, &Target::interpreter()).unwrap();
    let error = emit(&prims, &*isa, ClifOptions::default()).unwrap_err();
    insta::assert_snapshot!(error, @"error[verify]: clif: code is generated for the parts of a nest that reduces");
    let error = lower_for(&prims, &Target::interpreter()).unwrap_err();
    insta::assert_snapshot!(error, @"error[verify]: split: a nest that reduces is split before it is expanded");
    let plain = expanded(&nest(DType::F32, "  %1 = sin %0 : f32[3, 50]\n  return %1"), &Target::interpreter()).unwrap();
    let error =
        emit(&plain, &*isa, ClifOptions { form: AccumulatorLayout::Rows, ..ClifOptions::default() }).unwrap_err();
    insta::assert_snapshot!(error, @"error[verify]: clif: rows accumulate in the first inputs, which are the outputs");
}
