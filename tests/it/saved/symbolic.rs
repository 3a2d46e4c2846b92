//! Programs whose extents have names: the program of each size is the one that is traced for it.

use super::{changed, error};
use ndjit::operand::Operand;
use ndjit::{Array, DType, ErrorCode, Expr, Program, SymbolicProgram, spec, weak};

type Function = fn(&[Expr]) -> Vec<Expr>;

/// Functions of `f32[n, m]`, `f32[m]` and `f32[n]`.
const FUNCTIONS: [(&str, Function); 14] = [
    ("arithmetic", |p| vec![p[0] * p[1] + 2, -p[2]]),
    ("standard score", |p| vec![(p[0] - p[0].mean(0)) / p[0].std(0), p[0].var(..)]),
    ("joins", |p| vec![ndjit::concat([p[1], p[2], p[1]], 0), ndjit::stack([p[1], p[1]], 0)]),
    ("slices", |p| vec![p[0].at((1.., ndjit::step(-1))).get(), p[1].at(-1).get()]),
    ("differences", |p| vec![ndjit::diff(p[1], 1, 0), p[2].roll(1, 0)]),
    ("products", |p| vec![ndjit::matmul(p[0], p[1]), ndjit::matmul(p[0], p[0].mt())]),
    ("scans", |p| vec![p[0].cumulative_sum(1), p[2].sort(0), p[1].argmax(0)]),
    ("stencil", |p| vec![p[2].at(..-2).get() + p[2].at(2..).get() - p[2].at(1..).get().at(..-1).get() * 2]),
    ("padding", |p| vec![ndjit::pad(p[1], 2, 0), ndjit::repeat(p[2], 2, 0)]),
    ("indices", |p| vec![p[2] * ndjit::arange(p[2].shape()[0])]),
    ("mean by hand", |p| vec![p[1].sum(0) / p[1].shape()[0]]),
    ("stores", |p| vec![p[0].at((.., 0)).set(p[2]), p[1].at(-1).add(1)]),
    ("loop", |p| vec![ndjit::scan(|c: Expr, x: Expr| (c + x, c.sin()), p[1], p[0]).1]),
    ("gradient", |p| {
        let loss = |w: Expr, x: Expr, y: Expr| ((ndjit::matmul(x, w) - y) * 2).tanh().sum(..);
        vec![ndjit::grad(loss)(p[1], p[0], p[2])]
    }),
];

fn arrays(n: usize, m: usize) -> [Array; 3] {
    let values = |count: usize| Array::from((0..count).map(|i| (i as f32 * 0.7).sin()).collect::<Vec<f32>>());
    [values(n * m).reshape([n, m]), values(m), values(n)]
}

#[test]
fn the_program_of_a_size_is_the_one_traced_for_it() {
    for (name, function) in FUNCTIONS {
        let symbolic = SymbolicProgram::trace(
            &["x: f32[n, m]", "f32[m]", "f32[n]"].map(|t| t.trim_start_matches("x: ")),
            function,
        );
        let symbolic = symbolic.unwrap_or_else(|error| panic!("{name}: {error}"));
        let loaded = SymbolicProgram::from_bytes(&symbolic.to_bytes().unwrap()).unwrap();
        assert_eq!((loaded.to_string(), loaded.input_types()), (symbolic.to_string(), symbolic.input_types()));
        for (n, m) in [(5, 4), (7, 6), (100, 33), (1000, 5), (2, 2), (1, 1)] {
            let specs = [spec(DType::F32, [n, m]), spec(DType::F32, [m]), spec(DType::F32, [n])];
            // Some are not defined for few elements.
            let Ok(traced) = Program::trace(&specs, function) else { continue };
            let program = loaded.with_sizes(&[n, m]).unwrap_or_else(|error| panic!("{name} of {n} and {m}: {error}"));
            // Views of one element are shared, so that small programs may have fewer operations when they are traced.
            if n > 2 && m > 2 {
                assert_eq!(program.to_string(), traced.to_string(), "{name} of {n} and {m}");
            }
            let arguments = arrays(n, m);
            let (expected, found) = (traced.call(&arguments).unwrap(), loaded.call(&arguments).unwrap());
            for (a, b) in expected.iter().zip(&found) {
                assert_eq!((a.shape(), a.to_bytes().unwrap()), (b.shape(), b.to_bytes().unwrap()), "{name}");
            }
        }
    }
}

