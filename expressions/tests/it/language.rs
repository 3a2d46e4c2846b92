//! Expressions: their values, printing and parsing, and texts that must not cause a panic.

use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Array, DType, Error, ErrorCode, Op, Reduction, Scan, Sort, Spec, spec};
use ndjit_expressions::{Budget, ExprFunction, MOST_NODES, functions, parse, trace};

/// Inputs of all tests in this file.
fn inputs() -> Vec<(&'static str, Array)> {
    vec![
        ("x", Array::from([0.0f64, 1.0, 2.0, 3.0, 4.0, 5.0])),
        ("y", Array::from_rows(&[[1i32, 2, 3], [4, 5, 6]])),
        ("u", Array::from([7u8, 200])),
        ("e", Array::from([true, false])),
    ]
}

fn compute(text: &str) -> Result<Array, Error> {
    let inputs = inputs();
    let specs: Vec<(&str, Spec)> = inputs.iter().map(|(name, array)| (*name, Spec::of(array))).collect();
    let program = trace(&parse(text).map_err(Error::from)?, &specs, &Budget::new(1 << 20))?;
    let operands: Vec<AnyOperand> = inputs.iter().map(|(_, array)| array.operand()).collect();
    Ok(program.call(&operands)?[0].clone())
}

/// The printed value of an expression.
fn shown(text: &str) -> String {
    compute(text).map_or_else(
        |error| format!("{text}: {error}"),
        |array| format!("{}{} {array}", array.value_type(), array.shape()).replace('\n', ""),
    )
}

#[test]
fn precedence_is_that_of_python() {
    let expected = [
        ("-x[2] ** 2", "f64[] -4."),
        ("2 ** 3 ** 2 + x[0]", "f64[] 512."),
        ("2 ** -x[1]", "f64[] 0.5"),
        ("x[5] - 3 - 1", "f64[] 1."),
        ("x[4] * 3 % 5", "f64[] 2."),
        ("1 + 2 * x[3]", "f64[] 7."),
        ("~(x > 2) & (x < 1)", "bool[6] [ true false false false false false]"),
        ("y[0] & 1 == 1", "bool[3] [ true false  true]"),
        ("1 | 6 ^ 2 & y[0]", "i32[3] [7 5 5]"),
        ("y[0] << 1 + 1", "i32[3] [ 4  8 12]"),
        ("x[1] < 2 == e[0]", "a comparison of a comparison: `==`"),
    ];
    for (text, expected) in expected {
        assert!(shown(text).contains(expected), "{text}: {}", shown(text));
    }
}

#[test]
fn operators_are_those_of_the_library() {
    let expected = [
        ("y / 2", "f32[2, 3] [[0.5 1.  1.5] [2.  2.5 3. ]]"),
        ("-7 // y[0]", "i32[3] [-7 -4 -3]"),
        ("-7 % y[0]", "i32[3] [0 1 2]"),
        ("u + 100", "u8[2] [107  44]"),
        ("u + -1", "does not fit"),
        ("x * 1j", "c128[6]"),
        // Arithmetic of bare numbers has 64 bits, as in Python.
        ("x[1] * (1 / 3) == x[1] / 3", "bool[] true"),
        ("x[1] * (-7 // 2) + 7 // -2 + -7 % 3 + 7 % -3", "f64[] -8."),
        ("pi * x[1] - 3.141592653589793", "f64[] 0."),
        ("x[1] * 10 ** -1 == 0.1", "bool[] true"),
        ("x[1] * (1 << 40) + (5 & 6 | 1 ^ 9) + (-9 >> 1)", "f64[] 1099511627783."),
        ("x[1] * (-10.5 % 3.0) + 10.5 // -3.0", "f64[] -2.5"),
        ("x[1] * 2 ** 128", "more than 64 bits"),
        ("full([2], 3000000000)", "3000000000 does not fit i32"),
        ("full([2], 300, dtype=u8)", "300 does not fit u8"),
        ("full([2], 300, dtype=i16)", "i16[2] [300 300]"),
        ("x[1] * (1 << 100)", "more than 64 bits"),
        ("x[1] * 3 ** 200", "more than 64 bits"),
        ("where(e, 1, 2.5)", "f*[2] [1.  2.5]"),
        ("+x[1]", "f64[] 1."),
    ];
    for (text, expected) in expected {
        assert!(shown(text).contains(expected), "{text}: {}", shown(text));
    }
}

