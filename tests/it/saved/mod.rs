//! Saved programs: what they keep, damage, limits, and the files of releases.

mod golden;
mod random;
mod symbolic;

use ndjit::debug::{collect_debug_output, debug_print};
use ndjit::operand::Operand;
use ndjit::promotion::Table;
use ndjit::{
    Array, Complex, DType, Defaults, Error, ErrorCode, Expr, LoadLimits, Policy, Program, SourceLoc, Spec, Stage, Weak,
    bf16, spec, strong, weak, with_defaults, with_place, with_policy,
};
use ndjit_formats::saved::{SavedProgram, seal};

/// The headline, facts and help of an error.
fn error(made: Result<impl Sized, Error>) -> String {
    let error = made.map(drop).unwrap_err();
    error.to_string().lines().filter(|line| !line.contains("tests/it/saved")).collect::<Vec<_>>().join("\n")
}

/// The program, loaded: with the same text, inputs and bytes.
fn reloaded(program: &Program) -> Program {
    let bytes = program.to_bytes().unwrap();
    let loaded = Program::from_bytes(&bytes).unwrap_or_else(|error| panic!("{error}\n{program}"));
    assert_eq!(loaded.to_string(), program.to_string());
    assert_eq!((loaded.inputs(), loaded.results()), (program.inputs(), program.results()));
    assert_eq!((loaded.argument_names(), loaded.tree()), (program.argument_names(), program.tree()));
    assert!(loaded.to_bytes().unwrap() == bytes, "saved again, it is another file");
    loaded
}