#[test]
fn texts_have_names_for_extents() {
    let program = SymbolicProgram::trace(&["f32[rows, 3]"], |p| vec![p[0].at(1..).get()]).unwrap();
    insta::assert_snapshot!(program, @r"
    graph (%0: f32[rows, 3]) {
      %1 = view %0 (d0, d1) -> (d0 + 1, d1) : f32[<rows - 1>, 3]
      return %1
    }
    ");
}

#[test]
fn sizes_are_checked() {
    let program = SymbolicProgram::trace(&["x: f32[n, 3]", "y: f32[n]", "k: f*"], |p| vec![p[1] * p[2], p[0]]).unwrap();
    let [x, y, other] = [ndjit::ones([2, 3]), ndjit::ones(2), ndjit::ones(4)];
    let call = |x: &Array, y: &Array| program.call(&[x.operand(), y.operand(), weak(0.5).operand()]);
    assert_eq!(call(&x, &y).unwrap()[0].to_vec::<f32>().unwrap(), [0.5, 0.5]);
    insta::assert_snapshot!(error(call(&x, &other)), @r"
    error[argument]: call: the extent n has two sizes
      argument 0 `x`: f32[n, 3], n = 2
      argument 1 `y`: f32[n], n = 4
      help: extents of one name are of one size
    ");
    insta::assert_snapshot!(error(call(&y, &y)), @r"
    error[argument]: call: an argument is of another shape
      argument 0 `x`: f32[n, 3], given [2]
      help: extents with names have any size, the others are fixed
    ");
    // Another dtype.
    assert_eq!(call(&x, &y.cast(DType::F64)).unwrap_err().code(), ErrorCode::Argument);
    assert_eq!(program.call([&x]).unwrap_err().code(), ErrorCode::Arity);
}

#[test]
fn sizes_without_a_program_are_errors() {
    let program = SymbolicProgram::trace(&["f32[n]"], |p| vec![p[0].at(3..).get()]).unwrap();
    assert_eq!(program.call([&ndjit::ones(3)]).unwrap()[0].shape().extents(), [0]);
    let text = error(program.call([&ndjit::ones(2)]));
    assert!(text.starts_with("error[shape]: extents: there is no program for n = 2"), "{text}");
    assert_eq!(program.with_sizes(&[usize::MAX]).unwrap_err().code(), ErrorCode::Shape);
    assert_eq!(program.with_sizes(&[1 << 50]).unwrap_err().code(), ErrorCode::Size);
    assert_eq!(program.with_sizes(&[1, 2]).unwrap_err().code(), ErrorCode::Arity);
}

#[test]
fn programs_that_depend_on_sizes_are_refused() {
    let of = |function: Function| error(SymbolicProgram::trace(&["f32[n]"], function));
    let unrolled = of(|p| vec![(0..p[0].shape()[0]).fold(p[0], |x, _| x.sin())]);
    assert!(unrolled.contains("the number of its operations depends on the extents"), "{unrolled}");
    let reciprocal = of(|p| vec![p[0] * (1.0 / p[0].shape()[0] as f64)]);
    assert!(reciprocal.contains("for n = 211"), "{reciprocal}");
    let captured = of(|p| vec![p[0] + &Array::from(vec![1.0f32; p[0].shape()[0]])]);
    assert!(captured.contains("captured"), "{captured}");
    let failing = of(|p| vec![p[0].reshape([2, -1])]);
    assert!(failing.contains("the trace was for n = 211"), "{failing}");
}

#[test]
fn files_of_either_kind_say_what_loads_them() {
    let symbolic = SymbolicProgram::trace(&["f32[n]"], |p| vec![p[0] * 2]).unwrap();
    let fixed = Program::trace(&[spec(DType::F32, [2])], |p| vec![p[0] * 2]).unwrap();
    let of_symbolic = error(Program::from_bytes(&symbolic.to_bytes().unwrap()));
    assert!(
        of_symbolic.contains("its extents have names: n") && of_symbolic.contains("SymbolicProgram"),
        "{of_symbolic}"
    );
    let of_fixed = error(SymbolicProgram::from_bytes(&fixed.to_bytes().unwrap()));
    assert!(of_fixed.contains("load it as a `Program`"), "{of_fixed}");
}

#[test]
fn damaged_templates_are_errors() {
    let bytes = SymbolicProgram::trace(&["x: f32[n]"], |p| vec![p[0].at(1..).get()]).unwrap().to_bytes().unwrap();
    let load = |bytes: &[u8]| SymbolicProgram::from_bytes(bytes);
    let bad = changed(&bytes, |saved| saved.text = saved.text.replace("<n - 1>", "<n - m>").into());
    assert_eq!(load(&bad).unwrap_err().code(), ErrorCode::Parse);
    let bad = changed(&bytes, |saved| saved.inputs = vec!["f32[k]".into()]);
    assert_eq!(load(&bad).unwrap_err().code(), ErrorCode::Io);
    // Valid for the wrong types only.
    let bad = changed(&bytes, |saved| saved.inputs = vec!["f64[n]".into()]);
    assert_eq!(load(&bad).unwrap().with_sizes(&[3]).unwrap_err().code(), ErrorCode::Io);
    let bad = changed(&bytes, |saved| saved.text = saved.text.replace("<n - 1>", "<n + 1>").into());
    assert_eq!(load(&bad).unwrap().with_sizes(&[3]).unwrap_err().code(), ErrorCode::Shape);
}
