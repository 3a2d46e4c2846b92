//! `.npy` files, mapped and written in parts.
use ndjit::npy::{Reader, Writer};
use ndjit::{Array, DType, ErrorCode, Shape, f16};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("npy_files_{name}"))
}

/// A file whose header is padded to `length` bytes in all.
fn file(name: &str, fields: &str, length: usize, data: &[u8]) -> PathBuf {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(length - 10).unwrap().to_le_bytes());
    bytes.extend(fields.as_bytes());
    bytes.resize(length - 1, b' ');
    bytes.push(b'\n');
    bytes.extend(data);
    let path = path(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn floats(numbers: impl IntoIterator<Item = u8>) -> Vec<u8> {
    numbers.into_iter().flat_map(|n| f32::from(n).to_le_bytes()).collect()
}

#[test]
fn every_dtype_of_numpy_comes_back() {
    for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bf16) {
        let x = Array::from_rows(&[[0i32, 1, 0], [1, 1, 0]]).cast(dtype);
        let path = path(dtype.name());
        let mut writer = Writer::create(&path, dtype, [2, 3]).unwrap();
        writer.write(&x.slice(0..1)).unwrap();
        writer.write(&x.slice(1..2)).unwrap();
        writer.finish().unwrap();
        let reader = Reader::open(&path).unwrap();
        assert_eq!((reader.dtype(), reader.shape()), (dtype, &Shape::from([2, 3])));
        assert_eq!(reader.array().unwrap().to_string(), x.to_string());
        assert_eq!(reader.rows(1..9).unwrap().to_string(), x.slice(1..2).to_string());
        // Other readers agree.
        if dtype != DType::F16 {
            assert_eq!(Array::read_npy(&path).unwrap().to_string(), x.to_string());
        }
    }
    assert_eq!(Writer::create(path("bf16"), DType::Bf16, [1]).unwrap_err().code(), ErrorCode::DType);
}

#[test]
fn shapes_of_few_axes_come_back() {
    for shape in [Shape::scalar(), Shape::from([1]), Shape::from([0, 4]), Shape::from([2, 1, 2])] {
        let path = path("shape");
        let count = shape.size().unwrap();
        let mut writer = Writer::create(&path, DType::F16, shape.clone()).unwrap();
        writer.write(&Array::from(vec![f16::ONE; count])).unwrap();
        writer.finish().unwrap();
        let reader = Reader::open(&path).unwrap();
        assert_eq!(reader.shape(), &shape);
        assert_eq!(reader.array().unwrap().to_vec::<f16>().unwrap(), vec![f16::ONE; count]);
        assert_eq!(
            reader.rows(0..1).map(drop).map_err(|e| e.code()).err(),
            (shape.rank() == 0).then_some(ErrorCode::Shape)
        );
    }
}

#[test]
fn column_major_and_unaligned_files_are_read() {
    let fields = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
    let reader = Reader::open(file("columns", fields, 128, &floats([1, 4, 2, 5, 3, 6]))).unwrap();
    assert_eq!(reader.array().unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(reader.rows(1..2).unwrap().to_vec::<f32>().unwrap(), [4.0, 5.0, 6.0]);
    let fields = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    let reader = Reader::open(file("unaligned", fields, 79, &floats([1, 2, 3]))).unwrap();
    assert_eq!((reader.array().unwrap() * 2).to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0]);
}

#[test]
fn wrong_files_are_errors() {
    let fields = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    let truncated = Reader::open(file("truncated", fields, 128, &floats([1, 2]))).unwrap_err();
    assert_eq!(
        (truncated.code(), truncated.headline()),
        (ErrorCode::Io, "read_npy: the file ends before its data does")
    );
    let fields = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }";
    let reader = Reader::open(file("bools", fields, 128, &[0, 1, 2])).unwrap();
    assert_eq!(reader.array().unwrap_err().headline(), "read_npy: bools that are neither 0 nor 1");
    assert_eq!(reader.rows(0..2).unwrap().to_vec::<bool>().unwrap(), [false, true]);
    assert_eq!(Reader::open(path("nothing")).unwrap_err().code(), ErrorCode::Io);
    // One beyond `u64`, and one that is not shown whole.
    let long = "9".repeat(1000);
    let shown = format!("{}…", "9".repeat(40));
    for (extent, shown) in [("18446744073709551616", "18446744073709551616"), (&long, &shown)] {
        let fields = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (2, {extent}), }}");
        let error = Reader::open(file("beyond", &fields, 1216, &[])).unwrap_err();
        let headline = format!("read_npy: an extent of {shown} is more than memory can address");
        assert_eq!((error.code(), error.headline()), (ErrorCode::Size, &headline[..]));
        assert!(error.help_text().is_some());
    }

    let mut writer = Writer::create(path("part"), DType::F32, [3]).unwrap();
    assert_eq!(writer.write(&Array::from([1.0f64])).unwrap_err().code(), ErrorCode::Argument);
    assert_eq!(writer.write(&Array::from([1.0f32; 4])).unwrap_err().code(), ErrorCode::Argument);
    writer.write(&Array::from([1.0f32; 2])).unwrap();
    assert_eq!(writer.finish().unwrap_err().headline(), "write_npy: elements are missing");
    let error = Writer::create(path("nothing/x"), DType::F32, [3]).unwrap_err();
    assert!(error.headline().starts_with("write_npy: there is no folder"), "{error}");
    assert_eq!(error.facts().len(), 1, "{error}");
}

