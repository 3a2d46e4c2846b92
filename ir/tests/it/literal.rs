//! Literals: rounded once from the exact value, refused if only a cast is allowed, and text that parses to the same value.

use half::{bf16, f16};
use ndjit_ir::{DType, ErrorCode, Literal, LiteralValue, ValueType, Weak};

/// The register bits of a real literal.
fn bits(value: impl Into<LiteralValue>, dtype: DType) -> u64 {
    let repr = Literal::weak(value).to_repr(dtype).unwrap();
    assert_eq!(repr.len(), 1);
    repr[0]
}

fn half_of(value: impl Into<LiteralValue>, dtype: DType) -> f32 {
    f32::from_bits(u32::try_from(bits(value, dtype)).unwrap())
}

/// The finite non-negative values of a half dtype in order, then the power of two at which its range ends.
fn halves(dtype: DType) -> Vec<f64> {
    let (end, limit): (u16, f64) = if dtype == DType::F16 { (0x7c00, 65536.0) } else { (0x7f80, 2f64.powi(128)) };
    let value = |b: u16| if dtype == DType::F16 { f16::from_bits(b).to_f64() } else { bf16::from_bits(b).to_f64() };
    (0..end).map(value).chain([limit]).collect()
}

/// Every case of a rounding: each midpoint of adjacent values, and one `f64` to either side.
#[test]
fn floats_become_halves_with_one_rounding() {
    for dtype in [DType::F16, DType::Bf16] {
        let values = halves(dtype);
        let limit = values.len() - 1;
        let rounded = |i: usize| if i == limit { f32::INFINITY } else { values[i] as f32 };
        for i in 0..limit {
            let middle = (values[i] + values[i + 1]) / 2.0;
            let even = i + i % 2;
            assert_eq!(half_of(values[i], dtype), rounded(i));
            assert_eq!(half_of(middle, dtype), rounded(even), "{dtype} at {middle:e}");
            assert_eq!(half_of(middle.next_down(), dtype), rounded(i), "{dtype} below {middle:e}");
            assert_eq!(half_of(middle.next_up(), dtype), rounded(i + 1), "{dtype} above {middle:e}");
            assert_eq!(half_of(-middle.next_up(), dtype), -rounded(i + 1));
        }
    }
}

#[test]
fn integers_become_halves_with_one_rounding() {
    for dtype in [DType::F16, DType::Bf16] {
        let values = halves(dtype);
        let limit = values.len() - 1;
        let rounded = |i: usize| if i == limit { f32::INFINITY } else { values[i] as f32 };
        let mut midpoints = 0;
        for i in 0..limit {
            let (middle, far) = ((values[i] + values[i + 1]) / 2.0, values[i + 1] > 2f64.powi(126));
            if middle.fract() != 0.0 || far {
                continue;
            }
            let n = middle as i128;
            assert_eq!(half_of(n, dtype), rounded(i + i % 2), "{dtype} at {n}");
            if values[i + 1] - values[i] > 2.0 {
                assert_eq!(half_of(n - 1, dtype), rounded(i), "{dtype} below {n}");
                assert_eq!(half_of(-(n + 1), dtype), -rounded(i + 1), "{dtype} above {n}");
            }
            midpoints += 1;
        }
        assert!(midpoints > 4000);
    }
    assert_eq!(half_of(70000, DType::F16), f32::INFINITY);
    assert_eq!(half_of(i128::MIN, DType::Bf16), -(2f32.powi(127)));
}

#[test]
fn wider_floats_round_once_too() {
    // Rounded to f64 first, the trailing 1 is lost and the tie goes down to even.
    let n = (((1i128 << 24) + 1) << 36) + 1;
    assert_eq!(bits(n, DType::F32), u64::from(((((1u64 << 24) + 2) << 36) as f32).to_bits()));
    assert_eq!(bits(u64::MAX, DType::F64), 18446744073709551616.0f64.to_bits());
    assert_eq!(bits(0.1, DType::F32), u64::from(0.1f32.to_bits()));
    assert_eq!(bits(0.1f32, DType::F64), f64::from(0.1f32).to_bits());
    assert_eq!(bits(1e300, DType::F32), u64::from(f32::INFINITY.to_bits()));
    assert_eq!(bits(-0.0, DType::F16), u64::from((-0.0f32).to_bits()));
    assert_eq!(bits(1e-46, DType::F32), 0);
    assert_eq!(bits(-f64::NAN, DType::F32), u64::from(f32::NAN.to_bits()));
    assert_eq!(bits(f64::from_bits(0x7ff0_0000_0000_0001), DType::Bf16), u64::from(f32::NAN.to_bits()));
}

#[test]
fn integers_fit_or_are_refused() {
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_int()) {
        let (min, max) = dtype.int_range().unwrap();
        let mask = dtype.repr()[0].mask();
        assert_eq!(bits(max, dtype), max as u64 & mask);
        assert_eq!(bits(min, dtype), min as u64 & mask);
        assert_eq!(bits(true, dtype), 1);
        for n in [min - 1, max + 1, i128::MIN, i128::MAX] {
            assert_eq!(Literal::weak(n).to_repr(dtype).unwrap_err().code(), ErrorCode::Literal, "{n} {dtype}");
        }
    }
    assert_eq!(bits(-1, DType::I8), 0xff);
    assert_eq!(
        Literal::weak(300).to_repr(DType::I8).unwrap_err().to_string(),
        "error[literal]: literal 300 does not fit i8
  i8 holds -128 to 127
  help: cast the other operand to a wider dtype, for example `.cast(DType::I16)`"
    );
    assert_eq!(
        Literal::weak(-1).to_repr(DType::U64).unwrap_err().to_string(),
        "error[literal]: literal -1 does not fit u64
  u64 holds 0 to 18446744073709551615
  help: no integer dtype holds it and all of u64; if the other operand's elements are small, cast it: `.cast(DType::I64)`"
    );
    assert_eq!(
        Literal::weak(i128::MAX).to_repr(DType::U64).unwrap_err().help_text(),
        Some("no integer dtype holds it; write it as a float")
    );
}

