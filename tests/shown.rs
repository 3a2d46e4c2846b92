//! The function of README.md, on the same lines: its stages, an explained dtype, an error.
use ndjit::{Array, Stage, jit, report};
pub fn shown(name: &str) -> Option<String> {
    let f = jit(|x, y| x + y * 2);
    let x = Array::from([1.0f32, 2.0, 3.0]);
    let y = Array::from([10i8, 20, 30]);
    let z = f.call((&x, &y)).unwrap();
    assert_eq!(z.to_vec::<f32>().unwrap(), [21.0, 42.0, 63.0]);
    let text = match name {
        "graph" => f.explain(Stage::Graph),
        "kernel" => f.explain(Stage::Kernels),
        "loop_nest" => f.explain(Stage::Loops),
        "dtype" => f.explain_dtype(0).unwrap().to_string(),
        "error" => {
            let y = Array::from([1i8, 2]);
            report(&f.call((&x, &y)).unwrap_err())
        }
        _ => return None,
    };
    Some(text.trim_end().replace(file!(), "src/main.rs"))
}
