//! Features `ndarray` and `npy`: other libraries' arrays as arguments and results, files, and errors of files.

use ndarray::{Array2, ArrayD, Axis, ShapeBuilder, arr2, s};
use ndjit::*;

fn rows() -> Array2<f32> {
    arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

fn floats(array: &Array) -> Vec<f32> {
    array.to_vec().unwrap()
}

/// A view read in place has its own layout, so its signature is new and the function is retraced; a copied one is an
/// ordinary row-major array.
#[test]
fn views_are_read_in_place() {
    let f = jit(|x, y| x * 10 + y);
    let x = rows();
    let z = f.call((&x, x.view())).unwrap();
    assert_eq!(z.shape().extents(), [2, 3]);
    assert_eq!((floats(&z), f.trace_count()), (vec![11.0, 22.0, 33.0, 44.0, 55.0, 66.0], 1));

    // Columns of a matrix, without moving them.
    let columns = Array2::from_shape_vec((2, 3).f(), vec![1.0f32, 4.0, 2.0, 5.0, 3.0, 6.0]).unwrap();
    let z = f.call((&x, &columns)).unwrap();
    assert_eq!((floats(&z), f.trace_count()), (vec![11.0, 22.0, 33.0, 44.0, 55.0, 66.0], 2));
    let transposed = arr2(&[[1.0f32, 4.0], [2.0, 5.0], [3.0, 6.0]]);
    let z = f.call((&x, transposed.t())).unwrap();
    assert_eq!((floats(&z), f.trace_count()), (vec![11.0, 22.0, 33.0, 44.0, 55.0, 66.0], 2));

    // A window of whole rows has no gaps; one of columns has, and is copied, as is a reversed one.
    let tall = arr2(&[[0.0f32, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let z = f.call((&x, tall.slice(s![1.., ..]))).unwrap();
    assert_eq!((floats(&z), f.trace_count()), (vec![11.0, 22.0, 33.0, 44.0, 55.0, 66.0], 2));
    let wide = arr2(&[[1.0f32, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 0.0]]);
    let z = f.call((&x, wide.slice(s![.., ..3]))).unwrap();
    assert_eq!((floats(&z), f.trace_count()), (vec![11.0, 22.0, 33.0, 44.0, 55.0, 66.0], 2));
    let z = f.call((&x, x.slice(s![..;-1, ..;-1]))).unwrap();
    assert_eq!((floats(&z), f.trace_count()), (vec![16.0, 25.0, 34.0, 43.0, 52.0, 61.0], 2));
}

#[test]
fn permuted_axes_of_a_cube() {
    let cube = ArrayD::from_shape_vec(vec![3, 3, 3], (0..27).collect::<Vec<i64>>()).unwrap();
    let f = jit(|x| x + 100);
    for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let view = cube.view().permuted_axes(axes.to_vec());
        let z = f.call((view.clone(),)).unwrap();
        assert_eq!(z.shape().extents(), view.shape());
        assert_eq!(z.to_vec::<i64>().unwrap(), view.iter().map(|x| x + 100).collect::<Vec<_>>(), "{axes:?}");
    }
    assert_eq!(f.trace_count(), 6);
    let mut flipped = cube.view();
    flipped.invert_axis(Axis(1));
    let z = f.call((flipped.clone(),)).unwrap();
    assert_eq!(z.to_vec::<i64>().unwrap(), flipped.iter().map(|x| x + 100).collect::<Vec<_>>());
    assert_eq!(f.trace_count(), 6);
}

#[test]
fn views_broadcast_and_may_be_empty() {
    let f = jit(|x, y| x - y);
    let column = arr2(&[[1.0f32], [2.0]]);
    let z = f.call((&rows(), &column)).unwrap();
    assert_eq!(floats(&z), [0.0, 1.0, 2.0, 2.0, 3.0, 4.0]);
    let repeated = column.broadcast((2, 3)).unwrap();
    assert_eq!(floats(&f.call((&rows(), repeated)).unwrap()), floats(&z));
    let empty = Array2::<f32>::zeros((0, 3));
    assert_eq!(f.call((&empty, &empty)).unwrap().shape().extents(), [0, 3]);
}

#[test]
fn arrays_from_and_to_ndarray() {
    let x = rows();
    let back = ArrayD::<f32>::try_from(&Array::from(&x.t())).unwrap();
    assert_eq!(back, x.t().into_dyn());
    let array = Array::from(x.clone());
    assert_eq!(ArrayD::<f32>::try_from(array).unwrap(), x.clone().into_dyn());
    // More than 1 MiB is never copied.
    let large = Array2::from_elem((600, 500), 1.5f32);
    let address = large.as_ptr();
    let moved = ArrayD::<f32>::try_from(Array::from(large)).unwrap();
    assert_eq!(moved.as_ptr(), address);
    // A window that starts inside its memory.
    let window = rows().slice_move(s![1.., ..]);
    assert_eq!(floats(&Array::from(window)), [4.0, 5.0, 6.0]);
    let error = ArrayD::<f64>::try_from(Array::from(rows())).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DType);
}

#[cfg(feature = "npy")]
mod npy {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A file for this test.
    fn path(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("interop_{name}.npy"))
    }

    /// An error's text without its place and its folder, which is machine-dependent.
    fn text(error: &Error) -> String {
        let text = error.to_string().replace(env!("CARGO_TARGET_TMPDIR"), "data");
        text.lines().filter(|line| !line.starts_with("  at ")).collect::<Vec<_>>().join("\n")
    }

    /// The error of reading these bytes.
    fn refused(name: &str, bytes: &[u8]) -> Error {
        let path = path(name);
        fs::write(&path, bytes).unwrap();
        Array::read_npy(&path).unwrap_err()
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    #[test]
    fn every_dtype_comes_back() {
        let x = Array::from_rows(&[[0.0f64, 1.0, 2.5], [3.0, 100.0, 127.0]]);
        for dtype in DType::ALL {
            let array = x.cast(dtype);
            let path = path(&format!("{dtype}"));
            match dtype {
                DType::Bf16 => {
                    let error = array.write_npy(&path).unwrap_err();
                    assert_eq!(error.code(), ErrorCode::DType);
                    assert!(error.help_text().is_some() && error.place().is_some());
                }
                _ => {
                    array.write_npy(&path).unwrap();
                    let back = Array::read_npy(&path).unwrap();
                    assert_eq!((back.dtype(), back.shape()), (dtype, array.shape()));
                    assert_eq!(back.to_string(), array.to_string());
                    assert!(!back.is_weak());
                }
            }
        }
    }

    #[test]
    fn shapes_come_back() {
        for shape in [&[][..], &[1], &[7], &[0], &[0, 3], &[2, 3, 4], &[1, 1, 2, 1]] {
            let size = shape.iter().product::<usize>();
            let array = Array::from_shape_vec(shape, (0..size as i32).collect::<Vec<_>>()).unwrap();
            let path = path("shape");
            array.write_npy(&path).unwrap();
            let back = Array::read_npy(&path).unwrap();
            assert_eq!((back.shape(), back.to_vec::<i32>()), (array.shape(), array.to_vec::<i32>()));
        }
    }

    #[test]
    fn column_major_files() {
        let header = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let path = path("fortran");
        let data: Vec<u8> = [1i16, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_le_bytes()).collect();
        fs::write(&path, file(header, &data)).unwrap();
        let array = Array::read_npy(&path).unwrap();
        assert_eq!(array.to_vec::<i16>().unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(array.shape().extents(), [2, 3]);
    }

    #[test]
    fn a_truncated_file() {
        let path = path("whole");
        Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]).write_npy(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            let error = refused("truncated", &whole[..length]);
            assert_eq!(error.code(), ErrorCode::Io, "{length} bytes");
            assert!(error.help_text().is_some(), "{length} bytes: {error}");
        }
        let error = refused("truncated", &whole[..whole.len() - 5]);
        assert_eq!(error.place().map(|p| p.file), Some(file!()));
        insta::assert_snapshot!(text(&error));
    }

    #[test]
    fn a_file_that_is_something_else() {
        let header = |descr: &str, shape: &str| {
            file(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"), &[0; 64])
        };
        let deep = format!("{}1{}", "(".repeat(50_000), ")".repeat(50_000));
        let bad = [
            b"PNG, not NPY".to_vec(),
            b"\x93NUMPY\x09\x00".to_vec(),
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec(),
            header("'>f4'", "(2,)"),
            header("'<U4'", "(2,)"),
            header("[('<f4', '<f8')]", "(2,)"),
            header("'<f4'", "(-2,)"),
            header("'<f4'", "2"),
            header("'<f4'", "(1000000000000,)"),
            header("'<f4'", "(3,)"),
            file("{'shape': (2,), 'fortran_order': False}", &[0; 8]),
            file("{'descr': '<f4', 'shape': (2,), 'fortran_order': Maybe}", &[0; 8]),
            header("'<f4'", &deep)[..60_000].to_vec(),
            file("{'descr': '|b1', 'fortran_order': False, 'shape': (8,), }\n", &[7; 8]),
        ];
        for (i, bytes) in bad.iter().enumerate() {
            let error = refused("else", bytes);
            // Two have a descriptor of an unsupported dtype.
            let code = if [3, 4].contains(&i) { ErrorCode::DType } else { ErrorCode::Io };
            assert_eq!(error.code(), code, "case {i}: {error}");
            assert!(
                error.to_string().contains("read_npy: ") && error.to_string().contains("file: "),
                "case {i}: {error}"
            );
        }
        let error = refused("else", &header("'<f4'", "(9223372036854775807, 9223372036854775807)"));
        assert_eq!(error.code(), ErrorCode::Size);
        insta::assert_snapshot!(text(&refused("else", &bad[3])));
        insta::assert_snapshot!(text(&refused("else", &bad[0])), @r"
        error[io]: read_npy: not a .npy file of numbers
          it does not begin with \x93NUMPY
          file: data/interop_else.npy
          help: `numpy.save` writes such files, of arrays that are not structured
        ");
        assert_eq!(Array::read_npy(path("absent")).unwrap_err().code(), ErrorCode::Io);
    }
}
