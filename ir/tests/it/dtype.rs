//! Properties of dtypes: accepted and refused names, classes, limits and casting, against `tests/goldens/dtypes/` and
//! the formats themselves.

use half::{bf16, f16};
use ndjit_ir::dtype::{Casting, FloatInfo, finfo, iinfo, isdtype};
use ndjit_ir::{DType, DTypeSet, ErrorCode, Kind, ValueType};
use serde_json::Value;

fn golden(name: &str) -> Value {
    let path = format!("{}/../tests/goldens/dtypes/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let file: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    let names: Vec<&str> = file["types"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names, DType::ALL.map(DType::name));
    file
}

#[test]
fn rows_are_consistent() {
    for dtype in DType::ALL {
        let row = dtype.row();
        assert_eq!(row.dtype, dtype);
        assert_eq!(row.bytes, row.storage.iter().map(|p| p.bytes()).sum::<usize>());
        assert_eq!(row.repr.len(), row.storage.len());
        assert_eq!(row.repr.len(), if dtype.is_complex() { 2 } else { 1 });
        assert_eq!(dtype.real().digits(), dtype.digits());
    }
}

#[test]
fn lists_are_their_kinds() {
    let of = |keep: fn(DType) -> bool| -> Vec<DType> { DType::ALL.into_iter().filter(|d| keep(*d)).collect() };
    assert_eq!(DType::ALL_NUMERIC.to_vec(), of(|d| d != DType::Bool));
    assert_eq!(DType::ALL_INT.to_vec(), of(DType::is_int));
    assert_eq!(DType::ALL_UNSIGNED.to_vec(), of(|d| d.kind() == Kind::UInt));
    assert_eq!(DType::ALL_SIGNED.to_vec(), of(DType::is_signed));
    assert_eq!(DType::ALL_FLOAT.to_vec(), of(DType::is_float));
    assert_eq!(DType::ALL_COMPLEX.to_vec(), of(DType::is_complex));
}

#[test]
fn names_are_read_back() {
    for dtype in DType::ALL {
        assert_eq!(dtype.to_string().parse(), Ok(dtype));
        assert_eq!(dtype.row().long.parse(), Ok(dtype));
        assert_eq!(format!("{dtype:>5}|{dtype:<5}|").len(), 12);
    }
    for ty in ValueType::ALL {
        assert_eq!(ty.to_string().parse(), Ok(ty));
    }
    assert_eq!("float32".parse::<ValueType>(), Ok(DType::F32.into()));
}

/// NumPy's and JAX's names of dtypes that mean nothing or another dtype in ndjit, each with its meaning.
#[test]
fn codes_that_count_bytes_are_refused() {
    let mut refused = Vec::new();
    for letter in ["b", "u", "i", "f", "c"] {
        for size in [1, 2, 4, 8, 16, 32] {
            let text = format!("{letter}{size}");
            match text.parse::<DType>() {
                Ok(dtype) => assert_eq!(dtype.name(), text),
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::DType);
                    let headline = error.headline();
                    let reasons = ["ambiguous", "a code of NumPy's", "unknown"];
                    let reason = reasons.into_iter().find(|reason| headline.contains(reason)).expect(headline);
                    refused.push(format!("{text}: {reason}: {}", error.help_text().unwrap()));
                }
            }
        }
    }
    insta::assert_snapshot!(refused.join("\n"), @r"
    b1: a code of NumPy's: write `bool`
    b2: unknown: long names such as `float32` are read too
    b4: unknown: long names such as `float32` are read too
    b8: unknown: long names such as `float32` are read too
    b16: unknown: long names such as `float32` are read too
    b32: unknown: long names such as `float32` are read too
    u1: a code of NumPy's: write `u8`
    u2: a code of NumPy's: write `u16`
    u4: a code of NumPy's: write `u32`
    i1: a code of NumPy's: write `i8`
    i2: a code of NumPy's: write `i16`
    i4: a code of NumPy's: write `i32`
    f1: unknown: long names such as `float32` are read too
    f2: a code of NumPy's: write `f16`
    f4: a code of NumPy's: write `f32`
    f8: ambiguous: write `f64`
    c1: unknown: long names such as `float32` are read too
    c2: unknown: long names such as `float32` are read too
    c4: ambiguous: write `c64`
    c8: ambiguous: write `c64` or `c128`
    c16: a code of NumPy's: write `c128`
    c32: unknown: long names such as `float32` are read too
    ");
}

