//! Generates [`super::generated`]: the expanded primitives of kernels, as loops in Rust.

use crate::kernels::{Function, KERNELS};
use crate::numpy_name;
use ndjit::{DType, Stage, jit, spec};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

/// Kernels that are one loop over straight-line code.
const NAMES: [&str; 8] = ["axpy", "poly", "bs", "gelu", "sincos", "hypot3", "elu", "mandel"];

const HEAD: &str = "//! Written by `ndjit-bench llvm --write`: the primitives that ndjit computes kernels by, as loops in Rust. Cold paths, which
//! the arguments of the benchmark do not take, are left out.

#![allow(clippy::all, missing_docs, unused_variables)]
#![cfg_attr(rustfmt, rustfmt_skip)]

use ndjit::Complex;
use pulp::NullaryFnOnce;
";

/// Writes the file.
pub fn write() -> Result<(), Box<dyn Error>> {
    let mut out = HEAD.to_owned();
    for kernel in KERNELS.iter().filter(|kernel| NAMES.contains(&kernel.name)) {
        let dtype = if kernel.name == "mandel" { DType::C64 } else { DType::F32 };
        for dtype in if kernel.double { vec![dtype, DType::F64] } else { vec![dtype] } {
            let [graph, kernels, loops] = texts(&kernel.function, dtype)?;
            let name = format!("{}_{}", kernel.name, numpy_name(dtype));
            out.push_str(
                &function(&name, &graph, &kernels, &loops)
                    .ok_or_else(|| format!("{name} has what Rust was not told of"))?,
            );
        }
    }
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/llvm/generated.rs"), out)?;
    Ok(())
}

/// The typed graph, the kernels, and the loops over primitives.
fn texts(function: &Function, dtype: DType) -> Result<[String; 3], Box<dyn Error>> {
    macro_rules! of {
        ($function:expr, $count:literal) => {{
            let specs: [_; $count] = std::array::from_fn(|_| spec(dtype, [1000]));
            let compiled = jit($function).trace(&specs)?.lower()?.compile()?;
            [Stage::Typed, Stage::Kernels, Stage::Expanded].map(|stage| compiled.explain(stage))
        }};
    }
    Ok(match *function {
        Function::One(f) => of!(f, 1),
        Function::Two(f) => of!(f, 2),
        Function::Three(f) => of!(f, 3),
        Function::Four(f) => of!(f, 4),
    })
}

fn function(name: &str, graph: &str, kernels: &str, loops: &str) -> Option<String> {
    let mut slots: BTreeMap<&str, &str> = BTreeMap::new();
    for line in graph.lines() {
        let Some((_, rest)) = line.split_once("= literal #") else { continue };
        let mut words = rest.split([' ', ':', ';']);
        let (slot, value) = (words.next()?, words.next()?);
        slots.insert(slot, value);
    }
    let mut literals: BTreeMap<&str, &str> = BTreeMap::new();
    // An operand `inN` of the loops is the argument `%M` of the graph, here `argM`.
    let mut arguments: BTreeMap<&str, String> = BTreeMap::new();
    for line in kernels.lines().map(str::trim) {
        let Some((name, rest)) = line.split_once(" = ") else { continue };
        let what = rest.split(' ').next()?;
        if let Some(slot) = what.strip_prefix('#') {
            literals.insert(name, slots.get(slot)?);
        } else if let Some(argument) = what.strip_prefix('%').filter(|_| name.starts_with("in")) {
            arguments.insert(name, format!("arg{argument}"));
        }
    }
    let mut operands: Vec<(String, &str)> = Vec::new();
    let (mut once, mut each, mut inside, mut depth) = (String::new(), String::new(), false, 0);
    for line in loops.lines().map(str::trim) {
        if depth > 0 {
            depth = if line == "}" { depth - 1 } else { depth + usize::from(line.ends_with('{')) };
            continue;
        }
        if line.starts_with("loop:") || line.starts_with("for ") {
            inside = true;
            continue;
        }
        if !line.contains(" = ") && !line.starts_with("store") {
            for (operand, facts) in line.split(", ").filter_map(|operand| operand.split_once(": ")) {
                if operand.starts_with("in") || operand.starts_with("out") {
                    let name = arguments.get(operand).cloned().unwrap_or_else(|| operand.to_owned());
                    operands.push((name, facts.split(' ').next()?));
                }
            }
            continue;
        }
        let mut statement = statement(line, &literals)?;
        if line.contains(" = load ") {
            let operand = line.split(" = load ").nth(1)?.split([' ', '.']).next()?;
            statement = statement.replace(operand, arguments.get(operand)?);
        }
        depth = usize::from(line.ends_with('{'));
        let to = if inside { &mut each } else { &mut once };
        writeln!(to, "            {statement}").ok()?;
    }
    let (mut fields, mut names, mut zip, mut pattern) = (String::new(), String::new(), String::new(), String::new());
    let rust = |ty: &str| match ty {
        "c64" => "Complex<f32>".to_owned(),
        ty => ty.to_owned(),
    };
    for (operand, ty) in &operands {
        let reference = if operand.starts_with("out") { "mut " } else { "" };
        writeln!(fields, "    pub {operand}: &'a {reference}[{}],", rust(ty)).ok()?;
        write!(names, "{operand}, ").ok()?;
        if operand.starts_with("out") {
            continue;
        }
        write!(zip, ".zip({operand})").ok()?;
        pattern = if pattern.is_empty() { format!("out0, {operand}") } else { format!("({pattern}), {operand}") };
    }
    Some(format!(
        "\n#[allow(non_camel_case_types)]\npub struct {name}<'a> {{\n{fields}}}\n\nimpl NullaryFnOnce for {name}<'_> {{\n    type Output = ();\n\n    \
         #[inline(always)]\n    fn call(self) {{\n        let Self {{ {names}}} = self;\n{once}        for ({pattern}) in out0.iter_mut(){zip} {{\n\
         {each}        }}\n    }}\n}}\n"
    ))
}