/// Files in a separate folder.
fn folder(name: &str) -> PathBuf {
    let folder = path(name);
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_that_is_mapped_is_replaced_and_still_read() {
    // More than a page: a read beyond the end of a truncated file ends the process.
    const MANY: usize = 1 << 16;
    let folder = folder("replaced");
    let path = folder.join("x.npy");
    ndjit::arange(MANY as i32).write_npy(&path).unwrap();
    let mapped = Reader::open(&path).unwrap().array().unwrap();
    mapped.slice(..MANY / 2).write_npy(&path).unwrap();
    assert_eq!(Array::read_npy(&path).unwrap().len(), MANY / 2);
    let mut writer = Writer::create(&path, DType::I32, [3]).unwrap();
    writer.write(&mapped.slice(-3..)).unwrap();
    assert_eq!(Array::read_npy(&path).unwrap().len(), MANY / 2);
    writer.finish().unwrap();
    let last = MANY as i32 - 1;
    assert_eq!(Array::read_npy(&path).unwrap().to_vec::<i32>().unwrap(), [last - 2, last - 1, last]);
    assert!(mapped.to_vec::<i32>().unwrap().into_iter().eq(0..MANY as i32));
    assert_eq!(names(&folder), ["x.npy"]);
}

#[test]
fn a_writer_that_does_not_finish_leaves_what_was_there() {
    let folder = folder("unfinished");
    let path = folder.join("x.npy");
    Array::from([1, 2]).write_npy(&path).unwrap();
    let mut writer = Writer::create(&path, DType::I32, [3]).unwrap();
    writer.write(&Array::from([7])).unwrap();
    assert_eq!(names(&folder).len(), 2);
    writer.finish().unwrap_err();
    drop(Writer::create(folder.join("y.npy"), DType::I32, [3]).unwrap());
    assert!(Array::from([1]).cast(DType::Bf16).write_npy(&path).is_err());
    assert_eq!(names(&folder), ["x.npy"]);
    assert_eq!(Array::read_npy(&path).unwrap().to_vec::<i32>().unwrap(), [1, 2]);
}

#[test]
fn what_is_written_to_a_mapped_array_stays_in_memory() {
    let path = path("private");
    let mut writer = Writer::create(&path, DType::F32, [3]).unwrap();
    writer.write(&Array::from([1.0f32, 2.0, 3.0])).unwrap();
    writer.finish().unwrap();
    let before = std::fs::read(&path).unwrap();
    let f = ndjit::jit(|x| x + 1);
    // The result takes the memory of a donated argument.
    let x = Reader::open(&path).unwrap().array().unwrap();
    assert_eq!(f.call((x.donate(),)).unwrap().to_vec::<f32>().unwrap(), [2.0, 3.0, 4.0]);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// A file is created beside its target, with a name of at most the maximum length.
#[test]
#[cfg(unix)]
fn names_may_be_as_long_as_the_system_has_them() {
    let folder = std::env::temp_dir().join(format!("ndjit-long-names-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for length in [200, 201, 240, 251] {
        let path = folder.join("n".repeat(length) + ".npy");
        Array::from([1.5f32]).write_npy(&path).unwrap();
        assert_eq!(Array::read_npy(&path).unwrap().to_vec::<f32>().unwrap(), [1.5]);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A file that was not written completely never replaces the existing one, even if it is finished later.
#[test]
#[cfg(unix)]
fn a_file_that_was_not_written_is_not_finished() {
    const CHILD: &str = "NDJIT_TEST_WRITER_CHILD";
    if let Some(path) = std::env::var_os(CHILD) {
        let mut writer = ndjit::npy::Writer::create(path, ndjit::DType::F32, [100_000]).unwrap();
        assert!(writer.write(&Array::from(vec![1.0f32; 100_000])).is_err());
        assert!(writer.finish().is_err());
        return;
    }
    let folder = std::env::temp_dir().join(format!("ndjit-unfinished-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("x.npy");
    Array::from([2.5f32]).write_npy(&path).unwrap();
    let status = std::process::Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 1; exec \"$0\" npy_files::a_file_that_was_not_written_is_not_finished --exact",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD, &path)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(Array::read_npy(&path).unwrap().to_vec::<f32>().unwrap(), [2.5]);
    std::fs::remove_dir_all(&folder).unwrap();
}
