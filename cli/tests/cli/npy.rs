//! Malicious `.npy` files: all readers accept and reject the same ones.

use crate::shell::{enter, run};
use ndjit::npy::Reader;
use ndjit::{Array, Error};
use std::fs;
use std::path::Path;

/// The bytes of a file with a version, a header and data.
fn file(version: [u8; 2], header: &str, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(header.len()).unwrap().to_le_bytes();
    let length = if version[0] == 1 { &length[..2] } else { &length[..] };
    [b"\x93NUMPY", &version[..], length, header.as_bytes(), data].concat()
}

/// A file of version 1.0 with these header values.
fn dict(descriptor: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descriptor}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    file([1, 0], &header, data)
}

/// The outcome of reading a file: dtype, shape and elements, or the error's code and headline without the reader's
/// name.
fn outcome(read: Result<Array, Error>) -> Result<String, (String, String)> {
    match read.and_then(|array| array.eval().map(|_| array.clone())) {
        Ok(array) => Ok(format!("{}{} {array}", array.dtype(), array.shape())),
        Err(error) => {
            let headline = error.headline().split_once(": ").map_or(error.headline(), |(_, what)| what);
            Err((error.code().name().to_owned(), headline.to_owned()))
        }
    }
}

/// Files by name: whether they are valid, and their bytes.
fn files() -> Vec<(&'static str, bool, Vec<u8>)> {
    let two = [0, 0, 128, 63, 0, 0, 0, 64];
    let plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
    let ok = dict("'<f4'", "False", "(2,)", &two);
    let padded = |length: usize| file([2, 0], &[plain, &" ".repeat(length - plain.len())].concat(), &two);
    vec![
        ("version 1.0", true, ok.clone()),
        ("version 2.0", true, file([2, 0], plain, &two)),
        ("version 3.0", true, file([3, 0], plain, &two)),
        ("version 1.1", false, file([1, 1], plain, &two)),
        ("version 4.0", false, file([4, 0], plain, &two)),
        ("version 0.0", false, file([0, 0], plain, &two)),
        ("no bytes", false, Vec::new()),
        ("half of the magic", false, ok[..3].to_vec()),
        ("half of the length", false, ok[..9].to_vec()),
        ("half of the header", false, ok[..40].to_vec()),
        ("no data", false, ok[..ok.len() - 8].to_vec()),
        ("data that ends early", false, ok[..ok.len() - 1].to_vec()),
        ("data that goes on", false, [&ok[..], &[0]].concat()),
        ("two arrays", false, [&ok[..], &ok[..]].concat()),
        ("a header of 4 GB", false, [b"\x93NUMPY\x02\x00\xff\xff\xff\xff", plain.as_bytes()].concat()),
        ("a header of 65535 bytes", true, padded(65_535)),
        ("a header of 65536 bytes", false, padded(65_536)),
        ("a header of no bytes", false, file([1, 0], "", &two)),
        ("keys in another order", true, file([1, 0], "{'shape':(2,),'fortran_order':False,'descr':'<f4'}", &two)),
        ("double quotes", true, file([1, 0], &plain.replace('\'', "\""), &two)),
        ("a key twice", false, file([1, 0], &plain.replace("}", "'shape': (2,), }"), &two)),
        ("a key more", false, file([1, 0], &plain.replace("}", "'more': (2,), }"), &two)),
        ("no shape", false, file([1, 0], "{'descr': '<f4', 'fortran_order': False, }", &two)),
        ("no descriptor", false, file([1, 0], "{'fortran_order': False, 'shape': (2,), }", &two)),
        ("text after the dict", false, file([1, 0], &plain.replace('\n', "more"), &two)),
        ("a dict that does not close", false, file([1, 0], &plain.replace('}', ""), &two)),
        ("a list", false, file([1, 0], "['<f4', False, (2,)]", &two)),
        ("a byte that is no ASCII", false, file([1, 0], &plain.replace("}\n", "} é"), &two)),
        ("a NUL byte", false, file([1, 0], &plain.replace('\n', "\0"), &two)),
        ("an escape", false, file([1, 0], &plain.replace("<f4", "\\x3cf4"), &two)),
        ("an expression", false, dict("'<f4'", "False", "(1 + 1,)", &two)),
        ("an order that is not a bool", false, dict("'<f4'", "0", "(2,)", &two)),
        ("a scalar", true, dict("'<f8'", "False", "()", &[0; 8])),
        ("a parenthesised number", false, dict("'<f4'", "False", "(2)", &two)),
        ("a number", false, dict("'<f4'", "False", "2", &two)),
        ("a list of extents", false, dict("'<f4'", "False", "[2]", &two)),
        ("a negative extent", false, dict("'<f4'", "False", "(-2,)", &two)),
        ("a leading zero", false, dict("'<f4'", "False", "(02,)", &two)),
        ("an underscore", false, dict("'<f4'", "False", "(0_2,)", &two)),
        ("a long integer of Python 2", true, dict("'<f4'", "False", "(2L,)", &two)),
        ("an extent of 30 digits", false, dict("'<f4'", "False", &format!("({},)", "9".repeat(30)), &two)),
        ("more elements than any memory", false, dict("'<f4'", "False", "(9223372036854775807, 9)", &two)),
        ("a product that wraps to the data", false, dict("'<f4'", "False", "(4294967296, 4294967296, 2)", &two)),
        ("none of many", true, dict("'<f4'", "False", "(0, 9)", &[])),
        ("none of more than any memory", false, dict("'<f4'", "False", "(9223372036854775807, 9, 0)", &[])),
        ("64 axes", true, dict("'|u1'", "False", &format!("({})", "1, ".repeat(64)), &[7])),
        ("65 axes", false, dict("'|u1'", "False", &format!("({})", "1, ".repeat(65)), &[7])),
        ("nesting", false, dict("'<f4'", "False", &format!("{}2{}", "(".repeat(9000), ")".repeat(9000)), &two)),
        ("column-major", true, dict("'|u1'", "True", "(2, 3)", &[1, 2, 3, 4, 5, 6])),
        ("halves", true, dict("'<f2'", "False", "(2,)", &[0, 60, 0, 64])),
        ("complex", true, dict("'<c8'", "False", "(1,)", &two)),
        ("big-endian", false, dict("'>f4'", "False", "(2,)", &two)),
        ("native order", false, dict("'=f4'", "False", "(2,)", &two)),
        ("texts", false, dict("'<U4'", "False", "(2,)", &[0; 32])),
        ("objects", false, dict("'|O'", "False", "(1,)", b"\x80\x04K\x01.")),
        ("dates", false, dict("'<M8[ns]'", "False", "(1,)", &[0; 8])),
        ("a structure", false, dict("[('a', '<f4'), ('b', '<f4')]", "False", "(1,)", &two)),
        ("bools", true, dict("'|b1'", "False", "(3,)", &[0, 1, 0])),
        ("bools that are none", false, dict("'|b1'", "False", "(3,)", &[0, 1, 2])),
        ("an archive", false, b"PK\x03\x04".to_vec()),
    ]
}

