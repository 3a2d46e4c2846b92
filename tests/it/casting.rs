//! Devices, declarations and casting modes for users: errors, casts, graphs, results.

use insta::assert_snapshot;
use ndjit::*;

/// Text with the file's name only: paths are machine-dependent.
fn text(of: impl ToString) -> String {
    of.to_string().replace(file!(), "casting.rs")
}

/// The same without lines: errors of a scope have the scope's place too.
fn unplaced(of: impl ToString) -> String {
    let parts: Vec<String> = text(of).split("casting.rs:").map(str::to_owned).collect();
    let rest = parts[1..].iter().map(|p| p.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'));
    parts[..1].iter().map(String::as_str).chain(rest).collect::<Vec<_>>().join("casting.rs")
}

fn halves(values: &[f32]) -> Array {
    Array::from(values.iter().map(|&v| f16::from_f32(v)).collect::<Vec<_>>())
}

/// Torch of Ivy's examples, with `exp` instead of `expm1`.
fn torch() -> Device {
    Device::describe("torch")
        .invalid(
            [DType::U16, DType::U32, DType::U64],
            "torch has no such types",
            "https://docs.pytorch.org/docs/stable/tensors.html",
        )
        .unsupported(
            [Op::Exp],
            DTypeSet::COMPLEX | DType::F16,
            "declared for expm1 by Ivy",
            "https://docs.ivy.dev/overview/deep_dive/data_types.html",
        )
        .register()
        .unwrap()
}

/// `torch` without bf16 as well.
fn no_bf16() -> Device {
    Device::describe("no_bf16")
        .invalid(DType::Bf16, "made up", "https://example.org")
        .unsupported([Op::Exp], DType::F16, "made up", "https://example.org")
        .register()
        .unwrap()
}

fn error(array: &Array) -> Error {
    array.eval().unwrap_err().clone()
}

#[test]
fn exp_of_f16_where_the_device_does_not_do_it() {
    let x = halves(&[1.0]);
    assert_snapshot!(unplaced(error(&with_device(torch(), || exp(&x)))), @r"
    error[dtype]: exp: f16 is not supported on the device torch
      at casting.rs
      x: f16[1] held as data
      because: declared for expm1 by Ivy (https://docs.ivy.dev/overview/deep_dive/data_types.html)
      supported: bf16 f32 f64
      help: cast explicitly: `cast(&x, DType::F32)`; or `with_casting(CastingModes::UP, || …)` casts to f32
    ");
    let up = with_device(torch(), || with_casting(CastingModes::UP, || exp(&x)));
    assert_eq!(up.dtype(), DType::F32);
    assert_eq!(up.to_vec::<f32>().unwrap(), exp(x.cast(DType::F32)).to_vec::<f32>().unwrap());
    let all = with_device(torch(), || with_casting(CastingModes::ALL, || exp(&x)));
    assert_eq!(all.to_vec::<f32>().unwrap(), up.to_vec::<f32>().unwrap());
    // Without a candidate it is the usual error: f16 has no narrower float, and complex dtypes keep their parts.
    let down = with_device(no_bf16(), || with_casting(CastingModes::DOWN, || exp(&x)));
    assert_snapshot!(unplaced(error(&down)), @r"
    error[dtype]: exp: f16 is not supported on the device no_bf16
      at casting.rs
      x: f16[1] held as data
      because: made up (https://example.org)
      supported: f32 f64 c64 c128
      help: cast explicitly: `cast(&x, DType::F32)`; or `with_casting(CastingModes::UP, || …)` casts to f32
    ");
    let complex = Array::from([Complex::new(1.0f32, 2.0)]);
    let complex = with_device(torch(), || with_casting(CastingModes::ALL, || exp(&complex)));
    assert_snapshot!(unplaced(error(&complex)), @r"
    error[dtype]: exp: c64 is not supported on the device torch
      at casting.rs
      x: c64[1] held as data
      because: declared for expm1 by Ivy (https://docs.ivy.dev/overview/deep_dive/data_types.html)
      supported: bf16 f32 f64
      help: cast to a dtype that is supported
    ");
}

#[test]
fn integer_ops_of_floats() {
    let x = halves(&[5.0, 2.7]);
    assert_snapshot!(unplaced(error(&(&x ^ &x))), @"
    error[dtype]: bitwise_xor: f16 is not supported
      at casting.rs
      x: f16[2] held as data
      y: f16[2] held as data
      because: it is about the bits of integers (https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.bitwise_xor.html)
      accepted: bool u8 u16 u32 u64 i8 i16 i32 i64
      help: powers are `pow(x, y)`, `^` is about bits; a cast truncates: `cast(&x, DType::I16)` for both operands; or `with_casting(CastingModes::CROSS, || …)` casts to i32
    ");
    let cross = with_casting(CastingModes::CROSS, || &x ^ 1);
    assert_eq!((cross.dtype(), cross.to_vec::<i32>().unwrap()), (DType::I32, vec![4, 3]));
    for modes in [CastingModes::UP, CastingModes::DOWN] {
        assert_eq!(error(&with_casting(modes, || &x ^ &x)).code(), ErrorCode::DType);
    }
    let wide = Defaults { int: DType::I64, ..Defaults::BITS_32 };
    let wide = with_defaults(wide, || with_casting(CastingModes::CROSS, || &x ^ &x)).unwrap();
    assert_eq!(wide.to_vec::<i64>().unwrap(), [0, 0]);
    // One operand is enough: operands are promoted first.
    let mixed = with_casting(CastingModes::CROSS, || &x ^ Array::from([1i32, 1]));
    assert_eq!(mixed.to_vec::<i32>().unwrap(), [4, 3]);
    // Scalars are cast as a last resort.
    let number = with_casting(CastingModes::CROSS, || &x ^ 1.5);
    assert_eq!(number.to_vec::<i32>().unwrap(), [4, 3]);
}

#[test]
fn integers_that_modes_cast_fit() {
    let a = asarray(3);
    let bytes = Restriction::supported(DType::I8).unwrap();
    let (sum, fits) = restrict_dtypes(bytes, || with_casting(CastingModes::DOWN, || (&a + 1000, &a + 100)));
    assert_snapshot!(unplaced(error(&sum)), @r"
    error[literal]: add: literal 1000 does not fit i8
      at casting.rs
      x: i*[] held as data
      y: i* (literal 1000)
      i8 holds -128 to 127
      help: cast the other operand to a wider dtype, for example `.cast(DType::I16)`
    ");
    assert_eq!(fits.to_vec::<i8>().unwrap(), [103]);
    // In a trace, as a literal or an argument.
    let traced = |args: Result<Array>| unplaced(args.unwrap_err());
    let under = |f: &dyn Fn() -> Result<Array>| restrict_dtypes(bytes, || with_casting(CastingModes::DOWN, f));
    let (written, passed) = (jit(|x| x + 1000), jit(|x, k| x + k));
    assert_snapshot!(traced(under(&|| written.call((&a,)))), @r"
    error[literal]: add: literal 1000 does not fit i8
      at casting.rs
      x: i*[] from argument 0
      y: i* (literal 1000)
      i8 holds -128 to 127
      called at casting.rs
      help: cast the other operand to a wider dtype, for example `.cast(DType::I16)`
    ");
    assert_snapshot!(traced(under(&|| passed.call((&a, 1000)))), @r"
    error[literal]: call: literal 1000 does not fit i8
      at casting.rs
      number: i* (1000 from argument 1)
      i8 holds -128 to 127
      called at casting.rs
      help: cast the other operand to a wider dtype, for example `.cast(DType::I16)`
    ");
    assert_eq!(under(&|| passed.call((&a, 100))).unwrap().to_vec::<i8>().unwrap(), [103]);
}

#[test]
fn cosines_of_integers_need_no_cast() {
    let x = Array::from([0i32, 1]);
    assert_eq!(cos(&x).to_vec::<f32>().unwrap(), [1.0, 0.540_302_3]);
    assert_eq!(supported_dtypes(Op::Cos, None), DTypeSet::FLOAT | DTypeSet::COMPLEX);
}

#[test]
fn casts_stand_in_the_graph_with_their_mode() {
    let f = jit(|x, y| exp(x) * y);
    let specs = [spec(DType::F16, [3]), spec(DType::F16, [3])];
    let traced = with_device(torch(), || with_casting(CastingModes::UP, || f.trace(&specs))).unwrap();
    let adapted = traced.lower().unwrap();
    assert_snapshot!(unplaced(adapted.explain(Stage::Graph)), @r"
    graph (%0: f16[3], %1: f16[3]) {
      %2 = cast[up] %0 : f32[3]  ; casting.rs
      %3 = exp %2 : f32[3]  ; casting.rs
      %4 = multiply %3, %1 : f32[3]  ; casting.rs
      return %4
    }
    ");
    // After commit only comments distinguish them from explicit casts, and kernels are the same.
    let written = jit(|x: Expr, y| exp(x.cast(DType::F32)) * y).trace(&specs).unwrap().lower().unwrap();
    for stage in [Stage::Typed, Stage::Simplified, Stage::Kernels, Stage::Loops, Stage::Clif] {
        let bare = |text: String| {
            text.lines().map(|line| line.split("  ;").next().unwrap_or_default().to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(bare(adapted.explain(stage)), bare(written.explain(stage)));
    }
}

#[test]
fn functions_keep_the_modes_of_their_call_and_their_own_win() {
    let x = halves(&[1.0, 3.0]);
    let f = jit(|x| x ^ 1);
    assert!(f.call((&x,)).is_err());
    let y = with_casting(CastingModes::CROSS, || f.call((&x,))).unwrap();
    assert_eq!(y.to_vec::<i32>().unwrap(), [0, 2]);
    assert!(f.call((&x,)).is_err(), "the plan of another mode is not taken");
    let own = jit(|x| x ^ 1).with_casting(CastingModes::CROSS);
    assert_eq!(own.call((&x,)).unwrap().to_vec::<i32>().unwrap(), [0, 2]);
    let strict = jit(|x| x ^ 1).with_casting(CastingModes::ERROR);
    assert!(with_casting(CastingModes::CROSS, || strict.call((&x,))).is_err());
    let inlined = jit(move |x| own.inline((x + 1,)));
    assert_eq!(inlined.call((&x,)).unwrap().to_vec::<i32>().unwrap(), [3, 5]);
}

#[test]
fn dtypes_a_device_lacks() {
    let x = Array::from([1u16]);
    assert_snapshot!(unplaced(error(&with_device(torch(), || &x + 1))), @r"
    error[dtype]: add: the device torch has no u16
      at casting.rs
      x: u16[1] held as data
      y: i* (literal 1)
      because: torch has no such types (https://docs.pytorch.org/docs/stable/tensors.html)
      supported: bool u8 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      help: cast explicitly: `cast(&x, DType::U8)`; u8 keeps 8 binary digits, u16 has 16; or `with_casting(CastingModes::DOWN, || …)` casts to u8
    ");
    assert_snapshot!(unplaced(error(&with_device(torch(), || x.cast(DType::U32)))), @r"
    error[dtype]: cast: the device torch has no u32
      at casting.rs
      because: torch has no such types (https://docs.pytorch.org/docs/stable/tensors.html)
      supported: bool u8 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      help: ask for one that is supported
    ");
    assert_snapshot!(unplaced(error(&with_device(torch(), || dtype(DType::U16).zeros(2)))), @r"
    error[dtype]: zeros: the device torch has no u16
      at casting.rs
      because: torch has no such types (https://docs.pytorch.org/docs/stable/tensors.html)
      supported: bool u8 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      help: ask for one that is supported
    ");
    let in_a_trace = jit(|x: Expr| x.cast(DType::U32));
    assert!(with_device(torch(), || in_a_trace.call((&Array::from([1u8]),))).is_err());
    let x = Array::from([1u8, 255]);
    let y = with_device(torch(), || &x + 1);
    assert_eq!(y.to_vec::<u8>().unwrap(), [2, 0]);
    assert_eq!((device(), casting()), (None, CastingModes::ERROR));
}

#[test]
fn declarations_of_scopes() {
    let no_complex = Restriction::unsupported(DTypeSet::COMPLEX | DType::F64);
    let (x, wide) = (Array::from([1.0f32]), Array::from([1.0f64]));
    let (inside, refused) = restrict_dtypes(no_complex, || (&x + 1, &wide + 1));
    assert!(inside.eval().is_ok());
    assert_snapshot!(unplaced(error(&refused)), @"
    error[dtype]: add: f64 is not supported here
      at casting.rs
      x: f64[1] held as data
      y: i* (literal 1)
      declared: unsupported f64 c64 c128, at casting.rs
      supported: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32
      help: cast explicitly: `cast(&wide, DType::F32)`; f32 keeps 24 binary digits, f64 has 53; or `with_casting(CastingModes::DOWN, || …)` casts to f32
    ");
    assert!((&wide + 1).eval().is_ok(), "the scope ended");
    // An op's dtype of computation counts as well as its operands, and conditions do not.
    let ints = Restriction::supported(DTypeSet::INT).unwrap();
    let i = Array::from([4i32]);
    let (half, chosen) = restrict_dtypes(ints, || (&i / 2, where_(&x, &i, 0)));
    assert_snapshot!(unplaced(error(&half)), @r"
    error[dtype]: divide: f32 is not supported here
      at casting.rs
      x: i32[1] held as data
      y: i* (literal 2)
      declared: supported u8 u16 u32 u64 i8 i16 i32 i64, at casting.rs
      supported: nothing that divide computes in
      help: use another operation, or support a dtype that this one computes in
    ");
    assert_eq!(chosen.to_vec::<i32>().unwrap(), [4]);
    let down = restrict_dtypes(no_complex, || with_casting(CastingModes::DOWN, || &wide * &x));
    assert_eq!(down.dtype(), DType::F32);
    // Functions called in the scope are subject to it.
    let f = jit(|x| x + 1);
    assert!(f.call((&wide,)).is_ok());
    assert!(restrict_dtypes(no_complex, || f.call((&wide,))).is_err());
}

#[test]
fn declarations_of_functions() {
    // Ivy's frontend `trace`: no halves, integers as i64.
    let no_halves = Restriction::unsupported([DType::F16, DType::Bf16]);
    let f = jit(|x: Expr| if x.dtype().is_int() { x.cast(DType::I64) } else { x }).restrict_dtypes(no_halves);
    assert_eq!(f.call((&Array::from([1i8]),)).unwrap().dtype(), DType::I64);
    assert_eq!(f.call((&Array::from([1.0f32]),)).unwrap().dtype(), DType::F32);
    assert!(f.call((2.0,)).is_ok());
    assert_snapshot!(unplaced(f.call((&halves(&[1.0]),)).unwrap_err()), @r"
    error[dtype]: call: argument 0: f16 is not supported here
      at casting.rs
      declared: unsupported bf16 f16, at casting.rs
      supported: bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 c64 c128
      help: pass the argument cast: `cast(x, DType::F32)`; or `with_casting(CastingModes::UP, || …)` casts to f32
    ");
    let cast = f.with_casting(CastingModes::UP);
    assert_eq!(cast.call((&halves(&[1.5]),)).unwrap().to_vec::<f32>().unwrap(), [1.5]);
    assert_snapshot!(unplaced(cast.explain(Stage::Graph)), @r"
    graph (%0: f16[1]) {
      %1 = cast[up] %0 : f32[1]  ; casting.rs
      return %1
    }
    ");
    let ints = Restriction::supported(DTypeSet::INT).unwrap();
    let refused = jit(|x| x + 1).restrict_dtypes(ints).call((&Array::from([Complex::new(1.0f32, 0.0)]),));
    assert_snapshot!(unplaced(refused.unwrap_err()), @r"
    error[dtype]: call: argument 0: c64 is not supported here
      at casting.rs
      declared: supported u8 u16 u32 u64 i8 i16 i32 i64, at casting.rs
      supported: u8 u16 u32 u64 i8 i16 i32 i64
      help: pass an argument of a supported dtype
    ");
}

#[test]
fn functions_infer_their_support() {
    let f = jit(|x, k| exp(x) * floor(k));
    let specs = [spec(DType::F32, [3]), Spec::number(Weak::Float)];
    let inferred = with_device(torch(), || f.trace(&specs)).unwrap().inferred_dtypes().unwrap();
    let lines: Vec<String> = inferred.unsupported.iter().map(unplaced).collect();
    assert_snapshot!(format!("{}\n{}", inferred.supported, lines.join("\n")), @r"
    bool u8 i8 i16 i32 i64 bf16 f32 f64
    u16: torch has no u16: torch has no such types
    u32: torch has no u32: torch has no such types
    u64: torch has no u64: torch has no such types
    f16: torch does not do exp in f16: declared for expm1 by Ivy, at casting.rs
    c64: torch does not do exp in c64: declared for expm1 by Ivy, at casting.rs
    c128: torch does not do exp in c128: declared for expm1 by Ivy, at casting.rs
    ");
    // A composed function supports the dtypes supported by both.
    let (no_complex, ints) = (jit(|x| floor(x)), jit(|x| x ^ x));
    let both = jit(move |x| ints.inline((no_complex.inline((x,)),)));
    let supported = both.trace(&[spec(DType::I32, [3])]).unwrap().supported_dtypes().unwrap();
    assert_eq!(supported, DTypeSet::BOOL | DTypeSet::INT);
}

/// The dtypes that traces report as supported: those that can be traced, inferred from any of them; and the reasons.
fn inferred(trace: impl Fn(DType) -> Result<Inferred>) -> String {
    let inferred = trace(DType::F32).unwrap();
    for dtype in DType::ALL {
        match (trace(dtype), inferred.supported.contains(dtype)) {
            (Ok(other), true) => assert_eq!(other, inferred, "{dtype}"),
            (Err(_), false) => {}
            (traced, supported) => panic!("{dtype}: supported {supported}, {traced:?}"),
        }
    }
    let reasons: Vec<String> = inferred.unsupported.iter().map(unplaced).collect();
    format!("{}\n{}", inferred.supported, reasons.join("\n"))
}

macro_rules! inferred {
    ($f:expr) => {{
        let f = $f;
        inferred(|dtype| f.trace(&[spec(dtype, [1])])?.inferred_dtypes())
    }};
}

#[test]
fn inner_declarations_and_devices_count() {
    let no_halves = Restriction::unsupported([DType::F16, DType::Bf16]);
    let g = jit(|x| x + 1).restrict_dtypes(no_halves);
    assert_snapshot!(inferred!(jit(move |x| g.inline((x,)))), @r"
    bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 c64 c128
    bf16: declared unsupported, at casting.rs
    f16: declared unsupported, at casting.rs
    ");
    // The passed dtype counts, not the caller's; nested calls and captured arrays change nothing.
    let g = jit(|x| x + 1).restrict_dtypes(Restriction::unsupported(DType::F64));
    let (hidden, twice) = (Array::from([1.0f32]), jit(move |x| g.inline((g.inline((x / 2,)),))));
    assert_snapshot!(inferred!(jit(move |x| twice.inline((where_(&hidden, x, x),)))), @r"
    bool u8 u16 u32 i8 i16 i32 bf16 f16 f32 c64 c128
    u64: f64 is passed to a function, which is declared unsupported, at casting.rs
    i64: f64 is passed to a function, which is declared unsupported, at casting.rs
    f64: declared unsupported, at casting.rs
    ");
    // Scopes and devices inside the function apply to its operations, and to functions called there.
    let scope = Restriction::supported(DTypeSet::FLOAT).unwrap();
    assert_snapshot!(inferred!(jit(move |x| restrict_dtypes(scope, || x + x) * 2)), @r"
    bf16 f16 f32 f64
    bool: add takes bool, which is declared unsupported, at casting.rs
    u8: add takes u8, which is declared unsupported, at casting.rs
    u16: add takes u16, which is declared unsupported, at casting.rs
    u32: add takes u32, which is declared unsupported, at casting.rs
    u64: add takes u64, which is declared unsupported, at casting.rs
    i8: add takes i8, which is declared unsupported, at casting.rs
    i16: add takes i16, which is declared unsupported, at casting.rs
    i32: add takes i32, which is declared unsupported, at casting.rs
    i64: add takes i64, which is declared unsupported, at casting.rs
    c64: add takes c64, which is declared unsupported, at casting.rs
    c128: add takes c128, which is declared unsupported, at casting.rs
    ");
    let h = jit(|x| exp(x));
    assert_snapshot!(inferred!(jit(move |x| with_device(torch(), || h.inline((x,))))), @r"
    bool u8 i8 i16 i32 i64 bf16 f32 f64
    u16: exp takes u16; torch has no u16: torch has no such types, at casting.rs
    u32: exp takes u32; torch has no u32: torch has no such types, at casting.rs
    u64: exp takes u64; torch has no u64: torch has no such types, at casting.rs
    f16: torch does not do exp in f16: declared for expm1 by Ivy, at casting.rs
    c64: torch does not do exp in c64: declared for expm1 by Ivy, at casting.rs
    c128: torch does not do exp in c128: declared for expm1 by Ivy, at casting.rs
    ");
    let no_bool = Device::describe("no_bool").invalid(DType::Bool, "made up", "https://example.org");
    let no_bool = no_bool.register().unwrap();
    let f = jit(move |x: Expr| x.less(with_device(no_bool, || x + x)));
    assert_snapshot!(inferred!(&f), @r"
    u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
    bool: add takes bool; no_bool has no bool: made up, at casting.rs
    ");
    let f = jit(move |x: Expr| with_device(no_bool, || x.less(x)));
    assert!(f.trace(&[spec(DType::F32, [1])]).is_err());
    // The same node recorded in two scopes is subject to both.
    let (ints, small) = (Restriction::unsupported(DTypeSet::INT), Restriction::unsupported(DType::F64));
    let both = jit(move |x| restrict_dtypes(ints, || x + x) * restrict_dtypes(small, || x + x));
    assert_snapshot!(inferred!(&both), @r"
    bool bf16 f16 f32 c64 c128
    u8: add takes u8, which is declared unsupported, at casting.rs
    u16: add takes u16, which is declared unsupported, at casting.rs
    u32: add takes u32, which is declared unsupported, at casting.rs
    u64: add takes u64, which is declared unsupported, at casting.rs
    i8: add takes i8, which is declared unsupported, at casting.rs
    i16: add takes i16, which is declared unsupported, at casting.rs
    i32: add takes i32, which is declared unsupported, at casting.rs
    i64: add takes i64, which is declared unsupported, at casting.rs
    f64: add takes f64, which is declared unsupported, at casting.rs
    ");
}

#[test]
fn declarations_of_a_function_all_hold() {
    let (floats, no_halves) = (Restriction::supported(DTypeSet::FLOAT).unwrap(), [DType::F16, DType::Bf16]);
    let f = jit(|x| x + 1).restrict_dtypes(floats).restrict_dtypes(Restriction::unsupported(no_halves));
    assert_snapshot!(inferred!(&f), @r"
    f32 f64
    bool: declared unsupported, at casting.rs
    u8: declared unsupported, at casting.rs
    u16: declared unsupported, at casting.rs
    u32: declared unsupported, at casting.rs
    u64: declared unsupported, at casting.rs
    i8: declared unsupported, at casting.rs
    i16: declared unsupported, at casting.rs
    i32: declared unsupported, at casting.rs
    i64: declared unsupported, at casting.rs
    bf16: declared unsupported, at casting.rs
    f16: declared unsupported, at casting.rs
    c64: declared unsupported, at casting.rs
    c128: declared unsupported, at casting.rs
    ");
    assert_snapshot!(unplaced(f.call((&Array::from([1i32]),)).unwrap_err()), @r"
    error[dtype]: call: argument 0: i32 is not supported here
      at casting.rs
      declared: supported bf16 f16 f32 f64, at casting.rs
      supported: f32 f64
      help: pass the argument cast: `cast(x, DType::F32)`; f32 keeps 24 binary digits, i32 has 31; or `with_casting(CastingModes::CROSS, || …)` casts to f32
    ");
    let f = f.with_casting(CastingModes::UP);
    assert_eq!(f.call((&halves(&[1.0]),)).unwrap().dtype(), DType::F32);
}

#[test]
fn results_that_a_device_lacks() {
    let device =
        Device::describe("no_singles").invalid(DType::F32, "made up", "https://example.org").register().unwrap();
    let x = Array::from([Complex::new(3.0f32, 4.0)]);
    assert_snapshot!(unplaced(error(&with_device(device, || abs(&x)))), @r"
    error[dtype]: abs: the device no_singles has no f32
      at casting.rs
      x: c64[1] held as data
      because: made up (https://example.org)
      abs gives f32 here
      supported: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f64 c128
      help: cast explicitly: `cast(&x, DType::C128)`; or `with_casting(CastingModes::UP, || …)` casts to c128
    ");
    let up = with_device(device, || with_casting(CastingModes::UP, || abs(&x)));
    assert_eq!(up.to_vec::<f64>().unwrap(), [5.0]);
}

/// Results keep the dtype of computation, predicates give bool, and a requested dtype is given or an error.
#[test]
fn nothing_is_cast_back() {
    let x = halves(&[1.0, 2.0]);
    let modes = |f: &dyn Fn() -> Array| with_device(torch(), || with_casting(CastingModes::ALL, f));
    assert_eq!(modes(&|| exp(&x)).dtype(), DType::F32);
    assert_eq!(with_casting(CastingModes::CROSS, || &x ^ &x).dtype(), DType::I32);
    let singles = Device::describe("singles_only")
        .unsupported(Op::ALL, [DType::F16, DType::Bf16, DType::F64], "made up", "https://example.org")
        .register()
        .unwrap();
    let less = with_device(singles, || with_casting(CastingModes::UP, || x.less(&x)));
    assert_eq!(less.to_vec::<bool>().unwrap(), [false, false]);
    assert_eq!(modes(&|| exp(&x).cast(DType::F16)).dtype(), DType::F16);
    assert_eq!(error(&modes(&|| x.cast(DType::U16))).headline(), "cast: the device torch has no u16");
    assert_eq!(error(&modes(&|| dtype(DType::U16).zeros(2))).headline(), "zeros: the device torch has no u16");
}

/// Casts by modes give the results of explicit casts, lazily and compiled, for every op that a mode affects.
#[test]
fn results_are_those_of_casts_by_hand() {
    let device = Device::describe("singles")
        .unsupported(Op::ALL, [DType::F16, DType::Bf16, DType::F64], "made up", "https://example.org")
        .register()
        .unwrap();
    let (x, wide) = (halves(&[1.0, -2.5, 0.0]), Array::from([0.5f64, 3.0, -1.0]));
    let run = |x: &Array, wide: &Array, down: CastingModes| {
        let wide = with_casting(down, || wide + 0);
        let f = jit(|x: Expr, y| (x * y + exp(x), minimum(x, y), x.less(y))).with_casting(CastingModes::UP);
        let lazy = with_casting(CastingModes::UP, || (x * &wide + exp(x), minimum(x, &wide), x.less(&wide)));
        (f.call((x, &wide)).unwrap(), lazy)
    };
    let (compiled, lazy) = with_device(device, || run(&x, &wide, CastingModes::DOWN));
    let (by_hand, _) = run(&x.cast(DType::F32), &wide.cast(DType::F32), CastingModes::ERROR);
    for (a, b) in [(&compiled.0, &by_hand.0), (&lazy.0, &by_hand.0), (&compiled.1, &by_hand.1), (&lazy.1, &by_hand.1)] {
        assert_eq!(a.to_vec::<f32>().unwrap(), b.to_vec::<f32>().unwrap());
    }
    assert_eq!(compiled.2.to_vec::<bool>().unwrap(), by_hand.2.to_vec::<bool>().unwrap());
    assert_eq!(lazy.2.to_vec::<bool>().unwrap(), by_hand.2.to_vec::<bool>().unwrap());
}
