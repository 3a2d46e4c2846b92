//! Series: smoothing along an axis, a running median, a histogram.

use super::{Case, array, called, unit};
use ndjit::{Array, DType, Expr, median, scan, sliding_window, zeros};

/// Exponential smoothing of many series, side by side, along the first axis.
pub fn smoothing(large: bool) -> Case {
    let [n, series] = if large { [1000, 5000] } else { [1000, 100] };
    let values = unit(n * series);
    let x = array(&values, &[n, series]);
    let ours = called!(
        |x: Expr| {
            let step = |level: Expr, x: Expr| {
                let level = level * 0.9 + x * 0.1;
                (level, level)
            };
            vec![scan(step, x.slice(0), x).1]
        },
        x
    );
    let rust = Box::new(move || {
        let (mut level, mut all) = (values[..series].to_vec(), vec![0.0; n * series]);
        for i in 0..n {
            for j in 0..series {
                level[j] = level[j] * 0.9 + values[i * series + j] * 0.1;
                all[i * series + j] = level[j];
            }
        }
        vec![Array::from(all)]
    });
    Case { size: format!("{n}x{series}"), steps: n, ours, rust, within: 1e-13 }
}

const WINDOW: usize = 9;

/// The median of each window of nine.
pub fn running_median(large: bool) -> Case {
    let n = if large { 1_000_000 } else { 10_000 };
    let values = unit(n);
    let x = Array::from(values.as_slice());
    let ours = called!(|x: Expr| vec![median(sliding_window(x, WINDOW, 0), -1)], x);
    let rust = Box::new(move || {
        let middle = |window: &[f64]| {
            let mut sorted: [f64; WINDOW] = std::array::from_fn(|i| window[i]);
            sorted.sort_unstable_by(f64::total_cmp);
            sorted[WINDOW / 2]
        };
        vec![Array::from(values.windows(WINDOW).map(middle).collect::<Vec<f64>>())]
    });
    Case { size: format!("{n}, windows of {WINDOW}"), steps: 1, ours, rust, within: 0.0 }
}

const BINS: usize = 1000;

/// The number of values in each of a thousand bins of [0, 1].
pub fn histogram(large: bool) -> Case {
    let n = if large { 10_000_000 } else { 100_000 };
    let values = unit(n);
    let x = Array::from(values.as_slice());
    let ours = called!(
        |x: Expr| {
            let bins = (x * BINS as f64).cast(DType::I32);
            vec![Expr::from(zeros(BINS).cast(DType::I32)).at(bins).add(1)]
        },
        x
    );
    let rust = Box::new(move || {
        let mut counts = vec![0i32; BINS];
        values.iter().for_each(|x| counts[(x * BINS as f64) as usize] += 1);
        vec![Array::from(counts)]
    });
    Case { size: format!("{n}"), steps: 1, ours, rust, within: 0.0 }
}