#[test]
fn numbers_alone_are_those_of_python() {
    // `x[1]` is 1 in double precision.
    let expected = [
        ("x[1] * sqrt(2) == 2 ** 0.5 * x[1]", "bool[] true"),
        ("x[1] * exp(1) == e_ * x[1]", "there is no input `e_`"),
        ("x[1] * log(10) - 2.302585092994046", "f64[] 0."),
        ("x[1] * sin(pi / 6) - 0.49999999999999994", "f64[] 0."),
        ("x[1] * hypot(3, 4) + abs(3 + 4j) + (3 - 4j).real", "f64[] 13."),
        ("x[1] * 1j ** 2 + 0j", "c128[] -1."),
        ("x[1] * (2 + 1j) * (2 - 1j)", "c128[] 5."),
        ("x[1] * ((2 ** 100) // (2 ** 98) + 2 ** 100 % 7)", "f64[] 6."),
        ("x[1] * maximum(2, 3.5) + minimum(2, 3) + square(3) + abs(-3)", "f64[] 17.5"),
        ("x[1] * (gcd(12, -18) + lcm(4, 6) + ~5)", "f64[] 12."),
        ("x[1] * where(1 < 2, 0.1, 2) == 0.1", "bool[] true"),
        ("x[1] * (7.5 // -2 + 7.5 % -2)", "f64[] -4.5"),
        ("x[1] / 0 - 1 / 0 + (0 ** -1)", "f64[] nan"),
        ("x[1] * floor(2.5) + round(3.5) + trunc(-2.5)", "f64[] 4."),
        ("x[1] * sqrt(x.shape[0] - 4) == 2 ** 0.5", "bool[] true"),
        ("x[1] * (-2) ** 63 + abs((-2) ** 63)", "f64[] 0."),
        ("x[1] * (-1) ** (2 ** 40 + 1)", "f64[] -1."),
        // Results remain weak.
        ("u * (2 + 1)", "u8[2] [21 88]"),
        ("astype(x[1], f32) * sqrt(2)", "f32[] 1.4142135"),
        ("2 ** 200 * 1.5", "**: the integer has more than 64 bits"),
        ("astype(2 ** 63, u64)", "u64[] 9223372036854775808"),
        ("astype(2 ** 63, i64)", "9223372036854775808 does not fit i64"),
        ("clz(1)", "i*[] 31"),
    ];
    for (text, expected) in expected {
        assert!(shown(text).contains(expected), "{text}: {}", shown(text));
    }
}

#[test]
fn errors_stand_at_the_argument_that_is_wrong() {
    let expected = [
        ("sum(x, axis=1.5)", 13, "takes integers, given a float"),
        ("sum(x, axis=2)", 13, "there is no axis 2"),
        ("y.mean((0, 5))", 8, "there is no axis 5"),
        ("reshape(x, [4, 2])", 12, "reshape"),
        ("maximum(x, f32)", 12, "takes an array or a number, given a dtype"),
        ("f32 + x", 1, "takes an array or a number, given a dtype"),
        ("x + [1, 2]", 5, "takes an array or a number, given a list"),
        ("arange(0, 5, 0)", 14, "the step from 0 to 5 is 0"),
        ("linspace(0, 1, -3)", 16, "`num`: -3 is negative"),
        ("x[0, 1.5]", 6, "an index: takes an integer, given a float"),
        ("concat([x, f32])", 8, "takes an array or a number, given a dtype"),
        ("full([2], 300, dtype=u8)", 11, "300 does not fit u8"),
        ("x + sum(y, x=1)", 14, "`x` is given twice"),
        ("sin(1, 2)", 8, "takes 1 argument, 2 given"),
        ("astype(x, float33)", 11, "there is no dtype `float33`"),
        ("sum(x, dtype=np.f33)", 14, "there is no dtype `f33`"),
        ("x + 3000000000 * 4000000000000", 16, "more than 64 bits"),
        ("diff(x, 1000)", 9, "more than 100"),
        // The first error is reported, not its consequences.
        ("cumsum(x + y + y[0], axis=3)", 10, "do not broadcast"),
    ];
    for (text, column, expected) in expected {
        let error = compute(text).expect_err(text);
        assert!(error.headline().contains(expected), "{text}: {error}");
        assert_eq!(error.place().map(|place| place.column), Some(column), "{text}: {error}");
    }
}