/// A line of loops as a statement.
fn statement(line: &str, literals: &BTreeMap<&str, &str>) -> Option<String> {
    if let Some(rest) = line.strip_prefix("store ") {
        let (to, from) = rest.split_once(", ")?;
        return Some(match to.split_once('.') {
            Some((to, word)) => format!("{to}.{} = {from};", part(word)),
            None => format!("*{to} = {from};"),
        });
    }
    let (results, rest) = line.split_once(" = ")?;
    if let Some(rest) = rest.strip_prefix("if ") {
        // The results without it follow the condition.
        let (_, before) = rest.split_once(", ")?;
        let before: Vec<&str> = before.split(" then").next()?.split(", ").collect();
        let results: Vec<&str> = results.split(", ").collect();
        return Some(format!("let ({},) = ({},);", results.join(", "), before[..results.len()].join(", ")));
    }
    let (operation, arguments) = rest.split_once(' ')?;
    let mut parts = operation.split('.');
    let (prim, from, to) = (parts.next()?, parts.next(), parts.next());
    let a: Vec<&str> = arguments.split(", ").collect();
    let float = from.is_some_and(|ty| ty.starts_with('f'));
    let value = match prim {
        "load" => match arguments.split(" : ").next()?.split_once('.') {
            Some((operand, word)) => format!("{operand}.{}", part(word)),
            None => format!("*{}", arguments.split(" : ").next()?),
        },
        "literal" => {
            let (number, ty) = arguments.split_once(" : ")?;
            format!("{} as {ty}", literals.get(number)?)
        }
        "const" if arguments.ends_with("inf") => format!("{}{}::INFINITY", arguments.strip_suffix("inf")?, from?),
        "const" if float => format!("{arguments}_{}", from?),
        "const" => match arguments.strip_prefix('-') {
            Some(rest) => format!("0{}.wrapping_sub({rest})", unsigned(from?)?),
            None => format!("{arguments}_{}", unsigned(from?)?),
        },
        "fadd" => format!("{} + {}", a[0], a[1]),
        "fsub" => format!("{} - {}", a[0], a[1]),
        "fmul" => format!("{} * {}", a[0], a[1]),
        "fdiv" => format!("{} / {}", a[0], a[1]),
        "fma" => format!("{}.mul_add({}, {})", a[0], a[1], a[2]),
        "fneg" => format!("-{}", a[0]),
        "fabs" => format!("{}.abs()", a[0]),
        "fsqrt" => format!("{}.sqrt()", a[0]),
        "flt" | "ult" => format!("{} < {}", a[0], a[1]),
        "fle" | "ule" => format!("{} <= {}", a[0], a[1]),
        "feq" | "ieq" => format!("{} == {}", a[0], a[1]),
        "fne" | "ine" => format!("{} != {}", a[0], a[1]),
        "slt" => format!("({} as {}) < ({} as {})", a[0], from?, a[1], from?),
        "and" => format!("{} & {}", a[0], a[1]),
        "or" => format!("{} | {}", a[0], a[1]),
        "xor" => format!("{} ^ {}", a[0], a[1]),
        "not" => format!("!{}", a[0]),
        "iadd" => format!("{}.wrapping_add({})", a[0], a[1]),
        "isub" => format!("{}.wrapping_sub({})", a[0], a[1]),
        "shl" => format!("if {1} < {2} {{ {0} << {1} }} else {{ 0 }}", a[0], a[1], &from?[1..]),
        "ushr" => format!("if {1} < {2} {{ {0} >> {1} }} else {{ 0 }}", a[0], a[1], &from?[1..]),
        "select" => format!("if {} {{ {} }} else {{ {} }}", a[0], a[1], a[2]),
        "bitcast" if float => format!("{}.to_bits()", a[0]),
        "bitcast" => format!("{}::from_bits({})", to?, a[0]),
        _ => return None,
    };
    Some(format!("let {results} = {value};"))
}

/// The field of a complex number.
fn part(word: &str) -> &'static str {
    if word == "0" { "re" } else { "im" }
}

fn unsigned(ty: &str) -> Option<&'static str> {
    match ty {
        "i32" => Some("u32"),
        "i64" => Some("u64"),
        _ => None,
    }
}
