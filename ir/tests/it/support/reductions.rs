//! Reductions with unsupported dtypes: each op of a reduction counts, modes cast the operand so that the
//! reduction chooses a supported dtype, and advice in errors works.

use insta::assert_snapshot;
use ndjit_ir::axes::AxisSet;
use ndjit_ir::infer::Operation;
use ndjit_ir::reduction::TypeRequest;
use ndjit_ir::support::*;
use ndjit_ir::{DType, DTypeSet, Op, Policy, Reduction};

const LINK: &str = "https://example.org/device";

fn without(dtypes: impl Into<DTypeSet>, name: &str) -> Support {
    let device = Device::describe(name).invalid(dtypes, "it has none", LINK).register().unwrap();
    Support { device: Some(device), ..Support::default() }
}

/// The dtype of the result and the cast before, or the error.
fn shown(support: Support, reduction: Reduction, dtype: Option<DType>, operand: DType) -> String {
    let operation = Operation::along(reduction, AxisSet::one(0), TypeRequest { dtype, policy: Policy::Standard });
    match support.resolve(&operation, &[operand.into()]) {
        Err(error) => error.to_string(),
        Ok(Adapted { types, casts }) => match casts[..] {
            [Some((to, mode))] => format!("{} after cast[{}] to {to}", types.result, mode.name()),
            _ => types.result.to_string(),
        },
    }
}

#[test]
fn modes_cast_so_that_the_reduction_gives_what_is_supported() {
    let no_f32 = without(DType::F32, "reduces_without_f32");
    let up = Support { casting: CastingModes::UP, ..no_f32 };
    assert_eq!(shown(up, Reduction::Mean, None, DType::I32), "f64 after cast[up] to f64");
    assert_eq!(shown(up, Reduction::Mean, None, DType::F32), "f64 after cast[up] to f64");
    let up = Support { casting: CastingModes::UP, ..without(DType::U32, "reduces_without_u32") };
    assert_eq!(shown(up, Reduction::Sum, None, DType::U8), "u64 after cast[up] to u64");
    assert_eq!(shown(up, Reduction::Max, None, DType::U8), "u8");
}

#[test]
fn every_op_counts_that_a_reduction_is_made_of() {
    let gaps =
        Device::describe("no_root").unsupported([Op::Sqrt], DType::F64, "it takes no roots", LINK).register().unwrap();
    let support = Support { device: Some(gaps), ..Support::default() };
    assert_eq!(shown(support, Reduction::Var, None, DType::F64), "f64");
    assert_snapshot!(shown(support, Reduction::Std, None, DType::F64), @r"
    error[dtype]: std: f64 is not supported on the device no_root
      because: it takes no roots (https://example.org/device)
      std computes in f64 here
      supported: bf16 f16 f32 c64 c128
      help: ask for a dtype, as in `dtype(DType::F32).std(…)`
    ");
    assert_eq!(shown(support, Reduction::Std, None, DType::F32), "f32");
}

#[test]
fn errors_propose_what_works() {
    assert_snapshot!(shown(without(DType::F32, "lacks_f32"), Reduction::Mean, None, DType::I32), @r"
    error[dtype]: mean: the device lacks_f32 has no f32
      because: it has none (https://example.org/device)
      mean computes in f32 here
      supported: bf16 f16 f64 c64 c128
      help: ask for a dtype, as in `dtype(DType::F64).mean(…)`
    ");
    assert_snapshot!(shown(without(DType::U32, "lacks_u32"), Reduction::Sum, None, DType::U8), @r"
    error[dtype]: sum: the device lacks_u32 has no u32
      because: it has none (https://example.org/device)
      sum computes in u32 here
      supported: bool u8 u16 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      help: ask for a dtype, as in `dtype(DType::U64).sum(…)`
    ");
    assert_snapshot!(shown(without(DType::I32, "lacks_i32"), Reduction::ArgMax, None, DType::F32), @r"
    error[dtype]: argmax: the device lacks_i32 has no i32
      because: it has none (https://example.org/device)
      argmax gives i32 here
      supported: bool u8 u16 u32 u64 i8 i16 i64 bf16 f16 f32 f64 c64 c128
      help: ask for a dtype, as in `dtype(DType::I64).argmax(…)`
    ");
    assert_snapshot!(shown(without(DType::F64, "lacks_f64"), Reduction::Sum, Some(DType::F64), DType::F32), @r"
    error[dtype]: sum: the device lacks_f64 has no f64
      because: it has none (https://example.org/device)
      sum computes in f64 here
      supported: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 c64 c128
      help: ask for a dtype, as in `dtype(DType::F32).sum(…)`
    ");
    assert_snapshot!(shown(without(DType::F16, "lacks_f16"), Reduction::Max, None, DType::F16), @r"
    error[dtype]: max: the device lacks_f16 has no f16
      because: it has none (https://example.org/device)
      max takes f16 here
      supported: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f32 f64 c64 c128
      help: cast explicitly: `cast(x, DType::F32)`; or `with_casting(CastingModes::UP, || …)` casts to f32
    ");
    let halves = without(DTypeSet::FLOAT | DTypeSet::COMPLEX, "integers_alone");
    assert_snapshot!(shown(halves, Reduction::Mean, None, DType::I32), @r"
    error[dtype]: mean: the device integers_alone has no f32
      because: it has none (https://example.org/device)
      mean computes in f32 here
      supported: nothing that mean computes in
      help: support a dtype that it computes in, or reduce otherwise
    ");
}
