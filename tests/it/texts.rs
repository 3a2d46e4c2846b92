//! The texts of stages parse back, for the corpus and random programs: the graph as traced, typed and simplified, kernels,
//! loop nests over ops and over primitives, geometries, and the bodies of all ops. The parsed value equals the printed one.

use ndjit_tests::programs;

use ndjit_codegen::clif::host_isa;
use ndjit_codegen::pipeline::{expanded, lower_for};
use ndjit_codegen::target::Target;
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_inspect::listing::Inspection;
use ndjit_inspect::stage::ProgramStage;
use ndjit_ir::body::Body;
use ndjit_ir::graph::{Graph, SourceLocs, Type};
use ndjit_ir::kernel::{FusedKernel, StepText, parse_kernels, parse_steps};
use ndjit_ir::loops::{IterationDomain, LoopNest, NestKind, parse_nests};
use ndjit_ir::op::Op;
use ndjit_ir::support::Device;
use ndjit_ir::{Error, Result};
use ndjit_math::shared_body;
use ndjit_random::{Limits, Program, program};
use ndjit_runtime::{Fallback, RunOptions};
use ndjit_transform::access::contiguous;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Parses the printed text, which must give the same value, and so the same text.
fn round_trip<T: Display + FromStr<Err = Error> + PartialEq + Debug>(value: &T) {
    let text = value.to_string();
    let read: T = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(&read, value, "{text}");
    assert_eq!(read.to_string(), text);
}

fn graph_round_trip<T: Type>(graph: &Graph<T>)
where
    Graph<T>: FromStr<Err = Error>,
{
    let text = graph.to_string();
    let read: Graph<T> = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read.to_string(), text);
    assert_eq!((read.slots(), read.outputs(), read.params()), (graph.slots(), graph.outputs(), graph.params()));
    for id in read.node_ids() {
        let (a, b) = (read.node(id), graph.node(id));
        // Views are numbered in order of appearance; their text was compared.
        assert_eq!(std::mem::discriminant(&a.kind), std::mem::discriminant(&b.kind), "{text}");
        assert_eq!(read.operands(id), graph.operands(id), "{text}");
        for (x, y) in a.results().zip(b.results()) {
            assert_eq!((x, read.ty(x), read.shape(x)), (y, graph.ty(y), graph.shape(y)), "{text}");
        }
    }
}

fn lowered(program: &Program, fuse: bool) -> Result<Lowered> {
    let layouts = program.params.iter().map(|x| contiguous(&x.shape, x.dtype)).collect::<Result<Vec<_>>>()?;
    lower(&program.graph, &SourceLocs::default(), &layouts, &Options { fuse, ..Options::default() })
}

/// The stages of a program with control flow, as printed for people, parsed and printed again. Returns the number of parsed nests.
fn stages_round_trip(lowered: &Lowered) -> usize {
    let (run, device, fallback) = (RunOptions::default(), Device::CPU, Fallback::Error);
    let inspection = Inspection { lowered, run, device, fallback, program: None, inputs: Vec::new() };
    let printed = |stage| inspection.listing(stage).to_string();
    // Titles and notes are comments.
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.is_empty() && !line.starts_with(';')).map(str::to_owned).collect()
    };
    let kernels = printed(ProgramStage::Kernels);
    let steps = parse_steps(&kernels).unwrap_or_else(|error| panic!("{error}\n{kernels}"));
    let again: Vec<String> = steps.iter().map(StepText::to_string).collect();
    assert_eq!(lines(&again.join("\n")), lines(&kernels));
    let mut nests = 0;
    for stage in [ProgramStage::Loops, ProgramStage::Expanded] {
        let text = printed(stage);
        let read = parse_nests(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let again: Vec<String> = read
            .iter()
            .map(|(nest, domain)| match domain {
                Some(domain) => format!("{nest}\n{domain}"),
                None => nest.to_string(),
            })
            .collect();
        let mut inside = false;
        // Control flow has no nest.
        let own = lines(&text).into_iter().filter(|line| {
            let begins = ["for {", "while {", "cond {", "scan {"].contains(&line.as_str());
            let was = inside || begins;
            inside = was && line != "}";
            !was
        });
        assert_eq!(lines(&again.join("\n")), own.collect::<Vec<String>>(), "{}", stage.name());
        nests += read.len();
    }
    nests
}

