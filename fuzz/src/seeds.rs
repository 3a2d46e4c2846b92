//! Valid inputs: the corpus, and the texts of random programs. Deterministic.

use ndjit_codegen::passes::split::TargetKernel;
use ndjit_codegen::pipeline::{expanded, lower_for};
use ndjit_codegen::target::Target;
use ndjit_codegen::{Lowered, LoweredKernel, Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::LoopNest;
use ndjit_ir::op::Op;
use ndjit_ir::{DType, Policy, Result, ValueType};
use ndjit_math::shared_body;
use ndjit_random::{Limits, Rng, program};
use ndjit_transform::access::contiguous;
use std::path::Path;

/// Longer seeds are omitted: short texts show the same bugs, and run faster.
const LONGEST: usize = 6_000;

/// Graphs, traced and after the passes.
pub fn graphs() -> Vec<Vec<u8>> {
    let programs = programs();
    let typed = programs.iter().flat_map(|lowered| [lowered.typed.to_string(), lowered.simplified.to_string()]);
    let deep = [8, 30].into_iter().flat_map(|deep| [doubling(deep), branching(deep)]);
    short(corpus().iter().map(Graph::to_string).chain(traced().iter().map(Graph::to_string)).chain(typed).chain(deep))
}

/// Functions that each call the previous one twice.
fn doubling(deep: usize) -> String {
    nested(deep, |below| {
        format!(
            " calls @{below} {{\n  %2 = call @{below}(%0, %1) : f32[]\n  %3 = call @{below}(%0, %2) : f32[]\n  return %3"
        )
    })
}

/// Branches with two equal nested branches.
fn branching(deep: usize) -> String {
    nested(deep, |below| {
        let piece = format!(" {{\n  $0 = cond true @{below} of [0, 1] false @{below} of [0, 1]\n");
        piece + "  %2 = cond $0 %0, %1 : f32[]\n  return %2"
    })
}

fn nested(deep: usize, block: impl Fn(usize) -> String) -> String {
    let mut text = "child @0 (%0: bool[], %1: f32[]) {\n  %2 = sin %1 : f32[]\n  return %2\n}\n".to_owned();
    for n in 1..=deep {
        let header = if n == deep { "graph ".to_owned() } else { format!("child @{n} ") };
        text += &format!("{header}(%0: bool[], %1: f32[]){}\n}}\n", block(n - 1));
    }
    text
}

/// The kernels of programs.
pub fn kernels() -> Vec<Vec<u8>> {
    short(programs().iter().map(|lowered| {
        // The text of control flow omits its graphs.
        let kernels: Vec<String> = lowered.kernels().map(|kernel| kernel.fused.to_string()).collect();
        kernels.join("\n")
    }))
}

/// Nests over ops with their geometries, and over primitives, whole and in parts.
pub fn loops() -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    let programs = programs();
    for LoweredKernel { scheduled, .. } in programs.iter().flat_map(|lowered| lowered.kernels()) {
        texts.push(format!("{}\n{}", scheduled.nest, scheduled.domain));
        texts.extend(expanded(&scheduled.nest, &Target::interpreter()).iter().map(LoopNest::to_string));
        let kernel = lower_for(&scheduled.nest, &Target::interpreter());
        texts.extend(kernel.iter().flat_map(TargetKernel::parts).map(|part| part.ops.to_string()));
    }
    short(texts.into_iter())
}

/// The bodies of ops.
pub fn bodies() -> Vec<Vec<u8>> {
    let all = Op::ALL.into_iter().flat_map(|op| op.row().domain.iter().map(move |dtype| (op, dtype)));
    short(all.map(|(op, dtype)| shared_body(op, dtype).to_string()))
}

