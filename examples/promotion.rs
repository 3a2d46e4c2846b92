//! The promotion table of any policy, beside another one, and the Hasse diagram of JAX's lattice.
//!
//! ```sh
//! cargo run --release --example promotion                    # the default policy
//! cargo run --release --example promotion -- numpy2          # NumPy's, what differs from the default marked with `!`
//! cargo run --release --example promotion -- torch numpy2    # PyTorch's, what differs from NumPy's marked
//! ```
//! Also writes the Hasse diagram of JAX's lattice to `target/lattice.svg`, or to the path given as `--svg PATH`.

use ndjit::{Lattice, Policy};
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut svg = None;
    if let Some(at) = arguments.iter().position(|a| a == "--svg") {
        svg = Some(PathBuf::from(arguments.get(at + 1).ok_or("--svg takes a path")?));
        arguments.drain(at..at + 2);
    }
    let policy: Policy = arguments.first().map_or(Ok(Policy::Standard), |name| name.parse())?;
    let against: Policy = arguments.get(1).map_or(Ok(Policy::Standard), |name| name.parse())?;

    print_table(policy, against);
    println!();
    let lattice = Lattice::named("jax")?;
    let svg = svg.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/lattice.svg"));
    svg.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(&svg, lattice.to_svg())?;
    println!("The Hasse diagram of the lattice `{}` is in {}.", lattice.name(), svg.display());
    Ok(())
}

/// The 18x18 table of a policy. `-` is an error; `!` marks a difference from the other policy.
fn print_table(policy: Policy, against: Policy) {
    println!("{policy}: {}\n{}\n{}", policy.doc(), policy.source(), policy.table_against(against));
    if policy != against {
        println!("{} of 324 cells differ from {against}", policy.differences(against).len());
    }
}