/// The bytes of a program whose content another program changed.
fn changed(bytes: &[u8], change: impl FnOnce(&mut SavedProgram<'_>)) -> Vec<u8> {
    let mut saved = SavedProgram::decode(bytes).unwrap();
    change(&mut saved);
    saved.encode().unwrap()
}

#[test]
fn captured_arrays_are_kept() {
    let pending = Array::from([1i32, 2, 3]) * 2 + 1;
    let captured = [
        pending,
        Array::from([true, false, true]),
        Array::from([0.1f64, -0.0, f64::NAN]),
        Array::from([Complex::new(1.0f64, -2.0); 3]),
        Array::from([bf16::from_f32(1.5); 3]),
        Array::from_rows(&[[1u8, 2, 3]]).mt().reshape([3]),
    ];
    let program = Program::trace(&[spec(DType::F32, [3])], |p| captured.iter().map(|c| p[0] + c).collect()).unwrap();
    let loaded = reloaded(&program);
    let x = Array::from([1.0f32, 2.0, 3.0]);
    for (a, b) in program.call([&x]).unwrap().iter().zip(loaded.call([&x]).unwrap()) {
        assert_eq!((a.dtype(), a.to_bytes().unwrap()), (b.dtype(), b.to_bytes().unwrap()));
    }
    assert_eq!(loaded.captured_bytes(), program.captured_bytes());
}

#[test]
fn weak_arrays_stay_weak() {
    let offset = with_defaults(Defaults::BITS_64, || Array::scalar(weak(0.1)) + Array::scalar(weak(1))).unwrap();
    offset.eval().unwrap();
    assert!(offset.is_weak() && offset.dtype() == DType::F64);
    let program = Program::trace(&[spec(DType::F16, [1])], |p| vec![p[0] * &offset]).unwrap();
    let results = reloaded(&program).call([&Array::from([1.0f32]).cast(DType::F16)]).unwrap();
    assert_eq!(results[0].dtype(), DType::F16);
}

#[test]
fn the_policy_is_the_programs_own() {
    let wide = with_policy(Policy::NumPy2, || Program::trace(&[spec(DType::I32, [1])], |p| vec![p[0] / 2])).unwrap();
    assert_eq!(wide.results(), [spec(DType::F64, [1])]);
    let bytes = wide.to_bytes().unwrap();
    let loaded = with_policy(Policy::Strict, || Program::from_bytes(&bytes)).unwrap();
    assert_eq!(loaded.call([&Array::from([3])]).unwrap()[0].to_vec::<f64>().unwrap(), [1.5]);
    // The default dtypes of weak results, too.
    let weak_result = || Program::trace(&[Spec::number(Weak::Float)], |p| vec![p[0] * 2]).unwrap();
    let bytes = with_defaults(Defaults::BITS_64, || weak_result().to_bytes().unwrap()).unwrap();
    let results = Program::from_bytes(&bytes).unwrap().call([0.1]).unwrap();
    assert_eq!((results[0].dtype(), results[0].to_vec::<f64>().unwrap()), (DType::F64, vec![0.2]));
}

#[test]
fn policies_of_this_process_are_not_saved() {
    let joins = Table::from_fn(|a, b| (a == b).then_some(a));
    let own = Policy::new("only_equal", joins, Policy::Standard.rules()).unwrap();
    let program = with_policy(own, || Program::trace(&[spec(DType::F32, [1])], |p| vec![p[0] + p[0]])).unwrap();
    insta::assert_snapshot!(error(program.to_bytes()), @r"
    error[promotion]: save: the policy `only_equal` is known to this process alone
      help: trace the program under a built-in policy: `Policy::ALL` lists them
    ");
    // Nor loaded, though this process has them: others have others of this name.
    let bytes = Program::trace(&[spec(DType::F32, [1])], |p| vec![p[0] + p[0]]).unwrap().to_bytes().unwrap();
    let foreign = changed(&bytes, |saved| saved.policy = "only_equal".into());
    assert_eq!(Program::from_bytes(&foreign).unwrap_err().code(), ErrorCode::Io);
}

#[test]
fn names_prints_and_places_are_kept() {
    let place = SourceLoc { file: "<formula>", line: 1, column: 3 };
    let function = |p: &[Expr]| {
        let twice = with_place(place, || p[0] * p[1]);
        vec![debug_print("twice", twice) - 1]
    };
    let specs = [spec(DType::F32, [1]), Spec::number(Weak::Float)];
    let program = Program::trace(&specs, function).unwrap().with_names(["x", "k"]).unwrap().with_tree("(x, {k})");
    let loaded = reloaded(&program);
    assert_eq!(loaded.argument_names(), ["x", "k"]);
    assert_eq!(loaded.explain(Stage::Graph).unwrap(), program.explain(Stage::Graph).unwrap());
    assert!(loaded.explain(Stage::Graph).unwrap().contains("; <formula>:1:3"));
    let call = || loaded.call(&[Array::from([2.0f32]).operand(), weak(1.5).operand()]).unwrap();
    let (results, printed) = collect_debug_output(call);
    assert_eq!(results[0].to_vec::<f32>().unwrap(), [2.0]);
    assert!(format!("{printed:?}").contains("twice"), "{printed:?}");

    let plain = program.without_places();
    let text = reloaded(&plain).explain(Stage::Graph).unwrap();
    assert!(!text.contains(';'), "{text}");
    assert!(plain.to_bytes().unwrap().len() < loaded.to_bytes().unwrap().len());
}

#[test]
fn places_in_loops_and_branches_are_kept() {
    let body = |p: &[Expr]| {
        let (x, n) = (p[0], p[1]);
        let looped =
            ndjit::fori_loop(0, n, x, |i, x: Expr| ndjit::cond(i.gt(1), |x: Expr| x * 2, |x: Expr| x.sin(), x));
        vec![ndjit::grad(|x: Expr| (x * x.exp()).sum(..))(looped)]
    };
    let program = Program::trace(&[spec(DType::F64, [3]), spec(DType::I32, [])], body).unwrap();
    let loaded = reloaded(&program);
    let text = loaded.explain(Stage::Graph).unwrap();
    assert_eq!(text, program.explain(Stage::Graph).unwrap());
    assert!(text.contains("slope of"), "{text}");
    let arguments = [Array::from([0.5f64, 1.0, -2.0]), Array::from(3i32)];
    let bits = |program: &Program| program.call(&arguments).unwrap()[0].to_bytes().unwrap();
    assert_eq!(bits(&loaded), bits(&program));
}

#[test]
fn names_are_of_the_arguments() {
    let program = || Program::trace(&[spec(DType::F32, [1]), spec(DType::F32, [1])], |p| vec![p[0] - p[1]]).unwrap();
    insta::assert_snapshot!(error(program().with_names(["x"])), @r"
    error[arity]: names: the program takes 2 arguments, 1 names given
      help: give one for each of `Program::inputs`
    ");
    insta::assert_snapshot!(error(program().with_names(["x", "x"])), @r"
    error[argument]: names: `x` is not a new name
      help: names differ, and have at least a letter and no control characters
    ");
    assert!(!error(program().with_names(["x", "\u{1b}[2J"])).contains('\u{1b}'));
}

#[test]
fn every_changed_byte_is_an_error() {
    let offset = Array::from([7i16]);
    let program = Program::trace(&[spec(DType::I16, [1])], |p| vec![p[0] * 3 + &offset]).unwrap();
    let bytes = program.with_names(["x"]).unwrap().to_bytes().unwrap();
    let mut valid = 0;
    for at in 0..bytes.len() {
        assert!(Program::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        for bit in 0..8 {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            let error = Program::from_bytes(&other).unwrap_err();
            assert!(error.help_text().is_some(), "{error}");
            // With a right checksum: an error, or a program that is valid.
            seal(&mut other);
            if let Ok(loaded) = Program::from_bytes(&other) {
                reloaded(&loaded);
                valid += 1;
            }
        }
    }
    // Names, elements, literals, lines of places.
    assert!(valid > 100, "only {valid} programs");
}

#[test]
fn damage_is_explained() {
    let program = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2]).unwrap();
    let bytes = program.without_places().to_bytes().unwrap();
    let load = |bytes: &[u8]| error(Program::from_bytes(bytes));
    insta::assert_snapshot!(load(b"PK\x03\x04"), @r"
    error[io]: load: these bytes are no saved program
      help: `Program::save` writes one; the text of a graph is read with `Program::parse`
    ");
    insta::assert_snapshot!(load(&bytes[..bytes.len() - 1]), @r"
    error[io]: load: the program ends after 314 bytes
      its length is 315 bytes
      help: its end is missing: copy it again, or save it again
    ");
    let at = bytes.windows(8).position(|word| word == b"multiply").unwrap();
    let mut flipped = bytes.clone();
    flipped[at] ^= 1;
    insta::assert_snapshot!(load(&flipped), @r"
    error[io]: load: the checksum is wrong: some bytes have changed since the program was saved
      help: copy it again, or save it again
    ");
    let newer = changed(&bytes, |saved| {
        saved.opset = 3;
        saved.text = saved.text.replace("multiply", "wibble").into();
        saved.operation = "wibble".into();
        saved.least = "0.4.0".into();
        saved.writer = "0.5.2".into();
    });
    insta::assert_snapshot!(load(&newer), @r"
    error[io]: load: `wibble` needs opset 3, this ndjit has 1
      written by ndjit 0.5.2
      help: update ndjit: opset 3 is known from version 0.4.0 on
    ");
    let mut format = bytes.clone();
    format[8] = 2;
    insta::assert_snapshot!(load(&format), @r"
    error[io]: load: the program is saved in format 2, this ndjit reads formats up to 1
      help: update ndjit, or save the program with an older version
    ");
    let calling = "child @0 (%0: f32[2]) {\n  return %0\n}\ngraph (%0: f32[2]) calls @0 {\n  %1 = call @0(%0) : f32[2]\n  return %1\n}";
    insta::assert_snapshot!(load(&changed(&bytes, |saved| saved.text = calling.into())), @r"
    error[io]: load: not a valid program: it has calls or rules of derivatives, which are expanded
      help: `Program::save` writes valid ones; this one was made otherwise
    ");
    let wrong = |change: fn(&mut SavedProgram<'_>)| Program::from_bytes(&changed(&bytes, change)).unwrap_err().code();
    assert_eq!(wrong(|saved| saved.text = "graph (".into()), ErrorCode::Parse);
    assert_eq!(
        wrong(|saved| saved.text = saved.text.replace("f32[2]", "f64[2]").replacen("f64", "f32", 1).into()),
        ErrorCode::Verify
    );
    assert_eq!(wrong(|saved| saved.arguments.clear()), ErrorCode::Io);
    assert_eq!(wrong(|saved| saved.arguments.extend_from_within(..)), ErrorCode::Io);
    assert_eq!(wrong(|saved| saved.printed = vec![saved_print(); 2]), ErrorCode::Io);
    assert_eq!(wrong(|saved| saved.arguments[0].name = "\n".into()), ErrorCode::Io);
}

fn saved_print() -> ndjit_formats::saved::SavedPrint<'static> {
    ndjit_formats::saved::SavedPrint { label: "x".into(), file: "a.rs".into(), line: 1, column: 1 }
}

#[test]
fn large_programs_need_other_limits() {
    let captured = Array::from(vec![1u8; 1000]);
    let program = Program::trace(&[], |_| vec![Expr::from(&captured) + strong(1u8)]).unwrap().without_places();
    let bytes = program.to_bytes().unwrap();
    let limits = LoadLimits::default();
    insta::assert_snapshot!(error(Program::from_bytes_within(&bytes, limits.file(1000))), @r"
    error[size]: load: the program has 1322 bytes, the limit is 1000
      help: if you trust it, raise the limit: `LoadLimits::default().file(1322)`
    ");
    insta::assert_snapshot!(error(Program::from_bytes_within(&bytes, limits.memory(9000))), @r"
    error[size]: load: a call may take 13289 bytes, the limit is 9000
      arrays: 1001 bytes; operations: 3, of 4096 bytes each
      help: if you trust it, raise the limit: `LoadLimits::default().memory(13289)`
    ");
    Program::from_bytes_within(&bytes, limits.file(bytes.len()).memory(13289)).unwrap();
}

#[test]
fn small_files_of_large_programs_are_refused_quickly() {
    // Each branch has two equal branches: four billion operations.
    let mut text = "child @0 (%0: bool[], %1: f32[]) {\n  %2 = sin %1 : f32[]\n  return %2\n}\n".to_owned();
    for n in 1..=30 {
        let header = if n == 30 { "graph".to_owned() } else { format!("child @{n}") };
        let (below, operands) = (n - 1, "of [0, 1]");
        text += &format!(
            "{header} (%0: bool[], %1: f32[]) {{\n  $0 = cond true @{below} {operands} false @{below} {operands}\n"
        );
        text += "  %2 = cond $0 %0, %1 : f32[]\n  return %2\n}\n";
    }
    let small = Program::trace(&[spec(DType::Bool, []), spec(DType::F32, [])], |p| vec![p[1]]).unwrap();
    let bytes =
        changed(&small.without_places().to_bytes().unwrap(), |saved| saved.text = text.trim_end().to_owned().into());
    assert_eq!(Program::from_bytes(&bytes).unwrap_err().code(), ErrorCode::Size);
    // One array of a terabyte.
    let huge = "graph () {\n  %0 = iota axes [0, 1] : i64[1000000, 200000]\n  %1 = sort %0 axis 0 : i64[1000000, 200000]\n  return %1\n}";
    let none = Program::trace(&[], |_| vec![]).unwrap().without_places().to_bytes().unwrap();
    let error = Program::from_bytes(&changed(&none, |saved| saved.text = huge.into())).unwrap_err();
    assert_eq!((error.code(), error.help_text().is_some()), (ErrorCode::Size, true));
}

#[test]
fn files_replace_others() {
    let folder = std::env::temp_dir().join(format!("ndjit-saved-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("program.ndjit");
    let program = |factor: i32| Program::trace(&[spec(DType::I32, [1])], |p| vec![p[0] * factor]).unwrap();
    for factor in [2, 3] {
        program(factor).save(&path).unwrap();
        let results = Program::load(&path).unwrap().call([&Array::from([5])]).unwrap();
        assert_eq!(results[0].to_vec::<i32>().unwrap(), [5 * factor]);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no other file is left");
    let missing = Program::load(folder.join("other.ndjit")).unwrap_err();
    assert_eq!((missing.code(), missing.facts().len()), (ErrorCode::Io, 1));
    std::fs::write(&path, vec![0; 100]).unwrap();
    assert_eq!(Program::load_within(&path, LoadLimits::default().file(99)).unwrap_err().code(), ErrorCode::Size);
    std::fs::remove_dir_all(&folder).unwrap();
}