#[test]
fn dtypes_have_the_names_of_numpy() {
    for name in ["f32", "float32", "np.float32", "numpy.float32", "'float32'", "\"f32\"", "jnp.float32"] {
        assert!(shown(&format!("astype(x[1], {name})")).starts_with("f32[] 1."), "{name}");
        assert!(shown(&format!("x.sum(dtype={name})")).starts_with("f32[] 15."), "{name}");
        assert!(shown(&format!("zeros([2], {name})")).starts_with("f32[2]"), "{name}");
    }
    // Ambiguous and unknown names.
    for (name, expected) in [
        ("f4", "write `f32`"),
        ("float", "write `f32` or `f64`"),
        ("'<f8'", "write `f64`"),
        ("np.float", "write `f32` or `f64`"),
        ("double", "write `f64`"),
        ("float46", "did you mean `float16`?"),
        ("x", "long names"),
    ] {
        let text = shown(&format!("astype(x, {name})"));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn names_are_suggested_that_are_near() {
    for (text, suggested) in [
        ("expml(x)", Some("`expm1`")),
        ("sine(x)", Some("`sin`")),
        ("x.shap", Some("`.shape`")),
        ("z + 1", None),
        ("xy + 1", None),
        ("q(x)", None),
    ] {
        let error = compute(text).expect_err(text);
        let help = error.help_text().unwrap_or_default();
        match suggested {
            Some(name) => assert!(help.contains(name), "{text}: {help}"),
            None => assert!(!help.contains("did you mean"), "{text}: {help}"),
        }
    }
    assert!(shown("z + 1").contains("the inputs are x, y, u, e"), "{}", shown("z + 1"));
}

#[test]
fn indices_are_those_of_numpy() {
    let expected = [
        ("x[1:4]", "[3] [1. 2. 3.]"),
        ("x[-2:]", "[2] [4. 5.]"),
        ("x[::-1]", "[6] [5. 4. 3. 2. 1. 0.]"),
        ("x[4:0:-2]", "[2] [4. 2.]"),
        ("x[5:1:-3]", "[2] [5. 2.]"),
        ("x[-1:-4:-1]", "[3] [5. 4. 3.]"),
        ("x[:-10:-2]", "[3] [5. 3. 1.]"),
        ("x[10:]", "[0] []"),
        ("x[3:1]", "[0] []"),
        ("x[1:3:-1]", "[0] []"),
        ("x[-100:2]", "[2] [0. 1.]"),
        ("y[1, ::2]", "[2] [4 6]"),
        ("y[..., 0]", "[2] [1 4]"),
        ("y[:, None, 1:][0]", "[1, 2] [[2 3]]"),
        ("y[..., ::-1][:, 0]", "[2] [3 6]"),
        ("x[y.shape[1] - 1]", "[] 2."),
        ("x[6]", "index 6 of axis 0, which has 6"),
        ("x[::0]", "step"),
        ("x[y]", "an index that is an array"),
    ];
    for (text, expected) in expected {
        assert!(shown(text).contains(expected), "{text}: {}", shown(text));
    }
}

#[test]
fn functions_are_those_of_numpy() {
    let expected = [
        ("sum(y)", "i32[] 21"),
        ("y.sum(axis=0, keepdims=True)", "i32[1, 3] [[5 7 9]]"),
        ("sum(y, (0, 1), dtype=f64)", "f64[] 21."),
        ("var(x, ddof=1)", "f64[] 3.5"),
        ("cumsum(x)", "f64[6] [ 0.  1.  3.  6. 10. 15.]"),
        ("cumulative_sum(x, include_initial=True)", "f64[7] [ 0.  0.  1.  3.  6. 10. 15.]"),
        ("x.reshape(2, -1)", "f64[2, 3] [[0. 1. 2.] [3. 4. 5.]]"),
        ("y.T", "i32[3, 2] [[1 4] [2 5] [3 6]]"),
        ("transpose(y, [1, 0])", "i32[3, 2] [[1 4] [2 5] [3 6]]"),
        ("arange(4) + arange(1, 9, 2)", "i32[4] [ 1  4  7 10]"),
        ("linspace(0, 1, 3, endpoint=False)", "[3] [0.         0.33333334 0.6666667 ]"),
        ("zeros([2]) + ones(2) + full((2,), 3)", "[2] [4. 4.]"),
        ("eye(2, dtype=i8)", "i8[2, 2] [[1 0] [0 1]]"),
        ("concat([x[:1], x[5:]])", "[2] [0. 5.]"),
        ("stack([x[:2], y[0, :2]], axis=1)", "f64[2, 2] [[0. 1.] [1. 2.]]"),
        ("roll(x, 1, axis=0)[0]", "[] 5."),
        ("astype(x[1], i8)", "i8[] 1"),
        ("x[1].astype(bool)", "bool[] true"),
        ("maximum(x, 2)[:2]", "[2] [2. 2.]"),
        ("arctan2(x[1], 1) == atan2(1.0, x[1])", "bool[] true"),
        ("y.ndim + y.size + x[0]", "[] 8."),
        ("zeros_like(y) + ones_like(y, dtype=f64)", "f64[2, 3] [[1. 1. 1.] [1. 1. 1.]]"),
        ("full_like(u, 3)", "u8[2] [3 3]"),
        ("full_like(y, x[5], dtype=f32)", "f32[2, 3] [[5. 5. 5.] [5. 5. 5.]]"),
        ("logspace(0, 2, 3, dtype=f64)", "f64[3] [  1.  10. 100.]"),
        ("diff(x * x)", "f64[5] [1. 3. 5. 7. 9.]"),
        ("diff(y, n=2, axis=1)", "i32[2, 1] [[0] [0]]"),
        ("diagonal(y, offset=1)", "i32[2] [2 6]"),
        ("trapezoid(x, dx=0.5)", "f64[] 6.25"),
        ("trapezoid(x, x * 2)", "f64[] 25."),
        ("mean(sliding_window(x, 3), axis=-1)", "f64[4] [1. 2. 3. 4.]"),
        ("pad(x[:2], 1)", "f64[4] [0. 0. 1. 0.]"),
        ("pad(y, [(0, 0), (1, 0)], constant_values=9)", "i32[2, 4] [[9 1 2 3] [9 4 5 6]]"),
        ("pad(x[:3], (2, 0), mode='reflect')", "f64[5] [2. 1. 0. 1. 2.]"),
        ("isclose(x[1], 1.000001) & ~isclose(x[1], 1.1) & isclose(x[1], 1.1, atol=0.2)", "bool[] true"),
        ("squeeze(y[None, :1])", "i32[3] [1 2 3]"),
        ("roll(y, 1)", "i32[2, 3] [[6 1 2] [3 4 5]]"),
        ("around(x[1] / 2) + fix(x[1] * 1.5)", "f64[] 1."),
    ];
    for (text, expected) in expected {
        assert!(shown(text).contains(expected), "{text}: {}", shown(text));
    }
}

#[test]
fn every_row_of_the_tables_can_be_called() {
    let all = functions();
    for op in Op::ALL {
        assert!(all.contains(&(op.name(), ExprFunction::Op(op))));
        // For f64, or a dtype that the op takes.
        let operands = vec!["y[0]"; op.arity()].join(", ");
        let made = trace(
            &parse(&format!("{}({operands})", op.name())).unwrap(),
            &[("y", spec(DType::I32, [2, 3]))],
            &Budget::new(0),
        );
        if let Err(error) = made {
            assert_eq!(error.code(), ErrorCode::DType, "{op}: {error}");
        }
    }
    let reductions = Reduction::ALL.map(|reduction| (reduction.name(), ExprFunction::Reduction(reduction)));
    let scans = Scan::ALL.map(|scan| (scan.name(), ExprFunction::Scan(scan)));
    let sorts = Sort::ALL.map(|sort| (sort.name(), ExprFunction::Sort(sort)));
    for function in [&reductions[..], &scans, &sorts].concat() {
        assert!(all.contains(&function));
        let text = shown(&format!("{}(x, axis=0)", function.0));
        assert!(!text.contains("error"), "{text}");
    }
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "a name has two meanings");
}

/// Pseudorandom numbers from a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// A random expression.
    fn expression(&mut self, depth: usize) -> String {
        const BINARY: [&str; 12] = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"];
        let leaf = depth == 0;
        match if leaf { self.below(2) } else { self.below(12) } {
            0 => self.one(&["x", "y", "u", "e", "pi", "x1", "None", "f32", "'f32'", "\"it's\""]).to_owned(),
            1 => self.one(&["0", "1", "2.5", "1e-3", ".5", "3.", "2j", "True", "0x1f", "1_000"]).to_owned(),
            2 => format!("({})", self.expression(depth - 1)),
            3 => format!("{}{}", self.one(&["-", "+", "~", "- "]), self.expression(depth - 1)),
            4 | 5 => {
                let (x, op, y) = (self.expression(depth - 1), self.one(&BINARY), self.expression(depth - 1));
                format!("{x} {op} {y}")
            }
            6 => {
                let (x, op, y) =
                    (self.expression(depth - 1), self.one(&["<", "<=", "==", "!=", ">"]), self.expression(0));
                format!("({x}) {op} {y}")
            }
            7 => format!(
                "{}({})",
                self.one(&["sin", "sum", "exp", "where", "abs", "squeeze", "diff", "zeros_like", "nothing"]),
                self.expression(depth - 1)
            ),
            8 => format!("maximum({}, y={})", self.expression(depth - 1), self.expression(depth - 1)),
            9 => format!("({}){}", self.expression(depth - 1), self.one(&[".T", ".sum(axis=0)", ".shape", ".real"])),
            10 => {
                let part = self.one(&[":", "0", "1:", "::-1", "..., 0", "None, :", ":-1:2", "-1"]);
                format!("({})[{part}]", self.expression(depth - 1))
            }
            _ => {
                let (x, y) = (self.expression(depth - 1), self.expression(depth - 1));
                self.one(&["[X, Y]", "(X, Y)", "[X]", "(Y,)", "[]"]).replace('X', &x).replace('Y', &y)
            }
        }
    }
}

