//! Black-Scholes prices of European options, with the Greeks delta and vega: a table of strikes and times to
//! expiry by broadcasting, then a million options in the same kernel.

use ndjit::{Array, DType, Expr, NewAxis, arange, assert_kernels, dtype, erfc, exp, jit, log, ones_like, sqrt, strong};
use std::error::Error;
use std::f64::consts::{PI, SQRT_2};

/// Prices of a call and of a put, with the call's delta and the vega of both.
fn black_scholes(spot: Expr, strike: Expr, years: Expr, rate: Expr, volatility: Expr) -> [Expr; 4] {
    let deviation = volatility * sqrt(years);
    let d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation;
    let d2 = d1 - deviation;
    // The distribution function of the normal distribution. `erfc` is exact where `1 + erf` would cancel.
    let below = |x: Expr| 0.5 * erfc(-x / SQRT_2);
    let discounted = strike * exp(-rate * years);
    let call = spot * below(d1) - discounted * below(d2);
    let put = discounted * below(-d2) - spot * below(-d1);
    let vega = spot * sqrt(years) * exp(-d1 * d1 / 2) / (2.0 * PI).sqrt();
    [call, put, below(d1), vega]
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let f = jit(black_scholes);

    // An example from Hull's textbook: 4.76 for the call, 0.81 for the put.
    let [call, put, delta, vega] = f.call((42.0, 40.0, 0.5, 0.1, 0.2))?.map(|price| price.item::<f32>());
    let (call, put, delta, vega) = (call?, put?, delta?, vega?);
    println!("call {call:.2}, put {put:.2}, delta {delta:.3}, vega {vega:.2}");

    // Strikes from left to right, years downwards. Operations on bare numbers only, such as `volatility * volatility`,
    // would be computed in `f32`; these have a dtype of their own.
    let (rate, volatility) = (strong(0.03), strong(0.25));
    let strikes = Array::from([80.0f64, 90.0, 100.0, 110.0, 120.0]);
    let years = Array::from([0.25f64, 0.5, 1.0, 2.0]);
    let table = f.call((100.0, &strikes, &years.slice((.., NewAxis)), rate, volatility))?;
    println!("calls at strikes {strikes:.0}, years {years} downwards:\n{:.2}", table[0]);

    // Put-call parity: a call minus a put is worth the spot minus the discounted strike.
    let parity = jit(|call, put, strike, years| call - put - (100 - strike * exp(-0.03 * years)));
    let off = parity.call((&table[0], &table[1], &strikes, &years.slice((.., NewAxis))))?;
    println!("put-call parity holds within {:.0e}", off.max(..).item::<f64>()?.max(-off.min(..).item::<f64>()?));

    let spots = 50 + dtype(DType::F64).arange(1_000_000) / 10_000;
    let years = ones_like(&spots);
    let many = f.call((&spots, 100.0, &years, rate, volatility))?;
    // One kernel for the million options, and one for the few values that depend only on rate and volatility.
    assert_kernels!(f, (&spots, 100.0, &years, rate, volatility), 2);
    let nearest = arange(5) * 250_000 - arange(5).gt(3).cast(DType::I32);
    let shown = nearest.to_vec::<i32>()?.into_iter().map(|i| format!("{:.3}", many[0].slice(i as isize)));
    println!("a million calls, every quarter of them: {}", shown.collect::<Vec<_>>().join(" "));
    Ok(())
}
