//! Dtypes and value types through serde, in JSON.

use ndjit_ir::{DType, ValueType};

#[test]
fn every_type_comes_back() {
    for ty in ValueType::ALL {
        let text = serde_json::to_string(&ty).unwrap();
        assert_eq!(text, format!("\"{ty}\""));
        assert_eq!(serde_json::from_str::<ValueType>(&text).unwrap(), ty);
    }
    for dtype in DType::ALL {
        let text = serde_json::to_string(&dtype).unwrap();
        assert_eq!(text, format!("\"{dtype}\""));
        assert_eq!(serde_json::from_str::<DType>(&text).unwrap(), dtype);
        // A reader that lends no strings, and a long name.
        let long = serde_json::to_vec(dtype.row().long).unwrap();
        assert_eq!(serde_json::from_reader::<_, DType>(&long[..]).unwrap(), dtype);
    }
}

#[test]
fn refusals_are_one_line() {
    let error = |text: &str| serde_json::from_str::<DType>(text).unwrap_err().to_string();
    insta::assert_snapshot!(error("\"c8\""), @"error[dtype]: dtype `c8` is ambiguous; 8 bytes, as NumPy counts: c64; 8 bytes per part, as in JAX's first tables: c128; help: write `c64` or `c128` at line 1 column 4");
    insta::assert_snapshot!(error("\"i*\""), @"error[dtype]: unknown dtype `i*`; dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128; help: long names such as `float32` are read too at line 1 column 4");
    insta::assert_snapshot!(error("3"), @"invalid type: integer `3`, expected the name of a dtype at line 1 column 1");
    insta::assert_snapshot!(serde_json::from_str::<ValueType>("\"i32*\"").unwrap_err().to_string(), @"error[dtype]: unknown dtype `i32*`; dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128; weak types: i* f* c*; help: long names such as `float32` are read too at line 1 column 6");
}
