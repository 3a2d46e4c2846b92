//! Dtypes and value types through serde, by way of JSON.

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
    insta::assert_snapshot!(error("\"c8\""), @"");
    insta::assert_snapshot!(error("\"i*\""), @"");
    insta::assert_snapshot!(error("3"), @"");
    insta::assert_snapshot!(serde_json::from_str::<ValueType>("\"i32*\"").unwrap_err().to_string(), @"");
}
