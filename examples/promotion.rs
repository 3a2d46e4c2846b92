//! Promotion tables, hazards and lattices of every policy.
//!
//! ```sh
//! cargo run --release --example promotion                    # the default policy
//! cargo run --release --example promotion -- numpy2          # NumPy's, what differs from the default marked with `!`
//! cargo run --release --example promotion -- torch numpy2    # PyTorch's, what differs from NumPy's marked
//! ```
//! Also writes the Hasse diagram of JAX's lattice to `target/lattice.svg`, or to the path given as `--svg PATH`.

use ndjit::{Array, ErrorCode, Lattice, Policy, strong, with_policy};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut svg = "target/lattice.svg".to_owned();
    if let Some(at) = arguments.iter().position(|a| a == "--svg") {
        svg = arguments.get(at + 1).ok_or("--svg takes a path")?.clone();
        arguments.drain(at..at + 2);
    }
    let policy: Policy = arguments.first().map_or(Ok(Policy::Standard), |name| name.parse())?;
    let against: Policy = arguments.get(1).map_or(Ok(Policy::Standard), |name| name.parse())?;

    print_table(policy, against);
    println!();
    print_hazards();
    println!();
    let lattice = Lattice::named("jax")?;
    std::fs::write(&svg, lattice.to_svg())?;
    println!("The Hasse diagram of the lattice `{}` is in {svg}.", lattice.name());
    Ok(())
}

/// The 18x18 table of a policy. `-` is an error; `!` marks what another policy has otherwise.
fn print_table(policy: Policy, against: Policy) {
    println!("{policy}: {}\n{}\n{}", policy.doc(), policy.source(), policy.table_against(against));
    if policy != against {
        println!("{} of 324 cells differ from {against}", policy.differences(against).len());
    }
}

/// What the systems of the field make of expressions that surprise people.
fn print_hazards() {
    type Hazard = (&'static str, fn() -> Array);
    let hazards: [Hazard; 6] = [
        ("u8 / 4.0", || Array::from([1u8]) / 4.0),
        ("i8 + 1000", || Array::from([1i8]) + 1000),
        ("f32 * 0.1", || Array::from([1f32]) * 0.1),
        ("f32 * f64", || Array::from([1f32]) * strong(0.1f64)),
        ("u64 + i64", || Array::from([1u64]) + Array::from([1i64])),
        ("i32 * f32", || Array::from([1i32]) * Array::from([1f32])),
    ];
    print!("{:<22}", "");
    hazards.iter().for_each(|(name, _)| print!("{name:>11}"));
    println!();
    for policy in Policy::ALL {
        print!("{:<22}", policy.to_string());
        for (_, compute) in hazards {
            let result = with_policy(policy, compute);
            let cell = match result.error().map(ndjit::Error::code) {
                None => result.value_type().to_string(),
                Some(ErrorCode::Literal) => "not in i8".to_owned(),
                Some(_) => "error".to_owned(),
            };
            print!("{cell:>11}");
        }
        println!();
    }
}
