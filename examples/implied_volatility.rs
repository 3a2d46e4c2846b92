//! Implied volatilities of a chain of options: those at which the Black-Scholes formula gives the market prices. Newton's method
//! needs the derivative of the price, the vega, which `jvp` computes with the price. `vmap` runs it for all options at once, each until it converges.

use ndjit::{
    Array, DType, Expr, NewAxis, Same, abs, erfc, exp, grad, jit, jvp, log, ones_like, sqrt, vmap, while_loop,
};
use std::error::Error;
use std::f64::consts::SQRT_2;

const SPOT: f64 = 100.0;
const RATE: f64 = 0.03;

/// The price of a call.
fn price(volatility: Expr, strike: Expr, years: Expr) -> Expr {
    let deviation = volatility * sqrt(years);
    let d = (log(SPOT / strike) + (RATE + volatility * volatility / 2) * years) / deviation;
    let below = |x: Expr| 0.5 * erfc(-x / SQRT_2);
    SPOT * below(d) - strike * exp(-RATE * years) * below(d - deviation)
}

/// The volatility of an option with this price, and the number of Newton steps. The first guess is the point of least curvature,
/// after Manaster and Koehler: no step from there is too long.
fn implied(paid: Expr, strike: Expr, years: Expr) -> (Expr, Expr) {
    let guess = sqrt(abs(log(SPOT / strike) + RATE * years) * 2 / years);
    let step = |(volatility, _, steps): (Expr, Expr, Expr)| {
        let (value, vega) = jvp(|volatility| price(volatility, strike, years), volatility, ones_like(volatility));
        let change = (value - paid) / vega;
        (volatility - change, change, steps + 1)
    };
    let start = (guess, ones_like(guess), Expr::from(0));
    let (volatility, _, steps) = while_loop(start, |(_, change, _)| abs(change).gt(1e-12), step);
    (volatility, steps)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Market prices in whole cents: far strikes are more volatile, and those below more than those above.
    let strikes = Array::from([70.0f64, 80.0, 90.0, 100.0, 110.0, 120.0, 130.0]);
    let years = Array::from([0.25f64, 1.0, 2.0]);
    let from_spot = log(&strikes / SPOT);
    let smile = 0.2 - 0.15 * &from_spot + 0.5 * from_spot.square() / sqrt(&years).slice((.., NewAxis));
    let priced = jit(price).call((&smile, &strikes, &years.slice((.., NewAxis))))?;
    let paid = (&priced * 100).round() / 100;

    // Nested `vmap`: strikes, and years.
    let f = jit(vmap(vmap(implied, (0, 0, Same)), (0, Same, 0)));
    let (volatility, steps) = f.call((&paid, &strikes, &years))?;
    println!("strikes              {strikes:7.0}");
    for n in 0..years.len() as isize {
        println!("{:.2} years, paid      {:7.2}", years.slice(n).item::<f64>()?, paid.slice(n));
        println!("  implied volatility {:7.4}", volatility.slice(n));
        println!("  Newton's steps     {:7}", steps.slice(n).cast(DType::I64));
    }
    println!("from those that made the prices: at most {:.4}", abs(&volatility - &smile).max(..).item::<f64>()?);

    // Derivatives pass through the loop: that of the volatility with respect to the price is one over the vega.
    let by_price = grad(|paid, strike, years| implied(paid, strike, years).0);
    let by_price = jit(vmap(vmap(by_price, (0, 0, Same)), (0, Same, 0))).call((&paid, &strikes, &years))?;
    let vega = jit(|v: Expr, strike: Expr, years: Expr| jvp(|v| price(v, strike, years), v, ones_like(v)).1);
    let vega = vega.call((&volatility, &strikes, &years.slice((.., NewAxis))))?;
    let off = abs(by_price * vega - 1).max(..).item::<f64>()?;
    println!("its slope by the price, through the loop, is one over the vega: {}", off < 1e-9);
    Ok(())
}