#[test]
fn what_is_printed_reads_back_to_the_same() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut read = 0;
    for _ in 0..4000 {
        let text = random.expression(5);
        // Chained comparisons are rejected.
        let Ok(expression) = parse(&text) else { continue };
        read += 1;
        let printed = expression.to_string();
        let again = parse(&printed).unwrap_or_else(|problem| panic!("{text}\n{printed}\n{problem:?}"));
        assert_eq!(expression, again, "{text}\n{printed}");
        assert_eq!(printed, again.to_string(), "{text}");
    }
    assert!(read > 3000, "only {read} of the texts were read");
}

#[test]
fn no_text_makes_the_reader_panic() {
    const WORDS: [&str; 40] = [
        "x",
        "y",
        "(",
        ")",
        "[",
        "]",
        ",",
        ":",
        ".",
        "...",
        "**",
        "*",
        "-",
        "+",
        "~",
        "<",
        "==",
        "=",
        "and",
        "None",
        "True",
        "1",
        "2.5",
        "1e",
        "1e400",
        "99999999999999999999999",
        "0x",
        "0b2",
        "3j",
        "é",
        "∞",
        "\u{0}",
        " ",
        "\t",
        "sum",
        "axis=",
        "//",
        "&&",
        "'",
        "𝔁",
    ];
    let mut random = Random(0xfeed_beef_1234_5671);
    for _ in 0..20_000 {
        let text: String = (0..random.below(14)).map(|_| random.one(&WORDS)).collect();
        if let Err(problem) = parse(&text) {
            assert!(
                problem.column >= 1 && problem.column as usize <= text.chars().count() + 1,
                "{text:?}: {problem:?}"
            );
        }
    }
    // Nesting that would overflow a call stack.
    for (open, middle, close) in
        [("(", "x", ")"), ("[", "x", "]"), ("-", "x", ""), ("sin(", "x", ")"), ("x[", "x", "]")]
    {
        let deep = |n: usize| open.repeat(n) + middle + &close.repeat(n);
        assert!(parse(&deep(900)).is_ok(), "{open}");
        let _ = parse(&deep(4000));
    }
    assert!(parse(&("x".to_owned() + &".T".repeat(900))).is_ok());
    assert!(parse(&("2**".repeat(900) + "x")).is_ok());
    assert!(parse(&("x+".repeat(MOST_NODES) + "x")).is_err());
}

#[test]
fn no_expression_makes_the_tracer_panic() {
    let mut random = Random(0x000d_dba1_10dd_ba11);
    let inputs = inputs();
    let specs: Vec<(&str, Spec)> = inputs.iter().map(|(name, array)| (*name, Spec::of(array))).collect();
    let mut traced = 0;
    for _ in 0..3000 {
        let text = random.expression(4);
        let Ok(expression) = parse(&text) else { continue };
        match trace(&expression, &specs, &Budget::new(1 << 16)) {
            Ok(_) => traced += 1,
            Err(error) => assert!(!matches!(error.code(), ErrorCode::Panic | ErrorCode::Verify), "{text}: {error}"),
        }
    }
    assert!(traced > 300, "only {traced} were traced");
}