#[test]
fn all_readers_take_and_refuse_the_same() {
    enter();
    let folder = Path::new("hostile");
    fs::create_dir_all(folder).unwrap();
    for (name, is_read, bytes) in files() {
        let path = folder.join("file.npy");
        fs::write(&path, &bytes).unwrap();
        let read = outcome(Array::read_npy(&path));
        assert_eq!(read.is_ok(), is_read, "{name}: {read:?}");
        assert_eq!(outcome(Array::from_npy(&bytes)), read, "{name}: from_npy");
        assert_eq!(outcome(Reader::open(&path).and_then(|reader| reader.array())), read, "{name}: mapped");
        assert_eq!(outcome(Reader::open(&path).and_then(|reader| reader.copied())), read, "{name}: copied");
        let rows = |rows: fn(&Reader) -> ndjit::Result<Array>| {
            outcome(Reader::open(&path).and_then(|reader| match reader.shape().rank() {
                0 => reader.array(),
                _ => rows(&reader),
            }))
        };
        assert_eq!(rows(|reader| reader.rows(0..usize::MAX)), read, "{name}: rows");
        assert_eq!(rows(|reader| reader.copied_rows(0..usize::MAX)), read, "{name}: copied rows");
        let done = run("ndjit eval x x=hostile/file.npy");
        match &read {
            Ok(_) => assert_eq!(done.code, 0, "{name}: {}", done.text),
            Err((code, headline)) => {
                assert_eq!(done.code, 1, "{name}: {}", done.text);
                let first = done.text.lines().next().unwrap_or_default();
                assert!(first.starts_with(&format!("error[{code}]")) && first.ends_with(headline), "{name}: {first}");
            }
        }
    }
    for path in ["/dev/zero", "."] {
        let read = outcome(Array::read_npy(path));
        assert!(read.is_err(), "{path}");
        assert_eq!(outcome(Reader::open(path).and_then(|reader| reader.array())), read, "{path}");
    }
}