/// Subscripts with each part of their grammar.
pub fn subscripts() -> Vec<Vec<u8>> {
    let texts = [
        "ij,jk->ik",
        "ii",
        "ii->i",
        "...ij,...jk",
        " i j , j -> i ",
        "ab,bc,cd,de,ef,fg,gh,hi,ij->aj",
        "i...->...i",
        ",->",
        "aB,Bc",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Expressions with each kind of operator, call and index.
pub fn expressions() -> Vec<Vec<u8>> {
    let texts = [
        "x + y * 2",
        "-x ** 2 ** y",
        "where(x > 0, x, expm1(x)) * 2",
        "sum(x, axis=(0, -1), keepdims=True) // 3 % 2",
        "x[1:, ::-1, None, ...].T & ~y | z ^ 0x1f << 3",
        "astype(x, f32) / 1e-3 + 2j - inf",
        "reshape(arange(6), [2, -1]).mT @ x",
        "astype(x, np.float32) + pad(y, (1, 2), mode='edge').sum(dtype=\"f64\")",
        "(((x)))",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Choice bytes: short and long.
pub fn choices() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(26);
    (0..200).map(|n| (0..8 + n).map(|_| rng.bits() as u8).collect()).collect()
}

/// Numbers of random programs.
pub fn numbers() -> Vec<Vec<u8>> {
    (0..20u64).map(|n| n.to_le_bytes().to_vec()).collect()
}

/// Small files of several versions, dtypes and orders.
pub fn npy_files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (descriptor, bytes) in
        [("|b1", 1), ("|u1", 1), ("<i2", 2), ("<f2", 2), ("<f4", 4), ("<f8", 8), ("<c8", 8), ("<c16", 16)]
    {
        for (order, shape, elements) in [("False", "()", 1), ("False", "(3,)", 3), ("True", "(2, 2)", 4)] {
            for version in 1..=3 {
                let header = format!("{{'descr': '{descriptor}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
                let mut file = b"\x93NUMPY".to_vec();
                file.extend([version, 0]);
                file.extend((header.len() as u16).to_le_bytes());
                if version > 1 {
                    file.extend([0, 0]);
                }
                file.extend(header.bytes());
                file.extend(std::iter::repeat_n(0, bytes * elements));
                files.push(file);
            }
        }
    }
    files
}

/// Saved programs: those of releases, of the corpus, and with names, captured arrays, numbers, prints and places.
pub fn saved_files() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/saved");
    let mut paths: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    paths.sort();
    let files = paths.iter().filter(|path| path.extension().is_some_and(|e| e == "ndjit"));
    let files = files.filter_map(|path| std::fs::read(path).ok());
    let corpus =
        corpus().into_iter().chain(traced()).filter_map(|graph| ndjit::Program::parse(&graph.to_string()).ok());
    let named = ndjit::Program::trace(&[ndjit::spec(DType::F32, [2]), ndjit::Spec::number(ndjit::Weak::Float)], |p| {
        vec![ndjit::debug::debug_print("x", p[0] * p[1]) + ndjit::Expr::from(&ndjit::Array::from([1i8, 2]))]
    });
    let named = named.and_then(|program| program.with_names(["x", "k"])).map(|program| program.with_tree("(x, k)"));
    let programs = corpus.chain(named.ok()).filter_map(|program| program.to_bytes().ok());
    // Several of them, so that some inputs are of such a program.
    let symbolic = ["f32[n]", "f32[n, 2]", "i8[m, n]", "c64[n, n]"].into_iter().filter_map(|input| {
        let function = |p: &[ndjit::Expr]| vec![p[0].flip(0) * 2, ndjit::concat([p[0], p[0]], 0), p[0].at(1..).get()];
        ndjit::SymbolicProgram::trace(&[input], function).ok()?.to_bytes().ok()
    });
    files.chain(programs).chain(symbolic).filter(|bytes| bytes.len() <= LONGEST).collect()
}

/// Tables with each separator, decimal mark, kind of quote and line end.
pub fn tables() -> Vec<Vec<u8>> {
    let texts = [
        "1,2\n3,4\n",
        "a,b\n1,2.5\n-0,nan\n",
        "\u{feff}a;b\r\n1,5;2\r\n",
        "a\tb\r1\t\r\r2\tinf",
        "\"a\",\"b\"\"c\"\n\"1\",2\n",
        "day\n\"1\n\"\n9223372036854775807\n0.5\n",
        "a\n\n1e5\n",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn short(texts: impl Iterator<Item = String>) -> Vec<Vec<u8>> {
    texts.filter(|text| text.len() <= LONGEST).map(String::into_bytes).collect()
}

/// The programs of `tests/programs/`.
fn corpus() -> Vec<Graph<ValueType>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()?.parse().ok()).collect()
}

fn traced() -> Vec<Graph<ValueType>> {
    let limits = |seed: u64| Limits { nodes: 10, elements: 70, control: seed.is_multiple_of(3), ..Limits::default() };
    (0..60).filter_map(|seed| program(seed, &limits(seed)).ok()).map(|program| program.graph).collect()
}

fn programs() -> Vec<Lowered> {
    corpus().iter().chain(&traced()).filter_map(|graph| lowered(graph).ok()).collect()
}

fn lowered(graph: &Graph<ValueType>) -> Result<Lowered> {
    let layout = |&param| {
        let dtype: DType = graph.storage_dtype(param, Policy::default());
        contiguous(graph.shape(param), dtype)
    };
    let layouts = graph.params().iter().map(layout).collect::<Result<Vec<_>>>()?;
    lower(graph, &SourceLocs::default(), &layouts, &Options::default())
}
