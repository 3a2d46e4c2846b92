//! Laws of the elementary reductions, against the bodies of their ops: identities, accumulation dtypes, results of no
//! elements.

use super::support::{edges32, edges64};
use ndjit_ir::op::Op;
use ndjit_ir::reduction::{AxisFunction, Reduction, Scan, identity};
use ndjit_ir::{DType, PrimType};
use ndjit_math::{load_body, shared_body};

/// Values of a dtype, each as the bits of its registers: all of up to 16 bits, edges of wider ones.
fn values(dtype: DType) -> Vec<Vec<u64>> {
    let load = load_body(dtype);
    let parts = |part: &[u64]| -> Vec<Vec<u64>> {
        if !dtype.is_complex() {
            return part.iter().map(|&bits| vec![bits]).collect();
        }
        part.iter().flat_map(|&re| part.iter().map(move |&im| vec![re, im])).collect()
    };
    let words = match dtype.storage()[0] {
        _ if dtype == DType::Bool => vec![vec![0], vec![1]],
        PrimType::F32 => parts(&edges32().iter().map(|x| u64::from(x.to_bits())).collect::<Vec<u64>>()),
        PrimType::F64 => parts(&edges64().iter().map(|x| x.to_bits()).collect::<Vec<u64>>()),
        word if word.bytes() <= 2 => (0..1u64 << (8 * word.bytes())).map(|bits| vec![bits]).collect(),
        word => {
            let top = 8 * word.bytes() - 1;
            let near = (0..=top).flat_map(|bit| [-1, 0, 1].map(|d| (1u64 << bit).wrapping_add_signed(d)));
            let mask = u64::MAX >> (63 - top);
            near.chain([0, u64::MAX]).map(|bits| vec![bits & mask]).collect()
        }
    };
    words.iter().map(|words| load.eval(words).to_vec()).collect()
}

fn is_nan(dtype: DType, registers: &[u64]) -> bool {
    dtype.repr().iter().zip(registers).any(|(ty, &bits)| match ty {
        PrimType::F32 => f32::from_bits(bits as u32).is_nan(),
        PrimType::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    })
}

/// Pairs of elementary reductions, or scans, and dtypes, and the op that combines.
fn combining() -> impl Iterator<Item = (AxisFunction, DType, Op)> {
    let reductions = Reduction::ALL.into_iter().filter_map(|reduction| Some((reduction.into(), reduction.combine()?)));
    reductions
        .chain(Scan::ALL.into_iter().map(|scan| (scan.into(), scan.combine())))
        .flat_map(|(reduction, op)| op.row().domain.iter().map(move |dtype| (reduction, dtype, op)))
}

#[test]
fn an_identity_changes_no_bit_of_any_value() {
    let mut without = Vec::new();
    for (reduction, dtype, op) in combining() {
        let Some(identity) = identity(op, dtype) else {
            without.push((reduction, dtype));
            continue;
        };
        let body = shared_body(op, dtype);
        for value in values(dtype) {
            let met = body.eval(&[&identity[..], &value].concat());
            match is_nan(dtype, &value) {
                true => assert!(is_nan(dtype, &met), "{reduction} {dtype} {value:x?}: {met:x?}"),
                false => assert_eq!(&met[..], &value[..], "{reduction} {dtype} {value:x?}"),
            }
        }
    }
    let products = [Reduction::Prod.into(), Scan::CumulativeProd.into()];
    assert_eq!(without, products.map(|product| [DType::C64, DType::C128].map(|dtype| (product, dtype))).concat());
}

/// Not 0, which turns -0 to 0, nor 1 in a product of complex numbers.
#[test]
fn what_looks_like_an_identity_need_not_be_one() {
    let met = |op: Op, a: [u64; 2], b: [u64; 2]| shared_body(op, DType::C128).eval(&[a, b].concat());
    let [zero, minus_zero, one, infinity] = [0.0f64, -0.0, 1.0, f64::INFINITY].map(f64::to_bits);
    assert_eq!(met(Op::Add, [zero; 2], [minus_zero; 2])[..], [zero; 2]);
    assert!(is_nan(DType::C128, &met(Op::Multiply, [one, zero], [infinity, zero])));
}

#[test]
fn of_no_elements_is_the_identity_but_for_the_sign_of_zero() {
    for reduction in Reduction::ALL {
        let Some(op) = reduction.combine() else {
            assert!(reduction.empty_result().is_none() && reduction.identity(DType::I32).is_none(), "{reduction}");
            continue;
        };
        let ordered = matches!(op, Op::Maximum | Op::Minimum);
        assert_eq!(reduction.empty_result().is_none(), ordered, "{reduction}");
        assert_eq!(reduction.needs_elements(), ordered, "{reduction}");
        let Some(nothing) = reduction.empty_result() else { continue };
        for dtype in op.row().domain.iter() {
            let nothing = nothing.to_repr(dtype).unwrap();
            let Some(identity) = reduction.identity(dtype) else { continue };
            let inexact = dtype.is_float() || dtype.is_complex();
            match reduction {
                Reduction::Sum if inexact => {
                    assert!(nothing.iter().all(|&bits| bits == 0), "{dtype}")
                }
                _ => assert_eq!(nothing[..], identity[..], "{reduction} {dtype}"),
            }
        }
    }
    // Scans begin with the identity of the reduction by the same op.
    for scan in Scan::ALL {
        let all = Reduction::ALL.into_iter().find(|reduction| reduction.combine() == Some(scan.combine())).unwrap();
        assert_eq!(scan.empty_result(), all.empty_result(), "{scan}");
        assert!(DType::ALL.into_iter().all(|dtype| scan.identity(dtype) == all.identity(dtype)), "{scan}");
    }
}

#[test]
fn sums_and_products_of_halves_are_accumulated_wider() {
    let mut refused = Vec::new();
    for reduction in AxisFunction::all() {
        let refuses: Vec<&str> =
            DType::ALL.into_iter().filter(|&d| !reduction.accumulates(d)).map(DType::name).collect();
        refused.push(format!(
            "{reduction}: {}",
            if refuses.len() == 15 { "all dtypes".to_owned() } else { refuses.join(" ") }
        ));
    }
    insta::assert_snapshot!(refused.join("\n"), @r"
    sum: bf16 f16
    prod: bf16 f16
    mean: all dtypes
    var: all dtypes
    std: all dtypes
    max: 
    min: 
    ptp: all dtypes
    logsumexp: all dtypes
    norm: all dtypes
    any: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
    all: u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
    argmax: all dtypes
    argmin: all dtypes
    count_nonzero: all dtypes
    cumulative_sum: bf16 f16
    cumulative_prod: bf16 f16
    cummax: 
    cummin: 
    sort: 
    argsort: 
    ");
}
