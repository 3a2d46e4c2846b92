//! Programs run in parts give the same results; others are not run in parts.

use crate::shell::{enter, run};
use ndjit::npy::Reader;
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Array, Program, Spec, arange, concat};
use ndjit_expressions::{Budget, parse, trace};

const ROWS: usize = 12;

fn inputs() -> Vec<(&'static str, Array)> {
    vec![
        ("m", (arange(36).reshape([ROWS, 3]) * 7 % 11).cast(ndjit::DType::F32)),
        ("v", (arange(12) * 5 % 7).cast(ndjit::DType::F32)),
        ("w", Array::from([1.0f32, -2.0, 0.5])),
        ("s", Array::from(2.5f64)),
        ("q", arange(144).reshape([ROWS, ROWS]).cast(ndjit::DType::F32)),
    ]
}

/// The program of an expression, and its arrays.
fn program(text: &str) -> (Program, Vec<Array>) {
    let expression = parse(text).unwrap();
    let used: Vec<(&str, Array)> = inputs().into_iter().filter(|(name, _)| expression.names().contains(name)).collect();
    let specs: Vec<(&str, Spec)> = used.iter().map(|(name, array)| (*name, Spec::of(array))).collect();
    let program = trace(&expression, &specs, &Budget::new(1 << 20)).unwrap_or_else(|error| panic!("{text}: {error}"));
    (program, used.into_iter().map(|(_, array)| array).collect())
}

#[test]
fn rows_one_after_the_other_give_the_whole() {
    for text in [
        "m * 2 + w",
        "where(m > 3, m, s)",
        "v * v - 1",
        "m / sum(m, axis=1, keepdims=True)",
        "sum(m, axis=1)",
        "cumsum(m, axis=1) + m[:, ::-1]",
        "m.reshape(12, 3, 1) * 2",
        "concat([m, m + 1], axis=1)",
        "m[:, None, :] * m[:, :, None]",
        "var(m, axis=1, ddof=1)",
        "astype(q, i16)[:, 1:]",
        // Along the columns.
        "q + v",
    ] {
        let (whole, arrays) = program(text);
        assert_eq!(whole.rows(), Some(ROWS), "{text}");
        let expected = whole.call(&arrays).unwrap().remove(0);
        for each in [1, 5, 12] {
            let parts: Vec<Array> = (0..ROWS)
                .step_by(each)
                .map(|start| {
                    let count = each.min(ROWS - start);
                    let part = whole.with_rows(count).unwrap();
                    let operands: Vec<AnyOperand> = arrays
                        .iter()
                        .zip(whole.inputs().iter().zip(part.inputs()))
                        .map(|(array, (all, some))| match *all == some {
                            true => array.operand(),
                            false => array.slice(start..start + count).operand(),
                        })
                        .collect();
                    part.call(&operands).unwrap_or_else(|error| panic!("{text}: {error}")).remove(0)
                })
                .collect();
            let joined = concat(parts, 0);
            assert_eq!(joined.to_string(), expected.to_string(), "{text}, {each} rows at a time");
            assert_eq!(joined.shape(), expected.shape(), "{text}");
        }
    }
}

#[test]
fn programs_that_mix_rows_have_none() {
    for text in [
        "sum(m, axis=0)",
        "m - sum(m)",
        "m - m[::-1]",
        "m[1:]",
        "roll(v, 1, axis=0)",
        "cumsum(v)",
        "m.T",
        "q + q.T",
        "v + arange(12)",
        "m.reshape(3, 12)",
        "concat([v, v])",
        "w * s",
        "ones([12]) * s",
        "m[0]",
    ] {
        let (program, _) = program(text);
        let mixes = program.rows().is_none_or(|rows| rows != ROWS);
        assert!(mixes, "{text}: has {:?} rows", program.rows());
        assert!(program.rows().is_none() || program.with_rows(1).is_some());
    }
}

#[test]
fn files_in_parts_are_files_at_once() {
    enter();
    let made = "ndjit eval 'astype(linspace(-3, 3, 300000), f32).reshape(100000, 3)' -o rows.npy";
    assert_eq!(run(made).code, 0);
    for (memory, output) in [("1MB", "parts.npy"), ("1GB", "once.npy")] {
        let done = run(&format!("ndjit eval 'sin(x) * 2 + [1, 2, 3][0]' x=rows.npy -o {output} --memory {memory}"));
        assert_eq!(done.code, 0, "{}", done.text);
    }
    assert_eq!(std::fs::read("parts.npy").unwrap(), std::fs::read("once.npy").unwrap());
    let reader = Reader::open("parts.npy").unwrap();
    assert_eq!(reader.shape().extents(), [100_000, 3]);
    let part = reader.rows(99_999..200_000).unwrap();
    assert_eq!(part.shape().extents(), [1, 3]);
    // A result may replace an input; no other file is left.
    assert_eq!(run("ndjit eval 'x + 1' x=parts.npy -o parts.npy --memory 1MB").code, 0);
    let first = Reader::open("parts.npy").unwrap().rows(0..1).unwrap().to_vec::<f32>().unwrap();
    let before = Reader::open("once.npy").unwrap().rows(0..1).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(first, before.iter().map(|x| x + 1.0).collect::<Vec<f32>>());
    let left: Vec<_> = std::fs::read_dir(".").unwrap().flatten().map(|f| f.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("partial")), "{left:?}");
}
