//! Ivy's page "Data Types", its types and queries: <https://docs.ivy.dev/overview/deep_dive/data_types.html>,
//! `docs/overview/deep_dive/data_types.rst` at 0afe7bbb. "Ivy gives" is what ivy 1.0.0.5 gives on NumPy 1.26.

use super::support::{both, gives};
use insta::assert_snapshot;
use ndjit::{
    Array, DType, DTypeSet, Defaults, Policy, can_cast, default_dtype, dtype, promote_types, result_type,
    with_defaults, with_policy,
};
use std::collections::BTreeSet;

fn names(dtypes: impl IntoIterator<Item = DType>) -> BTreeSet<&'static str> {
    dtypes.into_iter().map(|dtype| dtype.row().long).collect()
}

// I01 The supported data types, listed.
#[test]
fn ivy_supported_data_types() {
    const PAGE: &str = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 bool complex64 \
        complex128";
    let page: Vec<&str> = PAGE.split(' ').collect();
    assert_eq!(names(DType::ALL), page.iter().copied().collect());
    for name in page {
        assert_eq!(name.parse::<DType>().unwrap().row().long, name);
    }
}

// I02 "ivy.Dtype class derives from str, and has simple logic in the constructor to verify that the string formatting is
// correct"
// Ivy's IntDtype("float32") is an error too; here a default integer of another kind is.
#[test]
fn ivy_dtype_verifies_its_string() {
    assert_snapshot!("int128".parse::<DType>().unwrap_err(), @"
    error[dtype]: unknown dtype `int128`
      dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      help: long names such as `float32` are read too
    ");
    let wrong_kind = with_defaults(Defaults { int: DType::F32, ..Defaults::BITS_32 }, || ());
    assert_snapshot!(wrong_kind.unwrap_err(), @"
    error[promotion]: defaults: f32 cannot be the default integer dtype
      help: choose one of that kind, such as i64
    ");
}

// I03 ivy.float32
#[test]
fn ivy_types_are_attributes_of_the_namespace() {
    const FLOAT32: DType = DType::F32;
    assert_eq!(dtype(FLOAT32).zeros(1).dtype(), "float32".parse().unwrap());
}

// I04 "native data types are also specified"; ivy.native_float32 is the backend's
#[test]
fn ivy_native_types() {
    let row = DType::F32.row();
    assert_eq!((row.rust, row.npy, row.wgsl), ("f32", Some("<f4"), Some("f32")));
    let without = |has: fn(DType) -> bool| names(DType::ALL.into_iter().filter(|&dtype| !has(dtype)));
    assert_eq!(without(|dtype| dtype.row().npy.is_some()), ["bfloat16"].into(), "NumPy");
    let wgsl: BTreeSet<&str> =
        ["uint8", "uint16", "uint64", "int8", "int16", "int64", "bfloat16", "float64", "complex128"].into();
    assert_eq!(without(|dtype| dtype.row().wgsl.is_some()), wgsl);
}

// I05 ivy.all_dtypes, all_numeric_dtypes, all_int_dtypes, all_float_dtypes
#[test]
fn ivy_all_tuples() {
    assert_eq!(DType::ALL.len(), 15);
    let mut without_bool = names(DType::ALL);
    assert!(without_bool.remove("bool"));
    assert_eq!(names(DType::ALL_NUMERIC), without_bool);
    assert_eq!(
        names(DType::ALL_INT),
        ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"].into()
    );
    assert_eq!(names(DType::ALL_FLOAT), ["bfloat16", "float16", "float32", "float64"].into());
    assert_eq!(names(DType::ALL_UNSIGNED), ["uint8", "uint16", "uint32", "uint64"].into());
    assert_eq!(names(DType::ALL_COMPLEX), ["complex64", "complex128"].into());
}

// I10 "ivy.astype which copies an array to a specified data type"
#[test]
fn astype_copies_to_a_dtype() {
    let x = Array::from([1i32, -2]);
    gives(Ok(x.astype(DType::F64)), DType::F64, &[1.0, -2.0]);
    assert_eq!(x.to_vec::<i32>(), Ok(vec![1, -2]));
}

// I11 "ivy.broadcast_to which broadcasts an array to a specified shape"
// Here by meeting an array of that shape: the dtype stays.
#[test]
fn broadcast_to_a_shape() {
    let sum = both!(|x, y| x + y, [1i8, 2], dtype(DType::I8).zeros([3, 2])).unwrap();
    assert_eq!(sum.shape().extents(), [3, 2]);
    gives(Ok(sum), DType::I8, &[1i8, 2, 1, 2, 1, 2]);
}

// I12 "returns the dtype that results from applying the type promotion rules to the arguments"
#[test]
fn result_type_of_arguments() {
    let x = Array::from([1i16]);
    assert_eq!(result_type((&x, DType::U8, 3)), Ok(DType::I16.into()));
    assert_eq!(with_policy(Policy::IvyPrecise, || result_type((&x, DType::F16))), Ok(DType::F32.into()));
}

// I13 "if one data type can be cast to another according to type-promotion rules"
// In precise mode int32 cannot be cast to float32: they meet in float64.
#[test]
fn can_cast_by_promotion_rules() {
    let cases = [
        (DType::F32, DType::I32, false),
        (DType::I32, DType::F32, false),
        (DType::I32, DType::F64, true),
        (DType::I32, DType::I64, true),
        (DType::U8, DType::I8, false),
        (DType::Bool, DType::I8, true),
    ];
    with_policy(Policy::IvyPrecise, || {
        for (from, to, can) in cases {
            assert_eq!(can_cast(from, to), Ok(can), "{from} to {to}");
        }
        for from in DType::ALL {
            for to in DType::ALL {
                assert_eq!(can_cast(from, to).unwrap(), promote_types(from, to) == Ok(to.into()), "{from} to {to}");
            }
        }
    });
    assert_eq!(with_policy(Policy::IvyImprecise, || can_cast(DType::I32, DType::F32)), Ok(true));
}

// I14 ivy.dtype(x)
#[test]
fn dtype_of_an_array() {
    for dtype in DType::ALL {
        assert_eq!(Array::from([1u8]).cast(dtype).dtype(), dtype);
    }
}

// I16 "ivy.default_dtype which returns the correct data type to use"
#[test]
fn default_dtype_returns_the_dtype_to_use() {
    assert_eq!(default_dtype(), DType::F32);
    assert_eq!(ndjit::with_default_dtype(DType::I16, default_dtype), DType::I16);
    let wide = Defaults { float: DType::F64, ..Defaults::BITS_32 };
    assert_eq!(with_defaults(wide, default_dtype), Ok(DType::F64));
}

// I63 return tf.logical_not(tf.cast(x, tf.bool))
#[test]
fn logical_not_casts_to_bool() {
    gives(both!(|x| x.logical_not(), [0i32, 1]), DType::Bool, &[true, false]);
    gives(both!(|x| x.logical_not(), [0.0f32, 0.5]), DType::Bool, &[true, false]);
}

// I64 if "uint" in ivy.dtype(x): return x; else: return tf.abs(x)
#[test]
fn abs_of_unsigned_is_itself() {
    gives(both!(|x| x.abs(), [1u8, 255]), DType::U8, &[1u8, 255]);
    gives(both!(|x| x.abs(), [1i8, -2]), DType::I8, &[1i8, 2]);
}

// I60 "allowed dtype classes are: valid, numeric, float, integer, and unsigned", mixed with dtypes
// In Ivy's code complex is one, too, and integer contains unsigned.
#[test]
fn dtype_classes_in_declarations() {
    let class = |name: &str| name.parse::<DTypeSet>().unwrap();
    let sizes = ["valid", "numeric", "float", "integer", "unsigned", "complex"].map(|name| class(name).len());
    assert_eq!(sizes, [15, 14, 4, 8, 4, 2]);
    assert!(class("integer").contains(DType::U8));
    assert_eq!((class("unsigned") | DType::F16).to_string(), "u8 u16 u32 u64 f16");
    assert!(!class("numeric").contains(DType::Bool));
}
