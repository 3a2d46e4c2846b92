//! `x + y * 2` from a closure to machine code: prints the graph with its weak types, the fused kernel, the size of the
//! machine code and the result.

use ndjit::{Array, Stage, jit};

fn main() -> Result<(), ndjit::Error> {
    let x = Array::from([1.0f32, 2.0, 3.0, 4.0]);
    let y = Array::from([10i8, 20, 30, 40]);

    let f = jit(|x, y| x + y * 2);
    let z = f.call((&x, &y))?;

    println!("The graph. `2` is weak (i*): it takes the dtype of what it meets, i8; then f32 and i8 meet in f32.\n");
    println!("{}", f.explain(Stage::Graph));
    println!("The kernel: one loop, every cast explicit, the literal a run-time argument.\n");
    println!("{}", f.explain(Stage::Loops));
    println!("machine code: {} bytes\n", f.kernels().iter().map(|k| k.code_bytes).sum::<usize>());
    println!("x + y * 2 = {z}");
    Ok(())
}