/// Every text of a program; returns the number of nests with reductions, scans, and hoisted instructions.
fn check(program: &Program, fuse: bool) -> [usize; 3] {
    let lowered = lowered(program, fuse).unwrap_or_else(|error| panic!("{error}\n{program}"));
    graph_round_trip(&program.graph);
    graph_round_trip(&lowered.traced);
    graph_round_trip(&lowered.typed);
    graph_round_trip(&lowered.simplified);
    stages_round_trip(&lowered);
    // The texts of control flow omit its graphs, which are in the graph's text.
    let kernels: Vec<FusedKernel> = lowered.kernels().map(|kernel| kernel.fused.clone()).collect();
    kernels.iter().for_each(round_trip::<FusedKernel>);
    let text: Vec<String> = kernels.iter().map(FusedKernel::to_string).collect();
    assert_eq!(parse_kernels(&text.join("\n\n")).unwrap(), kernels);
    let mut seen = [0; 3];
    let mut text = String::new();
    let scheduled: Vec<_> = lowered.kernels().map(|kernel| &kernel.scheduled).collect();
    for scheduled in &scheduled {
        round_trip::<LoopNest>(&scheduled.nest);
        round_trip::<IterationDomain>(&scheduled.domain);
        text += &format!("{}\n{}\n", scheduled.nest, scheduled.domain);
        let expanded = expanded(&scheduled.nest, &Target::interpreter()).unwrap();
        round_trip::<LoopNest>(&expanded);
        seen[0] += usize::from(expanded.kind.reduction().is_some());
        seen[1] += usize::from(matches!(expanded.kind, NestKind::Scan(_)));
        let hoists = expanded.to_string().contains("loop:\n");
        seen[2] += usize::from(hoists);
        let isa = host_isa().unwrap();
        for part in lower_for(&scheduled.nest, &Target::host_clif(&*isa)).unwrap().parts() {
            round_trip::<LoopNest>(&part.nest);
        }
    }
    let read = parse_nests(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let printed = scheduled.iter().map(|s| (s.nest.clone(), Some(s.domain.clone())));
    assert!(read.into_iter().eq(printed), "{text}");
    seen
}

#[test]
fn texts_of_the_corpus_parse_back() {
    let files = programs::files();
    for (name, text) in &files {
        println!("{name}");
        check(&programs::program(text, 1), true);
        check(&programs::program(text, 1), false);
    }
    assert!(files.len() >= 15, "the corpus has programs");
}

#[test]
fn texts_of_random_programs_parse_back() {
    let mut seen = [0; 3];
    for seed in 5_000..5_300 {
        let limits = Limits { nodes: 16, elements: 140, control: seed % 2 == 0, ..Limits::default() };
        let program = program(seed, &limits).unwrap();
        let found = check(&program, seed % 3 > 0);
        seen.iter_mut().zip(found).for_each(|(all, found)| *all += found);
    }
    assert!(seen[0] > 60 && seen[1] > 10 && seen[2] > 20, "{seen:?} reduce, scan, hoist where they reduce");
}

/// Programs of the corpus with control flow, and those with compiled loops.
#[test]
fn stages_of_control_flow_parse_back() {
    let (mut programs_with, mut nests) = (0, 0);
    for (name, text) in &programs::files() {
        let program = programs::program(text, 1);
        if program.graph.controls().is_empty() {
            continue;
        }
        println!("{name}");
        programs_with += 1;
        for fuse in [true, false] {
            nests += stages_round_trip(&lowered(&program, fuse).unwrap());
        }
    }
    assert!(programs_with >= 3 && nests > 20, "{programs_with} programs, {nests} nests");
}

#[test]
fn bodies_of_all_ops_parse_back() {
    let mut bodies = 0;
    for op in Op::ALL {
        for dtype in op.row().domain.iter() {
            let body: &Body = shared_body(op, dtype);
            round_trip(body);
            bodies += 1;
        }
    }
    assert!(bodies > 500, "{bodies}");
}

/// A copied part of a dump parses: headings are comments.
#[test]
fn whole_stages_parse_back() {
    let f = ndjit::jit!(|x| {
        let e = (x - x.max(ndjit::keepdims(-1))).exp();
        (e / e.sum(ndjit::keepdims(-1)), x.cumulative_sum(0))
    });
    f.call((&ndjit::Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]),)).unwrap();
    for stage in [ndjit::Stage::Loops, ndjit::Stage::Expanded] {
        let nests = parse_nests(&f.explain(stage)).unwrap_or_else(|error| panic!("{}: {error}", stage.name()));
        assert!(nests.len() >= 5, "{}: {}", stage.name(), nests.len());
    }
    assert_eq!(parse_kernels(&f.explain(ndjit::Stage::Kernels)).unwrap().len(), 5);
}
