//! The examples of docs/transforms.md.

use super::{Examples, examples};
use ndjit::Result;

fn gradients() -> Result<()> {
    use ndjit::{Array, Expr, exp, grad, jit, sum, value_and_grad, wrt};

    let loss = |w: Expr, x: Expr, y: Expr| {
        let error = 1.0 / (1.0 + exp(-(x * w))) - y;
        sum(error * error, ..)
    };
    let (w, x) = (Array::from([0.5f32, -1.0]), Array::from([1.0f32, 2.0]));
    let y = Array::from([1.0f32, 0.0]);
    println!("{}", jit(grad(loss))(&w, &x, &y));
    let (value, slope) = jit(value_and_grad(loss))(&w, &x, &y);
    println!("{value} {slope}");
    let (by_w, by_x) = jit(wrt((0, 1)).grad(loss))(&w, &x, &y);
    println!("{by_w} {by_x}");
    println!("{}", jit(grad(grad(|x| x * x * x)))(&Array::from(2.0f64)));
    Ok(())
}

fn applied() -> Result<()> {
    use ndjit::{Array, Expr, grad_at, hessian, jacrev, jit, jvp, sin, sum, vjp};

    let f = jit(|w: Expr, b: Expr, x: Expr| grad_at(|(w, b)| sum(w * x + b, ..), (w, b)));
    let (by_w, by_b) = f(&Array::from(2.0f32), &Array::from(0.5f32), &Array::from([1.0f32, 2.0]));
    println!("{by_w} {by_b}");

    let x = Array::from([1.0f64, 2.0]);
    let (y, slope) = jit(|x: Expr, t: Expr| jvp(|x: Expr| sin(x), x, t))(&x, &x);
    println!("{y} {slope}");
    let back = jit(|x: Expr, g: Expr| vjp(|x: Expr| x * x, x).1(g));
    println!("{}", back(&x, &x));
    println!("{}", jit(jacrev(|x| x * x))(&x));
    println!("{}", jit(hessian(|x| sum(x * x * x, ..)))(&x));
    Ok(())
}

fn structures() -> Result<()> {
    use ndjit::{Array, Expr, arange, jit, mean, outputs, scan, trees, value_and_grad};

    struct Line<T> {
        slope: T,
        offset: T,
    }
    outputs!(Line<Expr> => Line<Array> { slope, offset });

    // Gradient descent, the whole of it one program.
    let fit = jit(trees(|line: Line<Expr>, x: Expr, y: Expr| {
        let loss = move |line: Line<Expr>| {
            let error = line.slope * x + line.offset - y;
            mean(error * error, ..)
        };
        let step = |line: Line<Expr>, _: Expr| {
            let Line { slope, offset } = line;
            let (value, by) = ndjit::value_and_grad_at(loss, Line { slope, offset });
            (Line { slope: slope - by.slope * 0.1, offset: offset - by.offset * 0.1 }, value)
        };
        scan(step, line, Expr::from(arange(100)))
    }));
    let (x, y) = (Array::from([0.0f32, 1.0, 2.0]), Array::from([1.0f32, 3.0, 5.0]));
    let (line, losses) = fit(&Line { slope: Array::from(0.0f32), offset: Array::from(0.0f32) }, &x, &y);
    println!("{} {}", line.slope, line.offset);
    println!("{}", losses.at(-1).get());

    let loss = |line: Line<Expr>, x: Expr| mean(line.slope * x + line.offset, ..);
    let (value, by) = jit(value_and_grad(trees(loss)))(&line, &x);
    println!("{value} {} {}", by.slope, by.offset);
    Ok(())
}

fn loops() -> Result<()> {
    use ndjit::{Array, Expr, fori_loop, grad, jit, scan, sum, while_loop, zeros_like};

    // The square root by Newton's method: its slope is 1 / (2 sqrt(a)).
    let root = |a: Expr| while_loop((a, zeros_like(a)), |(x, before)| x.ne(before), |(x, _)| ((x + a / x) / 2, x)).0;
    println!("{}", jit(grad(root))(&Array::from(4.0f64)));
    let power = |x: Expr| fori_loop(0, 3, x, |_, y| y * x);
    println!("{}", jit(grad(power))(&Array::from(2.0f64)));
    let levels = |x: Expr| sum(scan(|level: Expr, drop: Expr| (level * 0.5 + drop, level), Expr::from(0.0), x).1, ..);
    println!("{}", jit(grad(levels))(&Array::from([8.0f32, 0.0, 4.0])));
    Ok(())
}

fn rules() -> Result<()> {
    use ndjit::{
        Array, Expr, checkpoint, clip, custom_jvp, custom_vjp, exp, fori_loop, grad, jit, log1p, sum, tanh, while_loop,
        zeros_like,
    };

    let softplus = custom_jvp(|x| log1p(exp(x)), |[x], _, [t]| t * (1.0 - 1.0 / (1.0 + exp(x))));
    println!("{}", jit(grad(softplus))(&Array::from(100.0f32))); // exp(100) is infinite

    let newton = |a: Expr| while_loop((a, zeros_like(a)), |(x, before)| x.ne(before), |(x, _)| ((x + a / x) / 2, x)).0;
    let root = custom_jvp(newton, |_, x, [t]| t / (x * 2));
    println!("{}", jit(grad(root))(&Array::from(4.0f64)));

    let clipped = custom_vjp(|x| (x, ()), |(), g| [clip(g, -1.0, 1.0)]);
    println!("{}", jit(grad(move |x| sum(clipped(x) * 5, ..)))(&Array::from([1.0f32, 2.0])));

    let layer = checkpoint(|x: Expr, w: Expr| fori_loop(0, 100, x, |_, x| tanh(x * w) + x * 0.5));
    let (x, w) = (Array::from([0.5f64, -1.0]), Array::from([1.5f64, 2.0]));
    println!("{}", jit(grad(move |x, w| sum(layer(layer(x, w), w), ..)))(&x, &w));
    Ok(())
}

fn lanes() -> Result<()> {
    use ndjit::{Array, Expr, Same, grad, in_axes, jit, sum, vmap, while_loop, zeros_like};

    let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
    let w = Array::from([0.5f32, -1.0]);
    let loss = |w: Expr, x: Expr| {
        let y = sum(w * x, ..);
        y * y
    };
    println!("{}", jit(vmap(loss, (Same, 0)))(&w, &x));
    println!("{}", jit(vmap(grad(loss), (Same, 0)))(&w, &x)); // the gradient of each example
    let halvings = |x: Expr| while_loop((x, zeros_like(x)), |(x, _)| x.gt(1), |(x, n)| (x / 2, n + 1)).1;
    println!("{}", jit(vmap(halvings, 0))(&Array::from([1.0f32, 5.0, 1000.0])));
    println!("{}", jit(vmap(|x| x * 2, in_axes(0).out_axis(1)))(&x)); // results have the lanes along their second axis
    Ok(())
}

examples!(gradients applied structures loops rules lanes);