#[test]
fn kinds_change_upwards_only() {
    let complex = LiteralValue::Complex(1.5, -2.0);
    let refused: [(LiteralValue, &[DType]); 3] = [
        (2.into(), &[DType::Bool]),
        (2.0.into(), &[DType::Bool, DType::U8, DType::I64]),
        (complex, &[DType::Bool, DType::I32, DType::Bf16, DType::F64]),
    ];
    for (value, dtypes) in refused {
        for &dtype in dtypes {
            assert_eq!(Literal::weak(value).to_repr(dtype).unwrap_err().code(), ErrorCode::Literal);
            assert!(Literal::strong(value, dtype).is_err());
        }
    }
    assert_eq!(
        Literal::weak(2.5).to_repr(DType::I32).unwrap_err().to_string(),
        "error[literal]: literal 2.5 does not fit i32
  a float literal becomes i32 by an explicit cast only
  help: write the literal as i32, or add `.cast(DType::I32)`"
    );
    let repr = |value: LiteralValue, dtype| Literal::weak(value).to_repr(dtype).unwrap().to_vec();
    assert_eq!(repr(complex, DType::C128), [1.5f64.to_bits(), (-2.0f64).to_bits()]);
    assert_eq!(repr(3.into(), DType::C64), [u64::from(3f32.to_bits()), 0]);
    assert_eq!(repr(true.into(), DType::F16), [u64::from(1f32.to_bits())]);
    assert_eq!(repr(false.into(), DType::Bool), [0]);
}

#[test]
fn text_reads_back() {
    let floats = [0.0, -0.0, 2.0, 0.1, 1e16, 1e300, 5e-324, -1.5e-7, f64::MAX, f64::INFINITY, -f64::INFINITY, f64::NAN];
    let mut values: Vec<LiteralValue> = vec![true.into(), false.into(), 2.into(), i128::MIN.into(), i128::MAX.into()];
    values.extend(floats.map(LiteralValue::Float));
    for re in floats {
        values.extend(floats.map(|im| LiteralValue::Complex(re, im)));
    }
    for value in values {
        assert_eq!(value.to_string().parse(), Ok(value));
        let weak = Literal::weak(value);
        assert_eq!(weak.to_string().parse(), Ok(weak));
        for dtype in DType::ALL {
            let Ok(strong) = Literal::strong(value, dtype) else { continue };
            assert_eq!(strong.to_string().parse(), Ok(strong));
            assert_eq!(strong.to_repr(dtype), weak.to_repr(dtype));
            assert_eq!(Literal::from_repr(dtype, &strong.to_repr(dtype).unwrap()), strong);
        }
    }
    let shown = |value: LiteralValue| value.to_string();
    assert_eq!(
        ["2", "2.0", "1e300", "nan", "-inf", "true"].map(str::to_owned),
        [
            shown(2.into()),
            shown(2.0.into()),
            shown(1e300.into()),
            shown((-f64::NAN).into()),
            shown((-f64::INFINITY).into()),
            shown(true.into()),
        ]
    );
    assert_eq!(shown(LiteralValue::Complex(1.0, -0.0)), "(1.0-0.0i)");
    assert_eq!(Literal::strong(2.0f32, DType::F32).unwrap().to_string(), "2.0_f32");
    for text in [
        "", "2.", "x", "+", "infinity", "NaN", "1e999", "(1.0)", "(1.0i)", "(+i)", "2_", "2_f8", "300_i8", "2.0_i8",
        "é",
    ] {
        match text.parse::<Literal>() {
            Err(error) => assert!(matches!(error.code(), ErrorCode::Parse | ErrorCode::Literal), "{error}"),
            Ok(literal) => assert_eq!((text, literal), ("2.", Literal::weak(2.0))),
        }
    }
}

#[test]
fn types_and_equality() {
    assert_eq!(Literal::from(2u8).ty(), Weak::Int.into());
    assert_eq!(Literal::from(2.0f32).ty(), Weak::Float.into());
    assert_eq!(Literal::from(true).ty(), DType::Bool.into());
    assert_eq!(Literal::strong(2, DType::F16).unwrap().ty(), ValueType::Strong(DType::F16));
    assert_ne!(Literal::from(0.0), Literal::from(-0.0));
    assert_ne!(Literal::from(2), Literal::from(2.0));
    assert_eq!(Literal::from(f64::NAN), Literal::from(-f64::NAN));
    assert_ne!(Literal::from(2.0), Literal::strong(2.0, DType::F32).unwrap());
    assert_eq!(Literal::strong(0.1, DType::F32), Literal::strong(0.1f32, DType::F32));
    assert_eq!(Literal::strong(2, DType::F16), Literal::strong(2.0, DType::F16));
    assert_eq!(Literal::from_repr(DType::I8, &[0xff80]), Literal::strong(-128, DType::I8).unwrap());
    assert_eq!(Literal::from_repr(DType::C64, &[]).value(), LiteralValue::Complex(0.0, 0.0));
}
