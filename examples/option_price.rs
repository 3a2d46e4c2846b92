//! The price of a European call by Monte Carlo: a million ends of paths, drawn, priced and averaged in one kernel without storing them,
//! compared with the Black-Scholes formula.

use ndjit::{DType, Expr, Stage, dtype, erfc, exp, jit, log, maximum, random, sqrt, square, strong};
use std::error::Error;
use std::f64::consts::FRAC_1_SQRT_2;

const PATHS: usize = 1 << 20;

/// The mean of the discounted payoffs, and its standard error.
fn simulated(key: Expr, spot: Expr, strike: Expr, years: Expr, rate: Expr, volatility: Expr) -> [Expr; 2] {
    let normal = dtype(DType::F64).normal(key, PATHS);
    let drift = (rate - volatility * volatility / 2) * years;
    let end = spot * exp(drift + volatility * sqrt(years) * normal);
    let payoff = exp(-rate * years) * maximum(end - strike, 0);
    let mean = payoff.mean(..);
    let variance = square(payoff).mean(..) - square(mean);
    [mean, sqrt(variance / PATHS as f64)]
}

/// The price by the formula.
fn exact(spot: Expr, strike: Expr, years: Expr, rate: Expr, volatility: Expr) -> Expr {
    let deviation = volatility * sqrt(years);
    let d = (log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation;
    let below = |x: Expr| 0.5 * erfc(-x * FRAC_1_SQRT_2);
    spot * below(d) - strike * exp(-rate * years) * below(d - deviation)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Spot, strike, years, rate, volatility: each with a dtype of its own, for computation in `f64`.
    let [spot, strike, years, rate, volatility] = [100.0, 105.0, 0.75, 0.03, 0.2].map(strong::<f64>);
    let formula = jit(exact).call((spot, strike, years, rate, volatility))?.item::<f64>()?;
    println!("Black and Scholes: {formula:.4}");

    let f = jit(simulated);
    for seed in 5..8 {
        let [mean, error] = f.call((&random::key(seed), spot, strike, years, rate, volatility))?;
        let (mean, error) = (mean.item::<f64>()?, error.item::<f64>()?);
        let off = (mean - formula) / error;
        println!("key {seed}: {mean:.4} ± {error:.4}, {off:+.2} standard errors off");
        assert!(off.abs() < 4.0, "the simulation disagrees with the formula");
    }
    let drawn = f.explain(Stage::Kernels).matches("threefry2x32").count();
    println!(
        "{PATHS} paths are drawn in {drawn} kernel, which was compiled once for all keys: {}",
        f.trace_count() == 1
    );
    Ok(())
}