#[test]
fn what_is_no_name() {
    let error = |text: &str| text.parse::<DType>().unwrap_err();
    insta::assert_snapshot!(error("float31"), @r"
    error[dtype]: unknown dtype `float31`
      dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      help: long names such as `float32` are read too
    ");
    insta::assert_snapshot!(error("f8"), @r"
    error[dtype]: dtype `f8` is ambiguous
      8 bytes, as NumPy counts: f64
      8 bits: a float that ndjit does not have
      help: write `f64`
    ");
    insta::assert_snapshot!(error("c8"), @r"
    error[dtype]: dtype `c8` is ambiguous
      8 bytes, as NumPy counts: c64
      8 bytes per part, as in JAX's first tables: c128
      help: write `c64` or `c128`
    ");
    insta::assert_snapshot!(error("c4"), @r"
    error[dtype]: dtype `c4` is ambiguous
      4 bytes per part, as in JAX's first tables: c64
      4 bytes: two f16, a dtype that ndjit does not have
      help: write `c64`
    ");
    insta::assert_snapshot!(error("i4"), @r"
    error[dtype]: dtype `i4` is a code of NumPy's, which counts bytes
      sizes in names are in bits here
      help: write `i32`
    ");
    insta::assert_snapshot!(error("<f4"), @r"
    error[dtype]: unknown dtype `<f4`
      dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      help: write `f32`; descriptors of .npy files are read by `DType::from_npy`
    ");
    insta::assert_snapshot!(error("int"), @r"
    error[dtype]: dtype `int` has no size
      i64 in NumPy, i32 in PyTorch, the default integer in JAX
      help: write `i32` or `i64`
    ");
    insta::assert_snapshot!(error("uint"), @r"
    error[dtype]: dtype `uint` has no size
      u64 in NumPy, the default unsigned integer in JAX
      help: write `u32` or `u64`
    ");
    insta::assert_snapshot!(error("float"), @r"
    error[dtype]: dtype `float` has no size
      f64 in NumPy, f32 in PyTorch, the default float in JAX
      help: write `f32` or `f64`
    ");
    insta::assert_snapshot!(error("complex"), @r"
    error[dtype]: dtype `complex` has no size
      c128 in NumPy, the default complex dtype in JAX
      help: write `c64` or `c128`
    ");
    insta::assert_snapshot!("i32*".parse::<ValueType>().unwrap_err(), @r"
    error[dtype]: unknown dtype `i32*`
      dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      weak types: i* f* c*
      help: long names such as `float32` are read too
    ");
    for text in ["", " f32", "F32", "ƒ8", ">f4"] {
        assert!(error(text).headline().starts_with("unknown dtype"), "{text}");
    }
}

#[test]
fn npy_descriptors() {
    let file = golden("numpy2");
    for dtype in DType::ALL {
        let written = file["npy"][dtype.name()].as_str().unwrap();
        match dtype {
            DType::Bf16 => assert_eq!((dtype.row().npy, written), (None, "<V2")),
            _ => assert_eq!((dtype.row().npy, DType::from_npy(written)), (Some(written), Ok(dtype))),
        }
    }
    let error = |text: &str| DType::from_npy(text).unwrap_err();
    insta::assert_snapshot!(error(">f4"), @r"
    error[dtype]: `>f4` is big-endian
      help: save `a.astype('<f4')`
    ");
    insta::assert_snapshot!(error("f4"), @r"
    error[dtype]: `f4` does not name its byte order as .npy files do
      help: write `<f4`
    ");
    insta::assert_snapshot!(error("<V2"), @r"
    error[dtype]: `<V2` is raw bytes, as which NumPy saves bfloat16 without saying so
      help: save `a.astype('<f4')`, which keeps every value, and convert with `.cast(DType::Bf16)` after reading
    ");
    insta::assert_snapshot!(error("<U5"), @r"
    error[dtype]: `<U5` is no .npy descriptor of a dtype
      descriptors: |b1 |u1 <u2 <u4 <u8 |i1 <i2 <i4 <i8 <f2 <f4 <f8 <c8 <c16
      help: convert with `.astype` before saving; save each field of a structured array by itself
    ");
    for text in ["", "<", "<f32", "|O", "<f16", "<c32", "ƒ", "<<f4"] {
        assert_eq!(error(text).code(), ErrorCode::DType, "{text}");
    }
}

#[test]
fn sets() {
    let set = DTypeSet::SIGNED | DType::F32 | DTypeSet::BOOL;
    assert_eq!(set.to_string(), "bool i8 i16 i32 i64 f32");
    assert_eq!(set, DType::ALL.into_iter().filter(|d| set.contains(*d)).collect());
    assert_eq!(set, [DTypeSet::SIGNED, DTypeSet::BOOL, DType::F32.into()].into());
    assert_eq!(set.intersection(DTypeSet::INT), DTypeSet::SIGNED);
    assert_eq!(set.difference(DTypeSet::INT), DType::Bool | DType::F32);
    assert_eq!((set.len(), set.iter().count(), set.is_empty()), (6, 6, false));
    assert!(set.difference(set).is_empty() && set.difference(set) == DTypeSet::EMPTY);
    assert_eq!((DTypeSet::ALL.len(), format!("{:?}", DTypeSet::EMPTY)), (15, "{}".to_owned()));
}

#[test]
fn classes_are_those_of_the_array_api_and_ivy() {
    let (numpy, ivy) = (golden("numpy2"), golden("ivy"));
    // Dtypes that a library lacks are not in its classes.
    let sections = [
        (&numpy["isdtype"], DTypeSet::from(DType::Bf16)),
        (&numpy["isdtype_strict"], DType::Bf16 | DType::F16),
        (&ivy["classes"], DTypeSet::EMPTY),
    ];
    let mut seen = Vec::new();
    for (section, absent) in sections {
        for (name, members) in section.as_object().unwrap() {
            let class: DTypeSet = name.parse().unwrap();
            let members: Vec<&str> = members.as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
            assert_eq!(class.difference(absent).to_string(), members.join(" "), "{name}");
            seen.push(name.as_str());
        }
    }
    for (name, _) in DTypeSet::CLASSES {
        assert!(seen.contains(&name), "{name} was compared with nothing");
    }
    for dtype in DType::ALL {
        assert_eq!(dtype.name().parse(), Ok(DTypeSet::from(dtype)));
        assert_eq!(isdtype(dtype, DType::F32), dtype == DType::F32);
        assert_eq!(
            isdtype(dtype, DTypeSet::UNSIGNED | DType::F32),
            [DType::F32].contains(&dtype) || dtype.kind() == Kind::UInt
        );
        assert_eq!(isdtype(dtype, [DType::F32, DType::I8]), [DType::F32, DType::I8].contains(&dtype));
    }
    insta::assert_snapshot!("integers".parse::<DTypeSet>().unwrap_err(), @r"
    error[dtype]: unknown dtype `integers`
      dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      classes: `signed integer` `unsigned integer` `integral` `real floating` `complex floating` `numeric` `valid` `integer` `unsigned` `float` `complex`
      help: long names such as `float32` are read too
    ");
}

/// The limits of a format, from its bit patterns: `value` gives the value of one.
fn from_patterns(dtype: DType, digits: u32, exponent_bits: u32, value: fn(u64) -> f64) -> FloatInfo {
    let significand = digits - 1;
    let infinity = ((1 << exponent_bits) - 1) << significand;
    let one = ((1 << (exponent_bits - 1)) - 1) << significand;
    assert!(value(infinity).is_infinite() && value(one) == 1.0);
    FloatInfo {
        dtype,
        bits: 1 + exponent_bits + significand,
        mantissa_digits: digits,
        exponent_bits,
        eps: value(one + 1) - 1.0,
        max: value(infinity - 1),
        min: value((infinity - 1) | (1 << (exponent_bits + significand))),
        smallest_normal: value(1 << significand),
        smallest_subnormal: value(1),
    }
}

#[test]
fn limits_of_floats_are_their_bit_patterns() {
    let formats = [
        from_patterns(DType::Bf16, 8, 8, |bits| bf16::from_bits(bits as u16).to_f64()),
        from_patterns(DType::F16, 11, 5, |bits| f16::from_bits(bits as u16).to_f64()),
        from_patterns(DType::F32, 24, 8, |bits| f32::from_bits(bits as u32).into()),
        from_patterns(DType::F64, 53, 11, f64::from_bits),
    ];
    for dtype in DType::ALL {
        let format = formats.iter().find(|format| format.dtype == dtype.real());
        assert_eq!(finfo(dtype).ok().as_ref(), format, "{dtype}");
        assert_eq!(dtype.exponent_bits(), format.map(|format| format.exponent_bits));
    }
}

#[test]
fn limits_are_numpys() {
    let file = golden("numpy2");
    for dtype in DType::ALL {
        let (float, int) = (&file["finfo"][dtype.name()], &file["iinfo"][dtype.name()]);
        assert_eq!((finfo(dtype).is_ok(), iinfo(dtype).is_ok()), (!float.is_null(), !int.is_null()));
        if let Ok(info) = finfo(dtype) {
            assert_eq!(float["dtype"], info.dtype.name());
            let sizes = [("bits", info.bits), ("nmant", info.mantissa_digits - 1), ("nexp", info.exponent_bits)];
            for (name, size) in sizes {
                assert_eq!(float[name], size, "{dtype} {name}");
            }
            let limits = [
                ("eps", info.eps),
                ("max", info.max),
                ("min", info.min),
                ("smallest_normal", info.smallest_normal),
                ("smallest_subnormal", info.smallest_subnormal),
            ];
            for (name, limit) in limits {
                assert_eq!(float[name], format!("{:016x}", limit.to_bits()), "{dtype} {name}");
            }
        }
        if let Ok(info) = iinfo(dtype) {
            assert_eq!((info.dtype, &int["bits"]), (dtype, &info.bits.into()));
            assert_eq!((&int["min"], &int["max"]), (&info.min.to_string().into(), &info.max.to_string().into()));
        }
    }
}

#[test]
fn limits_of_the_wrong_kind() {
    insta::assert_snapshot!(finfo(DType::I32).unwrap_err(), @r"
    error[dtype]: finfo: i32 is not a floating-point dtype
      accepted: bf16 f16 f32 f64 c64 c128
      help: limits of integers are `iinfo`'s
    ");
    insta::assert_snapshot!(iinfo(DType::F32).unwrap_err(), @r"
    error[dtype]: iinfo: f32 is not an integer dtype
      accepted: u8 u16 u32 u64 i8 i16 i32 i64
      help: limits of floats are `finfo`'s
    ");
    insta::assert_snapshot!(iinfo(DType::C64).unwrap_err(), @r"
    error[dtype]: iinfo: c64 is not an integer dtype
      accepted: u8 u16 u32 u64 i8 i16 i32 i64
      help: limits of floats are `finfo`'s
    ");
    insta::assert_snapshot!(iinfo(DType::Bool).unwrap_err(), @r"
    error[dtype]: iinfo: bool is not an integer dtype
      accepted: u8 u16 u32 u64 i8 i16 i32 i64
      help: a bool is `false` or `true`; its limits as a number are 0 and 1
    ");
    insta::assert_snapshot!(finfo(DType::Bool).unwrap_err(), @r"
    error[dtype]: finfo: bool is not a floating-point dtype
      accepted: bf16 f16 f32 f64 c64 c128
      help: a bool is `false` or `true`; its limits as a number are 0 and 1
    ");
}

/// The integers of a dtype that are hardest to represent: the most digits and the widest range.
fn edges(dtype: DType) -> Vec<i128> {
    let (min, max) = dtype.int_range().unwrap();
    [min, min + 1, 0, 1, max - 1, max].into()
}

#[test]
fn holds_is_that_no_value_changes() {
    // An integer `n` survives in a float of `digits` digits if its odd part has no more; no format here is too narrow in range.
    let survives = |n: i128, to: DType| match to.int_range() {
        Some((min, max)) => (min..=max).contains(&n),
        None => {
            let magnitude = n.unsigned_abs();
            let odd = magnitude >> magnitude.trailing_zeros().min(127);
            128 - odd.leading_zeros() <= to.digits() && magnitude as f64 <= finfo(to).unwrap().max
        }
    };
    for from in DType::ALL {
        for to in DType::ALL {
            let want = match (finfo(from), finfo(to)) {
                (Err(_), _) => edges(from).into_iter().all(|n| survives(n, to)),
                (Ok(_), Err(_)) => false,
                (Ok(from_info), Ok(to_info)) => {
                    let parts = to.is_complex() || !from.is_complex();
                    let range =
                        to_info.max >= from_info.max && to_info.smallest_subnormal <= from_info.smallest_subnormal;
                    parts && range && to_info.mantissa_digits >= from_info.mantissa_digits
                }
            };
            assert_eq!(to.holds(from), want, "{to} holds {from}");
        }
    }
}

#[test]
fn casting_is_numpys() {
    let file = golden("numpy2");
    let mut listed = Vec::new();
    let mut compared = 0;
    for (mode, rows) in file["can_cast"].as_object().unwrap() {
        let casting = match mode.as_str() {
            // Another byte order, which elements do not have.
            "equiv" => Casting::No,
            _ => Casting::ALL.into_iter().find(|casting| casting.name() == mode).unwrap(),
        };
        for (from, row) in DType::ALL.into_iter().zip(rows.as_array().unwrap()) {
            for (to, cell) in DType::ALL.into_iter().zip(row.as_str().unwrap().chars()) {
                compared += 1;
                let ours = casting.allows(from, to);
                if ours != (cell == '1') {
                    listed.push(format!("{from} -> {to} {casting}: {ours} here"));
                }
            }
        }
    }
    println!("can_cast: {compared} cells compared, {} equal", compared - listed.len());
    assert_eq!(compared, 5 * 15 * 15);
    // ml_dtypes registers its casts pair by pair; these three go against the order of kinds that all others follow.
    insta::assert_snapshot!(listed.join("\n"), @r"
    bf16 -> f16 same_kind: true here
    c64 -> bf16 same_kind: false here
    c128 -> bf16 same_kind: false here
    ");
}

#[test]
fn each_casting_mode_allows_what_those_before_it_do() {
    for from in DType::ALL {
        for to in DType::ALL {
            let allowed = Casting::ALL.map(|casting| casting.allows(from, to));
            assert!(allowed.is_sorted(), "{from} -> {to}: {allowed:?}");
        }
    }
}

#[test]
fn names_of_other_libraries_are_refused_with_ours() {
    let help = |name: &str| name.parse::<DType>().unwrap_err().help_text().unwrap_or_default().to_owned();
    assert_eq!(help("half"), "write `f16`");
    assert_eq!(help("np.double"), "write `f64`");
    assert_eq!(help("torch.float16"), "write `f16`");
    assert_eq!(help("jnp.bfloat16"), "write `bf16`");
    // Two sizes: NumPy's is c128, PyTorch's c64.
    assert_eq!(help("cfloat"), "long names such as `float32` are read too");
}
